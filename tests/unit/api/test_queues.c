// SPDX-License-Identifier: MIT
#include "transcript.h"

#include <stdio.h>

static void test_queues__are_counted_by_state(void **state)
{
    struct talk *t = *state;
    says(t, "Q.QUEUES app",
         "1# \"total\" => (integer) 0\n2# \"queues\" => (empty array)\n3# \"next\" => (nil)");
    says(t, "Q.QUEUE app mail",
         " 1# \"queue\" => \"mail\"\n"
         " 2# \"waiting\" => (integer) 0\n"
         " 3# \"running\" => (integer) 0\n"
         " 4# \"stalled\" => (integer) 0\n"
         " 5# \"scheduled\" => (integer) 0\n"
         " 6# \"depends\" => (integer) 0\n"
         " 7# \"recurring\" => (integer) 0\n"
         " 8# \"listeners\" => (integer) 0\n"
         " 9# \"paused\" => (false)\n"
         "10# \"paused_since\" => (nil)\n"
         "11# \"failed\" => (integer) 0\n"
         "12# \"complete\" => (integer) 0\n"
         "13# \"bytes\" => (integer) 0\n"
         "14# \"age\" => (nil)\n...");
    (void)run(t,
              "Q.MPUT app 5 mail S {} JID a 5 mail S {} JID b 7 mail S {} JID c DELAY 500 7 mail "
              "S {} JID d DEPENDS c");
    (void)run(t, "Q.RECUR app r mail S {} INTERVAL 60 DELAY 600");
    (void)run(t, "Q.POP app w 1 mail");
    (void)run(t, "Q.PAUSE app mail");
    says(t, "Q.QUEUES app",
         "1# \"total\" => (integer) 1\n"
         "2# \"queues\" => 1)  1# \"queue\" => \"mail\"\n"
         "       2# \"waiting\" => (integer) 1\n"
         "       3# \"running\" => (integer) 1\n"
         "       4# \"stalled\" => (integer) 0\n"
         "       5# \"scheduled\" => (integer) 1\n"
         "       6# \"depends\" => (integer) 1\n"
         "       7# \"recurring\" => (integer) 1\n"
         "       8# \"listeners\" => (integer) 1\n"
         "       9# \"paused\" => (true)\n...");
    passes(t, 61);
    says(t, "Q.QUEUE app mail",
         " 1# \"queue\" => \"mail\"\n"
         " 2# \"waiting\" => (integer) 1\n"
         " 3# \"running\" => (integer) 1\n"
         " 4# \"stalled\" => (integer) 0\n...");
    says(t, "Q.LENGTH app mail", "(integer) 3");
    says(t, "Q.LENGTH app other", "(integer) 0");
}

static void test_queues__jobs_are_counted_by_what_is_asked(void **state)
{
    struct talk *t = *state;
    (void)run(t, "Q.MPUT app 5 a S {} PRIORITY 3 3 a S {} 5 b S {} PRIORITY 3 5 b S {} DELAY 9");
    says(t, "Q.COUNT app", "(integer) 4");
    says(t, "Q.COUNT app queue a", "(integer) 2");
    says(t, "Q.COUNT app PRIORITY 3", "(integer) 2");
    says(t, "Q.COUNT app PRIORITY 3 QUEUE b STATE waiting", "(integer) 1");
    says(t, "Q.COUNT app STATE scheduled", "(integer) 1");
    says(t, "Q.COUNT app STATE lost",
         "(error) INVALID Q.COUNT: STATE must be one of scheduled, depends, waiting, running, "
         "stalled, complete, failed, not \"lost\"");
    says(t, "Q.PRIORITIES app",
         "1) 1# \"priority\" => (integer) 0\n   2# \"count\" => (integer) 2\n"
         "2) 1# \"priority\" => (integer) 3\n   2# \"count\" => (integer) 2");
    says(t, "Q.PRIORITIES app b",
         "1) 1# \"priority\" => (integer) 0\n   2# \"count\" => (integer) 1\n"
         "2) 1# \"priority\" => (integer) 3\n   2# \"count\" => (integer) 1");
    says(t, "Q.PRIORITIES app c", "(empty array)");
}

