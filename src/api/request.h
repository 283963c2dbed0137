// SPDX-License-Identifier: MIT
// The option REQUEST: a command that is repeated with the same id is answered as the first time.
#ifndef SLUICE_API_REQUEST_H
#define SLUICE_API_REQUEST_H

#include "api/call.h"
#include "engine/dedup/request.h"

#define REQUEST_OPTION(of)                                                                         \
    OPTION(of, request, NAME, "REQUEST",                                                           \
           "an id for this request: repeated with it within `request-history`, it is answered as " \
           "the first time and changes nothing")

// Begins what the call is about under an id, if it has one; its words are the call's. With `*known`
// it was done before, and answered so. Otherwise engine_request_end or _cancel must follow.
MUST_USE enum status call_request_begin(const struct call *call, struct slice id, size_t answer_max,
                                        bool *known, struct slice *answer, struct error *error);

// What was begun has come to this: it is kept with its answer, or forgotten.
static inline void request_finish(const struct call *call, enum status status, struct slice answer)
{
    if (status) {
        engine_request_cancel(call->engine);
    } else {
        engine_request_end(call->engine, answer);
    }
}

#endif
