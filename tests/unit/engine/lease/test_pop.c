// SPDX-License-Identifier: MIT
#include "engine_test_more.h"

#include <stdio.h>

static void put_at_priority(struct world *w, double now, const char *jid, int32_t priority)
{
    put_with(
        w, now,
        (struct put_request){ .jid = name_of(jid), .has_priority = true, .priority = priority });
}

static void test_pop__hands_out_a_job_under_a_lease(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "a");
    track(w, 0, "a");
    forget_events(w);
    assert_string_equal(pop(w, 4, "q", "w1", 1), "a");
    expect_events(w, "tracker: popped a");
    assert_string_equal(history_of(w, "a"), "0 put in q; 4 popped by w1");
    struct job_view view = view_of(w, "a");
    assert_int_equal(view.state, JOB_RUNNING);
    assert_slice_equal(view.worker, "w1");
    assert_int_equal(view.expires_us, us(64));
    assert_int_equal(view.time_us, us(4));
    assert_true(view.token > 0);
    assert_false(view.started);
    assert_false(view.grace);
    assert_string_equal(queue_of(w, 4, "q"), "running 1, listeners 1");
}

static void test_pop__the_older_job_comes_first(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "z");
    put(w, 1, "q", "y");
    put(w, 1, "q", "x");
    put(w, 2, "q", "a");
    assert_string_equal(peek(w, 3, "q", 9), "z,y,x,a");
    assert_string_equal(pop(w, 3, "q", "w1", 3), "z,y,x");
    assert_string_equal(pop(w, 3, "q", "w1", 3), "a");
    assert_string_equal(pop(w, 3, "q", "w1", 3), "");
}

static void test_pop__a_lower_priority_number_comes_first(void **state)
{
    struct world *w = *state;
    put_at_priority(w, 0, "zero", 0);
    put_at_priority(w, 1, "ten", 10);
    put_at_priority(w, 2, "minus", -1);
    put_at_priority(w, 3, "nine", 9);
    assert_string_equal(pop(w, 4, "q", "w1", 9), "minus,zero,nine,ten");
}

static void test_pop__a_changed_priority_goes_before_its_equals(void **state)
{
    struct world *w = *state;
    put_at_priority(w, 1, "a", 5);
    put_at_priority(w, 2, "b", 5);
    put_at_priority(w, 3, "c", 9);
    said(w, engine_priority(w->engine, at(w, 3), SLICE("c"), 5, &w->error));
    assert_int_equal(view_of(w, "c").priority, 5);
    assert_string_equal(pop(w, 4, "q", "w1", 9), "c,a,b");
}

static void test_pop__a_priority_changed_outside_the_line_counts_once_it_is_in(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "a");
    put(w, 1, "q", "b");
    put_later(w, 0, "q", "c", 5);
    said(w, engine_priority(w->engine, at(w, 2), SLICE("c"), -1, &w->error));
    assert_string_equal(state_of(w, "c"), "scheduled");
    assert_string_equal(pop(w, 6, "q", "w1", 1), "c");
    said(w, engine_priority(w->engine, at(w, 6), SLICE("c"), 3, &w->error));
    assert_string_equal(state_of(w, "c"), "running");
    retry(w, 7, "w1", "c");
    assert_string_equal(pop(w, 8, "q", "w1", 9), "a,b,c");
}

static void test_pop__a_scheduled_job_stands_where_its_time_puts_it(void **state)
{
    struct world *w = *state;
    put_later(w, 0, "q", "s5", 5);
    put_later(w, 0, "q", "s3", 3);
    put(w, 4, "q", "p4");
    put(w, 6, "q", "p6");
    assert_string_equal(pop(w, 7, "q", "w1", 9), "s3,p4,s5,p6");
}

static void test_pop__with_the_client_clock_a_scheduled_job_comes_in_when_it_is_seen(void **state)
{
    struct world *w = *state;
    put_later(w, 0, "q", "s3", 3);
    put(w, 4, "q", "p4");
    put(w, 6, "q", "p6");
    assert_string_equal(state_of(w, "s3"), "scheduled");
    assert_string_equal(pop(w, 7, "q", "w1", 9), "p4,p6,s3");
}

static void test_pop__with_the_client_clock_time_is_what_the_call_says(void **state)
{
    struct world *w = *state;
    put_later(w, 100, "q", "a", 10);
    assert_string_equal(pop(w, 50, "q", "w1", 1), "");
    put(w, 20, "q", "b");
    put(w, 10, "q", "c");
    assert_string_equal(pop(w, 5, "q", "w1", 9), "c,b");
    assert_int_equal(view_of(w, "c").expires_us, us(65));
    assert_string_equal(pop(w, 110, "q", "w1", 9), "a");
}

