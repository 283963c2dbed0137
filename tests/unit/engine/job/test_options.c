// SPDX-License-Identifier: MIT
// How jobs are run: backoff and crashes; options by job, klass and queue.
#include "engine/job/options.h"

#include "base/hash.h"
#include "engine_test.h"

#include <string.h>

static const struct holder w1_holds_a = { .jid = { "a", 1 }, .worker = { "w1", 2 } };

static struct job_options fixed(double seconds)
{
    return (struct job_options){ .backoff = { .kind = BACKOFF_FIXED, .base_us = us(seconds) } };
}

static struct job_options timeout(double seconds)
{
    return (struct job_options){ .timeout_us = us(seconds) };
}

static struct job_options crashes(int64_t most)
{
    return (struct job_options){ .crashes_max = most };
}

// What is in effect, but for what is nothing: "fixed 5, timeout 3, ttl 2, crashes 1, run".
static const char *options_of(struct world *w, const char *jid, bool in_effect)
{
    static const char *const kinds[] = { "", "fixed", "linear", "exponential", "list" };
    static const char *const policies[] = { "", "hold", "cancel", "fail", "run" };
    const struct job *job = engine_get(w->engine, name_of(jid));
    assert_non_null(job);
    struct job_options options = { 0 };
    (in_effect ? job_options_in_effect : job_options)(w->engine, job, &options);
    struct buffer *text = &w->text;
    buffer_clear(text);
    if (options.backoff.kind) {
        buffer_printf(text, ", %s %g", kinds[options.backoff.kind],
                      (double)(options.backoff.kind == BACKOFF_LIST ? options.backoff.list_us[0]
                                                                    : options.backoff.base_us) /
                          US);
    }
    if (options.timeout_us) {
        buffer_printf(text, ", timeout %g", (double)options.timeout_us / US);
    }
    if (options.lease_us) {
        buffer_printf(text, ", lease %g", (double)options.lease_us / US);
    }
    if (options.result_ttl_us) {
        buffer_printf(text, ", ttl %g", (double)options.result_ttl_us / US);
    }
    if (options.crashes_max) {
        buffer_printf(text, ", crashes %lld", (long long)options.crashes_max);
    }
    if (options.dependency_policy) {
        buffer_printf(text, ", %s", policies[options.dependency_policy]);
    }
    buffer_append_char(text, '\0');
    return text->size > 1 ? text->data + 2 : "";
}

// ---------------------------------------------------------------------------------------------
// Backoff

