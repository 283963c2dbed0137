// SPDX-License-Identifier: MIT
#include "engine_test.h"

static void pause_queues(struct world *w, double now, const char *names)
{
    said(w, engine_pause(w->engine, at(w, now), slices_of(w, names), &w->error));
}

static void unpause_queues(struct world *w, double now, const char *names)
{
    said(w, engine_unpause(w->engine, at(w, now), slices_of(w, names), &w->error));
}

static void forget_queues(struct world *w, double now, const char *names)
{
    said(w, engine_forget(w->engine, at(w, now), slices_of(w, names), &w->error));
}

static void test_queue__counts_its_jobs_by_state(void **state)
{
    struct world *w = *state;
    assert_string_equal(queue_of(w, 0, "q"), "");
    put(w, 0, "q", "a");
    put(w, 0, "q", "b");
    put(w, 0, "q", "c");
    put(w, 0, "q", "d");
    pop(w, 0, "q", "w1", 1);
    pop(w, 30, "q", "w1", 1);
    put_later(w, 30, "q", "s", 100);
    put_depending(w, 30, "q", "x", "c");
    recur_with(w, 30,
               (struct recur_request){ .queue = SLICE("q"),
                                       .jid = SLICE("r"),
                                       .interval_us = us(1000),
                                       .offset_us = us(1000) });
    put(w, 30, "other", "o");
    assert_string_equal(queue_of(w, 31, "q"),
                        "waiting 2, running 2, scheduled 1, depends 1, recurring 1, listeners 1");
    // The job whose lease has expired is running until its grace period is over.
    assert_string_equal(queue_of(w, 60, "q"),
                        "waiting 2, running 2, expired 1, scheduled 1, depends 1, recurring 1, "
                        "listeners 1");
    assert_int_equal(engine_length(w->engine, SLICE("q")), 5);
    assert_int_equal(engine_length(w->engine, SLICE("none")), 0);
}

static void test_queue__with_the_client_clock_counting_moves_what_is_due(void **state)
{
    struct world *w = *state;
    put_later(w, 0, "q", "a", 10);
    put_later(w, 0, "q", "b", 20);
    assert_string_equal(queue_of(w, 10, "q"), "waiting 1, scheduled 1");
    assert_string_equal(state_of(w, "a"), "waiting");
    assert_string_equal(jobs(w, 20, LIST_SCHEDULED, "q", 0, 9), "0: ");
    assert_string_equal(state_of(w, "b"), "waiting");
}

static void test_queue__names_stand_in_the_order_in_which_they_were_first_seen(void **state)
{
    struct world *w = *state;
    put(w, 0, "zebra", "a");
    put(w, 0, "ape", "b");
    recur(w, 1, "lion", "r", 1000);
    put(w, 2, "zebra", "c");
    assert_string_equal(queues(w), "zebra,ape,lion");
    struct queue_view view;
    said(w, engine_queue(w->engine, at(w, 3), SLICE("lion"), &view, &w->error));
    assert_int_equal(view.first_seen_us, us(1));
    forget_queues(w, 4, "lion");
    said(w, engine_queue(w->engine, at(w, 4), SLICE("lion"), &view, &w->error));
    assert_int_equal(view.first_seen_us, 0);
}

static void test_queue__forget_takes_it_off_the_list_and_leaves_its_jobs(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "a");
    put(w, 1, "r", "b");
    forget_queues(w, 2, "q,unknown");
    assert_string_equal(queues(w), "r");
    assert_string_equal(queue_of(w, 2, "q"), "waiting 1");
    assert_string_equal(pop(w, 3, "q", "w1", 1), "a");
    complete(w, 4, "w1", "a");
    put(w, 5, "q", "c");
    assert_string_equal(queues(w), "r,q");
}

static void put_at(struct world *w, double now, const char *jid, int32_t priority)
{
    put_with(
        w, now,
        (struct put_request){ .jid = name_of(jid), .has_priority = true, .priority = priority });
}

static int64_t oldest_us(struct world *w, double now)
{
    struct queue_view view;
    said(w, engine_queue(w->engine, at(w, now), SLICE("q"), &view, &w->error));
    return view.oldest_us;
}

static void test_queue__the_oldest_job_is_found_at_every_priority(void **state)
{
    struct world *w = *state;
    static const int32_t priorities[] = { INT32_MIN, INT32_MIN + 1, INT32_MIN + 2,
                                          0,         INT32_MAX - 1, INT32_MAX };
    for (size_t i = 0; i < sizeof(priorities) / sizeof(priorities[0]); i++) {
        double now = 1000 * (double)i;
        put_at(w, now + 1, "old", priorities[i]);
        put_at(w, now + 2, "other", 5);
        assert_int_equal(oldest_us(w, now + 2), us(now + 1));
        // One whose priority was changed stands before it.
        put_at(w, now + 3, "moved", 5);
        said(w,
             engine_priority(w->engine, at(w, now + 4), SLICE("moved"), priorities[i], &w->error));
        assert_int_equal(oldest_us(w, now + 5), us(now + 1));
        cancel(w, now + 6, "old");
        cancel(w, now + 6, "other");
        assert_int_equal(oldest_us(w, now + 7), us(now + 3));
        cancel(w, now + 8, "moved");
        assert_int_equal(oldest_us(w, now + 9), 0);
    }
}

