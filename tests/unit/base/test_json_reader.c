// SPDX-License-Identifier: MIT
#include "base/json_reader.h"

#include "base/json.h"
#include "base/json_writer.h"
#include "fault_alloc.h"
#include "random.h"
#include "test.h"

#include <stdlib.h>

static void test_json_reader__walks_over_the_members_of_an_object(void **state)
{
    (void)state;
    struct slice text = SLICE(
        " { \"a\" : 1 ,\"b\":\"x\\n\", \"\\u0063\":[1, {\"d\":\"]\"}] ,\"e\":{\"f\" : \"}\\\"\"},"
        "\"g\":true,\"h\":false,\"i\":null,\"\":-1.5e+3 } ");
    static const struct {
        const char *key;
        enum json_type type;
        const char *raw;
    } wanted[] = {
        { "\"a\"", JSON_TYPE_NUMBER, "1" },
        { "\"b\"", JSON_TYPE_STRING, "\"x\\n\"" },
        { "\"\\u0063\"", JSON_TYPE_ARRAY, "[1, {\"d\":\"]\"}]" },
        { "\"e\"", JSON_TYPE_OBJECT, "{\"f\" : \"}\\\"\"}" },
        { "\"g\"", JSON_TYPE_BOOL, "true" },
        { "\"h\"", JSON_TYPE_BOOL, "false" },
        { "\"i\"", JSON_TYPE_NULL, "null" },
        { "\"\"", JSON_TYPE_NUMBER, "-1.5e+3" },
    };
    assert_int_equal(json_validate(text, 10, NULL), STATUS_OK);
    struct json_reader reader;
    assert_int_equal(json_reader_init_object(&reader, text, NULL), STATUS_OK);
    struct json_member member;
    for (size_t i = 0; TEST_ROW_NAMED(i, wanted, wanted[i].key); i++) {
        assert_true(json_reader_next(&reader, &member));
        assert_slice_equal(member.key, wanted[i].key);
        assert_int_equal(member.value.type, wanted[i].type);
        assert_slice_equal(member.value.raw, wanted[i].raw);
    }
    assert_false(json_reader_next(&reader, &member));
    assert_int_equal(reader.status, STATUS_OK);
    assert_false(json_reader_next(&reader, &member));
}

static void test_json_reader__walks_over_the_items_of_an_array(void **state)
{
    (void)state;
    struct json_reader reader;
    struct json_member member;
    assert_int_equal(json_reader_init_array(&reader, SLICE("[1, \"a\" ,[],{} ]"), NULL), STATUS_OK);
    static const char *const wanted[] = { "1", "\"a\"", "[]", "{}" };
    for (size_t i = 0; TEST_ROW_NAMED(i, wanted, wanted[i]); i++) {
        assert_true(json_reader_next(&reader, &member));
        assert_int_equal(member.key.size, 0);
        assert_slice_equal(member.value.raw, wanted[i]);
    }
    assert_false(json_reader_next(&reader, &member));
    assert_int_equal(reader.status, STATUS_OK);
}

static void test_json_reader__an_empty_container_has_no_members(void **state)
{
    (void)state;
    struct json_reader reader;
    struct json_member member;
    assert_int_equal(json_reader_init_object(&reader, SLICE(" { } "), NULL), STATUS_OK);
    assert_false(json_reader_next(&reader, &member));
    assert_int_equal(reader.status, STATUS_OK);
    assert_int_equal(json_reader_init_array(&reader, SLICE("[]"), NULL), STATUS_OK);
    assert_false(json_reader_next(&reader, &member));
    assert_int_equal(reader.status, STATUS_OK);
}

static void test_json_reader__another_type_at_the_top_is_refused(void **state)
{
    (void)state;
    static const char *const texts[] = { "", " ", "1", "\"{\"", "null", "}" };
    struct json_reader reader;
    struct json_member member;
    struct error error;
    for (size_t i = 0; TEST_ROW_NAMED(i, texts, texts[i]); i++) {
        struct slice text = slice_from_cstr(texts[i]);
        assert_int_equal(json_reader_init_object(&reader, text, &error), STATUS_INVALID);
        assert_string_equal(error_sentence(&error), "expected a JSON object");
        assert_false(json_reader_next(&reader, &member));
        assert_int_equal(json_reader_init_array(&reader, text, &error), STATUS_INVALID);
        assert_string_equal(error_sentence(&error), "expected a JSON array");
        assert_false(json_reader_next(&reader, &member));
        assert_int_equal(reader.status, STATUS_INVALID);
    }
    assert_int_equal(json_reader_init_object(&reader, SLICE("[]"), NULL), STATUS_INVALID);
    assert_int_equal(json_reader_init_array(&reader, SLICE("{}"), NULL), STATUS_INVALID);
    assert_int_equal(json_reader_init_array(&reader, SLICE_EMPTY, NULL), STATUS_INVALID);
}

