// SPDX-License-Identifier: MIT
#include "cli/work/sandbox.h"

#include "cli/core/cli.h"
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char top[] = "/tmp/sluice-sandbox-XXXXXX";

static int make_top(void **state)
{
    (void)state;
    return mkdtemp(top) ? 0 : -1;
}

static int remove_top(void **state)
{
    (void)state;
    return work_sandbox_remove(top) ? 0 : -1;
}

static bool exists(const char *path)
{
    struct stat about;
    return lstat(path, &about) == 0;
}

static void write_file(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "x", 1), 1);
    assert_int_equal(close(fd), 0);
}

static void test_name__is_that_of_one_file_in_its_folder(void **state)
{
    (void)state;
    static const struct {
        const char *name, *wanted;
    } rows[] = {
        { "bob-1_2.x", "bob-1_2.x" }, { "..", "%2E." },         { ".", "%2E" },
        { "a/b", "a%2Fb" },           { "../x", "%2E.%2Fx" },   { "a b\n", "a%20b%0A" },
        { "100%", "100%25" },         { "\xC3\xA9", "%C3%A9" },
    };
    char out[WORK_FILE_NAME_SIZE];
    for (size_t i = 0; TEST_ROW_NAMED(i, rows, rows[i].name); i++) {
        work_file_name(rows[i].name, out);
        assert_string_equal(out, rows[i].wanted);
    }
}

static void test_name__long_ones_that_differ_stay_different(void **state)
{
    (void)state;
    char one[256], other[256], first[WORK_FILE_NAME_SIZE], second[WORK_FILE_NAME_SIZE];
    memset(one, '/', 255);
    one[255] = '\0';
    memcpy(other, one, sizeof(one));
    other[254] = 'x';
    work_file_name(one, first);
    work_file_name(other, second);
    assert_true(strlen(first) < WORK_FILE_NAME_SIZE);
    assert_string_not_equal(first, second);
}

