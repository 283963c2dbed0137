// SPDX-License-Identifier: MIT
// Whether what a command was about exists. Lists and counts of a namespace or a queue that does not
// exist are empty, so that a mistyped name looks like an empty queue.
#ifndef SLUICE_CLI_CORE_ABSENT_H
#define SLUICE_CLI_CORE_ABSENT_H

#include "cli/core/cli.h"

// EXIT_NOTHING with a message if the namespace of the tool, or the queue (NULL: none) in it, does
// not exist; the code of the call that failed; else EXIT_DONE. The namespace `default` counts as
// existing: it is the namespace of a new server that has none.
int absent_check(const struct tool *tool, const char *queue);

// Whether an answer says nothing: an empty list, or figures that are all zero.
bool value_is_blank(const struct sluice_value *value);

#endif
