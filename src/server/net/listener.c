// SPDX-License-Identifier: MIT
#include "server/net/listener.h"

#include "server/http/dashboard.h"
#include "server/log/log.h"
#include "server/server.h"

#include <errno.h>
#include <netinet/in.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum {
    BACKLOG = 1024,
    ACCEPTS = 64, // of a turn
};

static const struct timeval rest = { 0, 100000 };

static enum status fail(const char *text, int number, struct error *error)
{
    return error_set(error, number == EADDRINUSE ? STATUS_BUSY : STATUS_IO,
                     "cannot listen on %s: %s%s", text, strerrordesc_np(number),
                     number == EADDRINUSE ? " (is another sluiced running there?)" : "");
}

// Whether no process listens there. In doubt (the socket may not be opened) one does.
static bool is_left(const struct sockaddr_storage *address, socklen_t size)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    bool left =
        fd >= 0 && connect(fd, (const struct sockaddr *)address, size) && errno == ECONNREFUSED;
    if (fd >= 0) {
        (void)close(fd);
    }
    return left;
}

// The file of a server that is gone may stand where the socket is to be.
static enum status remove_stale(const char *text, const char *path,
                                const struct sockaddr_storage *address, socklen_t size,
                                struct error *error)
{
    struct stat stat;
    if (lstat(path, &stat) || !S_ISSOCK(stat.st_mode)) {
        return STATUS_OK;
    }
    if (!is_left(address, size)) {
        return fail(text, EADDRINUSE, error);
    }
    (void)unlink(path);
    return STATUS_OK;
}

// Another server may have put its own in the place of the file since.
static void remove_own(const struct listener *listener)
{
    struct stat stat;
    if (listener->address.kind == ADDRESS_UNIX && lstat(listener->address.path, &stat) == 0 &&
        stat.st_dev == listener->device && stat.st_ino == listener->inode) {
        (void)unlink(listener->address.path);
    }
}

static void remember_file(struct listener *listener)
{
    struct stat stat;
    if (listener->address.kind == ADDRESS_UNIX && lstat(listener->address.path, &stat) == 0) {
        listener->device = stat.st_dev;
        listener->inode = stat.st_ino;
    }
}

