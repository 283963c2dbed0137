// SPDX-License-Identifier: MIT
#include "transcript.h"

#include <stdio.h>

// The numbers that an operation's answer ends with.
static void counts(struct talk *t, const char *line, unsigned looked_at, unsigned matched,
                   unsigned changed)
{
    char end[200];
    (void)snprintf(end, sizeof(end),
                   "7# \"looked-at\" => (integer) %u\n"
                   " 8# \"matched\" => (integer) %u\n"
                   " 9# \"changed\" => (integer) %u",
                   looked_at, matched, changed);
    const char *shown = run(t, line);
    const char *at = strstr(shown, "7# ");
    assert_non_null(at);
    if (strncmp(at, end, strlen(end)) != 0) {
        assert_string_equal(at, end);
    }
}

static void test_bulk__each_act_changes_what_the_filter_matches(void **state)
{
    struct talk *t = *state;
    (void)run(t, "Q.MPUT app 5 q K {} JID a 5 q L {} JID b 5 p K {} JID c 7 q K {} JID d DELAY 60");
    says(t, "Q.BULK app tag KLASS K QUEUE q TAG x TAG y",
         " 1# \"id\" => (integer) 3\n"
         " 2# \"act\" => \"tag\"\n"
         " 3# \"dry-run\" => (false)\n"
         " 4# \"done\" => (true)\n"
         " 5# \"stopped\" => (false)\n"
         " 6# \"began\" => (double) 1784000000.5\n"
         " 7# \"looked-at\" => (integer) 3\n"
         " 8# \"matched\" => (integer) 2\n"
         " 9# \"changed\" => (integer) 2\n"
         "10# \"as\" => (nil)\n...");
    counts(t, "Q.BULK app untag TAGGED x TAG y", 2, 2, 2);
    counts(t, "Q.BULK app move STATE waiting QUEUE q TO p", 2, 2, 2);
    counts(t, "Q.BULK app retry STATE scheduled", 1, 1, 1);
    counts(t, "Q.BULK app cancel DRY-RUN", 4, 4, 4);
    says(t, "Q.COUNT app", "(integer) 4");
    passes(t, 100);
    (void)run(t, "Q.PUT app p K {} JID e");
    counts(t, "Q.BULK app cancel OLDER 50 QUEUE p", 4, 3, 3);
    counts(t, "Q.BULK app cancel NEWER 0 OLDER 1 DRY-RUN", 2, 0, 0);
    counts(t, "Q.BULK app cancel OLDER 0 DRY-RUN", 2, 2, 2);
    counts(t, "Q.BULK app cancel NEWER 0", 2, 1, 1);
    (void)run(t, "Q.PUT app p K {} JID e");
    passes(t, 1);
    counts(t, "Q.BULK app cancel NEWER 0", 2, 0, 0);
    counts(t, "Q.BULK app cancel NEWER 50", 2, 1, 1);
    says(t, "Q.COUNT app", "(integer) 1");
}

static void test_bulk__a_group_is_retried_into_the_queues_it_failed_in(void **state)
{
    struct talk *t = *state;
    (void)run(t, "Q.MPUT app 5 q K {} JID a 5 p K {} JID b");
    (void)run(t, "Q.POP app w 2 q p");
    (void)run(t, "Q.MFAIL app 4 a w smtp m 4 b w smtp m");
    counts(t, "Q.BULK app retry GROUP smtp", 2, 2, 2);
    says(t, "Q.LENGTH app q", "(integer) 1");
    says(t, "Q.LENGTH app p", "(integer) 1");
}

static void test_bulk__what_an_act_does_not_need_is_refused(void **state)
{
    struct talk *t = *state;
    says(t, "Q.BULK app explode",
         "(error) INVALID Q.BULK: act must be one of cancel, retry, move, tag, untag, delete, "
         "priority, "
         "timeout, not "
         "\"explode\"");
    says(t, "Q.BULK app move",
         "(error) INVALID Q.BULK: TO is required with move and cannot be used without it");
    says(t, "Q.BULK app cancel TO q",
         "(error) INVALID Q.BULK: TO is required with move and cannot be used without it");
    says(t, "Q.BULK app tag",
         "(error) INVALID Q.BULK: TAG is required with tag and untag and cannot be used without "
         "them");
    says(t, "Q.BULK app cancel TAG x",
         "(error) INVALID Q.BULK: TAG is required with tag and untag and cannot be used without "
         "them");
    says(t, "Q.BULKS app", "(empty array)");
}

