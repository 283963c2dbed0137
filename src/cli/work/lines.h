// SPDX-License-Identifier: MIT
// What a program writes, line by line; the lines that speak to the worker; the end of it all.
#ifndef SLUICE_CLI_WORK_LINES_H
#define SLUICE_CLI_WORK_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

// Bytes that came, whole lines of which are taken out. It is used as zeros but for `maximum`.
struct work_lines {
    size_t maximum; // of a line; longer ones come in pieces
    char *data;
    size_t size, capacity;
    size_t taken; // lines taken out so far
    size_t seen;  // no line ends before
};

// Reads what there is, up to some 64 KiB: how much; 0 at the end; -1 with errno.
ssize_t work_lines_read(struct work_lines *lines, int fd);
void work_lines_add(struct work_lines *lines, const char *bytes, size_t size);
// The next line without its end, followed by a 0, until the next call. `whole` (or NULL): whether
// it ended, or was cut at the maximum.
bool work_lines_next(struct work_lines *lines, char **line, size_t *size, bool *whole);
// What is left without an end of line, at the end; false: nothing.
bool work_lines_rest(struct work_lines *lines, char **line, size_t *size);
void work_lines_clear(struct work_lines *lines);

// Lines of standard error that begin with `::` and mean something to the worker.
enum work_line_kind {
    WORK_LINE_TEXT,       // all others
    WORK_LINE_PROGRESS,   // ::progress 0.4 message   or 40%
    WORK_LINE_LOG,        // ::log text
    WORK_LINE_CHECKPOINT, // ::checkpoint value
};

struct work_line {
    enum work_line_kind kind;
    double fraction;
    const char *text; // part of the line; the whole of it for text
};

struct work_line work_line_parse(const char *line);

// The text as UTF-8 without zero bytes: each byte that is neither becomes U+FFFD. Freed with
// tool_free.
char *work_utf8(const char *text, size_t size);

// The last bytes of many lines, for a message.
struct work_tail {
    size_t maximum;
    char *data;
    size_t size;
};

void work_tail_add(struct work_tail *tail, const char *line, size_t size);
// As UTF-8, from the beginning of a line on if there is one; without the last end of line. For
// tool_free.
char *work_tail_text(const struct work_tail *tail);
void work_tail_clear(struct work_tail *tail);

#endif
