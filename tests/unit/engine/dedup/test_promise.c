// SPDX-License-Identifier: MIT
// What is promised for a time is kept for that time, whatever becomes of the job.
#include "engine/records/changes.h"
#include "engine/records/salvage.h"
#include "engine_test_more.h"

#include <stdio.h>
#include <string.h>

// A put that asks for the key "key" for 100 seconds.
static struct put_request for_time(const char *jid, enum unique_conflict conflict)
{
    return (struct put_request){ .jid = name_of(jid),
                                 .unique = { .by = UNIQUE_BY_KEY,
                                             .key = SLICE("key"),
                                             .until = UNIQUE_FOR_TIME,
                                             .for_us = us(100),
                                             .conflict = conflict } };
}

static void complete_first(struct world *w, double now, const char *result)
{
    char text[16];
    (void)snprintf(text, sizeof(text), "%s", pop(w, now, "q", "w1", 1));
    complete_with(w, now,
                  (struct complete_request){ .holder = { name_of(text), SLICE("w1"), .token = 0 },
                                             .result = name_of(result) });
}

// `a` held the key from 0 on, and has been completed and deleted by retention at 2.
static void complete_and_retire(struct world *w)
{
    set(w, "jobs-history-count", "0");
    put_with(w, 0, for_time("a", UNIQUE_EXISTING));
    complete_first(w, 2, NULL);
    assert_string_equal(state_of(w, "a"), "none");
}

static void put_with_result(struct world *w, double now, const char *jid)
{
    const struct job_options options = { .result_ttl_us = us(100) };
    put_with(w, now, (struct put_request){ .jid = name_of(jid), .options = &options });
}

static const char *result_kept(struct world *w, double now, const char *jid)
{
    struct slice result;
    bool kept = engine_result_kept(w->engine, at(w, now), name_of(jid), &result);
    buffer_clear(&w->text);
    buffer_append(&w->text, kept ? result : SLICE("none"));
    buffer_append_char(&w->text, '\0');
    return w->text.data;
}

// ---------------------------------------------------------------------------------------------
// Locks

static void test_promise__a_lock_for_a_time_outlives_retention(void **state)
{
    struct world *w = *state;
    complete_and_retire(w);
    assert_string_equal(put_gives(w, 3, for_time("b", UNIQUE_EXISTING)), "a");
    assert_string_equal(put_gives(w, 3, for_time("b", UNIQUE_ONCE)), "a");
    assert_string_equal(put_gives(w, 3, for_time("a", UNIQUE_ONCE)), "a");
    refused(w, STATUS_EXISTS, "job a holds the lock and is complete");
    put_with(w, 3, for_time("b", UNIQUE_REFUSE));
    refused(w, STATUS_STATE, "job a holds the lock and is complete; it cannot be replaced");
    put_with(w, 3, for_time("b", UNIQUE_REPLACE));
    reload(w);
    assert_string_equal(put_gives(w, 99.999999, for_time("b", UNIQUE_EXISTING)), "a");
    assert_string_equal(state_of(w, "b"), "none");
    put_with(w, 100, for_time("b", UNIQUE_REFUSE));
    assert_string_equal(state_of(w, "b"), "waiting");
}

static void test_promise__a_lock_until_the_end_of_the_job_meets_it(void **state)
{
    struct world *w = *state;
    struct put_request request = for_time("b", UNIQUE_EXISTING);
    request.unique.until = UNIQUE_UNTIL_FINISHED;
    put_with(w, 0, request);
    pop(w, 0, "q", "w1", 1);
    fail_job(w, 0, "w1", "b", "bad");
    complete_and_retire(w);
    assert_string_equal(put_gives(w, 3, request), "a");
    refused(w, STATUS_EXISTS, "job a holds the lock of job b");
    unfail(w, 3, "q", "bad", 1);
    assert_int_equal(unfail(w, 100, "q", "bad", 1), 1);
    assert_true(view_of(w, "b").unique_held);
}

static void test_promise__cancel_and_delete_keep_the_lock(void **state)
{
    struct world *w = *state;
    put_with(w, 0, for_time("a", UNIQUE_EXISTING));
    cancel(w, 1, "a");
    assert_string_equal(put_gives(w, 2, for_time("b", UNIQUE_EXISTING)), "a");
    refused(w, STATUS_EXISTS, "job a holds the lock and is canceled");
    put_with(w, 2, for_time("b", UNIQUE_REFUSE));
    // What was canceled can be replaced, and only on purpose.
    put_with(w, 2, for_time("b", UNIQUE_REPLACE));
    pop(w, 3, "q", "w1", 1);
    fail_job(w, 3, "w1", "b", "bad");
    delete_job(w, 4, "b");
    assert_string_equal(put_gives(w, 5, for_time("c", UNIQUE_EXISTING)), "b");
    put_with(w, 5, for_time("c", UNIQUE_REPLACE));
    complete_first(w, 6, NULL);
    delete_job(w, 7, "c");
    refused(w, STATUS_STATE, "job c holds the lock and is complete; it cannot be replaced");
    put_with(w, 7, for_time("d", UNIQUE_REPLACE));
}

