// SPDX-License-Identifier: MIT
// A process that watches the worker, and ends the processes of its jobs when the worker is killed.
//
//      worker ---- pipe ----> guard           told: the mark of its runs, a process that starts or
//        |                      |             has ended, that the worker ends
//        +-- fork --> process   |
//        x  killed              +--> SIGTERM, after the grace SIGKILL: to the groups of all
//                                    processes that it was told of, and to all processes whose
//                                    variable SLUICE_RUN has the mark
//
// The end of the pipe without a goodbye is the worker's death. The guard has a session of its own
// and ignores the signals that end the worker, so that it outlives a signal to the worker's group.
#ifndef SLUICE_CLI_WORK_GUARD_H
#define SLUICE_CLI_WORK_GUARD_H

#include <stdbool.h>
#include <sys/types.h>

struct work_guard {
    int pipe; // never a standard file; 0: there is none
};

// Starts it. To be called before there are threads, and before files are open whose locks must not
// outlive the worker. False with errno: there is none.
bool work_guard_start(struct work_guard *guard, double grace);

// All of these return whether the guard was told; false also means that it has ended.

// The marks of the worker's runs begin with `prefix`.
bool work_guard_mark(const struct work_guard *guard, const char *prefix);
// A process, which leads a group. Safe between fork and exec: the new process tells it.
bool work_guard_add(const struct work_guard *guard, pid_t pid);
// It has ended and is not yet waited for, so that its number is still its own.
bool work_guard_remove(const struct work_guard *guard, pid_t pid);
// The worker ends by itself: what still runs is left alone.
void work_guard_end(struct work_guard *guard);

#endif
