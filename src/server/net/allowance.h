// SPDX-License-Identifier: MIT
// How much of the server's memory a connection may take. There are two allowances: a small one for
// clients that are not authenticated, and one made from the settings for all others. connection.c
// applies them to every byte in and out, so that they hold for every protocol, TLS or not.
//
// The allowance bounds what a connection accumulates. One reply may exceed `unread_max`: it is
// bounded by max-output.
#ifndef SLUICE_SERVER_NET_ALLOWANCE_H
#define SLUICE_SERVER_NET_ALLOWANCE_H

#include "server/config/settings.h"

#include <stddef.h>
#include <stdint.h>

struct allowance {
    size_t read_max;        // bytes of one read
    size_t input_max;       // bytes kept of a request that is not complete
    size_t input_ahead_max; // with so many bytes kept it is not read while no request can be run
    size_t unread_max;      // with so many bytes of replies unread no request is run
    uint64_t pipeline_max;  // nor with so many requests without a reply
    uint64_t discard_max;   // bytes read and discarded behind a refused request (discard.h)
    int64_t discard_us;     // and for how long
};

struct allowances {
    struct allowance unauthenticated, authenticated;
};

// As the settings say. `read_max` is the size of the block that is read into.
void allowances_init(struct allowances *allowances, const struct settings *settings,
                     size_t read_max);

#endif
