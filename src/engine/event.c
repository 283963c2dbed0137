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
    [EVENT_RETRIED] = "retried",
    [EVENT_DUE] = "due",
    [EVENT_PAUSED] = "paused",
    [EVENT_UNPAUSED] = "unpaused",
    [EVENT_RECURRING_SET] = "recurring_set",
    [EVENT_RECURRING_UNSET] = "recurring_unset",
    [EVENT_LIMIT_SET] = "limit_set",
    [EVENT_LIMIT_UNSET] = "limit_unset",
    [EVENT_BULK] = "bulk",
    [EVENT_TICK] = "tick",
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
