// SPDX-License-Identifier: MIT
// What the commands of this folder need of their host, in addition to struct host.
#ifndef SLUICE_HOST_COMMANDS_SERVICES_H
#define SLUICE_HOST_COMMANDS_SERVICES_H

#include "api/call.h"
#include "host/commands/push_commands.h"
#include "host/namespaces.h"

// Work that takes long.
struct work {
    const char *name;                                       // "backup"
    enum status (*run)(void *context, struct error *error); // on any thread
    // writes the reply, if `run` succeeded
    void (*answer)(const void *context, struct reply *reply);
    void (*release)(void *context); // called last
    void *context;
};

struct services {
    struct host host; // first: calls have a pointer to it
    struct namespaces *namespaces;
    const struct commands *commands; // all commands of the host
    // Whether the caller may know of a namespace; DENIED unless the caller may administer it.
    bool (*may_see)(const void *session, struct slice ns);
    enum status (*check_admin)(const void *session, struct slice ns, struct error *error);
    // Runs the work while other commands run, then writes its reply. BUSY if other work is running.
    // If it fails the work is not released; otherwise the call waits for the host (WAIT_HOST) and
    // writes no reply.
    enum status (*start)(struct call *call, const struct work *work, struct error *error);
    const struct push_service *push; // NULL: the host pushes no jobs
};

static inline const struct services *services_of(const struct call *call)
{
    return (const struct services *)(const void *)call->host;
}

// The tables of the commands that need a host.
extern const struct command_table host_namespace_commands; // namespace_commands.c
extern const struct command_table host_clock_commands;     // clock_commands.c
extern const struct command_table host_help_commands;      // help_command.c
extern const struct command_table host_backup_commands;    // backup_command.c
extern const struct command_table host_push_commands;      // push_commands.c
extern const struct command_table host_task_commands;      // task_commands.c

// All commands: the native ones, those of this folder, and `more` of the host.
MUST_USE enum status host_commands_new(const struct allocator *allocator,
                                       const struct command_table *const *more, size_t count,
                                       struct commands **out);

#endif
