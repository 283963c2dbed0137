// SPDX-License-Identifier: MIT
// Base64 (RFC 4648).
#ifndef SLUICE_BASE_BASE64_H
#define SLUICE_BASE_BASE64_H

#include "base/buffer.h"
#include "base/slice.h"
#include "base/status.h"

enum base64_padding {
    BASE64_PADDED, // the size is a multiple of 4
    BASE64_EITHER, // the padding may be missing
};

// Appends bytes as base64, with padding.
void base64_append(struct buffer *out, struct slice bytes);

// Appends the bytes that a text stands for, exactly one text for each (apart from the padding).
// INVALID: it is not base64; else the buffer's status. On failure the buffer may hold a part of the
// bytes. `text` may be the front of the same memory that the bytes are written to: a group is read
// before its bytes are written.
MUST_USE enum status base64_decode(struct slice text, enum base64_padding padding,
                                   struct buffer *out);

#endif
