// SPDX-License-Identifier: MIT
// The namespaces in a store's records, each with its engine.
#ifndef SLUICE_DOCTOR_SPACES_H
#define SLUICE_DOCTOR_SPACES_H

#include "engine/engine.h"
#include "store/directory.h"
#include "store/salvage/salvage.h"

struct space {
    uint32_t number;
    enum engine_clock clock;
    bool named;            // its record in the directory was found
    bool deleted;          // with what is left of it
    uint8_t qless;         // as in its directory entry
    bool as_it_was;        // its records are those that were found
    size_t first, count;   // of its records among the images
    struct engine *engine; // owned; NULL if it is deleted
    uint8_t name_size;
    char name[ENGINE_NAME_SIZE_MAX];
};

struct spaces {
    const struct allocator *allocator;
    const struct salvaged *salvaged; // borrowed
    struct space *items;             // by number
    size_t count, capacity;
    size_t findings; // that were bad
};

// Makes an engine for each namespace out of what remains, and checks it. Each finding is said.
// UNSUPPORTED, NO_MEMORY; CORRUPT when no engine can be made.
MUST_USE enum status spaces_load(struct spaces *spaces, const struct salvaged *salvaged,
                                 int64_t now_us, struct voice *voice, struct error *error);
void spaces_release(struct spaces *spaces);

// Writes all of it to a new store in a folder that is not there yet.
MUST_USE enum status spaces_write(const struct spaces *spaces, const char *path,
                                  struct voice *voice, struct error *error);

#endif
