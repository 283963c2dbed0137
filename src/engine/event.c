// SPDX-License-Identifier: MIT
#include "engine/event.h"

#include "engine/state.h"

#include <assert.h>

static const char *const names[EVENT_KIND_COUNT] = {
    [EVENT_PUT] = "put",
    [EVENT_POPPED] = "popped",
    [EVENT_COMPLETED] = "completed",
    [EVENT_ADVANCED] = "advanced",
    [EVENT_FAILED] = "failed",
    [EVENT_CANCELED] = "canceled",
    [EVENT_LOCK_LOST] = "lock_lost",
    [EVENT_STALLED] = "stalled",
    [EVENT_TRACK] = "track",
    [EVENT_UNTRACK] = "untrack",
    [EVENT_CONFIG_SET] = "config_set",
    [EVENT_CONFIG_UNSET] = "config_unset",
    [EVENT_PROGRESS] = "progress",
    [EVENT_FINISHED] = "finished",
};

const char *event_kind_name(enum event_kind kind)
{
    assert(kind < EVENT_KIND_COUNT);
    return names[kind];
}

void engine_emit(const struct engine *engine, const struct event *event)
{
    if (engine->sink.receive) {
        engine->sink.receive(engine->sink.context, event);
    }
}
