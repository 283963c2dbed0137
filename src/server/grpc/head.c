// SPDX-License-Identifier: MIT
// What the head of a request says: which method is called, how long the call may take, how messages
// are packed and who calls.
#include "server/grpc/stream.h"
#include "server/server.h"

static void on_deadline(evutil_socket_t fd, short what, void *context)
{
    (void)fd;
    (void)what;
    struct grpc_stream *stream = context;
    stream->has_deadline = false;
    grpc_stream_fail(stream, GRPC_DEADLINE_EXCEEDED, "the deadline of the call has passed");
}

static void read_timeout(struct grpc_stream *stream, struct slice text)
{
    int64_t timeout_us;
    if (grpc_timeout_parse(text, &timeout_us)) {
        grpc_stream_fail(stream, GRPC_INTERNAL, "grpc-timeout is malformed: %.*s",
                         SLICE_PRINT(slice_shown(text)));
        return;
    }
    struct timeval timeout = timeval_of(timeout_us);
    (void)evtimer_assign(&stream->deadline, stream->connection->server->loop, on_deadline, stream);
    stream->has_deadline = evtimer_add(&stream->deadline, &timeout) == 0;
}

// HTTP's own answers: what was sent is no call of gRPC.
static void answer_http(struct grpc_stream *stream, const char *status)
{
    const struct h2_field field = { SLICE(":status"), slice_from_cstr(status) };
    if (h2_stream_answer_all(stream->session->h2, stream->id, &field, 1)) {
        h2_stream_reset(stream->session->h2, stream->id, H2_INTERNAL_ERROR);
    }
    stream->head_sent = true;
    stream->ended = true;
    stream->fault.code = GRPC_UNKNOWN;
    connection_drain(stream->connection);
}

static void find_method(struct grpc_stream *stream, const struct h2_head *head)
{
    struct slice path;
    (void)h2_head_find(head, SLICE(":path"), &path);
    const struct grpc_method *method = grpc_face_find(stream->connection->server->grpc.face, path);
    if (method) {
        grpc_call_init(&stream->call, method);
        stream->connection->last_command = method->name;
        stream->session->connection->last_command = method->name;
    } else {
        grpc_stream_fail(stream, GRPC_UNIMPLEMENTED, "there is no method %.*s",
                         SLICE_PRINT(slice_shown(path)));
    }
}

void grpc_stream_read_head(struct grpc_stream *stream, const struct h2_head *head)
{
    struct slice value;
    if (h2_head_is_too_large(head)) {
        grpc_stream_fail(stream, GRPC_RESOURCE_EXHAUSTED,
                         "the metadata takes more than %zu bytes or %d fields", head->size_max,
                         H2_HEAD_FIELDS_MAX);
        return;
    }
    (void)h2_head_find(head, SLICE(":method"), &value);
    if (!slice_equal(value, SLICE("POST"))) {
        answer_http(stream, "405");
        return;
    }
    (void)h2_head_find(head, SLICE("content-type"), &value);
    if (!grpc_content_type_is_valid(value)) {
        answer_http(stream, "415");
        return;
    }
    find_method(stream, head);
    (void)h2_head_find(head, SLICE("grpc-encoding"), &value);
    stream->encoding = grpc_encoding_of(value);
    if (stream->encoding == GRPC_ENCODING_UNKNOWN) {
        grpc_stream_fail(stream, GRPC_UNIMPLEMENTED,
                         "grpc-encoding %.*s is not known; " //
                         GRPC_ACCEPT_ENCODING " are",
                         SLICE_PRINT(slice_shown(value)));
    }
    size_t count = h2_head_find(head, SLICE("authorization"), &value);
    if (count > 1) {
        grpc_stream_fail(stream, GRPC_UNAUTHENTICATED, "the call has more than one authorization");
    }
    buffer_append(&stream->authorization, value);
    if (!stream->ended && h2_head_find(head, SLICE("grpc-timeout"), &value)) {
        read_timeout(stream, value);
    }
}
