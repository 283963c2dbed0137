// SPDX-License-Identifier: MIT
// A job that was taken.
#ifndef SLUICE_CLIENT_JOB_H
#define SLUICE_CLIENT_JOB_H

#include "client/queue.h"

#include <stdatomic.h>

// An answer with one or more jobs. It is shared by their handles.
struct batch {
    _Atomic size_t jobs;
    struct sluice_value *answer;
    char worker[SLUICE_NAME_SIZE];
};

// Releases one job's share of a batch. The last one frees it.
void batch_leave(struct batch *batch);

struct sluice_job {
    struct sluice *sluice;
    struct batch *batch;
    const struct sluice_value *value;
    _Atomic int lost; // enum sluice_loss
    _Atomic double expires;
    _Atomic int64_t remaining; // retries, as last known
    struct kept kept;          // the keeper's part
};

// Q.NAME jid worker
void job_words(const struct sluice_job *job, struct words *words, const char *name);
// ... TOKEN n
void job_token_words(const struct sluice_job *job, struct words *words);

// Records what the status of a call tells about the lease. Returns the status.
enum sluice_status job_note(struct sluice_job *job, enum sluice_status status);

// What a refusal tells about the lease; KEPT: nothing.
enum sluice_loss loss_of(enum sluice_status status);

#endif
