// SPDX-License-Identifier: MIT
// A job that was taken.
#ifndef SLUICE_CLIENT_JOB_H
#define SLUICE_CLIENT_JOB_H

#include "client/queue.h"

#include <stdatomic.h>

// The answer that a job came with, which others may have come with too.
struct batch {
    _Atomic size_t jobs;
    struct sluice_value *answer;
    char worker[SLUICE_NAME_SIZE];
};

// One job less; with the last one it is gone.
void batch_leave(struct batch *batch);

struct sluice_job {
    struct sluice *sluice;
    struct batch *batch;
    const struct sluice_value *value;
    _Atomic int lost; // enum sluice_loss
    _Atomic double expires;
    _Atomic int64_t remaining; // retries, as last known
    struct kept kept;          // by the keeper
};

// Q.NAME jid worker
void job_words(const struct sluice_job *job, struct words *words, const char *name);
// ... TOKEN n
void job_token_words(const struct sluice_job *job, struct words *words);

// Keeps what the status of a call says about the lease, and returns it.
enum sluice_status job_note(struct sluice_job *job, enum sluice_status status);

// What a refusal says about the lease; KEPT when nothing.
enum sluice_loss loss_of(enum sluice_status status);

#endif
