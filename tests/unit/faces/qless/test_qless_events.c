// SPDX-License-Identifier: MIT
// What is published.
#include "qless_test.h"

#define LOST(worker) "{\"jid\":\"a\",\"event\":\"lock_lost\",\"worker\":\"" worker "\"}"
#define PUT(queue)   "ql:log {\"jid\":\"a\",\"event\":\"put\",\"queue\":\"" queue "\"}"

static void test_messages__over_the_life_of_a_job(void **state)
{
    struct conversation *c = *state;
    told(c, "put 0 w1 q a K {} 0", "a");
    expect_messages(c, PUT("q"));
    told_of(c, "pop 1 q w1 1", "\"jid\":\"a\"");
    expect_messages(c, "");
    told(c, "put 2 w1 q a K {} 0", "a");
    expect_messages(c, PUT("q"));
    told_of(c, "pop 3 q w1 1", "\"jid\":\"a\"");
    told(c, "put 4 w2 r a K {} 0", "a");
    expect_messages(c, PUT("r") "; ql:w:w1 " LOST("w1") "; ql:log " LOST("w1"));
    told_of(c, "pop 5 r w1 1", "\"jid\":\"a\"");
    told(c, "complete 6 a w1 r {} next q", "waiting");
    expect_messages(c,
                    "ql:log {\"jid\":\"a\",\"to\":\"q\",\"event\":\"advanced\",\"queue\":\"r\"}");
    told_of(c, "pop 7 q w1 1", "\"jid\":\"a\"");
    told(c, "fail 8 a w1 g m", "a");
    expect_messages(c, "ql:log {\"message\":\"m\",\"jid\":\"a\",\"group\":\"g\","
                       "\"event\":\"failed\",\"worker\":\"w1\"}");
    told(c, "unfail 9 q g", "(integer) 1");
    expect_messages(c, "");
    told_of(c, "pop 10 q w1 1", "\"jid\":\"a\"");
    told(c, "timeout 11 a", "(nil)");
    expect_messages(c, "ql:w:w1 " LOST("w1") "; ql:log " LOST("w1"));
    told_of(c, "pop 12 q w1 1", "\"jid\":\"a\"");
    told(c, "complete 13 a w1 q {}", "complete");
    expect_messages(c, "ql:log {\"jid\":\"a\",\"event\":\"completed\",\"queue\":\"q\"}");
}

static void test_messages__of_a_cancel(void **state)
{
    struct conversation *c = *state;
    told(c, "put 0 w1 q a K {} 0", "a");
    expect_messages(c, PUT("q"));
    told(c, "cancel 0 a", "[a]");
    expect_messages(
        c, "ql:log {\"jid\":\"a\",\"queue\":\"q\",\"event\":\"canceled\",\"worker\":\"\"}");
    told(c, "put 0 w1 q a K {} 0", "a");
    told(c, "track 0 track a", "1");
    told_of(c, "pop 0 q w1 1", "\"jid\":\"a\"");
    expect_messages(c, PUT("q") "; ql:track a; ql:popped a");
    told(c, "cancel 0 a", "[a]");
    expect_messages(
        c, "ql:log {\"jid\":\"a\",\"queue\":\"q\",\"event\":\"canceled\",\"worker\":\"w1\"}; "
           "ql:w:w1 {\"jid\":\"a\",\"queue\":\"q\",\"event\":\"canceled\",\"worker\":\"w1\"}; "
           "ql:canceled a");
}

static void test_messages__of_a_tracked_job(void **state)
{
    struct conversation *c = *state;
    told(c, "config.set 0 grace-period 0", "(nil)");
    told(c, "put 0 w1 q a K {} 0 retries 0", "a");
    told(c, "track 0 track a", "1");
    told(c, "put 0 w1 q a K {} 0", "a");
    expect_messages(c, "ql:log {\"option\":\"grace-period\",\"event\":\"config_set\","
                       "\"value\":\"0\"}; " PUT("q") "; ql:track a; " PUT("q") "; ql:put a");
    told_of(c, "pop 1 q w1 1", "\"jid\":\"a\"");
    told(c, "pop 61 q w2 1", "{}");
    expect_messages(c, "ql:popped a; ql:stalled a; ql:w:w1 " LOST("w1") "; ql:log " LOST(
                           "w1") "; ql:failed a; "
                                 "ql:log {\"message\":\"Job exhausted retries in queue \\\"q\\\"\","
                                 "\"jid\":\"a\",\"group\":\"failed-retries-q\","
                                 "\"event\":\"failed\",\"worker\":\"w1\"}");
    told(c, "put 62 w1 q a K {} 0", "a");
    told_of(c, "pop 62 q w1 1", "\"jid\":\"a\"");
    told(c, "retry 62 a q w1", "(integer) -1");
    expect_messages(c, PUT("q") "; ql:put a; ql:popped a; ql:failed a");
    told(c, "put 62 w1 q a K {} 0", "a");
    told_of(c, "pop 62 q w1 1", "\"jid\":\"a\"");
    told(c, "complete 63 a w1 q {}", "complete");
    expect_messages(c, PUT("q") "; ql:put a; ql:popped a; ql:completed a; "
                                "ql:log {\"jid\":\"a\",\"event\":\"completed\",\"queue\":\"q\"}");
    told(c, "track 0 untrack a", "1");
    told(c, "config.unset 0 grace-period", "(nil)");
    expect_messages(
        c, "ql:untrack a; ql:log {\"event\":\"config_unset\",\"option\":\"grace-period\"}");
}

static void test_messages__what_qless_does_not_know_of_is_not_published(void **state)
{
    struct conversation *c = *state;
    struct error error;
    told(c, "put 0 w1 q a K {} 0", "a");
    told(c, "track 0 track a", "1");
    told_of(c, "pop 0 q w1 1", "\"jid\":\"a\"");
    expect_messages(c, PUT("q") "; ql:track a; ql:popped a");
    const struct holder holder = { .jid = SLICE("a"), .worker = SLICE("w1") };
    assert_int_equal(engine_progress(c->engine, 0, &holder, 5, SLICE("half"), &error), STATUS_OK);
    bool finished;
    assert_int_equal(engine_wait(c->engine, 0, SLICE("a"), 7, &finished, &error), STATUS_OK);
    told(c, "complete 1 a w1 q {}", "complete");
    expect_messages(c, "ql:completed a; "
                       "ql:log {\"jid\":\"a\",\"event\":\"completed\",\"queue\":\"q\"}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CONVERSATION(test_messages__over_the_life_of_a_job),
        CONVERSATION(test_messages__of_a_cancel),
        CONVERSATION(test_messages__of_a_tracked_job),
        CONVERSATION(test_messages__what_qless_does_not_know_of_is_not_published),
    };
    return cmocka_run_group_tests_name("qless_events", tests, NULL, NULL);
}
