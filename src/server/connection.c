// SPDX-License-Identifier: MIT
#include "server/connection.h"

#include "server/background.h"
#include "server/event_stream.h"
#include "server/execute.h"
#include "server/listener.h"
#include "server/log.h"
#include "server/logins.h"
#include "server/server.h"
#include "server/transaction.h"

#include <assert.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum {
    READ_MIN = 16 << 10,    // room for a read behind what is there already: a record of TLS
    COMPACT_SIZE = 1 << 16, // with so much sent in front, the rest is moved there
};

static bool may_serve(const struct connection *connection);
static bool shake_hands(struct connection *connection);
static void serve_input(struct connection *connection);

// ---------------------------------------------------------------------------------------------
// The loop is asked

// It is read while it may be served. While it waits or is held up it is read as well, so that a
// client that goes away is noticed, but only up to the allowance. What is discarded is read too.
static void update_reading(struct connection *connection)
{
    const struct server *server = connection->server;
    bool wanted = !connection->closed && !connection->ended && !server->stopping &&
                  (connection->discard.on ||
                   (!connection->draining &&
                    (may_serve(connection) ||
                     connection->input.size < allowance_of(connection)->input_ahead_max)));
    if (wanted && !connection->reading) {
        (void)event_add(&connection->readable, NULL);
    } else if (!wanted && connection->reading) {
        (void)event_del(&connection->readable);
    }
    connection->reading = wanted;
}

static void set_writing(struct connection *connection, bool wanted)
{
    if (wanted && !connection->writing) {
        (void)event_add(&connection->writable, NULL);
    } else if (!wanted && connection->writing) {
        (void)event_del(&connection->writable);
    }
    connection->writing = wanted;
}

// ---------------------------------------------------------------------------------------------
// Its life

static void set_options(const struct server *server, int fd, const struct sockaddr_storage *address)
{
    if (address->ss_family == AF_UNIX) {
        return;
    }
    int on = 1;
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    int idle_s = (int)(server->settings.tcp_keepalive_us / 1000000);
    if (idle_s > 0) {
        // A peer that is gone without a word is noticed after one and a half times as long.
        int every_s = idle_s / 6 ? idle_s / 6 : 1;
        int count = 3;
        (void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
        (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof(idle_s));
        (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &every_s, sizeof(every_s));
        (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof(count));
        // Nobody is asked while something is under way to him: without this the system sends it
        // again for a quarter of an hour.
        unsigned gone_ms = 1000 * (unsigned)(idle_s + count * every_s);
        (void)setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &gone_ms, sizeof(gone_ms));
    }
}

static void on_readable(evutil_socket_t fd, short what, void *context);
static void on_writable(evutil_socket_t fd, short what, void *context);

static void link_in(struct server *server, struct connection *connection)
{
    struct connections *all = &server->connections;
    connection->next = all->newest;
    if (all->newest) {
        all->newest->previous = connection;
    }
    all->newest = connection;
    all->count++;
    all->reserved += connection->reserved;
    connection->id = ++all->id;
}

static void link_out(struct server *server, struct connection *connection)
{
    struct connections *all = &server->connections;
    if (connection->next) {
        connection->next->previous = connection->previous;
    }
    if (connection->previous) {
        connection->previous->next = connection->next;
    } else {
        all->newest = connection->next;
    }
    all->count--;
    all->reserved -= connection->reserved;
}

void connection_open(const struct listener *listener, int fd,
                     const struct sockaddr_storage *address, socklen_t size,
                     struct crowd_place place)
{
    struct server *server = listener->server;
    const struct allocator *allocator = server->settings.allocator;
    struct connection *connection = mem_zalloc(allocator, sizeof(*connection));
    if (!connection) {
        (void)close(fd);
        return;
    }
    connection->server = server;
    connection->allowances = &server->connections.allowances;
    connection->protocol = listener->protocol;
    connection->user = users_anybody(server->users);
    if (connection->protocol->open(connection)) {
        (void)close(fd);
        mem_free(allocator, connection, sizeof(*connection));
        return;
    }
    if (!listener->secure) {
        transport_init(&connection->transport, fd);
    } else if (transport_init_tls(&connection->transport, server->tls, fd)) {
        (void)close(fd);
        connection->protocol->release(connection);
        mem_free(allocator, connection, sizeof(*connection));
        return;
    }
    set_options(server, fd, address);
    (void)address_format(address, size, connection->address);
    connection->handshaking = listener->secure;
    connection->began_us = connection->active_us = server_elapsed(server);
    buffer_init(&connection->input, allocator, SIZE_MAX - 1);
    buffer_init(&connection->output, allocator, server->settings.max_output);
    (void)event_assign(&connection->readable, server->loop, fd, EV_READ | EV_PERSIST, on_readable,
                       connection);
    (void)event_assign(&connection->writable, server->loop, fd, EV_WRITE | EV_PERSIST, on_writable,
                       connection);
    connection->reserved = place.reserved;
    connection->source = place.source;
    link_in(server, connection);
    server->figures.connections++;
    update_reading(connection);
}

