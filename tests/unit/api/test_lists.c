// SPDX-License-Identifier: MIT
#include "transcript.h"

#include <stdio.h>

// The jids of all pages of a list, one after the other.
static const char *all_pages(struct talk *t, const char *line, unsigned count, char *out,
                             size_t size)
{
    char cursor[80] = "";
    out[0] = '\0';
    for (int page = 0; page < 100; page++) {
        char text[400];
        (void)snprintf(text, sizeof(text), "%s JIDS COUNT %u%s%s", line, count,
                       cursor[0] ? " CURSOR " : "", cursor);
        const char *shown = run(t, text);
        const char *jids = strstr(shown, "2# \"jids\""), *next = strstr(shown, "3# \"next\" => ");
        assert_non_null(jids);
        assert_non_null(next);
        for (const char *at = jids + 9; (at = strstr(at, ") \"")) && at < next; at += 3) {
            size_t used = strlen(out);
            (void)snprintf(out + used, size - used, "%.*s ", (int)strcspn(at + 3, "\""), at + 3);
        }
        next += strlen("3# \"next\" => ");
        if (next[0] != '"') {
            return out;
        }
        (void)snprintf(cursor, sizeof(cursor), "%.*s", (int)strcspn(next + 1, "\""), next + 1);
    }
    fail_msg("the pages of %s do not end", line);
    return out;
}

