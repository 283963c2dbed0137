// SPDX-License-Identifier: MIT
// The files that describe what the server speaks, for reflection.
#ifndef SLUICE_FACES_GRPC_FILES_H
#define SLUICE_FACES_GRPC_FILES_H

#include "faces/grpc/schema.h"

extern const struct grpc_file grpc_file_sluice, grpc_file_timestamp, grpc_file_duration,
    grpc_file_health, grpc_file_reflection, grpc_file_reflection_alpha;

// All of them; ends with NULL. A file stands behind those that it imports.
extern const struct grpc_file *const grpc_files[];

#endif
