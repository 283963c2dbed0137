// SPDX-License-Identifier: MIT
#include "server/h2/session.h"

#include "fault_alloc.h"
#include "test.h"

#include <nghttp2/nghttp2.h>
#include <stdio.h>
#include <string.h>

enum {
    STREAMS = 64,
    OUT_MAX = 1 << 24,
    MIN_PING_US = 10000000,
    NOW_US = 1000000,
};

// What the server knows of a stream.
struct call {
    int32_t stream;
    char path[64];
    size_t received;
    bool ended, closed;
    size_t to_say; // bytes of the answer that are left
    bool says_end;
};

// A session, and a client of the library's that speaks to it.
struct pair {
    struct h2_session *session;
    struct call calls[STREAMS];
    size_t call_count;
    bool refuses_all;
    nghttp2_session *client;
    // What the client heard.
    char status[8], tail[8];
    size_t data;
    uint32_t reset_code, goaway_code;
    int32_t last_stream; // that the last GOAWAY names
    size_t resets;
    bool goaway;
    int64_t now_us;
};

static void *on_opened(void *owner, int32_t stream, const struct h2_head *head)
{
    struct pair *pair = owner;
    struct slice path;
    if (pair->refuses_all) {
        return NULL;
    }
    struct call *call = &pair->calls[pair->call_count++ % STREAMS];
    *call = (struct call){ .stream = stream };
    (void)h2_head_find(head, SLICE(":path"), &path);
    (void)snprintf(call->path, sizeof(call->path), "%.*s", SLICE_PRINT(path));
    return call;
}

static void on_received(void *stream, struct slice bytes)
{
    ((struct call *)stream)->received += bytes.size;
}

static void on_ended(void *stream)
{
    ((struct call *)stream)->ended = true;
}

static void on_closed(void *stream)
{
    ((struct call *)stream)->closed = true;
}

static size_t on_read(void *stream, char *bytes, size_t size, struct h2_tail *tail)
{
    const struct h2_field end = { SLICE("grpc-status"), SLICE("0") };
    static struct h2_field kept;
    struct call *call = stream;
    size_t count = call->to_say < size ? call->to_say : size;
    memset(bytes, 'x', count);
    call->to_say -= count;
    if (call->to_say == 0 && call->says_end) {
        kept = end;
        *tail = (struct h2_tail){ .ended = true, .fields = &kept, .count = 1 };
    }
    return count;
}

static const struct h2_ops ops = { on_opened, on_received, on_ended, on_closed, on_read };

// ---------------------------------------------------------------------------------------------
// The client

static int client_header(nghttp2_session *client, const nghttp2_frame *frame, const uint8_t *name,
                         size_t name_size, const uint8_t *value, size_t value_size, uint8_t flags,
                         void *context)
{
    (void)client;
    (void)frame;
    (void)flags;
    struct pair *pair = context;
    struct slice known = slice_make((const char *)name, name_size);
    char *out = slice_equal(known, SLICE(":status"))       ? pair->status
                : slice_equal(known, SLICE("grpc-status")) ? pair->tail
                                                           : NULL;
    if (out) {
        (void)snprintf(out, 8, "%.*s", (int)value_size, (const char *)value);
    }
    return 0;
}

static int client_data(nghttp2_session *client, uint8_t flags, int32_t stream, const uint8_t *bytes,
                       size_t size, void *context)
{
    (void)client;
    (void)flags;
    (void)stream;
    (void)bytes;
    ((struct pair *)context)->data += size;
    return 0;
}

static int client_frame(nghttp2_session *client, const nghttp2_frame *frame, void *context)
{
    (void)client;
    struct pair *pair = context;
    if (frame->hd.type == NGHTTP2_RST_STREAM) {
        pair->reset_code = frame->rst_stream.error_code;
        pair->resets++;
    } else if (frame->hd.type == NGHTTP2_GOAWAY) {
        pair->goaway = true;
        pair->goaway_code = frame->goaway.error_code;
        pair->last_stream = frame->goaway.last_stream_id;
    }
    return 0;
}

