// SPDX-License-Identifier: MIT
// What limits lanes: rates, which limit holds, limits that change or make no sense.
#include "engine/lanes/limit.h"
#include "engine/lanes/watch.h"

#include "engine_test.h"
#include "random.h"

#include <stdio.h>
#include <string.h>

enum {
    LATE_JOBS_MAX = 1300,
};

static void put_many_in(struct world *w, double now, const char *domain, int count)
{
    for (int i = 1; i <= count; i++) {
        char jid[32];
        (void)snprintf(jid, sizeof(jid), "%s%d", domain, i);
        put_in(w, now, domain, jid);
    }
}

// ---------------------------------------------------------------------------------------------
// Rate

static void test_limit__a_rate_is_kept_to_the_microsecond(void **state)
{
    struct world *w = *state;
    limit_set(w, 0, NULL, "a", rate(3, 1, 2));
    put_many_in(w, 0, "a", 6);
    assert_string_equal(pop(w, 0, "q", "w1", 9), "a1,a2");
    assert_string_equal(lane_of(w, 0, "q", "a"),
                        "waiting 4, running 2, rate 3/1 burst 2, ready 0.333334");
    assert_string_equal(pop(w, 0.333333, "q", "w1", 9), "");
    assert_string_equal(pop(w, 0.333334, "q", "w1", 9), "a3");
    assert_string_equal(pop(w, 0.666666, "q", "w1", 9), "");
    assert_string_equal(pop(w, 0.666667, "q", "w1", 9), "a4");
    assert_string_equal(pop(w, 0.999999, "q", "w1", 9), "");
    assert_string_equal(pop(w, 1, "q", "w1", 9), "a5");
}

static void test_limit__what_was_not_used_is_saved_up_to_the_burst(void **state)
{
    struct world *w = *state;
    limit_set(w, 0, NULL, "a", rate(1, 1, 3));
    limit_set(w, 0, NULL, "b", rate(1, 1, 0));
    put_many_in(w, 0, "a", 9);
    put_many_in(w, 0, "b", 9);
    assert_string_equal(pop(w, 0, "q", "w1", 9), "a1,a2,a3,b1");
    assert_string_equal(pop(w, 2.5, "q", "w1", 9), "a4,a5,b2");
    assert_string_equal(pop(w, 40, "q", "w1", 9), "a6,a7,a8,b3");
    assert_string_equal(limits(w), "/a: rate 1/1 burst 3; /b: rate 1/1 burst 1");
}

// Puts jobs without the checks that the other calls make after each step.
static void put_quickly(struct world *w, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char jid[16];
        int size = snprintf(jid, sizeof(jid), "%zu", i);
        const struct put_request request = { .queue = SLICE("q"),
                                             .jid = slice_make(jid, (size_t)size),
                                             .klass = SLICE("k"),
                                             .has_domain = true,
                                             .domain = SLICE("a") };
        const struct job *job;
        assert_int_equal(engine_put(w->engine, 0, &request, &job, &w->error), STATUS_OK);
    }
}

static int64_t pop_quickly(struct world *w, int64_t now_us, size_t count)
{
    const struct job *jobs[LATE_JOBS_MAX];
    const struct slice queue = SLICE("q");
    const struct pop_request request = { .worker = SLICE("w"),
                                         .queues = { &queue, 1 },
                                         .count = count };
    size_t popped;
    assert_int_equal(engine_pop(w->engine, now_us, &request, jobs, &popped, &w->error), STATUS_OK);
    return (int64_t)popped;
}

// A lane always has jobs, and each pop comes late at random, and takes one or as many as there are.
static void check_late_rate(struct random *random, int64_t count, int64_t burst, uint64_t late_us)
{
    struct world *w = world_new(ENGINE_CLOCK_SERVER, 1);
    const int64_t began_us = us(1), end_us = began_us + us(1000) / count;
    int64_t popped = 0, now_us = began_us;
    set(w, "heartbeat", "1000000");
    limit_set(w, 0, NULL, "a", rate(count, 1, burst));
    put_quickly(w, LATE_JOBS_MAX);
    for (;;) {
        bool all = now_us >= end_us || random_below(random, 2);
        popped += pop_quickly(w, now_us, all ? LATE_JOBS_MAX : 1);
        // Never more than the rate allows.
        assert_true((popped - burst) * us(1) <= (now_us - began_us) * count);
        if (now_us >= end_us) {
            break;
        }
        int64_t due_us = engine_tick(w->engine, now_us);
        now_us = engine_is_ready(w->engine, SLICE("q")) ? now_us : due_us;
        now_us += (int64_t)random_below(random, late_us);
    }
    double expected = (double)burst + (double)(now_us - began_us) / 1e6 * (double)count;
    assert_true(expected < LATE_JOBS_MAX);
    if ((double)popped < expected * 0.99 - 1) {
        fail_msg("%lld a second, burst %lld, up to %lld us late: %lld instead of %f",
                 (long long)count, (long long)burst, (long long)late_us, (long long)popped,
                 expected);
    }
    assert_int_equal(faults_of(w), 0);
    world_free(w);
}

