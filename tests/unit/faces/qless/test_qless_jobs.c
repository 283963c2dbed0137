// SPDX-License-Identifier: MIT
// Calls about jobs, tags and tracked jobs.
#include "faces/qless/list.h"

#include "qless_test.h"

// A job as it was put at 0 into q, up to its history.
#define PUT_JOB(jid, rest)                                                                         \
    "{\"jid\":\"" jid "\",\"klass\":\"K\",\"state\":\"waiting\",\"queue\":\"q\",\"worker\":\"\","  \
    "\"tracked\":false,\"priority\":0,\"expires\":0,\"retries\":5,\"remaining\":5,"                \
    "\"data\":\"{}\",\"tags\":{},\"history\":[{\"q\":\"q\",\"what\":\"put\",\"when\":0}],"         \
    "\"failure\":{},\"spawned_from_jid\":false," rest "}"
#define ALONE "\"dependents\":{},\"dependencies\":{}"

static void test_get__gives_a_job_or_nothing(void **state)
{
    struct conversation *c = *state;
    refused(c, "get 0", "Job(): no jid provided");
    told(c, "get 0 a", "(nil)");
    told(c, "multiget 0", "{}");
    told(c, "multiget 0 a b", "{}");
    told(c, "put 0 w1 q a K {} 0", "a");
    told(c, "get 0 a", PUT_JOB("a", ALONE));
    told(c, "multiget 0 a b a", "[" PUT_JOB("a", ALONE) "," PUT_JOB("a", ALONE) "]");
}

static void test_put__takes_qless_s_options(void **state)
{
    struct conversation *c = *state;
    told(c, "put 0 w1 q a K {} 0", "a");
    told(c, "put 1 w1 q b K [] 10 priority 7 retries 2 tags '[\"x\", 5, 1.50]' depends '[\"a\"]'",
         "b");
    told(c, "get 2 b",
         "{\"jid\":\"b\",\"klass\":\"K\",\"state\":\"depends\",\"queue\":\"q\",\"worker\":\"\","
         "\"tracked\":false,\"priority\":7,\"expires\":0,\"retries\":2,\"remaining\":2,"
         "\"data\":\"[]\",\"tags\":[\"x\",\"5\",\"1.5\"],"
         "\"history\":[{\"q\":\"q\",\"what\":\"put\",\"when\":1}],\"failure\":{},"
         "\"spawned_from_jid\":false,\"dependents\":{},\"dependencies\":[\"a\"]}");
    told(c, "get 2 a", PUT_JOB("a", "\"dependents\":[\"b\"],\"dependencies\":{}"));
    // What is not given stays, and an option that is not known is passed over.
    told(c, "put 3 w1 q b K 5 0 colour red depends {}", "b");
    told_of(c, "get 3 b", "\"priority\":7,\"expires\":0,\"retries\":2,");
    told_of(c, "get 3 b", "\"dependencies\":[\"a\"]");
    told(c, "put 3 w1 q s K null 2.5", "s");
    told_of(c, "get 3 s", "\"state\":\"scheduled\"");
}

static void test_put__refuses_in_qless_s_words(void **state)
{
    struct conversation *c = *state;
    refused(c, "put 0", "Queue(): no queue name provided");
    refused(c, "put 0 w1", "Queue(): no queue name provided");
    refused(c, "put 0 w1 q", "Put(): Arg \"jid\" missing");
    refused(c, "put 0 w1 q a", "Put(): Arg \"klass\" missing");
    refused(c, "put 0 w1 q a K", "Put(): Arg \"data\" missing or not JSON: nil");
    refused(c, "put 0 w1 q a K [}", "Put(): Arg \"data\" missing or not JSON: [}");
    refused(c, "put 0 w1 q a K false", "Put(): Arg \"data\" missing or not JSON: false");
    refused(c, "put 0 w1 q a K {}", "Put(): Arg \"delay\" not a number: nil");
    refused(c, "put 0 w1 q a K {} soon", "Put(): Arg \"delay\" not a number: soon");
    refused(c, "put 0 w1 q a K {} 0 tags", "Odd number of additional args: table");
    refused(c, "put 0 w1 q a K {} 0 retries x", "Put(): Arg \"retries\" not a number: x");
    refused(c, "put 0 w1 q a K {} 0 tags x", "Put(): Arg \"tags\" not JSONx");
    refused(c, "put 0 w1 q a K {} 0 tags [true]", "Put(): Arg \"tags\" not JSON[true]");
    refused(c, "put 0 w1 q a K {} 0 tags 5", "Put(): Arg \"tags\" not JSON5");
    refused(c, "put 0 w1 q a K {} 0 priority x", "Put(): Arg \"priority\" not a numberx");
    refused(c, "put 0 w1 q a K {} 0 priority 1.5", "Put(): Arg \"priority\" not a number1.5");
    refused(c, "put 0 w1 q a K {} 0 priority 1e10", "Put(): Arg \"priority\" not a number1e10");
    refused(c, "put 0 w1 q a K {} 0 depends [}", "Put(): Arg \"depends\" not JSON: [}");
    refused(c, "put 0 w1 q '' K {} 0", "Put(): jid must not be empty");
    refused(c, "put 0 w1 q a K {} 1e30", "Put(): delay reaches beyond the year 9999");
    told(c, "get 0 a", "(nil)");
}

