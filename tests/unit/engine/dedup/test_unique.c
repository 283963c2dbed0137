// SPDX-License-Identifier: MIT
// Jobs that are to be the only ones of their kind.
#include "engine_test_more.h"

#include <string.h>

static struct unique_request by_key(const char *key)
{
    return (struct unique_request){ .by = UNIQUE_BY_KEY, .key = name_of(key) };
}

static const struct unique_request by_contents = { .by = UNIQUE_BY_CONTENTS };

static struct put_request unique_job(const char *jid, struct unique_request unique)
{
    return (struct put_request){ .jid = name_of(jid), .unique = unique };
}

// A put that others of the key "key" are in the way of, or not.
static struct put_request wants_key(const char *jid, enum unique_conflict conflict)
{
    struct put_request request = unique_job(jid, by_key("key"));
    request.unique.conflict = conflict;
    return request;
}

static bool holds(const struct world *w, const char *jid)
{
    return view_of(w, jid).unique_held;
}

// ---------------------------------------------------------------------------------------------
// What is the same

static void test_unique__a_second_put_gives_the_first_job_and_changes_nothing(void **state)
{
    struct world *w = *state;
    put_with(w, 0, unique_job("a", by_key("key")));
    assert_true(holds(w, "a"));
    assert_int_equal(view_of(w, "a").unique_by, UNIQUE_BY_KEY);
    assert_slice_equal(view_of(w, "a").unique_key, "key");
    forget_events(w);
    struct buffer before, after;
    buffer_init(&before, &allocator_system, SIZE_MAX - 1);
    buffer_init(&after, &allocator_system, SIZE_MAX - 1);
    save(w, &before);
    struct put_request again = unique_job("b", by_key("key"));
    again.queue = SLICE("another");
    again.klass = SLICE("other klass");
    again.has_domain = true;
    again.domain = SLICE("lane");
    again.has_tags = true;
    again.tags = slices_of(w, "red");
    again.depends = slices_of(w, "a");
    const struct job_options options = { .timeout_us = 5 };
    again.options = &options;
    assert_string_equal(put_gives(w, 0, again), "a");
    save(w, &after);
    assert_true(slice_equal(buffer_slice(&before), buffer_slice(&after)));
    buffer_release(&before);
    buffer_release(&after);
    expect_events(w, "");
    assert_string_equal(state_of(w, "b"), "none");
    assert_string_equal(queues(w), "q");
}

static void test_unique__another_key_is_another_job(void **state)
{
    struct world *w = *state;
    put_with(w, 0, unique_job("a", by_key("key")));
    put_with(w, 0, unique_job("b", by_key("key2")));
    put_with(w, 0, unique_job("c", by_key("ke")));
    put_with(w, 0, unique_job("d", by_key("KEY")));
    put(w, 0, "q", "e");
    assert_string_equal(jobs(w, 0, LIST_WAITING, "q", 0, 9), "5: a,b,c,d,e");
}

static void test_unique__a_key_counts_across_queues_klasses_and_data(void **state)
{
    struct world *w = *state;
    put_with(w, 0, unique_job("a", by_key("key")));
    struct put_request other = unique_job("b", by_key("key"));
    other.queue = SLICE("r");
    other.klass = SLICE("another");
    other.data = SLICE("[1]");
    assert_string_equal(put_gives(w, 0, other), "a");
}

