// SPDX-License-Identifier: MIT
// Objects of one size, allocated in blocks. They may be given back in any order. Unused memory
// returns to the allocator block by block, and no call works on more than one block.
#ifndef SLUICE_BASE_SLAB_H
#define SLUICE_BASE_SLAB_H

#include "base/alloc.h"
#include "base/status.h"

#include <stddef.h>

struct slab_page;

struct slab {
    const struct allocator *allocator; // borrowed
    size_t object_size;
    size_t page_size;       // a power of two
    size_t page_objects;    // in each page
    struct slab_page *open; // the pages that have a free object, owned through their blocks
    size_t live;            // objects taken
    size_t capacity;        // objects that the blocks hold
    size_t promised;        // free objects that are promised to slab_take
};

// Objects are `object_size` bytes (at least 1), aligned to 8. Allocates nothing.
void slab_init(struct slab *slab, const struct allocator *allocator, size_t object_size);

// All objects must have been given back.
void slab_release(struct slab *slab);

// Promises that `count` calls of slab_take, in addition to earlier promises, will not fail.
// slab_settle ends all promises.
MUST_USE enum status slab_promise(struct slab *slab, size_t count);
void slab_settle(struct slab *slab);

// An object with undefined contents, or NULL when there is no memory.
void *slab_take(struct slab *slab);

// Gives an object back.
void slab_give(struct slab *slab, void *object);

// Bytes allocated for the blocks.
size_t slab_memory(const struct slab *slab);

#endif
