// SPDX-License-Identifier: MIT
// Calls about jobs: put, read, change and cancel.
#include "faces/qless/calls.h"
#include "faces/qless/print.h"

static const char no_jid[] = "Job(): no jid provided";

enum status qless_get(struct qless_ask *ask)
{
    if (!qless_has(ask, 0)) {
        return qless_no(ask, no_jid);
    }
    const struct job *job = engine_get(ask->engine, ask->words.items[0]);
    if (!job) {
        reply_null(ask->reply);
        return STATUS_OK;
    }
    qless_print_job(&ask->out, ask->engine, job, ask->split);
    return qless_reply_out(ask);
}

enum status qless_multiget(struct qless_ask *ask)
{
    const struct job **jobs = qless_room(ask, ask->words.count, sizeof(*jobs));
    if (!jobs) {
        return qless_no_memory(ask);
    }
    // One job more than fit makes the reply too large, so no more are read.
    size_t fitting = reply_room(ask->reply) / QLESS_JOB_LEAST + 1;
    size_t count = 0;
    for (size_t i = 0; i < ask->words.count && count < fitting; i++) {
        const struct job *job = engine_get(ask->engine, ask->words.items[i]);
        if (job) {
            jobs[count++] = job;
        }
    }
    qless_print_jobs(&ask->out, ask->engine, jobs, count);
    return qless_reply_out(ask);
}

// ---------------------------------------------------------------------------------------------
// Put

enum {
    PUT_QUEUE = 1, // after the worker
    PUT_JID,
    PUT_KLASS,
    PUT_DATA,
    PUT_DELAY,
    PUT_OPTIONS,
};

static enum status read_option(struct qless_ask *ask, struct slice name, struct slice value,
                               struct put_request *request)
{
    if (slice_equal(name, SLICE("retries"))) {
        request->has_retries = true;
        if (!qless_small_integer(value, &request->retries)) {
            return qless_no(ask, "Put(): Arg \"retries\" not a number: %.*s", SLICE_PRINT(value));
        }
    } else if (slice_equal(name, SLICE("tags"))) {
        request->has_tags = true;
        if (!qless_json_list(ask, value, &request->tags)) {
            return qless_no(ask, "Put(): Arg \"tags\" not JSON%.*s", SLICE_PRINT(value));
        }
    } else if (slice_equal(name, SLICE("priority"))) {
        request->has_priority = true;
        if (!qless_small_integer(value, &request->priority)) {
            return qless_no(ask, "Put(): Arg \"priority\" not a number%.*s", SLICE_PRINT(value));
        }
        request->priority = qless_flip_priority(request->priority);
    } else if (slice_equal(name, SLICE("depends"))) {
        if (!qless_json_list(ask, value, &request->depends)) {
            return qless_no(ask, "Put(): Arg \"depends\" not JSON: %.*s", SLICE_PRINT(value));
        }
    }
    return STATUS_OK;
}

static enum status read_put(struct qless_ask *ask, struct put_request *request)
{
    if (!qless_has(ask, PUT_QUEUE)) {
        return qless_no(ask, "Queue(): no queue name provided");
    }
    if (!qless_has(ask, PUT_JID)) {
        return qless_no(ask, "Put(): Arg \"jid\" missing");
    }
    if (!qless_has(ask, PUT_KLASS)) {
        return qless_no(ask, "Put(): Arg \"klass\" missing");
    }
    struct slice data = qless_word(ask, PUT_DATA), delay = qless_word(ask, PUT_DELAY);
    if (!qless_has(ask, PUT_DATA) || !qless_json_is_true(data)) {
        return qless_no(ask, "Put(): Arg \"data\" missing or not JSON: %.*s", SLICE_PRINT(data));
    }
    if (!qless_seconds(delay, &request->delay_us)) {
        return qless_no(ask, "Put(): Arg \"delay\" not a number: %.*s", SLICE_PRINT(delay));
    }
    struct slices options = qless_words(ask, PUT_OPTIONS);
    if (options.count % 2 == 1 && !ask->split) {
        return qless_no(ask, "Odd number of additional args: table");
    }
    request->worker = ask->words.items[0];
    request->queue = ask->words.items[PUT_QUEUE];
    request->jid = ask->words.items[PUT_JID];
    request->klass = ask->words.items[PUT_KLASS];
    request->data = data;
    enum status status = STATUS_OK;
    for (size_t i = 0; !status && i + 1 < options.count; i += 2) {
        status = read_option(ask, options.items[i], options.items[i + 1], request);
    }
    if (!status && ask->split && request->delay_us > 0 && request->depends.count) {
        status =
            qless_no(ask, "Put(): \"delay\" and \"depends\" are not allowed to be used together");
    }
    return status;
}

enum status qless_put(struct qless_ask *ask)
{
    struct put_request request = { 0 };
    struct error error;
    const struct job *job;
    enum status status = read_put(ask, &request);
    if (status) {
        return status;
    }
    status = engine_put(ask->engine, ask->now_us, &request, &job, &error);
    if (status) {
        return qless_engine_no(ask, "Put", status, &error);
    }
    reply_text(ask->reply, request.jid);
    return STATUS_OK;
}

enum status qless_requeue(struct qless_ask *ask)
{
    if (!qless_has(ask, PUT_JID)) {
        return qless_no(ask, no_jid);
    }
    struct slice jid = ask->words.items[PUT_JID];
    if (!engine_get(ask->engine, jid)) {
        return qless_no(ask, "Requeue(): Job %.*s does not exist", SLICE_PRINT(jid));
    }
    return qless_put(ask);
}

// ---------------------------------------------------------------------------------------------
// Cancel

