// SPDX-License-Identifier: MIT
#include "server/net/allowance.h"

enum {
    UNAUTHENTICATED_DISCARD = 1 << 20,
    UNAUTHENTICATED_DISCARD_US = 5000000,
    DISCARD_MIN = 64 << 20,
    DISCARD_US = 30000000,
};

void allowances_init(struct allowances *allowances, const struct settings *settings,
                     size_t read_max)
{
    size_t half = settings->max_output / 2;
    *allowances = (struct allowances){
        // A parser may need all of UNAUTHENTICATED_KEPT before it refuses a request.
        .unauthenticated = { .read_max = UNAUTHENTICATED_KEPT,
                             .input_max = 2 * (size_t)UNAUTHENTICATED_KEPT,
                             .input_ahead_max = UNAUTHENTICATED_KEPT,
                             .unread_max = UNAUTHENTICATED_KEPT,
                             .pipeline_max = UNAUTHENTICATED_PIPELINE,
                             .discard_max = UNAUTHENTICATED_DISCARD,
                             .discard_us = UNAUTHENTICATED_DISCARD_US },
        // The parsers know max-request. Framing may double what a request takes.
        .authenticated = { .read_max = read_max,
                           .input_max = 2 * settings->max_request + read_max,
                           .input_ahead_max = settings->max_unread,
                           .unread_max = settings->max_unread < half ? settings->max_unread : half,
                           .pipeline_max = settings->max_pipeline,
                           .discard_max = DISCARD_MIN + settings->max_request,
                           .discard_us = DISCARD_US },
    };
    struct allowance *least = &allowances->unauthenticated;
    if (least->pipeline_max > settings->max_pipeline) {
        least->pipeline_max = settings->max_pipeline;
    }
}
