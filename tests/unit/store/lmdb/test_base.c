// SPDX-License-Identifier: MIT
#include "store/lmdb/base.h"

#include "store_test.h"

#include "test.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

// The C library's call, defined here so that a mapping can be refused: LMDB finds this one too. It
// has a name of its own in C, since the library's may be a macro.
void *call_mmap(void *at, size_t size, int protection, int flags, int fd,
                off_t offset) __asm__("mmap") __attribute__((used, visibility("default")));
void *call_mmap64(void *at, size_t size, int protection, int flags, int fd,
                  off_t offset) __asm__("mmap64")
    __attribute__((visibility("default"), alias("mmap")));

static size_t refused_size = SIZE_MAX; // mappings of files from this size on are refused,
static int granted;                    // but so many of them

void *call_mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
    if (fd >= 0 && size >= refused_size && granted-- <= 0) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    return (void *)syscall(SYS_mmap, at, size, protection, flags, fd, offset); // NOLINT
}

enum {
    LARGE_COUNT = 300,
};

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
    assert_int_equal(read.next.generation, 5);
    assert_int_equal(read.next.sector, 6);
    assert_int_equal(read.segments, 2);
    assert_int_equal(read.segment_size, 16384);
    assert_int_equal(read.count, record.count);
    assert_int_equal(read.sum, record.sum);
    assert_memory_equal(read.id, record.id, STORE_ID_SIZE);
    base_close(base);
}

// More than the 256 MiB that a base begins with, in one transaction.
static struct images large_images(void)
{
    static char bytes[1 << 20];
    static struct image items[LARGE_COUNT];
    memset(bytes, 'x', sizeof(bytes));
    for (size_t i = 0; i < LARGE_COUNT; i++) {
        items[i] = image_of(i, slice_make(bytes, sizeof(bytes)));
    }
    return (struct images){ .items = items, .count = LARGE_COUNT, .bytes_kept = 100 };
}

static void test_base__grows_by_itself_beyond_its_first_map(void **state)
{
    struct store_test *test = *state;
    struct base *base = open_base(test);
    struct base_record record = { .next = { 1, 1 } };
    const struct images images = large_images(); // which say that they are small
    assert_int_equal(base_commit(base, &images, &record, &test->error), STATUS_OK);
    assert_int_equal(record.count, LARGE_COUNT);
    assert_true(base_sizes(base).used > 300U << 20);
    base_close(base);
}

// As with a limit of address space: LMDB would go on without a map, and crash.
static void test_base__a_larger_map_that_is_refused_changes_nothing(void **state)
{
    struct store_test *test = *state;
    struct base *base = open_base(test);
    struct base_record record = { .next = { 1, 1 } };
    for (int known = 0; known < 2; known++) {
        struct images images = large_images();
        images.bytes_kept = known ? (size_t)LARGE_COUNT << 20 : 100;
        refused_size = 257U << 20;
        for (int i = 0; i < 3; i++) {
            assert_int_equal(base_commit(base, &images, &record, &test->error), STATUS_NO_MEMORY);
            assert_non_null(strstr(test->error.detail, "address space"));
            assert_int_equal(record.count, 0);
        }
        refused_size = SIZE_MAX;
        assert_true(base_sizes(base).live < 1 << 20);
        struct image small = image_of(1, SLICE("small"));
        commit(test, base, &small, 1, &record);
        small.bytes = SLICE_EMPTY;
        commit(test, base, &small, 1, &record);
    }
    const struct images images = large_images();
    assert_int_equal(base_commit(base, &images, &record, &test->error), STATUS_OK);
    assert_int_equal(record.count, LARGE_COUNT);
    base_close(base);
}

static void test_base__a_map_that_is_lost_is_an_error_that_stays(void **state)
{
    struct store_test *test = *state;
    struct base *base = open_base(test);
    struct base_record record = { .next = { 1, 1 } };
    commit(test, base, NULL, 0, &record);
    const struct images images = large_images();
    refused_size = 257U << 20;
    granted = 1; // it is tried first, and then it is refused
    assert_int_equal(base_commit(base, &images, &record, &test->error), STATUS_IO);
    refused_size = SIZE_MAX;
    granted = 0;
    assert_int_equal(base_commit(base, &images, &record, &test->error), STATUS_IO);
    assert_int_equal(base_copy(base, -1, &test->error), STATUS_IO);
    base_close(base);
    base = open_base(test);
    assert_int_equal(base_record(base, &record, &test->error), STATUS_OK);
    base_close(base);
}

#define BASE_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        BASE_TEST(test_base__its_record_comes_back_with_count_and_sum),
        BASE_TEST(test_base__grows_by_itself_beyond_its_first_map),
        BASE_TEST(test_base__a_larger_map_that_is_refused_changes_nothing),
        BASE_TEST(test_base__a_map_that_is_lost_is_an_error_that_stays),
    };
    return cmocka_run_group_tests_name("base", tests, NULL, NULL);
}
