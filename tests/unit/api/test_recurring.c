// SPDX-License-Identifier: MIT
#include "transcript.h"

#include <stdio.h>

static void test_recurring__is_made_with_all_it_was_given(void **state)
{
    struct talk *t = *state;
    says(t,
         "Q.RECUR app poll mail Poll [1] INTERVAL 300 DELAY 60 MISSED one BACKLOG 3 OVERLAP skip "
         "PRIORITY 4 RETRIES 2 TAG x TAG y DOMAIN lane TIMEOUT 30",
         "OK");
    says(t, "Q.RECUR.GET app poll",
         " 1# \"jid\" => \"poll\"\n"
         " 2# \"klass\" => \"Poll\"\n"
         " 3# \"queue\" => \"mail\"\n"
         " 4# \"data\" => \"[1]\"\n"
         " 5# \"interval\" => (double) 300\n"
         " 6# \"cron\" => (nil)\n"
         " 7# \"zone\" => (nil)\n"
         " 8# \"next\" => (double) 1784000060.5\n"
         " 9# \"count\" => (integer) 0\n"
         "10# \"missed\" => \"one\"\n"
         "11# \"overlap\" => \"skip\"\n"
         "12# \"backlog\" => (integer) 3\n"
         "13# \"priority\" => (integer) 4\n"
         "14# \"retries\" => (integer) 2\n"
         "15# \"domain\" => \"lane\"\n"
         "16# \"tags\" => 1) \"x\"\n"
         "    2) \"y\"\n"
         "17# \"options\" => 1# \"backoff\" => (nil)\n"
         "    2# \"timeout\" => (double) 30\n"
         "    3# \"lease\" => (nil)\n"
         "    4# \"result-ttl\" => (nil)\n"
         "    5# \"max-crashes\" => (nil)\n"
         "    6# \"on-dependency-failure\" => (nil)\n"
         "18# \"paused\" => (false)\n"
         "19# \"last\" => (nil)");
    passes(t, 61);
    const char *shown = run(t, "Q.POP app w 1 mail");
    assert_true(shows(shown, "1)  1# \"jid\" => \"poll-1\"\n..."));
    assert_non_null(strstr(run(t, "Q.GET app poll-1"), "\"spawned-from\" => \"poll\""));
}

static void test_recurring__registering_it_again_changes_nothing(void **state)
{
    struct talk *t = *state;
    for (int i = 0; i < 5; i++) {
        says(t, "Q.RECUR app poll mail Poll [1] INTERVAL 300 TAG x TIMEOUT 30", "OK");
    }
    says(t, "Q.LENGTH app mail", "(integer) 1");
    passes(t, 100);
    says(t, "Q.RECUR app poll mail Poll [1] INTERVAL 300 TAG x TIMEOUT 30 DELAY 300", "OK");
    says(t, "Q.RECUR.RUNS app poll COUNT 1", "1) (double) 1784000300.5");
    says(t, "Q.RECUR app poll mail Poll [1] INTERVAL 300 TAG x TIMEOUT 30 DELAY 300 RESTART", "OK");
    says(t, "Q.RECUR.RUNS app poll COUNT 1", "1) (double) 1784000400.5");
    says(t, "Q.UNRECUR app poll", "OK");
    says(t, "Q.RECUR app poll mail Poll [1] INTERVAL 300", "OK");
    says(t, "Q.LENGTH app mail", "(integer) 2");
    assert_non_null(strstr(run(t, "Q.GET app poll-2"), "\"spawned-from\" => \"poll\""));
}

static void test_recurring__is_either_by_interval_or_by_cron(void **state)
{
    struct talk *t = *state;
    static const char reply[] = "(error) INVALID Q.RECUR: needs an INTERVAL above 0, or CRON";
    says(t, "Q.RECUR app r q K {}", reply);
    says(t, "Q.RECUR app r q K {} INTERVAL 0", reply);
    says(t, "Q.RECUR app r q K {} INTERVAL 5 CRON '* * * * *'", reply);
    says(t, "Q.RECUR app r q K {} INTERVAL 5 ZONE Europe/Berlin", "(error) INVALID ...");
    says(t, "Q.RECUR app r q K {} CRON nonsense", "(error) INVALID ...");
    says(t, "Q.RECUR app r q K {} INTERVAL 5 OVERLAP maybe",
         "(error) INVALID Q.RECUR: OVERLAP must be one of allow, skip, not \"maybe\"");
    says(t, "Q.RECUR app r q K {} INTERVAL 5 BACKOFF x", "(error) INVALID BACKOFF must be as ...");
    says(t, "Q.RECUR.GET app r", "(error) NOT_FOUND recurring job r does not exist");
}

