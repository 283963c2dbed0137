// SPDX-License-Identifier: MIT
// Scripts by their SHA-1. Only the scripts of qless are known, and no script is run: what is kept
// is which one of them it is.
#ifndef SLUICE_SERVER_REDIS_SCRIPTS_H
#define SLUICE_SERVER_REDIS_SCRIPTS_H

#include "base/slice.h"
#include "base/status.h"
#include "faces/qless/qless.h"

#include <stddef.h>

enum {
    SCRIPT_SHA_SIZE = 40,
    SCRIPTS_MAX = 256, // versions of qless's scripts that clients may load
};

struct script {
    char sha[SCRIPT_SHA_SIZE]; // hexadecimal, lower case
    enum qless_script kind;
};

struct scripts {
    struct script known[SCRIPTS_MAX]; // the newest replaces the oldest
    size_t count;
};

// Keeps a script and returns its SHA-1; UNSUPPORTED if it is not one of qless's scripts.
MUST_USE enum status scripts_load(struct scripts *scripts, struct slice text,
                                  const struct script **out, struct error *error);
// Finds a script by its SHA-1 in upper or lower case; NULL if it is not known.
const struct script *scripts_find(const struct scripts *scripts, struct slice sha);
void scripts_flush(struct scripts *scripts);

#endif