static void test_unique__contents_are_klass_and_data(void **state)
{
    struct world *w = *state;
    static const struct {
        const char *klass, *data;
        bool same; // as the job that was put first
    } cases[] = {
        { "k", "{\"a\":1,\"b\":[1,2,{\"c\":null,\"d\":\"x\"}]}", true },
        { "k", " {\n\t\"a\" : 1 ,\r\n\"b\":[ 1,2, {\"c\" :null,\"d\":\"x\"} ] } ", true },
        { "k", "{\"b\":[1,2,{\"d\":\"x\",\"c\":null}],\"a\":1}", true },
        { "k", "{\"\\u0061\":1,\"b\":[1,2,{\"c\":null,\"d\":\"\\u0078\"}]}", true },
        { "k", "{\"a\":1.0,\"b\":[1e0,20E-1,{\"c\":null,\"d\":\"x\"}]}", true },
        { "k2", "{\"a\":1,\"b\":[1,2,{\"c\":null,\"d\":\"x\"}]}", false },
        { "k", "{\"a\":1,\"b\":[2,1,{\"c\":null,\"d\":\"x\"}]}", false },
        { "k", "{\"a\":\"1\",\"b\":[1,2,{\"c\":null,\"d\":\"x\"}]}", false },
        { "k", "{\"a\":1,\"b\":[1,2,{\"c\":null,\"d\":\"X\"}]}", false },
        { "k", "{\"a\":1,\"b\":[1,2,{\"c\":false,\"d\":\"x\"}]}", false },
        { "k", "{\"a\":1,\"b\":[1,2,{\"c\":null}]}", false },
        { "k", "{}", false },
        { "k", "null", false },
        { "k", "\"{}\"", false },
    };
    struct put_request request = unique_job("first", by_contents);
    request.klass = name_of(cases[0].klass);
    request.data = name_of(cases[0].data);
    put_with(w, 0, request);
    assert_int_equal(view_of(w, "first").unique_by, UNIQUE_BY_CONTENTS);
    assert_int_equal(view_of(w, "first").unique_key.size, 32);
    for (size_t i = 0; TEST_ROW_NAMED(i, cases, cases[i].klass); i++) {
        char jid[2] = { (char)('A' + i), '\0' };
        request.jid = name_of(jid);
        request.klass = name_of(cases[i].klass);
        request.data = name_of(cases[i].data);
        const char *given = put_gives(w, 0, request);
        if (strcmp(given, cases[i].same ? "first" : jid) != 0) {
            print_error("%s: %s\n", cases[i].data, given);
        }
        assert_string_equal(given, cases[i].same ? "first" : jid);
    }
}

static void test_unique__the_border_between_klass_and_data_counts(void **state)
{
    struct world *w = *state;
    struct put_request one = unique_job("a", by_contents), two = unique_job("b", by_contents);
    one.klass = SLICE("k");
    one.data = SLICE("12");
    two.klass = SLICE("k1");
    two.data = SLICE("2");
    put_with(w, 0, one);
    put_with(w, 0, two);
}

static void test_unique__keys_and_contents_never_meet(void **state)
{
    struct world *w = *state;
    put_with(w, 0, unique_job("a", by_contents));
    char key[32];
    struct slice digest = view_of(w, "a").unique_key;
    memcpy(key, digest.data, sizeof(key));
    struct put_request request = {
        .jid = SLICE("b"), .unique = { .by = UNIQUE_BY_KEY, .key = slice_make(key, sizeof(key)) }
    };
    put_with(w, 0, request);
    assert_true(holds(w, "a"));
    assert_true(holds(w, "b"));
    request.jid = SLICE("c");
    assert_string_equal(put_gives(w, 0, request), "b");
    assert_string_equal(put_gives(w, 0, unique_job("c", by_contents)), "a");
}

static void test_unique__new_data_do_not_move_the_lock(void **state)
{
    struct world *w = *state;
    put_with(w, 0, unique_job("a", by_contents));
    said(w, engine_update_data(w->engine, at(w, 0), SLICE("a"), SLICE("[1]"), &w->error));
    assert_string_equal(put_gives(w, 0, unique_job("b", by_contents)), "a");
    struct put_request other = unique_job("c", by_contents);
    other.data = SLICE("[1]");
    put_with(w, 0, other);
}

// ---------------------------------------------------------------------------------------------
// When another holds the lock

// Job a in the given state, holding the lock of "key" for a long time.
static void prepare(struct world *w, enum job_state state)
{
    struct put_request request = unique_job("a", by_key("key"));
    request.unique.until = UNIQUE_FOR_TIME;
    request.unique.for_us = us(1000);
    request.has_retries = true;
    request.retries = 1;
    if (state == JOB_DEPENDS) {
        put(w, 0, "q", "first");
        request.depends = slices_of(w, "first");
    }
    request.delay_us = state == JOB_SCHEDULED ? us(900) : 0;
    put_with(w, 0, request);
    if (state == JOB_RUNNING || state == JOB_STALLED || state == JOB_COMPLETE ||
        state == JOB_FAILED) {
        assert_string_equal(pop(w, 1, "q", "w1", 1), "a");
    }
    if (state == JOB_STALLED) {
        time_out(w, 1, "a");
    } else if (state == JOB_COMPLETE) {
        complete(w, 1, "w1", "a");
    } else if (state == JOB_FAILED) {
        fail_job(w, 1, "w1", "a", "bad");
    }
    tick(w, 1);
    assert_string_equal(state_of(w, "a"), job_state_name(state));
    assert_true(holds(w, "a"));
    forget_events(w);
}

