// SPDX-License-Identifier: MIT
#include "server/background.h"

#include "os/thread.h"
#include "server/execute.h"
#include "server/log/log.h"
#include "server/server.h"

#include <errno.h>
#include <sys/eventfd.h>
#include <unistd.h>

// Signals interrupt neither call, since this thread blocks them.
static void signal_done(int fd)
{
    (void)eventfd_write(fd, 1);
}

static void *run_work(void *context)
{
    struct background *background = context;
    (void)pthread_setname_np(pthread_self(), "background");
    background->status = background->work.run(background->work.context, &background->error);
    signal_done(background->fd);
    return NULL;
}

static void answer(struct connection *connection, const struct background *background)
{
    connection->in_background = false;
    if (background->status) {
        connection_reply_error(connection, &background->error);
    } else if (!execute_is_silent(connection)) {
        struct resp_writer writer;
        connection_output_begin(connection);
        background->work.answer(background->work.context,
                                connection->protocol->begin(connection, &writer));
        (void)connection->protocol->end(connection, &writer);
        connection_output_end(connection, 1);
    }
    connection_resume(connection);
}

static void finish(struct server *server)
{
    struct background *background = &server->background;
    eventfd_t count;
    (void)eventfd_read(background->fd, &count);
    (void)pthread_join(background->thread, NULL);
    background->busy = false;
    if (background->status) {
        log_line(LOG_LEVEL_ERROR, "failed", LOG_STRING("work", background->work.name),
                 LOG_STRING("reason", error_sentence(&background->error)));
    } else {
        log_line(LOG_LEVEL_INFO, "done", LOG_STRING("work", background->work.name),
                 LOG_SECONDS("seconds", server_elapsed(server) - background->began_us));
    }
    struct connection *connection = background->connection;
    background->connection = NULL;
    if (connection) {
        answer(connection, background);
    }
    background->work.release(background->work.context);
}

static void on_done(evutil_socket_t fd, short what, void *context)
{
    (void)fd;
    (void)what;
    finish(context);
}

static enum status prepare(struct server *server)
{
    struct background *background = &server->background;
    if (background->done) {
        return STATUS_OK;
    }
    background->fd = eventfd(0, EFD_CLOEXEC);
    if (background->fd < 0) {
        return STATUS_IO;
    }
    background->done =
        event_new(server->loop, background->fd, EV_READ | EV_PERSIST, on_done, server);
    if (!background->done || event_add(background->done, NULL)) {
        background_release(server);
        return STATUS_NO_MEMORY;
    }
    return STATUS_OK;
}

enum status background_start(struct call *call, const struct work *work, struct error *error)
{
    struct connection *connection = call->session;
    struct server *server = connection->server;
    struct background *background = &server->background;
    if (background->busy) {
        return error_set(error, STATUS_BUSY, "a %s is being made already", background->work.name);
    }
    enum status status = prepare(server);
    if (status) {
        return error_set(error, status, "no thread can be made for a %s", work->name);
    }
    background->work = *work;
    background->began_us = server_elapsed(server);
    int failed = thread_start(&background->thread, run_work, background);
    if (failed) {
        return error_set(error, STATUS_IO, "no thread can be made for a %s: %s", work->name,
                         strerrordesc_np(failed));
    }
    background->busy = true;
    background->connection = connection;
    connection->in_background = true;
    call->wait.kind = WAIT_HOST;
    return STATUS_OK;
}

void background_forget(struct connection *connection)
{
    if (connection->in_background) {
        connection->in_background = false;
        connection->server->background.connection = NULL;
    }
}

void background_finish(struct server *server)
{
    if (server->background.busy) {
        log_line(LOG_LEVEL_INFO, "waiting", LOG_STRING("for", server->background.work.name));
        finish(server);
    }
}

void background_release(struct server *server)
{
    struct background *background = &server->background;
    if (background->done) {
        event_free(background->done);
    }
    if (background->fd > 0) {
        (void)close(background->fd);
    }
    *background = (struct background){ 0 };
}
