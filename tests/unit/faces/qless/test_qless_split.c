// SPDX-License-Identifier: MIT
// The generation of qless that has a script for each call: which script it is, its words, and where
// its answers differ from those of the unified script.
#include "qless_test.h"

#include <string.h>

#define script_told(c, name, keys, words, answer)                                                  \
    assert_string_equal(say_script(c, name, keys, words), answer)
#define script_refused(c, name, keys, words, sentence)                                             \
    script_told(c, name, keys, words, "(error) user_script:1: " sentence)

static void script_told_of(struct conversation *c, const char *name, const char *keys,
                           const char *words, const char *part)
{
    const char *answer = say_script(c, name, keys, words);
    if (!strstr(answer, part)) {
        print_error("%s %s\n  tells %s\n  not %s\n", name, words, answer, part);
        fail();
    }
}

// ---------------------------------------------------------------------------------------------
// Scripts

#define SCRIPT(name, code)                                                                         \
    SLICE("if #KEYS > 0 then error('" name "(): No Keys should be provided') end " code)
#define USES_KEYS "redis.call('hget', 'ql:j:' .. ARGV[1], 'state')"

static void test_recognise__knows_a_script_by_the_name_that_its_errors_begin_with(void **state)
{
    (void)state;
    const struct {
        struct slice text;
        const char *call;
    } scripts[] = {
        { SCRIPT("Get", USES_KEYS), "get" },
        { SCRIPT("Failed", USES_KEYS), "failed" },
        { SCRIPT("Fail", USES_KEYS), "fail" },
        { SCRIPT("DeregisterWorkers", USES_KEYS), "worker.deregister" },
        { SCRIPT("GetConfig", USES_KEYS), "config.get" },
        { SCRIPT("Pop", USES_KEYS " zrevrange"), "pop" },
        { SCRIPT("Peek", USES_KEYS " zrevrange"), "peek" },
        // Comments say what they like, and strings stand in either quotes.
        { SCRIPT("Get", USES_KEYS " -- see Put(): and Pop():"), "get" },
        { SLICE("error(\"Get(): no\") redis.call(\"hget\",\"ql:j:\"..ARGV[1])"), "get" },
        // Both call themselves so.
        { SCRIPT("Pause", "redis.call('sadd', 'ql:paused_queues', unpack(ARGV))"), "pause" },
        { SCRIPT("Pause", "redis.call('srem', 'ql:paused_queues', unpack(ARGV))"), "unpause" },
    };
    for (size_t i = 0; TEST_ROW_NAMED(i, scripts, scripts[i].call); i++) {
        enum qless_script script = qless_recognise(scripts[i].text);
        assert_true(script >= QLESS_SPLIT);
        struct slice call = qless_call_name(script, (struct slices){ NULL, 0 });
        assert_true(slice_equal(call, slice_from_cstr(scripts[i].call)));
    }
}

static void test_recognise__no_other_script_is_taken_for_one(void **state)
{
    (void)state;
    const struct slice scripts[] = {
        SLICE("return redis.call('get', 'ql:j:' .. ARGV[1])"),     // it has no name
        SCRIPT("Get", "return redis.call('get', 'x' .. ARGV[1])"), // none of qless's keys
        SCRIPT("Get", "return redis.call('get', 'ql:x')"),         // no arguments
        SCRIPT("Got", USES_KEYS),                                  // another name
        SCRIPT("Get", USES_KEYS " error('Put(): no')"),            // two names
        SLICE("-- Get(): gets\n" USES_KEYS),                       // only a comment
        SCRIPT("Pop", USES_KEYS " zrange"),                        // low priorities first
        SCRIPT("Peek", USES_KEYS),
    };
    for (size_t i = 0; TEST_ROW(i, scripts); i++) {
        assert_int_equal(qless_recognise(scripts[i]), QLESS_NONE);
    }
}

