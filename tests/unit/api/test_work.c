// SPDX-License-Identifier: MIT
#include "transcript.h"

#include <stdio.h>

static void test_work__a_put_says_the_jid_and_keeps_what_it_was_given(void **state)
{
    struct talk *t = *state;
    says(t,
         "Q.PUT app mail Send {\"a\":1} JID bob PRIORITY -5 DELAY 1.5 RETRIES 2 TAG x TAG y "
         "DOMAIN lane DEADLINE 1784000100 UNIQUE key WORKER w",
         "\"bob\"");
    says(t, "Q.GET app bob",
         "1)  1# \"jid\" => \"bob\"\n"
         "    2# \"klass\" => \"Send\"\n"
         "    3# \"queue\" => \"mail\"\n"
         "    4# \"state\" => \"scheduled\"\n"
         "    5# \"stage\" => (nil)\n"
         "    6# \"data\" => \"{\\\"a\\\":1}\"\n"
         "    7# \"priority\" => (integer) -5\n"
         "    8# \"retries\" => (integer) 2\n"
         "    9# \"remaining\" => (integer) 2\n"
         "   10# \"attempts\" => (integer) 0\n"
         "   11# \"crashes\" => (integer) 0\n"
         "   12# \"domain\" => \"lane\"\n"
         "   13# \"tags\" => 1) \"x\"\n"
         "       2) \"y\"\n"
         "   14# \"tracked\" => (false)\n"
         "   15# \"created\" => (double) 1784000000.5\n"
         "   16# \"moved\" => (double) 1784000000.5\n"
         "   17# \"updated\" => (double) 1784000000.5\n"
         "   18# \"eta\" => (double) 1784000002\n"
         "   19# \"scheduled\" => (double) 1784000002\n"
         "   20# \"deadline\" => (double) 1784000100\n"
         "   21# \"lease\" => (nil)\n"
         "   22# \"last-run\" => (nil)\n"
         "   23# \"failure\" => (nil)\n"
         "   24# \"result\" => (nil)\n"
         "   25# \"result-until\" => (nil)\n"
         "   26# \"progress\" => (nil)\n"
         "   27# \"checkpoint\" => (nil)\n"
         "   28# \"depends\" => (empty array)\n"
         "   29# \"dependents\" => (empty array)\n"
         "   30# \"members\" => 1# \"done\" => (integer) 0\n"
         "       2# \"failed\" => (integer) 0\n"
         "   31# \"unique\" => 1# \"by\" => \"key\"\n"
         "       2# \"key\" => \"key\"\n"
         "       3# \"held\" => (true)\n"
         "   32# \"spawned-from\" => (nil)");
}

static void shows_part(const char *shown, const char *part)
{
    if (!strstr(shown, part)) {
        print_error("%s\nwithout\n%s\n", shown, part);
        fail();
    }
}

static void test_work__every_job_without_a_jid_gets_another(void **state)
{
    struct talk *t = *state;
    says(t, "Q.PUT app mail Send {}", "\"019f5eaf-b1f4-7000-8000-000000000200\"");
    says(t, "Q.PUT app mail Send {}", "\"019f5eaf-b1f4-7000-8000-000000000400\"");
}

static void test_work__when_is_said_in_one_way(void **state)
{
    struct talk *t = *state;
    says(t, "Q.PUT app mail Send {} DELAY 1 AT 1784000001",
         "(error) INVALID Q.PUT: either DELAY or AT, not both");
    says(t, "Q.PUT app mail Send {} JID a AT 2026-07-14T03:34:00Z", "\"a\"");
    says(t, "Q.PUT app mail Send {} JID b AT 2020-01-01T00:00:00Z", "\"b\"");
    says(t, "Q.JOBS app scheduled mail JIDS",
         "1# \"total\" => (integer) 1\n2# \"jids\" => 1) \"a\"\n3# \"next\" => (nil)");
    says(t, "Q.JOBS app waiting mail JIDS",
         "1# \"total\" => (integer) 1\n2# \"jids\" => 1) \"b\"\n3# \"next\" => (nil)");
}

