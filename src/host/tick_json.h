// SPDX-License-Identifier: MIT
// The state of a namespace, once a second, for clients that cannot follow every event:
//
//     {"event":"tick","when":1784000000.5,"jobs":{"scheduled":2,...},"rates":{"put":120,...},
//      "queues":[{"queue":"mail","waiting":7,...,"rates":{"put":80,...}}],"more":false}
//
// `queues` are those in which something happened in the last full second or since, the most recent
// first, as many as fit into TICK_SIZE_MAX bytes; `more`: there are others. Rates are counts of the
// last full second.
#ifndef SLUICE_HOST_TICK_JSON_H
#define SLUICE_HOST_TICK_JSON_H

#include "base/buffer.h"
#include "engine/engine.h"

enum {
    TICK_SIZE_MAX = 10000,
};

// Appends the tick. Errors stick in the buffer.
void tick_json(struct engine *engine, int64_t now_us, struct buffer *out);

#endif
