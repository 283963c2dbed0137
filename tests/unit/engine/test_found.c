// SPDX-License-Identifier: MIT
// What the model test has found, as small as it can be shown.
#include "engine/bulk/bulk.h"
#include "engine/config/policy.h"
#include "engine/explain/explain.h"
#include "engine/lanes/limit.h"
#include "engine/measure/metrics.h"
#include "engine/records/changes.h"
#include "engine/recurring/zone.h"
#include "engine_test.h"

#include <string.h>

static void put_policy(struct world *w, double now, const char *jid, const char *depends,
                       enum dependency_policy policy)
{
    const struct job_options options = { .dependency_policy = policy };
    put_with(w, now,
             (struct put_request){ .queue = SLICE("r"),
                                   .jid = name_of(jid),
                                   .depends = slices_of(w, depends),
                                   .options = &options });
}

static void fail_first(struct world *w, double now, const char *jid)
{
    put(w, now, "q", jid);
    assert_string_equal(pop(w, now, "q", "w1", 1), jid);
    fail_job(w, now, "w1", jid, "bad");
}

static void test_cascade__a_put_that_depends_on_a_failed_job_is_dealt_with(void **state)
{
    struct world *w = *state;
    fail_first(w, 1, "a");
    put_policy(w, 2, "b", "a", DEPENDENCY_CANCEL);
    assert_string_equal(state_of(w, "b"), "depends");
    (void)tick(w, 2);
    assert_string_equal(state_of(w, "b"), "none");
}

static void test_cascade__it_acts_again_on_a_job_that_is_unfailed(void **state)
{
    struct world *w = *state;
    fail_first(w, 1, "a");
    put_policy(w, 2, "b", "a", DEPENDENCY_FAIL);
    (void)tick(w, 2);
    assert_string_equal(state_of(w, "b"), "failed");
    assert_string_equal(dependencies_of(w, "b"), "a");
    assert_int_equal(unfail(w, 3, "r", "dependency-failed", 1), 1);
    assert_string_equal(state_of(w, "b"), "depends");
    (void)tick(w, 3);
    assert_string_equal(state_of(w, "b"), "failed");
}

static void test_cascade__loading_finishes_what_was_noted_and_notes_nothing_else(void **state)
{
    struct world *w = *state;
    fail_first(w, 1, "a");
    fail_first(w, 1, "c");
    put_depending(w, 2, "s", "held", "c");
    const struct job_options policy = { .dependency_policy = DEPENDENCY_CANCEL };
    said(w, engine_policy_set(w->engine, at(w, 3), POLICY_QUEUE, SLICE("s"), &policy, &w->error));
    put_policy(w, 4, "b", "a", DEPENDENCY_CANCEL);
    reload(w);
    (void)tick(w, 4);
    assert_string_equal(state_of(w, "b"), "none");
    assert_string_equal(state_of(w, "held"), "depends");
}

static void test_explain__a_sentence_names_all_that_is_waited_for(void **state)
{
    struct world *w = *state;
    put(w, 1, "q", "a");
    put(w, 1, "q", "b");
    put_depending(w, 1, "q", "c", "a,b");
    struct explanation why;
    said(w, engine_explain(w->engine, at(w, 1), SLICE("c"), &why, &w->error));
    assert_string_equal(why.sentence,
                        "Job c waits for 2 jobs: a, which is waiting; b, which is waiting.");
}

static void test_explain__leases_that_ran_out_leave_room_with_the_client_clock(void **state)
{
    struct world *w = *state;
    set(w, "q-max-concurrency", "1");
    put(w, 1, "q", "a");
    put(w, 1, "q", "b");
    assert_string_equal(pop(w, 1, "q", "w1", 1), "a");
    struct explanation why;
    said(w, engine_explain(w->engine, at(w, 2), SLICE("b"), &why, &w->error));
    assert_int_equal(why.reason, EXPLAIN_QUEUE_CONCURRENCY);
    said(w, engine_explain(w->engine, at(w, 62), SLICE("b"), &why, &w->error));
    assert_int_equal(why.reason, EXPLAIN_NEXT);
}

static void zone(struct world *w, double now, int32_t offset_s)
{
    const struct zone_rules rules = { .offset_s = offset_s };
    said(w, engine_zone_set(w->engine, at(w, now), SLICE("Z"), &rules, &w->error));
}

static void test_zone__a_run_that_comes_earlier_is_moved_once(void **state)
{
    struct world *w = *state;
    zone(w, 1, 0);
    recur_with(w, 1,
               (struct recur_request){ .queue = SLICE("q"),
                                       .jid = SLICE("r"),
                                       .cron = SLICE("0 3 * * *"),
                                       .zone = SLICE("Z") });
    zone(w, 2, 3600);
    struct recurring_view view;
    recurring_view(w->engine, engine_recurring_get(w->engine, SLICE("r")), &view);
    assert_int_equal(view.next_us, us(2 * 3600));
    assert_int_equal(faults_of(w), 0);
}

