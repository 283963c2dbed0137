// SPDX-License-Identifier: MIT
// A command that is being run: what it is about, what it may use, and where its answer goes.
#ifndef SLUICE_API_CALL_H
#define SLUICE_API_CALL_H

#include "api/command.h"
#include "engine/recurring/zone.h"

enum wait_kind {
    WAIT_NONE,
    WAIT_POP,    // for a job in one of the queues
    WAIT_FINISH, // for a job to finish: the engine tells the waiter
    WAIT_HOST,   // for something of the host's, which answers when it is done
};

struct wait {
    enum wait_kind kind;
    int64_t timeout_us; // INT64_MAX: as long as it takes
    struct slices queues;
};

struct call;

// What the host gives to commands.
struct host {
    uint64_t (*random)(void *context); // from a good source, or seeded by one
    // The rules of a time zone by its name; the transitions are borrowed until the next call.
    // NOT_FOUND when there is none of that name. NULL: the host knows of none.
    enum status (*zone)(void *context, struct slice name, struct zone_rules *out,
                        struct error *error);
    // A pop passed over a job of the namespace because the job does not fit a reply, which may have
    // `size_max` bytes. For the operator of the host. May be NULL.
    void (*unfit)(void *context, struct slice ns, struct slice jid, size_t size_max);
    // A worker has popped, and may have to wait now (call->wait). May be NULL.
    void (*popped)(const struct call *call, struct slice worker);
    // A command of COMMAND_NOTES_REFUSED was refused, for whatever reason. May be NULL.
    void (*refused)(const struct call *call, struct slices words, const struct error *why);
    void *context;
};

// How a job ended that a call waited for.
struct finish {
    struct slice state;          // complete, failed or canceled
    struct slice result;         // empty: none
    struct slice group, message; // of a failed one
};

// Whether the caller may run the command with these arguments; DENIED with a sentence.
typedef enum status call_permit(const struct call *call, struct error *error);

struct call {
    const struct command *command;
    struct slice ns;       // its name, empty for commands without
    struct engine *engine; // its engine
    int64_t now_us;
    struct slices words;   // behind the name and the namespace; of many, those of one
    const void *arguments; // the command's struct
    struct reply *reply;
    const struct host *host;
    struct slice user;   // who calls, for acts that are kept; empty: not known
    void *session;       // the face's own, for commands about the connection
    call_permit *permit; // asked for each run, when the arguments are known; NULL: it may
    // A command that may wait and has nothing to answer yet fills `wait` and says nothing. It is
    // run again, with the same words, when there may be something. With `last` set it answers in
    // any case: its time is over, or the host cannot wait.
    bool last;
    uint64_t waiter;             // the number to wait under, for engine_wait
    const struct finish *finish; // what the engine told the waiter; NULL: nothing yet
    struct wait wait;
};

// Says OK unless it failed.
MUST_USE enum status call_ok(struct call *call, enum status status);

// The rules of a time zone, from the host; NOT_FOUND when it knows of none with that name.
MUST_USE enum status call_ask_zone(const struct call *call, struct slice zone,
                                   struct zone_rules *out, struct error *error);

// Whether there is room in the answer for so many bytes: TOO_LARGE otherwise. For commands that
// change something, before they do.
MUST_USE enum status call_check_room(const struct call *call, size_t size, struct error *error);

// Reads the words behind the name (and the namespace) and runs the command, or each of the commands
// that they are made of. When it fails nothing was said.
MUST_USE enum status call_run(struct call *call, struct slices words, struct scratch *scratch,
                              struct error *error);

#endif
