// SPDX-License-Identifier: MIT
#include "faces/grpc/writer.h"

#include "base/body.h"
#include "base/json.h"
#include "base/num.h"
#include "faces/grpc/fault.h"
#include "faces/grpc/messages.h"
#include "wire/grpc_frame.h"
#include "wire/protobuf.h"

#include <assert.h>

// Fields of messages with a meaning of their own.
enum {
    PAYLOAD_JSON = 1,
    PAYLOAD_RAW = 2,
    TIME_SECONDS = 1,
    TIME_NANOS = 2,
    ERROR_CODE = 1,
    ERROR_REASON = 2,
    ERROR_MESSAGE = 3,
    ERROR_FIELD = 4,
    VALUE_NULL = 1,
    VALUE_TEXT = 2,
    VALUE_JSON = 3,
    VALUE_INTEGER = 4,
    VALUE_NUMBER = 5,
    VALUE_BOOLEAN = 6,
    VALUE_TIME = 7,
    VALUE_DURATION = 8,
    VALUE_LIST = 9,
    VALUE_MAP = 10,
    VALUE_ERROR = 11,
    LIST_ITEMS = 1,
    MAP_PAIRS = 1,
    PAIR_KEY = 1,
    PAIR_VALUE = 2,
};

static const int64_t SECOND_US = 1000000;

// A value of the reply of a command.
enum reply_kind {
    KIND_NULL,
    KIND_TEXT,
    KIND_JSON,
    KIND_INTEGER,
    KIND_BOOLEAN,
    KIND_NUMBER,
    KIND_SECONDS,
    KIND_MOMENT,
    KIND_ERROR,
};

struct reply_value {
    enum reply_kind kind;
    struct slice bytes;
    int64_t integer; // or microseconds
    double number;
    const struct error *error;
};

static struct grpc_writer *writer_of(struct reply *reply)
{
    return (struct grpc_writer *)(void *)reply; // it is the first member
}

static struct grpc_level *top(struct grpc_writer *writer)
{
    return &writer->levels[writer->depth - 1];
}

// ---------------------------------------------------------------------------------------------
// Messages with a meaning of their own

static void write_time_fields(struct buffer *out, int64_t us)
{
    int64_t seconds = us / SECOND_US;
    int64_t rest = us % SECOND_US;
    if (seconds) {
        protobuf_write_varint(out, TIME_SECONDS, protobuf_signed(seconds));
    }
    if (rest) {
        protobuf_write_varint(out, TIME_NANOS, protobuf_signed(rest * 1000));
    }
}

// Moments before 1970 do not occur, so seconds and the rest of both have the same sign.
void grpc_write_time(struct buffer *out, uint32_t number, int64_t us)
{
    size_t place = protobuf_begin(out, number);
    write_time_fields(out, us);
    protobuf_end(out, place);
}

// The bytes that data stands for. `valid`: it is JSON.
static void write_raw(struct buffer *out, struct slice data, bool valid)
{
    if (!valid) {
        protobuf_write_bytes(out, PAYLOAD_RAW, data);
        return;
    }
    size_t place = protobuf_begin(out, PAYLOAD_RAW);
    if (!body_decode(data, out)) { // else the buffer keeps its status
        protobuf_end(out, place);
    }
}

// What qless's clients put was read by rules that are laxer than JSON's: it is bytes.
static void write_json_payload(struct grpc_writer *writer, struct slice data)
{
    bool valid = !json_validate(data, JSON_DEPTH_MAX, NULL);
    bool bytes = slice_starts_with(data, SLICE("{\"$base64\":"));
    if (writer->options.raw || bytes || !valid) {
        write_raw(writer->out, data, valid);
    } else {
        protobuf_write_bytes(writer->out, PAYLOAD_JSON, data);
    }
}

static void write_payload(struct grpc_writer *writer, uint32_t number,
                          const struct reply_value *from)
{
    size_t place = protobuf_begin(writer->out, number);
    if (from->kind == KIND_JSON) {
        write_json_payload(writer, from->bytes);
    } else {
        protobuf_write_bytes(writer->out, PAYLOAD_RAW, from->bytes); // JSON that was cut
    }
    protobuf_end(writer->out, place);
}

