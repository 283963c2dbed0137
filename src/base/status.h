// SPDX-License-Identifier: MIT
// The error codes, and the messages that go with them.
//
// A function that can fail returns `enum status` and, if the reason needs words, sets a `struct
// error *`. A failed call leaves everything else unchanged.
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
    STATUS_NOT_FOUND,   // the named object does not exist
    STATUS_EXISTS,      // the object to be created exists already
    STATUS_STATE,       // the state of the named object does not allow it
    STATUS_STALE,       // the caller's lease is no longer the current one
    STATUS_DENIED,      // the caller does not have the right
    STATUS_BUSY,        // not possible now; the same call may succeed later
    STATUS_UNSUPPORTED, // well-formed, but not supported by this build or version
    STATUS_CORRUPT,     // stored bytes are damaged
    STATUS_IO,          // the system returned an error for a read, a write or a sync
    STATUS_NO_SPACE,    // the disk is full
    STATUS_COUNT,
};

#define MUST_USE __attribute__((warn_unused_result))

enum {
    ERROR_DETAIL_SIZE = 256,
};

struct error {
    enum status status;
    bool of_reply;                  // TOO_LARGE: the reply is too large, not the request
    char detail[ERROR_DETAIL_SIZE]; // a sentence without a full stop; "" when there is none
};

// A stable lower-case name of a status, for logs and protocols ("not_found").
const char *status_name(enum status status);

// A general message for a status, used if there is no detail.
const char *status_sentence(enum status status);

// Sets the status and the formatted detail in `error` (which may be NULL) and returns the status,
// so that a check reads `return error_set(...)`. The detail is truncated between two UTF-8
// characters. Control characters, which can only come from untrusted names, become '?'.
enum status error_set(struct error *error, enum status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// The same for a reply that is too large: TOO_LARGE with of_reply.
enum status error_set_reply(struct error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

// Formats such a message into any text of at least one byte.
void error_print(char *text, size_t capacity, const char *format, va_list arguments)
    __attribute__((format(printf, 3, 0)));

// Copies an error and returns its status. `error` may be NULL.
enum status error_copy(struct error *error, const struct error *from);

// The detail if there is one, otherwise the general message of the status.
const char *error_sentence(const struct error *error);

#endif
