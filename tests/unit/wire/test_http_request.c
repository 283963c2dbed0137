// SPDX-License-Identifier: MIT
// Requests in HTTP, each read at once and byte by byte, in memory that moves.
#include "wire/http_request.h"

#include "fault_alloc.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>

static const struct http_limits limits = {
    .line_max = 200,
    .head_max = 600,
    .headers_max = 8,
    .body_max = 100,
    .chunk_overhead_max = 60,
};

static void append_text(struct buffer *out, const char *label, struct slice text)
{
    buffer_printf(out, " %s=%.*s", label, SLICE_PRINT(text));
}

static void show(struct buffer *out, const struct http_request *request)
{
    buffer_append(out, request->method);
    append_text(out, "path", request->path);
    append_text(out, "query", request->query);
    append_text(out, "body", request->body);
    buffer_printf(out, " %s\n", request->keep_alive ? "on" : "off");
}

// Reads all requests in pieces of a size, each time in a block of its own, and writes down what
// they are.
static void read_in_pieces(struct slice all, size_t piece, struct buffer *out)
{
    struct http_request request;
    struct error error;
    http_request_init(&request, &allocator_system, &limits);
    size_t dropped = 0;
    size_t come = 0;
    char *block = NULL;
    for (;;) {
        free(block);
        block = malloc(come - dropped + 1);
        assert_non_null(block);
        memcpy(block, all.data + dropped, come - dropped);
        enum http_result result =
            http_request_read(&request, slice_make(block, come - dropped), &error);
        if (result == HTTP_READY) {
            show(out, &request);
            dropped += request.size;
        } else if (result == HTTP_BROKEN) {
            buffer_printf(out, "%u %s", request.answer, error_sentence(&error));
            break;
        } else if (come == all.size) {
            buffer_printf(out, "more");
            break;
        } else {
            assert_true(http_request_needs(&request) > come - dropped);
            come = all.size - come < piece ? all.size : come + piece;
        }
    }
    http_request_release(&request);
    free(block);
}

static void expect(struct slice input, const char *wanted)
{
    static const size_t pieces[] = { 1, 2, 3, 7, 50, SIZE_MAX / 2 };
    for (size_t i = 0; TEST_ROW(i, pieces); i++) {
        struct buffer out;
        buffer_init(&out, &allocator_system, 1 << 20);
        read_in_pieces(input, pieces[i], &out);
        buffer_append_char(&out, '\0');
        assert_int_equal(out.status, STATUS_OK);
        assert_string_equal(out.data, wanted);
        buffer_release(&out);
    }
}

#define READS(literal, wanted) expect(SLICE(literal), (wanted))

#define HOST    "Host: a\r\n"
#define GET     "GET / HTTP/1.1\r\n" HOST
#define POST    "POST / HTTP/1.1\r\n" HOST
#define CHUNKED "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n"

static void test_http_request__reads_line_headers_and_body(void **state)
{
    (void)state;
    READS(GET "\r\n", "GET path=/ query= body= on\nmore");
    READS("GET /v1/ns?a=b&c HTTP/1.1\r\nhost:a\r\n\r\n",
          "GET path=/v1/ns query=a=b&c body= on\nmore");
    READS(POST "Content-Length: 5\r\n\r\nhello", "POST path=/ query= body=hello on\nmore");
    READS(POST "content-length:\t5 \r\n\r\nhello", "POST path=/ query= body=hello on\nmore");
    READS(POST "Content-Length: 0\r\n\r\n", "POST path=/ query= body= on\nmore");
    READS("PROPFIND /%20x HTTP/1.1\r\n" HOST "\r\n", "PROPFIND path=/%20x query= body= on\nmore");
    READS("GET /a??b=c HTTP/1.1\r\n" HOST "X:\xff\xfe\r\nEmpty:\r\n\r\n",
          "GET path=/a query=?b=c body= on\nmore");
}

static void test_http_request__several_in_a_row_are_read_one_after_the_other(void **state)
{
    (void)state;
    READS(GET "\r\n" POST "Content-Length: 3\r\n\r\none" CHUNKED "3\r\ntwo\r\n0\r\n\r\n" GET "\r\n",
          "GET path=/ query= body= on\nPOST path=/ query= body=one on\n"
          "POST path=/ query= body=two on\nGET path=/ query= body= on\nmore");
    READS(GET "\r\n\r\n" GET "\r\n",
          "GET path=/ query= body= on\nGET path=/ query= body= on\nmore");
    READS(GET "\r\n\r\n\r\n" GET "\r\n",
          "GET path=/ query= body= on\n400 a request does not begin with a method");
}