static enum status pair_init(struct pair *pair, const struct allocator *allocator)
{
    *pair = (struct pair){ .now_us = NOW_US };
    const struct h2_options options = { .allocator = allocator,
                                        .ops = &ops,
                                        .owner = pair,
                                        .streams_max = 10,
                                        .min_ping_us = MIN_PING_US };
    enum status status = h2_session_new(&options, &pair->session);
    if (status) {
        return status;
    }
    nghttp2_session_callbacks *callbacks;
    assert_int_equal(nghttp2_session_callbacks_new(&callbacks), 0);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, client_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, client_data);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, client_frame);
    assert_int_equal(nghttp2_session_client_new(&pair->client, callbacks, pair), 0);
    nghttp2_session_callbacks_del(callbacks);
    assert_int_equal(nghttp2_submit_settings(pair->client, NGHTTP2_FLAG_NONE, NULL, 0), 0);
    return STATUS_OK;
}

static void pair_release(struct pair *pair)
{
    h2_session_free(pair->session);
    nghttp2_session_del(pair->client);
}

// Carries bytes both ways until neither side has any. `piece` is how many the server is given at a
// time. False: the server takes no more.
static bool talk_in_pieces(struct pair *pair, const struct allocator *allocator, size_t piece)
{
    struct buffer out;
    bool takes = true, moved = true;
    buffer_init(&out, allocator, OUT_MAX);
    while (moved) {
        const uint8_t *bytes;
        ssize_t size;
        moved = false;
        while (takes && (size = nghttp2_session_mem_send(pair->client, &bytes)) > 0) {
            struct slice rest = slice_make((const char *)bytes, (size_t)size);
            for (; takes && rest.size; rest = slice_sub(rest, piece, SIZE_MAX)) {
                takes = h2_session_receive(pair->session, slice_sub(rest, 0, piece), pair->now_us);
            }
            moved = true;
        }
        buffer_clear(&out);
        (void)h2_session_send(pair->session, &out, OUT_MAX);
        if (out.size) {
            (void)nghttp2_session_mem_recv(pair->client, (const uint8_t *)out.data, out.size);
            moved = true;
        }
    }
    buffer_release(&out);
    return takes;
}

static bool talk(struct pair *pair)
{
    return talk_in_pieces(pair, &allocator_system, SIZE_MAX);
}

static ssize_t client_body(nghttp2_session *client, int32_t stream, uint8_t *bytes, size_t size,
                           uint32_t *flags, nghttp2_data_source *source, void *context)
{
    (void)client;
    (void)stream;
    (void)context;
    size_t *left = source->ptr;
    size_t count = *left < size ? *left : size;
    memset(bytes, 'y', count);
    *left -= count;
    *flags = *left ? 0 : NGHTTP2_DATA_FLAG_EOF;
    return (ssize_t)count;
}

#define FIELD(name, value)                                                                         \
    {                                                                                              \
        (uint8_t *)(name), (uint8_t *)(value), strlen(name), strlen(value), NGHTTP2_NV_FLAG_NONE   \
    }

// A request with a body of so many bytes.
static int32_t request(struct pair *pair, size_t *body)
{
    const nghttp2_nv fields[] = { FIELD(":method", "POST"), FIELD(":path", "/a.B/C"),
                                  FIELD(":scheme", "http"), FIELD(":authority", "localhost") };
    const nghttp2_data_provider provider = { .source.ptr = body, .read_callback = client_body };
    int32_t stream =
        nghttp2_submit_request(pair->client, NULL, fields, 4, body ? &provider : NULL, NULL);
    assert_true(stream > 0);
    return stream;
}

static enum status answer(struct pair *pair, int32_t stream, bool all)
{
    const struct h2_field ok = { SLICE(":status"), SLICE("200") };
    return (all ? h2_stream_answer_all : h2_stream_answer)(pair->session, stream, &ok, 1);
}

// ---------------------------------------------------------------------------------------------

