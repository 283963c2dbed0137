// SPDX-License-Identifier: MIT
// Writes the OpenAPI 3.1 description of all routes from the table of routes and the tables of
// commands.
#ifndef SLUICE_FACES_HTTP_OPENAPI_H
#define SLUICE_FACES_HTTP_OPENAPI_H

#include "api/command.h"

// Appends JSON. Routes to commands that do not exist are omitted.
void http_openapi(const struct commands *commands, const char *version, struct buffer *out);

#endif
