// SPDX-License-Identifier: MIT
// A struct reply that writes JSON at the end of a buffer. Durations are seconds, times seconds
// since 1970; bytes of text that are not UTF-8 are dropped; errors inside of lists are problems. In
// keys '-' becomes '_', as in the members of requests.
#ifndef SLUICE_FACES_HTTP_JSON_H
#define SLUICE_FACES_HTTP_JSON_H

#include "api/command.h"
#include "api/reply.h"
#include "base/json_writer.h"

struct http_json_options {
    const char *wrap; // an answer that is not a map becomes the member of this name
    bool each;        // the answer is a list of answers, each of which is wrapped
    bool first;       // the answer is a list with one item, and only the item is written
    bool named;       // the answer is a text that names what was created
    bool names;       // keys are names that users chose and remain unchanged
    const struct command *command; // the command that errors are about
    size_t size_max;               // bytes of an answer; the buffer may have less room
};

struct http_json {
    struct reply reply; // that commands write to
    struct json_writer writer;
    struct http_json_options options;
    size_t depth;                    // number of open lists and maps
    bool wrapped;                    // the current answer is wrapped
    bool null;                       // the answer is null
    uint64_t errors;                 // number of errors written
    uint64_t made;                   // the number of a created object; 0: none
    char name[ENGINE_NAME_SIZE_MAX]; // of a created object, when `options.named` is set
    size_t name_size;                // 0: none
    bool existing;                   // the object of the answer existed before
};

void http_json_init(struct http_json *json, struct buffer *out,
                    const struct http_json_options *options);

#endif