static void test_options__backoff_by_kind_and_number_of_runs(void **state)
{
    (void)state;
    static const struct {
        struct backoff backoff;
        uint32_t n;
        int64_t delay_us;
    } cases[] = {
        { { BACKOFF_UNSET }, 1, 0 },
        { { BACKOFF_FIXED, .base_us = 5 }, 1, 5 },
        { { BACKOFF_FIXED, .base_us = 5 }, 1000, 5 },
        { { BACKOFF_FIXED, .base_us = 0 }, 3, 0 },
        { { BACKOFF_FIXED, .base_us = 5, .cap_us = 4 }, 1, 4 },
        { { BACKOFF_FIXED, .base_us = ENGINE_TIME_MAX }, 1, ENGINE_TIME_MAX },
        { { BACKOFF_LINEAR, .base_us = 5 }, 1, 5 },
        { { BACKOFF_LINEAR, .base_us = 5 }, 2, 10 },
        { { BACKOFF_LINEAR, .base_us = 5 }, 7, 35 },
        { { BACKOFF_LINEAR, .base_us = 5, .cap_us = 34 }, 6, 30 },
        { { BACKOFF_LINEAR, .base_us = 5, .cap_us = 34 }, 7, 34 },
        { { BACKOFF_LINEAR, .base_us = 0 }, UINT32_MAX, 0 },
        { { BACKOFF_LINEAR, .base_us = ENGINE_TIME_MAX / 2 }, 2, ENGINE_TIME_MAX - 1 },
        { { BACKOFF_LINEAR, .base_us = ENGINE_TIME_MAX / 2 }, 3, ENGINE_TIME_MAX },
        { { BACKOFF_LINEAR, .base_us = ENGINE_TIME_MAX }, UINT32_MAX, ENGINE_TIME_MAX },
        { { BACKOFF_EXPONENTIAL, .base_us = 5 }, 1, 5 },
        { { BACKOFF_EXPONENTIAL, .base_us = 5 }, 2, 10 },
        { { BACKOFF_EXPONENTIAL, .base_us = 5 }, 3, 20 },
        { { BACKOFF_EXPONENTIAL, .base_us = 5 }, 11, 5120 },
        { { BACKOFF_EXPONENTIAL, .base_us = 5, .cap_us = 20 }, 3, 20 },
        { { BACKOFF_EXPONENTIAL, .base_us = 5, .cap_us = 20 }, 60, 20 },
        { { BACKOFF_EXPONENTIAL, .base_us = 0 }, 63, 0 },
        { { BACKOFF_EXPONENTIAL, .base_us = 1 }, 57, INT64_C(1) << 56 },
        { { BACKOFF_EXPONENTIAL, .base_us = 1 }, 59, ENGINE_TIME_MAX },
        { { BACKOFF_EXPONENTIAL, .base_us = 1 }, 62, ENGINE_TIME_MAX },
        { { BACKOFF_EXPONENTIAL, .base_us = 1 }, 63, ENGINE_TIME_MAX },
        { { BACKOFF_EXPONENTIAL, .base_us = 1 }, 64, ENGINE_TIME_MAX },
        { { BACKOFF_EXPONENTIAL, .base_us = 1 }, UINT32_MAX, ENGINE_TIME_MAX },
        { { BACKOFF_EXPONENTIAL, .base_us = ENGINE_TIME_MAX }, 2, ENGINE_TIME_MAX },
        { { BACKOFF_LIST, .list_count = 3, .list_us = { 7, 0, 9 } }, 1, 7 },
        { { BACKOFF_LIST, .list_count = 3, .list_us = { 7, 0, 9 } }, 2, 0 },
        { { BACKOFF_LIST, .list_count = 3, .list_us = { 7, 0, 9 } }, 3, 9 },
        { { BACKOFF_LIST, .list_count = 3, .list_us = { 7, 0, 9 } }, 4, 9 },
        { { BACKOFF_LIST, .list_count = 3, .list_us = { 7, 0, 9 } }, UINT32_MAX, 9 },
        { { BACKOFF_LIST, .cap_us = 8, .list_count = 3, .list_us = { 7, 0, 9 } }, 3, 8 },
        { { BACKOFF_LIST, .list_count = 1, .list_us = { ENGINE_TIME_MAX } }, 1, ENGINE_TIME_MAX },
        // Jitter takes off what the random number says, up to its share.
        { { BACKOFF_FIXED, .jitter_percent = 100, .base_us = 100 }, 1, 100 },
        { { BACKOFF_FIXED, .jitter_percent = 0, .base_us = ENGINE_TIME_MAX }, 1, ENGINE_TIME_MAX },
    };
    for (size_t i = 0; TEST_ROW(i, cases); i++) {
        assert_int_equal(backoff_delay(&cases[i].backoff, cases[i].n, 0), cases[i].delay_us);
    }
}

static void test_options__jitter_takes_off_up_to_its_share(void **state)
{
    (void)state;
    static const int64_t bases[] = { 0, 1, 99999, 100000, 100001, 12345678, ENGINE_TIME_MAX };
    static const uint32_t percents[] = { 0, 1, 25, 50, 99, 100 };
    for (size_t b = 0; TEST_ROW(b, bases); b++) {
        for (size_t p = 0; TEST_ROW(p, percents); p++) {
            const struct backoff backoff = { .kind = BACKOFF_FIXED,
                                             .jitter_percent = percents[p],
                                             .base_us = bases[b] };
            int64_t least = bases[b], before = bases[b];
            for (uint64_t r = 0; r <= 1000; r++) {
                int64_t delay_us = backoff_delay(&backoff, 1, r);
                assert_true(delay_us >= 0 && delay_us <= before);
                assert_int_equal(delay_us, backoff_delay(&backoff, 1, r + 1001));
                before = delay_us;
                least = delay_us;
            }
            long double share = (long double)bases[b] * percents[p] / 100;
            long double off = (long double)(bases[b] - least);
            assert_true(off <= share && off > share - 2);
        }
    }
}

