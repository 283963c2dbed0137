// SPDX-License-Identifier: MIT
#include "client/value.h"

#include "base/buffer.h"
#include "json_oracle.h"
#include "test.h"

#include <stdlib.h>

// An answer from a block of just its size, so that a sanitizer sees what is read behind it.
static enum sluice_status read_slice(struct slice wire, struct sluice_value **out,
                                     struct sluice_error *error)
{
    char *copy = malloc(wire.size ? wire.size : 1);
    assert_non_null(copy);
    memcpy(copy, wire.data, wire.size);
    enum sluice_status status = value_read_whole(slice_make(copy, wire.size), out, error);
    free(copy); // nothing of it is needed any more
    return status;
}

static struct sluice_value *read_good(const char *wire)
{
    struct sluice_value *value;
    struct sluice_error error = { 0 };
    assert_int_equal(read_slice(slice_from_cstr(wire), &value, &error), SLUICE_OK);
    assert_non_null(value);
    return value;
}

static void assert_json(const struct sluice_value *value, const char *wanted)
{
    char *json = sluice_value_json(value);
    assert_non_null(json);
    assert_true(json_oracle_accepts(slice_from_cstr(json)));
    assert_string_equal(json, wanted);
    sluice_free(json);
}

static void test_value__as_json_whatever_its_type(void **state)
{
    (void)state;
    static const struct {
        const char *wire, *json;
    } answers[] = {
        { "_\r\n", "null" },
        { "$-1\r\n", "null" },
        { "*-1\r\n", "null" },
        { "+OK\r\n", "\"OK\"" },
        { "$5\r\na\"\n\\\x01\r\n", "\"a\\\"\\n\\\\\\u0001\"" },
        { "$2\r\n\xc3\xa9\r\n", "\"\xc3\xa9\"" },
        { "$2\r\n\xc3x\r\n", "\"\xef\xbf\xbdx\"" },
        { "=7\r\ntxt:abc\r\n", "\"abc\"" },
        { ":-7\r\n", "-7" },
        { ",1.5\r\n", "1.5" },
        { ",1784000060.5\r\n", "1784000060.5" },
        { "(123456789012345678901234567890\r\n", "1.2345678901234568e+29" },
        { "#t\r\n", "true" },
        { "#f\r\n", "false" },
        { "*0\r\n", "[]" },
        { "%0\r\n", "{}" },
        { "*3\r\n:1\r\n*1\r\n_\r\n+x\r\n", "[1,[null],\"x\"]" },
        { "~1\r\n:1\r\n", "[1]" },
        { ">1\r\n:1\r\n", "[1]" },
        { "%2\r\n+a\r\n:1\r\n$1\r\nb\r\n%1\r\n+c\r\n#t\r\n", "{\"a\":1,\"b\":{\"c\":true}}" },
        { "*2\r\n-STALE not yours\r\n!9\r\nERR a\r\nbc\r\n",
          "[{\"error\":\"stale\",\"message\":\"not yours\"},"
          "{\"error\":\"invalid\",\"message\":\"a\\r\\nbc\"}]" },
        // Infinity has no form in JSON.
        { "*2\r\n,inf\r\n,-inf\r\n", "[null,null]" },
        { ",nan\r\n", "null" },
    };
    for (size_t i = 0; TEST_ROW_NAMED(i, answers, answers[i].wire); i++) {
        print_message("# answer %zu\n", i);
        struct sluice_value *value = read_good(answers[i].wire);
        assert_json(value, answers[i].json);
        sluice_value_free(value);
    }
    assert_json(NULL, "null");
}

static void test_value__what_jobs_carry_is_json_already(void **state)
{
    (void)state;
    struct sluice_value *value =
        read_good("%5\r\n+data\r\n+{\"a\": [1]}\r\n+result\r\n+7\r\n+text\r\n+7\r\n"
                  "+inner\r\n%1\r\n+result\r\n+oops\r\n+list\r\n*1\r\n+{}\r\n");
    assert_json(value, "{\"data\":{\"a\": [1]},\"result\":7,\"text\":\"7\","
                       "\"inner\":{\"result\":\"oops\"},\"list\":[\"{}\"]}");
    sluice_value_free(value);
    value = read_good("%2\r\n+data\r\n_\r\n+result\r\n$0\r\n\r\n");
    assert_json(value, "{\"data\":null,\"result\":\"\"}");
    sluice_value_free(value);
}

static void nest(struct buffer *out, size_t depth)
{
    buffer_clear(out);
    for (size_t i = 0; i < depth; i++) {
        buffer_append(out, SLICE("["));
    }
    for (size_t i = 0; i < depth; i++) {
        buffer_append(out, SLICE("]"));
    }
}

