// SPDX-License-Identifier: MIT
// The lock of a store's folder: two processes at once would each take the other's writes for
// damage.
#ifndef SLUICE_STORE_LOCK_H
#define SLUICE_STORE_LOCK_H

#include "base/status.h"

// Locks the folder with the file `lock` in it, opened with these flags. Closing unlocks it. BUSY,
// with the process that has it, when another one has. `path` is for the sentences.
MUST_USE enum status lock_take(int folder, const char *path, int flags, int *fd,
                               struct error *error);

#endif
