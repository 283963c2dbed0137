// SPDX-License-Identifier: MIT
// Shared by the benchmarks of the engine: one queue, one klass, one worker, jobs of 200 bytes.
#ifndef SLUICE_BENCH_LOAD_H
#define SLUICE_BENCH_LOAD_H

#include "base/alloc.h"
#include "base/uuid.h"
#include "engine/engine.h"

#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LOAD_DATA_SIZE = 200,
    LOAD_JID_SIZE = 36,
};

static const struct slice load_queue = { "mail", 4 }, load_klass = { "Send", 4 },
                          load_worker = { "worker-1", 8 };

static inline void load_must(enum status status, const struct error *error)
{
    if (status) {
        (void)fprintf(stderr, "bench: %s\n", error_sentence(error));
        exit(1);
    }
}

// Creates an engine that deletes complete jobs soon, so that a run measures its backlog and not
// past jobs.
static inline struct engine *load_engine(int64_t now_us, bool keeps_changes)
{
    const struct engine_options options = { .allocator = &allocator_system,
                                            .seed = { 1, 2 },
                                            .clock = ENGINE_CLOCK_SERVER,
                                            .keeps_changes = keeps_changes };
    struct engine *engine;
    struct error error;
    if (engine_new(&options, &engine)) {
        exit(1);
    }
    load_must(engine_config_set(engine, now_us, SLICE("jobs-history-count"), SLICE("1000"), &error),
              &error);
    return engine;
}

// A JSON string of that size.
static inline void load_data(char data[LOAD_DATA_SIZE])
{
    memset(data, 'x', LOAD_DATA_SIZE);
    data[0] = data[LOAD_DATA_SIZE - 1] = '"';
}

// Puts a job whose jid is a UUID made from the time and a number.
static inline void load_put(struct engine *engine, int64_t now_us, uint64_t number,
                            const char data[LOAD_DATA_SIZE])
{
    uint8_t entropy[10] = { 0 };
    uint64_t random = bench_scramble(number);
    memcpy(entropy, &random, sizeof(random));
    struct uuid uuid;
    char jid[LOAD_JID_SIZE];
    uuid_v7(now_us, entropy, &uuid);
    uuid_format(&uuid, jid);
    const struct put_request request = { .queue = load_queue,
                                         .jid = slice_make(jid, LOAD_JID_SIZE),
                                         .klass = load_klass,
                                         .data = slice_make(data, LOAD_DATA_SIZE) };
    const struct job *job;
    struct error error;
    load_must(engine_put(engine, now_us, &request, &job, &error), &error);
}

// The rest of a life: a job is popped and completed.
static inline void load_work(struct engine *engine, int64_t now_us)
{
    struct error error;
    const struct pop_request pop = { .worker = load_worker,
                                     .queues = { &load_queue, 1 },
                                     .count = 1 };
    const struct job *job;
    size_t popped;
    load_must(engine_pop(engine, now_us, &pop, &job, &popped, &error), &error);
    struct job_view view;
    job_view(engine, job, &view);
    const struct complete_request complete = {
        .holder = { .jid = view.jid, .worker = load_worker, .token = view.token }
    };
    enum job_state state;
    load_must(engine_complete(engine, now_us, &complete, &state, &error), &error);
}

#endif
