// SPDX-License-Identifier: MIT
// The HTTP face from the request to the answer, over a real engine.
#include "http_test.h"

#include "fault_alloc.h"
#include "wire/http_target.h"

#include <stdio.h>

#define PROBLEM(status, title, code, detail)                                                       \
#    status " {\"type\":\"about:blank\",\"title\":\"" title "\",\"status\":" #    status           \
            ",\"code\":\"" code "\",\"detail\":\"" detail "\"}"

#define NS "/v1/ns/app"

static void test_http__a_job_is_put_popped_and_completed(void **state)
{
    struct site *site = *state;
    says(site, "POST " NS "/queues/mail/jobs",
         "{\"klass\":\"Send\",\"data\":{\"to\":\"ann\"},\"jid\":\"ann\",\"tags\":[\"paid\"]}",
         "201 {\"jid\":\"ann\"}");
    assert_true(has_header(site, "Location: /v1/ns/app/jobs/ann"));
    says(site, "POST /v1/ns/a%20b/queues/fax/jobs",
         "{\"klass\":\"Send\",\"data\":1,\"jid\":\"x/\\u00e4\"}", "201 ...");
    assert_true(has_header(site, "Location: /v1/ns/a%20b/jobs/x%2F%C3%A4"));
    says(site, "GET " NS "/queues/mail/length", NULL, "200 {\"length\":1}");
    says(site, "POST " NS "/pop", "{\"queues\":[\"mail\"],\"worker\":\"w\"}",
         "200 {\"jobs\":[{\"jid\":\"ann\",\"klass\":\"Send\",\"queue\":\"mail\","
         "\"data\":{\"to\":\"ann\"},\"token\":1,\"expires\":1784000060.5,\"priority\":0,"
         "\"remaining\":5,\"attempts\":1,\"domain\":null,\"checkpoint\":null,"
         "\"tags\":[\"paid\"]}]}");
    says(site, "POST " NS "/jobs/ann/start", "{\"worker\":\"w\",\"pid\":4711}", "204");
    says(site, "POST " NS "/jobs/ann/heartbeat", "{\"worker\":\"w\",\"token\":1}",
         "200 {\"expires\":1784000060.5}");
    says(site, "POST " NS "/jobs/ann/progress", "{\"worker\":\"w\",\"fraction\":0.5}", "204");
    says(site, "POST " NS "/jobs/ann/log", "{\"worker\":\"w\",\"line\":\"connected\"}", "204");
    says(site, "GET " NS "/jobs/ann/log", NULL,
         "200 {\"log\":[{\"when\":1784000000.5,\"line\":\"connected\"}]}");
    says(site, "POST " NS "/jobs/ann/complete",
         "{\"worker\":\"w\",\"token\":1,\"result\":{\"sent\":true}}",
         "200 {\"state\":\"complete\"}");
    says(site, "GET " NS "/jobs/ann/result", NULL,
         "200 {\"state\":\"complete\",\"result\":{\"sent\":true},\"group\":null,\"message\":null}");
    says(site, "GET " NS "/jobs/ann", NULL, "200 {\"jid\":\"ann\",\"klass\":\"Send\",...");
    says(site, "DELETE " NS "/jobs/ann", NULL, "204");
    says(site, "GET " NS "/jobs/ann", NULL,
         PROBLEM(404, "Not Found", "not_found", "there is no such job"));
    says(site, "POST " NS "/get", "{\"jids\":[\"ann\"]}", "200 {\"jobs\":[null]}");
}