static void test_shrinks__goes_by_the_call_that_the_words_make(void **state)
{
    (void)state;
    const struct {
        struct slice text;
        struct slice words[2];
        bool shrinks;
    } calls[] = {
        { SCRIPT("Put", USES_KEYS), { SLICE("jid"), SLICE("K") }, false },
        { SCRIPT("Cancel", USES_KEYS), { SLICE("jid") }, true },
        { SCRIPT("Recur", USES_KEYS), { SLICE("on"), SLICE("q") }, false },
        { SCRIPT("Recur", USES_KEYS), { SLICE("off"), SLICE("jid") }, true },
        { SCRIPT("Tag", USES_KEYS), { SLICE("add"), SLICE("jid") }, false },
        { SCRIPT("Tag", USES_KEYS), { SLICE("get"), SLICE("tag") }, true },
        { SCRIPT("Track", USES_KEYS), { SLICE("track"), SLICE("jid") }, false },
        { SCRIPT("Depends", USES_KEYS), { SLICE("jid"), SLICE("on") }, false },
        { SCRIPT("Depends", USES_KEYS), { SLICE("jid"), SLICE("off") }, true },
    };
    for (size_t i = 0; TEST_ROW(i, calls); i++) {
        struct slices words = { calls[i].words, 2 };
        assert_int_equal(qless_shrinks(qless_recognise(calls[i].text), words), calls[i].shrinks);
    }
}

static void test_call__has_as_many_keys_as_its_script_takes_and_a_time(void **state)
{
    struct conversation *c = *state;
    script_refused(c, "Get", "key", "a", "Get(): Got 1, expected 0 KEYS arguments");
    script_refused(c, "Put", "", "a K {} 0 0", "Put(): Got 0, expected 1 KEYS arguments");
    script_refused(c, "Put", "q q", "a K {} 0 0", "Put(): Got 2, expected 1 KEYS arguments");
    script_refused(c, "Put", "q", "a K {}", "Put(): Arg \"now\" missing or not a number: nil");
    script_refused(c, "Pop", "q", "w1 1 then", "Pop(): Arg \"now\" missing or not a number: then");
    script_refused(c, "Config", "", "give", "Config(): Unrecognized command give");
    script_refused(c, "Recur", "", "", "Recur(): Unrecognized command nil");
    script_refused(c, "Cancel", "", "", "Cancel(): Arg \"jid\" missing.");
}

// ---------------------------------------------------------------------------------------------
// Jobs

static void test_job__goes_its_way_and_its_history_has_an_entry_for_each_stage(void **state)
{
    struct conversation *c = *state;
    script_told(c, "Put", "q", "a K {\"n\":[]} 10.5 0 priority 3 tags [\"x\"] retries 2", "a");
    script_told(c, "Get", "", "a",
                "{\"jid\":\"a\",\"klass\":\"K\",\"state\":\"waiting\",\"queue\":\"q\",\"worker\":"
                "\"\",\"tracked\":false,\"priority\":3,\"expires\":0,\"retries\":2,\"remaining\":2,"
                "\"data\":{\"n\":{}},\"tags\":[\"x\"],\"history\":[{\"q\":\"q\",\"put\":10}],"
                "\"failure\":{},\"dependents\":{},\"dependencies\":{}}");
    script_told_of(c, "Pop", "q", "w1 5 20",
                   "\"history\":[{\"q\":\"q\",\"worker\":\"w1\",\"put\":10,"
                   "\"popped\":20}]");
    script_told(c, "Heartbeat", "", "a w1 30.5", "(integer) 90");
    script_told(c, "Complete", "", "a w1 q 40 {\"m\":1} next r", "waiting");
    script_told_of(
        c, "Pop", "r", "w2 1 50",
        "\"data\":{\"m\":1},\"tags\":[\"x\"],\"history\":[{\"q\":\"q\",\"worker\":\"w1\","
        "\"put\":10,\"popped\":20,\"done\":40},{\"q\":\"r\",\"worker\":\"w2\",\"put\":40,"
        "\"popped\":50}]");
    script_told(c, "Fail", "", "a w2 g 'no way' 60.5", "a");
    script_told_of(c, "Failed", "", "g",
                   "{\"total\":1,\"jobs\":[{\"jid\":\"a\",\"klass\":\"K\",\"state\":\"failed\"");
    script_told_of(c, "Failed", "", "g",
                   "\"popped\":50,\"failed\":60}],\"failure\":{\"group\":\"g\",\"message\":\"no "
                   "way\",\"when\":60,\"worker\":\"w2\"}");
    script_told(c, "Unfail", "", "70 g q 5", "(integer) 1");
    script_told_of(c, "Get", "", "a", "\"failed\":60},{\"q\":\"q\",\"put\":70}]");
    script_told(c, "Failed", "", "", "{}");
}

