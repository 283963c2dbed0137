// SPDX-License-Identifier: MIT
// The sentences of the table of commands, which name arguments, commands and codes as RESP has them,
// in the words of HTTP: an option is the member of that name, a command the id of its operation, a
// code the `code` of a problem, a map an object.
#ifndef SLUICE_FACES_HTTP_PROSE_H
#define SLUICE_FACES_HTTP_PROSE_H

#include "api/command.h"
#include "base/buffer.h"

// Appends the sentences. `command` is the one that they are about, or NULL.
void http_prose(const struct commands *commands, const struct command *command, const char *text,
                struct buffer *out);

#endif
