// SPDX-License-Identifier: MIT
#ifndef SLUICE_ENGINE_JOB_COMPLETE_H
#define SLUICE_ENGINE_JOB_COMPLETE_H

#include "engine/engine.h"

// When the oldest complete job is not to be kept any longer: 0 (at once) when there are too
// many, INT64_MAX when there is none. Then it can be deleted; NO_MEMORY when it is not.
int64_t retention_due(const struct engine *engine);
MUST_USE enum status retention_delete(struct engine *engine);

#endif
