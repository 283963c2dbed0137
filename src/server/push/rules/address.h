// SPDX-License-Identifier: MIT
// The addresses that jobs may be pushed to. A user who may set pushes must not reach hosts that
// only this machine and its local network can reach. So addresses that are not public are refused
// when the connection is made, whatever name resolved to them.
#ifndef SLUICE_SERVER_PUSH_RULES_ADDRESS_H
#define SLUICE_SERVER_PUSH_RULES_ADDRESS_H

#include <stdbool.h>
#include <sys/socket.h>

// Whether the address is globally reachable. Private, loopback, link-local, multicast, reserved and
// documentation addresses are not, nor are IPv6 addresses that embed one of these.
bool push_address_is_public(const struct sockaddr *address);

// The same for an address as text, "127.0.0.1" or "::1".
bool push_address_text_is_public(const char *text);

#endif
