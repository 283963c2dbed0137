// SPDX-License-Identifier: MIT
#include "grpc_test.h"

#include "base/ascii.h"
#include "engine/check/check.h"
#include "faces/grpc/messages.h"
#include "wire/grpc_frame.h"
#include "wire/protobuf.h"

#include <stdio.h>

enum {
    SIZE_LIMIT = 1 << 24,
    DEPTH_LIMIT = 32,
};

static const char *const code_names[] = {
    "OK",        "CANCELLED",      "UNKNOWN",           "INVALID_ARGUMENT",   "DEADLINE_EXCEEDED",
    "NOT_FOUND", "ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION",
    "ABORTED",   "OUT_OF_RANGE",   "UNIMPLEMENTED",     "INTERNAL",           "UNAVAILABLE",
    "DATA_LOSS", "UNAUTHENTICATED"
};

static uint64_t next_random(void *context)
{
    struct desk *desk = context;
    return ++desk->random;
}

struct desk *desk_new(const struct allocator *allocator, size_t reply_max)
{
    struct desk *desk = calloc(1, sizeof(*desk));
    assert_non_null(desk);
    const struct engine_options options = { .allocator = &allocator_system, .seed = { 1, 2 } };
    assert_int_equal(engine_new(&options, &desk->engine), STATUS_OK);
    assert_int_equal(commands_new(&allocator_system, api_tables, API_TABLES, &desk->commands),
                     STATUS_OK);
    const struct grpc_face_options face = {
        .allocator = allocator,
        .commands = desk->commands,
        .reply_max = reply_max,
    };
    assert_int_equal(grpc_face_new(&face, &desk->face), STATUS_OK);
    desk->host = (struct host){ .random = next_random, .context = desk };
    desk->now_us = DESK_BEGINS_US;
    scratch_init(&desk->scratch, &allocator_system);
    buffer_init(&desk->message, &allocator_system, SIZE_LIMIT);
    buffer_init(&desk->reply, &allocator_system, SIZE_LIMIT);
    buffer_init(&desk->text, &allocator_system, SIZE_LIMIT);
    return desk;
}

void desk_free(struct desk *desk)
{
    buffer_release(&desk->message);
    buffer_release(&desk->reply);
    buffer_release(&desk->text);
    scratch_release(&desk->scratch);
    grpc_face_free(desk->face);
    commands_free(desk->commands);
    engine_free(desk->engine);
    free(desk);
}

int desk_begin(void **state)
{
    *state = desk_new(&allocator_system, SIZE_LIMIT);
    return 0;
}

static void complain(void *context, const char *sentence)
{
    (void)context;
    print_error("%s\n", sentence);
}

int desk_end(void **state)
{
    struct desk *desk = *state;
    size_t broken = engine_check(desk->engine, false, complain, NULL);
    uint64_t misfits = desk->misfits;
    desk_free(desk);
    if (misfits) {
        print_error("%llu values of replies have no field\n", (unsigned long long)misfits);
    }
    return broken || misfits ? -1 : 0;
}

// ---------------------------------------------------------------------------------------------
// Text to messages

static void skip_blanks(const char **text)
{
    while (**text == ' ') {
        (*text)++;
    }
}

static const struct grpc_field *take_name(const struct grpc_message *message, const char **text)
{
    size_t size = strcspn(*text, ": {");
    for (size_t i = 0; i < message->field_count; i++) {
        const char *name = message->fields[i].name;
        if (strlen(name) == size && memcmp(name, *text, size) == 0) {
            *text += size;
            return &message->fields[i];
        }
    }
    fail_msg("%s has no field %.*s", message->name, (int)size, *text);
    return NULL;
}

// 'text' with \x00 for a byte.
static void take_string(const char **text, struct buffer *out)
{
    assert_int_equal(*(*text)++, '\'');
    while (**text != '\'') {
        uint64_t byte;
        assert_true(**text);
        if (strncmp(*text, "\\x", 2) == 0 && ascii_hex_read(slice_make(*text + 2, 2), &byte)) {
            buffer_append_char(out, (char)byte);
            *text += 4;
        } else {
            buffer_append_char(out, *(*text)++);
        }
    }
    (*text)++;
}

static uint64_t take_number(const struct grpc_field *field, const char **text)
{
    size_t size = strcspn(*text, " }");
    struct slice word = slice_make(*text, size);
    *text += size;
    if (slice_equal(word, SLICE("true"))) {
        return 1;
    }
    for (size_t i = 0; field->values && i < field->values->value_count; i++) {
        if (slice_equal(word, slice_from_cstr(field->values->values[i]))) {
            return i;
        }
    }
    return *word.data == '-' ? (uint64_t)strtoll(word.data, NULL, 10)
                             : strtoull(word.data, NULL, 10);
}

