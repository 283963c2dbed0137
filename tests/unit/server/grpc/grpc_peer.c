// SPDX-License-Identifier: MIT
#include "grpc_peer.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

static struct peer_call *call_of(struct grpc_peer *peer, int32_t stream)
{
    for (size_t i = 0; i < peer->count; i++) {
        if (peer->calls[i].stream == stream) {
            return &peer->calls[i];
        }
    }
    return NULL;
}

// ---------------------------------------------------------------------------------------------
// What comes

static void keep(char *out, size_t capacity, const uint8_t *value, size_t size)
{
    (void)snprintf(out, capacity, "%.*s", (int)size, (const char *)value);
}

static int on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name,
                     size_t name_size, const uint8_t *value, size_t value_size, uint8_t flags,
                     void *context)
{
    (void)session;
    (void)flags;
    struct peer_call *call = call_of(context, frame->hd.stream_id);
    struct slice known = slice_make((const char *)name, name_size);
    assert_non_null(call);
    if (slice_equal(known, SLICE(":status"))) {
        keep(call->http_status, sizeof(call->http_status), value, value_size);
    } else if (slice_equal(known, SLICE("grpc-status"))) {
        keep(call->status, sizeof(call->status), value, value_size);
    } else if (slice_equal(known, SLICE("grpc-message"))) {
        keep(call->message, sizeof(call->message), value, value_size);
    }
    return 0;
}

static int on_data(nghttp2_session *session, uint8_t flags, int32_t stream, const uint8_t *bytes,
                   size_t size, void *context)
{
    (void)session;
    (void)flags;
    buffer_append(&call_of(context, stream)->answer, slice_make((const char *)bytes, size));
    return 0;
}

static int on_close(nghttp2_session *session, int32_t stream, uint32_t code, void *context)
{
    (void)session;
    (void)code;
    call_of(context, stream)->closed = true;
    return 0;
}

static int on_frame(nghttp2_session *session, const nghttp2_frame *frame, void *context)
{
    (void)session;
    struct grpc_peer *peer = context;
    peer->pongs += frame->hd.type == NGHTTP2_PING && (frame->hd.flags & NGHTTP2_FLAG_ACK);
    peer->goaway |= frame->hd.type == NGHTTP2_GOAWAY;
    return 0;
}

// ---------------------------------------------------------------------------------------------

void grpc_peer_init(struct grpc_peer *peer, struct loop_test *test)
{
    *peer = (struct grpc_peer){ .count = 0 };
    loop_client_init(&peer->client, test, &protocol_h2);
    nghttp2_session_callbacks *callbacks;
    assert_int_equal(nghttp2_session_callbacks_new(&callbacks), 0);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_close);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame);
    assert_int_equal(nghttp2_session_client_new(&peer->session, callbacks, peer), 0);
    nghttp2_session_callbacks_del(callbacks);
    assert_int_equal(nghttp2_submit_settings(peer->session, NGHTTP2_FLAG_NONE, NULL, 0), 0);
}

void grpc_peer_release(struct grpc_peer *peer)
{
    nghttp2_session_del(peer->session);
    for (size_t i = 0; i < peer->count; i++) {
        buffer_release(&peer->calls[i].request);
        buffer_release(&peer->calls[i].answer);
    }
    loop_client_release(&peer->client);
}

static ssize_t read_request(nghttp2_session *session, int32_t stream, uint8_t *bytes, size_t size,
                            uint32_t *flags, nghttp2_data_source *source, void *context)
{
    (void)session;
    (void)stream;
    (void)context;
    struct peer_call *call = source->ptr;
    struct slice rest = slice_sub(buffer_slice(&call->request), call->sent, size);
    memcpy(bytes, rest.size ? rest.data : "", rest.size);
    call->sent += rest.size;
    *flags = call->sent == call->request.size && call->half_closes ? NGHTTP2_DATA_FLAG_EOF : 0;
    return rest.size || *flags ? (ssize_t)rest.size : NGHTTP2_ERR_DEFERRED;
}

size_t grpc_peer_request(struct grpc_peer *peer, const nghttp2_nv *head, size_t head_size,
                         const struct buffer *request)
{
    assert_true(peer->count < PEER_CALLS);
    struct peer_call *call = &peer->calls[peer->count];
    *call = (struct peer_call){ .half_closes = true };
    buffer_init(&call->request, &allocator_system, 1 << 24);
    buffer_init(&call->answer, &allocator_system, 1 << 24);
    buffer_append(&call->request, buffer_slice(request));
    const nghttp2_data_provider provider = { .source.ptr = call, .read_callback = read_request };
    call->stream = nghttp2_submit_request(peer->session, NULL, head, head_size, &provider, NULL);
    assert_true(call->stream > 0);
    return peer->count++;
}

