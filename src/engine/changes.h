// SPDX-License-Identifier: MIT
// What has changed since the host last asked, as records that can be stored one by one: the
// engine's side of the store. Only for an engine that keeps changes (engine_options).
#ifndef SLUICE_ENGINE_CHANGES_H
#define SLUICE_ENGINE_CHANGES_H

#include "engine/record.h"

struct changes_sink {
    // The newest bytes of a record, or that it is gone (bytes empty). The bytes are borrowed. What
    // it returns other than STATUS_OK ends the call.
    enum status (*receive)(void *context, struct record_key key, struct slice bytes);
    void *context;
};

// Gives every record that has changed, in an order that depends on nothing but the calls made, and
// forgets that they have. When it fails, or the sink does, nothing is forgotten.
MUST_USE enum status engine_changes(struct engine *engine, const struct changes_sink *sink);

// Forgets all changes.
void changes_forget(struct engine *engine);

#endif
