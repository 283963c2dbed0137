// SPDX-License-Identifier: MIT
// What clients read without a script: the sorted sets in which qless keeps a queue's jobs.
#include "faces/qless/qless.h"

#include "engine/measure/metrics.h"
#include "engine/records/walk.h"

static const struct {
    struct slice suffix;
    enum qless_set set;
} suffixes[] = {
#define SUFFIX(text, set)                                                                          \
    {                                                                                              \
        { text, sizeof(text) - 1 }, set                                                            \
    }
    SUFFIX("-work", QLESS_SET_WORK),           SUFFIX("-locks", QLESS_SET_LOCKS),
    SUFFIX("-scheduled", QLESS_SET_SCHEDULED), SUFFIX("-depends", QLESS_SET_DEPENDS),
    SUFFIX("-recur", QLESS_SET_RECUR),
#undef SUFFIX
};

enum qless_set qless_set_of(struct slice key, struct slice *queue)
{
    const struct slice prefix = SLICE("ql:q:");
    if (slice_equal(key, SLICE("ql:completed"))) {
        *queue = SLICE_EMPTY;
        return QLESS_SET_COMPLETED;
    }
    if (!slice_starts_with(key, prefix)) {
        return QLESS_SET_NONE;
    }
    struct slice rest = slice_sub(key, prefix.size, SIZE_MAX);
    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
        struct slice suffix = suffixes[i].suffix;
        if (rest.size > suffix.size && slice_ends_with(rest, suffix)) {
            *queue = slice_sub(rest, 0, rest.size - suffix.size);
            return suffixes[i].set;
        }
    }
    return QLESS_SET_NONE;
}

static size_t count_state(const struct engine *engine, struct slice queue, enum job_state state)
{
    return engine_count(engine, &(struct count_filter){
                                    .queue = queue,
                                    .has_state = true,
                                    .state = state,
                                });
}

size_t qless_set_count(const struct engine *engine, enum qless_set set, struct slice queue)
{
    size_t found;
    switch (set) {
    case QLESS_SET_WORK:
        // In qless a job that has lost its lease is waiting again.
        return count_state(engine, queue, JOB_WAITING) + count_state(engine, queue, JOB_STALLED);
    case QLESS_SET_LOCKS:
        return count_state(engine, queue, JOB_RUNNING);
    case QLESS_SET_SCHEDULED:
        return count_state(engine, queue, JOB_SCHEDULED);
    case QLESS_SET_DEPENDS:
        return count_state(engine, queue, JOB_DEPENDS);
    case QLESS_SET_RECUR:
        return engine_recurring(engine, queue, 0, 0, NULL, &found);
    case QLESS_SET_COMPLETED:
        return count_state(engine, queue, JOB_COMPLETE);
    case QLESS_SET_NONE:
        break;
    }
    return 0;
}

// For walk_jobs: prints the keys of jobs.
struct key_visitor {
    const struct engine *engine;
    void (*visit)(void *context, struct slice key);
    void *context;
};

static void visit_job(void *context, struct job *job)
{
    const struct key_visitor *visitor = context;
    const struct slice prefix = SLICE(QLESS_JOB_KEY_PREFIX);
    char key[sizeof(QLESS_JOB_KEY_PREFIX) + ENGINE_NAME_SIZE_MAX];
    struct job_view view;
    job_view(visitor->engine, job, &view);
    memcpy(key, prefix.data, prefix.size);
    memcpy(key + prefix.size, view.jid.data, view.jid.size);
    visitor->visit(visitor->context, slice_make(key, prefix.size + view.jid.size));
}

void qless_each_job_key(const struct engine *engine, void (*visit)(void *context, struct slice key),
                        void *context)
{
    struct key_visitor visitor = { engine, visit, context };
    walk_jobs(engine, visit_job, &visitor);
}

bool qless_set_next_run(const struct engine *engine, struct slice queue, struct slice jid,
                        int64_t *us_out)
{
    const struct recurring *recurring = engine_recurring_get(engine, jid);
    if (!recurring) {
        return false;
    }
    struct recurring_view view;
    recurring_view(engine, recurring, &view);
    *us_out = view.next_us;
    return slice_equal(view.queue, queue);
}