static void test_promise__a_job_that_is_put_anew_is_not_in_its_own_way(void **state)
{
    struct world *w = *state;
    complete_and_retire(w);
    put_with(w, 50, for_time("a", UNIQUE_REFUSE));
    assert_true(view_of(w, "a").unique_held);
    assert_string_equal(put_gives(w, 149, for_time("b", UNIQUE_EXISTING)), "a");
    cancel(w, 149, "a");
    put_with(w, 150, for_time("b", UNIQUE_REFUSE));
}

static void test_promise__a_lock_that_is_given_up_is_not_kept(void **state)
{
    struct world *w = *state;
    put_with(w, 0, for_time("a", UNIQUE_EXISTING));
    struct put_request other = for_time("a", UNIQUE_EXISTING);
    other.unique.key = SLICE("other");
    put_with(w, 1, other);
    cancel(w, 2, "a");
    put_with(w, 3, for_time("b", UNIQUE_REFUSE));
    // A job that is replaced leaves none either.
    put_with(w, 4, for_time("c", UNIQUE_REPLACE));
    assert_string_equal(put_gives(w, 5, for_time("d", UNIQUE_EXISTING)), "c");
}

static void test_promise__a_tick_ends_it(void **state)
{
    struct world *w = *state;
    complete_and_retire(w);
    assert_int_equal(tick(w, 3), 100);
    assert_true(tick(w, 100) < 0);
    // A job that is there releases it then.
    put_with(w, 200, for_time("b", UNIQUE_REFUSE));
    assert_int_equal(tick(w, 299), 300);
    assert_true(view_of(w, "b").unique_held);
    (void)tick(w, 300);
    assert_false(view_of(w, "b").unique_held);
}

// ---------------------------------------------------------------------------------------------
// Results

static void test_promise__a_result_outlives_retention(void **state)
{
    struct world *w = *state;
    set(w, "jobs-history-count", "1");
    put_with_result(w, 0, "a");
    complete_first(w, 1, "[1]");
    assert_string_equal(result_kept(w, 1, "a"), "none"); // it is with the job
    put(w, 2, "q", "b");
    complete_first(w, 2, NULL);
    assert_string_equal(state_of(w, "a"), "none");
    reload(w);
    assert_string_equal(result_kept(w, 100.999999, "a"), "[1]");
    assert_string_equal(result_kept(w, 101, "a"), "none");
    assert_string_equal(result_kept(w, 3, "b"), "none");
    assert_string_equal(result_kept(w, 3, ""), "none");
    (void)tick(w, 101);
    assert_string_equal(result_kept(w, 5, "a"), "none");
}

static void test_promise__delete_drops_the_result_and_so_does_a_new_job(void **state)
{
    struct world *w = *state;
    put_with_result(w, 0, "a");
    complete_first(w, 1, "[1]");
    delete_job(w, 2, "a");
    assert_string_equal(result_kept(w, 2, "a"), "none");
    set(w, "jobs-history-count", "0");
    put_with_result(w, 3, "a");
    complete_first(w, 4, "[2]");
    assert_string_equal(result_kept(w, 5, "a"), "[2]");
    put_with_result(w, 6, "a");
    assert_string_equal(result_kept(w, 6, "a"), "none");
    complete_first(w, 7, "[3]");
    assert_string_equal(result_kept(w, 8, "a"), "[3]");
}

// ---------------------------------------------------------------------------------------------
// Bounds

static void test_promise__nothing_else_of_the_job_is_kept(void **state)
{
    struct world *w = *state;
    static char data[100000];
    memset(data, '1', sizeof(data));
    set(w, "jobs-history-count", "0");
    struct put_request request = for_time("a", UNIQUE_EXISTING);
    request.data = slice_make(data, sizeof(data));
    request.has_tags = true;
    request.tags = slices_of(w, "red");
    put_with(w, 0, request);
    complete_first(w, 1, NULL);
    struct buffer saved;
    buffer_init(&saved, &allocator_system, SIZE_MAX - 1);
    save(w, &saved);
    assert_true(saved.size < 1000);
    buffer_release(&saved);
}