// Reads to the end; the text is in a block of its own, so that a read outside it is caught.
static enum status read_all(struct slice text, bool object)
{
    char *copy = malloc(text.size ? text.size : 1);
    assert_non_null(copy);
    if (text.size) {
        memcpy(copy, text.data, text.size);
    }
    struct slice whole = slice_make(copy, text.size);
    struct json_reader reader;
    struct json_member member;
    enum status status = object ? json_reader_init_object(&reader, whole, NULL)
                                : json_reader_init_array(&reader, whole, NULL);
    while (status == STATUS_OK && json_reader_next(&reader, &member)) {
        assert_true(member.value.raw.size > 0);
    }
    status = reader.status;
    free(copy);
    return status;
}

static void test_json_reader__malformed_text_is_invalid(void **state)
{
    (void)state;
    static const char *const objects[] = {
        "{",
        "{\"",
        "{\"a",
        "{\"a\"",
        "{\"a\":",
        "{\"a\":1",
        "{\"a\":1,",
        "{\"a\" 1}",
        "{a:1}",
        "{1:1}",
        "{\"a\":}",
        "{\"a\":1 \"b\":2}",
        "{\"a\":1]",
        "{,}",
        "{\"a\":1}x",
        "{\"a\":[",
        "{\"a\":[}",
        "{\"a\":\"\\",
        "{\"a\":\"\\\"}",
        "{\"a\":tru}",
        "{\"a\":fals",
        "{\"a\":nul}",
        "{\"a\":x}",
        "{\"a\":{\"b\":\"}",
        "{\"a\"::1}",
        "{\"a\":1,,\"b\":2}",
    };
    for (size_t i = 0; TEST_ROW_NAMED(i, objects, objects[i]); i++) {
        assert_int_equal(read_all(slice_from_cstr(objects[i]), true), STATUS_INVALID);
    }
    static const char *const arrays[] = { "[",   "[1",  "[1,", "[,]", "[1 2]",
                                          "[1}", "[]]", "[[]", "[\"]" };
    for (size_t i = 0; TEST_ROW_NAMED(i, arrays, arrays[i]); i++) {
        assert_int_equal(read_all(slice_from_cstr(arrays[i]), false), STATUS_INVALID);
    }
}

static void test_json_reader__random_bytes_are_read_without_harm(void **state)
{
    (void)state;
    struct random random;
    random_init(&random);
    static const char alphabet[] = "{}[]:,\"\\ 01.-eutrfalsn\xc3";
    for (int round = 0; round < 50000; round++) {
        char text[24] = { "{["[round % 2] };
        size_t size = 1 + (size_t)random_below(&random, sizeof(text) - 1);
        for (size_t i = 1; i < size; i++) {
            text[i] = alphabet[random_below(&random, sizeof(alphabet))];
        }
        struct slice whole = slice_make(text, size);
        enum status status = read_all(whole, round % 2 == 0);
        if (json_validate(whole, 100, NULL) == STATUS_OK) {
            assert_int_equal(status, STATUS_OK);
        }
        struct buffer out;
        buffer_init(&out, &allocator_system, 100);
        text[0] = '"';
        // White space behind the string would be valid, but is not part of it.
        bool valid = text[size - 1] == '"' && json_validate(whole, 100, NULL) == STATUS_OK;
        status = json_unescape(whole, &out);
        assert_true(!valid || status == STATUS_OK);
        assert_true(status == STATUS_OK || out.size == 0);
        buffer_release(&out);
    }
}

static void test_json_reader__a_whole_text_is_a_value(void **state)
{
    (void)state;
    struct json_value value;
    assert_int_equal(json_value_of(SLICE(" [1, 2] "), &value), STATUS_OK);
    assert_int_equal(value.type, JSON_TYPE_ARRAY);
    assert_slice_equal(value.raw, "[1, 2]");
    assert_int_equal(json_value_of(SLICE("\"a\""), &value), STATUS_OK);
    assert_int_equal(value.type, JSON_TYPE_STRING);
    assert_int_equal(json_value_of(SLICE("1 2"), &value), STATUS_INVALID);
    assert_int_equal(json_value_of(SLICE(" "), &value), STATUS_INVALID);
    assert_int_equal(json_value_of(SLICE_EMPTY, &value), STATUS_INVALID);
    assert_slice_equal(value.raw, "\"a\"");
    assert_string_equal(json_type_name(value.type), "a string");
}