static void test_options__the_same_seed_gives_the_same_jitter(void **state)
{
    struct world *w = *state;
    struct job_options options = fixed(1000);
    options.backoff.jitter_percent = 40;
    int64_t first_us[2] = { 0 };
    for (int round = 0; round < 2; round++) {
        int different = 0;
        for (uint64_t seed = 0; seed < 20; seed++) {
            // The same jid, so that it keeps its number.
            put_options(w, 0, "a", options);
            uint64_t id = view_of(w, "a").id;
            pop(w, 0, "q", "w1", 1);
            retry_with(w, 0, (struct retry_request){ .holder = w1_holds_a, .seed = seed });
            int64_t delay_us = view_of(w, "a").scheduled_us;
            int64_t r = (int64_t)(hash_mix(seed + id) % 1001);
            assert_int_equal(delay_us, us(1000) - us(1000) / 100000 * (40 * r));
            assert_true(delay_us >= us(600) && delay_us <= us(1000));
            different += delay_us != first_us[0];
            if (seed == 7) {
                first_us[round] = delay_us;
            }
        }
        assert_true(different > 15);
    }
    assert_int_equal(first_us[0], first_us[1]);
}

static void test_options__a_retry_waits_as_the_backoff_says(void **state)
{
    struct world *w = *state;
    put_options(
        w, 0, "a",
        (struct job_options){
            .backoff = { .kind = BACKOFF_EXPONENTIAL, .base_us = us(2), .cap_us = us(7) } });
    static const double delays[] = { 2, 4, 7, 7 };
    double now = 0;
    for (size_t i = 0; i < 4; i++) {
        assert_string_equal(pop(w, now, "q", "w1", 1), "a");
        assert_int_equal(view_of(w, "a").attempts, i + 1);
        assert_int_equal(retry(w, now, "w1", "a"), 4 - (int)i);
        assert_string_equal(state_of(w, "a"), "scheduled");
        assert_int_equal(view_of(w, "a").scheduled_us, us(now + delays[i]));
        assert_string_equal(pop(w, now + delays[i] - 0.5, "q", "w1", 1), "");
        now += delays[i];
        reload(w);
    }
}

static void test_options__without_a_backoff_a_retry_waits_for_nothing(void **state)
{
    struct world *w = *state;
    policy_set(w, 0, POLICY_KLASS, "another klass", fixed(9));
    put_options(w, 0, "a", crashes(3));
    pop(w, 0, "q", "w1", 1);
    retry(w, 1, "w1", "a");
    assert_string_equal(state_of(w, "a"), "waiting");
    // A delay that is not said to be one is none.
    put(w, 2, "q", "a");
    pop(w, 2, "q", "w1", 1);
    retry_with(w, 2, (struct retry_request){ .holder = w1_holds_a, .delay_us = us(50) });
    assert_string_equal(state_of(w, "a"), "waiting");
}

static void test_options__a_delay_that_is_not_said_to_be_one_is_none(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "a");
    pop(w, 0, "q", "w1", 1);
    retry_with(w, 1, (struct retry_request){ .holder = w1_holds_a, .delay_us = us(50) });
    assert_string_equal(state_of(w, "a"), "waiting");
}

static void test_options__a_delay_that_is_given_counts_before_the_backoff(void **state)
{
    struct world *w = *state;
    put_options(w, 0, "a", fixed(100));
    pop(w, 0, "q", "w1", 1);
    retry_with(
        w, 0, (struct retry_request){ .holder = w1_holds_a, .has_delay = true, .delay_us = us(3) });
    assert_int_equal(view_of(w, "a").scheduled_us, us(3));
    assert_string_equal(pop(w, 3, "q", "w1", 1), "a");
    retry_with(w, 3, (struct retry_request){ .holder = w1_holds_a, .has_delay = true });
    assert_string_equal(state_of(w, "a"), "waiting");
}

