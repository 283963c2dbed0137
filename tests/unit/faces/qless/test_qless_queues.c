// SPDX-License-Identifier: MIT
// Calls about queues, failed jobs, workers and the configuration.
#include "qless_test.h"

#include <stdio.h>

#define QUEUE(name, waiting, stalled, running, scheduled, depends, recurring, paused)              \
    "{\"name\":\"" name "\",\"waiting\":" #waiting ",\"stalled\":" #stalled                        \
    ",\"running\":" #running ",\"scheduled\":" #scheduled ",\"depends\":" #depends                 \
    ",\"recurring\":" #recurring ",\"paused\":" #paused "}"

static void test_queues__count_their_jobs(void **state)
{
    struct conversation *c = *state;
    told(c, "queues 0", "{}");
    told(c, "queues 0 q", QUEUE("q", 0, 0, 0, 0, 0, 0, false));
    refused(c, "length 0", "Queue(): no queue name provided");
    told(c, "length 0 q", "(integer) 0");
    told(c, "put 0 w1 q a K {} 0", "a");
    told_of(c, "pop 0 q w1 1", "\"jid\":\"a\"");
    told(c, "put 0 w1 q b K {} 0", "b");
    told(c, "put 0 w1 q d K {} 50", "d");
    told(c, "put 0 w1 q e K {} 0 depends [\"b\"]", "e");
    told(c, "recur 0 q r K {} interval 60 60", "r");
    told(c, "queues 1 q", QUEUE("q", 1, 0, 1, 1, 1, 1, false));
    told(c, "length 1 q", "(integer) 3");
    told(c, "queues 61 q", QUEUE("q", 2, 1, 0, 0, 1, 1, false));
    // Those first seen at the same time stand by name.
    told(c, "put 0 w1 p x K {} 0", "x");
    told(c, "put 1 w1 o y K {} 0", "y");
    told(c, "queues 0",
         "[" QUEUE("p", 1, 0, 0, 0, 0, 0, false) "," QUEUE("q", 2, 0, 1, 0, 1, 1, false) "," QUEUE(
             "o", 1, 0, 0, 0, 0, 0, false) "]");
    told(c, "queue.forget 2 q o", "(nil)");
    told(c, "queues 0", "[" QUEUE("p", 1, 0, 0, 0, 0, 0, false) "]");
}

static size_t count_of(const struct conversation *c, const char *key)
{
    struct slice queue;
    enum qless_set set = qless_set_of(slice_from_cstr(key), &queue);
    assert_int_not_equal(set, QLESS_SET_NONE);
    return qless_set_count(c->engine, set, queue);
}

static void test_sets__hold_a_queue_s_jobs(void **state)
{
    struct conversation *c = *state;
    assert_int_equal(count_of(c, "ql:q:a-work-work"), 0);
    told(c, "put 0 w1 a-work j1 K {} 0", "j1");
    told(c, "put 0 w1 a-work j2 K {} 0", "j2");
    told_of(c, "pop 0 a-work w1 1", "\"jid\":\"j1\"");
    told(c, "put 0 w1 a-work j3 K {} 50", "j3");
    told(c, "put 0 w1 a-work j4 K {} 0 depends [\"j2\"]", "j4");
    told(c, "recur 0 a-work r K {} interval 60 60", "r");
    told(c, "put 0 w1 a j5 K {} 0", "j5");
    assert_int_equal(count_of(c, "ql:q:a-work-work"), 1);
    assert_int_equal(count_of(c, "ql:q:a-work-locks"), 1);
    assert_int_equal(count_of(c, "ql:q:a-work-scheduled"), 1);
    assert_int_equal(count_of(c, "ql:q:a-work-depends"), 1);
    assert_int_equal(count_of(c, "ql:q:a-work-recur"), 1);
    // A job whose lease was taken away is in line.
    told(c, "timeout 1 j1", "(nil)");
    assert_int_equal(count_of(c, "ql:q:a-work-work"), 2);
    assert_int_equal(count_of(c, "ql:q:a-work-locks"), 0);
}

