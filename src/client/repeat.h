// SPDX-License-Identifier: MIT
// Commands that may be asked again when their answer was lost: those that only read, those that carry
// the id of a request (REQUEST), and those that settle a job under the token of its lease. The server
// answers the second time as the first.
#ifndef SLUICE_CLIENT_REPEAT_H
#define SLUICE_CLIENT_REPEAT_H

#include "api/command.h"
#include "client/words.h"

// How many words of a command stand at their places, in front of the options.
size_t command_places(const struct command *command);

// REQUEST and an id that is unique. Not where the queue is in this process, whose answers are
// not lost.
struct sluice;
void repeat_option(const struct sluice *sluice, struct words *words);

// Whether the words, those of any command with its name and its namespace, may be asked again. A
// command that takes the id of a request is given one if it has none: then the words change.
bool repeat_prepare(const struct sluice *sluice, const struct command *command,
                    struct words *words);

#endif