// How and where it is listened. `out` says how already.
static enum status open_one(const char *text, struct listener *out, struct error *error)
{
    out->fd = -1;
    enum status status = address_parse(slice_from_cstr(text), &out->address, error);
    struct sockaddr_storage address;
    socklen_t size = 0;
    if (!status) {
        status = address_resolve(&out->address, &address, &size, error);
    }
    if (!status && out->address.kind == ADDRESS_UNIX) {
        status = remove_stale(text, out->address.path, &address, size, error);
    }
    if (status) {
        return status;
    }
    out->fd = socket(address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (out->fd < 0) {
        return fail(text, errno, error);
    }
    int on = 1;
    (void)setsockopt(out->fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (bind(out->fd, (const struct sockaddr *)&address, size) || listen(out->fd, BACKLOG)) {
        status = fail(text, errno, error);
        (void)close(out->fd);
        return status;
    }
    remember_file(out);
    return STATUS_OK;
}

static void on_accept_again(evutil_socket_t fd, short what, void *context)
{
    (void)fd;
    (void)what;
    listeners_resume(context);
}

static void pause_all(struct server *server, int number)
{
    log_line(LOG_LEVEL_WARNING, "no more connections are accepted for now",
             LOG_STRING("reason", strerrordesc_np(number)));
    for (size_t i = 0; i < server->listener_count; i++) {
        (void)event_del(server->listeners[i].event);
    }
    server->accept_paused = true;
    (void)event_add(server->accept_event, &rest);
}

void listeners_resume(struct server *server)
{
    if (!server->accept_paused || server->stopping) {
        return;
    }
    server->accept_paused = false;
    (void)event_del(server->accept_event);
    for (size_t i = 0; i < server->listener_count; i++) {
        (void)event_add(server->listeners[i].event, NULL);
    }
}

static void refuse(const struct listener *listener, int fd, const struct error *why)
{
    listener->server->figures.refused++;
    log_line(LOG_LEVEL_WARNING, "connection refused", LOG_STRING("reason", error_sentence(why)));
    if (!listener->secure) {
        const char *sentence = listener->protocol->full;
        ssize_t written = write(fd, sentence, strlen(sentence));
        (void)written;
    }
    (void)close(fd);
}

static void take_in(const struct listener *listener, int fd, const struct sockaddr_storage *address,
                    socklen_t size)
{
    struct crowd_place place;
    struct error error;
    if (crowd_find_place(listener->server, address, size, &place, &error)) {
        refuse(listener, fd, &error);
    } else {
        connection_open(listener, fd, address, size, place);
    }
}

static void on_acceptable(evutil_socket_t fd, short what, void *context)
{
    (void)what;
    struct listener *listener = context;
    struct server *server = listener->server;
    for (int i = 0; i < ACCEPTS; i++) {
        struct sockaddr_storage address = { 0 };
        socklen_t size = sizeof(address);
        int accepted =
            accept4(fd, (struct sockaddr *)&address, &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (accepted < 0) {
            int number = errno;
            if (number == EMFILE || number == ENFILE || number == ENOBUFS || number == ENOMEM) {
                pause_all(server, number);
            }
            if (number != EINTR && number != ECONNABORTED) {
                return;
            }
        } else {
            take_in(listener, accepted, &address, size);
        }
    }
}

static enum status open_at(const char *text, const struct listener *how, struct error *error)
{
    struct server *server = how->server;
    struct listener *listener = &server->listeners[server->listener_count];
    *listener = *how;
    enum status status = open_one(text, listener, error);
    if (status) {
        return status;
    }
    listener->event =
        event_new(server->loop, listener->fd, EV_READ | EV_PERSIST, on_acceptable, listener);
    server->listener_count++;
    if (!listener->event || event_add(listener->event, NULL)) {
        return error_set(error, STATUS_NO_MEMORY, "no memory to listen");
    }
    return STATUS_OK;
}

static enum status open_list(const struct settings_list *list, const struct listener *how,
                             struct error *error)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; i < list->count && !status; i++) {
        status = open_at(list->items[i], how, error);
    }
    return status;
}

static enum status open_all(struct server *server, struct error *error)
{
    const struct settings *settings = &server->settings;
    const struct listener plain = { .server = server, .protocol = &protocol_resp };
    const struct listener secure = { .server = server, .protocol = &protocol_resp, .secure = true };
    const struct listener web = { .server = server, .protocol = &protocol_http };
    const struct listener web_secure = { .server = server,
                                         .protocol = &protocol_http,
                                         .secure = true };
    const struct listener grpc = { .server = server, .protocol = &protocol_h2 };
    const struct listener grpc_secure = { .server = server,
                                          .protocol = &protocol_h2,
                                          .secure = true };
    enum status status = open_list(&settings->listen, &plain, error);
    if (!status) {
        status = open_list(&settings->tls_listen, &secure, error);
    }
    if (!status && *settings->http) {
        status = open_at(settings->http, &web, error);
    }
    if (!status && *settings->tls_http) {
        status = open_at(settings->tls_http, &web_secure, error);
    }
    if (!status && *settings->grpc) {
        status = open_at(settings->grpc, &grpc, error);
    }
    if (!status && *settings->tls_grpc) {
        status = open_at(settings->tls_grpc, &grpc_secure, error);
    }
    return status;
}

// Of all that the settings name.
static size_t listener_count_max(const struct settings *settings)
{
    return settings->listen.count + settings->tls_listen.count +
           4; // http, tls-http, grpc, tls-grpc
}

// As what the log tells an address.
static const char *name_of_address(const struct protocol *protocol)
{
    return protocol == &protocol_http ? "http" : protocol == &protocol_h2 ? "grpc" : "address";
}

enum status listeners_open(struct server *server, struct error *error)
{
    const struct settings *settings = &server->settings;
    server->listeners =
        mem_zalloc(settings->allocator, listener_count_max(settings) * sizeof(struct listener));
    server->accept_event = evtimer_new(server->loop, on_accept_again, server);
    if (!server->listeners || !server->accept_event) {
        return error_set(error, STATUS_NO_MEMORY, "no memory to listen");
    }
    enum status status = open_all(server, error);
    char text[ADDRESS_TEXT_SIZE];
    for (size_t i = 0; !status && server_address(server, i, text); i++) {
        const struct listener *listener = &server->listeners[i];
        log_line(LOG_LEVEL_INFO, "listening", LOG_STRING(name_of_address(listener->protocol), text),
                 listener->secure ? LOG_STRING("tls", "yes") : LOG_NO_PAIRS);
    }
    char url[DASHBOARD_URL_SIZE];
    if (!status && dashboard_url(server, url)) {
        log_line(LOG_LEVEL_INFO, "serving the dashboard", LOG_STRING("dashboard", url));
    }
    return status;
}

void listeners_close(struct server *server)
{
    for (size_t i = 0; i < server->listener_count; i++) {
        struct listener *listener = &server->listeners[i];
        if (listener->event) {
            event_free(listener->event);
        }
        if (listener->fd >= 0) {
            (void)close(listener->fd);
            remove_own(listener);
        }
    }
    const struct settings *settings = &server->settings;
    mem_free(settings->allocator, server->listeners,
             listener_count_max(settings) * sizeof(struct listener));
    if (server->accept_event) {
        event_free(server->accept_event);
    }
    server->listeners = NULL;
    server->listener_count = 0;
    server->accept_event = NULL;
}
