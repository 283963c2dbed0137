// SPDX-License-Identifier: MIT
// The disk reserve: a file that is deleted when the disk is full, so that changes that free space
// can still be written.
#ifndef SLUICE_STORE_RESERVE_H
#define SLUICE_STORE_RESERVE_H

#include "base/status.h"

#include <stdint.h>

// Creates the file with that size, unless it exists with that size.
MUST_USE enum status reserve_take(int folder, uint64_t size, struct error *error);
void reserve_give(int folder);

#endif
