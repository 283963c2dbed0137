// SPDX-License-Identifier: MIT
// Take: one job out of its turn. And what comes next.
#include "engine_test_more.h"

// The jid that came out, or "".
static const char *take(struct world *w, double now, const char *jid)
{
    const struct take_request request = { .worker = name_of("w1"), .jid = name_of(jid) };
    const struct job *job;
    said(w, engine_take(w->engine, at(w, now), &request, &job, &w->error));
    buffer_clear(&w->text);
    if (job) {
        buffer_append(&w->text, job_jid(job));
    }
    buffer_append_char(&w->text, '\0');
    return w->text.data;
}

static const char *next(struct world *w, const char *queue)
{
    const struct job *job = engine_next(w->engine, name_of(queue));
    buffer_clear(&w->text);
    if (job) {
        buffer_append(&w->text, job_jid(job));
    }
    buffer_append_char(&w->text, '\0');
    return w->text.data;
}

static void test_take__hands_out_a_job_from_the_middle_of_its_line(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "a");
    put(w, 0, "q", "b");
    put(w, 0, "q", "c");
    assert_string_equal(take(w, 1, "b"), "b");
    assert_string_equal(history_of(w, "b"), "0 put in q; 1 popped by w1");
    assert_int_equal(view_of(w, "b").expires_us, us(61));
    assert_int_equal(view_of(w, "b").attempts, 1);
    assert_string_equal(queue_of(w, 1, "q"), "waiting 2, running 1, listeners 1");
    assert_string_equal(pop(w, 1, "q", "w2", 5), "a,c");
    complete(w, 2, "w1", "b");
    reload(w);
}

static void test_take__only_what_is_in_line(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "running");
    pop(w, 0, "q", "w2", 1);
    put_later(w, 0, "q", "later", 10);
    put_depending(w, 0, "q", "depends", "later");
    assert_string_equal(take(w, 0, "running"), "");
    assert_string_equal(take(w, 0, "later"), "");
    assert_string_equal(take(w, 0, "depends"), "");
    assert_string_equal(take(w, 0, "nobody"), "");
    assert_string_equal(take(w, 10, "later"), "later");
    assert_string_equal(held(w, 10, "w1", false), "1: later");
}

static void test_take__a_job_whose_lease_was_lost_too(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "a");
    pop(w, 0, "q", "w2", 1);
    assert_string_equal(take(w, 75, "a"), "a");
    assert_int_equal(view_of(w, "a").remaining, 4);
}

static void test_take__limits_and_pauses_hold(void **state)
{
    struct world *w = *state;
    limit_set(w, 0, NULL, "one", concurrency(1));
    limit_set(w, 0, NULL, "slow", rate(1, 10, 1));
    for (int i = 0; i < 2; i++) {
        put_in(w, 0, "one", numbered("one", (size_t)i));
        put_in(w, 0, "slow", numbered("slow", (size_t)i));
    }
    put(w, 0, "q", "free");
    assert_string_equal(take(w, 0, "one1"), "one1");
    assert_string_equal(take(w, 0, "one0"), "");
    assert_string_equal(take(w, 0, "slow1"), "slow1");
    assert_string_equal(take(w, 0, "slow0"), "");
    complete(w, 1, "w1", "one1");
    assert_string_equal(take(w, 1, "one0"), "one0");
    assert_string_equal(take(w, 10, "slow0"), "slow0");
    pause_queue(w, "q");
    assert_string_equal(take(w, 10, "free"), "");
    unpause_queue(w, "q");
    set(w, "q-max-concurrency", "3");
    assert_string_equal(take(w, 10, "free"), "");
    complete(w, 11, "w1", "one0");
    assert_string_equal(take(w, 11, "free"), "free");
}

