// SPDX-License-Identifier: MIT
#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

static void *system_resize(void *context, void *block, size_t old_size, size_t new_size)
{
    (void)context;
    if (new_size == 0) {
        free(block);
        return NULL;
    }
    void *moved = realloc(block, new_size);
    if (!moved && new_size <= old_size) {
        return block; // a libc may refuse even to shrink; the contract does not
    }
    return moved;
}

const struct allocator allocator_system = { .resize = system_resize };

void *mem_zalloc(const struct allocator *allocator, size_t size)
{
    void *block = mem_alloc(allocator, size);
    if (block) {
        memset(block, 0, size);
    }
    return block;
}