static void connection_free(struct connection *connection)
{
    struct server *server = connection->server;
    connection->protocol->release(connection);
    buffer_release(&connection->input);
    buffer_release(&connection->output);
    mem_free(server->settings.allocator, connection, sizeof(*connection));
}

// Whoever is closed is freed at the end of the turn, or when the last hold is gone. Sending what
// that hold held back may be what closes it, so both may come together.
static void bury_later(struct connection *connection)
{
    if (connection->holds == 0 && !connection->dead) {
        connection->dead = true;
        connection->next = connection->server->connections.dead;
        connection->server->connections.dead = connection;
    }
}

void connection_close(struct connection *connection)
{
    if (connection->closed) {
        return;
    }
    struct server *server = connection->server;
    connection->closed = true;
    if (connection->blocked) {
        blocked_end(connection->blocked);
    }
    presences_end(&connection->presences, true);
    background_forget(connection);
    login_forget(connection);
    pubsub_forget(connection);
    event_stream_end(connection);
    transaction_forget(connection);
    update_reading(connection);
    set_writing(connection, false);
    transport_close(&connection->transport);
    link_out(server, connection);
    listeners_resume(server); // there is a descriptor again
    bury_later(connection);
}

void connections_bury(struct server *server)
{
    struct connection **at = &server->connections.dead;
    while (*at) {
        struct connection *connection = *at;
        if (connection->scheduled.queued || connection->in_turn) {
            at = &connection->next; // it is freed when the schedule or the turn has come to it
        } else {
            *at = connection->next;
            connection_free(connection);
        }
    }
}

void connection_released(struct connection *connection)
{
    if (connection->closed) {
        bury_later(connection);
    } else if (may_serve(connection)) {
        connection_resume(connection);
    }
}

void connection_drain(struct connection *connection)
{
    connection->draining = true;
    update_reading(connection);
}

void connection_refuse(struct connection *connection)
{
    const char *sentence = connection->protocol->full;
    struct iovec piece = { .iov_len = strlen(sentence) };
    memcpy(&piece.iov_base, &sentence, sizeof(sentence)); // which transport_write only reads
    size_t written;
    if (!connection->transport.ssl && connection->output.size == 0) {
        (void)transport_write(&connection->transport, &piece, 1, &written);
    }
    connection_close(connection);
}

struct slice connection_host(const struct connection *connection)
{
    return address_host(slice_from_cstr(connection->address));
}

// ---------------------------------------------------------------------------------------------
// Out

static void drop_sent(struct connection *connection)
{
    buffer_consume(&connection->output, connection->output_sent);
    connection->output_start += connection->output_sent;
    connection->output_sent = 0;
}

// What was sent and still stands in the buffer takes no room from what is said. Not in the middle
// of a turn, since commands know where in the buffer their answers begin; and not for little, so
// that bytes are moved a few times at most.
static void make_room(struct connection *connection)
{
    const struct buffer *output = &connection->output;
    if (output->size > output->size_max / 2 && connection->output_sent >= output->size / 8) {
        drop_sent(connection);
    }
}

void connection_says(struct connection *connection)
{
    // Who has waited long for this has not been idle.
    connection->active_us = server_elapsed(connection->server);
    if (!connection->in_turn) {
        struct connections *all = &connection->server->connections;
        make_room(connection);
        connection->in_turn = true;
        connection->turn_start = connection->output_start + connection->output.size;
        connection->turn_next = all->turn;
        all->turn = connection;
    }
}

void connection_said(struct connection *connection, uint32_t replies)
{
    connection->replies += replies;
    // What EXEC runs is said as one answer, which becomes an error when it is too large.
    if (connection->output.status && !transaction_runs(connection)) {
        connection_give_up(connection);
    }
}