static void test_take__fails_without_memory_and_changes_nothing(void **state)
{
    struct world *w = *state;
    const struct take_request request = { .worker = SLICE("w1"), .jid = SLICE("b") };
    put(w, 0, "q", "a");
    put(w, 0, "q", "b");
    for (size_t n = 1;; n++) {
        const struct job *job;
        w->fault.calls = 0;
        w->fault.fail_at = n;
        enum status status = engine_take(w->engine, at(w, 0), &request, &job, &w->error);
        w->fault.fail_at = 0;
        assert_int_equal(faults_of(w), 0);
        if (!status) {
            assert_true(n > 1);
            assert_non_null(job);
            break;
        }
        assert_int_equal(status, STATUS_NO_MEMORY);
        assert_string_equal(state_of(w, "b"), "waiting");
    }
    assert_string_equal(pop(w, 0, "q", "w2", 5), "a");
}

static void test_take__by_the_clients_clock_what_is_due_of_the_job_happens_first(void **state)
{
    struct world *w = *state;
    set(w, "grace-period", "10");
    put_later(w, 0, "q", "later", 10);
    put_later(w, 0, "q", "other", 10);
    assert_string_equal(take(w, 9, "later"), "");
    assert_string_equal(take(w, 10, "later"), "later");
    assert_string_equal(state_of(w, "other"), "scheduled");
    assert_string_equal(take(w, 69, "later"), "");
    assert_string_equal(take(w, 71, "later"), ""); // the grace begins
    assert_string_equal(take(w, 90, "later"), "later");
    assert_int_equal(view_of(w, "later").remaining, 4);
    put_with(
        w, 90,
        (struct put_request){ .jid = SLICE("late"), .has_deadline = true, .deadline_us = us(91) });
    assert_string_equal(take(w, 92, "late"), "");
    assert_string_equal(state_of(w, "late"), "failed");
}

static void test_next__is_what_a_pop_would_hand_out(void **state)
{
    struct world *w = *state;
    assert_string_equal(next(w, "q"), "");
    limit_set(w, 0, NULL, "one", concurrency(1));
    put_in(w, 0, "one", "a");
    put_in(w, 0, "one", "b");
    put(w, 0, "q", "c");
    static const char *const wanted[] = { "a", "c" };
    for (size_t i = 0; i < 2; i++) {
        assert_string_equal(next(w, "q"), wanted[i]);
        assert_string_equal(pop(w, 0, "q", "w1", 1), wanted[i]);
    }
    assert_string_equal(next(w, "q"), ""); // b may not run yet
    complete(w, 0, "w1", "a");
    assert_string_equal(next(w, "q"), "b");
    pause_queue(w, "q");
    assert_string_equal(next(w, "q"), "");
}

static void test_retry__that_does_not_count_leaves_the_retries_as_they_were(void **state)
{
    struct world *w = *state;
    put_with(w, 0, (struct put_request){ .jid = SLICE("a"), .has_retries = true, .retries = 0 });
    for (int i = 0; i < 3; i++) {
        assert_string_equal(pop(w, i, "q", "w1", 1), "a");
        int32_t remaining = retry_with(w, i,
                                       (struct retry_request){
                                           .holder = { .jid = SLICE("a"), .worker = SLICE("w1") },
                                           .uncounted = true,
                                           .has_delay = true,
                                           .delay_us = us(1),
                                       });
        assert_int_equal(remaining, 0);
        assert_string_equal(state_of(w, "a"), "scheduled");
    }
    assert_int_equal(view_of(w, "a").attempts, 3);
    pop(w, 3, "q", "w1", 1);
    assert_int_equal(retry(w, 3, "w1", "a"), -1);
    assert_string_equal(state_of(w, "a"), "failed");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SERVER_TEST(test_take__hands_out_a_job_from_the_middle_of_its_line),
        SERVER_TEST(test_take__only_what_is_in_line),
        SERVER_TEST(test_take__a_job_whose_lease_was_lost_too),
        SERVER_TEST(test_take__limits_and_pauses_hold),
        SERVER_TEST(test_take__fails_without_memory_and_changes_nothing),
        CLIENT_TEST(test_take__by_the_clients_clock_what_is_due_of_the_job_happens_first),
        SERVER_TEST(test_next__is_what_a_pop_would_hand_out),
        SERVER_TEST(test_retry__that_does_not_count_leaves_the_retries_as_they_were),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
