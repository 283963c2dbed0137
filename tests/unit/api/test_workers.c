// SPDX-License-Identifier: MIT
#include "transcript.h"

static void test_workers__are_listed_with_what_they_hold(void **state)
{
    struct talk *t = *state;
    says(t, "Q.WORKERS app", "1# \"total\" => (integer) 0\n2# \"workers\" => (empty array)");
    (void)run(t, "Q.MPUT app 5 q K {} JID a 5 q K {} JID b 5 q K {} JID c");
    (void)run(t, "Q.POP app w1 1 q");
    passes(t, 40);
    (void)run(t, "Q.POP app w2 1 q");
    passes(t, 25);
    says(t, "Q.WORKERS app",
         "1# \"total\" => (integer) 2\n"
         "2# \"workers\" => 1)  1# \"worker\" => \"w2\"\n"
         "       2# \"seen\" => (double) 1784000040.5\n"
         "       3# \"running\" => (integer) 1\n"
         "       4# \"expired\" => (integer) 0\n"
         "       5# \"offline\" => (false)\n"
         "       6# \"host\" => (nil)\n"
         "       7# \"started\" => (double) 1784000040.5\n"
         "       8# \"pid\" => (nil)\n"
         "       9# \"done\" => (integer) 0\n"
         "      10# \"queues\" => 1) \"q\"\n"
         "      11# \"queue-count\" => (integer) 1\n"
         "   2)  1# \"worker\" => \"w1\"\n"
         "       2# \"seen\" => (double) 1784000000.5\n"
         "       3# \"running\" => (integer) 1\n"
         "       4# \"expired\" => (integer) 1\n"
         "       5# \"offline\" => (false)\n"
         "       6# \"host\" => (nil)\n"
         "       7# \"started\" => (double) 1784000000.5\n"
         "       8# \"pid\" => (nil)\n"
         "       9# \"done\" => (integer) 0\n"
         "      10# \"queues\" => 1) \"q\"\n"
         "      11# \"queue-count\" => (integer) 1");
    says(t, "Q.LISTENERS app q OFFSET 1",
         "1# \"total\" => (integer) 2\n2# \"workers\" => 1)  1# \"worker\" => \"w2\"\n...");
    says(t, "Q.LISTENERS app other",
         "1# \"total\" => (integer) 0\n2# \"workers\" => (empty array)");
    says(t, "Q.WORKERS app OFFSET 1 COUNT 5",
         "1# \"total\" => (integer) 2\n2# \"workers\" => 1)  1# \"worker\" => \"w1\"\n...");
    says(t, "Q.WORKERS app OFFSET 9223372036854775807",
         "1# \"total\" => (integer) 2\n2# \"workers\" => (empty array)");
    says(t, "Q.WORKER app w1 JIDS",
         "1# \"running\" => 1# \"total\" => (integer) 1\n"
         "   2# \"jids\" => 1) \"a\"\n"
         "2# \"expired\" => (integer) 1\n"
         "3# \"seen\" => (double) 1784000000.5\n"
         "4# \"started\" => (double) 1784000000.5\n"
         "5# \"host\" => (nil)\n"
         "6# \"offline\" => (false)\n"
         "7# \"queues\" => 1) \"q\"");
    says(t, "Q.WORKER app w2",
         "1# \"running\" => 1# \"total\" => (integer) 1\n"
         "   2# \"jobs\" => 1)  1# \"jid\" => \"b\"\n...");
    says(t, "Q.WORKER app nobody JIDS",
         "1# \"running\" => 1# \"total\" => (integer) 0\n"
         "   2# \"jids\" => (empty array)\n"
         "2# \"expired\" => (integer) 0\n"
         "3# \"seen\" => (nil)\n"
         "4# \"started\" => (nil)\n"
         "5# \"host\" => (nil)\n"
         "6# \"offline\" => (true)\n"
         "7# \"queues\" => (empty array)");
}

static void test_workers__go_offline_are_deregistered_or_forgotten(void **state)
{
    struct talk *t = *state;
    (void)run(t, "Q.POP app w1 1 q");
    (void)run(t, "Q.POP app w2 1 q");
    (void)run(t, "Q.POP app w3 1 q");
    says(t, "Q.WORKER.OFFLINE app w1", "OK");
    assert_non_null(strstr(run(t, "Q.WORKERS app"), "\"offline\" => (true)"));
    says(t, "Q.WORKER.OFFLINE app nobody", "(error) NOT_FOUND worker nobody is not known");
    says(t, "Q.WORKER.DEREGISTER app w1 nobody", "(error) NOT_FOUND worker nobody is not known");
    says(t, "Q.WORKERS app COUNT 0", "1# \"total\" => (integer) 3\n...");
    says(t, "Q.WORKER.DEREGISTER app w1", "OK");
    says(t, "Q.WORKERS app COUNT 0", "1# \"total\" => (integer) 2\n...");
    passes(t, 86400);
    says(t, "Q.WORKERS app COUNT 0", "1# \"total\" => (integer) 0\n...");
}

static void test_workers__show_their_process_and_what_they_have_done(void **state)
{
    struct talk *t = *state;
    (void)run(t, "Q.MPUT app 5 q K {} JID a 5 q K {} JID b 5 q K {} JID c");
    (void)run(t, "Q.POP app w 3 q p");
    (void)run(t, "Q.START app a w 4711");
    (void)run(t, "Q.COMPLETE app a w");
    (void)run(t, "Q.FAIL app b w g m");
    (void)run(t, "Q.COMPLETE app c w");
    const char *shown = run(t, "Q.WORKERS app");
    assert_non_null(strstr(shown, "8# \"pid\" => (integer) 4711\n"));
    assert_non_null(strstr(shown, "9# \"done\" => (integer) 2\n"));
    assert_non_null(strstr(shown, "10# \"queues\" => 1) \"p\"\n          2) \"q\"\n"));
    assert_non_null(strstr(shown, "11# \"queue-count\" => (integer) 2"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TALK_TEST(test_workers__are_listed_with_what_they_hold),
        TALK_TEST(test_workers__go_offline_are_deregistered_or_forgotten),
        TALK_TEST(test_workers__show_their_process_and_what_they_have_done),
    };
    return cmocka_run_group_tests_name("workers", tests, NULL, NULL);
}
