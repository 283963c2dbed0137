// SPDX-License-Identifier: MIT
// Processes as /proc shows them. A number alone does not name a process: it may be another's by
// now. A process is the one that was noted if it was started at the same tick of the same start of
// the system.
//
// What a process starts in turn is known by its mark: the variable SLUICE_RUN in the environment
// that it was started with. A process of another session or group has it too, but not one that was
// started with an environment of its own, and that of another user cannot be read.
#ifndef SLUICE_CLI_WORK_PROCESS_H
#define SLUICE_CLI_WORK_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// A whole file, for tool_free; NULL: it cannot be read. Also of /proc, whose files have no size.
char *work_file_read(const char *path, size_t *size);

// When a process was started, in ticks since the system's start; 0: there is none, or it has ended.
uint64_t work_process_start(pid_t pid);

// Sends a signal (0: none) to each process whose mark is one of ours; gives how many there are.
size_t work_marked_signal(bool (*is_ours)(const void *context, pid_t pid, const char *mark),
                          const void *context, int signal);

#endif
