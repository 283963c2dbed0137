// SPDX-License-Identifier: MIT
// The retention of complete jobs (`jobs-history`, `jobs-history-count`).
#ifndef SLUICE_ENGINE_JOB_COMPLETE_H
#define SLUICE_ENGINE_JOB_COMPLETE_H

#include "engine/engine.h"

// When the retention of the oldest complete job ends: 0 (at once) if there are too many complete
// jobs, INT64_MAX if there is none. retention_delete then deletes that job; NO_MEMORY if it cannot.
int64_t retention_due(const struct engine *engine);
MUST_USE enum status retention_delete(struct engine *engine);

#endif
