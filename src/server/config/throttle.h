// SPDX-License-Identifier: MIT
// How many failed logins are allowed. After five failures within a minute, logins of a user from an
// address are refused for one second, and for twice as long after each further failure, up to five
// minutes. Ten minutes without a failure reset the count. Logins that are refused during that time
// are not counted, so that a client that keeps trying is admitted once its password is right. Other
// users from the same address, which may be that of a proxy or of this machine, are not affected.
//
// An address from which many names are tried is refused in the same way, after ten failures. The
// failures of one user count for the address only until that user is refused itself. A user that
// has logged in from the address during the last day is exempt from this second rule.
//
// There is no limit over all addresses, because an attacker could use it to lock out all users. The
// cost of password guesses is bounded by the single thread that checks passwords (access/logins.h).
//
// An address is an IPv4 address, the /64 network of an IPv6 address, or any other text. The table
// has a fixed size; entries with the fewest and oldest failures are replaced first. This file
// allocates nothing and uses no clock: callers pass CLOCK_MONOTONIC, which is never set.
#ifndef SLUICE_SERVER_CONFIG_THROTTLE_H
#define SLUICE_SERVER_CONFIG_THROTTLE_H

#include "base/hash.h"
#include "base/slice.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    THROTTLE_SETS = 128,
    THROTTLE_WAYS = 8,
    THROTTLE_FAILURES_FREE = 5,          // of a user from an address
    THROTTLE_ADDRESS_FAILURES_FREE = 10, // of all users from it
};

struct throttle_entry {
    uint64_t key;          // hash of the address and the user, or of the address; 0: unused
    int64_t first_us;      // time of the first failure that is counted
    int64_t last_us;       // time of the last failure or success
    int64_t until_us;      // logins are refused before this time
    int64_t good_until_us; // until this time the user is known at this address
    uint32_t failures, failures_free;
};

struct throttle {
    struct hash_seed seed;
    struct throttle_entry entries[THROTTLE_SETS][THROTTLE_WAYS];
};

struct throttle_who {
    struct slice address, user;
};

// The seed is random, so that a client cannot choose addresses that replace others in the table.
void throttle_init(struct throttle *throttle, struct hash_seed seed);

// Returns how long until the next attempt is allowed; 0: it is allowed now.
int64_t throttle_wait_us(const struct throttle *throttle, struct throttle_who who, int64_t now_us);

// Counts a failure; returns how long further attempts are refused, or 0.
int64_t throttle_failed(struct throttle *throttle, struct throttle_who who, int64_t now_us);
void throttle_succeeded(struct throttle *throttle, struct throttle_who who, int64_t now_us);

// throttle_source: a number for the address, the same for all of a /64 network. throttle_failures:
// its failures that are still counted.
uint64_t throttle_source(const struct throttle *throttle, struct slice address);
uint32_t throttle_failures(const struct throttle *throttle, uint64_t source, int64_t now_us);

#endif
