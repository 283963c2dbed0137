// SPDX-License-Identifier: MIT
#include "server/log/log_line.h"

#include "base/json.h"
#include "base/text.h"
#include "base/timefmt.h"

#include <assert.h>
#include <stdio.h>

enum {
    TAIL_SIZE = 5, // " ..." and the line break
    UNIT_MAX = 16, // an escaped character: four bytes as \xNN
};

#define CUT SLICE("...")

static const char *const level_names[] = { "debug", "info", "warning", "error" };
static const char *const priorities[] = { "<7>", "<6>", "<4>", "<3>" };

// A buffer with a maximum. Room for TAIL_SIZE bytes always remains.
struct text {
    char *data;
    size_t size, size_max;
};

static bool fits(const struct text *text, size_t size)
{
    return size <= text->size_max - text->size;
}

static void append(struct text *text, struct slice bytes)
{
    assert(fits(text, bytes.size));
    memcpy(text->data + text->size, bytes.data, bytes.size);
    text->size += bytes.size;
}

// Line and paragraph separators, and characters that change the direction of text.
static bool reorders(const unsigned char *at, size_t size)
{
    return size == 3 && at[0] == 0xe2 &&
           ((at[1] == 0x80 && at[2] >= 0xa8 && at[2] <= 0xae) ||
            (at[1] == 0x81 && at[2] >= 0xa6 && at[2] <= 0xa9));
}

// The size of the first character of `value` if it can be written unescaped; otherwise 0.
static size_t shown_size(struct slice value)
{
    size_t size = text_character(value);
    return reorders((const unsigned char *)value.data, size) ? 0 : size;
}

// Escapes the first character of `value`; returns how many bytes of `value` it has.
static size_t escape(struct slice value, struct text *unit)
{
    size_t size = shown_size(value);
    char c = value.data[0];
    const char *known = c == '\n' ? "\\n" : c == '\r' ? "\\r" : c == '\t' ? "\\t" : NULL;
    if (known) {
        append(unit, slice_from_cstr(known));
        return 1;
    }
    if (size) {
        if (c == '"' || c == '\\') {
            append(unit, SLICE("\\"));
        }
        append(unit, slice_sub(value, 0, size));
        return size;
    }
    size = json_utf8_size(value) ? json_utf8_size(value) : 1;
    for (size_t i = 0; i < size; i++) {
        char hex[5];
        (void)snprintf(hex, sizeof(hex), "\\x%02X", (unsigned char)value.data[i]);
        append(unit, slice_from_cstr(hex));
    }
    return size;
}

static bool is_plain(struct slice value)
{
    if (value.size == 0 || value.size > LOG_VALUE_MAX) {
        return false;
    }
    while (value.size) {
        size_t size = shown_size(value);
        if (size == 0 || strchr(" \"\\=", value.data[0])) {
            return false;
        }
        value = slice_sub(value, size, SIZE_MAX);
    }
    return true;
}

// Appends an escaped value, truncated if necessary. `room` is what the caller appends after it.
static void append_escaped(struct text *text, struct slice value, size_t room)
{
    while (value.size) {
        char bytes[UNIT_MAX];
        struct text unit = { bytes, 0, sizeof(bytes) };
        size_t taken = escape(value, &unit);
        bool last = taken == value.size;
        if (unit.size + (last ? 0 : CUT.size) > room) {
            append(text, CUT);
            return;
        }
        append(text, slice_make(bytes, unit.size));
        room -= unit.size;
        value = slice_sub(value, taken, SIZE_MAX);
    }
}

static void append_value(struct text *text, struct slice value)
{
    size_t left = text->size_max - text->size;
    size_t room = left < LOG_VALUE_MAX ? left : LOG_VALUE_MAX;
    if (is_plain(value) && value.size <= room) {
        append(text, value);
        return;
    }
    append(text, SLICE("\""));
    append_escaped(text, value, room - 2);
    append(text, SLICE("\""));
}

// False if there is no room for the name and the shortest value.
static bool append_pair(struct text *text, const struct log_pair *pair)
{
    char number[32];
    struct slice value = pair->text;
    if (pair->type == LOG_PAIR_NONE) {
        return true;
    }
    if (pair->type == LOG_PAIR_NUMBER) {
        (void)snprintf(number, sizeof(number), "%lld", pair->number);
        value = slice_from_cstr(number);
    } else if (pair->type == LOG_PAIR_SECONDS) {
        (void)snprintf(number, sizeof(number), "%.1f", (double)pair->number / 1e6);
        value = slice_from_cstr(number);
    }
    struct slice name = slice_from_cstr(pair->name);
    if (!fits(text, name.size + sizeof(number) + 2)) {
        return false;
    }
    append(text, SLICE(" "));
    append(text, name);
    append(text, SLICE("="));
    append_value(text, value);
    return true;
}

size_t log_line_format(char line[LOG_LINE_MAX], const struct log_head *head,
                       const struct log_pair *pairs, size_t count)
{
    struct text text = { line, 0, LOG_LINE_MAX - TAIL_SIZE };
    if (head->journal) {
        append(&text, slice_from_cstr(priorities[head->level]));
    } else {
        text.size = timefmt_format(head->now_us, line);
        append(&text, SLICE(" "));
        append(&text, slice_from_cstr(level_names[head->level]));
        append(&text, SLICE(" "));
    }
    append_escaped(&text, slice_from_cstr(head->what), LOG_VALUE_MAX);
    bool all = true;
    for (size_t i = 0; all && i < count; i++) {
        all = append_pair(&text, &pairs[i]);
    }
    const struct log_pair suppressed = LOG_NUMBER("suppressed", head->suppressed);
    if (head->suppressed && all) {
        all = append_pair(&text, &suppressed);
    }
    text.size_max = LOG_LINE_MAX;
    if (!all) {
        append(&text, SLICE(" ..."));
    }
    append(&text, SLICE("\n"));
    return text.size;
}