static void test_pop__with_the_server_clock_time_does_not_go_back(void **state)
{
    struct world *w = *state;
    put(w, 100, "q", "a");
    put(w, 50, "q", "b");
    assert_int_equal(view_of(w, "b").time_us, us(100));
    assert_string_equal(pop(w, 10, "q", "w1", 9), "a,b");
    assert_int_equal(view_of(w, "a").expires_us, us(160));
}

static void test_pop__lost_jobs_come_before_timed_out_ones_before_all_others(void **state)
{
    struct world *w = *state;
    set(w, "grace-period", "0");
    put(w, 0, "q", "l1");
    put(w, 0, "q", "l2");
    put(w, 0, "q", "t1");
    put(w, 0, "q", "t2");
    pop(w, 1, "q", "w1", 1);
    pop(w, 2, "q", "w1", 3);
    time_out(w, 3, "t2");
    time_out(w, 4, "t1");
    put_at_priority(w, 5, "urgent", -100);
    assert_string_equal(peek(w, 70, "q", 9), "l1,l2,t2,t1,urgent");
    assert_string_equal(pop(w, 70, "q", "w2", 9), "l1,l2,t2,t1,urgent");
}

static void test_pop__from_several_queues_in_the_order_asked(void **state)
{
    struct world *w = *state;
    put(w, 0, "r", "r1");
    put(w, 0, "q", "q1");
    put(w, 0, "q", "q2");
    put(w, 0, "r", "r2");
    assert_string_equal(pop_queues(w, 1, "q,none,r", POP_ORDERED, 3), "q1,q2,r1");
    assert_string_equal(pop_queues(w, 1, "q,none,r", POP_ORDERED, 3), "r2");
}

static void test_pop__from_several_queues_in_turn(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "q1");
    put(w, 0, "q", "q2");
    put(w, 0, "q", "q3");
    put(w, 0, "r", "r1");
    put(w, 0, "s", "s1");
    put(w, 0, "s", "s2");
    assert_string_equal(pop_queues(w, 1, "q,r,s", POP_ROUND_ROBIN, 9), "q1,r1,s1,q2,s2,q3");
    assert_string_equal(pop_queues(w, 1, "q,r,s", POP_ROUND_ROBIN, 9), "");
}

static void test_pop__of_none_pops_none(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "a");
    assert_string_equal(pop(w, 1, "q", "w1", 0), "");
    assert_string_equal(state_of(w, "a"), "waiting");
}

static void test_pop__sees_the_worker_also_in_vain(void **state)
{
    struct world *w = *state;
    assert_string_equal(pop(w, 1, "q", "w1", 1), "");
    assert_string_equal(workers(w, 1), "w1 0/0");
    assert_string_equal(queue_of(w, 1, "q"), "listeners 1");
}

static void test_pop__a_paused_queue_gives_nothing_and_does_not_see_the_worker(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "a");
    said(w, engine_pause(w->engine, at(w, 1), slices_of(w, "q"), &w->error));
    assert_string_equal(pop(w, 2, "q", "w1", 1), "");
    assert_string_equal(workers(w, 2), "");
    assert_string_equal(queue_of(w, 2, "q"), "waiting 1, paused");
    // Of two queues the worker listens to the one that is not paused.
    assert_string_equal(pop_queues(w, 2, "q,r", POP_ORDERED, 1), "");
    assert_string_equal(workers(w, 2), "w1 0/0");
    assert_string_equal(queue_of(w, 2, "q"), "waiting 1, paused");
    assert_string_equal(queue_of(w, 2, "r"), "listeners 1");
    said(w, engine_unpause(w->engine, at(w, 3), slices_of(w, "q"), &w->error));
    assert_string_equal(pop(w, 4, "q", "w1", 1), "a");
}

static void test_pop__max_concurrency_limits_the_leases_of_a_queue(void **state)
{
    struct world *w = *state;
    set(w, "q-max-concurrency", "2");
    put(w, 0, "q", "a");
    put(w, 0, "q", "b");
    put(w, 0, "q", "c");
    put(w, 0, "r", "d");
    assert_string_equal(pop(w, 1, "q", "w1", 1), "a");
    assert_string_equal(pop(w, 1, "q", "w2", 9), "b");
    assert_string_equal(pop(w, 1, "q", "w3", 9), "");
    assert_string_equal(pop(w, 1, "r", "w3", 9), "d");
    complete(w, 2, "w1", "a");
    assert_string_equal(pop(w, 3, "q", "w3", 9), "c");
    set(w, "q-max-concurrency", "0");
    put(w, 4, "q", "e");
    assert_string_equal(pop(w, 5, "q", "w3", 9), "e");
}