static void test_lists__jobs_are_listed_by_whatever_they_have(void **state)
{
    struct talk *t = *state;
    (void)run(t, "Q.MPUT app 9 q S {} JID a TAG x DOMAIN d 5 q T {} JID b 7 q S {} JID c DELAY 500 "
                 "7 q S {} JID d DEPENDS c 7 p S {} JID e DOMAIN d 7 p T {} JID f TAG x "
                 "5 q T {} JID g 5 q S {} JID h 5 q S {} JID i");
    (void)run(t, "Q.LIMIT.SET app QUEUE p DOMAIN d CONCURRENCY 1");
    (void)run(t, "Q.POP app w 3 q");
    (void)run(t, "Q.COMPLETE app b w");
    (void)run(t, "Q.FAIL app g w bad words");
    (void)run(t, "Q.POP app v 1 q");
    (void)run(t, "Q.PRIORITY app i 7");
    static const struct {
        const char *line;
        const char *jids;
    } cases[] = {
        { "Q.JOBS app", "i a h c d f e g b " },
        { "Q.JOBS app any q", "i a h c d g b " },
        { "Q.JOBS app waiting", "i f e " },
        { "Q.JOBS app waiting KLASS S", "i e " },
        { "Q.JOBS app scheduled", "c " },
        { "Q.JOBS app depends", "d " },
        { "Q.JOBS app any KLASS T", "f g b " },
        { "Q.JOBS app any TAGGED x", "a f " },
        { "Q.JOBS app waiting TAGGED x", "f " },
        { "Q.JOBS app any DOMAIN d", "a e " },
        { "Q.JOBS app waiting DOMAIN d", "e " },
        { "Q.JOBS app running DOMAIN d", "a " },
        { "Q.JOBS app any DOMAIN other", "" },
        { "Q.JOBS app any WORKER w", "a " },
        { "Q.JOBS app any WORKER v KLASS S", "h " },
        { "Q.JOBS app any WORKER nobody", "" },
        { "Q.JOBS app any GROUP bad", "g " },
        { "Q.JOBS app failed GROUP bad", "g " },
        { "Q.JOBS app complete GROUP bad", "" },
        { "Q.JOBS app any p GROUP bad", "" },
        { "Q.JOBS app any other", "" },
        { "Q.JOBS app failed KLASS T", "g " },
        { "Q.JOBS app complete KLASS T", "b " },
        { "Q.JOBS app stalled", "" },
        { "Q.JOBS app expired", "" },
    };
    char jids[200];
    for (size_t i = 0; TEST_ROW_NAMED(i, cases, cases[i].line); i++) {
        for (unsigned count = 1; count < 4; count++) {
            assert_string_equal(all_pages(t, cases[i].line, count, jids, sizeof(jids)),
                                cases[i].jids);
        }
    }
    says(t, "Q.JOBS app JIDS COUNT 0", "1# \"total\" => (integer) 9\n...");
    says(t, "Q.JOBS app waiting JIDS COUNT 0", "1# \"total\" => (integer) 3\n...");
    says(t, "Q.JOBS app any TAGGED x JIDS COUNT 0", "1# \"total\" => (integer) 2\n...");
    says(t, "Q.JOBS app any KLASS T JIDS COUNT 0", "1# \"total\" => (nil)\n...");
    passes(t, 61);
    assert_string_equal(all_pages(t, "Q.JOBS app expired", 9, jids, sizeof(jids)), "a h ");
    assert_string_equal(all_pages(t, "Q.JOBS app running", 9, jids, sizeof(jids)), "a h ");
    assert_string_equal(all_pages(t, "Q.JOBS app stalled", 9, jids, sizeof(jids)), "");
    assert_string_equal(all_pages(t, "Q.JOBS app any WORKER w", 9, jids, sizeof(jids)), "a ");
    passes(t, 11);
    assert_string_equal(all_pages(t, "Q.JOBS app waiting q", 9, jids, sizeof(jids)), "i ");
    assert_string_equal(all_pages(t, "Q.JOBS app expired", 9, jids, sizeof(jids)), "");
    for (unsigned count = 1; count < 4; count++) {
        assert_string_equal(all_pages(t, "Q.JOBS app stalled", count, jids, sizeof(jids)), "h a ");
        assert_string_equal(all_pages(t, "Q.JOBS app stalled q", count, jids, sizeof(jids)),
                            "a h ");
    }
    says(t, "Q.JOBS app stalled JIDS COUNT 0", "1# \"total\" => (integer) 2\n...");
    // Another priority takes a job to its new place in line, where it is waiting.
    says(t, "Q.PRIORITY app h 1", "OK");
    assert_string_equal(all_pages(t, "Q.JOBS app stalled", 9, jids, sizeof(jids)), "a ");
    assert_string_equal(all_pages(t, "Q.JOBS app stalled DOMAIN d", 9, jids, sizeof(jids)), "a ");
    assert_string_equal(all_pages(t, "Q.JOBS app waiting q", 9, jids, sizeof(jids)), "h i ");
    assert_string_equal(all_pages(t, "Q.JOBS app waiting", 9, jids, sizeof(jids)), "h i f e ");
    says(t, "Q.JOBS app any OFFSET 1",
         "(error) INVALID Q.JOBS: OFFSET cannot be given for such a list; CURSOR leads on");
    says(t, "Q.JOBS app any CURSOR x",
         "(error) INVALID Q.JOBS: CURSOR must be the value of next in an earlier page");
}

static void test_lists__a_walk_looks_at_a_thousand_jobs_and_leads_on(void **state)
{
    struct talk *t = *state;
    for (int i = 0; i < 2500; i++) {
        (void)run(t, "Q.PUT app q S {}");
    }
    (void)run(t, "Q.PUT app q T {} JID last");
    char jids[200];
    says(t, "Q.JOBS app any KLASS T JIDS",
         "1# \"total\" => (nil)\n2# \"jids\" => (empty array)\n3# \"next\" => \"1...");
    assert_string_equal(all_pages(t, "Q.JOBS app any KLASS T", 9, jids, sizeof(jids)), "last ");
}

static void test_lists__data_is_cut_in_lists_when_asked(void **state)
{
    struct talk *t = *state;
    (void)run(t, "Q.PUT app q S '{\"name\":\"\xc3\xa4\xc3\xb6\xc3\xbc\"}' JID a");
    const char *shown = run(t, "Q.JOBS app waiting q DATA-MAX 12");
    assert_non_null(strstr(shown, "\"data\" => \"{\\\"name\\\":\\\"\\xc3\\xa4\"\n"));
    assert_non_null(strstr(shown, "\"data-size\" => (integer) 17\n"));
    assert_non_null(strstr(shown, "\"data-cut\" => (true)\n"));
    assert_non_null(strstr(shown, "\"result-cut\" => (false)\n"));
    shown = run(t, "Q.JOBS app any DATA-MAX 17");
    assert_non_null(strstr(shown, "\"data-cut\" => (false)\n"));
}

