// SPDX-License-Identifier: MIT
// Queues that a blocked pop waits for. The host blocks; the engine reports in which of the queues
// there may be something to pop. Watches are not saved, and no other call answers differently
// because of them.
#ifndef SLUICE_ENGINE_LANES_WATCH_H
#define SLUICE_ENGINE_LANES_WATCH_H

#include "engine/engine.h"

// Watches a queue, whether it is there yet or not. No error when it is watched already.
MUST_USE enum status engine_watch(struct engine *engine, struct slice queue);
void engine_unwatch(struct engine *engine, struct slice queue);

// Watches all queues, also those that are still to come, besides those that are watched by name; or
// no longer. What happened before is not told.
void engine_watch_all(struct engine *engine, bool all);

// The next watched queue in which something happened that may let a pop succeed (a job came, a
// lease ended, a limit was lifted) since it was last named here, in the order in which it happened.
// False when there is none. Borrowed until it is unwatched. With the client clock, where a pop does
// what is due, a tick by the host's clock names the queues that are watched by name and in which
// something is due, so that a client that waits sees what one that polls would see.
bool engine_woken(struct engine *engine, struct slice *queue);

// Whether a pop from the queue would hand something out, as far as can be told without one: with
// the client clock, where a pop looks at what is due, always.
bool engine_is_ready(const struct engine *engine, struct slice queue);

// ---------------------------------------------------------------------------------------------
// For the other files of the engine

struct queue;

struct watch {
    struct watch *next;          // woken after it
    struct watch *newer, *older; // all of them
    bool woken, gone;
    bool named; // it was asked for by its name
    uint8_t name_size;
    char name[];
};

struct slice watch_key(const void *watch);

// Whether a queue that is about to be made is watched by its name.
bool watch_is_named(const struct engine *engine, struct slice queue);

void watch_wake(struct engine *engine, const struct queue *queue);

void watches_free(struct engine *engine);

#endif
