// SPDX-License-Identifier: MIT
// Which words a request becomes, and what is refused before there are any.
#include "http_test.h"

#include "faces/http/member.h"

#define PROBLEM(status, title, code, detail)                                                       \
#    status " {\"type\":\"about:blank\",\"title\":\"" title "\",\"status\":" #    status           \
            ",\"code\":\"" code "\",\"detail\":\"" detail "\""

#define INVALID(detail, field)                                                                     \
    PROBLEM(400, "Bad Request", "invalid", detail) ",\"field\":\"" field "\"}"

static void test_http_words__members_are_named_as_arguments(void **state)
{
    struct site *site = *state;
    static const struct {
        const char *line, *body, *words;
    } cases[] = {
        { "POST /v1/ns/app/queues/mail/jobs", "{\"klass\":\"Send\",\"data\":{\"to\": \"ann\"}}",
          "Q.PUT app mail Send {\"to\": \"ann\"}" },
        { "POST /v1/ns/app/queues/mail/jobs",
          "{\"data\":null,\"tags\":[\"a\",\"b\"],\"priority\":-5,\"unique_contents\":true,"
          "\"klass\":\"S\",\"delay\":1.5,\"at\":null,\"on_conflict\":\"refuse\"}",
          "Q.PUT app mail S null PRIORITY -5 DELAY 1.5 TAG a TAG b UNIQUE-CONTENTS ON-CONFLICT "
          "refuse" },
        { "POST /v1/ns/app/queues/mail/jobs?delay=60&tags=x&tags=y%20z",
          "{\"klass\":\"S\",\"data\":\"t\"}", "Q.PUT app mail S \"t\" DELAY 60 TAG x TAG y z" },
        { "POST /v1/ns/a%2Fb/queues/m%20x/jobs", "{\"klass\":\"\\u00e4\\\"\",\"data\":[]}",
          "Q.PUT a/b m x \xc3\xa4\" []" },
        { "POST /v1/ns/app/queues/mail/jobs",
          "[{\"klass\":\"A\",\"data\":1},{\"data\":2,\"klass\":\"B\",\"jid\":\"b\"}]",
          "Q.MPUT app 3 mail A 1 5 mail B 2 JID b" },
        { "POST /v1/ns/app/queues/mail/jobs", "[]", "Q.MPUT app" },
        { "POST /v1/ns/app/pop", "{\"queues\":[\"mail\",\"wait\"],\"worker\":\"w\"}",
          "Q.POP app w 1 -- mail wait" },
        { "POST /v1/ns/app/pop",
          "{\"count\":5,\"queues\":[\"q\"],\"worker\":\"w\",\"wait\":30,\"order\":\"round-robin\"}",
          "Q.POP app w 5 WAIT 30 ORDER round-robin -- q" },
        { "POST /v1/ns/app/jobs/j/complete", "{\"worker\":\"w\",\"token\":3,\"result\":{\"a\":1}}",
          "Q.COMPLETE app j w TOKEN 3 RESULT {\"a\":1}" },
        { "POST /v1/ns/app/complete", "[{\"jid\":\"j\",\"worker\":\"w\"}]",
          "Q.MCOMPLETE app 2 j w" },
        { "POST /v1/ns/app/jobs/j/cancel", NULL, "Q.CANCEL app -- j" },
        { "POST /v1/ns/app/cancel", "{\"jids\":[\"a\",\"--\"]}", "Q.CANCEL app -- a --" },
        { "DELETE /v1/ns/app/jobs/j/depends/k", NULL, "Q.DEPENDS.OFF app j -- k" },
        { "POST /v1/ns/app/jobs/j/depends", "{\"dependencies\":[\"k\",\"l\"]}",
          "Q.DEPENDS.ON app j -- k l" },
        { "GET /v1/ns/app/jobs?state=complete&jids&count=3", NULL,
          "Q.JOBS app -- complete COUNT 3 JIDS" },
        { "GET /v1/ns/app/queues/jids/jobs?state=waiting&jids=false", NULL,
          "Q.JOBS app -- waiting -- jids" },
        { "GET /v1/ns/app/jobs/j/result?timeout=30", NULL, "Q.WAIT app j TIMEOUT 30" },
        { "GET /v1/ns/app/config?options=a&options=b", NULL, "Q.CONFIG.GET app -- a b" },
        { "GET /v1/ns/app/config", NULL, "Q.CONFIG.GET app --" },
        { "PUT /v1/ns/app/config/heartbeat", "{\"value\":60}", "Q.CONFIG.SET app heartbeat 60" },
        { "GET /v1/ns/app/queues/q/peek", NULL, "Q.PEEK app q 25" },
        { "GET /v1/ns/app/queues/q/peek?count=3", NULL, "Q.PEEK app q 3" },
        { "GET /v1/ns/app/cron?expression=0+3+*+*+*&count=2", NULL,
          "Q.CRON app 0 3 * * * COUNT 2" },
        { "DELETE /v1/ns/app/limits?queue=mail", NULL, "Q.LIMIT.UNSET app QUEUE mail" },
        { "PUT /v1/ns/app/policies/klass/Send", "{\"max_crashes\":3}",
          "Q.POLICY.SET app klass Send MAX-CRASHES 3" },
        { "POST /v1/ns/app/bulk", "{\"act\":\"tag\",\"tags\":[\"t\"],\"dry_run\":true}",
          "Q.BULK app tag TAG t DRY-RUN" },
    };
    for (size_t i = 0; TEST_ROW_NAMED(i, cases, cases[i].line); i++) {
        assert_string_equal(words_of(site, cases[i].line, cases[i].body), cases[i].words);
    }
}

