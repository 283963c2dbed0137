// SPDX-License-Identifier: MIT
// The offset between the clock of the queue and the clock of this
// machine. A time of the queue, less the offset, is a time of clock_now_us. Changes of this
// machine's wall clock have no effect.
#ifndef SLUICE_CLIENT_CLOCK_H
#define SLUICE_CLIENT_CLOCK_H

#include "client/link.h"

// A clock that never goes back and counts while the machine is suspended, like that of the queue.
// The monotonic clock of deadlines does not count then: times of the two clocks must not be mixed.
int64_t clock_now_us(void);

// The offset from clock_now_us: lower and upper bound, because the delay of an answer is unknown.
struct clock_ahead {
    int64_t least_us, most_us;
};

// Assumes that the queue has the wall clock of this machine.
struct clock_ahead clock_assume(void);

// Asks a server for its time. Fails for a queue in this process, which has the clock of this
// machine. `call` has the options of the call; its words are filled in.
enum sluice_status clock_ask(struct link *link, const struct link_call *call,
                             struct clock_ahead *out);

#endif
