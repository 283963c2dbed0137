// SPDX-License-Identifier: MIT
// The last slow commands, for SLOWLOG, and a log line for each. Arguments are truncated as in
// Redis. Those of a command that takes secrets (COMMAND_SECRET) are never kept.
#ifndef SLUICE_SERVER_REDIS_SLOW_COMMANDS_H
#define SLUICE_SERVER_REDIS_SLOW_COMMANDS_H

#include "engine/engine.h"

#include <stdint.h>

struct command;
struct connection;
struct server;
struct slow_command;

enum {
    SLOW_WORDS_MAX = 32,      // words of an entry; the last one may be the number of omitted words
    SLOW_WORD_SIZE_MAX = 128, // bytes of a word; the number of omitted bytes follows
};

struct slow_commands {
    struct slow_command *newest, *oldest; // owned; a list
    size_t count;
    uint64_t total; // since the start; the id of the next entry
};

void slow_commands_clear(struct server *server);

// To be called when a command of a connection has run for `took_us`. Does nothing if that is less
// than the setting slow-command. The first word is the command's name.
void slow_commands_note(struct connection *connection, const struct command *command,
                        struct slices words, int64_t took_us);

#endif