static void test_sets__know_when_a_recurring_job_runs_next(void **state)
{
    struct conversation *c = *state;
    int64_t next_us = -1;
    assert_false(qless_set_next_run(c->engine, SLICE("q"), SLICE("r"), &next_us));
    told(c, "recur 100 q r K {} interval 60 5", "r");
    assert_true(qless_set_next_run(c->engine, SLICE("q"), SLICE("r"), &next_us));
    assert_int_equal(next_us, 105000000);
    assert_false(qless_set_next_run(c->engine, SLICE("p"), SLICE("r"), &next_us));
    told(c, "put 100 w1 q j K {} 0", "j");
    assert_false(qless_set_next_run(c->engine, SLICE("q"), SLICE("j"), &next_us));
}

static void test_sets__no_other_key_is_taken_for_one(void **state)
{
    (void)state;
    static const char *const keys[] = { "",          "ql:q:",       "ql:q:-work",  "ql:q:q",
                                        "ql:q:q-",   "ql:q:q-wor",  "ql:w:q-work", "q-work",
                                        "ql:queues", "ql:q:q-work " };
    struct slice queue;
    for (size_t i = 0; TEST_ROW_NAMED(i, keys, keys[i]); i++) {
        assert_int_equal(qless_set_of(slice_from_cstr(keys[i]), &queue), QLESS_SET_NONE);
    }
    assert_int_equal(qless_set_of(SLICE("ql:q:--work"), &queue), QLESS_SET_WORK);
    assert_true(slice_equal(queue, SLICE("-")));
}

static void test_queues__are_paused(void **state)
{
    struct conversation *c = *state;
    refused(c, "pause 0", "Wrong number of args calling Redis command From Lua script");
    refused(c, "unpause 0", "Wrong number of args calling Redis command From Lua script");
    refused(c, "queue.forget 0", "Wrong number of args calling Redis command From Lua script");
    told(c, "put 0 w1 q a K {} 0", "a");
    told(c, "pause 0 q r", "(nil)");
    told(c, "pop 0 q w1 1", "{}");
    told(c, "queues 0 q", QUEUE("q", 1, 0, 0, 0, 0, 0, true));
    told(c, "unpause 0 q r", "(nil)");
    told_of(c, "pop 0 q w1 1", "\"jid\":\"a\"");
}

static void test_stats__are_those_of_a_day(void **state)
{
    struct conversation *c = *state;
    refused(c, "stats 0", "Queue(): no queue name provided");
    refused(c, "stats 0 q", "Stats(): Arg \"date\" missing or not a number: nil");
    refused(c, "stats 0 q x", "Stats(): Arg \"date\" missing or not a number: x");
    told_of(c, "stats 0 q 0",
            "{\"retries\":0,\"failed\":0,\"failures\":0,\"wait\":{\"count\":0,\"mean\":0,"
            "\"std\":0,\"histogram\":[0,0,");
    told(c, "put 0 w1 q a K {} 0", "a");
    told(c, "put 0 w1 q b K {} 0", "b");
    told_of(c, "pop 1 q w1 1", "\"jid\":\"a\"");
    told_of(c, "pop 2 q w1 1", "\"jid\":\"b\"");
    told(c, "fail 3 a w1 g m", "a");
    told(c, "complete 3 b w1 q {}", "complete");
    told_of(c, "stats 0 q 86399",
            "{\"retries\":0,\"failed\":1,\"failures\":1,\"wait\":{\"count\":2,\"mean\":1.5,"
            "\"std\":0.70710678118655,\"histogram\":[0,1,1,0,");
    told_of(c, "stats 0 q 0", ",\"run\":{\"count\":1,\"mean\":1,\"std\":0,\"histogram\":[0,1,0,");
    told_of(c, "stats 0 q 86400", "\"failed\":0");
    told_of(c, "stats 0 q 1e99", "\"failed\":0");
    told_of(c, "stats 0 q -1e99", "\"failed\":0");
}