static void test_priorities__that_of_a_deleted_job_is_not_listed(void **state)
{
    struct world *w = *state;
    put_with(w, 1, (struct put_request){ .jid = SLICE("a"), .has_priority = true, .priority = 7 });
    assert_string_equal(pop(w, 1, "q", "w1", 1), "a");
    complete(w, 1, "w1", "a");
    put(w, 1, "q", "b");
    said(w, engine_delete(w->engine, at(w, 2), SLICE("a"), &w->error));
    struct priority_view views[2];
    assert_int_equal(engine_priorities(w->engine, SLICE_EMPTY, INT32_MIN, views, 2), 1);
    assert_int_equal(views[0].priority, 0);
}

static struct bulk_view bulk(struct world *w, double now, const struct bulk_request *request)
{
    uint64_t id;
    struct bulk_view view;
    said(w, engine_bulk(w->engine, at(w, now), request, &id, &w->error));
    assert_true(engine_bulk_get(w->engine, id, &view));
    return view;
}

static void test_bulk__a_job_made_later_than_now_is_as_good_as_any(void **state)
{
    struct world *w = *state;
    put(w, 10, "q", "a");
    struct bulk_view view = bulk(w, 5, &(struct bulk_request){ .act = BULK_CANCEL });
    assert_int_equal(view.changed, 1);
}

static void test_bulk__what_is_there_already_is_not_matched(void **state)
{
    struct world *w = *state;
    put(w, 1, "q", "a");
    put(w, 1, "r", "b");
    tag(w, 1, "a", "t");
    tag(w, 1, "b", "t");
    struct bulk_request request = { .act = BULK_MOVE, .to = SLICE("q"), .dry_run = true };
    assert_int_equal(bulk(w, 2, &request).matched, 1);
    request.filter.tag = SLICE("t");
    assert_int_equal(bulk(w, 2, &request).matched, 1);
}

static void test_pop__looks_at_deadlines_also_without_room(void **state)
{
    struct world *w = *state;
    set(w, "q-max-concurrency", "1");
    put(w, 1, "q", "a");
    assert_string_equal(pop(w, 1, "q", "w1", 1), "a");
    put_with(w, 1,
             (struct put_request){ .jid = SLICE("b"), .has_deadline = true, .deadline_us = us(5) });
    assert_string_equal(pop(w, 6, "q", "w1", 1), "");
    assert_string_equal(state_of(w, "b"), "failed");
}

static void test_pop__runs_that_overlap_leave_room_for_others(void **state)
{
    struct world *w = *state;
    recur_with(w, 0,
               (struct recur_request){ .queue = SLICE("q"),
                                       .jid = SLICE("r"),
                                       .interval_us = us(10),
                                       .overlap = RECUR_OVERLAP_SKIP });
    assert_string_equal(pop(w, 0, "q", "w1", 1), "r-1");
    recur(w, 25, "q", "s", 100);
    assert_string_equal(pop(w, 30, "q", "w1", 1), "s-1");
}

static void test_progress__what_is_due_happens_before_it_is_refused(void **state)
{
    struct world *w = *state;
    put_later(w, 1, "q", "a", 5);
    const struct holder holder = { .jid = SLICE("a"), .worker = SLICE("w1") };
    assert_int_equal(engine_progress(w->engine, at(w, 10), &holder, -1, SLICE_EMPTY, &w->error),
                     STATUS_INVALID);
    assert_string_equal(state_of(w, "a"), "waiting");
}

static void test_lane__a_job_may_go_from_one_to_another_at_the_same_turn(void **state)
{
    struct world *w = *state;
    set(w, "q-fair", "1");
    const struct put_request in_lane = { .jid = SLICE("a"),
                                         .has_domain = true,
                                         .domain = SLICE("d") };
    put_with(w, 1, in_lane);
    put_with(w, 1, (struct put_request){ .jid = SLICE("a"), .has_domain = true });
    put_with(w, 1, in_lane);
    assert_int_equal(faults_of(w), 0);
    assert_string_equal(pop(w, 1, "q", "w1", 2), "a");
}

static void test_lane__a_full_bucket_fills_up_from_the_run_on(void **state)
{
    struct world *w = *state;
    const struct limit limit = { .has_rate = true, .rate_count = 1, .rate_period_us = us(10) };
    said(w, engine_limit_set(w->engine, at(w, 1000), SLICE("q"), SLICE_EMPTY, &limit, &w->error));
    put(w, 1000, "q", "a");
    put(w, 1000, "q", "b");
    assert_string_equal(pop(w, 500, "q", "w1", 2), "a");
    assert_string_equal(pop(w, 510, "q", "w1", 2), "b");
}

