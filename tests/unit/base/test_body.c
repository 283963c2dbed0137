// SPDX-License-Identifier: MIT
#include "base/body.h"
#include "base/json.h"

#include "fault_alloc.h"
#include "random.h"
#include "row.h"
#include "test.h"

#include <stdio.h>

enum {
    SIZE_MAX_BYTES = 1 << 20,
};

#define BYTES(literal)                                                                             \
    {                                                                                              \
        (literal), sizeof(literal) - 1                                                             \
    }

static const struct {
    struct slice body, data;
} bodies[] = {
    // JSON without white space stays as it is.
    { BYTES("{}"), BYTES("{}") },
    { BYTES("{\"job\":\"X\"}"), BYTES("{\"job\":\"X\"}") },
    { BYTES("[1,\"a b\",null]"), BYTES("[1,\"a b\",null]") },
    { BYTES("-1.50e3"), BYTES("-1.50e3") },
    { BYTES("true"), BYTES("true") },
    { BYTES("{\"a\":1,\"$base64\":\"AA==\"}"), BYTES("{\"a\":1,\"$base64\":\"AA==\"}") },
    { BYTES("[{\"$base64\":\"AA==\"}]"), BYTES("[{\"$base64\":\"AA==\"}]") },
    // Other text is a string.
    { BYTES(""), BYTES("\"\"") },
    { BYTES("hello"), BYTES("\"hello\"") },
    { BYTES("{ }"), BYTES("\"{ }\"") },
    { BYTES("{}\n"), BYTES("\"{}\\n\"") },
    { BYTES("01"), BYTES("\"01\"") },
    { BYTES("\"hello\""), BYTES("\"\\\"hello\\\"\"") },
    { BYTES("\"half"), BYTES("\"\\\"half\"") },
    { BYTES("caf\xc3\xa9 \xf0\x9f\x98\x80"), BYTES("\"caf\xc3\xa9 \xf0\x9f\x98\x80\"") },
    { BYTES("\xef\xbb\xbf{}"), BYTES("\"\xef\xbb\xbf{}\"") },
    { BYTES("{\"$base64\":\"AA==\"}"), BYTES("\"{\\\"$base64\\\":\\\"AA==\\\"}\"") },
    { BYTES("{\"$base64\":1,\"a\":2}"), BYTES("\"{\\\"$base64\\\":1,\\\"a\\\":2}\"") },
    { BYTES("{\"\\u0024base64\":\"\"}"), BYTES("\"{\\\"\\\\u0024base64\\\":\\\"\\\"}\"") },
    // All else is base64.
    { BYTES("\0"), BYTES("{\"$base64\":\"AA==\"}") },
    { BYTES("\xff\0"), BYTES("{\"$base64\":\"/wA=\"}") },
    { BYTES("\xff\xfe\xfd"), BYTES("{\"$base64\":\"//79\"}") },
    { BYTES("a\0bc"), BYTES("{\"$base64\":\"YQBiYw==\"}") },
    { BYTES("\xed\xa0\x80"), BYTES("{\"$base64\":\"7aCA\"}") },
    { BYTES("\xc3"), BYTES("{\"$base64\":\"ww==\"}") },
};

static void test_body__each_kind_has_its_data_and_comes_back(void **state)
{
    (void)state;
    struct buffer out;
    buffer_init(&out, &allocator_system, SIZE_MAX_BYTES);
    for (size_t i = 0; TEST_ROW(i, bodies); i++) {
        buffer_clear(&out);
        assert_int_equal(body_encode(bodies[i].body, &out), STATUS_OK);
        assert_true(slice_equal(buffer_slice(&out), bodies[i].data));
        assert_int_equal(json_validate(bodies[i].data, JSON_VALUE_DEPTH_MAX, NULL), STATUS_OK);
        buffer_clear(&out);
        assert_int_equal(body_decode(bodies[i].data, &out), STATUS_OK);
        assert_true(slice_equal(buffer_slice(&out), bodies[i].body));
    }
    buffer_release(&out);
}

// Data that no encoder made.
static const struct {
    struct slice data, body;
} others[] = {
    { BYTES("{\"$base64\":\"\"}"), BYTES("") },
    { BYTES("{\"$base64\":\"\\/wA=\"}"), BYTES("\xff\0") },
    { BYTES("{\"\\u0024base64\":\"AA==\"}"), BYTES("\0") },
    { BYTES("\"a\\u0000b\""), BYTES("a\0b") },
    { BYTES("\"\\ud83d\\ude00\""), BYTES("\xf0\x9f\x98\x80") },
    // No base64, or not alone: the text of the data.
    { BYTES("{\"$base64\":\"AA=\"}"), BYTES("{\"$base64\":\"AA=\"}") },
    { BYTES("{\"$base64\":\"AB==\"}"), BYTES("{\"$base64\":\"AB==\"}") },
    { BYTES("{\"$base64\":\"AAB=\"}"), BYTES("{\"$base64\":\"AAB=\"}") },
    { BYTES("{\"$base64\":\"A===\"}"), BYTES("{\"$base64\":\"A===\"}") },
    { BYTES("{\"$base64\":\"====\"}"), BYTES("{\"$base64\":\"====\"}") },
    { BYTES("{\"$base64\":\"AA==AAAA\"}"), BYTES("{\"$base64\":\"AA==AAAA\"}") },
    { BYTES("{\"$base64\":\"AA-_\"}"), BYTES("{\"$base64\":\"AA-_\"}") },
    { BYTES("{\"$base64\":\"AA\\u0000A\"}"), BYTES("{\"$base64\":\"AA\\u0000A\"}") },
    { BYTES("{\"$base64\":7}"), BYTES("{\"$base64\":7}") },
    { BYTES("{\"$base64\":\"AA==\",\"a\":1}"), BYTES("{\"$base64\":\"AA==\",\"a\":1}") },
    { BYTES("{}"), BYTES("{}") },
};

