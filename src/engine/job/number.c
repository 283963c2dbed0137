// SPDX-License-Identifier: MIT
// The numbers of jobs: each new job gets the next one.
#include "engine/engine.h"
#include "engine/export/restore.h"
#include "engine/state.h"

#include "base/num.h"

enum {
    NUMBER_SIZE = 20, // of the largest number in decimal
};

// Every new job increments job_id, so a number returned here is not returned again once a job uses
// it. A number that is already the jid of a job is skipped.
uint64_t engine_next_number(struct engine *engine)
{
    char bytes[NUMBER_SIZE + 1];
    struct buffer text = { .data = bytes, .capacity = NUMBER_SIZE, .size_max = NUMBER_SIZE };
    num_append_u64(&text, engine->job_id + 1);
    while (map_find(&engine->jobs, buffer_slice(&text))) {
        engine->job_id++;
        buffer_clear(&text);
        num_append_u64(&text, engine->job_id + 1);
    }
    return engine->job_id + 1;
}

uint64_t engine_last_number(const struct engine *engine)
{
    return engine->job_id;
}

enum status engine_restore_number(struct engine *engine, int64_t now_us, uint64_t number,
                                  bool check_only, struct error *error)
{
    enum status status = engine_begin(engine, &now_us, error);
    if (!status && number > ENGINE_NUMBER_MAX) {
        status = error_set(error, STATUS_INVALID, "the number is above %llu",
                           (unsigned long long)ENGINE_NUMBER_MAX);
    }
    if (!status && !check_only && number > engine->job_id) {
        engine->job_id = number;
    }
    return status;
}
