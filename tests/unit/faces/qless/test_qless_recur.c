// SPDX-License-Identifier: MIT
// Calls about recurring jobs.
#include "qless_test.h"

static void test_recur__refuses_in_qless_s_words(void **state)
{
    struct conversation *c = *state;
    refused(c, "recur 0", "Queue(): no queue name provided");
    refused(c, "recur 0 q", "RecurringJob On(): Arg \"jid\" missing");
    refused(c, "recur 0 q r", "RecurringJob On(): Arg \"klass\" missing");
    refused(c, "recur 0 q r K", "RecurringJob On(): Arg \"spec\" missing");
    refused(c, "recur 0 q r K {}", "RecurringJob On(): Arg \"spec\" missing");
    refused(c, "recur 0 q r K [} interval", "RecurringJob On(): Arg \"data\" not JSON: [}");
    refused(c, "recur 0 q r K {} cron", "Recur(): schedule type \"cron\" unknown");
    refused(c, "recur 0 q r K {} interval", "Recur(): Arg \"interval\" not a number: nil");
    refused(c, "recur 0 q r K {} interval x", "Recur(): Arg \"interval\" not a number: x");
    refused(c, "recur 0 q r K {} interval 5", "Recur(): Arg \"offset\" not a number: nil");
    refused(c, "recur 0 q r K {} interval 5 x", "Recur(): Arg \"offset\" not a number: x");
    refused(c, "recur 0 q r K {} interval 0 0", "Recur(): Arg \"interval\" must be greater than 0");
    refused(c, "recur 0 q r K {} interval 5 0 tags", "Odd number of additional args: table");
    refused(c, "recur 0 q r K {} interval 5 0 tags [}",
            "Recur(): Arg \"tags\" must be JSON string array: [}");
    refused(c, "recur 0 q r K {} interval 5 0 priority x",
            "Recur(): Arg \"priority\" not a number: x");
    refused(c, "recur 0 q r K {} interval 5 0 retries x",
            "Recur(): Arg \"retries\" not a number: x");
    refused(c, "recur 0 q r K {} interval 5 0 backlog x",
            "Recur(): Arg \"backlog\" not a number: x");
    refused(c, "recur 0 q r K {} interval 5 0 backlog -1", "Recur(): backlog must not be negative");
    told(c, "recur.get 0 r", "(nil)");
}

static void test_recur__makes_jobs(void **state)
{
    struct conversation *c = *state;
    told(c, "recur 0 q r K {} interval 60 0 priority 5 tags [\"x\"] retries 2 backlog 3", "r");
    told(c, "recur.get 0 r",
         "{\"jid\":\"r\",\"klass\":\"K\",\"state\":\"recur\",\"queue\":\"q\",\"priority\":5,"
         "\"interval\":60,\"retries\":2,\"count\":0,\"data\":\"{}\",\"tags\":[\"x\"],"
         "\"backlog\":3}");
    told(c, "pop 0 q w1 10",
         "[{\"jid\":\"r-1\",\"klass\":\"K\",\"state\":\"running\",\"queue\":\"q\","
         "\"worker\":\"w1\",\"tracked\":false,\"priority\":5,\"expires\":60,\"retries\":2,"
         "\"remaining\":2,\"data\":\"{}\",\"tags\":[\"x\"],"
         "\"history\":[{\"q\":\"q\",\"what\":\"put\",\"when\":0},"
         "{\"worker\":\"w1\",\"what\":\"popped\",\"when\":0}],\"failure\":{},"
         "\"spawned_from_jid\":\"r\",\"dependents\":{},\"dependencies\":{}}]");
    told_of(c, "recur.get 0 r", "\"count\":1");
    refused(c, "unrecur 0", "Recurring(): no jid provided");
    told(c, "unrecur 0 r", "(integer) 1");
    told(c, "unrecur 0 r", "(integer) 1");
    told(c, "recur.get 0 r", "(nil)");
    refused(c, "recur.get 0", "Recurring(): no jid provided");
}

static void test_recur__is_updated(void **state)
{
    struct conversation *c = *state;
    refused(c, "recur.update 0", "Recurring(): no jid provided");
    refused(c, "recur.update 0 r", "Recur(): No recurring job r");
    told(c, "recur 0 q r K {} interval 60 0", "r");
    told(c, "recur.update 0 r", "(integer) 1");
    refused(c, "recur.update 0 r klass", "No value provided for klass");
    refused(c, "recur.update 0 r priority x", "Recur(): Arg \"priority\" must be a number: x");
    refused(c, "recur.update 0 r interval x", "Recur(): Arg \"interval\" must be a number: x");
    refused(c, "recur.update 0 r retries x", "Recur(): Arg \"retries\" must be a number: x");
    refused(c, "recur.update 0 r backlog x", "Recur(): Arg \"backlog\" not a number: x");
    refused(c, "recur.update 0 r data [}", "Recur(): Arg \"data\" is not JSON-encoded: [}");
    refused(c, "recur.update 0 r klass L colour red", "Recur(): Unrecognized option \"colour\"");
    refused(c, "recur.update 0 r interval 0", "Recur(): interval must be greater than 0");
    told(c, "recur.update 0 r priority 3 interval 1.5 retries 4 data [] klass L queue p backlog 2",
         "(integer) 1");
    told(c, "recur.get 0 r",
         "{\"jid\":\"r\",\"klass\":\"L\",\"state\":\"recur\",\"queue\":\"p\",\"priority\":3,"
         "\"interval\":1.5,\"retries\":4,\"count\":0,\"data\":\"[]\",\"tags\":{},\"backlog\":2}");
}

static void test_recur__is_tagged(void **state)
{
    struct conversation *c = *state;
    refused(c, "recur.tag 0", "Recurring(): no jid provided");
    refused(c, "recur.untag 0", "Recurring(): no jid provided");
    refused(c, "recur.tag 0 r x", "Tag(): Job r does not exist");
    refused(c, "recur.untag 0 r x", "Untag(): Job r does not exist");
    told(c, "recur 0 q r K {} interval 60 0", "r");
    told(c, "recur.tag 0 r", "{}");
    told(c, "recur.tag 0 r x y/z x", "[\"x\",\"y\\/z\"]");
    told(c, "recur.untag 0 r x w", "[\"y\\/z\"]");
    told(c, "recur.untag 0 r y/z", "{}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CONVERSATION(test_recur__refuses_in_qless_s_words),
        CONVERSATION(test_recur__makes_jobs),
        CONVERSATION(test_recur__is_updated),
        CONVERSATION(test_recur__is_tagged),
    };
    return cmocka_run_group_tests_name("qless_recur", tests, NULL, NULL);
}
