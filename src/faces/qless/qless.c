// SPDX-License-Identifier: MIT
// Recognises scripts and calls.
#include "faces/qless/qless.h"

#include "faces/qless/ask.h"
#include "faces/qless/calls.h"
#include "faces/qless/split.h"

enum {
    ANSWER_SIZE_MAX = 512 * 1024 * 1024, // of a bulk string, in Redis
};

// ---------------------------------------------------------------------------------------------
// Scripts

static bool contains(struct slice text, struct slice part)
{
    return memmem(text.data, text.size, part.data, part.size) != NULL;
}

enum qless_script qless_recognise(struct slice script)
{
    // All versions define these classes, also when comments and white space are removed.
    const struct slice classes[] = { SLICE("QlessJob"), SLICE("QlessQueue"), SLICE("QlessWorker"),
                                     SLICE("QlessRecurringJob"), SLICE("Qless.config") };
    if (script.size == 0) {
        return QLESS_NONE;
    }
    for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
        if (!contains(script, classes[i])) {
            return qless_split_recognise(script);
        }
    }
    return contains(script, SLICE("QlessAPI")) && contains(script, SLICE("ARGV")) ? QLESS_API
                                                                                  : QLESS_LIB;
}

// ---------------------------------------------------------------------------------------------
// Calls

// Whether a call with these arguments is allowed on a full disk: it changes existing jobs only.
typedef bool shrinks_function(struct slices arguments);

static bool always(struct slices arguments)
{
    (void)arguments;
    return true;
}

static bool never(struct slices arguments)
{
    (void)arguments;
    return false;
}

static bool word_is(struct slices arguments, size_t index, struct slice wanted)
{
    return arguments.count > index && slice_equal(arguments.items[index], wanted);
}

static bool depends_shrinks(struct slices arguments)
{
    return word_is(arguments, 1, SLICE("off"));
}

static bool tag_shrinks(struct slices arguments)
{
    return !word_is(arguments, 0, SLICE("add"));
}

static bool track_shrinks(struct slices arguments)
{
    return !word_is(arguments, 0, SLICE("track"));
}

static const struct call {
    struct slice name;
    qless_function *run;
    shrinks_function *shrinks;
} calls[] = {
#define CALL(name, function, shrinks)                                                              \
    {                                                                                              \
        { name, sizeof(name) - 1 }, function, shrinks                                              \
    }
    CALL("cancel", qless_cancel, always),
    CALL("complete", qless_complete, always),
    CALL("config.get", qless_config_get, always),
    CALL("config.set", qless_config_set, always),
    CALL("config.unset", qless_config_unset, always),
    CALL("depends", qless_depends, depends_shrinks),
    CALL("fail", qless_fail, always),
    CALL("failed", qless_failed, always),
    CALL("get", qless_get, always),
    CALL("heartbeat", qless_heartbeat, always),
    CALL("jobs", qless_jobs, always),
    CALL("length", qless_length, always),
    CALL("log", qless_log, never),
    CALL("multiget", qless_multiget, always),
    CALL("pause", qless_pause, always),
    CALL("peek", qless_peek, always),
    CALL("pop", qless_pop, always),
    CALL("priority", qless_priority, always),
    CALL("put", qless_put, never),
    CALL("queue.forget", qless_queue_forget, always),
    CALL("queues", qless_queues, always),
    CALL("recur", qless_recur, never),
    CALL("recur.get", qless_recur_get, always),
    CALL("recur.tag", qless_recur_tag, never),
    CALL("recur.untag", qless_recur_untag, always),
    CALL("recur.update", qless_recur_update, never),
    CALL("requeue", qless_requeue, never),
    CALL("retry", qless_retry, always),
    CALL("stats", qless_stats, always),
    CALL("tag", qless_tag, tag_shrinks),
    CALL("timeout", qless_timeout, always),
    CALL("track", qless_track, track_shrinks),
    CALL("unfail", qless_unfail, always),
    CALL("unpause", qless_unpause, always),
    CALL("unrecur", qless_unrecur, always),
    CALL("worker.deregister", qless_worker_deregister, always),
    CALL("workers", qless_workers, always),
#undef CALL
};

struct slice qless_call_at(size_t index)
{
    return index < sizeof(calls) / sizeof(calls[0]) ? calls[index].name : SLICE_EMPTY;
}

static const struct call *find(struct slice name)
{
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        if (slice_equal(calls[i].name, name)) {
            return &calls[i];
        }
    }
    return NULL;
}

static bool is_split(enum qless_script script)
{
    return script >= QLESS_SPLIT;
}

struct slice qless_call_name(enum qless_script script, struct slices words)
{
    if (is_split(script)) {
        return qless_split_name(script, words);
    }
    return words.count ? words.items[0] : SLICE_EMPTY;
}

// The words after the name of the call and the time. A script for one call has no name there, and
// its time follows the words that `shrinks` functions examine.
static struct slices arguments_of(enum qless_script script, struct slices words)
{
    size_t skip = is_split(script) ? 0 : words.count < 2 ? words.count : 2;
    return (struct slices){ skip ? words.items + skip : words.items, words.count - skip };
}

bool qless_shrinks(enum qless_script script, struct slices words)
{
    const struct call *found = find(qless_call_name(script, words));
    return !found || found->shrinks(arguments_of(script, words));
}

static enum status read_unified(const struct qless_call *call, struct qless_ask *ask,
                                struct slice *name)
{
    if (call->keys.count) {
        return qless_no(ask, "No Keys should be provided");
    }
    if (call->words.count == 0) {
        return qless_no(ask, "Must provide a command");
    }
    *name = call->words.items[0];
    if (!find(*name)) {
        return qless_no(ask, "Unknown command %.*s", SLICE_PRINT(*name));
    }
    if (call->words.count == 1 || !qless_seconds(call->words.items[1], &ask->now_us)) {
        return qless_no(ask, "Arg \"now\" missing or not a number: nil");
    }
    ask->words = arguments_of(call->script, call->words);
    return STATUS_OK;
}

static enum status run(const struct qless_call *call, struct qless_ask *ask)
{
    struct slice name;
    enum status status = is_split(call->script) ? qless_split_read(call, ask, &name)
                                                : read_unified(call, ask, &name);
    if (!status) {
        status = qless_check_room(ask, REPLY_SIZE_LEAST);
    }
    return status ? status : find(name)->run(ask);
}

void qless_run(const struct qless_call *call)
{
    struct qless_ask ask = {
        .engine = call->engine,
        .allocator = call->allocator,
        .reply = call->reply,
        .random = call->random,
    };
    buffer_init(&ask.out, call->allocator, ANSWER_SIZE_MAX);
    if (run(call, &ask)) {
        if (ask.split && ask.unmet) {
            reply_null(call->reply);
        } else {
            reply_error(call->reply, &ask.error);
        }
    }
    if (ask.unfit.size && call->unfit) {
        call->unfit(call->unfit_context, ask.unfit);
    }
    buffer_release(&ask.out);
    qless_rooms_free(&ask);
}
