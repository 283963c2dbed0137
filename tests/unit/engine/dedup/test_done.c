// SPDX-License-Identifier: MIT
// Dependencies that do not exist, and those that completed and are gone.
#include "engine/records/changes.h"
#include "engine_test_more.h"

#include <stdio.h>

static struct put_request after(struct world *w, const char *jid, const char *depends)
{
    return (struct put_request){ .jid = name_of(jid),
                                 .depends = slices_of(w, depends),
                                 .missing = MISSING_REFUSED };
}

// A job that is put, done and deleted by retention.
static void live(struct world *w, double now, const char *jid)
{
    put(w, now, "q", jid);
    (void)pop(w, now, "q", "w1", 1);
    complete(w, now, "w1", jid);
    assert_string_equal(state_of(w, jid), "none");
}

static void test_done__a_dependency_that_does_not_exist_is_refused_by_name(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "a");
    refused(w, STATUS_NOT_FOUND, "job oops, which job b is to depend on, does not exist");
    put_with(w, 0, after(w, "b", "a,oops"));
    struct put_request lenient = after(w, "b", "a,oops");
    lenient.missing = MISSING_COMPLETE;
    put_with(w, 1, lenient);
    assert_string_equal(dependencies_of(w, "b"), "a");
    refused(w, STATUS_NOT_FOUND, "job oops, which job b is to depend on, does not exist");
    said(w, engine_depends_on(w->engine, at(w, 1), SLICE("b"), slices_of(w, "oops"),
                              MISSING_REFUSED, &w->error));
    (void)pop(w, 2, "q", "w1", 1);
    refused(w, STATUS_NOT_FOUND, "job oops, which job a is to depend on, does not exist");
    complete_with(w, 2,
                  (struct complete_request){ .holder = { SLICE("a"), SLICE("w1"), .token = 0 },
                                             .next = SLICE("next"),
                                             .has_depends = true,
                                             .depends = slices_of(w, "oops"),
                                             .missing = MISSING_REFUSED });
}

static void test_done__one_that_completed_and_is_gone_counts_as_complete(void **state)
{
    struct world *w = *state;
    set(w, "jobs-history-count", "0");
    live(w, 0, "a");
    put_with(w, 1, after(w, "b", "a"));
    assert_string_equal(state_of(w, "b"), "waiting");
    reload(w);
    put_with(w, 2, after(w, "c", "a"));
    assert_string_equal(state_of(w, "c"), "waiting");
    // Deleted by a call it does too.
    set(w, "jobs-history-count", "9");
    (void)pop(w, 3, "q", "w1", 1);
    complete(w, 3, "w1", "b");
    delete_job(w, 3, "b");
    put_with(w, 4, after(w, "d", "b"));
}

static void test_done__one_that_was_canceled_is_missing(void **state)
{
    struct world *w = *state;
    set(w, "jobs-history-count", "0");
    put(w, 0, "q", "a");
    cancel(w, 0, "a");
    refused(w, STATUS_NOT_FOUND, "job a");
    put_with(w, 0, after(w, "b", "a"));
    // Its last life counts.
    live(w, 1, "a");
    put(w, 2, "q", "a");
    cancel(w, 2, "a");
    refused(w, STATUS_NOT_FOUND, "job a");
    put_with(w, 2, after(w, "b", "a"));
    live(w, 3, "a");
    live(w, 4, "a");
    put_with(w, 5, after(w, "b", "a"));
}

static void test_done__at_least_as_many_are_remembered_as_the_option_says(void **state)
{
    struct world *w = *state;
    set(w, "jobs-history-count", "0");
    set(w, "jobs-history-jids", "100");
    for (size_t i = 0; i < 500; i++) {
        live(w, 1, numbered("j", i));
    }
    for (size_t i = 400; i < 500; i++) {
        put_with(w, 2, after(w, "late", numbered("j", i)));
    }
    refused(w, STATUS_NOT_FOUND, "job j250");
    put_with(w, 2, after(w, "late", "j250"));
    reload(w);
    put_with(w, 3, after(w, "late", "j400"));
    cancel(w, 3, "late");
    // The same jid again and again takes no more room than others do.
    for (size_t i = 0; i < 500; i++) {
        live(w, 4, "again");
    }
    refused(w, STATUS_NOT_FOUND, "job j499");
    put_with(w, 4, after(w, "late", "j499"));
    put_with(w, 4, after(w, "late", "again"));
    cancel(w, 4, "late");
    set(w, "jobs-history-jids", "0");
    live(w, 5, "last");
    live(w, 5, "last");
    refused(w, STATUS_NOT_FOUND, "job again");
    put_with(w, 5, after(w, "late", "again"));
}

struct counted {
    size_t records, gone;
};

static enum status count(void *context, struct record_key key, struct slice bytes)
{
    struct counted *counted = context;
    counted->records += key.kind == RECORD_DONE && bytes.size;
    counted->gone += key.kind == RECORD_DONE && !bytes.size;
    return STATUS_OK;
}

static void test_done__many_jids_share_a_record(void **state)
{
    struct world *w = *state;
    struct counted counted = { 0 };
    const struct changes_sink sink = { count, &counted };
    const struct engine_options options = { .allocator = &w->fault.allocator,
                                            .keeps_changes = true };
    engine_free(w->engine);
    assert_int_equal(engine_new(&options, &w->engine), STATUS_OK);
    assert_int_equal(engine_changes(w->engine, &sink), STATUS_OK);
    set(w, "jobs-history-count", "0");
    set(w, "jobs-history-jids", "64");
    for (size_t i = 0; i < 64; i++) {
        live(w, 1, numbered("j", i));
    }
    assert_int_equal(engine_changes(w->engine, &sink), STATUS_OK);
    assert_int_equal(counted.records, 1);
    live(w, 1, "one more");
    assert_int_equal(engine_changes(w->engine, &sink), STATUS_OK);
    assert_int_equal(counted.records, 2);
    assert_int_equal(counted.gone, 0);
    for (size_t i = 0; i < 128; i++) {
        live(w, 1, numbered("k", i));
    }
    assert_int_equal(engine_changes(w->engine, &sink), STATUS_OK);
    assert_int_equal(counted.gone, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SERVER_TEST(test_done__a_dependency_that_does_not_exist_is_refused_by_name),
        CLIENT_TEST(test_done__a_dependency_that_does_not_exist_is_refused_by_name),
        SERVER_TEST(test_done__one_that_completed_and_is_gone_counts_as_complete),
        CLIENT_TEST(test_done__one_that_completed_and_is_gone_counts_as_complete),
        SERVER_TEST(test_done__one_that_was_canceled_is_missing),
        SERVER_TEST(test_done__at_least_as_many_are_remembered_as_the_option_says),
        SERVER_TEST(test_done__many_jids_share_a_record),
    };
    return cmocka_run_group_tests_name("done", tests, NULL, NULL);
}
