// SPDX-License-Identifier: MIT
// Calls of gRPC: what is held, what waits, and how calls end.
#include "grpc_peer.h"

#include "server/grpc/stream.h"

#include <string.h>

#define QUEUE "/sluice.v1.Queue/"

static struct buffer fresh(void)
{
    struct buffer buffer;
    buffer_init(&buffer, &allocator_system, 1 << 24);
    return buffer;
}

static size_t call_add(struct grpc_peer *peer, const char *queue)
{
    struct buffer request = fresh();
    put_add(&request, queue);
    size_t call = grpc_peer_call(peer, QUEUE "Add", &request, NULL);
    buffer_release(&request);
    return call;
}

static size_t call_next(struct grpc_peer *peer, const char *queue, unsigned wait_s,
                        const char *timeout)
{
    struct buffer request = fresh();
    put_next(&request, queue, wait_s);
    size_t call = grpc_peer_call(peer, QUEUE "Next", &request, timeout);
    buffer_release(&request);
    return call;
}

static void add(struct grpc_peer *peer, const char *queue)
{
    grpc_peer_expect(peer, call_add(peer, queue), "0");
}

// Whether a Next that does not wait gets a job.
static bool has_job(struct grpc_peer *peer, const char *queue)
{
    size_t call = call_next(peer, queue, 0, NULL);
    grpc_peer_expect(peer, call, "0");
    return peer->calls[call].answer.size > 5;
}

// Turns until that is so. How much a turn does depends on how busy the machine is, so tests count
// none; cmocka's time limit ends one that waits in vain.
#define UNTIL(peer, condition)                                                                     \
    do {                                                                                           \
        while (!(condition)) {                                                                     \
            grpc_peer_turn(peer);                                                                  \
        }                                                                                          \
    } while (0)

static void cancel(struct grpc_peer *peer, size_t call)
{
    assert_int_equal(nghttp2_submit_rst_stream(peer->session, NGHTTP2_FLAG_NONE,
                                               peer->calls[call].stream, NGHTTP2_CANCEL),
                     0);
    grpc_peer_turn(peer);
}

static void test_grpc_stream__a_job_that_was_added_is_handed_out(void **state)
{
    struct grpc_peer peer;
    grpc_peer_init(&peer, *state);
    add(&peer, "mail");
    assert_true(has_job(&peer, "mail"));
    assert_false(has_job(&peer, "mail"));
    grpc_peer_release(&peer);
}

static void test_grpc_stream__an_answer_is_held_and_a_ping_is_not(void **state)
{
    struct loop_test *test = *state;
    struct grpc_peer peer;
    grpc_peer_init(&peer, test);
    add(&peer, "mail");
    loop_test_hold(test);
    size_t call = call_add(&peer, "mail");
    UNTIL(&peer, test->server.commit.count == 1);
    assert_int_equal(nghttp2_submit_ping(peer.session, NGHTTP2_FLAG_NONE, NULL), 0);
    UNTIL(&peer, peer.pongs == 1);
    assert_string_equal(peer.calls[call].http_status, "");
    loop_test_release(test);
    grpc_peer_expect(&peer, call, "0");
    grpc_peer_release(&peer);
}

static void test_grpc_stream__a_held_answer_whose_store_fails_is_unknown(void **state)
{
    struct loop_test *test = *state;
    struct grpc_peer peer;
    grpc_peer_init(&peer, test);
    loop_test_hold(test);
    size_t call = call_add(&peer, "mail");
    UNTIL(&peer, test->server.commit.count == 1);
    loop_test_fail_store(test);
    grpc_peer_expect(&peer, call, "2");
    assert_int_equal(peer.calls[call].answer.size, 0);
    // A call that was not run may be made again.
    grpc_peer_expect(&peer, call_add(&peer, "mail"), "14");
    grpc_peer_release(&peer);
}

static void test_grpc_stream__a_held_job_is_given_back_when_its_call_is_canceled(void **state)
{
    struct loop_test *test = *state;
    struct grpc_peer peer;
    grpc_peer_init(&peer, test);
    add(&peer, "mail");
    loop_test_hold(test);
    size_t call = call_next(&peer, "mail", 0, NULL);
    UNTIL(&peer, test->server.commit.count == 1);
    cancel(&peer, call);
    UNTIL(&peer, test->server.grpc.figures.returned == 1);
    loop_test_release(test);
    assert_true(has_job(&peer, "mail"));
    grpc_peer_release(&peer);
}