static void test_unique__in_each_state_the_holder_is_in_the_way(void **state)
{
    struct world *given = *state;
    static const struct {
        enum job_state state;
        bool replaced;
        const char *refuse, *keep; // what is said
        const char *events;        // of replacing it
    } cases[] = {
        { JOB_WAITING, true, "job a holds the lock and is waiting", NULL,
          "log: canceled a in q; log: put b in q" },
        { JOB_SCHEDULED, true, "job a holds the lock and is scheduled", NULL,
          "log: canceled a in q; log: put b in q" },
        { JOB_DEPENDS, true, "job a holds the lock and is depends", NULL,
          "log: canceled a in q; log: put b in q" },
        { JOB_STALLED, true, "job a holds the lock and is stalled", NULL,
          "log: canceled a in q; log: put b in q" },
        { JOB_FAILED, true, "job a holds the lock and is failed", NULL,
          "log: canceled a in q; log: put b in q" },
        { JOB_RUNNING, false, "job a holds the lock and is running",
          "job a holds the lock and is running; it cannot be replaced", NULL },
        { JOB_COMPLETE, false, "job a holds the lock and is complete",
          "job a holds the lock and is complete; it cannot be replaced", NULL },
    };
    for (size_t i = 0; TEST_ROW_NAMED(i, cases, cases[i].refuse); i++) {
        struct world *w = world_new(given->clock, 1);
        prepare(w, cases[i].state);
        assert_string_equal(put_gives(w, 1, wants_key("b", UNIQUE_EXISTING)), "a");
        refused(w, STATUS_EXISTS, cases[i].refuse);
        put_with(w, 1, wants_key("b", UNIQUE_REFUSE));
        assert_string_equal(w->error.detail, cases[i].refuse);
        expect_events(w, "");
        if (cases[i].replaced) {
            put_with(w, 1, wants_key("b", UNIQUE_REPLACE));
            expect_events(w, cases[i].events);
            assert_string_equal(state_of(w, "a"), "none");
            assert_true(holds(w, "b"));
            assert_int_equal(stats_of(w, "q", 1).failed, 0);
        } else {
            refused(w, STATUS_STATE, cases[i].keep);
            put_with(w, 1, wants_key("b", UNIQUE_REPLACE));
            assert_string_equal(w->error.detail, cases[i].keep);
            expect_events(w, "");
            assert_true(holds(w, "a"));
            assert_string_equal(state_of(w, "b"), "none");
        }
        reload(w);
        world_free(w);
    }
}

static void test_unique__a_holder_that_others_depend_on_is_not_replaced(void **state)
{
    struct world *w = *state;
    put_with(w, 0, unique_job("a", by_key("key")));
    put_depending(w, 0, "q", "child", "a");
    forget_events(w);
    refused(w, STATUS_STATE, "job a holds the lock, and other jobs depend on it");
    put_with(w, 0, wants_key("b", UNIQUE_REPLACE));
    refused(w, STATUS_STATE, "job a holds the lock, and other jobs depend on it");
    put_with(w, 0, wants_key("child", UNIQUE_REPLACE));
    cancel(w, 0, "child");
    // Nor one that the new job itself is to depend on.
    struct put_request request = wants_key("b", UNIQUE_REPLACE);
    request.depends = slices_of(w, "x,a");
    refused(w, STATUS_STATE, "job a holds the lock, and other jobs depend on it");
    put_with(w, 0, request);
    put_with(w, 0, wants_key("b", UNIQUE_REPLACE));
    assert_string_equal(state_of(w, "a"), "none");
}

static void test_unique__a_replaced_job_leaves_nothing_behind(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "parent");
    struct put_request request = unique_job("a", by_key("key"));
    request.has_tags = true;
    request.tags = slices_of(w, "red,blue");
    request.has_domain = true;
    request.domain = SLICE("lane");
    request.depends = slices_of(w, "parent");
    request.has_deadline = true;
    request.deadline_us = us(100);
    put_with(w, 0, request);
    track(w, 0, "a");
    assert_false(wait_for(w, 0, "a", 7));
    forget_events(w);
    put_with(w, 1, wants_key("b", UNIQUE_REPLACE));
    expect_events(w, "log+tracker: canceled a in q; waiter 7: finished a state canceled; "
                     "log: put b in q");
    assert_string_equal(tagged(w, "red", 0, 9), "0: ");
    assert_string_equal(dependents_of(w, "parent"), "");
    assert_int_equal(lane_count(w), 0);
    assert_string_equal(queue_of(w, 2, "q"), "waiting 2");
}

static void test_unique__replacing_the_only_job_of_a_forgotten_queue(void **state)
{
    struct world *w = *state;
    put_with(w, 0, unique_job("a", by_key("key")));
    said(w, engine_forget(w->engine, at(w, 0), slices_of(w, "q"), &w->error));
    put_with(w, 0, wants_key("b", UNIQUE_REPLACE));
    assert_string_equal(queues(w), "q");
    assert_string_equal(pop(w, 1, "q", "w1", 9), "b");
}

