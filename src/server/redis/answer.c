// SPDX-License-Identifier: MIT
#include "server/redis/answer.h"

#include "server/access/audit.h"
#include "server/redis/session.h"

#include <stdarg.h>

enum {
    SENTENCE_SIZE = 512,
};

void answer_error(struct connection *connection, const char *code, const char *format, ...)
{
    char sentence[SENTENCE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(sentence, sizeof(sentence), format, arguments);
    va_end(arguments);
    resp_error(&connection->output.bytes, slice_from_cstr(code), slice_from_cstr(sentence));
    connection->server->figures.errors++;
}

enum status answer_check_admin(const struct connection *connection, const char *what,
                               struct error *error)
{
    if (connection->user->everywhere & RIGHT_ADMIN) {
        return STATUS_OK;
    }
    return error_set(error, STATUS_DENIED, "%s is for administrators of the server, and %s is none",
                     what, connection->user->name);
}

enum status answer_check_right(const struct connection *connection, struct slice ns,
                               unsigned rights, struct error *error)
{
    if (user_may(connection->user, ns, rights)) {
        return STATUS_OK;
    }
    char text[RIGHTS_TEXT_SIZE];
    return error_set(
        error, STATUS_DENIED, "user %s does not have the right %s on the namespace %.*s",
        connection->user->name, rights_format(rights, text), SLICE_PRINT(slice_shown(ns)));
}

struct slice answer_qless_namespace(const struct connection *connection,
                                    char text[QLESS_NAMESPACE_SIZE])
{
    const char *name = connection->server->settings.qless_namespace;
    uint32_t db = session_of(connection)->db;
    if (db == 0) {
        return slice_from_cstr(name);
    }
    int size = snprintf(text, QLESS_NAMESPACE_SIZE, "%.*s-%u", ENGINE_NAME_SIZE_MAX, name, db);
    return slice_make(text, (size_t)size);
}

// ---------------------------------------------------------------------------------------------

static void write_line(struct call *call, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void write_line(struct call *call, const char *format, ...)
{
    char line[SENTENCE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    reply_word(call->reply, slice_from_cstr(line));
}

static void write_help(const struct subcommands *table, struct call *call)
{
    reply_list(call->reply, 3 + 2 * table->count);
    write_line(call, "%s <subcommand> [<arg> ...]. Subcommands are:", call->command->name);
    for (size_t i = 0; i < table->count; i++) {
        const struct subcommand *item = &table->items[i];
        write_line(call, "%s%s%s", item->name, *item->usage ? " " : "", item->usage);
        write_line(call, "    %s", item->summary);
    }
    write_line(call, "HELP");
    write_line(call, "    Print this help.");
    reply_end(call->reply);
}

static const struct subcommand *find(const struct subcommands *table, struct slice name)
{
    for (size_t i = 0; i < table->count; i++) {
        if (word_is(name, table->items[i].name)) {
            return &table->items[i];
        }
    }
    return NULL;
}

enum status subcommand_run(const struct subcommands *table, struct call *call, struct slices words,
                           struct error *error)
{
    struct connection *connection = call->session;
    if (word_is(words.items[0], "HELP")) {
        write_help(table, call);
        return STATUS_OK;
    }
    const struct subcommand *found = find(table, words.items[0]);
    if (!found) {
        answer_error(connection, "ERR", "unknown subcommand '%.*s'. Try %s HELP.",
                     SLICE_PRINT(slice_shown(words.items[0])), call->command->name);
        return STATUS_OK;
    }
    if (words.count - 1 < found->min || words.count - 1 > found->max) {
        answer_error(connection, "ERR", "wrong number of arguments for '%s|%s'; usage: %s %s %s",
                     call->command->name, found->name, call->command->name, found->name,
                     found->usage);
        return STATUS_OK;
    }
    if (found->admin) {
        char what[64];
        (void)snprintf(what, sizeof(what), "%s %s", call->command->name, found->name);
        enum status status = answer_check_admin(connection, what, error);
        if (status) {
            return status;
        }
    }
    if (found->admin & SUBCOMMAND_AUDITED) {
        audit_act(connection, call->command, SLICE_EMPTY, words, STATUS_OK);
    }
    return found->run(call, (struct slices){ words.items + 1, words.count - 1 }, error);
}
