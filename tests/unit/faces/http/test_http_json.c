// SPDX-License-Identifier: MIT
// What is said, as JSON.
#include "faces/http/json.h"
#include "faces/http/problem.h"
#include "faces/http/route.h"
#include "faces/http/shape.h"

#include "http_test.h"

static struct buffer out;
static struct http_json json;

static struct reply *begin_reply(struct http_json_options options)
{
    buffer_clear(&out);
    http_json_init(&json, &out, &options);
    return &json.reply;
}

static void expect(const char *wanted)
{
    assert_int_equal(out.status, STATUS_OK);
    assert_slice_equal(buffer_slice(&out), wanted);
}

static void test_http_json__every_value_has_its_form(void **state)
{
    (void)state;
    struct reply *reply = begin_reply((struct http_json_options){ 0 });
    reply_list(reply, 13);
    reply_null(reply);
    reply_word(reply, SLICE("PONG"));
    reply_text(reply, SLICE("a\"\n\xff\xc3\xa4"));
    reply_json(reply, SLICE("{\"a\": [1]}"));
    reply_prose(reply, SLICE("lines"));
    reply_integer(reply, INT64_MIN);
    reply_boolean(reply, true);
    reply_number(reply, 0.5);
    reply_seconds(reply, 1500000);
    reply_moment(reply, SITE_BEGINS_US);
    reply_list(reply, 0);
    reply_end(reply);
    reply_map(reply, 0);
    reply_end(reply);
    reply_ok(reply);
    reply_end(reply);
    expect("[null,\"PONG\",\"a\\\"\\n\xef\xbf\xbd\xc3\xa4\",{\"a\": [1]},\"lines\","
           "-9223372036854775808,true,0.5,1.5,1784000000.5,[],{},\"OK\"]");
}

static void say_map(struct reply *reply)
{
    reply_map(reply, 2);
    reply_key(reply, "dry-run");
    reply_boolean(reply, false);
    reply_key(reply, "options");
    reply_map(reply, 1);
    reply_key(reply, "result-ttl");
    reply_text(reply, SLICE("a-b"));
    reply_end(reply);
    reply_end(reply);
}

static void test_http_json__keys_are_as_members_unless_they_are_names(void **state)
{
    (void)state;
    say_map(begin_reply((struct http_json_options){ 0 }));
    expect("{\"dry_run\":false,\"options\":{\"result_ttl\":\"a-b\"}}");
    say_map(begin_reply((struct http_json_options){ .names = true }));
    expect("{\"dry-run\":false,\"options\":{\"result-ttl\":\"a-b\"}}");
}

static void test_http_json__what_is_no_map_is_wrapped_in_one(void **state)
{
    (void)state;
    struct http_json_options wrap = { .wrap = "x" };
    reply_integer(begin_reply(wrap), 5);
    expect("{\"x\":5}");
    reply_text(begin_reply(wrap), SLICE("t"));
    expect("{\"x\":\"t\"}");
    struct reply *reply = begin_reply(wrap);
    reply_list(reply, 2);
    reply_list(reply, 1);
    reply_boolean(reply, true);
    reply_end(reply);
    say_map(reply);
    reply_end(reply);
    expect("{\"x\":[[true],{\"dry_run\":false,\"options\":{\"result_ttl\":\"a-b\"}}]}");
    say_map(begin_reply(wrap));
    expect("{\"dry_run\":false,\"options\":{\"result_ttl\":\"a-b\"}}");
    reply_null(begin_reply(wrap));
    expect("null");
    assert_true(json.null);
}

static void test_http_json__each_of_many_is_wrapped_and_errors_are_problems(void **state)
{
    (void)state;
    struct error error;
    (void)error_set(&error, STATUS_NOT_FOUND, "job a does not exist");
    struct reply *reply = begin_reply((struct http_json_options){ .wrap = "x", .each = true });
    reply_list(reply, 4);
    reply_integer(reply, 1);
    reply_error(reply, &error);
    reply_ok(reply);
    say_map(reply);
    reply_end(reply);
    expect("[{\"x\":1},{\"type\":\"about:blank\",\"title\":\"Not Found\",\"status\":404,"
           "\"code\":\"not_found\",\"detail\":\"job a does not exist\"},{},"
           "{\"dry_run\":false,\"options\":{\"result_ttl\":\"a-b\"}}]");
    assert_int_equal(json.errors, 1);
}

