// SPDX-License-Identifier: MIT
// Calls of workers: pop jobs, and report their results.
#include "api/fit.h"
#include "base/json.h"
#include "faces/qless/calls.h"
#include "faces/qless/cjson.h"
#include "faces/qless/print.h"

enum {
    COUNT_MAX = 65536, // jobs in a reply
    FRAME_SIZE = 64,   // around them
    JOB_SIZE = 512,    // keys and numbers of a job
    ENTRY_SIZE = 128,  // those of an entry of its history
    US_PER_S = 1000000,
};

static const char no_jid[] = "Job(): no jid provided";
static const char no_queue[] = "Queue(): no queue name provided";

// ---------------------------------------------------------------------------------------------
// Getting jobs

static size_t count_of(int64_t count)
{
    return count < 0 ? 0 : count > COUNT_MAX ? COUNT_MAX : (size_t)count;
}

// A reply with jobs: one JSON text, or in the split generation a list with a text for each job.
struct listing {
    const struct job **jobs;
    size_t *ends; // where the text of each ends; NULL for a single text
};

static enum status listing_init(struct qless_ask *ask, size_t count, struct listing *out)
{
    out->jobs = qless_room(ask, count, sizeof(*out->jobs));
    out->ends = ask->split ? qless_room(ask, count, sizeof(*out->ends)) : NULL;
    return ask->no_memory ? qless_no_memory(ask) : STATUS_OK;
}

static enum status listing_say(struct qless_ask *ask, const struct listing *listing, size_t count)
{
    if (!listing->ends) {
        qless_print_jobs(&ask->out, ask->engine, listing->jobs, count);
        return qless_reply_out(ask);
    }
    for (size_t i = 0; i < count && !qless_is_full(ask); i++) {
        qless_print_job(&ask->out, ask->engine, listing->jobs[i], true);
        listing->ends[i] = ask->out.size;
    }
    enum status status = qless_check_out(ask);
    if (status) {
        return status;
    }
    reply_list(ask->reply, count);
    for (size_t i = 0; i < count; i++) {
        size_t start = i ? listing->ends[i - 1] : 0;
        reply_text(ask->reply, slice_sub(buffer_slice(&ask->out), start, listing->ends[i] - start));
    }
    reply_end(ask->reply);
    return STATUS_OK;
}

enum status qless_peek(struct qless_ask *ask)
{
    if (!qless_has(ask, 0)) {
        return qless_no(ask, no_queue);
    }
    int64_t count;
    struct slice text = qless_word(ask, 1);
    if (!qless_integer(text, &count)) {
        return qless_no(ask, "Peek(): Arg \"count\" missing or not a number: %.*s",
                        SLICE_PRINT(text));
    }
    // One job more than fit makes the reply too large, so no more are read.
    size_t fitting = reply_room(ask->reply) / QLESS_JOB_LEAST + 1;
    size_t most = count_of(count) < fitting ? count_of(count) : fitting;
    struct listing listing;
    struct error error;
    size_t found;
    enum status status = listing_init(ask, most, &listing);
    if (status) {
        return status;
    }
    status = engine_peek(ask->engine, ask->now_us, ask->words.items[0], most, listing.jobs, &found,
                         &error);
    if (status) {
        return qless_engine_no(ask, "Peek", status, &error);
    }
    return listing_say(ask, &listing, found);
}

// The size of a job in the reply, including the worker's name, which it gets with its lease.
static size_t job_bound(const struct fit *fit, const struct job *job)
{
    const struct qless_ask *ask = fit->context;
    struct job_view view;
    job_view(fit->engine, job, &view);
    size_t related = view.dependency_count + view.dependent_count + view.tag_count;
    size_t size = view.jid.size + view.klass.size + view.queue.size + view.data.size +
                  ask->words.items[1].size + view.failure_group.size + view.failure_message.size +
                  view.failure_worker.size + view.spawned_from.size +
                  related * (ENGINE_NAME_SIZE_MAX + 1);
    struct history_view entry;
    for (size_t position = 0; job_history_next(fit->engine, job, &position, &entry);) {
        size += entry.queue.size + entry.worker.size + entry.group.size + entry.data.size +
                entry.what.size + ENTRY_SIZE;
    }
    return JOB_SIZE + QLESS_CJSON_GROWTH * (size + ask->words.items[1].size + ENTRY_SIZE);
}

static size_t job_measure(const struct fit *fit, const struct job *job)
{
    const struct qless_ask *ask = fit->context;
    struct buffer json;
    buffer_init(&json, ask->allocator, fit->room_max);
    qless_print_job(&json, fit->engine, job, ask->split);
    size_t size = json.status ? SIZE_MAX
                              : json.size + ENTRY_SIZE +
                                    (size_t)2 * QLESS_CJSON_GROWTH * ask->words.items[1].size;
    buffer_release(&json);
    return size;
}

