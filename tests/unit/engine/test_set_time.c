// SPDX-License-Identifier: MIT
#include "engine_test.h"

#include "engine/records/changes.h"

// The host's clock was at `now`, and is set to `to`.
static void set_time(struct world *w, double now, double to)
{
    said(w, engine_set_time(w->engine, at(w, now), us(to), &w->error));
    w->now = to;
}

static void test_set_time__leases_keep_the_time_that_they_have_left(void **state)
{
    struct world *w = *state;
    static const double steps[] = { 3600, -3600, 86400, -80000 };
    double now = 100000;
    put_with(w, now,
             (struct put_request){ .jid = SLICE("a"),
                                   .options = &(struct job_options){ .timeout_us = us(1000) } });
    put(w, now, "q", "b");
    put(w, now, "r", "c");
    pop(w, now, "q", "w1", 2);
    pop(w, now, "r", "w1", 1);
    for (size_t i = 0; TEST_ROW(i, steps); i++) {
        forget_events(w);
        set_time(w, now + 10, now + 10 + steps[i]);
        expect_events(w, "");
        now += steps[i];
        assert_int_equal(view_of(w, "a").expires_us, us(now + 60));
        assert_int_equal(view_of(w, "c").expires_us, us(now + 60));
        assert_int_equal(engine_time(w->engine), us(now + 10));
        assert_true(tick(w, now + 10) == now + 60);
        reload(w);
    }
    assert_true(heartbeat(w, now + 50, "w1", "a") == now + 110);
    tick(w, now + 60);
    assert_true(view_of(w, "b").grace);
    set_time(w, now + 65, now + 5);
    tick(w, now + 9);
    assert_string_equal(state_of(w, "b"), "running");
    tick(w, now + 10);
    assert_string_equal(state_of(w, "b"), "stalled");
    // The longest run has moved along: it ends 1000 seconds after the pop.
    for (int beat = 1; beat <= 23; beat++) {
        heartbeat(w, now + 40 * beat, "w1", "a");
    }
    assert_int_equal(view_of(w, "a").expires_us, us(now + 940));
}

static void test_set_time__what_was_due_by_then_happens_first(void **state)
{
    struct world *w = *state;
    put_later(w, 1000, "q", "a", 10);
    put(w, 1000, "q", "b");
    pop(w, 1000, "q", "w1", 1);
    set_time(w, 1065, 500);
    assert_string_equal(state_of(w, "a"), "waiting");
    assert_true(view_of(w, "b").grace);
}

static int waiting_of(struct world *w, int count)
{
    int waiting = 0;
    for (int i = 0; i < count; i++) {
        char jid[16];
        (void)snprintf(jid, sizeof(jid), "j%d", i);
        waiting += strcmp(state_of(w, jid), "waiting") == 0;
    }
    return waiting;
}

// More is due at once than one call does, and the other calls of that instant do not do more.
static void test_set_time__a_time_that_comes_again_is_another_instant(void **state)
{
    struct world *w = *state;
    enum {
        JOBS = 5000
    };
    for (int i = 0; i < JOBS; i++) {
        char jid[16];
        (void)snprintf(jid, sizeof(jid), "j%d", i);
        put_later(w, 1000, "q", jid, 10);
    }
    put(w, 1010, "r", "a");
    int first = waiting_of(w, JOBS);
    assert_in_range(first, 1, JOBS - 1);
    put(w, 1010, "r", "b");
    assert_int_equal(waiting_of(w, JOBS), first);
    set_time(w, 1010, 500);
    put(w, 1010, "r", "c");
    assert_in_range(waiting_of(w, JOBS), first + 1, JOBS - 1);
}

static void test_set_time__moments_stay(void **state)
{
    struct world *w = *state;
    put_later(w, 1000, "q", "later", 100);
    put_with(w, 1000,
             (struct put_request){
                 .jid = SLICE("late"), .has_deadline = true, .deadline_us = us(1200) });
    set_time(w, 1010, 510);
    assert_true(tick(w, 1099) == 1100);
    assert_string_equal(state_of(w, "later"), "scheduled");
    set_time(w, 1099, 1300);
    tick(w, 1300);
    assert_string_equal(state_of(w, "later"), "waiting");
    assert_string_equal(state_of(w, "late"), "failed");
}