static void test_make__a_second_folder_of_a_name_gets_a_number(void **state)
{
    (void)state;
    char *folder = tool_format("%s/made", top);
    char *one = work_sandbox_make(folder, "a/b"), *two = work_sandbox_make(folder, "a/b");
    struct stat about;
    assert_non_null(one);
    assert_non_null(two);
    assert_string_equal(strrchr(one, '/'), "/a%2Fb");
    assert_string_equal(strrchr(two, '/'), "/a%2Fb.2");
    assert_int_equal(stat(one, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0700);
    assert_true(work_sandbox_remove(one));
    assert_true(work_sandbox_remove(two));
    assert_false(exists(one));
    tool_free(one);
    tool_free(two);
    tool_free(folder);
}

static void test_make__fails_where_there_can_be_none(void **state)
{
    (void)state;
    char *file = tool_format("%s/file", top);
    write_file(file);
    assert_null(work_sandbox_make(file, "a"));
    assert_int_equal(errno, ENOTDIR);
    tool_free(file);
}

static void expect_refused(const char *path, const char *why)
{
    char *wrong = NULL;
    assert_null(work_folder_open("--sandbox", path, &wrong));
    assert_non_null(wrong);
    if (!strstr(wrong, why)) {
        fail_msg("'%s' does not say '%s'", wrong, why);
    }
    tool_free(wrong);
}

static void test_open__a_new_folder_is_this_users_alone(void **state)
{
    (void)state;
    char *wrong, *path = tool_format("%s/new", top), *dotted = tool_format("%s/./new/.", top);
    char *real = work_folder_open("--sandbox", dotted, &wrong);
    struct stat about;
    assert_non_null(real);
    assert_string_equal(real, path);
    assert_int_equal(stat(real, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0700);
    tool_free(real);
    // And once it is there.
    real = work_folder_open("--sandbox", path, &wrong);
    assert_string_equal(real, path);
    tool_free(real);
    tool_free(dotted);
    tool_free(path);
}

static void test_open__a_folder_that_others_can_change_is_refused(void **state)
{
    (void)state;
    static const mode_t modes[] = { 0770, 0707, 0777, 01777 };
    char *folder = tool_format("%s/open", top), *inside = tool_format("%s/open/box", top);
    assert_int_equal(mkdir(folder, 0700), 0);
    for (size_t i = 0; TEST_ROW(i, modes); i++) {
        assert_int_equal(chmod(folder, modes[i]), 0);
        expect_refused(folder, "can be written by other users");
    }
    // Others cannot move what is in a folder with the sticky bit.
    char *wrong, *real = work_folder_open("--sandbox", inside, &wrong);
    assert_non_null(real);
    tool_free(real);
    assert_int_equal(chmod(folder, 0777), 0);
    expect_refused(inside, "other users can change the folder");
    assert_int_equal(chmod(folder, 0700), 0);
    if (geteuid() == 0) {
        assert_int_equal(chown(folder, 12345, (gid_t)-1), 0);
        expect_refused(folder, "belongs to another user");
        expect_refused(inside, "other users can change the folder");
        assert_int_equal(chown(folder, 0, (gid_t)-1), 0);
    }
    tool_free(folder);
    tool_free(inside);
}

static void test_open__a_link_is_refused(void **state)
{
    (void)state;
    static const char *const ends[] = { "", "/", "/.", "/./" };
    char *folder = tool_format("%s/target", top), *link = tool_format("%s/link", top);
    assert_int_equal(mkdir(folder, 0700), 0);
    assert_int_equal(symlink(folder, link), 0);
    for (size_t i = 0; TEST_ROW_NAMED(i, ends, ends[i]); i++) {
        char *path = tool_format("%s%s", link, ends[i]);
        expect_refused(path, "is a link or a file");
        tool_free(path);
    }
    assert_int_equal(unlink(link), 0);
    tool_free(folder);
    tool_free(link);
}

static void test_remove__links_are_removed_and_not_followed(void **state)
{
    (void)state;
    char *kept = tool_format("%s/kept", top), *file = tool_format("%s/kept/file", top);
    char *box = work_sandbox_make(top, "links");
    char *link = tool_format("%s/link", box);
    assert_int_equal(mkdir(kept, 0700), 0);
    write_file(file);
    assert_int_equal(symlink(kept, link), 0);
    assert_true(work_sandbox_remove(box));
    assert_false(exists(box));
    assert_true(exists(file));
    // Nor is the folder itself one.
    assert_int_equal(symlink(kept, box), 0);
    assert_false(work_sandbox_remove(box));
    assert_true(exists(file));
    assert_int_equal(unlink(box), 0);
    tool_free(kept);
    tool_free(file);
    tool_free(box);
    tool_free(link);
}

// As root no right is missing; then this shows no more than that all goes.
static void test_remove__what_was_made_read_only_goes_too(void **state)
{
    (void)state;
    char *box = work_sandbox_make(top, "rights");
    char *inner = tool_format("%s/inner", box), *none = tool_format("%s/inner/none", box);
    char *file = tool_format("%s/inner/none/file", box);
    assert_int_equal(mkdir(inner, 0700), 0);
    assert_int_equal(mkdir(none, 0700), 0);
    write_file(file);
    assert_int_equal(chmod(file, 0), 0);
    assert_int_equal(chmod(none, 0), 0);
    assert_int_equal(chmod(inner, 0500), 0);
    assert_int_equal(chmod(box, 0500), 0);
    assert_true(work_sandbox_remove(box));
    assert_false(exists(box));
    tool_free(box);
    tool_free(inner);
    tool_free(none);
    tool_free(file);
}

// No path reaches the last of them, nor can all be open at once.
static void test_remove__folders_deep_in_one_another(void **state)
{
    (void)state;
    enum {
        DEPTH = 3000,
    };
    char *box = work_sandbox_make(top, "deep");
    int at = open(box, O_RDONLY | O_DIRECTORY);
    for (int i = 0; i < DEPTH; i++) {
        assert_int_equal(mkdirat(at, "a folder with a long name", 0700), 0);
        int next = openat(at, "a folder with a long name", O_RDONLY | O_DIRECTORY);
        assert_true(next >= 0);
        (void)close(at);
        at = next;
    }
    (void)close(at);
    assert_true(work_sandbox_remove(box));
    assert_false(exists(box));
    tool_free(box);
}

static void test_remove__many_files(void **state)
{
    (void)state;
    char *box = work_sandbox_make(top, "many");
    for (int i = 0; i < 2000; i++) {
        char *file = tool_format("%s/%d", box, i);
        write_file(file);
        tool_free(file);
    }
    assert_true(work_sandbox_remove(box));
    assert_false(exists(box));
    assert_true(work_sandbox_remove(box)); // nothing is left to be removed
    tool_free(box);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_name__is_that_of_one_file_in_its_folder),
        cmocka_unit_test(test_name__long_ones_that_differ_stay_different),
        cmocka_unit_test(test_make__a_second_folder_of_a_name_gets_a_number),
        cmocka_unit_test(test_make__fails_where_there_can_be_none),
        cmocka_unit_test(test_open__a_new_folder_is_this_users_alone),
        cmocka_unit_test(test_open__a_folder_that_others_can_change_is_refused),
        cmocka_unit_test(test_open__a_link_is_refused),
        cmocka_unit_test(test_remove__links_are_removed_and_not_followed),
        cmocka_unit_test(test_remove__what_was_made_read_only_goes_too),
        cmocka_unit_test(test_remove__folders_deep_in_one_another),
        cmocka_unit_test(test_remove__many_files),
    };
    return cmocka_run_group_tests(tests, make_top, remove_top);
}