static void test_http_words__what_does_not_fit_is_refused_by_name(void **state)
{
    struct site *site = *state;
    static const char put[] = "POST /v1/ns/app/queues/mail/jobs";
    static const struct {
        const char *body, *wanted;
    } cases[] = {
        { "{\"klass\":\"K\"}", INVALID("data is missing", "data") },
        { "{}", INVALID("klass is missing", "klass") },
        { "{\"klass\":5,\"data\":1}", INVALID("klass must be a string", "klass") },
        { "{\"klass\":\"K\",\"data\":1,\"priority\":\"5\"}",
          INVALID("priority must be a number", "priority") },
        { "{\"klass\":\"K\",\"data\":1,\"unique_contents\":1}",
          INVALID("unique_contents must be true or false", "unique_contents") },
        { "{\"klass\":\"K\",\"data\":1,\"tags\":\"a\"}",
          INVALID("tags must be a list of strings", "tags") },
        { "{\"klass\":\"K\",\"data\":1,\"tags\":[1]}",
          INVALID("tags must be a list of strings", "tags") },
        { "{\"klass\":\"K\",\"data\":1,\"tag\":\"a\"}", INVALID("tag is not known here", "tag") },
        { "{\"klass\":\"K\",\"data\":1,\"PRIORITY\":1}",
          INVALID("PRIORITY is not known here", "PRIORITY") },
        { "{\"klass\":\"K\",\"data\":1,\"klass\":\"L\"}",
          INVALID("klass is given twice", "klass") },
        { "{\"klass\":\"K\",\"data\":1,\"queue\":\"q\"}",
          INVALID("queue is given twice", "queue") },
        { "[{\"klass\":\"K\",\"data\":1},{\"klass\":\"K\",\"data\":1,\"x\":1}]",
          INVALID("[1].x is not known here", "[1].x") },
        { "[{\"klass\":\"K\"}]", INVALID("[0].data is missing", "[0].data") },
        { "[1]",
          PROBLEM(400, "Bad Request", "invalid", "the body must be an array of objects") "}" },
        { "7", PROBLEM(400, "Bad Request", "invalid",
                       "the body must be an object, or an array of objects") "}" },
        { "{\"klass\":", PROBLEM(400, "Bad Request", "invalid", "the body is not JSON: ") },
        { "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]",
          PROBLEM(413, "Content Too Large", "too_large", "the body is not JSON: ") },
    };
    for (size_t i = 0; TEST_ROW_NAMED(i, cases, cases[i].body); i++) {
        const char *shown = ask(site, put, "", cases[i].body);
        size_t size = strlen(cases[i].wanted);
        if (cases[i].wanted[size - 1] == '}') {
            assert_string_equal(shown, cases[i].wanted);
        } else { // what is wrong with the JSON is another's sentence
            assert_memory_equal(shown, cases[i].wanted, size - 1);
        }
    }
    says(site, "POST /v1/ns/app/pop", "{\"worker\":\"w\",\"queues\":[]}",
         INVALID("queues is missing", "queues"));
    says(site, "POST /v1/ns/app/pop", "[]",
         PROBLEM(400, "Bad Request", "invalid", "the body must be an object") "}");
    says(site, "POST /v1/ns/app/complete", "{}",
         PROBLEM(400, "Bad Request", "invalid", "the body must be an array of objects") "}");
    says(site, "POST /v1/ns/app/complete", NULL,
         PROBLEM(400, "Bad Request", "invalid", "the body must be an array of objects") "}");
    says(site, "GET /v1/ns/app/queues?x=1", NULL, INVALID("x is not known here", "x"));
    says(site, "GET /v1/ns/app/queues?=1", NULL,
         PROBLEM(400, "Bad Request", "invalid", " is not known here") "}");
    says(site, "GET /v1/ns/app/failures?count=1&count=2", NULL,
         INVALID("count is given twice", "count"));
    says(site, "GET /v1/ns/app/failures?count=%zz", NULL,
         PROBLEM(400, "Bad Request", "invalid",
                 "the query has a % that is not followed by two hexadecimal digits, or %00") "}");
    says(site, "GET /v1/ns/app/jobs?state=complete&jids=maybe", NULL,
         INVALID("jids must be true or false", "jids"));
    says(site, "GET /v1/ns/app/cron", NULL, INVALID("expression is missing", "expression"));
    says(site, "POST /v1/ns/app/queues/mail/jobs?delay=1", "[]",
         PROBLEM(400, "Bad Request", "invalid",
                 "a query cannot be given beside an array of objects") "}");
}

