// SPDX-License-Identifier: MIT
#include "transcript.h"

static void test_jobs__what_is_not_there_is_null_in_a_list_and_else_an_error(void **state)
{
    struct talk *t = *state;
    static const char *const lines[] = {
        "Q.HISTORY app nobody",       "Q.LOGS app nobody",          "Q.EXPLAIN app nobody",
        "Q.OPTIONS app nobody",       "Q.PRIORITY app nobody 1",    "Q.DATA app nobody {}",
        "Q.NOTE app nobody seen",     "Q.TIMEOUT app nobody",       "Q.DEPENDS.ON app nobody a",
        "Q.DEPENDS.OFF app nobody a", "Q.DEPENDS.CLEAR app nobody", "Q.DELETE app nobody",
        "Q.TAG app nobody a",         "Q.UNTAG app nobody a",       "Q.TRACK app nobody",
        "Q.UNTRACK app nobody",
    };
    for (size_t i = 0; TEST_ROW_NAMED(i, lines, lines[i]); i++) {
        says(t, lines[i], "(error) NOT_FOUND job nobody does not exist");
    }
    says(t, "Q.GET app nobody none", "1) (nil)\n2) (nil)");
    says(t, "Q.GET app", "(error) INVALID too few arguments; usage: Q.GET ns jid [jid ...]");
    says(t, "Q.CANCEL app nobody", "(integer) 0");
}

static void test_jobs__data_and_priority_can_be_changed(void **state)
{
    struct talk *t = *state;
    (void)run(t, "Q.MPUT app 5 mail Send {} JID ann 5 mail Send {} JID bob");
    says(t, "Q.PRIORITY app bob -1", "OK");
    says(t, "Q.DATA app bob [7]", "OK");
    says(t, "Q.DATA app bob [7", "(error) INVALID Q.DATA: data is not JSON: ...");
    says(t, "Q.PRIORITY app bob 2147483648",
         "(error) INVALID Q.PRIORITY: priority must be from -2147483648 to 2147483647, not "
         "2147483648");
    says(t, "Q.POP app w 1 mail",
         "1)  1# \"jid\" => \"bob\"\n    2# \"klass\" => \"Send\"\n    3# \"queue\" => \"mail\"\n"
         "    4# \"data\" => \"[7]\"\n...");
}

static void test_jobs__notes_stand_in_the_history(void **state)
{
    struct talk *t = *state;
    (void)run(t, "Q.PUT app mail Send {} JID bob");
    passes(t, 1);
    says(t, "Q.NOTE app bob seen DATA {\"by\":\"joe\"}", "OK");
    says(t, "Q.NOTE app bob seen WORKER w", "(error) STATE ...");
    says(t, "Q.NOTE app bob seen TOKEN 1", "(error) INVALID Q.NOTE: TOKEN needs a WORKER");
    (void)run(t, "Q.POP app w 1 mail");
    says(t, "Q.NOTE app bob half WORKER w TOKEN 1", "OK");
    says(t, "Q.NOTE app bob half WORKER w TOKEN 2", "(error) STALE ...");
    (void)run(t, "Q.FAIL app bob w smtp 'mailbox full'");
    says(t, "Q.HISTORY app bob",
         "1) 1# \"when\" => (double) 1784000000.5\n"
         "   2# \"what\" => \"put\"\n"
         "   3# \"queue\" => \"mail\"\n"
         "   4# \"worker\" => (nil)\n"
         "   5# \"group\" => (nil)\n"
         "   6# \"message\" => (nil)\n"
         "   7# \"data\" => (nil)\n"
         "   8# \"until\" => (nil)\n"
         "2) 1# \"when\" => (double) 1784000001.5\n"
         "   2# \"what\" => \"seen\"\n"
         "   3# \"queue\" => (nil)\n"
         "   4# \"worker\" => (nil)\n"
         "   5# \"group\" => (nil)\n"
         "   6# \"message\" => (nil)\n"
         "   7# \"data\" => \"{\\\"by\\\":\\\"joe\\\"}\"\n"
         "   8# \"until\" => (nil)\n"
         "3) 1# \"when\" => (double) 1784000001.5\n"
         "   2# \"what\" => \"popped\"\n"
         "   3# \"queue\" => (nil)\n"
         "   4# \"worker\" => \"w\"\n"
         "   5# \"group\" => (nil)\n"
         "   6# \"message\" => (nil)\n"
         "   7# \"data\" => (nil)\n"
         "   8# \"until\" => (nil)\n"
         "4) 1# \"when\" => (double) 1784000001.5\n"
         "   2# \"what\" => \"half\"\n"
         "...");
    assert_non_null(strstr(run(t, "Q.HISTORY app bob"), "   2# \"what\" => \"failed\"\n"
                                                        "   3# \"queue\" => (nil)\n"
                                                        "   4# \"worker\" => \"w\"\n"
                                                        "   5# \"group\" => \"smtp\"\n"
                                                        "   6# \"message\" => \"mailbox full\"\n"));
}

