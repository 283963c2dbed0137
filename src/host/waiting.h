// SPDX-License-Identifier: MIT
// Commands that wait: for a job in one of several queues, or for a job to finish. Those who wait
// for the same queue are served in the order in which they came, as many as there are jobs. A
// command that waits is run again, with the words it came with, when there may be something for it;
// with its time over, which its owner looks after, for the last time.
#ifndef SLUICE_HOST_WAITING_H
#define SLUICE_HOST_WAITING_H

#include "api/call.h"
#include "base/map.h"
#include "engine/event.h"

struct ns;

// Who waits for a queue.
struct wait_line;

// A waiter in the line of one of its queues.
struct wait_place {
    struct wait_line *line;
    struct wait_place *next, *previous;
    struct waiter *waiter;
};

// How a job ended that some wait for; they share it.
struct wait_finish {
    struct finish words;
    size_t holders;
    size_t size; // of the whole block
    char bytes[];
};

// Its owner puts this first in a struct of his own.
struct waiter {
    struct ns *ns;
    struct waiter *newer, *older; // all of the namespace
    const struct command *command;
    enum wait_kind kind;
    uint64_t number;           // under which the engine knows it, with WAIT_FINISH
    struct waiter *ready_next; // of those for whom the engine has spoken
    bool ready;
    struct wait_finish *finish; // of the job it waits for, when it is ready; NULL: no memory for it
    struct slices words;        // behind the name and the namespace; owned, in this block
    size_t size;                // of the whole block
    size_t place_count;
    struct wait_place *places;
};

// What owners do with those who wait.
struct waiting_form {
    // Runs the command once more. Says whether it was answered, and then the waiter has ended; with
    // `last` it always is.
    bool (*again)(struct waiter *waiter, bool last);
    // Ends the waiter; its command gets this error.
    void (*fail)(struct waiter *waiter, const struct error *error);
};

// Of a namespace.
struct waiting {
    struct map lines;
    struct map numbers; // those who wait for a job to finish
    struct waiter *ready, **ready_last;
    struct wait_finish *finish; // the last one that was told, or NULL
    struct waiter *oldest, *newest;
    size_t count;
};

void waiting_init(struct waiting *waiting, struct hash_seed seed);
// Nobody must wait any more.
void waiting_release(struct waiting *waiting);

// A command that was run has to wait, as `call` says. `owner_size` is that of the struct that
// begins with the waiter, of which the rest is zeroed.
MUST_USE enum status waiter_new(struct ns *ns, const struct call *call, struct slices words,
                                size_t owner_size, struct waiter **out, struct error *error);

// It waits no more, without an answer, and is gone.
void waiter_end(struct waiter *waiter);

// The engine told a waiter how the job ended: EVENT_FINISHED. The waiter gets an answer with the
// next waiting_serve.
void waiting_finished(struct ns *ns, const struct event *event);

// What the waiter's command is to say; NULL when it has not been told.
const struct finish *waiter_finish(const struct waiter *waiter);

// Serves those for whom there may be something.
void waiting_serve(struct ns *ns);

// All who wait in it get this error, in the order in which they came.
void waiting_fail_all(struct ns *ns, const struct error *error);

#endif
