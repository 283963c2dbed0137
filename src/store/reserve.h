// SPDX-License-Identifier: MIT
// Disk space that is kept for the day the disk is full: a file that is given up then, so that what
// makes the store smaller can still be written.
#ifndef SLUICE_STORE_RESERVE_H
#define SLUICE_STORE_RESERVE_H

#include "base/status.h"

#include <stdint.h>

// Makes sure that it is there.
MUST_USE enum status reserve_take(int folder, uint64_t size, struct error *error);
void reserve_give(int folder);

#endif
