// SPDX-License-Identifier: MIT
// Replies and events as messages.
#include "faces/grpc/face.h"

#include "base/json_reader.h"
#include "base/num.h"
#include "faces/grpc/messages.h"
#include "wire/grpc_frame.h"
#include "wire/protobuf.h"

#include <assert.h>

enum {
    BODY_KEPT = 256 << 10, // a larger buffer is released after use
};

// The numbers of fields that are written and read here one by one.
enum {
    RESULT_ERROR = 2,    // AddResult
    RESPONSE_LEASES = 1, // KeepaliveResponse
    RESPONSE_TASKS = 1,  // NextResponse
    LEASE_JID = 1,       // LeaseState
    LEASE_LOST = 5,
    TASK_JID = 2, // Task
    TASK_TOKEN = 6,
    EVENT_ID = 1, // Event
    EVENT_KIND = 2,
    EVENT_JSON = 7,
    ERROR_CODE = 1, // Error
    ERROR_REASON = 2,
    ERROR_MESSAGE = 3,
    ERROR_FIELD = 4,
};

// ---------------------------------------------------------------------------------------------
// What a command replies

// The largest size of the messages that fit into `out`.
static size_t body_max(const struct grpc_face *face, const struct buffer *out)
{
    size_t taken = out->size + GRPC_FRAME_HEAD;
    size_t room = taken < out->size_max ? out->size_max - taken : 0;
    return room < face->options.reply_max ? room : face->options.reply_max;
}

// The words of each of several requests, behind the name and the namespace.
static struct slices requests_of(const struct grpc_call *call)
{
    if (call->method->act != GRPC_ACT_KEEPALIVE || call->words.count < 2) {
        return (struct slices){ NULL, 0 };
    }
    return (struct slices){ call->words.items + 2, call->words.count - 2 };
}

struct reply *grpc_face_reply(struct grpc_face *face, const struct grpc_call *call,
                              const struct buffer *out)
{
    const struct grpc_bound *bound = grpc_face_bound(face, call);
    if (face->body.capacity > BODY_KEPT) {
        buffer_release(&face->body);
    }
    buffer_clear(&face->body);
    face->body.size_max = body_max(face, out);
    if (face->body.capacity > face->body.size_max) {
        buffer_release(&face->body); // a buffer may fill its capacity, whatever its maximum is
    }
    grpc_writer_init(&face->writer, &face->body,
                     &(struct grpc_writer_options){
                         .message = bound->rpc->reply,
                         .shape = bound->method.entry->shape,
                         .ns = call->ns,
                         .plan = grpc_face_plan(face, call),
                         .requests = requests_of(call),
                         .now_us = face->now_us,
                         .raw = call->raw,
                         .size_max = face->options.reply_max,
                     });
    return &face->writer.reply;
}

uint64_t grpc_face_errors(const struct grpc_face *face)
{
    return face->writer.errors;
}

static enum status refuse_reply(const struct grpc_face *face, struct grpc_fault *fault)
{
    struct error error;
    enum status status =
        face->body.status == STATUS_TOO_LARGE
            ? error_set_reply(&error, "the answer is larger than is allowed")
            : error_set(&error, face->body.status, "there is no memory for the answer");
    (void)grpc_fault_of(fault, NULL, &error);
    return status;
}

enum status grpc_face_answer(struct grpc_face *face, const struct grpc_call *call,
                             struct buffer *out, struct grpc_fault *fault)
{
    size_t start = out->size;
    if (face->body.status) {
        return refuse_reply(face, fault);
    }
    if (face->writer.missing) {
        return grpc_fault_set(fault, GRPC_OK, STATUS_NOT_FOUND, "there is no such job");
    }
    if (call->more) {
        return STATUS_OK;
    }
    bool framed = call->method->entry->shape == GRPC_SHAPE_FRAMES;
    size_t frame = framed ? 0 : grpc_frame_begin(out);
    buffer_append(out, buffer_slice(&face->body));
    if (!framed) {
        grpc_frame_end(out, frame);
    }
    if (out->status) {
        face->body.status = out->status;
        out->status = STATUS_OK;
        buffer_truncate(out, start);
        return refuse_reply(face, fault);
    }
    return STATUS_OK;
}

static void write_error(struct buffer *out, uint32_t number, const struct grpc_fault *fault)
{
    char reason[GRPC_REASON_SIZE_MAX];
    size_t place = protobuf_begin(out, number);
    enum grpc_code code = fault->code ? fault->code : grpc_code_of(&fault->error);
    protobuf_write_varint(out, ERROR_CODE, (uint64_t)code);
    protobuf_write_bytes(out, ERROR_REASON,
                         slice_make(reason, grpc_reason(fault->error.status, reason)));
    protobuf_write_text(out, ERROR_MESSAGE, slice_from_cstr(error_sentence(&fault->error)));
    if (fault->field[0]) {
        protobuf_write_text(out, ERROR_FIELD, slice_from_cstr(fault->field));
    }
    protobuf_end(out, place);
}