static void test_jobs__are_listed_by_state(void **state)
{
    struct conversation *c = *state;
    refused(c, "jobs 0", "Jobs(): Arg \"state\" missing");
    refused(c, "jobs 0 running", "Jobs(): Arg \"queue\" missing");
    refused(c, "jobs 0 running q x", "Jobs(): Arg \"offset\" not a number: x");
    refused(c, "jobs 0 running q 0 x", "Jobs(): Arg \"count\" not a number: x");
    refused(c, "jobs 0 complete x", "Jobs(): Arg \"offset\" not a number: x");
    refused(c, "jobs 0 complete 0 x", "Jobs(): Arg \"count\" not a number: x");
    refused(c, "jobs 0 waiting q", "Jobs(): Unknown type \"waiting\"");
    static const char *const empty[] = { "jobs 0 complete",  "jobs 0 running q",
                                         "jobs 0 stalled q", "jobs 0 scheduled q",
                                         "jobs 0 depends q", "jobs 0 recurring q" };
    for (size_t i = 0; TEST_ROW_NAMED(i, empty, empty[i]); i++) {
        told(c, empty[i], "[]");
    }
    told(c, "put 0 w1 q b K {} 0", "b");
    told(c, "put 0 w1 q a K {} 0", "a");
    told(c, "put 0 w1 q d K {} 0", "d");
    told(c, "put 0 w1 q s2 K {} 50", "s2");
    told(c, "put 0 w1 q s1 K {} 50", "s1");
    told(c, "put 0 w1 q e2 K {} 0 depends [\"d\"]", "e2");
    told(c, "put 0 w1 q e1 K {} 0 depends [\"d\"]", "e1");
    told(c, "recur 0 q r2 K {} interval 60 500", "r2");
    told(c, "recur 0 q r1 K {} interval 60 500", "r1");
    told_of(c, "pop 1 q w1 3", "\"jid\":\"d\"");
    told(c, "jobs 1 running q", "[a, b, d]");
    told(c, "jobs 1 running q 1 1", "[b]");
    told(c, "jobs 1 running q 1 -1", "[b, d]");
    told(c, "jobs 1 running q -1 1", "[]");
    told(c, "jobs 1 stalled q", "[]");
    told(c, "jobs 61 stalled q", "[a, b, d]");
    told(c, "jobs 1 scheduled q", "[s1, s2]");
    told(c, "jobs 1 scheduled q 0 0", "[s1, s2]");
    told(c, "jobs 1 scheduled q -2 -1", "[]");
    told(c, "jobs 1 depends q", "[e1, e2]");
    told(c, "jobs 1 recurring q", "[r1, r2]");
    told(c, "jobs 1 recurring q 1", "[r2]");
    told(c, "complete 2 a w1 q {}", "complete");
    told(c, "complete 2 b w1 q {}", "complete");
    told(c, "complete 3 d w1 q {}", "complete");
    told(c, "jobs 3 complete", "[d, b, a]");
    told(c, "jobs 3 complete 1 1", "[b]");
    told(c, "jobs 3 complete 0 -1", "[d, b]");
    told(c, "jobs 50 scheduled q", "[]");
}

