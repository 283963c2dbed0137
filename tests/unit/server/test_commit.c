// SPDX-License-Identifier: MIT
// Replies that are held, of real connections.
#include "loop_test.h"

static void test_commit__held_replies_are_sent_in_order_when_they_are_durable(void **state)
{
    struct loop_test *test = *state;
    struct loop_client a;
    struct loop_client b;
    loop_client_init(&a, test, &protocol_resp);
    loop_client_init(&b, test, &protocol_resp);
    loop_client_send(&a, "PING\r\n");
    loop_client_expect(&a, "+PONG\r\n");
    loop_test_hold(test);
    loop_client_send(&a, "PING one\r\nPING two\r\n");
    loop_client_send(&b, "PING three\r\n");
    loop_client_send(&a, "PING four\r\n");
    loop_client_expect_nothing(&a);
    loop_client_expect_nothing(&b);
    assert_int_equal(test->server.commit.count, 3);
    assert_int_equal(output_replies_pending(&a.connection->output), 3);
    loop_test_release(test);
    loop_client_expect(&a, "$3\r\none\r\n$3\r\ntwo\r\n$4\r\nfour\r\n");
    loop_client_expect(&b, "$5\r\nthree\r\n");
    assert_int_equal(test->server.commit.count, 0);
    assert_int_equal(output_replies_pending(&a.connection->output), 0);
    loop_client_release(&b);
    loop_client_release(&a);
}

static void test_commit__each_held_reply_becomes_an_error_when_the_store_fails(void **state)
{
    struct loop_test *test = *state;
    struct loop_client client;
    loop_client_init(&client, test, &protocol_resp);
    loop_test_hold(test);
    loop_client_send(&client, "PING one\r\nPING two\r\n");
    loop_client_send(&client, "MULTI\r\nPING a\r\nPING b\r\nEXEC\r\n");
    loop_test_fail_store(test);
    // Two, then OK, QUEUED twice, and one for EXEC.
    loop_client_expect(&client, "-IO the disk is gone\r\n-IO the disk is gone\r\n"
                                "-IO the disk is gone\r\n-IO the disk is gone\r\n"
                                "-IO the disk is gone\r\n-IO the disk is gone\r\n");
    loop_client_send(&client, "PING\r\n");
    loop_client_expect(&client, "+PONG\r\n"); // reads go on
    loop_client_release(&client);
}

static void test_commit__held_replies_of_http_become_one_error_and_the_end(void **state)
{
    struct loop_test *test = *state;
    struct loop_client client;
    loop_client_init(&client, test, &protocol_http);
    loop_test_hold(test);
    loop_client_send(&client, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
                              "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
    loop_client_expect_nothing(&client);
    loop_test_fail_store(test);
    char bytes[4096];
    ssize_t size = recv(client.fd, bytes, sizeof(bytes) - 1, 0);
    assert_true(size > 0);
    bytes[size] = '\0';
    assert_ptr_equal(strstr(bytes, "HTTP/1.1 503"), bytes);
    assert_null(strstr(bytes + 1, "HTTP/1.1"));
    assert_non_null(strstr(bytes, "the disk is gone"));
    assert_int_equal(test->server.connections.count, 0);
    loop_client_release(&client);
}

static void test_commit__a_closed_connection_stays_until_its_last_hold_ends(void **state)
{
    struct loop_test *test = *state;
    struct loop_client client;
    loop_client_init(&client, test, &protocol_resp);
    loop_test_hold(test);
    loop_client_send(&client, "PING one\r\n");
    loop_client_send(&client, "PING two\r\n");
    connection_close(client.connection);
    loop_test_turn(test);
    assert_int_equal(client.connection->output.holds, 2);
    assert_null(test->server.connections.dead);
    connection_check(client.connection);
    loop_test_release(test);
    assert_int_equal(test->server.commit.count, 0);
    assert_null(test->server.connections.dead); // freed; the sanitizers see a leak
    loop_client_release(&client);
}

static void test_commit__no_more_requests_run_than_replies_may_be_pending(void **state)
{
    struct loop_test *test = *state;
    struct loop_client client;
    loop_client_init(&client, test, &protocol_resp);
    test->server.connections.allowances.authenticated.pipeline_max = 2;
    loop_test_hold(test);
    loop_client_send(&client, "PING 1\r\nPING 2\r\nPING 3\r\n");
    assert_int_equal(output_replies_pending(&client.connection->output), 2);
    loop_test_release(test);
    loop_client_expect(&client, "$1\r\n1\r\n$1\r\n2\r\n$1\r\n3\r\n");
    loop_client_release(&client);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LOOP_TEST(test_commit__held_replies_are_sent_in_order_when_they_are_durable),
        LOOP_TEST(test_commit__each_held_reply_becomes_an_error_when_the_store_fails),
        LOOP_TEST(test_commit__held_replies_of_http_become_one_error_and_the_end),
        LOOP_TEST(test_commit__a_closed_connection_stays_until_its_last_hold_ends),
        LOOP_TEST(test_commit__no_more_requests_run_than_replies_may_be_pending),
    };
    return cmocka_run_group_tests_name("commit", tests, NULL, NULL);
}
