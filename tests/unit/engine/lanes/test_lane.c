// SPDX-License-Identifier: MIT
// Lanes of a queue: their order, how many of a lane may run, lists, how lanes come and go.
#include "engine/lanes/limit.h"

#include "engine_test.h"
#include "random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put_many_in(struct world *w, double now, const char *domain, int count)
{
    for (int i = 1; i <= count; i++) {
        char jid[32];
        (void)snprintf(jid, sizeof(jid), "%s%d", domain, i);
        put_in(w, now, domain, jid);
    }
}

static void put_prior_in(struct world *w, double now, const char *domain, const char *jid,
                         int32_t priority)
{
    put_with(w, now,
             (struct put_request){ .jid = name_of(jid),
                                   .has_domain = true,
                                   .domain = name_of(domain),
                                   .has_priority = true,
                                   .priority = priority });
}

// ---------------------------------------------------------------------------------------------
// The order

static void test_lane__without_limits_lanes_change_nothing_in_the_order(void **state)
{
    struct world *w = *state;
    put_in(w, 0, "a", "a1");
    put_in(w, 1, "b", "b1");
    put_in(w, 2, "a", "a2");
    put(w, 3, "q", "plain");
    put_in(w, 4, "b", "b2");
    put_prior_in(w, 5, "b", "urgent", -1);
    put_prior_in(w, 6, "a", "idle", 1);
    assert_string_equal(peek(w, 7, "q", 9), "urgent,a1,b1,a2,plain,b2,idle");
    assert_string_equal(pop(w, 7, "q", "w1", 2), "urgent,a1");
    assert_string_equal(pop(w, 7, "q", "w1", 1), "b1");
    assert_string_equal(pop(w, 7, "q", "w1", 9), "a2,plain,b2,idle");
    assert_slice_equal(view_of(w, "urgent").domain, "b");
    assert_slice_equal(view_of(w, "plain").domain, "");
}

static void test_lane__a_lost_lease_is_first_among_all_lanes(void **state)
{
    struct world *w = *state;
    set(w, "grace-period", "0");
    put_in(w, 0, "a", "a1");
    pop(w, 0, "q", "w1", 1);
    put_prior_in(w, 1, "b", "b1", -100);
    put_in(w, 2, "a", "a2");
    assert_string_equal(peek(w, 60, "q", 9), "a1,b1,a2");
    assert_string_equal(pop(w, 60, "q", "w1", 9), "a1,b1,a2");
}

static void test_lane__a_changed_priority_counts_among_all_lanes(void **state)
{
    struct world *w = *state;
    put_in(w, 0, "a", "a1");
    put_in(w, 1, "b", "b1");
    put_in(w, 2, "b", "b2");
    put(w, 3, "q", "c");
    said(w, engine_priority(w->engine, at(w, 4), SLICE("b2"), -1, &w->error));
    said(w, engine_priority(w->engine, at(w, 4), SLICE("c"), -1, &w->error));
    assert_string_equal(pop(w, 4, "q", "w1", 9), "b2,c,a1,b1");
}

static void test_lane__a_job_keeps_its_domain_until_a_put_gives_another(void **state)
{
    struct world *w = *state;
    put_in(w, 0, "a", "j");
    put(w, 1, "r", "j");
    assert_slice_equal(view_of(w, "j").domain, "a");
    assert_string_equal(lane_of(w, 1, "r", "a"), "waiting 1");
    assert_string_equal(lane_of(w, 1, "q", "a"), "");
    put_in(w, 2, "b", "j");
    assert_string_equal(lane_of(w, 2, "q", "b"), "waiting 1");
    put_in(w, 3, NULL, "j");
    assert_slice_equal(view_of(w, "j").domain, "");
    assert_string_equal(lane_of(w, 3, "q", NULL), "waiting 1");
    assert_int_equal(lane_count(w), 0);
}

