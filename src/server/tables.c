// SPDX-License-Identifier: MIT
#include "server/tables.h"

static const struct command_table *const own[] = {
    &server_namespace_commands, &server_reference_commands,   &server_admin_commands,
    &server_info_commands,      &server_session_commands,     &server_client_commands,
    &server_pubsub_commands,    &server_transaction_commands, &server_script_commands,
    &server_set_commands,
};

enum {
    OWN_TABLES = sizeof(own) / sizeof(own[0]),
};

enum status server_commands_new(const struct allocator *allocator, struct commands **out)
{
    const struct command_table *tables[API_TABLES + OWN_TABLES];
    memcpy(tables, api_tables, sizeof(api_tables));
    memcpy(tables + API_TABLES, own, sizeof(own));
    return commands_new(allocator, tables, API_TABLES + OWN_TABLES, out);
}
