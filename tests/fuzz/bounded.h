// SPDX-License-Identifier: MIT
// Memory up to a limit: an engine that is made to grow without end gets no more, and a driver sees
// how much it has.
#ifndef SLUICE_FUZZ_BOUNDED_H
#define SLUICE_FUZZ_BOUNDED_H

#include "base/alloc.h"

enum {
    BOUNDED_LIMIT = 160 << 20,
    BOUNDED_ENOUGH = 48 << 20, // a driver then begins with a new engine
};

struct bounded {
    struct allocator allocator;
    size_t used;
};

static inline void *bounded_resize(void *context, void *block, size_t old_size, size_t new_size)
{
    struct bounded *bounded = context;
    if (new_size > old_size && new_size - old_size > BOUNDED_LIMIT - bounded->used) {
        return NULL;
    }
    void *made = mem_resize(&allocator_system, block, old_size, new_size);
    if (made || new_size == 0) {
        bounded->used = bounded->used - old_size + new_size;
    }
    return made;
}

// Must stay where it is.
static inline void bounded_init(struct bounded *bounded)
{
    *bounded = (struct bounded){ .allocator = { bounded_resize, bounded } };
}

#endif