static void test_lane__the_domain_goes_on_with_the_job_into_the_next_queue(void **state)
{
    struct world *w = *state;
    limit_set(w, 0, "r", "a", concurrency(1));
    put_in(w, 0, "a", "a1");
    put_in(w, 0, "a", "a2");
    pop(w, 0, "q", "w1", 2);
    for (int i = 0; i < 2; i++) {
        assert_string_equal(
            complete_with(w, 1,
                          (struct complete_request){
                              .holder = { .jid = name_of(i ? "a2" : "a1"), .worker = SLICE("w1") },
                              .next = SLICE("r") }),
            "waiting");
    }
    assert_string_equal(lane_of(w, 1, "r", "a"), "waiting 2, concurrency 1");
    assert_string_equal(pop(w, 2, "r", "w1", 2), "a1");
}

// ---------------------------------------------------------------------------------------------
// Concurrency

static void by_complete(struct world *w, double now)
{
    complete(w, now, "w1", "a1");
}

static void by_going_on(struct world *w, double now)
{
    complete_with(w, now,
                  (struct complete_request){ .holder = { SLICE("a1"), SLICE("w1"), .token = 0 },
                                             .next = SLICE("other") });
}

static void by_fail(struct world *w, double now)
{
    fail_job(w, now, "w1", "a1", "bad");
}

static void by_retry(struct world *w, double now)
{
    assert_int_equal(retry(w, now, "w1", "a1"), 4);
}

static void by_late_retry(struct world *w, double now)
{
    retry_with(w, now,
               (struct retry_request){ .holder = { SLICE("a1"), SLICE("w1"), .token = 0 },
                                       .has_delay = true,
                                       .delay_us = us(100) });
}

static void by_retry_elsewhere(struct world *w, double now)
{
    retry_with(w, now,
               (struct retry_request){ .holder = { SLICE("a1"), SLICE("w1"), .token = 0 },
                                       .to = SLICE("other") });
}

static void by_cancel(struct world *w, double now)
{
    assert_int_equal(cancel(w, now, "a1"), 1);
}

static void by_put(struct world *w, double now)
{
    put(w, now, "q", "a1");
}

static void by_put_elsewhere(struct world *w, double now)
{
    put(w, now, "other", "a1");
}

static void by_put_into_another_lane(struct world *w, double now)
{
    put_in(w, now, "b", "a1");
}

static void by_timeout(struct world *w, double now)
{
    time_out(w, now, "a1");
}

static void by_lost_lease(struct world *w, double now)
{
    // It ran out at 60; with the client clock this pop finds out.
    assert_string_equal(pop(w, 60, "q", "w2", 9), "");
    assert_string_equal(pop(w, 69, "q", "w2", 9), "");
    assert_true(now >= 70);
}

static void by_unknown_worker(struct world *w, double now)
{
    said(w, engine_worker_deregister(w->engine, at(w, now), slices_of(w, "w1"), &w->error));
    time_out(w, now, "a1");
}

static void test_lane__concurrency_is_given_back_however_a_lease_ends(void **state)
{
    struct world *given = *state;
    static const struct {
        const char *name;
        void (*act)(struct world *w, double now);
        const char *next; // what can be popped then
        double now;
    } ends[] = {
        { "complete", by_complete, "a2", 50 },
        { "complete into the next queue", by_going_on, "a2", 50 },
        { "fail", by_fail, "a2", 50 },
        { "retry", by_retry, "a2", 50 },
        { "retry with a delay", by_late_retry, "a2", 50 },
        { "retry in another queue", by_retry_elsewhere, "a2", 50 },
        { "cancel", by_cancel, "a2", 50 },
        { "put", by_put, "a2", 50 },
        { "put into another queue", by_put_elsewhere, "a2", 50 },
        { "put into another lane", by_put_into_another_lane, "a2,a1", 50 },
        { "timeout", by_timeout, "a1", 50 },
        { "lost lease", by_lost_lease, "a1", 70 },
        { "worker deregistered", by_unknown_worker, "a1", 50 },
    };
    for (size_t i = 0; TEST_ROW_NAMED(i, ends, ends[i].next); i++) {
        struct world *w = world_new(given->clock, 1);
        limit_set(w, 0, "q", "a", concurrency(1));
        put_many_in(w, 0, "a", 3);
        assert_string_equal(pop(w, 0, "q", "w1", 9), "a1");
        assert_string_equal(lane_of(w, 0, "q", "a"), "waiting 2, running 1, concurrency 1, busy");
        assert_string_equal(pop(w, 5, "q", "w2", 9), "");
        double now = ends[i].now;
        ends[i].act(w, now);
        const char *popped = pop(w, now, "q", "w2", 9);
        if (strcmp(popped, ends[i].next) != 0) {
            print_error("after %s: %s\n", ends[i].name, popped);
        }
        assert_string_equal(popped, ends[i].next);
        assert_string_equal(pop(w, now, "q", "w3", 9), "");
        assert_int_equal(faults_of(w), 0);
        reload(w);
        assert_string_equal(pop(w, now, "q", "w3", 9), "");
        world_free(w);
    }
}

