// SPDX-License-Identifier: MIT
#include "base/json_writer.h"

#include "base/json.h"
#include "fault_alloc.h"
#include "random.h"
#include "test.h"

#include <math.h>

// A writer on a buffer of its own.
struct fixture {
    struct buffer buffer;
    struct json_writer writer;
};

static void fixture_init(struct fixture *fixture)
{
    buffer_init(&fixture->buffer, &allocator_system, 1 << 20);
    json_writer_init(&fixture->writer, &fixture->buffer);
}

// Checks what was written, and that it is JSON, and makes ready for the next value.
static void expect(struct fixture *fixture, const char *wanted)
{
    struct slice text = buffer_slice(&fixture->buffer);
    assert_int_equal(fixture->buffer.status, STATUS_OK);
    assert_slice_equal(text, wanted);
    assert_int_equal(json_validate(text, JSON_DEPTH_MAX, NULL), STATUS_OK);
    buffer_clear(&fixture->buffer);
    json_writer_init(&fixture->writer, &fixture->buffer);
}

static void test_json_writer__a_scalar_alone_is_a_text(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture);
    struct json_writer *writer = &fixture.writer;
    json_write_null(writer);
    expect(&fixture, "null");
    json_write_bool(writer, true);
    expect(&fixture, "true");
    json_write_bool(writer, false);
    expect(&fixture, "false");
    json_write_int(writer, 0);
    expect(&fixture, "0");
    json_write_int(writer, INT64_MIN);
    expect(&fixture, "-9223372036854775808");
    json_write_int(writer, INT64_MAX);
    expect(&fixture, "9223372036854775807");
    json_write_uint(writer, UINT64_MAX);
    expect(&fixture, "18446744073709551615");
    json_write_string(writer, SLICE("a"));
    expect(&fixture, "\"a\"");
    json_write_raw(writer, SLICE("{\"a\": [1]}"));
    expect(&fixture, "{\"a\": [1]}");
    buffer_release(&fixture.buffer);
}

static void test_json_writer__a_double_is_short_and_one_that_is_not_finite_is_null(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture);
    static const struct {
        double value;
        const char *wanted;
    } cases[] = {
        { 0.0, "0" },         { 1.0, "1" },          { -1.5, "-1.5" }, { 0.1, "0.1" },
        { 1e-7, "1e-7" },     { 1e21, "1e+21" },     { -0.0, "-0" },   { 123456.789, "123456.789" },
        { INFINITY, "null" }, { -INFINITY, "null" }, { NAN, "null" },
    };
    for (size_t i = 0; TEST_ROW_NAMED(i, cases, cases[i].wanted); i++) {
        json_write_double(&fixture.writer, cases[i].value);
        expect(&fixture, cases[i].wanted);
    }
    buffer_release(&fixture.buffer);
}

static void test_json_writer__puts_commas_between_values_alone(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture);
    struct json_writer *writer = &fixture.writer;

    json_write_begin_array(writer);
    json_write_end_array(writer);
    expect(&fixture, "[]");

    json_write_begin_object(writer);
    json_write_end_object(writer);
    expect(&fixture, "{}");

    json_write_begin_array(writer);
    json_write_int(writer, 1);
    json_write_begin_array(writer);
    json_write_end_array(writer);
    json_write_begin_object(writer);
    json_write_end_object(writer);
    json_write_string(writer, SLICE_EMPTY);
    json_write_raw(writer, SLICE("2"));
    json_write_double(writer, 0.5);
    json_write_uint(writer, 3);
    json_write_seconds(writer, -1500000);
    json_write_bool(writer, true);
    json_write_null(writer);
    json_write_end_array(writer);
    expect(&fixture, "[1,[],{},\"\",2,0.5,3,-1.5,true,null]");
    buffer_release(&fixture.buffer);
}