static void test_unique__replacing_the_only_job_of_a_lane(void **state)
{
    struct world *w = *state;
    struct put_request request = wants_key("a", UNIQUE_REPLACE);
    request.has_domain = true;
    request.domain = SLICE("lane");
    put_with(w, 0, request);
    said(w, engine_forget(w->engine, at(w, 0), slices_of(w, "q"), &w->error));
    request.jid = SLICE("b");
    put_with(w, 0, request);
    request.jid = SLICE("c");
    request.domain = SLICE("other");
    put_with(w, 0, request);
    assert_int_equal(lane_count(w), 1);
    assert_string_equal(pop(w, 1, "q", "w1", 9), "c");
}

static void test_unique__replacing_by_a_job_that_exists(void **state)
{
    struct world *w = *state;
    put_with(w, 0, unique_job("a", by_key("key")));
    put_with(w, 0, unique_job("b", by_key("other")));
    pop(w, 0, "q", "w1", 2);
    retry(w, 0, "w1", "a");
    forget_events(w);
    // It moves, loses its lease, and has another lock than before.
    put_with(w, 1, wants_key("b", UNIQUE_REPLACE));
    expect_events(w, "log: canceled a in q; log: put b in q; worker+log: lock_lost b by w1");
    assert_slice_equal(view_of(w, "b").unique_key, "key");
    put_with(w, 1, unique_job("c", by_key("other")));
    assert_true(holds(w, "c"));
}

static void test_unique__a_refused_put_of_a_job_that_exists_leaves_it_where_it_is(void **state)
{
    struct world *w = *state;
    put_with(w, 0, unique_job("a", by_key("key")));
    put_with(w, 0, unique_job("b", by_key("other")));
    pop(w, 0, "q", "w1", 2);
    forget_events(w);
    refused(w, STATUS_EXISTS, "job a holds the lock and is running");
    put_with(w, 0, wants_key("b", UNIQUE_REFUSE));
    refused(w, STATUS_STATE, "job a holds the lock and is running; it cannot be replaced");
    put_with(w, 0, wants_key("b", UNIQUE_REPLACE));
    assert_string_equal(put_gives(w, 0, wants_key("b", UNIQUE_EXISTING)), "a");
    assert_string_equal(state_of(w, "b"), "running");
    assert_slice_equal(view_of(w, "b").unique_key, "other");
    expect_events(w, "");
}

// ---------------------------------------------------------------------------------------------
// How long

static void test_unique__until_finished_the_lock_ends_with_the_job(void **state)
{
    struct world *w = *state;
    put_with(w, 0, unique_job("a", by_key("key")));
    pop(w, 1, "q", "w1", 1);
    assert_true(holds(w, "a"));
    // Neither retrying nor going on to the next queue is an end.
    retry(w, 2, "w1", "a");
    assert_true(holds(w, "a"));
    pop(w, 3, "q", "w1", 1);
    time_out(w, 3, "a");
    assert_true(holds(w, "a"));
    pop(w, 4, "q", "w1", 1);
    complete_with(w, 5,
                  (struct complete_request){ .holder = { SLICE("a"), SLICE("w1"), .token = 0 },
                                             .next = SLICE("next") });
    assert_true(holds(w, "a"));
    pop(w, 6, "next", "w1", 1);
    complete(w, 7, "w1", "a");
    assert_false(holds(w, "a"));
    assert_slice_equal(view_of(w, "a").unique_key, "key");
    put_with(w, 8, wants_key("b", UNIQUE_REFUSE));
    assert_true(holds(w, "b"));
}

// `a` has failed in the group `bad`, and `b` holds its lock.
static void fail_and_take_over(struct world *w)
{
    put_with(w, 0, unique_job("a", by_key("key")));
    pop(w, 1, "q", "w1", 1);
    fail_job(w, 1, "w1", "a", "bad");
    assert_false(holds(w, "a"));
    put_with(w, 2, wants_key("b", UNIQUE_REFUSE));
}

static void test_unique__a_failure_ends_it_and_unfail_takes_it_again(void **state)
{
    struct world *w = *state;
    fail_and_take_over(w);
    refused(w, STATUS_EXISTS, "job b holds the lock of job a");
    unfail(w, 2, "q", "bad", 1);
    refused(w, STATUS_EXISTS, "job b holds the lock of job a");
    said(w, engine_unfail_job(w->engine, at(w, 2), SLICE("a"), &w->error));
    assert_string_equal(pop(w, 4, "q", "w1", 9), "b");
    complete(w, 5, "w1", "b");
    assert_int_equal(unfail(w, 6, "q", "bad", 1), 1);
    assert_true(holds(w, "a"));
    reload(w);
    refused(w, STATUS_EXISTS, "job a holds the lock and is waiting");
    put_with(w, 6, wants_key("c", UNIQUE_REFUSE));
}

