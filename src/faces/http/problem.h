// SPDX-License-Identifier: MIT
// Errors as HTTP says them: problem details (RFC 9457).
//
//     {"type":"about:blank","title":"Bad Request","status":400,"code":"invalid",
//      "detail":"priority must be a whole number, not \"high\"","field":"priority"}
#ifndef SLUICE_FACES_HTTP_PROBLEM_H
#define SLUICE_FACES_HTTP_PROBLEM_H

#include "api/command.h"
#include "base/json_writer.h"

// The HTTP status that fits.
unsigned http_problem_status(enum status status);
// The same for an error: a reply that would be too large is 422, and not 413, which is about the
// request.
unsigned http_problem_status_of(const struct error *error);

struct http_problem {
    unsigned status; // of HTTP; 0: the one that fits the error's
    const struct error *error;
    // Whose error it is: its name is left out of the sentence, and the argument that the sentence
    // is about is called as it is in JSON. NULL: of no command.
    const struct command *command;
    struct slice field; // the member that was wrong; empty: the one that the sentence names, if any
};

void http_problem_write(struct json_writer *writer, const struct http_problem *problem);

#endif
