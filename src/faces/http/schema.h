// SPDX-License-Identifier: MIT
// JSON schemas of requests, from the arguments of commands, for the description.
#ifndef SLUICE_FACES_HTTP_SCHEMA_H
#define SLUICE_FACES_HTTP_SCHEMA_H

#include "faces/http/paper.h"
#include "faces/http/route.h"

// Whether the argument is a parameter of the route's path; whether it is required.
bool http_schema_in_path(const struct http_route *route, const struct argument *argument);
bool http_schema_is_required(const struct http_route *route, const struct argument *argument);

// Writes the schema of a name, as members of an open object.
void http_schema_name(struct paper *paper);

// Writes the schema of an argument. `single`: one item of a list, as in a path.
void http_schema_argument(struct paper *paper, const struct http_route *route,
                          const struct argument *argument, bool single);

// Writes the schema of an object with all arguments that are not in the path; returns whether any
// is required.
bool http_schema_object(struct paper *paper, const struct http_route *route,
                        const struct command *command);

#endif
