// SPDX-License-Identifier: MIT
// A helper thread that renews the leases of jobs held under one name, and finds out when one is
// lost. It listens to what the queue tells that worker; whatever it hears of a job, a heartbeat
// with the lease's token then decides whether it is still ours.
#ifndef SLUICE_CLIENT_KEEPER_H
#define SLUICE_CLIENT_KEEPER_H

#include <sluice/sluice.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct keeper;

// A job's place with its keeper.
struct kept {
    struct keeper *keeper; // NULL: no keeper keeps it
    struct sluice_job *next, *previous;
    bool listed;     // whether it has one
    uint64_t number; // of all that the keeper ever had
    size_t beat;     // which one of the heartbeats that are under way is its; from 1
    int64_t due_us;  // monotonic: its next heartbeat
    bool settling;   // its holder is about to settle it: what a heartbeat says does not count
    void (*told)(void *context, struct sluice_job *job, enum sluice_loss why);
    void *context;
};

enum sluice_status keeper_add(struct sluice_job *job,
                              void (*told)(void *context, struct sluice_job *job,
                                           enum sluice_loss why),
                              void *context, struct sluice_error *error);

// Whether what heartbeats say of it counts. Without a keeper nothing happens.
void keeper_set_settling(struct sluice_job *job, bool settling);

// From then on the keeper does not know it, and is not telling of it either.
void keeper_remove(struct sluice_job *job);

// All threads end.
void keepers_free(struct sluice *sluice);

#endif
