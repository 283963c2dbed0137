// SPDX-License-Identifier: MIT
// What unfail shares with others.
#ifndef SLUICE_ENGINE_FAIL_H
#define SLUICE_ENGINE_FAIL_H

#include "engine/engine.h"

struct queue;

// Moves a failed job into a queue. NO_MEMORY when nothing has changed.
MUST_USE enum status unfail_job(struct engine *engine, int64_t now_us, struct job *job,
                                struct queue *queue);

#endif