static void test_lane__a_lease_in_its_grace_counts(void **state)
{
    struct world *w = *state;
    limit_set(w, 0, NULL, "a", concurrency(2));
    put_many_in(w, 0, "a", 3);
    pop(w, 0, "q", "w1", 1);
    pop(w, 30, "q", "w2", 1);
    assert_string_equal(pop(w, 65, "q", "w3", 9), "");
    assert_true(view_of(w, "a1").grace);
    assert_string_equal(lane_of(w, 65, "q", "a"), "waiting 1, running 2, concurrency 2, busy");
    // The holder is back in time.
    complete(w, 66, "w1", "a1");
    assert_string_equal(pop(w, 66, "q", "w3", 9), "a3");
}

static void test_lane__a_stale_holder_releases_nothing_a_second_time(void **state)
{
    struct world *w = *state;
    set(w, "grace-period", "0");
    limit_set(w, 0, NULL, "a", concurrency(1));
    put_many_in(w, 0, "a", 3);
    assert_string_equal(pop(w, 0, "q", "w1", 9), "a1");
    assert_string_equal(pop(w, 60, "q", "w2", 9), "a1");
    refused(w, STATUS_STALE, "job a1 has been given to another worker: w2");
    complete(w, 60, "w1", "a1");
    refused(w, STATUS_STALE, "another worker");
    fail_job(w, 60, "w1", "a1", "bad");
    refused(w, STATUS_STALE, "another worker");
    retry(w, 60, "w1", "a1");
    assert_string_equal(lane_of(w, 60, "q", "a"), "waiting 2, running 1, concurrency 1, busy");
    assert_string_equal(pop(w, 60, "q", "w3", 9), "");
    complete(w, 61, "w2", "a1");
    refused(w, STATUS_STATE, "job a1 is not running: complete");
    complete(w, 61, "w2", "a1");
    assert_string_equal(pop(w, 61, "q", "w3", 9), "a2");
    refused(w, STATUS_STATE, "job a1 is not running: complete");
    complete(w, 61, "w1", "a1");
    assert_string_equal(pop(w, 61, "q", "w3", 9), "");
}

static void test_lane__concurrency_is_of_a_lane_and_not_of_a_domain(void **state)
{
    struct world *w = *state;
    limit_set(w, 0, NULL, "a", concurrency(1));
    put_in(w, 0, "a", "q1");
    put_in(w, 0, "a", "q2");
    put_with(
        w, 0,
        (struct put_request){
            .queue = SLICE("r"), .jid = SLICE("r1"), .has_domain = true, .domain = SLICE("a") });
    assert_string_equal(pop_queues(w, 1, "q,r", POP_ORDERED, 9), "q1,r1");
}

static void test_lane__the_concurrency_of_the_queue_counts_too(void **state)
{
    struct world *w = *state;
    set(w, "q-max-concurrency", "3");
    limit_set(w, 0, NULL, "*", concurrency(2));
    put_many_in(w, 0, "a", 3);
    put_many_in(w, 0, "b", 3);
    assert_string_equal(pop(w, 1, "q", "w1", 9), "a1,a2,b1");
    complete(w, 2, "w1", "a1");
    assert_string_equal(pop(w, 2, "q", "w1", 9), "a3");
    complete(w, 3, "w1", "b1");
    assert_string_equal(pop(w, 3, "q", "w1", 9), "b2");
}

