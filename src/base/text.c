// SPDX-License-Identifier: MIT
#include "base/text.h"

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

bool text_is_plain(struct slice bytes)
{
    while (bytes.size) {
        size_t size = text_character(bytes);
        if (size == 0) {
            return false;
        }
        bytes = slice_sub(bytes, size, SIZE_MAX);
    }
    return true;
}
