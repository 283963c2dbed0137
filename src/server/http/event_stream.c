// SPDX-License-Identifier: MIT
#include "server/http/event_stream.h"

#include "host/event_json.h"
#include "host/tick_json.h"
#include "server/execute.h"
#include "server/http/event_filter.h"
#include "server/http/event_ring.h"
#include "server/log/log.h"
#include "server/server.h"
#include "wire/http_reply.h"

#include <assert.h>

enum {
    TEXT_MAX = 64 << 20,       // of one event; a value of the configuration may be large
    KEPT_SIZE_MAX = 8 << 20,   // of the events that a feed keeps
    SILENT_HEARTBEATS_MAX = 4, // heartbeats that a client may leave unread
};

struct event_feed {
    struct event_feed *next, *previous; // all feeds
    struct event_stream *first;         // the listeners
    struct event_ring ring;
    int64_t left_us; // when the last listener left; used while there is none
    size_t name_size;
    char name[];
};

struct event_stream {
    struct event_stream *next, *previous; // of the same feed
    struct event_feed *feed;
    struct connection *connection;
    struct event_filter filter;
    const struct event_form *form; // NULL: HTTP
    bool of_job, of_ticks;         // how it is counted in struct event_feeds
    bool chunked;
    int64_t sent_us;  // when something was sent last
    uint64_t taken;   // connection_taken when it last grew
    int64_t taken_us; // when it last grew
};

static struct slice feed_name(const struct event_feed *feed)
{
    return slice_make(feed->name, feed->name_size);
}

static struct slice feed_key(const void *feed)
{
    return feed_name(feed);
}

// ---------------------------------------------------------------------------------------------
// Feeds

void events_init(struct server *server)
{
    server->events = (struct event_feeds){ 0 };
    map_init(&server->events.by_name, server->settings.allocator, server->seed, feed_key);
}

// What a returning listener is sent at once must fit into its output limit.
static size_t kept_size_max(const struct server *server)
{
    uint64_t size = server->settings.max_output / 4;
    return size < KEPT_SIZE_MAX ? (size_t)size : KEPT_SIZE_MAX;
}

static struct event_feed *feed_new(struct server *server, struct slice name)
{
    struct event_feeds *all = &server->events;
    const struct allocator *allocator = server->settings.allocator;
    struct event_feed *feed = mem_zalloc(allocator, sizeof(*feed) + name.size);
    if (!feed) {
        return NULL;
    }
    feed->name_size = name.size;
    memcpy(feed->name, name.data, name.size);
    uint64_t now_us = (uint64_t)server_now(server);
    all->last_id = now_us > all->last_id ? now_us : all->last_id + 1;
    event_ring_init(&feed->ring, allocator, server->settings.events_kept, kept_size_max(server),
                    all->last_id);
    if (map_insert(&all->by_name, feed)) {
        mem_free(allocator, feed, sizeof(*feed) + name.size);
        return NULL;
    }
    feed->next = all->newest;
    if (all->newest) {
        all->newest->previous = feed;
    }
    all->newest = feed;
    all->count++;
    return feed;
}

static void feed_end(struct server *server, struct event_feed *feed)
{
    struct event_feeds *all = &server->events;
    (void)map_remove(&all->by_name, feed_name(feed));
    if (feed->next) {
        feed->next->previous = feed->previous;
    }
    *(feed->previous ? &feed->previous->next : &all->newest) = feed->next;
    all->count--;
    event_ring_release(&feed->ring);
    server_update_wanted(server);
    mem_free(server->settings.allocator, feed, sizeof(*feed) + feed->name_size);
}

void events_release(struct server *server)
{
    struct event_feeds *all = &server->events;
    while (all->newest) {
        feed_end(server, all->newest);
    }
    map_release(&all->by_name);
}

// If there are many feeds, frees the one that has had no listener for the longest time.
static void feed_make_room(struct server *server)
{
    struct event_feed *oldest = NULL;
    if (server->events.count < server->settings.max_namespaces) {
        return;
    }
    for (struct event_feed *feed = server->events.newest; feed; feed = feed->next) {
        if (!feed->first && (!oldest || feed->left_us < oldest->left_us)) {
            oldest = feed;
        }
    }
    if (oldest) {
        feed_end(server, oldest);
    }
}

