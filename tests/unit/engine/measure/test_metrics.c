// SPDX-License-Identifier: MIT
// What is measured: counts against a recount of all jobs, times of small stories against what one
// works out by hand, and rates.
#include "engine_test_more.h"

#include "random.h"

#include <string.h>

enum {
    JIDS = 40,
    STEPS = 3000,
    RATES_SPAN = 15,
};

static const char *const queue_names[] = { "q", "r", "s" };
static const int32_t priorities[] = { -5, 0, 7, INT32_MAX };

enum {
    QUEUES = sizeof(queue_names) / sizeof(queue_names[0]),
    PRIORITIES = sizeof(priorities) / sizeof(priorities[0]),
};

// ---------------------------------------------------------------------------------------------
// Counts

static bool counts(const struct job_view *view, const struct count_filter *filter)
{
    return (filter->queue.size == 0 || slice_equal(view->queue, filter->queue)) &&
           (!filter->has_priority || view->priority == filter->priority) &&
           (!filter->has_state || view->state == filter->state);
}

// Counts one by one.
static size_t recount(const struct world *w, const struct count_filter *filter)
{
    size_t count = 0;
    for (size_t i = 0; i < JIDS; i++) {
        const struct job *job = engine_get(w->engine, name_of(numbered("j", i)));
        if (job) {
            struct job_view view;
            job_view(w->engine, job, &view);
            count += counts(&view, filter);
        }
    }
    return count;
}

// The one of the priorities that jobs have that has `index` others before it.
static bool priority_at(const struct engine *engine, struct slice queue, size_t index,
                        int32_t *priority)
{
    struct priority_view views[600];
    size_t count = engine_priorities(engine, queue, INT32_MIN, views, index + 1);
    *priority = count ? views[count - 1].priority : 0;
    return count == index + 1;
}

// All combinations of queue, priority and state; and which priorities are listed.
static void expect_counts(const struct world *w)
{
    for (size_t q = 0; q <= QUEUES; q++) {
        struct slice queue = q ? name_of(queue_names[q - 1]) : SLICE_EMPTY;
        size_t listed = 0;
        for (size_t p = 0; p <= PRIORITIES; p++) {
            for (size_t s = 0; s <= JOB_STATE_COUNT; s++) {
                const struct count_filter filter = { .queue = queue,
                                                     .has_priority = p > 0,
                                                     .priority = p ? priorities[p - 1] : 0,
                                                     .has_state = s > 0,
                                                     .state = s ? (enum job_state)(s - 1) : 0 };
                size_t right = recount(w, &filter);
                assert_int_equal(engine_count(w->engine, &filter), right);
                int32_t priority;
                if (p > 0 && s == 0 && right > 0) {
                    assert_true(priority_at(w->engine, queue, listed, &priority));
                    assert_int_equal(priority, priorities[p - 1]);
                    listed++;
                }
            }
        }
        int32_t priority;
        struct priority_view first[PRIORITIES];
        assert_false(priority_at(w->engine, queue, listed, &priority));
        for (size_t max = 0; max <= PRIORITIES; max++) {
            size_t given = engine_priorities(w->engine, queue, INT32_MIN, first, max);
            assert_int_equal(given, listed < max ? listed : max);
            for (size_t i = 0; i < given; i++) {
                assert_true(priority_at(w->engine, queue, i, &priority));
                assert_int_equal(first[i].priority, priority);
                const struct count_filter filter = { .queue = queue,
                                                     .has_priority = true,
                                                     .priority = priority };
                assert_int_equal(first[i].count, engine_count(w->engine, &filter));
                // From there on it is the first.
                struct priority_view view;
                assert_int_equal(engine_priorities(w->engine, queue, priority, &view, 1), 1);
                assert_int_equal(view.priority, priority);
            }
        }
    }
}

