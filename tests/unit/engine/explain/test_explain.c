// SPDX-License-Identifier: MIT
// Why a job is not running, in words and in fields, and when it could.
#include "engine_test_more.h"

#include <string.h>

static const double NEVER = -1;

static struct put_request in_lane(const char *jid, const char *domain)
{
    return (
        struct put_request){ .jid = name_of(jid), .has_domain = true, .domain = name_of(domain) };
}

static void lane_rate(struct world *w, const char *domain, int64_t count, double period,
                      int64_t burst)
{
    limit(
        w, "q", domain,
        (struct limit){
            .has_rate = true, .rate_count = count, .rate_period_us = us(period), .burst = burst });
}

static struct put_request with_policy(struct world *w, const char *jid, const char *depends,
                                      enum dependency_policy policy)
{
    return (struct put_request){ .jid = name_of(jid),
                                 .depends = slices_of(w, depends),
                                 .options = options_with(policy) };
}

static double earliest(struct world *w, double now, const char *jid)
{
    struct explanation why = explain(w, now, jid);
    return why.earliest_us == INT64_MAX ? NEVER : (double)why.earliest_us / US;
}

static const char *blockers_of(struct world *w, const struct explanation *why)
{
    buffer_clear(&w->text);
    for (size_t i = 0; i < why->blocker_count; i++) {
        struct job_view view;
        job_view(w->engine, why->blockers[i], &view);
        buffer_printf(&w->text, "%s%.*s", i ? "," : "", SLICE_PRINT(view.jid));
    }
    buffer_append_char(&w->text, '\0');
    return w->text.data;
}

// ---------------------------------------------------------------------------------------------
// Each reason

static void one_waits(struct world *w)
{
    put(w, 0, "q", "a");
}

static void two_wait_before(struct world *w)
{
    put(w, 0, "q", "x");
    put_with(w, 0, in_lane("y", "other"));
    put(w, 0, "q", "a");
    put(w, 0, "q", "z");
}

static void one_waits_before(struct world *w)
{
    put(w, 0, "q", "x");
    put(w, 0, "q", "a");
}

static void lost_its_lease(struct world *w)
{
    put(w, 0, "q", "z");
    put(w, 0, "q", "x");
    put_with(w, 0, (struct put_request){ .jid = SLICE("a"), .has_priority = true, .priority = -1 });
    pop(w, 1, "q", "w1", 1);
    time_out(w, 2, "a");
}

static void queue_is_paused(struct world *w)
{
    put(w, 0, "q", "x");
    put(w, 0, "q", "a");
    pause_queue(w, "q");
}

static void lane_is_out_of_tokens(struct world *w)
{
    lane_rate(w, "acme", 1, 10, 1);
    put_with(w, 0, in_lane("x", "acme"));
    put_with(w, 0, in_lane("a", "acme"));
    assert_string_equal(pop(w, 1, "q", "w1", 1), "x");
}

static void default_lane_is_out_of_tokens(struct world *w)
{
    lane_rate(w, "", 1, 10, 1);
    put(w, 0, "q", "x");
    put(w, 0, "q", "y");
    put(w, 0, "q", "a");
    assert_string_equal(pop(w, 1, "q", "w1", 2), "x");
}

static void lane_is_full(struct world *w)
{
    limit(w, "", "acme", (struct limit){ .has_concurrency = true, .concurrency = 1 });
    put_with(w, 0, in_lane("x", "acme"));
    put_with(w, 0, in_lane("a", "acme"));
    assert_string_equal(pop(w, 1, "q", "w1", 9), "x");
}

static void queue_is_full(struct world *w)
{
    set(w, "q-max-concurrency", "1");
    put(w, 0, "q", "x");
    put(w, 0, "q", "a");
    assert_string_equal(pop(w, 1, "q", "w1", 9), "x");
}

static void is_scheduled(struct world *w)
{
    put_later(w, 0, "q", "a", 100.5);
}

static void waits_for_five(struct world *w)
{
    put(w, 0, "q", "x");
    put_later(w, 0, "q", "y", 50);
    put(w, 0, "q", "z");
    pop(w, 0, "q", "w1", 1);
    put_depending(w, 0, "q", "u", "x,y");
    put(w, 0, "q", "v");
    put_with(w, 0,
             (struct put_request){
                 .jid = SLICE("a"), .delay_us = us(70), .depends = slices_of(w, "x,y,u,z,v") });
}