static void test_pop__with_the_server_clock_a_lease_in_its_grace_counts(void **state)
{
    struct world *w = *state;
    set(w, "q-max-concurrency", "1");
    put(w, 0, "q", "a");
    put(w, 0, "q", "b");
    assert_string_equal(pop(w, 0, "q", "w1", 9), "a");
    assert_string_equal(pop(w, 65, "q", "w2", 9), "");
    assert_string_equal(pop(w, 70, "q", "w2", 9), "a");
}

static void test_pop__with_the_client_clock_a_lease_that_ran_out_does_not_count(void **state)
{
    struct world *w = *state;
    set(w, "q-max-concurrency", "1");
    put(w, 0, "q", "a");
    put(w, 0, "q", "b");
    assert_string_equal(pop(w, 0, "q", "w1", 9), "a");
    assert_string_equal(pop(w, 59, "q", "w2", 9), "");
    // a's grace begins, and b is handed out in its place; now both count.
    assert_string_equal(pop(w, 65, "q", "w2", 9), "b");
    put(w, 65, "q", "c");
    assert_string_equal(pop(w, 66, "q", "w2", 9), "");
}

static void test_pop__tokens_grow(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "a");
    put(w, 0, "q", "b");
    pop(w, 0, "q", "w1", 2);
    uint64_t a = view_of(w, "a").token, b = view_of(w, "b").token;
    assert_true(a < b);
    retry(w, 1, "w1", "a");
    assert_int_equal(view_of(w, "a").token, 0);
    pop(w, 2, "q", "w1", 1);
    assert_true(view_of(w, "a").token > b);
}

static void test_pop__peek_shows_the_next_and_leaves_them(void **state)
{
    struct world *w = *state;
    assert_string_equal(peek(w, 0, "q", 3), "");
    put(w, 0, "q", "a");
    put_later(w, 0, "q", "b", 5);
    put(w, 1, "q", "c");
    assert_string_equal(peek(w, 2, "q", 1), "a");
    assert_string_equal(peek(w, 2, "q", 9), "a,c");
    assert_string_equal(peek(w, 5, "q", 9), "a,c,b");
    assert_string_equal(peek(w, 5, "q", 0), "");
    assert_string_equal(queue_of(w, 5, "q"), "waiting 3");
}

static void test_pop__with_the_client_clock_peek_shows_first_what_ran_out(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "a");
    put(w, 0, "q", "b");
    pop(w, 0, "q", "w1", 1);
    assert_string_equal(peek(w, 59, "q", 9), "b");
    assert_string_equal(peek(w, 60, "q", 9), "a,b");
    assert_string_equal(peek(w, 60, "q", 1), "a");
    assert_string_equal(state_of(w, "a"), "running");
    assert_string_equal(history_of(w, "a"), "0 put in q; 0 popped by w1");
    complete(w, 61, "w1", "a");
}

// ---------------------------------------------------------------------------------------------
// What the caller can take

// Jobs named x... never fit; others while no more than `most` were handed out.
struct taker {
    size_t most;
    size_t asked;
};

static enum pop_fit take(void *context, const struct job *job, const struct job *const *popped,
                         size_t count)
{
    struct taker *taker = context;
    taker->asked++;
    for (size_t i = 0; i < count; i++) {
        assert_true(job_jid(popped[i]).size > 0);
    }
    if (job_jid(job).data[0] == 'x') {
        return POP_FITS_NEVER;
    }
    return count < taker->most ? POP_FITS : POP_FITS_LATER;
}

static const char *pop_fitting(struct world *w, double now, const char *queues, size_t count,
                               struct taker *taker)
{
    return pop_with(w, now,
                    (struct pop_request){ .worker = SLICE("w1"),
                                          .queues = slices_of(w, queues),
                                          .count = count,
                                          .fits = take,
                                          .fits_context = taker });
}

