// SPDX-License-Identifier: MIT
// Reports the state of the server to the service manager, as sd_notify(3) defines it: datagrams to
// the Unix socket that $NOTIFY_SOCKET names. Without that variable all calls do nothing. A message
// that cannot be sent at once is dropped, so the server never waits for the manager.
#ifndef SLUICE_SERVER_NOTIFY_H
#define SLUICE_SERVER_NOTIFY_H

#include "base/status.h"

#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

struct notify {
    int fd; // -1: no service manager
    struct sockaddr_un address;
    socklen_t address_size;
    int64_t watchdog_us; // notify_watchdog must be called at least this often; 0: never
};

// Reads NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID from the environment ("NAME=value", ends with
// NULL). INVALID if the socket's name is malformed, IO if no socket can be created. After an error
// the other functions may be called, and do nothing.
MUST_USE enum status notify_init(struct notify *notify, char *const *environment,
                                 struct error *error);
void notify_release(struct notify *notify);

void notify_ready(struct notify *notify);
void notify_stopping(struct notify *notify);
void notify_watchdog(struct notify *notify);

// Must be followed by notify_ready. `monotonic_us` is CLOCK_MONOTONIC.
void notify_reloading(struct notify *notify, int64_t monotonic_us);

// Sets the status line that `systemctl status` shows. Line ends in it become spaces.
void notify_status(struct notify *notify, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
