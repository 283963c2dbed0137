// SPDX-License-Identifier: MIT
#include "engine/lanes/watch.h"

#include "engine_test.h"

static void watch(struct world *w, const char *queue)
{
    assert_int_equal(engine_watch(w->engine, name_of(queue)), STATUS_OK);
}

// The queues that were woken since the last time: "a,b".
static const char *woken(struct world *w)
{
    buffer_clear(&w->text);
    struct slice queue;
    while (engine_woken(w->engine, &queue)) {
        buffer_printf(&w->text, "%s%.*s", w->text.size ? "," : "", SLICE_PRINT(queue));
    }
    buffer_append_char(&w->text, '\0');
    return w->text.data;
}

static bool is_ready(const struct world *w, const char *queue)
{
    return engine_is_ready(w->engine, name_of(queue));
}

static void test_watch__tells_of_watched_queues_alone_in_order_and_once(void **state)
{
    struct world *w = *state;
    watch(w, "a");
    watch(w, "b");
    watch(w, "b");
    assert_string_equal(woken(w), "");
    put(w, 0, "b", "1");
    put(w, 0, "c", "2");
    put(w, 0, "a", "3");
    put(w, 0, "b", "4");
    assert_string_equal(woken(w), "b,a");
    assert_string_equal(woken(w), "");
    put(w, 0, "a", "5");
    assert_string_equal(woken(w), "a");
}

static void test_watch__a_watch_may_end_while_it_is_woken(void **state)
{
    struct world *w = *state;
    watch(w, "a");
    watch(w, "b");
    put(w, 0, "a", "1");
    put(w, 0, "b", "2");
    engine_unwatch(w->engine, name_of("a"));
    engine_unwatch(w->engine, name_of("nobody"));
    assert_string_equal(woken(w), "b");
    watch(w, "a");
    put(w, 0, "a", "3");
    engine_unwatch(w->engine, name_of("a"));
    watch(w, "a"); // another one: what woke the first is not told again
    put(w, 0, "b", "4");
    assert_string_equal(woken(w), "b");
}

static void test_watch__who_watches_all_is_told_of_queues_that_are_still_to_come(void **state)
{
    struct world *w = *state;
    put(w, 0, "before", "1");
    watch(w, "named");
    engine_watch_all(w->engine, true);
    assert_string_equal(woken(w), "");
    put(w, 0, "a", "2");
    put(w, 0, "named", "3");
    put(w, 0, "before", "4");
    put(w, 0, "a", "5");
    assert_string_equal(woken(w), "a,named,before");
    engine_unwatch(w->engine, name_of("named"));
    put(w, 0, "named", "6");
    assert_string_equal(woken(w), "named");
    watch(w, "a");
    engine_watch_all(w->engine, false);
    put(w, 0, "named", "7");
    put(w, 0, "before", "8");
    put(w, 0, "a", "9");
    assert_string_equal(woken(w), "a");
}

static void test_watch__a_schedule_that_is_due_wakes(void **state)
{
    struct world *w = *state;
    watch(w, "q");
    put_later(w, 0, "q", "a", 10);
    assert_string_equal(woken(w), "");
    assert_false(is_ready(w, "q"));
    assert_true(tick(w, 9) == 10);
    assert_string_equal(woken(w), "");
    tick(w, 10);
    assert_string_equal(woken(w), "q");
    assert_true(is_ready(w, "q"));
}

static void test_watch__a_lost_lease_wakes(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "a");
    pop(w, 0, "q", "w1", 1);
    watch(w, "q");
    tick(w, 60);
    tick(w, 69);
    assert_false(is_ready(w, "q"));
    (void)woken(w);
    tick(w, 70);
    assert_string_equal(woken(w), "q");
    assert_true(is_ready(w, "q"));
}

static void test_watch__a_freed_place_wakes(void **state)
{
    struct world *w = *state;
    set(w, "q-max-concurrency", "1");
    put(w, 0, "q", "a");
    put(w, 0, "q", "b");
    pop(w, 0, "q", "w1", 2);
    watch(w, "q");
    assert_false(is_ready(w, "q"));
    complete(w, 1, "w1", "a");
    assert_string_equal(woken(w), "q");
    assert_true(is_ready(w, "q"));
    pop(w, 1, "q", "w1", 1);
    assert_false(is_ready(w, "q"));
    put(w, 1, "q", "c");
    (void)woken(w);
    set(w, "q-max-concurrency", "2");
    assert_string_equal(woken(w), "q");
    assert_true(is_ready(w, "q"));
}

static void test_watch__a_token_that_comes_back_wakes(void **state)
{
    struct world *w = *state;
    limit_set(w, 0, "q", NULL, rate(1, 10, 1));
    put(w, 0, "q", "a");
    put(w, 0, "q", "b");
    assert_string_equal(pop(w, 0, "q", "w1", 2), "a");
    watch(w, "q");
    assert_false(is_ready(w, "q"));
    assert_true(tick(w, 1) == 10);
    assert_string_equal(woken(w), "");
    tick(w, 10);
    assert_string_equal(woken(w), "q");
    assert_true(is_ready(w, "q"));
}

