// SPDX-License-Identifier: MIT
#include "base/num.h"

#include "fault_alloc.h"
#include "random.h"
#include "test.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    ROUNDS = 20000,
};

// What no number parser takes.
static const char *const malformed[] = {
    "",      " ",   "-",    "+",     "--1",   "+1",       "-+1",       " 1",    "1 ",     "1\n",
    "\t1",   "00",  "01",   "-00",   "-01",   "0x10",     "0X1",       "1x",    "x1",     "1,000",
    "1_000", "1-",  "1+1",  "nan",   "NaN",   "inf",      "Infinity",  "-inf",  "null",   "true",
    "\"1\"", "[1]", "1..0", ".",     "-.",    ".5",       "-.5",       "1.",    "-1.",    "1.e5",
    "1e",    "1e+", "1e-",  "e5",    "1e5.0", "1e 5",     "1ee5",      "1.5.5", "0x1p-3", "1.5f",
    "1u",    "1L",  "0b1",  "1e5e5", "1e+-5", "\xc2\xb2", "1\xcc\x81",
};

static void assert_same_double(double a, double b)
{
    assert_memory_equal(&a, &b, sizeof(a));
}

static void test_num__what_is_malformed_is_refused_by_all_and_nothing_changes(void **state)
{
    (void)state;
    for (size_t i = 0; TEST_ROW_NAMED(i, malformed, malformed[i]); i++) {
        struct slice text = slice_from_cstr(malformed[i]);
        int64_t i64 = 42;
        uint64_t u64 = 42;
        double real = 42;
        int64_t us = 42;
        assert_int_equal(num_parse_i64(text, &i64), STATUS_INVALID);
        assert_int_equal(num_parse_u64(text, &u64), STATUS_INVALID);
        assert_int_equal(num_parse_double(text, &real), STATUS_INVALID);
        assert_int_equal(num_parse_seconds(text, &us), STATUS_INVALID);
        assert_int_equal(i64, 42);
        assert_int_equal(u64, 42);
        assert_same_double(real, 42);
        assert_int_equal(us, 42);
    }
}

static void test_num__a_zero_byte_is_not_an_end(void **state)
{
    (void)state;
    static const struct slice texts[] = {
        { "1\0", 2 }, { "\0001", 2 }, { "1\0001", 3 }, { "\0", 1 }, { NULL, 0 },
    };
    for (size_t i = 0; TEST_ROW(i, texts); i++) {
        int64_t i64;
        double real;
        assert_int_equal(num_parse_i64(texts[i], &i64), STATUS_INVALID);
        assert_int_equal(num_parse_double(texts[i], &real), STATUS_INVALID);
        assert_int_equal(num_parse_seconds(texts[i], &i64), STATUS_INVALID);
    }
}

static void test_num__bytes_after_the_slice_are_not_read(void **state)
{
    (void)state;
    int64_t i64;
    double real;
    assert_int_equal(num_parse_i64(slice_make("1234", 2), &i64), STATUS_OK);
    assert_int_equal(i64, 12);
    assert_int_equal(num_parse_double(slice_make("1.25e9", 4), &real), STATUS_OK);
    assert_same_double(real, 1.25);
    assert_int_equal(num_parse_double(slice_make("1.25e9", 5), &real), STATUS_INVALID);
    assert_int_equal(num_parse_seconds(slice_make("1.59", 3), &i64), STATUS_OK);
    assert_int_equal(i64, 1500000);
}

