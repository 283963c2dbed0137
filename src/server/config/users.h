// SPDX-License-Identifier: MIT
// Users with hashed passwords, and their rights on namespaces.
//
//     user ann pbkdf2-sha256$100000$...$... app/mail-*:put reports:read team-*:admin
//
// The setting `password` creates the user `default` with every right. A grant is
// NAMESPACE[/QUEUE]:RIGHT[+RIGHT] (api/right.h); namespace and queue are each a name, a prefix of
// names followed by `*`, or `*` for all. A user has every right that any of its grants gives. A
// grant with a queue is valid only for commands that name such queues, or jobs in them
// (access/permit.h).
//
// Failed logins are counted by address and name (throttle.h). Checking a password is slow by
// design, so it is done in another thread (access/logins.h) between users_login_begin and
// users_login_end. This file uses no clock: callers pass CLOCK_MONOTONIC.
#ifndef SLUICE_SERVER_CONFIG_USERS_H
#define SLUICE_SERVER_CONFIG_USERS_H

#include "api/right.h"
#include "base/alloc.h"
#include "base/slice.h"
#include "base/status.h"
#include "server/config/password.h"
#include "server/config/settings.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct users;
struct throttle;
struct grant;

// A user keeps its address in memory until users_free, even if a reload removes it: then it has no
// rights. So connections may keep pointers, and a reload takes effect at once.
struct user {
    unsigned everywhere; // rights on the whole of every namespace, including future ones
    const struct grant *grants;
    size_t grant_count;
    const char *name;
    bool stored;  // at run time, not in the settings
    bool revoked; // its connections have to be closed
};

MUST_USE enum status users_new(const struct allocator *allocator, const struct settings *settings,
                               struct users **out, struct error *error);
void users_free(struct users *users);

// Takes over the users of the settings, and the users of `stored`, lines "NAME HASH RIGHTS...",
// whose names are not in the settings. When it fails nothing has changed. Users that were removed,
// or whose password has changed, are `revoked` until users_settle.
MUST_USE enum status users_reload(struct users *users, const struct settings *settings,
                                  struct slices stored, struct error *error);
void users_settle(struct users *users);

// Whether a user other than `except` has every right on every namespace.
bool users_have_admin(const struct users *users, struct slice except);
// The users that are not removed: call it with `index` from 0 until it returns NULL.
const struct user *users_at(const struct users *users, size_t index);

// The user of an unauthenticated connection: if there are no users, one with every right; otherwise
// NULL.
const struct user *users_anybody(const struct users *users);

// Whether a reload has removed the user.
bool user_is_gone(const struct user *user);

// ---------------------------------------------------------------------------------------------
// Logging in

enum {
    USER_NAME_SIZE_MAX = 255,
    LOGIN_DIGEST_SIZE = 32,
};

// `address` is the remote address as text without the port ("unix" for a Unix socket). An empty
// name means `default`.
struct login_name {
    struct slice name, address;
};

// What a check of a password needs; a copy that another thread may read.
struct login_check {
    struct password password;
    bool is_user;             // false: there is no such user; the check takes the same time
    uint32_t iterations_more; // run after a wrong password, so that all checks take the same time
    bool has_digest;
    uint8_t digest[LOGIN_DIGEST_SIZE];
};

// Begins a login. OK with a user: the password is right, as at an earlier login. OK without a user:
// the check must be run. BUSY, without a check, after too many failures; STATE if there are no
// users.
MUST_USE enum status users_login_begin(struct users *users, const struct login_name *who,
                                       struct slice password, int64_t now_us,
                                       struct login_check *check, const struct user **out,
                                       struct error *error);
// OK if the password is right, DENIED if it is not, NO_MEMORY if that cannot be determined; then
// the login counts neither as a success nor as a failure. May be called from any thread.
MUST_USE enum status login_check_run(const struct login_check *check, struct slice password);
// Takes over the result of a check: the user, or DENIED with the same message whether the user
// exists or not. `refused_us` is how long further attempts are refused, or 0.
MUST_USE enum status users_login_end(struct users *users, const struct login_name *who,
                                     const struct login_check *check, bool right, int64_t now_us,
                                     const struct user **out, int64_t *refused_us,
                                     struct error *error);

// For the order of checks.
const struct throttle *users_throttle(const struct users *users);

// ---------------------------------------------------------------------------------------------

// The user's rights on the whole of a namespace; on a queue of it, including those; on any part of
// it.
unsigned user_rights(const struct user *user, struct slice ns);
unsigned user_rights_on(const struct user *user, struct slice ns, struct slice queue);
unsigned user_rights_somewhere(const struct user *user, struct slice ns);

// Whether the user has all these rights on the whole of a namespace.
static inline bool user_may(const struct user *user, struct slice ns, unsigned rights)
{
    return (user->everywhere & rights) == rights || (user_rights(user, ns) & rights) == rights;
}

// The user's grants as text, "app/mail-*:put": call it with `index` from 0 until it returns false.
enum {
    USER_GRANT_SIZE = 2 * 256 + RIGHTS_TEXT_SIZE + 4,
};
bool user_grant(const struct user *user, size_t index, char text[USER_GRANT_SIZE]);

// The user with that name that is not removed, or NULL. For users that authenticate without a
// password.
const struct user *users_find(const struct users *users, struct slice name);

// Whether the user has all these rights on the whole of some namespace.
bool user_may_anywhere(const struct user *user, unsigned rights);

// Checks the words after `user` in the settings: "NAME PASSWORD-OR-HASH RIGHTS...". INVALID with a
// message that says what is allowed.
MUST_USE enum status user_check_words(const struct slice *words, size_t count, struct error *error);

#endif
