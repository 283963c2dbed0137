// SPDX-License-Identifier: MIT
// Documentation of commands, generated from their tables: the reference, the help, and the replies
// to Redis's commands about commands.
#ifndef SLUICE_API_REFERENCE_H
#define SLUICE_API_REFERENCE_H

#include "api/command.h"

// Appends a Markdown document about all commands by group; groups are in the order of their first
// commands. The status of the buffer says whether it fitted.
void reference_markdown(const struct commands *commands, struct buffer *out);

// Appends a list of all commands by group, with their summaries, as plain text.
void reference_overview(const struct commands *commands, struct buffer *out);

// Appends the full help of one command as plain text.
void reference_help(const struct command *command, struct buffer *out);

// Writes the name of a command or an argument as Redis does: in lower case.
void command_reply_name(struct reply *reply, const char *name);

// Writes the reply of Redis 7 to COMMAND and COMMAND INFO for one command: a list of its name,
// arity (the number of words including the name; negative: the minimum), flags, first key, last key
// and step (the namespace is the key), categories, tips, key specifications and subcommands.
void command_reply_info(struct reply *reply, const struct command *command);

// Writes the reply of Redis 7 to COMMAND DOCS for one command: a map, which follows its name there.
void command_reply_docs(struct reply *reply, const struct command *command);

#endif
