// SPDX-License-Identifier: MIT
// The inside of a server for a queue in this process. One thread accepts connections, and each
// connection has a thread of its own (a guest), which reads requests, runs them on the folder as a
// call of the program is run, and writes the replies:
//
//      acceptor:  accept --> guest
//      guest:     read --> resp_request --> own command, or local_call --> output --> write
//                                       \-> SUBSCRIBE: a listening, until the connection ends
#ifndef SLUICE_CLIENT_SERVE_H
#define SLUICE_CLIENT_SERVE_H

#include "client/local.h"
#include "client/queue.h"
#include "wire/resp_reply.h"
#include "wire/resp_request.h"

struct guest {
    struct fork_guard guard;
    struct sluice_server *server;
    struct guest *next;
    pthread_t thread;
    bool over; // its thread ends; with the server's mutex
    int fd;
    int gone; // an epoll that is readable when the other side or the server is gone
    int any;  // the same, also when there is something to read
    uint64_t number;
    struct presences presences; // of the workers that pop through it
    enum resp_version version;
    struct resp_request request;
    struct buffer input, output;
    bool ends; // after its output is written
};

struct sluice_server {
    struct fork_guard guard;
    bool orphan;        // of a parent process: its threads are not in this one
    struct sluice *own; // a copy of the queue
    struct local *local;
    struct resp_limits limits;
    int listener;
    int stop; // readable when it ends
    char *path;
    dev_t device; // of the socket's file
    ino_t inode;
    pthread_t thread;
    bool has_thread;
    pthread_mutex_t mutex;
    struct guest *guests;
    size_t count;
    uint64_t numbers;
};

// Serves one connection until it ends. The context is the guest.
void *guest_serve(void *context);

// Runs a request (serve_commands.c). Its reply goes to the output.
void guest_run(struct guest *guest, struct slices words);

// Writes the output; false: the connection is gone.
bool guest_flush(struct guest *guest);
// Reads what there is to the end of the input; false: the connection is gone, or the server ends.
// With `wait` it waits until there is something.
bool guest_read(struct guest *guest, bool wait);

#endif
