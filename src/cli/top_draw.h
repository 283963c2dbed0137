// SPDX-License-Identifier: MIT
// Paints a look, as somebody looks at it, onto a screen.
#ifndef SLUICE_CLI_TOP_DRAW_H
#define SLUICE_CLI_TOP_DRAW_H

#include "cli/screen.h"
#include "cli/top_view.h"

// `look` may be NULL: there was none yet. Arranges the view for the size of the screen.
void top_draw(struct screen *screen, struct top_view *view, const struct look *look);

#endif
