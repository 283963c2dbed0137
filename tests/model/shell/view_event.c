// SPDX-License-Identifier: MIT
#include "member.h"
#include "views.h"

// What only one kind of event has stands behind the others, by name.
static void write_more(struct json_writer *out, const struct event *event)
{
    if (event->kind != EVENT_FINISHED && event->kind != EVENT_PROGRESS) {
        return;
    }
    json_write_begin_object(out);
    if (event->kind == EVENT_FINISHED) {
        member_text(out, "state", event->state);
        member_uint(out, "waiter", event->waiter);
        member_text(out, "result", event->result);
    } else {
        member_int(out, "progress_ppm", event->progress_ppm);
    }
    json_write_end_object(out);
}

void write_event(void *context, const struct event *event)
{
    struct shell *shell = context;
    struct json_writer out;
    if (shell->events.size) {
        buffer_append_char(&shell->events, ',');
    }
    json_writer_init(&out, &shell->events);
    json_write_begin_array(&out);
    json_write_string(&out, slice_from_cstr(event_kind_name(event->kind)));
    json_write_uint(&out, event->channels);
    json_write_int(&out, event->when_us);
    const struct slice fields[] = { event->jid,   event->queue,   event->worker, event->to,
                                    event->group, event->message, event->option, event->value };
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        json_write_string(&out, fields[i]);
    }
    write_more(&out, event);
    json_write_end_array(&out);
}
