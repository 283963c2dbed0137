// SPDX-License-Identifier: MIT
// `sluice work`: takes jobs and has a program do them.
//
//      taker's thread            the loop (work_loop.c)                reporters' threads
//      sluice_take ---> jobs --> slot: child, its lines, its end ---> sluice_start, progress,
//           ^                     |                                   done, fail, retry
//           +------- room --------+<------------ settled ------------------+
//
// A slot has one job at a time and a process for it (work_child.h): of its own (work_fork.c), or
// one that lives on (work_pool.c). Only the loop touches slots, and it never waits for the network;
// calls that may are made by threads. While a job is with a slot, its reporter alone makes calls
// about it, in the order in which they were asked for.
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
    int64_t jobs, pool, max_jobs, count;
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

// ---------------------------------------------------------------------------------------------
// work_slot.c: a job and its process

enum work_slot_state {
    WORK_SLOT_FREE,     // has no job
    WORK_SLOT_RESTING,  // has none and takes none: its process died, and is not yet started again
    WORK_SLOT_RUNNING,  // its program is at it
    WORK_SLOT_SETTLING, // its end is being told
};

// Why a process is being ended.
enum work_ending {
    WORK_ENDING_NONE,
    WORK_ENDING_LOST,     // the job is not ours any more
    WORK_ENDING_TIMEOUT,  // ran too long
    WORK_ENDING_RETURN,   // the worker ends
    WORK_ENDING_PROTOCOL, // a process of a pool answered with something else
};

struct work_slot {
    struct work *work;
    size_t index;
    enum work_slot_state state;
    struct sluice_job *job;
    char *jid;
    double began;   // when it came to its process; 0: it is with none
    double tell_at; // then the queue is told which process does it; 0: it was, or need not be
    enum work_ending ending;
    struct work_child child;
    bool retiring;  // of a pool: the process gets no more jobs, and is to end by itself
    bool termed;    // SIGTERM was sent
    double kill_at; // then SIGTERM, or SIGKILL if that was sent; 0: never
    char *mark;     // of the process: the value of SLUICE_RUN
    char *sandbox;  // or NULL
    struct work_lines errors;
    struct work_tail tail; // what it wrote to standard error since the last job's end
    // Standard output: of a process a job as bytes, of one in a pool as lines.
    struct work_output output;
    struct work_lines answers;
    char *wrong; // of WORK_ENDING_PROTOCOL: what was
    // A pool's line for the process, as far as it was not yet written.
    char *input;
    size_t input_size, input_sent;
    int64_t jobs_done;
    int crashes;       // in a row
    double rest_until; // of a pool: no process is started before
    // Shared with the reporter.
    atomic_size_t reports; // not yet made
    atomic_bool settled;
    enum work_outcome outcome;
    char *outcome_text; // the reason in words, or NULL
};

// A way to have jobs done.
struct work_model {
    void (*begin)(struct work_slot *slot);    // the job of the slot
    void (*readable)(struct work_slot *slot); // standard output has something, or its end
    void (*writable)(struct work_slot *slot); // standard input has room; may be NULL
    // The process; all it wrote was read, and the other ends of its pipes are closed after.
    void (*ended)(struct work_slot *slot, int status);
    void (*tick)(struct work_slot *slot, double now); // time has gone by; may be NULL
};

extern const struct work_model work_fork_model, work_pool_model;

void work_slot_assign(struct work_slot *slot, struct sluice_job *job);
// Starts a process for the slot, with its job in its environment if `input` is given; otherwise
// child.in is to be written to. False: it could not be started, and was complained about; `error`
// says why.
bool work_slot_spawn(struct work_slot *slot, const char *input, struct work_spawn_error *error);
// The program cannot be started at all: its job, if it has one, is given back, and the worker ends.
void work_slot_unrunnable(struct work_slot *slot);
// Its job is with its process now.
void work_slot_started(struct work_slot *slot);
// Ends its process: SIGTERM now, SIGKILL after the grace.
void work_slot_end(struct work_slot *slot, enum work_ending why);
// What its process wrote to standard error.
void work_slot_errors(struct work_slot *slot);
// Its process has ended.
void work_slot_exited(struct work_slot *slot);
// What becomes of a job whose process was being ended for a reason; NONE: there was no reason.
struct work_verdict work_slot_verdict(struct work_slot *slot);
// The job's end is told; from then on the slot is settling. `verdict` is taken over.
void work_slot_settle(struct work_slot *slot, struct work_verdict verdict);
// After its end was told: the slot is free, or rests.
void work_slot_settled(struct work_slot *slot, double now);
void work_slot_tick(struct work_slot *slot, double now);
// When it wants to be looked at again; 0: never.
double work_slot_due(const struct work_slot *slot);

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
