// SPDX-License-Identifier: MIT
// The lists on a screen: queues, running jobs, failures, workers, and the jobs of one of them.
#ifndef SLUICE_CLI_TOP_PANES_H
#define SLUICE_CLI_TOP_PANES_H

#include "cli/top/screen.h"
#include "cli/top/view.h"

// Draws those that the view has given a place; `look` may be NULL.
void panes_draw(struct screen *screen, const struct top_view *view, const struct look *look);

#endif