static void test_limit__a_rate_is_kept_however_late_it_is_looked_at(void **state)
{
    (void)state;
    static const int64_t counts[] = { 1, 3, 100, 777, 1000, 10000 };
    static const int64_t bursts[] = { 1, 2, 50 };
    struct random random;
    random_init(&random);
    for (size_t i = 0; TEST_ROW(i, counts); i++) {
        for (size_t j = 0; TEST_ROW(j, bursts); j++) {
            check_late_rate(&random, counts[i], bursts[j], 300);
            check_late_rate(&random, counts[i], bursts[j], 12000);
        }
    }
}

static void test_limit__a_late_pop_takes_what_came_meanwhile(void **state)
{
    struct world *w = *state;
    limit_set(w, 0, NULL, "a", rate(10, 1, 1));
    put_many_in(w, 0, "a", 9);
    assert_string_equal(pop(w, 10, "q", "w1", 9), "a1");
    // The tokens of 10.1, 10.2 and 10.3.
    assert_string_equal(pop(w, 10.34, "q", "w1", 9), "a2,a3,a4");
    assert_string_equal(lane_of(w, 10.34, "q", "a"),
                        "waiting 5, running 4, rate 10/1 burst 1, ready 10.4");
    // A changed place in line loses nothing.
    said(w, engine_priority(w->engine, at(w, 10.55), SLICE("a9"), -1, &w->error));
    assert_string_equal(pop(w, 10.55, "q", "w1", 9), "a9,a5");
    // 10.6 is more than a quarter of a second ago.
    assert_string_equal(pop(w, 10.86, "q", "w1", 9), "a6");
    assert_string_equal(pop(w, 10.95, "q", "w1", 9), "");
    assert_string_equal(pop(w, 10.96, "q", "w1", 9), "a7");
    set(w, "rate-catch-up", "0");
    assert_string_equal(pop(w, 11.2, "q", "w1", 9), "a8");
}

static void test_limit__a_late_pop_takes_no_more_for_a_job_that_came_later(void **state)
{
    struct world *w = *state;
    limit_set(w, 0, NULL, "a", rate(10, 1, 1));
    put_many_in(w, 0, "a", 2);
    assert_string_equal(pop(w, 10, "q", "w1", 9), "a1");
    assert_string_equal(pop(w, 10.1, "q", "w1", 9), "a2");
    // The bucket is full from 10.2 on, and no job is late for what comes then.
    put_many_in(w, 10.3, "b", 1);
    put_in(w, 10.3, "a", "x1");
    put_in(w, 10.3, "a", "x2");
    reload(w);
    assert_string_equal(pop(w, 10.35, "q", "w1", 9), "b1,x1");
    assert_string_equal(pop(w, 10.44, "q", "w1", 9), "");
    assert_string_equal(pop(w, 10.45, "q", "w1", 9), "x2");
    // It was not full yet when the next one came.
    put_in(w, 10.5, "a", "x3");
    put_in(w, 10.5, "a", "x4");
    reload(w);
    assert_string_equal(pop(w, 10.66, "q", "w1", 9), "x3,x4");
}

static void test_limit__the_tick_wants_to_be_called_when_the_first_lane_may_run(void **state)
{
    struct world *w = *state;
    limit_set(w, 0, NULL, "a", rate(1, 10, 1));
    limit_set(w, 0, NULL, "b", rate(1, 4, 1));
    limit_set(w, 0, "r", "c", rate(3, 20.000001, 1));
    put_many_in(w, 0, "a", 3);
    put_many_in(w, 0, "b", 4);
    for (int i = 1; i <= 3; i++) {
        char jid[8];
        (void)snprintf(jid, sizeof(jid), "c%d", i);
        put_with(w, 0,
                 (struct put_request){ .queue = SLICE("r"),
                                       .jid = name_of(jid),
                                       .has_domain = true,
                                       .domain = SLICE("c") });
    }
    // Nothing to wait for while all may run.
    assert_true(tick(w, 0) == -1);
    assert_string_equal(pop_queues(w, 0, "q,r", POP_ORDERED, 9), "a1,b1,c1");
    assert_true(tick(w, 0) == 4);
    assert_true(tick(w, 3.999999) == 4);
    assert_string_equal(pop_queues(w, 3.999999, "q,r", POP_ORDERED, 9), "");
    // A third of 20.000001 seconds, and not a microsecond less.
    assert_true(tick(w, 4) == 6.666667);
    assert_string_equal(pop_queues(w, 4, "q,r", POP_ORDERED, 9), "b2");
    assert_true(tick(w, 4) == 6.666667);
    assert_string_equal(pop_queues(w, 6.666666, "q,r", POP_ORDERED, 9), "");
    assert_string_equal(pop_queues(w, 6.666667, "q,r", POP_ORDERED, 9), "c2");
    assert_true(tick(w, 7) == 8);
    assert_string_equal(pop_queues(w, 8, "q,r", POP_ORDERED, 9), "b3");
    assert_true(tick(w, 8) == 10);
    assert_string_equal(pop_queues(w, 10, "q,r", POP_ORDERED, 9), "a2");
    assert_true(tick(w, 10) == 12);
}