static void waits_for_one_in_line(struct world *w)
{
    put(w, 0, "q", "x");
    put_depending(w, 0, "q", "a", "x");
}

static void waits_for_a_failed_one(struct world *w)
{
    put(w, 0, "q", "x");
    put_depending(w, 0, "q", "a", "x");
    pop(w, 0, "q", "w1", 1);
    fail_job(w, 0, "w1", "x", "bad");
}

static void is_leased(struct world *w)
{
    put(w, 0, "q", "a");
    pop(w, 1, "q", "w1", 1);
}

static void has_failed(struct world *w)
{
    put(w, 0, "q", "a");
    pop(w, 0, "q", "w1", 1);
    retry(w, 0, "w1", "a");
    pop(w, 1, "q", "w1", 1);
    fail_job(w, 1, "w1", "a", "bad");
}

static void has_failed_once(struct world *w)
{
    put(w, 0, "q", "a");
    pop(w, 1, "q", "w1", 1);
    fail_job(w, 1, "w1", "a", "bad");
}

static void is_done(struct world *w)
{
    put(w, 0, "q", "a");
    pop(w, 1, "q", "w1", 1);
    complete(w, 1, "w1", "a");
}

struct reason {
    void (*before)(struct world *w);
    double now;
    enum explain_reason reason;
    const char *word;
    enum job_state state;
    size_t behind;
    double until; // 0: none
    double earliest;
    const char *queue, *domain, *worker, *group;
    uint32_t attempts;
    const char *blockers;
    const char *sentence;
};

static const struct reason reasons[] = {
    { one_waits, 5, EXPLAIN_NEXT, "next", JOB_WAITING, 0, 0, 5, "q", "", "", "", 0, "",
      "Job a is next in queue q: no worker has asked for it yet." },
    { lost_its_lease, 5, EXPLAIN_NEXT, "next", JOB_STALLED, 0, 0, 5, "q", "", "", "", 1, "",
      "Job a is next in queue q: no worker has asked for it yet." },
    { one_waits_before, 5, EXPLAIN_BEHIND, "behind", JOB_WAITING, 1, 0, 5, "q", "", "", "", 0, "",
      "Job a waits behind 1 job in queue q." },
    { two_wait_before, 5, EXPLAIN_BEHIND, "behind", JOB_WAITING, 2, 0, 5, "q", "", "", "", 0, "",
      "Job a waits behind 2 jobs in queue q." },
    { queue_is_paused, 5, EXPLAIN_PAUSED, "paused", JOB_WAITING, 1, 0, -1, "q", "", "", "", 0, "",
      "Job a waits: queue q is paused." },
    { lane_is_out_of_tokens, 5, EXPLAIN_LANE_RATE, "lane-rate", JOB_WAITING, 0, 11, 11, "q", "acme",
      "", "", 0, "",
      "Job a waits: the lane acme of queue q has used up its rate until "
      "1970-01-01T00:00:11.000Z." },
    { default_lane_is_out_of_tokens, 5, EXPLAIN_LANE_RATE, "lane-rate", JOB_WAITING, 1, 11, 21, "q",
      "", "", "", 0, "",
      "Job a waits: the default lane of queue q has used up its rate until "
      "1970-01-01T00:00:11.000Z." },
    { lane_is_full, 5, EXPLAIN_LANE_CONCURRENCY, "lane-concurrency", JOB_WAITING, 0, 0, -1, "q",
      "acme", "", "", 0, "", "Job a waits: the lane acme of queue q runs as many jobs as it may." },
    { queue_is_full, 5, EXPLAIN_QUEUE_CONCURRENCY, "queue-concurrency", JOB_WAITING, 0, 0, -1, "q",
      "", "", "", 0, "", "Job a waits: queue q runs as many jobs as it may." },
    { is_scheduled, 5, EXPLAIN_SCHEDULED, "scheduled", JOB_SCHEDULED, 0, 100.5, 100.5, "q", "", "",
      "", 0, "", "Job a is scheduled for 1970-01-01T00:01:40.500Z." },
    { waits_for_five, 5, EXPLAIN_DEPENDS, "depends", JOB_DEPENDS, 5, 70, 70, "q", "", "", "", 0,
      "x,y,u",
      "Job a waits for 5 jobs: x, which is running; y, which is scheduled for "
      "1970-01-01T00:00:50.000Z; u, which itself waits for 2 jobs; and 2 more; and then until "
      "1970-01-01T00:01:10.000Z." },
    { waits_for_one_in_line, 5, EXPLAIN_DEPENDS, "depends", JOB_DEPENDS, 1, 0, 5, "q", "", "", "",
      0, "x", "Job a waits for 1 job: x, which is waiting." },
    { waits_for_a_failed_one, 5, EXPLAIN_DEPENDS, "depends", JOB_DEPENDS, 1, 0, -1, "q", "", "", "",
      0, "x", "Job a waits for 1 job: x, which has failed in group bad." },
    { is_leased, 5, EXPLAIN_RUNNING, "running", JOB_RUNNING, 0, 61, 5, "q", "", "w1", "", 1, "",
      "Job a is leased by w1 until 1970-01-01T00:01:01.000Z." },
    { is_leased, 65, EXPLAIN_GRACE, "grace", JOB_RUNNING, 0, 71, 71, "q", "", "w1", "", 1, "",
      "Job a has lost its lease: w1 has until 1970-01-01T00:01:11.000Z to finish." },
    { is_leased, 65, EXPLAIN_EXPIRED, "expired", JOB_RUNNING, 0, 0, 65, "q", "", "w1", "", 1, "",
      "Job a is running, but the lease of w1 has expired: the next pop from queue q ends it." },
    { has_failed, 5, EXPLAIN_FAILED, "failed", JOB_FAILED, 0, 0, -1, "q", "", "", "bad", 2, "",
      "Job a has failed in group bad after 2 attempts." },
    { has_failed_once, 5, EXPLAIN_FAILED, "failed", JOB_FAILED, 0, 0, -1, "q", "", "", "bad", 1, "",
      "Job a has failed in group bad after 1 attempt." },
    { is_done, 5, EXPLAIN_COMPLETE, "complete", JOB_COMPLETE, 0, 0, -1, "q", "", "", "", 1, "",
      "Job a is complete." },
};