static void test_options__a_backoff_does_not_reach_beyond_the_year_9999(void **state)
{
    struct world *w = *state;
    put_options(
        w, 1000, "a",
        (struct job_options){ .backoff = { .kind = BACKOFF_FIXED, .base_us = ENGINE_TIME_MAX } });
    pop(w, 1000, "q", "w1", 1);
    retry(w, 1000, "w1", "a");
    assert_int_equal(view_of(w, "a").scheduled_us, ENGINE_TIME_MAX);
    reload(w);
}

static void test_options__a_retry_elsewhere_goes_by_the_queue_it_ran_in(void **state)
{
    struct world *w = *state;
    policy_set(w, 0, POLICY_QUEUE, "q", fixed(10));
    policy_set(w, 0, POLICY_QUEUE, "r", fixed(20));
    put(w, 0, "q", "a");
    pop(w, 0, "q", "w1", 1);
    retry_with(w, 0, (struct retry_request){ .holder = w1_holds_a, .to = SLICE("r") });
    assert_int_equal(view_of(w, "a").scheduled_us, us(10));
    pop(w, 10, "r", "w1", 1);
    retry(w, 10, "w1", "a");
    assert_int_equal(view_of(w, "a").scheduled_us, us(30));
}

// ---------------------------------------------------------------------------------------------
// Whose options count

static void test_options__for_each_the_job_counts_before_the_klass_before_the_queue(void **state)
{
    struct world *w = *state;
    put_options(w, 0, "a", fixed(1));
    assert_string_equal(options_of(w, "a", true), "fixed 1");
    policy_set(w, 0, POLICY_QUEUE, "q",
               (struct job_options){ .backoff = { .kind = BACKOFF_LINEAR, .base_us = us(5) },
                                     .timeout_us = us(6),
                                     .result_ttl_us = us(7),
                                     .crashes_max = 8,
                                     .dependency_policy = DEPENDENCY_FAIL });
    assert_string_equal(options_of(w, "a", true), "fixed 1, timeout 6, ttl 7, crashes 8, fail");
    policy_set(w, 0, POLICY_KLASS, "k",
               (struct job_options){ .backoff = { .kind = BACKOFF_EXPONENTIAL, .base_us = us(50) },
                                     .timeout_us = us(60),
                                     .result_ttl_us = -5 });
    assert_string_equal(options_of(w, "a", true),
                        "fixed 1, timeout 60, ttl -1e-06, crashes 8, fail");
    assert_string_equal(options_of(w, "a", false), "fixed 1");
    put(w, 0, "q", "b");
    assert_string_equal(options_of(w, "b", true),
                        "exponential 50, timeout 60, ttl -1e-06, crashes 8, fail");
    assert_string_equal(options_of(w, "b", false), "");
    put_with(w, 0, (struct put_request){ .jid = SLICE("c"), .klass = SLICE("other") });
    assert_string_equal(options_of(w, "c", true), "linear 5, timeout 6, ttl 7, crashes 8, fail");
    put(w, 0, "r", "d");
    assert_string_equal(options_of(w, "d", true), "exponential 50, timeout 60, ttl -1e-06");
    // To say that there is no limit is to say something.
    put_options(w, 0, "e",
                (struct job_options){
                    .timeout_us = -1, .crashes_max = -9, .dependency_policy = DEPENDENCY_HOLD });
    assert_string_equal(options_of(w, "e", true),
                        "exponential 50, timeout -1e-06, ttl -1e-06, crashes -1, hold");
    reload(w);
    assert_string_equal(options_of(w, "e", true),
                        "exponential 50, timeout -1e-06, ttl -1e-06, crashes -1, hold");
    // A complete job is still one of its queue.
    pop(w, 0, "r", "w1", 1);
    complete(w, 0, "w1", "d");
    assert_string_equal(options_of(w, "d", true), "exponential 50, timeout 60, ttl -1e-06");
}

