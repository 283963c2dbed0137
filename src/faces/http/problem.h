// SPDX-License-Identifier: MIT
// Errors in HTTP: problem details (RFC 9457).
//
//     {"type":"about:blank","title":"Bad Request","status":400,"code":"invalid",
//      "detail":"priority must be a whole number, not \"high\"","field":"priority"}
#ifndef SLUICE_FACES_HTTP_PROBLEM_H
#define SLUICE_FACES_HTTP_PROBLEM_H

#include "api/command.h"
#include "base/json_writer.h"

// The HTTP status for a status.
unsigned http_problem_status(enum status status);
// The same for an error: a reply that is too large is 422, because 413 is about the request.
unsigned http_problem_status_of(const struct error *error);

struct http_problem {
    unsigned status; // HTTP status; 0: the one for the error
    const struct error *error;
    // The command that failed: its name is removed from the message, and the argument that the
    // message is about gets its name in JSON. NULL: no command.
    const struct command *command;
    struct slice field; // the member that is wrong; empty: the one that the message names, if any
};

void http_problem_write(struct json_writer *writer, const struct http_problem *problem);

#endif
