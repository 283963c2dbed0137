// SPDX-License-Identifier: MIT
// The helper that names the row of a table: a test that fails is run in a child, whose output is
// read.
#include "test.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct {
    const char *text;
    int value;
} cases[] = { { "one", 1 }, { "t\"w\no", 2 }, { NULL, 3 } };
static const int numbers[] = { 4, 5 };

static int bad_case;
static int bad_number;

static void run_rows(void)
{
    for (size_t i = 0; TEST_ROW_NAMED(i, cases, cases[i].text); i++) {
        assert_int_not_equal(cases[i].value, bad_case);
        for (size_t j = 0; TEST_ROW(j, numbers); j++) {
            assert_true(bad_case || numbers[j] != bad_number);
        }
    }
}

static void failing(void **state)
{
    (void)state;
    run_rows();
    fail_msg("after the rows");
}

// What a test prints that fails at these values, on standard error.
static const char *printed(int value, int number)
{
    static char text[4096];
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        close(STDOUT_FILENO);
        bad_case = value;
        bad_number = number;
        const struct CMUnitTest tests[] = { cmocka_unit_test(failing) };
        _exit(cmocka_run_group_tests(tests, NULL, NULL) == 1 ? 0 : 1);
    }
    close(ends[1]);
    size_t size = 0;
    ssize_t count;
    while ((count = read(ends[0], text + size, sizeof(text) - 1 - size)) > 0) {
        size += (size_t)count;
    }
    text[size] = '\0';
    close(ends[0]);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    return text;
}

static void test_row__a_failed_assertion_names_its_row(void **state)
{
    (void)state;
    assert_non_null(strstr(printed(1, 0), ": row 0 of cases: \"one\"\n"));
    assert_non_null(strstr(printed(2, 0), ": row 1 of cases: \"t\\x22w\\x0ao\"\n"));
    assert_non_null(strstr(printed(3, 0), ": row 2 of cases\n"));
}

static void test_row__a_row_within_a_row_is_named_too(void **state)
{
    (void)state;
    const char *text = printed(0, 5);
    const char *outer = strstr(text, ": row 0 of cases: \"one\"\n");
    assert_non_null(outer);
    assert_non_null(strstr(outer, ": row 1 of numbers\n"));
}

static void test_row__a_failure_after_the_rows_names_none(void **state)
{
    (void)state;
    assert_null(strstr(printed(0, 0), "row "));
    run_rows();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_row__a_failed_assertion_names_its_row),
        cmocka_unit_test(test_row__a_row_within_a_row_is_named_too),
        cmocka_unit_test(test_row__a_failure_after_the_rows_names_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
