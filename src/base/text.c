// SPDX-License-Identifier: MIT
#include "base/text.h"

#include "base/bytes.h"
#include "base/json.h"

#include <stdint.h>

size_t text_character(struct slice bytes)
{
    size_t size = json_utf8_size(bytes);
    const unsigned char *at = (const unsigned char *)bytes.data;
    bool control = (size == 1 && (at[0] < ' ' || at[0] == 0x7f)) ||
                   (size == 2 && at[0] == 0xc2 && at[1] < 0xa0);
    return control ? 0 : size;
}

// Whether eight bytes are printable ASCII, as nearly all names are: none has its highest bit set,
// is less than a space or is 0x7f. A subtraction borrows from the next byte only if one of these is
// the case.
static bool is_ascii(uint64_t bytes)
{
    const uint64_t ones = 0x0101010101010101;
    uint64_t below = bytes - ones * ' ', delete = (bytes ^ ones * 0x7f) - ones;
    return ((bytes | below | delete) & ones * 0x80) == 0;
}

static bool rest_is_ascii(struct slice bytes)
{
    while (bytes.size && *bytes.data >= ' ' && *bytes.data < 0x7f) {
        bytes = slice_sub(bytes, 1, SIZE_MAX);
    }
    return bytes.size == 0;
}

bool text_is_plain(struct slice bytes)
{
    while (bytes.size >= sizeof(uint64_t) && is_ascii(bytes_load_u64(bytes.data))) {
        bytes = slice_sub(bytes, sizeof(uint64_t), SIZE_MAX);
    }
    if (bytes.size < sizeof(uint64_t) && rest_is_ascii(bytes)) {
        return true;
    }
    while (bytes.size) {
        size_t size = text_character(bytes);
        if (size == 0) {
            return false;
        }
        bytes = slice_sub(bytes, size, SIZE_MAX);
    }
    return true;
}
