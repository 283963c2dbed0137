// SPDX-License-Identifier: MIT
// Calls about recurring jobs.
#include "faces/qless/calls.h"
#include "faces/qless/print.h"

static const char no_jid[] = "Recurring(): no jid provided";

// ---------------------------------------------------------------------------------------------
// Recur

enum {
    RECUR_QUEUE,
    RECUR_JID,
    RECUR_KLASS,
    RECUR_DATA,
    RECUR_SPEC,
    RECUR_INTERVAL,
    RECUR_OFFSET,
    RECUR_OPTIONS,
};

static enum status read_option(struct qless_ask *ask, struct slice name, struct slice value,
                               struct recur_request *request)
{
    if (slice_equal(name, SLICE("tags"))) {
        if (!qless_json_list(ask, value, &request->tags)) {
            return qless_no(ask, "Recur(): Arg \"tags\" must be JSON string array: %.*s",
                            SLICE_PRINT(value));
        }
    } else if (slice_equal(name, SLICE("priority"))) {
        if (!qless_small_integer(value, &request->priority)) {
            return qless_no(ask, "Recur(): Arg \"priority\" not a number: %.*s",
                            SLICE_PRINT(value));
        }
        request->priority = qless_flip_priority(request->priority);
    } else if (slice_equal(name, SLICE("retries"))) {
        if (!qless_small_integer(value, &request->retries)) {
            return qless_no(ask, "Recur(): Arg \"retries\" not a number: %.*s", SLICE_PRINT(value));
        }
    } else if (slice_equal(name, SLICE("backlog"))) {
        if (!qless_integer(value, &request->backlog)) {
            return qless_no(ask, "Recur(): Arg \"backlog\" not a number: %.*s", SLICE_PRINT(value));
        }
    }
    return STATUS_OK;
}

static enum status read_interval(struct qless_ask *ask, struct recur_request *request)
{
    struct slice interval = qless_word(ask, RECUR_INTERVAL), offset = qless_word(ask, RECUR_OFFSET);
    if (!qless_seconds(interval, &request->interval_us)) {
        return qless_no(ask, "Recur(): Arg \"interval\" not a number: %.*s", SLICE_PRINT(interval));
    }
    if (!qless_seconds(offset, &request->offset_us)) {
        return qless_no(ask, "Recur(): Arg \"offset\" not a number: %.*s", SLICE_PRINT(offset));
    }
    if (request->interval_us <= 0) {
        return qless_no(ask, "Recur(): Arg \"interval\" must be greater than 0");
    }
    struct slices options = qless_words(ask, RECUR_OPTIONS);
    if (options.count % 2 == 1 && !ask->split) {
        return qless_no(ask, "Odd number of additional args: table");
    }
    enum status status = STATUS_OK;
    bool tagged = false;
    for (size_t i = 0; !status && i + 1 < options.count; i += 2) {
        status = read_option(ask, options.items[i], options.items[i + 1], request);
        tagged = tagged || slice_equal(options.items[i], SLICE("tags"));
    }
    if (!status && ask->split && !tagged) {
        status =
            qless_no(ask, "Recur(): Arg \"tags\" must be JSON-encoded array of string. Got: nil");
    }
    return status;
}

static enum status read_recur(struct qless_ask *ask, struct recur_request *request)
{
    if (!qless_has(ask, RECUR_QUEUE)) {
        return qless_no(ask, "Queue(): no queue name provided");
    }
    if (!qless_has(ask, RECUR_JID)) {
        return qless_no(ask, "RecurringJob On(): Arg \"jid\" missing");
    }
    if (!qless_has(ask, RECUR_KLASS)) {
        return qless_no(ask, "RecurringJob On(): Arg \"klass\" missing");
    }
    if (!qless_has(ask, RECUR_SPEC)) {
        return qless_no(ask, "RecurringJob On(): Arg \"spec\" missing");
    }
    struct slice data = ask->words.items[RECUR_DATA], spec = ask->words.items[RECUR_SPEC];
    if (!qless_json_is_true(data)) {
        return qless_no(ask, "RecurringJob On(): Arg \"data\" not JSON: %.*s", SLICE_PRINT(data));
    }
    if (!slice_equal(spec, SLICE("interval"))) {
        return qless_no(ask, "Recur(): schedule type \"%.*s\" unknown", SLICE_PRINT(spec));
    }
    request->queue = ask->words.items[RECUR_QUEUE];
    request->jid = ask->words.items[RECUR_JID];
    request->klass = ask->words.items[RECUR_KLASS];
    request->data = data;
    return read_interval(ask, request);
}

enum status qless_recur(struct qless_ask *ask)
{
    struct recur_request request = { .restart = true }; // as in qless
    struct error error;
    enum status status = read_recur(ask, &request);
    if (status) {
        return status;
    }
    status = engine_recur(ask->engine, ask->now_us, &request, &error);
    if (status) {
        return qless_engine_no(ask, "Recur", status, &error);
    }
    reply_text(ask->reply, request.jid);
    return STATUS_OK;
}

