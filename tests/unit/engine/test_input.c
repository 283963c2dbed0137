// SPDX-License-Identifier: MIT
// Bad input: each call says which argument is wrong, and changes nothing.
#include "name_calls.h"

// The calls that take a jid, for those that have no other name to get wrong.
static void each_jid_call(struct world *w, int64_t now_us, struct slice jid, enum status status,
                          const char *words)
{
    const struct slice tag = SLICE("t");
    const struct slices tags = { &tag, 1 }, jids = { &jid, 1 };
    const struct holder holder = { .jid = jid, .worker = SLICE("w1") };
    const struct log_request note = { .jid = jid, .message = SLICE("m") };
    const struct job *job;
    const struct heartbeat_request beat = { .holder = holder };
    int64_t expires_us;
    bool changed, finished;
    refused(w, status, words);
    said(w, engine_progress(w->engine, now_us, &holder, 5, SLICE("m"), &w->error));
    refused(w, status, words);
    said(w, engine_checkpoint(w->engine, now_us, &holder, SLICE("1"), &w->error));
    refused(w, status, words);
    said(w, engine_log_line(w->engine, now_us, &holder, SLICE("line"), &w->error));
    refused(w, status, words);
    said(w, engine_wait(w->engine, now_us, jid, 1, &finished, &w->error));
    refused(w, status, words);
    said(w, engine_delete(w->engine, now_us, jid, &w->error));
    refused(w, status, words);
    said(w, engine_priority(w->engine, now_us, jid, 1, &w->error));
    refused(w, status, words);
    said(w, engine_update_data(w->engine, now_us, jid, SLICE("1"), &w->error));
    refused(w, status, words);
    said(w, engine_log(w->engine, now_us, &note, &w->error));
    refused(w, status, words);
    said(w, engine_timeout(w->engine, now_us, jids, &w->error));
    refused(w, status, words);
    said(w, engine_depends_on(w->engine, now_us, jid, tags, MISSING_COMPLETE, &w->error));
    refused(w, status, words);
    said(w, engine_depends_off(w->engine, now_us, jid, tags, &w->error));
    refused(w, status, words);
    said(w, engine_depends_off_all(w->engine, now_us, jid, &w->error));
    refused(w, status, words);
    said(w, engine_heartbeat(w->engine, now_us, &beat, &expires_us, &w->error));
    refused(w, status, words);
    said(w, engine_start(w->engine, now_us, &holder, 1, &w->error));
    refused(w, status, words);
    said(w, engine_held(w->engine, now_us, &holder, &job, &w->error));
    refused(w, status, words);
    said(w, engine_return(w->engine, now_us, &holder, &w->error));
    refused(w, status, words);
    said(w, engine_tag_add(w->engine, now_us, jid, tags, &job, &w->error));
    refused(w, status, words);
    said(w, engine_tag_remove(w->engine, now_us, jid, tags, &job, &w->error));
    refused(w, status, words);
    said(w, engine_track(w->engine, now_us, jid, &changed, &w->error));
    refused(w, status, words);
    said(w, engine_recur_untag(w->engine, now_us, jid, tags, &w->error));
}

// Bytes that are not there: only their number is looked at.
static void test_input__data_of_more_than_a_gibibyte_are_refused(void **state)
{
    struct world *w = *state;
    name_calls_prepare(w);
    const struct slice large = slice_make("x", ((size_t)1 << 30) + 1);
    const struct holder holder = { .jid = SLICE("a"), .worker = SLICE("w1") };
    const struct heartbeat_request beat = { .holder = holder, .data = large };
    int64_t expires_us;
    refused(w, STATUS_TOO_LARGE, "data is 1073741825 bytes long");
    put_with(w, 100, (struct put_request){ .jid = SLICE("n"), .data = large });
    refused(w, STATUS_TOO_LARGE, "1073741825 bytes long");
    said(w, engine_progress(w->engine, us(100), &holder, 5, large, &w->error));
    refused(w, STATUS_TOO_LARGE, "1073741825 bytes long");
    said(w, engine_checkpoint(w->engine, us(100), &holder, large, &w->error));
    refused(w, STATUS_TOO_LARGE, "1073741825 bytes long");
    said(w, engine_heartbeat(w->engine, us(100), &beat, &expires_us, &w->error));
    refused(w, STATUS_TOO_LARGE, "1073741825 bytes long");
    complete_with(w, 100, (struct complete_request){ .holder = holder, .result = large });
    // A line is cut, so that it may be as long as it likes.
}

