// SPDX-License-Identifier: MIT
#include "transcript.h"

#include <stdio.h>

static void test_measures__totals_are_those_of_all_queues(void **state)
{
    struct talk *t = *state;
    (void)run(t, "Q.PUT app mail S {} JID a");
    (void)run(t, "Q.PUT app mail S {} JID b");
    (void)run(t, "Q.PUT app fax S '\"12345678\"' JID c");
    (void)run(t, "Q.PUT app fax S {} JID d DELAY 100");
    (void)run(t, "Q.RECUR app r mail S {} INTERVAL 60 DELAY 600");
    passes(t, 2);
    (void)run(t, "Q.POP app w 1 mail");
    (void)run(t, "Q.PAUSE app fax");
    (void)run(t, "Q.PAUSE app fax idle");
    says(t, "Q.TOTALS app",
         " 1# \"jobs\" => 1# \"scheduled\" => (integer) 1\n"
         "    2# \"depends\" => (integer) 0\n"
         "    3# \"waiting\" => (integer) 2\n"
         "    4# \"running\" => (integer) 1\n"
         "    5# \"stalled\" => (integer) 0\n"
         "    6# \"complete\" => (integer) 0\n"
         "    7# \"failed\" => (integer) 0\n"
         " 2# \"queues\" => (integer) 2\n"
         " 3# \"paused\" => (integer) 2\n"
         " 4# \"workers\" => (integer) 1\n"
         " 5# \"recurring\" => (integer) 1\n"
         " 6# \"failures\" => (integer) 0\n"
         " 7# \"bytes\" => (integer) 16\n"
         " 8# \"oldest\" => 1# \"queue\" => \"mail\"\n"
         "    2# \"age\" => (double) 2\n"
         " 9# \"rates\" => 1# \"put\" => (double) 0.06666666666666667\n"
         "    2# \"popped\" => (double) 0\n...");
    (void)run(t, "Q.UNPAUSE app idle");
    passes(t, 1);
    has(t, "Q.TOTALS app",
        "3# \"paused\" => (integer) 1\n...10# \"last_second\" => 1# \"put\" => (integer) 0\n"
        "    2# \"popped\" => (integer) 1\n...");
    (void)run(t, "Q.CANCEL app b");
    (void)run(t, "Q.CANCEL app c");
    has(t, "Q.TOTALS app", " 8# \"oldest\" => (nil)\n...");
}

static void test_measures__the_oldest_job_is_found_whatever_its_priority(void **state)
{
    struct talk *t = *state;
    (void)run(t, "Q.PUT app mail S {} JID late PRIORITY 9");
    (void)run(t, "Q.PUT app mail S {} JID changed");
    passes(t, 10);
    (void)run(t, "Q.PUT app mail S {} JID soon PRIORITY 1");
    (void)run(t, "Q.PUT app mail S {} JID lane DOMAIN d");
    (void)run(t, "Q.PRIORITY app changed 0");
    has(t, "Q.QUEUE app mail", "14# \"age\" => (double) 10\n...");
    (void)run(t, "Q.CANCEL app late");
    has(t, "Q.QUEUE app mail", "14# \"age\" => (double) 10\n...");
    (void)run(t, "Q.CANCEL app changed");
    has(t, "Q.QUEUE app mail", "14# \"age\" => (double) 0\n...");
    passes(t, 5);
    (void)run(t, "Q.CANCEL app soon");
    has(t, "Q.QUEUE app mail", "14# \"age\" => (double) 5\n...");
    // A hundred priorities: those that run first and last are looked at.
    for (int i = 0; i < 100; i++) {
        char line[100];
        (void)snprintf(line, sizeof(line), "Q.PUT app many S {} PRIORITY %d", 99 - i);
        (void)run(t, line);
        passes(t, 1);
    }
    has(t, "Q.QUEUE app many", "14# \"age\" => (double) 100\n...");
}