static void test_jobs__lines_of_the_log_come_in_order(void **state)
{
    struct talk *t = *state;
    (void)run(t, "Q.PUT app mail Send {} JID bob");
    says(t, "Q.LOGS app bob", "(empty array)");
    (void)run(t, "Q.POP app w 1 mail");
    (void)run(t, "Q.LOG app bob w one");
    passes(t, 1);
    (void)run(t, "Q.LOG app bob w two");
    says(t, "Q.LOGS app bob",
         "1) 1# \"when\" => (double) 1784000000.5\n"
         "   2# \"line\" => \"one\"\n"
         "2) 1# \"when\" => (double) 1784000001.5\n"
         "   2# \"line\" => \"two\"");
}

static void test_jobs__explain_says_why(void **state)
{
    struct talk *t = *state;
    (void)run(t, "Q.MPUT app 5 mail Send {} JID ann 5 mail Send {} JID bob 7 mail Send {} JID cat "
                 "DEPENDS bob");
    says(t, "Q.EXPLAIN app bob",
         " 1# \"reason\" => \"behind\"\n"
         " 2# \"sentence\" => \"Job bob waits behind 1 job in queue mail.\"\n"
         " 3# \"state\" => \"waiting\"\n"
         " 4# \"earliest\" => (double) 1784000000.5\n"
         " 5# \"until\" => (nil)\n"
         " 6# \"behind\" => (integer) 1\n"
         " 7# \"queue\" => \"mail\"\n"
         " 8# \"domain\" => (nil)\n"
         " 9# \"worker\" => (nil)\n"
         "10# \"group\" => (nil)\n"
         "11# \"attempts\" => (integer) 0\n"
         "12# \"blockers\" => (empty array)\n"
         "13# \"at_least\" => (false)\n"
         "14# \"expires\" => (nil)");
    assert_non_null(strstr(run(t, "Q.EXPLAIN app cat"), "12# \"blockers\" => 1) \"bob\""));
    (void)run(t, "Q.POP app w 1 mail");
    says(t, "Q.EXPLAIN app ann", " 1# \"reason\" => \"running\"\n...");
    (void)run(t, "Q.FAIL app ann w smtp no");
    assert_non_null(strstr(run(t, "Q.EXPLAIN app ann"), " 4# \"earliest\" => (nil)\n"));
}

static void test_jobs__timeout_takes_leases_from_all_or_none(void **state)
{
    struct talk *t = *state;
    (void)run(t, "Q.MPUT app 5 mail Send {} JID ann 5 mail Send {} JID bob");
    (void)run(t, "Q.POP app w 1 mail");
    says(t, "Q.TIMEOUT app ann bob", "(error) STATE job bob is not running: waiting");
    says(t, "Q.COUNT app STATE running", "(integer) 1");
    says(t, "Q.TIMEOUT app ann", "OK");
    says(t, "Q.COUNT app STATE stalled", "(integer) 1");
}

static void test_jobs__dependencies_come_and_go(void **state)
{
    struct talk *t = *state;
    (void)run(t, "Q.MPUT app 5 q K {} JID a 5 q K {} JID b 7 q K {} JID c DEPENDS a");
    says(t, "Q.DEPENDS.ON app a b", "(error) STATE ...");
    says(t, "Q.DEPENDS.ON app c b", "OK");
    says(t, "Q.DEPENDS.ON app c",
         "(error) INVALID too few arguments; usage: Q.DEPENDS.ON ns jid "
         "dependency [dependency ...]");
    assert_non_null(strstr(run(t, "Q.GET app c"), "\"depends\" => 1) \"a\"\n       2) \"b\"\n"));
    assert_non_null(strstr(run(t, "Q.GET app b"), "\"dependents\" => 1) \"c\"\n"));
    says(t, "Q.CANCEL app a", "(error) STATE ...");
    says(t, "Q.DEPENDS.OFF app c a", "OK");
    says(t, "Q.COUNT app STATE depends", "(integer) 1");
    says(t, "Q.DEPENDS.CLEAR app c", "OK");
    says(t, "Q.COUNT app STATE depends", "(integer) 0");
    says(t, "Q.CANCEL app a b c d", "(integer) 3");
}

static void test_jobs__options_are_shown_as_given_and_as_they_count(void **state)
{
    struct talk *t = *state;
    (void)run(t, "Q.PUT app q K {} JID a TIMEOUT 0 RESULT-TTL 60 MAX-CRASHES 3 "
                 "ON-DEPENDENCY-FAILURE run");
    (void)run(t, "Q.POLICY.SET app klass K TIMEOUT 5 BACKOFF fixed:1");
    (void)run(t, "Q.POLICY.SET app queue q BACKOFF fixed:2 MAX-CRASHES 9");
    says(t, "Q.OPTIONS app a",
         "1# \"given\" => 1# \"backoff\" => (nil)\n"
         "   2# \"timeout\" => (double) 0\n"
         "   3# \"lease\" => (nil)\n"
         "   4# \"result-ttl\" => (double) 60\n"
         "   5# \"max-crashes\" => (integer) 3\n"
         "   6# \"on-dependency-failure\" => \"run\"\n"
         "2# \"in-effect\" => 1# \"backoff\" => \"fixed:1\"\n"
         "   2# \"timeout\" => (double) 0\n"
         "   3# \"lease\" => (nil)\n"
         "   4# \"result-ttl\" => (double) 60\n"
         "   5# \"max-crashes\" => (integer) 3\n"
         "   6# \"on-dependency-failure\" => \"run\"");
}

