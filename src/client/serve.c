// SPDX-License-Identifier: MIT
#include "client/serve.h"

#include "client/memory.h"
#include "client/pause.h"
#include "os/thread.h"

#include <sluice/serve.h>

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum {
    GUESTS_MAX = 64,
    BACKLOG = 64,
};

// ---------------------------------------------------------------------------------------------
// Guests

// The parent serves it. The client sees the end of the connection even if the child lives on.
static void forget_guest(struct fork_guard *guard)
{
    struct guest *guest = (struct guest *)((char *)guard - offsetof(struct guest, guard));
    if (guest->fd >= 0) {
        (void)close(guest->fd);
        guest->fd = -1;
    }
}

static void guest_free(struct guest *guest)
{
    fork_guard_remove(&guest->guard);
    const int fds[] = { guest->fd, guest->gone, guest->any };
    for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++) {
        if (fds[i] >= 0) {
            (void)close(fds[i]);
        }
    }
    resp_request_release(&guest->request);
    buffer_release(&guest->input);
    buffer_release(&guest->output);
    memory_free(guest);
}

// An epoll of the end of the server and of `events` of the connection.
static int watch(const struct guest *guest, uint32_t events)
{
    struct epoll_event of = { .events = events }, stop = { .events = EPOLLIN };
    int fd = epoll_create1(EPOLL_CLOEXEC);
    if (fd >= 0 && (epoll_ctl(fd, EPOLL_CTL_ADD, guest->fd, &of) ||
                    epoll_ctl(fd, EPOLL_CTL_ADD, guest->server->stop, &stop))) {
        (void)close(fd);
        fd = -1;
    }
    return fd;
}

// Takes ownership of the descriptor.
static struct guest *guest_new(struct sluice_server *server, int fd)
{
    struct guest *guest = memory_zalloc(1, sizeof(*guest));
    if (!guest) {
        (void)close(fd);
        return NULL;
    }
    guest->server = server;
    guest->fd = fd;
    guest->version = RESP_2;
    guest->number = ++server->numbers;
    resp_request_init(&guest->request, &allocator_system, &server->limits);
    buffer_init(&guest->input, &allocator_system, server->limits.request_max + 65536);
    buffer_init(&guest->output, &allocator_system, 1 << 30);
    guest->gone = watch(guest, EPOLLRDHUP);
    guest->any = watch(guest, EPOLLIN | EPOLLRDHUP);
    if (guest->gone < 0 || guest->any < 0) {
        guest_free(guest);
        return NULL;
    }
    fork_guard_add(&guest->guard, forget_guest);
    return guest;
}

// Only processes of the same user, and of root.
static bool is_allowed(int fd)
{
    struct ucred peer;
    socklen_t size = sizeof(peer);
    return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) &&
           (peer.uid == geteuid() || peer.uid == 0);
}

// ---------------------------------------------------------------------------------------------
// Accepting

// Joins the threads of connections that have ended, or of all.
static void reap(struct sluice_server *server, bool all)
{
    struct guest **at = &server->guests;
    while (*at) {
        struct guest *guest = *at;
        pthread_mutex_lock(&server->mutex);
        bool over = guest->over;
        pthread_mutex_unlock(&server->mutex);
        if (!over && !all) {
            at = &guest->next;
            continue;
        }
        *at = guest->next;
        server->count--;
        (void)pthread_join(guest->thread, NULL);
        guest_free(guest);
    }
}

static void refuse(int fd, const char *line)
{
    (void)!send(fd, line, strlen(line), MSG_NOSIGNAL | MSG_DONTWAIT);
    (void)close(fd);
}

static void welcome(struct sluice_server *server, int fd)
{
    if (!is_allowed(fd)) {
        refuse(fd, "-NOPERM only processes of the same user may connect\r\n");
        return;
    }
    reap(server, false);
    if (server->count == GUESTS_MAX) {
        refuse(fd, "-ERR max number of clients reached\r\n");
        return;
    }
    struct guest *guest = guest_new(server, fd);
    if (guest && thread_start(&guest->thread, guest_serve, guest)) {
        guest_free(guest);
    } else if (guest) {
        guest->next = server->guests;
        server->guests = guest;
        server->count++;
    }
}

static void *accept_guests(void *context)
{
    struct sluice_server *server = context;
    pthread_setname_np(pthread_self(), "serve");
    struct pollfd of[2] = { { .fd = server->listener, .events = POLLIN },
                            { .fd = server->stop, .events = POLLIN } };
    for (;;) {
        (void)poll(of, 2, -1);
        if (wake_is_set(server->stop)) {
            return NULL;
        }
        int fd = accept4(server->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd >= 0) {
            welcome(server, fd);
        } else if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) {
            (void)poll(&of[1], 1, 100); // the listener stays readable
        }
    }
}

// ---------------------------------------------------------------------------------------------
// The socket

static enum sluice_status read_address(const char *address, struct sockaddr_un *out,
                                       struct sluice_error *error)
{
    if (strncmp(address, "unix:", 5) != 0 || !address[5]) {
        return fault(error, SLUICE_INVALID, "the address must be unix:PATH, and is \"%.100s\"",
                     address);
    }
    const char *path = address + 5;
    if (strlen(path) >= sizeof(out->sun_path)) {
        return fault(error, SLUICE_INVALID, "the path of a socket has at most %zu bytes",
                     sizeof(out->sun_path) - 1);
    }
    *out = (struct sockaddr_un){ .sun_family = AF_UNIX };
    memcpy(out->sun_path, path, strlen(path));
    return SLUICE_OK;
}

