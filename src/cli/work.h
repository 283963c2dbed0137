// SPDX-License-Identifier: MIT
// `sluice work`: takes jobs and has a program do them.
//
//      taker's thread            the loop (work_loop.c)                reporters' threads
//      sluice_take ---> jobs --> slot, runner: lines, the end -----> sluice_start, progress,
//           ^                     |                                   done, fail, retry
//           +------- room --------+<------------ settled ------------------+
//
// A slot has one job at a time. A runner has a process (work_child.h) and the slots whose jobs that
// does: one slot and a process for each job (work_fork.c), or one or more slots and a process that
// lives on (work_pool.c). Only the loop touches slots and runners, and it never waits for the
// network; calls that may are made by threads. While a job is with a slot, its reporter alone makes
// calls about it, in the order in which they were asked for.
#ifndef SLUICE_CLI_WORK_H
#define SLUICE_CLI_WORK_H

#include "cli/cli.h"
#include "cli/work_child.h"
#include "cli/work_guard.h"
#include "cli/work_lines.h"
#include "cli/work_orphans.h"
#include "cli/work_status.h"
#include "cli/work_verdict.h"

#include <pthread.h>
#include <stdatomic.h>

struct work_options {
    struct texts queues;
    bool round_robin;
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
    bool pass_url, quiet, verbose;
};

struct work;
struct work_runner;
struct work_slot;

// ---------------------------------------------------------------------------------------------
// work_take.c: jobs come in

struct work_taker {
    struct work *work;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    bool stop;                // take no more
    bool ended;               // the thread takes no more
    size_t room, total;       // slots that have none; all
    const char **queues;      // in the order of the next take; ends with NULL
    int64_t left;             // jobs still to be taken; below 0: any number
    struct sluice_job **jobs; // taken, not yet with a slot
    size_t job_count;
    int exit_code;
};

bool work_taker_start(struct work_taker *taker, struct work *work);
// Ends it soon. From the loop.
void work_taker_stop(struct work_taker *taker);
void work_taker_join(struct work_taker *taker);
// One more slot is free.
void work_taker_allow(struct work_taker *taker);
// A job that was taken; NULL: none.
struct sluice_job *work_taker_next(struct work_taker *taker);
// Whether nothing more will come.
bool work_taker_ended(struct work_taker *taker);
// Whether the same call may go well later: a server that is away or starts, a disk that is full.
bool work_passes(enum sluice_status status);

// ---------------------------------------------------------------------------------------------
// work_report.c: what is told about a job

enum work_report_kind {
    WORK_REPORT_START,
    WORK_REPORT_PROGRESS,
    WORK_REPORT_LOG,
    WORK_REPORT_CHECKPOINT,
    WORK_REPORT_VERDICT, // the last one about a job, which is freed
    WORK_REPORT_FOLDER,  // not about a job: a folder that a process has left is removed
};

struct work_report {
    struct work_report *next;
    struct work_slot *slot;
    struct sluice_job *job;
    enum work_report_kind kind;
    int64_t pid;
    double fraction;
    char *text; // owned; or NULL
    struct work_verdict verdict;
};

struct work_reporter {
    struct work *work;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    struct work_report *first, **last;
    bool stop;
};

bool work_reporters_start(struct work *work);
// Waits until all is told.
void work_reporters_join(struct work *work);
void work_report_start(struct work_slot *slot, int64_t pid);
void work_report_line(struct work_slot *slot, const struct work_line *line);
// The last one. `verdict` is taken over.
void work_report_verdict(struct work_slot *slot, struct work_verdict verdict);
// Removes the folder of a process that has ended. `folder` is taken over.
void work_report_folder(struct work_slot *slot, char *folder);

// ---------------------------------------------------------------------------------------------
// work_slot.c: a job

enum work_slot_state {
    WORK_SLOT_FREE,     // has no job
    WORK_SLOT_RESTING,  // has none and takes none until the runner starts its next process
    WORK_SLOT_RUNNING,  // its program is at it
    WORK_SLOT_SETTLING, // its end is being told
};

// Why a job is being ended.
enum work_ending {
    WORK_ENDING_NONE,
    WORK_ENDING_LOST,    // the job is not ours any more
    WORK_ENDING_TIMEOUT, // ran too long
    WORK_ENDING_RETURN,  // the worker ends
};

struct work_slot {
    struct work *work;
    struct work_runner *runner;
    size_t index;
    enum work_slot_state state;
    struct sluice_job *job;
    char *jid;
    double began;   // when it came to its process; 0: it is with none
    double tell_at; // then the queue is told which process does it; 0: it was, or need not be
    enum work_ending ending;
    double end_by; // its process was asked to stop the job, and is itself ended then; 0: it was not
    char *sandbox; // of a process a job; or NULL
    uint64_t line_at; // of a pool: where its line begins in all that its process was written
    // Shared with the reporter.
    atomic_size_t reports; // not yet made
    atomic_bool settled;
    enum work_outcome outcome;
    char *outcome_text; // the reason in words, or NULL
};