static void random_step(struct world *w, struct random *random, double now)
{
    const char *jid = numbered("j", random_below(random, JIDS));
    const char *other = numbered("j", random_below(random, JIDS));
    const char *queue = queue_names[random_below(random, QUEUES)];
    const struct job *popped[3];
    size_t count;
    enum job_state state;
    int32_t remaining;
    uint64_t id;
    const struct slice jids[] = { name_of(jid), name_of(other) };
    const struct slice queues_[] = { name_of(queue) };
    const struct holder holder = { .jid = name_of(jid), .worker = SLICE("w1") };
    int64_t now_us = at(w, now);
    // Many of these are refused, which must not count either.
    switch (random_below(random, 12)) {
    case 0:
    case 1:
    case 2: {
        const struct put_request request = {
            .queue = name_of(queue),
            .jid = name_of(jid),
            .klass = SLICE("k"),
            .data = SLICE("{}"),
            .has_priority = random_below(random, 3) > 0,
            .priority = priorities[random_below(random, PRIORITIES)],
            .delay_us = random_below(random, 4) ? 0 : us(20),
            .has_retries = true,
            .retries = (int32_t)random_below(random, 2),
            .has_domain = random_below(random, 2) > 0,
            .domain = SLICE("acme"),
            .has_deadline = random_below(random, 8) == 0,
            .deadline_us = now_us + us(15),
            .depends = { jids + 1, random_below(random, 3) ? 0 : 1 },
            .options = options_with((enum dependency_policy)random_below(random, 5)),
        };
        const struct job *job;
        (void)!engine_put(w->engine, now_us, &request, &job, &w->error);
        break;
    }
    case 3:
    case 4: {
        const struct pop_request request = { .worker = SLICE("w1"),
                                             .queues = { queues_, 1 },
                                             .count = 3 };
        (void)!engine_pop(w->engine, now_us, &request, popped, &count, &w->error);
        break;
    }
    case 5: {
        const struct complete_request request = { .holder = holder,
                                                  .next = random_below(random, 2) ? queues_[0]
                                                                                  : SLICE_EMPTY };
        (void)!engine_complete(w->engine, now_us, &request, &state, &w->error);
        break;
    }
    case 6: {
        const struct fail_request request = { .holder = holder,
                                              .group = SLICE("bad"),
                                              .message = SLICE("it broke") };
        (void)!engine_fail(w->engine, now_us, &request, &w->error);
        break;
    }
    case 7: {
        const struct retry_request request = { .holder = holder, .to = queues_[0] };
        (void)!engine_retry(w->engine, now_us, &request, &remaining, &w->error);
        break;
    }
    case 8:
        (void)!engine_cancel(w->engine, now_us, (struct slices){ jids, 2 }, &count, NULL,
                             &w->error);
        break;
    case 9:
        (void)!engine_priority(w->engine, now_us, jids[0],
                               priorities[random_below(random, PRIORITIES)], &w->error);
        break;
    case 10:
        (void)!engine_unfail(w->engine, now_us, queues_[0], SLICE("bad"), 2, &count, &w->error);
        (void)!engine_delete(w->engine, now_us, jids[1], &w->error);
        break;
    default: {
        const struct bulk_request request = {
            .act = random_below(random, 2) ? BULK_MOVE : BULK_RETRY,
            .to = queues_[0],
            .filter = { .queue = name_of(queue_names[random_below(random, QUEUES)]) }
        };
        (void)!engine_bulk(w->engine, now_us, &request, &id, &w->error);
        break;
    }
    }
}

static void check_counts(struct world *w)
{
    struct random random;
    random_init(&random);
    set(w, "grace-period", "3");
    set(w, "heartbeat", "10");
    double now = 1;
    for (size_t i = 0; i < STEPS; i++) {
        now += (double)random_below(&random, 4);
        random_step(w, &random, now);
        forget_events(w);
        if (i % 5 == 0) {
            expect_counts(w);
        }
        if (i % 500 == 0) {
            reload(w);
            expect_counts(w);
        }
    }
    expect_counts(w);
}

static void test_metrics__counts_agree_with_a_recount_after_random_calls(void **state)
{
    check_counts(*state);
}

static const char *listed(struct world *w, const char *queue)
{
    buffer_clear(&w->text);
    int32_t priority;
    for (size_t i = 0; priority_at(w->engine, name_of(queue), i, &priority); i++) {
        buffer_printf(&w->text, "%s%d", i ? "," : "", priority);
    }
    buffer_append_char(&w->text, '\0');
    return w->text.data;
}

static void put_priority(struct world *w, const char *queue, const char *jid, int32_t priority)
{
    put_with(w, w->now,
             (struct put_request){ .queue = name_of(queue),
                                   .jid = name_of(jid),
                                   .has_priority = true,
                                   .priority = priority });
}

