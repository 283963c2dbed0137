// SPDX-License-Identifier: MIT
// Kick: makes failed and scheduled jobs run now.
#ifndef SLUICE_ENGINE_JOB_KICK_H
#define SLUICE_ENGINE_JOB_KICK_H

#include "engine/engine.h"

// Whether a kick changes the job: it has failed or is scheduled.
bool job_can_be_kicked(const struct job *job);

// Kicks a job for which job_can_be_kicked is true. On NO_MEMORY, or EXISTS (another job holds the
// lock of a failed one), nothing has changed.
MUST_USE enum status job_kick(struct engine *engine, int64_t now_us, struct job *job,
                              struct error *error);

#endif
