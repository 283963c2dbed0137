// SPDX-License-Identifier: MIT
// Addresses to listen to: HOST:PORT, [HOST]:PORT for IPv6, or unix:/path.
#ifndef SLUICE_SERVER_CONFIG_ADDRESS_H
#define SLUICE_SERVER_CONFIG_ADDRESS_H

#include "base/slice.h"
#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

enum {
    ADDRESS_HOST_SIZE = 256,
    ADDRESS_PATH_SIZE = 108, // of sockaddr_un
};

enum address_kind {
    ADDRESS_TCP,
    ADDRESS_UNIX,
};

struct address {
    enum address_kind kind;
    uint16_t port;                // of TCP; 0: the system chooses
    char host[ADDRESS_HOST_SIZE]; // of TCP, without brackets; "*" for all of the machine
    char path[ADDRESS_PATH_SIZE]; // of a Unix socket
};

// INVALID with a message that names the allowed forms.
MUST_USE enum status address_parse(struct slice text, struct address *out, struct error *error);

// Whether only this machine can connect to the address: Unix sockets, 127.0.0.0/8, ::1 and
// "localhost". Names are not resolved: any other name is treated as reachable from outside.
bool address_is_local(const struct address *address);

// Makes an address for bind(2). "localhost" is 127.0.0.1, "*" is :: (and IPv4, unless the socket is
// IPV6_V6ONLY). Other names are resolved, which may take long. NOT_FOUND if there is no such host.
MUST_USE enum status address_resolve(const struct address *address, struct sockaddr_storage *out,
                                     socklen_t *size, struct error *error);

// Writes a socket address as text: "127.0.0.1:7711", "[::1]:7711", "unix:/path"; "unix:" for a
// socket without a name. Truncates to fit, terminates with a zero, and returns the size.
enum {
    ADDRESS_TEXT_SIZE = 128,
};
size_t address_format(const struct sockaddr_storage *address, socklen_t size,
                      char text[ADDRESS_TEXT_SIZE]);

// The host of an address that is text, without the port; "unix" for a Unix socket.
struct slice address_host(struct slice text);

#endif
