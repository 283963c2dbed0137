// SPDX-License-Identifier: MIT
// Signals that stop what runs in this process: SIGTERM and SIGINT.
#ifndef SLUICE_CLIENT_DRAIN_H
#define SLUICE_CLIENT_DRAIN_H

#include <stdbool.h>

// Handles the signals until drain_end. Returns a descriptor that becomes readable with each of them
// (read it with drain_count), or -1. Several may be open at the same time.
int drain_begin(void);
// How many signals have come to this process so far. What made the descriptor readable is taken.
unsigned drain_count(int fd);
// The signals do again what they did before, once all have ended. -1 is allowed.
void drain_end(int fd);

#endif
