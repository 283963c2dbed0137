// SPDX-License-Identifier: MIT
// A small store whose every byte can be tried, and the trial: a damaged store is either refused,
// with nothing changed, or gives exactly what was in it.
#ifndef SLUICE_TESTS_CRASH_SMALL_H
#define SLUICE_TESTS_CRASH_SMALL_H

#include "image.h"
#include "store/store.h"

#include <stdint.h>

// One store at three times.
struct small {
    struct image earlier; // open, with a checkpoint and some groups to come
    struct image killed;  // open: several groups are in the journal alone
    struct image closed;
    uint64_t digest; // of all records of `killed` and `closed`
};

// The same seed makes the same records; the ids of two stores differ all the same.
void small_init(struct small *small, uint64_t seed);
void small_release(struct small *small);

// Opens a store and reads all of it. The digest counts when the status is STATUS_OK.
enum status small_open(const char *path, struct store **out, uint64_t *digest, struct error *error);

// Opens and closes a folder that holds `image`: a store that was damaged and had that digest
// before. False, with a line on stderr, if that breaks the promise. `*opened` says whether it was
// opened: then the folder may have changed. `error` has the words if it was not.
bool small_try(uint64_t digest, const struct image *image, const char *path, bool *opened,
               struct error *error);

#endif
