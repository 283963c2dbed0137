// SPDX-License-Identifier: MIT
// Visits all jobs, in an order that depends on nothing but the calls that were made: queue by
// queue, then the failed ones group by group, then the complete ones.
#ifndef SLUICE_ENGINE_RECORDS_WALK_H
#define SLUICE_ENGINE_RECORDS_WALK_H

#include "engine/engine.h"

struct queue;

void walk_jobs(const struct engine *engine, void (*visit)(void *context, struct job *job),
               void *context);
void walk_queues(const struct engine *engine, void (*visit)(void *context, struct queue *queue),
                 void *context);

#endif