static void test_num__parses_signed_integers_to_their_limits(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum status status;
        int64_t value;
    } cases[] = {
        { "0", STATUS_OK, 0 },
        { "-0", STATUS_OK, 0 },
        { "1", STATUS_OK, 1 },
        { "-1", STATUS_OK, -1 },
        { "9", STATUS_OK, 9 },
        { "10", STATUS_OK, 10 },
        { "1234567890", STATUS_OK, 1234567890 },
        { "4294967295", STATUS_OK, 4294967295 },
        { "4294967296", STATUS_OK, 4294967296 },
        { "-2147483649", STATUS_OK, -2147483649 },
        { "999999999999999999", STATUS_OK, 999999999999999999 },
        { "9223372036854775806", STATUS_OK, INT64_MAX - 1 },
        { "9223372036854775807", STATUS_OK, INT64_MAX },
        { "9223372036854775808", STATUS_TOO_LARGE, 0 },
        { "9223372036854775810", STATUS_TOO_LARGE, 0 },
        { "9999999999999999999", STATUS_TOO_LARGE, 0 },
        { "18446744073709551615", STATUS_TOO_LARGE, 0 },
        { "18446744073709551616", STATUS_TOO_LARGE, 0 },
        { "18446744073709551617", STATUS_TOO_LARGE, 0 },
        { "99999999999999999999", STATUS_TOO_LARGE, 0 },
        { "-9223372036854775807", STATUS_OK, -INT64_MAX },
        { "-9223372036854775808", STATUS_OK, INT64_MIN },
        { "-9223372036854775809", STATUS_TOO_LARGE, 0 },
        { "-18446744073709551616", STATUS_TOO_LARGE, 0 },
        { "1e5", STATUS_INVALID, 0 },
        { "1.0", STATUS_INVALID, 0 },
        { "-1.5", STATUS_INVALID, 0 },
        { "99999999999999999999x", STATUS_INVALID, 0 },
    };
    for (size_t i = 0; TEST_ROW_NAMED(i, cases, cases[i].text); i++) {
        int64_t value = 77;
        assert_int_equal(num_parse_i64(slice_from_cstr(cases[i].text), &value), cases[i].status);
        assert_int_equal(value, cases[i].status ? 77 : cases[i].value);
    }
}

static void test_num__parses_unsigned_integers_to_their_limits(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum status status;
        uint64_t value;
    } cases[] = {
        { "0", STATUS_OK, 0 },
        { "-0", STATUS_OK, 0 },
        { "7", STATUS_OK, 7 },
        { "-1", STATUS_TOO_LARGE, 0 },
        { "-9223372036854775808", STATUS_TOO_LARGE, 0 },
        { "9223372036854775808", STATUS_OK, UINT64_C(9223372036854775808) },
        { "18446744073709551614", STATUS_OK, UINT64_MAX - 1 },
        { "18446744073709551615", STATUS_OK, UINT64_MAX },
        { "18446744073709551616", STATUS_TOO_LARGE, 0 },
        { "18446744073709551620", STATUS_TOO_LARGE, 0 },
        { "100000000000000000000", STATUS_TOO_LARGE, 0 },
        { "1e5", STATUS_INVALID, 0 },
        { "1.0", STATUS_INVALID, 0 },
    };
    for (size_t i = 0; TEST_ROW_NAMED(i, cases, cases[i].text); i++) {
        uint64_t value = 77;
        assert_int_equal(num_parse_u64(slice_from_cstr(cases[i].text), &value), cases[i].status);
        assert_int_equal(value, cases[i].status ? 77 : cases[i].value);
    }
}

static void test_num__parses_doubles_to_the_nearest(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double value;
    } cases[] = {
        { "0", 0.0 },
        { "-0", -0.0 },
        { "0.0", 0.0 },
        { "-0.0e5", -0.0 },
        { "0e999999999999", 0.0 },
        { "-0e-999999999999", -0.0 },
        { "1", 1.0 },
        { "-1.5", -1.5 },
        { "0.1", 0.1 },
        { "0.3", 0.3 },
        { "1e5", 1e5 },
        { "1E5", 1e5 },
        { "1e+5", 1e5 },
        { "1e005", 1e5 },
        { "1e-5", 1e-5 },
        { "123456789.125", 123456789.125 },
        { "1e22", 1e22 },
        { "1e23", 1e23 },
        { "1e-22", 1e-22 },
        { "1e-23", 1e-23 },
        { "9007199254740991", 9007199254740991.0 },
        { "9007199254740992", 9007199254740992.0 },
        { "9007199254740993", 9007199254740992.0 },
        { "9007199254740993.0000000000000000000000000001", 9007199254740994.0 },
        { "9007199254740994", 9007199254740994.0 },
        { "9007199254740995", 9007199254740996.0 },
        { "9007199254740992e22", 9007199254740992e22 },
        { "18446744073709551616", 18446744073709551616.0 },
        { "1.7976931348623157e308", DBL_MAX },
        { "-1.7976931348623157e308", -DBL_MAX },
        { "1.7976931348623158e308", DBL_MAX },
        { "0.00017976931348623157e312", DBL_MAX },
        { "2.2250738585072014e-308", DBL_MIN },
        { "2.2250738585072011e-308", 2.2250738585072011e-308 },
        { "4.9406564584124654e-324", 4.9406564584124654e-324 },
        { "5e-324", 4.9406564584124654e-324 },
        { "2.4703282292062327e-324", 0.0 },
        { "2.4703282292062328e-324", 4.9406564584124654e-324 },
        { "1e-400", 0.0 },
        { "-1e-99999999999999999999", -0.0 },
        { "8.41e21", 8.41e21 },
        { "6.631236846766476e-316", 6.631236846766476e-316 },
        { "3.237883913302901e-319", 3.237883913302901e-319 },
    };
    for (size_t i = 0; TEST_ROW_NAMED(i, cases, cases[i].text); i++) {
        double value = 77;
        assert_int_equal(num_parse_double(slice_from_cstr(cases[i].text), &value), STATUS_OK);
        assert_same_double(value, cases[i].value);
    }
}