static void test_pop__ends_before_a_job_that_does_not_fit_any_more(void **state)
{
    struct world *w = *state;
    struct taker taker = { .most = 2 };
    put(w, 0, "q", "a");
    put(w, 1, "q", "b");
    put(w, 2, "q", "c");
    put(w, 2, "r", "d");
    assert_string_equal(pop_fitting(w, 3, "q,r", 9, &taker), "a,b");
    assert_string_equal(state_of(w, "c"), "waiting");
    assert_string_equal(state_of(w, "d"), "waiting");
    assert_string_equal(pop_fitting(w, 3, "q,r", 9, &taker), "c,d");
    taker.most = 0;
    put(w, 4, "q", "e");
    assert_string_equal(pop_fitting(w, 5, "q", 9, &taker), "");
    assert_string_equal(state_of(w, "e"), "waiting");
}

static void test_pop__a_job_that_never_fits_keeps_its_place_and_stops_nobody(void **state)
{
    struct world *w = *state;
    struct taker taker = { .most = 9 };
    put(w, 0, "q", "x1");
    put(w, 1, "q", "a");
    put(w, 2, "q", "x2");
    put(w, 3, "q", "b");
    assert_string_equal(pop_fitting(w, 4, "q", 9, &taker), "a,b");
    assert_string_equal(pop_fitting(w, 4, "q", 9, &taker), "");
    assert_string_equal(history_of(w, "x1"), "0 put in q");
    assert_string_equal(pop(w, 5, "q", "w2", 9), "x1,x2");
}

static void test_pop__a_lane_of_jobs_that_never_fit_stops_no_other_lane(void **state)
{
    struct world *w = *state;
    struct taker taker = { .most = 9 };
    put_in(w, 0, "one", "x1");
    put_in(w, 0, "one", "x2");
    put_in(w, 1, "two", "a");
    put_in(w, 2, "one", "b");
    put(w, 3, "q", "c");
    assert_string_equal(pop_fitting(w, 4, "q", 2, &taker), "b,a");
    assert_string_equal(pop_fitting(w, 4, "q", 2, &taker), "c");
    assert_string_equal(pop(w, 5, "q", "w2", 9), "x1,x2");
}

static void test_pop__passes_over_so_many_jobs_and_no_more(void **state)
{
    struct world *w = *state;
    struct taker taker = { .most = 9 };
    char jid[16];
    for (int i = 0; i < POP_UNFIT_MAX; i++) {
        (void)snprintf(jid, sizeof(jid), "x%d", i);
        put(w, 0, "q", jid);
    }
    put(w, 1, "q", "a");
    assert_string_equal(pop_fitting(w, 2, "q", 1, &taker), "");
    assert_int_equal(taker.asked, POP_UNFIT_MAX);
    complete(w, 2, "w2", pop(w, 2, "q", "w2", 1));
    assert_string_equal(pop_fitting(w, 2, "q", 1, &taker), "a");
}

static void put_best(struct world *w, double now, const char *queue, const char *jid,
                     int32_t priority)
{
    put_with(w, now,
             (struct put_request){ .queue = name_of(queue),
                                   .jid = name_of(jid),
                                   .has_priority = true,
                                   .priority = priority });
}

static void test_pop__the_best_of_all_queues(void **state)
{
    struct world *w = *state;
    put_best(w, 0, "c", "c5", 5);
    put_best(w, 1, "a", "a5", 5);
    put_best(w, 2, "b", "b1", 1);
    put_best(w, 3, "a", "a-1", -1);
    put_best(w, 4, "b", "b9", 9);
    assert_string_equal(pop_queues(w, 5, "a,b,c,none", POP_BEST, 4), "a-1,b1,c5,a5");
    assert_string_equal(pop_queues(w, 5, "c,b,a", POP_BEST, 9), "b9");
    assert_string_equal(pop_queues(w, 5, "c,b,a", POP_BEST, 9), "");
}

static void test_pop__of_equal_priorities_a_lost_lease_is_the_best(void **state)
{
    struct world *w = *state;
    put(w, 0, "a", "fresh");
    put(w, 0, "b", "ended");
    put(w, 0, "c", "lost");
    put_best(w, 0, "d", "urgent", -1);
    pop(w, 0, "b", "w1", 1);
    pop(w, 0, "c", "w1", 1);
    time_out(w, 1, "ended");
    assert_string_equal(pop_queues(w, 80, "a,b,c,d", POP_BEST, 9), "urgent,lost,ended,fresh");
}

