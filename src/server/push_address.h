// SPDX-License-Identifier: MIT
// Which addresses jobs may be pushed to. Whoever may say where jobs go must not reach by that what
// only this machine or its neighbours can: addresses that are no public ones are refused when the
// connection is made, whatever name led to them.
#ifndef SLUICE_SERVER_PUSH_ADDRESS_H
#define SLUICE_SERVER_PUSH_ADDRESS_H

#include <stdbool.h>
#include <sys/socket.h>

// Whether it is one that the whole internet knows. Private, loopback, link-local, multicast,
// reserved and documentation's ones are not, nor what stands for one of them in IPv6.
bool push_address_is_public(const struct sockaddr *address);

// The same of an address as text, "127.0.0.1" or "::1".
bool push_address_text_is_public(const char *text);

#endif
