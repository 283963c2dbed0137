// SPDX-License-Identifier: MIT
// Jansson's opinion of what is JSON, for tests and fuzzers to compare ours with.
#ifndef SLUICE_JSON_ORACLE_H
#define SLUICE_JSON_ORACLE_H

#include "base/slice.h"

#include <stdbool.h>

// Whether jansson accepts the grammar of a text. Values that it refuses though they are well-formed
// are put aside, so that its answer and json_validate's agree but for the depth.
bool json_oracle_accepts(struct slice text);

#endif
