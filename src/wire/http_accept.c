// SPDX-License-Identifier: MIT
#include "wire/http_accept.h"

#include "base/ascii.h"
#include "base/num.h"

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static struct slice trimmed(struct slice text)
{
    while (text.size && is_blank(text.data[0])) {
        text = slice_sub(text, 1, SIZE_MAX);
    }
    while (text.size && is_blank(text.data[text.size - 1])) {
        text.size--;
    }
    return text;
}

// Splits off what precedes the first `end`, and removes that too.
static struct slice take_part(struct slice *rest, char end)
{
    const char *at = rest->size ? memchr(rest->data, end, rest->size) : NULL;
    struct slice part = slice_sub(*rest, 0, at ? (size_t)(at - rest->data) : rest->size);
    *rest = slice_sub(*rest, part.size + 1, SIZE_MAX);
    return trimmed(part);
}

// Reads a weight: a number with at most three decimals, possibly none after the point.
static double read_weight(struct slice text)
{
    double weight;
    if (slice_ends_with(text, SLICE("."))) {
        text.size--;
    }
    return num_parse_double(text, &weight) ? 0 : weight;
}

bool http_accept_next(struct slice *list, struct http_accept *out)
{
    if (list->size == 0) {
        return false;
    }
    struct slice item = take_part(list, ',');
    *out = (struct http_accept){ .value = take_part(&item, ';'), .weight = 1 };
    while (item.size) {
        struct slice parameter = take_part(&item, ';');
        if (ascii_equal(slice_sub(parameter, 0, 2), SLICE("q="))) {
            out->weight = read_weight(slice_sub(parameter, 2, SIZE_MAX));
        }
    }
    return true;
}
