// SPDX-License-Identifier: MIT
// A hash map from byte strings to objects. The key is part of the object; the map holds pointers.
//
// No operation works on more than one segment of the table (at most 1,280 entries), so the slowest
// insert among millions takes microseconds. There is no iteration, because its order would depend
// on the seed. A caller that walks all objects also keeps them in an ordered index or a list.
#ifndef SLUICE_BASE_MAP_H
#define SLUICE_BASE_MAP_H

#include "base/alloc.h"
#include "base/hash.h"
#include "base/slice.h"
#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

struct map_segment;

struct map {
    const struct allocator *allocator; // borrowed
    struct slice (*key_of)(
        const void *value); // must return the same bytes while the object is in the map
    struct hash_seed seed;
    struct map_segment **directory; // owned; NULL while the map has never held anything
    unsigned depth;                 // the directory has 2^depth entries
    size_t count;
};

// Allocates nothing.
void map_init(struct map *map, const struct allocator *allocator, struct hash_seed seed,
              struct slice (*key_of)(const void *value));

// Frees the table, not the objects. The map is as after map_init.
void map_release(struct map *map);

// The object with that key, or NULL.
void *map_find(const struct map *map, struct slice key);

// Makes room for an object with that key, so that the following map_add cannot fail. Valid until
// the next map_reserve or map_add.
MUST_USE enum status map_reserve(struct map *map, struct slice key);

// Adds an object whose key is not in the map. Room must have been reserved.
void map_add(struct map *map, void *value);

// Reserves and adds. STATUS_EXISTS if the key is in the map.
MUST_USE enum status map_insert(struct map *map, void *value);

// Removes and returns the object with that key; NULL if there is none.
void *map_remove(struct map *map, struct slice key);

// The same operations in steps that share one hash. map_spot prefetches the memory for the key.
struct map_spot {
    uint32_t hash;
};
struct map_spot map_spot(const struct map *map, struct slice key);
void *map_find_at(const struct map *map, struct map_spot spot, struct slice key);
MUST_USE enum status map_reserve_at(struct map *map, struct map_spot spot);
void map_add_at(struct map *map, struct map_spot spot, void *value);

// Adds objects with different keys to an empty map, much faster than one by one if there are many.
// Changes the order of the entries. EXISTS if two have the same key; after EXISTS and NO_MEMORY the
// map is empty.
struct map_entry {
    struct map_spot spot; // of the object's key
    void *value;
};
MUST_USE enum status map_fill(struct map *map, struct map_entry *entries, size_t count);

// Bytes allocated for the table.
size_t map_memory(const struct map *map);

#endif
