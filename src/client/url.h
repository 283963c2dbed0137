// SPDX-License-Identifier: MIT
// The address of a queue, taken apart.
#ifndef SLUICE_CLIENT_URL_H
#define SLUICE_CLIENT_URL_H

#include <sluice/sluice.h>

#include <stdbool.h>

enum {
    URL_PART_SIZE = 1024,
};

enum url_kind {
    URL_FILE,
    URL_SERVER,
};

// Each text ends with a 0 and is empty where the address does not say it.
struct url {
    enum url_kind kind;
    bool tls;
    char path[URL_PART_SIZE]; // of a folder
    char host[URL_PART_SIZE], port[8];
    char user[SLUICE_NAME_SIZE], password[URL_PART_SIZE];
    char ns[SLUICE_NAME_SIZE];
    char durability[32];
    bool existing;      // a folder that is not there is not made
    size_t max_payload; // bytes of a word of a request, of a folder; 0: the default
};

// INVALID with a sentence that names what is wrong. A password never stands in it.
enum sluice_status url_read(const char *text, struct url *out, struct sluice_error *error);

#endif