static void write_error_fields(struct grpc_writer *writer, const struct error *error)
{
    struct grpc_fault fault;
    char reason[GRPC_REASON_SIZE_MAX];
    enum status status = grpc_fault_of(&fault, writer->options.plan, error);
    protobuf_write_varint(writer->out, ERROR_CODE, (uint64_t)grpc_code_of(error));
    protobuf_write_bytes(writer->out, ERROR_REASON,
                         slice_make(reason, grpc_reason(status, reason)));
    protobuf_write_text(writer->out, ERROR_MESSAGE, slice_from_cstr(error_sentence(&fault.error)));
    if (fault.field[0]) {
        protobuf_write_bytes(writer->out, ERROR_FIELD, slice_from_cstr(fault.field));
    }
}

static void write_error_message(struct grpc_writer *writer, uint32_t number,
                                const struct error *error)
{
    size_t place = protobuf_begin(writer->out, number);
    write_error_fields(writer, error);
    protobuf_end(writer->out, place);
}

// The kind of a Value that is no list and no map.
static void write_value_fields(struct grpc_writer *writer, const struct reply_value *from)
{
    struct buffer *out = writer->out;
    switch (from->kind) {
    case KIND_NULL:
        protobuf_write_varint(out, VALUE_NULL, 1);
        break;
    case KIND_TEXT:
        protobuf_write_bytes(out, VALUE_TEXT, from->bytes);
        break;
    case KIND_JSON:
        protobuf_write_text(out, VALUE_JSON, from->bytes);
        break;
    case KIND_INTEGER:
        protobuf_write_varint(out, VALUE_INTEGER, protobuf_signed(from->integer));
        break;
    case KIND_BOOLEAN:
        protobuf_write_varint(out, VALUE_BOOLEAN, from->integer != 0);
        break;
    case KIND_NUMBER:
        protobuf_write_double(out, VALUE_NUMBER, from->number);
        break;
    case KIND_SECONDS:
        grpc_write_time(out, VALUE_DURATION, from->integer);
        break;
    case KIND_MOMENT:
        grpc_write_time(out, VALUE_TIME, from->integer);
        break;
    case KIND_ERROR:
        write_error_message(writer, VALUE_ERROR, from->error);
        break;
    }
}

// ---------------------------------------------------------------------------------------------
// Fields

// Whether a field is written though its value is zero or empty.
static bool has_presence(const struct grpc_field *field)
{
    return field->oneof || field->flags & (GRPC_FIELD_OPTIONAL | GRPC_FIELD_REPEATED);
}

static void write_text_field(struct grpc_writer *writer, const struct grpc_field *field,
                             struct slice text)
{
    if (text.size == 0 && !has_presence(field)) {
        return;
    }
    if (field->type == GRPC_TYPE_BYTES) {
        protobuf_write_bytes(writer->out, field->number, text);
    } else {
        protobuf_write_text(writer->out, field->number, text);
    }
}

static void write_number_field(struct grpc_writer *writer, const struct grpc_field *field,
                               uint64_t value)
{
    if (value || has_presence(field)) {
        protobuf_write_varint(writer->out, field->number, value);
    }
}

static bool write_double_field(struct grpc_writer *writer, const struct grpc_field *field,
                               const struct reply_value *from)
{
    double value = from->kind == KIND_NUMBER    ? from->number
                   : from->kind == KIND_SECONDS ? (double)from->integer / (double)SECOND_US
                                                : (double)from->integer;
    if (value != 0 || has_presence(field)) {
        protobuf_write_double(writer->out, field->number, value);
    }
    return from->kind == KIND_NUMBER || from->kind == KIND_INTEGER || from->kind == KIND_SECONDS;
}

static bool write_message_field(struct grpc_writer *writer, const struct grpc_field *field,
                                const struct reply_value *from)
{
    size_t place;
    switch (field->message->form) {
    case GRPC_FORM_PAYLOAD:
        write_payload(writer, field->number, from);
        return from->kind == KIND_JSON || from->kind == KIND_TEXT;
    case GRPC_FORM_TIMESTAMP:
        grpc_write_time(writer->out, field->number, from->integer);
        return from->kind == KIND_MOMENT;
    case GRPC_FORM_DURATION: // of a moment, how long it is until then
        grpc_write_time(writer->out, field->number,
                        from->kind == KIND_MOMENT ? from->integer - writer->options.now_us
                                                  : from->integer);
        return from->kind == KIND_SECONDS || from->kind == KIND_MOMENT;
    case GRPC_FORM_ERROR:
        if (from->kind != KIND_ERROR) {
            return false;
        }
        write_error_message(writer, field->number, from->error);
        return true;
    case GRPC_FORM_VALUE:
        place = protobuf_begin(writer->out, field->number);
        write_value_fields(writer, from);
        protobuf_end(writer->out, place);
        return true;
    case GRPC_FORM_FIELDS:
        break;
    }
    return false;
}