static void test_requeue__is_a_put_of_a_job_that_exists(void **state)
{
    struct conversation *c = *state;
    refused(c, "requeue 0 w1 q", "Job(): no jid provided");
    refused(c, "requeue 0 w1 q a K {} 0", "Requeue(): Job a does not exist");
    told(c, "put 0 w1 q a K {} 0", "a");
    told(c, "requeue 0 w1 r a K {} 0", "a");
    told_of(c, "get 0 a", "\"queue\":\"r\"");
    refused(c, "requeue 0 w1 r a", "Put(): Arg \"klass\" missing");
}

static void test_priority__higher_ones_come_out_sooner(void **state)
{
    struct conversation *c = *state;
    told(c, "put 0 w1 q low K {} 0 priority -5", "low");
    told(c, "put 0 w1 q high K {} 0 priority 5", "high");
    told(c, "put 0 w1 q none K {} 0", "none");
    told_of(c, "get 0 low", "\"priority\":-5");
    told_of(c, "peek 0 q 1", "\"jid\":\"high\"");
    told(c, "put 0 w1 q least K {} 0 priority -2147483648", "least");
    told_of(c, "get 0 least", "\"priority\":-2147483647");
    told(c, "put 0 w1 q most K {} 0 priority 2147483647", "most");
    told_of(c, "get 0 most", "\"priority\":2147483647");
    told(c, "priority 0 most -2147483648", "(integer) -2147483648");
    told_of(c, "get 0 most", "\"priority\":-2147483647");
    refused(c, "put 0 w1 q far K {} 0 priority 2147483648",
            "Put(): Arg \"priority\" not a number2147483648");
    refused(c, "priority 0", "Job(): no jid provided");
    refused(c, "priority 0 low", "Priority(): Arg \"priority\" missing or not a number: nil");
    refused(c, "priority 0 low x", "Priority(): Arg \"priority\" missing or not a number: x");
    refused(c, "priority 0 no 1", "Priority(): Job no does not exist");
    told(c, "priority 0 low 1e1", "(integer) 10");
    told_of(c, "peek 0 q 1", "\"jid\":\"low\"");
    told_of(c, "get 0 low", "\"priority\":10");
}

static void test_cancel__gives_back_what_was_named(void **state)
{
    struct conversation *c = *state;
    told(c, "cancel 0", "[]");
    told(c, "cancel 0 a", "[a]");
    told(c, "put 0 w1 q a K {} 0", "a");
    told(c, "put 0 w1 q b K {} 0 depends [\"a\"]", "b");
    refused(c, "cancel 0 x a",
            "Cancel(): a is a dependency of b but is not mentioned to be canceled");
    told(c, "cancel 0 a x b", "[a, x, b]");
    told(c, "multiget 0 a b", "{}");
}

static void test_depends__is_changed_while_it_depends(void **state)
{
    struct conversation *c = *state;
    refused(c, "depends 0", "Job(): no jid provided");
    refused(c, "depends 0 b", "Depends(): Arg \"command\" missing");
    refused(c, "depends 0 b on a", "Depends(): Job b not in the depends state: false");
    told(c, "put 0 w1 q a K {} 0", "a");
    refused(c, "depends 0 a off b", "Depends(): Job a not in the depends state: waiting");
    told(c, "put 0 w1 q d K {} 0", "d");
    told(c, "put 0 w1 q b K {} 0 depends [\"a\"]", "b");
    refused(c, "depends 0 b maybe a", "Depends(): Argument \"command\" must be \"on\" or \"off\"");
    told(c, "depends 0 b on d x", "(integer) 1");
    told_of(c, "get 0 b", "\"dependencies\":[\"a\",\"d\"]");
    told(c, "depends 0 b off a", "(integer) 1");
    told_of(c, "get 0 b", "\"dependencies\":[\"d\"]");
    told(c, "depends 0 b off all", "(integer) 1");
    told_of(c, "get 0 b", "\"state\":\"waiting\"");
}

