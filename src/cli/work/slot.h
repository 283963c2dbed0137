// SPDX-License-Identifier: MIT
// A slot has one job at a time, from the moment in which it is taken until it is settled.
//
//     FREE --assign--> RUNNING --settle--> SETTLING --settled--> FREE or RESTING
//                                                      RESTING --the next process starts--> FREE
//
// Only the loop uses slots, except for the fields that the reporter shares.
#ifndef SLUICE_CLI_WORK_SLOT_H
#define SLUICE_CLI_WORK_SLOT_H

#include "cli/core/cli.h"
#include "cli/work/verdict.h"

#include <stdatomic.h>

struct work;
struct work_runner;

enum work_slot_state {
    WORK_SLOT_FREE,     // has no job
    WORK_SLOT_RESTING,  // has no job, and takes none until the runner starts its next process
    WORK_SLOT_RUNNING,  // a process runs its job
    WORK_SLOT_SETTLING, // the reporter is sending the verdict
};

// Why a job is being ended.
enum work_ending {
    WORK_ENDING_NONE,
    WORK_ENDING_LOST,    // the worker has lost the lease
    WORK_ENDING_TIMEOUT, // the job ran longer than --run-timeout
    WORK_ENDING_RETURN,  // the worker ends
};

struct work_slot {
    struct work *work;
    struct work_runner *runner;
    size_t index;
    enum work_slot_state state;
    struct sluice_job *job;
    char *jid;
    double began;   // when the process got the job; 0: no process has it
    double tell_at; // when to report which process runs the job; 0: reported, or not needed
    enum work_ending ending;
    double end_by; // the process was asked to stop the job, and is ended then; 0: it was not asked
    char *sandbox; // of a job with a process of its own; or NULL
    uint64_t
        line_at; // of a pool: where the job's line begins in all that was written to the process
    // Shared with the reporter.
    atomic_size_t reports; // not yet sent
    atomic_bool settled;
    enum work_outcome outcome;
    char *outcome_text; // the reason in words, or NULL
};

void work_slot_assign(struct work_slot *slot, struct sluice_job *job);
// Whether it has a job.
bool work_slot_taken(const struct work_slot *slot);
// Whether its job runs and is not being ended.
bool work_slot_runs(const struct work_slot *slot);
// The process has got the job; the process no longer has it.
void work_slot_started(struct work_slot *slot);
void work_slot_taken_back(struct work_slot *slot);
// Ends its job: through the model if the model can stop a job, otherwise with its process.
void work_slot_end(struct work_slot *slot, enum work_ending why);
// The verdict about a job that was being ended for a reason; NONE when there was no reason.
struct work_verdict work_slot_verdict(struct work_slot *slot);
// Reports the end of the job; the slot is settling from then on. Takes over `verdict`.
void work_slot_settle(struct work_slot *slot, struct work_verdict verdict);
// After the end was reported: the slot becomes free, or rests.
void work_slot_settled(struct work_slot *slot, double now);
void work_slot_tick(struct work_slot *slot, double now);
// When work_slot_tick is due next; 0: never.
double work_slot_due(const struct work_slot *slot);

#endif
