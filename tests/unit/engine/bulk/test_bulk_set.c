// SPDX-License-Identifier: MIT
// Bulk operations on jobs that were named, and on exactly those that a dry run showed.
#include "engine_test_more.h"

#include "engine/bulk/bulk.h"

#include <stdio.h>

static void run_all(struct world *w, double now)
{
    while (tick(w, now) == now) {
    }
}

// Does what a dry run would have done; 0 when that is refused.
static uint64_t execute(struct world *w, double now, uint64_t dry_run, enum bulk_act act)
{
    uint64_t id = 0;
    said(w, engine_bulk_as(w->engine, at(w, now), dry_run, act, SLICE("ann"), &id, &w->error));
    return id;
}

static void test_bulk_set__a_dry_run_is_executed_on_exactly_the_jobs_that_it_showed(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "a");
    put(w, 0, "q", "b");
    put(w, 0, "q", "c");
    put(w, 0, "q", "d");
    assert_string_equal(pop(w, 1, "q", "w1", 1), "a");
    fail_job(w, 1, "w1", "a", "g");
    assert_string_equal(pop(w, 1, "q", "w1", 1), "b");
    fail_job(w, 1, "w1", "b", "g");
    assert_string_equal(pop(w, 1, "q", "w1", 1), "c");
    const struct bulk_request request = { .act = BULK_DELETE,
                                          .filter = { .states = 1U << JOB_FAILED },
                                          .dry_run = true,
                                          .user = SLICE("joe") };
    struct bulk_view dry = bulk(w, 2, request);
    assert_int_equal(dry.changed, 2);
    assert_true(dry.has_set);
    assert_slice_equal(dry.request->user, "joe");
    // One does not match any more, one matches since, one that was shown is another one now.
    fail_job(w, 3, "w1", "c", "g");
    (void)bulk(
        w, 3,
        (struct bulk_request){ .act = BULK_RETRY,
                               .filter = { .group = SLICE("g"), .jids = slices_of(w, "a") } });
    uint64_t id = execute(w, 4, dry.id, BULK_DELETE);
    struct bulk_view view = bulk_of(w, id);
    assert_true(view.done);
    assert_int_equal(view.as, dry.id);
    assert_int_equal(view.matched, 1);
    assert_int_equal(view.changed, 1);
    assert_slice_equal(view.request->user, "ann");
    assert_string_equal(state_of(w, "a"), "waiting");
    assert_string_equal(state_of(w, "b"), "none");
    assert_string_equal(state_of(w, "c"), "failed");
    assert_string_equal(state_of(w, "d"), "waiting");
    refused(w, STATUS_STATE, "are not known any more");
    assert_int_equal(execute(w, 4, dry.id, BULK_DELETE), 0);
}

static void test_bulk_set__a_job_that_was_made_anew_is_not_touched(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "a");
    put(w, 0, "q", "b");
    const struct bulk_request request = { .act = BULK_CANCEL, .dry_run = true };
    struct bulk_view dry = bulk(w, 1, request);
    (void)bulk(
        w, 1, (struct bulk_request){ .act = BULK_CANCEL, .filter = { .jids = slices_of(w, "a") } });
    put(w, 1, "q", "a");
    uint64_t id = execute(w, 1, dry.id, BULK_CANCEL);
    assert_int_equal(bulk_of(w, id).changed, 1);
    assert_string_equal(state_of(w, "a"), "waiting");
    assert_string_equal(state_of(w, "b"), "none");
}

static void test_bulk_set__ages_count_up_to_the_dry_run(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "a");
    const struct bulk_request request = { .act = BULK_CANCEL,
                                          .filter = { .has_newer = true, .newer_us = us(5) },
                                          .dry_run = true };
    struct bulk_view dry = bulk(w, 1, request);
    assert_int_equal(bulk_of(w, execute(w, 100, dry.id, BULK_CANCEL)).changed, 1);
}

