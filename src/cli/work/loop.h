// SPDX-License-Identifier: MIT
// The worker's loop: polls pipes, exits of processes and signals. It never waits for the network.
#ifndef SLUICE_CLI_WORK_LOOP_H
#define SLUICE_CLI_WORK_LOOP_H

#include <stdbool.h>

struct work;

// Wakes the loop. May be called from any thread.
void work_wake(const struct work *work);
// The loop sees SIGTERM, SIGINT and SIGHUP from now on, also if they arrive before it runs.
bool work_signals_catch(const struct work *work);
// Runs until all jobs are settled, or until a second signal makes it hurry. Returns the signal that
// ended it early, otherwise 0.
int work_loop(struct work *work);
// Takes no more jobs, and ends when the running ones have ended.
void work_drain(struct work *work);

#endif
