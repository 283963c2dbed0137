// SPDX-License-Identifier: MIT
// The one list of ways in which a call can fail, and the sentence that goes with a failure.
//
// A function that can fail returns `enum status` and, where the reason needs words, takes a
// `struct error *` that it fills. A failed call leaves everything else as it was.
#ifndef SLUICE_BASE_STATUS_H
#define SLUICE_BASE_STATUS_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

enum status {
    STATUS_OK = 0,
    STATUS_NO_MEMORY,   // an allocation failed
    STATUS_INVALID,     // an argument is malformed
    STATUS_TOO_LARGE,   // an argument or the reply exceeds a limit
    STATUS_NOT_FOUND,   // what was named does not exist
    STATUS_EXISTS,      // what was to be made is already there
    STATUS_STATE,       // the state of the thing named does not allow it
    STATUS_STALE,       // the caller's lease is no longer the current one
    STATUS_DENIED,      // the caller has no right to it
    STATUS_BUSY,        // not now; the same call may work later
    STATUS_UNSUPPORTED, // well-formed, but not something this build or version does
    STATUS_CORRUPT,     // stored bytes do not check
    STATUS_IO,          // the system refused a read, a write or a sync
    STATUS_NO_SPACE,    // the disk is full
    STATUS_COUNT,
};

#define MUST_USE __attribute__((warn_unused_result))

enum {
    ERROR_DETAIL_SIZE = 256,
};

struct error {
    enum status status;
    bool of_reply;                  // TOO_LARGE: the reply would be, the request is not
    char detail[ERROR_DETAIL_SIZE]; // a sentence without a full stop; "" when there is none
};

// A stable lower-case word for a status, for logs and protocols ("not_found").
const char *status_name(enum status status);

// A general sentence for a status, for where there is no detail.
const char *status_sentence(enum status status);

// Puts the status and the formatted detail, cut to fit between two characters of UTF-8, into
// `error` (which may be NULL) and returns the status, so that a check reads `return
// error_set(...)`. Control characters, which only an untrusted name can bring in, become '?'.
enum status error_set(struct error *error, enum status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// The same for a reply that would be too large: TOO_LARGE, of the reply.
enum status error_set_reply(struct error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

// Such a sentence anywhere else, of at least one byte.
void error_print(char *text, size_t capacity, const char *format, va_list arguments)
    __attribute__((format(printf, 3, 0)));

// Copies an error and returns its status. `error` may be NULL.
enum status error_copy(struct error *error, const struct error *from);

// The detail when there is one, otherwise the status's general sentence.
const char *error_sentence(const struct error *error);

#endif
