// SPDX-License-Identifier: MIT
#include "transcript.h"

#include <stdio.h>

static void test_settings__options_have_values_or_defaults(void **state)
{
    struct talk *t = *state;
    says(t, "Q.CONFIG.GET app heartbeat x-colour",
         "1# \"heartbeat\" => \"60\"\n2# \"x-colour\" => (nil)");
    says(t, "Q.CONFIG.SET app heartbeat 30", "OK");
    says(t, "Q.CONFIG.SET app heartbeat soon", "(error) INVALID ...");
    says(t, "Q.CONFIG.SET app x-colour blue", "OK");
    says(t, "Q.CONFIG.GET app heartbeat x-colour",
         "1# \"heartbeat\" => \"30\"\n2# \"x-colour\" => \"blue\"");
    says(t, "Q.CONFIG.GET app", " 1# \"grace-period\" => \"10\"\n 2# \"heartbeat\" => \"30\"\n...");
    says(t, "Q.CONFIG.UNSET app heartbeat", "OK");
    says(t, "Q.CONFIG.GET app heartbeat", "1# \"heartbeat\" => \"60\"");
}

static void test_settings__unknown_options_are_refused_with_the_nearest_one(void **state)
{
    struct talk *t = *state;
    static const struct {
        const char *option, *error;
    } cases[] = {
        { "hartbeat", "unknown option \"hartbeat\"; did you mean heartbeat?" },
        { "mail-hartbeat", "unknown option \"mail-hartbeat\"; did you mean mail-heartbeat?" },
        { "a-b-max-job", "unknown option \"a-b-max-job\"; did you mean a-b-max-jobs?" },
        { "max-tag", "unknown option \"max-tag\"; did you mean max-tags?" },
        { "colour", "unknown option \"colour\"; options of your own begin with x-" },
        { "xy", "unknown option \"xy\"; options of your own begin with x-" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char call[80], answer[120];
        (void)snprintf(call, sizeof(call), "Q.CONFIG.SET app %s 1", cases[i].option);
        (void)snprintf(answer, sizeof(answer), "(error) INVALID %s", cases[i].error);
        says(t, call, answer);
    }
    static const char *const accepted[] = { "mail-heartbeat",       "heartbeat-mail", "mail-fair",
                                            "mail-max-concurrency", "mail-max-jobs",  "x-colour",
                                            "mail-max-bytes" };
    for (size_t i = 0; i < sizeof(accepted) / sizeof(accepted[0]); i++) {
        char call[80];
        (void)snprintf(call, sizeof(call), "Q.CONFIG.SET app %s 1", accepted[i]);
        says(t, call, "OK");
    }
    says(t, "Q.CONFIG.UNSET app colour", "(error) NOT_FOUND option colour is not set");
}

static void test_settings__limits_are_set_shown_and_taken_away(void **state)
{
    struct talk *t = *state;
    has(t, "Q.LIMITS app", "\"limits\" => (empty array)\n...");
    says(t, "Q.LIMIT.SET app QUEUE q", "(error) INVALID a limit must say something ...");
    says(t, "Q.LIMIT.SET app PERIOD 5 WEIGHT 1",
         "(error) INVALID Q.LIMIT.SET: PERIOD and BURST need a RATE");
    says(t, "Q.LIMIT.SET app RATE 5 PERIOD 0",
         "(error) INVALID Q.LIMIT.SET: PERIOD must be from 1e-06 to 31622400 seconds, not 0");
    says(t, "Q.LIMIT.SET app RATE 5 CONCURRENCY 0", "OK");
    says(t, "Q.LIMIT.SET app QUEUE q DOMAIN x* WEIGHT 7", "OK");
    says(t, "Q.LIMITS app",
         "1# \"total\" => (integer) 2\n"
         "2# \"limits\" => 1)  1# \"queue\" => (nil)\n"
         "       2# \"domain\" => (nil)\n"
         "       3# \"rate\" => (integer) 5\n"
         "       4# \"period\" => (double) 1\n"
         "       5# \"burst\" => (integer) 1\n"
         "       6# \"concurrency\" => (integer) 0\n"
         "       7# \"weight\" => (nil)\n"
         "       8# \"waiting\" => (integer) 0\n"
         "       9# \"running\" => (integer) 0\n"
         "      10# \"held\" => (integer) 0\n"
         "   2)  1# \"queue\" => \"q\"\n"
         "       2# \"domain\" => \"x*\"\n"
         "       3# \"rate\" => (nil)\n"
         "       4# \"period\" => (nil)\n"
         "       5# \"burst\" => (nil)\n"
         "       6# \"concurrency\" => (nil)\n"
         "       7# \"weight\" => (integer) 7\n"
         "       8# \"waiting\" => (integer) 0\n"
         "       9# \"running\" => (integer) 0\n"
         "      10# \"held\" => (integer) 0\n"
         "3# \"next\" => (nil)");
    says(t, "Q.LIMIT.UNSET app", "OK");
    says(t, "Q.LIMIT.UNSET app QUEUE q",
         "(error) NOT_FOUND there is no limit for queue q and domain (all)");
    has(t, "Q.LIMITS app", "1)  1# \"queue\" => \"q\"\n...");
    says(t, "Q.LIMIT.UNSET app QUEUE q DOMAIN x*", "OK");
    has(t, "Q.LIMITS app", "\"limits\" => (empty array)\n...");
}

// Waiting, running and held of the only limit that a page of one has.
static void uses(struct talk *t, const char *line, int waiting, int running, int held)
{
    char wanted[160];
    (void)snprintf(wanted, sizeof(wanted),
                   "8# \"waiting\" => (integer) %d\n       9# \"running\" => (integer) %d\n"
                   "      10# \"held\" => (integer) %d\n...",
                   waiting, running, held);
    has(t, line, wanted);
}

static void test_settings__limits_say_how_much_of_them_is_used(void **state)
{
    struct talk *t = *state;
    says(t, "Q.LIMIT.SET app QUEUE q DOMAIN x* CONCURRENCY 1", "OK");
    uses(t, "Q.LIMITS app", 0, 0, 0);
    (void)run(t, "Q.MPUT app 7 q S {} JID a DOMAIN x1 7 q S {} JID b DOMAIN x1 7 q S {} JID c "
                 "DOMAIN x2 7 q S {} JID d DOMAIN y 5 q S {} JID e");
    uses(t, "Q.LIMITS app", 3, 0, 0);
    (void)run(t, "Q.TAKE app a w");
    uses(t, "Q.LIMITS app", 2, 1, 1); // b cannot run beside a, c can
    (void)run(t, "Q.TAKE app c w");
    uses(t, "Q.LIMITS app", 1, 2, 1);
    (void)run(t, "Q.COMPLETE app a w");
    uses(t, "Q.LIMITS app", 1, 1, 0);
    // A more specific one takes its lanes over, and gives them back.
    says(t, "Q.LIMIT.SET app QUEUE q DOMAIN x1 RATE 1 PERIOD 60 CONCURRENCY 9", "OK");
    uses(t, "Q.LIMITS app COUNT 1", 0, 1, 0);
    (void)run(t, "Q.PUT app q S {} JID f DOMAIN x1");
    (void)run(t, "Q.TAKE app b w");
    const char *next = strstr(run(t, "Q.LIMITS app COUNT 1"), "\"next\" => \"");
    assert_non_null(next);
    char line[80];
    (void)snprintf(line, sizeof(line), "Q.LIMITS app COUNT 1 CURSOR %.32s",
                   next + strlen("\"next\" => \""));
    uses(t, line, 1, 1, 1);
    has(t, line, "\"next\" => (nil)...");
    passes(t, 60);
    uses(t, line, 1, 1, 0);
    says(t, "Q.LIMIT.UNSET app QUEUE q DOMAIN x1", "OK");
    uses(t, "Q.LIMITS app", 1, 2, 1);
    says(t, "Q.LIMITS app CURSOR x",
         "(error) INVALID Q.LIMITS: CURSOR must be the value of next in an earlier page");
}

static void test_settings__a_limit_holds(void **state)
{
    struct talk *t = *state;
    (void)run(t, "Q.LIMIT.SET app DOMAIN slow RATE 1 PERIOD 60");
    (void)run(t, "Q.MPUT app 7 q K {} JID a DOMAIN slow 7 q K {} JID b DOMAIN slow");
    (void)run(t, "Q.POP app w 9 q");
    says(t, "Q.COUNT app STATE running", "(integer) 1");
    says(t, "Q.EXPLAIN app b", " 1# \"reason\" => \"lane-rate\"\n...");
}

static void test_settings__policies_are_set_shown_and_taken_away(void **state)
{
    struct talk *t = *state;
    says(t, "Q.POLICIES app", "(empty array)");
    says(t, "Q.POLICY.SET app klass Send",
         "(error) INVALID Q.POLICY.SET: a policy must have an option");
    says(t, "Q.POLICY.SET app job Send TIMEOUT 1",
         "(error) INVALID Q.POLICY.SET: scope must be one of klass, queue, not \"job\"");
    says(t, "Q.POLICY.SET app klass Send TIMEOUT 30 MAX-CRASHES 0", "OK");
    says(t, "Q.POLICY.SET app queue mail BACKOFF list:1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17",
         "(error) TOO_LARGE BACKOFF list has 17 delays, and may have 16");
    says(t, "Q.POLICY.SET app queue mail BACKOFF list:1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16",
         "OK");
    says(t, "Q.POLICY.SET app queue mail BACKOFF list:1,2 ON-DEPENDENCY-FAILURE cancel", "OK");
    says(t, "Q.POLICIES app",
         "1) 1# \"scope\" => \"klass\"\n"
         "   2# \"name\" => \"Send\"\n"
         "   3# \"options\" => 1# \"backoff\" => (nil)\n"
         "      2# \"timeout\" => (double) 30\n"
         "      3# \"lease\" => (nil)\n"
         "      4# \"result-ttl\" => (nil)\n"
         "      5# \"max-crashes\" => (integer) 0\n"
         "      6# \"on-dependency-failure\" => (nil)\n"
         "2) 1# \"scope\" => \"queue\"\n"
         "   2# \"name\" => \"mail\"\n"
         "   3# \"options\" => 1# \"backoff\" => \"list:1,2\"\n"
         "      2# \"timeout\" => (nil)\n"
         "      3# \"lease\" => (nil)\n"
         "      4# \"result-ttl\" => (nil)\n"
         "      5# \"max-crashes\" => (nil)\n"
         "      6# \"on-dependency-failure\" => \"cancel\"");
    says(t, "Q.POLICY.UNSET app klass Send", "OK");
    says(t, "Q.POLICY.UNSET app klass Send", "(error) NOT_FOUND there is no policy for klass Send");
    says(t, "Q.POLICIES app", "1) 1# \"scope\" => \"queue\"\n...");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TALK_TEST(test_settings__options_have_values_or_defaults),
        TALK_TEST(test_settings__unknown_options_are_refused_with_the_nearest_one),
        TALK_TEST(test_settings__limits_are_set_shown_and_taken_away),
        TALK_TEST(test_settings__limits_say_how_much_of_them_is_used),
        TALK_TEST(test_settings__a_limit_holds),
        TALK_TEST(test_settings__policies_are_set_shown_and_taken_away),
    };
    return cmocka_run_group_tests_name("settings", tests, NULL, NULL);
}