// What the host was told last of each kind of record: how many there were, and how many are gone.
struct told {
    int written[RECORD_END], gone[RECORD_END];
    bool wrote_last[RECORD_END];
};

static enum status tell(void *context, struct record_key key, struct slice bytes)
{
    struct told *told = context;
    told->written[key.kind] += bytes.size > 0;
    told->gone[key.kind] += bytes.size == 0;
    told->wrote_last[key.kind] = bytes.size > 0;
    return STATUS_OK;
}

static struct told changes(struct world *w)
{
    struct told told = { 0 };
    const struct changes_sink sink = { .receive = tell, .context = &told };
    assert_int_equal(engine_changes(w->engine, &sink), STATUS_OK);
    return told;
}

static void keep_changes(struct world *w)
{
    engine_free(w->engine);
    const struct engine_options keeping = { .allocator = &w->fault.allocator,
                                            .seed = { 3, 4 },
                                            .keeps_changes = true };
    assert_int_equal(engine_new(&keeping, &w->engine), STATUS_OK);
}

static void test_changes__statistics_that_are_dropped_are_told_of(void **state)
{
    struct world *w = *state;
    keep_changes(w);
    set(w, "stats-history", "2");
    set(w, "histogram-history", "1");
    for (int day = 1; day <= 3; day++) {
        char jid[2] = { (char)('a' + day), '\0' };
        put(w, day * DAY, "q", jid);
        assert_string_equal(pop(w, day * DAY, "q", "w1", 1), jid);
        complete(w, day * DAY, "w1", jid);
        struct told told = changes(w);
        // A new day, and the day before, which loses its histograms; the third one goes.
        assert_int_equal(told.written[RECORD_STATS], day == 1 ? 1 : 2);
        assert_int_equal(told.gone[RECORD_STATS], day == 3);
    }
}

static void test_changes__a_queue_that_only_a_worker_knows_is_told_of(void **state)
{
    struct world *w = *state;
    keep_changes(w);
    assert_string_equal(pop(w, 1, "q", "w1", 1), "");
    assert_int_equal(changes(w).written[RECORD_QUEUE], 1);
    said(w, engine_worker_offline(w->engine, at(w, 2), SLICE("w1"), &w->error));
    struct told told = changes(w);
    assert_int_equal(told.written[RECORD_QUEUE], 0);
    assert_int_equal(told.gone[RECORD_QUEUE], 1);
}

static void test_changes__a_lane_may_take_the_number_of_one_that_is_gone(void **state)
{
    struct world *w = *state;
    keep_changes(w);
    set(w, "q-fair", "1");
    struct put_request in_lane = { .jid = SLICE("a"), .has_domain = true, .domain = SLICE("d") };
    put_with(w, 1, in_lane);
    assert_int_equal(changes(w).written[RECORD_LANE], 1);
    in_lane.domain = SLICE("e");
    put_with(w, 1, in_lane);
    struct told told = changes(w);
    assert_int_equal(told.gone[RECORD_LANE], 1);
    assert_int_equal(told.written[RECORD_LANE], 1);
    assert_true(told.wrote_last[RECORD_LANE]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SERVER_TEST(test_cascade__a_put_that_depends_on_a_failed_job_is_dealt_with),
        SERVER_TEST(test_cascade__it_acts_again_on_a_job_that_is_unfailed),
        SERVER_TEST(test_cascade__loading_finishes_what_was_noted_and_notes_nothing_else),
        SERVER_TEST(test_explain__a_sentence_names_all_that_is_waited_for),
        CLIENT_TEST(test_explain__leases_that_ran_out_leave_room_with_the_client_clock),
        SERVER_TEST(test_zone__a_run_that_comes_earlier_is_moved_once),
        SERVER_TEST(test_priorities__that_of_a_deleted_job_is_not_listed),
        CLIENT_TEST(test_bulk__a_job_made_later_than_now_is_as_good_as_any),
        SERVER_TEST(test_bulk__what_is_there_already_is_not_matched),
        CLIENT_TEST(test_pop__looks_at_deadlines_also_without_room),
        CLIENT_TEST(test_pop__runs_that_overlap_leave_room_for_others),
        SERVER_TEST(test_progress__what_is_due_happens_before_it_is_refused),
        SERVER_TEST(test_lane__a_job_may_go_from_one_to_another_at_the_same_turn),
        CLIENT_TEST(test_lane__a_full_bucket_fills_up_from_the_run_on),
        SERVER_TEST(test_changes__statistics_that_are_dropped_are_told_of),
        SERVER_TEST(test_changes__a_queue_that_only_a_worker_knows_is_told_of),
        SERVER_TEST(test_changes__a_lane_may_take_the_number_of_one_that_is_gone),
    };
    return cmocka_run_group_tests_name("found", tests, NULL, NULL);
}