// The names of a page and its cursor, as "a b, 0000".
static const char *page_of(struct talk *t, const char *line)
{
    static char out[2000];
    const char *text = run(t, line);
    size_t size = 0;
    out[0] = '\0';
    for (const char *at = text; (at = strstr(at, "\"queue\" => \"")); at++) {
        const char *name = at + strlen("\"queue\" => \"");
        size += (size_t)snprintf(out + size, sizeof(out) - size, "%s%.*s", size ? " " : "",
                                 (int)strcspn(name, "\""), name);
    }
    const char *next = strstr(text, "\"next\" => ") + strlen("\"next\" => ");
    (void)snprintf(out + size, sizeof(out) - size, ", %s", next);
    return out;
}

static void fill_queues(struct talk *t)
{
    (void)run(t, "Q.PUT app c S {} JID c1");
    passes(t, 1);
    (void)run(t, "Q.PUT app a S {} JID a1");
    (void)run(t, "Q.PUT app a S {} JID a2");
    (void)run(t, "Q.PUT app a S {} JID a3");
    passes(t, 1);
    (void)run(t, "Q.PUT app b S {} JID b1");
    (void)run(t, "Q.PUT app b S {} JID b2");
    (void)run(t, "Q.PUT app d S {} JID d1 DELAY 60");
}

static void test_measures__queues_are_listed_in_many_orders(void **state)
{
    struct talk *t = *state;
    fill_queues(t);
    assert_string_equal(page_of(t, "Q.QUEUES app"), "c a b d, (nil)");
    assert_string_equal(page_of(t, "Q.QUEUES app SORT name"), "a b c d, (nil)");
    assert_string_equal(page_of(t, "Q.QUEUES app SORT waiting"), "a b c d, (nil)");
    assert_string_equal(page_of(t, "Q.QUEUES app SORT age"), "c a b d, (nil)");
    passes(t, 1);
    assert_string_equal(page_of(t, "Q.QUEUES app SORT put"), "a b c d, (nil)");
    (void)run(t, "Q.POP app w 2 b");
    (void)run(t, "Q.FAIL app c1 w g m");
    assert_string_equal(page_of(t, "Q.QUEUES app SORT running"), "b c a d, (nil)");
    passes(t, 75);
    assert_string_equal(page_of(t, "Q.QUEUES app SORT stalled"), "b c a d, (nil)");
}

static void test_measures__a_page_of_queues_goes_on_where_the_one_before_ended(void **state)
{
    struct talk *t = *state;
    fill_queues(t);
    static const char *const orders[] = { "seen",   "name", "waiting", "running",  "stalled",
                                          "failed", "age",  "put",     "completed" };
    for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
        for (int count = 1; count < 5; count++) {
            char line[400], all[100], pieces[100] = "";
            (void)snprintf(line, sizeof(line), "Q.QUEUES app SORT %s", orders[i]);
            (void)snprintf(all, sizeof(all), "%s", page_of(t, line));
            (void)snprintf(line, sizeof(line), "Q.QUEUES app SORT %s COUNT %d", orders[i], count);
            for (int pages = 0; pages < 5; pages++) {
                const char *page = page_of(t, line);
                size_t names = strcspn(page, ","), size = strlen(pieces);
                (void)snprintf(pieces + size, sizeof(pieces) - size, "%s%.*s", size ? " " : "",
                               (int)names, page);
                if (strcmp(page + names, ", (nil)") == 0) {
                    break;
                }
                (void)snprintf(line, sizeof(line), "Q.QUEUES app SORT %s COUNT %d CURSOR %s",
                               orders[i], count, page + names + 2);
            }
            all[strcspn(all, ",")] = '\0';
            assert_string_equal(pieces, all);
        }
    }
    says(t, "Q.QUEUES app SORT age CURSOR x",
         "(error) INVALID Q.QUEUES: CURSOR must be the value of next in an earlier page");
    assert_string_equal(page_of(t, "Q.QUEUES app SORT name OFFSET 1 COUNT 2"), "b c, \"c\"");
    assert_string_equal(page_of(t, "Q.QUEUES app SORT waiting OFFSET 3 COUNT 2"), "d, (nil)");
    assert_string_equal(page_of(t, "Q.QUEUES app SORT waiting OFFSET 4"), ", (nil)");
}

