// SPDX-License-Identifier: MIT
#include "host/event_json.h"

#include "base/json_writer.h"
#include "base/num.h"

static void write_text(struct json_writer *writer, struct slice key, struct slice text)
{
    if (text.size) {
        json_write_key(writer, key);
        json_write_string(writer, text);
    }
}

static void write_seconds(struct json_writer *writer, struct slice key, int64_t us)
{
    char bytes[32];
    struct buffer text;
    buffer_init(&text, &allocator_system, sizeof(bytes));
    num_append_seconds(&text, us);
    json_write_key(writer, key);
    json_write_raw(writer, text.status ? SLICE("null") : buffer_slice(&text));
    buffer_release(&text);
}

static void write_count(struct json_writer *writer, struct slice key, uint64_t count)
{
    json_write_key(writer, key);
    json_write_uint(writer, count);
}

static void write_bulk(struct json_writer *writer, const struct event *event)
{
    write_count(writer, SLICE("id"), event->bulk.id);
    write_count(writer, SLICE("looked_at"), event->bulk.looked_at);
    write_count(writer, SLICE("matched"), event->bulk.matched);
    write_count(writer, SLICE("changed"), event->bulk.changed);
    json_write_key(writer, SLICE("done"));
    json_write_bool(writer, event->bulk.done);
    json_write_key(writer, SLICE("stopped"));
    json_write_bool(writer, event->bulk.stopped);
}

void event_json(const struct event *event, struct buffer *out)
{
    struct json_writer writer;
    json_writer_init(&writer, out);
    json_write_begin_object(&writer);
    write_text(&writer, SLICE("event"), slice_from_cstr(event_kind_name(event->kind)));
    write_seconds(&writer, SLICE("when"), event->when_us);
    write_text(&writer, SLICE("jid"), event->jid);
    write_text(&writer, SLICE("queue"), event->queue);
    write_text(&writer, SLICE("worker"), event->worker);
    write_text(&writer, SLICE("to"), event->to);
    write_text(&writer, SLICE("group"), event->group);
    write_text(&writer, SLICE("message"), event->message);
    write_text(&writer, SLICE("option"), event->option);
    write_text(&writer, SLICE("value"), event->value);
    write_text(&writer, SLICE("state"), event->state);
    if (event->kind == EVENT_PROGRESS) {
        write_seconds(&writer, SLICE("progress"), event->progress_ppm); // parts of a million
    }
    write_text(&writer, SLICE("domain"), event->domain);
    if (event->kind == EVENT_BULK) {
        write_bulk(&writer, event);
    }
    json_write_end_object(&writer);
}
