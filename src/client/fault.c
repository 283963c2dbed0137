// SPDX-License-Identifier: MIT
#include "client/fault.h"

#include "base/ascii.h"

#include <assert.h>
#include <stdarg.h>
#include <string.h>

static_assert((int)SLUICE_NO_SPACE == (int)STATUS_NO_SPACE &&
                  (int)SLUICE_TIMED_OUT == (int)STATUS_COUNT,
              "the public statuses begin with those of the inside, in their order");

static const char *const own_names[] = {
    [SLUICE_TIMED_OUT - STATUS_COUNT] = "timed_out",
    [SLUICE_INTERRUPTED - STATUS_COUNT] = "interrupted",
    [SLUICE_UNREACHABLE - STATUS_COUNT] = "unreachable",
    [SLUICE_UNKNOWN - STATUS_COUNT] = "unknown",
};

const char *sluice_status_name(enum sluice_status status)
{
    if ((int)status >= 0 && (int)status < STATUS_COUNT) {
        return status_name((enum status)status);
    }
    return (int)status >= STATUS_COUNT && status < SLUICE_STATUS_COUNT
               ? own_names[(int)status - STATUS_COUNT]
               : "?";
}

enum sluice_status fault(struct sluice_error *error, enum sluice_status status, const char *format,
                         ...)
{
    if (error) {
        va_list arguments;
        error->status = status;
        va_start(arguments, format);
        error_print(error->message, sizeof(error->message), format, arguments);
        va_end(arguments);
    }
    return status;
}

enum sluice_status fault_null(struct sluice_error *error, const char *argument)
{
    return fault(error, SLUICE_INVALID, "%s is NULL", argument);
}

enum sluice_status fault_no_memory(struct sluice_error *error)
{
    return fault(error, SLUICE_NO_MEMORY, "out of memory");
}

enum sluice_status fault_interrupted(struct sluice_error *error)
{
    return fault(error, SLUICE_INTERRUPTED, "the wait was interrupted");
}

enum sluice_status fault_timed_out(struct sluice_error *error)
{
    return fault(error, SLUICE_TIMED_OUT, "nothing came in the time given");
}

enum sluice_status fault_of(struct sluice_error *error, const struct error *from)
{
    return fault(error, (enum sluice_status)from->status, "%s", error_sentence(from));
}

// Codes of Redis, for errors before a command is parsed.
static const struct {
    const char *code;
    enum sluice_status status;
} codes[] = {
    { "noperm", SLUICE_DENIED },       { "noauth", SLUICE_DENIED },
    { "wrongpass", SLUICE_DENIED },    { "loading", SLUICE_BUSY },
    { "misconf", SLUICE_IO },          { "readonly", SLUICE_UNSUPPORTED },
    { "noproto", SLUICE_UNSUPPORTED },
};

static enum sluice_status status_of(struct slice code)
{
    for (int status = STATUS_NO_MEMORY; status < STATUS_COUNT; status++) {
        if (ascii_equal(code, slice_from_cstr(status_name((enum status)status)))) {
            return (enum sluice_status)status;
        }
    }
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
        if (ascii_equal(code, slice_from_cstr(codes[i].code))) {
            return codes[i].status;
        }
    }
    return SLUICE_INVALID;
}

enum sluice_status fault_said(struct sluice_error *error, struct slice line)
{
    const char *space = memchr(line.data, ' ', line.size);
    size_t size = space ? (size_t)(space - line.data) : line.size;
    struct slice sentence = space ? slice_sub(line, size + 1, line.size) : line;
    return fault(error, status_of(slice_sub(line, 0, size)), "%.*s", SLICE_PRINT(sentence));
}
