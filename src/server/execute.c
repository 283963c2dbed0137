// SPDX-License-Identifier: MIT
#include "server/execute.h"

#include "base/ascii.h"
#include "faces/resp.h"
#include "server/access/audit.h"
#include "server/access/permit.h"
#include "server/log/log.h"
#include "server/redis/transaction.h"
#include "server/server.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

bool execute_is_silent(struct connection *connection)
{
    const struct protocol *protocol = connection->protocol;
    return protocol->skips_reply && protocol->skips_reply(connection);
}

static void reply_failure(struct connection *connection, const char *code,
                          const struct error *error)
{
    connection->server->figures.errors++;
    if (execute_is_silent(connection)) {
        return;
    }
    connection_output_begin(connection);
    connection->protocol->refuse(connection, code, error);
    connection_output_end(connection, 1);
}

void reply_error_code(struct connection *connection, const char *code, const char *format, ...)
{
    struct error error = { .status = STATUS_INVALID };
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(error.detail, sizeof(error.detail), format, arguments);
    va_end(arguments);
    reply_failure(connection, code, &error);
}

void connection_reply_error(struct connection *connection, const struct error *error)
{
    reply_failure(connection, NULL, error);
}

// ---------------------------------------------------------------------------------------------
// Limits

enum status execute_check_words(const struct settings *settings, struct slices words,
                                struct error *error)
{
    if (words.count > settings->max_arguments) {
        return error_set(error, STATUS_TOO_LARGE,
                         "a request of %zu values; at most %" PRIu64 " are allowed", words.count,
                         settings->max_arguments);
    }
    for (size_t i = 0; i < words.count; i++) {
        if (words.items[i].size > settings->max_payload) {
            return error_set(error, STATUS_TOO_LARGE,
                             "a value of %zu bytes; at most %" PRIu64 " are allowed",
                             words.items[i].size, settings->max_payload);
        }
    }
    return STATUS_OK;
}

// ---------------------------------------------------------------------------------------------
// Permissions

static bool check_caller(struct connection *connection, const struct command *command,
                         struct slice ns)
{
    const struct protocol *protocol = connection->protocol;
    struct error error;
    if (!connection->user && !(command->flags & COMMAND_ANYBODY)) {
        reply_error_code(connection, "NOAUTH", "Authentication required.");
    } else if (protocol->admits && !protocol->admits(connection, command)) {
        return false; // the ACL has written the reply
    } else if (connection->user && permit_command(connection->user, command, ns, &error)) {
        audit_denied(connection, command, ns);
        connection_reply_error(connection, &error);
    } else {
        return true;
    }
    return false;
}

// Whether the store accepts the changes that the command may make.
static bool check_store(struct connection *connection, const struct command *command)
{
    const struct server *server = connection->server;
    if (server->store_state == STORE_READY || !(command->flags & COMMAND_WRITES)) {
        return true;
    }
    if (server->store_state == STORE_FULL && (command->flags & COMMAND_SHRINKS)) {
        return true;
    }
    connection_reply_error(connection, &server->store_why);
    return false;
}

// Whether there is memory for what the command may add.
static bool check_memory(struct connection *connection, const struct command *command)
{
    struct server *server = connection->server;
    if (!(command->flags & COMMAND_WRITES) || (command->flags & COMMAND_SHRINKS) ||
        !memory_check(&server->memory, "max-memory", &server->memory_why)) {
        return true;
    }
    server->memory_refused = true;
    connection_reply_error(connection, &server->memory_why);
    return false;
}

static bool check_drain(struct connection *connection, const struct command *command)
{
    struct error error;
    if (!(command->flags & COMMAND_PUTS) || !server_check_drain(connection->server, &error)) {
        return true;
    }
    connection_reply_error(connection, &error);
    return false;
}

// ---------------------------------------------------------------------------------------------
// Running it

// The state of one run of a command.
struct run {
    struct call call;
    struct resp_writer writer;
    uint64_t start; // where its reply begins (output_end)
};

// Runs due work before the command, also before commands that only read. While nothing can be
// stored, due work waits.
static void begin(struct server *server, struct ns *ns, int64_t now_us)
{
    if (server->store_state == STORE_STUCK) {
        ns_touch(ns);
        return;
    }
    server->turn_changes |= ns->due_us <= now_us;
    ns_begin(ns, now_us);
}

