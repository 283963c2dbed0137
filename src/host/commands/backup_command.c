// SPDX-License-Identifier: MIT
// Q.BACKUP
#include "api/table.h"
#include "host/commands/services.h"

struct backup {
    const struct allocator *allocator;
    struct store *store; // borrowed
    size_t size;         // of the path
    char path[];         // terminated with a zero
};

static enum status make_backup(void *context, struct error *error)
{
    const struct backup *backup = context;
    return store_backup(backup->store, backup->path, error);
}

static void answer_backup(const void *context, struct reply *reply)
{
    const struct backup *backup = context;
    reply_text(reply, slice_make(backup->path, backup->size));
}

static void release_backup(void *context)
{
    struct backup *backup = context;
    mem_free(backup->allocator, backup, sizeof(*backup) + backup->size + 1);
}

struct backup_arguments {
    struct slice path;
};

static const struct argument backup_takes[] = {
    ARGUMENT(backup_arguments, path, TEXT, "path",
             "the folder to make, which must not be there yet: an absolute path on the server"),
};

static enum status check_backup(const struct call *call, struct slice path, struct error *error)
{
    if (path.size == 0 || path.data[0] != '/' || memchr(path.data, '\0', path.size)) {
        return error_set(error, STATUS_INVALID, "%s: path must be absolute, as in /var/backups/1",
                         call->command->name);
    }
    if (call->last) {
        return error_set(error, STATUS_STATE, "%s takes long and cannot be part of a transaction",
                         call->command->name);
    }
    return STATUS_OK;
}

static enum status run_backup(struct call *call, struct error *error)
{
    const struct services *services = services_of(call);
    const struct backup_arguments *given = call->arguments;
    enum status status = check_backup(call, given->path, error);
    if (status) {
        return status;
    }
    const struct allocator *allocator = services->namespaces->options.allocator;
    struct backup *backup = mem_zalloc(allocator, sizeof(*backup) + given->path.size + 1);
    if (!backup) {
        return error_set(error, STATUS_NO_MEMORY, "no memory for a backup");
    }
    backup->allocator = allocator;
    backup->store = services->namespaces->store;
    backup->size = given->path.size;
    memcpy(backup->path, given->path.data, given->path.size);
    const struct work work = { "backup", make_backup, answer_backup, release_backup, backup };
    status = services->start(call, &work, error);
    if (status) {
        release_backup(backup);
    }
    return status;
}

static const struct command commands[] = {
    {
        .name = "Q.BACKUP",
        .group = "server",
        .flags = COMMAND_CONNECTION | COMMAND_ADMIN | COMMAND_AUDITED,
        TAKES(backup_arguments, backup_takes),
        .run = run_backup,
        .summary = "Makes a copy of all that is stored, while the server goes on.",
        .details = "The folder can be opened as a store. It holds all that was acknowledged when "
                   "the command came, and perhaps some of what came since. One at a time.",
        .replies = "The path, when the backup is whole.",
        EXAMPLES({ "Q.BACKUP /var/backups/sluice-1", "\"/var/backups/sluice-1\"" }),
    },
};

const struct command_table host_backup_commands = TABLE(commands);
