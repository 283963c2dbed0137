// SPDX-License-Identifier: MIT
// The body of a push: the task as {"class", "args", "id"}, what else describes the job, and what
// the worker needs to report its result itself.
#include "api/task.h"
#include "base/json_reader.h"
#include "base/json_writer.h"
#include "host/namespaces.h"
#include "server/push/push.h"

#define TRACE_TAG SLICE("traceparent:")

enum {
    TRACE_SIZE = 55, // 00-32 digits-16 digits-2 digits
};

// A traceparent of W3C Trace Context: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01".
static bool is_trace(struct slice text)
{
    if (text.size != TRACE_SIZE) {
        return false;
    }
    for (size_t i = 0; i < text.size; i++) {
        bool dash = i == 2 || i == 35 || i == 52;
        char c = text.data[i];
        bool digit = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
        if (dash ? c != '-' : !digit) {
            return false;
        }
    }
    return true;
}

static void take_trace(struct slice text, char trace[64])
{
    if (text.data && is_trace(text)) {
        memcpy(trace, text.data, text.size);
        trace[text.size] = '\0';
    }
}

// Reads the member `traceparent` of the job's data, if the data is a JSON object.
static void trace_of_data(struct slice data, char trace[64])
{
    struct json_reader reader;
    struct json_member member;
    if (data.size == 0 || data.data[0] != '{' || json_reader_init_object(&reader, data, NULL)) {
        return;
    }
    while (json_reader_next(&reader, &member)) {
        struct slice raw = member.value.raw;
        if (member.value.type == JSON_TYPE_STRING && raw.size == TRACE_SIZE + 2 &&
            json_string_is(member.key, SLICE("traceparent"))) {
            take_trace(slice_sub(raw, 1, TRACE_SIZE), trace);
        }
    }
}

static void write_text(struct json_writer *writer, struct slice key, struct slice text)
{
    json_write_key(writer, key);
    json_write_string(writer, text);
}

static void write_moment(struct json_writer *writer, struct slice key, int64_t us)
{
    json_write_key(writer, key);
    json_write_seconds(writer, us);
}

static void write_number(struct json_writer *writer, struct slice key, int64_t value)
{
    json_write_key(writer, key);
    json_write_int(writer, value);
}

static void write_tags(struct json_writer *writer, const struct engine *engine,
                       const struct job *job, size_t count, char trace[64])
{
    json_write_key(writer, SLICE("tags"));
    json_write_begin_array(writer);
    for (size_t i = 0; i < count; i++) {
        struct slice tag = job_tag(engine, job, i);
        json_write_string(writer, tag);
        if (slice_starts_with(tag, TRACE_TAG)) {
            take_trace(slice_sub(tag, TRACE_TAG.size, SIZE_MAX), trace);
        }
    }
    json_write_end_array(writer);
}

// The jid of a task is the task's number, which is written as a number.
static void write_id(struct json_writer *writer, struct slice jid)
{
    uint64_t id;
    if (task_id(jid, &id)) {
        write_number(writer, SLICE("id"), (int64_t)id);
    } else {
        write_text(writer, SLICE("id"), jid);
    }
}

void push_body_write(const struct push_entry *entry, const struct job *job, struct buffer *out,
                     char trace[64])
{
    const struct ns *ns = entry->space->ns;
    struct job_view view;
    struct json_writer writer;
    job_view(ns->engine, job, &view);
    trace[0] = '\0';
    json_writer_init(&writer, out);
    json_write_begin_object(&writer);
    write_text(&writer, SLICE("class"), view.klass);
    json_write_key(&writer, SLICE("args"));
    json_write_raw(&writer, view.data.size ? view.data : SLICE("null"));
    write_id(&writer, view.jid);
    write_text(&writer, SLICE("ns"), ns_name(ns));
    write_text(&writer, SLICE("queue"), view.queue);
    write_number(&writer, SLICE("attempts"), view.attempts);
    write_number(&writer, SLICE("remaining"), view.remaining);
    write_number(&writer, SLICE("priority"), view.priority);
    write_moment(&writer, SLICE("created"), view.created_us);
    write_tags(&writer, ns->engine, job, view.tag_count, trace);
    if (view.domain.size) {
        write_text(&writer, SLICE("domain"), view.domain);
    }
    if (view.checkpoint.size) {
        write_text(&writer, SLICE("checkpoint"), view.checkpoint);
    }
    write_text(&writer, SLICE("worker"), PUSH_WORKER);
    write_number(&writer, SLICE("token"), (int64_t)view.token);
    write_moment(&writer, SLICE("expires"), view.expires_us);
    json_write_end_object(&writer);
    trace_of_data(view.data, trace);
}
