// SPDX-License-Identifier: MIT
// Which pattern subscriptions hear a channel, remembered by the channel's name: an event costs what
// it tells, not a match with every pattern that there is. A memory that is forgotten as a whole
// whenever a pattern subscription or a right has changed, and when it is full.
#ifndef SLUICE_SERVER_REDIS_ROUTES_H
#define SLUICE_SERVER_REDIS_ROUTES_H

#include "base/alloc.h"
#include "base/map.h"
#include "base/slice.h"

#include <stddef.h>

enum {
    ROUTES_MAX = 1024,              // channels
    ROUTES_LISTENERS_MAX = 1 << 16, // of all routes
};

struct subscription;

struct route {
    struct route *next;
    size_t size; // of the block
    size_t key_size;
    size_t count;
    struct subscription *listeners[]; // `count` of them, borrowed; then the key
};

struct routes {
    const struct allocator *allocator;
    struct map map;
    struct route *first;
    size_t listeners; // of all
};

void routes_init(struct routes *routes, const struct allocator *allocator, struct hash_seed seed);
void routes_clear(struct routes *routes); // also to release them

// The route of a channel on which the engine of `ns` speaks, or a client when `ns` is empty; NULL
// when it is not remembered.
const struct route *routes_find(const struct routes *routes, struct slice ns, struct slice channel);

// A new route with room for `count` listeners, to be filled in before the next call; forgets all
// others when there are too many. NULL without memory. The channel must have none yet.
struct route *routes_add(struct routes *routes, struct slice ns, struct slice channel,
                         size_t count);

#endif