static void test_watch__a_limit_that_is_lifted_wakes(void **state)
{
    struct world *w = *state;
    limit_set(w, 0, "q", "d", concurrency(1));
    put_in(w, 0, "d", "a");
    put_in(w, 0, "d", "b");
    assert_string_equal(pop(w, 0, "q", "w1", 2), "a");
    watch(w, "q");
    assert_false(is_ready(w, "q"));
    limit_unset(w, 1, "q", "d");
    assert_string_equal(woken(w), "q");
    assert_true(is_ready(w, "q"));
}

static void test_watch__unpause_wakes(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "a");
    said(w, engine_pause(w->engine, at(w, 0), slices_of(w, "q"), &w->error));
    watch(w, "q");
    assert_false(is_ready(w, "q"));
    said(w, engine_unpause(w->engine, at(w, 1), slices_of(w, "q"), &w->error));
    assert_string_equal(woken(w), "q");
    assert_true(is_ready(w, "q"));
}

static void test_watch__who_watches_changes_nothing(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "a");
    struct buffer before, after;
    buffer_init(&before, &allocator_system, 1 << 20);
    buffer_init(&after, &allocator_system, 1 << 20);
    save(w, &before);
    watch(w, "q");
    watch(w, "nobody-knows");
    save(w, &after);
    assert_int_equal(before.size, after.size);
    assert_memory_equal(before.data, after.data, before.size);
    buffer_release(&before);
    buffer_release(&after);
}

static void test_watch__with_the_client_clock_a_tick_wakes_when_a_schedule_is_due(void **state)
{
    struct world *w = *state;
    put_later(w, 0, "q", "a", 10);
    put_later(w, 0, "other", "b", 5);
    assert_true(tick(w, 1) == -1);
    watch(w, "q");
    assert_true(tick(w, 2) == 10);
    assert_string_equal(woken(w), "");
    tick(w, 10);
    assert_string_equal(woken(w), "q");
    assert_string_equal(state_of(w, "a"), "scheduled"); // the pop of the client that waits does it
    assert_string_equal(pop(w, 10, "q", "w1", 1), "a");
    assert_true(tick(w, 11) == 70);
    engine_unwatch(w->engine, name_of("q"));
    assert_true(tick(w, 12) == -1);
}

static void test_watch__with_the_client_clock_a_lost_lease_comes_out_after_its_grace(void **state)
{
    struct world *w = *state;
    watch(w, "q");
    put(w, 0, "q", "a");
    pop(w, 0, "q", "w1", 1);
    put(w, 1, "q", "b");
    pop(w, 1, "q", "w1", 1);
    assert_true(tick(w, 2) == 60);
    (void)woken(w);
    tick(w, 61);
    assert_string_equal(woken(w), "q");
    assert_string_equal(pop(w, 61, "q", "w2", 1), ""); // begins the grace of one
    assert_true(tick(w, 61) == 61 + 1);                // at once, for the other
    assert_string_equal(woken(w), "q");
    assert_string_equal(pop(w, 61, "q", "w2", 1), "");
    assert_true(tick(w, 61) == 71);
    assert_string_equal(woken(w), "");
    tick(w, 71);
    assert_string_equal(woken(w), "q");
    assert_string_equal(pop(w, 71, "q", "w2", 1), "a");
    tick(w, 71);
    assert_string_equal(woken(w), "q");
    assert_string_equal(pop(w, 71, "q", "w2", 1), "b");
}

static void test_watch__with_the_client_clock_a_recurring_job_wakes(void **state)
{
    struct world *w = *state;
    recur(w, 0, "q", "r", 10);
    pop(w, 0, "q", "w1", 1);
    watch(w, "q");
    assert_true(tick(w, 1) == 10);
    tick(w, 10);
    assert_string_equal(woken(w), "q");
    assert_string_equal(pop(w, 10, "q", "w1", 1), "r-2");
}

static void test_watch__with_the_client_clock_a_look_in_vain_is_repeated_after_a_while(void **state)
{
    struct world *w = *state;
    set(w, "q-max-concurrency", "1");
    put(w, 0, "q", "a");
    pop(w, 0, "q", "w1", 1);
    put_later(w, 0, "q", "b", 10);
    watch(w, "q");
    tick(w, 10);
    assert_string_equal(woken(w), "q");
    assert_string_equal(pop(w, 10, "q", "w2", 1), "");
    assert_true(tick(w, 10) == 11);
    assert_string_equal(woken(w), "");
    tick(w, 11);
    assert_string_equal(woken(w), "q");
    complete(w, 11, "w1", "a");
    (void)woken(w);
    assert_string_equal(pop(w, 11, "q", "w2", 1), "b");
}

static void test_watch__with_the_client_clock_a_paused_queue_is_not_looked_at(void **state)
{
    struct world *w = *state;
    watch(w, "q");
    put_later(w, 0, "q", "a", 10);
    said(w, engine_pause(w->engine, at(w, 1), slices_of(w, "q"), &w->error));
    assert_true(tick(w, 10) == -1);
    assert_string_equal(woken(w), "");
    said(w, engine_unpause(w->engine, at(w, 11), slices_of(w, "q"), &w->error));
    assert_string_equal(woken(w), "q");
    assert_string_equal(pop(w, 11, "q", "w1", 1), "a");
}

