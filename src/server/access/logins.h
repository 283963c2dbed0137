// SPDX-License-Identifier: MIT
// Logins that wait for a check of their password. One thread checks passwords, one at a time, while
// the loop goes on; a connection takes no other request until its login is decided.
//
//      loop:    login_start --> waiting ... best first --> given to the thread    login_end
//      thread:                                              +-- PBKDF2 .......... done --^
//
// Which login is next is decided when the thread is free: one from the address with the fewest
// recent failures, then the oldest. So guesses, however many, do not delay a first login from
// another address by more than the check that is running. What has waited is looked at again: it is
// decided without a check when the password has been accepted meanwhile, or when there were too
// many failures.
//
// The number of logins that wait is limited, in all and for each address. When there are too many
// in all, one from the address with the most failures and logins gives way.
#ifndef SLUICE_SERVER_ACCESS_LOGINS_H
#define SLUICE_SERVER_ACCESS_LOGINS_H

#include "server/config/users.h"
#include "server/loop.h"

#include <pthread.h>

struct connection;
struct login;
struct server;

enum {
    LOGIN_SOURCES = 1024, // a power of two
};

struct logins {
    struct login *first, **last; // those that wait, in the order in which they came; owned
    size_t count;
    uint16_t sources[LOGIN_SOURCES]; // how many of them, by a hash of their address
    struct login *running;           // what the thread has, or NULL; owned
    uint64_t failed, refused;        // ever; for INFO

    struct loop_event *done; // NULL until the first check
    int fd;                  // an eventfd
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    struct login *work; // under the lock: to be run
    bool stop;          // under the lock
};

// What is done when a login is decided, on the loop. With STATUS_OK there is a user.
typedef void login_decided(struct connection *connection, enum status status,
                           const struct user *user, const struct error *error);

// Logs a connection in. OK with a user: it is decided. OK without one: it waits, and `decided` will
// be called unless the connection is closed before. Otherwise as users_login_begin, and DENIED when
// no user can have that name and password.
MUST_USE enum status login_start(struct connection *connection, struct slice name,
                                 struct slice password, login_decided *decided,
                                 const struct user **out, struct error *error);

// What is done when a password has been hashed, on the loop. `kept` is what login_hash was given.
typedef void password_hashed(struct connection *connection, struct slice kept,
                             const struct password *password, const struct error *error);

// Hashes a password in the same thread, before all logins that wait. `kept` is copied. The
// connection takes no other request meanwhile.
MUST_USE enum status login_hash(struct connection *connection, struct slice plain,
                                struct slice kept, password_hashed *hashed, struct error *error);

// The connection is closed.
void login_forget(struct connection *connection);

// Before the loop and the users are gone.
void logins_release(struct server *server);

#endif
