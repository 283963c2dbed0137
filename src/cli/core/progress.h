// SPDX-License-Identifier: MIT
// A line on the terminal that shows how far something is. Where there is none it shows nothing.
#ifndef SLUICE_CLI_CORE_PROGRESS_H
#define SLUICE_CLI_CORE_PROGRESS_H

#include "cli/core/cli.h"

struct progress {
    bool on;
    bool shown;
    double next; // when it may be shown again
};

void progress_init(struct progress *progress, const struct tool *tool);
// Some ten times a second at most.
__attribute__((format(printf, 2, 3))) void progress_show(struct progress *progress,
                                                         const char *format, ...);
// The same with a bar: `share` from 0 to 1.
void progress_bar(struct progress *progress, const char *what, double share);
void progress_end(struct progress *progress); // the line is empty again

// For one call that takes long and says nothing meanwhile: how long it has taken so far.
struct stopwatch;
struct stopwatch *stopwatch_start(const struct tool *tool, const char *what);
void stopwatch_stop(struct stopwatch *stopwatch);

#endif