static void test_metrics__priorities_are_listed_in_order_and_forgotten_when_gone(void **state)
{
    struct world *w = *state;
    assert_string_equal(listed(w, NULL), "");
    assert_string_equal(listed(w, "q"), "");
    put_priority(w, "q", "a", 3);
    put_priority(w, "q", "b", -7);
    put_priority(w, "r", "c", 0);
    put_priority(w, "q", "d", 3);
    assert_string_equal(listed(w, NULL), "-7,0,3");
    assert_string_equal(listed(w, "q"), "-7,3");
    assert_string_equal(listed(w, "r"), "0");
    cancel(w, 1, "b");
    assert_string_equal(listed(w, NULL), "0,3");
    assert_string_equal(listed(w, "q"), "3");
    cancel(w, 1, "a");
    assert_string_equal(listed(w, "q"), "3");
    said(w, engine_priority(w->engine, at(w, 1), SLICE("d"), 9, &w->error));
    assert_string_equal(listed(w, "q"), "9");
    put_priority(w, "r", "d", 9);
    assert_string_equal(listed(w, "q"), "");
    assert_string_equal(listed(w, "r"), "0,9");
    reload(w);
    assert_string_equal(listed(w, NULL), "0,9");
    cancel(w, 2, "c,d");
    assert_string_equal(listed(w, NULL), "");
    assert_string_equal(listed(w, "r"), "");
}

static void test_metrics__a_complete_job_counts_for_the_queue_it_finished_in(void **state)
{
    struct world *w = *state;
    put_priority(w, "q", "a", 3);
    pop(w, 1, "q", "w1", 1);
    assert_int_equal(count_of(w, "q", JOB_RUNNING), 1);
    complete(w, 2, "w1", "a");
    assert_int_equal(count_all(w, "q"), 1);
    assert_int_equal(count_of(w, "q", JOB_COMPLETE), 1);
    assert_int_equal(count_of(w, NULL, JOB_COMPLETE), 1);
    assert_string_equal(listed(w, "q"), "3");
    assert_string_equal(listed(w, NULL), "3");
    said(w, engine_delete(w->engine, at(w, 3), SLICE("a"), &w->error));
    assert_int_equal(count_all(w, "q"), 0);
    assert_string_equal(listed(w, NULL), "");
    const struct count_filter odd = { .has_state = true, .state = JOB_STATE_COUNT };
    assert_int_equal(engine_count(w->engine, &odd), 0);
    assert_int_equal(count_all(w, "nowhere"), 0);
}

static void test_metrics__many_priorities_come_and_go(void **state)
{
    struct world *w = *state;
    for (int32_t i = 0; i < 500; i++) {
        put_priority(w, "q", numbered("j", (size_t)i), (i * 37) % 500 - 250);
    }
    for (size_t i = 0; i < 500; i++) {
        int32_t priority;
        assert_true(priority_at(w->engine, SLICE("q"), i, &priority));
        assert_int_equal(priority, (int32_t)i - 250);
    }
    for (size_t i = 0; i < 500; i++) {
        cancel(w, 1, numbered("j", i));
    }
    assert_string_equal(listed(w, NULL), "");
}

// ---------------------------------------------------------------------------------------------
// Times

// "3 of 12.5, at most 7": how many values, how many seconds they are together, and the largest.
static const char *told(struct world *w, const struct histogram *histogram)
{
    buffer_clear(&w->text);
    buffer_printf(&w->text, "%llu of %.12g, at most %.12g", (unsigned long long)histogram->count,
                  (double)histogram->sum / US, (double)histogram->max / US);
    buffer_append_char(&w->text, '\0');
    return w->text.data;
}

static const struct metrics *metrics_of(const struct world *w, const char *queue)
{
    const struct metrics *metrics = engine_metrics(w->engine, name_of(queue));
    assert_non_null(metrics);
    return metrics;
}

static void test_metrics__where_nothing_was_measured_there_is_nothing(void **state)
{
    struct world *w = *state;
    assert_null(engine_metrics(w->engine, SLICE("q")));
    put(w, 0, "q", "a");
    pop(w, 1, "q", "w1", 1);
    assert_int_equal(metrics_of(w, NULL)->latency.count, 1);
    assert_non_null(engine_metrics(w->engine, SLICE("q")));
    assert_null(engine_metrics(w->engine, SLICE("r")));
    // They are not saved.
    reload(w);
    const struct metrics *all = engine_metrics(w->engine, SLICE_EMPTY);
    assert_true(!all || all->latency.count == 0);
    assert_null(engine_metrics(w->engine, SLICE("q")));
}