static void test_explain__each_reason_in_words_and_fields(void **state)
{
    bool seen[EXPLAIN_REASON_COUNT] = { false };
    for (size_t i = 0; TEST_ROW_NAMED(i, reasons, reasons[i].word); i++) {
        const struct reason *wanted = &reasons[i];
        bool client = wanted->reason == EXPLAIN_EXPIRED; // of that clock alone
        struct world *w = world_new(client ? ENGINE_CLOCK_CLIENT : ENGINE_CLOCK_SERVER, 1);
        wanted->before(w);
        struct explanation why = explain(w, wanted->now, "a");
        assert_string_equal(why.sentence, wanted->sentence);
        assert_int_equal(why.reason, wanted->reason);
        assert_string_equal(explain_reason_name(why.reason), wanted->word);
        assert_int_equal(why.state, wanted->state);
        assert_int_equal(why.behind, wanted->behind);
        assert_int_equal(why.until_us, us(wanted->until));
        int64_t earliest_us = wanted->earliest == NEVER ? INT64_MAX : us(wanted->earliest);
        assert_int_equal(why.earliest_us, earliest_us);
        assert_slice_equal(why.queue, wanted->queue);
        assert_slice_equal(why.domain, wanted->domain);
        assert_slice_equal(why.worker, wanted->worker);
        assert_slice_equal(why.group, wanted->group);
        assert_int_equal(why.attempts, wanted->attempts);
        assert_string_equal(blockers_of(w, &why), wanted->blockers);
        seen[why.reason] = true;
        world_free(w);
    }
    for (size_t i = 0; i < EXPLAIN_REASON_COUNT; i++) {
        assert_true(seen[i]);
    }
    (void)state;
}

