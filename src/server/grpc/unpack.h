// SPDX-License-Identifier: MIT
// Compressed messages of gRPC.
#ifndef SLUICE_SERVER_GRPC_UNPACK_H
#define SLUICE_SERVER_GRPC_UNPACK_H

#include "base/buffer.h"
#include "wire/grpc_header.h"

// Appends what a compressed message unpacks to, at most up to the size_max of `out`: TOO_LARGE
// otherwise (RESOURCE_EXHAUSTED). INVALID: it is not of that encoding, is cut off, or has bytes behind
// its end (INTERNAL). NO_MEMORY. On failure the buffer has no more bytes than before, and no error.
MUST_USE enum status grpc_unpack(enum grpc_encoding encoding, struct slice packed,
                                 struct buffer *out);

#endif