static void test_bulk_set__what_is_no_finished_dry_run_is_refused(void **state)
{
    struct world *w = *state;
    put_many(w, 0, "q", 2500);
    struct bulk_request request = { .act = BULK_PRIORITY, .priority = 1 };
    struct bulk_view real = bulk(w, 1, request);
    run_all(w, 1);
    refused(w, STATUS_STATE, "is no dry run");
    assert_int_equal(execute(w, 1, real.id, BULK_PRIORITY), 0);
    refused(w, STATUS_NOT_FOUND, "operation 99999 does not exist");
    assert_int_equal(execute(w, 1, 99999, BULK_PRIORITY), 0);
    request.priority = 2;
    request.dry_run = true;
    struct bulk_view dry = bulk(w, 1, request);
    refused(w, STATUS_STATE, "is not done yet");
    assert_int_equal(execute(w, 1, dry.id, BULK_PRIORITY), 0);
    run_all(w, 1);
    refused(w, STATUS_INVALID, "is a dry run of another act");
    assert_int_equal(execute(w, 1, dry.id, BULK_CANCEL), 0);
    uint64_t id = execute(w, 1, dry.id, BULK_PRIORITY);
    run_all(w, 1);
    assert_int_equal(bulk_of(w, id).changed, 2500);
    assert_int_equal(bulk_of(w, id).looked_at, 2500);
}

static void test_bulk_set__the_sets_of_the_last_dry_runs_are_kept_until_a_restart(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "a");
    uint64_t ids[BULK_SETS_MAX + 1];
    const struct bulk_request request = { .act = BULK_PRIORITY, .priority = 1, .dry_run = true };
    for (size_t i = 0; i <= BULK_SETS_MAX; i++) {
        ids[i] = bulk(w, 1, request).id;
    }
    assert_false(bulk_of(w, ids[0]).has_set);
    assert_true(bulk_of(w, ids[1]).has_set);
    refused(w, STATUS_STATE, "do the dry run again");
    assert_int_equal(execute(w, 1, ids[0], BULK_PRIORITY), 0);
    reload(w);
    assert_false(bulk_of(w, ids[1]).has_set);
    assert_int_equal(bulk_of(w, ids[1]).changed, 1);
    refused(w, STATUS_STATE, "do the dry run again");
    assert_int_equal(execute(w, 1, ids[1], BULK_PRIORITY), 0);
    assert_int_equal(view_of(w, "a").priority, 0);
}

static void test_bulk_set__a_restart_goes_on_with_the_same_jobs(void **state)
{
    struct world *w = *state;
    put_many(w, 0, "q", 2500);
    const struct bulk_request request = { .act = BULK_CANCEL, .dry_run = true };
    struct bulk_view dry = bulk(w, 1, request);
    run_all(w, 1);
    uint64_t id = execute(w, 1, dry.id, BULK_CANCEL);
    assert_false(bulk_of(w, id).done);
    size_t left = count_all(w, "q");
    assert_in_range(left, 1, 2499);
    put(w, 1, "q", "later");
    reload(w);
    assert_false(bulk_of(w, id).done);
    assert_int_equal(bulk_of(w, id).as, dry.id);
    assert_int_equal(bulk_of(w, id).changed, 2500 - left);
    reload(w);
    run_all(w, 1);
    assert_true(bulk_of(w, id).done && !bulk_of(w, id).stopped);
    assert_int_equal(bulk_of(w, id).changed, 2500);
    assert_int_equal(count_all(w, "q"), 1);
    assert_string_equal(state_of(w, "later"), "waiting");
}

static void test_bulk_set__named_jobs_are_changed_each_once_also_after_a_restart(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "needed");
    put_depending(w, 0, "q", "last", "needed");
    put(w, 0, "q", "b");
    put(w, 0, "q", "c");
    const struct bulk_request request = {
        .act = BULK_CANCEL, .filter = { .jids = slices_of(w, "needed,c,nobody,c,last") }
    };
    struct bulk_view view = bulk(w, 1, request);
    assert_true(view.done);
    assert_int_equal(view.request->filter.jids.count, 4);
    assert_int_equal(view.changed, 3);
    assert_string_equal(state_of(w, "b"), "waiting");
    assert_int_equal(count_all(w, "q"), 1);
    reload(w);
    view = bulk_of(w, view.id);
    assert_int_equal(view.request->filter.jids.count, 4);
    assert_slice_equal(view.request->filter.jids.items[0], "c");
    assert_true(view.done);
}

