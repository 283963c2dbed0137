// SPDX-License-Identifier: MIT
// The password in a file (password_file in struct sluice_open_options).
#ifndef SLUICE_CLIENT_PASSWORD_H
#define SLUICE_CLIENT_PASSWORD_H

#include "client/url.h"

// Reads the first line of the file, without its end. INVALID: the file cannot be read, is empty, or
// the line is too long or contains a null byte.
enum sluice_status password_read(const char *path, char out[URL_PART_SIZE],
                                 struct sluice_error *error);

#endif
