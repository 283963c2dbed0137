// SPDX-License-Identifier: MIT
// The namespaces in a store's records, with their engines.
#ifndef SLUICE_DOCTOR_NAMESPACES_H
#define SLUICE_DOCTOR_NAMESPACES_H

#include "engine/engine.h"
#include "store/directory.h"
#include "store/salvage/salvage.h"

struct doctor_namespace {
    uint32_t number;
    enum engine_clock clock;
    bool named;            // its record was found in the directory
    bool deleted;          // including its records
    uint8_t qless;         // as in its directory entry
    bool as_it_was;        // the engine has exactly the records that were found
    size_t first, count;   // range of its records in the images
    struct engine *engine; // owned; NULL if it is deleted
    uint8_t name_size;
    char name[ENGINE_NAME_SIZE_MAX];
};

struct doctor_namespaces {
    const struct allocator *allocator;
    const struct salvaged *salvaged; // borrowed
    struct doctor_namespace *items;  // by number
    size_t count, capacity;
    size_t findings; // number of bad findings
};

// Makes an engine for each namespace from the readable records, checks it, and reports the
// findings. UNSUPPORTED, NO_MEMORY; CORRUPT if no engine can be made.
MUST_USE enum status doctor_namespaces_load(struct doctor_namespaces *namespaces,
                                            const struct salvaged *salvaged, int64_t now_us,
                                            struct reporter *reporter, struct error *error);
void doctor_namespaces_release(struct doctor_namespaces *namespaces);

// Writes everything to a new store in a folder that does not exist yet.
MUST_USE enum status doctor_namespaces_write(const struct doctor_namespaces *namespaces,
                                             const char *path, struct reporter *reporter,
                                             struct error *error);

#endif
