// SPDX-License-Identifier: MIT
#include "server/access/permit.h"

#include "engine/engine.h"
#include "server/access/audit.h"
#include "server/net/connection.h"

#include <string.h>

static enum status deny(const struct user *user, const struct command *command, struct slice ns,
                        unsigned right, const char *where, struct error *error)
{
    char text[RIGHTS_TEXT_SIZE];
    return error_set(error, STATUS_DENIED, "user %s has no right to %s%s%.*s: it needs %s%s",
                     user->name, command->name, ns.size ? " in " : "", SLICE_PRINT(slice_shown(ns)),
                     rights_format(right, text), where);
}

enum status permit_command(const struct user *user, const struct command *command, struct slice ns,
                           struct error *error)
{
    enum right right = command_right(command);
    bool may;
    if (command->flags & COMMAND_NAMESPACE) {
        may = user_rights_somewhere(user, ns) & right;
    } else if (command->flags & COMMAND_CONNECTION) {
        may = right != RIGHT_ADMIN || (user->everywhere & RIGHT_ADMIN);
    } else {
        may = user->everywhere & right;
    }
    return may ? STATUS_OK
               : deny(user, command, ns, right,
                      command->flags & COMMAND_NAMESPACE ? "" : " on every namespace", error);
}

// ---------------------------------------------------------------------------------------------
// Arguments

struct permission {
    const struct call *call;
    const struct user *user;
    unsigned whole; // rights of the user on the whole namespace
    enum right right;
    bool named;       // a queue or a job was named
    bool may_operate; // on all that were named
    struct error *error;
};

static unsigned rights_on(const struct permission *permission, struct slice queue)
{
    return permission->whole | user_rights_on(permission->user, permission->call->ns, queue);
}

static enum status check_queue(struct permission *permission, struct slice queue)
{
    unsigned rights = rights_on(permission, queue);
    permission->named = true;
    permission->may_operate = permission->may_operate && (rights & RIGHT_OPERATE);
    if (rights & permission->right) {
        return STATUS_OK;
    }
    char where[96];
    (void)snprintf(where, sizeof(where), " on queue %.*s", SLICE_PRINT(slice_shown(queue)));
    return deny(permission->user, permission->call->command, permission->call->ns,
                permission->right, where, permission->error);
}

// Checks the queue that jobs are put into.
static enum status check_target(const struct permission *permission, struct slice queue)
{
    if (rights_on(permission, queue) & (RIGHT_PUT | RIGHT_OPERATE)) {
        return STATUS_OK;
    }
    char where[96];
    (void)snprintf(where, sizeof(where), " on queue %.*s", SLICE_PRINT(slice_shown(queue)));
    return deny(permission->user, permission->call->command, permission->call->ns, RIGHT_PUT, where,
                permission->error);
}

// A missing job and a job in a queue on which the user has no right get the same reply.
static enum status check_of(struct permission *permission, bool there, struct slice queue)
{
    unsigned rights = there ? rights_on(permission, queue) : permission->whole;
    permission->named = true;
    permission->may_operate = permission->may_operate && (rights & RIGHT_OPERATE);
    return rights & permission->right
               ? STATUS_OK
               : deny(permission->user, permission->call->command, permission->call->ns,
                      permission->right, " on the queue of the job, and the job must be there",
                      permission->error);
}

static enum status check_name(struct permission *permission, enum argument_about about,
                              struct slice name)
{
    const struct engine *engine = permission->call->engine;
    const struct job *job;
    const struct recurring *recurring;
    struct job_view viewed = { 0 };
    struct recurring_view recurs = { 0 };
    switch (about) {
    case ABOUT_QUEUE:
        return check_queue(permission, name);
    case ABOUT_TARGET:
        return check_target(permission, name);
    case ABOUT_JOB:
        job = engine_get(engine, name);
        if (job) {
            job_view(engine, job, &viewed);
        }
        return check_of(permission, job, viewed.queue);
    case ABOUT_RECURRING:
    case ABOUT_RECURRING_NEW:
        recurring = engine_recurring_get(engine, name);
        if (!recurring && about == ABOUT_RECURRING_NEW) {
            return STATUS_OK;
        }
        if (recurring) {
            recurring_view(engine, recurring, &recurs);
        }
        return check_of(permission, recurring, recurs.queue);
    case ABOUT_NOTHING:
    case ABOUT_TOKEN:
    case ABOUT_SECRET:
    case ABOUT_CONFLICT:
    case ABOUT_DEPENDENTS:
        break;
    }
    return STATUS_OK;
}