void connection_give_up(struct connection *connection)
{
    if (connection->closed || connection->given_up) {
        return;
    }
    connection->server->figures.slow++;
    log_line(LOG_LEVEL_WARNING, "a connection does not read what it is told, and is closed",
             LOG_STRING("address", connection->address),
             LOG_NUMBER("unread", connection_unsent(connection)));
    connection->given_up = true;
    connection_drain(connection);
}

static void settle_sent(struct connection *connection)
{
    struct buffer *output = &connection->output;
    if (connection->output_sent == output->size) {
        connection->output_start += output->size;
        buffer_clear(output);
        connection->output_sent = 0;
    } else if (connection->output_sent > COMPACT_SIZE &&
               connection->output_sent > output->size / 2) {
        drop_sent(connection);
    }
}

// With nothing unread the system sends on after the end. When the server stops, everybody may still
// be sending.
static bool may_close(const struct connection *connection)
{
    int unread = 0;
    return connection_is_told(connection) ||
           (connection_unsent(connection) == 0 && !connection->server->stopping &&
            ioctl(connection->transport.fd, FIONREAD, &unread) == 0 && unread == 0);
}

void connection_flush(struct connection *connection)
{
    if (connection->closed || connection->handshaking) {
        return;
    }
    while (connection->output_free > connection->output_start + connection->output_sent) {
        size_t size =
            (size_t)(connection->output_free - connection->output_start) - connection->output_sent;
        struct iovec piece = { connection->output.data + connection->output_sent, size };
        size_t written = 0;
        enum transport_result result = transport_write(&connection->transport, &piece, 1, &written);
        connection->output_sent += written;
        connection->server->figures.output_bytes += written;
        connection->active_us = server_elapsed(connection->server);
        if (result == TRANSPORT_AGAIN_WRITE || result == TRANSPORT_AGAIN_READ) {
            settle_sent(connection);
            set_writing(connection, true);
            return;
        }
        if (result != TRANSPORT_OK) {
            connection_close(connection);
            return;
        }
    }
    settle_sent(connection);
    set_writing(connection, false);
    if (connection->discard.on && !connection->ended && !connection->server->stopping) {
        if (connection_unsent(connection) == 0) {
            discard_finish(connection);
        }
    } else if (connection->draining && may_close(connection)) {
        connection_close(connection);
    }
}

// What was sent and is on its way still.
static size_t on_its_way(const struct connection *connection)
{
    int queued = 0;
    return ioctl(connection->transport.fd, SIOCOUTQ, &queued) || queued < 0 ? 0 : (size_t)queued;
}

bool connection_is_told(const struct connection *connection)
{
    return connection_unsent(connection) == 0 && on_its_way(connection) == 0;
}

// Under TLS more is on its way than was said; then it is a little less than it could be.
uint64_t connection_taken(const struct connection *connection)
{
    uint64_t sent = connection->output_start + connection->output_sent;
    size_t queued = on_its_way(connection);
    return sent > queued ? sent - queued : 0;
}

static void on_writable(evutil_socket_t fd, short what, void *context)
{
    (void)fd;
    (void)what;
    struct connection *connection = context;
    if (connection->handshaking) {
        (void)shake_hands(connection);
        return;
    }
    connection_flush(connection);
    if (!connection->closed && may_serve(connection)) {
        connection_resume(connection);
    }
}

// ---------------------------------------------------------------------------------------------
// In

// Whether the next request may be run. A connection waits whose client does not read its replies,
// or has as many requests under way as its allowance.
static bool may_serve(const struct connection *connection)
{
    const struct server *server = connection->server;
    const struct allowance *allowance = allowance_of(connection);
    return !connection->closed && !connection->draining && !connection_waits(connection) &&
           !server->stopping && server->store_state != STORE_BUSY &&
           connection->under_way + connection->replies < allowance->pipeline_max &&
           connection_unsent(connection) < allowance->unread_max;
}

// Runs the whole requests at the front of `bytes`; gives how many bytes they took.
static size_t serve(struct connection *connection, struct slice bytes)
{
    struct schedule *schedule = &connection->server->schedule;
    size_t position = 0;
    while (may_serve(connection) && schedule_goes_on(schedule) && position < bytes.size) {
        int64_t began_us = schedule->now_us;
        size_t size = connection->protocol->take(connection, slice_sub(bytes, position, SIZE_MAX));
        if (size == 0) {
            break;
        }
        position += size;
        schedule_spend(schedule, size);
        if (schedule->now_us == began_us) {
            (void)schedule_now(schedule); // no command was run, or a very short one
        }
    }
    return position;
}