static void test_lane__rate_and_concurrency_both_hold(void **state)
{
    struct world *w = *state;
    struct limit both = rate(1, 1, 2);
    both.has_concurrency = true;
    both.concurrency = 3;
    limit_set(w, 0, NULL, "a", both);
    put_many_in(w, 0, "a", 9);
    assert_string_equal(pop(w, 0, "q", "w1", 9), "a1,a2");
    assert_string_equal(pop(w, 5, "q", "w1", 9), "a3");
    // Nothing happens by itself while it is busy.
    assert_string_equal(lane_of(w, 5, "q", "a"),
                        "waiting 6, running 3, rate 1/1 burst 2, concurrency 3, busy");
    if (w->clock == ENGINE_CLOCK_SERVER) {
        assert_true(tick(w, 5) == 60);
    }
    complete(w, 5.25, "w1", "a1");
    complete(w, 5.25, "w1", "a2");
    complete(w, 5.25, "w1", "a3");
    assert_string_equal(pop(w, 5.25, "q", "w1", 9), "a4");
    assert_string_equal(lane_of(w, 5.25, "q", "a"),
                        "waiting 5, running 1, rate 1/1 burst 2, concurrency 3, ready 6");
    assert_string_equal(pop(w, 6, "q", "w1", 9), "a5");
}

static void test_lane__a_stalled_lane_does_not_hold_up_the_others(void **state)
{
    struct world *w = *state;
    limit_set(w, 0, NULL, "slow", concurrency(1));
    put_many_in(w, 0, "slow", 50);
    put_in(w, 1, "other", "late");
    assert_string_equal(pop(w, 2, "q", "w1", 5), "slow1,late");
    put(w, 3, "q", "plain");
    assert_string_equal(pop(w, 3, "q", "w1", 5), "plain");
}

static void test_lane__queues_in_turn_pass_over_lanes_that_may_not_run(void **state)
{
    struct world *w = *state;
    limit_set(w, 0, "q", NULL, concurrency(2));
    put(w, 0, "q", "q1");
    put(w, 0, "q", "q2");
    put(w, 0, "q", "q3");
    put(w, 0, "r", "r1");
    put(w, 0, "r", "r2");
    put(w, 0, "r", "r3");
    assert_string_equal(pop_queues(w, 1, "q,r", POP_ROUND_ROBIN, 9), "q1,r1,q2,r2,r3");
}

// ---------------------------------------------------------------------------------------------
// Lists

enum {
    LISTED = 90,
};

struct listed {
    char jid[16];
    int32_t priority;
    int64_t time;
    int id;
};

static int by_line(const void *left, const void *right)
{
    const struct listed *a = left, *b = right;
    if (a->priority != b->priority) {
        return a->priority < b->priority ? -1 : 1;
    }
    if (a->time != b->time) {
        return a->time < b->time ? -1 : 1;
    }
    return a->id - b->id;
}

static void test_lane__every_page_of_a_list_is_a_part_of_the_whole_line(void **state)
{
    struct world *w = *state;
    static struct listed line[LISTED];
    struct random random;
    random_init(&random);
    int64_t now = 0;
    // None of this shows in a list.
    limit_set(w, 0, NULL, NULL, rate(1, 1000, 1));
    limit_set(w, 0, NULL, "lane1", concurrency(1));
    for (int i = 0; i < LISTED; i++) {
        struct listed *job = &line[i];
        (void)snprintf(job->jid, sizeof(job->jid), "j%d", i);
        char domain[16] = "";
        if (random_below(&random, 3)) {
            (void)snprintf(domain, sizeof(domain), "lane%d", (int)random_below(&random, 6));
        }
        job->priority = (int32_t)random_below(&random, 4) - 2;
        job->time = now += (int64_t)random_below(&random, 2);
        job->id = i;
        put_prior_in(w, (double)now, domain, job->jid, job->priority);
    }
    qsort(line, LISTED, sizeof(line[0]), by_line);
    char count[32];
    (void)snprintf(count, sizeof(count), "waiting %d", LISTED);
    assert_string_equal(queue_of(w, (double)now, "q"), count);
    assert_int_equal(engine_length(w->engine, SLICE("q")), LISTED);
    struct buffer expected;
    buffer_init(&expected, &allocator_system, SIZE_MAX - 1);
    for (size_t offset = 0; offset <= LISTED + 1; offset++) {
        for (size_t size = 0; size <= LISTED; size += 1 + size / 2) {
            buffer_clear(&expected);
            buffer_printf(&expected, "%d: ", LISTED);
            for (size_t i = offset; i < offset + size && i < LISTED; i++) {
                buffer_printf(&expected, "%s%s", i > offset ? "," : "", line[i].jid);
            }
            buffer_append_char(&expected, '\0');
            assert_string_equal(jobs(w, (double)now, LIST_WAITING, "q", offset, size),
                                expected.data);
        }
    }
    // And peek is the first page.
    buffer_clear(&expected);
    for (size_t i = 0; i < LISTED; i++) {
        buffer_printf(&expected, "%s%s", i ? "," : "", line[i].jid);
    }
    buffer_append_char(&expected, '\0');
    assert_string_equal(peek(w, (double)now, "q", LISTED), expected.data);
    // Without limits that is what comes out.
    limit_unset(w, (double)now, NULL, NULL);
    limit_unset(w, (double)now, NULL, "lane1");
    assert_string_equal(pop(w, (double)now, "q", "w1", LISTED), expected.data);
    buffer_release(&expected);
}