// What only the command can know is said in the same way.
static void test_http_words__what_the_command_refuses_names_the_member(void **state)
{
    struct site *site = *state;
    says(site, "POST /v1/ns/app/queues/mail/jobs", "{\"klass\":\"K\",\"data\":1,\"priority\":1.5}",
         INVALID("priority must be a whole number, not \\\"1.5\\\"", "priority"));
    says(site, "POST /v1/ns/app/queues/mail/jobs",
         "{\"klass\":\"K\",\"data\":1,\"unique_for\":5,\"on_conflict\":\"x\"}",
         INVALID("on_conflict must be one of existing, replace, refuse, once, not \\\"x\\\"",
                 "on_conflict"));
    says(site, "GET /v1/ns/app/failures?count=2000", NULL,
         INVALID("count must be from 0 to 1000, not 2000", "count"));
    says(site, "POST /v1/ns/app/pop", "{\"worker\":\"w\",\"queues\":[\"\"]}",
         INVALID("queues must not be empty", "queues"));
    says(site, "POST /v1/ns/app/queues/mail/jobs", "{\"klass\":\"K\",\"data\":1,\"unique_for\":5}",
         PROBLEM(400, "Bad Request", "invalid",
                 "UNIQUE-UNTIL, UNIQUE-FOR and ON-CONFLICT need UNIQUE or UNIQUE-CONTENTS") "}");
}

static void test_http_words__an_idempotency_key_is_the_id_of_a_request_for_a_day(void **state)
{
    struct site *site = *state;
    static const char put[] = "POST /v1/ns/app/queues/mail/jobs";
    static const char body[] = "{\"klass\":\"K\",\"data\":1}";
    static const char key[] = "Idempotency-Key: k1\r\n";
    static const char jid[] = "201 {\"jid\":\"019f5eaf-b1f4-7000-8000-";
    char first[100];
    (void)snprintf(first, sizeof(first), "%s", ask(site, put, key, body));
    assert_memory_equal(first, jid, strlen(jid));
    says_with(site, put, "Idempotency-Key: \"k1\"\r\n", body, first);
    says(site, "GET /v1/ns/app/queues/mail/length", NULL, "200 {\"length\":1}");
    site->now_us += INT64_C(86401) * 1000000;
    (void)ask(site, put, key, body);
    says(site, "GET /v1/ns/app/queues/mail/length", NULL, "200 {\"length\":2}");
    says_with(site, put, key, "{\"klass\":\"K\",\"data\":1,\"request\":\"r\"}",
              INVALID("request cannot be given beside Idempotency-Key", "request"));
    says_with(site, put, key, "{\"klass\":\"K\",\"data\":2}",
              PROBLEM(400, "Bad Request", "invalid",
                      "request k1 was another one before: its words differ") "}");
    // It does not take the place of a lock.
    static const char locked[] = "{\"klass\":\"K\",\"data\":1,\"unique\":\"u\"}";
    (void)snprintf(first, sizeof(first), "%s", ask(site, put, "Idempotency-Key: k2\r\n", locked));
    says_with(site, put, "Idempotency-Key: k2\r\n", locked, first);
    says_with(site, put, "Idempotency-Key: k3\r\n", locked, first);
    says(site, "GET /v1/ns/app/queues/mail/length", NULL, "200 {\"length\":3}");
}

