// SPDX-License-Identifier: MIT
// The messages that qless publishes. Clients compare some of them as texts, so the members are in
// the order in which Redis's Lua prints them.
#include "faces/qless/cjson.h"
#include "faces/qless/qless.h"

static void print(struct buffer *out, const char *key, struct slice value)
{
    qless_cjson_key(out, key);
    qless_cjson_string(out, value);
}

// Prints the members of a message; false if qless has none for this event. In some versions of the
// split generation, the names of events contained blanks, and a set option was published without
// its value.
static bool print_members(struct buffer *out, const struct event *event, bool blanks)
{
    switch (event->kind) {
    case EVENT_PUT:
        print(out, "jid", event->jid);
        print(out, "event", SLICE("put"));
        print(out, "queue", event->queue);
        return true;
    case EVENT_COMPLETED:
        print(out, "jid", event->jid);
        print(out, "event", SLICE("completed"));
        print(out, "queue", event->queue);
        return true;
    case EVENT_ADVANCED:
        print(out, "jid", event->jid);
        print(out, "to", event->to);
        print(out, "event", SLICE("advanced"));
        print(out, "queue", event->queue);
        return true;
    case EVENT_FAILED:
        print(out, "message", event->message);
        print(out, "jid", event->jid);
        print(out, "group", event->group);
        print(out, "event", SLICE("failed"));
        print(out, "worker", event->worker);
        return true;
    case EVENT_CANCELED:
        print(out, "jid", event->jid);
        print(out, "queue", event->queue);
        print(out, "event", SLICE("canceled"));
        print(out, "worker", event->worker);
        return true;
    case EVENT_LOCK_LOST:
        print(out, "jid", event->jid);
        print(out, "event", blanks ? SLICE("lock lost") : SLICE("lock_lost"));
        print(out, "worker", event->worker);
        return true;
    case EVENT_CONFIG_SET:
        print(out, "option", event->option);
        print(out, "event", blanks ? SLICE("config set") : SLICE("config_set"));
        if (!blanks) {
            print(out, "value", event->value);
        }
        return true;
    case EVENT_CONFIG_UNSET:
        print(out, "event", blanks ? SLICE("config unset") : SLICE("config_unset"));
        print(out, "option", event->option);
        return true;
    case EVENT_POPPED:
    case EVENT_STALLED:
    case EVENT_TRACK:
    case EVENT_UNTRACK:
    case EVENT_PROGRESS:
    case EVENT_FINISHED:
    case EVENT_KIND_COUNT:
    default:
        return false;
    }
}

// The channel for tracked jobs; empty if qless has none for this event. In the split generation it
// has no prefix.
static struct slice tracker_channel(enum event_kind kind)
{
    switch (kind) {
    case EVENT_PUT:
        return SLICE("ql:put");
    case EVENT_POPPED:
        return SLICE("ql:popped");
    case EVENT_COMPLETED:
        return SLICE("ql:completed");
    case EVENT_FAILED:
        return SLICE("ql:failed");
    case EVENT_CANCELED:
        return SLICE("ql:canceled");
    case EVENT_STALLED:
        return SLICE("ql:stalled");
    case EVENT_TRACK:
        return SLICE("ql:track");
    case EVENT_UNTRACK:
        return SLICE("ql:untrack");
    case EVENT_ADVANCED:
    case EVENT_LOCK_LOST:
    case EVENT_CONFIG_SET:
    case EVENT_CONFIG_UNSET:
    case EVENT_PROGRESS:
    case EVENT_FINISHED:
    case EVENT_KIND_COUNT:
    default:
        return SLICE_EMPTY;
    }
}

// The names of the channels for the log and for the workers.
struct channel_names {
    struct slice log, worker_prefix;
    bool blanks; // with the messages of those versions
};

// Publishes to the log and to the worker. `scratch` contains the message, then the worker's
// channel.
static void publish_members(const struct event *event, const struct channel_names *names,
                            struct buffer *scratch, const struct qless_sink *sink)
{
    buffer_clear(scratch);
    buffer_append_char(scratch, '{');
    if (!print_members(scratch, event, names->blanks)) {
        return;
    }
    buffer_append_char(scratch, '}');
    size_t size = scratch->size;
    buffer_append(scratch, names->worker_prefix);
    buffer_append(scratch, event->worker);
    if (scratch->status) {
        return;
    }
    struct slice message = slice_make(scratch->data, size);
    struct slice worker = slice_sub(buffer_slice(scratch), size, SIZE_MAX);
    bool to_worker = (event->channels & EVENT_TO_WORKER) != 0;
    // A worker that lost its job is notified before the log; otherwise the log is first.
    bool worker_first = event->kind == EVENT_LOCK_LOST;
    if (to_worker && worker_first) {
        sink->publish(sink->context, worker, message);
    }
    if (event->channels & EVENT_TO_LOG) {
        sink->publish(sink->context, names->log, message);
    }
    if (to_worker && !worker_first) {
        sink->publish(sink->context, worker, message);
    }
}

void qless_publish(const struct event *event, unsigned generations, struct buffer *scratch,
                   const struct qless_sink *sink)
{
    const struct slice prefix = SLICE("ql:");
    const struct channel_names prefixed = { SLICE("ql:log"), SLICE("ql:w:"), false };
    const struct channel_names bare = { SLICE("log"), SLICE_EMPTY, true };
    if (event->channels & (EVENT_TO_LOG | EVENT_TO_WORKER)) {
        publish_members(event, &prefixed, scratch, sink);
        if (generations & QLESS_GENERATION_SPLIT) {
            publish_members(event, &bare, scratch, sink);
        }
    }
    struct slice channel = tracker_channel(event->kind);
    if (!(event->channels & EVENT_TO_TRACKER) || channel.size == 0) {
        return;
    }
    if (generations & QLESS_GENERATION_UNIFIED) {
        sink->publish(sink->context, channel, event->jid);
    }
    if (generations & QLESS_GENERATION_SPLIT) {
        sink->publish(sink->context, slice_sub(channel, prefix.size, SIZE_MAX), event->jid);
    }
}
