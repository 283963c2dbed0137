// SPDX-License-Identifier: MIT
// Signals that stop what runs in this process: SIGTERM and SIGINT.
#ifndef SLUICE_CLIENT_DRAIN_H
#define SLUICE_CLIENT_DRAIN_H

#include <stdbool.h>

// Handles the signals until drain_end. Returns a descriptor that becomes readable at each signal
// (read it with drain_count), or -1. Several descriptors may be open at the same time.
int drain_begin(void);
// Returns the number of signals that this process has received so far, and makes the descriptor
// unreadable.
unsigned drain_count(int fd);
// Restores the former handlers with the last descriptor. `fd` may be -1.
void drain_end(int fd);

#endif
