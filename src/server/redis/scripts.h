// SPDX-License-Identifier: MIT
// Scripts by their SHA-1, as Redis keeps them. Only qless's are known, and none is ever run: what
// is kept is which of them it is.
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
    struct script known[SCRIPTS_MAX]; // the oldest makes room for the newest
    size_t count;
};

// Keeps a script and gives its SHA-1; UNSUPPORTED when it is none of qless's.
MUST_USE enum status scripts_load(struct scripts *scripts, struct slice text,
                                  const struct script **out, struct error *error);
// In either case; NULL when it is not known.
const struct script *scripts_find(const struct scripts *scripts, struct slice sha);
void scripts_flush(struct scripts *scripts);

#endif
