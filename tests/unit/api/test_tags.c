// SPDX-License-Identifier: MIT
#include "transcript.h"

#include <stdio.h>

static void test_tags__are_given_and_taken(void **state)
{
    struct talk *t = *state;
    (void)run(t, "Q.PUT app q K {} JID a TAG x");
    says(t, "Q.TAG app a y x z", "1) \"x\"\n2) \"y\"\n3) \"z\"");
    says(t, "Q.UNTAG app a x w", "1) \"y\"\n2) \"z\"");
    says(t, "Q.UNTAG app a y z", "(empty array)");
    says(t, "Q.TAG app a ''", "(error) INVALID Q.TAG: tag must not be empty");
}

static void test_tags__find_jobs_page_by_page(void **state)
{
    struct talk *t = *state;
    says(t, "Q.TAGGED app x",
         "1# \"total\" => (integer) 0\n2# \"jobs\" => (empty array)\n3# \"next\" => (nil)");
    (void)run(t, "Q.MPUT app 7 q K {} JID a TAG x 7 q K {} JID b TAG x 7 q K {} JID c TAG x");
    says(t, "Q.TAGGED app x OFFSET 1 COUNT 1 JIDS",
         "1# \"total\" => (integer) 3\n2# \"jids\" => 1) \"b\"\n3# \"next\" => \"...");
    says(t, "Q.TAGGED app x JIDS",
         "1# \"total\" => (integer) 3\n2# \"jids\" => 1) \"a\"\n   2) \"b\"\n   3) \"c\"\n3# "
         "\"next\" => (nil)");
    says(t, "Q.TAGGED app x COUNT 0",
         "1# \"total\" => (integer) 3\n2# \"jobs\" => (empty array)\n3# \"next\" => (nil)");
    says(t, "Q.TAGGED app x OFFSET 9223372036854775807",
         "1# \"total\" => (integer) 3\n2# \"jobs\" => (empty array)\n3# \"next\" => (nil)");
    says(t, "Q.TAGGED app x COUNT 1",
         "1# \"total\" => (integer) 3\n2# \"jobs\" => 1)  1# \"jid\" => \"a\"\n...");
    says(t, "Q.TAGGED app x COUNT 1001",
         "(error) INVALID Q.TAGGED: COUNT must be from 0 to 1000, not 1001");
    says(t, "Q.TAGGED app x OFFSET -1",
         "(error) INVALID Q.TAGGED: OFFSET must be from 0 to 9223372036854775807, not -1");
}

static void test_tags__the_most_used_come_first(void **state)
{
    struct talk *t = *state;
    says(t, "Q.TAGS app", "(empty array)");
    (void)run(t, "Q.MPUT app 7 q K {} JID a TAG x 9 q K {} JID b TAG x TAG y 9 q K {} JID c TAG x "
                 "TAG y");
    says(t, "Q.TAGS app",
         "1) 1# \"tag\" => \"x\"\n   2# \"count\" => (integer) 3\n"
         "2) 1# \"tag\" => \"y\"\n   2# \"count\" => (integer) 2");
    says(t, "Q.TAGS app OFFSET 1", "1) 1# \"tag\" => \"y\"\n   2# \"count\" => (integer) 2");
    says(t, "Q.TAGS app COUNT 1", "1) 1# \"tag\" => \"x\"\n   2# \"count\" => (integer) 3");
    says(t, "Q.TAGS app OFFSET 9223372036854775807", "(empty array)");
}

static void test_tags__tracked_jobs_are_listed_also_when_they_are_gone(void **state)
{
    struct talk *t = *state;
    (void)run(t, "Q.MPUT app 5 q K {} JID a 5 q K {} JID b 5 q K {} JID c");
    says(t, "Q.TRACKED app",
         "1# \"total\" => (integer) 0\n2# \"jobs\" => (empty array)\n3# \"gone\" => (empty array)");
    says(t, "Q.TRACK app a", "(true)");
    says(t, "Q.TRACK app a", "(false)");
    (void)run(t, "Q.TRACK app b");
    (void)run(t, "Q.TRACK app c");
    (void)run(t, "Q.CANCEL app b");
    says(t, "Q.TRACKED app JIDS",
         "1# \"total\" => (integer) 3\n2# \"jids\" => 1) \"a\"\n   2) \"c\"\n"
         "3# \"gone\" => 1) \"b\"");
    says(t, "Q.TRACKED app COUNT 1 OFFSET 1",
         "1# \"total\" => (integer) 3\n2# \"jobs\" => (empty array)\n3# \"gone\" => 1) \"b\"");
    says(t, "Q.TRACKED app COUNT 1",
         "1# \"total\" => (integer) 3\n2# \"jobs\" => 1)  1# \"jid\" => \"a\"\n...");
    says(t, "Q.TRACKED app JIDS OFFSET 9223372036854775807",
         "1# \"total\" => (integer) 3\n2# \"jids\" => (empty array)\n3# \"gone\" => (empty array)");
    says(t, "Q.UNTRACK app b", "(true)");
    says(t, "Q.UNTRACK app a", "(true)");
    says(t, "Q.UNTRACK app a", "(false)");
}

static void test_tracked__a_page_does_not_visit_the_others(void **state)
{
    struct talk *t = *state;
    char line[64];
    for (int i = 0; i < 300; i++) {
        (void)snprintf(line, sizeof(line), "Q.PUT app q K {} JID j%d", i);
        (void)run(t, line);
        (void)snprintf(line, sizeof(line), "Q.TRACK app j%d", i);
        (void)run(t, line);
    }
    uint64_t before = engine_steps(t->engine);
    says(t, "Q.TRACKED app COUNT 1 OFFSET 299 JIDS",
         "1# \"total\" => (integer) 300\n"
         "2# \"jids\" => 1) \"j299\"\n"
         "3# \"gone\" => (empty array)");
    assert_in_range(engine_steps(t->engine) - before, 1, 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TALK_TEST(test_tags__are_given_and_taken),
        TALK_TEST(test_tags__find_jobs_page_by_page),
        TALK_TEST(test_tags__the_most_used_come_first),
        TALK_TEST(test_tags__tracked_jobs_are_listed_also_when_they_are_gone),
        TALK_TEST(test_tracked__a_page_does_not_visit_the_others),
    };
    return cmocka_run_group_tests_name("tags", tests, NULL, NULL);
}
