// SPDX-License-Identifier: MIT
// Converts the members of a request to the words of a command: parameters of the path, then members
// of a JSON object, or of each object of an array, and parameters of the query, all by the
// command's own table of arguments.
//
//     POST /v1/ns/app/queues/mail/jobs?delay=60  {"klass":"Send","data":{"to":"ann"},"tags":["a"]}
//     Q.PUT app mail Send {"to":"ann"} DELAY 60 TAG a
//
// A member that the command does not have, or that is given twice, is refused. A member that is
// null is treated as not given, unless it may be any JSON.
#ifndef SLUICE_FACES_HTTP_WORDS_H
#define SLUICE_FACES_HTTP_WORDS_H

#include "api/command.h"
#include "faces/http/route.h"

enum {
    HTTP_FIELD_SIZE_MAX = 80,
};

// Memory for words, which is reused.
struct http_words {
    const struct allocator *allocator;
    struct slice *items; // owned
    size_t count, capacity;
    struct buffer text; // of words that had to be decoded; never moves while words are made
    char field[HTTP_FIELD_SIZE_MAX]; // the member that was wrong; "": none in particular
};

struct http_words_source {
    const struct http_route *route;
    const struct http_path *path;
    const struct command *command; // the command to run
    const struct command *each;    // for an array: the command of its objects; otherwise NULL
    struct slice query, body;
    struct slice idempotency_key; // empty: none
};

void http_words_init(struct http_words *words, const struct allocator *allocator);
void http_words_release(struct http_words *words);

// Makes the words of a request whose body, if there is one, is valid JSON: an array with `each`,
// otherwise an object. They are borrowed from `words`, the path, the query and the body.
MUST_USE enum status http_words_make(struct http_words *words,
                                     const struct http_words_source *source, struct error *error);

#endif
