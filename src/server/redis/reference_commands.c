// SPDX-License-Identifier: MIT
// COMMAND: what Redis clients ask about commands.
#include "api/reference.h"
#include "base/glob.h"
#include "base/num.h"
#include "server/redis/answer.h"
#include "server/redis/tables.h"

static const struct commands *commands_of(const struct call *call)
{
    const struct connection *connection = call->session;
    return connection->server->commands;
}

static const struct allocator *allocator_of(const struct call *call)
{
    const struct connection *connection = call->session;
    return connection->server->settings.allocator;
}

static size_t count_commands(const struct call *call)
{
    size_t count = 0;
    while (commands_at(commands_of(call), count)) {
        count++;
    }
    return count;
}

// ---------------------------------------------------------------------------------------------
// COMMAND

static enum status run_count(struct call *call, struct slices words, struct error *error)
{
    (void)words;
    (void)error;
    reply_count(call->reply, count_commands(call));
    return STATUS_OK;
}

static void write_all(struct call *call)
{
    reply_list(call->reply, count_commands(call));
    const struct command *command;
    for (size_t i = 0; (command = commands_at(commands_of(call), i)); i++) {
        command_reply_info(call->reply, command);
    }
    reply_end(call->reply);
}

static enum status run_info(struct call *call, struct slices words, struct error *error)
{
    (void)error;
    if (words.count == 0) {
        write_all(call);
        return STATUS_OK;
    }
    reply_list(call->reply, words.count);
    for (size_t i = 0; i < words.count; i++) {
        const struct command *command = commands_find(commands_of(call), words.items[i]);
        if (command) {
            command_reply_info(call->reply, command);
        } else {
            reply_null(call->reply);
        }
    }
    reply_end(call->reply);
    return STATUS_OK;
}

// Whether a command is among the words; without words all are.
static bool is_asked(const struct command *command, struct slices words)
{
    for (size_t i = 0; i < words.count; i++) {
        if (word_is(words.items[i], command->name)) {
            return true;
        }
    }
    return words.count == 0;
}

static enum status run_docs(struct call *call, struct slices words, struct error *error)
{
    (void)error;
    size_t count = 0;
    const struct command *command;
    for (size_t i = 0; (command = commands_at(commands_of(call), i)); i++) {
        count += is_asked(command, words);
    }
    reply_map(call->reply, count);
    for (size_t i = 0; (command = commands_at(commands_of(call), i)); i++) {
        if (is_asked(command, words)) {
            command_reply_name(call->reply, command->name);
            command_reply_docs(call->reply, command);
        }
    }
    reply_end(call->reply);
    return STATUS_OK;
}

static bool is_listed(const struct command *command, const struct glob *pattern)
{
    return !pattern || glob_matches(pattern, slice_from_cstr(command->name));
}

static enum status run_list(struct call *call, struct slices words, struct error *error)
{
    const struct allocator *allocator = allocator_of(call);
    struct glob *pattern = NULL;
    if (words.count == 3 && word_is(words.items[0], "FILTERBY") &&
        word_is(words.items[1], "PATTERN")) {
        enum status status = glob_new(allocator, words.items[2], GLOB_ANY_CASE, &pattern, error);
        if (status) {
            return status;
        }
    } else if (words.count) {
        return error_set(error, STATUS_INVALID, "COMMAND LIST takes FILTERBY PATTERN pattern");
    }
    size_t count = 0;
    const struct command *command;
    for (size_t i = 0; (command = commands_at(commands_of(call), i)); i++) {
        count += is_listed(command, pattern);
    }
    reply_list(call->reply, count);
    for (size_t i = 0; (command = commands_at(commands_of(call), i)); i++) {
        if (is_listed(command, pattern)) {
            command_reply_name(call->reply, command->name);
        }
    }
    reply_end(call->reply);
    glob_free(allocator, pattern);
    return STATUS_OK;
}

// The second argument of EVAL is the number of its keys.
static struct slices keys_of(const struct command *command, struct slices words)
{
    uint64_t count;
    if ((command->flags & COMMAND_NAMESPACE) && words.count > 1) {
        return (struct slices){ words.items + 1, 1 };
    }
    if (strncmp(command->name, "EVAL", 4) == 0 && words.count > 2 &&
        !num_parse_u64(words.items[2], &count) && count <= words.count - 3) {
        return (struct slices){ words.items + 3, (size_t)count };
    }
    return (struct slices){ NULL, 0 };
}

static enum status run_getkeys(struct call *call, struct slices words, struct error *error)
{
    (void)error;
    const struct command *command = commands_find(commands_of(call), words.items[0]);
    if (!command) {
        answer_error(call->session, "ERR", "Invalid command specified");
        return STATUS_OK;
    }
    struct slices keys = keys_of(command, words);
    if (keys.count == 0) {
        answer_error(call->session, "ERR", "The command has no key arguments");
        return STATUS_OK;
    }
    reply_list(call->reply, keys.count);
    for (size_t i = 0; i < keys.count; i++) {
        reply_text(call->reply, keys.items[i]);
    }
    reply_end(call->reply);
    return STATUS_OK;
}

static const struct subcommand subcommands[] = {
    { "COUNT", "", "How many commands there are.", 0, 0, false, run_count },
    { "INFO", "[<command> ...]", "Arity and flags.", 0, SIZE_MAX, false, run_info },
    { "DOCS", "[<command> ...]", "What they do, and their arguments.", 0, SIZE_MAX, false,
      run_docs },
    { "LIST", "[FILTERBY PATTERN <pattern>]", "Their names.", 0, 3, false, run_list },
    { "GETKEYS", "<command> [<arg> ...]", "The namespace, or EVAL's keys, in a request.", 1,
      SIZE_MAX, false, run_getkeys },
};

static const struct subcommands table = TABLE_OF_SUBCOMMANDS(subcommands);

struct command_arguments {
    struct slices words;
};

static const struct argument command_takes[] = {
    OPTIONAL_REST(command_arguments, words, TEXT, "word",
                  "a subcommand (COMMAND HELP) and its arguments"),
};

static enum status run_command(struct call *call, struct error *error)
{
    const struct command_arguments *given = call->arguments;
    if (given->words.count == 0) {
        write_all(call);
        return STATUS_OK;
    }
    return subcommand_run(&table, call, given->words, error);
}

static const struct command commands[] = {
    {
        .name = "COMMAND",
        .group = "server",
        .flags = COMMAND_CONNECTION | COMMAND_READS,
        TAKES(command_arguments, command_takes),
        .run = run_command,
        .summary = "Describes the commands to programs.",
        .replies = "As in Redis; COMMAND HELP lists the subcommands.",
        EXAMPLES({ "COMMAND COUNT", "(integer) 112" }),
    },
};

const struct command_table server_reference_commands = TABLE(commands);
