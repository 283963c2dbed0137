// SPDX-License-Identifier: MIT
// A settling that is repeated with the token of its lease is answered as the first time.
#include "engine_test.h"

#include "engine/config/config.h"

static uint64_t popped(struct world *w, double now, const char *jid)
{
    assert_string_equal(pop(w, now, "q", "w1", 1), jid);
    return view_of(w, jid).token;
}

static struct holder by(const char *jid, const char *worker, uint64_t token)
{
    return (struct holder){ .jid = name_of(jid), .worker = name_of(worker), .token = token };
}

static const char *completed(struct world *w, double now, const char *jid, uint64_t token)
{
    return complete_with(w, now, (struct complete_request){ .holder = by(jid, "w1", token) });
}

static const char *advanced(struct world *w, double now, const char *jid, uint64_t token,
                            double delay)
{
    return complete_with(w, now,
                         (struct complete_request){ .holder = by(jid, "w1", token),
                                                    .next = name_of("next"),
                                                    .has_delay = true,
                                                    .delay_us = us(delay) });
}

static int32_t retried(struct world *w, double now, const char *jid, uint64_t token)
{
    return retry_with(w, now, (struct retry_request){ .holder = by(jid, "w1", token) });
}

static void failed_by(struct world *w, double now, const char *jid, const char *worker,
                      uint64_t token)
{
    const struct fail_request request = { .holder = by(jid, worker, token),
                                          .group = name_of("g"),
                                          .message = name_of("m") };
    said(w, engine_fail(w->engine, at(w, now), &request, &w->error));
}

static void returned(struct world *w, double now, const char *jid, uint64_t token)
{
    const struct holder holder = by(jid, "w1", token);
    said(w, engine_return(w->engine, at(w, now), &holder, &w->error));
}

// What comes next changes nothing.
static void same_from_here(struct world *w)
{
    forget_events(w);
    buffer_clear(&w->before);
    save(w, &w->before);
}

static void is_the_same(struct world *w)
{
    struct buffer after;
    buffer_init(&after, &allocator_system, SIZE_MAX / 2);
    save(w, &after);
    assert_int_equal(after.size, w->before.size);
    assert_memory_equal(after.data, w->before.data, after.size);
    buffer_release(&after);
    expect_events(w, "");
}

static void test_settled__complete_is_answered_again(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "a");
    uint64_t token = popped(w, 1, "a");
    assert_string_equal(completed(w, 2, "a", token), "complete");
    same_from_here(w);
    assert_string_equal(completed(w, 2, "a", token), "complete");
    is_the_same(w);
    reload(w);
    assert_string_equal(completed(w, 3, "a", token), "complete");
}

static void test_settled__so_is_each_way_to_settle(void **state)
{
    struct world *w = *state;
    static const char *const jids[] = { "done", "next", "later", "fails", "again", "back" };
    uint64_t tokens[6];
    for (size_t i = 0; i < 6; i++) {
        put(w, 0, "q", jids[i]);
        tokens[i] = popped(w, 1, jids[i]);
    }
    for (int round = 0; round < 3; round++) {
        assert_string_equal(completed(w, 2, "done", tokens[0]), "complete");
        assert_string_equal(advanced(w, 2, "next", tokens[1], 0), "waiting");
        assert_string_equal(advanced(w, 2, "later", tokens[2], 60), "scheduled");
        failed_by(w, 2, "fails", "w1", tokens[3]);
        assert_int_equal(retried(w, 2, "again", tokens[4]), 4);
        returned(w, 2, "back", tokens[5]);
        if (round) {
            is_the_same(w);
        }
        if (round == 1) {
            reload(w);
        }
        same_from_here(w);
    }
}

static void test_settled__the_last_retry_is_answered_again(void **state)
{
    struct world *w = *state;
    put_with(w, 0, (struct put_request){ .jid = name_of("a"), .has_retries = true });
    uint64_t token = popped(w, 1, "a");
    assert_int_equal(retried(w, 2, "a", token), -1);
    same_from_here(w);
    assert_int_equal(retried(w, 2, "a", token), -1);
    is_the_same(w);
}

static void test_settled__any_other_token_is_stale(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "a");
    uint64_t token = popped(w, 1, "a");
    retried(w, 2, "a", token);
    refused(w, STATUS_STALE, "job a is not running: waiting");
    completed(w, 2, "a", token + 7);
    refused(w, STATUS_STALE, "was retried under the token");
    completed(w, 2, "a", token);
    refused(w, STATUS_STALE, "job a is not running: waiting");
    failed_by(w, 2, "a", "w2", token);
    // As ever without one.
    refused(w, STATUS_STATE, "job a is not running: waiting");
    completed(w, 2, "a", 0);
}

