// SPDX-License-Identifier: MIT
// The queue's clock beside ours. A moment that the queue names, less what this says, is one of
// clock_now_us here; the clock that people set does not matter.
#ifndef SLUICE_CLIENT_CLOCK_H
#define SLUICE_CLIENT_CLOCK_H

#include "client/link.h"

// A clock that only goes forward, and goes on while this machine is suspended, as the queue's does.
// The monotonic one, by which calls and pauses are timed, stands still meanwhile: what the two say
// is never to be mixed.
int64_t clock_now_us(void);

// How far it is ahead of clock_now_us: at least and at most. An answer does not say how long it was
// under way.
struct clock_ahead {
    int64_t least_us, most_us;
};

// As if the queue had the clock that this machine has.
struct clock_ahead clock_assume(void);

// Asks a server. Fails where the queue is in this process: then it has the clock of this machine.
// `call` says how it is to be asked; its words are filled in.
enum sluice_status clock_ask(struct link *link, const struct link_call *call,
                             struct clock_ahead *out);

#endif
