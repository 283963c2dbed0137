// SPDX-License-Identifier: MIT
// A connection to a server, from its greeting on: requests and their answers in turn.
#ifndef SLUICE_CLIENT_DIALOG_H
#define SLUICE_CLIENT_DIALOG_H

#include "base/buffer.h"
#include "client/fork.h"
#include "client/stream.h"
#include "engine/engine.h"

enum {
    PEER_NAME_SIZE = 64, // of a name that a server accepts for a connection, with the null byte
};

// A server, and how the library introduces itself to it.
struct peer {
    struct url url;
    struct ssl_ctx_st *trust;          // owned; NULL: no TLS
    char name[PEER_NAME_SIZE];         // of the connection, see CLIENT LIST
    char password_file[URL_PART_SIZE]; // read for each connection; empty: none
};

// A name of a connection made of any text.
void peer_name(char out[PEER_NAME_SIZE], const char *text);

struct dialog {
    struct dialog *next; // of those that are idle
    struct fork_guard guard;
    struct stream stream;
    struct buffer input;
    size_t taken; // bytes at the front of the input: the answer that was returned last
};

// UNREACHABLE, BUSY: another attempt may succeed. An attempt ends after 10 seconds even if the
// deadline is later.
enum sluice_status dialog_open(const struct peer *peer, struct until until, struct dialog **out,
                               struct sluice_error *error);
// A connection that was opened before a fork() is closed in the child.
void dialog_close(struct dialog *dialog); // may be NULL

// Appends a request to a buffer. If `replaced` is not 0, the word at that index is replaced by
// `with`.
void request_add(struct buffer *out, struct slices words, size_t replaced, struct slice with);

// Reads the next answer or message, borrowed until the next call. `items` receives its number of
// items.
enum stream_result dialog_read(struct dialog *dialog, int64_t deadline_us, int wake,
                               struct slice *out, size_t *items);

#endif
