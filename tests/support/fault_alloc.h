// SPDX-License-Identifier: MIT
// An allocator that fails on request and checks what it is told: every block that is resized or
// freed must be one it gave out, of the size it was given out with.
//
// The usual loop runs a script with the first allocation failing, then the second, and so on until
// it passes without reaching the failure:
//
//     struct fault_alloc fault;
//     FAULT_ALLOC_EACH(&fault) {
//         enum status status = script(&fault.allocator);
//         FAULT_ALLOC_EXPECT(&fault, status);
//     }
#ifndef SLUICE_FAULT_ALLOC_H
#define SLUICE_FAULT_ALLOC_H

#include "base/alloc.h"
#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>

struct fault_alloc {
    struct allocator allocator;
    size_t calls;   // allocations and enlargements asked for so far
    size_t fail_at; // the call that fails, counted from 1; 0 for none
    bool failed;    // whether that call came
    size_t blocks;  // alive
    size_t bytes;   // alive
};

void fault_alloc_init(struct fault_alloc *fault);

// Asserts that nothing is left.
void fault_alloc_release(struct fault_alloc *fault);

// Prepares round n+1 after round n; false when round n reached no failure. Asserts no leak.
bool fault_alloc_next(struct fault_alloc *fault);

#define FAULT_ALLOC_EACH(fault) for (fault_alloc_init(fault); fault_alloc_next(fault);)

// A script must fail with STATUS_NO_MEMORY exactly when an allocation failed in it.
#define FAULT_ALLOC_EXPECT(fault, status)                                                          \
    assert_int_equal(status, (fault)->failed ? STATUS_NO_MEMORY : STATUS_OK)

#endif
