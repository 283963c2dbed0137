// SPDX-License-Identifier: MIT
#include "wire/http_target.h"

#include "test.h"

static void expect_segments(const char *path, const char *wanted)
{
    struct buffer out;
    struct slice rest = slice_from_cstr(path);
    struct slice segment;
    buffer_init(&out, &allocator_system, 1000);
    while (http_path_next(&rest, &segment)) {
        buffer_printf(&out, "[%.*s]", SLICE_PRINT(segment));
    }
    assert_slice_equal(buffer_slice(&out), wanted);
    buffer_release(&out);
}

static void test_http_target__a_path_has_segments(void **state)
{
    (void)state;
    expect_segments("/", "[]");
    expect_segments("/a", "[a]");
    expect_segments("/a/b%2Fc/d", "[a][b%2Fc][d]");
    expect_segments("/a/", "[a][]");
    expect_segments("//a", "[][a]");
    expect_segments("*", "");
    expect_segments("", "");
}

static void expect_parameters(const char *query, const char *wanted)
{
    struct buffer out;
    struct slice rest = slice_from_cstr(query);
    struct slice name;
    struct slice value;
    buffer_init(&out, &allocator_system, 1000);
    while (http_query_next(&rest, &name, &value)) {
        buffer_printf(&out, "[%.*s|%.*s]", SLICE_PRINT(name), SLICE_PRINT(value));
    }
    assert_slice_equal(buffer_slice(&out), wanted);
    buffer_release(&out);
}

static void test_http_target__a_query_has_parameters(void **state)
{
    (void)state;
    expect_parameters("", "");
    expect_parameters("a=b", "[a|b]");
    expect_parameters("a=b&c=d=e&f", "[a|b][c|d=e][f|]");
    expect_parameters("&&a&&=x&", "[a|][|x]");
}

static void test_http_target__escapes_stand_for_bytes(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool query;
        const char *wanted; // NULL: refused
    } cases[] = {
        { "plain", false, "plain" }, { "", true, "" },           { "a%20b", false, "a b" },
        { "a+b", false, "a+b" },     { "a+b%2B", true, "a b+" }, { "%C3%a4", false, "\xc3\xa4" },
        { "%2f%2F", false, "//" },   { "%00", false, NULL },     { "a%", false, NULL },
        { "a%4", false, NULL },      { "%zz", true, NULL },      { "%4g", true, NULL },
        { "%%41", true, NULL },
    };
    for (size_t i = 0; TEST_ROW_NAMED(i, cases, cases[i].text); i++) {
        struct buffer buffer;
        struct slice out;
        buffer_init(&buffer, &allocator_system, 100);
        enum status status =
            http_unescape(slice_from_cstr(cases[i].text), cases[i].query, &buffer, &out);
        assert_int_equal(status, cases[i].wanted ? STATUS_OK : STATUS_INVALID);
        if (cases[i].wanted) {
            assert_slice_equal(out, cases[i].wanted);
        } else {
            assert_int_equal(buffer.size, 0);
        }
        buffer_release(&buffer);
    }
}

static void test_http_target__text_is_escaped_to_be_a_segment(void **state)
{
    (void)state;
    struct buffer buffer;
    struct slice back;
    const struct slice text = SLICE("aZ09-._~ /%?#&+\xc3\xa9\x01");
    buffer_init(&buffer, &allocator_system, 100);
    http_escape(text, &buffer);
    assert_slice_equal(buffer_slice(&buffer), "aZ09-._~%20%2F%25%3F%23%26%2B%C3%A9%01");
    struct slice escaped = buffer_slice(&buffer);
    struct buffer plain;
    buffer_init(&plain, &allocator_system, 100);
    assert_int_equal(http_unescape(escaped, false, &plain, &back), STATUS_OK);
    assert_true(slice_equal(back, text));
    buffer_release(&plain);
    buffer_release(&buffer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_http_target__a_path_has_segments),
        cmocka_unit_test(test_http_target__a_query_has_parameters),
        cmocka_unit_test(test_http_target__escapes_stand_for_bytes),
        cmocka_unit_test(test_http_target__text_is_escaped_to_be_a_segment),
    };
    return cmocka_run_group_tests_name("http_target", tests, NULL, NULL);
}
