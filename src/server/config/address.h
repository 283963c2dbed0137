// SPDX-License-Identifier: MIT
// Where to listen: HOST:PORT, [HOST]:PORT for IPv6, or unix:/path.
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
    uint16_t port;                // of TCP; 0 lets the system choose
    char host[ADDRESS_HOST_SIZE]; // of TCP, without brackets; "*" for all of the machine
    char path[ADDRESS_PATH_SIZE]; // of a Unix socket
};

// INVALID with a sentence that says what is allowed.
MUST_USE enum status address_parse(struct slice text, struct address *out, struct error *error);

// Whether only this machine can reach it: Unix sockets, 127.0.0.0/8, ::1 and "localhost". A name
// is not looked up: any other name counts as reachable from outside.
bool address_is_local(const struct address *address);

// For bind(2). "localhost" is 127.0.0.1, "*" is :: (IPv4 too, if the socket is not IPV6_V6ONLY);
// other names are asked for, which may take as long as the resolver likes. NOT_FOUND when there is
// no such host.
MUST_USE enum status address_resolve(const struct address *address, struct sockaddr_storage *out,
                                     socklen_t *size, struct error *error);

// "127.0.0.1:7711", "[::1]:7711", "unix:/path" for what the system says about a socket; "unix:"
// for one without a name. Cut to fit, and ends with a zero; gives its size.
enum {
    ADDRESS_TEXT_SIZE = 128,
};
size_t address_format(const struct sockaddr_storage *address, socklen_t size,
                      char text[ADDRESS_TEXT_SIZE]);

// The host of an address as text, without the port; "unix" for a Unix socket.
struct slice address_host(struct slice text);

#endif
