// SPDX-License-Identifier: MIT
#include "wire/protobuf.h"

#include "base/json.h"

enum {
    WIRE_GROUP_BEGIN = 3,
    WIRE_GROUP_END = 4,
    CONTINUES = 0x80,
};

#define REPLACEMENT SLICE("\xEF\xBF\xBD")

// ---------------------------------------------------------------------------------------------
// Reading

// Bits above the 64th are dropped, as all implementations do.
static bool take_varint(struct slice *rest, uint64_t *out)
{
    uint64_t value = 0;
    size_t size_max = rest->size < PROTOBUF_VARINT_SIZE_MAX ? rest->size : PROTOBUF_VARINT_SIZE_MAX;
    for (size_t i = 0; i < size_max; i++) {
        unsigned char byte = (unsigned char)rest->data[i];
        value |= (uint64_t)(byte & ~(unsigned)CONTINUES) << 7 * i;
        if (!(byte & CONTINUES)) {
            *rest = slice_sub(*rest, i + 1, SIZE_MAX);
            *out = value;
            return true;
        }
    }
    return false;
}

static bool take_fixed(struct slice *rest, size_t size, uint64_t *out)
{
    if (rest->size < size) {
        return false;
    }
    *out = 0;
    for (size_t i = 0; i < size; i++) {
        *out |= (uint64_t)(unsigned char)rest->data[i] << 8 * i;
    }
    *rest = slice_sub(*rest, size, SIZE_MAX);
    return true;
}

static bool take_bytes(struct slice *rest, struct slice *out)
{
    uint64_t size;
    if (!take_varint(rest, &size) || size > rest->size) {
        return false;
    }
    *out = slice_sub(*rest, 0, (size_t)size);
    *rest = slice_sub(*rest, (size_t)size, SIZE_MAX);
    return true;
}

static bool take_tag(struct slice *rest, uint32_t *number, unsigned *wire)
{
    uint64_t tag;
    if (!take_varint(rest, &tag) || tag > UINT32_MAX || tag >> 3 == 0) {
        return false;
    }
    *number = (uint32_t)(tag >> 3);
    *wire = (unsigned)(tag & 7U);
    return true;
}

static bool take_value(struct slice *rest, struct protobuf_field *field)
{
    switch (field->wire) {
    case PROTOBUF_VARINT:
        return take_varint(rest, &field->value);
    case PROTOBUF_FIXED64:
        return take_fixed(rest, 8, &field->value);
    case PROTOBUF_FIXED32:
        return take_fixed(rest, 4, &field->value);
    case PROTOBUF_BYTES:
        return take_bytes(rest, &field->bytes);
    }
    return false;
}

// What is in a group whose begin has been read, with its end.
static bool skip_group(struct slice *rest, uint32_t number)
{
    uint32_t open[PROTOBUF_GROUPS_MAX] = { number };
    size_t depth = 1;
    while (depth > 0) {
        struct protobuf_field field = { 0 };
        unsigned wire;
        if (!take_tag(rest, &field.number, &wire)) {
            return false;
        }
        if (wire == WIRE_GROUP_BEGIN) {
            if (depth == PROTOBUF_GROUPS_MAX) {
                return false;
            }
            open[depth++] = field.number;
        } else if (wire == WIRE_GROUP_END) {
            if (open[--depth] != field.number) {
                return false;
            }
        } else {
            field.wire = (enum protobuf_wire)wire;
            if (!take_value(rest, &field)) {
                return false;
            }
        }
    }
    return true;
}

bool protobuf_next(struct protobuf_reader *reader, struct protobuf_field *field)
{
    while (reader->rest.size > 0 && !reader->broken) {
        unsigned wire;
        *field = (struct protobuf_field){ 0 };
        if (!take_tag(&reader->rest, &field->number, &wire)) {
            reader->broken = true;
        } else if (wire == WIRE_GROUP_BEGIN) {
            reader->broken = !skip_group(&reader->rest, field->number);
        } else {
            field->wire = (enum protobuf_wire)wire;
            reader->broken = !take_value(&reader->rest, field);
            return !reader->broken;
        }
    }
    return false;
}