static void test_options__stay_with_a_job_until_a_put_gives_others(void **state)
{
    struct world *w = *state;
    put_options(w, 0, "a", fixed(3));
    put(w, 1, "r", "a");
    assert_string_equal(options_of(w, "a", false), "fixed 3");
    put_options(w, 2, "a", timeout(4));
    assert_string_equal(options_of(w, "a", false), "timeout 4");
    put_options(w, 3, "a", (struct job_options){ 0 });
    assert_string_equal(options_of(w, "a", false), "");
}

// "klass k: fixed 1; queue q: timeout 2".
static const char *policies(struct world *w)
{
    struct policy_view view;
    buffer_clear(&w->text);
    for (size_t i = 0; engine_policy_at(w->engine, i, &view); i++) {
        buffer_printf(&w->text, "%s%s %.*s: %d %lld", i ? "; " : "",
                      view.scope == POLICY_KLASS ? "klass" : "queue", SLICE_PRINT(view.name),
                      (int)view.options.backoff.kind, (long long)view.options.timeout_us);
    }
    buffer_append_char(&w->text, '\0');
    return w->text.data;
}

static void test_options__policies_are_listed_in_the_order_in_which_they_were_set(void **state)
{
    struct world *w = *state;
    assert_string_equal(policies(w), "");
    policy_set(w, 0, POLICY_QUEUE, "x", fixed(1));
    policy_set(w, 0, POLICY_KLASS, "x", timeout(0.000002));
    policy_set(w, 0, POLICY_KLASS, "b", timeout(0.000003));
    assert_string_equal(policies(w), "queue x: 1 0; klass x: 0 2; klass b: 0 3");
    policy_set(w, 0, POLICY_QUEUE, "x", timeout(0.000004));
    assert_string_equal(policies(w), "queue x: 0 4; klass x: 0 2; klass b: 0 3");
    reload(w);
    // What says nothing takes it away, also when there is none.
    policy_set(w, 0, POLICY_KLASS, "x", (struct job_options){ 0 });
    policy_set(w, 0, POLICY_KLASS, "never", (struct job_options){ 0 });
    assert_string_equal(policies(w), "queue x: 0 4; klass b: 0 3");
    policy_set(w, 0, POLICY_KLASS, "x", fixed(9));
    assert_string_equal(policies(w), "queue x: 0 4; klass b: 0 3; klass x: 1 0");
    reload(w);
    assert_string_equal(policies(w), "queue x: 0 4; klass b: 0 3; klass x: 1 0");
}

static void test_options__a_policy_counts_when_it_matters(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "a");
    policy_set(w, 0, POLICY_KLASS, "k", timeout(20));
    pop(w, 0, "q", "w1", 1);
    assert_int_equal(view_of(w, "a").run_ends_us, us(20));
    // That run goes on as it was begun.
    policy_set(w, 1, POLICY_KLASS, "k", fixed(7));
    assert_int_equal(view_of(w, "a").run_ends_us, us(20));
    assert_true(heartbeat(w, 2, "w1", "a") == 20);
    retry(w, 3, "w1", "a");
    assert_int_equal(view_of(w, "a").scheduled_us, us(10));
    policy_set(w, 4, POLICY_KLASS, "k", (struct job_options){ 0 });
    assert_int_equal(view_of(w, "a").scheduled_us, us(10));
    pop(w, 10, "q", "w1", 1);
    assert_int_equal(view_of(w, "a").run_ends_us, 0);
    retry(w, 11, "w1", "a");
    assert_string_equal(state_of(w, "a"), "waiting");
}

// ---------------------------------------------------------------------------------------------
// Attempts and crashes

