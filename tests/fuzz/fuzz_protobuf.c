// SPDX-License-Identifier: MIT
// Any bytes as a message: the reader comes to an end, and what it has read, written again, is read as
// the same.
#include "wire/protobuf.h"

#include "fuzz.h"
#include "require.h"

enum {
    SIZE_BYTES_MAX = 1 << 26,
};

static void write_field(struct buffer *out, const struct protobuf_field *field)
{
    switch (field->wire) {
    case PROTOBUF_VARINT:
        protobuf_write_varint(out, field->number, field->value);
        break;
    case PROTOBUF_FIXED64:
        protobuf_write_double(out, field->number, protobuf_double(field->value));
        break;
    case PROTOBUF_BYTES:
        protobuf_write_bytes(out, field->number, field->bytes);
        break;
    case PROTOBUF_FIXED32:
        break; // is not written
    }
}

static void check_copy(struct slice message, struct slice copy)
{
    struct protobuf_reader reader = protobuf_reader(message);
    struct protobuf_reader again = protobuf_reader(copy);
    struct protobuf_field field, same;
    while (protobuf_next(&reader, &field)) {
        if (field.wire == PROTOBUF_FIXED32) {
            continue;
        }
        require(protobuf_next(&again, &same), "a field is missing");
        require(field.number == same.number && field.wire == same.wire &&
                    field.value == same.value && slice_equal(field.bytes, same.bytes),
                "a field is another");
    }
    require(!protobuf_next(&again, &same) && !again.broken, "there is more than was written");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice message = slice_make(data, size);
    struct protobuf_reader reader = protobuf_reader(message);
    struct protobuf_field field;
    struct buffer out;
    buffer_init(&out, &allocator_system, SIZE_BYTES_MAX);
    while (protobuf_next(&reader, &field)) {
        require(field.number > 0 && field.number <= PROTOBUF_NUMBER_MAX, "a number is too large");
        require(field.bytes.size <= size, "a field is larger than the message");
        write_field(&out, &field);
    }
    require(reader.broken != protobuf_is_valid(message), "it is broken and valid");
    if (!reader.broken) {
        check_copy(message, buffer_slice(&out));
    }
    buffer_clear(&out);
    size_t place = protobuf_begin(&out, 1);
    protobuf_write_text(&out, 2, message);
    protobuf_end(&out, place);
    require(protobuf_is_valid(buffer_slice(&out)), "what was written is broken");
    buffer_release(&out);
    return 0;
}