static void encode_fields(const struct grpc_message *message, const char **text, struct buffer *out)
{
    for (skip_blanks(text); **text && **text != '}'; skip_blanks(text)) {
        const struct grpc_field *field = take_name(message, text);
        if (**text == ':') {
            (*text)++;
        }
        skip_blanks(text);
        size_t place;
        switch (field->type) {
        case GRPC_TYPE_MESSAGE:
            assert_int_equal(*(*text)++, '{');
            place = protobuf_begin(out, field->number);
            encode_fields(field->message, text, out);
            protobuf_end(out, place);
            assert_int_equal(*(*text)++, '}');
            break;
        case GRPC_TYPE_STRING:
        case GRPC_TYPE_BYTES:
            place = protobuf_begin(out, field->number);
            take_string(text, out);
            protobuf_end(out, place);
            break;
        case GRPC_TYPE_DOUBLE:
            protobuf_write_double(out, field->number, strtod(*text, NULL));
            *text += strcspn(*text, " }");
            break;
        default:
            protobuf_write_varint(out, field->number, take_number(field, text));
            break;
        }
    }
}

void desk_encode(const struct grpc_message *message, const char *text, struct buffer *out)
{
    encode_fields(message, &text, out);
    assert_int_equal(*text, '\0');
    assert_int_equal(out->status, STATUS_OK);
}

// ---------------------------------------------------------------------------------------------
// Messages to text

static void print_string(struct slice bytes, struct buffer *out)
{
    buffer_append_char(out, '\'');
    for (size_t i = 0; i < bytes.size; i++) {
        unsigned char byte = (unsigned char)bytes.data[i];
        if (byte < ' ') {
            buffer_printf(out, "\\x%02x", byte);
        } else {
            buffer_append_char(out, (char)byte);
        }
    }
    buffer_append_char(out, '\'');
}

static void print_value(const struct grpc_field *field, const struct protobuf_field *value,
                        struct buffer *out)
{
    switch (field->type) {
    case GRPC_TYPE_MESSAGE:
        assert_int_equal(value->wire, PROTOBUF_BYTES);
        buffer_append(out, SLICE(" { "));
        desk_print(field->message, value->bytes, out);
        buffer_append(out, value->bytes.size ? SLICE(" }") : SLICE("}"));
        return;
    case GRPC_TYPE_STRING:
    case GRPC_TYPE_BYTES:
        assert_int_equal(value->wire, PROTOBUF_BYTES);
        buffer_append(out, SLICE(": "));
        print_string(value->bytes, out);
        return;
    case GRPC_TYPE_DOUBLE:
        assert_int_equal(value->wire, PROTOBUF_FIXED64);
        buffer_printf(out, ": %g", protobuf_double(value->value));
        return;
    case GRPC_TYPE_BOOL:
        buffer_printf(out, ": %s", value->value ? "true" : "false");
        return;
    case GRPC_TYPE_ENUM:
        assert_true(value->value < field->values->value_count);
        buffer_printf(out, ": %s", field->values->values[value->value]);
        return;
    default:
        assert_int_equal(value->wire, PROTOBUF_VARINT);
        buffer_printf(out, ": %lld", (long long)value->value);
        return;
    }
}

// Timestamps as "12.5s since the beginning", lengths as "30s".
static bool print_time(const struct grpc_message *message, struct slice bytes, struct buffer *out)
{
    if (message->form != GRPC_FORM_TIMESTAMP && message->form != GRPC_FORM_DURATION) {
        return false;
    }
    struct protobuf_reader reader = protobuf_reader(bytes);
    struct protobuf_field field;
    double seconds = 0;
    while (protobuf_next(&reader, &field)) {
        seconds +=
            field.number == 1 ? (double)(int64_t)field.value : (double)(int64_t)field.value / 1e9;
    }
    bool moment = message->form == GRPC_FORM_TIMESTAMP;
    buffer_printf(out, moment ? "%+gs" : "%gs",
                  moment ? seconds - (double)DESK_BEGINS_US / 1e6 : seconds);
    return true;
}

void desk_print(const struct grpc_message *message, struct slice bytes, struct buffer *out)
{
    struct protobuf_reader reader = protobuf_reader(bytes);
    struct protobuf_field value;
    if (bytes.size && print_time(message, bytes, out)) {
        return;
    }
    for (bool first = true; protobuf_next(&reader, &value); first = false) {
        const struct grpc_field *field = grpc_field_find(message, value.number);
        assert_non_null(field);
        buffer_printf(out, "%s%s", first ? "" : " ", field->name);
        print_value(field, &value, out);
    }
    assert_false(reader.broken);
}

// ---------------------------------------------------------------------------------------------

const struct grpc_method *desk_method(const struct desk *desk, const char *name)
{
    char path[GRPC_METHOD_PATH_SIZE];
    (void)snprintf(path, sizeof(path), "/sluice.v1.Queue/%s", name);
    const struct grpc_method *method = grpc_face_find(desk->face, slice_from_cstr(path));
    assert_non_null(method);
    return method;
}

static const char *finish(struct desk *desk)
{
    buffer_append_char(&desk->text, '\0');
    assert_int_equal(desk->text.status, STATUS_OK);
    return desk->text.data;
}

