// SPDX-License-Identifier: MIT
#include "transcript.h"

#include "engine/queue.h"

#include <stdio.h>

static void test_check__says_that_nothing_is_broken(void **state)
{
    struct talk *t = *state;
    (void)run(t, "Q.PUT app q K {} JID a");
    says(t, "Q.CHECK app",
         "1# \"broken\" => (integer) 0\n"
         "2# \"repair\" => (false)\n"
         "3# \"sentences\" => (empty array)");
}

static void test_check__names_what_is_broken_and_mends_it_when_asked(void **state)
{
    struct talk *t = *state;
    (void)run(t, "Q.MPUT app 5 q K {} JID a 5 p K {} JID b");
    queue_find(t->engine, SLICE("q"))->jobs = 7;
    queue_find(t->engine, SLICE("p"))->jobs = 8;
    static const char sentences[] =
        "3# \"sentences\" => 1) \"the number of jobs of q is 7 and should be 1\"\n"
        "   2) \"the number of jobs of p is 8 and should be 1\"";
    char reply[300];
    (void)snprintf(reply, sizeof(reply), "1# \"broken\" => (integer) 2\n2# \"repair\" => (%s)\n%s",
                   "false", sentences);
    says(t, "Q.CHECK app", reply);
    (void)snprintf(reply, sizeof(reply), "1# \"broken\" => (integer) 2\n2# \"repair\" => (%s)\n%s",
                   "true", sentences);
    says(t, "Q.CHECK app REPAIR", reply);
    says(t, "Q.CHECK app repair", "1# \"broken\" => (integer) 0\n...");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TALK_TEST(test_check__says_that_nothing_is_broken),
        TALK_TEST(test_check__names_what_is_broken_and_mends_it_when_asked),
    };
    return cmocka_run_group_tests_name("check", tests, NULL, NULL);
}
