// SPDX-License-Identifier: MIT
// A sluiced as a child of the test: started on a port that the system picks, heard on its standard
// error, stopped or killed. It dies with the test.
#ifndef SLUICE_TESTS_SERVER_PROCESS_H
#define SLUICE_TESTS_SERVER_PROCESS_H

#include "base/buffer.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum {
    PROCESS_WAIT_MS = 60000, // longer than that is taken for never
    PROCESS_FLAGS_MAX = 16,
};

struct process {
    pid_t pid;         // 0: not running
    int log_fd;        // to read from
    struct buffer log; // owned: what it said since it was started
    uint16_t port;
    int64_t started_us; // just before it came to be
};

void process_init(struct process *process);
void process_release(struct process *process);

// Flags are words, ended by NULL. It comes to be with small files, so that it starts quickly.
void process_start(struct process *process, const char *program, const char *data,
                   const char *const *flags);

// Waits until it listens; false when it ended before.
bool process_ready(struct process *process);

// Takes what it has said, so that it never waits for us.
void process_hear(struct process *process);

// Ends it; gives when it was surely dead.
int64_t process_kill(struct process *process);

// Waits until it ends by itself; gives its exit code, or fails.
int process_wait(struct process *process);

// Microseconds, by the clock that the server goes by.
int64_t now_us(void);

#endif
