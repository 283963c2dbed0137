// SPDX-License-Identifier: MIT
// A store of several namespaces with known jobs, which can be damaged; and what must be left of it
// then.
#ifndef SLUICE_TESTS_CRASH_PATIENT_H
#define SLUICE_TESTS_CRASH_PATIENT_H

#include "image.h"
#include "store/store.h"

#include <stdint.h>

enum {
    PATIENT_SPACES = 3, // the last of them is deleted, and not all of it is removed
    PATIENT_JID_MAX = 256,
};

struct patient_job {
    uint32_t space;
    uint64_t id;
    char jid[PATIENT_JID_MAX];
    uint64_t body_group, head_group; // that brought their newest images
};

struct patient {
    struct image killed; // while it was open: several groups are in the journal alone
    struct image closed;
    uint64_t covered;         // the last group that the base of `killed` has
    uint64_t last;            // the last group
    struct patient_job *jobs; // in both
    size_t count, capacity;
};

void patient_init(struct patient *patient, uint64_t seed);
void patient_release(struct patient *patient);

// What a folder holds, loaded as the server does.
struct inventory {
    struct {
        uint32_t space;
        char jid[PATIENT_JID_MAX];
    } * jobs;
    size_t count, capacity;
};

// False, with a line on stderr, when it does not open or a consistency check finds something.
bool inventory_take(struct inventory *inventory, const char *path);
bool inventory_has(const struct inventory *inventory, const struct patient_job *job);
void inventory_release(struct inventory *inventory);

// Opens a folder whatever it holds; NULL when it does not open.
struct store *folder_open(const char *path);

// Whether store_open takes the folder, which may change it.
bool folder_opens(const char *path);

#endif
