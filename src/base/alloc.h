// SPDX-License-Identifier: MIT
// Memory comes from an allocator that the caller passes, so that a module can use the memory of
// Valkey and a test can make any allocation fail.
//
// One function allocates, resizes and frees. The caller passes the size of the block that it frees,
// which every owner knows: memory is then counted exactly.
#ifndef SLUICE_BASE_ALLOC_H
#define SLUICE_BASE_ALLOC_H

#include <stddef.h>

struct allocator {
    // Allocates a block (block NULL, old_size 0), resizes one, or frees one (new_size 0, returns
    // NULL). Returns NULL when there is no memory; the old block is unchanged then. Resizing to the
    // same or a smaller size may move the block but never fails. Blocks are aligned as by malloc.
    void *(*resize)(void *context, void *block, size_t old_size, size_t new_size);
    void *context;
};

// The allocator of the C library. mem_used() returns the bytes allocated and not freed by all
// threads, including what the C library adds to each block.
extern const struct allocator allocator_system;
size_t mem_used(void);

static inline void *mem_resize(const struct allocator *allocator, void *block, size_t old_size,
                               size_t new_size)
{
    return allocator->resize(allocator->context, block, old_size, new_size);
}

// Not zeroed; NULL when there is no memory. `size` is at least 1.
static inline void *mem_alloc(const struct allocator *allocator, size_t size)
{
    return mem_resize(allocator, NULL, 0, size);
}

// Zeroed; NULL when there is no memory. `size` is at least 1.
void *mem_zalloc(const struct allocator *allocator, size_t size);

// `block` may be NULL, then `size` is 0.
static inline void mem_free(const struct allocator *allocator, void *block, size_t size)
{
    if (block) {
        mem_resize(allocator, block, size, 0);
    }
}

#endif
