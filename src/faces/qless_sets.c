// SPDX-License-Identifier: MIT
// What clients read past the script: the sorted sets in which qless keeps a queue's jobs.
#include "faces/qless.h"

#include "engine/metrics.h"

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
        // A job whose lease was taken away is in line again.
        return count_state(engine, queue, JOB_WAITING) + count_state(engine, queue, JOB_STALLED);
    case QLESS_SET_LOCKS:
        return count_state(engine, queue, JOB_RUNNING);
    case QLESS_SET_SCHEDULED:
        return count_state(engine, queue, JOB_SCHEDULED);
    case QLESS_SET_DEPENDS:
        return count_state(engine, queue, JOB_DEPENDS);
    case QLESS_SET_RECUR:
        return engine_recurring(engine, queue, 0, 0, NULL, &found);
    case QLESS_SET_NONE:
        break;
    }
    return 0;
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