static void test_limit__a_lane_that_may_run_and_is_not_asked_wakes_nobody_again(void **state)
{
    struct world *w = *state;
    limit_set(w, 0, NULL, "a", rate(1, 10, 1));
    put_many_in(w, 0, "a", 3);
    pop(w, 0, "q", "w1", 1);
    said(w, engine_pause(w->engine, at(w, 1), slices_of(w, "q"), &w->error));
    assert_true(tick(w, 1) == 10);
    assert_true(tick(w, 10) == 60); // the lease
    assert_string_equal(pop(w, 11, "q", "w1", 1), "");
    assert_true(tick(w, 11) == 60);
    said(w, engine_unpause(w->engine, at(w, 12), slices_of(w, "q"), &w->error));
    assert_string_equal(pop(w, 12, "q", "w1", 9), "a2");
}

static void test_limit__an_empty_lane_is_not_waited_for(void **state)
{
    struct world *w = *state;
    limit_set(w, 0, NULL, "a", rate(1, 10, 1));
    put_many_in(w, 0, "a", 2);
    pop(w, 0, "q", "w1", 1);
    assert_true(tick(w, 0) == 10);
    cancel(w, 1, "a2");
    assert_true(tick(w, 1) == 60);
    put_in(w, 2, "a", "a3");
    assert_true(tick(w, 2) == 10);
    complete(w, 3, "w1", "a1");
    assert_true(tick(w, 3) == 10);
    assert_true(tick(w, 10) == kept_until(w, 3));
}

static void
test_limit__with_the_client_clock_time_that_goes_back_brings_and_takes_nothing(void **state)
{
    struct world *w = *state;
    limit_set(w, 100, NULL, "a", rate(1, 10, 1));
    put_many_in(w, 100, "a", 5);
    assert_string_equal(pop(w, 100, "q", "w1", 9), "a1");
    assert_string_equal(pop(w, 50, "q", "w1", 9), "");
    assert_string_equal(pop(w, 109.999999, "q", "w1", 9), "");
    assert_string_equal(pop(w, 110, "q", "w1", 9), "a2");
    // A bucket that is full has no time: it counts from when the first token is taken.
    limit_set(w, 110, NULL, "b", rate(1, 10, 2));
    put_in(w, 110, "b", "b1");
    assert_string_equal(pop(w, 20, "q", "w1", 9), "b1");
    put_in(w, 20, "b", "b2");
    put_in(w, 20, "b", "b3");
    assert_string_equal(pop(w, 20, "q", "w1", 9), "b2");
    assert_string_equal(pop(w, 29, "q", "w1", 9), "");
    assert_string_equal(peek(w, 29, "q", 9), "b3,a3,a4,a5");
    assert_true(tick(w, 29) == -1);
    assert_string_equal(pop(w, 30, "q", "w1", 9), "b3");
}

static void
test_limit__a_lane_that_was_ready_is_asked_again_when_the_clock_has_gone_back(void **state)
{
    struct world *w = *state;
    limit_set(w, 0, NULL, "a", rate(1, 10, 1));
    put_many_in(w, 0, "a", 3);
    put(w, 0, "q", "plain");
    assert_string_equal(pop(w, 0, "q", "w1", 1), "a1");
    // A pop of none sees at 10 that the lane may run. At 5 it may not.
    assert_string_equal(pop(w, 10, "q", "w1", 1), "a2");
    assert_string_equal(pop(w, 5, "q", "w1", 1), "plain");
    assert_string_equal(pop(w, 19, "q", "w1", 1), "");
    assert_string_equal(pop(w, 20, "q", "w1", 1), "a3");
}

// ---------------------------------------------------------------------------------------------
// Which limit holds

