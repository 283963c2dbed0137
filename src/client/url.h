// SPDX-License-Identifier: MIT
// The address of a queue, divided into its parts.
#ifndef SLUICE_CLIENT_URL_H
#define SLUICE_CLIENT_URL_H

#include <sluice/sluice.h>

#include <stdbool.h>

enum {
    URL_PART_SIZE = 1024,
    URL_SOCKET_SIZE = 108, // of the path of a Unix socket, with the null byte
    URL_PLACE_SIZE = 136,
};

enum url_kind {
    URL_FILE,
    URL_SERVER,
};

// Each text ends with a null byte. It is empty if the address does not have it.
struct url {
    enum url_kind kind;
    bool tls;
    char path[URL_PART_SIZE];     // of a folder
    char socket[URL_SOCKET_SIZE]; // of a server on a Unix socket: an absolute path
    char host[URL_PART_SIZE], port[8];
    char place[URL_PLACE_SIZE]; // of a server, for messages: HOST:PORT or unix:PATH
    char user[SLUICE_NAME_SIZE], password[URL_PART_SIZE];
    char ns[SLUICE_NAME_SIZE];
    char durability[32];
    bool existing;      // a folder that is not there is not made
    size_t max_payload; // bytes of a word of a request, of a folder; 0: the default
};

// INVALID: the message names what is wrong. It never contains a password.
enum sluice_status url_read(const char *text, struct url *out, struct sluice_error *error);

#endif
