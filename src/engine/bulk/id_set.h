// SPDX-License-Identifier: MIT
// A set of the numbers of jobs: a bit for each, in chunks that are there only where there are
// members. A million jobs that were made one after the other take 170 KB.
#ifndef SLUICE_ENGINE_BULK_ID_SET_H
#define SLUICE_ENGINE_BULK_ID_SET_H

#include "base/alloc.h"
#include "base/index.h"

enum {
    ID_SET_WORDS = 16, // of 64 bits, in a chunk
};

struct id_set {
    struct index chunks; // by the upper bits
    size_t count;
    size_t bytes;
};

// Allocates nothing.
void id_set_init(struct id_set *set, struct index_pool *pool);
void id_set_release(struct id_set *set, const struct allocator *allocator);
// Makes sure that a number can be added.
MUST_USE enum status id_set_reserve(struct id_set *set, const struct allocator *allocator,
                                    uint64_t id);
void id_set_add(struct id_set *set, uint64_t id);
bool id_set_has(const struct id_set *set, uint64_t id);

// The chunks of the set by their position, until the call returns false; the words are borrowed.
// A chunk has at least one member.
bool id_set_chunk(const struct id_set *set, size_t index, uint64_t *number, const uint64_t **words);
// Adds such a chunk. CORRUPT when it cannot be one, or is there.
MUST_USE enum status id_set_load(struct id_set *set, const struct allocator *allocator,
                                 uint64_t number, const uint64_t words[ID_SET_WORDS]);

#endif
