// SPDX-License-Identifier: MIT
// The functions that allocator_system (alloc.h) takes memory from:
// realloc and free of the C library, or others that replace them in this process.
#ifndef SLUICE_BASE_ALLOC_FUNCTIONS_H
#define SLUICE_BASE_ALLOC_FUNCTIONS_H

#include <stddef.h>

// NULL for both: those of the C library. Call it while nothing is allocated.
void mem_set_functions(void *(*resize)(void *block, size_t size), void (*release)(void *block));

// As realloc and free, for owners who do not know the size. Not counted.
void *mem_block_resize(void *block, size_t size);
void mem_block_free(void *block);

#endif
