// SPDX-License-Identifier: MIT
// The audit log: what administrators did and what was refused, with user, address and time. Each
// entry is a log line and is kept in memory for Q.AUDIT, up to `audit-kept` entries. Refusals and
// acts on single jobs (COMMAND_JOB_ACT) have a ring of their own, so that a client that is refused
// or cancels jobs repeatedly does not displace other entries.
//
// Administrative acts are logged without a limit; refusals and acts on single jobs at the rate
// limit of the log. No entry contains a password or another secret: arguments that the command's
// table marks as secret (ABOUT_SECRET) are shown as ***.
#ifndef SLUICE_SERVER_ACCESS_AUDIT_H
#define SLUICE_SERVER_ACCESS_AUDIT_H

#include "api/command.h"
#include "base/alloc.h"
#include "base/slice.h"
#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

struct connection;
struct server;

enum {
    AUDIT_TEXT_MAX = 256, // of each part of an entry
};

enum audit_kind {
    AUDIT_ACT,
    AUDIT_DENIED,
    AUDIT_LOGIN, // a failed login
};

struct audit_entry {
    uint64_t id;
    int64_t at_us;
    enum audit_kind kind;
    bool on_job;        // an act on single jobs
    enum status status; // the result of the command
    size_t size;        // of the block
    // Point into the block after the struct; printable characters only.
    struct slice user, address, ns, command, arguments;
};

struct audit_ring {
    struct audit_entry **items; // owned; the newest replaces the oldest
    size_t count, next, capacity;
};

struct audit {
    const struct allocator *allocator;
    struct audit_ring acts, job_acts, refusals;
    uint64_t id;      // the highest one used
    uint64_t refused; // since the start
};

MUST_USE enum status audit_init(struct server *server, struct error *error);
void audit_release(struct server *server);

// Records that a command with COMMAND_AUDITED was run; `words` follow its name and namespace.
void audit_act(struct connection *connection, const struct command *command, struct slice ns,
               struct slices words, enum status status);
// Records that a user has no right to a command.
void audit_denied(struct connection *connection, const struct command *command, struct slice ns);
// Records a failed login.
void audit_login(struct server *server, struct slice user, struct slice address);

// The entry with the highest number below `before`, or NULL.
const struct audit_entry *audit_before(const struct audit *audit, uint64_t before);

const char *audit_kind_name(enum audit_kind kind);

#endif
