// SPDX-License-Identifier: MIT
// The sockets that libcurl uses: the loop waits for them, and this file counts their bytes.
//
// libcurl passes on the headers and body of a response, but reads much else: chunk extensions,
// HTTP/2 frames, TLS records. So the kernel is asked how many bytes it has received on a socket,
// and how many of them are unread. Each delivery that uses a socket adds an allowance to the number
// of bytes that may be read from the socket; if the worker sends more, the deliveries on that
// socket end. When a delivery ends, its unused allowance is removed.
//
// libcurl reports the addresses of a request's connection, but not its socket, which may be one
// that is reused. The socket is found by the addresses.
//
// The bytes also count towards the turn's share. When the share is used up, a socket is deferred to
// a later turn.
#include "server/server.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <linux/tcp.h> // the one of the C library has no tcpi_bytes_received
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum {
    NAME_SIZE = 2 * INET6_ADDRSTRLEN + 64,
    FRAMING_MAX = 64 << 10, // per delivery: TLS handshake, headers, framing
    BODY_PARTS = 2,         // for a large response: this multiple of its body
};

struct push_socket {
    struct push *push;
    struct push_socket *next, *previous; // of all
    curl_socket_t fd;
    bool is_ours;             // from push_socket_open; libcurl has others, for its resolver
    struct loop_event *event; // NULL: libcurl waits for no event of it
    char name[NAME_SIZE];     // its addresses and ports; "" as long as it has carried no request
    struct push_delivery *opener;    // the delivery that it was opened for, until it is connected
    struct push_socket *opened_next; // of the same delivery
    struct push_delivery *deliveries;
    uint64_t consumed;  // bytes read when it was last checked
    uint64_t bytes_max; // allowance: total of the deliveries on it
    uint64_t bytes_left;
    int deferred_what; // events to be reported to libcurl
    bool is_deferred;
    struct push_socket *deferred_next, *deferred_previous;
};

static struct slice socket_key(const void *value)
{
    const struct push_socket *one = value;
    return slice_make((const char *)&one->fd, sizeof(one->fd));
}

static struct slice name_key(const void *value)
{
    const struct push_socket *one = value;
    return slice_from_cstr(one->name);
}

static struct push_socket *find(const struct push *push, curl_socket_t fd)
{
    return map_find(&push->sockets, slice_make((const char *)&fd, sizeof(fd)));
}

static struct push_socket *add(struct push *push, curl_socket_t fd)
{
    struct push_socket *one = mem_zalloc(&allocator_system, sizeof(*one));
    if (!one) {
        return NULL;
    }
    one->push = push;
    one->fd = fd;
    if (map_insert(&push->sockets, one)) {
        mem_free(&allocator_system, one, sizeof(*one));
        return NULL;
    }
    one->next = push->socket_first;
    if (one->next) {
        one->next->previous = one;
    }
    push->socket_first = one;
    return one;
}

static void undefer(struct push_socket *one)
{
    struct deferred_list *list = &one->push->deferred;
    struct push_socket *next = one->deferred_next, *previous = one->deferred_previous;
    if (one->is_deferred) {
        *(previous ? &previous->deferred_next : &list->first) = next;
        *(next ? &next->deferred_previous : &list->last) = previous;
        one->is_deferred = false;
        one->deferred_what = 0;
    }
}

static void defer(struct push_socket *one, int what)
{
    struct deferred_list *list = &one->push->deferred;
    one->deferred_what |= what;
    if (!one->is_deferred) {
        one->is_deferred = true;
        one->deferred_next = NULL;
        one->deferred_previous = list->last;
        *(list->last ? &list->last->deferred_next : &list->first) = one;
        list->last = one;
    }
}

static void unwatch(struct push_socket *one)
{
    undefer(one);
    if (one->event) {
        event_free(one->event);
        one->event = NULL;
    }
}

static void forget_opener(struct push_socket *one)
{
    struct push_socket **at = one->opener ? &one->opener->opened : NULL;
    while (at && *at != one) {
        at = &(*at)->opened_next;
    }
    if (at) {
        *at = one->opened_next;
        one->opener = NULL;
    }
}

