// SPDX-License-Identifier: MIT
// grpc.reflection v1 and v1alpha, whose messages are the same: clients ask which services there are,
// and for the files that describe them.
#ifndef SLUICE_FACES_GRPC_REFLECTION_H
#define SLUICE_FACES_GRPC_REFLECTION_H

#include "faces/grpc/fault.h"

// Appends the answer to a ServerReflectionRequest as a frame. What is not known is an answer too; a
// fault: the request is malformed, and nothing was appended.
MUST_USE enum status grpc_reflect(struct slice message, struct buffer *out,
                                  struct grpc_fault *fault);

#endif