static void test_num__refuses_doubles_that_are_not_finite(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "1.7976931348623159e308", "-1.7976931348623159e308", "1e309", "-1e309", "1e400",
        "1e99999999999999999999", "0.000001e999999",
    };
    for (size_t i = 0; TEST_ROW_NAMED(i, texts, texts[i]); i++) {
        double value = 77;
        assert_int_equal(num_parse_double(slice_from_cstr(texts[i]), &value), STATUS_TOO_LARGE);
        assert_same_double(value, 77);
    }
}

static void test_num__a_text_of_the_largest_size_is_read_and_a_longer_one_refused(void **state)
{
    (void)state;
    char text[NUM_TEXT_SIZE_MAX + 1];
    for (size_t i = 0; i < sizeof(text); i++) {
        text[i] = '7';
    }
    text[1] = '.';
    double value;
    int64_t us;
    struct slice longest = slice_make(text, NUM_TEXT_SIZE_MAX);
    struct slice too_long = slice_make(text, NUM_TEXT_SIZE_MAX + 1);
    assert_int_equal(num_parse_double(longest, &value), STATUS_OK);
    assert_same_double(value, 7.77777777777777777777);
    assert_int_equal(num_parse_seconds(longest, &us), STATUS_OK);
    assert_int_equal(us, 7777778);
    assert_int_equal(num_parse_double(too_long, &value), STATUS_TOO_LARGE);
    assert_int_equal(num_parse_seconds(too_long, &us), STATUS_TOO_LARGE);

    text[1] = '7';
    uint64_t integer;
    assert_int_equal(num_parse_double(longest, &value), STATUS_TOO_LARGE);
    assert_int_equal(num_parse_i64(longest, &us), STATUS_TOO_LARGE);
    assert_int_equal(num_parse_u64(too_long, &integer), STATUS_TOO_LARGE);
}