static void test_lists__failures_say_when_and_what_failed_last(void **state)
{
    struct talk *t = *state;
    (void)run(t, "Q.MPUT app 5 q S {} JID a 5 q T {} JID b 5 q S {} JID c");
    (void)run(t, "Q.POP app w 3 q");
    (void)run(t, "Q.FAIL app a w smtp one");
    passes(t, 5);
    (void)run(t, "Q.FAIL app b w smtp two");
    (void)run(t, "Q.FAIL app c w dns three");
    says(t, "Q.FAILURES app COUNT 1",
         "1# \"total\" => (integer) 2\n"
         "2# \"failures\" => 1) 1# \"group\" => \"smtp\"\n"
         "      2# \"count\" => (integer) 2\n"
         "      3# \"first\" => (double) 1784000000.5\n"
         "      4# \"last\" => (double) 1784000005.5\n"
         "      5# \"jid\" => \"b\"\n"
         "      6# \"klass\" => \"T\"\n"
         "      7# \"message\" => \"two\"\n"
         "3# \"next\" => \"00000000000000020000000000000000\"");
    const char *second = "1# \"total\" => (integer) 2\n"
                         "2# \"failures\" => 1) 1# \"group\" => \"dns\"\n...";
    says(t, "Q.FAILURES app CURSOR 00000000000000020000000000000000", second);
    (void)run(t, "Q.BULK app cancel GROUP smtp");
    says(t, "Q.FAILURES app CURSOR 00000000000000020000000000000000",
         "1# \"total\" => (integer) 1\n"
         "2# \"failures\" => 1) 1# \"group\" => \"dns\"\n...");
    says(t, "Q.FAILURES app CURSOR 1",
         "(error) INVALID Q.FAILURES: CURSOR must be the value of next in an earlier page");
}

static void test_lists__jobs_are_found_by_what_is_in_them(void **state)
{
    struct talk *t = *state;
    (void)run(
        t, "Q.MPUT app 7 q Send '{\"to\":\"Bob@example.org\"}' JID order-1 TAG x "
           "5 q Send '{\"to\":\"ann\"}' JID bobby 5 p Bobs {} JID order-2 7 p T '{\"a\":\"x y\"}' "
           "JID z DELAY 9");
    static const struct {
        const char *line;
        const char *jids;
    } cases[] = {
        { "Q.FIND app TEXT bob", "3" },
        { "Q.FIND app WORD bob", "1" },
        { "Q.FIND app JID BOB", "1" },
        { "Q.FIND app JID order TEXT send", "1" },
        { "Q.FIND app WORD example WORD to", "1" },
        { "Q.FIND app WORD example WORD ann", "0" },
        { "Q.FIND app WORD 'x y' STATE scheduled", "1" },
        { "Q.FIND app TEXT bob QUEUE p", "1" },
        { "Q.FIND app TAGGED x", "1" },
        { "Q.FIND app", "4" },
    };
    for (size_t i = 0; TEST_ROW_NAMED(i, cases, cases[i].line); i++) {
        const char *found = strstr(run(t, cases[i].line), "7# \"found\" => (integer) ");
        assert_non_null(found);
        assert_string_equal(found + strlen("7# \"found\" => (integer) "), cases[i].jids);
    }
    says(t, "Q.FIND.GET app 10 JIDS OFFSET 1 COUNT 2",
         "1# \"id\" => (integer) 10\n"
         "2# \"done\" => (true)\n"
         "3# \"full\" => (false)\n"
         "4# \"began\" => (double) 1784000000.5\n"
         "5# \"looked-at\" => (integer) 4\n"
         "6# \"total\" => (integer) 4\n"
         "7# \"found\" => (integer) 4\n"
         "8# \"jids\" => 1) \"bobby\"\n"
         "   2) \"order-2\"");
    (void)run(t, "Q.CANCEL app bobby");
    assert_non_null(
        strstr(run(t, "Q.FIND.GET app 10 OFFSET 1 COUNT 1"), "8# \"jobs\" => 1) (nil)"));
    says(t, "Q.FIND.GET app 2", "(error) NOT_FOUND search 2 does not exist");
    says(t, "Q.FIND.DROP app 10", "OK");
    says(t, "Q.FIND.DROP app 10", "(error) NOT_FOUND search 10 does not exist");
    says(t, "Q.FIND app WORD ''", "(error) INVALID word has 0 bytes, and 1 to 1024 are allowed");
}

