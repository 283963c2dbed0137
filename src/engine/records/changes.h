// SPDX-License-Identifier: MIT
// What has changed since the host last asked, as records that can be stored one by one: the
// engine's side of the store. Only for an engine that keeps changes (engine_options).
#ifndef SLUICE_ENGINE_RECORDS_CHANGES_H
#define SLUICE_ENGINE_RECORDS_CHANGES_H

#include "engine/records/record.h"

struct changes_sink {
    // The newest bytes of a record, or that it is gone (bytes empty). The bytes are borrowed. What
    // it returns other than STATUS_OK ends the call.
    enum status (*receive)(void *context, struct record_key key, struct slice bytes);
    void *context;
};

// Whether there is anything to store. The time that the engine last saw is not: a call that only
// reads leaves nothing to write. With the server clock an engine that is loaded may then see an
// earlier time than a read was answered at, but none before a change that was stored, since the
// engine's record goes with each of them. A new engine is a change, one that was loaded is none.
bool engine_has_changes(const struct engine *engine);

// Whether an engine was never stored, and nothing was changed in it since it was made.
bool engine_is_unused(const struct engine *engine);

// Gives the engine's own record and every other that has changed, in an order that depends on
// nothing but the calls made, and forgets that they have. When it fails, or the sink does, nothing
// is forgotten.
MUST_USE enum status engine_changes(struct engine *engine, const struct changes_sink *sink);

// Gives every record there is, changed or not, in the order in which they are read. It changes
// nothing, and may be called from any thread while no other thread uses the engine.
MUST_USE enum status engine_records(const struct engine *engine, const struct changes_sink *sink);

// Forgets all changes.
void changes_forget(struct engine *engine);

#endif