static void test_options__attempts_count_the_runs_in_a_queue(void **state)
{
    struct world *w = *state;
    set(w, "grace-period", "0");
    put(w, 0, "q", "a");
    assert_int_equal(view_of(w, "a").attempts, 0);
    pop(w, 0, "q", "w1", 1);
    assert_int_equal(view_of(w, "a").attempts, 1);
    retry(w, 0, "w1", "a");
    pop(w, 0, "q", "w1", 1);
    time_out(w, 0, "a");
    pop(w, 0, "q", "w1", 1);
    pop(w, 60, "q", "w2", 1); // a lost lease
    assert_int_equal(view_of(w, "a").attempts, 4);
    assert_int_equal(view_of(w, "a").crashes, 1);
    reload(w);
    assert_int_equal(view_of(w, "a").attempts, 4);
    // Going on to the next queue they start anew; crashes do not.
    complete_with(w, 61,
                  (struct complete_request){ .holder = { SLICE("a"), SLICE("w2"), .token = 0 },
                                             .next = SLICE("next") });
    assert_int_equal(view_of(w, "a").attempts, 0);
    assert_int_equal(view_of(w, "a").crashes, 1);
    pop(w, 62, "next", "w1", 1);
    assert_int_equal(view_of(w, "a").attempts, 1);
    complete(w, 63, "w1", "a");
    assert_int_equal(view_of(w, "a").attempts, 1);
    put(w, 64, "q", "a");
    assert_int_equal(view_of(w, "a").attempts, 0);
    assert_int_equal(view_of(w, "a").crashes, 0);
    pop(w, 65, "q", "w1", 1);
    fail_job(w, 66, "w1", "a", "bad");
    assert_int_equal(view_of(w, "a").attempts, 1);
    unfail(w, 67, "q", "bad", 1);
    assert_int_equal(view_of(w, "a").attempts, 0);
}

static void test_options__with_too_many_crashes_a_job_fails(void **state)
{
    struct world *w = *state;
    set(w, "grace-period", "0");
    put_options(w, 0, "a", crashes(2));
    track(w, 0, "a");
    pop(w, 0, "q", "w1", 1);
    assert_string_equal(pop(w, 60, "q", "w2", 1), "a");
    assert_int_equal(view_of(w, "a").crashes, 1);
    forget_events(w);
    assert_string_equal(pop(w, 120, "q", "w3", 1), "");
    expect_events(w, "tracker: stalled a; worker+log: lock_lost a by w2; tracker: failed a; "
                     "log: failed a in q by w2 as failed-crashes-q saying Job crashed 2 times in "
                     "queue \"q\"");
    struct job_view view = view_of(w, "a");
    assert_int_equal(view.state, JOB_FAILED);
    assert_int_equal(view.crashes, 2);
    assert_int_equal(view.remaining, 3);
    assert_slice_equal(view.failure_group, "failed-crashes-q");
    assert_slice_equal(view.failure_message, "Job crashed 2 times in queue \"q\"");
    assert_slice_equal(view.failure_worker, "");
    assert_int_equal(stats_of(w, "q", 120).failed, 1);
    assert_int_equal(stats_of(w, "q", 120).failures, 1);
    assert_string_equal(history_of(w, "a"),
                        "0 put in q; 0 popped by w1; 60 timed-out; 60 popped by w2; "
                        "120 timed-out; 120 failed as failed-crashes-q");
    reload(w);
    // Unfailed it has them all again.
    unfail(w, 121, "q", "failed-crashes-q", 1);
    assert_int_equal(view_of(w, "a").crashes, 0);
    pop(w, 121, "q", "w1", 1);
    assert_string_equal(pop(w, 181, "q", "w1", 1), "a");
}

static void test_options__crashes_end_with_the_grace_and_retries_are_no_crashes(void **state)
{
    struct world *w = *state;
    policy_set(w, 0, POLICY_QUEUE, "q", crashes(1));
    put(w, 0, "q", "a");
    pop(w, 0, "q", "w1", 1);
    retry(w, 1, "w1", "a");
    pop(w, 1, "q", "w1", 1);
    time_out(w, 2, "a");
    pop(w, 2, "q", "w1", 1);
    assert_string_equal(pop(w, 62, "q", "w2", 1), "");
    assert_string_equal(state_of(w, "a"), "running");
    assert_string_equal(pop(w, 72, "q", "w2", 1), "");
    assert_string_equal(state_of(w, "a"), "failed");
    assert_string_equal(groups(w), "failed-crashes-q 1");
}

