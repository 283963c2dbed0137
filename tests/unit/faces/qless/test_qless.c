// SPDX-License-Identifier: MIT
// Which script it is, which call, and what every call has in common.
#include "qless_test.h"

#include <string.h>

// As little as makes a script one of qless's.
#define CLASSES                                                                                    \
    "local Qless = {ns = 'ql:'} Qless.config = {} local QlessQueue = {} local QlessWorker = {} "   \
    "local QlessJob = {} local QlessRecurringJob = {} "

static void test_recognise__knows_the_script_by_its_classes(void **state)
{
    (void)state;
    assert_int_equal(qless_recognise(SLICE(CLASSES "local QlessAPI = {} return QlessAPI[ARGV[1]]")),
                     QLESS_API);
    assert_int_equal(qless_recognise(SLICE(CLASSES)), QLESS_LIB);
    assert_int_equal(qless_recognise(SLICE(CLASSES "return Qless.job(ARGV[1]):data()")), QLESS_LIB);
}

static void test_recognise__no_other_script_is_taken_for_it(void **state)
{
    (void)state;
    assert_int_equal(qless_recognise(SLICE_EMPTY), QLESS_NONE);
    assert_int_equal(qless_recognise(SLICE("return 1")), QLESS_NONE);
    assert_int_equal(qless_recognise(SLICE("local QlessAPI = {} return QlessAPI[ARGV[1]]")),
                     QLESS_NONE);
    assert_int_equal(qless_recognise(SLICE("return 'QlessJob QlessQueue QlessWorker'")),
                     QLESS_NONE);
}

static void test_call__has_a_name_and_a_time_and_no_keys(void **state)
{
    struct conversation *c = *state;
    assert_string_equal(say_with_keys(c, "key", "length 0 q"),
                        "(error) user_script:1: No Keys should be provided");
    refused(c, "", "Must provide a command");
    refused(c, "foo", "Unknown command foo");
    refused(c, "foo 0", "Unknown command foo");
    refused(c, "length", "Arg \"now\" missing or not a number: nil");
    refused(c, "length now q", "Arg \"now\" missing or not a number: nil");
    refused(c, "length '' q", "Arg \"now\" missing or not a number: nil");
    refused(c, "put -1 w1 q a K {} 0", "Put(): now must lie between the years 1970 and 9999");
}

static bool shrinks(const char *name, const char *first, const char *second)
{
    const struct slice words[] = { slice_from_cstr(name), SLICE("0"), slice_from_cstr(first),
                                   slice_from_cstr(second) };
    return qless_shrinks(QLESS_API, (struct slices){ words, 4 });
}

static void test_shrinks__is_what_makes_room_and_what_only_looks(void **state)
{
    (void)state;
    static const char *const smaller[] = {
        "cancel",     "complete",     "config.get",
        "config.set", "config.unset", "fail",
        "failed",     "get",          "heartbeat",
        "jobs",       "length",       "multiget",
        "pause",      "peek",         "pop",
        "priority",   "queues",       "queue.forget",
        "recur.get",  "recur.untag",  "retry",
        "stats",      "timeout",      "unfail",
        "unpause",    "unrecur",      "worker.deregister",
        "workers",
    };
    for (size_t i = 0; TEST_ROW_NAMED(i, smaller, smaller[i]); i++) {
        assert_true(shrinks(smaller[i], "a", "b"));
    }
    static const char *const larger[] = {
        "log", "put", "recur", "recur.tag", "recur.update", "requeue",
    };
    for (size_t i = 0; TEST_ROW_NAMED(i, larger, larger[i]); i++) {
        assert_false(shrinks(larger[i], "a", "b"));
    }
    assert_true(shrinks("tag", "remove", "jid"));
    assert_true(shrinks("tag", "get", "tag"));
    assert_false(shrinks("tag", "add", "jid"));
    assert_true(shrinks("track", "untrack", "jid"));
    assert_false(shrinks("track", "track", "jid"));
    assert_true(shrinks("depends", "jid", "off"));
    assert_false(shrinks("depends", "jid", "on"));
    // What is no call is for the answer to say.
    assert_true(shrinks("nothing", "a", "b"));
    assert_true(qless_shrinks(QLESS_API, (struct slices){ 0 }));
    assert_true(qless_shrinks(QLESS_API, (struct slices){ &SLICE("track"), 1 }));
}

