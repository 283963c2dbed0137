// SPDX-License-Identifier: MIT
// What became of each element of a call for many.
#ifndef SLUICE_CLIENT_RESULTS_H
#define SLUICE_CLIENT_RESULTS_H

#include "client/fault.h"

// The elements that one command has at most. A server has limits for words and bytes of a request,
// of which these are a small part; a request that is too large all the same is halved.
enum {
    CHUNK_ELEMENTS = 1000,
    CHUNK_WORDS = 12000,
    CHUNK_BYTES = 1 << 20,
};

void result_set(struct sluice_result *result, enum sluice_status status, const char *message);

// The status and the message of the first element that was refused, or OK.
enum sluice_status results_first_refused(const struct sluice_result *results, size_t count,
                                         struct sluice_error *error);

// What the rest of a call becomes when one of its commands has ended with `status` as a whole: OK
// if the next command may fare better. The rest is not asked for, so that UNKNOWN becomes
// UNREACHABLE.
enum sluice_status results_of_rest(enum sluice_status status);

#endif