static void test_limit__the_most_specific_limit_holds(void **state)
{
    struct world *w = *state;
    static const struct {
        const char *queue, *domain;
        const char *here; // what then holds for the domain user.42 in the queue q
    } steps[] = {
        { NULL, NULL, "concurrency 1" },         { "q", NULL, "concurrency 2" },
        { NULL, "*", "concurrency 3" },          { NULL, "u*", "concurrency 4" },
        { NULL, "u*4*2", "concurrency 5" },      { "q", "*", "concurrency 6" },
        { "q", "*2", "concurrency 7" },          { "q", "user.*", "concurrency 8" },
        { NULL, "user.42", "concurrency 9" },    { "q", "user.42", "concurrency 10" },
        { "r", "user.42", "concurrency 10" },    { NULL, "other", "concurrency 10" },
        { "q", "user.4", "concurrency 10" },     { "q", "user.421", "concurrency 10" },
        { "q", "*user.42*x", "concurrency 10" },
    };
    const size_t count = sizeof(steps) / sizeof(steps[0]);
    put_in(w, 0, "user.42", "j");
    char expected[64];
    for (size_t i = 0; i < count; i++) {
        limit_set(w, 0, steps[i].queue, steps[i].domain, concurrency((int64_t)i + 1));
        (void)snprintf(expected, sizeof(expected), "waiting 1, %s", steps[i].here);
        assert_string_equal(lane_of(w, 0, "q", "user.42"), expected);
    }
    assert_string_equal(lane_of(w, 0, "q", "user.43"), "concurrency 8");
    assert_string_equal(lane_of(w, 0, "q", "group.2"), "concurrency 7");
    assert_string_equal(lane_of(w, 0, "q", "group.3"), "concurrency 6");
    assert_string_equal(lane_of(w, 0, "q", NULL), "concurrency 2");
    assert_string_equal(lane_of(w, 0, "s", "user.42"), "concurrency 9");
    assert_string_equal(lane_of(w, 0, "s", "us4er2"), "concurrency 5");
    assert_string_equal(lane_of(w, 0, "s", "user"), "concurrency 4");
    assert_string_equal(lane_of(w, 0, "s", "group"), "concurrency 3");
    assert_string_equal(lane_of(w, 0, "s", NULL), "concurrency 1");
    reload(w);
    for (size_t i = count; i-- > 1;) {
        limit_unset(w, 0, steps[i].queue, steps[i].domain);
        (void)snprintf(expected, sizeof(expected), "waiting 1, %s", steps[i - 1].here);
        assert_string_equal(lane_of(w, 0, "q", "user.42"), expected);
    }
    limit_unset(w, 0, NULL, NULL);
    assert_string_equal(lane_of(w, 0, "q", "user.42"), "waiting 1");
    assert_string_equal(limits(w), "");
}

static void test_limit__among_equal_patterns_the_smaller_one_holds(void **state)
{
    struct world *w = *state;
    limit_set(w, 0, NULL, "a*", concurrency(1));
    limit_set(w, 0, NULL, "*a", concurrency(2));
    assert_string_equal(lane_of(w, 0, "q", "aa"), "concurrency 2");
    limit_set(w, 0, NULL, "*a*", concurrency(3));
    assert_string_equal(lane_of(w, 0, "q", "aa"), "concurrency 2");
    limit_set(w, 0, NULL, "**a", concurrency(4));
    assert_string_equal(lane_of(w, 0, "q", "aa"), "concurrency 4");
    limit_set(w, 0, NULL, "a*a", concurrency(5));
    assert_string_equal(lane_of(w, 0, "q", "aa"), "concurrency 5");
}

static void test_limit__for_each_of_rate_concurrency_and_weight_another_limit_may_hold(void **state)
{
    struct world *w = *state;
    limit_set(w, 0, NULL, NULL, weight(7));
    struct limit both = concurrency(4);
    both.has_rate = true; // as many as there are
    limit_set(w, 0, "q", NULL, both);
    limit_set(w, 0, NULL, "a*", rate(1, 2, 3));
    assert_string_equal(lane_of(w, 0, "q", "ab"), "rate 1/2 burst 3, concurrency 4, weight 7");
    assert_string_equal(lane_of(w, 0, "q", "b"), "concurrency 4, weight 7");
    assert_string_equal(lane_of(w, 0, "r", "ab"), "rate 1/2 burst 3, weight 7");
    // To say that there is no limit is to say something.
    limit_set(w, 0, "q", "ab", concurrency(0));
    assert_string_equal(lane_of(w, 0, "q", "ab"), "rate 1/2 burst 3, weight 7");
    limit_set(w, 0, NULL, "ab", rate(0, 0, 0));
    assert_string_equal(lane_of(w, 0, "q", "ab"), "weight 7");
    assert_string_equal(lane_of(w, 0, "r", "ab"), "weight 7");
    assert_string_equal(limits(w), "/: weight 7; q/: rate 0, concurrency 4; /a*: rate 1/2 burst 3; "
                                   "q/ab: concurrency 0; /ab: rate 0");
    // A new one takes the place of the old one, and says only what it says.
    limit_set(w, 0, "q", NULL, weight(2));
    assert_string_equal(limits(w), "/: weight 7; q/: weight 2; /a*: rate 1/2 burst 3; "
                                   "q/ab: concurrency 0; /ab: rate 0");
    assert_string_equal(lane_of(w, 0, "q", "b"), "weight 2");
}

