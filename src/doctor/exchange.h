// SPDX-License-Identifier: MIT
// How a new folder takes the place of the one that is damaged, in one step.
#ifndef SLUICE_DOCTOR_EXCHANGE_H
#define SLUICE_DOCTOR_EXCHANGE_H

#include "base/status.h"

enum {
    EXCHANGE_PATH_SIZE = 4096,
};

struct exchange {
    char path[EXCHANGE_PATH_SIZE]; // the folder
    char part[EXCHANGE_PATH_SIZE]; // where the new one is made: PATH.repaired.part
    char
        damaged[EXCHANGE_PATH_SIZE]; // where the old one is kept: PATH.damaged, PATH.damaged-2, ...
};

// The path without links, so that what is beside it is on the same disk.
MUST_USE enum status exchange_resolve(const char *path, char out[EXCHANGE_PATH_SIZE],
                                      struct error *error);

// Chooses the names, and removes what a repair that was cut short left. BUSY when another one is at
// work.
MUST_USE enum status exchange_find(const char *path, struct exchange *out, struct error *error);

// The new folder, which is whole, takes the place of the old one.
MUST_USE enum status exchange_take(const struct exchange *exchange, struct error *error);

// Removes the new folder, after something failed.
void exchange_clear(const struct exchange *exchange);

#endif