static void test_explain__with_the_client_clock_a_schedule_that_has_come_is_in_line(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "x");
    put_later(w, 0, "q", "a", 10);
    assert_int_equal(explain(w, 9, "a").reason, EXPLAIN_SCHEDULED);
    struct explanation why = explain(w, 10, "a");
    assert_int_equal(why.reason, EXPLAIN_BEHIND);
    assert_int_equal(why.behind, 1);
    assert_int_equal(why.until_us, 0);
    assert_int_equal(why.earliest_us, us(10));
    pop(w, 10, "q", "w1", 1);
    assert_int_equal(explain(w, 10, "a").reason, EXPLAIN_NEXT);
}

static void test_explain__asking_changes_nothing(void **state)
{
    (void)state;
    for (size_t i = 0; TEST_ROW_NAMED(i, reasons, reasons[i].word); i++) {
        struct world *w = world_new(ENGINE_CLOCK_CLIENT, 1);
        reasons[i].before(w);
        struct buffer before, after;
        buffer_init(&before, &allocator_system, 1 << 20);
        buffer_init(&after, &allocator_system, 1 << 20);
        save(w, &before);
        (void)explain(w, 5, "a");
        save(w, &after);
        assert_int_equal(before.size, after.size);
        assert_memory_equal(before.data, after.data, after.size);
        buffer_release(&before);
        buffer_release(&after);
        world_free(w);
    }
}

static void test_explain__of_what_is_not_there_is_refused(void **state)
{
    struct world *w = *state;
    refused(w, STATUS_NOT_FOUND, "job a does not exist");
    (void)explain(w, 0, "a");
    refused(w, STATUS_INVALID, "jid must not be empty");
    (void)explain(w, 0, "");
}

static void test_explain__the_reason_that_weighs_most_comes_first(void **state)
{
    struct world *w = *state;
    lane_rate(w, "acme", 1, 10, 1);
    limit(w, "", "acme", (struct limit){ .has_concurrency = true, .concurrency = 1 });
    set(w, "q-max-concurrency", "1");
    put_with(w, 0, in_lane("x", "acme"));
    put_with(w, 0, in_lane("y", "acme"));
    put_with(w, 0, in_lane("a", "acme"));
    pop(w, 1, "q", "w1", 1);
    pause_queue(w, "q");
    assert_int_equal(explain(w, 2, "a").reason, EXPLAIN_PAUSED);
    unpause_queue(w, "q");
    assert_int_equal(explain(w, 2, "a").reason, EXPLAIN_QUEUE_CONCURRENCY);
    unset(w, "q-max-concurrency");
    assert_int_equal(explain(w, 2, "a").reason, EXPLAIN_LANE_CONCURRENCY);
    complete(w, 2, "w1", "x");
    assert_int_equal(explain(w, 2, "a").reason, EXPLAIN_LANE_RATE);
    assert_int_equal(explain(w, 11, "a").reason, EXPLAIN_BEHIND);
    assert_string_equal(pop(w, 11, "q", "w1", 9), "y");
    complete(w, 11, "w1", "y");
    assert_int_equal(explain(w, 21, "a").reason, EXPLAIN_NEXT);
    assert_string_equal(pop(w, 21, "q", "w1", 9), "a");
}

// ---------------------------------------------------------------------------------------------
// When it could run

// The earliest moments that were told at the start are those at which pops hand the jobs out, and
// not a microsecond before.
static void check_rate(struct world *w, int64_t count, double period, int64_t burst)
{
    enum {
        JOBS = 12
    };
    int64_t earliest_us[JOBS];
    set(w, "heartbeat", "1000000");
    lane_rate(w, "acme", count, period, burst);
    for (size_t i = 0; i < JOBS; i++) {
        put_with(w, 100, in_lane(numbered("j", i), "acme"));
    }
    // Something of the first token's time has passed already.
    assert_string_equal(pop(w, 100, "q", "w1", 1), "j0");
    for (size_t i = 1; i < JOBS; i++) {
        earliest_us[i] = explain(w, 100.75, numbered("j", i)).earliest_us;
        assert_true(i == 1 || earliest_us[i] >= earliest_us[i - 1]);
    }
    for (size_t i = 1; i < JOBS; i++) {
        double when = (double)earliest_us[i] / US;
        if (earliest_us[i] > us(100.75)) {
            assert_string_equal(pop(w, when - 0.000001, "q", "w1", 9), "");
            assert_int_equal(explain(w, when - 0.000001, numbered("j", i)).reason,
                             EXPLAIN_LANE_RATE);
        }
        assert_int_equal(explain(w, when, numbered("j", i)).earliest_us, earliest_us[i]);
        assert_string_equal(pop(w, when, "q", "w1", 1), numbered("j", i));
    }
}

