// SPDX-License-Identifier: MIT
// Events of a server, on a connection of their own. When it breaks,
// another is made, and the subscriber receives a gap.
#include "client/memory.h"
#include "client/remote.h"

#include "client/pause.h"
#include "client/value.h"

#include <stdlib.h>
#include <string.h>

enum {
    BEGIN_US = 1000000,
};

struct remote_events {
    struct listening listening;
    struct remote *remote;
    struct dialog *dialog;        // NULL: it has broken
    struct sluice_value *message; // the message that was returned last
    unsigned attempts;
    bool no_connection; // the last attempt has made no connection
    char channel[2 * SLUICE_NAME_SIZE + 32];
};

static const char gap[] = "{\"event\":\"gap\"}";

static struct remote_events *events_of(struct listening *listening)
{
    return (struct remote_events *)(void *)listening; // it is the first member
}

static void drop_dialog(struct remote_events *events)
{
    dialog_close(events->dialog);
    events->dialog = NULL;
}

// Subscribes again. Even a caller with a very short wait gives the connection a second: otherwise
// it would never receive an event again.
static enum sluice_status begin(struct remote_events *events, int64_t deadline_us,
                                struct sluice_error *error)
{
    const struct remote *remote = events->remote;
    int64_t enough_us = deadline_in(BEGIN_US);
    deadline_us = deadline_us > enough_us ? deadline_us : enough_us;
    events->no_connection = false;
    const struct until until = { deadline_us, events->listening.wake, &events->no_connection };
    enum sluice_status status = dialog_open(&remote->peer, until, &events->dialog, error);
    if (status) {
        return status;
    }
    const struct slice words[] = { SLICE("SUBSCRIBE"), slice_from_cstr(events->channel) };
    struct buffer request;
    struct slice answer;
    size_t items;
    buffer_init(&request, &allocator_system, sizeof(events->channel) + 64);
    request_add(&request, (struct slices){ words, 2 }, 0, SLICE_EMPTY);
    enum stream_result result =
        request.status ? STREAM_CLOSED
                       : stream_write(&events->dialog->stream, buffer_slice(&request), until);
    buffer_release(&request);
    if (result == STREAM_OK) {
        result = dialog_read(events->dialog, deadline_us, events->listening.wake, &answer, &items);
    }
    if (result == STREAM_OK) {
        struct sluice_value *value;
        status = value_read(answer, items, &value, error); // it may be refused
        sluice_value_free(value);
    } else if (result == STREAM_WOKEN) {
        status = fault_interrupted(error);
    } else {
        status = fault(error, SLUICE_UNREACHABLE, "%s does not answer", remote->peer.url.place);
    }
    if (status) {
        drop_dialog(events);
    }
    return status;
}

// Returns the text of a message: ["message", channel, text]. NULL: the answer is another one.
static const char *text_of(const struct sluice_value *value)
{
    const char *kind = sluice_value_text(sluice_value_at(value, 0), NULL);
    bool message = kind && strcmp(kind, "message") == 0;
    return message ? sluice_value_text(sluice_value_at(value, 2), NULL) : NULL;
}

// Reads the next answer. CLOSED: the connection has ended.
static enum stream_result read_message(struct remote_events *events, int64_t deadline_us,
                                       const char **out)
{
    struct slice answer;
    size_t items;
    enum stream_result result =
        dialog_read(events->dialog, deadline_us, events->listening.wake, &answer, &items);
    if (result != STREAM_OK) {
        return result;
    }
    sluice_value_free(events->message);
    if (value_read(answer, items, &events->message, NULL)) {
        return STREAM_CLOSED;
    }
    *out = text_of(events->message);
    return STREAM_OK;
}

// Tries to subscribe again until the deadline.
static enum sluice_status begin_again(struct remote_events *events, int64_t deadline_us,
                                      struct sluice_error *error)
{
    for (;; events->attempts++) {
        enum sluice_status status = begin(events, deadline_us, error);
        if (!may_work_later(status)) {
            events->attempts = 0;
            return status;
        }
        if (!pause_before(events->attempts, deadline_us, events->listening.wake)) {
            return wake_is_set(events->listening.wake) ? fault_interrupted(error) : status;
        }
    }
}

static enum sluice_status events_next(struct listening *listening, int64_t wait_us,
                                      const char **out, struct sluice_error *error)
{
    struct remote_events *events = events_of(listening);
    int64_t deadline_us = deadline_of_call(wait_us);
    for (;;) {
        if (!events->dialog) {
            enum sluice_status status = begin_again(events, deadline_us, error);
            *out = status ? NULL : gap;
            return status;
        }
        *out = NULL;
        switch (read_message(events, deadline_us, out)) {
        case STREAM_OK:
            if (*out) {
                return SLUICE_OK;
            }
            break;
        case STREAM_LATE:
            return fault_timed_out(error);
        case STREAM_WOKEN:
            return fault_interrupted(error);
        case STREAM_CLOSED:
        case STREAM_ODD:
            drop_dialog(events);
            break;
        }
    }
}

static void events_free(struct listening *listening)
{
    struct remote_events *events = events_of(listening);
    dialog_close(events->dialog);
    sluice_value_free(events->message);
    memory_free(events);
}

static const struct listening_ops events_form = { events_next, events_free };

enum sluice_status remote_listen(struct link *link, struct slice ns, struct slice channel,
                                 struct listening **out, struct sluice_error *error)
{
    struct remote_events *events = memory_zalloc(1, sizeof(*events));
    if (!events) {
        return fault_no_memory(error);
    }
    events->listening.ops = &events_form;
    events->remote = remote_of(link);
    events->listening.wake = events->remote->wake;
    (void)snprintf(events->channel, sizeof(events->channel), "sluice:%.*s:%.*s", SLICE_PRINT(ns),
                   SLICE_PRINT(channel));
    int64_t deadline_us = deadline_of_call(events->remote->timeout_us);
    enum sluice_status status = begin(events, deadline_us, error);
    bool final = events->remote->fail_fast && events->no_connection;
    if (may_work_later(status) && !final) {
        events->attempts = 1;
        status = begin_again(events, deadline_us, error);
    }
    if (status) {
        events_free(&events->listening);
        return status;
    }
    *out = &events->listening;
    return SLUICE_OK;
}