// Writes a value into a field; false: it is none of the field's type.
static bool write_field(struct grpc_writer *writer, const struct grpc_field *field,
                        const struct reply_value *from)
{
    switch (field->type) {
    case GRPC_TYPE_STRING:
    case GRPC_TYPE_BYTES:
        write_text_field(writer, field, from->bytes);
        return from->kind == KIND_TEXT || from->kind == KIND_JSON;
    case GRPC_TYPE_ENUM:
        write_number_field(writer, field, grpc_enum_number(field->values, from->bytes));
        return from->kind == KIND_TEXT && grpc_enum_number(field->values, from->bytes);
    case GRPC_TYPE_BOOL:
        write_number_field(writer, field, from->integer != 0);
        return from->kind == KIND_BOOLEAN;
    case GRPC_TYPE_DOUBLE:
        return write_double_field(writer, field, from);
    case GRPC_TYPE_MESSAGE:
        return write_message_field(writer, field, from);
    default:
        write_number_field(writer, field, protobuf_signed(from->integer));
        return from->kind == KIND_INTEGER;
    }
}

// ---------------------------------------------------------------------------------------------
// Where values go

static bool is_called(const struct grpc_field *field, struct slice as)
{
    return field->as && slice_equal(slice_from_cstr(field->as), as);
}

// The fields that hold what is called so, which stand beside each other. Keys come in the order of
// the fields, more or less, so the search begins behind the last that was found.
static struct grpc_target find_target(const struct grpc_message *message, struct slice as,
                                      size_t *hint)
{
    struct grpc_target target = { .count = 0 };
    const struct grpc_field *fields = message->fields;
    size_t index = *hint;
    size_t left = message->field_count;
    for (; left > 0; left--, index++) {
        index = index < message->field_count ? index : 0;
        if (is_called(&fields[index], as)) {
            break;
        }
    }
    while (left > 0 && index > 0 && is_called(&fields[index - 1], as)) {
        index--;
    }
    for (; left > 0 && index < message->field_count && is_called(&fields[index], as); index++) {
        assert(target.count < GRPC_TARGETS_MAX);
        target.fields[target.count++] = &fields[index];
        *hint = index + 1;
    }
    return target;
}

static const struct grpc_field *find_role(const struct grpc_message *message, enum grpc_role role)
{
    for (size_t i = 0; i < message->field_count; i++) {
        if (message->fields[i].role == role) {
            return &message->fields[i];
        }
    }
    return NULL;
}

// Takes the next of several requests off the front.
static struct slices take_request(struct grpc_writer *writer)
{
    struct slices *all = &writer->requests;
    int64_t count = 0;
    if (all->count == 0 || num_parse_i64(all->items[0], &count) || count < 0 ||
        (size_t)count >= all->count) {
        return (struct slices){ NULL, 0 };
    }
    struct slices request = { all->items + 1, (size_t)count };
    *all = (struct slices){ all->items + 1 + count, all->count - 1 - (size_t)count };
    return request;
}

// Fields of an item that are those of the request that it answers: jid worker [TOKEN n].
static void write_request_fields(struct grpc_writer *writer, const struct grpc_message *message)
{
    const struct grpc_field *jid = find_role(message, GRPC_ROLE_JID);
    const struct grpc_field *token = find_role(message, GRPC_ROLE_TOKEN);
    if (!jid) {
        return;
    }
    struct slices request = take_request(writer);
    if (request.count > 0) {
        write_text_field(writer, jid, request.items[0]);
    }
    uint64_t number;
    for (size_t i = 2; token && i + 1 < request.count; i++) {
        if (slice_equal(request.items[i], SLICE("TOKEN")) &&
            !num_parse_u64(request.items[i + 1], &number)) {
            write_number_field(writer, token, number);
            break;
        }
    }
}

// What a message has besides the reply.
static void write_context(struct grpc_writer *writer, const struct grpc_message *message)
{
    const struct grpc_field *ns = find_role(message, GRPC_ROLE_NAMESPACE);
    if (ns) {
        write_text_field(writer, ns, writer->options.ns);
    }
    write_request_fields(writer, message);
}

static bool is_value(const struct grpc_target *target)
{
    return target->count && target->fields[0]->type == GRPC_TYPE_MESSAGE &&
           target->fields[0]->message->form == GRPC_FORM_VALUE;
}