static void test_explain__a_rate_hands_jobs_out_at_exactly_the_moments_it_says(void **state)
{
    static const struct {
        int64_t count;
        double period;
        int64_t burst;
    } rates[] = { { 1, 10, 1 },       { 4, 10, 1 },      { 3, 10, 2 },   { 7, 1, 3 },
                  { 1, 0.000003, 1 }, { 7, 0.00001, 2 }, { 1, 86400, 4 } };
    for (size_t i = 0; TEST_ROW(i, rates); i++) {
        struct world *w = world_new(ENGINE_CLOCK_SERVER, 1);
        check_rate(w, rates[i].count, rates[i].period, rates[i].burst);
        world_free(w);
        w = world_new(ENGINE_CLOCK_CLIENT, 1);
        check_rate(w, rates[i].count, rates[i].period, rates[i].burst);
        world_free(w);
    }
    (void)state;
}

static void test_explain__a_scheduled_job_waits_for_its_time_and_its_lane(void **state)
{
    struct world *w = *state;
    lane_rate(w, "acme", 1, 100, 1);
    put_with(w, 0, in_lane("x", "acme"));
    pop(w, 0, "q", "w1", 1);
    struct put_request request = in_lane("a", "acme");
    request.delay_us = us(30);
    put_with(w, 0, request);
    assert_true(earliest(w, 1, "a") == 100);
    request.jid = SLICE("b");
    request.delay_us = us(300);
    put_with(w, 1, request);
    assert_true(earliest(w, 2, "b") == 301);
}

static void test_explain__dependencies_count_through_all_that_they_wait_for(void **state)
{
    struct world *w = *state;
    put_later(w, 0, "q", "x", 500);
    put_later(w, 0, "q", "y", 300);
    put_depending(w, 0, "q", "b", "x");
    put_depending(w, 0, "q", "c", "b,y");
    put_with(w, 0, with_policy(w, "d", "c,y,b", DEPENDENCY_HOLD));
    assert_true(earliest(w, 1, "c") == 500);
    assert_true(earliest(w, 1, "d") == 500);
    assert_string_equal(explain(w, 1, "d").sentence,
                        "Job d waits for 3 jobs: c, which itself waits for 2 jobs; y, which is "
                        "scheduled for 1970-01-01T00:05:00.000Z; b, which itself waits for 1 job.");
    // A delay of one in between counts too.
    put_with(w, 1,
             (struct put_request){
                 .jid = SLICE("b"), .delay_us = us(699), .depends = slices_of(w, "x") });
    assert_true(earliest(w, 1, "d") == 700);
    // What has failed and is held for never comes.
    pop(w, 300, "q", "w1", 1);
    fail_job(w, 300, "w1", "y", "bad");
    assert_true(earliest(w, 301, "c") == NEVER);
    assert_true(earliest(w, 301, "d") == NEVER);
    assert_true(earliest(w, 301, "b") == 700);
}

static void test_explain__a_failed_dependency_does_not_hold_one_that_runs_anyway(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "x");
    put_later(w, 0, "q", "y", 100);
    pop(w, 0, "q", "w1", 1);
    fail_job(w, 0, "w1", "x", "bad");
    // The put does not deal with the failed one yet, and asking does.
    put_with(w, 1, with_policy(w, "a", "x,y", DEPENDENCY_RUN));
    assert_true(earliest(w, 1, "a") == 100);
    assert_string_equal(explain(w, 1, "a").sentence,
                        "Job a waits for 1 job: y, which is scheduled for "
                        "1970-01-01T00:01:40.000Z.");
}

static void test_explain__a_long_chain_needs_no_stack_and_little_time(void **state)
{
    struct world *w = *state;
    struct rlimit old;
    put_later(w, 0, "q", numbered("j", 0), 777);
    for (size_t i = 1; i < 100000; i++) {
        put_depending(w, 0, "q", numbered("j", i), numbered("j", i - 1));
        forget_events(w);
    }
    stack_limit(&old);
    // Of the first thousand all are looked at; beyond that it is said what is known.
    assert_true(earliest(w, 1, "j900") == 777);
    assert_true(earliest(w, 1, "j99999") == 1);
    stack_restore(&old);
}

