// SPDX-License-Identifier: MIT
// The HTTP face: a request becomes the words of a command, the same ones that RESP would bring; the
// server runs them as it runs all words; and what the command says becomes JSON.
//
//     switch (http_face_ask(face, &request, &call, out)) {
//     case HTTP_SAID:   // it is answered already: 404, 405, 415, a bad member, openapi.json ...
//     case HTTP_PAGE:   // something of the server's own: call.route->page, call.ns; the server
//     says
//                       // it by http_face_page, or by http_reply.h
//     case HTTP_RUN:    // call.words are a request: the command's name, its namespace if it has
//                       // one, its arguments. If the user may and the store accepts it:
//         struct reply *reply = http_face_reply(face, &call, out);
//         ... call_run with that reply ...
//         // waits: keep a copy of `call` (without its words) with the waiter, whose own words are
//         // run again, with http_face_reply before each run
//         http_face_answer(face, &call, out); // or, when it failed,
//         http_face_refuse(face, &call, 0, &error, out);
//     }
//     if (call.close) ... the connection ends behind what was said
//
// What is in `out` is one whole answer and can be held until its group is durable. When the store
// fails meanwhile, drop it and say http_face_refuse in its place: a `struct http_call` that is all
// zero but for `head` and `close` will do.
//
// There is one face for all connections of a thread. It does no input or output, and takes the time
// as it is given.
#ifndef SLUICE_FACES_HTTP_HTTP_H
#define SLUICE_FACES_HTTP_HTTP_H

#include "api/command.h"
#include "base/buffer.h"
#include "faces/http/route.h"
#include "wire/http_request.h"

enum {
    HTTP_ETAG_SIZE = 34,           // 32 hexadecimal digits in quotes
    HTTP_IF_NONE_MATCH_SIZE = 160, // what is longer is not looked at
};

struct http_face_options {
    const struct allocator *allocator;
    // All of the host's, borrowed. A route to a command that is not among them is not there.
    const struct commands *commands;
    size_t reply_max;    // bytes of an answer's body
    unsigned depth_max;  // of JSON in a request
    const char *version; // of the server, for openapi.json; borrowed
    // Appends a body as gzip; not OK: it stays as it is. NULL: none is made.
    enum status (*gzip)(void *context, struct slice body, struct buffer *out);
    void *gzip_context;
};

struct http_face;

MUST_USE enum status http_face_new(const struct http_face_options *options, struct http_face **out);
void http_face_free(struct http_face *face);

// What time it is, for the header Date; to be told at least once a second, and at any time.
void http_face_set_time(struct http_face *face, int64_t now_us);

// A request on its way to its answer. It holds nothing that must be freed; it may be copied and
// kept, but for `words` and `ns`.
struct http_call {
    const struct http_route *route; // NULL: none was found
    const struct command *command;  // that is to be run
    struct slices words;            // borrowed from the face and the request, until the next ask
    struct slice ns;                // likewise; empty: the route has none
    bool many;                      // the body was an array, and so is the answer
    bool head;                      // HEAD: the answer is said without its body
    bool close;                     // the connection ends with the answer
    bool http_1_0;
    bool gzip;         // the client takes it
    bool by_page;      // a page asks, not a person or a program: 401 makes the browser ask nothing
    struct slice more; // headers for each answer, each with its \r\n; set before http_face_ask,
                       // borrowed until it is answered
    char if_none_match[HTTP_IF_NONE_MATCH_SIZE]; // "": none
};

enum http_step {
    HTTP_SAID,
    HTTP_PAGE,
    HTTP_RUN,
};

// What every answer to that request depends on, for a request that the face is not asked about.
// `call->more` is kept.
void http_call_init(struct http_call *call, const struct http_request *request);

enum http_step http_face_ask(struct http_face *face, const struct http_request *request,
                             struct http_call *call, struct buffer *out);

// Why the last request was refused before it became a command; NULL: it was not.
const struct error *http_face_refusal(const struct http_face *face);

// Where the command says its answer, which will go to `out`. Forgets what was said before. Valid
// until the next call with this face.
struct reply *http_face_reply(struct http_face *face, const struct http_call *call,
                              const struct buffer *out);

// How many errors the answer holds, for the figures.
uint64_t http_face_errors(const struct http_face *face);

// What was said since http_face_reply, as a whole answer. An answer that was too large becomes a
// refusal; so does null where it means that there is no such thing.
void http_face_answer(struct http_face *face, const struct http_call *call, struct buffer *out);

// A problem (RFC 9457). `status` is the HTTP status, or 0: the one that fits the error's. With 401
// it says how to log in.
void http_face_refuse(struct http_face *face, const struct http_call *call, unsigned status,
                      const struct error *error, struct buffer *out);

// A request that could not be read (HTTP_BROKEN): the connection ends with this answer.
void http_face_refuse_broken(struct http_face *face, const struct http_request *request,
                             const struct error *error, struct buffer *out);

// A page of the server's own, of that type, with a status of 200 or another.
void http_face_page(struct http_face *face, const struct http_call *call, unsigned status,
                    const char *content_type, struct slice body, struct buffer *out);

// A file that does not depend on who asks for it.
struct http_file {
    const char *type;
    struct slice etag; // with its quotes
    struct slice body;
    bool packed;          // the body is gzip already, which the client must take (call->gzip)
    struct slice headers; // in place of those that keep answers from being stored
};

// That file with 200, or 304 if the client has it.
void http_face_file(struct http_face *face, const struct http_call *call,
                    const struct http_file *file, struct buffer *out);

// The head of a page without a known end; call->close must be set. What follows are chunks, but for
// HTTP/1.0 and HEAD.
void http_face_stream(struct http_face *face, const struct http_call *call,
                      const char *content_type, struct buffer *out);

// The description of all routes, as OpenAPI 3.1: JSON, appended.
void http_face_openapi(const struct http_face *face, struct buffer *out);

#endif
