// SPDX-License-Identifier: MIT
// The option REQUEST: if a command is repeated with the same id, the reply is that of the first
// time.
#ifndef SLUICE_API_REQUEST_H
#define SLUICE_API_REQUEST_H

#include "api/call.h"
#include "engine/dedup/request.h"

#define REQUEST_OPTION(of)                                                                         \
    OPTION(of, request, NAME, "REQUEST",                                                           \
           "an id for this request: repeated with it within `request-history`, it is answered as " \
           "the first time and changes nothing")

// Begins a request with an id, if the call has one; its words identify the call. With `*known` it
// was done before, and the reply was written. Otherwise engine_request_end or _cancel must follow.
MUST_USE enum status call_request_begin(const struct call *call, struct slice id, size_t answer_max,
                                        bool *known, struct slice *answer, struct error *error);

// Ends a request that was begun: stores it with its reply, or drops it.
static inline void request_finish(const struct call *call, enum status status, struct slice answer)
{
    if (status) {
        engine_request_cancel(call->engine);
    } else {
        engine_request_end(call->engine, answer);
    }
}

#endif