static void test_explain__a_paused_queue_hands_out_nothing(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "x");
    put(w, 0, "q", "y");
    put_depending(w, 0, "other", "a", "y");
    pause_queue(w, "q");
    assert_true(earliest(w, 1, "y") == NEVER);
    assert_true(earliest(w, 1, "a") == NEVER);
    unpause_queue(w, "q");
    assert_true(earliest(w, 2, "a") == 2);
}

static void test_explain__a_pause_of_a_scheduled_job_is_told(void **state)
{
    struct world *w = *state;
    put_later(w, 0, "q", "a", 100);
    pause_queue(w, "q");
    struct explanation why = explain(w, 1, "a");
    assert_int_equal(why.reason, EXPLAIN_SCHEDULED);
    assert_int_equal(why.earliest_us, INT64_MAX);
    assert_string_equal(why.sentence,
                        "Job a is scheduled for 1970-01-01T00:01:40.000Z; queue q is paused.");
}

static void test_explain__a_deadline_that_comes_first_is_told(void **state)
{
    struct world *w = *state;
    put_with(
        w, 0,
        (struct put_request){
            .jid = SLICE("a"), .delay_us = us(100), .has_deadline = true, .deadline_us = us(100) });
    struct explanation why = explain(w, 1, "a");
    assert_int_equal(why.earliest_us, INT64_MAX);
    assert_int_equal(why.expires_us, us(100));
    assert_string_equal(why.sentence,
                        "Job a is scheduled for 1970-01-01T00:01:40.000Z; it cannot start by its "
                        "deadline and fails at 1970-01-01T00:01:40.000Z.");
    tick(w, 100);
    assert_string_equal(state_of(w, "a"), "failed");
}

static void test_explain__jobs_of_lanes_that_may_not_run_do_not_come_first(void **state)
{
    struct world *w = *state;
    limit(w, "", "acme", (struct limit){ .has_concurrency = true, .concurrency = 1 });
    put_with(w, 0, in_lane("x", "acme"));
    put_with(w, 0, in_lane("y", "acme"));
    put(w, 0, "q", "a");
    assert_string_equal(pop(w, 1, "q", "w1", 1), "x");
    assert_int_equal(explain(w, 1, "a").reason, EXPLAIN_NEXT);
    assert_string_equal(pop(w, 1, "q", "w1", 1), "a");
}

static void test_explain__a_grace_without_retries_ends_in_a_failure(void **state)
{
    struct world *w = *state;
    put_with(w, 0, (struct put_request){ .jid = SLICE("a"), .has_retries = true });
    pop(w, 0, "q", "w1", 1);
    struct explanation why = explain(w, 65, "a");
    assert_int_equal(why.reason, EXPLAIN_GRACE);
    assert_int_equal(why.earliest_us, INT64_MAX);
}

// ---------------------------------------------------------------------------------------------
// Long names

static bool is_continuation(char c)
{
    return ((unsigned char)c & 0xC0U) == 0x80U;
}

// Whether a text is made of ASCII and whole characters of two or three bytes.
static bool is_whole(const char *text)
{
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        int behind = c >= 0xE0U ? 2 : c >= 0xC0U ? 1 : 0;
        if (is_continuation(*text)) {
            return false;
        }
        for (; behind > 0; behind--) {
            if (!is_continuation(*++text)) {
                return false;
            }
        }
    }
    return true;
}

// 255 bytes of three-byte characters behind `lead` bytes of ASCII, so that a cut at any place of
// 64 bytes falls into a character for some `lead`.
static struct slice long_name(char text[ENGINE_NAME_SIZE_MAX], char first, size_t lead)
{
    memset(text, first, lead);
    size_t size = lead;
    static const char euro[3] = { '\xE2', '\x82', '\xAC' };
    for (; size + sizeof(euro) <= ENGINE_NAME_SIZE_MAX; size += sizeof(euro)) {
        memcpy(text + size, euro, sizeof(euro));
    }
    return slice_make(text, size);
}

