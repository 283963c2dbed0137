// SPDX-License-Identifier: MIT
#include "server/notify.h"

#include "base/num.h"

#include <errno.h>
#include <stdarg.h>
#include <unistd.h>

enum {
    MESSAGE_SIZE = 512,
};

static const char *variable(char *const *environment, const char *name)
{
    size_t size = strlen(name);
    for (; *environment; environment++) {
        if (strncmp(*environment, name, size) == 0 && (*environment)[size] == '=') {
            return *environment + size + 1;
        }
    }
    return NULL;
}

// The watchdog variables are meant for the process whose id they name, not for its children.
static int64_t find_watchdog(char *const *environment)
{
    const char *pid = variable(environment, "WATCHDOG_PID");
    const char *time = variable(environment, "WATCHDOG_USEC");
    int64_t number;
    if (pid && (num_parse_i64(slice_from_cstr(pid), &number) || number != getpid())) {
        return 0;
    }
    return time && num_parse_i64(slice_from_cstr(time), &number) == STATUS_OK && number > 0 ? number
                                                                                            : 0;
}

enum status notify_init(struct notify *notify, char *const *environment, struct error *error)
{
    *notify = (struct notify){ .fd = -1, .address = { .sun_family = AF_UNIX } };
    const char *path = variable(environment, "NOTIFY_SOCKET");
    if (!path || !*path) {
        return STATUS_OK;
    }
    size_t size = strlen(path);
    if ((*path != '/' && *path != '@') || size < 2 || size >= sizeof(notify->address.sun_path)) {
        return error_set(error, STATUS_INVALID,
                         "NOTIFY_SOCKET '%.100s' is not a path or an abstract name", path);
    }
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) {
        return error_set(error, STATUS_IO, "there is no socket for NOTIFY_SOCKET: %s",
                         strerror(errno));
    }
    memcpy(notify->address.sun_path, path, size);
    notify->address_size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + size);
    if (*path == '@') {
        notify->address.sun_path[0] = '\0';
    } else {
        notify->address_size++; // the terminating zero of a path
    }
    notify->fd = fd;
    notify->watchdog_us = find_watchdog(environment);
    return STATUS_OK;
}

void notify_release(struct notify *notify)
{
    if (notify->fd >= 0) {
        (void)close(notify->fd);
    }
    notify->fd = -1;
    notify->watchdog_us = 0;
}

static void send_line(const struct notify *notify, const char *text)
{
    if (notify->fd >= 0) {
        (void)sendto(notify->fd, text, strlen(text), MSG_NOSIGNAL | MSG_DONTWAIT,
                     (const struct sockaddr *)&notify->address, notify->address_size);
    }
}

void notify_ready(struct notify *notify)
{
    send_line(notify, "READY=1");
}

void notify_stopping(struct notify *notify)
{
    send_line(notify, "STOPPING=1");
}

void notify_watchdog(struct notify *notify)
{
    send_line(notify, "WATCHDOG=1");
}

void notify_reloading(struct notify *notify, int64_t monotonic_us)
{
    char text[64];
    (void)snprintf(text, sizeof(text), "RELOADING=1\nMONOTONIC_USEC=%lld", (long long)monotonic_us);
    send_line(notify, text);
}

void notify_status(struct notify *notify, const char *format, ...)
{
    char text[MESSAGE_SIZE] = "STATUS=";
    size_t start = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(text + start, sizeof(text) - start, format, arguments);
    va_end(arguments);
    if (size < 0) {
        return;
    }
    for (char *at = text + start; *at; at++) {
        if (*at == '\n') {
            *at = ' ';
        }
    }
    send_line(notify, text);
}