// A value in place of a whole message.
static void write_single(struct grpc_writer *writer, const struct grpc_message *message,
                         const struct reply_value *from)
{
    size_t hint = 0;
    struct grpc_target target = find_target(message, SLICE(GRPC_AS_VALUE), &hint);
    if (from->kind == KIND_ERROR && !is_value(&target)) {
        target = find_target(message, SLICE(GRPC_AS_ERROR), &hint);
    }
    if (from->kind == KIND_NULL && !is_value(&target)) {
        return;
    }
    bool fits = target.count > 0;
    for (size_t i = 0; i < target.count; i++) {
        fits = write_field(writer, target.fields[i], from) && fits;
    }
    writer->misfits += !fits;
}

// An item of a list that is a message of its own.
static void write_item(struct grpc_writer *writer, const struct grpc_field *field,
                       const struct reply_value *from)
{
    if (from->kind == KIND_NULL && field->message->form != GRPC_FORM_VALUE) {
        return; // there is no such thing
    }
    if (field->message->form != GRPC_FORM_FIELDS) {
        writer->misfits += !write_field(writer, field, from);
        return;
    }
    size_t place = protobuf_begin(writer->out, field->number);
    write_context(writer, field->message);
    write_single(writer, field->message, from);
    protobuf_end(writer->out, place);
}

static void end_pair(struct grpc_writer *writer, struct grpc_level *level)
{
    if (level->kind == GRPC_LEVEL_VALUE_MAP) {
        protobuf_end(writer->out, level->pair);
        level->wants_key = true;
    }
}

static void say_in(struct grpc_writer *writer, struct grpc_level *level,
                   const struct reply_value *from)
{
    size_t place;
    switch (level->kind) {
    case GRPC_LEVEL_SKIPPED:
        break;
    case GRPC_LEVEL_MAP:
        for (size_t i = 0; i < level->target.count && from->kind != KIND_NULL; i++) {
            writer->misfits += !write_field(writer, level->target.fields[i], from);
        }
        level->wants_key = true;
        break;
    case GRPC_LEVEL_LIST:
        if (level->target.count == 0) {
            break;
        }
        if (level->target.fields[0]->type == GRPC_TYPE_MESSAGE) {
            write_item(writer, level->target.fields[0], from);
        } else if (from->kind != KIND_NULL) {
            writer->misfits += !write_field(writer, level->target.fields[0], from);
        }
        level->item++;
        break;
    case GRPC_LEVEL_VALUE_MAP:
    case GRPC_LEVEL_VALUE_LIST:
        place = protobuf_begin(writer->out,
                               level->kind == GRPC_LEVEL_VALUE_MAP ? PAIR_VALUE : LIST_ITEMS);
        write_value_fields(writer, from);
        protobuf_end(writer->out, place);
        end_pair(writer, level);
        break;
    }
}

// Whether what comes next is a message as a whole.
static bool at_message(const struct grpc_writer *writer)
{
    return writer->depth == (writer->options.shape == GRPC_SHAPE_MESSAGE ? 0 : 1);
}

static void say(struct reply *reply, const struct reply_value *from)
{
    struct grpc_writer *writer = writer_of(reply);
    writer->errors += from->kind == KIND_ERROR;
    if (!at_message(writer)) {
        say_in(writer, top(writer), from);
        return;
    }
    if (writer->options.shape == GRPC_SHAPE_FIRST && from->kind == KIND_NULL) {
        writer->missing = true;
        return;
    }
    bool framed = writer->options.shape == GRPC_SHAPE_FRAMES;
    size_t frame = framed ? grpc_frame_begin(writer->out) : 0;
    write_single(writer, writer->options.message, from);
    if (framed) {
        grpc_frame_end(writer->out, frame);
    }
}

// ---------------------------------------------------------------------------------------------
// Lists and maps

static struct grpc_level *push(struct grpc_writer *writer, enum grpc_level_kind kind)
{
    assert(writer->depth < GRPC_DEPTH_MAX);
    struct grpc_level *level = &writer->levels[writer->depth++];
    *level =
        (struct grpc_level){ .kind = kind,
                             .wants_key = kind == GRPC_LEVEL_MAP || kind == GRPC_LEVEL_VALUE_MAP };
    return level;
}

static void begin_message(struct grpc_writer *writer, struct grpc_level *level, uint32_t number)
{
    assert(level->end_count < GRPC_ENDS_MAX);
    level->ends[level->end_count++] = protobuf_begin(writer->out, number);
}