static void test_set_time__an_interval_keeps_the_time_to_its_next_run(void **state)
{
    struct world *w = *state;
    recur(w, 10000, "q", "each", 1);
    tick(w, 10002);
    assert_int_equal(recurring_of(w, "each").count, 3);
    set_time(w, 10002.5, 13602.5);
    tick(w, 13602.5);
    assert_int_equal(recurring_of(w, "each").count, 3);
    tick(w, 13603);
    assert_int_equal(recurring_of(w, "each").count, 4);
    set_time(w, 13603.5, 2.5);
    tick(w, 3);
    assert_int_equal(recurring_of(w, "each").count, 5);
}

static void test_set_time__cron_follows_the_new_time(void **state)
{
    struct world *w = *state;
    recur_with(w, 3600,
               (struct recur_request){ .jid = SLICE("hourly"),
                                       .queue = SLICE("q"),
                                       .cron = SLICE("0 * * * *"),
                                       .missed = RECUR_MISSED_ONE });
    tick(w, 3600);
    assert_int_equal(recurring_of(w, "hourly").next_us, us(7200));
    set_time(w, 3700, 36100); // nine runs are left out, the last is made
    tick(w, 36100);
    assert_int_equal(recurring_of(w, "hourly").count, 2);
    assert_int_equal(recurring_of(w, "hourly").next_us, us(39600));
    set_time(w, 36100, 3700);
    assert_int_equal(recurring_of(w, "hourly").next_us, us(7200));
}

static void test_set_time__buckets_keep_what_is_in_them(void **state)
{
    struct world *w = *state;
    limit_set(w, 10000, "q", NULL, rate(1, 10, 1));
    put(w, 10000, "q", "a");
    put(w, 10000, "q", "b");
    assert_string_equal(pop(w, 10000, "q", "w1", 2), "a");
    set_time(w, 10004, 4);
    assert_string_equal(pop(w, 9.9, "q", "w1", 2), "");
    assert_true(tick(w, 9.9) == 10);
    assert_string_equal(pop(w, 10, "q", "w1", 2), "b");
    put(w, 10, "q", "c");
    set_time(w, 14, 5000);
    assert_string_equal(pop(w, 5005.9, "q", "w1", 2), "");
    assert_string_equal(pop(w, 5006, "q", "w1", 2), "c");
}

static void test_set_time__a_line_keeps_its_order(void **state)
{
    struct world *w = *state;
    put(w, 10000, "q", "z");
    put_later(w, 10000, "q", "m", 1);
    set_time(w, 10002, 400);
    put(w, 400, "q", "b");
    put_later(w, 400, "q", "a", 5);
    reload(w);
    tick(w, 406);
    put(w, 406, "q", "c");
    assert_string_equal(peek(w, 406, "q", 9), "z,m,b,a,c");
    put(w, 20000, "q", "d");
    assert_string_equal(peek(w, 20000, "q", 9), "z,m,b,a,c,d");
}

static enum status count_record(void *context, struct record_key key, struct slice bytes)
{
    (void)key;
    (void)bytes;
    ++*(int *)context;
    return STATUS_OK;
}

static void test_set_time__is_a_change_that_is_stored(void **state)
{
    (void)state;
    const struct engine_options options = { .allocator = &allocator_system,
                                            .clock = ENGINE_CLOCK_SERVER,
                                            .keeps_changes = true };
    struct engine *engine;
    int records = 0;
    const struct changes_sink sink = { count_record, &records };
    assert_int_equal(engine_new(&options, &engine), STATUS_OK);
    (void)engine_tick(engine, us(1000));
    assert_int_equal(engine_changes(engine, &sink), STATUS_OK);
    (void)engine_tick(engine, us(2000));
    assert_false(engine_has_changes(engine));
    assert_int_equal(engine_set_time(engine, us(2000), us(500), NULL), STATUS_OK);
    assert_true(engine_has_changes(engine));
    records = 0;
    assert_int_equal(engine_changes(engine, &sink), STATUS_OK);
    assert_int_equal(records, 1);
    assert_false(engine_has_changes(engine));
    engine_free(engine);
}

