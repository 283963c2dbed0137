// SPDX-License-Identifier: MIT
#include "wire/resp_reply.h"

#include "fault_alloc.h"
#include "test.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

static struct buffer out;

static int set_up(void **state)
{
    (void)state;
    buffer_init(&out, &allocator_system, 1 << 20);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    buffer_release(&out);
    return 0;
}

// What the buffer holds, which is then forgotten.
#define assert_out(string)                                                                         \
    do {                                                                                           \
        assert_int_equal(out.status, STATUS_OK);                                                   \
        assert_slice_equal(buffer_slice(&out), string);                                            \
        buffer_clear(&out);                                                                        \
    } while (0)

static void test_resp_reply__lines_cannot_be_broken_by_what_is_in_them(void **state)
{
    (void)state;
    resp_simple(&out, SLICE("OK"));
    assert_out("+OK\r\n");
    resp_simple(&out, SLICE_EMPTY);
    assert_out("+\r\n");
    resp_simple(&out, SLICE("a\r\nb\rc\nd"));
    assert_out("+a  b c d\r\n");
    resp_error(&out, SLICE("ERR"), SLICE("no such queue 'x'"));
    assert_out("-ERR no such queue 'x'\r\n");
    resp_error(&out, SLICE("NO\nPE"), SLICE("\r\n+OK\r\n"));
    assert_out("-NO PE   +OK  \r\n");
    resp_error(&out, SLICE("ERR"), SLICE_EMPTY);
    assert_out("-ERR \r\n");
}

static void test_resp_reply__bulk_strings_hold_any_byte(void **state)
{
    (void)state;
    resp_bulk(&out, SLICE_EMPTY);
    assert_out("$0\r\n\r\n");
    resp_bulk(&out, SLICE("a\r\nb"));
    assert_out("$4\r\na\r\nb\r\n");
    resp_bulk(&out, SLICE("\0\xff"));
    assert_int_equal(out.size, 8);
    assert_memory_equal(out.data, "$2\r\n\0\xff\r\n", 8);
    buffer_clear(&out);
}

static void test_resp_reply__bulk_strings_of_every_number_of_digits(void **state)
{
    (void)state;
    static const size_t sizes[] = { 9, 10, 99, 100, 999, 1000, 9999, 10000, 99999, 100000, 123456 };
    static char bytes[123456];
    memset(bytes, 'x', sizeof(bytes));
    for (size_t i = 0; TEST_ROW(i, sizes); i++) {
        char head[32];
        int head_size = snprintf(head, sizeof(head), "$%zu\r\n", sizes[i]);
        assert_true(head_size > 0);
        resp_bulk(&out, slice_make(bytes, sizes[i]));
        assert_int_equal(out.status, STATUS_OK);
        assert_int_equal(out.size, (size_t)head_size + sizes[i] + 2);
        assert_memory_equal(out.data, head, (size_t)head_size);
        assert_memory_equal(out.data + head_size, bytes, sizes[i]);
        assert_memory_equal(out.data + out.size - 2, "\r\n", 2);
        buffer_clear(&out);
    }
}

static void test_resp_reply__integers_to_their_limits(void **state)
{
    (void)state;
    static const int64_t values[] = { 0, 1, -1, 42, INT64_MAX, INT64_MIN, INT64_MIN + 1 };
    char wanted[64];
    for (size_t i = 0; TEST_ROW(i, values); i++) {
        resp_integer(&out, values[i]);
        (void)snprintf(wanted, sizeof(wanted), ":%lld\r\n", (long long)values[i]);
        assert_out(wanted);
    }
    for (int64_t power = 1; power <= INT64_MAX / 10; power *= 10) {
        for (int64_t value = power - 1; value <= power + 1; value++) {
            resp_integer(&out, value);
            resp_integer(&out, -value);
            (void)snprintf(wanted, sizeof(wanted), ":%lld\r\n:%lld\r\n", (long long)value,
                           (long long)-value);
            assert_out(wanted);
        }
    }
}

static void test_resp_reply__null_and_booleans_in_both_versions(void **state)
{
    (void)state;
    resp_null(&out, RESP_2);
    resp_boolean(&out, RESP_2, true);
    resp_boolean(&out, RESP_2, false);
    assert_out("$-1\r\n:1\r\n:0\r\n");
    resp_null(&out, RESP_3);
    resp_boolean(&out, RESP_3, true);
    resp_boolean(&out, RESP_3, false);
    assert_out("_\r\n#t\r\n#f\r\n");
}

static void test_resp_reply__doubles_in_both_versions(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *resp_2;
        const char *resp_3;
    } cases[] = {
        { 0, "$1\r\n0\r\n", ",0\r\n" },
        { 1.5, "$3\r\n1.5\r\n", ",1.5\r\n" },
        { -1.5, "$4\r\n-1.5\r\n", ",-1.5\r\n" },
        { 1e21, "$5\r\n1e+21\r\n", ",1e+21\r\n" },
        { 0.1 + 0.2, "$19\r\n0.30000000000000004\r\n", ",0.30000000000000004\r\n" },
        { -DBL_MAX, "$24\r\n-1.7976931348623157e+308\r\n", ",-1.7976931348623157e+308\r\n" },
        { -2.2250738585072014e-308, "$24\r\n-2.2250738585072014e-308\r\n",
          ",-2.2250738585072014e-308\r\n" },
        { -0.0000012345678901234567, "$25\r\n-0.0000012345678901234567\r\n",
          ",-0.0000012345678901234567\r\n" },
        { (double)INFINITY, "$3\r\ninf\r\n", ",inf\r\n" },
        { -(double)INFINITY, "$4\r\n-inf\r\n", ",-inf\r\n" },
        { (double)NAN, "$3\r\nnan\r\n", ",nan\r\n" },
        { -(double)NAN, "$3\r\nnan\r\n", ",nan\r\n" },
    };
    for (size_t i = 0; TEST_ROW_NAMED(i, cases, cases[i].resp_2); i++) {
        resp_double(&out, RESP_2, cases[i].value);
        assert_out(cases[i].resp_2);
        resp_double(&out, RESP_3, cases[i].value);
        assert_out(cases[i].resp_3);
    }
}