static void test_json_reader__unescapes_to_utf8(void **state)
{
    (void)state;
    const struct {
        const char *raw;
        struct slice wanted;
    } cases[] = {
        { "\"\"", SLICE("") },
        { "\"plain\"", SLICE("plain") },
        { "\"a\\\"b\"", SLICE("a\"b") },
        { "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", SLICE("\"\\/\b\f\n\r\t") },
        { "\"\\u0000\"", SLICE("\0") },
        { "\"\\u0041\\u007f\"", SLICE("A\x7f") },
        { "\"\\u0080\\u07FF\"", SLICE("\xc2\x80\xdf\xbf") },
        { "\"\\u0800\\uffff\"", SLICE("\xe0\xa0\x80\xef\xbf\xbf") },
        { "\"\\ud800\\udc00\"", SLICE("\xf0\x90\x80\x80") },
        { "\"\\uDBFF\\uDFFF\"", SLICE("\xf4\x8f\xbf\xbf") },
        { "\"\\ud83d\\ude00!\"", SLICE("\xf0\x9f\x98\x80!") },
        { "\"\\\\u0041\"", SLICE("\\u0041") },
        { "\"\xe2\x82\xac \\u20ac\"", SLICE("\xe2\x82\xac \xe2\x82\xac") },
        { "\"text in front \\n between \\t behind\"", SLICE("text in front \n between \t behind") },
    };
    for (size_t i = 0; TEST_ROW(i, cases); i++) {
        struct slice raw = slice_from_cstr(cases[i].raw);
        struct buffer out;
        buffer_init(&out, &allocator_system, 100);
        assert_int_equal(json_validate(raw, 0, NULL), STATUS_OK);
        assert_int_equal(json_unescape(raw, &out), STATUS_OK);
        assert_true(slice_equal(buffer_slice(&out), cases[i].wanted));
        assert_true(json_string_is(raw, cases[i].wanted));
        assert_false(json_string_is(raw, SLICE("something else")));
        buffer_append_char(&out, 'x');
        assert_false(json_string_is(raw, buffer_slice(&out)));
        buffer_release(&out);
    }
}

static void test_json_reader__what_is_no_string_is_not_unescaped(void **state)
{
    (void)state;
    static const char *const raws[] = {
        "",
        "\"",
        "a",
        "\"a",
        "a\"",
        "1",
        "\"\\\"",
        "\"a\"b\"",
        "\"a\" ",
        " \"a\"",
        "\"ab\\x\"",
        "\"ab\\u12\"",
        "\"ab\\u12g4\"",
        "\"\\ud800\"",
        "\"\\udc00\"",
        "\"\\ud800\\u0041\"",
        "\"\\ud800\\ud800\"",
        "\"\\ud800\\n\"",
        "\"\\ud800x12345\"",
    };
    for (size_t i = 0; TEST_ROW_NAMED(i, raws, raws[i]); i++) {
        struct buffer out;
        buffer_init(&out, &allocator_system, 100);
        buffer_append(&out, SLICE("before"));
        assert_int_equal(json_unescape(slice_from_cstr(raws[i]), &out), STATUS_INVALID);
        assert_slice_equal(buffer_slice(&out), "before");
        assert_false(json_string_is(slice_from_cstr(raws[i]), SLICE("ab")));
        buffer_release(&out);
    }
}

static void test_json_reader__a_string_that_does_not_fit_leaves_nothing(void **state)
{
    (void)state;
    struct buffer out;
    buffer_init(&out, &allocator_system, 8);
    buffer_append(&out, SLICE("before"));
    assert_int_equal(json_unescape(SLICE("\"a\\nb\""), &out), STATUS_TOO_LARGE);
    assert_slice_equal(buffer_slice(&out), "before");
    buffer_clear(&out);
    assert_int_equal(json_unescape(SLICE("\"a\\nb\""), &out), STATUS_OK);
    assert_slice_equal(buffer_slice(&out), "a\nb");
    buffer_release(&out);
}

static void test_json_reader__a_failed_allocation_leaves_nothing(void **state)
{
    (void)state;
    struct fault_alloc fault;
    FAULT_ALLOC_EACH(&fault)
    {
        struct buffer out;
        buffer_init(&out, &fault.allocator, 100000);
        enum status status = STATUS_OK;
        size_t size_good = 0;
        for (int i = 0; i < 100 && status == STATUS_OK; i++) {
            size_good = out.size;
            status = json_unescape(SLICE("\"some text \\u20ac and more \\n\""), &out);
        }
        FAULT_ALLOC_EXPECT(&fault, status);
        assert_true(status == STATUS_OK || out.size == size_good);
        buffer_release(&out);
    }
}