static struct event_feed *feed_acquire(struct server *server, struct slice name)
{
    struct event_feed *feed = map_find(&server->events.by_name, name);
    if (!feed) {
        feed_make_room(server);
        feed = feed_new(server, name);
    }
    return feed;
}

// ---------------------------------------------------------------------------------------------
// Streams

static void stream_free(struct event_stream *stream)
{
    event_filter_release(&stream->filter);
    mem_free(stream->connection->server->settings.allocator, stream, sizeof(*stream));
}

void event_stream_end(struct connection *connection)
{
    struct event_stream *stream = connection->events;
    if (!stream) {
        return;
    }
    struct server *server = connection->server;
    struct event_feed *feed = stream->feed;
    if (stream->next) {
        stream->next->previous = stream->previous;
    }
    *(stream->previous ? &stream->previous->next : &feed->first) = stream->next;
    if (!feed->first) {
        feed->left_us = server_elapsed(server);
    }
    server->events.streams--;
    server->events.of_jobs -= stream->of_job;
    server->events.of_ticks -= stream->of_ticks;
    server_update_wanted(server);
    connection->events = NULL;
    stream_free(stream);
}

// Appends to the output of the connection, as a part of the body.
static void append(const struct event_stream *stream, struct slice text)
{
    struct buffer *out = &stream->connection->output.bytes;
    if (stream->chunked) {
        http_reply_chunk(out, text);
    } else {
        buffer_append(out, text);
    }
}

// Appends to the stream. May end the stream.
static void append_text(struct event_stream *stream, struct slice text)
{
    struct connection *connection = stream->connection;
    stream->sent_us = server_elapsed(connection->server);
    connection_output_begin(connection);
    append(stream, text);
    connection_output_end(connection, 0);
}

// What an event says, within its text.
static struct slice json_of(struct slice text)
{
    static const char before[] = "\ndata: ";
    const char *at = memmem(text.data, text.size, before, sizeof(before) - 1);
    assert(at && slice_ends_with(text, SLICE("\n\n")));
    at += sizeof(before) - 1;
    return slice_make(at, (size_t)(text.data + text.size - 2 - at));
}

// An event, or with the number 0 a tick.
static void append_event_to(const struct event_stream *stream, uint64_t id, struct slice text)
{
    if (stream->form) {
        stream->form->event(stream->connection, id, json_of(text));
    } else {
        append(stream, text);
    }
}

// May end the stream.
static void send_event(struct event_stream *stream, uint64_t id, struct slice text)
{
    struct connection *connection = stream->connection;
    stream->sent_us = server_elapsed(connection->server);
    connection_output_begin(connection);
    append_event_to(stream, id, text);
    connection_output_end(connection, 0);
}

void event_stream_finish(struct connection *connection)
{
    const struct event_stream *stream = connection->events;
    if (!stream) {
        return;
    }
    if (stream->form) {
        stream->form->end(connection);
        return;
    }
    connection_output_begin(connection);
    if (stream->chunked) {
        http_reply_chunks_end(&connection->output.bytes);
    }
    event_stream_end(connection);
    connection_output_end(connection, 0);
    if (!connection->closed) {
        connection_drain(connection);
    }
}

static bool may_hear(const struct event_stream *stream)
{
    const struct connection *connection = stream->connection;
    return connection->user && user_may(connection->user, feed_name(stream->feed), RIGHT_READ);
}

// ---------------------------------------------------------------------------------------------
// Publishing

static void append_event(struct buffer *text, uint64_t id, const struct event *event)
{
    buffer_printf(text, "id: %llu\nevent: %s\ndata: ", (unsigned long long)id,
                  event_kind_name(event->kind));
    event_json(event, text);
    buffer_append(text, SLICE("\n\n"));
}

static void send_to_streams(struct event_feed *feed, const struct event *event, uint64_t id,
                            struct slice text)
{
    struct event_stream *next;
    for (struct event_stream *stream = feed->first; stream; stream = next) {
        next = stream->next;
        struct connection *connection = stream->connection;
        if (!connection->draining && event_filter_matches(&stream->filter, event) &&
            may_hear(stream)) {
            connection->server->events.told++;
            send_event(stream, id, text);
        }
    }
}