static void test_limit__patterns(void **state)
{
    struct world *w = *state;
    static const struct {
        const char *pattern, *domain;
        bool matches;
    } cases[] = {
        { "*", "a", true },          { "*", "anything at all", true },
        { "**", "a", true },         { "a*", "a", true },
        { "a*", "ab", true },        { "a*", "ba", false },
        { "*a", "a", true },         { "*a", "ba", true },
        { "*a", "aab", false },      { "*a", "aaba", true },
        { "a*b", "ab", true },       { "a*b", "axxb", true },
        { "a*b", "abab", true },     { "a*b", "a", false },
        { "a*b", "b", false },       { "a*b", "abc", false },
        { "a*a", "a", false },       { "a*a", "aa", true },
        { "*a*b*c*", "abc", true },  { "*a*b*c*", "xaxbxcx", true },
        { "*a*b*c*", "acb", false }, { "a**b", "ab", true },
        { "*ab*ab", "abab", true },  { "*ab*ab", "aab", false },
        { "*aab", "aaab", true },    { "a.*", "a", false },
        { "a.*", "a.", true },       { "a?", "ab", false },
        { "[ab]*", "a", false },     { "A*", "a", false },
    };
    for (size_t i = 0; TEST_ROW_NAMED(i, cases, cases[i].pattern); i++) {
        // A pattern without a star would be a domain.
        bool pattern = strchr(cases[i].pattern, '*') != NULL;
        assert_true(pattern || !cases[i].matches);
        limit_set(w, 0, NULL, cases[i].pattern, concurrency(9));
        const char *lane = lane_of(w, 0, "q", cases[i].domain);
        if (strcmp(lane, cases[i].matches ? "concurrency 9" : "") != 0) {
            print_error("%s and %s: %s\n", cases[i].pattern, cases[i].domain, lane);
        }
        assert_string_equal(lane, cases[i].matches ? "concurrency 9" : "");
        limit_unset(w, 0, NULL, cases[i].pattern);
    }
    // The default lane has no domain, so that no pattern matches it.
    limit_set(w, 0, "q", "*", concurrency(1));
    put(w, 0, "q", "a");
    put(w, 0, "q", "b");
    assert_string_equal(lane_of(w, 0, "q", NULL), "waiting 2");
    assert_string_equal(pop(w, 0, "q", "w1", 9), "a,b");
}

static void test_limit__the_limit_of_a_queue_holds_for_its_default_lane_and_each_other(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "a");
    put(w, 0, "q", "b");
    put(w, 0, "r", "c");
    put(w, 0, "r", "d");
    put_in(w, 0, "x", "x1");
    put_in(w, 0, "x", "x2");
    limit_set(w, 0, "q", NULL, rate(1, 10, 1));
    assert_string_equal(pop_queues(w, 0, "q,r", POP_ORDERED, 9), "a,x1,c,d");
    assert_string_equal(lane_of(w, 0, "q", NULL),
                        "waiting 1, running 1, rate 1/10 burst 1, ready 10");
    if (w->clock == ENGINE_CLOCK_SERVER) {
        assert_true(tick(w, 0) == 10);
    }
    assert_string_equal(pop(w, 9, "q", "w1", 9), "");
    assert_string_equal(pop(w, 10, "q", "w1", 9), "b,x2");
    limit_unset(w, 10, "q", NULL);
    put(w, 10, "q", "e");
    put_in(w, 10, "x", "x3");
    assert_string_equal(pop(w, 10, "q", "w1", 9), "e,x3");
}

static void test_limit__one_domain_may_be_without_the_limit_of_all(void **state)
{
    struct world *w = *state;
    limit_set(w, 0, NULL, NULL, rate(1, 100, 1));
    limit_set(w, 0, NULL, "vip", rate(0, 0, 0));
    put_many_in(w, 0, "a", 3);
    put_many_in(w, 0, "vip", 3);
    assert_string_equal(lane_of(w, 0, "q", "vip"), "waiting 3");
    assert_string_equal(pop(w, 0, "q", "w1", 9), "a1,vip1,vip2,vip3");
}

// ---------------------------------------------------------------------------------------------
// Limits that change

