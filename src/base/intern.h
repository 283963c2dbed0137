// SPDX-License-Identifier: MIT
// Strings that occur often, kept once and known by a small number. Each number counts its users;
// when the last is gone the string is forgotten and the number is used again.
#ifndef SLUICE_BASE_INTERN_H
#define SLUICE_BASE_INTERN_H

#include "base/alloc.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/slice.h"
#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

// The id of no string. It may be shared, dropped and got like any other: then nothing happens, and
// it stands for an empty string.
#define INTERN_NONE UINT32_MAX

struct intern_entry;

// What an id stands for: a string, or when it has no users the next such id.
union intern_slot {
    struct intern_entry *entry;
    uint32_t next_unused;
};

struct intern {
    struct map by_string;
    union intern_slot **chunks; // slots by id, in chunks of fixed size; owned
    size_t chunk_count;
    uint32_t id_end;    // ids below have been given out at least once
    uint32_t id_unused; // the first of a list of ids that are free again, or INTERN_NONE
};

// Allocates nothing.
void intern_init(struct intern *intern, const struct allocator *allocator, struct hash_seed seed);

// Frees all, whatever the counts are; may be used again, as after init.
void intern_release(struct intern *intern);

// Adds one user of the string (at most UINT32_MAX bytes; any bytes) and gives its id.
MUST_USE enum status intern_acquire(struct intern *intern, struct slice string, uint32_t *id);

// Adds one user of a string that has one.
void intern_share(struct intern *intern, uint32_t id);

// Takes one user away.
void intern_drop(struct intern *intern, uint32_t id);

// The id of a string that has users, else INTERN_NONE.
uint32_t intern_find(const struct intern *intern, struct slice string);

// The string of an id that has users; valid as long as it has.
struct slice intern_get(const struct intern *intern, uint32_t id);

static inline size_t intern_count(const struct intern *intern)
{
    return intern->by_string.count;
}

#endif