// A list or map as the value of a Value, whose place is open.
static void push_value(struct grpc_writer *writer, const struct grpc_field *field, uint32_t number,
                       bool map)
{
    struct grpc_level *level = push(writer, map ? GRPC_LEVEL_VALUE_MAP : GRPC_LEVEL_VALUE_LIST);
    begin_message(writer, level, field ? field->number : number);
    begin_message(writer, level, map ? VALUE_MAP : VALUE_LIST);
}

static void push_skipped(struct grpc_writer *writer)
{
    (void)push(writer, GRPC_LEVEL_SKIPPED);
}

// The fields of a message, which the caller has begun.
static struct grpc_level *push_fields(struct grpc_writer *writer,
                                      const struct grpc_message *message)
{
    struct grpc_level *level = push(writer, GRPC_LEVEL_MAP);
    level->message = message;
    return level;
}

// A map or list in a field.
static void push_in_field(struct grpc_writer *writer, const struct grpc_target *target, bool map)
{
    const struct grpc_field *field = target->count ? target->fields[0] : NULL;
    bool message = field && field->type == GRPC_TYPE_MESSAGE;
    bool value = message && field->message->form == GRPC_FORM_VALUE;
    bool fields = message && field->message->form == GRPC_FORM_FIELDS;
    if (value) {
        push_value(writer, field, 0, map);
    } else if (map && fields) {
        struct grpc_level *level = push_fields(writer, field->message);
        begin_message(writer, level, field->number);
        write_context(writer, field->message);
    } else if (!map && field && field->flags & GRPC_FIELD_REPEATED) {
        push(writer, GRPC_LEVEL_LIST)->target = *target;
    } else {
        writer->misfits += field != NULL;
        push_skipped(writer);
    }
}

// A message as a whole.
static void push_message(struct grpc_writer *writer, bool map)
{
    const struct grpc_message *message = writer->options.message;
    size_t hint = 0;
    struct grpc_target value = find_target(message, SLICE(GRPC_AS_VALUE), &hint);
    struct grpc_target list = find_target(message, SLICE(GRPC_AS_LIST), &hint);
    if (is_value(&value)) {
        push_value(writer, value.fields[0], 0, map);
    } else if (map) {
        bool framed = writer->options.shape == GRPC_SHAPE_FRAMES;
        size_t frame = framed ? grpc_frame_begin(writer->out) : 0;
        struct grpc_level *level = push_fields(writer, message);
        level->framed = framed;
        if (framed) {
            level->ends[level->end_count++] = frame;
        }
        write_context(writer, message);
    } else {
        push_in_field(writer, &list, false);
    }
}

static void begin(struct reply *reply, bool map)
{
    struct grpc_writer *writer = writer_of(reply);
    if (at_message(writer)) {
        push_message(writer, map);
        return;
    }
    if (writer->depth == 0) { // the list whose items are the messages
        (void)push(writer, GRPC_LEVEL_LIST);
        return;
    }
    struct grpc_level *level = top(writer);
    switch (level->kind) {
    case GRPC_LEVEL_SKIPPED:
        push_skipped(writer);
        break;
    case GRPC_LEVEL_MAP:
        level->wants_key = true;
        push_in_field(writer, &level->target, map);
        break;
    case GRPC_LEVEL_LIST:
        level->item++;
        push_in_field(writer, &level->target, map);
        break;
    case GRPC_LEVEL_VALUE_MAP:
        push_value(writer, NULL, PAIR_VALUE, map);
        break;
    case GRPC_LEVEL_VALUE_LIST:
        push_value(writer, NULL, LIST_ITEMS, map);
        break;
    }
}

static void write_list(struct reply *reply, size_t count)
{
    (void)count;
    begin(reply, false);
}

static void write_map(struct reply *reply, size_t pairs)
{
    (void)pairs;
    begin(reply, true);
}

static void write_end(struct reply *reply)
{
    struct grpc_writer *writer = writer_of(reply);
    struct grpc_level *level = top(writer);
    size_t first = level->framed ? 1 : 0;
    for (size_t i = level->end_count; i > first; i--) {
        protobuf_end(writer->out, level->ends[i - 1]);
    }
    if (level->framed) {
        grpc_frame_end(writer->out, level->ends[0]);
    }
    writer->depth--;
    if (writer->depth > 0) {
        end_pair(writer, top(writer));
    }
}

// ---------------------------------------------------------------------------------------------
// What commands say

static void write_null(struct reply *reply)
{
    say(reply, &(struct reply_value){ .kind = KIND_NULL });
}