static void test_http_request__says_whether_the_connection_goes_on(void **state)
{
    (void)state;
    READS(GET "Connection: close\r\n\r\n", "GET path=/ query= body= off\nmore");
    READS(GET "Connection: Upgrade, CLOSE\r\n\r\n", "GET path=/ query= body= off\nmore");
    READS(GET "Connection: a\r\nConnection: close\r\n\r\n", "GET path=/ query= body= off\nmore");
    READS(GET "Connection: keep-alive\r\n\r\n", "GET path=/ query= body= on\nmore");
    READS("GET / HTTP/1.0\r\n\r\n", "GET path=/ query= body= off\nmore");
    READS("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", "GET path=/ query= body= off\nmore");
}

static void test_http_request__a_target_is_a_path_or_a_url(void **state)
{
    (void)state;
    READS("GET http://a:8/x?y HTTP/1.1\r\nHost: A:8\r\n\r\n", "GET path=/x query=y body= on\nmore");
    READS("GET HTTPS://a HTTP/1.1\r\n" HOST "\r\n", "GET path=/ query= body= on\nmore");
    READS("GET http://a?b HTTP/1.1\r\n" HOST "\r\n", "GET path=/ query=b body= on\nmore");
    READS("OPTIONS * HTTP/1.1\r\n" HOST "\r\n", "OPTIONS path=* query= body= on\nmore");
    static const char neither[] = "400 the target of a request is neither a path nor a URL";
    READS("GET x HTTP/1.1\r\n" HOST "\r\n", neither);
    READS("GET http:///x HTTP/1.1\r\n" HOST "\r\n", neither);
    READS("CONNECT a:80 HTTP/1.1\r\n" HOST "\r\n", neither);
    READS("GET ftp://a/ HTTP/1.1\r\n" HOST "\r\n", neither);
    READS("GET http://b/ HTTP/1.1\r\n" HOST "\r\n",
          "400 the target of a request names another host than Host");
    READS("GET * HTTP/1.1\r\n" HOST "\r\n", "400 the target * is for OPTIONS only");
    READS("GET /a#b HTTP/1.1\r\n" HOST "\r\n", "400 the target of a request has a '#'");
}