static void test_measures__queues_are_listed_by_a_pattern_in_every_order(void **state)
{
    struct talk *t = *state;
    (void)run(t, "Q.PUT app mail-9 S {} JID m9");
    passes(t, 1);
    (void)run(t, "Q.PUT app fax S {} JID f1");
    (void)run(t, "Q.PUT app Mail-1 S {} JID m1");
    passes(t, 1);
    (void)run(t, "Q.PUT app e-mail S {} JID e1");
    (void)run(t, "Q.PUT app e-mail S {} JID e2");
    (void)run(t, "Q.POP app w 1 mail-late");
    assert_string_equal(page_of(t, "Q.QUEUES app MATCH *mail*"),
                        "mail-9 Mail-1 e-mail mail-late, (nil)");
    assert_string_equal(page_of(t, "Q.QUEUES app MATCH mail-? SORT name"), "Mail-1 mail-9, (nil)");
    assert_string_equal(page_of(t, "Q.QUEUES app MATCH *mail* SORT waiting COUNT 1 OFFSET 1"),
                        "mail-9, \"00000000000000010000000000000001\"");
    assert_string_equal(page_of(t, "Q.QUEUES app MATCH nothing"), ", (nil)");
    assert_string_equal(page_of(t, "Q.QUEUES app MATCH \"\""),
                        "mail-9 fax Mail-1 e-mail mail-late, (nil)");
    for (int count = 0; count < 5; count++) {
        char line[200];
        (void)snprintf(line, sizeof(line), "Q.QUEUES app MATCH *mail* COUNT %d", count);
        assert_non_null(strstr(run(t, line), "\"total\" => (integer) 4"));
    }
}

static void test_measures__pages_by_a_pattern_go_on_where_the_one_before_ended(void **state)
{
    struct talk *t = *state;
    for (int i = 0; i < 9; i++) {
        char line[100];
        (void)snprintf(line, sizeof(line), "Q.PUT app %c%d S {}", "ab"[i % 2], i);
        (void)run(t, line);
        passes(t, i % 3);
    }
    (void)run(t, "Q.POP app w 1 a-late b-late");
    static const char *const orders[] = { "seen", "name", "waiting", "age", "put" };
    for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
        char line[400], all[200], pieces[200] = "";
        (void)snprintf(line, sizeof(line), "Q.QUEUES app SORT %s MATCH a*", orders[i]);
        (void)snprintf(all, sizeof(all), "%s", page_of(t, line));
        all[strcspn(all, ",")] = '\0';
        (void)snprintf(line, sizeof(line), "Q.QUEUES app SORT %s MATCH a* COUNT 2", orders[i]);
        for (;;) {
            const char *page = page_of(t, line);
            size_t names = strcspn(page, ","), size = strlen(pieces);
            (void)snprintf(pieces + size, sizeof(pieces) - size, "%s%.*s", size ? " " : "",
                           (int)names, page);
            if (strcmp(page + names, ", (nil)") == 0) {
                break;
            }
            (void)snprintf(line, sizeof(line), "Q.QUEUES app SORT %s MATCH a* COUNT 2 CURSOR %s",
                           orders[i], page + names + 2);
        }
        assert_string_equal(pieces, all);
        assert_int_equal(strlen(all), strlen("a0 a2 a4 a6 a8 a-late"));
    }
}