bool protobuf_is_valid(struct slice message)
{
    struct protobuf_reader reader = protobuf_reader(message);
    struct protobuf_field field;
    while (protobuf_next(&reader, &field)) {
    }
    return !reader.broken;
}

double protobuf_double(uint64_t value)
{
    double number;
    memcpy(&number, &value, sizeof(number));
    return number;
}

// How many bytes at the front are UTF-8.
static size_t valid_size(struct slice text)
{
    size_t size = 0;
    while (size < text.size) {
        struct slice rest = slice_sub(text, size, SIZE_MAX);
        size_t plain = json_plain_size(rest);
        size_t character = plain ? plain : json_utf8_size(rest);
        if (character == 0) {
            break;
        }
        size += character;
    }
    return size;
}

bool protobuf_is_text(struct slice bytes)
{
    return valid_size(bytes) == bytes.size;
}

// ---------------------------------------------------------------------------------------------
// Writing

static size_t put_varint(char *end, uint64_t value)
{
    size_t size = 0;
    while (value >= CONTINUES) {
        end[size++] = (char)(value | CONTINUES);
        value >>= 7;
    }
    end[size++] = (char)value;
    return size;
}

void protobuf_append_varint(struct buffer *out, uint64_t value)
{
    char bytes[PROTOBUF_VARINT_SIZE_MAX];
    buffer_append(out, slice_make(bytes, put_varint(bytes, value)));
}

void protobuf_write_varint(struct buffer *out, uint32_t number, uint64_t value)
{
    char bytes[2 * PROTOBUF_VARINT_SIZE_MAX];
    size_t size = put_varint(bytes, protobuf_tag(number, PROTOBUF_VARINT));
    size += put_varint(bytes + size, value);
    buffer_append(out, slice_make(bytes, size));
}

void protobuf_write_double(struct buffer *out, uint32_t number, double value)
{
    char bytes[PROTOBUF_VARINT_SIZE_MAX + sizeof(uint64_t)];
    uint64_t bits;
    memcpy(&bits, &value, sizeof(bits));
    size_t size = put_varint(bytes, protobuf_tag(number, PROTOBUF_FIXED64));
    for (size_t i = 0; i < sizeof(bits); i++) {
        bytes[size++] = (char)(bits >> 8 * i);
    }
    buffer_append(out, slice_make(bytes, size));
}

void protobuf_write_bytes(struct buffer *out, uint32_t number, struct slice bytes)
{
    char head[2 * PROTOBUF_VARINT_SIZE_MAX];
    size_t size = put_varint(head, protobuf_tag(number, PROTOBUF_BYTES));
    size += put_varint(head + size, bytes.size);
    buffer_append(out, slice_make(head, size));
    buffer_append(out, bytes);
}

void protobuf_write_text(struct buffer *out, uint32_t number, struct slice text)
{
    size_t valid = valid_size(text);
    if (valid == text.size) {
        protobuf_write_bytes(out, number, text);
        return;
    }
    size_t place = protobuf_begin(out, number);
    for (;;) {
        buffer_append(out, slice_sub(text, 0, valid));
        text = slice_sub(text, valid, SIZE_MAX);
        if (text.size == 0) {
            break;
        }
        buffer_append(out, REPLACEMENT);
        text = slice_sub(text, 1, SIZE_MAX);
        valid = valid_size(text);
    }
    protobuf_end(out, place);
}

// One byte is kept for the size; a message that needs more is moved when it ends.
size_t protobuf_begin(struct buffer *out, uint32_t number)
{
    protobuf_append_varint(out, protobuf_tag(number, PROTOBUF_BYTES));
    buffer_append_char(out, 0);
    return out->size;
}

void protobuf_end(struct buffer *out, size_t place)
{
    if (out->status) {
        return;
    }
    char head[PROTOBUF_VARINT_SIZE_MAX];
    size_t size = out->size - place;
    size_t more = put_varint(head, size) - 1;
    if (more > 0) {
        if (!buffer_reserve(out, more)) {
            return;
        }
        memmove(out->data + place + more, out->data + place, size);
        buffer_commit(out, more);
    }
    memcpy(out->data + place - 1, head, more + 1);
}
