// SPDX-License-Identifier: MIT
// Which argument of a command each field of a message is. Made once for a message and a command;
// messages are read by it, and errors about an argument are told by the name of its field.
#ifndef SLUICE_FACES_GRPC_PLAN_H
#define SLUICE_FACES_GRPC_PLAN_H

#include "api/command.h"
#include "faces/grpc/schema.h"

enum {
    GRPC_PLAN_NONE = -1,
    GRPC_PATH_SIZE_MAX = 64, // of a field in messages: "options.backoff"
};

struct grpc_plan;

struct grpc_plan_field {
    const struct grpc_field *field; // NULL: there is none with that number
    int argument;                   // its place in the command, or GRPC_PLAN_NONE
    struct grpc_plan *inner;        // owned: of a message whose fields are arguments; or NULL
};

struct grpc_plan {
    const struct allocator *allocator; // borrowed
    const struct grpc_message *message;
    const struct command *command;                  // NULL: none of its fields is an argument
    struct grpc_plan_field fields[GRPC_NUMBER_MAX]; // by their number
};

// `command` may be NULL.
MUST_USE enum status grpc_plan_new(const struct allocator *allocator,
                                   const struct grpc_message *message,
                                   const struct command *command, struct grpc_plan **out);
void grpc_plan_free(struct grpc_plan *plan);

// The field with that number, or NULL.
static inline const struct grpc_plan_field *grpc_plan_at(const struct grpc_plan *plan,
                                                         uint32_t number)
{
    return number < GRPC_NUMBER_MAX && plan->fields[number].field ? &plan->fields[number] : NULL;
}

// Where the field of an argument is ("options.backoff"); of several requests in a message, in one of
// these. False: no field is that argument.
bool grpc_plan_path(const struct grpc_plan *plan, int argument, char path[GRPC_PATH_SIZE_MAX]);

#endif
