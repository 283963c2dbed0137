// SPDX-License-Identifier: MIT
// The bytes of a connection, in the clear or under TLS, over a descriptor that does not block.
//
// SIGPIPE must be ignored in the process. In the clear, a read is read(2) and a write is writev(2).
//
// Under TLS, the library may hold bytes that the descriptor no longer tells of: read until it says
// AGAIN, or ask transport_pending before waiting for the descriptor. And what was begun to be
// written must be written: after AGAIN the next write begins with the same bytes, and has no fewer
// of them (they may have moved).
#ifndef SLUICE_SERVER_NET_TRANSPORT_H
#define SLUICE_SERVER_NET_TRANSPORT_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/uio.h>

struct tls;
struct ssl_st;

enum transport_result {
    TRANSPORT_OK,
    TRANSPORT_AGAIN_READ,  // wait until the descriptor is readable, then make the same call
    TRANSPORT_AGAIN_WRITE, // wait until it is writable, then make the same call
    TRANSPORT_CLOSED,      // the peer has closed the connection or is gone
    TRANSPORT_FAILED,      // it cannot be used any more; transport_reason says why
};

struct transport {
    int fd;                   // owned; -1 when closed
    bool broken;              // no farewell is sent under TLS
    bool greeted;             // the handshake is done
    struct ssl_st *ssl;       // owned; NULL in the clear
    int error_number;         // errno of the last failure in the clear or beneath TLS, or 0
    unsigned long error_code; // OpenSSL's of the last failure, or 0
};

// Take over the descriptor. When tls fails the descriptor is still the caller's.
void transport_init(struct transport *transport, int fd);
MUST_USE enum status transport_init_tls(struct transport *transport, const struct tls *tls, int fd);

// Before the handshake: under TLS, clients that offer protocols (ALPN) have to offer this one. `name`
// is borrowed as long as the transport is open.
void transport_set_protocol(struct transport *transport, char *name);

// OK when both sides are ready for data, which in the clear they always are. Under TLS it is called
// before all else, until it says OK.
enum transport_result transport_handshake(struct transport *transport);

// Reads at least one byte and at most `size`, which is at least 1, and says how many.
enum transport_result transport_read(struct transport *transport, void *bytes, size_t size,
                                     size_t *read_size);

// Writes at least one byte of the `count` pieces (not all of them empty), perhaps not all, and says
// how many.
enum transport_result transport_write(struct transport *transport, const struct iovec *pieces,
                                      size_t count, size_t *written_size);

// Whether there is something to read although the descriptor may not say so.
bool transport_pending(const struct transport *transport);

// Ends our side, with a farewell under TLS if it can be sent at once: nothing is written after it,
// and nothing is read but by transport_discard.
void transport_end(struct transport *transport);

// Reads bytes, as transport_read does, to discard them: under TLS they are not decrypted.
enum transport_result transport_discard(struct transport *transport, void *bytes, size_t size,
                                        size_t *read_size);

// A farewell under TLS, if it can be sent at once, and the end of the descriptor. May be called
// again.
void transport_close(struct transport *transport);

// Why it failed, for the log, in a buffer of its own. In the clear it is errno's sentence.
void transport_reason(const struct transport *transport, struct error *error);

// The common name of the certificate that the client has shown and that was verified; false when
// there is none, or it has more than one or a zero in it.
enum {
    TRANSPORT_NAME_SIZE = 256,
};
bool transport_client_name(const struct transport *transport, char name[TRANSPORT_NAME_SIZE]);

#endif