static const char *print_fault(struct desk *desk)
{
    const struct grpc_fault *fault = &desk->fault;
    enum grpc_code code = fault->code ? fault->code : grpc_code_of(&fault->error);
    buffer_clear(&desk->text);
    buffer_printf(&desk->text, "%d %s %s%s%s%s", (int)code, code_names[code],
                  fault->field[0] ? "[" : "", fault->field, fault->field[0] ? "] " : "",
                  error_sentence(&fault->error));
    return finish(desk);
}

static const char *print_frames(struct desk *desk)
{
    const struct grpc_message *message = grpc_face_bound(desk->face, &desk->call)->rpc->reply;
    struct slice rest = buffer_slice(&desk->reply);
    struct grpc_frame frame;
    buffer_clear(&desk->text);
    while (grpc_frame_next(&rest, SIZE_LIMIT, &frame, NULL) == GRPC_FRAME_WHOLE) {
        assert_false(frame.compressed);
        buffer_append(&desk->text, desk->text.size ? SLICE(" | ") : SLICE(""));
        size_t before = desk->text.size;
        desk_print(message, frame.message, &desk->text);
        if (desk->text.size == before) {
            buffer_append(&desk->text, SLICE("{}"));
        }
    }
    assert_int_equal(rest.size, 0);
    if (desk->text.size == 0) {
        buffer_append(&desk->text, SLICE("(nothing)"));
    }
    return finish(desk);
}

// Runs what was decoded; false: it failed, or waits, and what is in `text` says so.
static bool run(struct desk *desk)
{
    struct grpc_call *of = &desk->call;
    struct error error = { 0 };
    (void)engine_tick(desk->engine, desk->now_us);
    grpc_face_set_time(desk->face, desk->now_us);
    assert_true(of->words.count >= 2 && (of->command->flags & COMMAND_NAMESPACE));
    struct call call = {
        .command = of->command,
        .ns = of->words.items[1],
        .engine = desk->engine,
        .now_us = desk->now_us,
        .reply = grpc_face_reply(desk->face, of, &desk->reply),
        .host = &desk->host,
        .last = desk->last,
        .waiter = 7,
    };
    enum status status = call_run(
        &call, (struct slices){ of->words.items + 2, of->words.count - 2 }, &desk->scratch, &error);
    if (!status && call.wait.kind) {
        buffer_clear(&desk->text);
        buffer_append(&desk->text, SLICE("(waits)"));
        (void)finish(desk);
        return false;
    }
    status = status ? grpc_face_refuse(desk->face, of, &error, &desk->reply, &desk->fault)
                    : grpc_face_answer(desk->face, of, &desk->reply, &desk->fault);
    desk->misfits += desk->face->writer.misfits;
    if (status) {
        (void)print_fault(desk);
    }
    return !status;
}

const char *ask_next(struct desk *desk, const char *request)
{
    buffer_clear(&desk->message);
    buffer_clear(&desk->reply);
    desk_encode(grpc_face_bound(desk->face, &desk->call)->rpc->request, request, &desk->message);
    do {
        enum status status =
            grpc_face_decode(desk->face, &desk->call, buffer_slice(&desk->message), &desk->fault);
        if (status && !desk->fault.code) { // of StreamAdd a well-formed message is answered
            status = grpc_face_refuse(desk->face, &desk->call, &desk->fault.error, &desk->reply,
                                      &desk->fault);
            return status ? print_fault(desk) : print_frames(desk);
        }
        if (status) {
            return print_fault(desk);
        }
        if (!run(desk)) {
            return desk->text.data;
        }
    } while (desk->call.more);
    return print_frames(desk);
}

const char *ask(struct desk *desk, const char *method, const char *request)
{
    grpc_call_init(&desk->call, desk_method(desk, method));
    return ask_next(desk, request);
}

const char *words_of(struct desk *desk, const char *method, const char *request)
{
    struct grpc_call *call = &desk->call;
    grpc_call_init(call, desk_method(desk, method));
    buffer_clear(&desk->message);
    buffer_clear(&desk->text);
    desk_encode(grpc_face_bound(desk->face, call)->rpc->request, request, &desk->message);
    do {
        if (grpc_face_decode(desk->face, call, buffer_slice(&desk->message), &desk->fault)) {
            return print_fault(desk);
        }
        buffer_append(&desk->text, desk->text.size ? SLICE(" ;") : SLICE(""));
        for (size_t i = 0; i < call->words.count; i++) {
            buffer_append(&desk->text, desk->text.size ? SLICE(" ") : SLICE(""));
            buffer_append(&desk->text, call->words.items[i]);
        }
    } while (call->more);
    return finish(desk);
}

static bool shows(const char *shown, const char *wanted)
{
    size_t size = strlen(wanted);
    if (size >= 3 && strcmp(wanted + size - 3, "...") == 0) {
        return strncmp(shown, wanted, size - 3) == 0;
    }
    return strcmp(shown, wanted) == 0;
}

void says_at(struct desk *desk, const char *shown, const char *request, const char *wanted,
             const char *file, int line)
{
    if (!shows(shown, wanted)) {
        (void)fprintf(stderr, "> %s %s\n%s\ninstead of\n%s\n", desk->call.method->name, request,
                      shown, wanted);
        _fail(file, line);
    }
}
