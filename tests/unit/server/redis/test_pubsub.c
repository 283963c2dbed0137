// SPDX-License-Identifier: MIT
#include "loop_test.h"

#include <stdio.h>
#include <sys/socket.h>

static void test_pubsub__a_message_for_the_caller_follows_its_reply(void **state)
{
    struct loop_test *test = *state;
    struct loop_client client;
    loop_client_init(&client, test, &protocol_resp);
    loop_client_send(&client, "HELLO 3\r\n");
    while (output_end(&client.connection->output) == 0) {
        loop_test_turn(test);
    }
    char bytes[1024];
    assert_true(recv(client.fd, bytes, sizeof(bytes), 0) > 0);
    loop_client_send(&client, "SUBSCRIBE news\r\nPUBLISH news hello\r\n");
    loop_client_expect(&client, ">3\r\n$9\r\nsubscribe\r\n$4\r\nnews\r\n:1\r\n"
                                ":1\r\n"
                                ">3\r\n$7\r\nmessage\r\n$4\r\nnews\r\n$5\r\nhello\r\n");
    loop_client_release(&client);
}

static void test_pubsub__names_and_patterns_each_get_the_message(void **state)
{
    struct loop_test *test = *state;
    struct loop_client listener;
    struct loop_client speaker;
    loop_client_init(&listener, test, &protocol_resp);
    loop_client_init(&speaker, test, &protocol_resp);
    loop_client_send(&listener, "PSUBSCRIBE n*\r\n");
    loop_client_expect(&listener, "*3\r\n$10\r\npsubscribe\r\n$2\r\nn*\r\n:1\r\n");
    loop_client_send(&listener, "SUBSCRIBE news\r\n");
    loop_client_expect(&listener, "*3\r\n$9\r\nsubscribe\r\n$4\r\nnews\r\n:2\r\n");
    loop_client_send(&speaker, "PUBLISH news 1\r\nPUBLISH other 2\r\n");
    loop_client_expect(&speaker, ":2\r\n:0\r\n");
    loop_client_expect(&listener, "*3\r\n$7\r\nmessage\r\n$4\r\nnews\r\n$1\r\n1\r\n"
                                  "*4\r\n$8\r\npmessage\r\n$2\r\nn*\r\n$4\r\nnews\r\n$1\r\n1\r\n");
    loop_client_release(&speaker);
    loop_client_release(&listener);
}

// The others get the message. The one whose output is full is closed at the end of the turn.
static void test_pubsub__a_subscriber_without_room_is_closed(void **state)
{
    struct loop_test *test = *state;
    struct loop_client slow;
    struct loop_client fast;
    struct loop_client speaker;
    char publish[40 << 10];
    char message[sizeof(publish)];
    enum {
        SIZE = 30 << 10
    };
    loop_client_init(&slow, test, &protocol_resp);
    loop_client_init(&fast, test, &protocol_resp);
    loop_client_init(&speaker, test, &protocol_resp);
    loop_client_send(&slow, "SUBSCRIBE news\r\n");
    loop_client_send(&fast, "SUBSCRIBE news\r\n");
    loop_client_expect(&slow, "*3\r\n$9\r\nsubscribe\r\n$4\r\nnews\r\n:1\r\n");
    loop_client_expect(&fast, "*3\r\n$9\r\nsubscribe\r\n$4\r\nnews\r\n:1\r\n");
    fast.connection->output.bytes.size_max = 1 << 20;
    (void)snprintf(publish, sizeof(publish), "PUBLISH news %0*d\r\n", SIZE, 0);
    (void)snprintf(message, sizeof(message), "*3\r\n$7\r\nmessage\r\n$4\r\nnews\r\n$%d\r\n%0*d\r\n",
                   SIZE, SIZE, 0);
    loop_test_hold(test); // so that what is published stays in the outputs
    for (int i = 0; i < 3; i++) {
        loop_client_send(&speaker, publish);
        assert_int_equal(test->server.connections.count, i < 2 ? 3 : 2);
    }
    assert_int_equal(test->server.figures.slow, 1);
    loop_test_release(test);
    loop_client_expect(&speaker, ":2\r\n:2\r\n:2\r\n");
    for (int i = 0; i < 3; i++) {
        struct slice bytes = slice_from_cstr(message);
        while (fast.received.size < bytes.size) {
            loop_client_receive(&fast);
        }
        assert_memory_equal(fast.received.data, bytes.data, bytes.size);
        buffer_consume(&fast.received, bytes.size);
    }
    loop_client_send(&speaker, "PUBLISH news again\r\n");
    loop_client_expect(&speaker, ":1\r\n");
    loop_client_release(&fast);
    while (test->server.connections.count > 1) {
        loop_test_turn(test);
    }
    assert_int_equal(test->server.pubsub.channel_count, 0);
    loop_client_release(&speaker);
    loop_client_release(&slow);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LOOP_TEST(test_pubsub__a_message_for_the_caller_follows_its_reply),
        LOOP_TEST(test_pubsub__names_and_patterns_each_get_the_message),
        LOOP_TEST(test_pubsub__a_subscriber_without_room_is_closed),
    };
    return cmocka_run_group_tests_name("pubsub", tests, NULL, NULL);
}
