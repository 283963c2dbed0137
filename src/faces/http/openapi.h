// SPDX-License-Identifier: MIT
// The description of all routes, as OpenAPI 3.1, made from the table of routes and the tables of
// commands.
#ifndef SLUICE_FACES_HTTP_OPENAPI_H
#define SLUICE_FACES_HTTP_OPENAPI_H

#include "api/command.h"

// JSON, appended. Routes to commands that are not there are left out.
void http_openapi(const struct commands *commands, const char *version, struct buffer *out);

#endif
