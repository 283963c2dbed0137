// SPDX-License-Identifier: MIT
// Space that the store needs no more goes back to the disk, while it is open and when it is opened.
#include "store_test.h"

#include "test.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    RECORDS = 80,
    RECORD_SIZE = 50000,
    SPACE = 9,
    TOLERANCE = 8192,
    PAUSE_US = 2000,
    PAUSES_MAX = 20000,
};

static int set_up(void **state)
{
    static struct store_test test;
    store_test_init(&test);
    test.options.segment_size = 65536;
    test.options.segments_max = 64;
    test.options.checkpoint_us = 2000;
    *state = &test;
    return 0;
}

static int tear_down(void **state)
{
    store_test_release(*state);
    return 0;
}

// Bytes on disk of all files below a folder.
static uint64_t folder_size(const char *path)
{
    uint64_t size = 0;
    DIR *folder = opendir(path);
    assert_non_null(folder);
    const struct dirent *entry;
    while ((entry = readdir(folder))) {
        struct stat stat;
        char name[512];
        (void)snprintf(name, sizeof(name), "%s/%s", path, entry->d_name);
        if (entry->d_name[0] == '.' || lstat(name, &stat)) {
            continue; // or it has just been removed
        }
        size += S_ISDIR(stat.st_mode) ? folder_size(name) : (uint64_t)stat.st_blocks * 512;
    }
    closedir(folder);
    return size;
}

static void wait_for_size(struct store_test *test, uint64_t size)
{
    uint64_t is = 0;
    for (int i = 0; i < PAUSES_MAX; i++) {
        is = folder_size(test->path);
        if (is <= size + TOLERANCE) {
            return;
        }
        (void)usleep(PAUSE_US);
    }
    fail_msg("the folder has %llu bytes, a new one %llu", (unsigned long long)is,
             (unsigned long long)size);
}

static void append(struct store_test *test, uint64_t id, size_t size)
{
    static char bytes[RECORD_SIZE];
    memset(bytes, (int)('a' + id % 26), size);
    const struct store_record record = { { SPACE, { RECORD_BODY, id, 0 } },
                                         slice_make(bytes, size) };
    assert_int_equal(store_append(test->store, &record, 1, &test->group, &test->error), STATUS_OK);
}

// Half of them at once, so that the journal gets more files.
static void put_all(struct store_test *test)
{
    for (uint64_t i = 0; i < RECORDS; i++) {
        append(test, i, RECORD_SIZE);
        if (i > RECORDS / 2) {
            store_test_wait(test);
        }
    }
    assert_int_equal(store_checkpoint(test->store, &test->error), STATUS_OK);
}

static void remove_all(struct store_test *test)
{
    for (uint64_t i = 0; i < RECORDS; i++) {
        append(test, i, 0);
    }
    store_test_wait(test);
}

static uint64_t size_when_new(struct store_test *test)
{
    store_test_open(test);
    append(test, 0, 10);
    append(test, 0, 0);
    store_test_wait(test);
    assert_int_equal(store_checkpoint(test->store, &test->error), STATUS_OK);
    return folder_size(test->path);
}

static struct store_figures figures_of(struct store_test *test)
{
    struct store_figures figures;
    store_figures(test->store, &figures);
    return figures;
}

// What it says of itself may come a moment later.
static void wait_for_figures(struct store_test *test, uint64_t journal_bytes)
{
    for (int i = 0; i < PAUSES_MAX && (figures_of(test).compactions == 0 ||
                                       figures_of(test).journal_bytes != journal_bytes);
         i++) {
        (void)usleep(PAUSE_US);
    }
    assert_true(figures_of(test).compactions > 0);
    assert_int_equal(figures_of(test).journal_bytes, journal_bytes);
}

static void test_compact__when_all_is_gone_the_folder_is_as_small_as_a_new_one(void **state)
{
    struct store_test *test = *state;
    uint64_t size = size_when_new(test);
    for (int round = 0; round < 2; round++) {
        put_all(test);
        assert_true(folder_size(test->path) > size + (uint64_t)RECORDS * RECORD_SIZE);
        assert_true(figures_of(test).journal_bytes > 4 * test->options.segment_size);
        remove_all(test);
        wait_for_size(test, size);
        wait_for_figures(test, 4 * test->options.segment_size);
    }
    // It goes on in what is left, and all of it is there again.
    store_test_append(test);
    store_test_wait(test);
    store_test_close(test);
    store_test_open(test);
}

static void test_compact__what_was_left_is_given_back_at_the_next_opening(void **state)
{
    struct store_test *test = *state;
    uint64_t size = size_when_new(test);
    put_all(test);
    remove_all(test);
    store_test_close(test);
    store_test_open(test);
    wait_for_size(test, size);
    store_test_close(test);
    store_test_open(test);
}

static void test_compact__writes_and_backups_go_on_meanwhile(void **state)
{
    struct store_test *test = *state;
    test->options.compact_min = 16384;
    store_test_open(test);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 100; i++) {
            store_test_append(test);
            if (i % 5 == 0) {
                store_test_wait(test);
            }
        }
        put_all(test);
        remove_all(test);
        char path[128];
        (void)snprintf(path, sizeof(path), "%s/backup-%d", test->folder, round);
        assert_int_equal(store_checkpoint(test->store, &test->error), STATUS_OK);
        struct store_test copy = *test;
        assert_int_equal(store_backup(test->store, path, &test->error), STATUS_OK);
        copy.options.path = path;
        store_test_open(&copy);
        store_test_close(&copy);
        if (round % 2) {
            store_test_close(test);
            store_test_open(test);
        }
    }
}

static void make_file(const struct store_test *test, const char *name)
{
    char path[256];
    (void)snprintf(path, sizeof(path), "%s/%s", test->path, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, 1000), 0);
    (void)close(fd);
}

static void test_compact__what_a_crash_left_of_it_is_removed(void **state)
{
    struct store_test *test = *state;
    uint64_t size = size_when_new(test);
    store_test_close(test);
    make_file(test, "base/compact.mdb");
    make_file(test, "base/compact.mdb-lock");
    make_file(test, "journal-004");
    make_file(test, "journal-005");
    store_test_open(test);
    static const char *const names[] = { "base/compact.mdb", "base/compact.mdb-lock", "journal-004",
                                         "journal-005" };
    for (size_t i = 0; TEST_ROW_NAMED(i, names, names[i]); i++) {
        char path[256];
        (void)snprintf(path, sizeof(path), "%s/%s", test->path, names[i]);
        assert_int_not_equal(access(path, F_OK), 0);
    }
    wait_for_size(test, size);
}

#define COMPACT_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        COMPACT_TEST(test_compact__when_all_is_gone_the_folder_is_as_small_as_a_new_one),
        COMPACT_TEST(test_compact__what_was_left_is_given_back_at_the_next_opening),
        COMPACT_TEST(test_compact__writes_and_backups_go_on_meanwhile),
        COMPACT_TEST(test_compact__what_a_crash_left_of_it_is_removed),
    };
    return cmocka_run_group_tests_name("compact", tests, NULL, NULL);
}