static void test_watch__with_the_client_clock_a_queue_may_be_made_after_its_watch(void **state)
{
    struct world *w = *state;
    watch(w, "q");
    assert_true(tick(w, 0) == -1);
    put_later(w, 0, "q", "a", 10);
    assert_true(tick(w, 0) == 10);
}

static void test_watch__fails_without_memory_and_changes_nothing(void **state)
{
    struct world *w = *state;
    for (size_t n = 1;; n++) {
        w->fault.calls = 0;
        w->fault.fail_at = n;
        enum status status = engine_watch(w->engine, name_of("q"));
        w->fault.fail_at = 0;
        if (!status) {
            assert_true(n > 1);
            break;
        }
        assert_int_equal(status, STATUS_NO_MEMORY);
        put(w, 0, "q", "a");
        assert_string_equal(woken(w), "");
    }
    put(w, 0, "q", "a");
    assert_string_equal(woken(w), "q");
}

// ---------------------------------------------------------------------------------------------
// The time without a host

static void test_resume__leases_that_ran_out_meanwhile_are_renewed(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "a");
    put(w, 0, "q", "b");
    pop(w, 0, "q", "w1", 1);
    pop(w, 50, "q", "w2", 1);
    reload(w);
    forget_events(w);
    said(w, engine_resume(w->engine, at(w, 100), &w->error));
    assert_int_equal(view_of(w, "a").expires_us, us(160));
    assert_int_equal(view_of(w, "b").expires_us, us(110)); // has not run out
    assert_true(tick(w, 100) == 110);
    expect_events(w, "");
    complete(w, 100, "w1", "a");
    complete(w, 100, "w2", "b");
}

static void test_resume__a_grace_is_renewed_too(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "a");
    pop(w, 0, "q", "w1", 1);
    tick(w, 65);
    assert_true(view_of(w, "a").grace);
    said(w, engine_resume(w->engine, at(w, 100), &w->error));
    assert_false(view_of(w, "a").grace);
    assert_int_equal(view_of(w, "a").expires_us, us(160));
}

static void test_resume__a_run_that_is_over_stays_over(void **state)
{
    struct world *w = *state;
    put_with(w, 0,
             (struct put_request){ .jid = SLICE("a"),
                                   .options = &(struct job_options){ .timeout_us = us(90) } });
    put(w, 0, "q", "b");
    pop(w, 0, "q", "w1", 2);
    said(w, engine_resume(w->engine, at(w, 100), &w->error));
    assert_int_equal(view_of(w, "a").expires_us, us(60));
    assert_int_equal(view_of(w, "b").expires_us, us(160));
    tick(w, 100);
    assert_true(view_of(w, "a").grace || view_of(w, "a").state == JOB_STALLED);
}

static void test_resume__does_nothing_with_the_clients_clock(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "a");
    pop(w, 0, "q", "w1", 1);
    said(w, engine_resume(w->engine, at(w, 100), &w->error));
    assert_int_equal(view_of(w, "a").expires_us, us(60));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SERVER_TEST(test_watch__tells_of_watched_queues_alone_in_order_and_once),
        SERVER_TEST(test_watch__a_watch_may_end_while_it_is_woken),
        SERVER_TEST(test_watch__who_watches_all_is_told_of_queues_that_are_still_to_come),
        SERVER_TEST(test_watch__a_schedule_that_is_due_wakes),
        SERVER_TEST(test_watch__a_lost_lease_wakes),
        SERVER_TEST(test_watch__a_freed_place_wakes),
        SERVER_TEST(test_watch__a_token_that_comes_back_wakes),
        SERVER_TEST(test_watch__a_limit_that_is_lifted_wakes),
        SERVER_TEST(test_watch__unpause_wakes),
        SERVER_TEST(test_watch__who_watches_changes_nothing),
        CLIENT_TEST(test_watch__with_the_client_clock_a_tick_wakes_when_a_schedule_is_due),
        CLIENT_TEST(test_watch__with_the_client_clock_a_lost_lease_comes_out_after_its_grace),
        CLIENT_TEST(test_watch__with_the_client_clock_a_recurring_job_wakes),
        CLIENT_TEST(test_watch__with_the_client_clock_a_look_in_vain_is_repeated_after_a_while),
        CLIENT_TEST(test_watch__with_the_client_clock_a_paused_queue_is_not_looked_at),
        CLIENT_TEST(test_watch__with_the_client_clock_a_queue_may_be_made_after_its_watch),
        SERVER_TEST(test_watch__fails_without_memory_and_changes_nothing),
        SERVER_TEST(test_resume__leases_that_ran_out_meanwhile_are_renewed),
        SERVER_TEST(test_resume__a_grace_is_renewed_too),
        SERVER_TEST(test_resume__a_run_that_is_over_stays_over),
        CLIENT_TEST(test_resume__does_nothing_with_the_clients_clock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
