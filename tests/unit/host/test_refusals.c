// SPDX-License-Identifier: MIT
#include "host/namespaces.h"

#include "test.h"

#include <string.h>

static void ignore_event(void *context, struct ns *ns, const struct event *event)
{
    (void)context;
    (void)ns;
    (void)event;
}

static int start(void **state)
{
    static struct namespaces all;
    const struct namespaces_options options = {
        .allocator = &allocator_system, .create = true, .count_max = 100, .event = ignore_event
    };
    struct error error;
    *state = &all;
    return (int)namespaces_init(&all, &options, &error);
}

static int stop(void **state)
{
    namespaces_release(*state);
    return 0;
}

static void note(struct namespaces *all, const char *ns, int64_t now_us, const char *word)
{
    struct slice sent = slice_from_cstr(word);
    struct error why;
    (void)error_set(&why, STATUS_INVALID, "because");
    refusals_note(all, slice_from_cstr(ns), now_us, (struct slices){ &sent, 1 }, &why);
}

static size_t count(const struct namespaces *all, const char *ns)
{
    size_t count = 0;
    const struct refusal *at = refusals_newest(all, slice_from_cstr(ns));
    for (; at; at = at->older) {
        assert_true(!at->older || at->older->newer == at);
        assert_true(!at->older || at->older->at_us <= at->at_us);
        count++;
    }
    return count;
}

// A namespace that is there, as far as the list can tell.
static void make(struct namespaces *all, const char *name)
{
    struct ns *ns;
    struct error error;
    assert_int_equal(
        namespaces_acquire(all, slice_from_cstr(name), ENGINE_CLOCK_SERVER, &ns, &error),
        STATUS_OK);
    ns->stored = true;
}

static void test_refusals__the_newest_of_a_namespace_are_kept(void **state)
{
    struct namespaces *all = *state;
    for (int i = 1; i <= 3 * REFUSALS_OF_NAMESPACE_MAX; i++) {
        note(all, "app", i, "x");
    }
    note(all, "other", 1, "y");
    assert_int_equal(count(all, "app"), REFUSALS_OF_NAMESPACE_MAX);
    assert_int_equal(refusals_newest(all, SLICE("app"))->at_us, 3 * REFUSALS_OF_NAMESPACE_MAX);
    assert_int_equal(count(all, "other"), 1);
    assert_int_equal(all->count, 0); // no namespace came of it
    refusals_forget(all, SLICE("app"));
    refusals_forget(all, SLICE("none"));
    assert_int_equal(count(all, "app"), 0);
    assert_int_equal(all->refusals.count, 1);
}

static void flood(struct namespaces *all, int namespaces, bool made)
{
    for (int i = 0; i < namespaces; i++) {
        char name[16];
        (void)snprintf(name, sizeof(name), "n%d", i);
        if (made) {
            make(all, name);
        }
        for (int j = 0; j < 50; j++) {
            note(all, name, j, "x");
        }
    }
}

static void test_refusals__a_flood_of_names_does_not_drive_out_those_of_a_namespace(void **state)
{
    struct namespaces *all = *state;
    make(all, "app");
    for (int i = 0; i < REFUSALS_OF_NAMESPACE_MAX; i++) {
        note(all, "app", i, "x");
    }
    flood(all, 3000, false);
    assert_int_equal(all->refusals.count, REFUSALS_MAX);
    assert_int_equal(count(all, "app"), REFUSALS_OF_NAMESPACE_MAX);
    assert_int_equal(all->count, 1);
}

static void test_refusals__the_namespace_with_the_most_loses_its_oldest(void **state)
{
    struct namespaces *all = *state;
    make(all, "few");
    make(all, "many");
    note(all, "few", 1, "x");
    for (int i = 0; i < REFUSALS_OF_NAMESPACE_MAX; i++) {
        note(all, "many", i, "x");
    }
    flood(all, 90, true);
    assert_int_equal(all->refusals.count, REFUSALS_MAX);
    assert_int_equal(count(all, "few"), 1);
    assert_in_range(count(all, "many"), 5, 50);
    assert_int_equal(refusals_newest(all, SLICE("many"))->at_us, REFUSALS_OF_NAMESPACE_MAX - 1);
}

static void test_refusals__what_was_sent_is_cut_between_characters(void **state)
{
    struct namespaces *all = *state;
    char word[2 * REFUSAL_SENT_SIZE_MAX];
    static const char euro[] = { '\xe2', '\x82', '\xac' };
    memset(word, 'x', sizeof(word));
    memcpy(word + REFUSAL_SENT_SIZE_MAX - 5, euro, sizeof(euro)); // is cut behind its second byte
    struct slice words[] = { SLICE("abc"), slice_make(word, sizeof(word)), SLICE("end") };
    struct error why;
    (void)error_set(&why, STATUS_TOO_LARGE, "too many");
    refusals_note(all, SLICE("app"), 7, (struct slices){ words, 3 }, &why);
    const struct refusal *refusal = refusals_newest(all, SLICE("app"));
    struct slice sent = refusal_sent(refusal);
    assert_int_equal(sent.size, REFUSAL_SENT_SIZE_MAX - 1);
    assert_true(slice_starts_with(sent, SLICE("abc xxx")));
    assert_int_equal(sent.data[sent.size - 1], 'x');
    assert_int_equal(refusal->size, sizeof(word) + 8);
    assert_slice_equal(refusal_reason(refusal), "too many");
    note(all, "app", 8, "");
    assert_int_equal(refusals_newest(all, SLICE("app"))->size, 0);
}

// A full disk or a reply without room say nothing about the task.
static void test_refusals__only_what_is_wrong_with_the_task_is_kept(void **state)
{
    struct namespaces *all = *state;
    struct slice sent = SLICE("A []");
    struct error why;
    for (int status = STATUS_OK + 1; status < STATUS_COUNT; status++) {
        (void)error_set(&why, (enum status)status, "because");
        refusals_note(all, SLICE("app"), 1, (struct slices){ &sent, 1 }, &why);
    }
    (void)error_set_reply(&why, "no room");
    refusals_note(all, SLICE("app"), 1, (struct slices){ &sent, 1 }, &why);
    assert_int_equal(count(all, "app"), 2);
    note(all, "", 1, "x");
    assert_int_equal(all->refusals.count, 2);
}

#define REFUSALS_TEST(test) cmocka_unit_test_setup_teardown(test, start, stop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        REFUSALS_TEST(test_refusals__the_newest_of_a_namespace_are_kept),
        REFUSALS_TEST(test_refusals__a_flood_of_names_does_not_drive_out_those_of_a_namespace),
        REFUSALS_TEST(test_refusals__the_namespace_with_the_most_loses_its_oldest),
        REFUSALS_TEST(test_refusals__what_was_sent_is_cut_between_characters),
        REFUSALS_TEST(test_refusals__only_what_is_wrong_with_the_task_is_kept),
    };
    return cmocka_run_group_tests_name("refusals", tests, NULL, NULL);
}