// Checks every name that was given for the argument.
static enum status check_names(struct permission *permission, const struct argument *argument)
{
    const char *value = (const char *)permission->call->arguments + argument->offset;
    if (!(argument->flags & ARGUMENT_REPEATED)) {
        struct slice name;
        memcpy(&name, value, sizeof(name));
        return name.data ? check_name(permission, argument->about, name) : STATUS_OK;
    }
    struct slices names;
    memcpy(&names, value, sizeof(names));
    enum status status = STATUS_OK;
    for (size_t i = 0; i < names.count && !status; i++) {
        status = check_name(permission, argument->about, names.items[i]);
    }
    return status;
}

// A worker settles a job that it holds, and proves that by the token. An operator needs no token.
static enum status check_token(const struct permission *permission, const struct argument *argument)
{
    int64_t token;
    memcpy(&token, (const char *)permission->call->arguments + argument->offset, sizeof(token));
    if (token || permission->right != RIGHT_WORK || permission->may_operate) {
        return STATUS_OK;
    }
    return deny(permission->user, permission->call->command, permission->call->ns, RIGHT_OPERATE,
                ", or the TOKEN of the lease", permission->error);
}

// A put that replaces another job cancels that job.
static enum status check_conflict(const struct permission *permission,
                                  const struct argument *argument)
{
    int64_t word;
    memcpy(&word, (const char *)permission->call->arguments + argument->offset, sizeof(word));
    if (strcmp(argument->words[word], "replace") != 0 || (permission->whole & RIGHT_OPERATE)) {
        return STATUS_OK;
    }
    return deny(permission->user, permission->call->command, permission->call->ns, RIGHT_OPERATE,
                " to replace a job", permission->error);
}

// Jobs that depend on the named ones may be in any queue.
static enum status check_dependents(const struct permission *permission,
                                    const struct argument *argument)
{
    bool given;
    memcpy(&given, (const char *)permission->call->arguments + argument->offset, sizeof(given));
    return !given || (permission->whole & permission->right)
               ? STATUS_OK
               : deny(permission->user, permission->call->command, permission->call->ns,
                      permission->right, " on the whole namespace with DEPENDENTS",
                      permission->error);
}

static bool is_name(const struct argument *argument)
{
    return argument->about >= ABOUT_QUEUE && argument->about <= ABOUT_RECURRING_NEW;
}

static enum status check_arguments(const struct call *call, struct error *error)
{
    struct connection *connection = call->session;
    const struct command *command = call->command;
    struct permission permission = {
        .call = call,
        .user = connection->user,
        .whole = user_rights(connection->user, call->ns),
        .right = command_right(command),
        .may_operate = true,
        .error = error,
    };
    enum status status = STATUS_OK;
    for (size_t i = 0; i < command->argument_count && !status; i++) {
        if (is_name(&command->arguments[i])) {
            status = check_names(&permission, &command->arguments[i]);
        }
    }
    for (size_t i = 0; i < command->argument_count && !status; i++) {
        if (command->arguments[i].about == ABOUT_TOKEN) {
            status = check_token(&permission, &command->arguments[i]);
        } else if (command->arguments[i].about == ABOUT_CONFLICT) {
            status = check_conflict(&permission, &command->arguments[i]);
        } else if (command->arguments[i].about == ABOUT_DEPENDENTS) {
            status = check_dependents(&permission, &command->arguments[i]);
        }
    }
    if (!status && !permission.named && !(permission.whole & permission.right)) {
        status = deny(permission.user, command, call->ns, permission.right,
                      " on the whole namespace", error);
    }
    if (status == STATUS_DENIED && connection->server) {
        audit_denied(connection, command, call->ns);
    }
    return status;
}

call_permit *permit_arguments(const struct user *user, const struct command *command,
                              struct slice ns)
{
    if (!user || !(command->flags & COMMAND_NAMESPACE)) {
        return NULL;
    }
    unsigned whole = user_rights(user, ns);
    enum right right = command_right(command);
    bool all =
        (whole & RIGHTS_WRITE) == RIGHTS_WRITE || right == RIGHT_READ || right == RIGHT_ADMIN;
    return all && (whole & right) ? NULL : check_arguments;
}