static void test_recurring__a_zone_is_asked_of_the_host_once(void **state)
{
    struct talk *t = *state;
    says(t, "Q.ZONES app", "(empty array)");
    says(t, "Q.RECUR app r q K {} CRON '0 3 * * *' ZONE Europe/Atlantis",
         "(error) NOT_FOUND time zone Europe/Atlantis is not known");
    says(t, "Q.ZONES app", "(empty array)");
    says(t, "Q.RECUR app r q K {} CRON '0 3 * * *' ZONE Europe/Berlin", "OK");
    says(t, "Q.ZONES app", "1) \"Europe/Berlin\"");
    says(t, "Q.RECUR.RUNS app r COUNT 2", "1) (double) 1784077200\n2) (double) 1784163600");
    t->host.zone = NULL;
    says(t, "Q.RECUR app s q K {} CRON '0 4 * * *' ZONE Europe/Berlin", "OK");
    says(t, "Q.RECUR app s q K {} CRON '0 4 * * *' ZONE Europe/Paris",
         "(error) NOT_FOUND time zone Europe/Paris is not known");
}

static void test_recurring__parts_can_be_changed(void **state)
{
    struct talk *t = *state;
    (void)run(t, "Q.RECUR app r q K {} INTERVAL 60 DELAY 60");
    says(t, "Q.RECUR.UPDATE app r", "OK");
    says(t,
         "Q.RECUR.UPDATE app r QUEUE p KLASS L DATA [2] INTERVAL 90 BACKLOG 1 PRIORITY 3 RETRIES "
         "0",
         "OK");
    says(t, "Q.RECUR.GET app r",
         " 1# \"jid\" => \"r\"\n"
         " 2# \"klass\" => \"L\"\n"
         " 3# \"queue\" => \"p\"\n"
         " 4# \"data\" => \"[2]\"\n"
         " 5# \"interval\" => (double) 90\n"
         " 6# \"cron\" => (nil)\n"
         " 7# \"zone\" => (nil)\n"
         " 8# \"next\" => (double) 1784000090.5\n"
         " 9# \"count\" => (integer) 0\n"
         "10# \"missed\" => \"one\"\n"
         "11# \"overlap\" => \"allow\"\n"
         "12# \"backlog\" => (integer) 1\n"
         "13# \"priority\" => (integer) 3\n"
         "14# \"retries\" => (integer) 0\n...");
    says(t, "Q.RECUR.UPDATE app s PRIORITY 1", "(error) NOT_FOUND recurring job s does not exist");
    says(t, "Q.RECUR.UPDATE app r INTERVAL 0", "(error) INVALID interval must be greater than 0");
}

static void test_recurring__tags_come_and_go(void **state)
{
    struct talk *t = *state;
    (void)run(t, "Q.RECUR app r q K {} INTERVAL 60");
    says(t, "Q.RECUR.TAG app r a b a", "1) \"a\"\n2) \"b\"");
    says(t, "Q.RECUR.UNTAG app r a c", "1) \"b\"");
    says(t, "Q.RECUR.UNTAG app r b", "(empty array)");
    says(t, "Q.RECUR.TAG app s a", "(error) NOT_FOUND recurring job s does not exist");
    says(t, "Q.RECUR.UNTAG app s a", "(error) NOT_FOUND recurring job s does not exist");
}

static void test_recurring__are_listed_by_when_they_are_due(void **state)
{
    struct talk *t = *state;
    says(t, "Q.RECURRING app q", "1# \"total\" => (integer) 0\n2# \"jobs\" => (empty array)");
    (void)run(t, "Q.RECUR app later q K {} INTERVAL 60 DELAY 120");
    (void)run(t, "Q.RECUR app sooner q K {} INTERVAL 60 DELAY 60");
    says(t, "Q.RECURRING app q",
         "1# \"total\" => (integer) 2\n2# \"jobs\" => 1)  1# \"jid\" => \"sooner\"\n...");
    says(t, "Q.RECURRING app q OFFSET 1 COUNT 1",
         "1# \"total\" => (integer) 2\n2# \"jobs\" => 1)  1# \"jid\" => \"later\"\n...");
    says(t, "Q.RECURRING app q OFFSET 9223372036854775807",
         "1# \"total\" => (integer) 2\n2# \"jobs\" => (empty array)");
    says(t, "Q.UNRECUR app later", "OK");
    says(t, "Q.UNRECUR app later", "(error) NOT_FOUND recurring job later does not exist");
    says(t, "Q.RECURRING app q COUNT 0",
         "1# \"total\" => (integer) 1\n2# \"jobs\" => (empty array)");
}