static void test_num__parses_seconds_exactly(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum status status;
        int64_t us;
    } cases[] = {
        { "0", STATUS_OK, 0 },
        { "-0", STATUS_OK, 0 },
        { "-0.0", STATUS_OK, 0 },
        { "60", STATUS_OK, 60000000 },
        { "1.5", STATUS_OK, 1500000 },
        { "-1.5", STATUS_OK, -1500000 },
        { "0.1", STATUS_OK, 100000 },
        { "0.000001", STATUS_OK, 1 },
        { "-0.000001", STATUS_OK, -1 },
        { "1.000000000000", STATUS_OK, 1000000 },
        { "1278631343.347269", STATUS_OK, 1278631343347269 },
        // A double has no bits left for these.
        { "9000000000000.000001", STATUS_OK, 9000000000000000001 },
        { "-9000000000000.000001", STATUS_OK, -9000000000000000001 },
        // Rounding.
        { "0.0000001", STATUS_OK, 0 },
        { "0.00000049999", STATUS_OK, 0 },
        { "0.0000005", STATUS_OK, 1 },
        { "0.0000015", STATUS_OK, 2 },
        { "0.0000025", STATUS_OK, 3 },
        { "-0.0000004", STATUS_OK, 0 },
        { "-0.0000005", STATUS_OK, -1 },
        { "0.9999995", STATUS_OK, 1000000 },
        { "0.30000000000000004", STATUS_OK, 300000 },
        { "0.29999999999999998", STATUS_OK, 300000 },
        // Exponents.
        { "1e0", STATUS_OK, 1000000 },
        { "1e-6", STATUS_OK, 1 },
        { "1E-6", STATUS_OK, 1 },
        { "5e-7", STATUS_OK, 1 },
        { "4e-7", STATUS_OK, 0 },
        { "5e-8", STATUS_OK, 0 },
        { "99e-8", STATUS_OK, 1 },
        { "49e-8", STATUS_OK, 0 },
        { "1.5e3", STATUS_OK, 1500000000 },
        { "15e-1", STATUS_OK, 1500000 },
        { "0.0015e+3", STATUS_OK, 1500000 },
        { "123456789e-9", STATUS_OK, 123457 },
        { "9e12", STATUS_OK, 9000000000000000000 },
        { "1e13", STATUS_TOO_LARGE, 0 },
        { "0e99999999999999999999", STATUS_OK, 0 },
        { "1e99999999999999999999", STATUS_TOO_LARGE, 0 },
        { "1e-99999999999999999999", STATUS_OK, 0 },
        { "0.000000000000000000000000000001e36", STATUS_OK, 1000000000000 },
        { "1000000000000000000000000000000e-36", STATUS_OK, 1 },
        // Limits.
        { "9223372036854.775807", STATUS_OK, INT64_MAX },
        { "9223372036854.7758074", STATUS_OK, INT64_MAX },
        { "9223372036854.7758075", STATUS_TOO_LARGE, 0 },
        { "9223372036854.775808", STATUS_TOO_LARGE, 0 },
        { "-9223372036854.775808", STATUS_OK, INT64_MIN },
        { "-9223372036854.7758084", STATUS_OK, INT64_MIN },
        { "-9223372036854.7758085", STATUS_TOO_LARGE, 0 },
        { "-9223372036854.775809", STATUS_TOO_LARGE, 0 },
        { "18446744073709.551615", STATUS_TOO_LARGE, 0 },
        { "18446744073709.5516155", STATUS_TOO_LARGE, 0 },
        { "18446744073709.551616", STATUS_TOO_LARGE, 0 },
        { "18446744073709551616", STATUS_TOO_LARGE, 0 },
    };
    for (size_t i = 0; TEST_ROW_NAMED(i, cases, cases[i].text); i++) {
        int64_t us = 77;
        assert_int_equal(num_parse_seconds(slice_from_cstr(cases[i].text), &us), cases[i].status);
        assert_int_equal(us, cases[i].status ? 77 : cases[i].us);
    }
}

static void test_num__prints_integers_to_their_limits(void **state)
{
    (void)state;
    struct buffer buffer;
    buffer_init(&buffer, &allocator_system, 1000);
    static const int64_t values[] = { 0, 1, -1, 9, 10, -10, 99, 100, INT64_MAX, INT64_MIN };
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        num_append_i64(&buffer, values[i]);
        buffer_append_char(&buffer, ' ');
    }
    num_append_u64(&buffer, 0);
    buffer_append_char(&buffer, ' ');
    num_append_u64(&buffer, UINT64_MAX);
    assert_int_equal(buffer.status, STATUS_OK);
    assert_slice_equal(buffer_slice(&buffer),
                       "0 1 -1 9 10 -10 99 100 9223372036854775807 -9223372036854775808 "
                       "0 18446744073709551615");
    buffer_release(&buffer);
}