static void test_unique__unfail_passes_over_jobs_whose_lock_is_held(void **state)
{
    struct world *w = *state;
    fail_and_take_over(w);
    put(w, 3, "r", "c");
    put_with(w, 3, (struct put_request){ .jid = SLICE("d"), .queue = SLICE("r") });
    assert_string_equal(pop(w, 3, "r", "w1", 9), "c,d");
    fail_job(w, 4, "w1", "c", "bad");
    fail_job(w, 4, "w1", "d", "bad");
    assert_int_equal(unfail(w, 5, "r", "bad", 1), 1);
    assert_string_equal(state_of(w, "c"), "waiting");
    assert_int_equal(unfail(w, 5, "r", "bad", 9), 1);
    assert_string_equal(state_of(w, "a"), "failed");
    assert_string_equal(state_of(w, "d"), "waiting");
}

static void test_unique__bulk_retry_and_move_leave_a_job_whose_lock_is_held(void **state)
{
    struct world *w = *state;
    fail_and_take_over(w);
    const struct bulk_request retry_all = { .act = BULK_RETRY, .filter.group = SLICE("bad") };
    const struct bulk_request move_all = { .act = BULK_MOVE,
                                           .filter.group = SLICE("bad"),
                                           .to = SLICE("r") };
    struct bulk_request dry = retry_all;
    dry.dry_run = true;
    assert_int_equal(bulk(w, 3, dry).changed, 0);
    assert_int_equal(bulk(w, 3, retry_all).matched, 1);
    assert_int_equal(bulk(w, 3, move_all).changed, 0);
    assert_string_equal(state_of(w, "a"), "failed");
    cancel(w, 4, "b");
    assert_int_equal(bulk(w, 5, retry_all).changed, 1);
    assert_true(holds(w, "a"));
    fail_job(w, 6, "w1", pop(w, 6, "q", "w1", 1), "bad");
    assert_int_equal(bulk(w, 7, move_all).changed, 1);
    assert_true(holds(w, "a"));
}

static void test_unique__the_last_retry_and_the_last_lease_end_it(void **state)
{
    struct world *w = *state;
    set(w, "grace-period", "0");
    struct put_request request = unique_job("a", by_key("key"));
    request.has_retries = true;
    put_with(w, 0, request);
    pop(w, 0, "q", "w1", 1);
    assert_int_equal(retry(w, 1, "w1", "a"), -1);
    assert_false(holds(w, "a"));
    request.jid = SLICE("b");
    put_with(w, 2, request);
    pop(w, 2, "q", "w1", 1);
    (void)pop(w, 62, "q", "w1", 1);
    assert_string_equal(state_of(w, "b"), "failed");
    assert_false(holds(w, "b"));
    // And so does a deadline.
    request.jid = SLICE("c");
    request.has_deadline = true;
    request.deadline_us = us(100);
    put_with(w, 62, request);
    (void)pop(w, 100, "q", "w1", 1);
    assert_string_equal(state_of(w, "c"), "failed");
    assert_false(holds(w, "c"));
}

static void test_unique__cancel_ends_it(void **state)
{
    struct world *w = *state;
    put_with(w, 0, unique_job("a", by_key("key")));
    cancel(w, 0, "a");
    put_with(w, 0, unique_job("b", by_key("key")));
    pop(w, 0, "q", "w1", 1);
    cancel(w, 0, "b");
    put_with(w, 0, unique_job("c", by_key("key")));
}

static void test_unique__until_started_the_first_pop_ends_it(void **state)
{
    struct world *w = *state;
    struct put_request request = unique_job("a", by_key("key"));
    request.unique.until = UNIQUE_UNTIL_STARTED;
    put_with(w, 0, request);
    request.jid = SLICE("b");
    assert_string_equal(put_gives(w, 0, request), "a");
    pop(w, 1, "q", "w1", 1);
    assert_false(holds(w, "a"));
    put_with(w, 2, request);
    // Back in line it does not take it again.
    retry(w, 3, "w1", "a");
    assert_false(holds(w, "a"));
    assert_true(holds(w, "b"));
    cancel(w, 3, "b");
    put_with(w, 4, request);
    assert_true(holds(w, "b"));
}

