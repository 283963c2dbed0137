// SPDX-License-Identifier: MIT
#include "store_test.h"

#include "test.h"

#include <poll.h>
#include <string.h>

static int set_up(void **state)
{
    static struct store_test test;
    store_test_init(&test);
    *state = &test;
    return 0;
}

static int tear_down(void **state)
{
    store_test_release(*state);
    return 0;
}

#define STORE_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

static void test_store__a_new_one_is_empty(void **state)
{
    struct store_test *test = *state;
    store_test_open(test);
    assert_int_equal(store_durable(test->store), 0);
    assert_int_equal(store_state(test->store, NULL), STORE_READY);
    store_test_close(test);
    store_test_open(test);
}

static void test_store__what_was_closed_is_there_again(void **state)
{
    struct store_test *test = *state;
    for (int round = 0; round < 5; round++) {
        store_test_open(test);
        for (int i = 0; i < 300; i++) {
            store_test_append(test);
            if (i % 7 == 0) {
                store_test_wait(test);
            }
        }
        store_test_close(test);
    }
    store_test_open(test);
}

// As a crash would leave it: the folder copied while the store is open.
static void test_store__what_is_durable_survives_a_crash(void **state)
{
    struct store_test *test = *state;
    char copy[128];
    for (int durability = STORE_ALWAYS; durability <= STORE_NEVER; durability++) {
        test->options.durability = (enum store_durability)durability;
        store_test_open(test);
        for (int round = 0; round < 10; round++) {
            for (int i = 0; i < 40; i++) {
                store_test_append(test);
                if (i % 3 == 0) {
                    store_test_wait(test);
                }
            }
            store_test_wait(test);
            // No checkpoint while the files are copied one after the other.
            assert_int_equal(store_checkpoint(test->store, &test->error), STATUS_OK);
            store_test_append(test);
            store_test_append(test);
            store_test_wait(test);
            (void)snprintf(copy, sizeof(copy), "%s/copy-%d-%d", test->folder, durability, round);
            store_test_copy(test->path, copy);
            struct store_test other = *test;
            other.options.path = copy;
            store_test_open(&other);
            store_test_append(&other);
            store_test_close(&other);
            store_test_open(&other);
            store_test_close(&other);
        }
        store_test_close(test);
    }
}

static void test_store__says_what_is_durable(void **state)
{
    struct store_test *test = *state;
    store_test_open(test);
    struct pollfd poll_for = { .fd = store_event(test->store), .events = POLLIN };
    uint64_t before = store_durable(test->store);
    store_test_append(test);
    while (store_durable(test->store) < test->group) {
        assert_int_equal(poll(&poll_for, 1, -1), 1);
        store_event_clear(test->store);
    }
    assert_true(store_durable(test->store) > before);
    struct store_figures figures;
    store_figures(test->store, &figures);
    assert_true(figures.groups >= 1 && figures.syncs >= 1);
}

static void test_store__a_group_is_waited_for_no_longer_than_asked(void **state)
{
    struct store_test *test = *state;
    store_test_open(test);
    store_test_append(test);
    // Nothing is in the next one, so that it never becomes durable.
    assert_int_equal(store_wait_until(test->store, test->group + 1, 1, &test->error), STATUS_BUSY);
    assert_int_equal(store_wait_until(test->store, test->group, INT64_MAX, &test->error),
                     STATUS_OK);
    assert_int_equal(store_wait_until(test->store, test->group, 1, &test->error), STATUS_OK);
    store_test_close(test);
}

static void test_store__a_group_may_be_larger_than_the_journal(void **state)
{
    struct store_test *test = *state;
    store_test_open(test);
    static char bytes[400000];
    memset(bytes, 'x', sizeof(bytes));
    const struct store_record record = { { 9, { RECORD_BODY, 5, 0 } },
                                         slice_make(bytes, sizeof(bytes)) };
    const struct store_record gone = { record.key, SLICE_EMPTY };
    uint64_t group;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(store_append(test->store, &record, 1, &group, &test->error), STATUS_OK);
        assert_int_equal(store_wait(test->store, group, &test->error), STATUS_OK);
    }
    assert_int_equal(store_append(test->store, &gone, 1, &group, &test->error), STATUS_OK);
    store_test_close(test);
    store_test_open(test);
}

