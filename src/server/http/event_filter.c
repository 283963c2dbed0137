// SPDX-License-Identifier: MIT
#include "server/http/event_filter.h"

#include "base/num.h"
#include "wire/http_target.h"

enum {
    NAME_SIZE_MAX = 255,
    NAMES_SIZE_MAX = 64 << 10, // more than a query can hold
};

void event_filter_init(struct event_filter *filter, const struct allocator *allocator)
{
    *filter = (struct event_filter){ 0 };
    buffer_init(&filter->queues, allocator, NAMES_SIZE_MAX);
    buffer_init(&filter->jids, allocator, NAMES_SIZE_MAX);
    buffer_init(&filter->workers, allocator, NAMES_SIZE_MAX);
}

void event_filter_release(struct event_filter *filter)
{
    buffer_release(&filter->queues);
    buffer_release(&filter->jids);
    buffer_release(&filter->workers);
}

// ---------------------------------------------------------------------------------------------
// Reading

static enum status add_name(struct buffer *names, const char *what, struct slice value,
                            struct error *error)
{
    if (value.size == 0 || value.size > NAME_SIZE_MAX) {
        return error_set(error, STATUS_INVALID, "%s: it must be a name of 1 to %d bytes", what,
                         NAME_SIZE_MAX);
    }
    buffer_append_char(names, (char)value.size);
    buffer_append(names, value);
    return names->status
               ? error_set(error, names->status, "%s: %s", what, status_sentence(names->status))
               : STATUS_OK;
}

static enum status read_queue(struct event_filter *filter, struct slice value, struct error *error)
{
    return add_name(&filter->queues, "queue", value, error);
}

static enum status read_jid(struct event_filter *filter, struct slice value, struct error *error)
{
    return add_name(&filter->jids, "jid", value, error);
}

static enum status read_worker(struct event_filter *filter, struct slice value, struct error *error)
{
    return add_name(&filter->workers, "worker", value, error);
}

static enum status read_kind(struct event_filter *filter, struct slice value, struct error *error)
{
    for (int kind = 0; kind < EVENT_KIND_COUNT; kind++) {
        if (slice_equal(value, slice_from_cstr(event_kind_name((enum event_kind)kind)))) {
            filter->kinds |= 1U << kind;
            return STATUS_OK;
        }
    }
    return error_set(error, STATUS_INVALID, "kind: there is no event %.*s",
                     SLICE_PRINT(slice_shown(value)));
}

static enum status read_tracked(struct event_filter *filter, struct slice value,
                                struct error *error)
{
    filter->tracked = slice_equal(value, SLICE("true"));
    return filter->tracked || slice_equal(value, SLICE("false"))
               ? STATUS_OK
               : error_set(error, STATUS_INVALID, "tracked: it must be true or false, not %.*s",
                           SLICE_PRINT(slice_shown(value)));
}

enum status event_filter_read_last_id(struct event_filter *filter, struct slice text,
                                      struct error *error)
{
    if (text.size == 0) {
        return STATUS_OK;
    }
    if (num_parse_u64(text, &filter->last_id)) {
        return error_set(error, STATUS_INVALID,
                         "last_event_id: it must be the number of an event, not %.*s",
                         SLICE_PRINT(slice_shown(text)));
    }
    filter->has_last_id = true;
    return STATUS_OK;
}

static const struct parameter {
    const char *name;
    enum status (*read)(struct event_filter *filter, struct slice value, struct error *error);
} parameters[] = {
    { "queue", read_queue },   { "jid", read_jid },
    { "kind", read_kind },     { "tracked", read_tracked },
    { "worker", read_worker }, { "last_event_id", event_filter_read_last_id },
};

static enum status read_parameter(struct event_filter *filter, struct slice name,
                                  struct slice value, struct error *error)
{
    for (size_t i = 0; i < sizeof(parameters) / sizeof(parameters[0]); i++) {
        if (slice_equal(name, slice_from_cstr(parameters[i].name))) {
            return parameters[i].read(filter, value, error);
        }
    }
    return error_set(error, STATUS_INVALID,
                     "there is no parameter %.*s; there are queue, jid, kind, tracked, worker and "
                     "last_event_id",
                     SLICE_PRINT(slice_shown(name)));
}

enum status event_filter_read(struct event_filter *filter, struct slice query, struct error *error)
{
    struct slice name, value;
    struct buffer bytes;
    enum status status = STATUS_OK;
    buffer_init(&bytes, filter->queues.allocator, NAMES_SIZE_MAX);
    while (!status && http_query_next(&query, &name, &value)) {
        struct slice escaped = value;
        buffer_clear(&bytes);
        status = http_unescape(escaped, true, &bytes, &value);
        status = status ? error_set(error, status, "%.*s: its value is badly escaped",
                                    SLICE_PRINT(slice_shown(name)))
                        : read_parameter(filter, name, value, error);
    }
    buffer_release(&bytes);
    return status;
}

// ---------------------------------------------------------------------------------------------
// Matching

static bool has_name(const struct buffer *names, struct slice name)
{
    struct slice rest = buffer_slice(names);
    while (rest.size) {
        size_t size = (unsigned char)rest.data[0];
        if (slice_equal(slice_sub(rest, 1, size), name)) {
            return true;
        }
        rest = slice_sub(rest, 1 + size, SIZE_MAX);
    }
    return false;
}

static bool is_for(const struct event_filter *filter, const struct event *event)
{
    if (!filter->tracked && filter->workers.size == 0) {
        return (event->channels & (EVENT_TO_LOG | EVENT_TO_WATCHER)) ||
               (filter->jids.size && (event->channels & EVENT_TO_JOB));
    }
    return (filter->tracked && (event->channels & EVENT_TO_TRACKER)) ||
           ((event->channels & EVENT_TO_WORKER) && has_name(&filter->workers, event->worker));
}

bool event_filter_wants_ticks(const struct event_filter *filter)
{
    return filter->kinds >> EVENT_TICK & 1;
}

bool event_filter_matches(const struct event_filter *filter, const struct event *event)
{
    return is_for(filter, event) && (!filter->kinds || (filter->kinds >> event->kind & 1)) &&
           (!filter->queues.size || has_name(&filter->queues, event->queue)) &&
           (!filter->jids.size || has_name(&filter->jids, event->jid));
}
