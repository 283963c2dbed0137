// SPDX-License-Identifier: MIT
#include "faces/grpc/plan.h"

#include "base/ascii.h"

#include <assert.h>
#include <stdio.h>

// Whatever the case: an argument that is an option of one command has its place in another.
static int find_argument(const struct command *command, const char *name)
{
    for (size_t i = 0; command && name && i < command->argument_count; i++) {
        if (ascii_equal(slice_from_cstr(command->arguments[i].name), slice_from_cstr(name))) {
            return (int)i;
        }
    }
    return GRPC_PLAN_NONE;
}

static bool has_inner(const struct grpc_field *field)
{
    return field->type == GRPC_TYPE_MESSAGE && field->message->form == GRPC_FORM_FIELDS;
}

static enum status fill(struct grpc_plan *plan)
{
    for (size_t i = 0; i < plan->message->field_count; i++) {
        const struct grpc_field *field = &plan->message->fields[i];
        assert(field->number < GRPC_NUMBER_MAX);
        struct grpc_plan_field *at = &plan->fields[field->number];
        at->field = field;
        at->argument = find_argument(plan->command, field->as);
        if (plan->command && has_inner(field)) {
            enum status status =
                grpc_plan_new(plan->allocator, field->message, plan->command, &at->inner);
            if (status) {
                return status;
            }
        }
    }
    return STATUS_OK;
}

enum status grpc_plan_new(const struct allocator *allocator, const struct grpc_message *message,
                          const struct command *command, struct grpc_plan **out)
{
    struct grpc_plan *plan = mem_zalloc(allocator, sizeof(*plan));
    if (!plan) {
        return STATUS_NO_MEMORY;
    }
    plan->allocator = allocator;
    plan->message = message;
    plan->command = command;
    enum status status = fill(plan);
    if (status) {
        grpc_plan_free(plan);
        return status;
    }
    *out = plan;
    return STATUS_OK;
}

void grpc_plan_free(struct grpc_plan *plan)
{
    if (!plan) {
        return;
    }
    for (size_t i = 0; i < GRPC_NUMBER_MAX; i++) {
        grpc_plan_free(plan->fields[i].inner);
    }
    mem_free(plan->allocator, plan, sizeof(*plan));
}

bool grpc_plan_path(const struct grpc_plan *plan, int argument, char path[GRPC_PATH_SIZE_MAX])
{
    for (size_t i = 0; i < GRPC_NUMBER_MAX; i++) {
        const struct grpc_plan_field *at = &plan->fields[i];
        if (!at->field) {
            continue;
        }
        if (at->argument == argument) {
            (void)snprintf(path, GRPC_PATH_SIZE_MAX, "%s", at->field->name);
            return true;
        }
        char inner[GRPC_PATH_SIZE_MAX];
        if (at->inner && grpc_plan_path(at->inner, argument, inner)) {
            bool apart = at->field->role == GRPC_ROLE_REQUESTS;
            (void)snprintf(path, GRPC_PATH_SIZE_MAX, "%s%s%s", apart ? "" : at->field->name,
                           apart ? "" : ".", inner);
            return true;
        }
    }
    return false;
}
