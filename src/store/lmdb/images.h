// SPDX-License-Identifier: MIT
// The newest image of each record in any number of groups.
#ifndef SLUICE_STORE_LMDB_IMAGES_H
#define SLUICE_STORE_LMDB_IMAGES_H

#include "base/slice.h"
#include "store/store.h"

#include <stddef.h>
#include <stdint.h>

struct image {
    struct store_key key;
    struct slice bytes; // empty: the record is deleted
};

struct images_block;

struct images {
    const struct allocator *allocator;
    struct image *items; // owned; one for each record, sorted by key after images_sort
    size_t count, capacity;
    uint32_t *slots; // owned; hash table of the keys; 0: none, else an index + 1
    size_t slot_count;
    struct images_block *blocks; // owned; they contain the bytes
    size_t bytes;                // of everything that was added
    size_t bytes_kept;           // of the newest images
};

void images_init(struct images *images, const struct allocator *allocator);
void images_release(struct images *images);
void images_clear(struct images *images);

// Copies the records of a group. CORRUPT if they are not valid.
MUST_USE enum status images_add(struct images *images, struct slice records);

// The same for one record.
MUST_USE enum status images_put(struct images *images, struct store_key key, struct slice bytes);

// NULL if there is none. Only before images_sort.
const struct image *images_find(const struct images *images, const struct store_key *key);

// Sorts the images. Then nothing may be added before images_clear.
void images_sort(struct images *images);

#endif
