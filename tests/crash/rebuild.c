// SPDX-License-Identifier: MIT
#include "workload.h"

#include "engine/check/check.h"
#include "engine/state.h"

#include <stdio.h>
#include <stdlib.h>

static enum status visit(void *context, struct store_key key, struct slice bytes,
                         struct error *error)
{
    struct rebuild *rebuild = context;
    return record_read(rebuild->engine, key.record, bytes, error);
}

struct store_visitor rebuild_visitor(struct rebuild *rebuild)
{
    // Loading is no change.
    const struct engine_options options = { .allocator = &allocator_system,
                                            .seed = { 7, 9 },
                                            .clock = ENGINE_CLOCK_SERVER,
                                            .keeps_changes = false };
    if (engine_new(&options, &rebuild->engine)) {
        abort();
    }
    return (struct store_visitor){ .visit = visit, .context = rebuild };
}

static void report(void *context, const char *sentence)
{
    (void)context;
    (void)fprintf(stderr, "rebuild: %s\n", sentence);
}

bool rebuild_end(struct rebuild *rebuild)
{
    struct error error = { 0 };
    if (record_read_end(rebuild->engine, &error)) {
        (void)fprintf(stderr, "rebuild: %s\n", error_sentence(&error));
        return false;
    }
    rebuild->engine->keeps_changes = true;
    return engine_check(rebuild->engine, false, report, NULL) == 0;
}

void rebuild_release(struct rebuild *rebuild)
{
    engine_free(rebuild->engine);
    rebuild->engine = NULL;
}
