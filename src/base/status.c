// SPDX-License-Identifier: MIT
#include "base/status.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    const char *sentence;
} statuses[STATUS_COUNT] = {
    [STATUS_OK] = { "ok", "it worked" },
    [STATUS_NO_MEMORY] = { "no_memory", "out of memory; nothing was changed" },
    [STATUS_INVALID] = { "invalid", "an argument is malformed" },
    [STATUS_TOO_LARGE] = { "too_large", "a limit on size or count was exceeded" },
    [STATUS_NOT_FOUND] = { "not_found", "there is no such thing" },
    [STATUS_EXISTS] = { "exists", "it exists already" },
    [STATUS_STATE] = { "state", "its state does not allow that" },
    [STATUS_STALE] = { "stale", "the lease is no longer held" },
    [STATUS_DENIED] = { "denied", "permission denied" },
    [STATUS_BUSY] = { "busy", "busy; try again later" },
    [STATUS_UNSUPPORTED] = { "unsupported", "not supported" },
    [STATUS_CORRUPT] = { "corrupt", "stored data is damaged" },
    [STATUS_IO] = { "io", "an input or output operation failed" },
    [STATUS_NO_SPACE] = { "no_space", "no space is left on the disk" },
};

const char *status_name(enum status status)
{
    assert(status < STATUS_COUNT);
    return statuses[status].name;
}

const char *status_sentence(enum status status)
{
    assert(status < STATUS_COUNT);
    return statuses[status].sentence;
}

// Drops the bytes of a character that was cut in half at the end of a full buffer.
static void trim_partial_character(char *text, size_t size)
{
    size_t start = size;
    while (start > 0 && ((unsigned char)text[start - 1] & 0xc0) == 0x80) {
        start--;
    }
    if (start == 0) {
        return;
    }
    unsigned char lead = (unsigned char)text[start - 1];
    size_t length = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    if (start - 1 + length > size) {
        text[start - 1] = '\0';
    }
}

void error_print(char *text, size_t capacity, const char *format, va_list arguments)
{
    int size = vsnprintf(text, capacity, format, arguments);
    if (size < 0) {
        text[0] = '\0';
    } else if ((size_t)size >= capacity) {
        trim_partial_character(text, capacity - 1);
    }
    for (char *c = text; *c; c++) {
        if ((unsigned char)*c < 0x20 || *c == 0x7f) {
            *c = '?';
        }
    }
}

static void __attribute__((format(printf, 4, 0)))
fill(struct error *error, enum status status, bool of_reply, const char *format, va_list arguments)
{
    if (error) {
        error->status = status;
        error->of_reply = of_reply;
        error_print(error->detail, sizeof(error->detail), format, arguments);
    }
}

enum status error_set(struct error *error, enum status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fill(error, status, false, format, arguments);
    va_end(arguments);
    return status;
}

enum status error_set_reply(struct error *error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fill(error, STATUS_TOO_LARGE, true, format, arguments);
    va_end(arguments);
    return STATUS_TOO_LARGE;
}

enum status error_copy(struct error *error, const struct error *from)
{
    if (error) {
        *error = *from;
    }
    return from->status;
}

const char *error_sentence(const struct error *error)
{
    return error->detail[0] ? error->detail : status_sentence(error->status);
}