static void test_options__without_retries_the_crashes_do_not_matter(void **state)
{
    struct world *w = *state;
    set(w, "grace-period", "0");
    put_with(w, 0,
             (struct put_request){ .jid = SLICE("a"),
                                   .has_retries = true,
                                   .options = &(struct job_options){ .crashes_max = 1 } });
    pop(w, 0, "q", "w1", 1);
    pop(w, 60, "q", "w1", 1);
    assert_string_equal(groups(w), "failed-retries-q 1");
    assert_int_equal(view_of(w, "a").crashes, 1);
}

// ---------------------------------------------------------------------------------------------
// Bad input

static void test_options__what_makes_no_sense_is_refused(void **state)
{
    struct world *w = *state;
    static const char *const bounds =
        "base and cap of a backoff must not be negative, nor reach beyond the year 9999";
    static const struct {
        struct job_options options;
        const char *sentence;
    } cases[] = {
        { { .backoff = { .kind = 5 } }, "unknown kind of backoff" },
        { { .backoff = { .kind = BACKOFF_FIXED, .jitter_percent = 101 } },
          "the jitter of a backoff is at most 100 %" },
        { { .backoff = { .kind = BACKOFF_FIXED, .base_us = -1 } }, NULL },
        { { .backoff = { .kind = BACKOFF_LINEAR, .base_us = ENGINE_TIME_MAX + 1 } }, NULL },
        { { .backoff = { .kind = BACKOFF_FIXED, .cap_us = -1 } }, NULL },
        { { .backoff = { .kind = BACKOFF_EXPONENTIAL, .cap_us = INT64_MAX } }, NULL },
        { { .backoff = { .kind = BACKOFF_LIST } }, "the list of a backoff has 1 to 16 delays" },
        { { .backoff = { .kind = BACKOFF_LIST, .list_count = 17 } },
          "the list of a backoff has 1 to 16 delays" },
        { { .backoff = { .kind = BACKOFF_LIST, .list_count = 2, .list_us = { 1, -1 } } },
          "delay 2 of a backoff must not be negative, nor reach beyond the year 9999" },
        { { .backoff = { .kind = BACKOFF_LIST,
                         .list_count = 1,
                         .list_us = { ENGINE_TIME_MAX + 1 } } },
          "delay 1 of a backoff must not be negative, nor reach beyond the year 9999" },
        { { .timeout_us = ENGINE_TIME_MAX + 1 }, "timeout reaches beyond the year 9999" },
        { { .result_ttl_us = ENGINE_TIME_MAX + 1 }, "result-ttl reaches beyond the year 9999" },
        { { .dependency_policy = 5 }, "unknown dependency policy" },
    };
    for (size_t i = 0; TEST_ROW_NAMED(i, cases, cases[i].sentence); i++) {
        const char *sentence = cases[i].sentence ? cases[i].sentence : bounds;
        refused(w, STATUS_INVALID, sentence);
        put_options(w, 0, "a", cases[i].options);
        assert_string_equal(w->error.detail, sentence);
        refused(w, STATUS_INVALID, sentence);
        policy_set(w, 0, POLICY_KLASS, "k", cases[i].options);
        assert_string_equal(w->error.detail, sentence);
        refused(w, STATUS_INVALID, sentence);
        recur_with(w, 0,
                   (struct recur_request){ .queue = SLICE("q"),
                                           .jid = SLICE("r"),
                                           .interval_us = us(1),
                                           .options = &cases[i].options });
        assert_string_equal(w->error.detail, sentence);
    }
    refused(w, STATUS_INVALID, "a policy is for a klass or a queue");
    policy_set(w, 0, 2, "k", fixed(1));
    refused(w, STATUS_INVALID, "klass must not be empty");
    policy_set(w, 0, POLICY_KLASS, NULL, fixed(1));
    refused(w, STATUS_INVALID, "queue must not be empty");
    policy_set(w, 0, POLICY_QUEUE, NULL, fixed(1));
    char long_name[ENGINE_NAME_SIZE_MAX + 2];
    memset(long_name, 'x', sizeof(long_name) - 1);
    long_name[sizeof(long_name) - 1] = '\0';
    refused(w, STATUS_INVALID, "klass is 256 bytes long, and at most 255 are allowed");
    policy_set(w, 0, POLICY_KLASS, long_name, fixed(1));
    refused(w, STATUS_INVALID, "queue is 256 bytes long, and at most 255 are allowed");
    policy_set(w, 0, POLICY_QUEUE, long_name, fixed(1));
    assert_string_equal(policies(w), "");
}

