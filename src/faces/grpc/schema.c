// SPDX-License-Identifier: MIT
#include "faces/grpc/schema.h"

#include "base/ascii.h"

#include <assert.h>

// Most messages have all numbers from 1 on.
const struct grpc_field *grpc_field_find(const struct grpc_message *message, uint32_t number)
{
    if (number > 0 && number <= message->field_count &&
        message->fields[number - 1].number == number) {
        return &message->fields[number - 1];
    }
    for (size_t i = 0; i < message->field_count; i++) {
        if (message->fields[i].number == number) {
            return &message->fields[i];
        }
    }
    return NULL;
}

static char word_char(char c)
{
    return (char)(c == '_' ? '-' : ascii_lower(c));
}

size_t grpc_enum_word(const struct grpc_enum *values, uint64_t number,
                      char word[GRPC_WORD_SIZE_MAX])
{
    if (number == 0 || number >= values->value_count) {
        return 0;
    }
    const char *name = values->values[number];
    size_t size = strlen(name);
    assert(size <= GRPC_WORD_SIZE_MAX);
    for (size_t i = 0; i < size; i++) {
        word[i] = word_char(name[i]);
    }
    return size;
}

uint64_t grpc_enum_number(const struct grpc_enum *values, struct slice word)
{
    char name[GRPC_WORD_SIZE_MAX];
    for (size_t i = 1; i < values->value_count; i++) {
        if (slice_equal(slice_make(name, grpc_enum_word(values, i, name)), word)) {
            return i;
        }
    }
    return 0;
}
