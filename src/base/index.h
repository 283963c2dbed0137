// SPDX-License-Identifier: MIT
// An ordered index: objects in the order of 128-bit keys, with rank and offset in O(log n).
//
// The object embeds a `struct index_node` and belongs to its owner; the index has pointers to it.
// Keys are unique within an index (the lower half is usually a sequence number). A node is in at
// most one index at a time. An empty index allocates nothing.
//
// Several indexes share a pool of tree nodes. Inserting takes two steps, so that a command can
// reserve all its memory before it changes anything: index_reserve may fail, index_insert cannot.
#ifndef SLUICE_BASE_INDEX_H
#define SLUICE_BASE_INDEX_H

#include "base/alloc.h"
#include "base/slab.h"
#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct index_key {
    uint64_t high;
    uint64_t low;
};

// Embedded in the object. The key must not change while the object is in an index.
struct index_node {
    struct index_key key;
};

// The tree nodes of the indexes that share the pool.
struct index_pool {
    struct slab slab;
    uint32_t round; // counts the calls of index_pool_settle
    // A measure of work: searches made and objects visited with cursors in all indexes of the pool.
    // The owner of the pool may add other steps.
    uint64_t steps;
};

struct index {
    struct index_pool *pool; // borrowed
    void *root;              // a leaf when height is 1; NULL when empty
    uint32_t height;
    // Inserts that were reserved and not made since the last index_pool_settle; an empty leaf is
    // kept for them.
    uint32_t reserved;
    uint32_t reserved_round;
    size_t count;
};

// Without branches, because searches through unpredictable keys would mispredict half of them.
static inline bool index_key_less(struct index_key a, struct index_key b)
{
    return (a.high < b.high) | ((a.high == b.high) & (a.low < b.low));
}

static inline bool index_key_equal(struct index_key a, struct index_key b)
{
    return a.high == b.high && a.low == b.low;
}

// Converts a signed value to the upper half of a key with the same order.
static inline uint64_t index_key_signed(int64_t value)
{
    return (uint64_t)value ^ (uint64_t)1 << 63;
}

// Allocates nothing.
void index_pool_init(struct index_pool *pool, const struct allocator *allocator);

// All indexes of the pool must be empty or released.
void index_pool_release(struct index_pool *pool);

// Ends all reservations made by index_reserve. To be called at the end of a command.
void index_pool_settle(struct index_pool *pool);

// Allocates nothing.
void index_init(struct index *index, struct index_pool *pool);

// Removes everything; the objects are unchanged. The index is as after index_init.
void index_release(struct index *index);

// Reserves memory for `count` inserts, in addition to earlier reservations in this pool since the
// last index_pool_settle.
MUST_USE enum status index_reserve(struct index *index, size_t count);

// Adds an object whose key is not in the index. The insert must have been reserved.
void index_insert(struct index *index, struct index_node *node);

// Removes an object from the index that it is in.
void index_remove(struct index *index, struct index_node *node);

// Changes the key of an object in the index, if its position remains the same. At the edge of a
// tree node it may fail even then. False: nothing has changed.
MUST_USE bool index_rekey(struct index *index, struct index_node *node, struct index_key key);

// Adds `change` to the upper half of every key, none of which may overflow.
void index_shift(struct index *index, int64_t change);

// The object with the smallest or the largest key, or NULL.
struct index_node *index_first(const struct index *index);
struct index_node *index_last(const struct index *index);

// The object with the smallest key not less than `key`, or NULL.
struct index_node *index_find(const struct index *index, struct index_key key);

// Whether there is an object with that key.
static inline bool index_has(const struct index *index, struct index_key key)
{
    const struct index_node *node = index_find(index, key);
    return node && index_key_equal(node->key, key);
}

// The object that has `rank` objects before it, or NULL.
struct index_node *index_at(const struct index *index, size_t rank);

// How many objects have a key less than `key`.
size_t index_rank(const struct index *index, struct index_key key);

// Iterates over a page of an index with a single search: index_cursor_begin at a rank, then next
// until NULL. The index must not change meanwhile.
struct index_cursor {
    struct index_pool *pool;
    const void *leaf;
    size_t position;
};

struct index_cursor index_cursor_at(const struct index *index, size_t rank);
struct index_node *index_cursor_next(struct index_cursor *cursor);

// Whether all invariants of the structure hold; for tests and the consistency check.
bool index_check(const struct index *index);

#endif
