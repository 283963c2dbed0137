// SPDX-License-Identifier: MIT
// What opening does with a journal that is torn, damaged or incomplete.
#include "store_test.h"

#include "store/journal/sector.h"
#include "store/journal/segments.h"

#include "test.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

// A store with two groups that the base does not have, copied as a crash would leave it.
struct crashed {
    struct store_test test;
    struct store_test copy;
    char path[128];
    uint32_t before[TEST_KEYS]; // without the last group
};

static struct crashed crashed;

static int open_segment(const struct crashed *c, uint32_t number)
{
    char path[256];
    (void)snprintf(path, sizeof(path), "%s/journal-%03u", c->path, number);
    return open(path, O_RDWR);
}

// The last group's sectors, in the first file that has some.
static int last_group(const struct crashed *c, off_t *first, off_t *last)
{
    for (uint32_t number = 0; number < 6; number++) {
        int fd = open_segment(c, number);
        char sector[SECTOR_SIZE];
        *first = -1;
        for (off_t at = SECTOR_SIZE; fd >= 0 && pread(fd, sector, SECTOR_SIZE, at) == SECTOR_SIZE;
             at += SECTOR_SIZE) {
            uint64_t group;
            memcpy(&group, sector + 8, sizeof(group));
            if (group == c->test.group) {
                *first = *first < 0 ? at : *first;
                *last = at;
            }
        }
        if (*first >= 0) {
            return fd;
        }
        if (fd >= 0) {
            close(fd);
        }
    }
    fail_msg("the last group is nowhere");
    return -1;
}

// Whether the last group is in one file, and the sector before it is the group before it.
static bool last_group_stands_inside(void)
{
    off_t first, last;
    (void)snprintf(crashed.path, sizeof(crashed.path), "%s", crashed.test.path);
    int fd = last_group(&crashed, &first, &last);
    off_t size = lseek(fd, 0, SEEK_END);
    close(fd);
    return first > SECTOR_SIZE && last + SECTOR_SIZE < size;
}

static int set_up(void **state)
{
    struct store_test *test = &crashed.test;
    store_test_init(test);
    test->options.checkpoint_us = INT64_MAX / 4;
    store_test_open(test);
    for (int i = 0; i < 20; i++) {
        store_test_append(test);
    }
    store_test_wait(test);
    assert_int_equal(store_checkpoint(test->store, &test->error), STATUS_OK);
    do {
        store_test_append(test);
        store_test_wait(test);
        memcpy(crashed.before, test->values, sizeof(crashed.before));
        store_test_append(test);
        store_test_wait(test);
    } while (!last_group_stands_inside());
    (void)snprintf(crashed.path, sizeof(crashed.path), "%s/crashed", test->folder);
    store_test_copy(test->path, crashed.path);
    crashed.copy = *test;
    crashed.copy.store = NULL;
    crashed.copy.options.path = crashed.path;
    crashed.copy.options.log_context = &crashed.copy;
    *state = &crashed;
    return 0;
}

static int tear_down(void **state)
{
    struct crashed *c = *state;
    if (c->copy.store) {
        store_test_close(&c->copy);
    }
    store_test_release(&c->test);
    return 0;
}

static void zero(int fd, off_t at)
{
    static const char zeros[SECTOR_SIZE];
    assert_int_equal(pwrite(fd, zeros, sizeof(zeros), at), sizeof(zeros));
}

static void test_recover__what_was_durable_is_there(void **state)
{
    struct crashed *c = *state;
    store_test_open(&c->copy);
    assert_string_equal(c->copy.log, "");
}

static void test_recover__a_torn_group_is_cut_and_said_so(void **state)
{
    struct crashed *c = *state;
    off_t first, last;
    int fd = last_group(c, &first, &last);
    zero(fd, first);
    close(fd);
    memcpy(c->copy.values, c->before, sizeof(c->before));
    if (last > first) {
        store_test_open(&c->copy);
        assert_non_null(strstr(c->copy.log, "are cut"));
        // And it can go on from there.
        store_test_append(&c->copy);
        store_test_close(&c->copy);
    }
    store_test_open(&c->copy);
}

static void test_recover__a_damaged_last_group_is_not_taken_for_a_torn_one(void **state)
{
    struct crashed *c = *state;
    off_t first, last;
    int fd = last_group(c, &first, &last);
    char byte;
    assert_int_equal(pread(fd, &byte, 1, last + 100), 1);
    byte ^= 1;
    assert_int_equal(pwrite(fd, &byte, 1, last + 100), 1);
    close(fd);
    store_test_refused(&c->copy, STATUS_CORRUPT);
    assert_non_null(strstr(c->copy.error.detail, "damaged at byte"));
}

static void test_recover__a_hole_before_a_group_that_knew_better_is_refused(void **state)
{
    struct crashed *c = *state;
    off_t first, last;
    int fd = last_group(c, &first, &last);
    // The sector before it is the last one of the group before it.
    assert_true(first > SECTOR_SIZE);
    zero(fd, first - SECTOR_SIZE);
    close(fd);
    store_test_refused(&c->copy, STATUS_CORRUPT);
    assert_non_null(strstr(c->copy.error.detail, "is missing from the journal"));
}

static void test_recover__a_missing_segment_is_refused(void **state)
{
    struct crashed *c = *state;
    char path[256];
    (void)snprintf(path, sizeof(path), "%s/journal-001", c->path);
    assert_int_equal(unlink(path), 0);
    store_test_refused(&c->copy, STATUS_CORRUPT);
    assert_string_equal(c->copy.error.detail,
                        "journal-001 is missing; nothing was changed: restore a backup, or see "
                        "`sluice doctor`");
}

static void test_recover__a_missing_base_is_refused(void **state)
{
    struct crashed *c = *state;
    char path[256];
    (void)snprintf(path, sizeof(path), "%s/base/data.mdb", c->path);
    assert_int_equal(unlink(path), 0);
    store_test_refused(&c->copy, STATUS_CORRUPT);
    assert_non_null(strstr(c->copy.error.detail, "base/data.mdb is missing; nothing"));
    (void)snprintf(path, sizeof(path), "%s/base/lock.mdb", c->path);
    assert_int_equal(unlink(path), 0);
    (void)snprintf(path, sizeof(path), "%s/base", c->path);
    assert_int_equal(rmdir(path), 0);
    store_test_refused(&c->copy, STATUS_CORRUPT);
    assert_non_null(strstr(c->copy.error.detail, "has been used"));
}

#define RECOVER_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        RECOVER_TEST(test_recover__what_was_durable_is_there),
        RECOVER_TEST(test_recover__a_torn_group_is_cut_and_said_so),
        RECOVER_TEST(test_recover__a_damaged_last_group_is_not_taken_for_a_torn_one),
        RECOVER_TEST(test_recover__a_hole_before_a_group_that_knew_better_is_refused),
        RECOVER_TEST(test_recover__a_missing_segment_is_refused),
        RECOVER_TEST(test_recover__a_missing_base_is_refused),
    };
    return cmocka_run_group_tests_name("recover", tests, NULL, NULL);
}
