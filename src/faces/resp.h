// SPDX-License-Identifier: MIT
// The RESP face: a struct reply that writes RESP at the end of a buffer.
#ifndef SLUICE_FACES_RESP_H
#define SLUICE_FACES_RESP_H

#include "api/reply.h"
#include "base/buffer.h"
#include "wire/resp_reply.h"

enum {
    RESP_SHORT_ERROR = REPLY_SHORT_ERROR + 24, // with its code and the ends of the line
};

struct resp_writer {
    struct reply reply; // that commands write to
    struct buffer *out; // borrowed
    enum resp_version version;
    uint64_t errors;   // number of errors written
    struct slice code; // of all errors, instead of their status; empty: none
    size_t reserve;    // bytes of the buffer that are reserved for other replies
};

void resp_writer_init(struct resp_writer *writer, struct buffer *out, enum resp_version version);

// All further errors have this code, which is borrowed. `reply` is that of a resp_writer.
void resp_writer_set_code(struct reply *reply, struct slice code);

// Writes an error: the status in capitals, then the message. DENIED is NOPERM, which clients of
// Redis know.
void resp_write_error(struct buffer *out, const struct error *error);

#endif
