// SPDX-License-Identifier: MIT
// The whole state of an engine as bytes, and back: tests compare engines by it. Hosts use
// records/changes.h and records/loading.h.
#ifndef SLUICE_ENGINE_SNAPSHOT_H
#define SLUICE_ENGINE_SNAPSHOT_H

#include "base/buffer.h"
#include "engine/engine.h"

// Appends the state. Two engines that were given the same calls give the same bytes.
MUST_USE enum status engine_save(const struct engine *engine, struct buffer *out);

// Makes an engine of what engine_save gave. The clock is the one that was saved. Bytes that were
// damaged, cut or written by another version are refused: CORRUPT or UNSUPPORTED, with a sentence.
MUST_USE enum status engine_load(const struct engine_options *options, struct slice bytes,
                                 struct engine **out, struct error *error);

#endif