static void test_failed__are_listed_by_group_and_unfailed(void **state)
{
    struct conversation *c = *state;
    refused(c, "failed 0 g x", "Failed(): Arg \"start\" is not a number: x");
    refused(c, "failed 0 g 0 x", "Failed(): Arg \"limit\" is not a number: x");
    refused(c, "unfail 0", "Queue(): no queue name provided");
    refused(c, "unfail 0 q", "Unfail(): Arg \"group\" missing");
    refused(c, "unfail 0 q g x", "Unfail(): Arg \"count\" not a number: x");
    told(c, "failed 0", "{}");
    told(c, "failed 0 g", "{\"total\":0,\"jobs\":{}}");
    told(c, "unfail 0 q g", "(integer) 0");
    told(c, "put 0 w1 q a K {} 0", "a");
    told(c, "put 0 w1 q b K {} 0", "b");
    told(c, "put 0 w1 q d K {} 0", "d");
    told_of(c, "pop 1 q w1 3", "\"jid\":\"d\"");
    told(c, "fail 2 a w1 g m", "a");
    told(c, "fail 2 b w1 g m", "b");
    told(c, "fail 2 d w1 h/h m", "d");
    told(c, "failed 2", "{\"g\":2,\"h\\/h\":1}");
    told(c, "failed 2 g", "{\"total\":2,\"jobs\":[\"b\",\"a\"]}");
    told(c, "failed 2 g 1 5", "{\"total\":2,\"jobs\":[\"a\"]}");
    told(c, "failed 2 g 0 -1", "{\"total\":2,\"jobs\":[\"b\"]}");
    told(c, "unfail 3 q g 1", "(integer) 1");
    told_of(c, "get 3 a", "\"state\":\"waiting\"");
    told(c, "unfail 3 q g -5", "(integer) 0");
    told(c, "unfail 3 r g", "(integer) 1");
    told_of(c, "get 3 b", "\"queue\":\"r\"");
}

static void test_workers__and_what_they_hold(void **state)
{
    struct conversation *c = *state;
    told(c, "workers 0", "{}");
    told(c, "workers 0 w1", "{\"jobs\":{},\"stalled\":{}}");
    told(c, "put 0 w1 q b K {} 0", "b");
    told(c, "put 0 w1 q a K {} 0", "a");
    told_of(c, "pop 1 q w1 2", "\"jid\":\"b\"");
    told(c, "pop 1 q w2 2", "{}");
    told(c, "pop 2 q w0 2", "{}");
    told(c, "workers 3 w1", "{\"jobs\":[\"b\",\"a\"],\"stalled\":{}}");
    told(c, "workers 61 w1", "{\"jobs\":{},\"stalled\":[\"b\",\"a\"]}");
    told(c, "workers 3",
         "[{\"name\":\"w0\",\"jobs\":0,\"stalled\":0},"
         "{\"name\":\"w2\",\"jobs\":0,\"stalled\":0},"
         "{\"name\":\"w1\",\"jobs\":2,\"stalled\":0}]");
    refused(c, "worker.deregister 3", "Wrong number of args calling Redis command From Lua script");
    told(c, "worker.deregister 3 w0 w2 w3", "(nil)");
    told(c, "workers 3", "[{\"name\":\"w1\",\"jobs\":2,\"stalled\":0}]");
    told(c, "workers 86401", "{}");
}

static void test_config__numbers_are_defaults_and_strings_were_set(void **state)
{
    struct conversation *c = *state;
    refused(c, "config.set 0", "config.set(): Arg \"option\" missing");
    refused(c, "config.set 0 a", "config.set(): Arg \"value\" missing");
    refused(c, "config.unset 0", "config.unset(): Arg \"option\" missing");
    refused(c, "config.set 0 heartbeat soon",
            "config.set(): option heartbeat must be a number, not soon");
    told(c, "config.get 0",
         "{\"application\":\"qless\",\"heartbeat\":60,\"grace-period\":10,"
         "\"stats-history\":30,\"histogram-history\":7,"
         "\"jobs-history-count\":50000,\"jobs-history\":604800}");
    told(c, "config.get 0 heartbeat", "(integer) 60");
    told(c, "config.get 0 application", "qless");
    told(c, "config.get 0 max-tags", "(nil)");
    told(c, "config.get 0 colour", "(nil)");
    told(c, "config.set 0 heartbeat 60", "(nil)");
    told(c, "config.set 0 colour red", "(nil)");
    told(c, "config.get 0 heartbeat", "60");
    told(c, "config.get 0 colour", "red");
    told(c, "config.get 0",
         "{\"application\":\"qless\",\"grace-period\":10,"
         "\"stats-history\":30,\"histogram-history\":7,"
         "\"jobs-history-count\":50000,\"jobs-history\":604800,"
         "\"colour\":\"red\",\"heartbeat\":\"60\"}");
    told(c, "config.unset 0 heartbeat", "(nil)");
    told(c, "config.get 0 heartbeat", "(integer) 60");
}