static void test_http__each_of_many_has_its_own_answer(void **state)
{
    struct site *site = *state;
    says(site, "POST " NS "/queues/mail/jobs",
         "[{\"klass\":\"K\",\"data\":1,\"jid\":\"a\"},{\"klass\":\"\",\"data\":2},"
         "{\"klass\":\"K\",\"data\":3,\"jid\":\"c\"}]",
         "200 [{\"jid\":\"a\"},{\"type\":\"about:blank\",\"title\":\"Bad Request\",\"status\":400,"
         "\"code\":\"invalid\",\"detail\":\"klass must not be empty\",\"field\":\"klass\"},"
         "{\"jid\":\"c\"}]");
    assert_int_equal(http_face_errors(site->face), 1);
    (void)ask(site, "POST " NS "/pop", "", "{\"queues\":[\"mail\"],\"worker\":\"w\",\"count\":2}");
    says(site, "POST " NS "/fail",
         "[{\"jid\":\"a\",\"worker\":\"w\",\"group\":\"g\",\"message\":\"m\"},"
         "{\"jid\":\"x\",\"worker\":\"w\",\"group\":\"g\",\"message\":\"m\"}]",
         "200 [{},{\"type\":\"about:blank\",\"title\":\"Not Found\",\"status\":404,"
         "\"code\":\"not_found\",\"detail\":\"job x does not exist\"}]");
    says(site, "POST " NS "/complete", "[{\"jid\":\"c\",\"worker\":\"w\"}]",
         "200 [{\"state\":\"complete\"}]");
    says(site, "POST " NS "/jobs/c/fail",
         "{\"worker\":\"ops\",\"group\":\"g\",\"message\":\"m\",\"force\":true}", "204");
    says(site, "POST " NS "/queues/mail/jobs", "[]", "200 []");
}

static void test_http__what_waits_is_run_again_with_a_copy_of_the_call(void **state)
{
    struct site *site = *state;
    says(site, "POST " NS "/pop", "{\"queues\":[\"q\"],\"worker\":\"w\",\"wait\":30}", "(waits)");
    struct http_call kept = site->call;
    kept.words = (struct slices){ 0 };
    (void)ask(site, "POST " NS "/queues/q/jobs", "", "{\"klass\":\"K\",\"data\":1,\"jid\":\"a\"}");
    buffer_clear(&site->reply);
    struct reply *reply = http_face_reply(site->face, &kept, &site->reply);
    reply_list(reply, 0);
    reply_end(reply);
    http_face_answer(site->face, &kept, &site->reply);
    buffer_append_char(&site->reply, '\0');
    assert_non_null(strstr(site->reply.data, "\r\n\r\n{\"jobs\":[]}"));
    says(site, "GET " NS "/jobs/a/result?timeout=5", NULL, "(waits)");
    site->last = true;
    says(site, "GET " NS "/jobs/a/result?timeout=5", NULL, "204");
    says(site, "POST " NS "/pop", "{\"queues\":[\"r\"],\"worker\":\"w\",\"wait\":30}",
         "200 {\"jobs\":[]}");
}

static void test_http__paths_and_methods_that_are_not_there(void **state)
{
    struct site *site = *state;
    static const char nothing[] =
        PROBLEM(404, "Not Found", "not_found",
                "there is nothing at this path; /v1/openapi.json lists what there is");
    static const char *const paths[] = {
        "GET /",           "GET /v1",
        "GET /v1/",        "GET " NS "/queues/",
        "GET /v1/ns//pop", "GET /a/b/c/d/e/f/g/h/i",
        "POST /V1/ns",     "GET " NS "/jobs/a/b/c",
    };
    for (size_t i = 0; TEST_ROW_NAMED(i, paths, paths[i]); i++) {
        says(site, paths[i], NULL, nothing);
    }
    static const char malformed[] =
        PROBLEM(400, "Bad Request", "invalid",
                "the path has a segment . or .., or a % that is not followed by two hexadecimal "
                "digits, or %00");
    says(site, "GET /v1/../v1/ns", NULL, malformed);
    says(site, "GET /v1/./ns", NULL, malformed);
    says(site, "GET /v1/ns/%0", NULL, malformed);
    says(site, "GET /v1/ns/a%00/queues", NULL, malformed);
    says(site, "GET " NS "/pop", NULL,
         PROBLEM(405, "Method Not Allowed", "unsupported",
                 "here the method is one of POST, OPTIONS, not GET"));
    assert_true(has_header(site, "Allow: POST, OPTIONS"));
    says(site, "BREW " NS "/limits", NULL, "405 ...");
    assert_true(has_header(site, "Allow: PUT, GET, HEAD, DELETE, OPTIONS"));
    says(site, "OPTIONS " NS "/limits", NULL, "204");
    assert_true(has_header(site, "Allow: PUT, GET, HEAD, DELETE, OPTIONS"));
    says(site, "OPTIONS *", NULL, "204");
    assert_true(has_header(site, "Allow: GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"));
    // Commands that this host does not have.
    says(site, "GET /v1/ns", NULL, nothing);
}