// Whether no process listens there. In doubt: false.
static bool is_left(const struct sockaddr_un *address)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    bool left = fd >= 0 && connect(fd, (const struct sockaddr *)address, sizeof(*address)) &&
                errno == ECONNREFUSED;
    if (fd >= 0) {
        (void)close(fd);
    }
    return left;
}

static enum sluice_status make_place(const struct sockaddr_un *address, struct sluice_error *error)
{
    struct stat stat;
    if (lstat(address->sun_path, &stat)) {
        return SLUICE_OK;
    }
    if (!S_ISSOCK(stat.st_mode)) {
        return fault(error, SLUICE_EXISTS, "%s exists and is no socket", address->sun_path);
    }
    if (!is_left(address)) {
        return fault(error, SLUICE_EXISTS, "another process serves at %s", address->sun_path);
    }
    (void)unlink(address->sun_path);
    return SLUICE_OK;
}

// The file gets its mode from the descriptor, before anyone can connect.
static enum sluice_status listen_at(struct sluice_server *server, const struct sockaddr_un *address,
                                    struct sluice_error *error)
{
    struct stat stat;
    enum sluice_status status = make_place(address, error);
    if (status) {
        return status;
    }
    server->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (server->listener < 0 || fchmod(server->listener, S_IRUSR | S_IWUSR) ||
        bind(server->listener, (const struct sockaddr *)address, sizeof(*address))) {
        return fault(error, SLUICE_IO, "cannot serve at %s: %s", address->sun_path,
                     strerror(errno));
    }
    server->path = memory_copy_text(address->sun_path);
    if (!server->path) {
        (void)unlink(address->sun_path);
        return fault_no_memory(error);
    }
    if (chmod(server->path, S_IRUSR | S_IWUSR) || lstat(server->path, &stat) ||
        listen(server->listener, BACKLOG)) {
        return fault(error, SLUICE_IO, "cannot serve at %s: %s", server->path, strerror(errno));
    }
    server->device = stat.st_dev;
    server->inode = stat.st_ino;
    return SLUICE_OK;
}

// Another process may have replaced the file.
static void remove_socket(const struct sluice_server *server)
{
    struct stat stat;
    if (server->path && lstat(server->path, &stat) == 0 && stat.st_dev == server->device &&
        stat.st_ino == server->inode) {
        (void)unlink(server->path);
    }
}

// ---------------------------------------------------------------------------------------------
// Life

// No program connects to the child, which could not answer. The socket is the parent's to remove.
static void forget(struct fork_guard *guard)
{
    struct sluice_server *server =
        (struct sluice_server *)((char *)guard - offsetof(struct sluice_server, guard));
    server->orphan = true;
    if (server->listener >= 0) {
        (void)close(server->listener);
        server->listener = -1;
    }
}

void sluice_serve_end(struct sluice_server *server)
{
    if (!server || server->orphan) {
        return;
    }
    fork_guard_remove(&server->guard);
    if (server->has_thread) {
        wake_set(server->stop, true);
        (void)pthread_join(server->thread, NULL);
        reap(server, true);
    }
    remove_socket(server);
    if (server->listener >= 0) {
        (void)close(server->listener);
    }
    if (server->stop >= 0) {
        (void)close(server->stop);
    }
    sluice_close(server->own);
    memory_free(server->path);
    pthread_mutex_destroy(&server->mutex);
    memory_free(server);
}

static enum sluice_status set_up(struct sluice_server *server, const struct sluice *sluice,
                                 const struct sockaddr_un *address, struct sluice_error *error)
{
    server->stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (server->stop < 0) {
        return fault(error, SLUICE_IO, "no event can be made: %s", strerror(errno));
    }
    enum sluice_status status = queue_copy(sluice, sluice->timeout_us, &server->own, error);
    if (!status) {
        server->local = local_of(server->own->link);
        server->limits = local_limits(server->local);
        status = listen_at(server, address, error);
    }
    if (!status) {
        server->has_thread = !thread_start(&server->thread, accept_guests, server);
        status = server->has_thread
                     ? SLUICE_OK
                     : fault(error, SLUICE_NO_MEMORY, "no thread can be started to serve");
    }
    return status;
}

enum sluice_status sluice_serve(struct sluice *sluice, const char *address,
                                struct sluice_server **out, struct sluice_error *error)
{
    struct sockaddr_un where;
    if (!sluice || !address || !out) {
        return fault_null(error, !sluice ? "sluice" : !address ? "address" : "out");
    }
    *out = NULL;
    if (sluice->url.kind != URL_FILE) {
        return fault(error, SLUICE_UNSUPPORTED, "only a queue in this process can be served");
    }
    enum sluice_status status = read_address(address, &where, error);
    if (status) {
        return status;
    }
    struct sluice_server *server = memory_zalloc(1, sizeof(*server));
    if (!server || pthread_mutex_init(&server->mutex, NULL)) {
        memory_free(server);
        return fault_no_memory(error);
    }
    server->listener = server->stop = -1;
    status = set_up(server, sluice, &where, error);
    if (status) {
        sluice_serve_end(server);
        return status;
    }
    fork_guard_add(&server->guard, forget);
    *out = server;
    return SLUICE_OK;
}