static void test_unique__until_started_also_ends_without_a_start(void **state)
{
    struct world *w = *state;
    struct put_request request = unique_job("a", by_key("key"));
    request.unique.until = UNIQUE_UNTIL_STARTED;
    request.has_deadline = true;
    request.deadline_us = us(10);
    put_with(w, 0, request);
    (void)pop(w, 10, "q", "w1", 1);
    assert_string_equal(state_of(w, "a"), "failed");
    assert_false(holds(w, "a"));
    request.has_deadline = false;
    request.jid = SLICE("b");
    put_with(w, 11, request);
    cancel(w, 11, "b");
    request.jid = SLICE("c");
    put_with(w, 11, request);
}

static void test_unique__for_a_time_it_outlasts_the_run(void **state)
{
    struct world *w = *state;
    struct put_request request = unique_job("a", by_key("key"));
    request.unique.until = UNIQUE_FOR_TIME;
    request.unique.for_us = us(100);
    put_with(w, 0, request);
    pop(w, 1, "q", "w1", 1);
    complete(w, 2, "w1", "a");
    assert_true(holds(w, "a"));
    request.jid = SLICE("b");
    assert_string_equal(put_gives(w, 99.999999, request), "a");
    // At 100 it is over.
    put_with(w, 100, request);
    assert_true(holds(w, "b"));
    assert_false(holds(w, "a"));
    pop(w, 101, "q", "w1", 1);
    fail_job(w, 102, "w1", "b", "bad");
    assert_true(holds(w, "b"));
    // That it also outlasts the job is tested with promises.
}

static void test_unique__a_time_that_is_over_is_over_for_replacing_too(void **state)
{
    struct world *w = *state;
    struct put_request request = unique_job("a", by_key("key"));
    request.unique.until = UNIQUE_FOR_TIME;
    request.unique.for_us = us(10);
    put_with(w, 0, request);
    forget_events(w);
    put_with(w, 10, wants_key("b", UNIQUE_REPLACE));
    expect_events(w, "log: put b in q");
    assert_string_equal(state_of(w, "a"), "waiting");
    assert_true(holds(w, "b"));
    // What happens to the first is of no concern to the second.
    cancel(w, 11, "a");
    assert_true(holds(w, "b"));
}

static void test_unique__with_the_client_clock_the_time_is_what_the_put_says(void **state)
{
    struct world *w = *state;
    struct put_request request = unique_job("a", by_key("key"));
    request.unique.until = UNIQUE_FOR_TIME;
    request.unique.for_us = us(10);
    put_with(w, 100, request);
    request.jid = SLICE("b");
    assert_string_equal(put_gives(w, 50, request), "a");
    put_with(w, 110, request);
    request.jid = SLICE("c");
    assert_string_equal(put_gives(w, 50, request), "b");
}

// ---------------------------------------------------------------------------------------------
// The same jid

static void test_unique__a_job_does_not_stand_in_its_own_way(void **state)
{
    struct world *w = *state;
    put_with(w, 0, wants_key("a", UNIQUE_REFUSE));
    put_with(w, 1, wants_key("a", UNIQUE_REFUSE));
    put_with(w, 1, wants_key("a", UNIQUE_REPLACE));
    put_with(w, 1, wants_key("a", UNIQUE_EXISTING));
    assert_string_equal(history_of(w, "a"), "0 put in q; 1 put in q; 1 put in q; 1 put in q");
    assert_true(holds(w, "a"));
    pop(w, 2, "q", "w1", 1);
    put_with(w, 3, wants_key("a", UNIQUE_REPLACE));
    assert_string_equal(state_of(w, "a"), "waiting");
}

static void test_unique__once_it_does_and_stays_as_it_is(void **state)
{
    struct world *w = *state;
    struct put_request request = wants_key("a", UNIQUE_ONCE);
    request.unique.until = UNIQUE_FOR_TIME;
    request.unique.for_us = us(100);
    put_with(w, 0, request);
    pop(w, 1, "q", "w1", 1);
    assert_string_equal(put_gives(w, 2, request), "a");
    assert_string_equal(state_of(w, "a"), "running");
    complete(w, 3, "w1", "a");
    assert_string_equal(put_gives(w, 4, request), "a");
    assert_string_equal(state_of(w, "a"), "complete");
    assert_string_equal(put_gives(w, 4, wants_key("b", UNIQUE_ONCE)), "a");
    put_with(w, 100, request); // the time is over
    assert_string_equal(state_of(w, "a"), "waiting");
}