static void test_queues__jobs_are_listed_by_state(void **state)
{
    struct talk *t = *state;
    (void)run(t, "Q.MPUT app 5 q S {} JID a 5 q S {} JID b 7 q S {} JID c DELAY 500 7 q S {} JID d "
                 "DEPENDS c 5 q S {} JID e");
    (void)run(t, "Q.POP app w 2 q");
    (void)run(t, "Q.COMPLETE app a w");
    (void)run(t, "Q.PUT app r S {} JID f");
    (void)run(t, "Q.POP app w 1 r");
    (void)run(t, "Q.FAIL app f w bad words");
    static const struct {
        const char *line;
        const char *jid;
    } cases[] = {
        { "Q.JOBS app running q JIDS", "b" }, { "Q.JOBS app scheduled q JIDS", "c" },
        { "Q.JOBS app depends q JIDS", "d" }, { "Q.JOBS app waiting q JIDS", "e" },
        { "Q.JOBS app complete JIDS", "a" },  { "Q.JOBS app complete q JIDS", "a" },
        { "Q.JOBS app running JIDS", "b" },   { "Q.JOBS app failed r JIDS", "f" },
        { "Q.JOBS app failed JIDS", "f" },
    };
    for (size_t i = 0; TEST_ROW_NAMED(i, cases, cases[i].line); i++) {
        char reply[120];
        (void)snprintf(
            reply, sizeof(reply),
            "1# \"total\" => (integer) 1\n2# \"jids\" => 1) \"%s\"\n3# \"next\" => (nil)",
            cases[i].jid);
        says(t, cases[i].line, reply);
    }
    says(t, "Q.JOBS app stalled q",
         "1# \"total\" => (integer) 0\n2# \"jobs\" => (empty array)\n3# \"next\" => (nil)");
    says(t, "Q.JOBS app waiting q",
         "1# \"total\" => (integer) 1\n2# \"jobs\" => 1)  1# \"jid\" => \"e\"\n...");
    says(t, "Q.JOBS app failed q JIDS",
         "1# \"total\" => (integer) 0\n2# \"jids\" => (empty array)\n3# \"next\" => (nil)");
    says(t, "Q.JOBS app lost q",
         "(error) INVALID Q.JOBS: state must be one of any, waiting, running, stalled, scheduled, "
         "depends, complete, failed, expired, not \"lost\"");
}

static void test_queues__a_page_says_where_the_next_one_begins(void **state)
{
    struct talk *t = *state;
    (void)run(t, "Q.MPUT app 5 q S {} JID a 5 q S {} JID b 5 q S {} JID c 5 q S {} JID d");
    const char *next = strstr(run(t, "Q.JOBS app waiting q COUNT 2 JIDS"), "\"next\" => \"");
    assert_non_null(next);
    char line[120];
    (void)snprintf(line, sizeof(line), "Q.JOBS app waiting q JIDS CURSOR %.32s",
                   next + strlen("\"next\" => \""));
    (void)run(t, "Q.CANCEL app a b");
    says(t, line,
         "1# \"total\" => (integer) 2\n2# \"jids\" => 1) \"c\"\n   2) \"d\"\n"
         "3# \"next\" => (nil)");
    static const char *const wrong[] = { "1", "0000000000000006000000000000000g",
                                         "000000000000000600000000000000061" };
    for (size_t i = 0; TEST_ROW_NAMED(i, wrong, wrong[i]); i++) {
        (void)snprintf(line, sizeof(line), "Q.JOBS app waiting q CURSOR %s", wrong[i]);
        says(t, line,
             "(error) INVALID Q.JOBS: CURSOR must be the value of next in an earlier page");
    }
}

static void test_queues__what_failed_is_listed_by_group_and_can_be_unfailed(void **state)
{
    struct talk *t = *state;
    says(t, "Q.FAILURES app",
         "1# \"total\" => (integer) 0\n2# \"failures\" => (empty array)\n3# \"next\" => (nil)");
    says(t, "Q.FAILED app smtp",
         "1# \"total\" => (integer) 0\n2# \"jobs\" => (empty array)\n3# \"next\" => (nil)");
    (void)run(t, "Q.MPUT app 5 q S {} JID a 5 q S {} JID b 5 q S {} JID c");
    (void)run(t, "Q.POP app w 3 q");
    (void)run(t, "Q.MFAIL app 4 a w smtp x 4 b w smtp y 4 c w disk z");
    says(t, "Q.FAILURES app",
         "1# \"total\" => (integer) 2\n"
         "2# \"failures\" => 1) 1# \"group\" => \"smtp\"\n"
         "      2# \"count\" => (integer) 2\n...");
    says(t, "Q.FAILED app smtp JIDS",
         "1# \"total\" => (integer) 2\n2# \"jids\" => 1) \"b\"\n   2) \"a\"\n3# \"next\" => (nil)");
    says(t, "Q.UNFAIL app smtp other COUNT 1", "(integer) 1");
    says(t, "Q.JOBS app waiting other JIDS",
         "1# \"total\" => (integer) 1\n2# \"jids\" => 1) \"a\"\n3# \"next\" => (nil)");
    says(t, "Q.UNFAIL app smtp other", "(integer) 1");
    says(t, "Q.UNFAIL app smtp other", "(integer) 0");
}

