// SPDX-License-Identifier: MIT
// A connection of a server in this process: bytes in, requests, bytes out.
#include "client/serve.h"
#include "faces/resp.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>

enum {
    READ_SIZE = 16 << 10,
    OUTPUT_KEPT = 256 << 10, // more output is written before further requests run
};

static bool is_blocked(void)
{
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

// Waits until the connection is ready. False: the server ends.
static bool wait_for(const struct guest *guest, short events)
{
    struct pollfd of[2] = { { .fd = guest->fd, .events = events },
                            { .fd = guest->server->stop, .events = POLLIN } };
    int count;
    do {
        count = poll(of, 2, -1);
    } while (count < 0 && errno == EINTR);
    return count > 0 && !of[1].revents;
}

bool guest_flush(struct guest *guest)
{
    size_t written = 0;
    bool there = !guest->output.status;
    while (there && written < guest->output.size) {
        ssize_t size = send(guest->fd, guest->output.data + written, guest->output.size - written,
                            MSG_NOSIGNAL);
        if (size >= 0) {
            written += (size_t)size;
        } else {
            there = is_blocked() && wait_for(guest, POLLOUT);
        }
    }
    if (guest->output.capacity > OUTPUT_KEPT) {
        buffer_release(&guest->output);
    } else {
        buffer_clear(&guest->output);
    }
    return there;
}

bool guest_read(struct guest *guest, bool wait)
{
    char *room = buffer_reserve(&guest->input, READ_SIZE);
    if (!room || (wait && !wait_for(guest, POLLIN))) {
        return false;
    }
    ssize_t size = recv(guest->fd, room, READ_SIZE, 0);
    if (size > 0) {
        buffer_commit(&guest->input, (size_t)size);
    }
    return size > 0 || (size < 0 && is_blocked());
}

// Runs all complete requests. False: the input is malformed.
static bool run_all(struct guest *guest)
{
    struct error error;
    while (!guest->ends) {
        switch (resp_request_read(&guest->request, buffer_slice(&guest->input), &error)) {
        case RESP_MORE:
            return true;
        case RESP_BROKEN:
            resp_write_error(&guest->output, &error);
            return false;
        case RESP_READY:
            break;
        }
        if (guest->request.count) {
            guest_run(guest, (struct slices){ guest->request.words, guest->request.count });
        }
        buffer_consume(&guest->input, guest->request.size);
        if (guest->output.size > OUTPUT_KEPT && !guest_flush(guest)) {
            return false;
        }
    }
    return true;
}

void *guest_serve(void *context)
{
    struct guest *guest = context;
    struct sluice_server *server = guest->server;
    pthread_setname_np(pthread_self(), "guest");
    bool there = true;
    while (there && !guest->ends) {
        there = guest_read(guest, true) && run_all(guest);
        there = guest_flush(guest) && there;
    }
    (void)shutdown(guest->fd, SHUT_RDWR);
    folder_leave(server->local->folder, &guest->presences);
    pthread_mutex_lock(&server->mutex);
    guest->over = true;
    pthread_mutex_unlock(&server->mutex);
    return NULL;
}