static void test_lane__peek_and_lists_show_what_may_not_run(void **state)
{
    struct world *w = *state;
    limit_set(w, 0, NULL, "a", concurrency(1));
    put_many_in(w, 0, "a", 3);
    put(w, 1, "q", "plain");
    assert_string_equal(pop(w, 1, "q", "w1", 1), "a1");
    assert_string_equal(peek(w, 1, "q", 9), "a2,a3,plain");
    assert_string_equal(jobs(w, 1, LIST_WAITING, "q", 0, 9), "3: a2,a3,plain");
    assert_string_equal(jobs(w, 1, LIST_RUNNING, "q", 0, 9), "1: a1");
    assert_string_equal(queue_of(w, 1, "q"), "waiting 3, running 1, listeners 1");
    assert_string_equal(pop(w, 1, "q", "w1", 9), "plain");
    assert_string_equal(peek(w, 1, "q", 9), "a2,a3");
}

// ---------------------------------------------------------------------------------------------
// Lanes come and go

static void test_lane__a_lane_with_nothing_is_forgotten(void **state)
{
    struct world *w = *state;
    put_in(w, 0, "a", "a1");
    put_in(w, 0, "b", "b1");
    assert_int_equal(lane_count(w), 2);
    cancel(w, 0, "a1");
    assert_int_equal(lane_count(w), 1);
    pop(w, 0, "q", "w1", 1);
    assert_int_equal(lane_count(w), 1);
    complete(w, 1, "w1", "b1");
    assert_int_equal(lane_count(w), 0);
    // A job that waits for its time or for others is in no lane.
    put_with(
        w, 1,
        (struct put_request){
            .jid = SLICE("later"), .has_domain = true, .domain = SLICE("c"), .delay_us = us(5) });
    put_with(w, 1,
             (struct put_request){ .jid = SLICE("depends"),
                                   .has_domain = true,
                                   .domain = SLICE("d"),
                                   .depends = slices_of(w, "later") });
    assert_int_equal(lane_count(w), 0);
    assert_string_equal(pop(w, 6, "q", "w1", 9), "later");
    assert_int_equal(lane_count(w), 1);
    complete(w, 6, "w1", "later");
    assert_int_equal(lane_count(w), 1);
    assert_string_equal(pop(w, 6, "q", "w1", 9), "depends");
    fail_job(w, 6, "w1", "depends", "bad");
    assert_int_equal(lane_count(w), 0);
    assert_int_equal(unfail(w, 7, "q", "bad", 1), 1);
    assert_int_equal(lane_count(w), 1);
    cancel(w, 7, "depends");
    assert_int_equal(lane_count(w), 0);
}