static void test_num__prints_doubles_as_javascript_does(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *text;
    } cases[] = {
        { 0.0, "0" },
        { -0.0, "-0" },
        { 1.0, "1" },
        { -1.0, "-1" },
        { 60.0, "60" },
        { 0.5, "0.5" },
        { -1.5, "-1.5" },
        { 0.1, "0.1" },
        { 0.1 + 0.2, "0.30000000000000004" },
        { 1.0 / 3.0, "0.3333333333333333" },
        { 100.25, "100.25" },
        { 123456789.125, "123456789.125" },
        { 1278631343.347269, "1278631343.347269" },
        { 1e15, "1000000000000000" },
        { 9007199254740991.0, "9007199254740991" },
        { 9007199254740992.0, "9007199254740992" },
        { -9007199254740992.0, "-9007199254740992" },
        { 9007199254740994.0, "9007199254740994" },
        { 1e20, "100000000000000000000" },
        { 123456789012345680000.0, "123456789012345680000" },
        { 1e21, "1e+21" },
        { -1.5e21, "-1.5e+21" },
        { 1e22, "1e+22" },
        { 1e100, "1e+100" },
        { 0.001, "0.001" },
        { 0.000001, "0.000001" },
        { 0.00000123, "0.00000123" },
        { 0.0000001, "1e-7" },
        { -1.25e-7, "-1.25e-7" },
        { DBL_MAX, "1.7976931348623157e+308" },
        { -DBL_MAX, "-1.7976931348623157e+308" },
        { DBL_MIN, "2.2250738585072014e-308" },
        { 4.9406564584124654e-324, "5e-324" },
        { DBL_EPSILON, "2.220446049250313e-16" },
        { (double)NAN, "null" },
        { (double)INFINITY, "null" },
        { -(double)INFINITY, "null" },
    };
    struct buffer buffer;
    buffer_init(&buffer, &allocator_system, 1000);
    for (size_t i = 0; TEST_ROW_NAMED(i, cases, cases[i].text); i++) {
        buffer_clear(&buffer);
        num_append_double(&buffer, cases[i].value);
        assert_int_equal(buffer.status, STATUS_OK);
        assert_slice_equal(buffer_slice(&buffer), cases[i].text);
    }
    buffer_release(&buffer);
}

static void test_num__prints_seconds_with_the_decimals_that_are_needed(void **state)
{
    (void)state;
    static const struct {
        int64_t us;
        const char *text;
    } cases[] = {
        { 0, "0" },
        { 60000000, "60" },
        { 1500000, "1.5" },
        { -1500000, "-1.5" },
        { 1, "0.000001" },
        { -1, "-0.000001" },
        { 10, "0.00001" },
        { 999999, "0.999999" },
        { 100000, "0.1" },
        { 1000001, "1.000001" },
        { 1278631343347269, "1278631343.347269" },
        { INT64_MAX, "9223372036854.775807" },
        { INT64_MIN, "-9223372036854.775808" },
    };
    struct buffer buffer;
    buffer_init(&buffer, &allocator_system, 1000);
    for (size_t i = 0; TEST_ROW_NAMED(i, cases, cases[i].text); i++) {
        buffer_clear(&buffer);
        num_append_seconds(&buffer, cases[i].us);
        assert_int_equal(buffer.status, STATUS_OK);
        assert_slice_equal(buffer_slice(&buffer), cases[i].text);
    }
    buffer_release(&buffer);
}

// Of any size: every number of digits is as likely as every other.
static uint64_t random_magnitude(struct random *random)
{
    uint64_t bits = random_u64(random);
    return bits >> random_below(random, 64);
}

static void test_num__integers_and_seconds_survive_being_printed(void **state)
{
    (void)state;
    struct random random;
    random_init(&random);
    struct buffer buffer;
    buffer_init(&buffer, &allocator_system, 1000);
    for (int i = 0; i < ROUNDS; i++) {
        uint64_t u64 = random_magnitude(&random);
        uint64_t u64_again;
        buffer_clear(&buffer);
        num_append_u64(&buffer, u64);
        assert_int_equal(num_parse_u64(buffer_slice(&buffer), &u64_again), STATUS_OK);
        assert_int_equal(u64_again, u64);

        int64_t i64 = (int64_t)(random_below(&random, 2) ? u64 : 0 - u64);
        int64_t i64_again;
        buffer_clear(&buffer);
        num_append_i64(&buffer, i64);
        assert_int_equal(num_parse_i64(buffer_slice(&buffer), &i64_again), STATUS_OK);
        assert_int_equal(i64_again, i64);

        buffer_clear(&buffer);
        num_append_seconds(&buffer, i64);
        assert_int_equal(num_parse_seconds(buffer_slice(&buffer), &i64_again), STATUS_OK);
        assert_int_equal(i64_again, i64);
    }
    buffer_release(&buffer);
}

// Any bits, or a quotient, which is nearer to the sizes that people write.
static double random_double(struct random *random)
{
    double value;
    do {
        uint64_t bits = random_u64(random);
        memcpy(&value, &bits, sizeof(value));
        if (random_below(random, 2)) {
            value = (double)(int64_t)bits / (double)random_below(random, 1000000000);
        }
    } while (!isfinite(value));
    return value;
}

