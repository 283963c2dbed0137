// SPDX-License-Identifier: MIT
// Logins that wait for a check of their password. One thread checks passwords, one at a time, while
// the loop continues. A connection runs no other request until its login is decided.
//
//      loop:    login_start --> waiting ... best first --> given to the thread    login_end
//      thread:                                              +-- PBKDF2 .......... done --^
//
// The next login is chosen when the thread is free: the oldest login from the address with the
// fewest recent failures. So password guesses, however many, delay the first login from another
// address only by the check that is running. A login that has waited is examined again: it is
// decided without a check if the password has been accepted meanwhile, or if the address has too
// many failures.
//
// The number of waiting logins is limited in total and for each address. When the total is
// exceeded, a login from the address with the most failures and logins is refused.
#ifndef SLUICE_SERVER_ACCESS_LOGINS_H
#define SLUICE_SERVER_ACCESS_LOGINS_H

#include "server/config/users.h"
#include "server/loop.h"

#include <pthread.h>

struct connection;
struct login;
struct server;

enum {
    LOGIN_SOURCES = 8192, // a power of two; large, so that addresses rarely share a count
};

struct logins {
    struct login *first, **last; // waiting logins in the order of arrival; owned
    size_t count;
    uint16_t sources[LOGIN_SOURCES]; // number of waiting logins, by a hash of their address
    struct login *running;           // the login that the thread checks, or NULL; owned
    uint64_t failed, refused;        // since the start; for INFO

    struct loop_event *done; // NULL until the first check
    int fd;                  // an eventfd
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    struct login *work; // guarded by `lock`: to be checked
    bool stop;          // guarded by `lock`
};

// Called in the loop when a login is decided. With STATUS_OK there is a user.
typedef void login_decided(struct connection *connection, enum status status,
                           const struct user *user, const struct error *error);

// Logs a connection in. OK with a user: decided at once. OK without a user: the login waits, and
// `decided` will be called unless the connection closes before. Otherwise as users_login_begin;
// DENIED if no user can have that name and password.
MUST_USE enum status login_start(struct connection *connection, struct slice name,
                                 struct slice password, login_decided *decided,
                                 const struct user **out, struct error *error);

// Called in the loop when a password has been hashed. `kept` is the value that login_hash was
// given.
typedef void password_hashed(struct connection *connection, struct slice kept,
                             const struct password *password, const struct error *error);

// Hashes a password in the same thread, before all waiting logins. `kept` is copied. The connection
// runs no other request until then.
MUST_USE enum status login_hash(struct connection *connection, struct slice plain,
                                struct slice kept, password_hashed *hashed, struct error *error);

// To be called when the connection closes.
void login_forget(struct connection *connection);

// To be called before the loop and the users are freed.
void logins_release(struct server *server);

#endif