static void test_options__the_largest_there_are_work(void **state)
{
    struct world *w = *state;
    struct job_options most = { .backoff = { .kind = BACKOFF_LIST,
                                             .jitter_percent = 100,
                                             .cap_us = ENGINE_TIME_MAX,
                                             .list_count = BACKOFF_LIST_MAX },
                                .timeout_us = ENGINE_TIME_MAX,
                                .result_ttl_us = ENGINE_TIME_MAX,
                                .crashes_max = UINT16_MAX,
                                .dependency_policy = DEPENDENCY_RUN };
    for (size_t i = 0; i < BACKOFF_LIST_MAX; i++) {
        most.backoff.list_us[i] = ENGINE_TIME_MAX;
    }
    put_options(w, 0, "a", most);
    policy_set(w, 0, POLICY_QUEUE, "q", most);
    reload(w);
    pop(w, 1, "q", "w1", 1);
    retry_with(w, 2, (struct retry_request){ .holder = w1_holds_a, .seed = UINT64_MAX });
    assert_true(view_of(w, "a").scheduled_us <= ENGINE_TIME_MAX);
    put(w, 3, "q", "a");
    set(w, "grace-period", "0");
    pop(w, 4, "q", "w1", 1);
    assert_string_equal(pop(w, 64, "q", "w1", 1), "a");
    complete_with(w, 65, (struct complete_request){ .holder = w1_holds_a, .result = SLICE("1") });
    assert_int_equal(view_of(w, "a").result_until_us, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_options__backoff_by_kind_and_number_of_runs),
        cmocka_unit_test(test_options__jitter_takes_off_up_to_its_share),
        SERVER_TEST(test_options__the_same_seed_gives_the_same_jitter),
        SERVER_TEST(test_options__a_retry_waits_as_the_backoff_says),
        CLIENT_TEST(test_options__a_retry_waits_as_the_backoff_says),
        SERVER_TEST(test_options__without_a_backoff_a_retry_waits_for_nothing),
        SERVER_TEST(test_options__a_delay_that_is_not_said_to_be_one_is_none),
        SERVER_TEST(test_options__a_delay_that_is_given_counts_before_the_backoff),
        SERVER_TEST(test_options__a_backoff_does_not_reach_beyond_the_year_9999),
        SERVER_TEST(test_options__a_retry_elsewhere_goes_by_the_queue_it_ran_in),
        SERVER_TEST(test_options__for_each_the_job_counts_before_the_klass_before_the_queue),
        SERVER_TEST(test_options__stay_with_a_job_until_a_put_gives_others),
        SERVER_TEST(test_options__policies_are_listed_in_the_order_in_which_they_were_set),
        SERVER_TEST(test_options__a_policy_counts_when_it_matters),
        SERVER_TEST(test_options__attempts_count_the_runs_in_a_queue),
        CLIENT_TEST(test_options__attempts_count_the_runs_in_a_queue),
        SERVER_TEST(test_options__with_too_many_crashes_a_job_fails),
        CLIENT_TEST(test_options__with_too_many_crashes_a_job_fails),
        SERVER_TEST(test_options__crashes_end_with_the_grace_and_retries_are_no_crashes),
        CLIENT_TEST(test_options__crashes_end_with_the_grace_and_retries_are_no_crashes),
        SERVER_TEST(test_options__without_retries_the_crashes_do_not_matter),
        SERVER_TEST(test_options__what_makes_no_sense_is_refused),
        SERVER_TEST(test_options__the_largest_there_are_work),
        CLIENT_TEST(test_options__the_largest_there_are_work),
    };
    return cmocka_run_group_tests_name("options", tests, NULL, NULL);
}
