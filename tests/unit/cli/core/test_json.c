// SPDX-License-Identifier: MIT
#include "cli/core/json.h"

#include "cli/core/cli.h"

#include "test.h"

#include <string.h>

static int release(void **state)
{
    (void)state;
    tool_free_all();
    return 0;
}

static void test_json__fields_keep_their_values_as_they_stand(void **state)
{
    (void)state;
    struct json_fields fields;
    assert_null(json_fields_read(
        &fields, " {\"queue\":\"mail\", \"data\" : {\"a\":[1, {\"}\":\"]\"}]},\n\"n\":-1.5e3}\n"));
    assert_int_equal(fields.count, 3);
    assert_string_equal(json_fields_get(&fields, "queue"), "\"mail\"");
    assert_string_equal(json_fields_get(&fields, "data"), "{\"a\":[1, {\"}\":\"]\"}]}");
    assert_string_equal(json_fields_get(&fields, "n"), "-1.5e3");
    assert_null(json_fields_get(&fields, "missing"));
    json_fields_free(&fields);
    assert_null(json_fields_read(&fields, "{}"));
    assert_int_equal(fields.count, 0);
}

static void test_json__what_is_malformed_is_refused(void **state)
{
    static const char *const bad[] = {
        "",          "[]",         "null",        "{",           "{\"a\"}",         "{\"a\":}",
        "{\"a\":1",  "{\"a\":1,}", "{\"a\":1} x", "{a:1}",       "{\"a\":\"b}",     "{\"a\":[1,]}",
        "{\"a\" 1}", "{,}",        "{\"a\":[1}",  "{\"\\q\":1}", "{\"\\ud800\":1}", "{\"a\\",
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct json_fields fields;
        assert_non_null(json_fields_read(&fields, bad[i]));
    }
}

static void test_json__nesting_has_an_end(void **state)
{
    (void)state;
    enum {
        DEPTH = 100000
    };
    struct json_fields fields;
    char *brackets = tool_allocate(DEPTH + 1);
    memset(brackets, '[', DEPTH);
    assert_non_null(json_fields_read(&fields, tool_format("{\"a\":%s", brackets)));
}

static void test_json__texts_are_decoded(void **state)
{
    (void)state;
    assert_string_equal(json_text("\"a\\n\\\"\\\\\\/b\""), "a\n\"\\/b");
    assert_string_equal(json_text("\"\\u00e9\\u20ac\\ud83d\\ude00\""),
                        "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
    assert_null(json_text("5"));
    assert_null(json_text("\"\\u12\""));
    assert_null(json_text("\"\\u0000\""));
    assert_null(json_text("\"\\udc00\""));
}

static void test_json__lists_have_elements(void **state)
{
    (void)state;
    char **items = json_list("[\"a\", [1,2] ,3]");
    assert_non_null(items);
    assert_string_equal(items[0], "\"a\"");
    assert_string_equal(items[1], "[1,2]");
    assert_string_equal(items[2], "3");
    assert_null(items[3]);
    assert_null(json_list("[]")[0]);
    assert_null(json_list("{}"));
    assert_null(json_list("[1"));
}

static void test_json__texts_are_written_so_that_they_can_be_read(void **state)
{
    (void)state;
    char *written = NULL;
    size_t size;
    FILE *file = open_memstream(&written, &size);
    json_write_text(file, "a\"\\\n\x01 é\xC2\x85 \xFF\xC3");
    (void)fclose(file);
    // What is no UTF-8 would not be JSON either; what only looks odd is kept.
    assert_string_equal(written, "\"a\\\"\\\\\\n\\u0001 é\xC2\x85 \xEF\xBF\xBD\xEF\xBF\xBD\"");
    free(written);
}

static void test_json__quoting_makes_valid_json_of_any_bytes(void **state)
{
    (void)state;
    char all[256];
    for (size_t i = 0; i < sizeof(all); i++) {
        all[i] = (char)i;
    }
    char *quoted = json_quote(all, sizeof(all));
    assert_true(json_is_valid(quoted, strlen(quoted)));
    assert_string_equal(json_quote("a\"\\\n\x01\xFFz", 7), "\"a\\\"\\\\\\n\\u0001\xEF\xBF\xBDz\"");
    assert_string_equal(json_quote("", 0), "\"\"");
    // The largest that a text can become.
    memset(all, 1, sizeof(all));
    assert_int_equal(strlen(json_quote(all, sizeof(all))), 6 * sizeof(all) + 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_json__fields_keep_their_values_as_they_stand, release),
        cmocka_unit_test_teardown(test_json__what_is_malformed_is_refused, release),
        cmocka_unit_test_teardown(test_json__nesting_has_an_end, release),
        cmocka_unit_test_teardown(test_json__texts_are_decoded, release),
        cmocka_unit_test_teardown(test_json__lists_have_elements, release),
        cmocka_unit_test_teardown(test_json__texts_are_written_so_that_they_can_be_read, release),
        cmocka_unit_test_teardown(test_json__quoting_makes_valid_json_of_any_bytes, release),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