static nghttp2_nv field(const char *name, const char *value)
{
    nghttp2_nv nv = { .namelen = strlen(name), .valuelen = strlen(value) };
    memcpy(&nv.name, &name, sizeof(name));
    memcpy(&nv.value, &value, sizeof(value));
    return nv;
}

size_t grpc_peer_call(struct grpc_peer *peer, const char *path, const struct buffer *request,
                      const char *timeout)
{
    const nghttp2_nv head[] = {
        field(":method", "POST"),
        field(":path", path),
        field(":scheme", "http"),
        field(":authority", "localhost"),
        field("te", "trailers"),
        field("content-type", "application/grpc"),
        field("grpc-timeout", timeout ? timeout : ""),
    };
    return grpc_peer_request(peer, head, timeout ? 7 : 6, request);
}

static void hear(struct grpc_peer *peer)
{
    uint8_t bytes[4096];
    ssize_t size;
    while ((size = recv(peer->client.fd, bytes, sizeof(bytes), 0)) > 0) {
        assert_int_equal(nghttp2_session_mem_recv(peer->session, bytes, (size_t)size), size);
    }
    assert_true(size == 0 || errno == EAGAIN);
}

void grpc_peer_turn(struct grpc_peer *peer)
{
    const uint8_t *bytes;
    ssize_t size;
    while ((size = nghttp2_session_mem_send(peer->session, &bytes)) > 0) {
        assert_int_equal(send(peer->client.fd, bytes, (size_t)size, MSG_NOSIGNAL), size);
    }
    loop_test_turn(peer->client.test);
    hear(peer);
}

// cmocka's time limit ends a test that waits in vain.
void grpc_peer_expect(struct grpc_peer *peer, size_t call, const char *status)
{
    while (!peer->calls[call].closed) {
        grpc_peer_turn(peer);
    }
    if (strcmp(peer->calls[call].status, status) != 0) {
        print_error("status %s: %s\n", peer->calls[call].status, peer->calls[call].message);
    }
    assert_string_equal(peer->calls[call].status, status);
}

// ---------------------------------------------------------------------------------------------
// Messages

static void put_varint(struct buffer *out, uint64_t number)
{
    for (; number > 127; number >>= 7) {
        buffer_append_char(out, (char)(uint8_t)(number | 128U));
    }
    buffer_append_char(out, (char)(uint8_t)number);
}

static void put_bytes(struct buffer *out, unsigned field, struct slice bytes)
{
    put_varint(out, field << 3U | 2U);
    put_varint(out, bytes.size);
    buffer_append(out, bytes);
}

void put_text(struct buffer *out, unsigned field, const char *text)
{
    put_bytes(out, field, slice_from_cstr(text));
}

void put_number(struct buffer *out, unsigned field, uint64_t number)
{
    put_varint(out, field << 3U);
    put_varint(out, number);
}

void put_message(struct buffer *out, unsigned field, const struct buffer *message)
{
    put_bytes(out, field, buffer_slice(message));
}

void put_frame(struct buffer *out, struct buffer *message)
{
    buffer_append_char(out, 0);
    for (int shift = 24; shift >= 0; shift -= 8) {
        buffer_append_char(out, (char)(uint8_t)(message->size >> shift));
    }
    buffer_append(out, buffer_slice(message));
    buffer_release(message);
}

void put_add(struct buffer *out, const char *queue)
{
    struct buffer message, data;
    buffer_init(&message, &allocator_system, 1 << 20);
    buffer_init(&data, &allocator_system, 1 << 20);
    put_text(&message, 1, "app");
    put_text(&message, 2, queue);
    put_text(&message, 3, "Send");
    put_text(&data, 1, "{}");
    put_message(&message, 4, &data);
    buffer_release(&data);
    put_frame(out, &message);
}

void put_next(struct buffer *out, const char *queue, unsigned wait_s)
{
    struct buffer message, wait;
    buffer_init(&message, &allocator_system, 1 << 20);
    buffer_init(&wait, &allocator_system, 1 << 20);
    put_text(&message, 1, "app");
    put_text(&message, 2, queue);
    put_text(&message, 3, "w");
    if (wait_s) {
        put_number(&wait, 1, wait_s);
        put_message(&message, 5, &wait);
    }
    buffer_release(&wait);
    put_frame(out, &message);
}
