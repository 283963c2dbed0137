// SPDX-License-Identifier: MIT
// What is read of a store, whole and damaged, against a plain memory of what was in it.
#include "store_test.h"

#include "store/salvage/salvage.h"

#include "test.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    PATH_SIZE = 128,
    APPENDS = 40,
    PAGES_TRIED = 40,
};

static int start(void **state)
{
    struct store_test *test = calloc(1, sizeof(*test));
    assert_non_null(test);
    store_test_init(test);
    store_test_open(test);
    for (int i = 0; i < APPENDS; i++) {
        store_test_append(test);
    }
    store_test_wait(test);
    *state = test;
    return 0;
}

static int end(void **state)
{
    store_test_release(*state);
    free(*state);
    return 0;
}

// Changes a byte of a file.
static void flip(const struct store_test *test, const char *name, off_t at)
{
    char path[PATH_SIZE], byte;
    (void)snprintf(path, sizeof(path), "%s/%s", test->path, name);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(pread(fd, &byte, 1, at), 1);
    byte = (char)(byte ^ 0x10);
    assert_int_equal(pwrite(fd, &byte, 1, at), 1);
    assert_int_equal(close(fd), 0);
}

static void count_bad(void *context, bool bad, double share, const char *sentence)
{
    size_t *count = context;
    *count += bad && sentence;
    assert_true(share >= 0 && share <= 1);
}

// Reads what is left. Says how many records that is, all of which are as they should be.
static size_t read_all(struct store_test *test, size_t *bad, bool *lossy)
{
    struct salvage_folder held;
    struct salvaged salvaged;
    *bad = 0;
    struct reporter reporter = { .report = count_bad, .context = bad };
    const struct store_visitor visitor = store_test_visitor(test);
    assert_int_equal(salvage_hold(test->path, false, &held, &test->error), STATUS_OK);
    assert_int_equal(salvage_read(&held, &allocator_system, &reporter, &salvaged, &test->error),
                     STATUS_OK);
    salvage_let_go(&held);
    size_t count = 0;
    for (size_t i = 0; i < salvaged.images.count; i++) {
        const struct image *image = &salvaged.images.items[i];
        if (image->bytes.size) {
            assert_int_equal(visitor.visit(visitor.context, image->key, image->bytes, &test->error),
                             STATUS_OK);
            count++;
        }
    }
    *lossy = salvaged.lossy;
    salvage_release(&salvaged);
    return count;
}

static size_t expected(const struct store_test *test)
{
    size_t count = 0;
    for (size_t i = 0; i < TEST_KEYS; i++) {
        count += test->values[i] != 0;
    }
    return count;
}

static void test_remains__of_a_whole_store_are_all_of_it(void **state)
{
    struct store_test *test = *state;
    size_t bad;
    bool lossy;
    store_test_close(test);
    assert_int_equal(read_all(test, &bad, &lossy), expected(test));
    assert_int_equal(bad, 0);
    assert_false(lossy);
}

static void test_remains__a_header_is_not_needed(void **state)
{
    struct store_test *test = *state;
    size_t bad;
    bool lossy;
    store_test_close(test);
    for (int i = 0; i < 4; i++) {
        char name[32];
        (void)snprintf(name, sizeof(name), "journal-%03d", i);
        flip(test, name, 20);
    }
    store_test_refused(test, STATUS_CORRUPT);
    assert_int_equal(read_all(test, &bad, &lossy), expected(test));
    assert_int_equal(bad, 4);
    assert_false(lossy);
}

// Whatever byte of the base is hit: what is read is right, and at most one record is missing.
static void test_remains__a_byte_of_the_base_costs_one_record(void **state)
{
    struct store_test *test = *state;
    size_t damaged = 0;
    store_test_close(test);
    for (off_t at = 3; at < (off_t)PAGES_TRIED * 4096; at += 997) {
        size_t bad;
        bool lossy;
        flip(test, "base/data.mdb", at);
        size_t found = read_all(test, &bad, &lossy);
        assert_true(found <= expected(test) && found + 1 >= expected(test));
        assert_true(lossy || found == expected(test));
        damaged += bad > 0;
        flip(test, "base/data.mdb", at);
    }
    assert_true(damaged > 0);
}

static void test_remains__look_says_what_opening_says(void **state)
{
    struct store_test *test = *state;
    struct salvage_folder held;
    struct error error = { 0 };
    uint64_t torn;
    const struct store_visitor visitor = store_test_visitor(test);
    store_test_close(test);
    test->found = 0;
    assert_int_equal(salvage_hold(test->path, false, &held, &error), STATUS_OK);
    assert_int_equal(salvage_look(&held, test->path, &allocator_system, &visitor, &torn, &error),
                     STATUS_OK);
    assert_int_equal(test->found, expected(test));
    flip(test, "journal-000", 5);
    assert_int_equal(salvage_look(&held, test->path, &allocator_system, &visitor, &torn, &error),
                     STATUS_CORRUPT);
    salvage_let_go(&held);
    store_test_refused(test, STATUS_CORRUPT);
    assert_non_null(strstr(test->error.detail, error.detail));
}

static void test_remains__a_store_that_is_open_is_busy(void **state)
{
    struct store_test *test = *state;
    struct salvage_folder held;
    assert_int_equal(salvage_hold(test->path, true, &held, &test->error), STATUS_BUSY);
    store_test_close(test);
    assert_int_equal(salvage_hold(test->path, true, &held, &test->error), STATUS_OK);
    store_test_refused(test, STATUS_BUSY);
    salvage_let_go(&held);
    store_test_open(test);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_remains__of_a_whole_store_are_all_of_it, start, end),
        cmocka_unit_test_setup_teardown(test_remains__a_header_is_not_needed, start, end),
        cmocka_unit_test_setup_teardown(test_remains__a_byte_of_the_base_costs_one_record, start,
                                        end),
        cmocka_unit_test_setup_teardown(test_remains__look_says_what_opening_says, start, end),
        cmocka_unit_test_setup_teardown(test_remains__a_store_that_is_open_is_busy, start, end),
    };
    return cmocka_run_group_tests_name("remains", tests, NULL, NULL);
}
