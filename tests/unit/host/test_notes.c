// SPDX-License-Identifier: MIT
#include "host_test.h"

#include "base/bytes.h"
#include "store/directory.h"

static struct note *set(struct host_test *test, struct ns *ns, struct note *before,
                        const char *text)
{
    struct note *note;
    assert_int_equal(note_set(ns, before, slice_from_cstr(text), &note, &test->error), STATUS_OK);
    return note;
}

// The texts in their order, each with a bar behind it.
static void expect_notes(const struct note *first, const char *wanted)
{
    char text[256] = "";
    struct buffer out = { .data = text, .capacity = sizeof(text), .size_max = sizeof(text) - 1 };
    for (const struct note *at = first; at; at = at->next) {
        buffer_append(&out, note_text(at));
        buffer_append_char(&out, '|');
    }
    assert_slice_equal(buffer_slice(&out), wanted);
}

static void test_notes__are_there_after_a_restart_in_their_order(void **state)
{
    struct host_test *test = *state;
    struct ns *ns = host_test_use(test, "app");
    (void)set(test, ns, NULL, "one");
    struct note *two = set(test, ns, NULL, "two");
    (void)set(test, ns, NULL, "");
    (void)set(test, host_test_use(test, "other"), NULL, "elsewhere");
    (void)set(test, ns, two, "second"); // in the place of the former one
    expect_notes(ns->notes, "one|second||");
    host_test_reopen(test);
    expect_notes(host_test_use(test, "app")->notes, "one|second||");
    expect_notes(host_test_use(test, "other")->notes, "elsewhere|");
}

static void test_notes__one_that_is_unset_stays_away(void **state)
{
    struct host_test *test = *state;
    struct ns *ns = host_test_use(test, "app");
    struct note *one = set(test, ns, NULL, "one");
    (void)set(test, ns, NULL, "two");
    assert_int_equal(note_unset(ns, one, &test->error), STATUS_OK);
    expect_notes(ns->notes, "two|");
    host_test_reopen(test);
    ns = host_test_use(test, "app");
    expect_notes(ns->notes, "two|");
    (void)set(test, ns, NULL, "three"); // under a number that no other note has
    host_test_reopen(test);
    expect_notes(host_test_use(test, "app")->notes, "two|three|");
}

static void test_notes__of_the_host_belong_to_no_namespace(void **state)
{
    struct host_test *test = *state;
    struct note *note;
    (void)set(test, host_test_use(test, "app"), NULL, "of app");
    assert_int_equal(host_note_set(&test->all, NULL, SLICE("of the host"), &note, &test->error),
                     STATUS_OK);
    host_test_reopen(test);
    expect_notes(test->all.notes, "of the host|");
    expect_notes(host_test_use(test, "app")->notes, "of app|");
    assert_int_equal(host_note_unset(&test->all, test->all.notes, &test->error), STATUS_OK);
    host_test_reopen(test);
    expect_notes(test->all.notes, "");
}

static void test_notes__go_with_their_namespace(void **state)
{
    struct host_test *test = *state;
    (void)set(test, host_test_use(test, "app"), NULL, "one");
    assert_int_equal(namespaces_delete(&test->all, SLICE("app"), &test->error), STATUS_OK);
    host_test_reopen(test);
    expect_notes(host_test_use(test, "app")->notes, "");
}

static void test_notes__records_that_make_no_sense_are_corrupt(void **state)
{
    struct host_test *test = *state;
    char bytes[DIRECTORY_NOTE_HEADER + 1] = { 1 };
    struct ns *ns = host_test_use(test, "app");
    const struct row {
        char version;
        uint32_t space;
        size_t size;
        enum status status;
    } rows[] = {
        { 1, ns->space, sizeof(bytes), STATUS_OK },
        { 1, ns->space, DIRECTORY_NOTE_HEADER, STATUS_OK },
        { 1, ns->space, DIRECTORY_NOTE_HEADER - 1, STATUS_CORRUPT },
        { 2, ns->space, sizeof(bytes), STATUS_CORRUPT },
        { 1, ns->space + 7, sizeof(bytes), STATUS_CORRUPT },
        { 1, DIRECTORY_SPACE, sizeof(bytes), STATUS_OK },
    };
    for (size_t i = 0; TEST_ROW(i, rows); i++) {
        bytes[0] = rows[i].version;
        bytes_store_u32(bytes + 1, rows[i].space);
        assert_int_equal(notes_visit(&test->all, directory_note_key(i + 1).record,
                                     slice_make(bytes, rows[i].size), &test->error),
                         rows[i].status);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        HOST_TEST(test_notes__are_there_after_a_restart_in_their_order),
        HOST_TEST(test_notes__one_that_is_unset_stays_away),
        HOST_TEST(test_notes__of_the_host_belong_to_no_namespace),
        HOST_TEST(test_notes__go_with_their_namespace),
        HOST_TEST(test_notes__records_that_make_no_sense_are_corrupt),
    };
    return cmocka_run_group_tests_name("notes", tests, NULL, NULL);
}
