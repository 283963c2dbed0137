// SPDX-License-Identifier: MIT
// TLS for the server, from the settings tls-cert, tls-key, tls-ca, tls-crl and
// tls-client-names: 1.2 or later, only suites with forward secrecy, no compression, no
// renegotiation, session tickets. With tls-ca set, clients must show a certificate of that
// authority, which with tls-crl must not be revoked; with tls-client-names too, one in the name of
// one of them (an alternative DNS name or, without those, the common name). Tickets of an earlier
// struct tls are not accepted, so that a certificate that is revoked cannot be used by way of one.
#ifndef SLUICE_SERVER_NET_TLS_H
#define SLUICE_SERVER_NET_TLS_H

#include "base/alloc.h"
#include "base/status.h"
#include "server/config/settings.h"

struct tls;
struct ssl_st; // OpenSSL's SSL

// Reads the files. INVALID or IO with a sentence that names the file and OpenSSL's reason.
MUST_USE enum status tls_new(const struct allocator *allocator, const struct settings *settings,
                             struct tls **out, struct error *error);
// Connections that it was for go on as they are.
void tls_free(struct tls *tls);

// The server's end of a new connection, for transport_init_tls. The caller owns it.
MUST_USE enum status tls_accept(const struct tls *tls, int fd, struct ssl_st **out);

#endif
