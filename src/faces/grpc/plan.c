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

// Writes the path behind the first `size` bytes.
static bool find_path(const struct grpc_plan *plan, int argument, char path[GRPC_PATH_SIZE_MAX],
                      size_t size)
{
    for (uint32_t i = 0; i < GRPC_NUMBER_MAX; i++) {
        const struct grpc_plan_field *at = grpc_plan_at(plan, i);
        if (!at || (at->argument != argument && !at->inner)) {
            continue;
        }
        size_t inner = size;
        if (at->field->role != GRPC_ROLE_REQUESTS) {
            int more = snprintf(path + size, GRPC_PATH_SIZE_MAX - size, "%s%s", at->field->name,
                                at->inner ? "." : "");
            assert(more > 0 && (size_t)more < GRPC_PATH_SIZE_MAX - size); // names are short
            inner += (size_t)more;
        }
        if (!at->inner || find_path(at->inner, argument, path, inner)) {
            return true;
        }
    }
    return false;
}

bool grpc_plan_path(const struct grpc_plan *plan, int argument, char path[GRPC_PATH_SIZE_MAX])
{
    path[0] = '\0';
    return argument != GRPC_PLAN_NONE && find_path(plan, argument, path, 0);
}