static void test_jobs__delete_is_for_what_has_finished(void **state)
{
    struct talk *t = *state;
    (void)run(t, "Q.PUT app q K {} JID a");
    says(t, "Q.DELETE app a", "(error) STATE job a is waiting; only a finished job can be deleted");
    (void)run(t, "Q.POP app w 1 q");
    (void)run(t, "Q.COMPLETE app a w");
    says(t, "Q.CANCEL app a", "(integer) 0");
    says(t, "Q.DELETE app a", "OK");
    says(t, "Q.GET app a", "1) (nil)");
}

static void test_jobs__cancel_takes_dependents_along(void **state)
{
    struct talk *t = *state;
    (void)run(t, "Q.PUT app q K {} JID a");
    (void)run(t, "Q.PUT app q K {} JID b DEPENDS a");
    (void)run(t, "Q.PUT app r K {} JID c DEPENDS a DEPENDS b");
    (void)run(t, "Q.PUT app r K {} JID d DEPENDS c");
    (void)run(t, "Q.PUT app r K {} JID other");
    says(t, "Q.CANCEL app b",
         "(error) STATE job b is a dependency of c, which is not to be canceled");
    (void)run(t, "Q.CONFIG.SET app max-dependency-search 1");
    says(t, "Q.CANCEL app DEPENDENTS b",
         "(error) TOO_LARGE more jobs depend on those to be canceled than max-dependency-search "
         "allows: 1");
    (void)run(t, "Q.CONFIG.UNSET app max-dependency-search");
    says(t, "Q.CANCEL app DEPENDENTS b nobody other", "(integer) 4");
    says(t, "Q.GET app a b c d", "1)  1# \"jid\" => \"a\"\n...");
    says(t, "Q.CANCEL app a", "(integer) 1");
}

static void test_jobs__a_dependency_that_does_not_exist_is_refused(void **state)
{
    struct talk *t = *state;
    says(t, "Q.PUT app q K {} JID b DEPENDS a",
         "(error) NOT_FOUND job a, which job b is to depend on, does not exist");
    says(t, "Q.GET app b", "1) (nil)");
    says(t, "Q.PUT app q K {} JID b DEPENDS a ALLOW-MISSING", "\"b\"");
    // One that completed and was deleted by retention does exist in this sense.
    says(t, "Q.CONFIG.SET app jobs-history-count 0", "OK");
    (void)run(t, "Q.POP app w 1 q");
    says(t, "Q.COMPLETE app b w", "\"complete\"");
    says(t, "Q.GET app b", "1) (nil)");
    says(t, "Q.PUT app q K {} JID c DEPENDS b", "\"c\"");
}

static void test_jobs__a_scheduled_job_that_is_put_again_keeps_its_time(void **state)
{
    struct talk *t = *state;
    (void)run(t, "Q.PUT app q K {} JID a DELAY 60");
    (void)run(t, "Q.PUT app q K 2 JID a");
    says(t, "Q.JOBS app scheduled q",
         "1# \"total\" => (integer) 1\n2# \"jobs\" => 1)  1# \"jid\" => \"a\"\n...");
    (void)run(t, "Q.PUT app q K 3 JID a DELAY 0");
    says(t, "Q.JOBS app waiting q",
         "1# \"total\" => (integer) 1\n2# \"jobs\" => 1)  1# \"jid\" => \"a\"\n...");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TALK_TEST(test_jobs__a_dependency_that_does_not_exist_is_refused),
        TALK_TEST(test_jobs__a_scheduled_job_that_is_put_again_keeps_its_time),
        TALK_TEST(test_jobs__cancel_takes_dependents_along),
        TALK_TEST(test_jobs__what_is_not_there_is_null_in_a_list_and_else_an_error),
        TALK_TEST(test_jobs__data_and_priority_can_be_changed),
        TALK_TEST(test_jobs__notes_stand_in_the_history),
        TALK_TEST(test_jobs__lines_of_the_log_come_in_order),
        TALK_TEST(test_jobs__explain_says_why),
        TALK_TEST(test_jobs__timeout_takes_leases_from_all_or_none),
        TALK_TEST(test_jobs__dependencies_come_and_go),
        TALK_TEST(test_jobs__options_are_shown_as_given_and_as_they_count),
        TALK_TEST(test_jobs__delete_is_for_what_has_finished),
    };
    return cmocka_run_group_tests_name("jobs", tests, NULL, NULL);
}
