// SPDX-License-Identifier: MIT
// What the files of the HTTP face share: http.c (the face itself), parse.c (a request becomes a
// command) and answer.c (a reply becomes an answer).
#ifndef SLUICE_FACES_HTTP_FACE_H
#define SLUICE_FACES_HTTP_FACE_H

#include "faces/http/http.h"
#include "faces/http/json.h"
#include "faces/http/words.h"
#include "wire/http_reply.h"

#define JSON_TYPE "application/json"

struct http_face {
    struct http_face_options options;
    struct http_pattern *patterns; // owned: the routes whose command or page exists
    size_t pattern_count;
    struct http_words words;
    struct buffer path_text; // unescaped segments of the path
    struct buffer body;      // the body of the answer
    struct buffer openapi;   // made when it is first requested
    struct buffer packed;    // a body as gzip
    struct http_json json;   // writes into `body`
    struct error refusal;    // why the last request was refused; OK: it was not
    int64_t second;          // the second of `date`
    char date[HTTP_DATE_SIZE];
};

// The command with that name, or NULL; `name` may be NULL.
const struct command *http_face_command(const struct http_face *face, const char *name);

struct http_answer {
    unsigned status;
    const char *content_type;
    struct slice body, etag, headers; // empty headers: those that every answer has
    bool packed;                      // the body is already gzip
    bool endless;                     // the body follows in chunks, without a known end
};

// Appends an answer to `out`.
void http_answer_write(struct http_face *face, const struct http_call *call,
                       const struct http_answer *answer, struct buffer *out);

struct http_problem_options {
    unsigned status; // 0: the one that fits the error
    struct slice field;
    const char *headers; // additional headers, or NULL
};

// Appends an error as a problem (problem.h).
void http_answer_write_problem(struct http_face *face, const struct http_call *call,
                               const struct error *error,
                               const struct http_problem_options *options, struct buffer *out);

// Appends the OpenAPI description.
void http_answer_write_openapi(struct http_face *face, const struct http_call *call,
                               struct buffer *out);

#endif
