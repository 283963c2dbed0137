// SPDX-License-Identifier: MIT
#include "client/memory.h"

#include "base/alloc.h"
#include "client/fault.h"

enum sluice_status sluice_set_memory(void *(*resize)(void *block, size_t size),
                                     void (*release)(void *block), struct sluice_error *error)
{
    if (!resize != !release) {
        return fault_null(error, resize ? "release" : "resize");
    }
    if (mem_used()) {
        return fault(error, SLUICE_STATE, "a queue is open: set the memory functions before");
    }
    mem_set_functions(resize, release);
    return SLUICE_OK;
}
