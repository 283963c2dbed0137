// SPDX-License-Identifier: MIT
// A cache: which pattern subscriptions receive the messages of a channel, by the channel's name. So
// publishing an event does not match it against every pattern. The whole cache is cleared when a
// pattern subscription or a right changes, and when it is full.
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
    struct subscription *listeners[]; // `count` of them, borrowed; the key follows
};

struct routes {
    const struct allocator *allocator;
    struct map map;
    struct route *first;
    size_t listeners; // of all routes
};

void routes_init(struct routes *routes, const struct allocator *allocator, struct hash_seed seed);
void routes_clear(struct routes *routes); // also releases them

// Returns the route of a channel in which the engine of `ns` publishes, or a client if `ns` is
// empty; NULL if it is not in the cache.
const struct route *routes_find(const struct routes *routes, struct slice ns, struct slice channel);

// Adds a route with room for `count` listeners, which the caller sets before the next call. Clears
// the cache first if it would become too large. NULL if there is no memory. The channel must not
// have a route.
struct route *routes_add(struct routes *routes, struct slice ns, struct slice channel,
                         size_t count);

#endif