static void test_http__types_that_are_not_json_are_refused(void **state)
{
    struct site *site = *state;
    static const char put[] = "POST " NS "/queues/q/jobs";
    static const char body[] = "{\"klass\":\"K\",\"data\":1,\"jid\":\"a\"}";
    static const char wrong[] = PROBLEM(415, "Unsupported Media Type", "unsupported",
                                        "the header Content-Type must be application/json");
    says_with(site, put, "Content-Type: text/plain\r\n", body, wrong);
    says_with(site, put, "Content-Type: application/x-www-form-urlencoded\r\n", body, wrong);
    says_with(site, put, "Content-Type: application/jsonx\r\n", body, wrong);
    says_with(site, put, "Content-Type:\r\n", body, wrong);
    says_with(site, put, "Content-Type: application/json\r\nContent-Type: text/plain\r\n", body,
              wrong);
    says_with(site, put, "Content-Type: application/json, text/plain\r\n", body, wrong);
    says_with(site, put, "Content-Type: Application/JSON ; charset=utf-8\r\n", body,
              "201 {\"jid\":\"a\"}");
    says(site, "GET " NS "/queues", "{}",
         PROBLEM(400, "Bad Request", "invalid", "a GET has no body"));
    static const char no[] =
        PROBLEM(406, "Not Acceptable", "unsupported", "answers here are application/json");
    static const char get[] = "GET " NS "/queues/q/length";
    says_with(site, get, "Accept: text/html\r\n", NULL, no);
    says_with(site, get, "Accept: application/json;q=0\r\n", NULL, no);
    says_with(site, get, "Accept: text/html, */*;q=0.1\r\n", NULL, "200 {\"length\":1}");
    says_with(site, get, "Accept: application/*\r\n", NULL, "200 {\"length\":1}");
    says_with(site, get, "Accept:\r\n", NULL, "200 {\"length\":1}");
}

static void test_http__a_client_that_has_the_answer_is_not_told_again(void **state)
{
    struct site *site = *state;
    static const char get[] = "GET " NS "/queues/q/length";
    char etag[HTTP_ETAG_SIZE + 1];
    char header[200];
    says(site, get, NULL, "200 {\"length\":0}");
    assert_true(has_header(site, "Content-Type: application/json"));
    assert_true(has_header(site, "Date: Tue, 14 Jul 2026 03:33:20 GMT"));
    assert_true(has_header(site, "Cache-Control: no-cache, private"));
    const char *line = strstr(site->reply.data, "ETag: ");
    assert_non_null(line);
    (void)snprintf(etag, sizeof(etag), "%s", line + strlen("ETag: "));
    (void)snprintf(header, sizeof(header), "If-None-Match: \"x\", W/%s\r\n", etag);
    says_with(site, get, header, NULL, "304");
    assert_null(strstr(site->reply.data, "Content-Length"));
    says_with(site, get, "If-None-Match: *\r\n", NULL, "304");
    says_with(site, get, "If-None-Match: \"x\"\r\n", NULL, "200 {\"length\":0}");
    (void)ask(site, "POST " NS "/queues/q/jobs", "", "{\"klass\":\"K\",\"data\":1}");
    assert_null(strstr(site->reply.data, "ETag"));
    says_with(site, get, header, NULL, "200 {\"length\":1}");
}

static void test_http__head_is_get_without_the_body(void **state)
{
    struct site *site = *state;
    says(site, "HEAD " NS "/queues/q/length", NULL, "200");
    assert_true(has_header(site, "Content-Length: 12"));
    says(site, "HEAD " NS "/jobs/a", NULL, "404");
    says(site, "HEAD /nothing", NULL, "404");
    says(site, "HEAD " NS "/pop", NULL, "405");
}