static void test_promise__too_many_bytes_refuse_puts_that_promise_more(void **state)
{
    struct world *w = *state;
    set(w, "jobs-history-count", "0");
    put_with(w, 0, for_time("a", UNIQUE_EXISTING));
    put_with_result(w, 0, "r");
    set(w, "max-promise-bytes", "1");
    struct put_request other = for_time("b", UNIQUE_EXISTING);
    other.unique.key = SLICE("other");
    refused(w, STATUS_TOO_LARGE, "raise its option max-promise-bytes");
    put_with(w, 0, other);
    const struct job_options options = { .result_ttl_us = us(100) };
    const struct put_request with_result = { .jid = SLICE("b"), .options = &options };
    refused(w, STATUS_TOO_LARGE, "bytes of locks and results that are kept for a time");
    put_with(w, 0, with_result);
    said(w, engine_policy_set(w->engine, at(w, 0), POLICY_QUEUE, SLICE("p"), &options, &w->error));
    refused(w, STATUS_TOO_LARGE, "max-promise-bytes");
    put(w, 0, "p", "b");
    put(w, 0, "q", "b"); // promises nothing
    // What meets a lock that is held adds none, and a completion is never refused.
    assert_string_equal(put_gives(w, 0, for_time("c", UNIQUE_EXISTING)), "a");
    complete_first(w, 1, NULL);
    complete_first(w, 1, "[1]");
    assert_string_equal(result_kept(w, 2, "r"), "[1]");
    (void)tick(w, 101);
    put_with(w, 101, other);
}

// ---------------------------------------------------------------------------------------------
// Records

struct records {
    struct salvage_record items[32];
    char bytes[32][256];
    size_t count;
};

static enum status note(void *context, struct record_key key, struct slice bytes)
{
    struct records *list = context;
    assert_true(list->count < 32 && bytes.size <= sizeof(list->bytes[0]));
    char *copy = list->bytes[list->count];
    memcpy(copy, bytes.data, bytes.size);
    list->items[list->count++] =
        (struct salvage_record){ key, slice_make(copy, bytes.size), false };
    return STATUS_OK;
}

// Loads the records, of which one may be damaged, and says what a put meets.
static const char *salvaged(struct world *w, struct records *list, bool *as_it_was)
{
    const struct engine_options options = { .allocator = &w->fault.allocator };
    const struct salvage salvage = {
        .options = &options, .records = list->items, .count = list->count, .now_us = us(10)
    };
    struct engine *engine;
    assert_int_equal(engine_salvage(&salvage, &engine, as_it_was, &w->error), STATUS_OK);
    engine_free(w->engine);
    w->engine = engine;
    return put_gives(w, 10, for_time("b", UNIQUE_EXISTING));
}

static void test_promise__a_repair_keeps_it_and_drops_one_that_is_damaged(void **state)
{
    struct world *w = *state;
    set(w, "jobs-history-jids", "0"); // so that its record is the last one
    complete_and_retire(w);
    struct records list = { .count = 0 };
    assert_int_equal(engine_records(w->engine, &(struct changes_sink){ note, &list }), STATUS_OK);
    struct salvage_record *last = &list.items[list.count - 1];
    assert_int_equal(last->key.kind, RECORD_PROMISE);
    bool as_it_was;
    assert_string_equal(salvaged(w, &list, &as_it_was), "a");
    assert_true(as_it_was);
    // Its state, then its key, are wrong.
    ((char *)last->bytes.data)[8] = JOB_STATE_COUNT;
    assert_string_equal(salvaged(w, &list, &as_it_was), "b");
    assert_false(as_it_was);
    ((char *)last->bytes.data)[8] = JOB_COMPLETE;
    ((char *)last->bytes.data)[13] = 9;
    last->left_out = false;
    assert_string_equal(salvaged(w, &list, &as_it_was), "b");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SERVER_TEST(test_promise__a_lock_for_a_time_outlives_retention),
        CLIENT_TEST(test_promise__a_lock_for_a_time_outlives_retention),
        SERVER_TEST(test_promise__a_lock_until_the_end_of_the_job_meets_it),
        SERVER_TEST(test_promise__cancel_and_delete_keep_the_lock),
        CLIENT_TEST(test_promise__cancel_and_delete_keep_the_lock),
        SERVER_TEST(test_promise__a_job_that_is_put_anew_is_not_in_its_own_way),
        SERVER_TEST(test_promise__a_lock_that_is_given_up_is_not_kept),
        SERVER_TEST(test_promise__a_tick_ends_it),
        SERVER_TEST(test_promise__a_result_outlives_retention),
        SERVER_TEST(test_promise__delete_drops_the_result_and_so_does_a_new_job),
        CLIENT_TEST(test_promise__delete_drops_the_result_and_so_does_a_new_job),
        SERVER_TEST(test_promise__nothing_else_of_the_job_is_kept),
        SERVER_TEST(test_promise__too_many_bytes_refuse_puts_that_promise_more),
        SERVER_TEST(test_promise__a_repair_keeps_it_and_drops_one_that_is_damaged),
    };
    return cmocka_run_group_tests_name("promise", tests, NULL, NULL);
}