static void test_unique__a_put_that_asks_for_none_keeps_the_lock_or_takes_it_again(void **state)
{
    struct world *w = *state;
    put_with(w, 0, wants_key("a", UNIQUE_REFUSE));
    put(w, 1, "r", "a");
    assert_true(holds(w, "a"));
    assert_string_equal(put_gives(w, 1, wants_key("b", UNIQUE_EXISTING)), "a");
    pop(w, 2, "r", "w1", 1);
    complete(w, 3, "w1", "a");
    assert_false(holds(w, "a"));
    put_with(w, 4, wants_key("b", UNIQUE_REFUSE));
    refused(w, STATUS_EXISTS, "job b holds the lock of job a");
    put(w, 4, "r", "a");
    cancel(w, 5, "b");
    put(w, 5, "r", "a");
    assert_true(holds(w, "a"));
    assert_slice_equal(view_of(w, "a").unique_key, "key");
}

static void test_unique__a_put_with_another_lock_gives_up_the_one_before(void **state)
{
    struct world *w = *state;
    put_with(w, 0, wants_key("a", UNIQUE_REFUSE));
    put_with(w, 1, unique_job("a", by_key("other")));
    put_with(w, 1, wants_key("b", UNIQUE_REFUSE));
    put_with(w, 1, unique_job("a", by_contents));
    put_with(w, 1, unique_job("c", by_key("other")));
    assert_true(holds(w, "a") && holds(w, "b") && holds(w, "c"));
}

// ---------------------------------------------------------------------------------------------
// Saved

static void test_unique__locks_survive_being_saved(void **state)
{
    struct world *w = *state;
    struct put_request timed = unique_job("timed", by_key("for a time"));
    timed.unique.until = UNIQUE_FOR_TIME;
    timed.unique.for_us = us(100);
    struct put_request started = unique_job("started", by_key("until started"));
    started.unique.until = UNIQUE_UNTIL_STARTED;
    put_with(w, 0, timed);
    put_with(w, 0, started);
    put_with(w, 0, unique_job("finished", by_key("until finished")));
    put_with(w, 0, unique_job("contents", by_contents));
    reload(w);
    assert_string_equal(put_gives(w, 1, unique_job("x", by_key("for a time"))), "timed");
    assert_string_equal(put_gives(w, 1, unique_job("x", by_key("until started"))), "started");
    assert_string_equal(put_gives(w, 1, unique_job("x", by_key("until finished"))), "finished");
    assert_string_equal(put_gives(w, 1, unique_job("x", by_contents)), "contents");
    pop(w, 2, "q", "w1", 9);
    complete(w, 3, "w1", "timed");
    complete(w, 3, "w1", "finished");
    reload(w);
    assert_true(holds(w, "timed"));
    assert_false(holds(w, "started"));
    assert_false(holds(w, "finished"));
    assert_true(holds(w, "contents"));
    put_with(w, 100, unique_job("x", by_key("for a time")));
    assert_false(holds(w, "timed"));
    reload(w);
    assert_true(holds(w, "x"));
}

// ---------------------------------------------------------------------------------------------
// Bad input

static void refuse(struct world *w, struct put_request request, const char *sentence)
{
    refused(w, STATUS_INVALID, sentence);
    put_with(w, 0, request);
    assert_string_equal(w->error.detail, sentence);
}

