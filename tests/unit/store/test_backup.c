// SPDX-License-Identifier: MIT
#include "store_test.h"

#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    PATH_SIZE = 128,
};

static int start(void **state)
{
    struct store_test *test = calloc(1, sizeof(*test));
    assert_non_null(test);
    store_test_init(test);
    store_test_open(test);
    for (int i = 0; i < 50; i++) {
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

static void path_in(const struct store_test *test, const char *name, char out[PATH_SIZE])
{
    (void)snprintf(out, PATH_SIZE, "%s/%s", test->folder, name);
}

static bool is_there(const struct store_test *test, const char *name)
{
    char path[PATH_SIZE];
    path_in(test, name, path);
    return access(path, F_OK) == 0;
}

static void make_file(const struct store_test *test, const char *name)
{
    char path[PATH_SIZE];
    path_in(test, name, path);
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "x", 1), 1);
    assert_int_equal(close(fd), 0);
}

static void make_folder(const struct store_test *test, const char *name)
{
    char path[PATH_SIZE];
    path_in(test, name, path);
    assert_int_equal(mkdir(path, 0700), 0);
}

static enum status backup(struct store_test *test, const char *name)
{
    char path[PATH_SIZE];
    path_in(test, name, path);
    return store_backup(test->store, path, &test->error);
}

// A store, with all that should be in it.
static void expect_whole(const struct store_test *test, const char *name)
{
    char path[PATH_SIZE];
    struct store_test other = *test;
    path_in(test, name, path);
    other.options.path = path;
    store_test_open(&other);
    store_test_close(&other);
}

static void test_backup__has_another_name_until_it_is_whole(void **state)
{
    struct store_test *test = *state;
    assert_int_equal(backup(test, "copy"), STATUS_OK);
    assert_false(is_there(test, "copy.part"));
    expect_whole(test, "copy");
}

static void test_backup__a_path_may_end_with_a_slash(void **state)
{
    struct store_test *test = *state;
    assert_int_equal(backup(test, "copy/"), STATUS_OK);
    expect_whole(test, "copy");
    assert_int_equal(backup(test, "copy/"), STATUS_EXISTS);
}

static void test_backup__what_one_that_was_cut_short_left_goes(void **state)
{
    struct store_test *test = *state;
    make_folder(test, "copy.part");
    make_folder(test, "copy.part/base.new");
    make_file(test, "copy.part/base.new/data.mdb");
    make_file(test, "copy.part/base.new/lock.mdb");
    for (int i = 0; i < 70; i++) {
        char name[64];
        (void)snprintf(name, sizeof(name), "copy.part/journal-%03d", i);
        make_file(test, name);
    }
    assert_int_equal(backup(test, "copy"), STATUS_OK);
    assert_false(is_there(test, "copy.part"));
    expect_whole(test, "copy");
    // The same when it was about to get its name.
    make_folder(test, "more.part");
    make_folder(test, "more.part/base");
    make_file(test, "more.part/base/data.mdb");
    make_file(test, "more.part/journal-000");
    assert_int_equal(backup(test, "more"), STATUS_OK);
    expect_whole(test, "more");
}

static void test_backup__what_is_not_a_backup_is_left_alone(void **state)
{
    struct store_test *test = *state;
    make_file(test, "copy");
    assert_int_equal(backup(test, "copy"), STATUS_EXISTS);
    make_folder(test, "more.part");
    make_file(test, "more.part/letter");
    assert_int_not_equal(backup(test, "more"), STATUS_OK);
    assert_non_null(strstr(test->error.detail, "more.part"));
    assert_true(is_there(test, "more.part/letter"));
    assert_false(is_there(test, "more"));
    make_folder(test, "used.part");
    make_file(test, "used.part/lock");
    make_file(test, "used.part/journal-000");
    assert_int_not_equal(backup(test, "used"), STATUS_OK);
    assert_true(is_there(test, "used.part/journal-000"));
    // The store is not the worse for it.
    assert_int_equal(backup(test, "another"), STATUS_OK);
    expect_whole(test, "another");
}

static void test_backup__into_a_folder_that_is_not_there_is_refused(void **state)
{
    struct store_test *test = *state;
    assert_int_equal(backup(test, "none/copy"), STATUS_NOT_FOUND);
    assert_non_null(strstr(test->error.detail, "none/copy"));
    assert_false(is_there(test, "none"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_backup__has_another_name_until_it_is_whole, start,
                                        end),
        cmocka_unit_test_setup_teardown(test_backup__a_path_may_end_with_a_slash, start, end),
        cmocka_unit_test_setup_teardown(test_backup__what_one_that_was_cut_short_left_goes, start,
                                        end),
        cmocka_unit_test_setup_teardown(test_backup__what_is_not_a_backup_is_left_alone, start,
                                        end),
        cmocka_unit_test_setup_teardown(test_backup__into_a_folder_that_is_not_there_is_refused,
                                        start, end),
    };
    return cmocka_run_group_tests_name("backup", tests, NULL, NULL);
}
