// SPDX-License-Identifier: MIT
// What cancel shares with those who cancel on behalf of others.
#ifndef SLUICE_ENGINE_JOB_CANCEL_H
#define SLUICE_ENGINE_JOB_CANCEL_H

#include "engine/engine.h"

// Removes a job that is not complete, and tells all who care. leave_reserve must have been called.
void cancel_job(struct engine *engine, struct job *job, int64_t now_us);

#endif