static void test_work__no_two_jobs_do_the_same(void **state)
{
    struct talk *t = *state;
    says(t, "Q.PUT app mail Send {} UNIQUE k UNIQUE-CONTENTS",
         "(error) INVALID Q.PUT: either UNIQUE or UNIQUE-CONTENTS, not both");
    says(t, "Q.PUT app mail Send {} ON-CONFLICT refuse",
         "(error) INVALID Q.PUT: UNIQUE-UNTIL, UNIQUE-FOR and ON-CONFLICT need UNIQUE or "
         "UNIQUE-CONTENTS");
    says(t, "Q.PUT app mail Send {} UNIQUE k UNIQUE-FOR 10",
         "(error) INVALID Q.PUT: UNIQUE-FOR and UNIQUE-UNTIL time need each other");
    says(t, "Q.PUT app mail Send {} UNIQUE k UNIQUE-UNTIL time",
         "(error) INVALID Q.PUT: UNIQUE-FOR and UNIQUE-UNTIL time need each other");
    says(t, "Q.PUT app mail Send {\"a\":1} JID a UNIQUE-CONTENTS", "\"a\"");
    says(t, "Q.PUT app mail Send '{ \"a\": 1 }' JID b UNIQUE-CONTENTS", "\"a\"");
    says(t, "Q.PUT app mail Send {\"a\":1} JID b UNIQUE-CONTENTS ON-CONFLICT refuse",
         "(error) EXISTS ...");
    says(t, "Q.PUT app mail Send {\"a\":1} JID b UNIQUE-CONTENTS ON-CONFLICT replace", "\"b\"");
    says(t, "Q.GET app a", "1) (nil)");
    says(t, "Q.PUT app mail Send {} JID c UNIQUE k UNIQUE-UNTIL time UNIQUE-FOR 10", "\"c\"");
    says(t, "Q.PUT app mail Send {} JID d UNIQUE k", "\"c\"");
    passes(t, 11);
    says(t, "Q.PUT app mail Send {} JID d UNIQUE k", "\"d\"");
}

static void test_work__requeue_is_for_jobs_that_exist(void **state)
{
    struct talk *t = *state;
    says(t, "Q.REQUEUE app bob mail Send {}", "(error) NOT_FOUND job bob does not exist");
    (void)run(t, "Q.PUT app mail Send {} JID bob");
    says(t, "Q.REQUEUE app bob reports Send [1]", "\"bob\"");
    says(t, "Q.LENGTH app reports", "(integer) 1");
}

static void test_work__pop_hands_out_by_priority_and_queue_by_queue(void **state)
{
    struct talk *t = *state;
    (void)run(t, "Q.MPUT app 7 a K {} JID a1 PRIORITY 1 5 a K {} JID a2 5 b K {} JID b1");
    says(t, "Q.PEEK app a 5", "1)  1# \"jid\" => \"a2\"\n...");
    says(t, "Q.POP app w 1 a", "1)  1# \"jid\" => \"a2\"\n...");
    (void)run(t, "Q.PUT app a K {} JID a3");
    says(t, "Q.POP app w 2 ORDER round-robin a b", "1)  1# \"jid\" => \"a3\"\n...");
    says(t, "Q.JOBS app running b JIDS",
         "1# \"total\" => (integer) 1\n2# \"jids\" => 1) \"b1\"\n3# \"next\" => (nil)");
    says(t, "Q.POP app w 0 a", "(error) INVALID Q.POP: count must be from 1 to 1000, not 0");
}

static void test_work__only_the_holder_is_heard(void **state)
{
    struct talk *t = *state;
    static const char *const lines[] = {
        "Q.HEARTBEAT app bob other",    "Q.START app bob other 1", "Q.COMPLETE app bob other",
        "Q.FAIL app bob other g m",     "Q.RETRY app bob other",   "Q.PROGRESS app bob other 1",
        "Q.CHECKPOINT app bob other x", "Q.LOG app bob other x",   "Q.HEARTBEAT app bob w TOKEN 2",
    };
    (void)run(t, "Q.PUT app mail Send {} JID bob");
    (void)run(t, "Q.POP app w 1 mail");
    for (size_t i = 0; TEST_ROW_NAMED(i, lines, lines[i]); i++) {
        says(t, lines[i], "(error) STALE ...");
    }
    says(t, "Q.HEARTBEAT app bob w TOKEN 0",
         "(error) INVALID Q.HEARTBEAT: TOKEN must be from 1 to 9223372036854775807, not 0");
}