static void test_resp_reply__seconds_are_exact(void **state)
{
    (void)state;
    resp_seconds(&out, RESP_2, 60000000);
    resp_seconds(&out, RESP_2, -1);
    resp_seconds(&out, RESP_2, INT64_MIN);
    assert_out("$2\r\n60\r\n$9\r\n-0.000001\r\n$21\r\n-9223372036854.775808\r\n");
    resp_seconds(&out, RESP_3, 1500000);
    resp_seconds(&out, RESP_3, INT64_MAX);
    assert_out(",1.5\r\n,9223372036854.775807\r\n");
}

static void test_resp_reply__text_for_people(void **state)
{
    (void)state;
    resp_verbatim(&out, RESP_2, SLICE("a\r\nb"));
    resp_verbatim(&out, RESP_2, SLICE_EMPTY);
    assert_out("$4\r\na\r\nb\r\n$0\r\n\r\n");
    resp_verbatim(&out, RESP_3, SLICE("a\r\nb"));
    resp_verbatim(&out, RESP_3, SLICE_EMPTY);
    resp_verbatim(&out, RESP_3, SLICE("Some string"));
    assert_out("=8\r\ntxt:a\r\nb\r\n=4\r\ntxt:\r\n=15\r\ntxt:Some string\r\n");
}

static void test_resp_reply__headers_in_both_versions(void **state)
{
    (void)state;
    resp_array(&out, 0);
    resp_array(&out, 10);
    assert_out("*0\r\n*10\r\n");
    resp_map(&out, RESP_2, 0);
    resp_map(&out, RESP_2, 5);
    resp_push(&out, RESP_2, 2);
    assert_out("*0\r\n*10\r\n*2\r\n");
    resp_map(&out, RESP_3, 5);
    resp_push(&out, RESP_3, 2);
    assert_out("%5\r\n>2\r\n");
}

// One of each, in the version.
static void reply_all(struct buffer *buffer, enum resp_version version)
{
    resp_simple(buffer, SLICE("OK"));
    resp_error(buffer, SLICE("ERR"), SLICE("no"));
    resp_bulk(buffer, SLICE("bulk"));
    resp_integer(buffer, -123456);
    resp_null(buffer, version);
    resp_boolean(buffer, version, true);
    resp_double(buffer, version, 0.25);
    resp_double(buffer, version, (double)INFINITY);
    resp_seconds(buffer, version, 2500000);
    resp_verbatim(buffer, version, SLICE("text"));
    resp_array(buffer, 1);
    resp_map(buffer, version, 1);
    resp_push(buffer, version, 1);
}

static void test_resp_reply__fits_to_the_last_byte_and_stops_between_values(void **state)
{
    (void)state;
    for (enum resp_version version = RESP_2; version <= RESP_3; version++) {
        buffer_clear(&out);
        reply_all(&out, version);
        size_t size = out.size;
        for (size_t size_max = 0; size_max <= size; size_max++) {
            struct buffer small;
            buffer_init(&small, &allocator_system, size_max);
            reply_all(&small, version);
            assert_int_equal(small.status, size_max < size ? STATUS_TOO_LARGE : STATUS_OK);
            assert_true(small.size <= size_max);
            if (small.size) {
                assert_memory_equal(small.data, out.data, small.size);
                assert_int_equal(small.data[small.size - 1], '\n');
            }
            buffer_release(&small);
        }
    }
}

static void test_resp_reply__failing_allocations_stick_in_the_buffer(void **state)
{
    (void)state;
    for (enum resp_version version = RESP_2; version <= RESP_3; version++) {
        struct fault_alloc fault;
        FAULT_ALLOC_EACH(&fault)
        {
            struct buffer buffer;
            buffer_init(&buffer, &fault.allocator, 1000);
            reply_all(&buffer, version);
            FAULT_ALLOC_EXPECT(&fault, buffer.status);
            buffer_release(&buffer);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_resp_reply__lines_cannot_be_broken_by_what_is_in_them),
        cmocka_unit_test(test_resp_reply__bulk_strings_hold_any_byte),
        cmocka_unit_test(test_resp_reply__bulk_strings_of_every_number_of_digits),
        cmocka_unit_test(test_resp_reply__integers_to_their_limits),
        cmocka_unit_test(test_resp_reply__null_and_booleans_in_both_versions),
        cmocka_unit_test(test_resp_reply__doubles_in_both_versions),
        cmocka_unit_test(test_resp_reply__seconds_are_exact),
        cmocka_unit_test(test_resp_reply__text_for_people),
        cmocka_unit_test(test_resp_reply__headers_in_both_versions),
        cmocka_unit_test(test_resp_reply__fits_to_the_last_byte_and_stops_between_values),
        cmocka_unit_test(test_resp_reply__failing_allocations_stick_in_the_buffer),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