// A client that sends no more gets its answers, and is closed then. Whether it waits or is gone
// cannot be told, so that one that would have to wait is taken for gone.
static void settle_end(struct connection *connection)
{
    if (!connection->ended || connection->closed || connection->scheduled.queued) {
        return;
    }
    if (connection->blocked || connection->stream) {
        connection_close(connection);
    } else if (may_serve(connection)) {
        connection_drain(connection);
        connection_flush(connection);
    }
}

// When its share or the turn is used up it goes on after the others.
static void go_on_later(struct connection *connection)
{
    if (!schedule_goes_on(&connection->server->schedule) && may_serve(connection)) {
        connection_resume(connection);
    }
    update_reading(connection);
}

// The parsers refuse a request that is too large. This holds for every protocol, whatever its
// parser does: more than the allowance is never kept of a request that is not complete.
static void check_kept(struct connection *connection)
{
    if (connection->input.size < allowance_of(connection)->input_max || !may_serve(connection) ||
        !schedule_goes_on(&connection->server->schedule)) {
        return;
    }
    log_line(LOG_LEVEL_WARNING, "incomplete request too large; closing connection",
             LOG_STRING("address", connection->address),
             LOG_STRING("protocol", connection->protocol->name),
             LOG_NUMBER("kept", connection->input.size));
    connection->server->figures.oversized++;
    connection_close(connection);
}

// Counts how often a connection begins to be held up because its client does not read.
static void note_held(struct connection *connection)
{
    bool held = connection_is_held(connection);
    connection->server->figures.held += held && !connection->held;
    connection->held = held;
}

static void settle_served(struct connection *connection)
{
    check_kept(connection);
    note_held(connection);
    go_on_later(connection);
}

static void serve_input(struct connection *connection)
{
    size_t taken = serve(connection, buffer_slice(&connection->input));
    buffer_consume(&connection->input, taken);
    settle_served(connection);
    settle_end(connection);
}

static void on_bytes(struct connection *connection, size_t size)
{
    connection->active_us = server_elapsed(connection->server);
    connection->server->figures.input_bytes += size;
}

// What is not whole yet is kept; reading goes straight into the server's one large block otherwise.
static void serve_fresh(struct connection *connection, size_t size)
{
    struct slice bytes = slice_make(connection->server->input, size);
    size_t taken = serve(connection, bytes);
    if (!connection->closed && taken < size) {
        buffer_append(&connection->input, slice_sub(bytes, taken, SIZE_MAX));
        if (connection->input.status) {
            connection_close(connection);
        }
    }
    settle_served(connection);
}

static enum transport_result read_some(struct connection *connection)
{
    struct server *server = connection->server;
    size_t size = 0;
    enum transport_result result;
    const struct allowance *allowance = allowance_of(connection);
    if (connection->input.size == 0) {
        assert(allowance->read_max <= SERVER_SCRATCH_SIZE);
        result = transport_read(&connection->transport, server->input, allowance->read_max, &size);
        if (result == TRANSPORT_OK) {
            on_bytes(connection, size);
            serve_fresh(connection, size);
        }
        return result;
    }
    size_t needs = connection->protocol->needs(connection);
    size_t room = needs > connection->input.size ? needs - connection->input.size : 0;
    room = room < READ_MIN ? READ_MIN : room > allowance->read_max ? allowance->read_max : room;
    char *at = buffer_reserve(&connection->input, room);
    if (!at) {
        return TRANSPORT_CLOSED;
    }
    result = transport_read(&connection->transport, at, room, &size);
    if (result == TRANSPORT_OK) {
        buffer_commit(&connection->input, size);
        on_bytes(connection, size);
        serve_input(connection);
    }
    return result;
}

void connection_become(struct connection *connection, const struct user *user)
{
    struct connections *all = &connection->server->connections;
    connection->user = user;
    connection->request.limits = user ? &all->limits : &all->limits_before;
    pubsub_rights_changed(connection->server);
}

const struct user *connection_first_user(const struct connection *connection)
{
    const struct user *certified = connection->certified;
    return certified && !user_is_gone(certified) ? certified
                                                 : users_anybody(connection->server->users);
}

