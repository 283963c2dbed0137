// SPDX-License-Identifier: MIT
// Memory of the library: from the functions of the program
// (sluice_set_memory), or the C library. Zeroed where it says so. NULL: out of memory. Sizes need
// not be known when a block is freed.
#ifndef SLUICE_CLIENT_MEMORY_H
#define SLUICE_CLIENT_MEMORY_H

#include "base/alloc_functions.h"

#include <stdint.h>
#include <string.h>

static inline void *memory_alloc(size_t size)
{
    return mem_block_resize(NULL, size);
}

static inline void *memory_zalloc(size_t count, size_t size)
{
    void *block = size && count > SIZE_MAX / size ? NULL : memory_alloc(count * size);
    return block ? memset(block, 0, count * size) : NULL;
}

static inline void *memory_resize(void *block, size_t size)
{
    return mem_block_resize(block, size);
}

static inline char *memory_copy_text(const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = memory_alloc(size);
    return copy ? memcpy(copy, text, size) : NULL;
}

static inline void memory_free(void *block)
{
    mem_block_free(block);
}

#endif