void work_slot_assign(struct work_slot *slot, struct sluice_job *job);
// Whether it has a job.
bool work_slot_taken(const struct work_slot *slot);
// Whether its job runs, and nothing is to end it.
bool work_slot_runs(const struct work_slot *slot);
// Its job is with its process now, or is not any more.
void work_slot_started(struct work_slot *slot);
void work_slot_taken_back(struct work_slot *slot);
// Ends its job: by the model, or with its process.
void work_slot_end(struct work_slot *slot, enum work_ending why);
// What becomes of a job that was being ended for a reason; NONE: there was no reason.
struct work_verdict work_slot_verdict(struct work_slot *slot);
// The job's end is told; from then on the slot is settling. `verdict` is taken over.
void work_slot_settle(struct work_slot *slot, struct work_verdict verdict);
// After its end was told: the slot is free, or rests.
void work_slot_settled(struct work_slot *slot, double now);
void work_slot_tick(struct work_slot *slot, double now);
// When it wants to be looked at again; 0: never.
double work_slot_due(const struct work_slot *slot);

// ---------------------------------------------------------------------------------------------
// work_runner.c: a process and the slots whose jobs it does

// Bytes for the process of a pool, as far as they were not yet written.
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
    double kill_at; // then SIGTERM, or SIGKILL if that was sent; 0: never
    char *mark;     // of the process: the value of SLUICE_RUN
    struct work_lines errors;
    struct work_tail tail; // what it wrote to standard error since it last had no job
    // Standard output: of a process a job as bytes, of one in a pool as lines.
    struct work_output output;
    struct work_lines answers;
    // The rest is of a pool.
    struct work_input input;
    bool full;     // the process gets no more jobs
    bool retiring; // its input is closed: it is to end by itself
    char *wrong;   // it answered with something else: what was wrong; or NULL
    char *sandbox; // the folder of the process; or NULL
    bool keeps;    // that folder is kept
    int64_t jobs_given;
    int crashes;       // in a row
    double rest_until; // no process is started before
};

// A way to have jobs done.
struct work_model {
    void (*begin)(struct work_slot *slot);        // its job
    void (*readable)(struct work_runner *runner); // standard output has something, or its end
    void (*writable)(struct work_runner *runner); // standard input has room; may be NULL
    // Has the job stopped, and not its whole process; false: it cannot. May be NULL.
    bool (*stop)(struct work_slot *slot);
    // The process; all it wrote was read, and the other ends of its pipes are closed after.
    void (*ended)(struct work_runner *runner, int status);
    void (*tick)(struct work_runner *runner, double now); // time has gone by; may be NULL
};

extern const struct work_model work_fork_model, work_pool_model;

// For how many of its slots a test holds.
size_t work_runner_count(const struct work_runner *runner, bool (*test)(const struct work_slot *));
// Starts a process. With a job it has that in its environment and `input` to read; without, its
// child.in is to be written to. False: it could not be started, and was complained about; `error`
// says why.
bool work_runner_spawn(struct work_runner *runner, const struct work_slot *slot, const char *input,
                       struct work_spawn_error *error);
// The program cannot be started at all: its jobs are given back, and the worker ends.
void work_runner_unrunnable(struct work_runner *runner);
// Ends its process: SIGTERM now, SIGKILL after the grace.
void work_runner_end(struct work_runner *runner);
// To all processes of the run: the group, and those that have left it.
void work_runner_signal(const struct work_runner *runner, int signal);
// What its process wrote to standard error.
void work_runner_errors(struct work_runner *runner);
// Its process has ended.
void work_runner_exited(struct work_runner *runner);
void work_runner_tick(struct work_runner *runner, double now);
// When it wants to be looked at again; 0: never.
double work_runner_due(const struct work_runner *runner);

// ---------------------------------------------------------------------------------------------
// The whole

struct work {
    const struct tool *tool;
    const struct work_options *options;
    struct sluice *queue;
    const char *worker;
    const struct work_model *model;
    char *program;    // its path from the root
    char **arguments; // with its name; ends with NULL
    char *child_url;  // without its password, unless it is to be passed on
    char *sandbox;    // where folders for jobs are made, from the root; or NULL
    struct work_limits limits;
    struct work_verdict_rules rules;
    uint64_t result_max, message_max;
    struct work_status status;
    struct work_orphans orphans;
    struct work_guard guard;
    bool unguarded; // the guard has ended, which was said
    struct work_taker taker;
    struct work_reporter *reporters;
    size_t reporter_count;
    struct work_slot *slots;
    size_t slot_count;
    struct work_runner *runners;
    size_t runner_count;
    int wake;           // an eventfd: something happened that poll does not see
    bool draining;      // nothing more is begun
    double drain_until; // while draining: then processes are ended; 0: never, or they were
    double hurry_at;    // while they are being ended: then hurry; 0: never
    atomic_bool hurry;  // do not wait for anybody
    double hurry_until; // then end, whatever is left
    bool abandoned;     // something was
    bool closing;       // all jobs have ended; so are the processes of the pool to
    bool unrunnable;    // the program cannot be run at all
    size_t marks;       // given out so far
};

// Wakes the loop. From any thread.
void work_wake(const struct work *work);
double work_now(void); // a clock that only goes forward
// A thread that is not bothered with signals.
bool work_thread_start(pthread_t *thread, void *(*run)(void *context), void *context);
// From now on the loop sees SIGTERM, SIGINT and SIGHUP, also if they come before it runs.
bool work_signals_catch(const struct work *work);
// Until all is done, or somebody is in a hurry. Gives the signal that ended it before all was done,
// otherwise 0.
int work_loop(struct work *work);
// Takes no more, and ends when what runs has ended.
void work_drain(struct work *work);

#endif
