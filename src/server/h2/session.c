// SPDX-License-Identifier: MIT
#include "server/h2/session.h"

#include "server/h2/patience.h"

#include <assert.h>
#include <nghttp2/nghttp2.h>

enum {
    // The library's defaults, said so that no other version changes them.
    SETTINGS_ENTRIES_MAX = 32,
    RESETS_BURST = 1000,
    RESETS_PER_SECOND = 33,
    CONTINUATIONS_MAX = 8,
    ACKS_MAX = 1000,
    HEADER_TABLE_SIZE = 4096,
    // A head whose fields take so much, kept or not, ends the connection.
    HEAD_SIZE_ABSURD = 256 << 10,
    FIELDS_SENT_MAX = 16,
};

// The ping behind the notice that no more requests are taken.
static const uint8_t notice[8] = "notice";

struct h2_session {
    const struct allocator *allocator;
    const struct h2_ops *ops;
    void *owner;
    nghttp2_session *library;
    struct h2_head head;
    struct patience patience;
    struct h2_figures figures;
    size_t head_size_max;
    int64_t now_us; // of h2_session_receive
    bool wide;      // h2_session_widen was called
    bool broken;    // nothing more is received
    bool dead;      // and nothing more is sent
    bool refuses;   // new requests
    bool parted;    // a GOAWAY with the last request is sent, or about to be
};

// ---------------------------------------------------------------------------------------------
// Memory: the library does not give sizes back, so each block begins with its own.

struct block {
    size_t size; // of all
    max_align_t bytes[];
};

static void *block_resize(const struct allocator *allocator, void *bytes, size_t size)
{
    struct block *old =
        bytes ? (struct block *)((char *)bytes - offsetof(struct block, bytes)) : NULL;
    size_t old_size = old ? old->size : 0;
    size_t new_size = size ? size + offsetof(struct block, bytes) : 0;
    if (new_size < size) {
        return NULL;
    }
    struct block *fresh = mem_resize(allocator, old, old_size, new_size);
    if (!fresh) {
        return NULL;
    }
    fresh->size = new_size;
    return fresh->bytes;
}

static void *library_malloc(size_t size, void *allocator)
{
    return block_resize(allocator, NULL, size ? size : 1);
}

static void *library_calloc(size_t count, size_t size, void *allocator)
{
    size_t all = count * size;
    if (size && all / size != count) {
        return NULL;
    }
    void *bytes = library_malloc(all, allocator);
    if (bytes) {
        memset(bytes, 0, all);
    }
    return bytes;
}

static void *library_realloc(void *bytes, size_t size, void *allocator)
{
    return block_resize(allocator, bytes, size ? size : 1);
}

static void library_free(void *bytes, void *allocator)
{
    if (bytes) {
        (void)block_resize(allocator, bytes, 0);
    }
}

// ---------------------------------------------------------------------------------------------
// The end of it

// The client is told why, and nothing more is taken from it.
static void complain(struct h2_session *session, uint32_t code, const char *why)
{
    if (session->broken) {
        return;
    }
    session->broken = session->parted = true;
    session->figures.complaint = why;
    (void)nghttp2_submit_goaway(session->library, NGHTTP2_FLAG_NONE,
                                nghttp2_session_get_last_proc_stream_id(session->library), code,
                                (const uint8_t *)why, strlen(why));
}

static void *stream_of(const struct h2_session *session, int32_t stream)
{
    return nghttp2_session_get_stream_user_data(session->library, stream);
}

// ---------------------------------------------------------------------------------------------
// What comes

static int on_begin_headers(nghttp2_session *library, const nghttp2_frame *frame, void *context)
{
    (void)library;
    struct h2_session *session = context;
    if (frame->hd.type == NGHTTP2_HEADERS) {
        h2_head_begin(&session->head, session->head_size_max);
    }
    return 0;
}

static int on_header(nghttp2_session *library, const nghttp2_frame *frame, const uint8_t *name,
                     size_t name_size, const uint8_t *value, size_t value_size, uint8_t flags,
                     void *context)
{
    (void)library;
    (void)flags;
    struct h2_session *session = context;
    if (frame->hd.type != NGHTTP2_HEADERS) {
        return 0;
    }
    if (h2_head_add(&session->head, slice_make((const char *)name, name_size),
                    slice_make((const char *)value, value_size))) {
        return NGHTTP2_ERR_CALLBACK_FAILURE; // out of memory
    }
    if (session->head.size > HEAD_SIZE_ABSURD) {
        complain(session, NGHTTP2_ENHANCE_YOUR_CALM, "header list too large");
        return NGHTTP2_ERR_CALLBACK_FAILURE;
    }
    return 0;
}