static void test_http__connections_end_when_they_are_told_to(void **state)
{
    struct site *site = *state;
    says_with(site, "GET " NS "/queues/q/length", "Connection: close\r\n", NULL,
              "200 {\"length\":0}");
    assert_true(site->call.close && has_header(site, "Connection: close"));
    says(site, "GET " NS "/queues/q/length", NULL, "200 {\"length\":0}");
    assert_true(!site->call.close && !has_header(site, "Connection: close"));
    says_with(site, "GET /", "Host: b\r\n", NULL,
              PROBLEM(400, "Bad Request", "invalid", "a request has more than one Host"));
    assert_true(has_header(site, "Connection: close"));
}

static const char *refuse(struct site *site, unsigned status, enum status code)
{
    struct error error;
    (void)error_set(&error, code, "because");
    buffer_clear(&site->reply);
    struct http_call call = { .close = true };
    http_face_refuse(site->face, &call, status, &error, &site->reply);
    buffer_append_char(&site->reply, '\0');
    return site->reply.data;
}

static void test_http__the_server_refuses_with_what_fits(void **state)
{
    struct site *site = *state;
    assert_non_null(strstr(refuse(site, 401, STATUS_DENIED), "HTTP/1.1 401 Unauthorized\r\n"));
    assert_true(has_header(site, "WWW-Authenticate: Bearer realm=\"sluice\""));
    assert_non_null(strstr(refuse(site, 0, STATUS_DENIED), "HTTP/1.1 403 Forbidden\r\n"));
    assert_non_null(strstr(refuse(site, 0, STATUS_IO), "HTTP/1.1 503 Service Unavailable\r\n"));
    assert_true(has_header(site, "Retry-After: 1"));
    assert_true(has_header(site, "Content-Type: application/problem+json"));
    assert_true(has_header(site, "Connection: close"));
    assert_non_null(strstr(refuse(site, 0, STATUS_NO_SPACE), "HTTP/1.1 507 Insufficient"));
}

static void test_http__an_answer_that_is_too_large_is_refused(void **state)
{
    (void)state;
    struct site *site = site_new(&allocator_system, REPLY_SIZE_LEAST);
    says(site, "GET " NS "/queues", NULL, "200 {\"total\":0,\"queues\":[],\"next\":null}");
    for (int i = 0; i < 100; i++) {
        char line[100];
        (void)snprintf(line, sizeof(line), "POST " NS "/queues/q%d/jobs", i);
        says(site, line, "{\"klass\":\"K\",\"data\":1}", "201 ...");
    }
    says(
        site, "GET " NS "/queues", NULL,
        PROBLEM(422, "Unprocessable Content", "too_large", "the answer is larger than is allowed"));
    says(site, "GET " NS "/queues/q1/length", NULL, "200 {\"length\":1}");
    site_free(site);
}

static void test_http__what_could_not_be_answered_is_not_done(void **state)
{
    (void)state;
    struct site *site = site_new(&allocator_system, REPLY_SIZE_LEAST - 1);
    says(site, "POST " NS "/queues/q/jobs", "{\"klass\":\"K\",\"data\":1}",
         "422 {\"type\":\"about:blank\",\"title\":\"Unprocessable Content\",\"status\":422,"
         "\"code\":\"too_large\",\"detail\":\"Q.PUT was not run: its reply may have 8192 bytes, "
         "and there is room for 8191 (max-output is the limit)\"}");
    says(site, "GET " NS "/queues/q/length", NULL, "200 {\"length\":0}");
    site_free(site);
}

