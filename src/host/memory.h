// SPDX-License-Identifier: MIT
// How much memory the process uses, and whether it may use more.
//
//      live      = what allocator_system has allocated (mem_used) + what the process used before
//      resident  = the process's anonymous pages (pages of mapped files are the system's cache) at
//                  the last look, and what was allocated since
//
// Memory is full when `live` has reached the limit, or `resident` exceeds it by 5 %. The C library
// reuses freed memory for later allocations, so up to that point it does not count. While memory is
// full, commands that need more are refused; commands that free memory may exceed the limit.
//
// In addition there is a reserve: a block that is freed when an allocation fails whose failure
// cannot be reported to a client. Until it could be allocated again, memory counts as full, too.
//
// Every host measures the whole process, which has one struct memory.
#ifndef SLUICE_HOST_MEMORY_H
#define SLUICE_HOST_MEMORY_H

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

#define MEMORY_AUTO UINT64_MAX // a limit: memory_default_limit

struct memory {
    uint64_t limit;       // bytes; 0: none
    uint64_t base;        // resident, but not allocated by allocator_system
    uint64_t resident;    // at the last look
    uint64_t looked_used; // mem_used at the last look
    uint64_t kept;        // freed memory that the system did not take back the last time
    void *reserve;        // owned; NULL: freed, or not allocated yet
};

void memory_init(struct memory *memory, uint64_t limit);
void memory_release(struct memory *memory);

// 80 % of the machine's memory, or of the limit of the process's control groups (v1 or v2) if that
// is less; 0 if neither is known.
uint64_t memory_default_limit(void);
// The minimum of the limits of the process's control group and its parents; UINT64_MAX: no limit.
// `root` is a prefix for /proc and /sys: "" except in tests.
uint64_t memory_group_limit(const char *root);
void memory_set_limit(struct memory *memory, uint64_t limit);

// Measures the resident memory, returns freed memory to the system if there is much, and allocates
// the reserve again. Takes microseconds; a host calls it about once a second, and when
// memory_is_due.
void memory_look(struct memory *memory);
// Much has been allocated or freed since the last look, or the reserve was used.
bool memory_is_due(const struct memory *memory);

// See `live` above.
uint64_t memory_live(const struct memory *memory);
uint64_t memory_resident(const struct memory *memory);

bool memory_is_full(const struct memory *memory);
// NO_MEMORY with a message if memory is full. `setting` is the name of the limit for the message.
MUST_USE enum status memory_check(const struct memory *memory, const char *setting,
                                  struct error *error);

// Frees the reserve; false if it was freed before.
bool memory_free_reserve(struct memory *memory);

#endif
