// SPDX-License-Identifier: MIT
// Q.HELP
#include "api/reference.h"
#include "api/table.h"
#include "host/commands/services.h"

enum {
    HELP_MAX = 1 << 20,
};

struct help_arguments {
    struct slice command;
};

static const struct argument help_takes[] = {
    OPTIONAL(help_arguments, command, NAME, "command", "a command; none: all, with a line each"),
};

static enum status run_help(struct call *call, struct error *error)
{
    const struct services *services = services_of(call);
    const struct help_arguments *given = call->arguments;
    const struct command *command =
        given->command.size ? commands_find(services->commands, given->command) : NULL;
    if (given->command.size && !command) {
        return error_set(error, STATUS_NOT_FOUND, "there is no command \"%.*s\"",
                         SLICE_PRINT(given->command));
    }
    struct buffer text;
    buffer_init(&text, services->namespaces->options.allocator, HELP_MAX);
    if (command) {
        reference_help(command, &text);
    } else {
        reference_overview(services->commands, &text);
    }
    enum status status = text.status;
    if (status) {
        (void)error_set(error, status, "Q.HELP: %s", status_sentence(status));
    } else {
        reply_prose(call->reply, buffer_slice(&text));
    }
    buffer_release(&text);
    return status;
}

static const struct command commands[] = {
    {
        .name = "Q.HELP",
        .group = "server",
        .flags = COMMAND_CONNECTION | COMMAND_READS,
        TAKES(help_arguments, help_takes),
        .run = run_help,
        .summary = "Explains the commands.",
        .replies = "Text for people to read.",
        EXAMPLES({ "Q.HELP Q.COMPLETE", "Q.COMPLETE ns jid worker [TOKEN n] ...\n\n..." }),
    },
};

const struct command_table host_help_commands = TABLE(commands);
