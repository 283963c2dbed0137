// SPDX-License-Identifier: MIT
// Calls of workers.
#include "qless_test.h"

#include "engine/config/policy.h"

// Puts a job into q at 0 and hands it to w1 at 1.
static void work_on(struct conversation *c, const char *put)
{
    (void)say(c, put);
    assert_int_equal(c->status, STATUS_OK);
    told_of(c, "pop 1 q w1 1", "\"state\":\"running\"");
}

static void test_pop__hands_out_jobs(void **state)
{
    struct conversation *c = *state;
    refused(c, "pop 0", "Queue(): no queue name provided");
    refused(c, "pop 0 q", "Pop(): Arg \"worker\" missing");
    refused(c, "pop 0 q w1", "Pop(): Arg \"count\" missing or not a number: nil");
    refused(c, "pop 0 q w1 x", "Pop(): Arg \"count\" missing or not a number: x");
    refused(c, "pop 0 q '' 1", "Pop(): worker must not be empty");
    told(c, "pop 0 q w1 1", "{}");
    told(c, "put 0 w1 q a K {} 0", "a");
    told(c, "pop 0 q w1 0", "{}");
    told(c, "pop 0 q w1 -1", "{}");
    told(c, "pop 1 q w1 99999999999",
         "[{\"jid\":\"a\",\"klass\":\"K\",\"state\":\"running\",\"queue\":\"q\",\"worker\":\"w1\","
         "\"tracked\":false,\"priority\":0,\"expires\":61,\"retries\":5,\"remaining\":5,"
         "\"data\":\"{}\",\"tags\":{},\"history\":[{\"q\":\"q\",\"what\":\"put\",\"when\":0},"
         "{\"worker\":\"w1\",\"what\":\"popped\",\"when\":1}],\"failure\":{},"
         "\"spawned_from_jid\":false,\"dependents\":{},\"dependencies\":{}}]");
    told(c, "pop 1 q w1 1", "{}");
}

static void test_peek__only_looks(void **state)
{
    struct conversation *c = *state;
    refused(c, "peek 0", "Queue(): no queue name provided");
    refused(c, "peek 0 q", "Peek(): Arg \"count\" missing or not a number: nil");
    refused(c, "peek 0 q x", "Peek(): Arg \"count\" missing or not a number: x");
    told(c, "peek 0 q 1", "{}");
    told(c, "put 0 w1 q a K {} 0", "a");
    told_of(c, "peek 0 q 1", "[{\"jid\":\"a\",\"klass\":\"K\",\"state\":\"waiting\"");
    told_of(c, "peek 0 q 1", "\"jid\":\"a\"");
}

static void test_complete__refuses_in_qless_s_words(void **state)
{
    struct conversation *c = *state;
    refused(c, "complete 0", "Job(): no jid provided");
    refused(c, "complete 0 a", "Complete(): Arg \"worker\" missing");
    refused(c, "complete 0 a w1", "Complete(): Arg \"queue\" missing");
    refused(c, "complete 0 a w1 q", "Complete(): Arg \"data\" missing or not JSON: nil");
    refused(c, "complete 0 a w1 q [}", "Complete(): Arg \"data\" missing or not JSON: [}");
    refused(c, "complete 0 a w1 q {}", "Complete(): Job a does not exist");
    refused(c, "complete 0 a w1 q {} delay x", "assertion failed!");
    refused(c, "complete 0 a w1 q {} depends [}", "Complete(): Arg \"depends\" not JSON: [}");
    refused(c, "complete 0 a w1 q {} delay 5",
            "Complete(): \"delay\" cannot be used without a \"next\".");
    refused(c, "complete 0 a w1 q {} depends []",
            "Complete(): \"depends\" cannot be used without a \"next\".");
    told(c, "put 0 w1 q a K {} 0", "a");
    refused(c, "complete 0 a w1 q {}", "Complete(): Job a is not currently running: waiting");
    told_of(c, "pop 0 q w1 1", "\"jid\":\"a\"");
    refused(c, "complete 0 a w2 q {}",
            "Complete(): Job a has been handed out to another worker: w1");
    refused(c, "complete 0 a w1 r {}", "Complete(): Job a running in another queue: q");
    told_of(c, "get 0 a", "\"state\":\"running\"");
}

