// SPDX-License-Identifier: MIT
// A running command: its target, what it may use, and its reply.
#ifndef SLUICE_API_CALL_H
#define SLUICE_API_CALL_H

#include "api/command.h"
#include "engine/recurring/zone.h"

enum wait_kind {
    WAIT_NONE,
    WAIT_POP,    // for a job in one of the queues
    WAIT_FINISH, // for a job to finish: the engine reports that
    WAIT_HOST,   // for work of the host, which writes the reply
};

struct wait {
    enum wait_kind kind;
    int64_t timeout_us; // INT64_MAX: no timeout
    struct slices queues;
};

struct call;

// What the host provides for commands.
struct host {
    uint64_t (*random)(void *context); // from a good source, or seeded from one
    // The rules of a time zone; the transitions are borrowed until the next call. NOT_FOUND if
    // there is no zone with that name. NULL: the host has no zones.
    enum status (*zone)(void *context, struct slice name, struct zone_rules *out,
                        struct error *error);
    // A pop has skipped a job of the namespace because the job does not fit into a reply, which may
    // have `size_max` bytes. The host logs that. May be NULL.
    void (*unfit)(void *context, struct slice ns, struct slice jid, size_t size_max);
    // A worker has popped, and the command may wait now (call->wait). May be NULL.
    void (*popped)(const struct call *call, struct slice worker);
    // A command with COMMAND_NOTES_REFUSED was refused, for any reason. May be NULL.
    void (*refused)(const struct call *call, struct slices words, const struct error *why);
    void *context;
};

// The result of a job that a call waited for.
struct finish {
    struct slice state;          // complete, failed or canceled
    struct slice result;         // empty: none
    struct slice group, message; // of a failed job
};

// Whether the caller may run the command with these arguments; DENIED with a message.
typedef enum status call_permit(const struct call *call, struct error *error);

struct call {
    const struct command *command;
    struct slice ns;       // of the namespace; empty for commands without one
    struct engine *engine; // its engine
    int64_t now_us;
    // after the name and the namespace; in a bulk command, those of one element
    struct slices words;
    const void *arguments; // the command's struct
    struct reply *reply;
    const struct host *host;
    struct slice user; // the caller, for records of what was done; empty: unknown
    void *session;     // belongs to the face, for commands about the connection
    // called before each run, when the arguments are parsed; NULL: everything is permitted
    call_permit *permit;
    // A command that may wait and has no result yet sets `wait` and writes no reply. It is run
    // again with the same words when there may be a result. With `last` set it must reply: its
    // timeout has passed, or the host cannot wait.
    bool last;
    uint64_t waiter;             // id of the waiter, for engine_wait
    const struct finish *finish; // the result that the engine reported; NULL: none yet
    struct wait wait;
};

// Replies OK unless `status` is an error; returns `status`.
MUST_USE enum status call_ok(struct call *call, enum status status);

// The rules of a time zone, from the host; NOT_FOUND if it has no zone with that name.
MUST_USE enum status call_ask_zone(const struct call *call, struct slice zone,
                                   struct zone_rules *out, struct error *error);

// TOO_LARGE unless the reply has room for so many bytes. Commands that change something check this
// before the change.
MUST_USE enum status call_check_room(const struct call *call, size_t size, struct error *error);

// Parses the words after the name (and the namespace) and runs the command, or each of its
// elements. When it fails nothing was written.
MUST_USE enum status call_run(struct call *call, struct slices words, struct scratch *scratch,
                              struct error *error);

#endif