static void test_grpc_stream__a_held_job_is_given_back_when_the_connection_breaks(void **state)
{
    struct loop_test *test = *state;
    struct grpc_peer peer, other;
    grpc_peer_init(&peer, test);
    grpc_peer_init(&other, test);
    add(&peer, "mail");
    loop_test_hold(test);
    (void)call_next(&peer, "mail", 0, NULL);
    UNTIL(&peer, test->server.commit.count == 1);
    grpc_peer_release(&peer);
    while (test->server.grpc.figures.returned == 0) {
        loop_test_turn(test);
    }
    loop_test_release(test);
    assert_true(has_job(&other, "mail"));
    grpc_peer_release(&other);
}

static void test_grpc_stream__a_job_whose_bytes_have_left_is_left_to_its_lease(void **state)
{
    struct loop_test *test = *state;
    struct grpc_peer peer;
    grpc_peer_init(&peer, test);
    add(&peer, "mail");
    size_t call = call_next(&peer, "mail", 0, NULL);
    grpc_peer_expect(&peer, call, "0");
    grpc_peer_turn(&peer);
    assert_int_equal(test->server.grpc.figures.returned, 0);
    assert_false(has_job(&peer, "mail"));
    grpc_peer_release(&peer);
}

static void test_grpc_stream__a_call_that_waits_takes_no_job_after_its_end(void **state)
{
    struct loop_test *test = *state;
    struct grpc_peer peer;
    grpc_peer_init(&peer, test);
    add(&peer, "other"); // the namespace is there
    size_t waits = call_next(&peer, "mail", 60, NULL);
    UNTIL(&peer, connections_count_blocked_streams(&test->server) == 1);
    assert_false(peer.calls[waits].closed);
    cancel(&peer, waits);
    UNTIL(&peer, peer.client.connection->grpc->stream_count == 0);
    add(&peer, "mail");
    assert_true(has_job(&peer, "mail"));
    assert_int_equal(test->server.grpc.figures.ended[GRPC_CANCELLED], 1);
    grpc_peer_release(&peer);
}

static void test_grpc_stream__calls_of_a_connection_wait_beside_each_other(void **state)
{
    struct loop_test *test = *state;
    struct grpc_peer peer;
    grpc_peer_init(&peer, test);
    add(&peer, "other");
    size_t first = call_next(&peer, "a", 60, NULL);
    size_t second = call_next(&peer, "b", 60, NULL);
    UNTIL(&peer, connections_count_blocked_streams(&test->server) == 2);
    add(&peer, "b");
    grpc_peer_expect(&peer, second, "0");
    assert_false(peer.calls[first].closed);
    add(&peer, "a");
    grpc_peer_expect(&peer, first, "0");
    grpc_peer_release(&peer);
}

static void test_grpc_stream__a_deadline_ends_a_wait(void **state)
{
    struct grpc_peer peer;
    grpc_peer_init(&peer, *state);
    add(&peer, "other");
    grpc_peer_expect(&peer, call_next(&peer, "mail", 60, "1m"), "4");
    add(&peer, "mail");
    assert_true(has_job(&peer, "mail"));
    grpc_peer_release(&peer);
}

static void test_grpc_stream__a_stop_ends_calls_that_wait_and_then_the_connection(void **state)
{
    struct loop_test *test = *state;
    struct grpc_peer peer;
    grpc_peer_init(&peer, test);
    add(&peer, "other");
    size_t waits = call_next(&peer, "mail", 60, NULL);
    UNTIL(&peer, connections_count_blocked_streams(&test->server) == 1);
    server_stop(&test->server);
    grpc_peer_expect(&peer, waits, "14");
    while (!test->server.stopped) {
        grpc_peer_turn(&peer);
    }
    assert_true(peer.goaway);
    grpc_peer_release(&peer);
}

// ---------------------------------------------------------------------------------------------
// What is no call, or a wrong one

