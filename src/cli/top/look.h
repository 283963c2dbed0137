// SPDX-License-Identifier: MIT
// A look at a queue: what `sluice top` shows of it, as it was at one moment.
//
// What is asked for costs the server the same however many jobs there are: counts, which it keeps,
// and pages of lists. What costs a request of its own for each row (the newest failure of a group)
// is asked only for the rows that are shown.
//
// A look owns all its texts and does not change. It can be made by hand, as the tests do.
#ifndef SLUICE_CLI_TOP_LOOK_H
#define SLUICE_CLI_TOP_LOOK_H

#include <sluice/sluice.h>

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct look_queue {
    const char *name;
    int64_t waiting, running, scheduled, stalled, depends;
    bool paused;
    bool seen; // what follows was asked for
    int64_t failed;
    double in, out; // jobs put and popped a second, over the last minute
    bool in_sight;  // its row is shown
};

// Texts are never NULL here, but empty. Moments are by the server's clock; 0: none.
struct look_job {
    const char *jid, *klass, *queue, *state, *stage, *worker, *message;
    const char *failure; // the message of its failure
    double since;        // when it came into this state
    double expires;      // the lease
    double fraction;     // of its progress; below 0: none
    int64_t token;       // of the lease
};

struct look_group {
    const char *name;
    int64_t count;
    bool seen; // what follows was asked for
    const char *jid, *message;
    double when;
};

struct look_worker {
    const char *name;
    int64_t running, expired; // of these: whose lease has expired
    double seen;
    bool offline;
};

// A label and a text, of the details of a job.
struct look_line {
    const char *label, *text;
};

struct look_totals {
    int64_t waiting, running, scheduled, stalled, depends, failed, complete;
    double in, out;
};

enum look_list {
    LIST_NONE,
    LIST_QUEUE,  // jobs of a queue
    LIST_GROUP,  // that have failed in a group
    LIST_WORKER, // that a worker holds
};

// In which order the queues are.
enum look_sort {
    SORT_SEEN, // when they were first seen
    SORT_NAME,
    SORT_WAITING, // from here on the largest first
    SORT_RUNNING,
    SORT_STALLED,
    SORT_FAILED,
    SORT_AGE, // of the oldest job in line
    SORT_PUT,
    SORT_COMPLETED,
    SORT_COUNT,
};

// The first `count` rows behind the first `first` ones.
struct look_window {
    size_t first, count;
};

enum {
    LOOK_FILTER_SIZE = 64,
};

// What is shown at present. All zeros: what is shown at first.
struct look_wish {
    char filter[LOOK_FILTER_SIZE]; // only rows that have it in them
    struct look_window queues, running, groups, workers, jobs;
    enum look_list list;
    char name[SLUICE_NAME_SIZE]; // whose jobs
    char jid[SLUICE_NAME_SIZE];  // the job whose details are seen; "": none
    bool explain;                // only why it is not running
    enum look_sort sort;         // of the queues
};

// The word of Q.QUEUES.
const char *look_sort_word(enum look_sort sort);

struct look {
    struct sluice_error error; // when not OK, there is nothing else in it
    struct look_wish wish;     // what was wished for
    const char *server;        // "sluiced 0.1.0"
    double when;               // by our clock
    double ahead;              // so much the server's clock is before ours
    struct look_totals totals;
    struct look_queue *queues;
    size_t queue_count;
    struct look_job *running; // the longest first; perhaps not all
    size_t running_count;
    struct look_group *groups; // the largest first
    size_t group_count;
    struct look_worker *workers; // perhaps not all
    size_t worker_count, worker_total;
    struct look_job *jobs; // of the list that was wished
    size_t job_count, job_total;
    struct look_line *lines; // of the job that was wished
    size_t line_count;
    struct look_chunk *chunks; // where all of it lies
};

// Looks. Once `stop` is set it asks no more, and ends with SLUICE_INTERRUPTED.
struct look *look_take(struct sluice *queue, const struct look_wish *wish, const atomic_bool *stop);
void look_free(struct look *look); // may be NULL

// Memory that lives as long as the look.
void *look_allocate(struct look *look, size_t size); // zeros
const char *look_copy(struct look *look, const char *text);
__attribute__((format(printf, 2, 3))) const char *look_format(struct look *look, const char *format,
                                                              ...);

// Whether one of the texts has the filter in it, in whatever case.
bool look_matches(const char *filter, const char *const *texts, size_t count);
bool look_queue_matches(const struct look_queue *queue, const char *filter);
bool look_group_matches(const struct look_group *group, const char *filter);

// Whether it has the jobs, the details that a wish asks for, rather than those of an earlier one.
bool look_has_jobs(const struct look *look, const struct look_wish *wish);
bool look_has_lines(const struct look *look, const struct look_wish *wish);

#endif
