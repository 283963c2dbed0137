// SPDX-License-Identifier: MIT
// What a command says, as JSON at the end of a buffer. Lengths of time are numbers of seconds,
// moments numbers of seconds since 1970; text that is not UTF-8 loses the bytes that are not;
// errors inside of lists are problems. In keys '-' becomes '_', as in the members of requests.
#ifndef SLUICE_FACES_HTTP_JSON_H
#define SLUICE_FACES_HTTP_JSON_H

#include "api/command.h"
#include "api/reply.h"
#include "base/json_writer.h"

struct http_json_options {
    const char *wrap; // an answer that is no map becomes the member of this name of one
    bool each;        // the answer is a list of answers, each of which is wrapped
    bool first;       // the answer is a list of one, of which only the item is said
    bool named;       // the answer is a text that names what was made
    bool names;       // keys are names that users gave: they stay as they are
    const struct command *command; // whose errors are said
    size_t size_max;               // of an answer; the buffer may have less room at the moment
};

struct http_json {
    struct reply reply; // that commands write to
    struct json_writer writer;
    struct http_json_options options;
    size_t depth;                    // lists and maps that are open
    bool wrapped;                    // the answer that is being said is
    bool null;                       // the answer is null
    uint64_t errors;                 // said so far
    uint64_t made;                   // the number of what was made; 0: nothing was
    char name[ENGINE_NAME_SIZE_MAX]; // of what was made, when `options.named` is set
    size_t name_size;                // 0: nothing was
    bool existing;                   // what the answer is about was there before
};

void http_json_init(struct http_json *json, struct buffer *out,
                    const struct http_json_options *options);

#endif
