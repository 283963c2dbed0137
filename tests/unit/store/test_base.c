// SPDX-License-Identifier: MIT
#include "store/base.h"

#include "store_test.h"

#include "test.h"

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

static struct base *open_base(struct store_test *test)
{
    struct base *base;
    assert_int_equal(base_open(test->folder, ".", &allocator_system, &base, &test->error),
                     STATUS_OK);
    return base;
}

static void commit(struct store_test *test, struct base *base, struct image *items, size_t count,
                   struct base_record *record)
{
    const struct images images = { .items = items, .count = count, .bytes_kept = 100 };
    assert_int_equal(base_commit(base, &images, record, &test->error), STATUS_OK);
}

static struct image image_of(uint64_t id, struct slice bytes)
{
    return (struct image){ .key = { 1, { RECORD_HEAD, id, 0 } }, .bytes = bytes };
}

static void test_base__its_record_comes_back_with_count_and_sum(void **state)
{
    struct store_test *test = *state;
    struct base *base = open_base(test);
    struct base_record record = { .id = "0123456789abcde", .next = { 1, 1 } }, read;
    record.segments = 2;
    record.segment_size = 16384;
    commit(test, base, NULL, 0, &record);
    assert_int_equal(record.count, 0);

    struct image two[] = { image_of(1, SLICE("one")), image_of(2, SLICE("two")) };
    commit(test, base, two, 2, &record);
    assert_int_equal(record.count, 2);
    uint64_t sum = record.sum;

    // The same again changes nothing; another value does; without one they are gone.
    commit(test, base, two, 2, &record);
    assert_int_equal(record.count, 2);
    assert_int_equal(record.sum, sum);
    two[1] = image_of(2, SLICE("another"));
    commit(test, base, two, 2, &record);
    assert_int_equal(record.count, 2);
    assert_int_not_equal(record.sum, sum);
    two[1] = image_of(2, SLICE("two"));
    commit(test, base, two, 2, &record);
    assert_int_equal(record.sum, sum);
    two[0] = image_of(1, SLICE_EMPTY);
    two[1] = image_of(3, SLICE_EMPTY);
    record.covered = 77;
    record.next = (struct position){ 5, 6 };
    commit(test, base, two, 2, &record);
    assert_int_equal(record.count, 1);

    base_close(base);
    base = open_base(test);
    assert_int_equal(base_record(base, &read, &test->error), STATUS_OK);
    assert_int_equal(read.covered, 77);
    assert_int_equal(read.next.turn, 5);
    assert_int_equal(read.next.sector, 6);
    assert_int_equal(read.segments, 2);
    assert_int_equal(read.segment_size, 16384);
    assert_int_equal(read.count, record.count);
    assert_int_equal(read.sum, record.sum);
    assert_memory_equal(read.id, record.id, STORE_ID_SIZE);
    base_close(base);
}

static void test_base__grows_by_itself_beyond_its_first_map(void **state)
{
    struct store_test *test = *state;
    struct base *base = open_base(test);
    struct base_record record = { .next = { 1, 1 } };
    static char bytes[1 << 20];
    memset(bytes, 'x', sizeof(bytes));
    // More than the 256 MiB that it begins with, in one transaction that says it is small.
    static struct image items[300];
    for (size_t i = 0; i < 300; i++) {
        items[i] = image_of(i, slice_make(bytes, sizeof(bytes)));
    }
    commit(test, base, items, 300, &record);
    assert_int_equal(record.count, 300);
    assert_true(base_size(base) > 300U << 20);
    base_close(base);
}

#define BASE_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        BASE_TEST(test_base__its_record_comes_back_with_count_and_sum),
        BASE_TEST(test_base__grows_by_itself_beyond_its_first_map),
    };
    return cmocka_run_group_tests_name("base", tests, NULL, NULL);
}
