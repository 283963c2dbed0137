// SPDX-License-Identifier: MIT
// Commands that can be repeated when their answer was lost: those that
// only read, those with the id of a request (REQUEST), and those that settle a job with the token
// of its lease. The server answers the repetition as the first time.
#ifndef SLUICE_CLIENT_REPEAT_H
#define SLUICE_CLIENT_REPEAT_H

#include "api/command.h"
#include "client/words.h"

// The number of positional arguments of a command.
size_t command_places(const struct command *command);

// Adds REQUEST and a unique id. No effect for a queue in this process, whose answers are not lost.
struct sluice;
void repeat_option(const struct sluice *sluice, struct words *words);

// Whether a command, given with its name and namespace, can be repeated. Adds the id of a request
// if the command takes one and has none.
bool repeat_prepare(const struct sluice *sluice, const struct command *command,
                    struct words *words);

#endif
