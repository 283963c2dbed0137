// SPDX-License-Identifier: MIT
// A workload (workload.h) on a store, under the tap: what the crash tests cut into pieces. The same
// seed makes the same calls and options; how the store's threads meet is another matter, so the
// trace is what a failure is replayed from.
#ifndef SLUICE_TESTS_CRASH_RUN_H
#define SLUICE_TESTS_CRASH_RUN_H

#include "trace.h"
#include "workload.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    RUN_PATH_SIZE = 256,
};

// The marks in the trace; each with a step.
enum run_mark {
    RUN_SUBMITTED,    // given to the store
    RUN_ACKNOWLEDGED, // said to be durable
    RUN_CERTAIN,      // on disk, whatever the durability: after a checkpoint or a close
    RUN_BACKUP_FROM,  // a backup has been made of this step
    RUN_BACKUP_TO,    // or any up to this one
    RUN_BACKUP_GONE,  // is about to be removed
};

struct run {
    uint64_t seed;
    struct trace trace;
    struct workload *workload;
};

// Options for a store in `path`, drawn from the seed: small segments, checkpoints all the time.
struct store_options run_options(uint64_t seed, const char *path);
const char *run_durability(uint64_t seed);

// The steps that a seed makes, without a store: of a run, or a number of them.
void run_replay(struct run *run, uint64_t seed);
struct workload *run_steps(uint64_t seed, size_t steps);

// Makes the folders `store` and `backup` in `folder`, which is empty. `left_out` names files that
// are not synced (tap_leave_out_syncs), or is NULL. False: it did not go as it should, with a line
// on stdout.
bool run_record(struct run *run, uint64_t seed, const char *folder, const char *left_out);
void run_release(struct run *run);

// ---------------------------------------------------------------------------------------------
// A store that was opened, and the engine it gave

struct opened {
    struct store *store;
    struct rebuild rebuild;
};

// What the stores of this process said last, a line each behind `# `.
void run_print_log(void);

// False: it did not open, or what it holds makes no engine; `why` (512 bytes) says so.
bool run_open(struct opened *opened, const struct store_options *options, char *why);
bool run_close(struct opened *opened, char *why);

// The last of the steps from..to after which the engine was what this one is; SIZE_MAX: none.
size_t run_find_step(const struct workload *workload, const struct engine *engine, size_t from,
                     size_t to);

// Makes some steps with the engine, which is the workload's from now on. Each is durable; marks say
// so if a tap records.
bool run_go_on(struct opened *opened, uint64_t seed, size_t steps, struct workload **out,
               char *why);

// Compares an engine with the steps from..to, and says in `why` which it is if it is none of them.
bool run_is_step(const struct workload *workload, const struct engine *engine, size_t from,
                 size_t to, char *why);

#endif