enum status qless_cancel(struct qless_ask *ask)
{
    size_t canceled;
    struct error error;
    struct cancel_blocker blocker;
    if (ask->split && ask->words.count == 0) {
        return qless_no(ask, "Cancel(): Arg \"jid\" missing.");
    }
    enum status status = qless_check_room_for(ask, 0, ask->words);
    if (status) {
        return status;
    }
    status = engine_cancel(ask->engine, ask->now_us, ask->words, &canceled, &blocker, &error);
    if (status == STATUS_STATE) {
        return qless_no(ask,
                        "Cancel(): %.*s is a dependency of %.*s but is not mentioned to be "
                        "canceled",
                        SLICE_PRINT(blocker.jid), SLICE_PRINT(blocker.dependent));
    }
    if (status) {
        return qless_engine_no(ask, "Cancel", status, &error);
    }
    if (ask->split) {
        reply_null(ask->reply);
        return STATUS_OK;
    }
    reply_list(ask->reply, ask->words.count);
    for (size_t i = 0; i < ask->words.count; i++) {
        reply_text(ask->reply, ask->words.items[i]);
    }
    reply_end(ask->reply);
    return STATUS_OK;
}

// ---------------------------------------------------------------------------------------------
// Changes

enum status qless_depends(struct qless_ask *ask)
{
    if (!qless_has(ask, 0)) {
        return qless_no(ask, no_jid);
    }
    if (!qless_has(ask, 1)) {
        return qless_no(ask, "Depends(): Arg \"command\" missing");
    }
    struct slice jid = ask->words.items[0], command = ask->words.items[1];
    const struct job *job = engine_get(ask->engine, jid);
    struct job_view view = { 0 };
    if (job) {
        job_view(ask->engine, job, &view);
    }
    if (!job || view.state != JOB_DEPENDS) {
        return qless_unmet(ask, "Depends(): Job %.*s not in the depends state: %s",
                           SLICE_PRINT(jid), job ? job_state_name(view.state) : "false");
    }
    struct slices jids = qless_words(ask, 2);
    struct error error;
    enum status status;
    if (slice_equal(command, SLICE("on"))) {
        status = engine_depends_on(ask->engine, ask->now_us, jid, jids, MISSING_COMPLETE, &error);
    } else if (!slice_equal(command, SLICE("off"))) {
        return qless_no(ask, "Depends(): Argument \"command\" must be \"on\" or \"off\"");
    } else if (jids.count && slice_equal(jids.items[0], SLICE("all"))) {
        status = engine_depends_off_all(ask->engine, ask->now_us, jid, &error);
    } else {
        status = engine_depends_off(ask->engine, ask->now_us, jid, jids, &error);
    }
    if (status) {
        return qless_engine_no(ask, "Depends", status, &error);
    }
    reply_integer(ask->reply, 1);
    return STATUS_OK;
}

enum status qless_priority(struct qless_ask *ask)
{
    if (!qless_has(ask, 0)) {
        return qless_no(ask, no_jid);
    }
    int32_t priority;
    struct slice jid = ask->words.items[0], text = qless_word(ask, 1);
    if (!qless_small_integer(text, &priority)) {
        return qless_no(ask, "Priority(): Arg \"priority\" missing or not a number: %.*s",
                        SLICE_PRINT(text));
    }
    if (!engine_get(ask->engine, jid)) {
        return qless_unmet(ask, "Priority(): Job %.*s does not exist", SLICE_PRINT(jid));
    }
    struct error error;
    enum status status =
        engine_priority(ask->engine, ask->now_us, jid, qless_flip_priority(priority), &error);
    if (status) {
        return qless_engine_no(ask, "Priority", status, &error);
    }
    reply_integer(ask->reply, priority);
    return STATUS_OK;
}

enum status qless_log(struct qless_ask *ask)
{
    if (!qless_has(ask, 0)) {
        return qless_no(ask, "Log(): Argument 'jid' missing");
    }
    if (!qless_has(ask, 1)) {
        return qless_no(ask, "Log(): Argument 'message' missing");
    }
    struct log_request request = { .jid = ask->words.items[0], .message = ask->words.items[1] };
    if (qless_has(ask, 2)) {
        // A job whose history contains anything else cannot be read by clients any more.
        request.data = ask->words.items[2];
        if (!qless_json_is_table(request.data)) {
            return qless_no(ask, "Log(): Argument 'data' not cjson: %.*s",
                            SLICE_PRINT(request.data));
        }
    }
    if (!engine_get(ask->engine, request.jid)) {
        return qless_no(ask, "Log(): Job %.*s does not exist", SLICE_PRINT(request.jid));
    }
    struct error error;
    enum status status = engine_log(ask->engine, ask->now_us, &request, &error);
    if (status) {
        return qless_engine_no(ask, "Log", status, &error);
    }
    reply_null(ask->reply);
    return STATUS_OK;
}

enum status qless_timeout(struct qless_ask *ask)
{
    for (size_t i = 0; i < ask->words.count; i++) {
        struct slice jid = ask->words.items[i];
        const struct job *job = engine_get(ask->engine, jid);
        if (!job) {
            return qless_no(ask, "Timeout(): Job %.*s does not exist", SLICE_PRINT(jid));
        }
        struct job_view view;
        job_view(ask->engine, job, &view);
        if (view.state != JOB_RUNNING) {
            return qless_no(ask, "Timeout(): Job %.*s not running", SLICE_PRINT(jid));
        }
    }
    struct error error;
    enum status status = engine_timeout(ask->engine, ask->now_us, ask->words, &error);
    if (status) {
        return qless_engine_no(ask, "Timeout", status, &error);
    }
    reply_null(ask->reply);
    return STATUS_OK;
}