static void test_measures__a_queue_that_only_has_a_listener_is_on_the_last_page(void **state)
{
    struct talk *t = *state;
    (void)run(t, "Q.PUT app b S {} JID b1");
    (void)run(t, "Q.POP app w 1 a");
    (void)run(t, "Q.POP app w 1 z");
    assert_string_equal(page_of(t, "Q.QUEUES app"), "b a z, (nil)");
    char line[200];
    (void)snprintf(line, sizeof(line), "Q.QUEUES app COUNT 1 CURSOR %s",
                   page_of(t, "Q.QUEUES app COUNT 1") + 3);
    assert_memory_equal(page_of(t, line), "a, ", 3);
    (void)snprintf(line, sizeof(line), "Q.QUEUES app COUNT 5 CURSOR %s",
                   page_of(t, "Q.QUEUES app COUNT 2") + 5);
    assert_string_equal(page_of(t, line), "z, (nil)");
}

static void test_measures__a_stalled_job_is_stalled_in_every_answer(void **state)
{
    struct talk *t = *state;
    (void)run(t, "Q.PUT app mail S {} JID lost");
    (void)run(t, "Q.PUT app mail S {} JID other");
    (void)run(t, "Q.POP app w 1 mail");
    passes(t, 61);
    // Its lease has run out, and the grace lasts: it is running.
    has(t, "Q.QUEUE app mail",
        "2# \"waiting\" => (integer) 1\n 3# \"running\" => (integer) 1\n"
        " 4# \"stalled\" => (integer) 0\n...");
    says(t, "Q.COUNT app STATE running", "(integer) 1");
    has(t, "Q.TOTALS app", "4# \"running\" => (integer) 1\n    5# \"stalled\" => (integer) 0...");
    passes(t, 20);
    has(t, "Q.GET app lost", "\"state\" => \"stalled\"...");
    has(t, "Q.QUEUE app mail",
        "2# \"waiting\" => (integer) 1\n 3# \"running\" => (integer) 0\n"
        " 4# \"stalled\" => (integer) 1\n...");
    has(t, "Q.QUEUES app", "4# \"stalled\" => (integer) 1\n...");
    says(t, "Q.COUNT app STATE stalled", "(integer) 1");
    says(t, "Q.COUNT app QUEUE mail STATE stalled", "(integer) 1");
    says(t, "Q.COUNT app STATE waiting", "(integer) 1");
    has(t, "Q.TOTALS app",
        "3# \"waiting\" => (integer) 1\n    4# \"running\" => (integer) 0\n"
        "    5# \"stalled\" => (integer) 1...");
    has(t, "Q.BULK app cancel QUEUE mail STATE stalled DRY-RUN", "\"matched\" => (integer) 1...");
    passes(t, 60);
    has(t, "Q.SERIES app mail STEP 60 COUNT 1", "\"stalled\" => 1) (integer) 1...");
}

static void test_measures__a_series_has_as_many_periods_as_are_asked_for(void **state)
{
    struct talk *t = *state;
    (void)run(t, "Q.PUT app mail S {} JID a");
    passes(t, 1);
    says(t, "Q.SERIES app mail COUNT 2",
         " 1# \"step\" => (integer) 1\n"
         " 2# \"from\" => (double) 1783999999\n"
         " 3# \"count\" => (integer) 2\n"
         " 4# \"put\" => 1) (integer) 0\n"
         "    2) (integer) 1\n"
         " 5# \"popped\" => 1) (integer) 0\n...");
    has(t, "Q.SERIES app", "3# \"count\" => (integer) 60\n...");
    has(t, "Q.SERIES app STEP 15", "3# \"count\" => (integer) 60\n...");
    has(t, "Q.SERIES app STEP 60", "3# \"count\" => (integer) 1440\n...");
    has(t, "Q.SERIES app COUNT 0",
        "3# \"count\" => (integer) 0\n 4# \"put\" => (empty array)\n...");
    has(t, "Q.SERIES app none COUNT 1", "4# \"put\" => 1) (integer) 0\n...");
    says(t, "Q.SERIES app STEP 2",
         "(error) INVALID Q.SERIES: STEP must be one of 1, 15, 60, not \"2\"");
    (void)run(t, "Q.POP app w 1 mail");
    passes(t, 2);
    (void)run(t, "Q.COMPLETE app a w");
    has(t, "Q.SERIES app COUNT 0",
        "11# \"wait\" => 1# \"p50\" => (empty array)\n"
        "    2# \"p90\" => (empty array)\n"
        "    3# \"p99\" => (empty array)\n"
        "    4# \"window\" => 1# \"count\" => (integer) 1\n"
        "       2# \"p50\" => (double) 1.048575\n...");
}