// A certificate may say which user it is.
static void read_certificate(struct connection *connection)
{
    const struct server *server = connection->server;
    char name[TRANSPORT_NAME_SIZE];
    if (!server->settings.tls_client_users ||
        !transport_client_name(&connection->transport, name)) {
        return;
    }
    connection->certified = users_find(server->users, slice_from_cstr(name));
    if (connection->certified && connection->protocol->logs_in) {
        connection_become(connection, connection->certified);
    }
}

static bool shake_hands(struct connection *connection)
{
    enum transport_result result = transport_handshake(&connection->transport);
    (void)schedule_now(&connection->server->schedule); // it may have taken long
    set_writing(connection, result == TRANSPORT_AGAIN_WRITE);
    if (result == TRANSPORT_CLOSED || result == TRANSPORT_FAILED) {
        struct error why;
        transport_reason(&connection->transport, &why);
        log_line(LOG_LEVEL_INFO, "TLS handshake failed", LOG_STRING("address", connection->address),
                 LOG_STRING("reason", error_sentence(&why)));
        connection_close(connection);
    }
    connection->handshaking = result != TRANSPORT_OK;
    if (result == TRANSPORT_OK) {
        read_certificate(connection);
    }
    return result == TRANSPORT_OK;
}

static void read_all(struct connection *connection)
{
    if (connection->handshaking && !shake_hands(connection)) {
        return;
    }
    enum transport_result result;
    do {
        result = connection->discard.on ? discard_some(connection) : read_some(connection);
    } while (result == TRANSPORT_OK && !connection->closed && !connection->discard.on &&
             transport_pending(&connection->transport));
    if (result == TRANSPORT_AGAIN_WRITE) {
        set_writing(connection, true);
    } else if (result == TRANSPORT_FAILED) {
        connection_close(connection);
    } else if (result == TRANSPORT_CLOSED && !connection->closed) {
        connection->ended = true;
        update_reading(connection);
        settle_end(connection);
        if (connection->discard.on) {
            connection_flush(connection);
        }
    }
}

static void on_readable(evutil_socket_t fd, short what, void *context)
{
    (void)fd;
    (void)what;
    struct connection *connection = context;
    struct schedule *schedule = &connection->server->schedule;
    if (connection->closed) {
        return;
    }
    if (schedule_is_free(schedule, &connection->scheduled)) {
        schedule_begin(schedule);
        read_all(connection);
        schedule_end(schedule, &connection->scheduled);
        return;
    }
    connection->to_read = true;
    if (!connection->scheduled.queued) {
        schedule_add(schedule, &connection->scheduled);
    }
}

void connection_resume(struct connection *connection)
{
    if (connection->scheduled.queued || connection->closed) {
        return;
    }
    if (connection->input.size == 0 && !connection->ended) {
        update_reading(connection);
        return;
    }
    schedule_add(&connection->server->schedule, &connection->scheduled);
}

static struct connection *connection_of(struct schedule_entry *entry)
{
    return (struct connection *)((char *)entry - offsetof(struct connection, scheduled));
}

// First what is here of its requests, then what there is to read.
static void go_on(struct connection *connection)
{
    struct schedule *schedule = &connection->server->schedule;
    bool to_read = connection->to_read;
    if (connection->closed) {
        return;
    }
    // A change that the journal may have no room for must not hold back replies to others.
    if (connection->input.size >= schedule->bytes_left && connection->server->connections.turn) {
        schedule_add_alone(schedule, &connection->scheduled);
        return;
    }
    connection->to_read = false;
    schedule_begin(schedule);
    if (!connection->handshaking) {
        serve_input(connection);
    }
    // If the share is used up by now, the loop tells again that there is something to read.
    if (to_read && !connection->closed && connection->reading && schedule_goes_on(schedule)) {
        read_all(connection);
    }
    schedule_end(schedule, &connection->scheduled);
}

bool connections_resume(struct server *server)
{
    bool any = false;
    struct schedule_entry *entry;
    while ((entry = schedule_next(&server->schedule))) {
        any = true;
        go_on(connection_of(entry));
    }
    return any;
}

void connections_unschedule(struct server *server)
{
    while (schedule_take(&server->schedule)) {
        ;
    }
}

void connections_leave_turn(struct server *server)
{
    struct connection *next;
    for (struct connection *at = server->connections.turn; at; at = next) {
        next = at->turn_next;
        at->in_turn = false;
        at->turn_next = NULL;
    }
    server->connections.turn = NULL;
}
