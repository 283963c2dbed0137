// SPDX-License-Identifier: MIT
// Structs of options from programs that were compiled with another header.
#include "client/options.h"

#include "test.h"

#include <string.h>

// As a later header might declare it.
struct later_put {
    struct sluice_put_options known;
    const char *later;
};

static void test_options__are_read_as_they_were_given(void **state)
{
    (void)state;
    struct sluice_put_options out;
    const struct sluice_put_options given =
        SLUICE_PUT(.queue = "mail", .priority = 3, .lease = SLUICE_NONE);
    assert_int_equal(put_options_read(&given, &out, NULL), SLUICE_OK);
    assert_string_equal(out.queue, "mail");
    assert_int_equal(out.priority, 3);
    assert_true(out.lease == SLUICE_NONE);
    assert_null(out.data);
}

static void test_options__without_a_size_are_refused(void **state)
{
    (void)state;
    struct sluice_error error;
    struct sluice_put_options out;
    struct sluice_put_options given = { .queue = "mail" };
    assert_int_equal(put_options_read(&given, &out, &error), SLUICE_INVALID);
    assert_string_equal(error.message, "the size of struct sluice_put_options is 0: set it with "
                                       "SLUICE_PUT(...), or in C++ with = {}");
    assert_null(out.queue);
    given.size = offsetof(struct sluice_put_options, lease);
    assert_int_equal(put_options_read(&given, &out, NULL), SLUICE_INVALID);
    const struct sluice_take_options take = { 0 };
    struct sluice_take_options take_out;
    assert_int_equal(take_options_read(&take, &take_out, NULL), SLUICE_INVALID);
    const struct sluice_open_options open = { 0 };
    struct sluice_open_options open_out;
    assert_int_equal(open_options_read(&open, &open_out, NULL), SLUICE_INVALID);
}

static void test_options__of_a_later_header_are_taken_while_its_members_are_not_set(void **state)
{
    (void)state;
    struct sluice_error error;
    struct sluice_put_options out;
    struct later_put puts[2];
    memset(puts, 0, sizeof(puts));
    for (size_t i = 0; i < 2; i++) {
        puts[i].known.size = sizeof(puts[i]);
        puts[i].known.queue = i ? "second" : "first";
    }
    const struct sluice_put_options *second = put_options_at(&puts[0].known, 1);
    assert_int_equal(put_options_read(second, &out, &error), SLUICE_OK);
    assert_string_equal(out.queue, "second");
    puts[1].later = "x";
    assert_int_equal(put_options_read(second, &out, &error), SLUICE_UNSUPPORTED);
    assert_non_null(strstr(error.message, "struct sluice_put_options has members that version "));
}

static void test_options__are_required_where_they_say_what_to_do(void **state)
{
    (void)state;
    struct sluice_put_options put;
    struct sluice_take_options take;
    struct sluice_open_options open;
    assert_int_equal(put_options_read(NULL, &put, NULL), SLUICE_INVALID);
    assert_int_equal(take_options_read(NULL, &take, NULL), SLUICE_INVALID);
    assert_int_equal(open_options_read(NULL, &open, NULL), SLUICE_OK);
    assert_null(open.worker);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_options__are_read_as_they_were_given),
        cmocka_unit_test(test_options__without_a_size_are_refused),
        cmocka_unit_test(test_options__of_a_later_header_are_taken_while_its_members_are_not_set),
        cmocka_unit_test(test_options__are_required_where_they_say_what_to_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