static void test_http_request__refuses_lines_that_are_malformed(void **state)
{
    (void)state;
    static const char line[] = "400 a request line is not a method, a target and a version";
    READS("GET /\r\n", line);
    READS("GET\r\n", line);
    READS("GET  / HTTP/1.1\r\n", line);
    READS("GET /\x01 HTTP/1.1\r\n", line);
    READS("GET /\xc3\xa4 HTTP/1.1\r\n", line);
    READS("GET /\ta HTTP/1.1\r\n", line);
    READS("GET / HTTP/1.1 \r\n", "400 a request line does not end with HTTP/1.1");
    READS("GET / a HTTP/1.1\r\n", "400 a request line does not end with HTTP/1.1");
    READS("GET / http/1.1\r\n", "400 a request line does not end with HTTP/1.1");
    READS("GET / HTTP/2.0\r\n", "505 HTTP/2 is not spoken here; HTTP/1.1 is");
    READS("GET / HTTP/1.1\n", "400 a line does not end with \\r\\n");
    READS("\n", "400 a line does not end with \\r\\n");
    READS(" GET / HTTP/1.1\r\n", "400 a request does not begin with a method");
    READS("G\rT / HTTP/1.1\r\n", "400 a request does not begin with a method");
    READS("*3\r\n$3\r\nFOO\r\n", "400 a request line is not a method, a target and a version");
    READS("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "505 HTTP/2 is not spoken here; HTTP/1.1 is");
    READS("\x16\x03\x01\n", "400 a line does not end with \\r\\n");
}

static void test_http_request__refuses_headers_that_are_malformed(void **state)
{
    (void)state;
    static const char name[] = "400 a header does not begin with a name and a colon";
    READS(GET "A : b\r\n", name);
    READS(GET "A\t: b\r\n", name);
    READS(GET ": b\r\n", name);
    READS(GET "A\r\n", name);
    READS(GET "A(: b\r\n", name);
    READS(GET "\x80: b\r\n", name);
    READS(GET "A: b\r\n c\r\n", "400 a header goes on in a second line");
    READS("GET / HTTP/1.1\r\n Host: a\r\n", "400 a header goes on in a second line");
    READS(GET "A: b\rc\r\n", "400 the header A has a control character");
    READS(GET "A: b\0c\r\n", "400 the header A has a control character");
    READS(GET "A: \x7f\r\n", "400 the header A has a control character");
    READS(GET "A: b\n\r\n", "400 a line does not end with \\r\\n");
    READS(GET "\n", "400 a line does not end with \\r\\n");
}

static void test_http_request__has_one_host(void **state)
{
    (void)state;
    READS("GET / HTTP/1.1\r\n\r\n", "400 a request has no Host");
    READS(GET "HOST: a\r\n\r\n", "400 a request has more than one Host");
    READS("GET / HTTP/1.1\r\nHost: a, b\r\n\r\n", "400 Host is not the name of a host");
    READS("GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", "400 Host is not the name of a host");
    READS("GET / HTTP/1.1\r\nHost: [::1]:80\r\n\r\n", "GET path=/ query= body= on\nmore");
    READS("GET / HTTP/1.1\r\nHost:\r\n\r\n", "GET path=/ query= body= on\nmore");
}

static void test_http_request__says_in_one_way_how_long_it_is(void **state)
{
    (void)state;
    static const char number[] = "400 Content-Length is not a whole number";
    READS(POST "Content-Length: 5, 5\r\n\r\nhello", number);
    READS(POST "Content-Length: +5\r\n\r\nhello", number);
    READS(POST "Content-Length: -5\r\n\r\nhello", number);
    READS(POST "Content-Length: 0x5\r\n\r\nhello", number);
    READS(POST "Content-Length: 05\r\n\r\nhello", number);
    READS(POST "Content-Length: 5 5\r\n\r\nhello", number);
    READS(POST "Content-Length:\r\n\r\nhello", number);
    READS(POST "Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello",
          "400 a request has more than one Content-Length");
    static const char both[] = "400 a request has both Content-Length and Transfer-Encoding";
    READS(POST "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", both);
    READS(POST "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n", both);
    READS("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
          "400 a request of HTTP/1.0 has Transfer-Encoding");
    static const char behind[] =
        "400 a request has a transfer coding behind chunked, or chunked twice";
    READS(POST "Transfer-Encoding: chunked, chunked\r\n\r\n", behind);
    READS(POST "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n", behind);
    READS(POST "Transfer-Encoding: gzip, chunked\r\n\r\n",
          "501 the transfer coding \"gzip\" is not understood; chunked is");
    READS(POST "Transfer-Encoding: \"chunked\"\r\n\r\n",
          "501 the transfer coding \"\"chunked\"\" is not understood; chunked is");
    READS(POST "Transfer-Encoding: xchunked\r\n\r\n",
          "501 the transfer coding \"xchunked\" is not understood; chunked is");
    READS(POST "Transfer-Encoding:\r\n\r\n",
          "501 the transfer coding \"\" is not understood; chunked is");
    READS(POST "Transfer-Encoding: \x0b"
               "chunked\r\n\r\n",
          "400 the header Transfer-Encoding has a control character");
}

static void test_http_request__gathers_chunks(void **state)
{
    (void)state;
    READS(CHUNKED "5\r\nhello\r\n0\r\n\r\n", "POST path=/ query= body=hello on\nmore");
    READS(CHUNKED "2\r\nhe\r\n3\r\nllo\r\n00\r\n\r\n", "POST path=/ query= body=hello on\nmore");
    READS(CHUNKED "A\r\n0123456789\r\n0\r\n\r\n", "POST path=/ query= body=0123456789 on\nmore");
    READS(CHUNKED "2;a=\"b\"\r\n\r\n\r\n0;x\r\nTrailer: b\r\nContent-Length: 9\r\n\r\n",
          "POST path=/ query= body=\r\n on\nmore");
    READS(POST "Transfer-Encoding: Chunked\r\n\r\n0\r\n\r\n", "POST path=/ query= body= on\nmore");
}

static void test_http_request__refuses_chunks_that_are_malformed(void **state)
{
    (void)state;
    static const char size[] = "400 the size of a chunk is not a hexadecimal number";
    READS(CHUNKED "\r\n", size);
    READS(CHUNKED "5 \r\nhello\r\n", size);
    READS(CHUNKED " 5\r\nhello\r\n", size);
    READS(CHUNKED "0x5\r\nhello\r\n", size);
    READS(CHUNKED "-5\r\nhello\r\n", size);
    READS(CHUNKED "g\r\n", size);
    READS(CHUNKED "5;\x01\r\n", size);
    READS(CHUNKED "ffffffffffffffff\r\n", size);
    READS(CHUNKED "5\nhello\r\n", "400 a line does not end with \\r\\n");
    READS(CHUNKED "5\r\nhelloX\r\n", "400 a chunk does not end with \\r\\n after its 5 bytes");
    READS(CHUNKED "5\r\nhello\n0", "400 a chunk does not end with \\r\\n after its 5 bytes");
    READS(CHUNKED "0\r\n folded\r\n\r\n", "400 a header goes on in a second line");
    READS(CHUNKED "0\r\nnone\r\n\r\n", "400 a header does not begin with a name and a colon");
}

// ---------------------------------------------------------------------------------------------
// Limits

static void repeat(struct buffer *out, const char *text, size_t count)
{
    while (count--) {
        buffer_append(out, slice_from_cstr(text));
    }
}

static void expect_of(const char *front, const char *piece, size_t count, const char *back,
                      const char *wanted)
{
    struct buffer input;
    buffer_init(&input, &allocator_system, 1 << 20);
    repeat(&input, front, 1);
    repeat(&input, piece, count);
    repeat(&input, back, 1);
    expect(buffer_slice(&input), wanted);
    buffer_release(&input);
}

static void test_http_request__refuses_what_is_too_large_as_soon_as_it_is_known(void **state)
{
    (void)state;
    static const char line[] = "414 a request line of more than 200 bytes; at most 200 are allowed";
    expect_of("GET /", "a", 200 - 16, " HTTP/1.1\r\n", "more");
    expect_of("GET /", "a", 200 - 15, " HTTP/1.1\r\n", line);
    expect_of("\r\nGET /", "a", 200 - 15, " HTTP/1.1\r\n", line);
    static const char header[] =
        "431 headers are too large: at most 200 bytes each and 600 in all are allowed";
    expect_of(GET "A:", "a", 200 - 4, "\r\n", "more");
    expect_of(GET "A:", "a", 200 - 3, "\r\n", header);
    expect_of(GET,
              "A:a123456789012345678901234567890123456789012345678901234567890123456789012345"
              "6789012345678\r\n",
              7, "\r\n", header);
    expect_of(GET, "A:a\r\n", 8, "\r\n", "431 more than 8 headers; at most 8 are allowed");
    READS(POST "Content-Length: 101\r\n", "more");
    READS(POST "Content-Length: 101\r\n\r\n", "413 a body of 101 bytes; at most 100 are allowed");
    READS(POST "Content-Length: 99999999999999999999\r\n",
          "413 a body of 99999999999999999999 bytes; at most 100 are allowed");
    static const char body[] = "413 a body of more than 100 bytes; at most 100 are allowed";
    READS(CHUNKED "65\r\n", body);
    READS(CHUNKED "fffffffffffffff\r\n", body);
    expect_of(CHUNKED, "19\r\n0123456789012345678901234\r\n", 5, "", body);
    expect_of(CHUNKED, "1\r\na\r\n", 60, "",
              "413 a chunked body has more bytes around its contents than are allowed");
    expect_of(CHUNKED "1;", "a", 200, "",
              "413 the size of a chunk has a line of more than 200 bytes");
    expect_of(CHUNKED "0\r\n", "A:a\r\n", 9, "\r\n",
              "431 more than 8 headers; at most 8 are allowed");
    expect_of(CHUNKED "0\r\nA:", "a", 300, "\r\n", header);
}

// ---------------------------------------------------------------------------------------------

static enum http_result read_once(struct http_request *request, const char *input)
{
    struct error error;
    return http_request_read(request, slice_from_cstr(input), &error);
}

static void test_http_request__tells_who_waits_to_be_told_to_go_on(void **state)
{
    (void)state;
    struct http_request request;
    http_request_init(&request, &allocator_system, &limits);
    static const char head[] = POST "Expect: 100-continue\r\nContent-Length: 5\r\n\r\n";
    assert_int_equal(read_once(&request, POST "Expect: 100-continue\r\n"), HTTP_MORE);
    assert_false(http_request_wants_continue(&request));
    assert_int_equal(read_once(&request, head), HTTP_MORE);
    assert_int_equal(http_request_needs(&request), sizeof(head) - 1 + 5);
    assert_true(http_request_wants_continue(&request));
    assert_false(http_request_wants_continue(&request));
    assert_int_equal(read_once(&request, POST "Expect: 100-continue\r\n"
                                              "Content-Length: 5\r\n\r\nhello"),
                     HTTP_READY);
    assert_false(http_request_wants_continue(&request));
    http_request_release(&request);
    READS(POST "Expect: tea\r\n\r\n", "417 the expectation \"tea\" is not understood");
    http_request_init(&request, &allocator_system, &limits);
    assert_int_equal(read_once(&request, "POST / HTTP/1.0\r\nExpect: 100-continue\r\n"
                                         "Content-Length: 5\r\n\r\n"),
                     HTTP_MORE);
    assert_false(http_request_wants_continue(&request));
    http_request_release(&request);
}

static void test_http_request__headers_are_found_by_name(void **state)
{
    (void)state;
    struct http_request request;
    struct slice value;
    size_t count;
    http_request_init(&request, &allocator_system, &limits);
    assert_int_equal(read_once(&request, GET "Accept:  a, b \r\nX-Y: 1\r\naccept: c\r\n\r\n"),
                     HTTP_READY);
    assert_true(http_request_header(&request, SLICE("ACCEPT"), &value, &count));
    assert_slice_equal(value, "a, b");
    assert_int_equal(count, 2);
    assert_true(http_request_header(&request, SLICE("x-y"), &value, NULL));
    assert_slice_equal(value, "1");
    assert_false(http_request_header(&request, SLICE("x"), &value, &count));
    assert_int_equal(count, 0);
    http_request_release(&request);
}

static void test_http_request__pauses_behind_a_head_for_who_wants_to_look(void **state)
{
    (void)state;
    static const struct {
        const char *wire, *method, *body;
        bool has_body;
    } cases[] = {
        { GET "Accept: a\r\n\r\n", "GET", "", false },
        { POST "Accept: a\r\nContent-Length: 5\r\n\r\nhello", "POST", "hello", true },
        { CHUNKED "1\r\na\r\n0\r\n\r\n", "POST", "a", true },
    };
    struct http_request request;
    http_request_init(&request, &allocator_system, &limits);
    request.pauses = true;
    for (size_t i = 0; TEST_ROW_NAMED(i, cases, cases[i].wire); i++) {
        assert_int_equal(read_once(&request, cases[i].wire), HTTP_MORE);
        assert_true(http_request_in_body(&request));
        assert_slice_equal(request.method, cases[i].method);
        assert_slice_equal(request.path, "/");
        assert_int_equal(http_request_has_body(&request), cases[i].has_body);
        assert_int_equal(read_once(&request, cases[i].wire), HTTP_READY);
        assert_slice_equal(request.body, cases[i].body);
        assert_int_equal(request.size, strlen(cases[i].wire));
    }
    http_request_release(&request);
}

static void test_http_request__without_memory_it_is_refused(void **state)
{
    (void)state;
    for (size_t fail_at = 1; fail_at <= 2; fail_at++) {
        struct fault_alloc fault;
        struct http_request request;
        fault_alloc_init(&fault);
        http_request_init(&request, &fault.allocator, &limits);
        fault.fail_at = fail_at;
        assert_int_equal(read_once(&request, CHUNKED "1\r\na\r\n0\r\n\r\n"), HTTP_BROKEN);
        assert_int_equal(request.answer, 503);
        http_request_release(&request);
        fault_alloc_release(&fault);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_http_request__reads_line_headers_and_body),
        cmocka_unit_test(test_http_request__several_in_a_row_are_read_one_after_the_other),
        cmocka_unit_test(test_http_request__says_whether_the_connection_goes_on),
        cmocka_unit_test(test_http_request__a_target_is_a_path_or_a_url),
        cmocka_unit_test(test_http_request__refuses_lines_that_are_malformed),
        cmocka_unit_test(test_http_request__refuses_headers_that_are_malformed),
        cmocka_unit_test(test_http_request__has_one_host),
        cmocka_unit_test(test_http_request__says_in_one_way_how_long_it_is),
        cmocka_unit_test(test_http_request__gathers_chunks),
        cmocka_unit_test(test_http_request__refuses_chunks_that_are_malformed),
        cmocka_unit_test(test_http_request__refuses_what_is_too_large_as_soon_as_it_is_known),
        cmocka_unit_test(test_http_request__tells_who_waits_to_be_told_to_go_on),
        cmocka_unit_test(test_http_request__headers_are_found_by_name),
        cmocka_unit_test(test_http_request__pauses_behind_a_head_for_who_wants_to_look),
        cmocka_unit_test(test_http_request__without_memory_it_is_refused),
    };
    return cmocka_run_group_tests_name("http_request", tests, NULL, NULL);
}