static void test_limit__a_changed_rate_keeps_whole_tokens_up_to_the_new_burst(void **state)
{
    struct world *w = *state;
    set(w, "heartbeat", "1000");
    limit_set(w, 0, NULL, "a", rate(1, 1, 5));
    put_many_in(w, 0, "a", 30);
    assert_string_equal(pop(w, 0, "q", "w1", 2), "a1,a2");
    // Three and a half are there; two of them are kept.
    limit_set(w, 0.5, NULL, "a", rate(1, 10, 2));
    assert_string_equal(pop(w, 0.5, "q", "w1", 9), "a3,a4");
    assert_string_equal(lane_of(w, 0.5, "q", "a"),
                        "waiting 26, running 4, rate 1/10 burst 2, ready 10.5");
    // The same once more changes nothing.
    limit_set(w, 4, NULL, "a", rate(1, 10, 2));
    limit_set(w, 4, NULL, NULL, rate(9, 9, 9));
    limit_set(w, 4, NULL, "a*", rate(9, 9, 9));
    limit_set(w, 4, "q", "a", concurrency(100));
    limit_set(w, 4, NULL, "a", rate(1, 10, 2));
    assert_string_equal(lane_of(w, 4, "q", "a"),
                        "waiting 26, running 4, rate 1/10 burst 2, concurrency 100, ready 10.5");
    // Half a token is dropped, and the time counts from then.
    limit_set(w, 5.5, NULL, "a", rate(2, 10, 9));
    assert_string_equal(lane_of(w, 5.5, "q", "a"),
                        "waiting 26, running 4, rate 2/10 burst 9, concurrency 100, ready 10.5");
    assert_string_equal(pop(w, 10.5, "q", "w1", 9), "a5");
    assert_string_equal(pop(w, 25.6, "q", "w1", 9), "a6,a7,a8");
    // Not limited at all it has no bucket; limited once more the bucket is full.
    limit_set(w, 26, NULL, "a", rate(0, 0, 0));
    assert_string_equal(pop(w, 26, "q", "w1", 2), "a9,a10");
    limit_set(w, 27, NULL, "a", rate(1, 1000, 3));
    assert_string_equal(pop(w, 27, "q", "w1", 9), "a11,a12,a13");
    // Another limit that holds for the lane is a change too.
    limit_set(w, 127, "q", "a", rate(1, 50, 1));
    assert_string_equal(lane_of(w, 127, "q", "a"),
                        "waiting 17, running 13, rate 1/50 burst 1, ready 177");
}

static void test_limit__without_its_limit_a_lane_runs_at_once(void **state)
{
    struct world *w = *state;
    limit_set(w, 0, NULL, "a", rate(1, 1000, 1));
    limit_set(w, 0, "q", "b", concurrency(1));
    put_many_in(w, 0, "a", 3);
    put_many_in(w, 0, "b", 3);
    assert_string_equal(pop(w, 1, "q", "w1", 9), "a1,b1");
    limit_unset(w, 2, NULL, "a");
    assert_string_equal(pop(w, 2, "q", "w1", 9), "a2,a3");
    limit_unset(w, 3, "q", "b");
    assert_string_equal(pop(w, 3, "q", "w1", 9), "b2,b3");
    assert_string_equal(limits(w), "");
    // Nothing happens when there is none.
    limit_unset(w, 3, "q", "b");
    limit_unset(w, 3, NULL, NULL);
}

static void test_limit__a_lower_concurrency_takes_no_lease_away(void **state)
{
    struct world *w = *state;
    put_many_in(w, 0, "a", 6);
    pop(w, 0, "q", "w1", 3);
    limit_set(w, 1, NULL, "a", concurrency(2));
    assert_string_equal(lane_of(w, 1, "q", "a"), "waiting 3, running 3, concurrency 2, busy");
    complete(w, 2, "w1", "a1");
    assert_string_equal(pop(w, 2, "q", "w1", 9), "");
    complete(w, 2, "w1", "a2");
    assert_string_equal(pop(w, 2, "q", "w1", 9), "a4");
    limit_set(w, 3, NULL, "a", concurrency(3));
    assert_string_equal(pop(w, 3, "q", "w1", 9), "a5");
}

static void test_limit__a_limit_that_comes_while_all_is_plain_counts_at_once(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "a");
    put(w, 0, "q", "b");
    put(w, 0, "q", "c");
    assert_string_equal(pop(w, 0, "q", "w1", 1), "a");
    limit_set(w, 1, NULL, NULL, concurrency(2));
    assert_string_equal(pop(w, 1, "q", "w1", 9), "b");
    complete(w, 2, "w1", "a");
    assert_string_equal(pop(w, 2, "q", "w1", 9), "c");
    limit_unset(w, 3, NULL, NULL);
    put(w, 3, "q", "d");
    assert_string_equal(pop(w, 3, "q", "w1", 9), "d");
}

