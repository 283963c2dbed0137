// SPDX-License-Identifier: MIT
// grpc.health.v1: messages of Check, List and Watch.
#ifndef SLUICE_FACES_GRPC_HEALTH_H
#define SLUICE_FACES_GRPC_HEALTH_H

#include "faces/grpc/fault.h"

#include <stdbool.h>

enum grpc_health {
    GRPC_HEALTH_UNKNOWN,
    GRPC_HEALTH_SERVING,
    GRPC_HEALTH_NOT_SERVING,
    GRPC_HEALTH_SERVICE_UNKNOWN, // Watch: there is no such service
};

// Reads a HealthCheckRequest: whether the service that it names is one of the server's ("" is the
// server as a whole). A fault: it is malformed.
MUST_USE enum status grpc_health_read(struct slice message, bool *known, struct grpc_fault *fault);

// Appends a HealthCheckResponse as a frame. Check of a service that is not known ends with NOT_FOUND
// instead.
void grpc_health_write(enum grpc_health health, struct buffer *out);

// Appends a HealthListResponse as a frame: all services of the server in that state.
void grpc_health_write_list(enum grpc_health health, struct buffer *out);

#endif