static void test_lane__a_call_that_is_refused_makes_no_lane(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "plain");
    refused(w, STATUS_NOT_FOUND, "job j does not exist");
    put_with(w, 0,
             (struct put_request){
                 .jid = SLICE("j"), .has_domain = true, .domain = SLICE("a"), .must_exist = true });
    char long_name[ENGINE_NAME_SIZE_MAX + 1];
    memset(long_name, 'x', sizeof(long_name));
    struct slice tag = slice_make(long_name, sizeof(long_name));
    refused(w, STATUS_INVALID, "tag is 256 bytes long, and at most 255 are allowed");
    put_with(w, 0,
             (struct put_request){ .jid = SLICE("j"),
                                   .has_domain = true,
                                   .domain = SLICE("a"),
                                   .has_tags = true,
                                   .tags = { &tag, 1 } });
    assert_int_equal(lane_count(w), 0);
}

static void test_lane__a_lane_rests_until_it_has_got_back_what_its_rate_allows(void **state)
{
    struct world *w = *state;
    limit_set(w, 0, NULL, "a", rate(1, 10, 2));
    put_many_in(w, 0, "a", 2);
    pop(w, 0, "q", "w1", 9);
    complete(w, 1, "w1", "a1");
    complete(w, 1, "w1", "a2");
    assert_int_equal(lane_count(w), 1);
    reload(w);
    assert_int_equal(lane_count(w), 1);
    // It has not forgotten what was taken.
    put_in(w, 10, "a", "a3");
    put_in(w, 10, "a", "a4");
    assert_string_equal(pop(w, 10, "q", "w1", 9), "a3");
    cancel(w, 11, "a3,a4");
    assert_int_equal(lane_count(w), 1);
    put_in(w, 29, "b", "b1");
    assert_int_equal(lane_count(w), 2);
    // Full again at 30: the next who touches a lane of the queue finds nothing worth keeping.
    put_in(w, 30, "b", "b2");
    assert_int_equal(lane_count(w), 1);
}

static void
test_lane__a_lane_that_has_rested_long_enough_makes_no_difference_when_saved(void **state)
{
    struct world *w = *state;
    limit_set(w, 0, NULL, "a", rate(1, 10, 1));
    put_in(w, 0, "a", "a1");
    pop(w, 0, "q", "w1", 9);
    complete(w, 1, "w1", "a1");
    tick(w, 9);
    reload(w);
    tick(w, 50);
    reload(w);
    put(w, 51, "r", "elsewhere");
    reload(w);
}

static void test_lane__thousands_of_domains_leave_nothing_behind(void **state)
{
    struct world *w = *state;
    limit_set(w, 0, NULL, "*", rate(1, 1, 1));
    char domain[16];
    for (int i = 0; i < 3000; i++) {
        (void)snprintf(domain, sizeof(domain), "d%d", i);
        double now = i * 0.01;
        put_in(w, now, domain, domain);
        assert_string_equal(pop(w, now, "q", "w1", 1), domain);
        complete(w, now, "w1", domain);
        // Those of the last second, and a few that were not looked at.
        assert_true(lane_count(w) <= 110);
    }
    for (int i = 0; i < 100; i++) {
        put_in(w, 40 + i, "last", "last");
    }
    assert_int_equal(lane_count(w), 1);
}

// More lanes than a change of limits reaches at once: each has a job in line and one that runs.
static void put_in_very_many(struct world *w, int count)
{
    limit_set(w, 0, NULL, "*", rate(1, 1000, 1000000));
    for (int i = 0; i < 2 * count; i++) {
        char domain[24], jid[40];
        (void)snprintf(domain, sizeof(domain), "d%d", i % count);
        (void)snprintf(jid, sizeof(jid), "%s-%d", domain, i / count);
        put_in(w, 0, domain, jid);
    }
    for (int left = count; left > 0; left -= 4000) {
        (void)pop(w, 0, "q", "w1", left < 4000 ? (size_t)left : 4000);
    }
    forget_events(w);
}

