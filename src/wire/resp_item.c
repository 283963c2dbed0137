// SPDX-License-Identifier: MIT
#include "wire/resp_item.h"

#include "base/num.h"

enum {
    LINE_MAX = 64 << 10, // bytes, of errors, numbers and sizes
};

static enum resp_result broken(struct error *error, const char *what)
{
    (void)error_set(error, STATUS_INVALID, "what came is no answer in RESP: %s", what);
    return RESP_BROKEN;
}

// The line after the item's first byte; `*size` is where the next line begins.
static enum resp_result read_line(struct slice input, struct slice *line, size_t *size,
                                  struct error *error)
{
    size_t seen = input.size < LINE_MAX ? input.size : LINE_MAX;
    const char *end = memchr(input.data, '\n', seen);
    if (!end) {
        return seen < LINE_MAX ? RESP_MORE : broken(error, "a line does not end");
    }
    size_t length = (size_t)(end - input.data);
    if (length < 2 || input.data[length - 1] != '\r') {
        return broken(error, "a line ends without a carriage return");
    }
    *line = slice_make(input.data + 1, length - 2);
    *size = length + 1;
    return RESP_READY;
}

// The bytes whose size was announced, and the line end after them.
static enum resp_result read_bytes(struct slice input, int64_t length, struct resp_item *out,
                                   size_t *size, struct error *error)
{
    if (length < -1 || length > RESP_ITEM_TEXT_MAX) {
        return broken(error, "a text of a size that cannot be");
    }
    if (length == -1) {
        out->kind = RESP_NULL;
        return RESP_READY;
    }
    struct slice rest = slice_sub(input, *size, SIZE_MAX);
    if (rest.size < (size_t)length + 2) {
        return RESP_MORE;
    }
    if (memcmp(rest.data + length, "\r\n", 2) != 0) {
        return broken(error, "a text does not end where it should");
    }
    out->text = slice_make(rest.data, (size_t)length);
    *size += (size_t)length + 2;
    return RESP_READY;
}

static enum resp_result read_count(int64_t count, size_t each, struct resp_item *out,
                                   struct error *error)
{
    if (count < -1 || count > RESP_ITEM_COUNT_MAX) {
        return broken(error, "a list of a size that cannot be");
    }
    if (count == -1) {
        out->kind = RESP_NULL;
    } else {
        out->count = (size_t)count * each;
    }
    return RESP_READY;
}

static enum resp_result read_boolean(struct slice line, struct resp_item *out, struct error *error)
{
    if (line.size != 1 || (line.data[0] != 't' && line.data[0] != 'f')) {
        return broken(error, "neither true nor false");
    }
    out->integer = line.data[0] == 't';
    return RESP_READY;
}

struct prefix {
    char first;
    enum resp_kind kind;
    enum {
        PREFIX_LINE,
        PREFIX_INTEGER,
        PREFIX_BOOLEAN,
        PREFIX_BYTES,
        PREFIX_COUNT
    } rest;
};

static const struct prefix prefixes[] = {
    { '+', RESP_TEXT, PREFIX_LINE },       { '-', RESP_ERROR, PREFIX_LINE },
    { ':', RESP_INTEGER, PREFIX_INTEGER }, { '$', RESP_TEXT, PREFIX_BYTES },
    { '*', RESP_LIST, PREFIX_COUNT },      { '_', RESP_NULL, PREFIX_LINE },
    { ',', RESP_NUMBER, PREFIX_LINE },     { '#', RESP_BOOLEAN, PREFIX_BOOLEAN },
    { '!', RESP_ERROR, PREFIX_BYTES },     { '=', RESP_TEXT, PREFIX_BYTES },
    { '(', RESP_NUMBER, PREFIX_LINE },     { '%', RESP_MAP, PREFIX_COUNT },
    { '~', RESP_LIST, PREFIX_COUNT },      { '>', RESP_PUSH, PREFIX_COUNT },
};

static const struct prefix *find_prefix(char first)
{
    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
        if (prefixes[i].first == first) {
            return &prefixes[i];
        }
    }
    return NULL;
}

// A verbatim string begins with its format ("txt:").
static void drop_format(struct resp_item *out)
{
    if (out->text.size >= 4 && out->text.data[3] == ':') {
        out->text = slice_sub(out->text, 4, SIZE_MAX);
    }
}

enum resp_result resp_item_read(struct slice input, struct resp_item *out, size_t *size,
                                struct error *error)
{
    if (input.size == 0) {
        return RESP_MORE;
    }
    const struct prefix *prefix = find_prefix(input.data[0]);
    if (!prefix) {
        return broken(error, "an item of no known type");
    }
    struct slice line;
    enum resp_result result = read_line(input, &line, size, error);
    if (result != RESP_READY) {
        return result;
    }
    *out = (struct resp_item){ .kind = prefix->kind };
    if (prefix->kind == RESP_NULL && line.size) {
        return broken(error, "a null that is something");
    }
    if (prefix->rest == PREFIX_LINE) {
        out->text = line;
        return RESP_READY;
    }
    if (prefix->rest == PREFIX_BOOLEAN) {
        return read_boolean(line, out, error);
    }
    if (num_parse_i64(line, &out->integer)) {
        return broken(error, "a number is none");
    }
    if (prefix->rest == PREFIX_BYTES) {
        result = read_bytes(input, out->integer, out, size, error);
        if (result == RESP_READY && prefix->first == '=') {
            drop_format(out);
        }
    } else if (prefix->rest == PREFIX_COUNT) {
        result = read_count(out->integer, prefix->kind == RESP_MAP ? 2 : 1, out, error);
    }
    return result;
}

void resp_scan_begin(struct resp_scan *scan)
{
    *scan = (struct resp_scan){ .left = 1 };
}

enum resp_result resp_scan_read(struct resp_scan *scan, struct slice input, struct error *error)
{
    while (scan->left) {
        struct resp_item item;
        size_t size;
        enum resp_result result =
            resp_item_read(slice_sub(input, scan->position, SIZE_MAX), &item, &size, error);
        if (result != RESP_READY) {
            return result;
        }
        scan->position += size;
        scan->items++;
        scan->left += item.count;
        scan->left--;
        if (scan->left > RESP_ITEM_COUNT_MAX) {
            return broken(error, "it has more items than can be");
        }
    }
    return RESP_READY;
}
