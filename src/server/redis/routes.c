// SPDX-License-Identifier: MIT
#include "server/redis/routes.h"

#include "base/glob.h"

#include <assert.h>

enum {
    NS_SIZE_MAX = 512,
    KEY_SIZE_MAX = 2 + NS_SIZE_MAX + GLOB_SIZE_MAX,
};

static struct slice route_key(const void *route)
{
    const struct route *of = route;
    return slice_make(of->listeners + of->count, of->key_size);
}

// The key of a route: the size of the namespace's name, that name, and the channel's name.
static struct slice make_key(struct slice ns, struct slice channel, char text[KEY_SIZE_MAX])
{
    assert(ns.size <= NS_SIZE_MAX && channel.size <= GLOB_SIZE_MAX);
    size_t size = 0;
    text[size++] = (char)(ns.size >> 8);
    text[size++] = (char)(ns.size & 0xFFU);
    if (ns.size) {
        memcpy(text + size, ns.data, ns.size);
    }
    size += ns.size;
    if (channel.size) {
        memcpy(text + size, channel.data, channel.size);
    }
    return slice_make(text, size + channel.size);
}

void routes_init(struct routes *routes, const struct allocator *allocator, struct hash_seed seed)
{
    *routes = (struct routes){ .allocator = allocator };
    map_init(&routes->map, allocator, seed, route_key);
}

void routes_clear(struct routes *routes)
{
    map_release(&routes->map);
    while (routes->first) {
        struct route *route = routes->first;
        routes->first = route->next;
        mem_free(routes->allocator, route, route->size);
    }
    routes->listeners = 0;
}

const struct route *routes_find(const struct routes *routes, struct slice ns, struct slice channel)
{
    char text[KEY_SIZE_MAX];
    return map_find(&routes->map, make_key(ns, channel, text));
}

struct route *routes_add(struct routes *routes, struct slice ns, struct slice channel, size_t count)
{
    if (routes->map.count >= ROUTES_MAX || routes->listeners + count > ROUTES_LISTENERS_MAX) {
        routes_clear(routes);
    }
    char text[KEY_SIZE_MAX];
    struct slice key = make_key(ns, channel, text);
    size_t size = sizeof(struct route) + count * sizeof(struct subscription *) + key.size;
    struct route *route = mem_alloc(routes->allocator, size);
    if (!route) {
        return NULL;
    }
    *route = (struct route){ .size = size, .key_size = key.size, .count = count };
    memcpy(route->listeners + count, key.data, key.size);
    if (map_insert(&routes->map, route)) {
        mem_free(routes->allocator, route, size);
        return NULL;
    }
    route->next = routes->first;
    routes->first = route;
    routes->listeners += count;
    return route;
}
