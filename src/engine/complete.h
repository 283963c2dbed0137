// SPDX-License-Identifier: MIT
#ifndef SLUICE_ENGINE_COMPLETE_H
#define SLUICE_ENGINE_COMPLETE_H

#include "engine/engine.h"

// Drops up to `count` results that are not to be kept any longer.
void results_drop(struct engine *engine, int64_t now_us, size_t count);

#endif