static void test_metrics__the_story_of_a_job_that_is_done_at_once(void **state)
{
    struct world *w = *state;
    put(w, 10, "q", "a");
    pop(w, 12.5, "q", "w1", 1);
    complete(w, 17, "w1", "a");
    const struct metrics *both[] = { metrics_of(w, "q"), metrics_of(w, NULL) };
    for (size_t i = 0; i < 2; i++) {
        assert_string_equal(told(w, &both[i]->lifetime), "1 of 7, at most 7");
        assert_string_equal(told(w, &both[i]->time_to_completion), "1 of 4.5, at most 4.5");
        assert_string_equal(told(w, &both[i]->runtime), "1 of 4.5, at most 4.5");
        assert_string_equal(told(w, &both[i]->latency), "1 of 2.5, at most 2.5");
        assert_int_equal(both[i]->attempts.count, 1);
        assert_int_equal(both[i]->attempts.sum, 1);
        assert_int_equal(both[i]->time_to_failure.count, 0);
        assert_int_equal(both[i]->latency.buckets[histogram_bucket(us(2.5))], 1);
    }
}

static void test_metrics__the_story_of_a_job_that_needs_three_runs(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "a");
    pop(w, 1, "q", "w1", 1);
    retry(w, 3, "w1", "a");
    pop(w, 4, "q", "w1", 1);
    retry(w, 6, "w1", "a");
    pop(w, 10, "q", "w1", 1);
    complete(w, 15, "w1", "a");
    const struct metrics *metrics = metrics_of(w, "q");
    assert_string_equal(told(w, &metrics->lifetime), "1 of 15, at most 15");
    assert_string_equal(told(w, &metrics->time_to_completion), "1 of 14, at most 14");
    // Only of the run that completed, and only until the first.
    assert_string_equal(told(w, &metrics->runtime), "1 of 5, at most 5");
    assert_string_equal(told(w, &metrics->latency), "1 of 1, at most 1");
    assert_int_equal(metrics->attempts.sum, 3);
}

static void test_metrics__the_story_of_a_job_that_fails_and_is_unfailed(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "a");
    pop(w, 1, "q", "w1", 1);
    fail_job(w, 4, "w1", "a", "bad");
    unfail(w, 10, "q", "bad", 1);
    pop(w, 12, "q", "w1", 1);
    fail_job(w, 20, "w1", "a", "bad");
    put(w, 30, "q", "a");
    pop(w, 31, "q", "w1", 1);
    complete(w, 33, "w1", "a");
    const struct metrics *metrics = metrics_of(w, "q");
    // Both times from the first put.
    assert_string_equal(told(w, &metrics->time_to_failure), "2 of 24, at most 20");
    assert_string_equal(told(w, &metrics->lifetime), "1 of 33, at most 33");
    assert_string_equal(told(w, &metrics->time_to_completion), "1 of 32, at most 32");
    assert_string_equal(told(w, &metrics->runtime), "1 of 2, at most 2");
    // Each put and each unfail begins anew: 1, 2 and 1.
    assert_string_equal(told(w, &metrics->latency), "3 of 4, at most 2");
    assert_int_equal(metrics->attempts.sum, 1);
}

static void test_metrics__the_story_of_a_job_that_goes_through_two_queues(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "a");
    pop(w, 1, "q", "w1", 1);
    complete_with(w, 3,
                  (struct complete_request){ .holder = { .jid = SLICE("a"), .worker = SLICE("w1") },
                                             .next = SLICE("r") });
    pop(w, 7, "r", "w1", 1);
    complete(w, 15, "w1", "a");
    const struct metrics *q = metrics_of(w, "q"), *r = metrics_of(w, "r"),
                         *all = metrics_of(w, NULL);
    assert_int_equal(q->lifetime.count, 0);
    assert_string_equal(told(w, &q->runtime), "1 of 2, at most 2");
    assert_string_equal(told(w, &q->latency), "1 of 1, at most 1");
    assert_string_equal(told(w, &r->runtime), "1 of 8, at most 8");
    assert_string_equal(told(w, &r->latency), "1 of 4, at most 4");
    assert_string_equal(told(w, &r->lifetime), "1 of 15, at most 15");
    assert_string_equal(told(w, &r->time_to_completion), "1 of 14, at most 14");
    assert_int_equal(r->attempts.sum, 1);
    assert_string_equal(told(w, &all->runtime), "2 of 10, at most 8");
    assert_string_equal(told(w, &all->latency), "2 of 5, at most 4");
    assert_int_equal(all->attempts.count, 1);
}