static void test_h2_session__a_request_comes_out_however_its_bytes_are_cut(void **state)
{
    (void)state;
    for (size_t piece = 1; piece < 40; piece += 6) {
        struct pair pair;
        size_t body = 3000;
        assert_int_equal(pair_init(&pair, &allocator_system), STATUS_OK);
        (void)request(&pair, &body);
        assert_true(talk_in_pieces(&pair, &allocator_system, piece));
        assert_int_equal(pair.call_count, 1);
        assert_string_equal(pair.calls[0].path, "/a.B/C");
        assert_int_equal(pair.calls[0].received, 3000);
        assert_true(pair.calls[0].ended && !pair.calls[0].closed);
        pair_release(&pair);
    }
}

static void test_h2_session__an_answer_is_a_head_bytes_and_a_tail(void **state)
{
    (void)state;
    struct pair pair;
    assert_int_equal(pair_init(&pair, &allocator_system), STATUS_OK);
    int32_t stream = request(&pair, NULL);
    assert_true(talk(&pair));
    struct call *call = &pair.calls[0];
    assert_int_equal(answer(&pair, stream, false), STATUS_OK);
    assert_true(talk(&pair));
    assert_string_equal(pair.status, "200");
    assert_int_equal(pair.data, 0);
    call->to_say = 40000;
    h2_stream_resume(pair.session, stream);
    assert_true(talk(&pair));
    assert_int_equal(pair.data, 40000);
    assert_string_equal(pair.tail, "");
    call->says_end = true;
    h2_stream_resume(pair.session, stream);
    assert_true(talk(&pair));
    assert_string_equal(pair.tail, "0");
    assert_true(call->closed);
    pair_release(&pair);
}

static void test_h2_session__an_answer_before_the_end_of_the_request_ends_both(void **state)
{
    (void)state;
    struct pair pair;
    size_t body = 1 << 20; // more than the window
    assert_int_equal(pair_init(&pair, &allocator_system), STATUS_OK);
    int32_t stream = request(&pair, &body);
    assert_true(talk(&pair));
    assert_int_equal(answer(&pair, stream, true), STATUS_OK);
    assert_true(talk(&pair));
    assert_string_equal(pair.status, "200");
    assert_int_equal(pair.resets, 1);
    assert_int_equal(pair.reset_code, NGHTTP2_NO_ERROR);
    assert_true(pair.calls[0].closed);
    pair_release(&pair);
}

static void test_h2_session__what_is_not_consumed_stays_within_the_windows(void **state)
{
    (void)state;
    struct pair pair;
    size_t body = 8 << 20;
    assert_int_equal(pair_init(&pair, &allocator_system), STATUS_OK);
    int32_t stream = request(&pair, &body);
    assert_true(talk(&pair));
    struct call *call = &pair.calls[0];
    assert_int_equal(call->received, NGHTTP2_INITIAL_WINDOW_SIZE);
    h2_session_widen(pair.session);
    assert_true(talk(&pair));
    assert_int_equal(call->received, H2_STREAM_WINDOW);
    // Room in one window alone is not enough.
    h2_session_consumed(pair.session, call->received);
    assert_true(talk(&pair));
    assert_int_equal(call->received, H2_STREAM_WINDOW);
    h2_stream_consumed(pair.session, stream, call->received);
    assert_true(talk(&pair));
    assert_int_equal(call->received, 2 * H2_STREAM_WINDOW);
    pair_release(&pair);
}

static void test_h2_session__streams_that_are_not_taken_are_refused(void **state)
{
    (void)state;
    struct pair pair;
    assert_int_equal(pair_init(&pair, &allocator_system), STATUS_OK);
    pair.refuses_all = true;
    (void)request(&pair, NULL);
    assert_true(talk(&pair));
    assert_int_equal(pair.reset_code, NGHTTP2_REFUSED_STREAM);
    pair_release(&pair);
}

static void test_h2_session__pings_that_come_too_soon_end_the_connection(void **state)
{
    (void)state;
    struct pair pair;
    assert_int_equal(pair_init(&pair, &allocator_system), STATUS_OK);
    for (int i = 0; i < 4; i++) {
        assert_false(pair.goaway);
        assert_int_equal(nghttp2_submit_ping(pair.client, NGHTTP2_FLAG_NONE, NULL), 0);
        assert_int_equal(talk(&pair), i < 3);
    }
    assert_true(pair.goaway);
    assert_int_equal(pair.goaway_code, NGHTTP2_ENHANCE_YOUR_CALM);
    assert_string_equal(h2_session_figures(pair.session).complaint, "too_many_pings");
    assert_true(h2_session_is_over(pair.session));
    pair_release(&pair);
}

