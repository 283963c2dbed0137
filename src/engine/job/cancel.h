// SPDX-License-Identifier: MIT
// Canceling one job, for cancel itself and for the rules that cancel jobs: uniqueness, dependencies,
// bulk operations.
#ifndef SLUICE_ENGINE_JOB_CANCEL_H
#define SLUICE_ENGINE_JOB_CANCEL_H

#include "engine/engine.h"

// Removes a job that is not complete, and emits the events of a cancel. The caller must have called
// leave_reserve.
void cancel_job(struct engine *engine, struct job *job, int64_t now_us);

#endif
