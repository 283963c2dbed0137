// SPDX-License-Identifier: MIT
// Where a job goes when it comes into a queue; what put shares with complete, retry and unfail.
#ifndef SLUICE_ENGINE_PUT_H
#define SLUICE_ENGINE_PUT_H

#include "engine/engine.h"

struct queue;

// Whether these may be the words of a job.
MUST_USE enum status put_check(const struct engine *engine, struct slice queue, struct slice jid,
                               struct slice klass, struct slice data, struct error *error);
MUST_USE enum status delay_check(int64_t now_us, int64_t delay_us, struct error *error);

// Puts a job that is in no index, but has its queue and its dependencies, where it belongs.
void place_job(struct engine *engine, struct job *job, int64_t now_us, int64_t delay_us);

// Makes `queue` the queue of a job that is in no index and is to be in it, not complete.
void job_move_to(struct engine *engine, struct job *job, struct queue *queue);

// Moves a job that is neither running nor complete into a queue, or a failed one into its own:
// unfail, and bulk acts. One that is scheduled or depends keeps its time; one that gave up its lock
// takes it again. NO_MEMORY, or EXISTS when another job holds the lock: then nothing has changed.
MUST_USE enum status job_requeue(struct engine *engine, int64_t now_us, struct job *job,
                                 struct queue *queue, struct error *error);

// Forgets the job's failure and result.
void job_forget_outcome(struct engine *engine, struct job *job);

#endif
