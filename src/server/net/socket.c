// SPDX-License-Identifier: MIT
#include "server/net/socket.h"

#include <assert.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

enum {
    KEEPALIVE_PROBES = 3,
    KEEPALIVE_PARTS = 6, // a probe is sent after this part of the idle time
};

void socket_set_options(int fd, int64_t keepalive_us)
{
    int on = 1;
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    int idle_s = (int)(keepalive_us / 1000000);
    if (idle_s > 0) {
        int every_s = idle_s / KEEPALIVE_PARTS ? idle_s / KEEPALIVE_PARTS : 1;
        int count = KEEPALIVE_PROBES;
        (void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
        (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof(idle_s));
        (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &every_s, sizeof(every_s));
        (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof(count));
        // The system sends no probes while data is unconfirmed. Without this option it sends that
        // data again for a quarter of an hour.
        unsigned gone_ms = 1000 * (unsigned)(idle_s + count * every_s);
        (void)setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &gone_ms, sizeof(gone_ms));
    }
}

void socket_open(struct socket *socket, struct event_base *loop, const struct socket_events *events)
{
    int fd = socket->transport.fd;
    (void)event_assign(&socket->readable, loop, fd, EV_READ | EV_PERSIST, events->readable,
                       events->context);
    (void)event_assign(&socket->writable, loop, fd, EV_WRITE | EV_PERSIST, events->writable,
                       events->context);
}

void socket_close(struct socket *socket)
{
    socket_watch_read(socket, false);
    socket_watch_write(socket, false);
    transport_close(&socket->transport);
}

static void watch(struct loop_event *event, bool *watched, bool wanted)
{
    if (wanted && !*watched) {
        (void)event_add(event, NULL);
    } else if (!wanted && *watched) {
        (void)event_del(event);
    }
    *watched = wanted;
}

void socket_watch_read(struct socket *socket, bool wanted)
{
    assert(!wanted || socket->transport.fd >= 0);
    watch(&socket->readable, &socket->watches_read, wanted);
}

void socket_watch_write(struct socket *socket, bool wanted)
{
    assert(!wanted || socket->transport.fd >= 0);
    watch(&socket->writable, &socket->watches_write, wanted);
}

enum transport_result socket_send(struct socket *socket, struct slice bytes, size_t *sent)
{
    enum transport_result result = TRANSPORT_OK;
    *sent = 0;
    while (result == TRANSPORT_OK && *sent < bytes.size) {
        struct slice rest = slice_sub(bytes, *sent, SIZE_MAX);
        struct iovec piece = { .iov_len = rest.size };
        memcpy(&piece.iov_base, &rest.data, sizeof(rest.data)); // transport_write only reads it
        size_t written = 0;
        result = transport_write(&socket->transport, &piece, 1, &written);
        assert(written <= rest.size);
        *sent += written;
    }
    return result;
}

size_t socket_undelivered(const struct socket *socket)
{
    int queued = 0;
    return ioctl(socket->transport.fd, SIOCOUTQ, &queued) || queued < 0 ? 0 : (size_t)queued;
}

bool socket_has_unread(const struct socket *socket)
{
    int unread = 0;
    return ioctl(socket->transport.fd, FIONREAD, &unread) || unread > 0;
}