static void test_limit__limits_and_buckets_survive_being_saved(void **state)
{
    struct world *w = *state;
    limit_set(w, 0, NULL, "a", rate(3, 1, 2));
    limit_set(w, 0, "q", "b*", concurrency(1));
    limit_set(w, 0, "q", NULL, rate(1, 4, 1));
    put_many_in(w, 0, "a", 6);
    put_many_in(w, 0, "b", 3);
    put(w, 0, "q", "plain");
    put(w, 0, "q", "plain2");
    reload(w);
    assert_string_equal(pop(w, 0, "q", "w1", 9), "a1,a2,b1,plain");
    reload(w);
    assert_string_equal(limits(w),
                        "/a: rate 3/1 burst 2; q/b*: concurrency 1; q/: rate 1/4 burst 1");
    assert_string_equal(pop(w, 0.333333, "q", "w1", 9), "");
    reload(w);
    if (w->clock == ENGINE_CLOCK_SERVER) {
        assert_true(tick(w, 0.333333) == 0.333334);
    }
    assert_string_equal(pop(w, 0.333334, "q", "w1", 9), "a3");
    reload(w);
    assert_string_equal(pop(w, 0.666666, "q", "w1", 9), "");
    assert_string_equal(pop(w, 0.666667, "q", "w1", 9), "a4");
    complete(w, 1, "w1", "b1");
    reload(w);
    assert_string_equal(pop(w, 3.999999, "q", "w1", 9), "a5,a6");
    assert_string_equal(pop(w, 4, "q", "w1", 9), "b2,plain2");
}

// ---------------------------------------------------------------------------------------------
// Bad input

static void refuse_limit(struct world *w, const char *queue, const char *domain, struct limit limit,
                         const char *words)
{
    refused(w, STATUS_INVALID, words);
    limit_set(w, 0, queue, domain, limit);
    assert_string_equal(w->error.detail, words);
}

static void test_limit__limits_that_make_no_sense_are_refused(void **state)
{
    struct world *w = *state;
    char long_name[ENGINE_NAME_SIZE_MAX + 2];
    memset(long_name, 'x', sizeof(long_name) - 1);
    long_name[sizeof(long_name) - 1] = '\0';
    refuse_limit(w, "q", "a", (struct limit){ 0 },
                 "a limit must say something of rate, concurrency or weight");
    refuse_limit(w, long_name, "a", concurrency(1),
                 "queue is 256 bytes long, and at most 255 are allowed");
    refuse_limit(w, "q", long_name, concurrency(1),
                 "domain is 256 bytes long, and at most 255 are allowed");
    refuse_limit(w, "q", "a", concurrency(-1), "concurrency must not be negative");
    refuse_limit(w, "q", "a", weight(0), "weight must lie between 1 and 1000");
    refuse_limit(w, "q", "a", weight(1001), "weight must lie between 1 and 1000");
    refuse_limit(w, "q", "a", rate(-1, 1, 1), "rate must lie between 0 and 1000000000");
    refuse_limit(w, "q", "a", rate(1000000001, 1, 1), "rate must lie between 0 and 1000000000");
    refuse_limit(w, "q", "a", rate(1, 0, 1),
                 "the period of a rate must lie between a microsecond and 366 days");
    refuse_limit(w, "q", "a", rate(1, -1, 1),
                 "the period of a rate must lie between a microsecond and 366 days");
    refuse_limit(w, "q", "a", rate(1, 366.0 * DAY + 0.001, 1),
                 "the period of a rate must lie between a microsecond and 366 days");
    refuse_limit(w, "q", "a", rate(1, 1, -1), "burst must not be negative, and -1 is too large");
    refuse_limit(w, "q", "a", rate(1, 366.0 * DAY, 1000000),
                 "burst must not be negative, and 1000000 is too large");
    refused(w, STATUS_INVALID, "queue is 256 bytes long, and at most 255 are allowed");
    limit_unset(w, 0, long_name, NULL);
    refused(w, STATUS_INVALID, "domain is 256 bytes long, and at most 255 are allowed");
    limit_unset(w, 0, NULL, long_name);
    long_name[ENGINE_NAME_SIZE_MAX] = '\0';
    limit_set(w, 0, long_name, long_name, weight(1000));
    limit_unset(w, 0, long_name, long_name);
    assert_string_equal(limits(w), "");
}

static void test_limit__the_largest_and_the_smallest_rates_work(void **state)
{
    struct world *w = *state;
    const int64_t most = INT64_MAX / 4;
    struct limit large = {
        .has_rate = true, .rate_count = 1000000000, .rate_period_us = 1, .burst = most
    };
    limit_set(w, 0, NULL, "large", large);
    limit_set(w, 0, NULL, "small", rate(1, 366.0 * DAY, 1));
    limit_set(w, 0, NULL, "long", rate(1, 366.0 * DAY, 72000));
    put_many_in(w, 0, "large", 4);
    put_many_in(w, 0, "small", 2);
    put_many_in(w, 0, "long", 2);
    assert_string_equal(pop(w, 0, "q", "w1", 9), "large1,large2,large3,large4,small1,long1,long2");
    assert_string_equal(lane_of(w, 0, "q", "small"),
                        "waiting 1, running 1, rate 1/31622400 burst 1, ready 31622400");
    cancel(w, 1, "large1,large2,large3,large4,small1,long1,long2");
    assert_string_equal(pop(w, 366.0 * DAY - 0.000001, "q", "w1", 9), "");
    assert_string_equal(pop(w, 366.0 * DAY, "q", "w1", 9), "small2");
    put_in(w, 366.0 * DAY, "long", "long9");
    put_in(w, 366.0 * DAY, "large", "large9");
    cancel(w, 366.0 * DAY, "small2");
    reload(w);
    assert_string_equal(pop(w, (double)(ENGINE_TIME_MAX / US), "q", "w1", 9), "long9,large9");
}