static void test_input__jobs_that_do_not_exist_are_named(void **state)
{
    struct world *w = *state;
    name_calls_prepare(w);
    each_jid_call(w, us(100), SLICE("who"), STATUS_NOT_FOUND, "who");
    expect_events(w, "");
}

static void test_input__times_before_the_epoch_and_after_the_year_9999_are_refused(void **state)
{
    struct world *w = *state;
    name_calls_prepare(w);
    static const int64_t times[] = { -1, INT64_MIN, ENGINE_TIME_MAX + 1, INT64_MAX };
    for (size_t t = 0; TEST_ROW(t, times); t++) {
        for (size_t i = 0; i < name_calls_count; i++) {
            if (!name_calls[i].timeless) {
                refused(w, STATUS_INVALID, "now");
                said(w, name_calls[i].call(w, times[t], SLICE("name")));
            }
        }
        each_jid_call(w, times[t], SLICE("a"), STATUS_INVALID, "now");
        const struct slice jid = SLICE("a");
        size_t canceled;
        bool changed;
        refused(w, STATUS_INVALID, "now");
        said(w, engine_cancel(w->engine, times[t], (struct slices){ &jid, 1 }, &canceled, NULL,
                              &w->error));
        refused(w, STATUS_INVALID, "now");
        said(w, engine_untrack(w->engine, times[t], jid, &changed, &w->error));
        refused(w, STATUS_INVALID, "now");
        said(w, engine_unrecur(w->engine, times[t], jid, &w->error));
        refused(w, STATUS_INVALID, "now");
        said(w, engine_workers_prune(w->engine, times[t], &w->error));
        refused(w, STATUS_INVALID, "now");
        said(w, engine_worker_offline(w->engine, times[t], SLICE("w1"), &w->error));
        (void)engine_tick(w->engine, times[t]);
    }
    expect_events(w, "");
    assert_string_equal(state_of(w, "a"), "running");
}

static void test_input__the_end_of_the_year_9999_is_a_time(void **state)
{
    struct world *w = *state;
    const struct put_request request = { .queue = SLICE("q"),
                                         .jid = SLICE("a"),
                                         .klass = SLICE("k") };
    const struct job *job;
    said(w, engine_put(w->engine, ENGINE_TIME_MAX, &request, &job, &w->error));
    const struct slice queue = SLICE("q");
    const struct pop_request pop_one = { .worker = SLICE("w1"),
                                         .queues = { &queue, 1 },
                                         .count = 1 };
    size_t popped;
    said(w, engine_pop(w->engine, ENGINE_TIME_MAX, &pop_one, &job, &popped, &w->error));
    assert_int_equal(popped, 1);
    (void)engine_tick(w->engine, ENGINE_TIME_MAX);
    const struct complete_request done = { .holder = { SLICE("a"), SLICE("w1"), .token = 0 } };
    enum job_state ended;
    said(w, engine_complete(w->engine, ENGINE_TIME_MAX, &done, &ended, &w->error));
}

static void test_input__a_delay_beyond_the_year_9999_is_refused(void **state)
{
    struct world *w = *state;
    name_calls_prepare(w);
    static const int64_t delays[] = { ENGINE_TIME_MAX, INT64_MAX };
    const struct holder holder = { .jid = SLICE("a"), .worker = SLICE("w1") };
    for (size_t i = 0; i < 2; i++) {
        refused(w, STATUS_INVALID, "delay");
        put_with(w, 100, (struct put_request){ .jid = SLICE("n"), .delay_us = delays[i] });
        refused(w, STATUS_INVALID, "delay");
        retry_with(
            w, 100,
            (struct retry_request){ .holder = holder, .has_delay = true, .delay_us = delays[i] });
        refused(w, STATUS_INVALID, "delay");
        complete_with(
            w, 100,
            (struct complete_request){
                .holder = holder, .next = SLICE("r"), .has_delay = true, .delay_us = delays[i] });
        struct recur_request request = name_calls_recur();
        request.offset_us = delays[i];
        refused(w, STATUS_INVALID, "offset");
        recur_with(w, 100, request);
    }
}

