// SPDX-License-Identifier: MIT
// Commands that took long: the last ones, for SLOWLOG, and a line in the log for each. Words are
// cut as in Redis. Those of a command that takes secrets (COMMAND_SECRET) are never kept.
#ifndef SLUICE_SERVER_REDIS_SLOW_COMMANDS_H
#define SLUICE_SERVER_REDIS_SLOW_COMMANDS_H

#include "engine/engine.h"

#include <stdint.h>

struct command;
struct connection;
struct server;
struct slow_command;

enum {
    SLOW_WORDS_MAX = 32,      // that are kept of a command; the last one tells how many more
    SLOW_WORD_SIZE_MAX = 128, // bytes of a word; what follows is told as a number
};

struct slow_commands {
    struct slow_command *newest, *oldest; // owned; a list from the newest to the oldest
    size_t count;
    uint64_t total; // ever; the next id
};

void slow_commands_clear(struct server *server);

// A connection's command took so long to run, from `began_us` to `ended_us` by the monotonic clock.
// Does nothing when that is less than the setting slow-command. `words` has the command's name
// first.
void slow_commands_note(struct connection *connection, const struct command *command,
                        struct slices words, int64_t took_us);

#endif