static void test_metrics__latency_counts_from_when_a_job_could_first_run(void **state)
{
    struct world *w = *state;
    put_later(w, 0, "q", "later", 100);
    pop(w, 103, "q", "w1", 1);
    assert_string_equal(told(w, &metrics_of(w, "q")->latency), "1 of 3, at most 3");
    put(w, 104, "other", "x");
    put_depending(w, 104, "r", "depends", "x");
    pop(w, 104, "other", "w1", 1);
    complete(w, 110, "w1", "x");
    pop(w, 112, "r", "w1", 1);
    assert_string_equal(told(w, &metrics_of(w, "r")->latency), "1 of 2, at most 2");
    recur(w, 200, "s", "again", 1000);
    pop(w, 205, "s", "w1", 1);
    assert_string_equal(told(w, &metrics_of(w, "s")->latency), "1 of 5, at most 5");
}

static void test_metrics__a_lost_lease_is_no_latency_and_an_end_is_a_failure(void **state)
{
    struct world *w = *state;
    set(w, "heartbeat", "10");
    set(w, "grace-period", "5");
    put_with(w, 0, (struct put_request){ .jid = SLICE("a"), .has_retries = true, .retries = 1 });
    pop(w, 1, "q", "w1", 1);
    pop(w, 20, "q", "w2", 1);
    assert_string_equal(told(w, &metrics_of(w, "q")->latency), "1 of 1, at most 1");
    tick(w, 100);
    assert_string_equal(state_of(w, "a"), "failed");
    // The lease of 20 ended at 30, its grace at 35.
    assert_string_equal(told(w, &metrics_of(w, "q")->time_to_failure), "1 of 35, at most 35");
    put_with(
        w, 100,
        (struct put_request){ .jid = SLICE("b"), .has_deadline = true, .deadline_us = us(107) });
    tick(w, 200);
    assert_string_equal(told(w, &metrics_of(w, "q")->time_to_failure), "2 of 42, at most 35");
}

// ---------------------------------------------------------------------------------------------
// Rates

static void expect_rates(const struct meter *meter, double now, double last_second,
                         double last_minute, double last_15_minutes)
{
    struct meter_rates rates;
    meter_read(meter, us(now), &rates);
    assert_true(rates.per_second_1s == last_second);
    assert_true(rates.per_second_1m == last_minute / 60);
    assert_true(rates.per_second_15m == last_15_minutes / 900);
}

static void test_metrics__rates_count_puts_and_pops_of_a_queue_and_of_all(void **state)
{
    struct world *w = *state;
    // At 100 s: three puts in q, one in r, two pops from q.
    for (size_t i = 0; i < 3; i++) {
        put(w, 100.25, "q", numbered("a", i));
    }
    put(w, 100.5, "r", "b");
    assert_string_equal(pop(w, 100.75, "q", "w1", 2), "a0,a1");
    // The second that is not over does not count yet.
    expect_rates(&metrics_of(w, "q")->queued, 100.9, 0, 0, 0);
    expect_rates(&metrics_of(w, "q")->queued, 101, 3, 3, 0);
    expect_rates(&metrics_of(w, "r")->queued, 101, 1, 1, 0);
    expect_rates(&metrics_of(w, NULL)->queued, 101, 4, 4, 0);
    assert_int_equal(metrics_of(w, "q")->queued_count, 3);
    assert_int_equal(metrics_of(w, "r")->queued_count, 1);
    assert_int_equal(metrics_of(w, NULL)->queued_count, 4);
    assert_int_equal(metrics_of(w, "q")->run_count, 2);
    assert_int_equal(metrics_of(w, NULL)->run_count, 2);
    expect_rates(&metrics_of(w, "q")->run, 101, 2, 2, 0);
    expect_rates(&metrics_of(w, NULL)->run, 101, 2, 2, 0);
    expect_rates(&metrics_of(w, "r")->run, 101, 0, 0, 0);
    // It leaves the last second, then its span of fifteen seconds is over, then the minute goes.
    expect_rates(&metrics_of(w, NULL)->queued, 102, 0, 4, 0);
    expect_rates(&metrics_of(w, NULL)->queued, 105, 0, 4, 4);
    expect_rates(&metrics_of(w, NULL)->queued, 160, 0, 4, 4);
    expect_rates(&metrics_of(w, NULL)->queued, 161, 0, 0, 4);
    expect_rates(&metrics_of(w, NULL)->queued, 1004, 0, 0, 4);
    expect_rates(&metrics_of(w, NULL)->queued, 1005, 0, 0, 0);
}