static void test_input__numbers_out_of_range_are_refused(void **state)
{
    struct world *w = *state;
    name_calls_prepare(w);
    refused(w, STATUS_INVALID, "retries");
    put_with(w, 100, (struct put_request){ .jid = SLICE("n"), .has_retries = true, .retries = -1 });
    struct recur_request request = name_calls_recur();
    request.retries = -1;
    refused(w, STATUS_INVALID, "retries");
    recur_with(w, 100, request);
    request = name_calls_recur();
    request.interval_us = 0;
    refused(w, STATUS_INVALID, "interval");
    recur_with(w, 100, request);
    request.interval_us = -5;
    refused(w, STATUS_INVALID, "interval");
    recur_with(w, 100, request);
    request = name_calls_recur();
    request.backlog = -1;
    refused(w, STATUS_INVALID, "backlog");
    recur_with(w, 100, request);
    const struct recur_update updates[] = {
        { .jid = SLICE("r"), .has_retries = true, .retries = -1 },
        { .jid = SLICE("r"), .has_interval = true, .interval_us = 0 },
        { .jid = SLICE("r"), .has_backlog = true, .backlog = -1 },
    };
    static const char *const words[] = { "retries", "interval", "backlog" };
    for (size_t i = 0; i < 3; i++) {
        refused(w, STATUS_INVALID, words[i]);
        said(w, engine_recur_update(w->engine, us(100), &updates[i], &w->error));
    }
}

static void test_input__too_many_tags_or_dependencies_are_refused(void **state)
{
    struct world *w = *state;
    name_calls_prepare(w);
    enum {
        MANY = 10001,
    };
    static struct slice names[MANY];
    static char bytes[MANY][8];
    for (size_t i = 0; i < MANY; i++) {
        (void)snprintf(bytes[i], sizeof(bytes[i]), "%zu", i);
        names[i] = slice_from_cstr(bytes[i]);
    }
    refused(w, STATUS_TOO_LARGE, "tags");
    put_with(w, 100,
             (struct put_request){ .jid = SLICE("n"), .has_tags = true, .tags = { names, 101 } });
    const struct job *job;
    refused(w, STATUS_TOO_LARGE, "tags");
    said(w, engine_tag_add(w->engine, us(100), SLICE("a"), (struct slices){ names, 101 }, &job,
                           &w->error));
    refused(w, STATUS_TOO_LARGE, "tags");
    said(w, engine_recur_tag(w->engine, us(100), SLICE("r"), (struct slices){ names, 101 },
                             &w->error));
    refused(w, STATUS_TOO_LARGE, "dependencies");
    put_with(w, 100, (struct put_request){ .jid = SLICE("n"), .depends = { names, MANY } });
    refused(w, STATUS_TOO_LARGE, "dependencies");
    said(w, engine_depends_on(w->engine, us(100), SLICE("b"), (struct slices){ names, MANY },
                              MISSING_COMPLETE, &w->error));
    put_with(w, 100,
             (struct put_request){ .jid = SLICE("n"), .has_tags = true, .tags = { names, 100 } });
    assert_int_equal(view_of(w, "n").tag_count, 100);
}

static void test_input__an_error_need_not_be_asked_for(void **state)
{
    struct world *w = *state;
    assert_int_equal(engine_delete(w->engine, 0, SLICE("a"), NULL), STATUS_NOT_FOUND);
    assert_int_equal(engine_delete(w->engine, -1, SLICE("a"), NULL), STATUS_INVALID);
    const struct put_request request = { .queue = SLICE("q"), .jid = SLICE("a") };
    const struct job *job;
    assert_int_equal(engine_put(w->engine, 0, &request, &job, NULL), STATUS_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SERVER_TEST(test_input__data_of_more_than_a_gibibyte_are_refused),
        SERVER_TEST(test_input__jobs_that_do_not_exist_are_named),
        SERVER_TEST(test_input__times_before_the_epoch_and_after_the_year_9999_are_refused),
        CLIENT_TEST(test_input__times_before_the_epoch_and_after_the_year_9999_are_refused),
        SERVER_TEST(test_input__the_end_of_the_year_9999_is_a_time),
        CLIENT_TEST(test_input__the_end_of_the_year_9999_is_a_time),
        SERVER_TEST(test_input__a_delay_beyond_the_year_9999_is_refused),
        SERVER_TEST(test_input__numbers_out_of_range_are_refused),
        SERVER_TEST(test_input__too_many_tags_or_dependencies_are_refused),
        SERVER_TEST(test_input__an_error_need_not_be_asked_for),
    };
    return cmocka_run_group_tests_name("input", tests, NULL, NULL);
}
