// SPDX-License-Identifier: MIT
// A call on a folder, by one thread. One that has to wait sleeps until another thread has answered
// it, its time is over, or it is interrupted:
//
//      this thread:   run --> waiter in line, sleeps ........................ wakes, told
//      any other:                       a job comes: runs it again, answers --^
//
// The thread that answers holds the folder's mutex, and so does a thread that gives up: either the
// job is handed over and the call has it, or it is not handed over.
#ifndef SLUICE_CLIENT_LOCAL_CALL_H
#define SLUICE_CLIENT_LOCAL_CALL_H

#include "base/buffer.h"
#include "client/folder.h"
#include "wire/resp_reply.h"

#include <stdatomic.h>

struct local_call {
    struct folder *folder;
    struct presences *presences; // of its handle
    const struct command *command;
    int64_t timeout_us; // for the disk, INT64_MAX: as long as it takes
    int interrupt;      // readable while calls that wait are to end

    struct local_call *next; // answered in this turn
    struct waiter *waiter;   // while it waits
    int event;               // that wakes it
    atomic_bool told;
    bool interrupted;
    bool unsettled; // it was run, and whether what it did will be stored is not known
    uint64_t group;
    bool works; // it still has this to do
    struct work work;

    // The answer, as RESP, or the error.
    enum resp_version version;
    enum status status;
    struct buffer output;
    struct error error;
};

// What a folder does with those who wait, and with work that takes long.
extern const struct waiting_ops local_call_ops;
MUST_USE enum status local_call_start(struct call *call, const struct work *work,
                                      struct error *error);

// A worker has popped by a call.
void local_call_popped(const struct call *call, struct slice worker);

// Asks: `words` stand behind the command's name. What is answered may be told by then.
void local_call_run(struct local_call *local_call, struct slices words);

// With the folder's mutex held: it was answered in a turn that ended so.
void local_call_tell(struct local_call *local_call, uint64_t group);

// Sleeps until `event` or `interrupt` is readable, or the moment has come; says which of them:
// the first has precedence.
enum wakeup {
    WAKEUP_EVENT,
    WAKEUP_INTERRUPT,
    WAKEUP_TIME,
};
enum wakeup sleep_until(int event, int interrupt, int64_t deadline_us);

#endif
