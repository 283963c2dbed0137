// SPDX-License-Identifier: MIT
// A store in its plainest form: the newest bytes of each record that the engine says has changed.
#ifndef SLUICE_TESTS_MODEL_STORE_H
#define SLUICE_TESTS_MODEL_STORE_H

#include "base/buffer.h"
#include "engine/engine.h"

// Empties the store.
void store_clear(void);

// Takes over what has changed.
MUST_USE enum status store_take(struct engine *engine);

// Makes an engine of the records.
MUST_USE enum status store_load(const struct engine_options *options, struct engine **out,
                                struct error *error);

#endif