static void test_complete__says_where_the_job_is_now(void **state)
{
    struct conversation *c = *state;
    work_on(c, "put 0 w1 q a K {} 0");
    told(c, "complete 2 a w1 q '[ ]' next", "complete");
    told_of(c, "get 2 a", "\"state\":\"complete\",\"queue\":\"\",\"worker\":\"\"");
    told_of(c, "get 2 a", "\"expires\":0,\"retries\":5,\"remaining\":5,\"data\":\"[ ]\"");
    told_of(c, "get 2 a", "{\"what\":\"done\",\"when\":2}]");
    work_on(c, "put 0 w1 q b K {} 0");
    told(c, "complete 2 b w1 q {} next r", "waiting");
    work_on(c, "put 0 w1 q d K {} 0");
    told(c, "complete 2 d w1 q {} next r delay 10", "scheduled");
    work_on(c, "put 0 w1 q e K {} 0");
    told(c, "complete 2 e w1 q {} next r delay 10 depends [\"d\"]", "depends");
    told_of(c, "get 2 e", "\"dependencies\":[\"d\"]");
    work_on(c, "put 0 w1 q f K {} 0");
    told(c, "complete 2 f w1 q {} next r delay 10 depends [\"gone\"]", "scheduled");
}

static void test_fail__keeps_why(void **state)
{
    struct conversation *c = *state;
    refused(c, "fail 0", "Job(): no jid provided");
    refused(c, "fail 0 a", "Fail(): Arg \"worker\" missing");
    refused(c, "fail 0 a w1", "Fail(): Arg \"group\" missing");
    refused(c, "fail 0 a w1 g", "Fail(): Arg \"message\" missing");
    refused(c, "fail 0 a w1 g m", "Fail(): Job adoes not exist");
    refused(c, "fail 0 a w1 g m [}", "Fail(): Arg \"data\" not JSON: [}");
    told(c, "put 0 w1 q a K {} 0", "a");
    refused(c, "fail 0 a w1 g m", "Fail(): Job anot currently running: waiting");
    told_of(c, "pop 0 q w1 1", "\"jid\":\"a\"");
    refused(c, "fail 0 a w2 g m", "Fail(): Job a running with another worker: w1");
    // qless decodes and encodes the data.
    told(c, "fail 2.75 a w1 g m '{ \"b\" : [ ], \"a\" : [1.50, \"\\u002f\"] }'", "a");
    told_of(c, "get 3 a", "\"data\":\"{\\\"b\\\":{},\\\"a\\\":[1.5,\\\"\\\\\\/\\\"]}\"");
    told_of(c, "get 3 a",
            "{\"worker\":\"w1\",\"group\":\"g\",\"what\":\"failed\",\"when\":2}],"
            "\"failure\":{\"group\":\"g\",\"message\":\"m\",\"when\":2,\"worker\":\"w1\"}");
    told(c, "failed 3", "{\"g\":1}");
    told(c, "put 4 w1 q a K {} 0", "a");
    told_of(c, "get 5 a", "\"failure\":{\"group\":\"g\",\"message\":\"m\"");
}

static void test_retry__counts_down(void **state)
{
    struct conversation *c = *state;
    refused(c, "retry 0", "Job(): no jid provided");
    refused(c, "retry 0 a", "Retry(): Arg \"queue\" missing");
    refused(c, "retry 0 a q", "Retry(): Arg \"worker\" missing");
    refused(c, "retry 0 a q w1", "Retry(): Job a does not exist");
    refused(c, "retry 0 a q w1 x", "Retry(): Arg \"delay\" not a number: x");
    told(c, "put 0 w1 q a K {} 0 retries 1", "a");
    refused(c, "retry 0 a q w1", "Retry(): Job a is not currently running: waiting");
    told_of(c, "pop 0 q w1 1", "\"jid\":\"a\"");
    refused(c, "retry 0 a q w2", "Retry(): Job a has been given to another worker: w1");
    told(c, "retry 1 a q w1 0 g m", "(integer) 0");
    told_of(c, "get 1 a", "\"failure\":{\"group\":\"g\",\"message\":\"m\",\"when\":1,");
    // The engine notes that; qless does not.
    told_of(c, "get 1 a", "{\"worker\":\"w1\",\"what\":\"popped\",\"when\":0}],");
    told_of(c, "pop 2 q w1 1", "\"jid\":\"a\"");
    told(c, "retry 3.5 a q w1", "(integer) -1");
    told_of(c, "get 4 a",
            "{\"group\":\"failed-retries-q\",\"what\":\"failed\",\"when\":3}],"
            "\"failure\":{\"group\":\"failed-retries-q\","
            "\"message\":\"Job exhausted retries in queue \\\"q\\\"\",\"when\":3.5,"
            "\"worker\":\"\"}");
}