// `name` is that of the namespace, which need not exist; empty for commands without a namespace.
static void run_begin(struct run *run, struct connection *connection, struct slice name,
                      struct ns *ns, const struct command *command)
{
    struct server *server = connection->server;
    run->call = (struct call){
        .command = command,
        .ns = ns ? ns_name(ns) : name,
        .engine = ns ? ns->engine : server->namespaces.empty,
        .now_us = server_now(server),
        .host = &server->services.host,
        .user = connection->user ? slice_from_cstr(connection->user->name) : SLICE_EMPTY,
        .session = connection,
        .permit = permit_arguments(connection->user, command, name),
        .waiter = connection->id,
    };
    if (ns) {
        begin(server, ns, run->call.now_us);
    }
    server->turn_changes |= (command->flags & COMMAND_WRITES) != 0;
    pubsub_answer_begin(connection);
    connection_output_begin(connection);
    run->start = output_end(&connection->output);
    run->call.reply = connection->protocol->begin(connection, &run->writer);
}

// The command has written no reply and waits.
static void run_wait(struct connection *connection)
{
    pubsub_answer_end(connection);
}

// A reply that is larger than the output limit of a connection becomes an error.
static void run_end(struct run *run, struct connection *connection, enum status status,
                    const struct error *error)
{
    struct output *output = &connection->output;
    uint64_t unsent = run->start - output_sent_position(output); // of earlier replies
    struct error large;
    uint64_t errors = status ? 1 : connection->protocol->end(connection, &run->writer);
    bool is_part = transaction_runs(connection);
    bool too_large = output->bytes.status == STATUS_TOO_LARGE ||
                     (is_part && output_room(output) < transaction_reserve(connection));
    if (!status && too_large && (is_part || unsent <= output->bytes.size_max / 2)) {
        status = error_set_reply(&large, "%s: the reply is larger than max-output allows",
                                 run->call.command->name);
        error = &large;
        errors = 1;
    }
    if (status) {
        output_take_back(output, run->start);
        connection->protocol->refuse(connection, NULL, error);
    }
    connection->server->figures.errors += errors;
    if (execute_is_silent(connection)) {
        output_take_back(output, run->start);
        connection_output_end(connection, 0);
    } else {
        connection_output_end(connection, 1);
    }
    pubsub_answer_end(connection);
}

static void run_command(struct connection *connection, const struct command *command,
                        struct slices words)
{
    struct server *server = connection->server;
    struct error error;
    struct ns *ns = NULL;
    struct slice name = SLICE_EMPTY;
    if (command->flags & COMMAND_NAMESPACE) {
        name = words.items[0];
        enum status status = namespaces_for(&server->namespaces, command, name, &ns, &error);
        if (status) {
            connection_reply_error(connection, &error);
            return;
        }
        words = (struct slices){ words.items + 1, words.count - 1 };
    }
    struct run run;
    run_begin(&run, connection, name, ns, command);
    // A command cannot wait in a namespace that does not exist, nor in a transaction.
    run.call.last = transaction_runs(connection) || (!ns && (command->flags & COMMAND_NAMESPACE));
    uint64_t refused = server->audit.refused;
    enum status status = call_run(&run.call, words, &server->scratch, &error);
    if (command->flags & COMMAND_AUDITED) {
        audit_act(connection, command, name, words, status);
    }
    if (status == STATUS_DENIED && server->audit.refused == refused) {
        audit_denied(connection, command, name); // denied by the command itself
    }
    if (!status && run.call.wait.kind == WAIT_HOST) {
        run_wait(connection);
        return;
    }
    if (!status && run.call.wait.kind != WAIT_NONE) {
        status = blocked_new(connection, ns, &run.call, words, &error);
        if (!status) {
            run_wait(connection);
            return;
        }
    }
    run_end(&run, connection, status, &error);
    if (ns) {
        ns_drop_unused(ns);
    }
}

// A web page can make a browser send an HTTP request here, whose body would be read as commands.
// The head of each such request has a line that begins with one of these words.
static bool is_http(struct slice word)
{
    return ascii_equal(word, SLICE("POST")) || ascii_equal(word, SLICE("Host:"));
}