static void test_queue__lists_its_jobs_by_state_a_page_at_a_time(void **state)
{
    struct world *w = *state;
    put_later(w, 0, "q", "s3", 300);
    put_later(w, 0, "q", "s1", 100);
    put_later(w, 0, "q", "s2", 200);
    assert_string_equal(jobs(w, 1, LIST_SCHEDULED, "q", 0, 9), "3: s1,s2,s3");
    assert_string_equal(jobs(w, 1, LIST_SCHEDULED, "q", 1, 1), "3: s2");
    assert_string_equal(jobs(w, 1, LIST_SCHEDULED, "q", 2, 9), "3: s3");
    assert_string_equal(jobs(w, 1, LIST_SCHEDULED, "q", 3, 9), "3: ");
    assert_string_equal(jobs(w, 1, LIST_SCHEDULED, "q", 0, 0), "3: ");

    put(w, 1, "q", "a");
    put(w, 2, "q", "b");
    put(w, 3, "q", "c");
    assert_string_equal(jobs(w, 3, LIST_WAITING, "q", 1, 9), "3: b,c");
    put_depending(w, 4, "q", "d1", "a");
    put_depending(w, 5, "q", "d2", "a");
    assert_string_equal(jobs(w, 5, LIST_DEPENDS, "q", 0, 9), "2: d1,d2");
    assert_string_equal(jobs(w, 5, LIST_DEPENDS, "q", 1, 9), "2: d2");

    pop(w, 5, "q", "w1", 1);
    pop(w, 6, "q", "w1", 1);
    pop(w, 7, "q", "w1", 1);
    heartbeat(w, 8, "w1", "a");
    assert_string_equal(jobs(w, 8, LIST_RUNNING, "q", 0, 9), "3: b,c,a");
    assert_string_equal(jobs(w, 66, LIST_EXPIRED, "q", 0, 9), "1: b");
    assert_string_equal(jobs(w, 67, LIST_EXPIRED, "q", 1, 9), "2: c");
    assert_string_equal(jobs(w, 67, LIST_UNEXPIRED, "q", 0, 9), "1: a");
    assert_int_equal(strlen(jobs(w, 67, LIST_RUNNING, "q", 0, 9)), strlen("3: b,c,a"));
    assert_string_equal(jobs(w, 67, LIST_STALLED, "q", 0, 9), "0: ");
    assert_string_equal(jobs(w, 67, LIST_WAITING, "unknown", 0, 9), "0: ");
}

static void test_queue__paused_ones_keep_their_jobs(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "a");
    put(w, 0, "r", "b");
    pause_queues(w, 1, "q,r,new");
    put(w, 2, "q", "c");
    assert_string_equal(queue_of(w, 2, "q"), "waiting 2, paused");
    assert_string_equal(queue_of(w, 2, "new"), "paused");
    assert_string_equal(pop_queues(w, 3, "q,r", POP_ORDERED, 9), "");
    assert_string_equal(peek(w, 3, "q", 9), "a,c");
    unpause_queues(w, 4, "q,unknown");
    unpause_queues(w, 4, "q");
    assert_string_equal(pop_queues(w, 5, "r,q", POP_ORDERED, 9), "a,c");
    assert_string_equal(queue_of(w, 5, "r"), "waiting 1, paused");
    put(w, 6, "new", "d");
    assert_string_equal(pop(w, 7, "new", "w1", 1), "");
}

static void test_queue__a_pause_lets_leases_go_on(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "a");
    pop(w, 0, "q", "w1", 1);
    pause_queues(w, 1, "q");
    assert_true(heartbeat(w, 2, "w1", "a") == 62);
    complete(w, 3, "w1", "a");
    assert_string_equal(state_of(w, "a"), "complete");
}

static void test_queue__listeners_are_those_who_popped_and_are_not_offline(void **state)
{
    struct world *w = *state;
    pop_queues(w, 0, "q,r", POP_ORDERED, 1);
    pop(w, 0, "q", "w2", 1);
    pop(w, 1, "q", "w2", 1);
    assert_string_equal(queue_of(w, 1, "q"), "listeners 2");
    assert_string_equal(queue_of(w, 1, "r"), "listeners 1");
    said(w, engine_worker_offline(w->engine, at(w, 2), SLICE("w1"), &w->error));
    assert_string_equal(queue_of(w, 2, "q"), "listeners 1");
    assert_string_equal(queue_of(w, 2, "r"), "");
    said(w, engine_worker_deregister(w->engine, at(w, 3), slices_of(w, "w2"), &w->error));
    assert_string_equal(queue_of(w, 3, "q"), "");
    pop(w, 4, "q", "w1", 1);
    assert_string_equal(queue_of(w, 4, "q"), "listeners 1");
    assert_string_equal(workers(w, 4 + DAY), "");
    assert_string_equal(queue_of(w, 4 + DAY, "q"), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SERVER_TEST(test_queue__counts_its_jobs_by_state),
        CLIENT_TEST(test_queue__counts_its_jobs_by_state),
        CLIENT_TEST(test_queue__with_the_client_clock_counting_moves_what_is_due),
        SERVER_TEST(test_queue__names_stand_in_the_order_in_which_they_were_first_seen),
        CLIENT_TEST(test_queue__names_stand_in_the_order_in_which_they_were_first_seen),
        SERVER_TEST(test_queue__forget_takes_it_off_the_list_and_leaves_its_jobs),
        SERVER_TEST(test_queue__lists_its_jobs_by_state_a_page_at_a_time),
        CLIENT_TEST(test_queue__lists_its_jobs_by_state_a_page_at_a_time),
        SERVER_TEST(test_queue__the_oldest_job_is_found_at_every_priority),
        SERVER_TEST(test_queue__paused_ones_keep_their_jobs),
        CLIENT_TEST(test_queue__paused_ones_keep_their_jobs),
        SERVER_TEST(test_queue__a_pause_lets_leases_go_on),
        SERVER_TEST(test_queue__listeners_are_those_who_popped_and_are_not_offline),
    };
    return cmocka_run_group_tests_name("queue", tests, NULL, NULL);
}
