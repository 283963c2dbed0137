// SPDX-License-Identifier: MIT
// Addresses as they may be shown: who looks over somebody's shoulder learns no password.
#ifndef SLUICE_CLI_URL_H
#define SLUICE_CLI_URL_H

// For tool_free.
char *url_without_password(const char *url);

// Without namespace and options too. For the life of the process.
const char *url_to_show(const char *url);

#endif