static void take_key(struct grpc_writer *writer, struct grpc_level *level, struct slice key)
{
    level->wants_key = false;
    if (level->kind == GRPC_LEVEL_VALUE_MAP) {
        level->pair = protobuf_begin(writer->out, MAP_PAIRS);
        protobuf_write_text(writer->out, PAIR_KEY, key);
        return;
    }
    level->target = find_target(level->message, key, &level->hint);
    writer->misfits += level->target.count == 0;
}

static void write_text(struct reply *reply, struct slice bytes)
{
    struct grpc_writer *writer = writer_of(reply);
    if (writer->depth > 0 && top(writer)->wants_key) {
        take_key(writer, top(writer), bytes);
    } else {
        say(reply, &(struct reply_value){ .kind = KIND_TEXT, .bytes = bytes });
    }
}

// That it worked goes without saying.
static void write_word(struct reply *reply, struct slice word)
{
    struct grpc_writer *writer = writer_of(reply);
    size_t hint = 0;
    if (!at_message(writer) || !slice_equal(word, SLICE("OK")) ||
        find_target(writer->options.message, SLICE(GRPC_AS_VALUE), &hint).count) {
        write_text(reply, word);
    }
}

static void write_json(struct reply *reply, struct slice valid)
{
    say(reply, &(struct reply_value){ .kind = KIND_JSON, .bytes = valid });
}

static void write_integer(struct reply *reply, int64_t value)
{
    say(reply, &(struct reply_value){ .kind = KIND_INTEGER, .integer = value });
}

static void write_boolean(struct reply *reply, bool value)
{
    say(reply, &(struct reply_value){ .kind = KIND_BOOLEAN, .integer = value });
}

static void write_number(struct reply *reply, double value)
{
    say(reply, &(struct reply_value){ .kind = KIND_NUMBER, .number = value });
}

static void write_seconds(struct reply *reply, int64_t us)
{
    say(reply, &(struct reply_value){ .kind = KIND_SECONDS, .integer = us });
}

static void write_moment(struct reply *reply, int64_t us)
{
    say(reply, &(struct reply_value){ .kind = KIND_MOMENT, .integer = us });
}

static void write_error(struct reply *reply, const struct error *error)
{
    say(reply, &(struct reply_value){ .kind = KIND_ERROR, .error = error });
}

static size_t room(const struct reply *reply)
{
    const struct buffer *out = ((const struct grpc_writer *)(const void *)reply)->out;
    return out->status ? 0 : out->size_max - out->size;
}

static size_t room_max(const struct reply *reply)
{
    return ((const struct grpc_writer *)(const void *)reply)->options.size_max;
}

// As an item of the reply.
static size_t measure(struct reply *reply, reply_writer *write, const void *about)
{
    const struct grpc_writer *writer = writer_of(reply);
    struct grpc_writer *apart = mem_alloc(writer->out->allocator, sizeof(*apart));
    if (!apart) {
        return SIZE_MAX;
    }
    struct buffer bytes;
    buffer_init(&bytes, writer->out->allocator, writer->options.size_max);
    grpc_writer_init(apart, &bytes, &writer->options);
    reply_list(&apart->reply, 1);
    write(&apart->reply, about);
    reply_end(&apart->reply);
    size_t size = bytes.status ? SIZE_MAX : bytes.size;
    buffer_release(&bytes);
    mem_free(writer->out->allocator, apart, sizeof(*apart));
    return size;
}

static const struct reply_ops functions = {
    .null = write_null,
    .word = write_word,
    .text = write_text,
    .json = write_json,
    .prose = write_text,
    .integer = write_integer,
    .boolean = write_boolean,
    .number = write_number,
    .seconds = write_seconds,
    .moment = write_moment,
    .error = write_error,
    .list = write_list,
    .map = write_map,
    .end = write_end,
    .room = room,
    .room_max = room_max,
    .measure = measure,
    .growth = 3, // a byte that is not UTF-8
    .error_size = 3 * REPLY_SHORT_ERROR + GRPC_REASON_SIZE_MAX + GRPC_PATH_SIZE_MAX + 32,
};

void grpc_writer_init(struct grpc_writer *writer, struct buffer *out,
                      const struct grpc_writer_options *options)
{
    writer->reply.ops = &functions;
    writer->out = out;
    writer->options = *options;
    writer->requests = options->requests;
    writer->depth = 0;
    writer->errors = writer->misfits = 0;
    writer->missing = false;
}
