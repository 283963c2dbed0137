// SPDX-License-Identifier: MIT
// Interned strings: frequent strings are stored once and referred to by a small number. Each number
// counts its users; when there are none left, the string is freed and the number is reused.
#ifndef SLUICE_BASE_INTERN_H
#define SLUICE_BASE_INTERN_H

#include "base/alloc.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/slice.h"
#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

// The id of no string. It may be passed to every function that takes an id: share and drop do
// nothing, and get returns an empty string.
#define INTERN_NONE UINT32_MAX

struct intern_entry;

// The string of an id, or for an unused id the next unused id.
union intern_slot {
    struct intern_entry *entry;
    uint32_t next_unused;
};

struct intern {
    struct map by_string;
    union intern_slot **chunks; // slots by id, in chunks of fixed size; owned
    size_t chunk_count;
    uint32_t id_end;    // ids below have been given out at least once
    uint32_t id_unused; // head of the list of unused ids, or INTERN_NONE
};

// Allocates nothing.
void intern_init(struct intern *intern, const struct allocator *allocator, struct hash_seed seed);

// Frees everything, with any counts. The struct is as after intern_init.
void intern_release(struct intern *intern);

// Adds a user of the string (at most UINT32_MAX bytes of any value) and returns its id.
MUST_USE enum status intern_acquire(struct intern *intern, struct slice string, uint32_t *id);

// Adds a user of an id that has users.
void intern_share(struct intern *intern, uint32_t id);

// Removes a user.
void intern_drop(struct intern *intern, uint32_t id);

// The id of a string that has users; otherwise INTERN_NONE.
uint32_t intern_find(const struct intern *intern, struct slice string);

// The string of an id that has users; valid while it has.
struct slice intern_get(const struct intern *intern, uint32_t id);

static inline size_t intern_count(const struct intern *intern)
{
    return intern->by_string.count;
}

#endif
