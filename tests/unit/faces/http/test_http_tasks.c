// SPDX-License-Identifier: MIT
// Fresnel's tasks as HTTP says them.
#include "http_test.h"

#define TIME "\"2026-07-14T03:33:20.500Z\""

static void test_http_tasks__a_new_one_is_201_the_same_again_200_both_with_its_place(void **state)
{
    struct site *site = *state;
    const char *task =
        "{\"class\":\"UserBackfill\",\"args\":[\"12\"],\"id\":1,\"attempts\":0,\"state\":\"ready\","
        "\"lastError\":null,\"queuedAt\":" TIME ",\"firstRunAt\":null,\"reservedAt\":null,"
        "\"lastRunAt\":null,\"firstScheduledFor\":" TIME ",\"scheduledFor\":" TIME ","
        "\"lastRunBy\":null,\"priority\":0}";
    char wanted[1024];
    (void)snprintf(wanted, sizeof(wanted), "201 %s", task);
    says(site, "POST /v1/ns/app/tasks", "{\"class\":\"UserBackfill\",\"args\":[\"12\"]}", wanted);
    assert_true(has_header(site, "Location: /v1/ns/app/tasks/1"));
    (void)snprintf(wanted, sizeof(wanted), "200 %s", task);
    says(site, "POST /v1/ns/app/tasks", "{\"args\":[ \"12\" ],\"class\":\"UserBackfill\"}", wanted);
    assert_true(has_header(site, "Location: /v1/ns/app/tasks/1"));
    says(site, "GET /v1/ns/app/tasks/1", NULL, wanted);
    assert_false(has_header(site, "Location: /v1/ns/app/tasks/1"));
    says(site, "POST /v1/ns/a%2fb/tasks", "{\"class\":\"A\",\"args\":[]}", "201 ...");
    assert_true(has_header(site, "Location: /v1/ns/a%2Fb/tasks/2"));
}

static void test_http_tasks__of_an_array_each_is_answered_in_order(void **state)
{
    struct site *site = *state;
    says(site, "POST /v1/ns/app/tasks",
         "[{\"class\":\"A\",\"args\":[]},{\"class\":\"A\",\"args\":{}}]",
         "200 [{\"class\":\"A\",\"args\":[],\"id\":1,\"attempts\":0,\"state\":\"ready\","
         "\"lastError\":null,\"queuedAt\":" TIME ",\"firstRunAt\":null,\"reservedAt\":null,"
         "\"lastRunAt\":null,\"firstScheduledFor\":" TIME ",\"scheduledFor\":" TIME ","
         "\"lastRunBy\":null,\"priority\":0},"
         "{\"type\":\"about:blank\",\"title\":\"Bad Request\",\"status\":400,"
         "\"code\":\"invalid\",\"detail\":\"args must be an array, not an object\","
         "\"field\":\"args\"}]");
    assert_false(has_header(site, "Location: /v1/ns/app/tasks/1"));
    says(site, "POST /v1/ns/app/tasks", "[]", "200 []");
    says(site, "GET /v1/ns/app/tasks/2", NULL, "404 ...");
}

static void test_http_tasks__members_are_called_as_fresnel_calls_them(void **state)
{
    struct site *site = *state;
    assert_string_equal(
        words_of(site, "POST /v1/ns/app/tasks",
                 "{\"class\":\"A\",\"args\":[],\"scheduledFor\":\"2030-01-31T12:00:00Z\"}"),
        "T.PUT app A [] SCHEDULED-FOR 2030-01-31T12:00:00Z");
    says(site, "POST /v1/ns/app/tasks",
         "{\"class\":\"A\",\"args\":[],\"scheduled_for\":\"2030-01-31T12:00:00Z\"}",
         "400 {\"type\":\"about:blank\",\"title\":\"Bad Request\",\"status\":400,"
         "\"code\":\"invalid\",\"detail\":\"scheduled_for is not known here\","
         "\"field\":\"scheduled_for\"}");
    says(site, "POST /v1/ns/app/tasks", "{\"class\":\"A\",\"args\":[],\"scheduledFor\":\"soon\"}",
         "400 {\"type\":\"about:blank\",\"title\":\"Bad Request\",\"status\":400,"
         "\"code\":\"invalid\",\"detail\":\"scheduledFor must be a time (seconds since 1970, or as "
         "2030-01-31T12:00:00Z), not \\\"soon\\\"\",\"field\":\"scheduledFor\"}");
    says(site, "POST /v1/ns/app/tasks", "{\"class\":\"A\",\"args\":{}}",
         "400 {\"type\":\"about:blank\",\"title\":\"Bad Request\",\"status\":400,"
         "\"code\":\"invalid\",\"detail\":\"args must be an array, not an object\","
         "\"field\":\"args\"}");
}

static void test_http_tasks__are_listed_and_deleted(void **state)
{
    struct site *site = *state;
    says(site, "GET /v1/ns/app/tasks", NULL, "200 {\"tasks\":[],\"next\":null}");
    says(site, "POST /v1/ns/app/tasks", "{\"class\":\"A\",\"args\":[]}", "201 ...");
    says(site, "GET /v1/ns/app/tasks?state=ready", NULL, "200 {\"tasks\":[{\"class\":\"A\",...");
    says(site, "GET /v1/ns/app/tasks?reservoir", NULL, "200 {\"tasks\":[],\"next\":null}");
    says(site, "DELETE /v1/ns/app/tasks/1", NULL, "204");
    says(site, "GET /v1/ns/app/tasks/1", NULL,
         "404 {\"type\":\"about:blank\",\"title\":\"Not Found\",\"status\":404,"
         "\"code\":\"not_found\",\"detail\":\"task 1 does not exist\"}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SITE_TEST(test_http_tasks__a_new_one_is_201_the_same_again_200_both_with_its_place),
        SITE_TEST(test_http_tasks__of_an_array_each_is_answered_in_order),
        SITE_TEST(test_http_tasks__members_are_called_as_fresnel_calls_them),
        SITE_TEST(test_http_tasks__are_listed_and_deleted),
    };
    return cmocka_run_group_tests_name("http_tasks", tests, NULL, NULL);
}