static void test_log__adds_to_the_history(void **state)
{
    struct conversation *c = *state;
    refused(c, "log 0", "Log(): Argument 'jid' missing");
    refused(c, "log 0 a", "Log(): Argument 'message' missing");
    refused(c, "log 0 a hello", "Log(): Job a does not exist");
    told(c, "put 0 w1 q a K {} 0", "a");
    refused(c, "log 0 a hello [}", "Log(): Argument 'data' not cjson: [}");
    refused(c, "log 0 a hello 5", "Log(): Argument 'data' not cjson: 5");
    told(c, "log 1.9 a hello", "(nil)");
    told(c, "log 2 a data '{\"when\":9, \"n\":[1.0, [ ], {}], \"what\":1, \"s\":\"\\u00e9/\"}'",
         "(nil)");
    told(c, "log 3 a list '[true, null]'", "(nil)");
    told(c, "log 4 a retried", "(nil)");
    told_of(c, "get 0 a",
            "\"history\":[{\"q\":\"q\",\"what\":\"put\",\"when\":0},"
            "{\"what\":\"hello\",\"when\":1},"
            "{\"n\":[1,{},{}],\"s\":\"\xc3\xa9\\/\",\"what\":\"data\",\"when\":2},"
            "{\"1\":true,\"2\":null,\"what\":\"list\",\"when\":3},"
            "{\"what\":\"retried\",\"when\":4}]");
}

static void test_timeout__ends_the_leases(void **state)
{
    struct conversation *c = *state;
    told(c, "timeout 0", "(nil)");
    refused(c, "timeout 0 a", "Timeout(): Job a does not exist");
    told(c, "put 0 w1 q a K {} 0", "a");
    refused(c, "timeout 0 a", "Timeout(): Job a not running");
    told_of(c, "pop 1 q w1 1", "\"expires\":61");
    refused(c, "timeout 1 a b", "Timeout(): Job b does not exist");
    told_of(c, "get 1 a", "\"state\":\"running\"");
    told(c, "timeout 2 a", "(nil)");
    told_of(c, "get 2 a", "\"state\":\"stalled\"");
    told_of(c, "get 2 a", "{\"what\":\"timed-out\",\"when\":2}");
}

static void test_tag__is_added_removed_and_found(void **state)
{
    struct conversation *c = *state;
    refused(c, "tag 0", "Tag(): Arg \"command\" must be \"add\", \"remove\", \"get\" or \"top\"");
    refused(c, "tag 0 foo", "Tag(): First argument must be \"add\", \"remove\" or \"get\"");
    refused(c, "tag 0 add", "Tag(): Arg \"jid\" missing");
    refused(c, "tag 0 remove", "Tag(): Arg \"jid\" missing");
    refused(c, "tag 0 add a x", "Tag(): Job a does not exist");
    refused(c, "tag 0 get", "Tag(): Arg \"tag\" missing");
    refused(c, "tag 0 get x y", "Tag(): Arg \"offset\" not a number: y");
    refused(c, "tag 0 get x 0 y", "Tag(): Arg \"count\" not a number: y");
    refused(c, "tag 0 top y", "Tag(): Arg \"offset\" not a number: y");
    refused(c, "tag 0 top 0 y", "Tag(): Arg \"count\" not a number: y");
    told(c, "tag 0 top", "{}");
    told(c, "put 0 w1 q a K {} 0", "a");
    told(c, "put 0 w1 q b K {} 0", "b");
    told(c, "tag 0 add a", "{}");
    told(c, "tag 0 add a x y x", "[\"x\",\"y\"]");
    told(c, "tag 0 remove a y z", "[\"x\"]");
    told(c, "tag 0 remove a x", "{}");
    told(c, "tag 0 get x", "{\"total\":0,\"jobs\":{}}");
    // At the same time those with the smaller name come first, as in a sorted set.
    told(c, "tag 0 add b x y", "[\"x\",\"y\"]");
    told(c, "tag 0 add a x y", "[\"x\",\"y\"]");
    told(c, "tag 0 get x", "{\"total\":2,\"jobs\":[\"a\",\"b\"]}");
    told(c, "tag 0 get x 1 1", "{\"total\":2,\"jobs\":[\"b\"]}");
    told(c, "tag 0 get x 2 1", "{\"total\":2,\"jobs\":{}}");
    told(c, "tag 0 get x -1 1", "{\"total\":2,\"jobs\":[\"b\"]}");
    told(c, "tag 0 get x -1 0", "{\"total\":2,\"jobs\":{}}");
    told(c, "tag 0 get x 0 0", "{\"total\":2,\"jobs\":[\"a\",\"b\"]}");
    told(c, "tag 0 top", "[\"y\",\"x\"]");
    told(c, "tag 0 top 1 1", "[\"x\"]");
    told(c, "tag 0 top 0 -1", "[\"y\",\"x\"]");
    told(c, "tag 0 top -1 1", "{}");
}