static void test_num__doubles_survive_being_printed_in_no_more_than_17_digits(void **state)
{
    (void)state;
    struct random random;
    random_init(&random);
    struct buffer buffer;
    buffer_init(&buffer, &allocator_system, 1000);
    for (int i = 0; i < ROUNDS; i++) {
        double value = random_double(&random);
        buffer_clear(&buffer);
        num_append_double(&buffer, value);
        double again;
        assert_int_equal(num_parse_double(buffer_slice(&buffer), &again), STATUS_OK);
        assert_same_double(again, value);
        assert_true(buffer.size <= 25);
    }
    buffer_release(&buffer);
}

static void append_random_digits(struct random *random, struct buffer *buffer, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        buffer_append_char(buffer, (char)('0' + random_below(random, 10)));
    }
}

static void append_random_number(struct random *random, struct buffer *buffer)
{
    if (random_below(random, 2)) {
        buffer_append_char(buffer, '-');
    }
    if (random_below(random, 4)) {
        buffer_append_char(buffer, (char)('1' + random_below(random, 9)));
        append_random_digits(random, buffer, random_below(random, 22));
    } else {
        buffer_append_char(buffer, '0');
    }
    if (random_below(random, 4)) {
        buffer_append_char(buffer, '.');
        append_random_digits(random, buffer, 1 + random_below(random, 22));
    }
    if (random_below(random, 2)) {
        static const char *const signs[] = { "e", "E", "e-", "e+", "E-" };
        buffer_append(buffer, slice_from_cstr(signs[random_below(random, 5)]));
        num_append_u64(buffer, random_below(random, random_below(random, 2) ? 30 : 350));
    }
}

static void test_num__doubles_parse_as_strtod_parses_them(void **state)
{
    (void)state;
    struct random random;
    random_init(&random);
    struct buffer buffer;
    buffer_init(&buffer, &allocator_system, 1000);
    for (int i = 0; i < 10 * ROUNDS; i++) {
        buffer_clear(&buffer);
        append_random_number(&random, &buffer);
        struct slice text = buffer_slice(&buffer);
        buffer_append_char(&buffer, '\0');
        assert_int_equal(buffer.status, STATUS_OK);
        text.data = buffer.data;

        double wanted = strtod(buffer.data, NULL);
        double value;
        enum status status = num_parse_double(text, &value);
        assert_int_equal(status, isfinite(wanted) ? STATUS_OK : STATUS_TOO_LARGE);
        if (!status) {
            assert_same_double(value, wanted);
        }
    }
    buffer_release(&buffer);
}

