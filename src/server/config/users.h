// SPDX-License-Identifier: MIT
// Who may do what: users with hashed passwords and rights on namespaces.
//
//     user ann pbkdf2-sha256$100000$...$... app/mail-*:put reports:read team-*:admin
//
// The setting `password` makes the user `default` with every right. A grant is
// NAMESPACE[/QUEUE]:RIGHT[+RIGHT] (api/right.h); namespace and queue are a name, a beginning of
// names with `*` behind it, or `*` for all. A user has all rights that any of its grants gives.
// With a queue the grant holds only for commands that name such queues, or jobs in them
// (server/permit.h).
//
// Failed logins are counted by address and name (server/throttle.h). Checking a password is slow on
// purpose, so it is done in another thread (server/logins.h) between users_login_begin and
// users_login_end. It has no clock: callers give CLOCK_MONOTONIC.
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

// A user stays where it is until users_free, also when a reload takes it away: then it has no
// rights. So a connection may keep the pointer, and a reload changes what it may at once.
struct user {
    unsigned everywhere; // rights on all of every namespace, also those not made yet
    const struct grant *grants;
    size_t grant_count;
    const char *name;
    bool stored;  // and not of the settings
    bool revoked; // its connections have to end
};

MUST_USE enum status users_new(const struct allocator *allocator, const struct settings *settings,
                               struct users **out, struct error *error);
void users_free(struct users *users);

// Takes over the users of the settings, and those of `stored`, lines "NAME HASH RIGHTS...", that
// have no user of the same name there. When it fails nothing has changed. Users that were removed,
// or whose password has changed, are `revoked` until users_settle.
MUST_USE enum status users_reload(struct users *users, const struct settings *settings,
                                  struct slices stored, struct error *error);
void users_settle(struct users *users);

// Whether a user with every right on every namespace is there besides the one of that name.
bool users_have_admin(const struct users *users, struct slice except);
// The users that are not removed: `index` from 0 until it is NULL.
const struct user *users_at(const struct users *users, size_t index);

// The user of a connection that has not authenticated: without users one with every right, else
// NULL.
const struct user *users_anybody(const struct users *users);

// Whether a user has been taken away by a reload.
bool user_is_gone(const struct user *user);

// ---------------------------------------------------------------------------------------------
// Logging in

enum {
    USER_NAME_SIZE_MAX = 255,
    LOGIN_DIGEST_SIZE = 32,
};

// `address` is the remote one as text without the port ("unix" for a Unix socket). An empty name is
// `default`.
struct login_name {
    struct slice name, address;
};

// What a check of a password needs; a copy that another thread may read.
struct login_check {
    struct password password;
    bool is_user;             // false: there is no such user, and the check takes as long
    uint32_t iterations_more; // after a wrong password, so that all checks take the same time
    bool has_digest;
    uint8_t digest[LOGIN_DIGEST_SIZE];
};

// Begins a login. OK with a user: the password is right, as it was at an earlier login. OK without
// one: the check has to be run. BUSY, without a look at the password, after too many failures;
// STATE when there are no users.
MUST_USE enum status users_login_begin(struct users *users, const struct login_name *who,
                                       struct slice password, int64_t now_us,
                                       struct login_check *check, const struct user **out,
                                       struct error *error);
// OK when the password is right, DENIED when it is not, NO_MEMORY when that cannot be told; then the
// login is neither a success nor a failure. From any thread.
MUST_USE enum status login_check_run(const struct login_check *check, struct slice password);
// Takes over the result of a check: the user, or DENIED with the same sentence whether there is
// such a user or not. `refused_us` is how long further attempts are refused, or 0.
MUST_USE enum status users_login_end(struct users *users, const struct login_name *who,
                                     const struct login_check *check, bool right, int64_t now_us,
                                     const struct user **out, int64_t *refused_us,
                                     struct error *error);

// For the order in which checks are run.
const struct throttle *users_throttle(const struct users *users);

// ---------------------------------------------------------------------------------------------

// The rights on all of a namespace; on a queue of it, with those; on any part of it.
unsigned user_rights(const struct user *user, struct slice ns);
unsigned user_rights_on(const struct user *user, struct slice ns, struct slice queue);
unsigned user_rights_somewhere(const struct user *user, struct slice ns);

// Whether the user has all these rights on all of a namespace.
static inline bool user_may(const struct user *user, struct slice ns, unsigned rights)
{
    return (user->everywhere & rights) == rights || (user_rights(user, ns) & rights) == rights;
}

// The user's grants as text, "app/mail-*:put": `index` from 0 until it is false.
enum {
    USER_GRANT_SIZE = 2 * 256 + RIGHTS_TEXT_SIZE + 4,
};
bool user_grant(const struct user *user, size_t index, char text[USER_GRANT_SIZE]);

// The user of that name that is not removed, or NULL. For those known by other means than a
// password.
const struct user *users_find(const struct users *users, struct slice name);

// Whether the user has all these rights on all of some namespace.
bool user_may_anywhere(const struct user *user, unsigned rights);

// Checks the words behind `user` in the settings: "NAME PASSWORD-OR-HASH RIGHTS...". INVALID with a
// sentence that says what is allowed. For settings.
MUST_USE enum status user_check_words(const struct slice *words, size_t count, struct error *error);

#endif
