// SPDX-License-Identifier: MIT
#include "server/redis/tables.h"

#include "host/commands/services.h"

static const struct command_table *const own[] = {
    &server_namespace_commands, &server_reference_commands,   &server_admin_commands,
    &server_info_commands,      &server_session_commands,     &server_client_commands,
    &server_pubsub_commands,    &server_transaction_commands, &server_script_commands,
    &server_set_commands,       &server_user_commands,        &server_slowlog_commands,
    &server_status_commands,
};

enum status server_commands_new(const struct allocator *allocator, struct commands **out)
{
    return host_commands_new(allocator, own, sizeof(own) / sizeof(own[0]), out);
}