static void test_measures__all_days_of_all_queues_are_listed(void **state)
{
    struct talk *t = *state;
    for (int day = 0; day < 3; day++) {
        (void)run(t, "Q.PUT app mail S {} JID a");
        (void)run(t, "Q.PUT app fax S {} JID b");
        (void)run(t, "Q.POP app w 2 mail fax");
        (void)run(t, "Q.PUT app empty S {} JID c");
        passes(t, 86400);
    }
    says(t, "Q.STATS.DAYS app COUNT 2",
         "1# \"days\" => 1) 1# \"queue\" => \"mail\"\n"
         "      2# \"date\" => (double) 1784160000\n"
         "      3# \"retries\" => (integer) 0\n"
         "      4# \"lost_leases\" => (integer) 1\n"
         "      5# \"failures\" => (integer) 0\n"
         "      6# \"failed\" => (integer) 0\n"
         "      7# \"wait\" => 1# \"count\" => (integer) 1\n"
         "         2# \"mean\" => (double) 0\n"
         "         3# \"std\" => (double) 0\n"
         "      8# \"run\" => 1# \"count\" => (integer) 0\n"
         "         2# \"mean\" => (double) 0\n"
         "         3# \"std\" => (double) 0\n"
         "   2) 1# \"queue\" => \"mail\"\n"
         "      2# \"date\" => (double) 1784073600\n...");
    const char *pages[] = { "mail mail mail fax", "fax fax" };
    char line[200] = "Q.STATS.DAYS app COUNT 4";
    for (size_t i = 0; i < 2; i++) {
        char page[200];
        (void)snprintf(page, sizeof(page), "%s", page_of(t, line));
        assert_int_equal(strcspn(page, ","), strlen(pages[i]));
        assert_memory_equal(page, pages[i], strlen(pages[i]));
        (void)snprintf(line, sizeof(line), "Q.STATS.DAYS app COUNT 4 CURSOR %s",
                       page + strlen(pages[i]) + 2);
    }
    assert_string_equal(page_of(t, "Q.STATS.DAYS app fax"), "fax fax fax, (nil)");
    assert_string_equal(page_of(t, "Q.STATS.DAYS app FROM 2026-07-15T12:00:00Z"),
                        "mail mail fax fax, (nil)");
    assert_string_equal(page_of(t, "Q.STATS.DAYS app none"), ", (nil)");
    assert_non_null(strstr(run(t, "Q.STATS.DAYS app fax HISTOGRAMS COUNT 1"), "histogram"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TALK_TEST(test_measures__totals_are_those_of_all_queues),
        TALK_TEST(test_measures__the_oldest_job_is_found_whatever_its_priority),
        TALK_TEST(test_measures__queues_are_listed_in_many_orders),
        TALK_TEST(test_measures__a_page_of_queues_goes_on_where_the_one_before_ended),
        TALK_TEST(test_measures__queues_are_listed_by_a_pattern_in_every_order),
        TALK_TEST(test_measures__pages_by_a_pattern_go_on_where_the_one_before_ended),
        TALK_TEST(test_measures__a_queue_that_only_has_a_listener_is_on_the_last_page),
        TALK_TEST(test_measures__a_stalled_job_is_stalled_in_every_answer),
        TALK_TEST(test_measures__a_series_has_as_many_periods_as_are_asked_for),
        TALK_TEST(test_measures__all_days_of_all_queues_are_listed),
    };
    return cmocka_run_group_tests_name("measures", tests, NULL, NULL);
}