static void test_queues__nothing_comes_out_of_a_paused_one(void **state)
{
    struct talk *t = *state;
    (void)run(t, "Q.PUT app q S {} JID a");
    says(t, "Q.PAUSE app q p", "OK");
    says(t, "Q.POP app w 1 q", "(empty array)");
    says(t, "Q.UNPAUSE app q p", "OK");
    says(t, "Q.POP app w 1 q", "1)  1# \"jid\" => \"a\"\n...");
}

static void test_queues__one_that_is_forgotten_is_not_listed(void **state)
{
    struct talk *t = *state;
    (void)run(t, "Q.PUT app q S {} JID a");
    (void)run(t, "Q.POP app w 1 q");
    (void)run(t, "Q.COMPLETE app a w");
    (void)run(t, "Q.WORKER.OFFLINE app w"); // a queue that a worker listens to is listed
    says(t, "Q.FORGET app q", "OK");
    says(t, "Q.QUEUES app",
         "1# \"total\" => (integer) 0\n2# \"queues\" => (empty array)\n3# \"next\" => (nil)");
    says(t, "Q.JOBS app complete q JIDS", "1# \"total\" => (integer) 1\n...");
}

static void test_queues__one_that_holds_jobs_is_not_forgotten(void **state)
{
    struct talk *t = *state;
    (void)run(t, "Q.PUT app empty S {} JID gone");
    (void)run(t, "Q.CANCEL app gone");
    (void)run(t, "Q.PUT app q S {} JID a");
    says(t, "Q.FORGET app empty q", "(error) STATE queue q has 1 jobs that are not complete");
    says(t, "Q.FORGET app empty nope", "(error) NOT_FOUND there is no queue nope");
    (void)run(t, "Q.POP app w 1 q");
    (void)run(t, "Q.FAIL app a w smtp refused");
    says(t, "Q.FORGET app q", "(error) STATE queue q has 1 jobs that are not complete");
    (void)run(t, "Q.RECUR app r often K {} INTERVAL 60 DELAY 60");
    says(t, "Q.FORGET app often", "(error) STATE queue often has 1 recurring jobs");
    says(t, "Q.QUEUES app COUNT 0", "1# \"total\" => (integer) 3\n...");
    says(t, "Q.FORGET app empty", "OK");
    says(t, "Q.QUEUES app COUNT 0", "1# \"total\" => (integer) 2\n...");
}

static void test_queues__a_day_has_statistics(void **state)
{
    struct talk *t = *state;
    (void)run(t, "Q.PUT app q S {} JID a");
    passes(t, 2);
    (void)run(t, "Q.POP app w 1 q");
    passes(t, 3);
    (void)run(t, "Q.COMPLETE app a w");
    const char *shown = run(t, "Q.STATS app q");
    assert_true(shows(shown, "1# \"retries\" => (integer) 0\n"
                             "2# \"lost_leases\" => (integer) 0\n"
                             "3# \"failures\" => (integer) 0\n"
                             "4# \"failed\" => (integer) 0\n"
                             "5# \"wait\" => 1# \"count\" => (integer) 1\n"
                             "   2# \"mean\" => (double) 2\n"
                             "   3# \"std\" => (double) 0\n"
                             "   4# \"histogram\" =>   1) (integer) 0\n"
                             "        2) (integer) 0\n"
                             "        3) (integer) 1\n..."));
    assert_non_null(strstr(shown, "6# \"run\" => 1# \"count\" => (integer) 1\n"
                                  "   2# \"mean\" => (double) 3\n"));
    assert_non_null(strstr(shown, "\n      148) (integer) 0"));
    says(t, "Q.STATS app q DATE 2026-07-13T23:59:59Z",
         "1# \"retries\" => (integer) 0\n2# \"lost_leases\" => (integer) 0\n"
         "3# \"failures\" => (integer) 0\n4# \"failed\" => (integer) 0\n"
         "5# \"wait\" => 1# \"count\" => (integer) 0\n...");
    (void)run(t, "Q.PUT app q S {} JID b");
    (void)run(t, "Q.POP app w 1 q");
    (void)run(t, "Q.RETRY app b w");
    says(t, "Q.STATS app q",
         "1# \"retries\" => (integer) 1\n2# \"lost_leases\" => (integer) 0\n...");
}

