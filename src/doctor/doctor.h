// SPDX-License-Identifier: MIT
// Checks a data folder that no process has open, and repairs one that cannot be opened by saving
// everything that is readable. docs/decisions/0014-what-a-repair-keeps.md defines what that is.
//
//      salvage (store) --> namespaces: names and engines --> rewrite: a new folder --> exchange
#ifndef SLUICE_DOCTOR_DOCTOR_H
#define SLUICE_DOCTOR_DOCTOR_H

#include "base/alloc.h"
#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

enum doctor_remedy {
    DOCTOR_CHECK,  // changes nothing
    DOCTOR_REPAIR, // exchanges the folder for a new one; the old one is kept as PATH.damaged
};

struct doctor_options {
    const char *path;
    const struct allocator *allocator;
    enum doctor_remedy remedy;
    int64_t now_us; // the current time
    // Receives each finding and each completed step; with NULL as the message, how much of the work
    // is done, from 0 to 1. May be NULL.
    void (*report)(void *context, bool bad, double share, const char *sentence);
    void *context;
};

// OK: the folder is intact, or was repaired. CORRUPT: it is damaged; the findings were reported.
// NOT_FOUND: it contains no store. BUSY: a process has it open. UNSUPPORTED: another version wrote
// it. After any status but OK the folder is unchanged.
MUST_USE enum status doctor_run(const struct doctor_options *options, struct error *error);

#endif
