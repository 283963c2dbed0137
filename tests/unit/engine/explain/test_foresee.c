// SPDX-License-Identifier: MIT
// What explain foresees is what pops then do: after how many others a job is handed out, and when.
#include "engine_test_more.h"

#include "random.h"

#include <stdio.h>

enum {
    WORLDS = 3000,
    DOMAINS = 4,
    JOBS_MAX = 40,
};

static const char *const domains[DOMAINS] = { "", "a", "b", "c" };

struct trial {
    struct world *w;
    struct random random;
    int64_t now_us;
    size_t jobs;
    bool fair, rates;
};

static bool weak_random(struct trial *trial, unsigned percent)
{
    return random_below(&trial->random, 100) < percent;
}

static int64_t pick(struct trial *trial, const int64_t *values, size_t count)
{
    return values[random_below(&trial->random, count)];
}
#define PICK(trial, ...)                                                                           \
    pick(trial, (const int64_t[]){ __VA_ARGS__ },                                                  \
         sizeof((const int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t))

static void pass_time(struct trial *trial)
{
    trial->now_us += PICK(trial, 0, 1, 1000, 250000, 1000000, 3700000);
}

static void set_limits(struct trial *trial)
{
    for (size_t i = 0; i < DOMAINS; i++) {
        struct limit limit = { .has_weight = true, .weight = PICK(trial, 1, 1, 2, 3) };
        if (trial->rates && weak_random(trial, 50)) {
            limit.has_rate = true;
            limit.rate_count = PICK(trial, 1, 2, 3, 7);
            limit.rate_period_us = PICK(trial, 10, 1000000, 2000000, 10000000);
            limit.burst = PICK(trial, 1, 1, 2, 5);
        }
        if (weak_random(trial, 30)) {
            limit.has_concurrency = true;
            limit.concurrency = PICK(trial, 1, 2, 4, 9);
        }
        said(trial->w, engine_limit_set(trial->w->engine, trial->now_us, SLICE("q"),
                                        slice_from_cstr(domains[i]), &limit, &trial->w->error));
    }
}

static void set_up(struct trial *trial)
{
    struct world *w = trial->w;
    set(w, "heartbeat", "1000000000");
    trial->fair = weak_random(trial, 40);
    trial->rates = weak_random(trial, 60);
    if (trial->fair) {
        set(w, "q-fair", "1");
    }
    // In a fair queue it is not said which of several lanes comes first in the microsecond in which
    // they get their tokens, so that it is not known who gets the last lease.
    if (!(trial->fair && trial->rates) && weak_random(trial, 30)) {
        set(w, "q-max-concurrency", weak_random(trial, 50) ? "3" : "12");
    }
    if (weak_random(trial, 80)) {
        set_limits(trial);
    }
}

static void put_one(struct trial *trial, struct put_request request)
{
    const struct job *job;
    char jid[16];
    request.jid = slice_make(jid, (size_t)snprintf(jid, sizeof(jid), "j%zu", trial->jobs++));
    request.klass = SLICE("K");
    request.data = SLICE("{}");
    request.queue = request.queue.size ? request.queue : SLICE("q");
    request.has_priority = request.has_domain = true;
    request.priority = (int32_t)PICK(trial, 0, 0, 0, -1, 1);
    request.domain = slice_from_cstr(domains[random_below(&trial->random, DOMAINS)]);
    said(trial->w, engine_put(trial->w->engine, trial->now_us, &request, &job, &trial->w->error));
}

// The jid of the job that a pop hands out, in `out`, or an empty one.
static struct slice pop_one(struct trial *trial, char out[16])
{
    const struct slice queue = SLICE("q");
    const struct pop_request request = { .worker = SLICE("w"),
                                         .queues = { &queue, 1 },
                                         .count = 1 };
    const struct job *job;
    size_t popped = 0;
    said(trial->w,
         engine_pop(trial->w->engine, trial->now_us, &request, &job, &popped, &trial->w->error));
    struct slice jid = popped ? job_jid(job) : SLICE_EMPTY;
    memcpy(out, jid.size ? jid.data : "", jid.size);
    return slice_make(out, jid.size);
}

static void work(struct trial *trial)
{
    char text[16];
    struct slice jid = pop_one(trial, text);
    if (jid.size && weak_random(trial, 60)) {
        const struct complete_request done = { .holder = { .jid = jid, .worker = SLICE("w") } };
        enum job_state state;
        said(trial->w,
             engine_complete(trial->w->engine, trial->now_us, &done, &state, &trial->w->error));
    } else if (jid.size && weak_random(trial, 30)) {
        said(trial->w, engine_timeout(trial->w->engine, trial->now_us, (struct slices){ &jid, 1 },
                                      &trial->w->error));
    }
}

static void fill(struct trial *trial)
{
    for (size_t i = random_below(&trial->random, JOBS_MAX); i > 0; i--) {
        put_one(trial, (struct put_request){ 0 });
        pass_time(trial);
        if (weak_random(trial, 30)) {
            work(trial);
        }
    }
}

// Puts the job that is asked about, or takes one of those in line.
static struct slice choose(struct trial *trial, char out[16])
{
    struct put_request request = { 0 };
    struct slice first = SLICE("first");
    bool made = trial->jobs == 0 || weak_random(trial, 60);
    if (!made) {
        size_t number = random_below(&trial->random, trial->jobs);
        return slice_make(out, (size_t)snprintf(out, 16, "j%zu", number));
    }
    if (weak_random(trial, 40)) {
        request.delay_us = PICK(trial, 1, 1000000, 5000000, 60000000);
    }
    if (weak_random(trial, 20)) {
        request.has_deadline = true;
        request.deadline_us = trial->now_us + PICK(trial, 1, 1000000, 5000000, 60000000, 600000000);
    }
    if (weak_random(trial, 20)) {
        const struct job *job;
        const struct put_request before = { .queue = SLICE("other"),
                                            .jid = first,
                                            .klass = SLICE("K"),
                                            .data = SLICE("{}"),
                                            .delay_us = PICK(trial, 0, 2000000, 30000000) };
        said(trial->w,
             engine_put(trial->w->engine, trial->now_us, &before, &job, &trial->w->error));
        request.depends = (struct slices){ &first, 1 };
    }
    put_one(trial, request);
    return slice_make(out, (size_t)snprintf(out, 16, "j%zu", trial->jobs - 1));
}

// What workers do who ask as soon as they may: the job of the other queue is done, when it comes.
static void do_first(struct trial *trial)
{
    const struct slice queue = SLICE("other");
    const struct pop_request request = { .worker = SLICE("v"),
                                         .queues = { &queue, 1 },
                                         .count = 1 };
    const struct job *job;
    size_t popped = 0;
    said(trial->w,
         engine_pop(trial->w->engine, trial->now_us, &request, &job, &popped, &trial->w->error));
    if (popped) {
        const struct complete_request done = { .holder = { .jid = SLICE("first"),
                                                           .worker = SLICE("v") } };
        enum job_state state;
        said(trial->w,
             engine_complete(trial->w->engine, trial->now_us, &done, &state, &trial->w->error));
    }
}

struct reality {
    size_t before;  // handed out before it
    size_t at_once; // of those, in the same microsecond
    int64_t when_us;
};

static struct reality see(struct trial *trial, struct slice jid)
{
    struct reality reality = { .when_us = INT64_MAX };
    int64_t end_us = trial->now_us + us(1000000);
    while (trial->now_us < end_us) {
        char text[16];
        struct slice popped;
        reality.at_once = 0;
        do_first(trial);
        while ((popped = pop_one(trial, text)).size) {
            if (slice_equal(popped, jid)) {
                reality.when_us = trial->now_us;
                return reality;
            }
            reality.before++;
            reality.at_once++;
        }
        trial->now_us = engine_tick(trial->w->engine, trial->now_us);
    }
    return reality;
}

static void compare(struct trial *trial, struct slice jid)
{
    struct explanation why = { 0 };
    int64_t asked_us = trial->now_us;
    said(trial->w, engine_explain(trial->w->engine, asked_us, jid, &why, &trial->w->error));
    if (why.state == JOB_RUNNING || why.state == JOB_COMPLETE) {
        return;
    }
    struct reality reality = see(trial, jid);
    assert_int_equal(why.earliest_us, reality.when_us);
    bool in_line = why.state == JOB_WAITING || why.state == JOB_STALLED;
    if (!in_line || reality.when_us == INT64_MAX) {
        return;
    }
    if (trial->fair && reality.when_us > asked_us) {
        assert_in_range(reality.before, why.behind, why.behind + reality.at_once);
    } else {
        assert_int_equal(why.behind, reality.before);
    }
}

static void test_foresee__pops_hand_jobs_out_when_and_after_as_many_as_was_said(void **state)
{
    (void)state;
    struct random random;
    random_init(&random);
    for (size_t i = 0; i < WORLDS; i++) {
        struct trial trial = { .w = world_new(ENGINE_CLOCK_SERVER, i + 1),
                               .random = { random_u64(&random) },
                               .now_us = us(1000) };
        char text[16];
        set_up(&trial);
        fill(&trial);
        struct slice jid = choose(&trial, text);
        if (weak_random(&trial, 10)) {
            pause_queue(trial.w, "q");
        }
        compare(&trial, jid);
        world_free(trial.w);
    }
}

static void test_foresee__a_queue_of_very_many_lanes_is_looked_at_in_part(void **state)
{
    struct world *w = *state;
    enum {
        LANES = 20000
    };
    for (size_t i = 0; i < LANES; i++) {
        put_in(w, 1, numbered("d", i), numbered("j", i));
        forget_events(w);
    }
    put(w, 2, "q", "last");
    uint64_t steps = engine_steps(w->engine);
    struct explanation why = explain(w, 2, "last");
    assert_true(engine_steps(w->engine) - steps < 20000);
    assert_int_equal(why.reason, EXPLAIN_BEHIND);
    assert_true(why.at_least);
    assert_in_range(why.behind, 100, LANES);
    assert_non_null(strstr(why.sentence, "waits behind at least "));
    why = explain(w, 2, numbered("j", 7));
    assert_false(why.at_least);
    assert_int_equal(why.behind, 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_foresee__pops_hand_jobs_out_when_and_after_as_many_as_was_said),
        SERVER_TEST(test_foresee__a_queue_of_very_many_lanes_is_looked_at_in_part),
    };
    return cmocka_run_group_tests_name("foresee", tests, NULL, NULL);
}
