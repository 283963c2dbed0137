// SPDX-License-Identifier: MIT
// Patterns as Redis has them: `*` for any bytes, `?` for one, `[a-c]` and `[^a-c]` for one of a
// set, `\` before a byte that stands for itself. Every pattern is valid: a set that is not closed
// ends with the pattern.
#ifndef SLUICE_SERVER_GLOB_H
#define SLUICE_SERVER_GLOB_H

#include "base/slice.h"

#include <stdbool.h>

// Whether the whole text matches. Takes time in proportion to the product of the sizes at worst.
bool glob_matches(struct slice pattern, struct slice text);
// The same in whatever case (ASCII).
bool glob_matches_any_case(struct slice pattern, struct slice text);

#endif