static void test_bulk__a_dry_run_is_executed_as_it_was_shown(void **state)
{
    struct talk *t = *state;
    (void)run(t, "Q.MPUT app 5 q K {} JID a 5 q K {} JID b 5 q K {} JID c");
    counts(t, "Q.BULK app priority JID a JID c JID nobody PRIORITY 5 DRY-RUN", 2, 2, 2);
    assert_non_null(strstr(t->text.data, "11# \"executable\" => (true)"));
    assert_non_null(strstr(t->text.data, "15# \"priority\" => (integer) 5"));
    assert_non_null(strstr(t->text.data, "10# \"jids\" => (integer) 3"));
    says(t, "Q.BULK app priority AS 2 QUEUE q PRIORITY 5",
         "(error) INVALID Q.BULK: no option can be given beside AS");
    (void)run(t, "Q.PRIORITY app a 5");
    counts(t, "Q.BULK app priority AS 2", 2, 1, 1);
    assert_non_null(strstr(t->text.data, "10# \"as\" => (integer) 2"));
    says(t, "Q.BULK app priority AS 2",
         "(error) STATE the jobs of operation 2 are not known any more; do the dry run again");
    counts(t, "Q.BULK app cancel STATE scheduled STATE waiting DRY-RUN", 3, 3, 3);
    assert_non_null(
        strstr(t->text.data, "7# \"states\" => 1) \"scheduled\"\n        2) \"waiting\""));
    says(t, "Q.BULK app priority",
         "(error) INVALID Q.BULK: priority, and nothing else, needs PRIORITY");
    says(t, "Q.BULK app cancel STATE odd",
         "(error) INVALID Q.BULK: STATE must be one of scheduled, depends, waiting, running, "
         "stalled, complete, failed, not \"odd\"");
}

static void test_bulk__a_long_one_goes_on_and_can_be_stopped(void **state)
{
    struct talk *t = *state;
    for (int i = 0; i < 4000; i++) {
        (void)run(t, "Q.PUT app q K {}");
    }
    says(t, "Q.BULK app cancel QUEUE q",
         " 1# \"id\" => (integer) 2\n"
         " 2# \"act\" => \"cancel\"\n"
         " 3# \"dry-run\" => (false)\n"
         " 4# \"done\" => (false)\n...");
    counts(t, "Q.BULK.GET app 2", 2000, 2000, 2000);
    says(t, "Q.BULK.STOP app 2", "OK");
    says(t, "Q.BULK.STOP app 2", "(error) NOT_FOUND no operation 2 is under way");
    says(t, "Q.COUNT app", "(integer) 1000");
    says(t, "Q.BULKS app",
         "1)  1# \"id\" => (integer) 2\n"
         "    2# \"act\" => \"cancel\"\n"
         "    3# \"dry-run\" => (false)\n"
         "    4# \"done\" => (true)\n"
         "    5# \"stopped\" => (true)\n...");
    says(t, "Q.BULK.GET app 1", "(error) NOT_FOUND operation 1 does not exist");
    says(t, "Q.BULK.GET app 0",
         "(error) INVALID Q.BULK.GET: id must be from 1 to 9223372036854775807, not 0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TALK_TEST(test_bulk__each_act_changes_what_the_filter_matches),
        TALK_TEST(test_bulk__a_group_is_retried_into_the_queues_it_failed_in),
        TALK_TEST(test_bulk__what_an_act_does_not_need_is_refused),
        TALK_TEST(test_bulk__a_dry_run_is_executed_as_it_was_shown),
        TALK_TEST(test_bulk__a_long_one_goes_on_and_can_be_stopped),
    };
    return cmocka_run_group_tests_name("bulk", tests, NULL, NULL);
}
