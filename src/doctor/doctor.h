// SPDX-License-Identifier: MIT
// Checks a data folder that no process has open, and saves what can be read of one that does not
// open. docs/decisions/0014-what-a-repair-keeps.md says what that is.
//
//      remains (store) --> spaces: namespaces and engines --> rewrite: a new folder --> its place
#ifndef SLUICE_DOCTOR_DOCTOR_H
#define SLUICE_DOCTOR_DOCTOR_H

#include "base/alloc.h"
#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

enum doctor_remedy {
    DOCTOR_CHECK,  // changes nothing
    DOCTOR_REPAIR, // the new folder takes the old one's exchange; that one is kept as PATH.damaged
};

struct doctor_options {
    const char *path;
    const struct allocator *allocator;
    enum doctor_remedy remedy;
    int64_t now_us; // the time
    // Told of each finding, of what was done, and, with NULL as the sentence, how much of the work
    // is done, from 0 to 1. May be NULL.
    void (*report)(void *context, bool bad, double share, const char *sentence);
    void *context;
};

// OK: the folder is sound, now. CORRUPT: it is not; the findings were said. NOT_FOUND: there is no
// store in it. BUSY: a process has it open. UNSUPPORTED: another version wrote it. After anything
// but OK the folder is as it was.
MUST_USE enum status doctor_run(const struct doctor_options *options, struct error *error);

#endif
