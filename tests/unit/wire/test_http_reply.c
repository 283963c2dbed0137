// SPDX-License-Identifier: MIT
#include "wire/http_reply.h"

#include "test.h"

static struct buffer out;

static int begin(void **state)
{
    (void)state;
    buffer_init(&out, &allocator_system, 1 << 16);
    return 0;
}

static int end(void **state)
{
    (void)state;
    buffer_release(&out);
    return 0;
}

static void expect(const char *wanted)
{
    assert_int_equal(out.status, STATUS_OK);
    assert_slice_equal(buffer_slice(&out), wanted);
    buffer_clear(&out);
}

static void test_http_reply__a_head_says_what_follows(void **state)
{
    (void)state;
    http_reply_head(&out, &(struct http_reply){ .status = 200,
                                                .content_type = "application/json",
                                                .content_length = 7,
                                                .date = SLICE("Thu, 01 Jan 1970 00:00:00 GMT"),
                                                .etag = SLICE("\"a\""),
                                                .headers = SLICE("X: y\r\n") });
    expect("HTTP/1.1 200 OK\r\nDate: Thu, 01 Jan 1970 00:00:00 GMT\r\n"
           "Content-Type: application/json\r\nContent-Length: 7\r\nVary: Accept-Encoding\r\nETag: "
           "\"a\"\r\nX: y\r\n\r\n");
    http_reply_head(&out, &(struct http_reply){ .status = 404, .close = true });
    expect("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
}

static void test_http_reply__what_has_no_body_has_no_length(void **state)
{
    (void)state;
    http_reply_head(&out, &(struct http_reply){ .status = 204 });
    expect("HTTP/1.1 204 No Content\r\n\r\n");
    http_reply_head(&out, &(struct http_reply){ .status = 304, .etag = SLICE("\"a\"") });
    expect("HTTP/1.1 304 Not Modified\r\nVary: Accept-Encoding\r\nETag: \"a\"\r\n\r\n");
}

static void test_http_reply__a_body_of_unknown_length_comes_in_chunks(void **state)
{
    (void)state;
    struct http_reply reply = { .status = 200,
                                .content_type = "text/event-stream",
                                .content_length = HTTP_LENGTH_UNKNOWN };
    http_reply_head(&out, &reply);
    http_reply_chunk(&out, SLICE("0123456789abcdefg"));
    http_reply_chunks_end(&out);
    expect("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n"
           "\r\n11\r\n0123456789abcdefg\r\n0\r\n\r\n");
    reply.http_1_0 = true;
    reply.close = true;
    http_reply_head(&out, &reply);
    expect("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n");
    http_reply_continue(&out);
    expect("HTTP/1.1 100 Continue\r\n\r\n");
}

static void test_http_reply__dates_are_those_of_the_calendar(void **state)
{
    (void)state;
    static const struct {
        int64_t seconds;
        const char *text;
    } dates[] = {
        { 0, "Thu, 01 Jan 1970 00:00:00 GMT" },
        { 784111777, "Sun, 06 Nov 1994 08:49:37 GMT" },
        { 951782400, "Tue, 29 Feb 2000 00:00:00 GMT" },
        { 1784000000, "Tue, 14 Jul 2026 03:33:20 GMT" },
        { INT64_C(253402300799), "Fri, 31 Dec 9999 23:59:59 GMT" },
    };
    for (size_t i = 0; TEST_ROW_NAMED(i, dates, dates[i].text); i++) {
        char text[HTTP_DATE_SIZE];
        http_date(dates[i].seconds * 1000000 + 999999, text);
        assert_slice_equal(slice_make(text, sizeof(text)), dates[i].text);
    }
}

int main(void)
{
#define REPLY_TEST(test) cmocka_unit_test_setup_teardown(test, begin, end)
    const struct CMUnitTest tests[] = {
        REPLY_TEST(test_http_reply__a_head_says_what_follows),
        REPLY_TEST(test_http_reply__what_has_no_body_has_no_length),
        REPLY_TEST(test_http_reply__a_body_of_unknown_length_comes_in_chunks),
        REPLY_TEST(test_http_reply__dates_are_those_of_the_calendar),
    };
    return cmocka_run_group_tests_name("http_reply", tests, NULL, NULL);
}