static void test_settled__another_worker_that_has_the_job_by_now_is_left_alone(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "a");
    uint64_t token = popped(w, 1, "a");
    retried(w, 2, "a", token);
    assert_string_equal(pop(w, 3, "q", "w2", 1), "a");
    same_from_here(w);
    assert_int_equal(retried(w, 3, "a", token), 4);
    is_the_same(w);
    complete(w, 4, "w2", "a");
    // The last one counts.
    refused(w, STATUS_STALE, "not running: complete");
    retried(w, 4, "a", token);
}

static void test_settled__a_job_that_is_put_again_remembers(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "a");
    uint64_t token = popped(w, 1, "a");
    completed(w, 2, "a", token);
    put(w, 3, "other", "a");
    reload(w);
    assert_string_equal(completed(w, 4, "a", token), "complete");
    assert_string_equal(state_of(w, "a"), "waiting");
    assert_string_equal(pop(w, 5, "other", "w1", 1), "a");
    assert_string_equal(completed(w, 6, "a", token), "complete");
    assert_string_equal(state_of(w, "a"), "running");
}

static void test_settled__a_complete_job_that_is_gone_is_remembered_with_its_jid(void **state)
{
    struct world *w = *state;
    set(w, "jobs-history-count", "0");
    put(w, 0, "q", "a");
    uint64_t token = popped(w, 1, "a");
    assert_string_equal(completed(w, 2, "a", token), "complete");
    assert_string_equal(state_of(w, "a"), "none");
    reload(w);
    assert_string_equal(completed(w, 3, "a", token), "complete");
    refused(w, STATUS_NOT_FOUND, "a does not exist");
    completed(w, 3, "a", token + 1);
    refused(w, STATUS_STALE, "was completed under");
    failed_by(w, 3, "a", "w1", token);
    // Also when there is another job of that name by now.
    put(w, 4, "q", "a");
    assert_string_equal(completed(w, 5, "a", token), "complete");
    assert_string_equal(state_of(w, "a"), "waiting");
    cancel(w, 6, "a");
    refused(w, STATUS_NOT_FOUND, "a does not exist");
    completed(w, 6, "a", token);
}

static void test_settled__without_room_for_jids_nothing_is_remembered(void **state)
{
    struct world *w = *state;
    set(w, "jobs-history-count", "0");
    set(w, "jobs-history-jids", "0");
    put(w, 0, "q", "a");
    uint64_t token = popped(w, 1, "a");
    completed(w, 2, "a", token);
    refused(w, STATUS_NOT_FOUND, "a does not exist");
    completed(w, 2, "a", token);
}

static void test_settled__a_job_that_was_canceled_since_is_gone(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "a");
    uint64_t token = popped(w, 1, "a");
    retried(w, 2, "a", token);
    cancel(w, 3, "a");
    refused(w, STATUS_NOT_FOUND, "a does not exist");
    retried(w, 3, "a", token);
}

static void test_settled__losing_a_lease_settles_nothing(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "a");
    uint64_t token = popped(w, 1, "a");
    time_out(w, 2, "a");
    refused(w, STATUS_STALE, "not running: stalled");
    returned(w, 2, "a", token);
    const struct fail_request request = { .holder = by("a", "op", 0),
                                          .forced = true,
                                          .group = name_of("g") };
    said(w, engine_fail(w->engine, at(w, 3), &request, &w->error));
    refused(w, STATUS_STALE, "not running: failed");
    failed_by(w, 3, "a", "w1", token);
}

static void test_settled__also_where_no_history_is_kept(void **state)
{
    struct world *w = *state;
    set(w, "max-job-history", "1");
    put(w, 0, "q", "a");
    uint64_t token = popped(w, 1, "a");
    completed(w, 2, "a", token);
    reload(w);
    assert_string_equal(completed(w, 3, "a", token), "complete");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SERVER_TEST(test_settled__complete_is_answered_again),
        SERVER_TEST(test_settled__so_is_each_way_to_settle),
        SERVER_TEST(test_settled__the_last_retry_is_answered_again),
        SERVER_TEST(test_settled__any_other_token_is_stale),
        SERVER_TEST(test_settled__another_worker_that_has_the_job_by_now_is_left_alone),
        SERVER_TEST(test_settled__a_job_that_is_put_again_remembers),
        SERVER_TEST(test_settled__a_complete_job_that_is_gone_is_remembered_with_its_jid),
        SERVER_TEST(test_settled__without_room_for_jids_nothing_is_remembered),
        SERVER_TEST(test_settled__a_job_that_was_canceled_since_is_gone),
        SERVER_TEST(test_settled__losing_a_lease_settles_nothing),
        SERVER_TEST(test_settled__also_where_no_history_is_kept),
    };
    return cmocka_run_group_tests_name("settled", tests, NULL, NULL);
}