// Returns the command of a request if it may be run; otherwise the reply is an error, and NULL is
// returned.
static const struct command *find_command(struct connection *connection, struct slices words)
{
    struct server *server = connection->server;
    const struct command *command = commands_find(server->commands, words.items[0]);
    if (!command && is_http(words.items[0])) {
        log_line(LOG_LEVEL_WARNING, "HTTP request on the RESP port; closing connection",
                 LOG_STRING("address", connection->address));
        reply_error_code(connection, "ERR", "this is no HTTP");
        connection_drain(connection);
        return NULL;
    }
    if (!command) {
        struct error error;
        commands_explain_unknown(server->commands, words.items[0], &error);
        reply_error_code(connection, "ERR", "%s", error.detail);
        return NULL;
    }
    connection->last_command = command->name;
    struct slice ns = SLICE_EMPTY;
    if (command->flags & COMMAND_NAMESPACE) {
        ns = words.count > 1 ? words.items[1] : SLICE_EMPTY;
        struct error error;
        if (namespaces_check_name(command, ns, &error)) {
            connection_reply_error(connection, &error);
            return NULL;
        }
    }
    struct error error;
    if (crowd_check_command(connection, command, &error)) {
        reply_error_code(connection, "ERR", "max number of clients reached: %s",
                         error_sentence(&error));
        connection_drain(connection);
        return NULL;
    }
    bool may = check_caller(connection, command, ns) && check_store(connection, command) &&
               check_memory(connection, command) && check_drain(connection, command);
    return may ? command : NULL;
}

// Not the arguments: there are secrets among them.
static void log_command(const struct connection *connection, const struct command *command,
                        struct slices words, int64_t took_us, bool failed)
{
    struct slice ns =
        (command->flags & COMMAND_NAMESPACE) && words.count > 1 ? words.items[1] : SLICE_EMPTY;
    log_line(LOG_LEVEL_DEBUG, "command", LOG_STRING("command", command->name), LOG_TEXT("ns", ns),
             LOG_NUMBER("us", took_us), LOG_STRING("outcome", failed ? "error" : "ok"),
             LOG_STRING("user", connection->user ? connection->user->name : ""),
             LOG_NUMBER("connection", connection->id));
}

void execute(struct connection *connection, struct slices words)
{
    struct schedule *schedule = &connection->server->schedule;
    const struct slices all = words;
    int64_t began_us = schedule->now_us;
    uint64_t errors = connection->server->figures.errors;
    connection->server->figures.commands++;
    const struct command *command = find_command(connection, words);
    if (!command) {
        transaction_spoil(connection);
        return;
    }
    words = (struct slices){ words.items + 1, words.count - 1 };
    if (!transaction_takes(connection, command, words)) {
        run_command(connection, command, words);
    }
    int64_t took_us = schedule_now(schedule) - began_us;
    slow_commands_note(connection, command, all, took_us);
    if (log_has_level(LOG_LEVEL_DEBUG)) {
        log_command(connection, command, all, took_us,
                    connection->server->figures.errors != errors);
    }
}

// With a session, a worker is connected until the connection closes. Otherwise a client may open a
// connection for each request, and the worker is connected only while its request waits.
void execute_popped(const struct call *call, struct slice worker)
{
    struct connection *connection = call->session;
    struct ns *ns = namespaces_find(&connection->server->namespaces, call->ns);
    if (ns && (connection->protocol->is_session || call->wait.kind != WAIT_NONE)) {
        presence_note(&connection->presences, ns, worker, connection_host(connection));
    }
}

bool execute_again(struct blocked *blocked, bool last)
{
    struct connection *connection = blocked->connection;
    if (connection->overflowed) {
        blocked_end(blocked); // the job would be lost with the connection
        return true;
    }
    const struct waiter *waiter = &blocked->waiter;
    struct server *server = connection->server;
    struct schedule *schedule = &server->schedule;
    int64_t began_us = schedule_now(schedule);
    struct run run;
    struct error error;
    run_begin(&run, connection, ns_name(waiter->ns), waiter->ns, waiter->command);
    run.call.last = last;
    run.call.finish = waiter_finish(waiter);
    enum status status = call_run(&run.call, waiter->words, &server->scratch, &error);
    schedule_charge(schedule, &connection->scheduled, schedule_now(schedule) - began_us);
    if (!status && run.call.wait.kind != WAIT_NONE) {
        run_wait(connection);
        return false;
    }
    blocked_end(blocked);
    if (!connection->protocol->is_session) {
        presences_end(&connection->presences, false);
    }
    run_end(&run, connection, status, &error);
    connection_resume(connection);
    return true;
}
