// SPDX-License-Identifier: MIT
// The lock of a store's folder. Without it, two processes would each treat the writes of the other
// as damage.
#ifndef SLUICE_STORE_LOCK_H
#define SLUICE_STORE_LOCK_H

#include "base/status.h"

// Locks the file `lock` in the folder, opened with these flags. Closing it releases the lock. BUSY,
// with the id of the process, if another process has the lock. `path` is for messages.
MUST_USE enum status lock_take(int folder, const char *path, int flags, int *fd,
                               struct error *error);

#endif