static void test_unique__what_makes_no_sense_is_refused(void **state)
{
    struct world *w = *state;
    put_with(w, 0, wants_key("a", UNIQUE_REFUSE));
    struct put_request request = wants_key("b", UNIQUE_EXISTING);
    request.unique.by = 3;
    refuse(w, request, "unknown kind of uniqueness");
    request = wants_key("b", UNIQUE_ONCE + 1);
    refuse(w, request, "unknown kind of uniqueness");
    request = wants_key("b", UNIQUE_EXISTING);
    request.unique.until = 3;
    refuse(w, request, "unknown kind of uniqueness");
    request = unique_job("b", by_key(NULL));
    refuse(w, request, "the key of uniqueness must not be empty");
    char long_key[ENGINE_NAME_SIZE_MAX + 1];
    memset(long_key, 'x', sizeof(long_key));
    request.unique.key = slice_make(long_key, sizeof(long_key));
    refuse(w, request, "the key of uniqueness is 256 bytes long, and at most 255 are allowed");
    request = wants_key("b", UNIQUE_EXISTING);
    request.unique.until = UNIQUE_FOR_TIME;
    static const int64_t times[] = { 0, -1, INT64_MIN, ENGINE_TIME_MAX + 1, INT64_MAX };
    for (size_t i = 0; TEST_ROW(i, times); i++) {
        request.unique.for_us = times[i];
        refuse(w, request,
               "the time of uniqueness must be above 0, and not reach beyond the year 9999");
    }
    static const char *const data[] = { "", "{", "nothing", "{} {}", "[1,]", "{\"a\":1" };
    for (size_t i = 1; i < sizeof(data) / sizeof(data[0]); i++) {
        request = unique_job("b", by_contents);
        request.data = name_of(data[i]);
        refuse(w, request, "data must be JSON for uniqueness by contents");
    }
    // Whether the jid exists is looked at before the lock.
    request = wants_key("b", UNIQUE_REFUSE);
    request.must_exist = true;
    refused(w, STATUS_NOT_FOUND, "job b does not exist");
    put_with(w, 0, request);
    // By key it may be anything.
    request = unique_job("b", by_key("k2"));
    request.data = SLICE("{");
    put_with(w, 0, request);
    request = wants_key("c", UNIQUE_REPLACE);
    request.unique.until = UNIQUE_FOR_TIME;
    request.unique.for_us = ENGINE_TIME_MAX;
    put_with(w, 0, request);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SERVER_TEST(test_unique__a_second_put_gives_the_first_job_and_changes_nothing),
        CLIENT_TEST(test_unique__a_second_put_gives_the_first_job_and_changes_nothing),
        SERVER_TEST(test_unique__another_key_is_another_job),
        SERVER_TEST(test_unique__a_key_counts_across_queues_klasses_and_data),
        SERVER_TEST(test_unique__contents_are_klass_and_data),
        SERVER_TEST(test_unique__the_border_between_klass_and_data_counts),
        SERVER_TEST(test_unique__keys_and_contents_never_meet),
        SERVER_TEST(test_unique__new_data_do_not_move_the_lock),
        SERVER_TEST(test_unique__in_each_state_the_holder_is_in_the_way),
        CLIENT_TEST(test_unique__in_each_state_the_holder_is_in_the_way),
        SERVER_TEST(test_unique__a_holder_that_others_depend_on_is_not_replaced),
        SERVER_TEST(test_unique__a_replaced_job_leaves_nothing_behind),
        SERVER_TEST(test_unique__replacing_the_only_job_of_a_forgotten_queue),
        CLIENT_TEST(test_unique__replacing_the_only_job_of_a_forgotten_queue),
        SERVER_TEST(test_unique__replacing_the_only_job_of_a_lane),
        SERVER_TEST(test_unique__replacing_by_a_job_that_exists),
        SERVER_TEST(test_unique__a_refused_put_of_a_job_that_exists_leaves_it_where_it_is),
        SERVER_TEST(test_unique__until_finished_the_lock_ends_with_the_job),
        SERVER_TEST(test_unique__a_failure_ends_it_and_unfail_takes_it_again),
        CLIENT_TEST(test_unique__a_failure_ends_it_and_unfail_takes_it_again),
        SERVER_TEST(test_unique__unfail_passes_over_jobs_whose_lock_is_held),
        SERVER_TEST(test_unique__bulk_retry_and_move_leave_a_job_whose_lock_is_held),
        SERVER_TEST(test_unique__the_last_retry_and_the_last_lease_end_it),
        CLIENT_TEST(test_unique__the_last_retry_and_the_last_lease_end_it),
        SERVER_TEST(test_unique__cancel_ends_it),
        SERVER_TEST(test_unique__until_started_the_first_pop_ends_it),
        SERVER_TEST(test_unique__until_started_also_ends_without_a_start),
        CLIENT_TEST(test_unique__until_started_also_ends_without_a_start),
        SERVER_TEST(test_unique__for_a_time_it_outlasts_the_run),
        CLIENT_TEST(test_unique__for_a_time_it_outlasts_the_run),
        SERVER_TEST(test_unique__a_time_that_is_over_is_over_for_replacing_too),
        CLIENT_TEST(test_unique__with_the_client_clock_the_time_is_what_the_put_says),
        SERVER_TEST(test_unique__a_job_does_not_stand_in_its_own_way),
        SERVER_TEST(test_unique__once_it_does_and_stays_as_it_is),
        SERVER_TEST(test_unique__a_put_that_asks_for_none_keeps_the_lock_or_takes_it_again),
        SERVER_TEST(test_unique__a_put_with_another_lock_gives_up_the_one_before),
        SERVER_TEST(test_unique__locks_survive_being_saved),
        CLIENT_TEST(test_unique__locks_survive_being_saved),
        SERVER_TEST(test_unique__what_makes_no_sense_is_refused),
    };
    return cmocka_run_group_tests_name("unique", tests, NULL, NULL);
}
