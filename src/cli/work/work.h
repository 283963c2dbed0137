// SPDX-License-Identifier: MIT
// `sluice work`: takes jobs and runs a program for each of them.
//
//      taker's thread               the loop (loop.h)              reporters' threads
//      sluice_take ---> jobs --> slot, runner: lines, the end -----> sluice_start, progress,
//           ^                     |                                   done, fail, retry
//           +------- room --------+<------------ settled ------------------+
//
// Only the loop uses slots and runners, and it never waits for the network: threads make the calls
// that may wait. While a slot has a job, only its reporter makes calls about the job, in the order
// in which they were requested.
#ifndef SLUICE_CLI_WORK_WORK_H
#define SLUICE_CLI_WORK_WORK_H

#include "cli/core/cli.h"
#include "cli/work/child.h"
#include "cli/work/guard.h"
#include "cli/work/orphans.h"
#include "cli/work/report.h"
#include "cli/work/runner.h"
#include "cli/work/slot.h"
#include "cli/work/status.h"
#include "cli/work/take.h"
#include "cli/work/verdict.h"

#include <stdatomic.h>

struct work_options {
    struct texts queues;
    bool round_robin, best;
    double lease;
    int64_t jobs, pool, per_process, max_jobs, count;
    bool fork, once, drain;
    double wait;
    const char *name;
    double run_timeout, grace, drain_timeout;
    const char *group;
    struct texts retry_on, fail_on;
    const char *result_max, *message_max;
    const char *sandbox;
    bool keep_failed;
    double limit_cpu;
    const char *limit_memory, *limit_file_size;
    int64_t limit_files, nice;
    const char *state;
    bool raw, pass_url, quiet, verbose;
};

struct work {
    const struct tool *tool;
    const struct work_options *options;
    struct sluice *queue;
    const char *worker;
    const struct work_model *model;
    char *program;    // its absolute path
    char **arguments; // with its name; ends with NULL
    char *child_url;  // without its password, unless --pass-url is given
    char *sandbox;    // the absolute path of the folder of sandboxes; or NULL
    struct work_limits limits;
    struct work_verdict_rules rules;
    uint64_t result_max, message_max;
    struct work_status status;
    struct work_orphans orphans;
    struct work_guard guard;
    bool unguarded; // the guard has ended, and the user was told
    struct work_taker taker;
    struct work_reporter *reporters;
    size_t reporter_count;
    struct work_slot *slots;
    size_t slot_count;
    struct work_runner *runners;
    size_t runner_count;
    int wake;           // an eventfd: another thread has changed something
    bool draining;      // no more jobs are started
    double drain_until; // while draining: when processes are ended; 0: never, or already done
    double hurry_at;    // while they are being ended: when `hurry` is set; 0: never
    atomic_bool hurry;  // calls and processes are no longer waited for
    double hurry_until; // when the loop ends, whatever is left
    bool abandoned;     // something was left
    bool closing;       // all jobs have ended, and the processes of the pool are to end
    bool unrunnable;    // the program cannot be run at all
    size_t marks;       // given out so far
};

#endif
