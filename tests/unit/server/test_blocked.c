// SPDX-License-Identifier: MIT
#include "loop_test.h"

static void test_blocked__the_first_that_waits_gets_the_job(void **state)
{
    struct loop_test *test = *state;
    struct loop_client first;
    struct loop_client second;
    struct loop_client putter;
    loop_client_init(&first, test, &protocol_resp);
    loop_client_init(&second, test, &protocol_resp);
    loop_client_init(&putter, test, &protocol_resp);
    loop_client_send(&first, "Q.POP app w1 1 WAIT 3600 mail\r\nPING behind\r\n");
    loop_client_send(&second, "Q.POP app w2 1 WAIT 3600 mail\r\n");
    assert_non_null(first.connection->blocked);
    loop_client_expect_nothing(&first); // nor is the PING run
    loop_client_send(&putter, "Q.PUT app mail k {} JID j\r\n");
    loop_client_expect(&putter, "$1\r\nj\r\n");
    while (first.connection->blocked) {
        loop_test_turn(test);
    }
    assert_non_null(second.connection->blocked);
    assert_int_equal(connection_waits(first.connection), false);
    connection_check(first.connection);
    connection_check(second.connection);
    loop_client_release(&putter);
    loop_client_release(&second);
    loop_client_release(&first);
}

static void test_blocked__a_connection_that_ends_leaves_the_job_to_the_next(void **state)
{
    struct loop_test *test = *state;
    struct loop_client gone;
    struct loop_client next;
    loop_client_init(&gone, test, &protocol_resp);
    loop_client_init(&next, test, &protocol_resp);
    loop_client_send(&gone, "Q.POP app w1 1 WAIT 3600 mail\r\n");
    loop_client_send(&next, "Q.POP app w2 1 WAIT 3600 mail\r\n");
    struct ns *ns = namespaces_find(&test->server.namespaces, SLICE("app"));
    assert_non_null(ns);
    assert_int_equal(ns->waiting.count, 2);
    loop_client_release(&gone);
    while (test->server.connections.count > 1) {
        loop_test_turn(test);
    }
    assert_int_equal(ns->waiting.count, 1);
    struct loop_client putter;
    loop_client_init(&putter, test, &protocol_resp);
    loop_client_send(&putter, "Q.PUT app mail k {} JID j\r\n");
    while (next.connection->blocked) {
        loop_test_turn(test);
    }
    assert_int_equal(ns->waiting.count, 0);
    loop_client_release(&putter);
    loop_client_release(&next);
}

static void test_blocked__a_wait_that_is_over_gets_nothing(void **state)
{
    struct loop_test *test = *state;
    struct loop_client client;
    loop_client_init(&client, test, &protocol_resp);
    loop_client_send(&client, "Q.POP app w1 1 WAIT 0.001 mail\r\n");
    loop_client_expect(&client, "*0\r\n");
    assert_null(client.connection->blocked);
    loop_client_release(&client);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LOOP_TEST(test_blocked__the_first_that_waits_gets_the_job),
        LOOP_TEST(test_blocked__a_connection_that_ends_leaves_the_job_to_the_next),
        LOOP_TEST(test_blocked__a_wait_that_is_over_gets_nothing),
    };
    return cmocka_run_group_tests_name("blocked", tests, NULL, NULL);
}