static void test_recurring__runs_can_be_looked_at_before(void **state)
{
    struct talk *t = *state;
    (void)run(t, "Q.RECUR app r q K {} INTERVAL 60 DELAY 60");
    says(t, "Q.RECUR.RUNS app r COUNT 2", "1) (double) 1784000060.5\n2) (double) 1784000120.5");
    says(t, "Q.RECUR.RUNS app r COUNT 0", "(empty array)");
    says(t, "Q.RECUR.RUNS app s", "(error) NOT_FOUND recurring job s does not exist");
    says(t, "Q.CRON app '*/30 * * * *' COUNT 2", "1) (double) 1784001600\n2) (double) 1784003400");
    says(t, "Q.CRON app @yearly AFTER 0 COUNT 2", "1) (double) 31536000\n2) (double) 63072000");
    says(t, "Q.CRON app @daily ZONE Europe/Berlin AFTER 2026-10-24T12:00:00Z COUNT 2",
         "1) (double) 1792879200\n2) (double) 1792969200");
    says(t, "Q.ZONES app", "(empty array)"); // asking changes nothing
    says(t, "Q.CRON app @daily ZONE Nowhere", "(error) NOT_FOUND time zone Nowhere is not known");
    says(t, "Q.CRON app '61 * * * *'", "(error) INVALID ...");
    says(t, "Q.CRON app '61 * * * *' ZONE Europe/Berlin", "(error) INVALID ...");
}

// The value of a member of an answer, up to the end of its line.
static const char *member_of(struct talk *t, const char *line, const char *name)
{
    static char value[200];
    char wanted[60];
    (void)snprintf(wanted, sizeof(wanted), "# \"%s\" => ", name);
    const char *at = strstr(run(t, line), wanted);
    assert_non_null(at);
    at += strlen(wanted);
    (void)snprintf(value, sizeof(value), "%.*s", (int)strcspn(at, "\n"), at);
    return value;
}

static void test_recurring__a_paused_one_keeps_its_schedule_and_makes_no_jobs(void **state)
{
    struct talk *t = *state;
    (void)run(t, "Q.RECUR app r q K {} INTERVAL 60 DELAY 60");
    passes(t, 61);
    says(t, "Q.COUNT app", "(integer) 1");
    assert_string_equal(member_of(t, "Q.RECUR.GET app r", "last"), "(double) 1784000060.5");
    says(t, "Q.RECUR.PAUSE app r", "OK");
    says(t, "Q.RECUR.PAUSE app r", "OK");
    assert_string_equal(member_of(t, "Q.RECUR.GET app r", "paused"), "(true)");
    passes(t, 600);
    says(t, "Q.COUNT app", "(integer) 1");
    (void)run(t, "Q.RECUR app r q K {} INTERVAL 60 PRIORITY 3");
    assert_string_equal(member_of(t, "Q.RECUR.GET app r", "paused"), "(true)");
    says(t, "Q.RECUR.RUN app r", "\"r-2\"");
    assert_string_equal(member_of(t, "Q.RECUR.GET app r", "count"), "(integer) 2");
    says(t, "Q.RECUR.RESUME app r", "OK");
    says(t, "Q.COUNT app", "(integer) 2");
    passes(t, 60);
    says(t, "Q.COUNT app", "(integer) 3");
    says(t, "Q.RECUR.PAUSE app s", "(error) NOT_FOUND recurring job s does not exist");
    says(t, "Q.RECUR.RUN app s", "(error) NOT_FOUND recurring job s does not exist");
    says(t, "Q.RECUR.RUN app s REQUEST a", "(error) NOT_FOUND recurring job s does not exist");
    says(t, "Q.RECUR.RUN app r REQUEST a", "\"r-4\"");
    says(t, "Q.RECUR.RUN app r REQUEST a", "\"r-4\"");
    says(t, "Q.RECUR.RUN app r REQUEST b", "\"r-5\"");
}