static void test_call__reads_numbers_as_lua_does(void **state)
{
    struct conversation *c = *state;
    static const char *const right[] = { "5",   "05",   "+5",    "5.",    "5.0",
                                         "0x5", "0X05", "' 5 '", "50e-1", "0.5E1" };
    for (size_t i = 0; TEST_ROW_NAMED(i, right, right[i]); i++) {
        char words[64];
        (void)snprintf(words, sizeof(words), "put %s w1 q a K {} 0", right[i]);
        told(c, words, "a");
        told_of(c, "get 0 a", "{\"q\":\"q\",\"what\":\"put\",\"when\":5}");
        told(c, "cancel 0 a", "[a]");
    }
    static const char *const wrong[] = {
        "x", ".", "-", "5x", "5e", "0x", "0xg", "1 2", "e5", "--5"
    };
    for (size_t i = 0; TEST_ROW_NAMED(i, wrong, wrong[i]); i++) {
        char words[64];
        (void)snprintf(words, sizeof(words), "length '%s' q", wrong[i]);
        refused(c, words, "Arg \"now\" missing or not a number: nil");
    }
}

static void test_call__prints_numbers_and_strings_as_cjson_does(void **state)
{
    struct conversation *c = *state;
    told(c, "put 1234567890.123 w/1 'q\x7f' a 'K\"' {\"a\":\"b/c\\n\"} 0", "a");
    told(c, "pop 1234567890.123 'q\x7f' 'w\t1' 1",
         "[{\"jid\":\"a\",\"klass\":\"K\\\"\",\"state\":\"running\",\"queue\":\"q\\u007f\","
         "\"worker\":\"w\\t1\",\"tracked\":false,\"priority\":0,\"expires\":1234567950.123,"
         "\"retries\":5,\"remaining\":5,\"data\":\"{\\\"a\\\":\\\"b\\/c\\\\n\\\"}\",\"tags\":{},"
         "\"history\":[{\"q\":\"q\\u007f\",\"what\":\"put\",\"when\":1234567890},"
         "{\"worker\":\"w\\t1\",\"what\":\"popped\",\"when\":1234567890}],\"failure\":{},"
         "\"spawned_from_jid\":false,\"dependents\":{},\"dependencies\":{}}]");
    told(c, "heartbeat 1700000000.98765432 a 'w\t1'", "(integer) 1700000060");
    told_of(c, "get 0 a", "\"expires\":1700000060.9877,");
}

// Whatever allocation fails, the answer says so, and the next call works.
static void test_call__says_that_memory_has_ended(void **state)
{
    struct conversation *c = *state;
    told(c, "put 0 w1 q a K {} 0 tags '[\"t\",1]'", "a");
    told(c, "put 0 w1 q b K {} 0 depends '[\"a\"]'", "b");
    told(c, "track 0 track a", "1");
    told(c, "recur 0 q r K {} interval 60 60", "r");
    static const char *const calls[] = {
        "get 0 a",
        "multiget 0 a b",
        "track 0",
        "tag 0 get t",
        "queues 0",
        "workers 0",
        "jobs 0 depends q",
        "jobs 0 recurring q",
        "stats 0 q 0",
        "config.get 0",
        "recur.get 0 r",
        "put 1 w1 q c K {} 0 tags '[\"red\",\"blue\"]' depends '[\"a\"]'",
        "tag 2 add c green",
        "log 2 c word '{\"a\":[]}'",
        "depends 2 c off all",
        "pop 3 q w1 5",
        "heartbeat 4 a w1 '{\"a\":[\"x\"]}'",
        "fail 5 a w1 group message {\"b\":1}",
        "failed 5",
        "failed 5 group",
        "unfail 6 q group",
    };
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        for (size_t n = 1;; n++) {
            c->fault.fail_at = c->fault.calls + n;
            c->fault.failed = false;
            const char *answer = say(c, calls[i]);
            if (!c->fault.failed) {
                // What failed before may have handed out a job that it then could not print.
                assert_true(strncmp(answer, "(error)", 7) != 0);
                break;
            }
            assert_true(c->status == STATUS_OK || c->status == STATUS_NO_MEMORY);
            if (c->status == STATUS_OK) {
                break; // it made do without
            }
        }
        c->fault.fail_at = 0;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_recognise__knows_the_script_by_its_classes),
        cmocka_unit_test(test_recognise__no_other_script_is_taken_for_it),
        CONVERSATION(test_call__has_a_name_and_a_time_and_no_keys),
        cmocka_unit_test(test_shrinks__is_what_makes_room_and_what_only_looks),
        CONVERSATION(test_call__reads_numbers_as_lua_does),
        CONVERSATION(test_call__prints_numbers_and_strings_as_cjson_does),
        CONVERSATION(test_call__says_that_memory_has_ended),
    };
    return cmocka_run_group_tests_name("qless", tests, NULL, NULL);
}
