// SPDX-License-Identifier: MIT
#include "engine_test_more.h"

#include <stdio.h>

enum {
    STACK_SIZE_BYTES = 256 * 1024,
    SHIFTS_MAX = 16,
};

const char *numbered(const char *word, size_t number)
{
    static char texts[4][64];
    static size_t next;
    char *text = texts[next++ % 4];
    (void)snprintf(text, sizeof(texts[0]), "%s%zu", word, number);
    return text;
}

void put_many(struct world *w, double now, const char *queue, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        put(w, now, queue, numbered("j", i));
        forget_events(w);
    }
}

const struct job_options *options_with(enum dependency_policy policy)
{
    static const struct job_options options[] = {
        [DEPENDENCY_HOLD] = { .dependency_policy = DEPENDENCY_HOLD },
        [DEPENDENCY_CANCEL] = { .dependency_policy = DEPENDENCY_CANCEL },
        [DEPENDENCY_FAIL] = { .dependency_policy = DEPENDENCY_FAIL },
        [DEPENDENCY_RUN] = { .dependency_policy = DEPENDENCY_RUN },
    };
    return policy == DEPENDENCY_UNSET ? NULL : &options[policy];
}

void dependency_policy(struct world *w, enum policy_scope scope, const char *name,
                       enum dependency_policy policy)
{
    const struct job_options options = { .dependency_policy = policy };
    said(w, engine_policy_set(w->engine, us(w->now), scope, name_of(name), &options, &w->error));
}

void limit(struct world *w, const char *queue, const char *domain, struct limit limit)
{
    said(w, engine_limit_set(w->engine, us(w->now), name_of(queue), name_of(domain), &limit,
                             &w->error));
}

void pause_queue(struct world *w, const char *queue)
{
    said(w, engine_pause(w->engine, us(w->now), slices_of(w, queue), &w->error));
}

void unpause_queue(struct world *w, const char *queue)
{
    said(w, engine_unpause(w->engine, us(w->now), slices_of(w, queue), &w->error));
}

size_t count_of(const struct world *w, const char *queue, enum job_state state)
{
    const struct count_filter filter = { .queue = name_of(queue),
                                         .has_state = true,
                                         .state = state };
    return engine_count(w->engine, &filter);
}

size_t count_all(const struct world *w, const char *queue)
{
    const struct count_filter filter = { .queue = name_of(queue) };
    return engine_count(w->engine, &filter);
}

struct explanation explain(struct world *w, double now, const char *jid)
{
    struct explanation out = { 0 };
    said(w, engine_explain(w->engine, at(w, now), name_of(jid), &out, &w->error));
    return out;
}

struct bulk_view bulk(struct world *w, double now, struct bulk_request request)
{
    uint64_t id = 0;
    enum status status = engine_bulk(w->engine, at(w, now), &request, &id, &w->error);
    said(w, status);
    const struct bulk_view none = { 0 };
    return status ? none : bulk_of(w, id);
}

struct bulk_view bulk_of(const struct world *w, uint64_t id)
{
    struct bulk_view view;
    assert_true(engine_bulk_get(w->engine, id, &view));
    return view;
}

void zone(struct world *w, const char *name, int32_t offset_s, const struct shift *shifts,
          size_t count)
{
    struct zone_transition transitions[SHIFTS_MAX];
    assert_true(count <= SHIFTS_MAX);
    for (size_t i = 0; i < count; i++) {
        transitions[i] = (struct zone_transition){ us(shifts[i].at), shifts[i].offset_s };
    }
    const struct zone_rules rules = { offset_s, transitions, count };
    said(w, engine_zone_set(w->engine, us(w->now), name_of(name), &rules, &w->error));
}

void stack_limit(struct rlimit *old)
{
    assert_int_equal(getrlimit(RLIMIT_STACK, old), 0);
    const struct rlimit small = { STACK_SIZE_BYTES, old->rlim_max };
    assert_int_equal(setrlimit(RLIMIT_STACK, &small), 0);
}

void stack_restore(const struct rlimit *old)
{
    assert_int_equal(setrlimit(RLIMIT_STACK, old), 0);
}
