// SPDX-License-Identifier: MIT
// One act on many jobs, done in slices: that nothing waits for it, how it is stopped and saved, and
// which operations are kept.
#include "engine_test_more.h"

enum {
    SLICE_STEPS = 1000,
    MANY = 5000,
    KEPT = 100,
};

// ---------------------------------------------------------------------------------------------
// Many jobs

static struct bulk_request cancel_queue(const char *queue)
{
    return (struct bulk_request){ .filter = { .queue = name_of(queue) }, .act = BULK_CANCEL };
}

static void test_bulk_slices__goes_on_in_slices_while_others_do_their_work(void **state)
{
    struct world *w = *state;
    put_many(w, 0, "q", MANY);
    struct bulk_view view = bulk(w, 1, cancel_queue("q"));
    uint64_t id = view.id;
    uint64_t seen = view.looked_at;
    assert_false(view.done);
    assert_true(seen > 0 && seen <= SLICE_STEPS);
    assert_int_equal(count_all(w, "q"), MANY - seen);
    for (size_t round = 0; !bulk_of(w, id).done; round++) {
        assert_true(round < 10);
        // None of these waits for it, nor does it go on with them.
        put(w, 2, "q", numbered("late", round));
        assert_string_equal(pop(w, 2, "r", "w1", 1), "");
        put(w, 2, "r", numbered("other", round));
        assert_string_equal(pop(w, 2, "r", "w1", 1), numbered("other", round));
        complete(w, 2, "w1", numbered("other", round));
        assert_int_equal(bulk_of(w, id).looked_at, seen);
        forget_events(w);

        double next = tick(w, 2);
        view = bulk_of(w, id);
        assert_true(view.done || next == 2);
        assert_true(view.looked_at - seen <= SLICE_STEPS);
        assert_true(view.done || view.looked_at > seen);
        seen = view.looked_at;
    }
    assert_true(tick(w, 2) == kept_until(w, 2)); // of those that are complete
    assert_int_equal(view.changed, MANY);
    assert_int_equal(view.matched, MANY);
    // Those that came after the start are all there.
    assert_string_equal(peek(w, 3, "q", 2), "late0,late1");
    assert_int_equal(count_of(w, "q", JOB_WAITING), count_all(w, "q"));
}

static void test_bulk_slices__a_job_that_is_popped_meanwhile_is_met_where_it_is(void **state)
{
    struct world *w = *state;
    put_many(w, 0, "q", 2500);
    uint64_t id = bulk(w, 1, cancel_queue("q")).id;
    const char *popped = pop(w, 1, "q", "w1", 1);
    assert_true(popped[0] == 'j');
    while (tick(w, 1) == 1) {
    }
    assert_int_equal(bulk_of(w, id).changed, 2500);
    assert_int_equal(count_all(w, "q"), 0);
}

static void test_bulk_slices__everything_that_is_moved_is_moved_once(void **state)
{
    struct world *w = *state;
    put_many(w, 0, "q", MANY);
    struct bulk_request request = { .act = BULK_MOVE, .to = SLICE("new") };
    uint64_t id = bulk(w, 1, request).id;
    while (tick(w, 2) == 2) {
    }
    struct bulk_view view = bulk_of(w, id);
    assert_int_equal(view.changed, MANY);
    assert_int_equal(view.looked_at, MANY);
    assert_int_equal(count_of(w, "new", JOB_WAITING), MANY);
    // In the order of the old line.
    assert_string_equal(jobs(w, 2, LIST_WAITING, "new", 0, 2), "5000: j0,j1");
    assert_string_equal(jobs(w, 2, LIST_WAITING, "new", 4998, 9), "5000: j4998,j4999");
}