static void test_json_writer__an_object_has_a_key_for_each_value(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture);
    struct json_writer *writer = &fixture.writer;
    assert_false(json_writer_wants_key(writer));
    json_write_begin_object(writer);
    assert_true(json_writer_wants_key(writer));
    json_write_key(writer, SLICE("a"));
    assert_false(json_writer_wants_key(writer));
    json_write_int(writer, 1);
    assert_true(json_writer_wants_key(writer));
    json_write_key(writer, SLICE("b \"quoted\""));
    json_write_begin_object(writer);
    json_write_key(writer, SLICE_EMPTY);
    json_write_begin_array(writer);
    json_write_begin_object(writer);
    json_write_end_object(writer);
    json_write_begin_object(writer);
    json_write_key(writer, SLICE("c"));
    json_write_null(writer);
    json_write_end_object(writer);
    json_write_end_array(writer);
    json_write_end_object(writer);
    json_write_key(writer, SLICE("d"));
    json_write_string(writer, SLICE("e"));
    json_write_end_object(writer);
    expect(&fixture, "{\"a\":1,\"b \\\"quoted\\\"\":{\"\":[{},{\"c\":null}]},\"d\":\"e\"}");
    buffer_release(&fixture.buffer);
}

static void test_json_writer__escapes_what_must_be_and_nothing_else(void **state)
{
    (void)state;
    const struct {
        struct slice text;
        const char *wanted;
    } cases[] = {
        { SLICE(""), "\"\"" },
        { SLICE("\""), "\"\\\"\"" },
        { SLICE("\\"), "\"\\\\\"" },
        { SLICE("\b\f\n\r\t"), "\"\\b\\f\\n\\r\\t\"" },
        { SLICE("\0"), "\"\\u0000\"" },
        { SLICE("\x01\x0b\x1f"), "\"\\u0001\\u000b\\u001f\"" },
        { SLICE("\x7f"), "\"\x7f\"" },
        { SLICE("/'<>&"), "\"/'<>&\"" },
        { SLICE("a\"b\\c\nd"), "\"a\\\"b\\\\c\\nd\"" },
        { SLICE("12345678\n12345678"), "\"12345678\\n12345678\"" },
        { SLICE("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"),
          "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"" },
        { SLICE("\xe2\x80\xa8"), "\"\xe2\x80\xa8\"" },
    };
    struct fixture fixture;
    fixture_init(&fixture);
    for (size_t i = 0; TEST_ROW_NAMED(i, cases, cases[i].wanted); i++) {
        json_write_string(&fixture.writer, cases[i].text);
        expect(&fixture, cases[i].wanted);
    }
    buffer_release(&fixture.buffer);
}

#define REPLACED "\xef\xbf\xbd"

static void test_json_writer__a_byte_that_is_not_utf8_is_replaced(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *wanted;
    } cases[] = {
        { "\xff", "\"" REPLACED "\"" },
        { "a\x80z", "\"a" REPLACED "z\"" },
        { "\xc3", "\"" REPLACED "\"" },
        { "\xc3(", "\"" REPLACED "(\"" },
        { "\xc3\"", "\"" REPLACED "\\\"\"" },
        { "\xc0\x80", "\"" REPLACED REPLACED "\"" },
        { "\xed\xa0\x80", "\"" REPLACED REPLACED REPLACED "\"" },
        { "\xf0\x9f\x98", "\"" REPLACED REPLACED REPLACED "\"" },
        { "\xe2\x82\xac\xe2\x82", "\"\xe2\x82\xac" REPLACED REPLACED "\"" },
        { "\xf4\x90\x80\x80", "\"" REPLACED REPLACED REPLACED REPLACED "\"" },
    };
    struct fixture fixture;
    fixture_init(&fixture);
    for (size_t i = 0; TEST_ROW_NAMED(i, cases, cases[i].text); i++) {
        json_write_string(&fixture.writer, slice_from_cstr(cases[i].text));
        expect(&fixture, cases[i].wanted);
    }
    json_write_begin_object(&fixture.writer);
    json_write_key(&fixture.writer, SLICE("\xff"));
    json_write_null(&fixture.writer);
    json_write_end_object(&fixture.writer);
    expect(&fixture, "{\"" REPLACED "\":null}");
    buffer_release(&fixture.buffer);
}

static void test_json_writer__any_bytes_make_a_valid_string(void **state)
{
    (void)state;
    struct random random;
    random_init(&random);
    struct fixture fixture;
    fixture_init(&fixture);
    for (int round = 0; round < 20000; round++) {
        char bytes[40];
        size_t size = (size_t)random_below(&random, sizeof(bytes) + 1);
        unsigned mask = random_below(&random, 2) ? 0xff : 0x7f;
        for (size_t i = 0; i < size; i++) {
            bytes[i] = (char)(random_u64(&random) & mask);
        }
        buffer_clear(&fixture.buffer);
        json_writer_init(&fixture.writer, &fixture.buffer);
        json_write_string(&fixture.writer, slice_make(bytes, size));
        assert_int_equal(json_validate(buffer_slice(&fixture.buffer), 0, NULL), STATUS_OK);
    }
    buffer_release(&fixture.buffer);
}