static void test_recurring__those_of_all_queues_are_listed_page_by_page(void **state)
{
    struct talk *t = *state;
    (void)run(t, "Q.RECUR app a q K {} INTERVAL 60 DELAY 60");
    (void)run(t, "Q.RECUR app b p K {} CRON '0 * * * *'");
    (void)run(t, "Q.RECUR app c q K {} INTERVAL 5 DELAY 5");
    assert_string_equal(member_of(t, "Q.RECURRING app COUNT 1 RUNS 2", "jid"), "\"a\"");
    assert_non_null(strstr(t->text.data, "\"runs\" => 1) (double) 1784000060.5\n"));
    char line[120];
    for (const char *expected = "bc"; *expected; expected++) {
        const char *next = strstr(t->text.data, "3# \"next\" => \"");
        assert_non_null(next);
        (void)snprintf(line, sizeof(line), "Q.RECURRING app COUNT 1 CURSOR %.32s",
                       next + strlen("3# \"next\" => \""));
        char jid[4] = { '"', *expected, '"', '\0' };
        assert_string_equal(member_of(t, line, "jid"), jid);
    }
    assert_non_null(strstr(t->text.data, "3# \"next\" => (nil)"));
    says(t, "Q.RECURRING app q CURSOR 0",
         "(error) INVALID Q.RECURRING: CURSOR must be the value of next in an earlier page");
}

static void test_recurring__the_schedule_and_the_policies_can_be_changed(void **state)
{
    struct talk *t = *state;
    (void)run(t, "Q.RECUR app r q K '{\"a\":1}' INTERVAL 60 DELAY 60 TAG x BACKOFF fixed:5");
    says(t, "Q.RECUR.UPDATE app r OVERLAP skip MISSED skip TIMEOUT 30 DOMAIN d", "OK");
    assert_string_equal(member_of(t, "Q.RECUR.GET app r", "overlap"), "\"skip\"");
    assert_string_equal(member_of(t, "Q.RECUR.GET app r", "missed"), "\"skip\"");
    assert_string_equal(member_of(t, "Q.RECUR.GET app r", "timeout"), "(double) 30");
    assert_string_equal(member_of(t, "Q.RECUR.GET app r", "domain"), "\"d\"");
    // What was not given is as it was.
    assert_non_null(strstr(t->text.data, "\"backoff\" => \"fixed:5\""));
    assert_non_null(strstr(t->text.data, "\"tags\" => 1) \"x\""));
    assert_non_null(strstr(t->text.data, "\"next\" => (double) 1784000060.5"));
    says(t, "Q.RECUR.UPDATE app r CRON '0 3 * * *'", "OK");
    assert_string_equal(member_of(t, "Q.RECUR.GET app r", "cron"), "\"0 3 * * *\"");
    assert_string_equal(member_of(t, "Q.RECUR.GET app r", "interval"), "(nil)");
    says(t, "Q.RECUR.UPDATE app r CRON odd",
         "(error) INVALID a cron expression has five fields, or six with the second in front; "
         "this one has 1");
    assert_string_equal(member_of(t, "Q.RECUR.GET app r", "cron"), "\"0 3 * * *\"");
    says(t, "Q.RECUR.UPDATE app s CRON '0 3 * * *'",
         "(error) NOT_FOUND recurring job s does not exist");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TALK_TEST(test_recurring__is_made_with_all_it_was_given),
        TALK_TEST(test_recurring__registering_it_again_changes_nothing),
        TALK_TEST(test_recurring__is_either_by_interval_or_by_cron),
        TALK_TEST(test_recurring__a_zone_is_asked_of_the_host_once),
        TALK_TEST(test_recurring__parts_can_be_changed),
        TALK_TEST(test_recurring__tags_come_and_go),
        TALK_TEST(test_recurring__are_listed_by_when_they_are_due),
        TALK_TEST(test_recurring__runs_can_be_looked_at_before),
        TALK_TEST(test_recurring__a_paused_one_keeps_its_schedule_and_makes_no_jobs),
        TALK_TEST(test_recurring__those_of_all_queues_are_listed_page_by_page),
        TALK_TEST(test_recurring__the_schedule_and_the_policies_can_be_changed),
    };
    return cmocka_run_group_tests_name("recurring", tests, NULL, NULL);
}