static void test_pop__answers_a_list_with_a_text_for_each_job(void **state)
{
    struct conversation *c = *state;
    script_told(c, "Pop", "q", "w1 1 0", "[]");
    say_script(c, "Put", "q", "a K {} 0 0");
    say_script(c, "Put", "q", "b K {} 1 0");
    const char *peeked = say_script(c, "Peek", "q", "5 2");
    assert_memory_equal(peeked, "[{\"jid\":\"a\"", 11);
    assert_non_null(strstr(peeked, "}, {\"jid\":\"b\""));
    const char *popped = say_script(c, "Pop", "q", "w1 5 2");
    assert_non_null(strstr(popped, "}, {\"jid\":\"b\""));
    script_told(c, "Pause", "", "q", "(nil)");
    say_script(c, "Put", "q", "d K {} 3 0");
    script_told(c, "Pop", "q", "w1 5 4", "[]");
    script_told(c, "Unpause", "", "q", "(nil)");
    script_told_of(c, "Pop", "q", "w1 5 4", "\"jid\":\"d\"");
}

static void test_pop__hands_out_a_lease_that_ran_out_without_grace(void **state)
{
    struct conversation *c = *state;
    say_script(c, "Put", "q", "a K {} 0 0 retries 1");
    say_script(c, "Pop", "q", "w1 1 0");
    script_told_of(c, "Pop", "q", "w2 1 61", "\"worker\":\"w2\"");
    script_told(c, "Heartbeat", "", "a w1 62", "(nil)");
    // No worker reported that: the very moment, and the worker that had it last.
    script_told(c, "Pop", "q", "w1 1 200.5", "[]");
    script_told_of(c, "Get", "", "a",
                   "\"failure\":{\"group\":\"failed-retries-q\",\"message\":\"Job "
                   "exhausted retries in queue \\\"q\\\"\",\"when\":200.5,"
                   "\"worker\":\"w2\"}");
}

static void test_unmet__calls_answer_nil_where_the_unified_script_refuses(void **state)
{
    struct conversation *c = *state;
    static const char *const calls[][2] = {
        { "Complete", "a w1 q 0 {}" },
        { "Fail", "a w1 g m 0" },
        { "Heartbeat", "a w1 0" },
        { "Retry", "a q w1 0" },
        { "Depends", "a on b" },
        { "Priority", "a 1" },
        { "Tag", "add a 0 x" },
        { "Tag", "remove a 0 x" },
        { "Recur", "update r priority 1" },
        { "Recur", "tag r x" },
        { "Recur", "untag r x" },
        { "Recur", "get r" },
        { "Get", "a" },
        { "Track", "track a 0" },
    };
    for (size_t i = 0; TEST_ROW(i, calls); i++) {
        script_told(c, calls[i][0], "", calls[i][1], "(nil)");
    }
    say_script(c, "Put", "q", "a K {} 0 0");
    say_script(c, "Pop", "q", "w1 1 0");
    script_told(c, "Complete", "", "a w2 q 0 {}", "(nil)");
    script_told(c, "Heartbeat", "", "a w2 0", "(nil)");
    script_told(c, "Retry", "", "a q w2 0", "(nil)");
    script_told(c, "Depends", "", "a on b", "(nil)");
    // What is wrong in itself is refused.
    script_refused(c, "Complete", "", "a w1 q 0 [}",
                   "Complete(): Arg \"data\" missing or not JSON: [}");
    script_refused(c, "Heartbeat", "", "a w1 0 [}", "Heartbeat(): Arg \"data\" not JSON: [}");
    script_refused(c, "Track", "", "follow a 0", "Track(): Unknown action \"follow\"");
}

