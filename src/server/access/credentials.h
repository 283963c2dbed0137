// SPDX-License-Identifier: MIT
// What a client sends with each request to say who it is: the header Authorization of HTTP, and the
// metadata of the same name of gRPC.
#ifndef SLUICE_SERVER_ACCESS_CREDENTIALS_H
#define SLUICE_SERVER_ACCESS_CREDENTIALS_H

#include "base/slice.h"

#include <stdbool.h>

enum {
    CREDENTIALS_SIZE = 1024,
};

// Reads what stands behind "Basic" or "Bearer" as a name and a password. A password alone is that of
// `default`. Both are borrowed from the header or from `bytes`, which the caller wipes. False: it is
// neither.
bool credentials_read(struct slice header, char bytes[CREDENTIALS_SIZE], struct slice *name,
                      struct slice *password);

#endif
