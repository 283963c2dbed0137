// SPDX-License-Identifier: MIT
// What requests look like as JSON: a command's arguments as schemas, for the description.
#ifndef SLUICE_FACES_HTTP_SCHEMA_H
#define SLUICE_FACES_HTTP_SCHEMA_H

#include "faces/http/paper.h"
#include "faces/http/route.h"

// Whether the argument is a parameter of the route's path; and whether it must be given.
bool http_schema_in_path(const struct http_route *route, const struct argument *argument);
bool http_schema_is_required(const struct http_route *route, const struct argument *argument);

// The schema of a name, as members of an object that is open.
void http_schema_name(struct paper *paper);

// The schema of an argument. `single`: of a list, one item, as in a path.
void http_schema_argument(struct paper *paper, const struct http_route *route,
                          const struct argument *argument, bool single);

// The schema of an object with all arguments that are not in the path; says whether any must be
// given.
bool http_schema_object(struct paper *paper, const struct http_route *route,
                        const struct command *command);

#endif
