// SPDX-License-Identifier: MIT
// Converts the examples of commands, which are written as in redis-cli, to HTTP: the body of a
// request, and the reply.
#ifndef SLUICE_FACES_HTTP_EXAMPLE_H
#define SLUICE_FACES_HTTP_EXAMPLE_H

#include "faces/http/json.h"
#include "faces/http/route.h"

// Appends the object for the words of a command's first example, without what is in the route's
// path.
void http_example_request(const struct http_route *route, const struct command *command,
                          struct buffer *out);

// Appends the reply of a command's first example that is complete and not an error; false if there
// is none.
bool http_example_reply(const struct command *command, const struct http_json_options *options,
                        struct buffer *out);

#endif
