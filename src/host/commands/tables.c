// SPDX-License-Identifier: MIT
#include "host/commands/services.h"

static const struct command_table *const own[] = {
    &host_namespace_commands, &host_clock_commands, &host_help_commands,
    &host_backup_commands,    &host_push_commands,  &host_task_commands,
};

enum {
    OWN_TABLES = sizeof(own) / sizeof(own[0]),
    TABLES_MAX = 32,
};

enum status host_commands_new(const struct allocator *allocator,
                              const struct command_table *const *more, size_t count,
                              struct commands **out)
{
    const struct command_table *tables[API_TABLES + OWN_TABLES + TABLES_MAX];
    if (count > TABLES_MAX) {
        return STATUS_TOO_LARGE;
    }
    memcpy(tables, api_tables, sizeof(api_tables));
    memcpy(tables + API_TABLES, own, sizeof(own));
    for (size_t i = 0; i < count; i++) {
        tables[API_TABLES + OWN_TABLES + i] = more[i];
    }
    return commands_new(allocator, tables, API_TABLES + OWN_TABLES + count, out);
}