static void expect_clean(struct world *w, double now, struct slice jid)
{
    struct explanation why = { 0 };
    said(w, engine_explain(w->engine, at(w, now), jid, &why, &w->error));
    size_t size = strlen(why.sentence);
    assert_true(size > 0 && size < EXPLAIN_SENTENCE_SIZE);
    assert_int_equal(why.sentence[size - 1], '.');
    assert_true(is_whole(why.sentence));
}

static void test_explain__long_names_are_cut_between_characters(void **state)
{
    (void)state;
    for (size_t lead = 1; lead < 4; lead++) {
        struct world *w = world_new(ENGINE_CLOCK_SERVER, 1);
        char texts[8][ENGINE_NAME_SIZE_MAX];
        struct slice queue = long_name(texts[0], 'q', lead),
                     worker = long_name(texts[1], 'w', lead);
        struct slice group = long_name(texts[2], 'g', lead),
                     domain = long_name(texts[3], 'd', lead);
        struct slice jids[4];
        for (size_t i = 0; i < 4; i++) {
            jids[i] = long_name(texts[4 + i], (char)('a' + i), lead);
        }
        struct limit rate = { .has_rate = true, .rate_count = 1, .rate_period_us = us(10) };
        said(w, engine_limit_set(w->engine, 0, queue, domain, &rate, &w->error));
        for (size_t i = 0; i < 3; i++) {
            put_with(w, 0,
                     (struct put_request){
                         .queue = queue, .jid = jids[i], .has_domain = i > 0, .domain = domain });
        }
        put_with(w, 0,
                 (struct put_request){ .queue = queue, .jid = jids[3], .depends = { jids, 3 } });
        expect_clean(w, 0, jids[0]);
        expect_clean(w, 0, jids[1]);
        const struct pop_request pop = { .worker = worker, .queues = { &queue, 1 }, .count = 2 };
        const struct job *popped[2];
        size_t count;
        said(w, engine_pop(w->engine, 0, &pop, popped, &count, &w->error));
        assert_int_equal(count, 2);
        expect_clean(w, 0, jids[0]);
        expect_clean(w, 0, jids[2]);
        expect_clean(w, 65, jids[0]);
        const struct fail_request request = { .holder = { .jid = jids[0], .worker = worker },
                                              .group = group,
                                              .message = SLICE("it broke") };
        said(w, engine_fail(w->engine, us(65), &request, &w->error));
        expect_clean(w, 65, jids[0]);
        expect_clean(w, 65, jids[3]);
        said(w, engine_pause(w->engine, us(65), (struct slices){ &queue, 1 }, &w->error));
        expect_clean(w, 65, jids[2]);
        world_free(w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_explain__each_reason_in_words_and_fields),
        cmocka_unit_test(test_explain__asking_changes_nothing),
        SERVER_TEST(test_explain__of_what_is_not_there_is_refused),
        SERVER_TEST(test_explain__the_reason_that_weighs_most_comes_first),
        CLIENT_TEST(test_explain__with_the_client_clock_a_schedule_that_has_come_is_in_line),
        CLIENT_TEST(test_explain__the_reason_that_weighs_most_comes_first),
        cmocka_unit_test(test_explain__a_rate_hands_jobs_out_at_exactly_the_moments_it_says),
        SERVER_TEST(test_explain__a_scheduled_job_waits_for_its_time_and_its_lane),
        SERVER_TEST(test_explain__dependencies_count_through_all_that_they_wait_for),
        SERVER_TEST(test_explain__a_failed_dependency_does_not_hold_one_that_runs_anyway),
        SERVER_TEST(test_explain__a_long_chain_needs_no_stack_and_little_time),
        SERVER_TEST(test_explain__a_paused_queue_hands_out_nothing),
        SERVER_TEST(test_explain__a_pause_of_a_scheduled_job_is_told),
        SERVER_TEST(test_explain__a_deadline_that_comes_first_is_told),
        SERVER_TEST(test_explain__jobs_of_lanes_that_may_not_run_do_not_come_first),
        SERVER_TEST(test_explain__a_grace_without_retries_ends_in_a_failure),
        cmocka_unit_test(test_explain__long_names_are_cut_between_characters),
    };
    return cmocka_run_group_tests_name("explain", tests, NULL, NULL);
}