static void test_h2_session__after_refuse_the_calls_under_way_are_answered(void **state)
{
    (void)state;
    struct pair pair;
    assert_int_equal(pair_init(&pair, &allocator_system), STATUS_OK);
    int32_t stream = request(&pair, NULL);
    assert_true(talk(&pair));
    h2_session_refuse(pair.session);
    assert_false(h2_session_has_parted(pair.session));
    assert_true(talk(&pair)); // the client answers to the notice
    assert_true(h2_session_has_parted(pair.session));
    assert_true(pair.goaway);
    assert_int_equal(pair.last_stream, stream);
    assert_int_equal(pair.goaway_code, NGHTTP2_NO_ERROR);
    assert_false(h2_session_is_over(pair.session));
    assert_int_equal(answer(&pair, stream, true), STATUS_OK);
    (void)talk(&pair);
    assert_string_equal(pair.status, "200");
    assert_true(h2_session_is_over(pair.session));
    assert_null(h2_session_figures(pair.session).complaint);
    pair_release(&pair);
}

static void test_h2_session__what_is_no_http_2_ends_it_without_a_word(void **state)
{
    (void)state;
    struct pair pair;
    struct buffer out;
    assert_int_equal(pair_init(&pair, &allocator_system), STATUS_OK);
    buffer_init(&out, &allocator_system, OUT_MAX);
    assert_false(h2_session_receive(pair.session, SLICE("GET / HTTP/1.1\r\nHost: a\r\n\r\n"), 1));
    assert_true(h2_session_is_over(pair.session));
    (void)h2_session_send(pair.session, &out, OUT_MAX);
    assert_int_equal(out.size, 0);
    assert_false(h2_session_receive(pair.session, SLICE("PRI"), 1));
    pair_release(&pair);
}

// Whatever allocation fails, everything is given back, and what is sent is never wrong.
static void test_h2_session__lack_of_memory_at_any_point_loses_nothing(void **state)
{
    (void)state;
    struct fault_alloc fault;
    FAULT_ALLOC_EACH(&fault)
    {
        struct pair pair;
        size_t body = 20000;
        if (pair_init(&pair, &fault.allocator)) {
            assert_true(fault.failed);
            continue;
        }
        int32_t stream = request(&pair, &body);
        h2_session_widen(pair.session);
        (void)talk_in_pieces(&pair, &fault.allocator, 5000);
        if (pair.call_count && !pair.calls[0].closed) {
            pair.calls[0].to_say = 50000;
            pair.calls[0].says_end = true;
            if (answer(&pair, stream, false)) {
                h2_stream_reset(pair.session, stream, H2_INTERNAL_ERROR);
            }
            (void)talk_in_pieces(&pair, &fault.allocator, 5000);
        }
        assert_true(fault.failed || (pair.data == 50000 && strcmp(pair.tail, "0") == 0));
        pair_release(&pair);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_h2_session__a_request_comes_out_however_its_bytes_are_cut),
        cmocka_unit_test(test_h2_session__an_answer_is_a_head_bytes_and_a_tail),
        cmocka_unit_test(test_h2_session__an_answer_before_the_end_of_the_request_ends_both),
        cmocka_unit_test(test_h2_session__what_is_not_consumed_stays_within_the_windows),
        cmocka_unit_test(test_h2_session__streams_that_are_not_taken_are_refused),
        cmocka_unit_test(test_h2_session__pings_that_come_too_soon_end_the_connection),
        cmocka_unit_test(test_h2_session__after_refuse_the_calls_under_way_are_answered),
        cmocka_unit_test(test_h2_session__what_is_no_http_2_ends_it_without_a_word),
        cmocka_unit_test(test_h2_session__lack_of_memory_at_any_point_loses_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