static void test_bulk_slices__a_dry_run_of_many_counts_as_much_as_the_real_run(void **state)
{
    struct world *w = *state;
    put_many(w, 0, "q", MANY);
    struct bulk_request request = cancel_queue("q");
    request.dry_run = true;
    uint64_t dry = bulk(w, 1, request).id;
    while (tick(w, 1) == 1) {
    }
    assert_int_equal(count_all(w, "q"), MANY);
    request.dry_run = false;
    uint64_t real = bulk(w, 1, request).id;
    while (tick(w, 1) == 1) {
    }
    assert_int_equal(bulk_of(w, dry).changed, MANY);
    assert_int_equal(bulk_of(w, real).changed, MANY);
    assert_int_equal(bulk_of(w, dry).matched, bulk_of(w, real).matched);
    assert_int_equal(bulk_of(w, dry).looked_at, bulk_of(w, real).looked_at);
}

static void test_bulk_slices__one_after_the_other_gets_its_turn(void **state)
{
    struct world *w = *state;
    put_many(w, 0, "q", 3000);
    struct bulk_request request = { .act = BULK_TAG, .tags = slices_of(w, "red") };
    uint64_t first = bulk(w, 1, request).id;
    request.tags = slices_of(w, "blue");
    uint64_t second = bulk(w, 1, request).id;
    assert_true(second > first);
    while (!bulk_of(w, first).done) {
        assert_false(bulk_of(w, second).done);
        assert_true(tick(w, 1) == 1);
    }
    while (tick(w, 1) == 1) {
    }
    assert_true(bulk_of(w, second).done);
    assert_string_equal(tagged(w, "red", 0, 0), "3000: ");
    assert_string_equal(tagged(w, "blue", 0, 0), "3000: ");
    struct bulk_view view;
    assert_true(engine_bulk_at(w->engine, 0, &view) && view.id == first);
    assert_true(engine_bulk_at(w->engine, 1, &view) && view.id == second);
    assert_false(engine_bulk_at(w->engine, 2, &view));
}

static void test_bulk_slices__can_be_stopped_where_it_is(void **state)
{
    struct world *w = *state;
    put_many(w, 0, "q", MANY);
    uint64_t id = bulk(w, 1, cancel_queue("q")).id;
    tick(w, 1);
    uint64_t changed = bulk_of(w, id).changed;
    assert_true(changed > 0 && changed < MANY);
    said(w, engine_bulk_stop(w->engine, at(w, 1), id, &w->error));
    assert_true(bulk_of(w, id).done && bulk_of(w, id).stopped);
    assert_true(tick(w, 1) == -1);
    assert_int_equal(bulk_of(w, id).changed, changed);
    reload(w);
    assert_true(bulk_of(w, id).done && bulk_of(w, id).stopped);
    assert_int_equal(count_all(w, "q"), MANY - changed);
    refused(w, STATUS_NOT_FOUND, "is under way");
    said(w, engine_bulk_stop(w->engine, at(w, 1), id, &w->error));
    refused(w, STATUS_NOT_FOUND, "no operation 99999 is under way");
    said(w, engine_bulk_stop(w->engine, at(w, 1), 99999, &w->error));
}

static void test_bulk_slices__saved_in_the_middle_it_goes_on_where_it_was(void **state)
{
    struct world *w = *state;
    static const enum bulk_act acts[] = { BULK_MOVE, BULK_TAG, BULK_CANCEL };
    put_many(w, 0, "q", MANY);
    for (size_t i = 0; i < 3; i++) {
        struct bulk_request request = { .act = acts[i],
                                        .to = SLICE("new"),
                                        .tags = slices_of(w, "red,blue"),
                                        .filter = { .klass = SLICE("k"),
                                                    .queue = i ? SLICE("new") : SLICE("q"),
                                                    .states = 1U << JOB_WAITING } };
        uint64_t id = bulk(w, 1, request).id;
        put(w, 1, i ? "new" : "q", numbered("late", i));
        struct bulk_view before = bulk_of(w, id);
        reload(w);
        struct bulk_view after = bulk_of(w, id);
        assert_false(after.done);
        assert_int_equal(after.act, acts[i]);
        assert_int_equal(after.began_us, us(1));
        assert_int_equal(after.looked_at, before.looked_at);
        assert_int_equal(after.matched, before.matched);
        assert_int_equal(after.changed, before.changed);
        while (tick(w, 1) == 1) {
            reload(w);
        }
        // Those that were late for the one before are there for the next.
        assert_int_equal(bulk_of(w, id).changed, MANY + (i == 2));
        forget_events(w);
    }
    assert_string_equal(jobs(w, 1, LIST_WAITING, "new", 0, 9), "1: late2");
    assert_string_equal(jobs(w, 1, LIST_WAITING, "q", 0, 9), "1: late0");
}