static void test_tag__equals_are_in_order_over_many_pages(void **state)
{
    struct conversation *c = *state;
    char words[64], expected[32];
    for (int i = 0; i < 200; i++) {
        // Two that are not among the equals, before and behind them.
        const char *now = i == 0 ? "0" : i == 1 ? "9" : "5";
        (void)snprintf(words, sizeof(words), "put %s w1 q %03d K {} 0 tags [\"x\"]", now,
                       (i * 77) % 200);
        (void)say(c, words);
    }
    told(c, "tag 0 get x 0 1", "{\"total\":200,\"jobs\":[\"000\"]}");
    told(c, "tag 0 get x 199 1", "{\"total\":200,\"jobs\":[\"077\"]}");
    for (int i = 1; i < 199; i++) {
        (void)snprintf(words, sizeof(words), "tag 0 get x %d 1", i);
        (void)snprintf(expected, sizeof(expected), "[\"%03d\"]", i < 77 ? i : i + 1);
        told_of(c, words, expected);
    }
}

// Sorting them would cost more than the page: more than that keep the engine's order, in which each
// has its place too.
static void test_tag__very_many_equals_are_read_page_by_page(void **state)
{
    struct conversation *c = *state;
    enum {
        JOBS = QLESS_EQUALS_MAX + 200
    };
    char words[64], expected[32];
    for (int i = 0; i < JOBS; i++) {
        const char *now = i == 0 ? "0" : i == 1 ? "9" : "5";
        (void)snprintf(words, sizeof(words), "put %s w1 q %04d K {} 0 tags [\"x\"]", now,
                       JOBS - 1 - i);
        (void)say(c, words);
    }
    for (int i = 0; i < JOBS; i += 97) {
        uint64_t before = engine_steps(c->engine);
        (void)snprintf(words, sizeof(words), "tag 0 get x %d 1", i);
        int job = i == 0 ? JOBS - 1 : i == JOBS - 1 ? JOBS - 2 : JOBS - 2 - i;
        (void)snprintf(expected, sizeof(expected), "[\"%04d\"]", job);
        told_of(c, words, expected);
        assert_in_range(engine_steps(c->engine) - before, 0, 200);
    }
    (void)snprintf(words, sizeof(words), "tag 0 get x %d 1", JOBS - 1);
    (void)snprintf(expected, sizeof(expected), "[\"%04d\"]", JOBS - 2);
    told_of(c, words, expected);
}

static void test_track__follows_a_job(void **state)
{
    struct conversation *c = *state;
    told(c, "track 0", "{\"jobs\":{},\"expired\":{}}");
    refused(c, "track 0 track", "Track(): Arg \"jid\" missing");
    refused(c, "track 0 track a", "Track(): Job does not exist");
    told(c, "put 0 w1 q a K {} 0", "a");
    told(c, "put 0 w1 q b K {} 0", "b");
    refused(c, "track 0 follow a", "Track(): Unknown action \"follow\"");
    told(c, "track 0 TRACK a", "1");
    told(c, "track 0 track a", "0");
    told(c, "track 1 track b", "1");
    told_of(c, "get 0 a", "\"tracked\":true");
    told(c, "cancel 0 b", "[b]");
    told_of(c, "track 0", "{\"jobs\":[{\"jid\":\"a\",");
    told_of(c, "track 0", ",\"expired\":[\"b\"]}");
    refused(c, "track 0 untrack b", "Track(): Job does not exist");
    told(c, "track 0 untrack a", "1");
    told(c, "track 0 untrack a", "0");
    told(c, "track 0", "{\"jobs\":{},\"expired\":[\"b\"]}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CONVERSATION(test_get__gives_a_job_or_nothing),
        CONVERSATION(test_put__takes_qless_s_options),
        CONVERSATION(test_put__refuses_in_qless_s_words),
        CONVERSATION(test_requeue__is_a_put_of_a_job_that_exists),
        CONVERSATION(test_priority__higher_ones_come_out_sooner),
        CONVERSATION(test_cancel__gives_back_what_was_named),
        CONVERSATION(test_depends__is_changed_while_it_depends),
        CONVERSATION(test_log__adds_to_the_history),
        CONVERSATION(test_timeout__ends_the_leases),
        CONVERSATION(test_tag__is_added_removed_and_found),
        CONVERSATION(test_tag__equals_are_in_order_over_many_pages),
        CONVERSATION(test_tag__very_many_equals_are_read_page_by_page),
        CONVERSATION(test_track__follows_a_job),
    };
    return cmocka_run_group_tests_name("qless_jobs", tests, NULL, NULL);
}
