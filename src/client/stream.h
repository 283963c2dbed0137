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
    bool turned_away;   // the server rejects the certificate of the client, or requires one
};

enum stream_result {
    STREAM_OK,
    STREAM_LATE,   // the deadline has passed
    STREAM_WOKEN,  // `wake` is readable
    STREAM_CLOSED, // the server has closed the connection, or it has broken
    STREAM_ODD,    // the bytes are not a valid answer
};

// Makes the certificates for TLS; NULL for an address without TLS. INVALID: a file cannot be used.
enum sluice_status stream_trust(const struct url *url, const struct sluice_open_options *options,
                                struct ssl_ctx_st **out, struct sluice_error *error);
void stream_distrust(struct ssl_ctx_st *trust); // may be NULL

// The deadline of a step, and the descriptor (or -1) that ends the step when it is readable.
struct until {
    int64_t deadline_us;
    int wake;
    bool *no_connection; // set when no connection could be made at all; or NULL
};

// UNREACHABLE: no server accepted the connection in time. DENIED: the certificate is not trusted.
// INTERRUPTED: `wake` became readable.
enum sluice_status stream_open(struct stream *stream, const struct url *url,
                               struct ssl_ctx_st *trust, struct until until,
                               struct sluice_error *error);
void stream_close(struct stream *stream);
// Closes the descriptor and nothing else: the connection belongs to another process. Reads and
// writes return CLOSED from then on.
void stream_abandon(struct stream *stream);

// DENIED, of a stream that was `turned_away`.
enum sluice_status stream_turned_away(const struct url *url, struct sluice_error *error);

// Writes all of it, unless the descriptor `wake` (or -1) becomes readable before.
enum stream_result stream_write(struct stream *stream, struct slice bytes, struct until until);

// Reads at least a byte, unless the descriptor `wake` (or -1) becomes readable before.
enum stream_result stream_read(struct stream *stream, void *bytes, size_t size, size_t *read_size,
                               int64_t deadline_us, int wake);

// Ends the connection for writing. It can still be read.
void stream_end(struct stream *stream);

// Whether the connection is open and has nothing to read. A reply without a request makes it
// unusable.
bool stream_is_idle(const struct stream *stream);

#endif
