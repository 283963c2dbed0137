// SPDX-License-Identifier: MIT
// The durability setting as text: always, interval, interval:MS or never.
#ifndef SLUICE_HOST_DURABILITY_H
#define SLUICE_HOST_DURABILITY_H

#include "base/slice.h"
#include "store/store.h"

// Parses the text in any case. False if it is not valid; then nothing has changed.
bool durability_parse(struct slice word, enum store_durability *out, int64_t *interval_us);

#endif
