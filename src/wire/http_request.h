// SPDX-License-Identifier: MIT
// Decodes HTTP/1.1 requests (RFC 9112) strictly: a request that two implementations could interpret
// differently is refused, so that no request can be hidden in another (request smuggling). The
// decoder is incremental like the one for RESP: it continues when more bytes have arrived.
//
//     http_request_init(&request, allocator, &limits);
//     for (;;) {
//         switch (http_request_read(&request, input, &error)) {
//         case HTTP_MORE: send "100 Continue" if http_request_wants_continue; read more bytes after
//                         `input`, and call again with all of it
//         case HTTP_READY: use the public fields; then remove request.size bytes from the input
//         case HTTP_BROKEN: reply with request.answer and the message, and close
//         }
//     }
//
// Refused are: lines that do not end with \r\n; control characters; folded headers; blanks before a
// colon; no Host or more than one; Content-Length together with Transfer-Encoding, twice or as a
// list; transfer codings other than chunked; targets that are neither a path nor a URL.
//
// HTTP/1.0 is accepted without keep-alive: the connection closes after the reply.
#ifndef SLUICE_WIRE_HTTP_REQUEST_H
#define SLUICE_WIRE_HTTP_REQUEST_H

#include "base/alloc.h"
#include "base/buffer.h"
#include "base/slice.h"
#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Whatever exceeds a limit is refused as soon as that is known, before anything is allocated for
// it.
struct http_limits {
    size_t line_max;    // bytes of the request line (414) or of one header (431), with \r\n
    size_t head_max;    // bytes of the request line and all headers; of all trailers too
    size_t headers_max; // their number; of trailers too
    size_t body_max;    // bytes of a body
    // bytes of a chunked body that are not its contents, beyond the number of its contents
    size_t chunk_overhead_max;
};

enum http_result {
    HTTP_MORE,
    HTTP_READY,
    HTTP_BROKEN,
};

// What is next in the input, at `position`.
enum http_stage {
    HTTP_STAGE_START,      // a request line
    HTTP_STAGE_HEADERS,    // a header, or the empty line after the last one
    HTTP_STAGE_BODY,       // a body of a known size
    HTTP_STAGE_CHUNK_SIZE, // the line before a chunk
    HTTP_STAGE_CHUNK,      // the bytes of a chunk, and the end of its line
    HTTP_STAGE_TRAILERS,   // a trailer, or the empty line after the last one
    HTTP_STAGE_DONE,       // after a request that was READY
};

// A header as offsets into the input.
struct http_span {
    uint32_t name, name_size, value, value_size;
};

struct http_request {
    const struct allocator *allocator; // borrowed
    const struct http_limits *limits;  // borrowed; may be changed between requests
    // When READY, borrowed from the input until the next call (a chunked body from `gathered`).
    // When the decoder pauses, all except the body are set too.
    struct slice method; // a token, as it was sent
    struct slice path;   // begins with '/', still escaped; or "*"
    struct slice query;  // what follows '?', still percent-encoded
    struct slice body;
    bool keep_alive; // further requests may follow on the connection
    bool http_1_0;
    // Set by the caller to examine the head before the body is read: HTTP_MORE is returned once
    // with http_request_in_body, even if all of the body has arrived, and the next call continues.
    bool pauses;
    size_t size; // bytes of the input that belong to the request
    // When BROKEN: the HTTP status of the reply.
    unsigned answer;

    // The decoder's state. Positions are offsets, because the input may move between calls.
    enum http_stage stage;
    const char *input; // of the last call
    size_t position;   // bytes of the input that were decoded
    size_t scanned;    // bytes of the input that were searched for the end of a line
    size_t part_start; // where the head or the trailers begin
    struct http_span line;
    uint32_t authority, authority_size; // the host in the target, if it has one
    struct http_span *headers;          // owned
    size_t header_count, header_capacity;
    size_t trailer_count;
    size_t body_size; // declared size, or the size of the current chunk
    size_t overhead;  // bytes of a chunked body that are not its contents
    bool has_length, chunked, has_host, close;
    bool expects_continue;
    struct buffer gathered; // a chunked body
};

// Allocates nothing.
void http_request_init(struct http_request *request, const struct allocator *allocator,
                       const struct http_limits *limits);
void http_request_release(struct http_request *request);

// Decodes the input, which begins with the request and grows with every call until READY or BROKEN.
// After READY the next call begins a new request. BROKEN sets `error`, with the status NO_MEMORY,
// TOO_LARGE for what exceeds a limit, UNSUPPORTED or INVALID.
enum http_result http_request_read(struct http_request *request, struct slice input,
                                   struct error *error);
// To be called when the input has moved since the request paused: updates the public fields of the
// head.
void http_request_moved(struct http_request *request, struct slice input);

// A lower bound of the input size for HTTP_READY, so that the caller can allocate in advance. After
// HTTP_MORE it is more than the size of the input.
size_t http_request_needs(const struct http_request *request);

// After HTTP_MORE: whether the client waits for "100 Continue". Returns true at most once for each
// request.
bool http_request_wants_continue(struct http_request *request);

// Whether the head has arrived but not all of the body.
static inline bool http_request_in_body(const struct http_request *request)
{
    return request->stage >= HTTP_STAGE_BODY && request->stage < HTTP_STAGE_DONE;
}

// Whether a body was declared. To be called when the head has arrived.
static inline bool http_request_has_body(const struct http_request *request)
{
    return request->chunked || request->body_size > 0;
}

// When READY, or in the body: the value of the first header with that name, in any case, without
// the blanks around it. False if there is none. `*count` is the number of such headers; it may be
// NULL.
bool http_request_header(const struct http_request *request, struct slice name, struct slice *value,
                         size_t *count);

#endif
