// SPDX-License-Identifier: MIT
// Requests in HTTP/1.1 (RFC 9112), read strictly: a request that two readers could understand
// differently is refused, so that no request can be hidden in another (request smuggling). The decoder
// is incremental like that of RESP: it goes on where it stopped when more bytes have arrived.
//
//     http_request_init(&request, allocator, &limits);
//     for (;;) {
//         switch (http_request_read(&request, input, &error)) {
//         case HTTP_MORE: say "100 Continue" if http_request_wants_continue; read more bytes behind
//                         `input`, and come back with all of it
//         case HTTP_READY: use what is below; then drop request.size bytes of the input
//         case HTTP_BROKEN: answer with request.answer and the sentence, and close
//         }
//     }
//
// Refused are: lines that do not end with \r\n; control characters; lines that go on in the next;
// blanks before a colon; more or less than one Host; Content-Length beside Transfer-Encoding, twice
// or as a list; transfer codings other than chunked; targets that are not a path or a URL.
//
// HTTP/1.0 is understood, without keep-alive: its connections end with the answer.
#ifndef SLUICE_WIRE_HTTP_REQUEST_H
#define SLUICE_WIRE_HTTP_REQUEST_H

#include "base/alloc.h"
#include "base/buffer.h"
#include "base/slice.h"
#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// What is over a limit is refused as soon as it is known, before anything is allocated for it.
struct http_limits {
    size_t line_max;           // bytes of the request line (414) or of one header (431), with \r\n
    size_t head_max;           // bytes of the request line and all headers; of all trailers too
    size_t headers_max;        // how many; of trailers too
    size_t body_max;           // bytes of a body
    size_t chunk_overhead_max; // bytes of a chunked body that are not its contents, beyond as many
                               // as the contents have
};

enum http_result {
    HTTP_MORE,
    HTTP_READY,
    HTTP_BROKEN,
};

// What comes next in the input, at `position`.
enum http_stage {
    HTTP_STAGE_START,      // a request line
    HTTP_STAGE_HEADERS,    // a header, or the empty line behind the last
    HTTP_STAGE_BODY,       // a body of a known size
    HTTP_STAGE_CHUNK_SIZE, // the line in front of a chunk
    HTTP_STAGE_CHUNK,      // the bytes of a chunk, and the end of its line
    HTTP_STAGE_TRAILERS,   // a trailer, or the empty line behind the last
    HTTP_STAGE_DONE,       // what follows a request that was READY
};

// A header, by offsets into the input.
struct http_span {
    uint32_t name, name_size, value, value_size;
};

struct http_request {
    const struct allocator *allocator; // borrowed
    const struct http_limits *limits;  // borrowed; may be changed between requests
    // When READY, borrowed from the input until the next call (a chunked body from `gathered`); all
    // but the body also when it pauses:
    struct slice method; // a token, as it was sent
    struct slice path;   // begins with '/', still escaped; or "*"
    struct slice query;  // what follows '?', still escaped
    struct slice body;
    bool keep_alive; // the connection may go on with another request
    bool http_1_0;
    // To be set by who wants to look at a head before its body is read: HTTP_MORE comes once with
    // http_request_in_body, even when all is there, and the next call goes on.
    bool pauses;
    size_t size; // bytes of the input that it took
    // When BROKEN: the HTTP status to answer with.
    unsigned answer;

    // How far it has come. All are offsets, as the input may move from call to call.
    enum http_stage stage;
    const char *input; // of the last call
    size_t position;   // bytes of the input that are done with
    size_t scanned;    // bytes of the input that were searched for the end of a line
    size_t part_start; // where the head, or the trailers, begin
    struct http_span line;
    uint32_t authority, authority_size; // the host in the target, if it has one
    struct http_span *headers;          // owned
    size_t header_count, header_capacity;
    size_t trailer_count;
    size_t body_size; // declared, or of the chunk that is being read
    size_t overhead;  // bytes of a chunked body that are not its contents
    bool has_length, chunked, has_host, close;
    bool expects_continue;
    struct buffer gathered; // a chunked body
};

// Allocates nothing.
void http_request_init(struct http_request *request, const struct allocator *allocator,
                       const struct http_limits *limits);
void http_request_release(struct http_request *request);

// Looks at the input, which begins with the request and is longer with every call until it is READY
// or BROKEN. After READY the next call begins a new request. BROKEN fills `error` with a sentence;
// it has the status NO_MEMORY, TOO_LARGE for what is over a limit, UNSUPPORTED or INVALID.
enum http_result http_request_read(struct http_request *request, struct slice input,
                                   struct error *error);
// The input has moved since the request paused: its head is there again, and nothing is read on.
void http_request_moved(struct http_request *request, struct slice input);

// How many bytes the input must have at least for HTTP_READY, as far as is known; for the reader to
// make room at once. After HTTP_MORE it is more than the input had.
size_t http_request_needs(const struct http_request *request);

// After HTTP_MORE: whether the client waits to be told to send the body. To be asked once: it says
// so only once.
bool http_request_wants_continue(struct http_request *request);

// Whether the head has come but not all of the body.
static inline bool http_request_in_body(const struct http_request *request)
{
    return request->stage >= HTTP_STAGE_BODY && request->stage < HTTP_STAGE_DONE;
}

// Whether a body was declared, which may have come or not; once the head has come.
static inline bool http_request_has_body(const struct http_request *request)
{
    return request->chunked || request->body_size > 0;
}

// When READY, or in the body: the value of the first header of that name, in whatever case, without
// the blanks around it. False when there is none. `*count` is how many there are; it may be NULL.
bool http_request_header(const struct http_request *request, struct slice name, struct slice *value,
                         size_t *count);

#endif
