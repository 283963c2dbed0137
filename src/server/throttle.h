// SPDX-License-Identifier: MIT
// How often somebody may guess. After five failures within a minute a user from an address has to
// wait, one second at first and twice as long after each further failure, five minutes at most; ten
// minutes without a failure and all is forgotten. What is refused meanwhile does not count, so that
// a client that keeps trying gets in once its password is right. Other users from the same address,
// which may be that of a proxy or this machine, go on.
//
// Who tries many names meets the same for the address, after ten failures, of which those of one
// user count only as long as he need not wait himself. Who has many addresses meets a ceiling for
// all of them together: a burst of 40 failures and then 2 a second, which keeps what guessing costs
// the server to some percent of its time. A user who has logged in from the address during the last
// day is let in all the same.
//
// An address is an IPv4 address, the /64 network of an IPv6 address (one household's), or any other
// text. Only as many are remembered as the table has room for; those that have failed least and
// longest ago give way. It allocates nothing and has no clock.
#ifndef SLUICE_SERVER_THROTTLE_H
#define SLUICE_SERVER_THROTTLE_H

#include "base/hash.h"
#include "base/slice.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    THROTTLE_SETS = 128,
    THROTTLE_WAYS = 8,
    THROTTLE_FAILURES_FREE = 5,          // of a user from an address
    THROTTLE_ADDRESS_FAILURES_FREE = 10, // of all users from it
    THROTTLE_BURST = 40,
    THROTTLE_PER_SECOND = 2,
};

struct throttle_entry {
    uint64_t key;          // of the address and the user, or of the address; 0: unused
    int64_t first_us;      // when the failures began to be counted
    int64_t last_us;       // of the last failure or success
    int64_t until_us;      // refused before this
    int64_t good_until_us; // the user has logged in from there
    uint32_t failures, failures_free;
};

struct throttle {
    struct hash_seed seed;
    int64_t spent_us; // the ceiling: how far failures have run ahead, as a moment
    struct throttle_entry entries[THROTTLE_SETS][THROTTLE_WAYS];
};

// Who tries.
struct throttle_who {
    struct slice address, user;
};

// The seed is random, so that nobody can choose addresses that push out others.
void throttle_init(struct throttle *throttle, struct hash_seed seed);

// How long he has to wait; 0: not at all.
int64_t throttle_wait_us(const struct throttle *throttle, struct throttle_who who, int64_t now_us);

void throttle_failed(struct throttle *throttle, struct throttle_who who, int64_t now_us);
void throttle_succeeded(struct throttle *throttle, struct throttle_who who, int64_t now_us);

#endif