static void test_lists__a_search_goes_on_in_slices_and_ends_with_a_thousand_jobs(void **state)
{
    struct talk *t = *state;
    for (int i = 0; i < 2500; i++) {
        (void)run(t, "Q.PUT app q S {}");
    }
    (void)run(t, "Q.PUT app q T {} JID last");
    says(t, "Q.FIND app JID last",
         "1# \"id\" => (integer) 1\n2# \"done\" => (false)\n3# \"full\" => (false)\n...");
    assert_non_null(strstr(run(t, "Q.FIND.GET app 1"), "5# \"looked-at\" => (integer) 2000\n"));
    says(t, "Q.FIND.GET app 1 JIDS",
         "1# \"id\" => (integer) 1\n"
         "2# \"done\" => (true)\n"
         "3# \"full\" => (false)\n"
         "4# \"began\" => (double) 1784000000.5\n"
         "5# \"looked-at\" => (integer) 2501\n"
         "6# \"total\" => (integer) 2501\n"
         "7# \"found\" => (integer) 1\n"
         "8# \"jids\" => 1) \"last\"");
    says(t, "Q.FIND app KLASS S",
         "1# \"id\" => (integer) 2\n2# \"done\" => (true)\n3# \"full\" => (true)\n...");
}

static void test_lists__lanes_show_their_limits_and_their_use(void **state)
{
    struct talk *t = *state;
    says(t, "Q.LANES app q",
         "1# \"total\" => (integer) 0\n2# \"lanes\" => (empty array)\n3# \"next\" => (nil)");
    (void)run(t, "Q.LIMIT.SET app DOMAIN a RATE 2 PERIOD 60 BURST 2");
    (void)run(t, "Q.LIMIT.SET app DOMAIN b CONCURRENCY 1");
    (void)run(t, "Q.MPUT app 5 q K {} DOMAIN a 5 q K {} DOMAIN a 5 q K {} DOMAIN a "
                 "5 q K {} DOMAIN b 5 q K {} DOMAIN b 3 q K {}");
    (void)run(t, "Q.POP app w 3 q");
    says(t, "Q.LANES app q COUNT 2",
         "1# \"total\" => (integer) 3\n"
         "2# \"lanes\" => 1)  1# \"domain\" => (nil)\n"
         "       2# \"waiting\" => (integer) 1\n"
         "       3# \"running\" => (integer) 0\n"
         "       4# \"ready\" => (double) 1784000000.5\n"
         "       5# \"rate\" => (integer) 0\n"
         "       6# \"period\" => (double) 0\n"
         "       7# \"burst\" => (integer) 0\n"
         "       8# \"tokens\" => (nil)\n"
         "       9# \"concurrency\" => (integer) 0\n"
         "      10# \"weight\" => (integer) 1\n"
         "   2)  1# \"domain\" => \"a\"\n"
         "       2# \"waiting\" => (integer) 1\n"
         "       3# \"running\" => (integer) 2\n"
         "       4# \"ready\" => (double) 1784000030.5\n"
         "       5# \"rate\" => (integer) 2\n"
         "       6# \"period\" => (double) 60\n"
         "       7# \"burst\" => (integer) 2\n"
         "       8# \"tokens\" => (integer) 0\n...");
    const char *next = strstr(t->text.data, "3# \"next\" => \"");
    assert_non_null(next);
    char line[120];
    (void)snprintf(line, sizeof(line), "Q.LANES app q CURSOR %.32s", next + 14);
    says(t, line,
         "1# \"total\" => (integer) 3\n"
         "2# \"lanes\" => 1)  1# \"domain\" => \"b\"\n"
         "       2# \"waiting\" => (integer) 1\n"
         "       3# \"running\" => (integer) 1\n"
         "       4# \"ready\" => (nil)\n...");
}

