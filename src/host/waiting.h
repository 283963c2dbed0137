// SPDX-License-Identifier: MIT
// Commands that wait: for a job in one of several queues, or for a job to finish. Waiters for the
// same queue are served in the order of arrival, as many as there are jobs. A waiting command is
// run again with the same words when it may get a job, and for the last time when its timeout has
// passed. The owner of the waiter measures the timeout.
#ifndef SLUICE_HOST_WAITING_H
#define SLUICE_HOST_WAITING_H

#include "api/call.h"
#include "base/map.h"
#include "engine/event.h"

struct ns;

// The waiters of a queue.
struct wait_line;

// A waiter for one of its queues.
struct wait_place {
    struct wait_line *line;
    struct wait_place *next, *previous;
    struct waiter *waiter;
};

// The result of a job; shared by the waiters for that job.
struct wait_finish {
    struct finish words;
    size_t holders;
    size_t size; // of the whole block
    char bytes[];
};

// The owner embeds this as the first member of a struct of its own.
struct waiter {
    struct ns *ns;
    struct waiter *newer, *older; // all waiters of the namespace
    const struct command *command;
    enum wait_kind kind;
    uint64_t number;           // identifies it in the engine, with WAIT_FINISH
    struct waiter *ready_next; // list of waiters whose job has finished
    bool ready;
    // the result of the job, when it is ready; NULL: there was no memory for it
    struct wait_finish *finish;
    struct slices words; // after the name and the namespace; owned, in this block
    size_t size;         // of the whole block
    size_t place_count;
    struct wait_place *places;
};

// What owners do with waiters.
struct waiting_ops {
    // Runs the command again. Returns whether it has replied; then the waiter has been freed. With
    // `last` it always replies.
    bool (*again)(struct waiter *waiter, bool last);
    // Ends the waiter; its command replies with this error.
    void (*fail)(struct waiter *waiter, const struct error *error);
};

// The waiters of a namespace.
struct waiting {
    struct map lines;
    struct map numbers; // waiters for a job to finish
    struct waiter *ready, **ready_last;
    struct wait_finish *finish; // the last one that was delivered, or NULL
    struct waiter *oldest, *newest;
    size_t count;
};

void waiting_init(struct waiting *waiting, struct hash_seed seed);
// There must be no waiters.
void waiting_release(struct waiting *waiting);

// Creates a waiter for a command that was run and has to wait, as `call` specifies. `owner_size` is
// the size of the struct that begins with the waiter; the rest of it is zeroed.
MUST_USE enum status waiter_new(struct ns *ns, const struct call *call, struct slices words,
                                size_t owner_size, struct waiter **out, struct error *error);

// Ends and frees a waiter without a reply.
void waiter_end(struct waiter *waiter);

// EVENT_FINISHED of an engine: how a job ended. The next waiting_serve replies to the waiter.
void waiting_finished(struct ns *ns, const struct event *event);

// How the waiter's job ended; NULL while it has not.
const struct finish *waiter_finish(const struct waiter *waiter);

// Runs the commands of waiters for which there may be a job or a result.
void waiting_serve(struct ns *ns);

// All waiters get this error, in the order of their arrival.
void waiting_fail_all(struct ns *ns, const struct error *error);

#endif