static void test_http_json__of_a_list_of_one_only_the_item_is_said(void **state)
{
    (void)state;
    struct reply *reply = begin_reply((struct http_json_options){ .first = true });
    reply_list(reply, 1);
    say_map(reply);
    reply_end(reply);
    expect("{\"dry_run\":false,\"options\":{\"result_ttl\":\"a-b\"}}");
    assert_false(json.null);
    reply = begin_reply((struct http_json_options){ .first = true });
    reply_list(reply, 1);
    reply_null(reply);
    reply_end(reply);
    expect("null");
    assert_true(json.null);
}

// qless's clients put what Lua's cjson takes, which is more than JSON.
static void test_http_json__what_should_be_json_and_is_not_is_text(void **state)
{
    (void)state;
    struct reply *reply = begin_reply((struct http_json_options){ 0 });
    reply_list(reply, 2);
    reply_json(reply, SLICE("{\"a\":NaN}"));
    reply_json(reply, SLICE_EMPTY);
    reply_end(reply);
    expect("[\"{\\\"a\\\":NaN}\",\"\"]");
}

static void test_http_json__every_status_is_a_status_of_http(void **state)
{
    (void)state;
    assert_int_equal(http_problem_status(STATUS_INVALID), 400);
    assert_int_equal(http_problem_status(STATUS_STALE), 409);
    assert_int_equal(http_problem_status(STATUS_NO_SPACE), 507);
    for (int status = STATUS_OK + 1; status < STATUS_COUNT; status++) {
        unsigned code = http_problem_status((enum status)status);
        assert_true(code >= 400 && code < 600);
    }
}

static void expect_shape(const char *shape, const char *wanted)
{
    struct json_writer writer;
    buffer_clear(&out);
    json_writer_init(&writer, &out);
    http_shape_write(&writer, shape);
    expect(wanted);
}

static void test_http_json__shapes_are_schemas(void **state)
{
    (void)state;
    expect_shape("integer", "{\"type\":\"integer\"}");
    expect_shape("Job?",
                 "{\"anyOf\":[{\"$ref\":\"#/components/schemas/Job\"},{\"type\":\"null\"}]}");
    expect_shape("[string]", "{\"type\":\"array\",\"items\":{\"type\":\"string\"}}");
    expect_shape("{*:[integer?]}",
                 "{\"type\":\"object\",\"additionalProperties\":{\"type\":\"array\",\"items\":"
                 "{\"anyOf\":[{\"type\":\"integer\"},{\"type\":\"null\"}]}}}");
    expect_shape("{a:{b:string,c:integer}?,?d:boolean}",
                 "{\"type\":\"object\",\"properties\":{\"a\":{\"anyOf\":[{\"type\":\"object\","
                 "\"properties\":{\"b\":{\"type\":\"string\"},\"c\":{\"type\":\"integer\"}},"
                 "\"required\":[\"b\",\"c\"],\"additionalProperties\":false},{\"type\":\"null\"}]},"
                 "\"d\":{\"type\":\"boolean\"}},\"required\":[\"a\"],"
                 "\"additionalProperties\":false}");
}

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

int main(void)
{
#define JSON_TEST(test) cmocka_unit_test_setup_teardown(test, begin, end)
    const struct CMUnitTest tests[] = {
        JSON_TEST(test_http_json__every_value_has_its_form),
        JSON_TEST(test_http_json__keys_are_as_members_unless_they_are_names),
        JSON_TEST(test_http_json__what_is_no_map_is_wrapped_in_one),
        JSON_TEST(test_http_json__each_of_many_is_wrapped_and_errors_are_problems),
        JSON_TEST(test_http_json__of_a_list_of_one_only_the_item_is_said),
        JSON_TEST(test_http_json__what_should_be_json_and_is_not_is_text),
        JSON_TEST(test_http_json__every_status_is_a_status_of_http),
        JSON_TEST(test_http_json__shapes_are_schemas),
    };
    return cmocka_run_group_tests_name("http_json", tests, NULL, NULL);
}