static void test_work__an_operator_fails_a_job_that_is_not_running(void **state)
{
    struct talk *t = *state;
    (void)run(t, "Q.PUT app mail Send {} JID bob");
    says(t, "Q.FAIL app bob ops g m", "(error) STATE job bob is not running: waiting");
    says(t, "Q.FAIL app bob ops g m TOKEN 1 FORCE",
         "(error) INVALID Q.FAIL: FORCE cannot be used with TOKEN");
    says(t, "Q.FAIL app bob ops obsolete 'not needed' FORCE", "OK");
    says(t, "Q.JOBS app failed mail JIDS",
         "1# \"total\" => (integer) 1\n2# \"jids\" => 1) \"bob\"\n3# \"next\" => (nil)");
    (void)run(t, "Q.UNFAIL app obsolete mail");
    (void)run(t, "Q.POP app w 1 mail");
    says(t, "Q.MFAIL app 5 bob ops g m FORCE", "1) OK");
    says(t, "Q.COMPLETE app bob w", "(error) STATE job bob is not running: failed");
}

static void test_work__a_run_is_reported_and_shown(void **state)
{
    struct talk *t = *state;
    (void)run(t, "Q.PUT app mail Send {} JID bob TIMEOUT 300");
    (void)run(t, "Q.POP app w 1 mail");
    passes(t, 10);
    says(t, "Q.START app bob w", "OK");
    says(t, "Q.START app bob w 4711", "OK");
    says(t, "Q.PROGRESS app bob w 0.25", "OK");
    says(t, "Q.PROGRESS app bob w 1.5",
         "(error) INVALID Q.PROGRESS: fraction must be a number from 0 to 1, not \"1.5\"");
    says(t, "Q.CHECKPOINT app bob w page-4", "OK");
    says(t, "Q.LOG app bob w hello", "OK");
    says(t, "Q.HEARTBEAT app bob w DATA {\"page\":4}", "(double) 1784000070.5");
    const char *shown = run(t, "Q.GET app bob");
    assert_non_null(strstr(shown, "\"lease\" => 1# \"worker\" => \"w\"\n"
                                  "       2# \"token\" => (integer) 1\n"
                                  "       3# \"expires\" => (double) 1784000070.5\n"
                                  "       4# \"length\" => (nil)\n"
                                  "       5# \"grace\" => (false)\n"
                                  "       6# \"run-ends\" => (double) 1784000300.5\n"
                                  "       7# \"pid\" => (integer) 4711\n"));
    assert_non_null(strstr(shown, "\"progress\" => 1# \"fraction\" => (double) 0.25\n"
                                  "       2# \"message\" => (nil)\n"));
    assert_non_null(strstr(shown, "\"checkpoint\" => \"page-4\"\n"));
    assert_non_null(strstr(shown, "\"data\" => \"{\\\"page\\\":4}\"\n"));
    passes(t, 100);
    shown = run(t, "Q.POP app w2 1 mail");
    assert_non_null(strstr(shown, "\"checkpoint\" => \"page-4\"\n"));
}

