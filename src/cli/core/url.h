// SPDX-License-Identifier: MIT
// Addresses: the form that may be shown, without a password, and the parts that the tool uses.
#ifndef SLUICE_CLI_CORE_URL_H
#define SLUICE_CLI_CORE_URL_H

#include <stdbool.h>

// For tool_free.
char *url_without_password(const char *url);

// Without namespace and options too. For the life of the process.
const char *url_to_show(const char *url);

bool url_is_folder(const char *url); // file:PATH
bool url_is_tls(const char *url);

// The address of a folder, for a queue that must be there already. For tool_free. NULL: it is that
// of a server.
char *url_of_existing(const char *url);

#endif