static void test_http_words__requeue_recur_and_restore_have_idempotency_keys_too(void **state)
{
    struct site *site = *state;
    static const char key[] = "Idempotency-Key: k1\r\n", other[] = "Idempotency-Key: k2\r\n";
    static const char job[] = "{\"klass\":\"K\",\"data\":1,\"queue\":\"mail\"}";
    (void)ask(site, "POST /v1/ns/app/queues/mail/jobs", "",
              "{\"klass\":\"K\",\"data\":1,\"jid\":\"j\"}");
    says_with(site, "POST /v1/ns/app/jobs/j/requeue", key, job, "200 {\"jid\":\"j\"}");
    says(site, "POST /v1/ns/app/jobs/j/cancel", NULL, "200 {\"canceled\":1}");
    says_with(site, "POST /v1/ns/app/jobs/j/requeue", key, job, "200 {\"jid\":\"j\"}");
    static const char recurring[] =
        "{\"queue\":\"mail\",\"klass\":\"K\",\"data\":1,\"interval\":60}";
    says_with(site, "PUT /v1/ns/app/recurring/r", other, recurring, "204");
    says(site, "DELETE /v1/ns/app/recurring/r", NULL, "204");
    says_with(site, "PUT /v1/ns/app/recurring/r", other, recurring, "204");
    says(site, "GET /v1/ns/app/queues/mail/recurring", NULL, "200 {\"total\":0,\"jobs\":[]}");
    static const char restore[] = "POST /v1/ns/app/restore",
                      queue[] = "{\"items\":[{\"tracked\":{\"jid\":\"t\"}}]}";
    says_with(site, restore, "Idempotency-Key: k3\r\n", queue, "200 {\"outcomes\":[\"restored\"]}");
    says_with(site, restore, "Idempotency-Key: k3\r\n", queue, "200 {\"outcomes\":[\"restored\"]}");
    says_with(site, restore, "Idempotency-Key: k4\r\n", queue, "200 {\"outcomes\":[\"exists\"]}");
}

static void test_http_words__of_an_array_each_object_has_an_idempotency_key(void **state)
{
    struct site *site = *state;
    static const char put[] = "POST /v1/ns/app/queues/mail/jobs";
    static const char body[] = "[{\"klass\":\"K\",\"data\":1},{\"klass\":\"K\",\"data\":1}]";
    static const char key[] = "Idempotency-Key: k1\r\n";
    char first[200];
    (void)snprintf(first, sizeof(first), "%s", ask(site, put, key, body));
    says_with(site, put, key, body, first);
    says(site, "GET /v1/ns/app/queues/mail/length", NULL, "200 {\"length\":2}");
    // One object's key is not that of the first of an array.
    (void)ask(site, put, key, "{\"klass\":\"K\",\"data\":1}");
    says(site, "GET /v1/ns/app/queues/mail/length", NULL, "200 {\"length\":3}");
    says_with(site, put, key, "[]", "200 []");
    says_with(
        site, put, "Idempotency-Key: \"\"\r\n", body,
        INVALID("Idempotency-Key must be given once, with 1 to 200 bytes", "Idempotency-Key"));
}

static void test_http_words__lists_have_plurals(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        unsigned flags;
        const char *member, *singular;
    } cases[] = {
        { "TAG", ARGUMENT_REPEATED, "tags", "tag" },
        { "DEPENDS", ARGUMENT_REPEATED, "depends", "depends" },
        { "dependency", ARGUMENT_REPEATED, "dependencies", "dependency" },
        { "RESULT-TTL", 0, "result_ttl", "result_ttl" },
        { "data", 0, "data", "data" },
    };
    for (size_t i = 0; TEST_ROW_NAMED(i, cases, cases[i].name); i++) {
        const struct argument argument = { .name = cases[i].name, .flags = cases[i].flags };
        struct http_member member;
        http_member_of(&argument, &member);
        assert_slice_equal(member.name, cases[i].member);
        assert_slice_equal(member.singular, cases[i].singular);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SITE_TEST(test_http_words__members_are_named_as_arguments),
        SITE_TEST(test_http_words__what_does_not_fit_is_refused_by_name),
        SITE_TEST(test_http_words__what_the_command_refuses_names_the_member),
        SITE_TEST(test_http_words__an_idempotency_key_is_the_id_of_a_request_for_a_day),
        SITE_TEST(test_http_words__requeue_recur_and_restore_have_idempotency_keys_too),
        SITE_TEST(test_http_words__of_an_array_each_object_has_an_idempotency_key),
        cmocka_unit_test(test_http_words__lists_have_plurals),
    };
    return cmocka_run_group_tests_name("http_words", tests, NULL, NULL);
}