static void test_work__a_lease_lasts_as_the_worker_or_the_job_says(void **state)
{
    struct talk *t = *state;
    (void)run(t, "Q.PUT app mail Send {} JID bob LEASE 30");
    (void)run(t, "Q.MPUT app 7 mail Send {} JID ann LEASE 0");
    (void)run(t, "Q.POLICY.SET app klass Send LEASE 20");
    shows_part(run(t, "Q.POP app w 1 mail"), "\"expires\" => (double) 1784000030.5\n");
    shows_part(run(t, "Q.POP app w 1 LEASE 300 mail"), "\"expires\" => (double) 1784000300.5\n");
    shows_part(run(t, "Q.GET app ann"), "4# \"length\" => (double) 300\n");
    shows_part(run(t, "Q.OPTIONS app ann"), "3# \"lease\" => (double) 0\n");
    says(t, "Q.HEARTBEAT app ann w LEASE 100", "(double) 1784000100.5");
    says(t, "Q.MHEARTBEAT app 2 ann w 4 bob w LEASE 7",
         "1) (double) 1784000100.5\n2) (double) 1784000007.5");
    says(t, "Q.HEARTBEAT app ann w LEASE 0", "(double) 1784000060.5");
    (void)run(t, "Q.RETURN app bob w");
    shows_part(run(t, "Q.TAKE app bob w2 LEASE 0.5"), "\"expires\" => (double) 1784000001\n");
    says(t, "Q.HEARTBEAT app ann w LEASE 0.0001",
         "(error) INVALID lease must be between 0.001 and 3162240000 seconds, or 0");
    says(t, "Q.HEARTBEAT app ann w LEASE 4000000000",
         "(error) INVALID Q.HEARTBEAT: LEASE must be from 0 to 3162240000 seconds, not 4000000000");
    (void)run(t, "Q.RECUR app r mail Poll {} INTERVAL 60 LEASE 5");
    shows_part(run(t, "Q.RECUR.GET app r"), "3# \"lease\" => (double) 5\n");
    (void)run(t, "Q.REQUEUE app bob mail Send {} LEASE 40");
    shows_part(run(t, "Q.TAKE app bob w"), "\"expires\" => (double) 1784000040.5\n");
}

static void test_work__a_job_is_taken_out_of_its_turn(void **state)
{
    struct talk *t = *state;
    (void)run(t, "Q.MPUT app 5 mail Send {} JID ann 5 mail Send {} JID bob");
    shows_part(run(t, "Q.TAKE app bob w"), " 1# \"jid\" => \"bob\"\n");
    says(t, "Q.TAKE app bob w2", "(error) STATE job bob cannot be taken now: running");
    says(t, "Q.TAKE app nobody w2", "(error) NOT_FOUND job nobody does not exist");
    (void)run(t, "Q.PAUSE app mail");
    says(t, "Q.TAKE app ann w2", "(error) STATE job ann cannot be taken now: paused");
    (void)run(t, "Q.UNPAUSE app mail");
    (void)run(t, "Q.LIMIT.SET app QUEUE mail CONCURRENCY 1");
    says(t, "Q.TAKE app ann w2", "(error) STATE job ann cannot be taken now: lane-concurrency");
}

static void test_work__a_retry_that_does_not_count_never_fails(void **state)
{
    struct talk *t = *state;
    (void)run(t, "Q.PUT app mail Send {} JID bob RETRIES 0");
    (void)run(t, "Q.POP app w 1 mail");
    says(t, "Q.RETRY app bob w UNCOUNTED GROUP g MESSAGE m", "(integer) 0");
    (void)run(t, "Q.POP app w 1 mail");
    says(t, "Q.MRETRY app 2 bob w", "1) (integer) -1");
}

static void test_work__complete_can_go_on(void **state)
{
    struct talk *t = *state;
    (void)run(t, "Q.MPUT app 5 mail Send {} JID bob 5 mail Send {} JID cat");
    (void)run(t, "Q.POP app w 1 mail");
    says(t, "Q.COMPLETE app bob w DELAY 5", "(error) INVALID ...");
    says(t, "Q.COMPLETE app bob w NEXT reports DELAY 5 DATA [2]", "\"scheduled\"");
    passes(t, 5);
    (void)run(t, "Q.POP app w 1 reports");
    says(t, "Q.COMPLETE app bob w NEXT mail DEPENDS oops",
         "(error) NOT_FOUND job oops, which job bob is to depend on, does not exist");
    says(t, "Q.COMPLETE app bob w NEXT mail DEPENDS cat DEPENDS oops ALLOW-MISSING", "\"depends\"");
    (void)run(t, "Q.POP app w 1 mail");
    says(t, "Q.COMPLETE app cat w RESULT nonsense",
         "(error) INVALID Q.COMPLETE: RESULT is not JSON: ...");
    says(t, "Q.COMPLETE app cat w RESULT {}", "\"complete\"");
    (void)run(t, "Q.POP app w 1 mail");
    says(t, "Q.COMPLETE app bob w", "\"complete\"");
}