static void drop(struct push_socket *one)
{
    unwatch(one);
    forget_opener(one);
    if (*one->name) {
        (void)map_remove(&one->push->sockets_named, name_key(one));
    }
    while (one->deliveries) {
        push_socket_detach(one->deliveries);
    }
    (void)map_remove(&one->push->sockets, socket_key(one));
    *(one->previous ? &one->previous->next : &one->push->socket_first) = one->next;
    if (one->next) {
        one->next->previous = one->previous;
    }
    mem_free(&allocator_system, one, sizeof(*one));
}

// ---------------------------------------------------------------------------------------------
// Bytes

// How many bytes have been read from the socket so far. Bytes that arrive between the two calls are
// counted the next time. 0 on a system that does not report them: then only the timeout limits the
// framing of a response.
static uint64_t consumed(const struct push_socket *one)
{
    struct tcp_info info = { .tcpi_bytes_received = 0 };
    socklen_t size = sizeof(info);
    int unread = 0;
    if (!one->is_ours || getsockopt(one->fd, IPPROTO_TCP, TCP_INFO, &info, &size) ||
        ioctl(one->fd, FIONREAD, &unread) || unread < 0) {
        return one->consumed;
    }
    uint64_t all = info.tcpi_bytes_received;
    uint64_t read = all > (uint64_t)unread ? all - (uint64_t)unread : 0;
    return read > one->consumed ? read : one->consumed;
}

static uint64_t take_consumed(struct push_socket *one)
{
    uint64_t now = consumed(one), size = now - one->consumed;
    one->consumed = now;
    return size;
}

static uint64_t bytes_allowed(const struct push_delivery *delivery)
{
    return BODY_PARTS * delivery->answer.size_max + FRAMING_MAX;
}

static void attach(struct push_delivery *delivery, struct push_socket *one)
{
    if (delivery->socket == one) {
        return;
    }
    push_socket_detach(delivery);
    // Bytes received before the request are not part of its response.
    if (!one->deliveries) {
        one->consumed = consumed(one);
    }
    delivery->socket = one;
    delivery->socket_previous = NULL;
    delivery->socket_next = one->deliveries;
    if (one->deliveries) {
        one->deliveries->socket_previous = delivery;
    }
    one->deliveries = delivery;
    one->bytes_max += bytes_allowed(delivery);
    one->bytes_left += bytes_allowed(delivery);
}

void push_socket_detach(struct push_delivery *delivery)
{
    struct push_socket *one = delivery->socket;
    struct push_delivery *next = delivery->socket_next, *previous = delivery->socket_previous;
    if (!one) {
        return;
    }
    *(previous ? &previous->socket_next : &one->deliveries) = next;
    if (next) {
        next->socket_previous = previous;
    }
    delivery->socket = NULL;
    assert(one->bytes_max >= bytes_allowed(delivery));
    one->bytes_max -= bytes_allowed(delivery);
    if (one->bytes_left > one->bytes_max) {
        one->bytes_left = one->bytes_max;
    }
}

void push_socket_forget(struct push_delivery *delivery)
{
    push_socket_detach(delivery);
    while (delivery->opened) {
        forget_opener(delivery->opened);
    }
}

static bool has_port(const struct push_socket *one, bool is_v6, int port)
{
    struct sockaddr_storage address;
    socklen_t size = sizeof(address);
    if (getsockname(one->fd, (struct sockaddr *)&address, &size)) {
        return false;
    }
    uint16_t found = is_v6 ? ((const struct sockaddr_in6 *)&address)->sin6_port
                           : ((const struct sockaddr_in *)&address)->sin_port;
    return address.ss_family == (is_v6 ? AF_INET6 : AF_INET) && ntohs(found) == port;
}

enum status push_socket_use(struct push_delivery *delivery, const struct push_ends *ends)
{
    struct push *push = delivery->entry->space->push;
    char name[NAME_SIZE];
    (void)snprintf(name, sizeof(name), "%s %d %s %d", ends->here, ends->port_here, ends->there,
                   ends->port_there);
    struct push_socket *one = map_find(&push->sockets_named, slice_from_cstr(name));
    // The socket is a new one: of several connection attempts at the same time, one has succeeded.
    bool is_new = !one, is_v6 = strchr(ends->here, ':');
    for (one = is_new ? delivery->opened : one; is_new && one; one = one->opened_next) {
        if (has_port(one, is_v6, ends->port_here)) {
            break;
        }
    }
    if (!one) {
        return STATUS_NOT_FOUND;
    }
    if (is_new) {
        memcpy(one->name, name, sizeof(name));
        if (map_insert(&push->sockets_named, one)) {
            *one->name = '\0';
            return STATUS_NO_MEMORY;
        }
    }
    attach(delivery, one);
    while (delivery->opened) {
        forget_opener(delivery->opened);
    }
    return STATUS_OK;
}

