// SPDX-License-Identifier: MIT
// Bytes to and from a server, plain or with TLS. Every step has a deadline, in microseconds of the
// monotonic clock (INT64_MAX: none).
#ifndef SLUICE_CLIENT_STREAM_H
#define SLUICE_CLIENT_STREAM_H

#include "client/fault.h"
#include "client/url.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ssl_ctx_st;
struct ssl_st;

struct stream {
    int fd;
    struct ssl_st *ssl; // NULL: plain
    bool turned_away;   // the server does not take our certificate, or wants one
};

enum stream_result {
    STREAM_OK,
    STREAM_LATE,   // the deadline has passed
    STREAM_WOKEN,  // `wake` is readable
    STREAM_CLOSED, // the other side has ended it, or it broke
    STREAM_ODD,    // what came makes no sense
};

// What TLS goes by; NULL for an address without. INVALID when a file cannot be used.
enum sluice_status stream_trust(const struct url *url, const struct sluice_open_options *options,
                                struct ssl_ctx_st **out, struct sluice_error *error);
void stream_distrust(struct ssl_ctx_st *trust); // may be NULL

// How long something may take, and the descriptor (or -1) that ends it when it becomes readable.
struct until {
    int64_t deadline_us;
    int wake;
};

// UNREACHABLE: no server accepted the connection in time. DENIED: the certificate is not trusted.
// INTERRUPTED: `wake` became readable.
enum sluice_status stream_open(struct stream *stream, const struct url *url,
                               struct ssl_ctx_st *trust, struct until until,
                               struct sluice_error *error);
void stream_close(struct stream *stream);
// Closes the descriptor and nothing else: the connection belongs to another process. Reads and writes
// return CLOSED from then on.
void stream_abandon(struct stream *stream);

// DENIED, of a stream that was `turned_away`.
enum sluice_status stream_turned_away(const struct url *url, struct sluice_error *error);

// Writes all of it, unless the descriptor `wake` (or -1) becomes readable before.
enum stream_result stream_write(struct stream *stream, struct slice bytes, struct until until);

// Reads what there is, at least a byte, unless the descriptor `wake` (or -1) becomes readable.
enum stream_result stream_read(struct stream *stream, void *bytes, size_t size, size_t *read_size,
                               int64_t deadline_us, int wake);

// Says that nothing more will be written; what comes can still be read.
void stream_end(struct stream *stream);

// Whether it is still open with nothing to read. A reply without a request makes it as unusable as
// its end.
bool stream_is_idle(const struct stream *stream);

#endif