static void test_work__retry_waits_as_the_backoff_says_and_fails_in_the_end(void **state)
{
    struct talk *t = *state;
    (void)run(t, "Q.PUT app mail Send {} JID bob RETRIES 1 BACKOFF fixed:30");
    (void)run(t, "Q.POP app w 1 mail");
    says(t, "Q.RETRY app bob w MESSAGE why", "(error) INVALID Q.RETRY: MESSAGE needs a GROUP");
    says(t, "Q.RETRY app bob w", "(integer) 0");
    says(t, "Q.EXPLAIN app bob", " 1# \"reason\" => \"scheduled\"\n...");
    passes(t, 30);
    (void)run(t, "Q.POP app w 1 mail");
    says(t, "Q.RETRY app bob w GROUP smtp MESSAGE down", "(integer) -1");
    assert_non_null(strstr(run(t, "Q.GET app bob"), "\"failure\" => 1# \"group\" => \"smtp\"\n"
                                                    "       2# \"message\" => \"down\"\n"
                                                    "       3# \"worker\" => \"w\"\n"
                                                    "       4# \"when\" => (double) "
                                                    "1784000030.5\n"));
}

static void test_work__a_backoff_is_one_word(void **state)
{
    struct talk *t = *state;
    static const struct {
        const char *word;
        const char *kept; // NULL: refused
    } cases[] = {
        { "fixed:30", "fixed:30" },
        { "linear:1.5:60", "linear:1.5:60" },
        { "exponential:1:300:20", "exponential:1:300:20" },
        { "exponential:1::20", "exponential:1:0:20" },
        { "list:1,5,30", "list:1,5,30" },
        { "list:1,5,30:20:50", "list:1,5,30:20:50" },
        { "list:1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16", "list:1,2,3,4,5,6,7,8,9,10,11,12,13,14,"
                                                         "15,16" },
        { "fixed", NULL },
        { "fixed:", NULL },
        { "fixed:x", NULL },
        { "Fixed:1", NULL },
        { "fixed:1:2:3:4", NULL },
        { "fixed:1:2:101", NULL },
        { "fixed:1:2:-1", NULL },
        { "list:", NULL },
        { "list:1,,2", NULL },
        { "list:1,", NULL },
        { "list:,1", NULL },
        { "list:,", NULL },
        { "random:1", NULL },
        { ":", NULL },
    };
    for (size_t i = 0; TEST_ROW_NAMED(i, cases, cases[i].word); i++) {
        char line[200], kept[200];
        (void)snprintf(line, sizeof(line), "Q.PUT app mail Send {} JID bob BACKOFF %s",
                       cases[i].word);
        if (!cases[i].kept) {
            says(t, line, "(error) INVALID BACKOFF must be as exponential:1:300:20 ...");
            continue;
        }
        says(t, line, "\"bob\"");
        (void)snprintf(kept, sizeof(kept), "1# \"given\" => 1# \"backoff\" => \"%s\"\n...",
                       cases[i].kept);
        says(t, "Q.OPTIONS app bob", kept);
    }
    says(t, "Q.PUT app mail Send {} BACKOFF fixed:-1", "(error) INVALID ...");
    says(t, "Q.PUT app mail Send {} BACKOFF fixed:1:-1", "(error) INVALID ...");
    says(t, "Q.PUT app mail Send {} BACKOFF list:1,-1", "(error) INVALID ...");
}

static void job_shows(struct talk *t, const char *part)
{
    const char *shown = run(t, "Q.GET app bob");
    if (!strstr(shown, part)) {
        print_error("%s\nis not in\n%s\n", part, shown);
    }
    assert_non_null(strstr(shown, part));
}

