// SPDX-License-Identifier: MIT
// The tables of the server's own commands. In their handlers call->session is the connection.
#ifndef SLUICE_SERVER_REDIS_TABLES_H
#define SLUICE_SERVER_REDIS_TABLES_H

#include "api/command.h"

extern const struct command_table server_user_commands;        // user_commands.c
extern const struct command_table server_session_commands;     // session.c
extern const struct command_table server_client_commands;      // client.c
extern const struct command_table server_pubsub_commands;      // subscribe.c
extern const struct command_table server_transaction_commands; // transaction.c
extern const struct command_table server_script_commands;      // script_commands.c
extern const struct command_table server_set_commands;         // set_commands.c
extern const struct command_table server_namespace_commands;   // namespace_commands.c
extern const struct command_table server_reference_commands;   // reference_commands.c
extern const struct command_table server_info_commands;        // info.c
extern const struct command_table server_admin_commands;       // admin.c
extern const struct command_table server_slowlog_commands;     // slow_commands.c
extern const struct command_table server_status_commands;      // ../status_command.c

// The native commands and these, for dispatch and for the reference.
MUST_USE enum status server_commands_new(const struct allocator *allocator, struct commands **out);

#endif