static void test_grpc_stream__wrong_messages_end_the_call_with_the_code_for_it(void **state)
{
    static const struct {
        const char *path;
        const char *bytes;
        size_t size;
        const char *status;
    } rows[] = {
        { "/sluice.v1.Queue/None", "", 0, "12" },
        { "/sluice.v1.queue/Add", "", 0, "12" },
        { QUEUE "Add", "", 0, "12" },                      // no message
        { QUEUE "Add", "\0\0\0\0\0\0\0\0\0\0", 10, "12" }, // two
        { QUEUE "Add", "\0\0\0\0\1", 5, "13" },            // cut off
        { QUEUE "Add", "\2\0\0\0\0", 5, "13" },            // a wrong flag
        { QUEUE "Add", "\1\0\0\0\0", 5, "13" },            // packed, but how is not said
        { QUEUE "Add", "\0\0\0\0\1\xff", 6, "13" },        // no protobuf
        { QUEUE "Add", "\0\x7f\0\0\0", 5, "8" },           // 2 GiB are announced
        { QUEUE "Add", "\0\0\0\0\0", 5, "3" },             // no queue
    };
    struct grpc_peer peer;
    grpc_peer_init(&peer, *state);
    for (size_t i = 0; TEST_ROW(i, rows); i++) {
        struct buffer request = fresh();
        buffer_append(&request, slice_make(rows[i].bytes, rows[i].size));
        size_t call = grpc_peer_call(&peer, rows[i].path, &request, NULL);
        buffer_release(&request);
        grpc_peer_expect(&peer, call, rows[i].status);
        assert_string_equal(peer.calls[call].http_status, "200");
        assert_true(*peer.calls[call].message);
    }
    assert_false(peer.goaway);
    grpc_peer_release(&peer);
}

static void test_grpc_stream__requests_that_are_no_calls_get_a_status_of_http(void **state)
{
#define FIELD(name, value)                                                                         \
    {                                                                                              \
        (uint8_t *)(name), (uint8_t *)(value), sizeof(name) - 1, sizeof(value) - 1, 0              \
    }
    const nghttp2_nv get[] = { FIELD(":method", "GET"), FIELD(":path", "/"),
                               FIELD(":scheme", "http"), FIELD(":authority", "a") };
    const nghttp2_nv json[] = { FIELD(":method", "POST"), FIELD(":path", "/"),
                                FIELD(":scheme", "http"), FIELD(":authority", "a"),
                                FIELD("content-type", "application/json") };
    struct grpc_peer peer;
    struct buffer none = fresh();
    grpc_peer_init(&peer, *state);
    size_t call = grpc_peer_request(&peer, get, 4, &none);
    grpc_peer_expect(&peer, call, "");
    assert_string_equal(peer.calls[call].http_status, "405");
    call = grpc_peer_request(&peer, json, 5, &none);
    grpc_peer_expect(&peer, call, "");
    assert_string_equal(peer.calls[call].http_status, "415");
    grpc_peer_release(&peer);
}

static void test_grpc_stream__a_malformed_deadline_is_refused(void **state)
{
    struct grpc_peer peer;
    grpc_peer_init(&peer, *state);
    grpc_peer_expect(&peer, call_next(&peer, "mail", 0, "soon"), "13");
    grpc_peer_release(&peer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LOOP_TEST(test_grpc_stream__a_job_that_was_added_is_handed_out),
        LOOP_TEST(test_grpc_stream__an_answer_is_held_and_a_ping_is_not),
        LOOP_TEST(test_grpc_stream__a_held_answer_whose_store_fails_is_unknown),
        LOOP_TEST(test_grpc_stream__a_held_job_is_given_back_when_its_call_is_canceled),
        LOOP_TEST(test_grpc_stream__a_held_job_is_given_back_when_the_connection_breaks),
        LOOP_TEST(test_grpc_stream__a_job_whose_bytes_have_left_is_left_to_its_lease),
        LOOP_TEST(test_grpc_stream__a_call_that_waits_takes_no_job_after_its_end),
        LOOP_TEST(test_grpc_stream__calls_of_a_connection_wait_beside_each_other),
        LOOP_TEST(test_grpc_stream__a_deadline_ends_a_wait),
        LOOP_TEST(test_grpc_stream__a_stop_ends_calls_that_wait_and_then_the_connection),
        LOOP_TEST(test_grpc_stream__wrong_messages_end_the_call_with_the_code_for_it),
        LOOP_TEST(test_grpc_stream__requests_that_are_no_calls_get_a_status_of_http),
        LOOP_TEST(test_grpc_stream__a_malformed_deadline_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