enum status qless_pop(struct qless_ask *ask)
{
    if (!qless_has(ask, 0)) {
        return qless_no(ask, no_queue);
    }
    if (!qless_has(ask, 1)) {
        return qless_no(ask, "Pop(): Arg \"worker\" missing");
    }
    int64_t count;
    struct slice text = qless_word(ask, 2);
    if (!qless_integer(text, &count)) {
        return qless_no(ask, "Pop(): Arg \"count\" missing or not a number: %.*s",
                        SLICE_PRINT(text));
    }
    struct fit fit;
    fit_init(&fit, ask->reply, ask->engine, FRAME_SIZE);
    fit.bound = job_bound;
    fit.measure = job_measure;
    fit.context = ask;
    fit.rough = true;
    const struct pop_request request = { .worker = ask->words.items[1],
                                         .queues = { ask->words.items, 1 },
                                         .count = count_of(count),
                                         .no_grace = ask->split,
                                         .fits = fit_check,
                                         .fits_context = &fit };
    struct listing listing;
    struct error error;
    size_t popped;
    enum status status = listing_init(ask, request.count, &listing);
    if (status) {
        return status;
    }
    status = engine_pop(ask->engine, ask->now_us, &request, listing.jobs, &popped, &error);
    ask->unfit = fit.never;
    if (!status && popped == 0) {
        status = fit_refuse(&fit, "pop", &error);
    }
    if (status) {
        return qless_engine_no(ask, "Pop", status, &error);
    }
    return listing_say(ask, &listing, popped);
}

// ---------------------------------------------------------------------------------------------
// Reporting results

// Finds the job; false if it does not exist.
static bool find(const struct qless_ask *ask, struct slice jid, struct job_view *view)
{
    const struct job *job = engine_get(ask->engine, jid);
    *view = (struct job_view){ 0 };
    if (job) {
        job_view(ask->engine, job, view);
    }
    return job != NULL;
}

// Data that qless decodes and encodes before it stores it. A value that Lua treats as false counts
// as not given.
static enum status read_data(struct qless_ask *ask, const char *area, size_t index,
                             struct slice *out)
{
    *out = SLICE_EMPTY;
    if (!qless_has(ask, index)) {
        return STATUS_OK;
    }
    struct slice text = ask->words.items[index];
    if (json_validate(text, JSON_VALUE_DEPTH_MAX, NULL)) {
        return qless_no(ask, "%s(): Arg \"data\" not JSON: %.*s", area, SLICE_PRINT(text));
    }
    if (qless_json_is_true(text)) {
        qless_cjson_again(&ask->out, text);
        *out = buffer_slice(&ask->out);
    }
    return ask->out.status ? qless_no_memory(ask) : STATUS_OK;
}

static enum status read_complete_option(struct qless_ask *ask, struct slice name,
                                        struct slice value, struct complete_request *request)
{
    if (slice_equal(name, SLICE("next"))) {
        request->next = value;
    } else if (slice_equal(name, SLICE("delay"))) {
        request->has_delay = true;
        if (!qless_seconds(value, &request->delay_us)) {
            return qless_no(ask, "assertion failed!");
        }
    } else if (slice_equal(name, SLICE("depends"))) {
        request->has_depends = true;
        if (!qless_json_list(ask, value, &request->depends)) {
            return qless_no(ask, "Complete(): Arg \"depends\" not JSON: %.*s", SLICE_PRINT(value));
        }
    }
    return STATUS_OK;
}

static enum status read_complete(struct qless_ask *ask, struct complete_request *request)
{
    if (!qless_has(ask, 0)) {
        return qless_no(ask, no_jid);
    }
    if (!qless_has(ask, 1)) {
        return qless_no(ask, "Complete(): Arg \"worker\" missing");
    }
    if (!qless_has(ask, 2)) {
        return qless_no(ask, "Complete(): Arg \"queue\" missing");
    }
    request->data = qless_word(ask, 3);
    if (!qless_has(ask, 3) || !qless_json_is_true(request->data)) {
        return qless_no(ask, "Complete(): Arg \"data\" missing or not JSON: %.*s",
                        SLICE_PRINT(request->data));
    }
    request->holder = (struct holder){ .jid = ask->words.items[0],
                                       .worker = ask->words.items[1],
                                       .queue = ask->split ? SLICE_EMPTY : ask->words.items[2] };
    // An option without a value is ignored.
    struct slices options = qless_words(ask, 4);
    enum status status = STATUS_OK;
    for (size_t i = 0; !status && i + 1 < options.count; i += 2) {
        status = read_complete_option(ask, options.items[i], options.items[i + 1], request);
    }
    if (!status && ask->split && request->delay_us > 0 && request->depends.count) {
        status = qless_no(
            ask, "Complete(): \"delay\" and \"depends\" are not allowed to be used together");
    }
    if (!status && request->has_delay && request->next.size == 0) {
        status = qless_no(ask, "Complete(): \"delay\" cannot be used without a \"next\".");
    }
    if (!status && request->has_depends && request->next.size == 0) {
        status = qless_no(ask, "Complete(): \"depends\" cannot be used without a \"next\".");
    }
    return status;
}

