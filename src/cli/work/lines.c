// SPDX-License-Identifier: MIT
#include "cli/work/lines.h"

#include "base/json.h"
#include "cli/core/cli.h"

#include <unistd.h>

enum {
    READ_SIZE = 64 * 1024,
};

// ---------------------------------------------------------------------------------------------
// Lines

// Room for so many more bytes and a 0. What was taken out makes room first.
static char *reserve(struct work_lines *lines, size_t size)
{
    if (lines->taken) {
        lines->size -= lines->taken;
        lines->seen -= lines->taken;
        memmove(lines->data, lines->data + lines->taken, lines->size);
        lines->taken = 0;
    }
    if (lines->capacity - lines->size < size + 1) {
        lines->capacity = (lines->size + size + 1) * 2;
        lines->data = tool_resize(lines->data, lines->capacity);
    }
    return lines->data + lines->size;
}

ssize_t work_lines_read(struct work_lines *lines, int fd)
{
    char *room = reserve(lines, READ_SIZE);
    ssize_t size = read(fd, room, READ_SIZE);
    if (size > 0) {
        lines->size += (size_t)size;
    }
    return size;
}

void work_lines_add(struct work_lines *lines, const char *bytes, size_t size)
{
    memcpy(reserve(lines, size), bytes, size);
    lines->size += size;
}

static void hand_out(struct work_lines *lines, size_t end, char **line, size_t *size)
{
    *line = lines->data + lines->taken;
    *size = end - lines->taken;
    if (*size && lines->data[end - 1] == '\r') {
        --*size;
    }
    (*line)[*size] = '\0';
}

bool work_lines_next(struct work_lines *lines, char **line, size_t *size, bool *whole)
{
    if (!lines->data) {
        return false;
    }
    const char *end = memchr(lines->data + lines->seen, '\n', lines->size - lines->seen);
    size_t length = end ? (size_t)(end - lines->data) - lines->taken : lines->size - lines->taken;
    if (whole) {
        *whole = end && length <= lines->maximum;
    }
    if (length > lines->maximum) {
        // The byte behind the piece belongs to the next one, which makes room for the 0.
        size_t rest = lines->size - lines->taken - lines->maximum;
        (void)reserve(lines, 1);
        memmove(lines->data + lines->maximum + 1, lines->data + lines->maximum, rest);
        lines->size++;
        hand_out(lines, lines->maximum, line, size);
        lines->taken = lines->seen = lines->maximum + 1;
        return true;
    }
    if (!end) {
        lines->seen = lines->size;
        return false;
    }
    hand_out(lines, (size_t)(end - lines->data), line, size);
    lines->taken = lines->seen = (size_t)(end - lines->data) + 1;
    return true;
}

bool work_lines_rest(struct work_lines *lines, char **line, size_t *size)
{
    if (lines->size == lines->taken) {
        return false;
    }
    (void)reserve(lines, 0);
    hand_out(lines, lines->size, line, size);
    lines->taken = lines->seen = lines->size;
    return true;
}

void work_lines_clear(struct work_lines *lines)
{
    tool_free(lines->data);
    *lines = (struct work_lines){ .maximum = lines->maximum };
}

// ---------------------------------------------------------------------------------------------
// Lines that speak to the worker

// What stands behind a word at the front of a line; NULL: it begins with another one.
static const char *behind(const char *line, const char *word)
{
    size_t size = strlen(word);
    if (strncmp(line, word, size) != 0) {
        return NULL;
    }
    line += size;
    return *line == ' ' ? line + 1 : *line == '\0' ? line : NULL;
}

static bool parse_progress(const char *text, struct work_line *out)
{
    char *end;
    double value = strtod(text, &end);
    if (end == text) {
        return false;
    }
    if (*end == '%') {
        value /= 100;
        end++;
    }
    if ((*end != ' ' && *end != '\0') || !(value >= 0 && value <= 1)) {
        return false;
    }
    *out = (struct work_line){ .kind = WORK_LINE_PROGRESS,
                               .fraction = value,
                               .text = *end ? end + 1 : end };
    return true;
}

struct work_line work_line_parse(const char *line)
{
    struct work_line out = { .kind = WORK_LINE_TEXT, .text = line };
    const char *text;
    if (line[0] != ':' || line[1] != ':') {
        return out;
    }
    if ((text = behind(line, "::progress"))) {
        (void)parse_progress(text, &out);
    } else if ((text = behind(line, "::log")) && *text) {
        out = (struct work_line){ .kind = WORK_LINE_LOG, .text = text };
    } else if ((text = behind(line, "::checkpoint"))) {
        out = (struct work_line){ .kind = WORK_LINE_CHECKPOINT, .text = text };
    }
    return out;
}

// ---------------------------------------------------------------------------------------------
// The end of many lines

// Twice the maximum is kept, so that bytes are moved once for each time as many have come.
void work_tail_add(struct work_tail *tail, const char *line, size_t size)
{
    if (size > tail->maximum) {
        line += size - tail->maximum;
        size = tail->maximum;
    }
    if (!tail->data) {
        tail->data = tool_allocate(tail->maximum * 2 + 2);
    }
    if (tail->size + size + 1 > tail->maximum * 2 + 2) {
        size_t kept = tail->size < tail->maximum ? tail->size : tail->maximum;
        memmove(tail->data, tail->data + tail->size - kept, kept);
        tail->size = kept;
    }
    memcpy(tail->data + tail->size, line, size);
    tail->size += size;
    tail->data[tail->size++] = '\n';
}

char *work_utf8(const char *text, size_t size)
{
    static const char replacement[] = "\xEF\xBF\xBD"; // U+FFFD
    char *out = tool_allocate(size * (sizeof(replacement) - 1) + 1);
    char *end = out;
    while (size) {
        size_t taken = *text ? json_utf8_size(slice_make(text, size)) : 0;
        const char *from = taken ? text : replacement;
        size_t put = taken ? taken : sizeof(replacement) - 1;
        memcpy(end, from, put);
        end += put;
        taken = taken ? taken : 1;
        text += taken;
        size -= taken;
    }
    *end = 0;
    return out;
}

char *work_tail_text(const struct work_tail *tail)
{
    size_t size = tail->size ? tail->size - 1 : 0;
    const char *from = tail->data;
    if (size > tail->maximum) {
        from += size - tail->maximum;
        size = tail->maximum;
        // A line that is whole, unless it were the only one or much would be lost.
        const char *end = memchr(from - 1, '\n', size + 1);
        if (end) {
            size -= (size_t)(end + 1 - from);
            from = end + 1;
        }
    }
    return work_utf8(from, size);
}

void work_tail_clear(struct work_tail *tail)
{
    tool_free(tail->data);
    *tail = (struct work_tail){ .maximum = tail->maximum };
}
