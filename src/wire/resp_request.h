// SPDX-License-Identifier: MIT
// Requests in RESP, the Redis protocol: arrays of bulk strings, or a line of words for people with
// telnet. The decoder is incremental: it goes on where it stopped when more bytes have come, so
// that a request that comes byte by byte costs no more than one that comes at once.
//
//     resp_request_init(&request, allocator, &limits);
//     for (;;) {
//         switch (resp_request_read(&request, input, &error)) {
//         case RESP_MORE: read more bytes behind `input`, and come back with all of it
//         case RESP_READY: use request.words and .count; then drop request.size bytes of the input
//         case RESP_BROKEN: say why and close; what follows cannot be told apart
//         }
//     }
#ifndef SLUICE_WIRE_RESP_REQUEST_H
#define SLUICE_WIRE_RESP_REQUEST_H

#include "base/alloc.h"
#include "base/slice.h"
#include "base/status.h"

#include <stddef.h>

// What is over a limit is refused as soon as it is declared, before anything is allocated for it.
struct resp_limits {
    size_t words_max;   // in a request
    size_t word_max;    // bytes of one
    size_t request_max; // bytes of a whole request, as it stands on the wire
    size_t line_max;    // bytes of an inline request with the end of its line
};

// Whether a request of these words, as it would stand on the wire, is within the limits: for one
// that does not come by a wire. TOO_LARGE with the sentence that it would have got there.
MUST_USE enum status resp_limits_check(const struct resp_limits *limits, const struct slice *words,
                                       size_t count, struct error *error);

enum resp_result {
    RESP_MORE,
    RESP_READY,
    RESP_BROKEN,
};

// What comes next in the input, at `position`.
enum resp_stage {
    RESP_STAGE_START,  // a request
    RESP_STAGE_LENGTH, // the length of a word
    RESP_STAGE_WORD,   // the bytes of a word, and the end of its line
    RESP_STAGE_DONE,   // what follows a request that was READY
};

struct resp_request {
    const struct allocator *allocator; // borrowed
    const struct resp_limits *limits;  // borrowed; may be changed between requests
    // When READY: the words, borrowed from the input (those of an inline request from `line`) until
    // the next call, and how many bytes of the input it took. An empty request (count 0) is one to
    // pass over.
    struct slice *words; // owned
    size_t count;
    size_t size;
    // How far it has come. All are offsets, as the input may move from call to call.
    enum resp_stage stage;
    size_t position;  // bytes of the input that are done with
    size_t scanned;   // bytes of the input that were searched for the end of a line
    size_t declared;  // words of an array
    size_t word_size; // of the word that is being read
    size_t *starts;   // where the words lie in the input; in the same block as `words`
    size_t capacity;  // of words and starts
    char *line;       // owned: an inline request without its quotes
    size_t line_capacity;
};

// Allocates nothing.
void resp_request_init(struct resp_request *request, const struct allocator *allocator,
                       const struct resp_limits *limits);
void resp_request_release(struct resp_request *request);

// Looks at the input, which begins with the request and is longer with every call until it is READY
// or BROKEN. After READY the next call begins a new request; that call may free the words, also
// when its input is empty. BROKEN fills `error` with a sentence; it has the status NO_MEMORY,
// TOO_LARGE for what is over a limit, or INVALID.
enum resp_result resp_request_read(struct resp_request *request, struct slice input,
                                   struct error *error);

// How many bytes the input must have at least for RESP_READY, as far as is known; for the reader to
// make room at once. After RESP_MORE it is more than the input had.
size_t resp_request_needs(const struct resp_request *request);

#endif
