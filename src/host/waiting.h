// SPDX-License-Identifier: MIT
// Commands that wait: for a job in one of several queues, or for a job to finish. Waiters for the
// same queue are served in the order of their arrival, as many as there are jobs. A waiting command
// is run again with the same words when there may be a job for it, and for the last time when its
// timeout, which its owner measures, has passed.
#ifndef SLUICE_HOST_WAITING_H
#define SLUICE_HOST_WAITING_H

#include "api/call.h"
#include "base/map.h"
#include "engine/event.h"

struct ns;

// The waiters of a queue.
struct wait_line;

// A waiter in the line of one of its queues.
struct wait_place {
    struct wait_line *line;
    struct wait_place *next, *previous;
    struct waiter *waiter;
};

// How a job ended that waiters wait for; they share it.
struct wait_finish {
    struct finish words;
    size_t holders;
    size_t size; // of the whole block
    char bytes[];
};

// Its owner puts this first in a struct of its own.
struct waiter {
    struct ns *ns;
    struct waiter *newer, *older; // all of the namespace
    const struct command *command;
    enum wait_kind kind;
    uint64_t number;           // under which the engine knows it, with WAIT_FINISH
    struct waiter *ready_next; // of those whose job has finished
    bool ready;
    struct wait_finish *finish; // of the job it waits for, when it is ready; NULL: no memory for it
    struct slices words;        // behind the name and the namespace; owned, in this block
    size_t size;                // of the whole block
    size_t place_count;
    struct wait_place *places;
};

// What owners do with waiters.
struct waiting_ops {
    // Runs the command once more. Says whether it was answered, and then the waiter has ended; with
    // `last` it always is.
    bool (*again)(struct waiter *waiter, bool last);
    // Ends the waiter; its command gets this error.
    void (*fail)(struct waiter *waiter, const struct error *error);
};

// Of a namespace.
struct waiting {
    struct map lines;
    struct map numbers; // waiters for a job to finish
    struct waiter *ready, **ready_last;
    struct wait_finish *finish; // the last one that was told, or NULL
    struct waiter *oldest, *newest;
    size_t count;
};

void waiting_init(struct waiting *waiting, struct hash_seed seed);
// There must be no waiters.
void waiting_release(struct waiting *waiting);

// A command that was run has to wait, as `call` says. `owner_size` is that of the struct that
// begins with the waiter, of which the rest is zeroed.
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