static void test_limit__patterns_have_a_limit(void **state)
{
    struct world *w = *state;
    set(w, "max-limit-patterns", "2");
    limit_set(w, 1, NULL, "a*", concurrency(1));
    limit_set(w, 1, "q", "b*", concurrency(1));
    refused(w, STATUS_TOO_LARGE, "2 limits have patterns of domains; max-limit-patterns allows 2");
    limit_set(w, 1, NULL, "c*", concurrency(1));
    // One that is there can be changed, and one without a pattern is none of them.
    limit_set(w, 2, NULL, "a*", concurrency(3));
    limit_set(w, 2, NULL, "c", concurrency(3));
    limit_unset(w, 3, NULL, "a*");
    limit_set(w, 4, NULL, "c*", concurrency(1));
    reload(w);
    refused(w, STATUS_TOO_LARGE, "max-limit-patterns allows 2");
    limit_set(w, 4, NULL, "d*", concurrency(1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SERVER_TEST(test_limit__patterns_have_a_limit),
        SERVER_TEST(test_limit__a_rate_is_kept_to_the_microsecond),
        CLIENT_TEST(test_limit__a_rate_is_kept_to_the_microsecond),
        SERVER_TEST(test_limit__a_rate_is_kept_however_late_it_is_looked_at),
        SERVER_TEST(test_limit__a_late_pop_takes_what_came_meanwhile),
        CLIENT_TEST(test_limit__a_late_pop_takes_what_came_meanwhile),
        SERVER_TEST(test_limit__a_late_pop_takes_no_more_for_a_job_that_came_later),
        CLIENT_TEST(test_limit__a_late_pop_takes_no_more_for_a_job_that_came_later),
        SERVER_TEST(test_limit__what_was_not_used_is_saved_up_to_the_burst),
        CLIENT_TEST(test_limit__what_was_not_used_is_saved_up_to_the_burst),
        SERVER_TEST(test_limit__the_tick_wants_to_be_called_when_the_first_lane_may_run),
        SERVER_TEST(test_limit__a_lane_that_may_run_and_is_not_asked_wakes_nobody_again),
        SERVER_TEST(test_limit__an_empty_lane_is_not_waited_for),
        CLIENT_TEST(test_limit__with_the_client_clock_time_that_goes_back_brings_and_takes_nothing),
        CLIENT_TEST(test_limit__a_lane_that_was_ready_is_asked_again_when_the_clock_has_gone_back),
        SERVER_TEST(test_limit__the_most_specific_limit_holds),
        SERVER_TEST(test_limit__among_equal_patterns_the_smaller_one_holds),
        SERVER_TEST(test_limit__for_each_of_rate_concurrency_and_weight_another_limit_may_hold),
        SERVER_TEST(test_limit__patterns),
        SERVER_TEST(test_limit__the_limit_of_a_queue_holds_for_its_default_lane_and_each_other),
        CLIENT_TEST(test_limit__the_limit_of_a_queue_holds_for_its_default_lane_and_each_other),
        SERVER_TEST(test_limit__one_domain_may_be_without_the_limit_of_all),
        SERVER_TEST(test_limit__a_changed_rate_keeps_whole_tokens_up_to_the_new_burst),
        CLIENT_TEST(test_limit__a_changed_rate_keeps_whole_tokens_up_to_the_new_burst),
        SERVER_TEST(test_limit__without_its_limit_a_lane_runs_at_once),
        CLIENT_TEST(test_limit__without_its_limit_a_lane_runs_at_once),
        SERVER_TEST(test_limit__a_lower_concurrency_takes_no_lease_away),
        SERVER_TEST(test_limit__a_limit_that_comes_while_all_is_plain_counts_at_once),
        CLIENT_TEST(test_limit__a_limit_that_comes_while_all_is_plain_counts_at_once),
        SERVER_TEST(test_limit__limits_and_buckets_survive_being_saved),
        CLIENT_TEST(test_limit__limits_and_buckets_survive_being_saved),
        SERVER_TEST(test_limit__limits_that_make_no_sense_are_refused),
        SERVER_TEST(test_limit__the_largest_and_the_smallest_rates_work),
        CLIENT_TEST(test_limit__the_largest_and_the_smallest_rates_work),
    };
    return cmocka_run_group_tests_name("limit", tests, NULL, NULL);
}
