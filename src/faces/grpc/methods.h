// SPDX-License-Identifier: MIT
// The methods of all services, as data: what a message of the method becomes.
#ifndef SLUICE_FACES_GRPC_METHODS_H
#define SLUICE_FACES_GRPC_METHODS_H

#include "faces/grpc/grpc.h"
#include "faces/grpc/schema.h"

#define RPCS(list) .rpcs = (list), .rpc_count = sizeof(list) / sizeof((list)[0])

extern const struct grpc_service grpc_service_queue, grpc_service_health,
    grpc_service_reflection_v1, grpc_service_reflection_v1alpha;

enum {
    GRPC_STEPS_MAX = 3,
};

// How the reply of the command becomes messages.
enum grpc_shape {
    GRPC_SHAPE_MESSAGE, // the reply is the message
    GRPC_SHAPE_FIRST,   // the reply is a list of one, whose item is the message; null: NOT_FOUND
    GRPC_SHAPE_FRAMES,  // each item of the reply is a message of its own
};

// A command that is run for a message, if the field is set; for each item of a repeated field.
struct grpc_step {
    const char *command;
    uint32_t field; // of the request; 0: always
};

struct grpc_fixed_option {
    const char *name, *value;
};

struct grpc_method_entry {
    const struct grpc_service *service;
    const char *rpc; // its name in the service
    enum grpc_act act;
    struct grpc_step steps[GRPC_STEPS_MAX]; // unused ones have no command
    const char *otherwise; // the command when the field with GRPC_ROLE_OTHERWISE is set
    enum grpc_shape shape;
    struct grpc_fixed_option fixed; // an option of the command that no field is; or none
    bool anybody;
};

struct grpc_method_entries {
    const struct grpc_method_entry *items;
    size_t count;
};
extern const struct grpc_method_entries grpc_method_entries;

// The service's rpc of an entry.
const struct grpc_rpc *grpc_method_rpc(const struct grpc_method_entry *entry);

#endif