static void test_lane__new_limits_reach_more_lanes_than_one_call_can_change(void **state)
{
    struct world *w = *state;
    put_in_very_many(w, 2500);
    limit_set(w, 1, NULL, "*", concurrency(1));
    assert_string_equal(lane_of(w, 1, "q", "d0"), "waiting 1, running 1, concurrency 1, busy");
    // Each call that follows brings a part of the rest into line.
    for (int i = 0; i < 3; i++) {
        tick(w, 2);
    }
    assert_string_equal(pop(w, 2, "q", "w1", 1500), "");
    limit_unset(w, 3, NULL, "*");
    for (int i = 0; i < 3; i++) {
        tick(w, 3);
    }
    (void)pop(w, 3, "q", "w1", 1500);
    assert_string_equal(queue_of(w, 3, "q"), "waiting 1000, running 4000, listeners 1");
}

static void test_lane__limits_that_have_not_reached_all_lanes_yet_can_be_saved(void **state)
{
    struct world *w = *state;
    put_in_very_many(w, 1100);
    limit_set(w, 1, NULL, "*", rate(1, 1, 1));
    reload(w);
    limit_unset(w, 2, NULL, "*");
    reload(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SERVER_TEST(test_lane__without_limits_lanes_change_nothing_in_the_order),
        CLIENT_TEST(test_lane__without_limits_lanes_change_nothing_in_the_order),
        SERVER_TEST(test_lane__a_lost_lease_is_first_among_all_lanes),
        CLIENT_TEST(test_lane__a_lost_lease_is_first_among_all_lanes),
        SERVER_TEST(test_lane__a_changed_priority_counts_among_all_lanes),
        SERVER_TEST(test_lane__a_job_keeps_its_domain_until_a_put_gives_another),
        SERVER_TEST(test_lane__the_domain_goes_on_with_the_job_into_the_next_queue),
        SERVER_TEST(test_lane__concurrency_is_given_back_however_a_lease_ends),
        CLIENT_TEST(test_lane__concurrency_is_given_back_however_a_lease_ends),
        SERVER_TEST(test_lane__a_lease_in_its_grace_counts),
        CLIENT_TEST(test_lane__a_lease_in_its_grace_counts),
        SERVER_TEST(test_lane__a_stale_holder_releases_nothing_a_second_time),
        CLIENT_TEST(test_lane__a_stale_holder_releases_nothing_a_second_time),
        SERVER_TEST(test_lane__concurrency_is_of_a_lane_and_not_of_a_domain),
        SERVER_TEST(test_lane__the_concurrency_of_the_queue_counts_too),
        SERVER_TEST(test_lane__rate_and_concurrency_both_hold),
        CLIENT_TEST(test_lane__rate_and_concurrency_both_hold),
        SERVER_TEST(test_lane__a_stalled_lane_does_not_hold_up_the_others),
        SERVER_TEST(test_lane__queues_in_turn_pass_over_lanes_that_may_not_run),
        CLIENT_TEST(test_lane__queues_in_turn_pass_over_lanes_that_may_not_run),
        SERVER_TEST(test_lane__every_page_of_a_list_is_a_part_of_the_whole_line),
        CLIENT_TEST(test_lane__every_page_of_a_list_is_a_part_of_the_whole_line),
        SERVER_TEST(test_lane__peek_and_lists_show_what_may_not_run),
        CLIENT_TEST(test_lane__peek_and_lists_show_what_may_not_run),
        SERVER_TEST(test_lane__a_lane_with_nothing_is_forgotten),
        CLIENT_TEST(test_lane__a_lane_with_nothing_is_forgotten),
        SERVER_TEST(test_lane__a_call_that_is_refused_makes_no_lane),
        SERVER_TEST(test_lane__a_lane_rests_until_it_has_got_back_what_its_rate_allows),
        CLIENT_TEST(test_lane__a_lane_rests_until_it_has_got_back_what_its_rate_allows),
        SERVER_TEST(test_lane__a_lane_that_has_rested_long_enough_makes_no_difference_when_saved),
        CLIENT_TEST(test_lane__a_lane_that_has_rested_long_enough_makes_no_difference_when_saved),
        SERVER_TEST(test_lane__thousands_of_domains_leave_nothing_behind),
        SERVER_TEST(test_lane__new_limits_reach_more_lanes_than_one_call_can_change),
        SERVER_TEST(test_lane__limits_that_have_not_reached_all_lanes_yet_can_be_saved),
    };
    return cmocka_run_group_tests_name("lane", tests, NULL, NULL);
}
