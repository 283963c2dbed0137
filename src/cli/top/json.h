// SPDX-License-Identifier: MIT
// A look as JSON, for programs.
#ifndef SLUICE_CLI_TOP_JSON_H
#define SLUICE_CLI_TOP_JSON_H

#include "cli/top/view.h"

#include <stdio.h>

// One line.
void top_json(FILE *out, const struct top_view *view, const struct look *look);

#endif
