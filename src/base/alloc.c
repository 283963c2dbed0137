// SPDX-License-Identifier: MIT
#include "base/alloc.h"

#include "base/alloc_functions.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

// Several threads add to it, but only one of them often.
static _Atomic size_t used;

// The size of a block of the C library including its header, as in glibc; other libraries are
// similar.
static size_t chunk_size(size_t size)
{
    enum {
        HEAD = sizeof(size_t),
        ALIGN = 16,
        MIN = 32,
        PAGE = 4096,
        MAPPED = 1 << 20, // blocks from this size on are mapped separately
    };
    if (size == 0) {
        return 0;
    }
    if (size >= MAPPED) {
        return (size + (size_t)2 * HEAD + PAGE - 1) & ~(size_t)(PAGE - 1);
    }
    size_t chunk = (size + HEAD + ALIGN - 1) & ~(size_t)(ALIGN - 1);
    return chunk < MIN ? MIN : chunk;
}

static void count(size_t old_size, size_t new_size)
{
    size_t more = chunk_size(new_size) - chunk_size(old_size); // may wrap, as may the sum
    (void)atomic_fetch_add_explicit(&used, more, memory_order_relaxed);
}

static void *(*block_resize)(void *block, size_t size) = realloc;
static void (*block_release)(void *block) = free;

void mem_set_functions(void *(*resize)(void *block, size_t size), void (*release)(void *block))
{
    block_resize = resize ? resize : realloc;
    block_release = release ? release : free;
}

void *mem_block_resize(void *block, size_t size)
{
    return block_resize(block, size);
}

void mem_block_free(void *block)
{
    block_release(block);
}

static void *system_resize(void *context, void *block, size_t old_size, size_t new_size)
{
    (void)context;
    if (new_size == 0) {
        block_release(block);
        count(old_size, 0);
        return NULL;
    }
    void *moved = block_resize(block, new_size);
    bool grows = new_size > old_size;
    if (moved || !grows) {
        count(old_size, new_size);
    }
    return moved || grows ? moved
                          : block; // a libc may refuse even to shrink; the contract does not
}

const struct allocator allocator_system = { .resize = system_resize };

size_t mem_used(void)
{
    return atomic_load_explicit(&used, memory_order_relaxed);
}

void *mem_zalloc(const struct allocator *allocator, size_t size)
{
    void *block = mem_alloc(allocator, size);
    if (block) {
        memset(block, 0, size);
    }
    return block;
}