static void test_http__pages_are_the_server_s(void **state)
{
    struct site *site = *state;
    says(site, "GET /metrics", NULL, "(page)");
    assert_int_equal(site->call.route->page, HTTP_PAGE_METRICS);
    says_with(site, "GET " NS "/events?queue=q", "Accept: text/event-stream\r\n", NULL, "(page)");
    assert_int_equal(site->call.route->page, HTTP_PAGE_EVENTS);
    assert_slice_equal(site->call.ns, "app");
    buffer_clear(&site->reply);
    http_face_page(site->face, &site->call, 503, "text/plain", SLICE("no\n"), &site->reply);
    buffer_append_char(&site->reply, '\0');
    assert_non_null(strstr(site->reply.data, "HTTP/1.1 503 "));
    assert_non_null(strstr(site->reply.data, "\r\n\r\nno\n"));
    says(site, "GET /v1/openapi.json", NULL, "200 {\"openapi\":\"3.1.0\",...");
    assert_true(strstr(site->reply.data, "ETag: ") != NULL);
}

// Every route leads to itself: no two have the same method and path, and none hides another. Each
// native command has one.
static void test_http__routes_are_told_apart(void **state)
{
    struct site *site = *state;
    for (size_t i = 0; i < http_routes.count; i++) {
        const struct http_route *route = &http_routes.items[i];
        struct http_path path = { .count = 0 };
        struct slice rest = slice_from_cstr(route->path);
        while (http_path_next(&rest, &path.segments[path.count])) {
            path.count++;
            assert_true(path.count < HTTP_SEGMENTS_MAX);
        }
        for (size_t j = 0; j < http_routes.count; j++) {
            const struct http_route *other = &http_routes.items[j];
            if (strcmp(route->method, other->method) == 0) {
                struct http_pattern pattern;
                http_pattern_init(&pattern, other);
                assert_int_equal(http_pattern_matches(&pattern, &path), i == j);
            }
        }
    }
    for (size_t i = 0; commands_at(site->commands, i); i++) {
        const char *name = commands_at(site->commands, i)->name;
        size_t found = 0;
        for (size_t j = 0; j < http_routes.count; j++) {
            const struct http_route *route = &http_routes.items[j];
            found += (route->command && strcmp(route->command, name) == 0) ||
                     (route->many && strcmp(route->many, name) == 0);
        }
        if (!found) {
            fail_msg("%s has no route", name);
        }
    }
}

static void test_http__without_memory_it_is_refused_and_can_be_tried_again(void **state)
{
    (void)state;
    struct fault_alloc fault;
    fault_alloc_init(&fault);
    struct site *site = site_new(&fault.allocator, 1 << 20);
    static const char line[] = "POST " NS "/queues/a%20b/jobs";
    static const char body[] = "{\"klass\":\"K\\u0041\",\"data\":1,\"jid\":\"a\"}";
    for (size_t fail_at = 1;; fail_at++) {
        fault.calls = 0;
        fault.fail_at = fail_at;
        const char *answer = ask(site, line, "", body);
        if (strcmp(answer, "201 {\"jid\":\"a\"}") == 0) {
            assert_true(fail_at > 2);
            break;
        }
        assert_memory_equal(answer, "503", 3);
    }
    fault.fail_at = 0;
    says(site, line, body, "201 {\"jid\":\"a\"}");
    site_free(site);
    fault_alloc_release(&fault);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SITE_TEST(test_http__a_job_is_put_popped_and_completed),
        SITE_TEST(test_http__each_of_many_has_its_own_answer),
        SITE_TEST(test_http__what_waits_is_run_again_with_a_copy_of_the_call),
        SITE_TEST(test_http__paths_and_methods_that_are_not_there),
        SITE_TEST(test_http__types_that_are_not_json_are_refused),
        SITE_TEST(test_http__a_client_that_has_the_answer_is_not_told_again),
        SITE_TEST(test_http__head_is_get_without_the_body),
        SITE_TEST(test_http__connections_end_when_they_are_told_to),
        SITE_TEST(test_http__the_server_refuses_with_what_fits),
        cmocka_unit_test(test_http__an_answer_that_is_too_large_is_refused),
        cmocka_unit_test(test_http__what_could_not_be_answered_is_not_done),
        SITE_TEST(test_http__pages_are_the_server_s),
        SITE_TEST(test_http__routes_are_told_apart),
        cmocka_unit_test(test_http__without_memory_it_is_refused_and_can_be_tried_again),
    };
    return cmocka_run_group_tests_name("http", tests, NULL, NULL);
}
