// SPDX-License-Identifier: MIT
// An engine out of records of which some are lost, or older than others: what a damaged disk left.
// Jobs come first: one is left out only if its body or its head cannot be read. What belongs to
// others, and is lost, is made up for or let go: a queue gets its name from its jobs, a dependency
// that is not there is dropped, and counters go ahead of all that was ever given out.
#ifndef SLUICE_ENGINE_RECORDS_SALVAGE_H
#define SLUICE_ENGINE_RECORDS_SALVAGE_H

#include "engine/records/record.h"

struct salvage_record {
    struct record_key key;
    struct slice bytes; // borrowed
    bool left_out;      // set for one that makes no sense with the others
};

struct salvage {
    const struct engine_options *options;
    struct salvage_record *records; // in order of the keys, each once
    size_t count;
    int64_t now_us;
    bool lossy; // some are missing or old, however well the rest goes together
    // Told of all that is left out, made up or mended. May be NULL.
    void (*report)(void *context, const char *sentence);
    void *context;
};

// Makes an engine whose consistency check finds nothing. `*as_it_was` is false when its records are
// other than those given. NO_MEMORY, or CORRUPT when no engine can be made of them.
MUST_USE enum status engine_salvage(const struct salvage *salvage, struct engine **out,
                                    bool *as_it_was, struct error *error);

// How many jobs it has.
size_t engine_job_count(const struct engine *engine);

#endif
