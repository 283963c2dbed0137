// SPDX-License-Identifier: MIT
// Whether a put whose answer was lost had been heard.
//
// A jid that the library has made is nobody else's: the job is there, or the put was not heard. One
// that the caller chose may have been there before, and the put is then a move. To say that it was
// heard when it was not loses it; to move the job once more when it was takes it away from a worker
// who has it by now. So each needs its evidence, and without any the outcome is unknown:
//
//     not there                                         not heard
//     put, popped or completed last before the call     not heard
//     the same, later than the server's now             unsure: its clock was set back
//     in line as it was put, and not yet popped         heard: if another put it there, all is as
//                                                       this one would have left it
//     popped after the call began, the same as put      heard: it was in line during the call
//     anything else                                     unsure
#ifndef SLUICE_CLIENT_HEARD_H
#define SLUICE_CLIENT_HEARD_H

#include "client/clock.h"
#include "client/queue.h"

enum heard {
    HEARD_NOT,
    HEARD,
    HEARD_UNSURE,
};

struct putting {
    struct sluice *sluice;
    const struct sluice_put *put;
    int64_t began_us; // by clock_now_us: nothing was asked before
    int64_t until_us; // of the whole call, monotonic
    // The server's clock, which is asked for when it is needed first. One that is not told then is
    // not told later in the same call either.
    bool clock_asked, clock_known;
    struct clock_ahead ahead;
};

// Looks for the job under the jid that it was put with.
enum heard put_heard(struct putting *putting, const char *jid);

#endif