// ---------------------------------------------------------------------------------------------
// What is kept

static void test_bulk_slices__the_last_hundred_that_are_done_are_kept(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "a");
    uint64_t first = 0, last = 0;
    for (size_t i = 0; i < KEPT + 7; i++) {
        struct bulk_request request = { .act = BULK_RETRY };
        last = bulk(w, 1, request).id;
        first = first ? first : last;
    }
    struct bulk_view view;
    size_t count = 0;
    for (; engine_bulk_at(w->engine, count, &view); count++) {
        assert_int_equal(view.id, first + 7 + count);
    }
    assert_int_equal(count, KEPT);
    assert_int_equal(view.id, last);
    assert_false(engine_bulk_get(w->engine, first + 6, &view));
    assert_false(engine_bulk_get(w->engine, last + 1, &view));
    reload(w);
    assert_true(engine_bulk_get(w->engine, last, &view));
    assert_true(engine_bulk_at(w->engine, KEPT - 1, &view));
    assert_false(engine_bulk_at(w->engine, KEPT, &view));
}

static void test_bulk_slices__one_that_took_long_is_there_when_it_is_done(void **state)
{
    struct world *w = *state;
    put_many(w, 0, "q", 2500);
    struct bulk_request request = { .act = BULK_TAG, .tags = slices_of(w, "red") };
    uint64_t slow = bulk(w, 1, request).id;
    for (size_t i = 0; i < KEPT + 1; i++) {
        (void)bulk(
            w, 1,
            (struct bulk_request){ .act = BULK_RETRY, .filter = { .queue = SLICE("nowhere") } });
    }
    assert_false(bulk_of(w, slow).done);
    while (tick(w, 1) == 1) {
    }
    struct bulk_view view;
    assert_true(engine_bulk_get(w->engine, slow, &view));
    assert_true(view.done);
    assert_int_equal(view.changed, 2500);
}

static void test_bulk_slices__one_with_more_tags_than_are_allowed_by_now_can_be_loaded(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "a");
    struct bulk_request request = { .act = BULK_TAG, .tags = slices_of(w, "a,b,c") };
    uint64_t id = bulk(w, 1, request).id;
    set(w, "max-tags", "2");
    reload(w);
    assert_int_equal(bulk_of(w, id).changed, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SERVER_TEST(test_bulk_slices__goes_on_in_slices_while_others_do_their_work),
        CLIENT_TEST(test_bulk_slices__goes_on_in_slices_while_others_do_their_work),
        SERVER_TEST(test_bulk_slices__a_job_that_is_popped_meanwhile_is_met_where_it_is),
        SERVER_TEST(test_bulk_slices__everything_that_is_moved_is_moved_once),
        SERVER_TEST(test_bulk_slices__a_dry_run_of_many_counts_as_much_as_the_real_run),
        SERVER_TEST(test_bulk_slices__one_after_the_other_gets_its_turn),
        SERVER_TEST(test_bulk_slices__can_be_stopped_where_it_is),
        SERVER_TEST(test_bulk_slices__saved_in_the_middle_it_goes_on_where_it_was),
        SERVER_TEST(test_bulk_slices__the_last_hundred_that_are_done_are_kept),
        SERVER_TEST(test_bulk_slices__one_that_took_long_is_there_when_it_is_done),
        SERVER_TEST(test_bulk_slices__one_with_more_tags_than_are_allowed_by_now_can_be_loaded),
    };
    return cmocka_run_group_tests_name("bulk_slices", tests, NULL, NULL);
}