static void test_store__says_how_much_the_journal_has_room_for(void **state)
{
    enum {
        ROOM = 496,              // of a sector
        SECTORS = 16384 / 512,   // of a segment, with its head
        ALL = 4 * (SECTORS - 1), // of a new store
    };
    struct store_test *test = *state;
    store_test_open(test);
    assert_int_equal(store_room(test->store), ALL * ROOM);
    static const char bytes[4 * ROOM];
    const struct store_record record = { { 9, { RECORD_BODY, 5, 0 } },
                                         slice_make(bytes, sizeof(bytes)) };
    const struct store_record gone = { record.key, SLICE_EMPTY };
    uint64_t group;
    for (int i = 1; i <= 8; i++) {
        // On the way it counts already, and when it is there it counts no more than that.
        assert_int_equal(store_append(test->store, &record, 1, &group, &test->error), STATUS_OK);
        assert_int_equal(store_room(test->store), (ALL - 5 * i) * ROOM);
        assert_int_equal(store_wait(test->store, group, &test->error), STATUS_OK);
        assert_int_equal(store_room(test->store), (ALL - 5 * i) * ROOM);
    }
    assert_int_equal(store_append(test->store, &gone, 1, &group, &test->error), STATUS_OK);
    store_test_close(test);
    store_test_open(test);
}

static void test_store__who_was_told_that_it_is_busy_is_told_when_it_is_over(void **state)
{
    struct store_test *test = *state;
    static const char bytes[20000];
    uint64_t group;
    store_test_open(test);
    struct pollfd poll_for = { .fd = store_event(test->store), .events = POLLIN };
    for (uint64_t i = 0; i < 500; i++) {
        const struct store_record record = { { 9, { RECORD_BODY, i % 5, 0 } },
                                             slice_make(bytes, sizeof(bytes)) };
        assert_int_equal(store_append(test->store, &record, 1, &group, &test->error), STATUS_OK);
        while (store_state(test->store, NULL) == STORE_BUSY) {
            assert_int_equal(poll(&poll_for, 1, 30000), 1);
            store_event_clear(test->store);
        }
        assert_int_equal(store_state(test->store, NULL), STORE_READY);
    }
    for (uint64_t i = 0; i < 5; i++) {
        const struct store_record gone = { { 9, { RECORD_BODY, i, 0 } }, SLICE_EMPTY };
        assert_int_equal(store_append(test->store, &gone, 1, &group, &test->error), STATUS_OK);
    }
    store_test_close(test);
    store_test_open(test);
}

static void test_store__two_at_once_are_refused(void **state)
{
    struct store_test *test = *state;
    store_test_open(test);
    store_test_refused(test, STATUS_BUSY);
    assert_non_null(strstr(test->error.detail, "is open in process"));
}

static void test_store__options_that_make_no_sense_are_refused(void **state)
{
    struct store_test *test = *state;
    test->options.segment_size = 1000;
    store_test_refused(test, STATUS_INVALID);
    test->options.segment_size = 16384;
    test->options.segments_max = 1;
    store_test_refused(test, STATUS_INVALID);
    test->options.segments_max = 2;
    store_test_open(test);
}

static void test_backup__is_a_store_while_writes_go_on(void **state)
{
    struct store_test *test = *state;
    char path[128];
    store_test_open(test);
    for (int round = 0; round < 10; round++) {
        for (int i = 0; i < 50; i++) {
            store_test_append(test);
        }
        store_test_wait(test);
        (void)snprintf(path, sizeof(path), "%s/backup-%d", test->folder, round);
        assert_int_equal(store_backup(test->store, path, &test->error), STATUS_OK);
        struct store_test other = *test;
        other.options.path = path;
        store_test_open(&other);
        for (int i = 0; i < 50; i++) {
            store_test_append(&other);
        }
        store_test_close(&other);
        store_test_open(&other);
        store_test_close(&other);
    }
    assert_int_equal(store_backup(test->store, path, &test->error), STATUS_EXISTS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_TEST(test_store__a_new_one_is_empty),
        STORE_TEST(test_store__what_was_closed_is_there_again),
        STORE_TEST(test_store__what_is_durable_survives_a_crash),
        STORE_TEST(test_store__says_what_is_durable),
        STORE_TEST(test_store__a_group_is_waited_for_no_longer_than_asked),
        STORE_TEST(test_store__a_group_may_be_larger_than_the_journal),
        STORE_TEST(test_store__says_how_much_the_journal_has_room_for),
        STORE_TEST(test_store__who_was_told_that_it_is_busy_is_told_when_it_is_over),
        STORE_TEST(test_store__two_at_once_are_refused),
        STORE_TEST(test_store__options_that_make_no_sense_are_refused),
        STORE_TEST(test_backup__is_a_store_while_writes_go_on),
    };
    return cmocka_run_group_tests_name("store", tests, NULL, NULL);
}