static void reset(struct h2_session *session, int32_t stream, uint32_t code)
{
    (void)nghttp2_submit_rst_stream(session->library, NGHTTP2_FLAG_NONE, stream, code);
}

static void open_stream(struct h2_session *session, int32_t stream)
{
    if (session->refuses || session->broken) {
        reset(session, stream, NGHTTP2_REFUSED_STREAM);
        return;
    }
    session->figures.requests++;
    void *known = session->ops->opened(session->owner, stream, &session->head);
    if (!known || nghttp2_session_set_stream_user_data(session->library, stream, known)) {
        reset(session, stream, NGHTTP2_REFUSED_STREAM);
        if (known) {
            session->ops->closed(known);
        }
    }
}

static void count_idle_frame(struct h2_session *session)
{
    if (!patience_idle_frame(&session->patience)) {
        complain(session, NGHTTP2_ENHANCE_YOUR_CALM, "too_many_idle_frames");
    }
}

static int on_frame_recv(nghttp2_session *library, const nghttp2_frame *frame, void *context)
{
    (void)library;
    struct h2_session *session = context;
    uint8_t type = frame->hd.type;
    bool is_head = type == NGHTTP2_HEADERS && frame->headers.cat == NGHTTP2_HCAT_REQUEST;
    bool is_end = (type == NGHTTP2_HEADERS || type == NGHTTP2_DATA) &&
                  (frame->hd.flags & NGHTTP2_FLAG_END_STREAM);
    if (is_head) {
        open_stream(session, frame->hd.stream_id);
    }
    if (type == NGHTTP2_PING && !(frame->hd.flags & NGHTTP2_FLAG_ACK)) {
        if (!patience_ping(&session->patience, session->now_us)) {
            complain(session, NGHTTP2_ENHANCE_YOUR_CALM, "too_many_pings");
        }
    } else if (type == NGHTTP2_PING && session->refuses &&
               memcmp(frame->ping.opaque_data, notice, sizeof(notice)) == 0) {
        h2_session_part(session);
    } else if (!is_head && !is_end && !(type == NGHTTP2_DATA && frame->hd.length > 0)) {
        count_idle_frame(session);
    }
    void *stream = is_end ? stream_of(session, frame->hd.stream_id) : NULL;
    if (stream) {
        session->ops->ended(stream);
    }
    return 0;
}

static int on_data_chunk(nghttp2_session *library, uint8_t flags, int32_t id, const uint8_t *bytes,
                         size_t size, void *context)
{
    (void)flags;
    struct h2_session *session = context;
    void *stream = stream_of(session, id);
    if (stream) {
        session->ops->received(stream, slice_make((const char *)bytes, size));
    } else {
        (void)nghttp2_session_consume_connection(library, size);
    }
    return 0;
}

static int on_stream_close(nghttp2_session *library, int32_t id, uint32_t code, void *context)
{
    (void)code;
    struct h2_session *session = context;
    void *stream = stream_of(session, id);
    if (stream) {
        (void)nghttp2_session_set_stream_user_data(library, id, NULL);
        session->ops->closed(stream);
    }
    return 0;
}

// The library ends a connection by itself, too. INTERNAL_ERROR is what it says to a client that makes
// and resets streams without end.
static const char *complaint_of_library(uint32_t code)
{
    return code == NGHTTP2_INTERNAL_ERROR ? "too many streams were reset"
                                          : nghttp2_http2_strerror(code);
}

// When an answer is complete the client need not go on with its request.
static int on_frame_send(nghttp2_session *library, const nghttp2_frame *frame, void *context)
{
    struct h2_session *session = context;
    uint8_t type = frame->hd.type;
    if (type == NGHTTP2_GOAWAY && frame->goaway.error_code && !session->figures.complaint) {
        session->figures.complaint = complaint_of_library(frame->goaway.error_code);
    }
    // A ping overtakes other frames, so it is sent when the notice has been.
    if (type == NGHTTP2_GOAWAY && session->refuses && !session->parted &&
        nghttp2_submit_ping(library, NGHTTP2_FLAG_NONE, notice)) {
        h2_session_part(session);
    }
    if (type != NGHTTP2_HEADERS && type != NGHTTP2_DATA) {
        return 0;
    }
    patience_answered(&session->patience);
    if ((frame->hd.flags & NGHTTP2_FLAG_END_STREAM) &&
        nghttp2_session_get_stream_remote_close(library, frame->hd.stream_id) == 0) {
        reset(session, frame->hd.stream_id, NGHTTP2_NO_ERROR);
    }
    return 0;
}

// ---------------------------------------------------------------------------------------------
// Life

