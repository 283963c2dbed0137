// SPDX-License-Identifier: MIT
// How large a request may be unless a setting says otherwise: the same in a server and in process.
#ifndef SLUICE_HOST_LIMITS_H
#define SLUICE_HOST_LIMITS_H

enum {
    MAX_ARGUMENTS_DEFAULT = 16384, // words of a request
    MAX_PAYLOAD_DEFAULT = 1 << 20, // bytes of a word
    MAX_PAYLOAD_MIN = 4 << 10,     // what a setting may say
    MAX_PAYLOAD_MAX = 512 << 20,
    MAX_REQUEST_DEFAULT = 16 << 20, // bytes of all words, as they stand on the wire
};

#endif