// Whether an event that is only for listeners of single jobs has such a listener. Without one, it
// would only displace other events from the ring.
static bool is_followed(const struct event_feed *feed, const struct event *event)
{
    if (event->channels & ~(unsigned)EVENT_TO_JOB) {
        return true;
    }
    for (const struct event_stream *at = feed->first; at; at = at->next) {
        if (at->of_job && event_filter_matches(&at->filter, event)) {
            return true;
        }
    }
    return false;
}

void events_publish(struct server *server, const struct ns *ns, const struct event *event)
{
    struct event_feeds *all = &server->events;
    struct event_feed *feed =
        all->count && (event->channels & EVENT_HEARD) ? map_find(&all->by_name, ns_name(ns)) : NULL;
    if (!feed || !is_followed(feed, event)) {
        return;
    }
    struct buffer text;
    buffer_init(&text, server->settings.allocator, TEXT_MAX);
    append_event(&text, feed->ring.last_id + 1, event);
    if (text.status) {
        event_ring_skip(&feed->ring); // out of memory: the event is lost
    } else {
        event_ring_add(&feed->ring, event, buffer_slice(&text));
        send_to_streams(feed, event, feed->ring.last_id, buffer_slice(&text));
    }
    all->last_id = feed->ring.last_id > all->last_id ? feed->ring.last_id : all->last_id;
    buffer_release(&text);
}

// A tick has no number and is not kept: the next one replaces it.
static void tick(struct server *server, struct event_feed *feed, struct slice json)
{
    struct buffer text;
    buffer_init(&text, server->settings.allocator, TEXT_MAX);
    buffer_append(&text, SLICE("event: tick\ndata: "));
    buffer_append(&text, json);
    buffer_append(&text, SLICE("\n\n"));
    struct event_stream *next;
    for (struct event_stream *stream = feed->first; stream && !text.status; stream = next) {
        next = stream->next;
        if (stream->of_ticks && !stream->connection->draining && may_hear(stream)) {
            server->events.told++;
            send_event(stream, 0, buffer_slice(&text));
        }
    }
    buffer_release(&text);
}

static bool wants_ticks(const struct event_feed *feed)
{
    for (const struct event_stream *at = feed ? feed->first : NULL; at; at = at->next) {
        if (at->of_ticks) {
            return true;
        }
    }
    return false;
}

static void tick_namespace(struct server *server, struct ns *ns)
{
    struct event_feed *feed =
        server->events.of_ticks ? map_find(&server->events.by_name, ns_name(ns)) : NULL;
    bool here = wants_ticks(feed), there = pubsub_hears_ticks(server, ns);
    if (!here && !there) {
        return;
    }
    int64_t now_us = server_now(server);
    struct buffer json;
    buffer_init(&json, server->settings.allocator, TEXT_MAX);
    ns_begin(ns, now_us);
    tick_json(ns->engine, now_us, &json);
    if (!json.status && here) {
        tick(server, feed, buffer_slice(&json));
    }
    if (!json.status && there) {
        pubsub_tick(server, ns, buffer_slice(&json));
    }
    buffer_release(&json);
}

void events_tick(struct server *server)
{
    const struct pubsub *pubsub = &server->pubsub;
    if (!server->events.of_ticks && !pubsub->channel_count && !pubsub->pattern_count) {
        return;
    }
    for (struct ns *ns = server->namespaces.first; ns; ns = ns->next) {
        tick_namespace(server, ns);
    }
}

// ---------------------------------------------------------------------------------------------
// The request

// Sends the current number first, so that a client whose connection breaks before the first event
// can continue too.
static void write_start(const struct event_stream *stream, uint64_t id)
{
    char text[64];
    int size = snprintf(text, sizeof(text), "id: %llu\n\n", (unsigned long long)id);
    append(stream, slice_make(text, (size_t)size));
}

static void write_gap(const struct event_stream *stream)
{
    char text[160];
    const struct event_ring *ring = &stream->feed->ring;
    uint64_t id = ring->last_id - ring->count;
    if (stream->form) {
        stream->form->gap(stream->connection, id);
        return;
    }
    int size = snprintf(text, sizeof(text),
                        "id: %llu\nevent: gap\ndata: "
                        "{\"event\":\"gap\",\"last_event_id\":%llu,\"next_event_id\":%llu}\n\n",
                        (unsigned long long)id, (unsigned long long)stream->filter.last_id,
                        (unsigned long long)id + 1);
    append(stream, slice_make(text, (size_t)size));
}