static enum status make_library(struct h2_session *session, nghttp2_option *option,
                                nghttp2_session_callbacks *callbacks)
{
    nghttp2_mem mem = { (void *)session->allocator, library_malloc, library_free, library_calloc,
                        library_realloc };
    nghttp2_option_set_no_auto_window_update(option, 1);
    nghttp2_option_set_max_settings(option, SETTINGS_ENTRIES_MAX);
    nghttp2_option_set_stream_reset_rate_limit(option, RESETS_BURST, RESETS_PER_SECOND);
    nghttp2_option_set_max_continuations(option, CONTINUATIONS_MAX);
    nghttp2_option_set_max_outbound_ack(option, ACKS_MAX);
    nghttp2_option_set_no_closed_streams(option, 1);
    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, on_begin_headers);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame_recv);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data_chunk);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_stream_close);
    nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, on_frame_send);
    return nghttp2_session_server_new3(&session->library, callbacks, session, option, &mem)
               ? STATUS_NO_MEMORY
               : STATUS_OK;
}

static enum status greet(struct h2_session *session, uint32_t streams_max)
{
    const nghttp2_settings_entry entries[] = {
        { NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, streams_max },
        { NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, H2_HEAD_SIZE_MAX },
        { NGHTTP2_SETTINGS_HEADER_TABLE_SIZE, HEADER_TABLE_SIZE },
    };
    return nghttp2_submit_settings(session->library, NGHTTP2_FLAG_NONE, entries,
                                   sizeof(entries) / sizeof(entries[0]))
               ? STATUS_NO_MEMORY
               : STATUS_OK;
}

enum status h2_session_new(const struct h2_options *options, struct h2_session **out)
{
    struct h2_session *session = mem_zalloc(options->allocator, sizeof(*session));
    if (!session) {
        return STATUS_NO_MEMORY;
    }
    session->allocator = options->allocator;
    session->ops = options->ops;
    session->owner = options->owner;
    session->patience.min_ping_us = options->min_ping_us;
    session->head_size_max = H2_HEAD_SIZE_FIRST;
    h2_head_init(&session->head, options->allocator);
    nghttp2_option *option = NULL;
    nghttp2_session_callbacks *callbacks = NULL;
    enum status status = STATUS_NO_MEMORY;
    if (!nghttp2_option_new(&option) && !nghttp2_session_callbacks_new(&callbacks)) {
        status = make_library(session, option, callbacks);
    }
    nghttp2_option_del(option);
    nghttp2_session_callbacks_del(callbacks);
    if (!status) {
        status = greet(session, options->streams_max);
    }
    if (status) {
        h2_session_free(session);
        return status;
    }
    *out = session;
    return STATUS_OK;
}

void h2_session_free(struct h2_session *session)
{
    if (session) {
        nghttp2_session_del(session->library);
        h2_head_release(&session->head);
        mem_free(session->allocator, session, sizeof(*session));
    }
}

void h2_session_widen(struct h2_session *session)
{
    const nghttp2_settings_entry entry = { NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, H2_STREAM_WINDOW };
    if (session->wide) {
        return;
    }
    session->wide = true;
    session->head_size_max = H2_HEAD_SIZE_MAX;
    (void)nghttp2_submit_settings(session->library, NGHTTP2_FLAG_NONE, &entry, 1);
    (void)nghttp2_session_set_local_window_size(session->library, NGHTTP2_FLAG_NONE, 0, H2_WINDOW);
}

void h2_session_refuse(struct h2_session *session)
{
    session->refuses = true;
    if (nghttp2_submit_shutdown_notice(session->library)) {
        h2_session_part(session); // no memory for it
    }
}

void h2_session_part(struct h2_session *session)
{
    if (!session->parted) {
        session->parted = true;
        (void)nghttp2_submit_goaway(session->library, NGHTTP2_FLAG_NONE,
                                    nghttp2_session_get_last_proc_stream_id(session->library),
                                    NGHTTP2_NO_ERROR, NULL, 0);
    }
}

bool h2_session_has_parted(const struct h2_session *session)
{
    return session->parted || session->dead;
}

// ---------------------------------------------------------------------------------------------
// Bytes

static const char *complaint_about(int error)
{
    switch (error) {
    case NGHTTP2_ERR_BAD_CLIENT_MAGIC:
        return "not a client of HTTP/2 without TLS";
    case NGHTTP2_ERR_FLOODED:
        return "flood of frames that have to be acknowledged";
    case NGHTTP2_ERR_NOMEM:
    case NGHTTP2_ERR_CALLBACK_FAILURE:
        return "out of memory";
    default:
        return nghttp2_strerror(error);
    }
}

