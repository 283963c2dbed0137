// SPDX-License-Identifier: MIT
#include "cli/work_json.h"

#include "cli/cli.h"
#include "test.h"

#include <string.h>

static const char *const valid[] = {
    "0",
    "-0",
    "12",
    "1.5",
    "-1.5e+10",
    "1E5",
    "true",
    "false",
    "null",
    "\"\"",
    "\"a\\n\\u00e9\"",
    "\"\\ud83d\\ude00\"",
    "\"\xC3\xA9\"",
    "[]",
    "[1, 2 ,3]",
    "{}",
    " {\"a\" : [ { } ] } \n",
    "{\"a\":1,\"a\":2}",
};

static const char *const invalid[] = {
    "",
    " ",
    "01",
    "1.",
    ".5",
    "1e",
    "-",
    "+1",
    "tru",
    "True",
    "\"",
    "\"a",
    "\"\n\"",
    "\"\\x\"",
    "\"\\u12\"",
    "\"\\ud83d\"",
    "\"\\ude00\"",
    "\"\xC3\"",
    "\"\xED\xA0\x80\"",
    "\"\xC0\x80\"",
    "[",
    "[1",
    "[1,]",
    "[,]",
    "{",
    "{\"a\"}",
    "{\"a\":}",
    "{\"a\":1,}",
    "{a:1}",
    "1 2",
    "{} x",
    "[1]]",
    "\"\\u00g0\"",
    "\"\\u00@0\"",
};

static void test_json__knows_what_is_json(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(valid) / sizeof(valid[0]); i++) {
        if (!work_json_valid(valid[i], strlen(valid[i]))) {
            fail_msg("refused: %s", valid[i]);
        }
    }
    for (size_t i = 0; i < sizeof(invalid) / sizeof(invalid[0]); i++) {
        if (work_json_valid(invalid[i], strlen(invalid[i]))) {
            fail_msg("taken: %s", invalid[i]);
        }
    }
}

// So that a part of it cannot be read behind its end.
static void test_json__every_beginning_of_a_text_is_refused(void **state)
{
    (void)state;
    const char *text = "{\"a\":[1.5e3,\"\\ud83d\\ude00\",true],\"b\":{\"c\":null}}";
    for (size_t size = 0; size < strlen(text); size++) {
        char *part = tool_copy(text, size);
        assert_false(work_json_valid(part, size));
        tool_free(part);
    }
}

static void test_json__what_lies_too_deep_is_refused(void **state)
{
    (void)state;
    char deep[4000];
    memset(deep, '[', sizeof(deep));
    memset(deep + 2000, ']', 2000);
    assert_false(work_json_valid(deep, sizeof(deep)));
    assert_true(work_json_valid(deep + 1900, 200));
}

static void test_json__quoting_makes_valid_json_of_any_bytes(void **state)
{
    (void)state;
    char all[256];
    for (size_t i = 0; i < sizeof(all); i++) {
        all[i] = (char)i;
    }
    char *quoted = work_json_quote(all, sizeof(all));
    assert_true(work_json_valid(quoted, strlen(quoted)));
    tool_free(quoted);
    quoted = work_json_quote("a\"\\\n\x01\xFFz", 7);
    assert_string_equal(quoted, "\"a\\\"\\\\\\n\\u0001\xEF\xBF\xBDz\"");
    tool_free(quoted);
}

static void test_json__utf8_without_zeros(void **state)
{
    (void)state;
    char *text = work_utf8("a\0b\xC3\xA9\xE2\x82", 7);
    assert_string_equal(text, "a\xEF\xBF\xBD"
                              "b\xC3\xA9\xEF\xBF\xBD\xEF\xBF\xBD");
    tool_free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_json__knows_what_is_json),
        cmocka_unit_test(test_json__every_beginning_of_a_text_is_refused),
        cmocka_unit_test(test_json__what_lies_too_deep_is_refused),
        cmocka_unit_test(test_json__quoting_makes_valid_json_of_any_bytes),
        cmocka_unit_test(test_json__utf8_without_zeros),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
