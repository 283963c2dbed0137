// SPDX-License-Identifier: MIT
// When a change counts as done, in words: always, interval, interval:MS or never.
#ifndef SLUICE_HOST_DURABILITY_H
#define SLUICE_HOST_DURABILITY_H

#include "base/slice.h"
#include "store/store.h"

// In whatever case. False when it is none of them; then nothing has changed.
bool durability_parse(struct slice word, enum store_durability *out, int64_t *interval_us);

#endif