// libcurl handles the socket, and may close it.
static void handle(struct push *push, curl_socket_t fd, int what)
{
    int64_t share = push->share;
    push_curl_act(push, fd, what);
    struct push_socket *one = find(push, fd);
    if (!one) {
        return;
    }
    uint64_t size = take_consumed(one);
    int64_t counted = share - push->share;
    push->share -= (int64_t)size > counted ? (int64_t)size - counted : 0;
    if (size <= one->bytes_left) {
        one->bytes_left -= size;
        return;
    }
    one->bytes_left = 0;
    // Rejecting the last delivery closes the socket.
    while ((one = find(push, fd)) && one->deliveries) {
        delivery_reject(one->deliveries);
    }
}

bool push_socket_resume(struct push *push)
{
    struct push_socket *one = push->deferred.first;
    if (!one) {
        return false;
    }
    int what = one->deferred_what;
    undefer(one);
    handle(push, one->fd, what);
    return true;
}

// ---------------------------------------------------------------------------------------------
// Callbacks of libcurl

static void on_ready(evutil_socket_t fd, short what, void *context)
{
    struct push_socket *one = context;
    struct push *push = one->push;
    int told = (what & EV_READ ? CURL_CSELECT_IN : 0) | (what & EV_WRITE ? CURL_CSELECT_OUT : 0);
    if (push->share <= 0 || one->is_deferred) {
        defer(one, told);
    } else {
        handle(push, fd, told);
    }
}

int push_socket_want(CURL *easy, curl_socket_t fd, int what, void *user, void *context)
{
    (void)easy;
    (void)context;
    struct push *push = user;
    struct push_socket *one = find(push, fd);
    if (what == CURL_POLL_REMOVE) {
        if (one && one->is_ours) {
            unwatch(one);
        } else if (one) {
            drop(one);
        }
        return 0;
    }
    one = one ? one : add(push, fd);
    if (!one) {
        return -1;
    }
    short wanted = (short)((what & CURL_POLL_IN ? EV_READ : 0) |
                           (what & CURL_POLL_OUT ? EV_WRITE : 0) | EV_PERSIST);
    if (one->event) {
        (void)event_del(one->event);
        (void)event_assign(one->event, push->server->loop, fd, wanted, on_ready, one);
    } else {
        one->event = event_new(push->server->loop, fd, wanted, on_ready, one);
        if (!one->event) {
            return -1;
        }
    }
    return event_add(one->event, NULL);
}

curl_socket_t push_socket_open(struct push_delivery *delivery, const struct curl_sockaddr *address)
{
    struct push *push = delivery->entry->space->push;
    int fd = socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
    if (fd < 0) {
        delivery->outcome.starved = errno == EMFILE || errno == ENFILE || errno == ENOBUFS;
        return CURL_SOCKET_BAD;
    }
    struct push_socket *one = find(push, fd);
    if (one) {
        drop(one); // a socket of libcurl itself, which is closed by now
    }
    one = add(push, fd);
    if (!one) {
        delivery->outcome.starved = true;
        (void)close(fd);
        return CURL_SOCKET_BAD;
    }
    one->is_ours = true;
    one->opener = delivery;
    one->opened_next = delivery->opened;
    delivery->opened = one;
    attach(delivery, one);
    return fd;
}

int push_socket_close(void *user, curl_socket_t fd)
{
    struct push_socket *one = find(user, fd);
    if (one) {
        drop(one);
    }
    return close(fd);
}

void push_socket_init(struct push *push)
{
    map_init(&push->sockets, &allocator_system, push->server->seed, socket_key);
    map_init(&push->sockets_named, &allocator_system, push->server->seed, name_key);
}

// libcurl does not report that it closes a socket that has not been connected.
void push_socket_release(struct push *push)
{
    while (push->socket_first) {
        drop(push->socket_first);
    }
    map_release(&push->sockets);
    map_release(&push->sockets_named);
}
