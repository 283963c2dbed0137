// SPDX-License-Identifier: MIT
// What the tables of commands look like to a person at a terminal.
#ifndef SLUICE_CLI_COMMANDS_HELP_H
#define SLUICE_CLI_COMMANDS_HELP_H

#include "cli/core/cli.h"

// What there is, on one screen.
void help_overview(FILE *out);
// The commands by topic, one line each.
void help_all(FILE *out);
// One command, or the commands of a family; false: there is no such.
bool help_topic(FILE *out, const char *name);
void help_command(FILE *out, const struct tool_command *command);

#endif