static void test_set_time__bad_times_are_refused(void **state)
{
    struct world *w = *state;
    put(w, 100, "q", "a");
    refused(w, STATUS_INVALID, "between the years 1970 and 9999");
    said(w, engine_set_time(w->engine, at(w, 100), -1, &w->error));
    refused(w, STATUS_INVALID, "between the years 1970 and 9999");
    said(w, engine_set_time(w->engine, at(w, 100), ENGINE_TIME_MAX + 1, &w->error));
    refused(w, STATUS_INVALID, "between the years 1970 and 9999");
    said(w, engine_set_time(w->engine, -1, us(100), &w->error));
    said(w, engine_set_time(w->engine, at(w, 100), us(100), &w->error));
    said(w, engine_set_time(w->engine, at(w, 100), 0, &w->error));
    assert_string_equal(pop(w, 0, "q", "w1", 1), "a");
    said(w, engine_set_time(w->engine, 0, ENGINE_TIME_MAX, &w->error));
}

static void test_set_time__not_with_the_clients_clock(void **state)
{
    struct world *w = *state;
    put(w, 100, "q", "a");
    refused(w, STATUS_STATE, "its clients' clock");
    said(w, engine_set_time(w->engine, at(w, 100), us(50), &w->error));
    assert_int_equal(engine_time(w->engine), 0);
}

static void test_set_time__without_memory_nothing_has_changed(void **state)
{
    struct world *w = *state;
    limit_set(w, 1000, NULL, NULL, rate(1, 1000, 1));
    for (int i = 0; i < 200; i++) {
        char jid[16];
        (void)snprintf(jid, sizeof(jid), "r%d", i);
        recur(w, 1000 + i, i % 2 ? "q" : "p", jid, 300 + i);
    }
    pop(w, 1250, "q", "w1", 1);
    pop(w, 1250, "p", "w1", 1);
    for (size_t calls = 0;; calls++) {
        struct buffer before, after;
        buffer_init(&before, &allocator_system, UINT32_MAX);
        buffer_init(&after, &allocator_system, UINT32_MAX);
        save(w, &before);
        w->fault.fail_at = w->fault.calls + calls + 1;
        enum status status = engine_set_time(w->engine, us(1250), us(250), &w->error);
        w->fault.fail_at = 0;
        save(w, &after);
        bool same = slice_equal(buffer_slice(&before), buffer_slice(&after));
        buffer_release(&before);
        buffer_release(&after);
        if (!status) {
            assert_false(same);
            assert_true(calls > 0);
            break;
        }
        assert_int_equal(status, STATUS_NO_MEMORY);
        assert_true(same);
    }
    assert_int_equal(engine_time(w->engine), us(250));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SERVER_TEST(test_set_time__leases_keep_the_time_that_they_have_left),
        SERVER_TEST(test_set_time__what_was_due_by_then_happens_first),
        SERVER_TEST(test_set_time__a_time_that_comes_again_is_another_instant),
        SERVER_TEST(test_set_time__moments_stay),
        SERVER_TEST(test_set_time__an_interval_keeps_the_time_to_its_next_run),
        SERVER_TEST(test_set_time__cron_follows_the_new_time),
        SERVER_TEST(test_set_time__buckets_keep_what_is_in_them),
        SERVER_TEST(test_set_time__a_line_keeps_its_order),
        cmocka_unit_test(test_set_time__is_a_change_that_is_stored),
        SERVER_TEST(test_set_time__bad_times_are_refused),
        CLIENT_TEST(test_set_time__not_with_the_clients_clock),
        SERVER_TEST(test_set_time__without_memory_nothing_has_changed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
