// SPDX-License-Identifier: MIT
#include "fault_alloc.h"

#include "test.h"

#include <stdlib.h>
#include <string.h>

// Every block is preceded by its size; max_align_t keeps the alignment.
union header {
    size_t size;
    max_align_t align;
};

static void *fault_resize(void *context, void *block, size_t old_size, size_t new_size)
{
    struct fault_alloc *fault = context;
    union header *header = block ? (union header *)block - 1 : NULL;
    assert_int_equal(old_size, header ? header->size : 0);
    assert_true(block || new_size);

    if (new_size > old_size && ++fault->calls == fault->fail_at) {
        fault->failed = true;
        return NULL;
    }

    // A block always moves, and the old one is spoiled, so that a pointer kept too long is caught.
    union header *moved = NULL;
    if (new_size) {
        moved = malloc(sizeof(*moved) + new_size);
        assert_non_null(moved);
        moved->size = new_size;
        memset(moved + 1, 0xa5, new_size);
        fault->blocks++;
        fault->bytes += new_size;
    }
    if (header) {
        if (moved) {
            memcpy(moved + 1, block, old_size < new_size ? old_size : new_size);
        }
        memset(header, 0x5a, sizeof(*header) + old_size);
        free(header);
        fault->blocks--;
        fault->bytes -= old_size;
    }
    return moved ? moved + 1 : NULL;
}

void fault_alloc_init(struct fault_alloc *fault)
{
    *fault = (struct fault_alloc){ .allocator = { .resize = fault_resize, .context = fault } };
}

void fault_alloc_release(struct fault_alloc *fault)
{
    assert_int_equal(fault->blocks, 0);
    assert_int_equal(fault->bytes, 0);
}

bool fault_alloc_next(struct fault_alloc *fault)
{
    fault_alloc_release(fault);
    if (fault->fail_at && !fault->failed) {
        return false;
    }
    fault->fail_at++;
    fault->calls = 0;
    fault->failed = false;
    return true;
}