static struct json_value value_of(const char *text)
{
    struct json_value value;
    assert_int_equal(json_value_of(slice_from_cstr(text), &value), STATUS_OK);
    return value;
}

static void test_json_reader__a_value_is_taken_only_as_what_it_is(void **state)
{
    (void)state;
    int64_t number = 7;
    assert_int_equal(json_value_int(value_of("-12"), &number), STATUS_OK);
    assert_int_equal(number, -12);
    assert_int_equal(json_value_int(value_of("9223372036854775807"), &number), STATUS_OK);
    assert_int_equal(number, INT64_MAX);
    assert_int_equal(json_value_int(value_of("9223372036854775808"), &number), STATUS_TOO_LARGE);
    assert_int_equal(json_value_int(value_of("1.5"), &number), STATUS_INVALID);
    assert_int_equal(json_value_int(value_of("\"1\""), &number), STATUS_INVALID);
    assert_int_equal(json_value_int(value_of("null"), &number), STATUS_INVALID);
    assert_int_equal(number, INT64_MAX);

    bool flag = false;
    assert_int_equal(json_value_bool(value_of("true"), &flag), STATUS_OK);
    assert_true(flag);
    assert_int_equal(json_value_bool(value_of("1"), &flag), STATUS_INVALID);
    assert_true(flag);
    assert_int_equal(json_value_bool(value_of("false"), &flag), STATUS_OK);
    assert_false(flag);

    struct buffer out;
    buffer_init(&out, &allocator_system, 100);
    assert_int_equal(json_value_string(value_of("\"a\\tb\""), &out), STATUS_OK);
    assert_int_equal(json_value_string(value_of("1"), &out), STATUS_INVALID);
    assert_int_equal(json_value_string(value_of("[\"a\"]"), &out), STATUS_INVALID);
    assert_slice_equal(buffer_slice(&out), "a\tb");
    buffer_release(&out);
}

static void test_json_reader__reads_back_what_the_writer_wrote(void **state)
{
    (void)state;
    struct random random;
    random_init(&random);
    struct buffer text;
    struct buffer out;
    buffer_init(&text, &allocator_system, 1000);
    buffer_init(&out, &allocator_system, 1000);
    for (int round = 0; round < 20000; round++) {
        char key[20];
        size_t size = (size_t)random_below(&random, sizeof(key) + 1);
        for (size_t i = 0; i < size; i++) {
            key[i] = (char)random_below(&random, 128);
        }
        int64_t number = (int64_t)(random_u64(&random) >> random_below(&random, 64));

        buffer_clear(&text);
        struct json_writer writer;
        json_writer_init(&writer, &text);
        json_write_begin_object(&writer);
        json_write_key(&writer, slice_make(key, size));
        json_write_int(&writer, number);
        json_write_end_object(&writer);

        struct json_reader reader;
        struct json_member member;
        int64_t number_read = 0;
        assert_int_equal(json_reader_init_object(&reader, buffer_slice(&text), NULL), STATUS_OK);
        assert_true(json_reader_next(&reader, &member));
        assert_true(json_string_is(member.key, slice_make(key, size)));
        buffer_clear(&out);
        assert_int_equal(json_unescape(member.key, &out), STATUS_OK);
        assert_true(slice_equal(buffer_slice(&out), slice_make(key, size)));
        assert_int_equal(json_value_int(member.value, &number_read), STATUS_OK);
        assert_true(number_read == number);
        assert_false(json_reader_next(&reader, &member));
        assert_int_equal(reader.status, STATUS_OK);
    }
    buffer_release(&out);
    buffer_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_json_reader__walks_over_the_members_of_an_object),
        cmocka_unit_test(test_json_reader__walks_over_the_items_of_an_array),
        cmocka_unit_test(test_json_reader__an_empty_container_has_no_members),
        cmocka_unit_test(test_json_reader__another_type_at_the_top_is_refused),
        cmocka_unit_test(test_json_reader__malformed_text_is_invalid),
        cmocka_unit_test(test_json_reader__random_bytes_are_read_without_harm),
        cmocka_unit_test(test_json_reader__a_whole_text_is_a_value),
        cmocka_unit_test(test_json_reader__unescapes_to_utf8),
        cmocka_unit_test(test_json_reader__what_is_no_string_is_not_unescaped),
        cmocka_unit_test(test_json_reader__a_string_that_does_not_fit_leaves_nothing),
        cmocka_unit_test(test_json_reader__a_failed_allocation_leaves_nothing),
        cmocka_unit_test(test_json_reader__a_value_is_taken_only_as_what_it_is),
        cmocka_unit_test(test_json_reader__reads_back_what_the_writer_wrote),
    };
    return cmocka_run_group_tests_name("json_reader", tests, NULL, NULL);
}