static void test_bulk_set__named_jobs_are_visited_in_the_order_of_their_jids(void **state)
{
    struct world *w = *state;
    struct slice jids[100];
    char texts[100][8];
    for (size_t count = 0; count < 100; count += 1 + count / 4) {
        for (size_t i = 0; i < count; i++) {
            int size = snprintf(texts[i], sizeof(texts[i]), "j%zu", i * 37 % 50);
            jids[i] = slice_make(texts[i], (size_t)size);
        }
        const struct bulk_request request = { .act = BULK_RETRY,
                                              .filter = { .jids = { jids, count } } };
        const struct slices *kept = &bulk(w, 1, request).request->filter.jids;
        assert_int_equal(kept->count, count < 50 ? count : 50);
        for (size_t i = 1; i < kept->count; i++) {
            assert_true(slice_compare(kept->items[i - 1], kept->items[i]) < 0);
        }
    }
}

static void test_bulk_set__several_states_a_worker_and_a_domain_are_filters(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "a");
    put(w, 0, "q", "b");
    assert_string_equal(pop(w, 0, "q", "w1", 1), "a");
    assert_string_equal(pop(w, 0, "q", "w2", 1), "b");
    put(w, 0, "q", "c");
    put_with(
        w, 0,
        (struct put_request){
            .queue = SLICE("q"), .jid = SLICE("d"), .has_domain = true, .domain = SLICE("x") });
    put_with(w, 0,
             (struct put_request){ .queue = SLICE("q"), .jid = SLICE("e"), .delay_us = us(9) });
    const struct {
        const char *name;
        struct job_filter filter;
        unsigned changed;
    } cases[] = {
        { "states", { .states = 1U << JOB_WAITING | 1U << JOB_SCHEDULED }, 3 },
        { "worker", { .worker = SLICE("w2") }, 1 },
        { "worker and state", { .worker = SLICE("w2"), .states = 1U << JOB_WAITING }, 0 },
        { "domain", { .domain = SLICE("x") }, 1 },
        { "running", { .states = 1U << JOB_RUNNING }, 2 },
    };
    for (size_t i = 0; TEST_ROW_NAMED(i, cases, cases[i].name); i++) {
        const struct bulk_request request = {
            .act = BULK_PRIORITY, .priority = 9, .filter = cases[i].filter, .dry_run = true
        };
        struct bulk_view view = bulk(w, 1, request);
        assert_int_equal(view.changed, cases[i].changed);
        reload(w);
        assert_int_equal(bulk_of(w, view.id).request->filter.states, cases[i].filter.states);
        assert_int_equal(bulk_of(w, view.id).request->priority, 9);
    }
    const struct bulk_request request = { .act = BULK_TIMEOUT,
                                          .filter = { .worker = SLICE("w1") } };
    assert_int_equal(bulk(w, 1, request).changed, 1);
    assert_string_equal(state_of(w, "a"), "stalled");
    assert_string_equal(state_of(w, "b"), "running");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SERVER_TEST(test_bulk_set__a_dry_run_is_executed_on_exactly_the_jobs_that_it_showed),
        SERVER_TEST(test_bulk_set__a_job_that_was_made_anew_is_not_touched),
        SERVER_TEST(test_bulk_set__ages_count_up_to_the_dry_run),
        SERVER_TEST(test_bulk_set__what_is_no_finished_dry_run_is_refused),
        SERVER_TEST(test_bulk_set__the_sets_of_the_last_dry_runs_are_kept_until_a_restart),
        SERVER_TEST(test_bulk_set__a_restart_goes_on_with_the_same_jobs),
        SERVER_TEST(test_bulk_set__named_jobs_are_changed_each_once_also_after_a_restart),
        SERVER_TEST(test_bulk_set__several_states_a_worker_and_a_domain_are_filters),
        SERVER_TEST(test_bulk_set__named_jobs_are_visited_in_the_order_of_their_jids),
    };
    return cmocka_run_group_tests_name("bulk_set", tests, NULL, NULL);
}
