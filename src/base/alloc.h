// SPDX-License-Identifier: MIT
// Memory comes from an allocator that the caller gives, so that the module's memory is Valkey's
// and a test can make any allocation fail.
//
// One function does all three jobs, and whoever frees says how large the block was: that keeps
// accounts exact and costs nothing, since every owner knows.
#ifndef SLUICE_BASE_ALLOC_H
#define SLUICE_BASE_ALLOC_H

#include <stddef.h>

struct allocator {
    // Makes a block (block NULL, old_size 0), resizes one, or frees one (new_size 0, returns NULL).
    // Returns NULL when it cannot, and the old block is then as it was. Making a block no larger
    // may move it but never fails. Blocks are aligned as malloc's are.
    void *(*resize)(void *context, void *block, size_t old_size, size_t new_size);
    void *context;
};

// The C library's. What it gave out and has not got back is counted over all threads, with what the
// C library adds to each block.
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
