// SPDX-License-Identifier: MIT
// The HTTP face: a request becomes the words of a command, the same words that RESP would bring; the
// server runs them like any other command, and the reply of the command becomes JSON.
//
//     switch (http_face_parse(face, &request, &call, out)) {
//     case HTTP_ANSWERED: // the answer is complete: 404, 405, 415, an invalid member, openapi.json
//     case HTTP_PAGE:     // a page of the server: call.route->page, call.ns. The server writes it
//                         // with http_face_page, or with wire/http_reply.h
//     case HTTP_RUN:      // call.words are a request: the name of the command, its namespace if it
//                         // has one, its arguments. If the user has the rights and the store
//                         // accepts it:
//         struct reply *reply = http_face_reply(face, &call, out);
//         ... call_run with that reply ...
//         // If the command waits: keep a copy of `call` (without its words) with the waiter, and
//         // call http_face_reply before each further run.
//         http_face_answer(face, &call, out); // or, if the command failed,
//         http_face_refuse(face, &call, 0, &error, out);
//     }
//     if (call.close) ... the connection ends after the answer
//
// What is in `out` is one whole answer, which can be held until its commit group is durable. If the
// store fails meanwhile, drop the answer and call http_face_refuse instead, with a `struct
// http_call` that is zero except for `head` and `close`.
//
// One face serves all connections of a thread. It does no input or output, and receives the time
// from its caller.
#ifndef SLUICE_FACES_HTTP_HTTP_H
#define SLUICE_FACES_HTTP_HTTP_H

#include "api/command.h"
#include "base/buffer.h"
#include "faces/http/route.h"
#include "wire/http_request.h"

enum {
    HTTP_ETAG_SIZE = 34,           // 32 hexadecimal digits in quotes
    HTTP_IF_NONE_MATCH_SIZE = 160, // a longer header is ignored
};

struct http_face_options {
    const struct allocator *allocator;
    // All commands of the host, borrowed. A route whose command is not among them does not exist.
    const struct commands *commands;
    size_t reply_max;    // bytes of an answer's body
    unsigned depth_max;  // of JSON in a request
    const char *version; // of the server, for openapi.json; borrowed
    // Appends the body as gzip; on failure the body is sent as it is. NULL: no compression.
    enum status (*gzip)(void *context, struct slice body, struct buffer *out);
    void *gzip_context;
};

struct http_face;

MUST_USE enum status http_face_new(const struct http_face_options *options, struct http_face **out);
void http_face_free(struct http_face *face);

// Sets the time of the header Date. Call it at least once a second.
void http_face_set_time(struct http_face *face, int64_t now_us);

// What is known of a request until it is answered. It owns nothing. It may be copied and kept, except
// for `words` and `ns`.
struct http_call {
    const struct http_route *route; // NULL: the path has none
    const struct command *command;  // the command to run
    struct slices words;            // borrowed from the face and the request, until the next parse
    struct slice ns;                // likewise; empty: the route has none
    bool many;                      // the body was an array, and so is the answer
    bool head;                      // HEAD: the answer has no body
    bool close;                     // the connection ends after the answer
    bool http_1_0;
    bool gzip;         // the client accepts it
    bool by_page;      // sent by a script of a page: 401 must not open the browser's login window
    struct slice more; // headers to add to the answer, each with its \r\n; set before
                       // http_face_parse, borrowed until the answer is written
    char if_none_match[HTTP_IF_NONE_MATCH_SIZE]; // "": none
};

enum http_step {
    HTTP_ANSWERED,
    HTTP_PAGE,
    HTTP_RUN,
};

// Initializes a call for a request that the server answers without http_face_parse. `call->more` is
// kept.
void http_call_init(struct http_call *call, const struct http_request *request);

enum http_step http_face_parse(struct http_face *face, const struct http_request *request,
                               struct http_call *call, struct buffer *out);

// Why the last request was rejected before it became a command; NULL: it was not.
const struct error *http_face_refusal(const struct http_face *face);

// The reply that a command writes to, for an answer that will be appended to `out`. Discards what was
// written before. Valid until the next call with this face.
struct reply *http_face_reply(struct http_face *face, const struct http_call *call,
                              const struct buffer *out);

// How many errors the reply has, for the metrics.
uint64_t http_face_errors(const struct http_face *face);

// Appends the reply since http_face_reply as a whole answer. A reply that is too large becomes a
// problem, as does null where it means that something does not exist.
void http_face_answer(struct http_face *face, const struct http_call *call, struct buffer *out);

// Appends a problem (RFC 9457). `status` is the HTTP status, or 0: the one that fits the error. 401
// comes with the headers WWW-Authenticate.
void http_face_refuse(struct http_face *face, const struct http_call *call, unsigned status,
                      const struct error *error, struct buffer *out);

// Answers a request that could not be parsed (HTTP_BROKEN). The connection ends after this answer.
void http_face_refuse_broken(struct http_face *face, const struct http_request *request,
                             const struct error *error, struct buffer *out);

// Appends a page of the server with that status and content type.
void http_face_page(struct http_face *face, const struct http_call *call, unsigned status,
                    const char *content_type, struct slice body, struct buffer *out);

// A file that is the same for all clients.
struct http_file {
    const char *type;
    struct slice etag; // with its quotes
    struct slice body;
    bool packed;          // the body is already gzip, which the client must accept (call->gzip)
    struct slice headers; // replace the headers that forbid caching
};

// Appends the file with status 200, or 304 if the client has it.
void http_face_file(struct http_face *face, const struct http_call *call,
                    const struct http_file *file, struct buffer *out);

// Appends the head of a page without a known end; call->close must be set. The body follows in
// chunks; with HTTP/1.0 as it is, and with HEAD there is none.
void http_face_stream(struct http_face *face, const struct http_call *call,
                      const char *content_type, struct buffer *out);

// Appends the description of all routes: OpenAPI 3.1, as JSON.
void http_face_openapi(const struct http_face *face, struct buffer *out);

#endif
