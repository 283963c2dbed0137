// SPDX-License-Identifier: MIT
#include "json_oracle.h"

#include "base/alloc.h"
#include "base/buffer.h"

#include <jansson.h>
#include <stdlib.h>

// Jansson judges the values as well as the grammar: it refuses \u0000 and numbers that fit neither
// an int64 nor a double. And it loses a zero byte behind a number or a literal. So it is given a
// text of the same grammar without those: \u0001 for \u0000, one or two digits for each run of
// them (two when a zero leads), 0x01 for a zero byte.
static void tame(struct slice text, struct buffer *out)
{
    bool in_string = false;
    size_t digits = 0;
    for (size_t i = 0; i < text.size; i++) {
        char c = text.data[i];
        digits = c >= '0' && c <= '9' && !in_string ? digits + 1 : 0;
        if (in_string && c == '\\' && i + 1 < text.size && text.data[i + 1]) {
            bool zero = slice_equal(slice_sub(text, i, 6), SLICE("\\u0000"));
            buffer_append(out, zero ? SLICE("\\u0001") : slice_sub(text, i, 2));
            i += zero ? 5 : 1;
        } else if (digits == 0) {
            in_string = in_string != (c == '"');
            buffer_append_char(out, (char)(c ? c : 1));
        } else if (digits == 1) {
            buffer_append_char(out, c == '0' ? '0' : '1');
        } else if (digits == 2 && text.data[i - 1] == '0') {
            buffer_append_char(out, '0');
        }
    }
}

bool json_oracle_accepts(struct slice text)
{
    struct buffer tamed;
    buffer_init(&tamed, &allocator_system, 2 * text.size + 1);
    tame(text, &tamed);
    if (tamed.status) {
        abort();
    }
    json_t *tree = json_loadb(tamed.size ? tamed.data : "", tamed.size, JSON_DECODE_ANY, NULL);
    buffer_release(&tamed);
    json_decref(tree);
    return tree != NULL;
}