enum status qless_unrecur(struct qless_ask *ask)
{
    if (!qless_has(ask, 0)) {
        return qless_no(ask, no_jid);
    }
    struct error error;
    enum status status = engine_unrecur(ask->engine, ask->now_us, ask->words.items[0], &error);
    if (status) {
        return qless_engine_no(ask, "Unrecur", status, &error);
    }
    reply_integer(ask->reply, 1);
    return STATUS_OK;
}

enum status qless_recur_get(struct qless_ask *ask)
{
    if (!qless_has(ask, 0)) {
        return qless_no(ask, no_jid);
    }
    const struct recurring *recurring = engine_recurring_get(ask->engine, ask->words.items[0]);
    if (!recurring) {
        reply_null(ask->reply);
        return STATUS_OK;
    }
    qless_print_recurring(&ask->out, ask->engine, recurring, ask->split);
    return qless_reply_out(ask);
}

// ---------------------------------------------------------------------------------------------
// Changes

static enum status number_no(struct qless_ask *ask, struct slice key, struct slice value)
{
    return qless_no(ask, "Recur(): Arg \"%.*s\" must be a number: %.*s", SLICE_PRINT(key),
                    SLICE_PRINT(value));
}

static enum status read_change(struct qless_ask *ask, struct slice key, struct slice value,
                               struct recur_update *request)
{
    if (slice_equal(key, SLICE("priority"))) {
        request->has_priority = true;
        if (!qless_small_integer(value, &request->priority)) {
            return number_no(ask, key, value);
        }
        request->priority = qless_flip_priority(request->priority);
    } else if (slice_equal(key, SLICE("interval"))) {
        request->has_interval = true;
        if (!qless_seconds(value, &request->interval_us)) {
            return number_no(ask, key, value);
        }
    } else if (slice_equal(key, SLICE("retries"))) {
        request->has_retries = true;
        if (!qless_small_integer(value, &request->retries)) {
            return number_no(ask, key, value);
        }
    } else if (slice_equal(key, SLICE("data"))) {
        request->has_data = true;
        request->data = value;
        if (!qless_json_is_true(value)) {
            return qless_no(ask, "Recur(): Arg \"data\" is not JSON-encoded: %.*s",
                            SLICE_PRINT(value));
        }
    } else if (slice_equal(key, SLICE("klass"))) {
        request->has_klass = true;
        request->klass = value;
    } else if (slice_equal(key, SLICE("queue"))) {
        request->has_queue = true;
        request->queue = value;
    } else if (slice_equal(key, SLICE("backlog"))) {
        request->has_backlog = true;
        if (!qless_integer(value, &request->backlog)) {
            return qless_no(ask, "Recur(): Arg \"backlog\" not a number: %.*s", SLICE_PRINT(value));
        }
    } else {
        return qless_no(ask, "Recur(): Unrecognized option \"%.*s\"", SLICE_PRINT(key));
    }
    return STATUS_OK;
}

enum status qless_recur_update(struct qless_ask *ask)
{
    if (!qless_has(ask, 0)) {
        return qless_no(ask, no_jid);
    }
    struct recur_update request = { .jid = ask->words.items[0] };
    if (!engine_recurring_get(ask->engine, request.jid)) {
        return qless_unmet(ask, "Recur(): No recurring job %.*s", SLICE_PRINT(request.jid));
    }
    struct slices changes = qless_words(ask, 1);
    enum status status = STATUS_OK;
    for (size_t i = 0; !status && i < changes.count; i += 2) {
        struct slice key = changes.items[i];
        status = i + 1 < changes.count
                     ? read_change(ask, key, changes.items[i + 1], &request)
                     : qless_no(ask, "No value provided for %.*s", SLICE_PRINT(key));
    }
    if (status) {
        return status;
    }
    struct error error;
    status = engine_recur_update(ask->engine, ask->now_us, &request, &error);
    if (status) {
        return qless_engine_no(ask, "Recur", status, &error);
    }
    reply_integer(ask->reply, 1);
    return STATUS_OK;
}

typedef enum status tag_function(struct engine *engine, int64_t now_us, struct slice jid,
                                 struct slices tags, struct error *error);

static enum status change_tags(struct qless_ask *ask, const char *area, tag_function *function)
{
    if (!qless_has(ask, 0)) {
        return qless_no(ask, no_jid);
    }
    struct slice jid = ask->words.items[0];
    if (!engine_recurring_get(ask->engine, jid)) {
        return qless_unmet(ask, "%s(): Job %.*s does not exist", area, SLICE_PRINT(jid));
    }
    struct error error;
    qless_print_recurring_tags(&ask->out, ask->engine, engine_recurring_get(ask->engine, jid));
    enum status status = qless_check_room_for(ask, ask->out.size, qless_words(ask, 1));
    buffer_clear(&ask->out);
    if (status) {
        return status;
    }
    status = function(ask->engine, ask->now_us, jid, qless_words(ask, 1), &error);
    if (status) {
        return qless_engine_no(ask, area, status, &error);
    }
    qless_print_recurring_tags(&ask->out, ask->engine, engine_recurring_get(ask->engine, jid));
    return qless_reply_out(ask);
}

enum status qless_recur_tag(struct qless_ask *ask)
{
    return change_tags(ask, "Tag", engine_recur_tag);
}

enum status qless_recur_untag(struct qless_ask *ask)
{
    return change_tags(ask, "Untag", engine_recur_untag);
}