static void test_work__a_run_is_reserved_then_started_and_stays_known(void **state)
{
    struct talk *t = *state;
    (void)run(t, "Q.PUT app mail Send {} JID bob AT 1784000010");
    job_shows(t, "\"eta\" => (double) 1784000010\n");
    job_shows(t, "\"last-run\" => (nil)\n");
    passes(t, 10);
    job_shows(t, "\"eta\" => (double) 1784000010\n");
    (void)run(t, "Q.POP app host_4711 1 mail");
    job_shows(t, "\"stage\" => \"reserved\"\n");
    job_shows(t, "\"last-run\" => 1# \"worker\" => \"host_4711\"\n"
                 "       2# \"popped\" => (double) 1784000010.5\n"
                 "       3# \"started\" => (nil)\n"
                 "       4# \"pid\" => (nil)\n");
    passes(t, 1);
    (void)run(t, "Q.START app bob host_4711 4712");
    job_shows(t, "\"stage\" => \"started\"\n");
    passes(t, 1);
    // The same once more says nothing new.
    (void)run(t, "Q.START app bob host_4711 4712");
    job_shows(t, "\"updated\" => (double) 1784000011.5\n");
    (void)run(t, "Q.COMPLETE app bob host_4711");
    job_shows(t, "\"state\" => \"complete\"\n    5# \"stage\" => (nil)\n");
    job_shows(t, "\"queue\" => \"mail\"\n");
    job_shows(t, "\"eta\" => (double) 1784000010\n");
    job_shows(t, "\"last-run\" => 1# \"worker\" => \"host_4711\"\n"
                 "       2# \"popped\" => (double) 1784000010.5\n"
                 "       3# \"started\" => (double) 1784000011.5\n"
                 "       4# \"pid\" => (integer) 4712\n");
}

static void test_work__updated_is_when_anything_last_changed(void **state)
{
    struct talk *t = *state;
    static const char *const changes[] = {
        "Q.PUT app mail Send {} JID bob DELAY 1",
        "Q.REQUEUE app bob mail Send {} DELAY 0",
        "Q.PRIORITY app bob 7",
        "Q.DATA app bob {\"a\":1}",
        "Q.TAG app bob x",
        "Q.UNTAG app bob x",
        "Q.TRACK app bob",
        "Q.UNTRACK app bob",
        "Q.NOTE app bob hello",
        "Q.POP app w 1 mail",
        "Q.START app bob w 4711",
        "Q.HEARTBEAT app bob w",
        "Q.PROGRESS app bob w 0.5",
        "Q.CHECKPOINT app bob w page-4",
        "Q.LOG app bob w hello",
        "Q.RETRY app bob w DELAY 0",
        "Q.POP app w 1 mail",
        "Q.RETURN app bob w",
        "Q.POP app w 1 mail",
        "Q.COMPLETE app bob w NEXT other",
        "Q.POP app w 1 other",
        "Q.FAIL app bob w smtp refused",
        "Q.UNFAIL app smtp mail",
        "Q.POP app w 1 mail",
        "Q.COMPLETE app bob w RESULT 1",
    };
    for (size_t i = 0; TEST_ROW_NAMED(i, changes, changes[i]); i++) {
        char part[64];
        assert_null(strstr(run(t, changes[i]), "(error)"));
        (void)snprintf(part, sizeof(part), "\"updated\" => (double) %zu.5\n", 1784000000 + i);
        job_shows(t, part);
        passes(t, 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TALK_TEST(test_work__a_put_says_the_jid_and_keeps_what_it_was_given),
        TALK_TEST(test_work__every_job_without_a_jid_gets_another),
        TALK_TEST(test_work__when_is_said_in_one_way),
        TALK_TEST(test_work__no_two_jobs_do_the_same),
        TALK_TEST(test_work__requeue_is_for_jobs_that_exist),
        TALK_TEST(test_work__pop_hands_out_by_priority_and_queue_by_queue),
        TALK_TEST(test_work__only_the_holder_is_heard),
        TALK_TEST(test_work__an_operator_fails_a_job_that_is_not_running),
        TALK_TEST(test_work__a_run_is_reported_and_shown),
        TALK_TEST(test_work__a_lease_lasts_as_the_worker_or_the_job_says),
        TALK_TEST(test_work__a_job_is_taken_out_of_its_turn),
        TALK_TEST(test_work__a_retry_that_does_not_count_never_fails),
        TALK_TEST(test_work__complete_can_go_on),
        TALK_TEST(test_work__retry_waits_as_the_backoff_says_and_fails_in_the_end),
        TALK_TEST(test_work__a_backoff_is_one_word),
        TALK_TEST(test_work__a_run_is_reserved_then_started_and_stays_known),
        TALK_TEST(test_work__updated_is_when_anything_last_changed),
    };
    return cmocka_run_group_tests_name("work", tests, NULL, NULL);
}
