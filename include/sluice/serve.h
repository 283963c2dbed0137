// SPDX-License-Identifier: MIT
// Lets other programs look at a queue in this process while it runs: the tool, any Redis client,
// another program with libsluice.
//
//     struct sluice_server *server;
//     sluice_serve(queue, "unix:/run/app/queue.sock", &server, &error);
//     ...
//     sluice_serve_end(server);
//
//     $ redis-cli -s /run/app/queue.sock Q.QUEUES default
//
// Helper threads answer the commands of docs/commands.md, PING, HELLO, TIME, and SUBSCRIBE to one
// channel of events for each connection. There are no users and passwords: the socket belongs to the
// user of this process, and only processes of this user and of root may connect. They may do
// everything.
#ifndef SLUICE_SERVE_H
#define SLUICE_SERVE_H

#include <sluice/sluice.h>

#ifdef __cplusplus
extern "C" {
#endif

struct sluice_server;

// Begins to serve all namespaces of the folder of a queue. The address is "unix:PATH". A socket that
// a process which is gone has left there is replaced. At most 64 programs are connected at a time.
// UNSUPPORTED: the queue is not in this process. EXISTS: another process serves there.
SLUICE_API enum sluice_status sluice_serve(struct sluice *sluice, const char *address,
                                           struct sluice_server **out, struct sluice_error *error);
// Closes all connections and removes the socket. Call it before sluice_close. May be NULL.
SLUICE_API void sluice_serve_end(struct sluice_server *server);

#ifdef __cplusplus
}
#endif

#endif
