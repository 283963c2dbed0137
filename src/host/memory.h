// SPDX-License-Identifier: MIT
// How much memory the process uses, and whether it may use more.
//
//      live      = what allocator_system has given out (mem_used) + what the process had before it
//                  gave out anything
//      resident  = the process's own pages (anonymous; those of mapped files are the cache of
//                  the system) at the last look, and what was allocated since
//
// Memory is full when `live` has reached the limit, or `resident` is 5 % beyond it: memory that was
// freed and lies in pieces with the C library is used again by what comes next, so up to that point
// it does not count. While memory is full, commands that grow are refused; those that make room go
// on beyond the limit.
//
// Besides there is a reserve: a block that is freed when an allocation fails whose failure cannot
// be reported to a client. Until it could be allocated again, memory is full, too.
//
// Every host counts the whole process; there is one struct memory in it.
#ifndef SLUICE_HOST_MEMORY_H
#define SLUICE_HOST_MEMORY_H

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

#define MEMORY_AUTO UINT64_MAX // a limit: memory_default_limit

struct memory {
    uint64_t limit;       // bytes; 0: none
    uint64_t base;        // resident, but not allocated
    uint64_t resident;    // at the last look
    uint64_t looked_used; // mem_used at the last look
    uint64_t kept;        // freed memory that could not be given back the last time
    void *reserve;        // owned; NULL: freed, or there was no memory for it
};

void memory_init(struct memory *memory, uint64_t limit);
void memory_release(struct memory *memory);

// 80 % of the machine's memory, or of what the process's control groups (v1 or v2) allow if that is
// less; 0 when neither can be found out.
uint64_t memory_default_limit(void);
// What the control groups allow, the least of the process's group and those around it; UINT64_MAX:
// anything. `root` stands before /proc and /sys: "" but in tests.
uint64_t memory_group_limit(const char *root);
void memory_set_limit(struct memory *memory, uint64_t limit);

// Reads how much is resident, gives freed memory back to the system if that is much, and takes the
// reserve again. Costs microseconds; a host calls it about once a second, and when memory_is_due.
void memory_look(struct memory *memory);
// Much has been allocated or freed since the last look, or the reserve was used.
bool memory_is_due(const struct memory *memory);

// What the process uses of its own.
uint64_t memory_live(const struct memory *memory);
uint64_t memory_resident(const struct memory *memory);

bool memory_is_full(const struct memory *memory);
// NO_MEMORY with a sentence when it is full. `setting`: what the limit is called here.
MUST_USE enum status memory_check(const struct memory *memory, const char *setting,
                                  struct error *error);

// Frees the reserve; false when it was used up already.
bool memory_free_reserve(struct memory *memory);

#endif