// Every tag has another number of jobs, so that a page of the most used has no equals beside it.
static void test_tag__a_page_of_the_most_used_does_not_visit_the_others(void **state)
{
    struct conversation *c = *state;
    enum {
        TAGS = 100
    };
    char line[64];
    for (int tag = 0; tag < TAGS; tag++) {
        for (int job = 0; job <= tag + 1; job++) {
            if (tag == 0 || job == tag + 1) {
                (void)snprintf(line, sizeof(line), "put 0 w q j%d K {} 0", job);
                (void)say(c, line);
            }
            (void)snprintf(line, sizeof(line), "tag 0 add j%d t%02d", job, tag);
            (void)say(c, line);
        }
    }
    uint64_t before = engine_steps(c->engine);
    told(c, "tag 0 top 0 2", "[\"t99\",\"t98\"]");
    assert_in_range(engine_steps(c->engine) - before, 1, TAGS / 2);
    told(c, "tag 0 top 99 2", "[\"t00\"]");
    told(c, "tag 0 top 100 2", "{}");
}

static void test_lists__too_large_for_an_answer_are_refused_before_they_are_walked(void **state)
{
    struct conversation *c = *state;
    static const char *const calls[] = {
        "queues 0",           "track 0",          "workers 0 w",
        "failed 0",           "failed 0 g0 0 -1", "tag 0 get t 0 6000",
        "peek 0 peeked 6000", "workers 0",        "jobs 0 running q0 0 6000"
    };
    enum {
        JOBS = 6000
    };
    char line[64];
    for (int i = 0; i < JOBS; i++) {
        const int queue = i % 2 ? 0 : i;
        (void)snprintf(line, sizeof(line), "put 0 w q%d j%d K {} 0 tags '[\"t\"]'", queue, i);
        (void)say(c, line);
        (void)snprintf(line, sizeof(line), "track 0 track j%d", i);
        (void)say(c, line);
        if (i % 2 == 0) {
            (void)snprintf(line, sizeof(line), "pop 0 q%d w%d 1", queue, i);
            (void)say(c, line);
            (void)snprintf(line, sizeof(line), "fail 0 j%d w%d g%d m", i, i, i % 4 ? 0 : i);
            (void)say(c, line);
            (void)snprintf(line, sizeof(line), "put 0 w peeked p%d K {} 0", i);
            (void)say(c, line);
        }
    }
    (void)say(c, "pop 0 q0 w 6000");
    c->room = REPLY_SIZE_LEAST;
    for (size_t i = 0; TEST_ROW_NAMED(i, calls, calls[i]); i++) {
        uint64_t before = engine_steps(c->engine);
        (void)say(c, calls[i]);
        print_message("# %s: %d steps\n", calls[i], (int)(engine_steps(c->engine) - before));
        assert_int_equal(c->status, STATUS_TOO_LARGE);
        assert_in_range(engine_steps(c->engine) - before, 0, REPLY_SIZE_LEAST / 4);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CONVERSATION(test_queues__count_their_jobs),
        CONVERSATION(test_sets__hold_a_queue_s_jobs),
        CONVERSATION(test_sets__know_when_a_recurring_job_runs_next),
        cmocka_unit_test(test_sets__no_other_key_is_taken_for_one),
        CONVERSATION(test_queues__are_paused),
        CONVERSATION(test_stats__are_those_of_a_day),
        CONVERSATION(test_jobs__are_listed_by_state),
        CONVERSATION(test_failed__are_listed_by_group_and_unfailed),
        CONVERSATION(test_workers__and_what_they_hold),
        CONVERSATION(test_config__numbers_are_defaults_and_strings_were_set),
        CONVERSATION(test_tag__a_page_of_the_most_used_does_not_visit_the_others),
        CONVERSATION(test_lists__too_large_for_an_answer_are_refused_before_they_are_walked),
    };
    return cmocka_run_group_tests_name("qless_queues", tests, NULL, NULL);
}
