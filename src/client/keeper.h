// SPDX-License-Identifier: MIT
// A helper thread that renews the leases of the jobs of one worker and
// learns when one is lost. It subscribes to the events of the worker. After an event about a job it
// sends a heartbeat with the token of the lease, whose answer tells whether the worker still holds
// the job.
#ifndef SLUICE_CLIENT_KEEPER_H
#define SLUICE_CLIENT_KEEPER_H

#include <sluice/sluice.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct keeper;

// The keeper's part of a job.
struct kept {
    struct keeper *keeper; // NULL: none
    struct sluice_job *next, *previous;
    bool listed;     // in the keeper's list
    uint64_t number; // unique among the jobs of the keeper
    size_t beat;     // its index, from 1, among the heartbeats being sent; 0: none
    int64_t due_us;  // time of its next heartbeat, as monotonic_us
    bool settling;   // a call settles it: the answer of a heartbeat is ignored
    void (*told)(void *context, struct sluice_job *job, enum sluice_loss why);
    void *context;
};

enum sluice_status keeper_add(struct sluice_job *job,
                              void (*told)(void *context, struct sluice_job *job,
                                           enum sluice_loss why),
                              void *context, struct sluice_error *error);

// While `settling` is set, the answers of heartbeats are ignored. No effect without a keeper.
void keeper_set_settling(struct sluice_job *job, bool settling);

// Removes a job from its keeper. Afterwards no callback for the job runs or starts.
void keeper_remove(struct sluice_job *job);

// Ends all threads and frees the keepers.
void keepers_free(struct sluice *sluice);

#endif
