// SPDX-License-Identifier: MIT
#include "wire/grpc_header.h"

#include "base/alloc.h"
#include "test.h"

static void test_grpc_header__timeouts_are_read(void **state)
{
    static const struct row {
        const char *text;
        int64_t us; // -1: malformed
    } rows[] = {
        { "1H", INT64_C(3600000000) },
        { "2M", 120000000 },
        { "3S", 3000000 },
        { "100m", 100000 },
        { "7u", 7 },
        { "1n", 1 },
        { "1000n", 1 },
        { "1001n", 2 },
        { "0n", 0 },
        { "0S", 0 },
        { "007S", 7000000 },
        { "99999999H", INT64_C(99999999) * 3600000000 },
        { "", -1 },
        { "S", -1 },
        { "5", -1 },
        { "5s", -1 },
        { "-5S", -1 },
        { "+5S", -1 },
        { "5 S", -1 },
        { " 5S", -1 },
        { "5S ", -1 },
        { "1.5S", -1 },
        { "123456789S", -1 },
        { "1e3S", -1 },
        { "5SS", -1 },
    };
    (void)state;
    for (size_t i = 0; TEST_ROW_NAMED(i, rows, rows[i].text); i++) {
        int64_t us = -1;
        enum status status = grpc_timeout_parse(slice_from_cstr(rows[i].text), &us);
        assert_int_equal(status, rows[i].us < 0 ? STATUS_INVALID : STATUS_OK);
        assert_int_equal(us, rows[i].us);
    }
}

static void test_grpc_header__content_types_are_read(void **state)
{
    static const struct row {
        const char *text;
        bool valid;
    } rows[] = {
        { "application/grpc", true },
        { "application/grpc+proto", true },
        { "Application/gRPC", true },
        { "application/grpc; charset=utf-8", true },
        { "application/grpc ;a=b", true },
        { "application/grpc+proto;x", true },
        { "", false },
        { ";", false },
        { "application/grpc+json", false },
        { "application/grpc-web", false },
        { "application/grpcx", false },
        { "application/json", false },
        { " application/grpc", false },
    };
    (void)state;
    for (size_t i = 0; TEST_ROW_NAMED(i, rows, rows[i].text); i++) {
        assert_int_equal(grpc_content_type_is_valid(slice_from_cstr(rows[i].text)), rows[i].valid);
    }
}

static void test_grpc_header__encodings_are_known(void **state)
{
    static const struct row {
        const char *text;
        enum grpc_encoding encoding;
    } rows[] = {
        { "", GRPC_ENCODING_IDENTITY },     { "identity", GRPC_ENCODING_IDENTITY },
        { "gzip", GRPC_ENCODING_GZIP },     { "deflate", GRPC_ENCODING_DEFLATE },
        { "GZIP", GRPC_ENCODING_UNKNOWN },  { "snappy", GRPC_ENCODING_UNKNOWN },
        { "gzip,", GRPC_ENCODING_UNKNOWN },
    };
    (void)state;
    for (size_t i = 0; TEST_ROW_NAMED(i, rows, rows[i].text); i++) {
        assert_int_equal(grpc_encoding_of(slice_from_cstr(rows[i].text)), rows[i].encoding);
    }
}

static void test_grpc_header__messages_are_percent_encoded(void **state)
{
    static const struct row {
        struct slice text;
        size_t room;
        const char *encoded;
    } rows[] = {
        { { "", 0 }, 100, "" },
        { { "job a b!~", 9 }, 100, "job a b!~" },
        { { "100%", 4 }, 100, "100%25" },
        { { "\t\n\x7f\x00", 4 }, 100, "%09%0A%7F%00" },
        { { "\xC3\xBC", 2 }, 100, "%C3%BC" },
        { { "\xff", 1 }, 100, "%FF" },
        { { "ab%", 3 }, 4, "ab" },      // no half of an escape
        { { "a\xC3\xBC", 3 }, 6, "a" }, // nor of a character
        { { "a\xC3\xBC", 3 }, 7, "a%C3%BC" },
        { { "abc", 3 }, 2, "ab" },
        { { "abc", 3 }, 0, "" },
    };
    (void)state;
    for (size_t i = 0; TEST_ROW(i, rows); i++) {
        char out[100];
        size_t size = grpc_percent_encode(rows[i].text, out, rows[i].room);
        assert_slice_equal(slice_make(out, size), rows[i].encoded);
    }
}

static void test_grpc_header__binary_values_are_read(void **state)
{
    static const struct row {
        const char *text, *bytes; // NULL: malformed
    } rows[] = {
        { "", "" },           { "YQ==", "a" },   { "YQ", "a" },        { "YWI=", "ab" },
        { "YWI", "ab" },      { "YWJj", "abc" }, { "YWJjZA", "abcd" }, { "Y", NULL },
        { "YQ=", NULL },      { "Y===", NULL },  { "====", NULL },     { "YQ==YQ==", NULL },
        { "YR==", NULL },     { "YQ ==", NULL }, { "_-8=", NULL },     { "YWJjY", NULL },
        { "YWJj\xff", NULL },
    };
    (void)state;
    for (size_t i = 0; TEST_ROW_NAMED(i, rows, rows[i].text); i++) {
        struct buffer out;
        buffer_init(&out, &allocator_system, 100);
        buffer_append(&out, SLICE("before"));
        enum status status = grpc_binary_decode(slice_from_cstr(rows[i].text), &out);
        assert_int_equal(status, rows[i].bytes ? STATUS_OK : STATUS_INVALID);
        assert_slice_equal(slice_sub(buffer_slice(&out), 6, SIZE_MAX),
                           rows[i].bytes ? rows[i].bytes : "");
        buffer_release(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_grpc_header__timeouts_are_read),
        cmocka_unit_test(test_grpc_header__content_types_are_read),
        cmocka_unit_test(test_grpc_header__encodings_are_known),
        cmocka_unit_test(test_grpc_header__messages_are_percent_encoded),
        cmocka_unit_test(test_grpc_header__binary_values_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
