// SPDX-License-Identifier: MIT
// The addresses that jobs may be pushed to. A user that may set pushes must not reach hosts by them
// that only this machine and its neighbours can reach: addresses that are not public are refused when
// the connection is made, whatever name resolved to them.
#ifndef SLUICE_SERVER_PUSH_RULES_ADDRESS_H
#define SLUICE_SERVER_PUSH_RULES_ADDRESS_H

#include <stdbool.h>
#include <sys/socket.h>

// Whether it is one that the whole internet knows. Private, loopback, link-local, multicast,
// reserved and documentation's ones are not, nor what stands for one of them in IPv6.
bool push_address_is_public(const struct sockaddr *address);

// The same of an address as text, "127.0.0.1" or "::1".
bool push_address_text_is_public(const char *text);

#endif
