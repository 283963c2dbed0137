// SPDX-License-Identifier: MIT
// How a job ended, for those who wait for it.
#ifndef SLUICE_CLI_COMMANDS_FINISH_H
#define SLUICE_CLI_COMMANDS_FINISH_H

#include "cli/core/cli.h"

// Waits up to `seconds` (without the option `for`: as long as it takes) until a job has finished,
// and prints its result.
int finish_wait(const struct tool *tool, const char *jid, double seconds);

#endif