static enum status check_complete(struct qless_ask *ask, const struct holder *holder)
{
    struct job_view view;
    if (!find(ask, holder->jid, &view)) {
        return qless_unmet(ask, "Complete(): Job %.*s does not exist", SLICE_PRINT(holder->jid));
    }
    if (view.state != JOB_RUNNING) {
        return qless_unmet(ask, "Complete(): Job %.*s is not currently running: %s",
                           SLICE_PRINT(holder->jid), job_state_name(view.state));
    }
    if (!slice_equal(view.worker, holder->worker)) {
        return qless_unmet(ask, "Complete(): Job %.*s has been handed out to another worker: %.*s",
                           SLICE_PRINT(holder->jid), SLICE_PRINT(view.worker));
    }
    if (!ask->split && !slice_equal(view.queue, holder->queue)) {
        return qless_unmet(ask, "Complete(): Job %.*s running in another queue: %.*s",
                           SLICE_PRINT(holder->jid), SLICE_PRINT(view.queue));
    }
    return STATUS_OK;
}

enum status qless_complete(struct qless_ask *ask)
{
    struct complete_request request = { 0 };
    struct error error;
    enum job_state state;
    enum status status = read_complete(ask, &request);
    if (!status) {
        status = check_complete(ask, &request.holder);
    }
    if (status) {
        return status;
    }
    status = engine_complete(ask->engine, ask->now_us, &request, &state, &error);
    if (status) {
        return qless_engine_no(ask, "Complete", status, &error);
    }
    reply_text(ask->reply, slice_from_cstr(job_state_name(state)));
    return STATUS_OK;
}

static enum status check_fail(struct qless_ask *ask, const struct holder *holder)
{
    // The words run together in qless too.
    struct job_view view;
    if (!find(ask, holder->jid, &view)) {
        return qless_unmet(ask, "Fail(): Job %.*sdoes not exist", SLICE_PRINT(holder->jid));
    }
    if (view.state != JOB_RUNNING) {
        return qless_unmet(ask, "Fail(): Job %.*snot currently running: %s",
                           SLICE_PRINT(holder->jid), job_state_name(view.state));
    }
    if (!ask->split && !slice_equal(view.worker, holder->worker)) {
        return qless_unmet(ask, "Fail(): Job %.*s running with another worker: %.*s",
                           SLICE_PRINT(holder->jid), SLICE_PRINT(view.worker));
    }
    return STATUS_OK;
}

enum status qless_fail(struct qless_ask *ask)
{
    if (!qless_has(ask, 0)) {
        return qless_no(ask, no_jid);
    }
    if (!qless_has(ask, 1)) {
        return qless_no(ask, "Fail(): Arg \"worker\" missing");
    }
    if (!qless_has(ask, 2)) {
        return qless_no(ask, "Fail(): Arg \"group\" missing");
    }
    if (!qless_has(ask, 3)) {
        return qless_no(ask, "Fail(): Arg \"message\" missing");
    }
    struct fail_request request = { .holder = { .jid = ask->words.items[0],
                                                .worker = ask->words.items[1] },
                                    .forced = ask->split, // any worker may do that
                                    .group = ask->words.items[2],
                                    .message = ask->words.items[3] };
    struct error error;
    enum status status = read_data(ask, "Fail", 4, &request.data);
    if (!status) {
        status = check_fail(ask, &request.holder);
    }
    if (status) {
        return status;
    }
    status = engine_fail(ask->engine, ask->now_us, &request, &error);
    if (status) {
        return qless_engine_no(ask, "Fail", status, &error);
    }
    reply_text(ask->reply, request.holder.jid);
    return STATUS_OK;
}

