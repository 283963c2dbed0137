// SPDX-License-Identifier: MIT
#include "server/h2/patience.h"

bool patience_ping(struct patience *patience, int64_t now_us)
{
    if (patience->min_ping_us == 0) {
        return patience_idle_frame(patience);
    }
    bool first = patience->ping_us == 0;
    bool soon = !first && now_us - patience->ping_us < patience->min_ping_us;
    patience->ping_us = now_us;
    patience->strikes += soon;
    return patience->strikes <= PATIENCE_STRIKES_MAX;
}

bool patience_idle_frame(struct patience *patience)
{
    patience->idle_frames++;
    return patience->idle_frames <= PATIENCE_IDLE_FRAMES_MAX;
}

void patience_answered(struct patience *patience)
{
    patience->ping_us = 0;
    patience->strikes = 0;
    patience->idle_frames = 0;
}
