// SPDX-License-Identifier: MIT
// An ordered index: objects in the order of a key of 128 bits, with rank and offset in O(log n).
//
// The object embeds a `struct index_node` and belongs to its owner; the index holds pointers to it.
// Keys are unique within an index (the lower half is usually a sequence number). One node is in at
// most one index at a time. An index that is empty takes no memory beyond its own struct.
//
// Several indexes share a pool of tree nodes. Inserting takes two steps, so that a command can
// secure all its memory before it changes anything: index_reserve may fail, index_insert cannot.
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

// In the object. The key must not change while the object is in an index.
struct index_node {
    struct index_key key;
};

// The tree nodes of the indexes that share it.
struct index_pool {
    struct slab slab;
    uint32_t round; // how often it was settled
    // Searches made and objects visited with cursors, in all of its indexes: what a caller's work
    // is measured by. The owner of the pool may add other steps.
    uint64_t steps;
};

struct index {
    struct index_pool *pool; // borrowed
    void *root;              // a leaf when height is 1; NULL when empty
    uint32_t height;
    // Inserts promised and not made yet, since the pool was last settled: an empty leaf stays for
    // them.
    uint32_t reserved;
    uint32_t reserved_round;
    size_t count;
};

// Without branches: a search through keys in no foreseeable order would mispredict every second.
static inline bool index_key_less(struct index_key a, struct index_key b)
{
    return (a.high < b.high) | ((a.high == b.high) & (a.low < b.low));
}

static inline bool index_key_equal(struct index_key a, struct index_key b)
{
    return a.high == b.high && a.low == b.low;
}

// A signed value as the upper half of a key, in its order.
static inline uint64_t index_key_signed(int64_t value)
{
    return (uint64_t)value ^ (uint64_t)1 << 63;
}

// Allocates nothing.
void index_pool_init(struct index_pool *pool, const struct allocator *allocator);

// All indexes of the pool must be empty or released.
void index_pool_release(struct index_pool *pool);

// Ends all reservations made by index_reserve, used or not. Called at the end of a command.
void index_pool_settle(struct index_pool *pool);

// Allocates nothing.
void index_init(struct index *index, struct index_pool *pool);

// Takes everything out; the objects are untouched. May be used again, as after init.
void index_release(struct index *index);

// Secures memory for `count` inserts, in addition to what has been reserved in this pool since the
// last index_pool_settle.
MUST_USE enum status index_reserve(struct index *index, size_t count);

// Adds an object whose key is not in the index. The insert must have been reserved.
void index_insert(struct index *index, struct index_node *node);

// Takes an object out that is in the index.
void index_remove(struct index *index, struct index_node *node);

// Gives an object that is in the index another key without moving it, where that leaves the order
// as it is; at the edge of a tree node it may refuse that. False when nothing has changed.
MUST_USE bool index_rekey(struct index *index, struct index_node *node, struct index_key key);

// Adds `change` to the upper half of every key, which must overflow none of them. The order stays.
void index_shift(struct index *index, int64_t change);

// The object with the smallest or the largest key, or NULL.
struct index_node *index_first(const struct index *index);
struct index_node *index_last(const struct index *index);

// The object with the smallest key that is not below `key`, or NULL.
struct index_node *index_find(const struct index *index, struct index_key key);

// Whether there is an object with that key.
static inline bool index_has(const struct index *index, struct index_key key)
{
    const struct index_node *node = index_find(index, key);
    return node && index_key_equal(node->key, key);
}

// The object that has `rank` objects before it, or NULL.
struct index_node *index_at(const struct index *index, size_t rank);

// How many objects have a key below `key`.
size_t index_rank(const struct index *index, struct index_key key);

// Walks a page of an index at the cost of one search: begin at a rank, then next until NULL. The
// index must not change meanwhile.
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
