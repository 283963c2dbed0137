// SPDX-License-Identifier: MIT
// A request that is refused before all of it has come, since it is too large, malformed or not
// permitted. If the server closed the connection at once, the client, which may still be sending,
// would see a reset connection instead of the reply. So the server sends the reply, ends its side
// of the connection, and reads and discards what still comes.
//
//      refused --> reply sent, our side ended --> the client closes its side --> closed
//                                            \--> allowance used up, or too late --/
//
// The allowance (allowance.h) bounds how many bytes are discarded and for how long; nothing is
// kept.
#ifndef SLUICE_SERVER_NET_DISCARD_H
#define SLUICE_SERVER_NET_DISCARD_H

#include "server/net/transport.h"

#include <stdbool.h>
#include <stdint.h>

struct connection;
struct error;

struct discard {
    bool on;
    bool finished;    // the reply is sent, and our side ended
    uint64_t left;    // bytes that may still be discarded
    int64_t until_us; // as server_elapsed has it
};

// The reply to the refused request was written: drains the connection, and logs a request that is
// too large. `why` may be NULL.
void discard_begin(struct connection *connection, const struct error *why);

// All replies have been sent.
void discard_finish(struct connection *connection);

// Reads once. CLOSED: the client has ended its side, or the allowance is used up.
enum transport_result discard_some(struct connection *connection);

// Whether the time is over.
bool discard_is_late(const struct connection *connection, int64_t now_us);

#endif
