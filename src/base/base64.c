// SPDX-License-Identifier: MIT
#include "base/base64.h"

#include <stdint.h>
#include <string.h>

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

enum {
    GROUP_BYTES = 3, // of which base64 makes
    GROUP_SIZE = 4,  // letters
    LETTER_BITS = 6,
    LETTER_MASK = (1 << LETTER_BITS) - 1,
};

static void append_group(struct buffer *out, struct slice bytes)
{
    uint32_t bits = 0;
    char group[GROUP_SIZE];
    for (size_t i = 0; i < GROUP_BYTES; i++) {
        bits = bits << 8 | (i < bytes.size ? (uint8_t)bytes.data[i] : 0U);
    }
    for (size_t i = 0; i < GROUP_SIZE; i++) {
        size_t shift = LETTER_BITS * (GROUP_SIZE - 1 - i);
        group[i] = '=';
        if (i <= bytes.size) {
            group[i] = letters[bits >> shift & LETTER_MASK];
        }
    }
    buffer_append(out, slice_make(group, sizeof(group)));
}

void base64_append(struct buffer *out, struct slice bytes)
{
    for (size_t i = 0; i < bytes.size; i += GROUP_BYTES) {
        append_group(out, slice_sub(bytes, i, GROUP_BYTES));
    }
}

// The value of a letter; -1 for what is none.
static int value_of(char letter)
{
    const char *at = letter ? strchr(letters, letter) : NULL;
    return at ? (int)(at - letters) : -1;
}

// How many bytes 2 to 4 letters stand for, into `bytes`; 0 when they are none. The bits that are left
// over must be 0, so that each group stands for other bytes.
static size_t read_group(struct slice group, char bytes[GROUP_BYTES])
{
    uint32_t bits = 0;
    for (size_t i = 0; i < GROUP_SIZE; i++) {
        int value = i < group.size ? value_of(group.data[i]) : 0;
        if (value < 0) {
            return 0;
        }
        bits = bits << LETTER_BITS | (uint32_t)value;
    }
    size_t count = group.size - 1;
    for (size_t i = 0; i < GROUP_BYTES; i++) {
        bytes[i] = (char)(uint8_t)(bits >> 8 * (GROUP_BYTES - 1 - i));
    }
    bool rest = (count < 3 && bytes[2]) || (count < 2 && bytes[1]);
    return rest ? 0 : count;
}

enum status base64_decode(struct slice text, enum base64_padding padding, struct buffer *out)
{
    if (padding == BASE64_PADDED && text.size % GROUP_SIZE) {
        return STATUS_INVALID;
    }
    if (text.size && text.size % GROUP_SIZE == 0) {
        for (size_t i = 0; i < 2 && text.data[text.size - 1] == '='; i++) {
            text.size--;
        }
    }
    for (size_t i = 0; i < text.size; i += GROUP_SIZE) {
        struct slice group = slice_sub(text, i, GROUP_SIZE);
        char bytes[GROUP_BYTES];
        size_t count = group.size > 1 ? read_group(group, bytes) : 0;
        if (!count) {
            return STATUS_INVALID;
        }
        buffer_append(out, slice_make(bytes, count));
    }
    return out->status;
}