static void test_json_writer__goes_as_deep_as_it_says(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture);
    struct json_writer *writer = &fixture.writer;
    for (int level = 0; level < JSON_WRITER_DEPTH_MAX; level++) {
        if (level % 3 == 0) {
            json_write_begin_array(writer);
            json_write_int(writer, level);
        } else {
            json_write_begin_object(writer);
            json_write_key(writer, SLICE("a"));
        }
        if (level % 3 == 2) {
            json_write_int(writer, level);
            json_write_key(writer, SLICE("b"));
        }
    }
    for (int level = JSON_WRITER_DEPTH_MAX - 1; level >= 0; level--) {
        if (level % 3 == 0) {
            json_write_end_array(writer);
        } else {
            json_write_end_object(writer);
        }
    }
    struct slice text = buffer_slice(&fixture.buffer);
    assert_int_equal(json_validate(text, JSON_WRITER_DEPTH_MAX, NULL), STATUS_OK);
    assert_int_equal(json_validate(text, JSON_WRITER_DEPTH_MAX - 1, NULL), STATUS_TOO_LARGE);
    buffer_release(&fixture.buffer);
}

static void test_json_writer__keeps_what_the_buffer_held(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture);
    buffer_append(&fixture.buffer, SLICE("data: "));
    json_write_begin_array(&fixture.writer);
    json_write_end_array(&fixture.writer);
    assert_slice_equal(buffer_slice(&fixture.buffer), "data: []");
    buffer_release(&fixture.buffer);
}

static void write_something(struct buffer *buffer)
{
    struct json_writer writer;
    json_writer_init(&writer, buffer);
    json_write_begin_object(&writer);
    for (int i = 0; i < 50; i++) {
        json_write_key(&writer, SLICE("key \xff \n"));
        json_write_begin_array(&writer);
        json_write_int(&writer, i);
        json_write_double(&writer, 0.5);
        json_write_string(&writer, SLICE("a string that is long enough to need some memory"));
        json_write_end_array(&writer);
    }
    json_write_end_object(&writer);
}

static void test_json_writer__a_full_buffer_keeps_its_status(void **state)
{
    (void)state;
    struct buffer buffer;
    buffer_init(&buffer, &allocator_system, 1 << 20);
    write_something(&buffer);
    size_t size = buffer.size;
    buffer_release(&buffer);

    for (size_t size_max = 0; size_max <= size; size_max++) {
        buffer_init(&buffer, &allocator_system, size_max);
        write_something(&buffer);
        assert_int_equal(buffer.status, size_max < size ? STATUS_TOO_LARGE : STATUS_OK);
        buffer_release(&buffer);
    }
}

static void test_json_writer__a_failed_allocation_is_in_the_status_at_the_end(void **state)
{
    (void)state;
    struct fault_alloc fault;
    FAULT_ALLOC_EACH(&fault)
    {
        struct buffer buffer;
        buffer_init(&buffer, &fault.allocator, 1 << 20);
        write_something(&buffer);
        FAULT_ALLOC_EXPECT(&fault, buffer.status);
        buffer_release(&buffer);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_json_writer__a_scalar_alone_is_a_text),
        cmocka_unit_test(test_json_writer__a_double_is_short_and_one_that_is_not_finite_is_null),
        cmocka_unit_test(test_json_writer__puts_commas_between_values_alone),
        cmocka_unit_test(test_json_writer__an_object_has_a_key_for_each_value),
        cmocka_unit_test(test_json_writer__escapes_what_must_be_and_nothing_else),
        cmocka_unit_test(test_json_writer__a_byte_that_is_not_utf8_is_replaced),
        cmocka_unit_test(test_json_writer__any_bytes_make_a_valid_string),
        cmocka_unit_test(test_json_writer__goes_as_deep_as_it_says),
        cmocka_unit_test(test_json_writer__keeps_what_the_buffer_held),
        cmocka_unit_test(test_json_writer__a_full_buffer_keeps_its_status),
        cmocka_unit_test(test_json_writer__a_failed_allocation_is_in_the_status_at_the_end),
    };
    return cmocka_run_group_tests_name("json_writer", tests, NULL, NULL);
}