// How long a client that is cut off waits before it comes back.
static void write_retry(const struct event_stream *stream)
{
    char text[64];
    int64_t retry_us = stream->connection->server->settings.events_retry_us;
    int size = snprintf(text, sizeof(text), "retry: %lld\n\n", (long long)(retry_us / 1000));
    append(stream, slice_make(text, (size_t)size));
}

// Sends the events that the listener has missed; if some of them are no longer kept, all that are
// kept.
static void write_missed(const struct event_stream *stream)
{
    const struct event_ring *ring = &stream->feed->ring;
    struct event event;
    struct slice text;
    size_t index = 0;
    if (event_ring_reaches(ring, stream->filter.last_id)) {
        index = ring->count - (size_t)(ring->last_id - stream->filter.last_id);
    } else {
        write_gap(stream);
    }
    for (; event_ring_at(ring, index, &event, &text); index++) {
        if (event_filter_matches(&stream->filter, &event)) {
            append_event_to(stream, ring->last_id - ring->count + 1 + index, text);
        }
    }
}

static void begin(struct event_stream *stream, const struct http_call *call)
{
    struct connection *connection = stream->connection;
    connection_output_begin(connection);
    http_face_stream(connection->server->web.face, call, "text/event-stream",
                     &connection->output.bytes);
    write_retry(stream);
    if (stream->filter.has_last_id) {
        write_missed(stream);
    }
    // After the missed events: the current number of the feed, even if the last events were
    // filtered out.
    write_start(stream, stream->feed->ring.last_id);
    connection_output_end(connection, 1);
}

static void link_up(struct event_stream *stream, struct event_feed *feed)
{
    struct connection *connection = stream->connection;
    stream->feed = feed;
    stream->next = feed->first;
    if (feed->first) {
        feed->first->previous = stream;
    }
    feed->first = stream;
    stream->sent_us = stream->taken_us = server_elapsed(connection->server);
    connection->events = stream;
    connection->server->events.streams++;
    struct event_feeds *all = &connection->server->events;
    stream->of_job = stream->filter.jids.size > 0;
    stream->of_ticks = event_filter_wants_ticks(&stream->filter);
    all->of_jobs += stream->of_job;
    all->of_ticks += stream->of_ticks;
    server_update_wanted(connection->server);
}

static enum status read_request(struct event_stream *stream, struct error *error)
{
    const struct http_request *request = &stream->connection->web->request;
    struct slice last_id = SLICE_EMPTY;
    enum status status = event_filter_read(&stream->filter, request->query, error);
    if (!status && http_request_header(request, SLICE("Last-Event-ID"), &last_id, NULL)) {
        status = event_filter_read_last_id(&stream->filter, last_id, error);
    }
    return status;
}

// A stream that is not linked to a feed yet, or NULL with an error.
static struct event_stream *stream_new(struct connection *connection, struct error *error)
{
    const struct allocator *allocator = connection->server->settings.allocator;
    struct event_stream *stream = mem_zalloc(allocator, sizeof(*stream));
    if (!stream) {
        (void)error_set(error, STATUS_NO_MEMORY, "no memory to listen");
        return NULL;
    }
    stream->connection = connection;
    event_filter_init(&stream->filter, allocator);
    return stream;
}

static bool check_namespace(struct connection *connection, struct slice name)
{
    const struct server *server = connection->server;
    if (name.size == 0 || name.size > ENGINE_NAME_SIZE_MAX) {
        reply_error_code(connection, "ERR", "a namespace has a name of 1 to %d bytes",
                         ENGINE_NAME_SIZE_MAX);
    } else if (!user_may(connection->user, name, RIGHT_READ)) {
        reply_error_code(connection, "NOPERM", "user %s has no right to read the namespace %.*s",
                         connection->user->name, SLICE_PRINT(slice_shown(name)));
    } else if (server->store_state == STORE_STUCK || server->store_state == STORE_FAILED) {
        // the kept events may never be durable
        connection_reply_error(connection, &server->store_why);
    } else {
        return true;
    }
    return false;
}

