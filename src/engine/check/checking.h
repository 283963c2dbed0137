// SPDX-License-Identifier: MIT
// What the files of the consistency check share (check.h).
#ifndef SLUICE_ENGINE_CHECK_CHECKING_H
#define SLUICE_ENGINE_CHECK_CHECKING_H

#include "engine/engine.h"
#include "engine/measure/tally.h"

#include "base/index.h"

struct check {
    struct engine *engine;
    bool repair;
    void (*report)(void *context, const char *sentence);
    void *context;
    size_t problems;
    size_t jobs;
    size_t leases;
    size_t uniques;
    size_t promises_of_jobs; // those found at jobs; then those found in the order are subtracted
    size_t lanes_saved;
    uint64_t bytes;
    bool recount; // jobs are counted wrongly
    size_t states[TALLY_PARTS];
    size_t taggings;
    size_t edges;
};

// Reports a broken invariant.
void check_problem(struct check *check, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

// A count that is derived: reported when it is wrong, and mended.
#define CHECK_COUNT(check, field, right, what, name)                                               \
    do {                                                                                           \
        if ((field) != (right)) {                                                                  \
            check_problem(check, "%s of %.*s is %zu and should be %zu", what, SLICE_PRINT(name),   \
                          (size_t)(field), (size_t)(right));                                       \
            if ((check)->repair) {                                                                 \
                (field) = (right);                                                                 \
            }                                                                                      \
        }                                                                                          \
    } while (0)

// Reports an index whose structure or order is broken.
void check_index(struct check *check, const struct index *index, const char *what,
                 struct slice name);

// Checks what was set or begun: limits, policies, zones and bulk operations (check_settings.c).
void check_settings(struct check *check);

#endif
