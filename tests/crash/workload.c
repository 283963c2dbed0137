// SPDX-License-Identifier: MIT
#include "workload.h"

#include "calls.h"
#include "engine/records/changes.h"
#include "engine_snapshot.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    SAVED_MAX = 1 << 28,
};

struct workload {
    struct engine *engine; // owned
    struct caller caller;
    uint64_t *digests; // after each step
    size_t steps, capacity;
};

uint64_t engine_digest(const struct engine *engine)
{
    static const struct hash_seed seed = { 11, 13 };
    struct buffer saved;
    buffer_init(&saved, &allocator_system, SAVED_MAX);
    if (engine_save(engine, &saved)) {
        (void)fprintf(stderr, "workload: the engine cannot be saved\n");
        abort();
    }
    uint64_t digest = hash_bytes(&seed, buffer_slice(&saved));
    buffer_release(&saved);
    return digest;
}

static void remember(struct workload *workload)
{
    if (workload->steps == workload->capacity) {
        workload->capacity = 2 * workload->capacity + 64;
        workload->digests =
            realloc(workload->digests, workload->capacity * sizeof(*workload->digests));
        if (!workload->digests) {
            abort();
        }
    }
    workload->digests[workload->steps] = engine_digest(workload->engine);
}

static struct engine *new_engine(void)
{
    const struct engine_options options = { .allocator = &allocator_system,
                                            .seed = { 3, 5 },
                                            .clock = ENGINE_CLOCK_SERVER,
                                            .keeps_changes = true };
    struct engine *engine;
    if (engine_new(&options, &engine)) {
        abort();
    }
    return engine;
}

struct workload *workload_new(uint64_t seed, struct engine *engine)
{
    struct workload *workload = calloc(1, sizeof(*workload));
    if (!workload) {
        abort();
    }
    workload->engine = engine ? engine : new_engine();
    remember(workload);
    caller_init(&workload->caller, workload->engine, seed);
    return workload;
}

void workload_free(struct workload *workload)
{
    caller_release(&workload->caller);
    engine_free(workload->engine);
    free(workload->digests);
    free(workload);
}

struct engine *workload_engine(struct workload *workload)
{
    return workload->engine;
}

void workload_step(struct workload *workload)
{
    struct caller *caller = &workload->caller;
    uint64_t draw = random_below(&caller->random, 100);
    uint64_t count = draw < 3 ? 30 + random_below(&caller->random, 50) : 1 + draw % 4;
    caller_advance(caller);
    for (uint64_t i = 0; i < count; i++) {
        caller_call(caller);
    }
    workload->steps++;
    if (workload->steps % WORKLOAD_EXACT_EVERY == 0) {
        caller_begin_exact(caller);
    }
    remember(workload);
    // Time alone is no change: a store does not hear of it.
    if (!engine_has_changes(workload->engine)) {
        workload->digests[workload->steps] = workload->digests[workload->steps - 1];
    }
}

size_t workload_steps(const struct workload *workload)
{
    return workload->steps;
}

uint64_t workload_digest(const struct workload *workload, size_t n)
{
    if (n > workload->steps) {
        abort();
    }
    return workload->digests[n];
}
