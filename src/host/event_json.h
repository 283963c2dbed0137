// SPDX-License-Identifier: MIT
// An event of an engine as JSON: what happened, when, and the fields that apply.
//
//     {"event":"completed","when":1784000000.5,"jid":"bob","queue":"mail","worker":"w1"}
#ifndef SLUICE_HOST_EVENT_JSON_H
#define SLUICE_HOST_EVENT_JSON_H

#include "base/buffer.h"
#include "engine/event.h"

// Appends the event.
void event_json(const struct event *event, struct buffer *out);

#endif
