// SPDX-License-Identifier: MIT
// Replaces a damaged folder by a new one.
#ifndef SLUICE_DOCTOR_EXCHANGE_H
#define SLUICE_DOCTOR_EXCHANGE_H

#include "base/status.h"

enum {
    EXCHANGE_PATH_SIZE = 4096,
};

struct exchange {
    char path[EXCHANGE_PATH_SIZE]; // the folder
    char part[EXCHANGE_PATH_SIZE]; // PATH.repaired.part, where the new folder is made
    char
        // PATH.damaged, PATH.damaged-2, ..., where the old folder is kept
        damaged[EXCHANGE_PATH_SIZE];
};

// Resolves symbolic links, so that folders beside the path are on the same file system.
MUST_USE enum status exchange_resolve(const char *path, char out[EXCHANGE_PATH_SIZE],
                                      struct error *error);

// Chooses the names, and removes what an interrupted repair has left. BUSY if another repair is
// running.
MUST_USE enum status exchange_find(const char *path, struct exchange *out, struct error *error);

// Puts the new folder, which must be complete, in the place of the old one.
MUST_USE enum status exchange_take(const struct exchange *exchange, struct error *error);

// Removes the new folder after a failure.
void exchange_clear(const struct exchange *exchange);

#endif
