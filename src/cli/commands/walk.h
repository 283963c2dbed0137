// SPDX-License-Identifier: MIT
// Jobs from several queues and states, page by page, as if they were one list.
#ifndef SLUICE_CLI_COMMANDS_WALK_H
#define SLUICE_CLI_COMMANDS_WALK_H

#include "cli/core/cli.h"

struct walk {
    const struct tool *tool;
    const char *queue; // NULL: all
    const char *state; // NULL: all that are in queues
    bool failed;       // those that have failed too
    int64_t offset, count;
    // Told of each page; anything but EXIT_DONE ends the walk.
    int (*page)(void *context, const struct sluice_value *jobs);
    void *context;
    int64_t total; // out: how many there are
};

int walk_jobs(struct walk *walk);
// The recurring ones instead, by queue.
int walk_recurring(struct walk *walk);

extern const char walk_states[]; // "waiting|running|...", for options

#endif