static void test_body__other_data_is_text(void **state)
{
    (void)state;
    struct buffer out;
    buffer_init(&out, &allocator_system, SIZE_MAX_BYTES);
    for (size_t i = 0; TEST_ROW(i, others); i++) {
        buffer_clear(&out);
        buffer_append(&out, SLICE("before"));
        assert_int_equal(body_decode(others[i].data, &out), STATUS_OK);
        assert_true(slice_equal(slice_sub(buffer_slice(&out), 6, SIZE_MAX), others[i].body));
    }
    buffer_release(&out);
}

static void test_body__json_that_is_too_deep_is_a_string(void **state)
{
    (void)state;
    static char deep[2 * (JSON_VALUE_DEPTH_MAX + 1)];
    struct buffer out;
    buffer_init(&out, &allocator_system, SIZE_MAX_BYTES);
    for (size_t depth = JSON_VALUE_DEPTH_MAX; depth <= JSON_VALUE_DEPTH_MAX + 1; depth++) {
        memset(deep, '[', depth);
        memset(deep + depth, ']', depth);
        buffer_clear(&out);
        assert_int_equal(body_encode(slice_make(deep, 2 * depth), &out), STATUS_OK);
        assert_int_equal(out.data[0], depth > JSON_VALUE_DEPTH_MAX ? '"' : '[');
    }
    buffer_release(&out);
}

static void test_body__random_bodies_come_back(void **state)
{
    (void)state;
    static const char pieces[][12] = { "{",  "}",        "\"",   "$base64", ":", "1", " ",
                                       "\\", "\xc3\xa9", "\xff", "a",       "[", "]", "," };
    struct random random;
    random_init(&random);
    struct buffer body, data, back;
    buffer_init(&body, &allocator_system, SIZE_MAX_BYTES);
    buffer_init(&data, &allocator_system, SIZE_MAX_BYTES);
    buffer_init(&back, &allocator_system, SIZE_MAX_BYTES);
    for (int i = 0; i < 20000; i++) {
        buffer_clear(&body);
        buffer_clear(&data);
        buffer_clear(&back);
        bool bytes = random_below(&random, 2);
        for (uint64_t left = random_below(&random, 12); left > 0; left--) {
            if (bytes) {
                buffer_append_char(&body, (char)random_below(&random, 256));
            } else {
                buffer_append(
                    &body, slice_from_cstr(
                               pieces[random_below(&random, sizeof(pieces) / sizeof(pieces[0]))]));
            }
        }
        assert_int_equal(body_encode(buffer_slice(&body), &data), STATUS_OK);
        assert_int_equal(json_validate(buffer_slice(&data), JSON_VALUE_DEPTH_MAX, NULL), 0);
        assert_int_equal(body_decode(buffer_slice(&data), &back), STATUS_OK);
        assert_true(slice_equal(buffer_slice(&back), buffer_slice(&body)));
    }
    buffer_release(&body);
    buffer_release(&data);
    buffer_release(&back);
}

static void test_body__without_room_nothing_is_left_behind(void **state)
{
    (void)state;
    for (size_t i = 0; TEST_ROW(i, bodies); i++) {
        for (size_t room = 0; room < bodies[i].data.size; room++) {
            struct buffer out;
            buffer_init(&out, &allocator_system, 2 + room);
            buffer_append(&out, SLICE("ab"));
            assert_int_equal(body_encode(bodies[i].body, &out), STATUS_TOO_LARGE);
            assert_int_equal(out.size, 2);
            buffer_release(&out);
        }
        for (size_t room = 0; room < bodies[i].body.size; room++) {
            struct buffer out;
            buffer_init(&out, &allocator_system, 2 + room);
            buffer_append(&out, SLICE("ab"));
            assert_int_equal(body_decode(bodies[i].data, &out), STATUS_TOO_LARGE);
            assert_int_equal(out.size, 2);
            buffer_release(&out);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_body__each_kind_has_its_data_and_comes_back),
        cmocka_unit_test(test_body__other_data_is_text),
        cmocka_unit_test(test_body__json_that_is_too_deep_is_a_string),
        cmocka_unit_test(test_body__random_bodies_come_back),
        cmocka_unit_test(test_body__without_room_nothing_is_left_behind),
    };
    return cmocka_run_group_tests_name("body", tests, NULL, NULL);
}
