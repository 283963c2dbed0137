// SPDX-License-Identifier: MIT
#include "cli/core/url.h"
#include "cli/work/child.h"

#include "cli/core/cli.h"
#include "test.h"

#include <errno.h>
#include <string.h>

static void test_url__its_password_goes(void **state)
{
    (void)state;
    static const struct {
        const char *url, *wanted;
    } rows[] = {
        { "sluice://host", "sluice://host" },
        { "sluice://host:7711/app", "sluice://host:7711/app" },
        { "sluice://ann:secret@host:7711/app", "sluice://ann@host:7711/app" },
        { "sluice://:secret@host/app", "sluice://host/app" },
        { "sluices://ann@host", "sluices://ann@host" },
        { "sluice://ann:se@cr:et@host", "sluice://ann@host" },
        { "sluice://host/a:b@c", "sluice://host/a:b@c" },
        { "file:/tmp/a:b@c", "file:/tmp/a:b@c" },
    };
    for (size_t i = 0; TEST_ROW_NAMED(i, rows, rows[i].url); i++) {
        char *url = url_without_password(rows[i].url);
        assert_string_equal(url, rows[i].wanted);
        tool_free(url);
    }
}

static void test_size__units(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t wanted;
    } rows[] = { { "0", 0 },       { "512", 512 },      { "64k", 65536 },
                 { "64K", 65536 }, { "1.5M", 1572864 }, { "2G", 2147483648U } };
    static const char *const bad[] = { "", "k", "-1", "1x", "1kk", "inf", " 1", "9999999999T" };
    uint64_t size;
    for (size_t i = 0; TEST_ROW_NAMED(i, rows, rows[i].text); i++) {
        assert_true(work_size_parse(rows[i].text, &size));
        assert_int_equal(size, rows[i].wanted);
    }
    for (size_t i = 0; TEST_ROW_NAMED(i, bad, bad[i]); i++) {
        assert_false(work_size_parse(bad[i], &size));
    }
}

static void test_environment__what_is_added_comes_instead_of_what_was(void **state)
{
    (void)state;
    assert_int_equal(setenv("SLUICE_URL", "with a password", 1), 0);
    assert_int_equal(setenv("SLUICE_URLS", "another", 1), 0);
    char added[] = "SLUICE_URL=without";
    char *const all[] = { added, NULL };
    const char *const names[] = { "SLUICE_URL", NULL };
    char **environment = work_environment_make(all, names);
    size_t found = 0, others = 0;
    for (char **at = environment; *at; at++) {
        found += strncmp(*at, "SLUICE_URL=", 11) == 0;
        others += strcmp(*at, "SLUICE_URLS=another") == 0;
    }
    assert_int_equal(found, 1);
    assert_int_equal(others, 1);
    assert_string_equal(environment[0], added);
    work_environment_free(environment);
}

static void test_program__is_found_as_a_shell_does(void **state)
{
    (void)state;
    assert_int_equal(setenv("PATH", "/nowhere:/usr/bin:/bin", 1), 0);
    char *path = work_program_find("sh");
    assert_non_null(path);
    assert_string_equal(strrchr(path, '/'), "/sh");
    tool_free(path);
    assert_null(work_program_find("no-such-program"));
    assert_int_equal(errno, ENOENT);
    assert_null(work_program_find("/tmp"));
    assert_int_equal(errno, EACCES);
    assert_null(work_program_find("/etc/passwd"));
    assert_int_equal(errno, EACCES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_url__its_password_goes),
        cmocka_unit_test(test_size__units),
        cmocka_unit_test(test_environment__what_is_added_comes_instead_of_what_was),
        cmocka_unit_test(test_program__is_found_as_a_shell_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