// A failure group without a message applies when the job finally fails, with qless's own message;
// until then it is ignored.
static enum status read_retry_failure(struct qless_ask *ask, const struct job_view *view,
                                      struct retry_request *request)
{
    if (!qless_has(ask, 4)) {
        return STATUS_OK;
    }
    request->group = ask->words.items[4];
    request->has_failure = qless_has(ask, 5) || view->remaining <= 0;
    if (qless_has(ask, 5)) {
        request->message = ask->words.items[5];
    } else if (request->has_failure) {
        buffer_printf(&ask->out, "Job exhausted retries in queue \"%.*s\"",
                      SLICE_PRINT(view->queue));
        request->message = buffer_slice(&ask->out);
    }
    return ask->out.status ? qless_no_memory(ask) : STATUS_OK;
}

static enum status check_retry(struct qless_ask *ask, const struct holder *holder,
                               struct job_view *view)
{
    if (!find(ask, holder->jid, view)) {
        return qless_unmet(ask, "Retry(): Job %.*s does not exist", SLICE_PRINT(holder->jid));
    }
    if (view->state != JOB_RUNNING) {
        return qless_unmet(ask, "Retry(): Job %.*s is not currently running: %s",
                           SLICE_PRINT(holder->jid), job_state_name(view->state));
    }
    if (!slice_equal(view->worker, holder->worker)) {
        return qless_unmet(ask, "Retry(): Job %.*s has been given to another worker: %.*s",
                           SLICE_PRINT(holder->jid), SLICE_PRINT(view->worker));
    }
    return STATUS_OK;
}

enum status qless_retry(struct qless_ask *ask)
{
    if (!qless_has(ask, 0)) {
        return qless_no(ask, no_jid);
    }
    if (!qless_has(ask, 1)) {
        return qless_no(ask, "Retry(): Arg \"queue\" missing");
    }
    if (!qless_has(ask, 2)) {
        return qless_no(ask, "Retry(): Arg \"worker\" missing");
    }
    struct retry_request request = {
        .holder = { .jid = ask->words.items[0], .worker = ask->words.items[2] },
        .to = ask->words.items[1],
        .has_delay = qless_has(ask, 3),
        .seed = ask->random,
    };
    struct slice delay = qless_word(ask, 3);
    if (request.has_delay && !qless_seconds(delay, &request.delay_us)) {
        return qless_no(ask, "Retry(): Arg \"delay\" not a number: %.*s", SLICE_PRINT(delay));
    }
    struct job_view view;
    struct error error;
    int32_t remaining;
    enum status status = check_retry(ask, &request.holder, &view);
    if (!status) {
        status = read_retry_failure(ask, &view, &request);
    }
    if (status) {
        return status;
    }
    status = engine_retry(ask->engine, ask->now_us, &request, &remaining, &error);
    if (status) {
        return qless_engine_no(ask, "Retry", status, &error);
    }
    reply_integer(ask->reply, remaining);
    return STATUS_OK;
}

static enum status check_heartbeat(struct qless_ask *ask, const struct holder *holder)
{
    struct job_view view;
    if (!find(ask, holder->jid, &view)) {
        return qless_unmet(ask, "Heartbeat(): Job %.*s does not exist", SLICE_PRINT(holder->jid));
    }
    if (view.state != JOB_RUNNING) {
        return qless_unmet(ask, "Heartbeat(): Job %.*s not currently running: %s",
                           SLICE_PRINT(holder->jid), job_state_name(view.state));
    }
    if (!slice_equal(view.worker, holder->worker)) {
        return qless_unmet(ask, "Heartbeat(): Job %.*s given out to another worker: %.*s",
                           SLICE_PRINT(holder->jid), SLICE_PRINT(view.worker));
    }
    return STATUS_OK;
}

enum status qless_heartbeat(struct qless_ask *ask)
{
    if (!qless_has(ask, 0)) {
        return qless_no(ask, no_jid);
    }
    if (!qless_has(ask, 1)) {
        return qless_no(ask, "Heatbeat(): Arg \"worker\" missing");
    }
    const struct holder holder = { .jid = ask->words.items[0], .worker = ask->words.items[1] };
    struct slice data;
    struct error error;
    int64_t expires_us;
    enum status status = read_data(ask, "Heartbeat", 2, &data);
    if (!status) {
        status = check_heartbeat(ask, &holder);
    }
    if (status) {
        return status;
    }
    const struct heartbeat_request request = { .holder = holder, .data = data };
    status = engine_heartbeat(ask->engine, ask->now_us, &request, &expires_us, &error);
    if (status) {
        return qless_engine_no(ask, "Heartbeat", status, &error);
    }
    // Redis converts a script's numbers to integers.
    reply_integer(ask->reply, expires_us / US_PER_S);
    return STATUS_OK;
}
