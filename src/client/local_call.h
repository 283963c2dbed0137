// SPDX-License-Identifier: MIT
// A call on a folder, by one thread. A call that waits sleeps until
// another thread has answered it, its time is over, or it is interrupted:
//
//      this thread:   run --> waiter in line, sleeps ........................ wakes, told
//      any other:                       a job comes: runs it again, answers --^
//
// The thread that answers holds the folder's mutex, and so does a thread that gives up. A job is
// therefore either handed over to the call or not taken.
#ifndef SLUICE_CLIENT_LOCAL_CALL_H
#define SLUICE_CLIENT_LOCAL_CALL_H

#include "base/buffer.h"
#include "client/folder.h"
#include "wire/resp_reply.h"

#include <stdatomic.h>

struct local_call {
    struct folder *folder;
    struct presences *presences; // of the handle
    const struct command *command;
    int64_t timeout_us; // for the disk; INT64_MAX: no limit
    int interrupt;      // readable while waits are interrupted

    struct local_call *next; // next call that was answered in this turn
    struct waiter *waiter;   // while it waits
    int event;               // wakes the call
    atomic_bool told;
    bool interrupted;
    bool unsettled; // it was run, but its changes may or may not be stored
    uint64_t group;
    bool works; // `work` is still to be done
    struct work work;

    // The answer, as RESP, or the error.
    enum resp_version version;
    enum status status;
    struct buffer output;
    struct error error;
};

// Operations of the folder for waiting calls and for long work.
extern const struct waiting_ops local_call_ops;
MUST_USE enum status local_call_start(struct call *call, const struct work *work,
                                      struct error *error);

// Notes that a worker has popped by a call.
void local_call_popped(const struct call *call, struct slice worker);

// Runs the call until it has its answer. `words` are those after the name of the command.
void local_call_run(struct local_call *local_call, struct slices words);

// Wakes a call that was answered in a turn with this commit group. Called with the folder's mutex
// held.
void local_call_tell(struct local_call *local_call, uint64_t group);

// Sleeps until `event` or `interrupt` is readable, or until the deadline. If both are readable,
// returns WAKEUP_EVENT.
enum wakeup {
    WAKEUP_EVENT,
    WAKEUP_INTERRUPT,
    WAKEUP_TIME,
};
enum wakeup sleep_until(int event, int interrupt, int64_t deadline_us);

#endif