static void test_queues__times_and_rates_are_measured(void **state)
{
    struct talk *t = *state;
    says(t, "Q.METRICS app q", "1# \"latency\" => 1# \"count\" => (integer) 0\n...");
    (void)run(t, "Q.MPUT app 5 q S {} JID a 5 q S {} JID b");
    passes(t, 4);
    (void)run(t, "Q.POP app w 2 q");
    passes(t, 10);
    (void)run(t, "Q.COMPLETE app a w");
    (void)run(t, "Q.FAIL app b w g m");
    says(t, "Q.METRICS app q",
         "1# \"latency\" => 1# \"count\" => (integer) 2\n"
         "   2# \"mean\" => (double) 4\n"
         "   3# \"max\" => (double) 4\n"
         "   4# \"p50\" => (double) 4\n"
         "   5# \"p90\" => (double) 4\n"
         "   6# \"p99\" => (double) 4\n"
         "   7# \"p999\" => (double) 4\n"
         "2# \"runtime\" => 1# \"count\" => (integer) 1\n"
         "   2# \"mean\" => (double) 10\n...");
    const char *shown = run(t, "Q.METRICS app");
    assert_non_null(strstr(shown, "3# \"lifetime\" => 1# \"count\" => (integer) 1\n"
                                  "   2# \"mean\" => (double) 14\n"));
    assert_non_null(strstr(shown, "5# \"time-to-failure\" => 1# \"count\" => (integer) 1\n"));
    assert_non_null(strstr(shown, "6# \"attempts\" => 1# \"count\" => (integer) 1\n"
                                  "   2# \"mean\" => (double) 1\n"
                                  "   3# \"max\" => (integer) 1\n"));
    assert_non_null(strstr(shown, "8# \"run\" => 1# \"1s\" => (double) 0\n"
                                  "   2# \"1m\" => (double) 0.03333333333333333\n"));
}

static void test_queues__a_lane_shows_its_limits(void **state)
{
    struct talk *t = *state;
    (void)run(t, "Q.LIMIT.SET app QUEUE q DOMAIN x* RATE 2 PERIOD 60 CONCURRENCY 1 WEIGHT 3");
    (void)run(t, "Q.MPUT app 7 q S {} JID a DOMAIN x1 7 q S {} JID b DOMAIN x1 3 q S {}");
    says(t, "Q.LANE app q x1",
         "1# \"waiting\" => (integer) 2\n"
         "2# \"running\" => (integer) 0\n"
         "3# \"ready\" => (double) 1784000000.5\n"
         "4# \"rate\" => (integer) 2\n"
         "5# \"period\" => (double) 60\n"
         "6# \"burst\" => (integer) 1\n"
         "7# \"concurrency\" => (integer) 1\n"
         "8# \"weight\" => (integer) 3");
    (void)run(t, "Q.POP app w 1 q");
    says(
        t, "Q.LANE app q x1",
        "1# \"waiting\" => (integer) 1\n2# \"running\" => (integer) 1\n3# \"ready\" => (nil)\n...");
    says(t, "Q.LANE app q",
         "1# \"waiting\" => (integer) 1\n"
         "2# \"running\" => (integer) 0\n"
         "3# \"ready\" => (double) 1784000000.5\n"
         "4# \"rate\" => (integer) 0\n"
         "5# \"period\" => (double) 0\n"
         "6# \"burst\" => (integer) 0\n"
         "7# \"concurrency\" => (integer) 0\n"
         "8# \"weight\" => (integer) 1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TALK_TEST(test_queues__are_counted_by_state),
        TALK_TEST(test_queues__jobs_are_counted_by_what_is_asked),
        TALK_TEST(test_queues__jobs_are_listed_by_state),
        TALK_TEST(test_queues__a_page_says_where_the_next_one_begins),
        TALK_TEST(test_queues__what_failed_is_listed_by_group_and_can_be_unfailed),
        TALK_TEST(test_queues__nothing_comes_out_of_a_paused_one),
        TALK_TEST(test_queues__one_that_is_forgotten_is_not_listed),
        TALK_TEST(test_queues__one_that_holds_jobs_is_not_forgotten),
        TALK_TEST(test_queues__a_day_has_statistics),
        TALK_TEST(test_queues__times_and_rates_are_measured),
        TALK_TEST(test_queues__a_lane_shows_its_limits),
    };
    return cmocka_run_group_tests_name("queues", tests, NULL, NULL);
}
