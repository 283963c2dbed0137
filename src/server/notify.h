// SPDX-License-Identifier: MIT
// Reports the state of the server to the service manager, as sd_notify(3) defines it: datagrams to the
// Unix socket that $NOTIFY_SOCKET names. Without that variable all calls do nothing. A message that
// cannot be sent at once is dropped, so the server never waits for the manager.
#ifndef SLUICE_SERVER_NOTIFY_H
#define SLUICE_SERVER_NOTIFY_H

#include "base/status.h"

#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

struct notify {
    int fd; // -1: there is no manager to report to
    struct sockaddr_un address;
    socklen_t address_size;
    int64_t watchdog_us; // how often notify_watchdog has to be called at least; 0: never
};

// From the environment ("NAME=value", ends with NULL): NOTIFY_SOCKET, WATCHDOG_USEC and
// WATCHDOG_PID. INVALID when the socket's name is malformed, IO when the system gives no socket;
// then, too, the other calls may be made and do nothing.
MUST_USE enum status notify_init(struct notify *notify, char *const *environment,
                                 struct error *error);
void notify_release(struct notify *notify);

void notify_ready(struct notify *notify);
void notify_stopping(struct notify *notify);
void notify_watchdog(struct notify *notify);

// To be followed by notify_ready. `monotonic_us` is CLOCK_MONOTONIC.
void notify_reloading(struct notify *notify, int64_t monotonic_us);

// A line for `systemctl status`: a line end in it becomes a space.
void notify_status(struct notify *notify, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
