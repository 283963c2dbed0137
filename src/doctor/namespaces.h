// SPDX-License-Identifier: MIT
// The namespaces in a store's records, each with its engine.
#ifndef SLUICE_DOCTOR_NAMESPACES_H
#define SLUICE_DOCTOR_NAMESPACES_H

#include "engine/engine.h"
#include "store/directory.h"
#include "store/salvage/salvage.h"

struct doctor_namespace {
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

struct doctor_namespaces {
    const struct allocator *allocator;
    const struct salvaged *salvaged; // borrowed
    struct doctor_namespace *items;  // by number
    size_t count, capacity;
    size_t findings; // that were bad
};

// Makes an engine for each namespace out of what remains, and checks it. Each finding is said.
// UNSUPPORTED, NO_MEMORY; CORRUPT when no engine can be made.
MUST_USE enum status doctor_namespaces_load(struct doctor_namespaces *namespaces,
                                            const struct salvaged *salvaged, int64_t now_us,
                                            struct reporter *reporter, struct error *error);
void doctor_namespaces_release(struct doctor_namespaces *namespaces);

// Writes all of it to a new store in a folder that is not there yet.
MUST_USE enum status doctor_namespaces_write(const struct doctor_namespaces *namespaces,
                                             const char *path, struct reporter *reporter,
                                             struct error *error);

#endif