bool h2_session_receive(struct h2_session *session, struct slice bytes, int64_t now_us)
{
    session->now_us = now_us;
    while (bytes.size && !session->broken) {
        ssize_t taken =
            nghttp2_session_mem_recv(session->library, (const uint8_t *)bytes.data, bytes.size);
        if (taken < 0) {
            bool told = session->broken; // by an op, which says more
            complain(session,
                     taken == NGHTTP2_ERR_FLOODED ? NGHTTP2_ENHANCE_YOUR_CALM
                                                  : NGHTTP2_PROTOCOL_ERROR,
                     complaint_about((int)taken));
            session->dead = !told && taken == NGHTTP2_ERR_BAD_CLIENT_MAGIC;
            break;
        }
        bytes = slice_sub(bytes, (size_t)taken, SIZE_MAX);
        if (!nghttp2_session_want_read(session->library)) {
            session->broken = true;
        }
    }
    return !session->broken;
}

bool h2_session_send(struct h2_session *session, struct buffer *out, size_t size_max)
{
    while (!session->dead && out->size < size_max) {
        const uint8_t *bytes;
        ssize_t size = nghttp2_session_mem_send(session->library, &bytes);
        if (size == 0) {
            break;
        }
        if (size < 0) {
            session->broken = session->dead = true;
            break;
        }
        buffer_append(out, slice_make((const char *)bytes, (size_t)size));
        session->dead = out->status != STATUS_OK;
    }
    return !session->dead;
}

bool h2_session_has_output(const struct h2_session *session)
{
    return !session->dead && nghttp2_session_want_write(session->library);
}

bool h2_session_is_over(const struct h2_session *session)
{
    return session->dead || (session->broken && !nghttp2_session_want_write(session->library)) ||
           (!nghttp2_session_want_read(session->library) &&
            !nghttp2_session_want_write(session->library));
}

struct h2_figures h2_session_figures(const struct h2_session *session)
{
    return session->figures;
}

// ---------------------------------------------------------------------------------------------
// Streams

// The library copies what it is given here and writes nothing to it.
static nghttp2_nv field_of(struct h2_field field)
{
    nghttp2_nv nv = { .namelen = field.name.size, .valuelen = field.value.size };
    memcpy(&nv.name, &field.name.data, sizeof(nv.name));
    memcpy(&nv.value, &field.value.data, sizeof(nv.value));
    return nv;
}

static size_t fields_of(const struct h2_field *fields, size_t count, nghttp2_nv *out)
{
    assert(count <= FIELDS_SENT_MAX);
    for (size_t i = 0; i < count; i++) {
        out[i] = field_of(fields[i]);
    }
    return count;
}

static ssize_t read_data(nghttp2_session *library, int32_t id, uint8_t *bytes, size_t size,
                         uint32_t *flags, nghttp2_data_source *source, void *context)
{
    (void)source;
    struct h2_session *session = context;
    void *stream = stream_of(session, id);
    struct h2_tail tail = { 0 };
    size_t count = stream ? session->ops->read(stream, (char *)bytes, size, &tail) : 0;
    if (tail.ended) {
        nghttp2_nv fields[FIELDS_SENT_MAX];
        *flags = NGHTTP2_DATA_FLAG_EOF | NGHTTP2_DATA_FLAG_NO_END_STREAM;
        if (nghttp2_submit_trailer(library, id, fields,
                                   fields_of(tail.fields, tail.count, fields))) {
            return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
        }
    } else if (count == 0) {
        return NGHTTP2_ERR_DEFERRED;
    }
    return (ssize_t)count;
}

enum status h2_stream_answer(struct h2_session *session, int32_t stream,
                             const struct h2_field *fields, size_t count)
{
    nghttp2_nv list[FIELDS_SENT_MAX];
    const nghttp2_data_provider provider = { .read_callback = read_data };
    return nghttp2_submit_response(session->library, stream, list, fields_of(fields, count, list),
                                   &provider)
               ? STATUS_NO_MEMORY
               : STATUS_OK;
}

enum status h2_stream_answer_all(struct h2_session *session, int32_t stream,
                                 const struct h2_field *fields, size_t count)
{
    nghttp2_nv list[FIELDS_SENT_MAX];
    return nghttp2_submit_response(session->library, stream, list, fields_of(fields, count, list),
                                   NULL)
               ? STATUS_NO_MEMORY
               : STATUS_OK;
}

void h2_stream_resume(struct h2_session *session, int32_t stream)
{
    (void)nghttp2_session_resume_data(session->library, stream);
}

void h2_stream_reset(struct h2_session *session, int32_t stream, enum h2_code code)
{
    (void)nghttp2_session_set_stream_user_data(session->library, stream, NULL);
    reset(session, stream, code);
}

void h2_stream_consumed(struct h2_session *session, int32_t stream, size_t size)
{
    (void)nghttp2_session_consume_stream(session->library, stream, size);
}

void h2_session_consumed(struct h2_session *session, size_t size)
{
    (void)nghttp2_session_consume_connection(session->library, size);
}
