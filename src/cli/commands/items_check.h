// SPDX-License-Identifier: MIT
// A dry run of an import: what would not fit, and why.
#ifndef SLUICE_CLI_COMMANDS_ITEMS_CHECK_H
#define SLUICE_CLI_COMMANDS_ITEMS_CHECK_H

#include "cli/core/cli.h"

struct items_check;

struct items_check *items_check_new(const struct tool *tool, const char *name);

// What Q.RESTORE.CHECK said of a line, but for an error.
void items_check_add(struct items_check *check, int64_t line, const struct sluice_value *said);

// Looks at all of them together, says what it found, frees it, and gives the exit code. `refused`
// lines had an error.
int items_check_end(struct items_check *check, int64_t refused);

#endif
