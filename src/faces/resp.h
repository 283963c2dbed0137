// SPDX-License-Identifier: MIT
// The native face: answers as RESP, at the end of a buffer.
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
    uint64_t errors;   // said so far
    struct slice code; // of all errors, in place of their status; empty: none
    size_t reserve;    // room of the buffer that is kept for others
};

void resp_writer_init(struct resp_writer *writer, struct buffer *out, enum resp_version version);

// From now on errors have this code, which is borrowed. `reply` is that of a resp_writer.
void resp_writer_set_code(struct reply *reply, struct slice code);

// An error as every face of RESP says it: the status in capitals, then the sentence. For DENIED
// clients of Redis know NOPERM.
void resp_write_error(struct buffer *out, const struct error *error);

#endif