static void test_retry__a_group_alone_is_where_it_fails_in_the_end(void **state)
{
    struct conversation *c = *state;
    work_on(c, "put 0 w1 q a K {} 0 retries 1");
    told(c, "retry 1 a q w1 10 g", "(integer) 0");
    told_of(c, "get 1 a", "\"state\":\"scheduled\"");
    told_of(c, "get 1 a", "\"failure\":{}");
    told_of(c, "pop 11 q w1 1", "\"jid\":\"a\"");
    told(c, "retry 12 a q w1 0 g", "(integer) -1");
    told_of(c, "get 12 a",
            "\"group\":\"g\",\"message\":\"Job exhausted retries in queue \\\"q\\\"\"");
}

static void test_retry__without_a_delay_waits_as_the_backoff_says(void **state)
{
    struct conversation *c = *state;
    struct error error;
    const struct job_options options = {
        .backoff = { .kind = BACKOFF_FIXED, .base_us = 30000000 },
    };
    assert_int_equal(engine_policy_set(c->engine, 0, POLICY_QUEUE, SLICE("q"), &options, &error),
                     STATUS_OK);
    work_on(c, "put 0 w1 q a K {} 0");
    told(c, "retry 2 a q w1", "(integer) 4");
    told_of(c, "get 2 a", "\"state\":\"scheduled\"");
    told_of(c, "pop 32 q w1 1", "\"jid\":\"a\"");
    told(c, "retry 32 a q w1 0", "(integer) 3");
    told_of(c, "get 32 a", "\"state\":\"waiting\"");
}

static void test_pop__of_a_lease_that_ran_out_starts_the_grace(void **state)
{
    struct conversation *c = *state;
    work_on(c, "put 0 w1 q a K {} 0");
    told(c, "pop 61 q w2 1", "{}");
    told_of(c, "get 61 a", "\"state\":\"running\",\"queue\":\"q\",\"worker\":\"w1\"");
    told(c, "workers 62 w1", "{\"jobs\":{},\"stalled\":[\"a\"]}");
    told(c, "pop 70 q w2 1", "{}");
    told_of(c, "pop 71 q w2 1",
            "\"worker\":\"w2\",\"tracked\":false,\"priority\":0,"
            "\"expires\":131,\"retries\":5,\"remaining\":4,");
    refused(c, "complete 72 a w1 q {}",
            "Complete(): Job a has been handed out to another worker: w2");
}

static void test_heartbeat__gives_the_new_end(void **state)
{
    struct conversation *c = *state;
    refused(c, "heartbeat 0", "Job(): no jid provided");
    refused(c, "heartbeat 0 a", "Heatbeat(): Arg \"worker\" missing");
    refused(c, "heartbeat 0 a w1", "Heartbeat(): Job a does not exist");
    told(c, "put 0 w1 q a K {} 0", "a");
    refused(c, "heartbeat 0 a w1", "Heartbeat(): Job a not currently running: waiting");
    told_of(c, "pop 0 q w1 1", "\"expires\":60");
    refused(c, "heartbeat 0 a w2", "Heartbeat(): Job a given out to another worker: w1");
    refused(c, "heartbeat 0 a w1 [}", "Heartbeat(): Arg \"data\" not JSON: [}");
    told(c, "heartbeat 10.5 a w1", "(integer) 70");
    told_of(c, "get 11 a", "\"expires\":70.5");
    told(c, "heartbeat 11 a w1 '[ 1e2 ]'", "(integer) 71");
    told_of(c, "get 11 a", "\"data\":\"[100]\"");
    told(c, "heartbeat 12 a w1 false", "(integer) 72");
    told_of(c, "get 11 a", "\"data\":\"[100]\"");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CONVERSATION(test_pop__hands_out_jobs),
        CONVERSATION(test_peek__only_looks),
        CONVERSATION(test_complete__refuses_in_qless_s_words),
        CONVERSATION(test_complete__says_where_the_job_is_now),
        CONVERSATION(test_fail__keeps_why),
        CONVERSATION(test_retry__counts_down),
        CONVERSATION(test_retry__a_group_alone_is_where_it_fails_in_the_end),
        CONVERSATION(test_retry__without_a_delay_waits_as_the_backoff_says),
        CONVERSATION(test_pop__of_a_lease_that_ran_out_starts_the_grace),
        CONVERSATION(test_heartbeat__gives_the_new_end),
    };
    return cmocka_run_group_tests_name("qless_work", tests, NULL, NULL);
}