static void test_fail__any_worker_may_say_so(void **state)
{
    struct conversation *c = *state;
    say_script(c, "Put", "q", "a K {} 0 0");
    say_script(c, "Pop", "q", "w1 1 0");
    script_told(c, "Fail", "", "a w2 g m 1", "a");
    script_told(c, "Workers", "", "1 w1", "{\"jobs\":{},\"stalled\":{}}");
    script_told_of(c, "Get", "", "a", "\"when\":1,\"worker\":\"w2\"}");
    script_told(c, "Fail", "", "a w2 g m 2", "(nil)");
}

static void test_complete__does_not_look_at_the_queue(void **state)
{
    struct conversation *c = *state;
    say_script(c, "Put", "q", "a K {} 0 0");
    say_script(c, "Pop", "q", "w1 1 0");
    script_told(c, "Complete", "", "a w1 other 1 {}", "complete");
    script_told(c, "Jobs", "", "complete", "[a]");
}

static void test_delay__goes_together_with_no_dependencies(void **state)
{
    struct conversation *c = *state;
    say_script(c, "Put", "q", "a K {} 0 0");
    script_refused(c, "Put", "q", "b K {} 0 5 depends [\"a\"]",
                   "Put(): \"delay\" and \"depends\" are not allowed to be used together");
    say_script(c, "Pop", "q", "w1 1 0");
    script_refused(c, "Complete", "", "a w1 q 0 {} next q delay 5 depends [\"a\"]",
                   "Complete(): \"delay\" and \"depends\" are not allowed to be used together");
    script_told(c, "Put", "q", "b K {} 0 0 depends [\"a\"]", "b");
    script_refused(c, "Cancel", "", "a",
                   "Cancel(): a is a dependency of b but is not mentioned to be canceled");
    script_told(c, "Depends", "", "b off all", "(integer) 1");
    script_told(c, "Cancel", "", "a", "(nil)");
    script_told(c, "Get", "", "a", "(nil)");
}

static void test_retry__counts_down_and_fails(void **state)
{
    struct conversation *c = *state;
    say_script(c, "Put", "q", "a K {} 0 0 retries 1");
    say_script(c, "Pop", "q", "w1 1 0");
    script_told(c, "Retry", "", "a q w1 1 5", "(integer) 0");
    script_told(c, "Jobs", "", "scheduled 1 q", "[a]");
    say_script(c, "Pop", "q", "w1 1 10");
    script_told(c, "Retry", "", "a q w1 11", "(integer) -1");
    script_told(c, "Failed", "", "", "{\"failed-retries-q\":1}");
}

// ---------------------------------------------------------------------------------------------
// The rest

static void test_recur__runs_and_shows_its_data_as_json(void **state)
{
    struct conversation *c = *state;
    script_refused(c, "Recur", "", "on q r K {} 0 interval 60 0",
                   "Recur(): Arg \"tags\" must be JSON-encoded array of string. Got: nil");
    script_told(c, "Recur", "",
                "on q r K {\"n\":1} 0 interval 60 0 tags [\"x\"] priority 2 retries 3", "r");
    script_told(c, "Recur", "", "get r",
                "{\"jid\":\"r\",\"klass\":\"K\",\"state\":\"recur\",\"queue\":\"q\",\"priority\":2,"
                "\"interval\":60,\"retries\":3,\"count\":0,\"data\":{\"n\":1},\"tags\":[\"x\"]}");
    script_told_of(c, "Pop", "q", "w1 1 0",
                   "\"history\":[{\"q\":\"q\",\"worker\":\"w1\",\"put\":0,"
                   "\"popped\":0}]");
    script_told(c, "Recur", "", "update r interval 30 queue s", "(integer) 1");
    script_told(c, "Recur", "", "tag r y", "[\"x\",\"y\"]");
    script_told(c, "Recur", "", "untag r x", "[\"y\"]");
    script_told(c, "Jobs", "", "recurring 0 s", "[r]");
    script_told(c, "Recur", "", "off r", "(integer) 1");
    script_told(c, "Recur", "", "get r", "(nil)");
}

