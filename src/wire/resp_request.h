// SPDX-License-Identifier: MIT
// Decodes requests in RESP, the Redis protocol: arrays of bulk strings, or lines of words for
// telnet. The decoder is incremental: it continues when more bytes have arrived, so that a request
// that arrives byte by byte costs no more than one that arrives at once.
//
//     resp_request_init(&request, allocator, &limits);
//     for (;;) {
//         switch (resp_request_read(&request, input, &error)) {
//         case RESP_MORE: read more bytes after `input`, and call again with all of it
//         case RESP_READY: use request.words and .count; then remove request.size bytes from `input`
//         case RESP_BROKEN: reply with the error and close; the rest cannot be decoded
//         }
//     }
#ifndef SLUICE_WIRE_RESP_REQUEST_H
#define SLUICE_WIRE_RESP_REQUEST_H

#include "base/alloc.h"
#include "base/slice.h"
#include "base/status.h"

#include <stddef.h>

// Whatever exceeds a limit is refused as soon as it is declared, before anything is allocated for
// it.
struct resp_limits {
    size_t words_max;   // in a request
    size_t word_max;    // bytes of one
    size_t request_max; // bytes of a whole request in RESP
    size_t line_max;    // bytes of an inline request with the end of its line
};

// Whether a request with these words would be within the limits as RESP; for requests of other
// protocols. TOO_LARGE with the same message as for RESP.
MUST_USE enum status resp_limits_check(const struct resp_limits *limits, const struct slice *words,
                                       size_t count, struct error *error);

enum resp_result {
    RESP_MORE,
    RESP_READY,
    RESP_BROKEN,
};

// What is next in the input, at `position`.
enum resp_stage {
    RESP_STAGE_START,  // a request
    RESP_STAGE_LENGTH, // the length of a word
    RESP_STAGE_WORD,   // the bytes of a word, and its line end
    RESP_STAGE_DONE,   // after a request that was READY
};

struct resp_request {
    const struct allocator *allocator; // borrowed
    const struct resp_limits *limits;  // borrowed; may be changed between requests
    // When READY: the words, borrowed from the input (those of an inline request from `line`) until
    // the next call, and the number of bytes that belong to the request. An empty request (count 0)
    // is to be ignored.
    struct slice *words; // owned
    size_t count;
    size_t size;
    // The decoder's state. Positions are offsets, because the input may move between calls.
    enum resp_stage stage;
    size_t position;  // bytes of the input that were decoded
    size_t scanned;   // bytes of the input that were searched for the end of a line
    size_t declared;  // number of words in the array
    size_t word_size; // of the word that is being read
    size_t *starts;   // offsets of the words in the input; in the same block as `words`
    size_t capacity;  // of words and starts
    char *line;       // owned: an inline request without its quotes
    size_t line_capacity;
};

// Allocates nothing.
void resp_request_init(struct resp_request *request, const struct allocator *allocator,
                       const struct resp_limits *limits);
void resp_request_release(struct resp_request *request);

// Decodes the input, which begins with the request and grows with every call until READY or BROKEN.
// After READY the next call begins a new request; that call may free the words, even if its input
// is empty. BROKEN sets `error`, with the status NO_MEMORY, TOO_LARGE for what exceeds a limit, or
// INVALID.
enum resp_result resp_request_read(struct resp_request *request, struct slice input,
                                   struct error *error);

// A lower bound of the input size for RESP_READY, so that the caller can allocate in advance. After
// RESP_MORE it is more than the size of the input.
size_t resp_request_needs(const struct resp_request *request);

#endif