static void test_pop__the_best_is_under_limits_and_pauses(void **state)
{
    struct world *w = *state;
    limit_set(w, 0, "a", "one", concurrency(1));
    for (int i = 0; i < 2; i++) {
        put_with(w, 0,
                 (struct put_request){ .queue = SLICE("a"),
                                       .jid = name_of(numbered("lane", (size_t)i)),
                                       .has_domain = true,
                                       .domain = SLICE("one"),
                                       .has_priority = true,
                                       .priority = -5 });
        put(w, 0, "a", numbered("a", (size_t)i));
        put_best(w, 0, "b", numbered("b", (size_t)i), -9);
        put_best(w, 0, "c", numbered("c", (size_t)i), -10);
    }
    set(w, "b-max-concurrency", "1");
    pause_queue(w, "c");
    assert_string_equal(pop_queues(w, 1, "a,b,c", POP_BEST, 9), "b0,lane0,a0,a1");
}

static void test_pop__a_queue_named_twice_gives_each_job_once(void **state)
{
    struct world *w = *state;
    for (int i = 0; i < 3; i++) {
        put_best(w, i, "a", numbered("a", (size_t)i), i);
        put_best(w, i, "b", numbered("b", (size_t)i), i);
    }
    assert_string_equal(pop_queues(w, 9, "a,b,a,b", POP_BEST, 9), "a0,b0,a1,b1,a2,b2");
}

// A job whose jid begins with x fits no answer; two fit beside each other.
static enum pop_fit fits_two(void *context, const struct job *job, const struct job *const *popped,
                             size_t count)
{
    (void)context;
    (void)popped;
    return job_jid(job).data[0] == 'x' ? POP_FITS_NEVER : count < 2 ? POP_FITS : POP_FITS_LATER;
}

static void test_pop__what_does_not_fit_is_passed_over_for_the_next_best(void **state)
{
    struct world *w = *state;
    put_best(w, 0, "a", "x1", 1);
    put_best(w, 0, "a", "a4", 4);
    put_best(w, 0, "b", "b3", 3);
    put_best(w, 0, "b", "x2", 2);
    put_best(w, 0, "b", "b5", 5);
    const struct slices queues = slices_of(w, "a,b");
    const struct pop_request request = {
        .worker = SLICE("w1"), .queues = queues, .order = POP_BEST, .count = 9, .fits = fits_two
    };
    assert_string_equal(pop_with(w, 1, request), "b3,a4");
    assert_string_equal(pop_with(w, 1, request), "b5");
    assert_string_equal(pop_with(w, 1, request), "");
}

static void test_pop__the_best_by_the_clients_clock(void **state)
{
    struct world *w = *state;
    put_with(w, 0,
             (struct put_request){ .queue = SLICE("a"),
                                   .jid = SLICE("later"),
                                   .delay_us = us(10),
                                   .has_priority = true,
                                   .priority = -1 });
    put(w, 0, "b", "b");
    assert_string_equal(pop_queues(w, 5, "a,b", POP_BEST, 1), "b");
    put(w, 6, "b", "c");
    assert_string_equal(pop_queues(w, 10, "b,a", POP_BEST, 1), "later");
}

static void test_pop__every_priority_has_its_place(void **state)
{
    struct world *w = *state;
    static const int32_t priorities[] = { INT32_MAX,    INT32_MAX - 1, 1,         0,
                                          -1,           INT32_MIN + 3, INT32_MIN, INT32_MIN + 1,
                                          INT32_MIN + 2 };
    put(w, 0, "q", "lost");
    put(w, 0, "q", "timed");
    assert_string_equal(pop(w, 0, "q", "w1", 2), "lost,timed");
    time_out(w, 60, "timed");
    for (size_t i = 0; i < sizeof(priorities) / sizeof(priorities[0]); i++) {
        char jid[16];
        (void)snprintf(jid, sizeof(jid), "%d", priorities[i]);
        put_at_priority(w, 1000 + (double)i, jid, priorities[i]);
    }
    reload(w);
    assert_string_equal(peek(w, 1010, "q", 11),
                        "lost,timed,-2147483648,-2147483647,-2147483646,-2147483645,-1,0,1,"
                        "2147483646,2147483647");
    assert_string_equal(pop(w, 1010, "q", "w1", 4), "lost,timed,-2147483648,-2147483647");
}

