// SPDX-License-Identifier: MIT
// The default limits of requests: the same in a server and in process.
#ifndef SLUICE_HOST_LIMITS_H
#define SLUICE_HOST_LIMITS_H

enum {
    MAX_ARGUMENTS_DEFAULT = 16384, // words of a request
    MAX_PAYLOAD_DEFAULT = 1 << 20, // bytes of a word
    MAX_PAYLOAD_MIN = 4 << 10,     // the minimum of the setting
    MAX_PAYLOAD_MAX = 512 << 20,
    MAX_REQUEST_DEFAULT = 16 << 20, // bytes of all words, in RESP
};

#endif
