// SPDX-License-Identifier: MIT
// Lists of any length, one item at a time: jobs, queues, kinds of failures, workers, recurring jobs.
//
//     struct sluice_list *list;
//     const struct sluice_value *job;
//     enum sluice_status status;
//     sluice_list_open(queue, SLUICE_JOBS, &SLUICE_LIST_OPEN(.state = "failed", .queue = "mail"), &list,
//                      &error);
//     while (!(status = sluice_list_next(list, &job, &error)) && job) {
//         puts(sluice_value_text(sluice_value_get(job, "jid"), NULL));
//     }
//     sluice_list_free(list);
//
// The library fetches a page at a time and keeps only that page. A list is not a snapshot: an item
// that comes, goes or changes its place meanwhile may be in it or not, and every other item is in it
// once. In a list of workers, or of the recurring jobs of one queue, an item may also be missed or
// come twice while others change their places.
#ifndef SLUICE_LIST_H
#define SLUICE_LIST_H

#include <sluice/sluice.h>

#ifdef __cplusplus
extern "C" {
#endif

enum sluice_listed {
    SLUICE_JOBS,      // as in Q.GET, in the order of Q.JOBS
    SLUICE_QUEUES,    // as in Q.QUEUES
    SLUICE_FAILURES,  // the groups of failed jobs, as in Q.FAILURES
    SLUICE_WORKERS,   // as in Q.WORKERS, the one seen last first
    SLUICE_RECURRING, // as in Q.RECURRING
};

struct sluice_list_open_options {
    SLUICE_SIZE_OF(struct sluice_list_open_options);
    // Which jobs. All that are given must hold.
    const char *state; // "waiting", "running", "stalled", "scheduled", "depends", "complete",
                       // "failed"; default: any
    const char *queue; // also of recurring jobs
    const char *klass, *worker, *tag, *domain, *group;
    const char *sort; // of queues, as the SORT of Q.QUEUES; default: as they were first seen
    bool jids;        // of jobs: each item is only the jid, a text
    int64_t data_max; // of jobs: data and results are cut after so many bytes
    int64_t page;     // items that are fetched at a time, at most 1000; default: 100
};
#define SLUICE_LIST_OPEN(...)                                                                      \
    ((struct sluice_list_open_options){ .size = sizeof(struct sluice_list_open_options),           \
                                        __VA_ARGS__ })

struct sluice_list;

// Begins a list. `options` may be NULL. Asks nothing yet: what the queue refuses, the first
// sluice_list_next returns. INVALID: an option is not for what is listed.
SLUICE_API enum sluice_status sluice_list_open(struct sluice *sluice, enum sluice_listed what,
                                               const struct sluice_list_open_options *options,
                                               struct sluice_list **out,
                                               struct sluice_error *error);
// Returns the next item, or NULL at the end. The item is valid until the next call. After a call that
// failed, the next call asks for the same page again.
SLUICE_API enum sluice_status sluice_list_next(struct sluice_list *list,
                                               const struct sluice_value **out,
                                               struct sluice_error *error);
// Call it before sluice_close. May be NULL.
SLUICE_API void sluice_list_free(struct sluice_list *list);

#ifdef __cplusplus
}
#endif

#endif
