// SPDX-License-Identifier: MIT
// The examples of a command, which are written as in redis-cli, as HTTP has them: the body of a
// request, and the answer.
#ifndef SLUICE_FACES_HTTP_EXAMPLE_H
#define SLUICE_FACES_HTTP_EXAMPLE_H

#include "faces/http/json.h"
#include "faces/http/route.h"

// The object that the words of a command's first example make, without what stands in the route's
// path; appended.
void http_example_request(const struct http_route *route, const struct command *command,
                          struct buffer *out);

// The answer of a command's first example that is told whole and is no error, appended; false when
// there is none.
bool http_example_reply(const struct command *command, const struct http_json_options *options,
                        struct buffer *out);

#endif