static void test_queues__say_nothing_of_pauses(void **state)
{
    struct conversation *c = *state;
    script_told(c, "Queues", "", "0", "{}");
    say_script(c, "Put", "q", "a K {} 0 0");
    script_told(c, "Queues", "", "0 q",
                "{\"name\":\"q\",\"waiting\":1,\"stalled\":0,\"running\":0,\"scheduled\":0,"
                "\"depends\":0,\"recurring\":0}");
}

static void test_config__knows_no_grace_period(void **state)
{
    struct conversation *c = *state;
    script_told(c, "Config", "", "get",
                "{\"application\":\"qless\",\"heartbeat\":60,\"stats-history\":30,"
                "\"histogram-history\":7,\"jobs-history-count\":50000,\"jobs-history\":604800}");
    script_told(c, "Config", "", "get grace-period", "(nil)");
    script_told(c, "Config", "", "set heartbeat 20", "(nil)");
    script_told(c, "Config", "", "get heartbeat", "20");
    script_told(c, "GetConfig", "", "heartbeat", "20");
    script_told(c, "Config", "", "unset heartbeat", "(nil)");
    script_told(c, "SetConfig", "", "x 1", "(nil)");
    script_told(c, "GetConfig", "", "x", "1");
    script_told(c, "SetConfig", "", "x", "(nil)");
    script_told(c, "GetConfig", "", "x", "(nil)");
}

static void test_track__answers_numbers_and_shows_jobs_as_get_does(void **state)
{
    struct conversation *c = *state;
    say_script(c, "Put", "q", "a K {\"n\":1} 0 0");
    script_told(c, "Track", "", "track a 1", "(integer) 1");
    script_told(c, "Track", "", "track a 1", "(integer) 0");
    script_told_of(c, "Track", "", "", "\"data\":{\"n\":1},\"tags\":{},\"history\":[{\"q\":\"q\"");
    script_told(c, "Track", "", "untrack a 2", "(integer) 1");
    script_told(c, "Track", "", "untrack nothing 2", "(integer) 0");
    script_told(c, "Track", "", "", "{\"jobs\":{},\"expired\":{}}");
}

static void test_tags__are_added_and_found(void **state)
{
    struct conversation *c = *state;
    say_script(c, "Put", "q", "a K {} 0 0");
    say_script(c, "Put", "q", "b K {} 1 0");
    script_told(c, "Tag", "", "add a 1 x y", "[\"x\",\"y\"]");
    script_told(c, "Tag", "", "add b 2 x", "[\"x\"]");
    script_told(c, "Tag", "", "get x", "{\"total\":2,\"jobs\":[\"a\",\"b\"]}");
    script_told(c, "Tag", "", "top", "[\"x\"]");
    script_told(c, "Tag", "", "remove a 3 x", "[\"y\"]");
    script_told(c, "Priority", "", "b 5", "(integer) 5");
    script_told_of(c, "Peek", "q", "1 3", "\"jid\":\"b\"");
}

static void test_time__is_the_host_s_where_a_call_says_none(void **state)
{
    struct conversation *c = *state;
    say_script(c, "Put", "q", "a K {} 0 0");
    script_told(c, "Cancel", "", "a", "(nil)");
    say_script(c, "Put", "q", "a K {} 0 0");
    say_script(c, "Put", "q", "b K {} 0 0 depends [\"a\"]");
    script_told(c, "Depends", "", "b off a", "(integer) 1");
    script_told_of(c, "Pop", "q", "w1 2 2000", "\"jid\":\"b\"");
}

