// SPDX-License-Identifier: MIT
// A process that does jobs: started with its limits in a session of its own, and ended with all
// that it has started there.
#ifndef SLUICE_CLI_WORK_CHILD_H
#define SLUICE_CLI_WORK_CHILD_H

#include "cli/work/guard.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// 0: none. Sizes are in bytes.
struct work_limits {
    uint64_t cpu_s, memory, files, file_size;
    uint64_t files_soft; // without a limit on files: the soft one
    int nice;
};

struct work_child {
    pid_t pid;        // and of its session and group; 0: there is none
    int pidfd;        // readable when it has ended
    int in, out, err; // our ends; -1: closed
};

// All are borrowed for the call.
struct work_spawn {
    const char *program;    // its path from the root
    char *const *arguments; // with its name; ends with NULL
    char *const *environment;
    const char *folder; // where it starts; NULL: where we are
    const struct work_limits *limits;
    // What it reads: these bytes; or NULL, and child->in is the end of a pipe to write to.
    const char *input;
    size_t input_size;
    const struct work_guard *guard; // is told of it; NULL: there is none
};

// The first step that failed, and its errno.
struct work_spawn_error {
    const char *step;
    int error;
};

// Starts a process; our ends do not block. False: there is none.
bool work_child_spawn(const struct work_spawn *spawn, struct work_child *child,
                      struct work_spawn_error *error);

// Whether the program cannot be started now or later, for no job.
bool work_spawn_is_for_good(const struct work_spawn_error *error);

// To it and all of its group.
void work_child_signal(const struct work_child *child, int signal);
// It has ended: ends the rest of its group, and gives how it ended as waitpid says it. What it
// wrote can still be read.
int work_child_reap(struct work_child *child);
// Closes our ends.
void work_child_close(struct work_child *child);
void work_child_close_fd(int *fd);

// An environment: first what is added, then ours without the names that are left out. Both lists
// end with NULL. For work_environment_free.
char **work_environment_make(char *const *added, const char *const *left_out);
void work_environment_free(char **environment);

// The path of a program from the root, as a shell finds it; for tool_free. NULL with errno.
char *work_program_find(const char *name);

// "512", "64k", "1.5G": bytes.
bool work_size_parse(const char *text, uint64_t *out);

#endif
