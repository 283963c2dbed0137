// SPDX-License-Identifier: MIT
// Sessions of the dashboard. A browser that has logged in gets a token, a random number of 256
// bits, which it sends with each request instead of the password. The server keeps only a digest of
// the token, in memory: a restart ends all sessions.
//
// A session ends when it was not used for some time, when it is too old, when it is logged out, and
// when its user is removed or gets another password. The number of sessions is limited. Above the
// limit the least recently used session ends: one of the same user, if that user has an eighth of
// all sessions or more.
//
// This file uses no clock and no random numbers: callers pass both.
#ifndef SLUICE_SERVER_ACCESS_SESSIONS_H
#define SLUICE_SERVER_ACCESS_SESSIONS_H

#include "base/map.h"
#include "base/sha256.h"
#include "server/config/users.h"

enum {
    SESSION_RANDOM_SIZE = 32,
    SESSION_TOKEN_SIZE = 2 * SESSION_RANDOM_SIZE, // in hexadecimal digits
};

struct session {
    struct session *previous, *next; // ordered by last use, the least recent first
    uint64_t id;                     // never reused
    const struct user *user;         // borrowed
    int64_t began_us, used_us;
    uint8_t digest[SHA256_SIZE];
};

struct session_limits {
    uint64_t count_max;
    int64_t idle_us; // the longest time without use
    int64_t age_us;  // the longest time in total
};

struct sessions {
    const struct allocator *allocator; // borrowed
    struct session_limits limits;
    struct map by_digest;
    struct session *first, *last; // owned
    size_t count;
    uint64_t last_id;
};

// Allocates nothing. The limits may be changed at any time.
void sessions_init(struct sessions *sessions, const struct allocator *allocator,
                   struct hash_seed seed);
void sessions_release(struct sessions *sessions);

// Begins a session and writes its token, without a terminating zero. NO_MEMORY: nothing has
// changed.
MUST_USE enum status sessions_begin(struct sessions *sessions, const struct user *user,
                                    const uint8_t random[SESSION_RANDOM_SIZE], int64_t now_us,
                                    char token[SESSION_TOKEN_SIZE]);

// Returns the session with that token and records its use; NULL if there is none.
struct session *sessions_use(struct sessions *sessions, struct slice token, int64_t now_us);
// The same by id, for streams, which make no further requests. False: the session has ended.
bool sessions_go_on(struct sessions *sessions, uint64_t id, int64_t now_us);

void sessions_end(struct sessions *sessions, struct session *session);
// Ends the sessions whose user was removed or revoked. To be called before users_settle.
void sessions_end_revoked(struct sessions *sessions);
// Ends the sessions that have expired.
void sessions_expire(struct sessions *sessions, int64_t now_us);

#endif