static void explains(struct talk *t, const char *queue, const char *reason, const char *sentence)
{
    char line[100], reply[300];
    (void)snprintf(line, sizeof(line), "Q.EXPLAIN.QUEUE app %s", queue);
    (void)snprintf(reply, sizeof(reply), "1# \"reason\" => \"%s\"\n2# \"sentence\" => \"%s\"\n...",
                   reason, sentence);
    says(t, line, reply);
}

static void test_lists__a_queue_says_why_nothing_runs(void **state)
{
    struct talk *t = *state;
    explains(t, "q", "empty", "Queue q has no jobs.");
    (void)run(t, "Q.RECUR app r q K {} INTERVAL 600 DELAY 600");
    explains(t, "q", "recurring",
             "Queue q has no jobs; the next recurring job is due at 2026-07-14T03:43:20.500Z.");
    (void)run(t, "Q.PUT app q K {} JID b DELAY 60");
    explains(t, "q", "scheduled",
             "No job of queue q is in line; 1 is scheduled, the first for "
             "2026-07-14T03:34:20.500Z.");
    (void)run(t, "Q.PUT app p K {} JID c DEPENDS b");
    explains(t, "p", "depends", "No job of queue p is in line; 1 waits for other jobs.");
    (void)run(t, "Q.PUT app q K {} JID a");
    explains(t, "q", "no-workers", "Queue q has a job to hand out, and no worker listens.");
    (void)run(t, "Q.PAUSE app q");
    explains(t, "q", "paused", "Queue q is paused.");
    (void)run(t, "Q.UNPAUSE app q");
    (void)run(t, "Q.POP app w 1 q");
    (void)run(t, "Q.PUT app q K {} JID d");
    explains(t, "q", "ready", "Queue q has a job to hand out, and 1 worker listens.");
    (void)run(t, "Q.CONFIG.SET app q-max-concurrency 1");
    explains(t, "q", "queue-concurrency", "Queue q runs as many jobs as it may: 1.");
    (void)run(t, "Q.CANCEL app d");
    (void)run(t, "Q.MPUT app 5 s K {} DOMAIN x 5 s K {} DOMAIN x");
    (void)run(t, "Q.LIMIT.SET app QUEUE s DOMAIN x RATE 1 PERIOD 60");
    (void)run(t, "Q.POP app w 1 s");
    explains(t, "s", "lane-rate",
             "All lanes with jobs of queue s are limited until 2026-07-14T03:34:20.500Z.");
    (void)run(t, "Q.LIMIT.SET app QUEUE s DOMAIN x CONCURRENCY 1");
    explains(t, "s", "lane-concurrency",
             "All lanes with jobs of queue s run as many jobs as they may.");
    (void)run(t, "Q.PUT app u K {}");
    (void)run(t, "Q.POP app w 1 u");
    explains(t, "u", "running", "All jobs of queue u are running: 1.");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TALK_TEST(test_lists__jobs_are_listed_by_whatever_they_have),
        TALK_TEST(test_lists__a_walk_looks_at_a_thousand_jobs_and_leads_on),
        TALK_TEST(test_lists__data_is_cut_in_lists_when_asked),
        TALK_TEST(test_lists__failures_say_when_and_what_failed_last),
        TALK_TEST(test_lists__jobs_are_found_by_what_is_in_them),
        TALK_TEST(test_lists__a_search_goes_on_in_slices_and_ends_with_a_thousand_jobs),
        TALK_TEST(test_lists__lanes_show_their_limits_and_their_use),
        TALK_TEST(test_lists__a_queue_says_why_nothing_runs),
    };
    return cmocka_run_group_tests_name("lists", tests, NULL, NULL);
}