// A feed for a stream; without memory the stream is freed, and the error replied.
static bool attach(struct event_stream *stream, struct slice name)
{
    struct connection *connection = stream->connection;
    struct event_feed *feed = feed_acquire(connection->server, name);
    if (!feed) {
        stream_free(stream);
        connection_reply_error(connection, &(struct error){ .status = STATUS_NO_MEMORY });
        return false;
    }
    link_up(stream, feed);
    return true;
}

void events_listen(struct connection *connection, struct slice ns, struct slice query,
                   const struct event_form *form)
{
    struct error error;
    if (!check_namespace(connection, ns)) {
        return;
    }
    struct event_stream *stream = stream_new(connection, &error);
    enum status status = stream ? event_filter_read(&stream->filter, query, &error) : error.status;
    if (status) {
        if (stream) {
            stream_free(stream);
        }
        connection_reply_error(connection, &error);
        return;
    }
    stream->form = form;
    if (attach(stream, ns) && stream->filter.has_last_id) {
        connection_output_begin(connection);
        write_missed(stream);
        connection_output_end(connection, 0);
    }
}

void events_page(struct connection *connection, const struct http_call *call)
{
    struct error error;
    connection->web->call.close = true;
    if (!check_namespace(connection, call->ns)) {
        return;
    }
    struct event_stream *stream = stream_new(connection, &error);
    enum status status = stream ? read_request(stream, &error) : error.status;
    if (status) {
        if (stream) {
            stream_free(stream);
        }
        connection_reply_error(connection, &error);
        return;
    }
    stream->chunked = !call->http_1_0;
    if (call->head) {
        stream_free(stream);
        connection_output_begin(connection);
        http_face_stream(connection->server->web.face, call, "text/event-stream",
                         &connection->output.bytes);
        connection_output_end(connection, 1);
        connection_drain(connection);
        return;
    }
    if (attach(stream, call->ns)) {
        begin(stream, call);
    }
}

// ---------------------------------------------------------------------------------------------
// Periodic work

// Whether the client's host has not acknowledged any bytes for so long that it must be gone.
static bool is_gone(struct event_stream *stream, int64_t now_us)
{
    const struct connection *connection = stream->connection;
    int64_t patience_us = SILENT_HEARTBEATS_MAX * connection->server->settings.events_heartbeat_us;
    uint64_t taken = connection_delivered(connection);
    if (taken > stream->taken || connection_is_delivered(connection)) {
        stream->taken = taken;
        stream->taken_us = now_us;
    }
    return now_us - stream->taken_us > patience_us;
}

static void look_after(struct event_stream *stream, int64_t now_us)
{
    struct connection *connection = stream->connection;
    struct server *server = connection->server;
    bool due = now_us - stream->sent_us >= server->settings.events_heartbeat_us;
    if (connection->draining) {
        return;
    }
    uint64_t session = connection->web ? connection->web->session : 0;
    if (server->store_state == STORE_FAILED || !may_hear(stream) ||
        (session && !sessions_go_on(&server->sessions, session, now_us))) {
        event_stream_finish(connection);
    } else if ((due || connection_unsent(connection)) && is_gone(stream, now_us)) {
        server->figures.slow++;
        log_line(LOG_LEVEL_WARNING, "a listener takes nothing any more, and is closed",
                 LOG_STRING("address", connection->address),
                 LOG_NUMBER("unread", connection_unsent(connection)));
        connection_close(connection);
    } else if (due && stream->form) {
        stream->sent_us = now_us; // HTTP/2 has pings of its own
    } else if (due) {
        append_text(stream, SLICE(":\n\n"));
    }
}

void events_sweep(struct server *server)
{
    int64_t now_us = server_elapsed(server);
    struct event_feed *next;
    for (struct event_feed *feed = server->events.newest; feed; feed = next) {
        next = feed->next;
        struct event_stream *next_stream;
        for (struct event_stream *stream = feed->first; stream; stream = next_stream) {
            next_stream = stream->next;
            look_after(stream, now_us);
        }
        if (!feed->first && now_us - feed->left_us >= server->settings.events_kept_for_us) {
            feed_end(server, feed);
        }
    }
}
