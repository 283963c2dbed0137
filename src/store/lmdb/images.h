// SPDX-License-Identifier: MIT
// The newest image of each record, out of any number of groups.
#ifndef SLUICE_STORE_LMDB_IMAGES_H
#define SLUICE_STORE_LMDB_IMAGES_H

#include "base/slice.h"
#include "store/store.h"

#include <stddef.h>
#include <stdint.h>

struct image {
    struct store_key key;
    struct slice bytes; // empty: gone
};

struct images_block;

struct images {
    const struct allocator *allocator;
    struct image *items; // owned; one of each record, in order of the keys after images_sort
    size_t count, capacity;
    uint32_t *slots; // owned: which item has a key, by its hash; 0: none, else its index + 1
    size_t slot_count;
    struct images_block *blocks; // owned: the bytes
    size_t bytes;                // of all that was added
    size_t bytes_kept;           // of the newest ones
};

void images_init(struct images *images, const struct allocator *allocator);
void images_release(struct images *images);
void images_clear(struct images *images);

// Copies the records of one more group. CORRUPT when they make no sense.
MUST_USE enum status images_add(struct images *images, struct slice records);

// The same for one record.
MUST_USE enum status images_put(struct images *images, struct store_key key, struct slice bytes);

// NULL when there is none. Before images_sort only.
const struct image *images_find(const struct images *images, const struct store_key *key);

// Brings them into order. Then nothing may be added before images_clear.
void images_sort(struct images *images);

#endif