static void test_metrics__a_steady_stream_has_a_steady_rate(void **state)
{
    struct world *w = *state;
    for (int second = 0; second < 960; second++) {
        put(w, second, "q", "a");
        put(w, second + 0.5, "q", "b");
        pop(w, second + 0.75, "q", "w1", 1);
        forget_events(w);
    }
    expect_rates(&metrics_of(w, "q")->queued, 960, 2, 120, 1800);
    expect_rates(&metrics_of(w, "q")->run, 960, 1, 60, 900);
}

static void test_metrics__jobs_of_recurring_ones_count_as_queued(void **state)
{
    struct world *w = *state;
    recur(w, 100, "q", "r", 1);
    tick(w, 159);
    expect_rates(&metrics_of(w, "q")->queued, 160, 1, 60, 5 + 3 * RATES_SPAN);
    // Refused and moved ones do not.
    put(w, 200, "s", "a");
    refused(w, STATUS_INVALID, "jid must not be empty");
    put(w, 200, "s", "");
    (void)bulk(w, 200,
               (struct bulk_request){
                   .act = BULK_MOVE, .filter = { .queue = SLICE("s") }, .to = SLICE("t") });
    expect_rates(&metrics_of(w, "s")->queued, 201, 1, 1, 0);
    assert_null(engine_metrics(w->engine, SLICE("t")));
}

static void test_metrics__without_memory_for_them_the_work_goes_on(void **state)
{
    (void)state;
    bool reached = true, unmeasured = false;
    for (size_t n = 1; reached; n++) {
        struct world *w = world_new(ENGINE_CLOCK_SERVER, 1);
        const struct put_request request = {
            .queue = SLICE("q"), .jid = SLICE("a"), .klass = SLICE("k"), .data = SLICE("{}")
        };
        const struct job *job;
        w->fault.calls = 0;
        w->fault.fail_at = n;
        enum status status = engine_put(w->engine, 0, &request, &job, &w->error);
        reached = w->fault.failed;
        w->fault.fail_at = 0;
        assert_true(status == STATUS_OK || status == STATUS_NO_MEMORY);
        assert_int_equal(count_all(w, NULL), status ? 0 : 1);
        unmeasured = unmeasured || (!status && reached);
        put(w, 1, "q", "b");
        assert_true(metrics_of(w, "q")->queued.seconds.newest == 1);
        world_free(w);
    }
    // One of the failures was about nothing but the metrics.
    assert_true(unmeasured);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SERVER_TEST(test_metrics__counts_agree_with_a_recount_after_random_calls),
        CLIENT_TEST(test_metrics__counts_agree_with_a_recount_after_random_calls),
        SERVER_TEST(test_metrics__priorities_are_listed_in_order_and_forgotten_when_gone),
        SERVER_TEST(test_metrics__a_complete_job_counts_for_the_queue_it_finished_in),
        SERVER_TEST(test_metrics__many_priorities_come_and_go),
        SERVER_TEST(test_metrics__where_nothing_was_measured_there_is_nothing),
        SERVER_TEST(test_metrics__the_story_of_a_job_that_is_done_at_once),
        CLIENT_TEST(test_metrics__the_story_of_a_job_that_is_done_at_once),
        SERVER_TEST(test_metrics__the_story_of_a_job_that_needs_three_runs),
        CLIENT_TEST(test_metrics__the_story_of_a_job_that_needs_three_runs),
        SERVER_TEST(test_metrics__the_story_of_a_job_that_fails_and_is_unfailed),
        SERVER_TEST(test_metrics__the_story_of_a_job_that_goes_through_two_queues),
        SERVER_TEST(test_metrics__latency_counts_from_when_a_job_could_first_run),
        SERVER_TEST(test_metrics__a_lost_lease_is_no_latency_and_an_end_is_a_failure),
        SERVER_TEST(test_metrics__rates_count_puts_and_pops_of_a_queue_and_of_all),
        SERVER_TEST(test_metrics__a_steady_stream_has_a_steady_rate),
        SERVER_TEST(test_metrics__jobs_of_recurring_ones_count_as_queued),
        cmocka_unit_test(test_metrics__without_memory_for_them_the_work_goes_on),
    };
    return cmocka_run_group_tests_name("metrics", tests, NULL, NULL);
}
