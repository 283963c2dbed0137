// SPDX-License-Identifier: MIT
// A runner has a process (child.h) and the slots whose jobs the process runs: one slot and a process
// for each job (fork.c), or one or more slots and a process that runs many jobs (pool.c). Only the
// loop uses runners.
#ifndef SLUICE_CLI_WORK_RUNNER_H
#define SLUICE_CLI_WORK_RUNNER_H

#include "cli/core/cli.h"
#include "cli/work/child.h"
#include "cli/work/lines.h"
#include "cli/work/verdict.h"

struct work;
struct work_slot;

// What is still to be written to the process of a pool.
struct work_input {
    char *data;
    size_t size, sent, capacity;
    uint64_t written; // in all, to this process
};

struct work_runner {
    struct work *work;
    size_t index;
    struct work_slot *slots; // borrowed
    size_t slot_count;
    struct work_child child;
    bool termed;    // SIGTERM was sent
    double kill_at; // when to send SIGTERM, or SIGKILL if SIGTERM was sent; 0: never
    char *mark;     // of the process: the value of SLUICE_RUN
    struct work_lines errors;
    struct work_tail tail; // of standard error, since the process last had no job
    // Standard output: bytes for a process of one job, lines for a process of a pool.
    struct work_output output;
    struct work_lines answers;
    // The remaining fields are used by pools.
    struct work_input input;
    bool full;     // the process gets no more jobs
    bool retiring; // its input is closed: it is expected to end by itself
    char *wrong;   // what was wrong with an invalid answer; or NULL
    char *sandbox; // the folder of the process; or NULL
    bool keeps;    // that folder is kept
    int64_t jobs_given;
    int crashes;       // in a row
    double rest_until; // no process is started before
};

// The two ways to run jobs.
struct work_model {
    void (*begin)(struct work_slot *slot);        // starts the slot's job
    void (*readable)(struct work_runner *runner); // standard output has bytes, or has ended
    void (*writable)(struct work_runner *runner); // standard input has room; may be NULL
    // Stops one job and not the whole process; false: the process cannot do that. May be NULL.
    bool (*stop)(struct work_slot *slot);
    // The process has ended and all its output was read. The pipes are closed afterwards.
    void (*ended)(struct work_runner *runner, int status);
    void (*tick)(struct work_runner *runner, double now); // may be NULL
};

extern const struct work_model work_fork_model, work_pool_model;

// The number of slots for which `test` is true.
size_t work_runner_count(const struct work_runner *runner, bool (*test)(const struct work_slot *));
// Starts a process. With a slot, the process gets the slot's job in its environment and `input` to
// read. Without one, the caller writes to child.in. False: the process could not be started and the
// user was told; `error` says why.
bool work_runner_spawn(struct work_runner *runner, const struct work_slot *slot, const char *input,
                       size_t input_size, struct work_spawn_error *error);
// The program cannot be started at all: its jobs are returned to the queue, and the worker ends.
void work_runner_unrunnable(struct work_runner *runner);
// Ends its process: SIGTERM now, SIGKILL after the grace.
void work_runner_end(struct work_runner *runner);
// Sends a signal to all processes of the run: the group, and those that have left it.
void work_runner_signal(const struct work_runner *runner, int signal);
// Reads what its process wrote to standard error.
void work_runner_errors(struct work_runner *runner);
// Its process has ended.
void work_runner_exited(struct work_runner *runner);
void work_runner_tick(struct work_runner *runner, double now);
// When work_runner_tick is due next; 0: never.
double work_runner_due(const struct work_runner *runner);

#endif
