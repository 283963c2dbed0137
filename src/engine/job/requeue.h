// SPDX-License-Identifier: MIT
// Moving a job that is neither running nor complete into a queue, as unfail and bulk operations do.
#ifndef SLUICE_ENGINE_JOB_REQUEUE_H
#define SLUICE_ENGINE_JOB_REQUEUE_H

#include "engine/engine.h"

struct queue;

// Moves the job into a queue; a failed job may move into its own. A scheduled or depending job
// keeps its time. A job that gave up its lock takes it again. NO_MEMORY, or EXISTS when another job
// holds the lock; nothing has changed then.
MUST_USE enum status job_requeue(struct engine *engine, int64_t now_us, struct job *job,
                                 struct queue *queue, struct error *error);

#endif
