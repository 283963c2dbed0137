// SPDX-License-Identifier: MIT
// What there is to read about commands, made from their table: the reference, the help, and the
// answers to Redis's own questions about commands.
#ifndef SLUICE_API_REFERENCE_H
#define SLUICE_API_REFERENCE_H

#include "api/command.h"

// Appends a document in Markdown about all commands, by group, each group where its first command
// stands. The buffer's status says whether it fitted.
void reference_markdown(const struct commands *commands, struct buffer *out);

// Appends a list of all commands by group, with their summaries, as plain text.
void reference_overview(const struct commands *commands, struct buffer *out);

// Appends all there is to say about one command as plain text.
void reference_help(const struct command *command, struct buffer *out);

// A name as Redis says those of commands and arguments: in small letters.
void command_reply_name(struct reply *reply, const char *name);

// What COMMAND and COMMAND INFO of Redis 7 answer for a command: a list of its name, arity (as many
// words, or below 0 at least as many, with the name), flags, first key, last key and step (the
// namespace is the key), categories, tips, key specifications and subcommands.
void command_reply_info(struct reply *reply, const struct command *command);

// What COMMAND DOCS of Redis 7 answers for a command: a map, which stands behind its name there.
void command_reply_docs(struct reply *reply, const struct command *command);

#endif
