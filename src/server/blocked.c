// SPDX-License-Identifier: MIT
#include "server/blocked.h"

#include "server/execute.h"
#include "server/server.h"

#include <assert.h>

static struct blocked *blocked_of(struct waiter *waiter)
{
    return (struct blocked *)waiter;
}

static void on_timeout(evutil_socket_t fd, short what, void *context)
{
    (void)fd;
    (void)what;
    (void)execute_again(context, true);
}

enum status blocked_new(struct connection *connection, struct ns *ns, const struct call *call,
                        struct slices words, struct error *error)
{
    assert(!connection->blocked && !connection_waits(connection));
    struct waiter *waiter;
    enum status status = waiter_new(ns, call, words, sizeof(struct blocked), &waiter, error);
    if (status) {
        return status;
    }
    struct blocked *blocked = blocked_of(waiter);
    blocked->connection = connection;
    connection->blocked = blocked;
    (void)evtimer_assign(&blocked->timeout, connection->server->loop, on_timeout, blocked);
    if (call->wait.timeout_us != INT64_MAX) {
        struct timeval timeout = timeval_of(call->wait.timeout_us);
        (void)evtimer_add(&blocked->timeout, &timeout);
    }
    return STATUS_OK;
}

void blocked_end(struct blocked *blocked)
{
    assert(blocked->connection->blocked == blocked);
    (void)event_del(&blocked->timeout);
    blocked->connection->blocked = NULL;
    waiter_end(&blocked->waiter);
}

static bool again(struct waiter *waiter, bool last)
{
    return execute_again(blocked_of(waiter), last);
}

static void fail(struct waiter *waiter, const struct error *error)
{
    struct connection *connection = blocked_of(waiter)->connection;
    blocked_end(blocked_of(waiter));
    connection_reply_error(connection, error);
    connection_resume(connection);
}

const struct waiting_ops blocked_ops = { again, fail };
