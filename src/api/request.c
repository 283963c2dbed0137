// SPDX-License-Identifier: MIT
#include "api/request.h"

enum status call_request_begin(const struct call *call, struct slice id, size_t answer_max,
                               bool *known, struct slice *answer, struct error *error)
{
    *known = false;
    *answer = SLICE_EMPTY;
    if (!id.size) {
        return STATUS_OK;
    }
    const struct request_words words = {
        .id = id,
        .digest = request_digest(slice_from_cstr(call->command->name), call->words),
        .answer_max = answer_max,
    };
    return engine_request_begin(call->engine, call->now_us, &words, known, answer, error);
}
