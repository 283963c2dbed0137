// SPDX-License-Identifier: MIT
// What a client may do on a connection of HTTP/2 that is of no use to it: send pings, and frames
// that neither ask for anything nor bring a part of a request. Sending it an answer renews the
// patience, so that a client that works is never refused.
//
//     ping sooner than `min_ping_us` after the last one:   a strike; the third closes the connection
//     IDLE_FRAMES_MAX other frames without an answer:      the connection is closed
#ifndef SLUICE_SERVER_H2_PATIENCE_H
#define SLUICE_SERVER_H2_PATIENCE_H

#include <stdbool.h>
#include <stdint.h>

enum {
    PATIENCE_STRIKES_MAX = 2,
    PATIENCE_IDLE_FRAMES_MAX = 10000,
};

struct patience {
    int64_t min_ping_us; // 0: pings are not limited
    int64_t ping_us;     // when the last one came; 0: none since the last answer
    unsigned strikes;
    unsigned idle_frames;
};

// A ping came. False: it was one too many.
bool patience_ping(struct patience *patience, int64_t now_us);

// A frame came that is of no use. False: it was one too many.
bool patience_idle_frame(struct patience *patience);

// The client was sent a part of an answer.
void patience_answered(struct patience *patience);

#endif
