// SPDX-License-Identifier: MIT
// Draws a look onto a screen, according to a view.
#ifndef SLUICE_CLI_TOP_DRAW_H
#define SLUICE_CLI_TOP_DRAW_H

#include "cli/top/screen.h"
#include "cli/top/view.h"

// `look` may be NULL: there was none yet. Arranges the view for the size of the screen.
void top_draw(struct screen *screen, struct top_view *view, const struct look *look);

#endif