static void test_pop__jobs_of_the_lowest_priorities_come_by_age(void **state)
{
    struct world *w = *state;
    for (int i = 0; i < 4; i++) {
        put_at_priority(w, 1 + i, numbered("low", (size_t)i), INT32_MIN + i % 2);
    }
    // Of two within the same 16 us the number decides, which is that of their puts.
    for (int i = 0; i < 2; i++) {
        put_at_priority(w, 10 + i / 1e6, numbered("near", (size_t)i), INT32_MIN);
    }
    assert_int_equal(view_of(w, "low2").line_us, us(3));
    reload(w);
    assert_string_equal(pop(w, 20, "q", "w1", 9), "low0,low2,near0,near1,low1,low3");
    // The change of a priority puts a job before all others of its new one.
    put_at_priority(w, 21, "before", INT32_MIN);
    put(w, 22, "q", "plain");
    said(w, engine_priority(w->engine, at(w, 23), SLICE("plain"), INT32_MIN, &w->error));
    assert_string_equal(pop(w, 24, "q", "w2", 9), "plain,before");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SERVER_TEST(test_pop__hands_out_a_job_under_a_lease),
        CLIENT_TEST(test_pop__hands_out_a_job_under_a_lease),
        SERVER_TEST(test_pop__the_older_job_comes_first),
        CLIENT_TEST(test_pop__the_older_job_comes_first),
        SERVER_TEST(test_pop__a_lower_priority_number_comes_first),
        SERVER_TEST(test_pop__a_changed_priority_goes_before_its_equals),
        SERVER_TEST(test_pop__a_priority_changed_outside_the_line_counts_once_it_is_in),
        SERVER_TEST(test_pop__a_scheduled_job_stands_where_its_time_puts_it),
        CLIENT_TEST(test_pop__with_the_client_clock_a_scheduled_job_comes_in_when_it_is_seen),
        CLIENT_TEST(test_pop__with_the_client_clock_time_is_what_the_call_says),
        SERVER_TEST(test_pop__with_the_server_clock_time_does_not_go_back),
        SERVER_TEST(test_pop__lost_jobs_come_before_timed_out_ones_before_all_others),
        CLIENT_TEST(test_pop__lost_jobs_come_before_timed_out_ones_before_all_others),
        SERVER_TEST(test_pop__from_several_queues_in_the_order_asked),
        SERVER_TEST(test_pop__from_several_queues_in_turn),
        CLIENT_TEST(test_pop__from_several_queues_in_turn),
        SERVER_TEST(test_pop__of_none_pops_none),
        SERVER_TEST(test_pop__sees_the_worker_also_in_vain),
        SERVER_TEST(test_pop__a_paused_queue_gives_nothing_and_does_not_see_the_worker),
        SERVER_TEST(test_pop__max_concurrency_limits_the_leases_of_a_queue),
        CLIENT_TEST(test_pop__max_concurrency_limits_the_leases_of_a_queue),
        SERVER_TEST(test_pop__with_the_server_clock_a_lease_in_its_grace_counts),
        CLIENT_TEST(test_pop__with_the_client_clock_a_lease_that_ran_out_does_not_count),
        SERVER_TEST(test_pop__tokens_grow),
        SERVER_TEST(test_pop__peek_shows_the_next_and_leaves_them),
        CLIENT_TEST(test_pop__peek_shows_the_next_and_leaves_them),
        CLIENT_TEST(test_pop__with_the_client_clock_peek_shows_first_what_ran_out),
        SERVER_TEST(test_pop__ends_before_a_job_that_does_not_fit_any_more),
        CLIENT_TEST(test_pop__ends_before_a_job_that_does_not_fit_any_more),
        SERVER_TEST(test_pop__a_job_that_never_fits_keeps_its_place_and_stops_nobody),
        CLIENT_TEST(test_pop__a_job_that_never_fits_keeps_its_place_and_stops_nobody),
        SERVER_TEST(test_pop__a_lane_of_jobs_that_never_fit_stops_no_other_lane),
        SERVER_TEST(test_pop__passes_over_so_many_jobs_and_no_more),
        SERVER_TEST(test_pop__every_priority_has_its_place),
        SERVER_TEST(test_pop__jobs_of_the_lowest_priorities_come_by_age),
        SERVER_TEST(test_pop__the_best_of_all_queues),
        SERVER_TEST(test_pop__of_equal_priorities_a_lost_lease_is_the_best),
        SERVER_TEST(test_pop__the_best_is_under_limits_and_pauses),
        SERVER_TEST(test_pop__a_queue_named_twice_gives_each_job_once),
        SERVER_TEST(test_pop__what_does_not_fit_is_passed_over_for_the_next_best),
        CLIENT_TEST(test_pop__the_best_by_the_clients_clock),
    };
    return cmocka_run_group_tests_name("pop", tests, NULL, NULL);
}
