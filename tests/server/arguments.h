// SPDX-License-Identifier: MIT
// What the programs here take: SLUICED [--seed S] [--kills N].
#ifndef SLUICE_TESTS_SERVER_ARGUMENTS_H
#define SLUICE_TESTS_SERVER_ARGUMENTS_H

#include <stdint.h>

struct arguments {
    uint64_t seed;
    uint64_t count; // of kills
};

// Reads them over what is there, prints how to replay, and gives the path of the server. Ends the
// process when they are malformed.
const char *arguments_read(struct arguments *arguments, int count, char **list);

#endif
