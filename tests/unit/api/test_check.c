// SPDX-License-Identifier: MIT
#include "transcript.h"

#include "engine/check/check.h"
#include "engine/queue/queue.h"

#include <stdio.h>

static void test_check__says_that_nothing_is_broken(void **state)
{
    struct talk *t = *state;
    (void)run(t, "Q.PUT app q K {} JID a");
    says(t, "Q.CHECK app",
         "1# \"broken\" => (integer) 0\n"
         "2# \"repair\" => (false)\n"
         "3# \"sentences\" => (empty array)");
}

static void test_check__names_what_is_broken_and_mends_it_when_asked(void **state)
{
    struct talk *t = *state;
    (void)run(t, "Q.MPUT app 5 q K {} JID a 5 p K {} JID b");
    queue_find(t->engine, SLICE("q"))->jobs = 7;
    queue_find(t->engine, SLICE("p"))->jobs = 8;
    static const char sentences[] =
        "3# \"sentences\" => 1) \"the number of jobs of q is 7 and should be 1\"\n"
        "   2) \"the number of jobs of p is 8 and should be 1\"";
    char reply[300];
    (void)snprintf(reply, sizeof(reply), "1# \"broken\" => (integer) 2\n2# \"repair\" => (%s)\n%s",
                   "false", sentences);
    says(t, "Q.CHECK app", reply);
    (void)snprintf(reply, sizeof(reply), "1# \"broken\" => (integer) 2\n2# \"repair\" => (%s)\n%s",
                   "true", sentences);
    says(t, "Q.CHECK app REPAIR", reply);
    says(t, "Q.CHECK app repair", "1# \"broken\" => (integer) 0\n...");
}

enum {
    OBJECTS_MAX = 16000, // that are checked without FORCE
    STEPS_MAX = 150000,  // of a call, as in test_steps.c
};

// Jobs in lanes, with tags, some of which depend on the first one.
static void put_until(struct talk *t, size_t objects)
{
    static const struct slice tags[] = { { "t", 1 }, { "u", 1 } }, first = { "first", 5 };
    for (size_t i = 0; engine_check_size(t->engine) < objects; i++) {
        char jid[32], domain[32];
        (void)snprintf(jid, sizeof(jid), "j%zu", i);
        (void)snprintf(domain, sizeof(domain), "d%zu", i % 50);
        const struct put_request request = {
            .queue = SLICE("q"),
            .jid = i ? slice_from_cstr(jid) : first,
            .klass = SLICE("K"),
            .data = SLICE("{}"),
            .domain = slice_from_cstr(domain),
            .has_domain = true,
            .has_tags = true,
            .tags = { tags, i % 3 ? 0 : 2 },
            .depends = { &first, i && i % 5 == 0 },
        };
        const struct job *job;
        assert_int_equal(engine_put(t->engine, t->now_us, &request, &job, NULL), 0);
    }
}

static void test_check__takes_no_more_steps_than_other_commands(void **state)
{
    struct talk *t = *state;
    put_until(t, OBJECTS_MAX - 10);
    assert_true(engine_check_size(t->engine) <= OBJECTS_MAX);
    uint64_t before = engine_steps(t->engine);
    says(t, "Q.CHECK app", "1# \"broken\" => (integer) 0\n...");
    uint64_t steps = engine_steps(t->engine) - before;
    print_message("# %zu objects: %llu steps\n", engine_check_size(t->engine),
                  (unsigned long long)steps);
    assert_in_range(steps, OBJECTS_MAX, STEPS_MAX);
}

static void test_check__visits_a_larger_namespace_only_when_forced(void **state)
{
    struct talk *t = *state;
    put_until(t, OBJECTS_MAX + 1);
    uint64_t before = engine_steps(t->engine);
    says(t, "Q.CHECK app", "(error) TOO_LARGE Q.CHECK: the namespace has 1600...");
    says(t, "Q.CHECK app REPAIR", "(error) TOO_LARGE Q.CHECK: the namespace has 1600...");
    assert_in_range(engine_steps(t->engine) - before, 0, 100);
    queue_find(t->engine, SLICE("q"))->jobs = 7;
    says(t, "Q.CHECK app FORCE", "1# \"broken\" => (integer) 1\n...");
    says(t, "Q.CHECK app REPAIR FORCE", "1# \"broken\" => (integer) 1\n...");
    says(t, "Q.CHECK app FORCE", "1# \"broken\" => (integer) 0\n...");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TALK_TEST(test_check__says_that_nothing_is_broken),
        TALK_TEST(test_check__names_what_is_broken_and_mends_it_when_asked),
        TALK_TEST(test_check__takes_no_more_steps_than_other_commands),
        TALK_TEST(test_check__visits_a_larger_namespace_only_when_forced),
    };
    return cmocka_run_group_tests_name("check", tests, NULL, NULL);
}