// As deep as a queue takes it.
static void test_value__data_may_be_deep(void **state)
{
    (void)state;
    static const size_t depths[] = { 1, 32, 33, 64, 128 };
    struct buffer data, wire, wanted;
    buffer_init(&data, &allocator_system, 10000);
    buffer_init(&wire, &allocator_system, 10000);
    buffer_init(&wanted, &allocator_system, 10000);
    for (size_t i = 0; TEST_ROW(i, depths); i++) {
        struct sluice_value *value;
        nest(&data, depths[i]);
        buffer_clear(&wire);
        buffer_printf(&wire, "%%1\r\n+data\r\n+%.*s\r\n", SLICE_PRINT(buffer_slice(&data)));
        buffer_clear(&wanted);
        buffer_printf(&wanted, "{\"data\":%.*s}", SLICE_PRINT(buffer_slice(&data)));
        assert_int_equal(read_slice(buffer_slice(&wire), &value, NULL), SLUICE_OK);
        char *json = sluice_value_json(value);
        assert_slice_equal(buffer_slice(&wanted), json);
        sluice_free(json);
        sluice_value_free(value);
    }
    buffer_release(&data);
    buffer_release(&wire);
    buffer_release(&wanted);
}

static void test_value__lists_in_one_another_have_a_limit(void **state)
{
    (void)state;
    struct buffer wire;
    struct sluice_value *value;
    struct sluice_error error = { 0 };
    buffer_init(&wire, &allocator_system, 1 << 20);
    for (size_t depth = 1; depth <= 100; depth++) {
        buffer_clear(&wire);
        for (size_t i = 0; i < depth; i++) {
            buffer_append(&wire, i % 2 ? SLICE("*1\r\n") : SLICE("%1\r\n+k\r\n"));
        }
        buffer_append(&wire, SLICE(":1\r\n"));
        enum sluice_status status = read_slice(buffer_slice(&wire), &value, &error);
        assert_int_equal(status, depth <= 32 ? SLUICE_OK : SLUICE_INVALID);
        if (!status) {
            char *json = sluice_value_json(value);
            assert_non_null(json);
            sluice_free(json);
        } else {
            assert_null(value);
            assert_non_null(strstr(error.message, "too many lists in one another"));
        }
        sluice_value_free(value);
    }
    buffer_release(&wire);
}

static void test_value__what_does_not_fit_is_nothing(void **state)
{
    (void)state;
    struct sluice_value *value = read_good("*8\r\n_\r\n+text\r\n:7\r\n,2.5\r\n#t\r\n*1\r\n:1\r\n"
                                           "%1\r\n+k\r\n+v\r\n-STALE no\r\n");
    static const enum sluice_type types[] = { SLUICE_NULL,   SLUICE_TEXT,    SLUICE_INTEGER,
                                              SLUICE_NUMBER, SLUICE_BOOLEAN, SLUICE_LIST,
                                              SLUICE_MAP,    SLUICE_FAULT };
    static const int64_t integers[] = { 0, 0, 7, 2, 1, 0, 0, 0 };
    static const double numbers[] = { 0, 0, 7, 2.5, 1, 0, 0, 0 };
    static const size_t counts[] = { 0, 0, 0, 0, 0, 1, 1, 0 };
    static const char *const texts[] = { NULL, "text", NULL, NULL, NULL, NULL, NULL, "no" };
    assert_int_equal(sluice_value_count(value), 8);
    for (size_t i = 0; i < 8; i++) {
        const struct sluice_value *item = sluice_value_at(value, i);
        size_t size = 99;
        assert_int_equal(sluice_value_type(item), types[i]);
        assert_int_equal(sluice_value_integer(item), integers[i]);
        assert_true(sluice_value_number(item) == numbers[i]);
        assert_int_equal(sluice_value_boolean(item), integers[i] != 0);
        assert_int_equal(sluice_value_count(item), counts[i]);
        const char *text = sluice_value_text(item, &size);
        assert_int_equal(size, texts[i] ? strlen(texts[i]) : 0);
        if (texts[i]) {
            assert_string_equal(text, texts[i]);
        } else {
            assert_null(text);
        }
        assert_int_equal(sluice_value_status(item), i == 7 ? SLUICE_STALE : SLUICE_OK);
        assert_null(sluice_value_at(item, 1));
        assert_null(sluice_value_key(item, 1));
        assert_null(sluice_value_get(item, "nothing"));
    }
    assert_null(sluice_value_at(value, 8));
    assert_null(sluice_value_key(value, 0));
    assert_null(sluice_value_get(value, "k"));
    sluice_value_free(value);
}

static void test_value__null_is_a_value_like_any_other(void **state)
{
    (void)state;
    size_t size = 99;
    assert_int_equal(sluice_value_type(NULL), SLUICE_NULL);
    assert_null(sluice_value_text(NULL, &size));
    assert_int_equal(size, 0);
    assert_null(sluice_value_text(NULL, NULL));
    assert_int_equal(sluice_value_integer(NULL), 0);
    assert_true(sluice_value_number(NULL) == 0);
    assert_false(sluice_value_boolean(NULL));
    assert_int_equal(sluice_value_status(NULL), SLUICE_OK);
    assert_int_equal(sluice_value_count(NULL), 0);
    assert_null(sluice_value_at(NULL, 0));
    assert_null(sluice_value_key(NULL, 0));
    assert_null(sluice_value_get(NULL, "k"));
    sluice_value_free(NULL);
}

