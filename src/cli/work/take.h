// SPDX-License-Identifier: MIT
// The thread that takes jobs from the queue for the loop.
#ifndef SLUICE_CLI_WORK_TAKE_H
#define SLUICE_CLI_WORK_TAKE_H

#include "cli/core/cli.h"

#include <pthread.h>

struct work;

struct work_taker {
    struct work *work;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    bool stop;                // take no more
    bool ended;               // the thread takes no more
    size_t room, total;       // slots without a job; all slots
    const char **queues;      // in the order of the next take; ends with NULL
    int64_t left;             // jobs still to be taken; below 0: no limit
    struct sluice_job **jobs; // taken, not yet with a slot
    size_t job_count;
    int exit_code;
};

bool work_taker_start(struct work_taker *taker, struct work *work);
// Makes the thread end soon. Called by the loop.
void work_taker_stop(struct work_taker *taker);
void work_taker_join(struct work_taker *taker);
// Tells the thread that one more slot is free.
void work_taker_allow(struct work_taker *taker);
// A job that was taken, or NULL.
struct sluice_job *work_taker_next(struct work_taker *taker);
// Whether no more jobs will come.
bool work_taker_ended(struct work_taker *taker);

// Whether the same call may succeed later: a server is unreachable or starting, a disk is full.
bool work_error_is_temporary(enum sluice_status status);

#endif