enum status grpc_face_refuse(struct grpc_face *face, const struct grpc_call *call,
                             const struct error *error, struct buffer *out,
                             struct grpc_fault *fault)
{
    // What grpc_face_decode has refused is about a field already.
    if (error != &fault->error || !fault->field[0]) {
        (void)grpc_fault_of(fault, grpc_face_plan(face, call), error);
    }
    if (call->method->act != GRPC_ACT_ADDS) {
        return fault->error.status;
    }
    size_t start = out->size;
    size_t frame = grpc_frame_begin(out);
    write_error(out, RESULT_ERROR, fault);
    grpc_frame_end(out, frame);
    if (out->status) {
        enum status status = out->status;
        out->status = STATUS_OK;
        buffer_truncate(out, start);
        return grpc_fault_set(fault, GRPC_OK, status, "no room for the answer");
    }
    return STATUS_OK;
}

// ---------------------------------------------------------------------------------------------
// Leases in an answer

void grpc_tasks_init(struct grpc_tasks *tasks, const struct grpc_method *method,
                     struct slice frames)
{
    *tasks = (struct grpc_tasks){ .frames = frames,
                                  .stream = method->entry->shape == GRPC_SHAPE_FRAMES };
}

static struct grpc_task read_task(struct slice message)
{
    struct grpc_task task = { .token = 0 };
    struct protobuf_reader reader = protobuf_reader(message);
    struct protobuf_field field;
    while (protobuf_next(&reader, &field)) {
        if (field.number == TASK_JID && field.wire == PROTOBUF_BYTES) {
            task.jid = field.bytes;
        } else if (field.number == TASK_TOKEN && field.wire == PROTOBUF_VARINT) {
            task.token = field.value;
        }
    }
    return task;
}

// The next frame's message as what is left of tasks.
static bool next_frame(struct grpc_tasks *tasks)
{
    struct grpc_frame frame;
    if (grpc_frame_next(&tasks->frames, SIZE_MAX, &frame, NULL) != GRPC_FRAME_WHOLE) {
        return false;
    }
    tasks->tasks = frame.message;
    return true;
}

bool grpc_tasks_next(struct grpc_tasks *tasks, struct grpc_task *out)
{
    if (tasks->stream) {
        bool found = next_frame(tasks);
        if (found) {
            *out = read_task(tasks->tasks);
            tasks->tasks = SLICE_EMPTY;
        }
        return found;
    }
    for (;;) {
        struct protobuf_reader reader = protobuf_reader(tasks->tasks);
        struct protobuf_field field;
        while (protobuf_next(&reader, &field)) {
            if (field.number == RESPONSE_TASKS && field.wire == PROTOBUF_BYTES) {
                tasks->tasks = reader.rest;
                *out = read_task(field.bytes);
                return true;
            }
        }
        if (!next_frame(tasks)) {
            return false;
        }
    }
}

// ---------------------------------------------------------------------------------------------
// What happens by itself

bool grpc_face_lost(const struct event *event, struct buffer *out)
{
    struct grpc_fault fault;
    if (event->kind == EVENT_CANCELED) {
        (void)grpc_fault_set(&fault, GRPC_OK, STATUS_NOT_FOUND, "job %.*s was canceled",
                             SLICE_PRINT(event->jid));
    } else if (event->kind == EVENT_LOCK_LOST) {
        (void)grpc_fault_set(&fault, GRPC_OK, STATUS_STALE, "the lease of job %.*s is lost",
                             SLICE_PRINT(event->jid));
    } else {
        return false;
    }
    size_t frame = grpc_frame_begin(out);
    size_t lease = protobuf_begin(out, RESPONSE_LEASES);
    protobuf_write_text(out, LEASE_JID, event->jid);
    write_error(out, LEASE_LOST, &fault);
    protobuf_end(out, lease);
    grpc_frame_end(out, frame);
    return true;
}

// A member of an event's JSON as the field that it is called by.
static void write_member(struct buffer *out, const struct json_member *member)
{
    for (size_t i = 0; i < grpc_event.field_count; i++) {
        const struct grpc_field *field = &grpc_event.fields[i];
        int64_t us;
        if (!field->as || !json_string_is(member->key, slice_from_cstr(field->as))) {
            continue;
        }
        if (field->type == GRPC_TYPE_STRING) {
            size_t place = protobuf_begin(out, field->number);
            if (!json_value_string(member->value, out)) {
                protobuf_end(out, place);
            }
        } else if (field->type == GRPC_TYPE_MESSAGE && !num_parse_seconds(member->value.raw, &us)) {
            grpc_write_time(out, field->number, us);
        }
    }
}

void grpc_face_event(uint64_t id, struct slice json, struct buffer *out)
{
    struct json_reader reader;
    struct json_member member;
    size_t frame = grpc_frame_begin(out);
    protobuf_write_varint(out, EVENT_ID, id);
    if (!json_reader_init_object(&reader, json, NULL)) {
        while (json_reader_next(&reader, &member)) {
            write_member(out, &member);
        }
    }
    protobuf_write_text(out, EVENT_JSON, json);
    grpc_frame_end(out, frame);
}

void grpc_face_gap(uint64_t id, struct buffer *out)
{
    size_t frame = grpc_frame_begin(out);
    protobuf_write_varint(out, EVENT_ID, id);
    protobuf_write_bytes(out, EVENT_KIND, SLICE("gap"));
    grpc_frame_end(out, frame);
}