static void test_num__random_bytes_parse_only_where_the_grammar_allows(void **state)
{
    (void)state;
    static const char alphabet[] = "0019-+.eE ";
    struct random random;
    random_init(&random);
    for (int i = 0; i < 10 * ROUNDS; i++) {
        char text[10] = { 0 };
        size_t size = (size_t)random_below(&random, sizeof(text));
        for (size_t j = 0; j < size; j++) {
            text[j] = alphabet[random_below(&random, sizeof(alphabet) - 1)];
        }
        // The C library's grammar is wider, so what we take it must take whole, and the rules that
        // we add are these.
        char *end;
        double wanted = strtod(text, &end);
        const char *digits = text[0] == '-' ? text + 1 : text;
        const char *point = strchr(text, '.');
        bool valid = size && *end == '\0' && end != text && digits[0] >= '0' && digits[0] <= '9' &&
                     !(digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9') &&
                     !(point && (point[1] < '0' || point[1] > '9'));
        double value;
        enum status status = num_parse_double(slice_make(text, size), &value);
        if (valid && isfinite(wanted)) {
            assert_int_equal(status, STATUS_OK);
            assert_same_double(value, wanted);
        } else {
            assert_int_equal(status, valid ? STATUS_TOO_LARGE : STATUS_INVALID);
        }
    }
}

// Makes a locale with a decimal comma, since a machine may have none, and lets it rule.
static void use_decimal_comma(void)
{
    char folder[] = "/tmp/sluice-locale-XXXXXX";
    assert_non_null(mkdtemp(folder));
    char command[200];
    (void)snprintf(command, sizeof(command),
                   "localedef --no-archive -i de_DE -f ISO-8859-1 %s/de_DE >/dev/null 2>&1",
                   folder);
    assert_int_equal(system(command), 0); // NOLINT(cert-env33-c): a fixed command
    assert_int_equal(setenv("LOCPATH", folder, 1), 0);
    const char *chosen = setlocale(LC_NUMERIC, "de_DE");
    (void)snprintf(command, sizeof(command), "rm -r %s", folder);
    assert_int_equal(system(command), 0); // NOLINT(cert-env33-c): a fixed command
    assert_non_null(chosen);
    assert_string_equal(localeconv()->decimal_point, ",");
}

static void test_num__the_locale_makes_no_difference(void **state)
{
    (void)state;
    use_decimal_comma();
    struct buffer buffer;
    buffer_init(&buffer, &allocator_system, 1000);
    double value = 0;
    enum status status = num_parse_double(SLICE("1234.5678901234567890123"), &value);
    enum status comma = num_parse_double(SLICE("1,5"), &value);
    num_append_double(&buffer, value);
    (void)setlocale(LC_NUMERIC, "C");
    assert_int_equal(status, STATUS_OK);
    assert_int_equal(comma, STATUS_INVALID);
    assert_same_double(value, 1234.5678901234567890123);
    assert_slice_equal(buffer_slice(&buffer), "1234.567890123457");
    buffer_release(&buffer);
}

static void test_num__a_full_buffer_gets_nothing_of_a_number(void **state)
{
    (void)state;
    struct buffer buffer;
    buffer_init(&buffer, &allocator_system, 4);
    num_append_i64(&buffer, -1234);
    assert_int_equal(buffer.status, STATUS_TOO_LARGE);
    assert_int_equal(buffer.size, 0);
    buffer_clear(&buffer);
    num_append_double(&buffer, 0.125);
    assert_int_equal(buffer.status, STATUS_TOO_LARGE);
    assert_int_equal(buffer.size, 0);
    buffer_clear(&buffer);
    num_append_seconds(&buffer, 10500000);
    assert_int_equal(buffer.status, STATUS_OK);
    assert_slice_equal(buffer_slice(&buffer), "10.5");
    buffer_release(&buffer);
}

static void test_num__a_failed_allocation_leaves_whole_numbers(void **state)
{
    (void)state;
    struct fault_alloc fault;
    FAULT_ALLOC_EACH(&fault)
    {
        struct buffer buffer;
        buffer_init(&buffer, &fault.allocator, 100000);
        for (int i = 0; i < 20; i++) {
            num_append_i64(&buffer, -1000000);
            num_append_u64(&buffer, 10000000);
            num_append_double(&buffer, -0.12345);
            num_append_seconds(&buffer, 1234567000);
        }
        FAULT_ALLOC_EXPECT(&fault, buffer.status);
        assert_int_equal(buffer.size % 8, 0);
        buffer_release(&buffer);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_num__what_is_malformed_is_refused_by_all_and_nothing_changes),
        cmocka_unit_test(test_num__a_zero_byte_is_not_an_end),
        cmocka_unit_test(test_num__bytes_after_the_slice_are_not_read),
        cmocka_unit_test(test_num__parses_signed_integers_to_their_limits),
        cmocka_unit_test(test_num__parses_unsigned_integers_to_their_limits),
        cmocka_unit_test(test_num__parses_doubles_to_the_nearest),
        cmocka_unit_test(test_num__refuses_doubles_that_are_not_finite),
        cmocka_unit_test(test_num__a_text_of_the_largest_size_is_read_and_a_longer_one_refused),
        cmocka_unit_test(test_num__parses_seconds_exactly),
        cmocka_unit_test(test_num__prints_integers_to_their_limits),
        cmocka_unit_test(test_num__prints_doubles_as_javascript_does),
        cmocka_unit_test(test_num__prints_seconds_with_the_decimals_that_are_needed),
        cmocka_unit_test(test_num__integers_and_seconds_survive_being_printed),
        cmocka_unit_test(test_num__doubles_survive_being_printed_in_no_more_than_17_digits),
        cmocka_unit_test(test_num__doubles_parse_as_strtod_parses_them),
        cmocka_unit_test(test_num__random_bytes_parse_only_where_the_grammar_allows),
        cmocka_unit_test(test_num__the_locale_makes_no_difference),
        cmocka_unit_test(test_num__a_full_buffer_gets_nothing_of_a_number),
        cmocka_unit_test(test_num__a_failed_allocation_leaves_whole_numbers),
    };
    return cmocka_run_group_tests_name("num", tests, NULL, NULL);
}
