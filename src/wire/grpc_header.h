// SPDX-License-Identifier: MIT
// Values of gRPC's headers.
#ifndef SLUICE_WIRE_GRPC_HEADER_H
#define SLUICE_WIRE_GRPC_HEADER_H

#include "base/buffer.h"
#include "base/slice.h"
#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

// grpc-timeout: 1 to 8 digits and one of H M S m u n. Nanoseconds are rounded up. INVALID: it is
// malformed.
MUST_USE enum status grpc_timeout_parse(struct slice text, int64_t *out_us);

// content-type: application/grpc or application/grpc+proto, with or without parameters.
bool grpc_content_type_is_valid(struct slice text);

enum grpc_encoding {
    GRPC_ENCODING_IDENTITY,
    GRPC_ENCODING_GZIP,
    GRPC_ENCODING_DEFLATE, // as zlib has it
    GRPC_ENCODING_UNKNOWN, // UNIMPLEMENTED, with the header grpc-accept-encoding
};

// grpc-encoding; "" is identity.
enum grpc_encoding grpc_encoding_of(struct slice text);

#define GRPC_ACCEPT_ENCODING "identity,deflate,gzip"

// grpc-message: what is not printable ASCII, and '%', as %XX. Writes at most `size` bytes, without a
// half of an escape or of a character; returns how many.
size_t grpc_percent_encode(struct slice text, char *out, size_t size);

// The bytes of one value of a header whose name ends in -bin: base64, with or without padding.
// INVALID: it is not. (Several values are split at commas first.)
MUST_USE enum status grpc_binary_decode(struct slice text, struct buffer *out);

#endif