static void test_messages__go_to_channels_without_a_prefix_too(void **state)
{
    struct conversation *c = *state;
    c->generations = QLESS_GENERATION_SPLIT;
    say_script(c, "Put", "q", "a K {} 0 0");
    expect_messages(c, "ql:log {\"jid\":\"a\",\"event\":\"put\",\"queue\":\"q\"}; "
                       "log {\"jid\":\"a\",\"event\":\"put\",\"queue\":\"q\"}");
    say_script(c, "Track", "", "track a 0");
    say_script(c, "Pop", "q", "w1 1 0");
    expect_messages(c, "track a; popped a");
    say_script(c, "Pop", "q", "w2 1 100");
    expect_messages(c, "stalled a; "
                       "ql:w:w1 {\"jid\":\"a\",\"event\":\"lock_lost\",\"worker\":\"w1\"}; "
                       "ql:log {\"jid\":\"a\",\"event\":\"lock_lost\",\"worker\":\"w1\"}; "
                       "w1 {\"jid\":\"a\",\"event\":\"lock lost\",\"worker\":\"w1\"}; "
                       "log {\"jid\":\"a\",\"event\":\"lock lost\",\"worker\":\"w1\"}; popped a");
    say_script(c, "Config", "", "set heartbeat 5");
    expect_messages(c,
                    "ql:log {\"option\":\"heartbeat\",\"event\":\"config_set\",\"value\":\"5\"}; "
                    "log {\"option\":\"heartbeat\",\"event\":\"config set\"}");
    c->generations = QLESS_GENERATION_SPLIT | QLESS_GENERATION_UNIFIED;
    say_script(c, "Track", "", "untrack a 0");
    expect_messages(c, "ql:untrack a; untrack a");
}

// Whatever allocation fails, the answer says so, and the next call works.
static void test_memory__calls_say_that_it_has_ended(void **state)
{
    struct conversation *c = *state;
    say_script(c, "Put", "q", "a K {} 0 0 tags [\"t\"]");
    static const char *const calls[][3] = {
        { "Get", "", "a" },
        { "Put", "q", "b K {} 1 0 tags [\"t\",\"u\"] depends [\"a\"]" },
        { "Peek", "q", "5 2" },
        { "Pop", "q", "w1 5 3" },
        { "Fail", "", "a w1 g m 4 {\"n\":1}" },
        { "Failed", "", "g" },
        { "Track", "", "" },
    };
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        for (size_t n = 1;; n++) {
            c->fault.fail_at = c->fault.calls + n;
            c->fault.failed = false;
            const char *answer = say_script(c, calls[i][0], calls[i][1], calls[i][2]);
            assert_true(c->status == STATUS_OK || c->status == STATUS_NO_MEMORY);
            if (!c->fault.failed || c->status == STATUS_OK) {
                assert_true(strncmp(answer, "(error)", 7) != 0);
                break;
            }
        }
        c->fault.fail_at = 0;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_recognise__knows_a_script_by_the_name_that_its_errors_begin_with),
        cmocka_unit_test(test_recognise__no_other_script_is_taken_for_one),
        cmocka_unit_test(test_shrinks__goes_by_the_call_that_the_words_make),
        CONVERSATION(test_call__has_as_many_keys_as_its_script_takes_and_a_time),
        CONVERSATION(test_job__goes_its_way_and_its_history_has_an_entry_for_each_stage),
        CONVERSATION(test_pop__answers_a_list_with_a_text_for_each_job),
        CONVERSATION(test_pop__hands_out_a_lease_that_ran_out_without_grace),
        CONVERSATION(test_unmet__calls_answer_nil_where_the_unified_script_refuses),
        CONVERSATION(test_fail__any_worker_may_say_so),
        CONVERSATION(test_complete__does_not_look_at_the_queue),
        CONVERSATION(test_delay__goes_together_with_no_dependencies),
        CONVERSATION(test_retry__counts_down_and_fails),
        CONVERSATION(test_recur__runs_and_shows_its_data_as_json),
        CONVERSATION(test_queues__say_nothing_of_pauses),
        CONVERSATION(test_config__knows_no_grace_period),
        CONVERSATION(test_track__answers_numbers_and_shows_jobs_as_get_does),
        CONVERSATION(test_tags__are_added_and_found),
        CONVERSATION(test_time__is_the_host_s_where_a_call_says_none),
        CONVERSATION(test_messages__go_to_channels_without_a_prefix_too),
        CONVERSATION(test_memory__calls_say_that_it_has_ended),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