static void test_value__maps_are_read_by_key_and_in_order(void **state)
{
    (void)state;
    struct sluice_value *value =
        read_good("%3\r\n+a\r\n:1\r\n$0\r\n\r\n:2\r\n+c\r\n*2\r\n:3\r\n:4\r\n");
    assert_int_equal(sluice_value_type(value), SLUICE_MAP);
    assert_int_equal(sluice_value_count(value), 3);
    assert_string_equal(sluice_value_key(value, 0), "a");
    assert_string_equal(sluice_value_key(value, 1), "");
    assert_string_equal(sluice_value_key(value, 2), "c");
    assert_null(sluice_value_key(value, 3));
    assert_int_equal(sluice_value_integer(sluice_value_at(value, 1)), 2);
    assert_int_equal(sluice_value_integer(sluice_value_get(value, "")), 2);
    const struct sluice_value *list = sluice_value_get(value, "c");
    assert_int_equal(sluice_value_integer(sluice_value_at(list, 1)), 4);
    assert_null(sluice_value_get(value, "A"));
    sluice_value_free(value);
}

static void test_value__texts_hold_any_byte(void **state)
{
    (void)state;
    struct sluice_value *value;
    size_t size;
    assert_int_equal(read_slice(SLICE("$3\r\na\0b\r\n"), &value, NULL), SLUICE_OK);
    const char *text = sluice_value_text(value, &size);
    assert_int_equal(size, 3);
    assert_memory_equal(text, "a\0b\0", 4);
    assert_json(value, "\"a\\u0000b\"");
    sluice_value_free(value);
}

static void test_value__an_answer_that_is_an_error_is_a_status(void **state)
{
    (void)state;
    static const char *const errors[] = { "-STALE not yours\r\n", "!15\r\nSTALE not yours\r\n" };
    for (size_t i = 0; i < 2; i++) {
        struct sluice_value *value = (struct sluice_value *)(void *)&value;
        struct sluice_error error;
        assert_int_equal(read_slice(slice_from_cstr(errors[i]), &value, &error), SLUICE_STALE);
        assert_int_equal(error.status, SLUICE_STALE);
        assert_string_equal(error.message, "not yours");
        assert_null(value);
    }
}

static void test_value__what_makes_no_sense_is_refused(void **state)
{
    (void)state;
    static const char *const odd[] = {
        "",
        "+OK",
        "*2\r\n:1\r\n",
        "hello\r\n",
        ",x\r\n",
        ",\r\n",
        "(1.5.5\r\n",
        "%1\r\n:1\r\n:1\r\n",
        "%1\r\n_\r\n:1\r\n",
        "*1\r\n%1\r\n*0\r\n:1\r\n",
    };
    for (size_t i = 0; TEST_ROW_NAMED(i, odd, odd[i]); i++) {
        struct sluice_value *value;
        struct sluice_error error = { 0 };
        print_message("# answer %zu\n", i);
        assert_int_equal(read_slice(slice_from_cstr(odd[i]), &value, &error), SLUICE_INVALID);
        assert_null(value);
        assert_non_null(strstr(error.message, "malformed answer"));
    }
}

static void test_value__numbers_that_no_integer_holds_are_0(void **state)
{
    (void)state;
    struct sluice_value *value = read_good("*4\r\n,1e300\r\n,-1e300\r\n,-2.9\r\n,nan\r\n");
    static const int64_t wanted[] = { 0, 0, -2, 0 };
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(sluice_value_integer(sluice_value_at(value, i)), wanted[i]);
    }
    sluice_value_free(value);
}

static void test_value__the_first_of_a_list_takes_its_place(void **state)
{
    (void)state;
    struct sluice_value *value = read_good("*2\r\n%1\r\n+a\r\n+b\r\n_\r\n");
    value_keep_first(value);
    assert_json(value, "{\"a\":\"b\"}");
    sluice_value_free(value);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_value__as_json_whatever_its_type),
        cmocka_unit_test(test_value__what_jobs_carry_is_json_already),
        cmocka_unit_test(test_value__data_may_be_deep),
        cmocka_unit_test(test_value__lists_in_one_another_have_a_limit),
        cmocka_unit_test(test_value__what_does_not_fit_is_nothing),
        cmocka_unit_test(test_value__null_is_a_value_like_any_other),
        cmocka_unit_test(test_value__maps_are_read_by_key_and_in_order),
        cmocka_unit_test(test_value__texts_hold_any_byte),
        cmocka_unit_test(test_value__an_answer_that_is_an_error_is_a_status),
        cmocka_unit_test(test_value__what_makes_no_sense_is_refused),
        cmocka_unit_test(test_value__numbers_that_no_integer_holds_are_0),
        cmocka_unit_test(test_value__the_first_of_a_list_takes_its_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
