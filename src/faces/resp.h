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

struct resp_form {
    struct reply reply; // for whoever answers
    struct buffer *out; // borrowed
    enum resp_version version;
    uint64_t errors;   // said so far
    struct slice code; // of all errors, in place of their status; empty: none
    size_t reserve;    // room of the buffer that is kept for others
};

void resp_form_init(struct resp_form *form, struct buffer *out, enum resp_version version);

// From now on errors have this code, which is borrowed. `reply` is that of a resp_form.
void resp_form_code(struct reply *reply, struct slice code);

// An error as every face of RESP says it: the status in capitals, then the sentence. For DENIED
// clients of Redis know NOPERM.
void resp_form_error(struct buffer *out, const struct error *error);

#endif
