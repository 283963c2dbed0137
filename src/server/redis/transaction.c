// SPDX-License-Identifier: MIT
#include "server/redis/transaction.h"

#include "faces/resp.h"
#include "host/words.h"
#include "server/execute.h"
#include "server/redis/answer.h"
#include "server/redis/client.h"
#include "server/redis/session.h"
#include "server/redis/tables.h"

#include <stdalign.h>

enum {
    // part of max-output that is reserved for short errors, see transaction_reserve
    ANSWERS_PART = 8,
};

// A request in one block: the words' slices, then their bytes.
struct kept {
    struct kept *next;
    size_t size; // of the block
    size_t count;
    struct slice words[]; // the first is the command's name
};

struct transaction {
    struct kept *first, **last;
    size_t count, size;
    size_t left; // while EXEC runs: commands that have not run yet
    bool spoiled, runs;
};

static struct transaction *transaction_of(const struct connection *connection)
{
    return connection->resp ? connection->resp->transaction : NULL;
}

static enum status begin(struct connection *connection)
{
    struct transaction *transaction =
        mem_zalloc(connection->server->settings.allocator, sizeof(*transaction));
    if (!transaction) {
        return STATUS_NO_MEMORY;
    }
    transaction->last = &transaction->first;
    connection->resp->transaction = transaction;
    return STATUS_OK;
}

static void free_all(const struct allocator *allocator, struct transaction *transaction)
{
    while (transaction->first) {
        struct kept *kept = transaction->first;
        transaction->first = kept->next;
        mem_free(allocator, kept, kept->size);
    }
    mem_free(allocator, transaction, sizeof(*transaction));
}

void transaction_forget(struct connection *connection)
{
    struct transaction *transaction = transaction_of(connection);
    // While EXEC runs, it owns the transaction.
    if (transaction && !transaction->runs) {
        connection->resp->transaction = NULL;
        free_all(connection->server->settings.allocator, transaction);
    }
}

void transaction_spoil(const struct connection *connection)
{
    struct transaction *transaction = transaction_of(connection);
    if (transaction) {
        transaction->spoiled = true;
    }
}

bool transaction_runs(const struct connection *connection)
{
    const struct transaction *transaction = transaction_of(connection);
    return transaction && transaction->runs;
}

size_t transaction_reserve(const struct connection *connection)
{
    const struct transaction *transaction = transaction_of(connection);
    return transaction && transaction->runs ? transaction->left * RESP_SHORT_ERROR : 0;
}

int64_t transaction_count(const struct connection *connection)
{
    const struct transaction *transaction = transaction_of(connection);
    return transaction ? (int64_t)transaction->count : -1;
}

// ---------------------------------------------------------------------------------------------
// Queueing

static struct kept *kept_new(const struct allocator *allocator, const struct command *command,
                             struct slices words)
{
    size_t size = sizeof(struct kept) + sizeof(struct slice) + words_size(words);
    struct kept *kept = mem_alloc(allocator, size);
    if (kept) {
        *kept = (struct kept){ .size = size, .count = 1 + words.count };
        kept->words[0] = slice_from_cstr(command->name);
        (void)words_copy(words, kept->words + 1);
    }
    return kept;
}

static enum status keep(struct connection *connection, const struct command *command,
                        struct slices words, struct error *error)
{
    const struct settings *settings = &connection->server->settings;
    struct transaction *transaction = connection->resp->transaction;
    struct kept *kept = kept_new(settings->allocator, command, words);
    if (!kept) {
        return error_set(error, STATUS_NO_MEMORY, "no memory to keep %s", command->name);
    }
    if ((transaction->count + 1) * RESP_SHORT_ERROR > settings->max_output / ANSWERS_PART) {
        mem_free(settings->allocator, kept, kept->size);
        return error_set(error, STATUS_TOO_LARGE,
                         "%zu commands are kept since MULTI; max-output allows no answers to more",
                         transaction->count);
    }
    if (transaction->count >= settings->max_pipeline) {
        mem_free(settings->allocator, kept, kept->size);
        return error_set(error, STATUS_TOO_LARGE,
                         "%zu commands are kept since MULTI; max-pipeline allows no more",
                         transaction->count);
    }
    if (transaction->size + kept->size > settings->max_request) {
        mem_free(settings->allocator, kept, kept->size);
        return error_set(error, STATUS_TOO_LARGE,
                         "what is kept since MULTI would be larger than max-request allows");
    }
    *transaction->last = kept;
    transaction->last = &kept->next;
    transaction->count++;
    transaction->size += kept->size;
    return STATUS_OK;
}

// A request that cannot be run at all is refused now, not in the reply of EXEC.
static enum status check_words(struct server *server, const struct command *command,
                               struct slices words, struct error *error)
{
    alignas(max_align_t) char arguments[COMMAND_ARGUMENTS_SIZE_MAX];
    if (command->each) {
        return STATUS_OK;
    }
    size_t skipped = command->flags & COMMAND_NAMESPACE ? 1 : 0;
    struct slices rest = { words.items + skipped, words.count - skipped };
    enum status status = command_parse(command, rest, &server->scratch, arguments, error);
    if (status && command->flags & COMMAND_NOTES_REFUSED) {
        refusals_note(&server->namespaces, words.items[0], server_now(server), rest, error);
    }
    return status;
}

static enum status take(struct connection *connection, const struct command *command,
                        struct slices words, struct error *error)
{
    bool silences = client_is_reply(command, words);
    if (silences || command->flags & COMMAND_MANY_REPLIES) {
        return error_set(error, STATUS_UNSUPPORTED,
                         "%s cannot be part of a transaction: it does not have exactly one reply",
                         silences ? "CLIENT REPLY" : command->name);
    }
    enum status status = check_words(connection->server, command, words, error);
    return status ? status : keep(connection, command, words, error);
}

bool transaction_takes(struct connection *connection, const struct command *command,
                       struct slices words)
{
    struct transaction *transaction = transaction_of(connection);
    if (!transaction || transaction->runs || command->flags & COMMAND_UNQUEUED) {
        return false;
    }
    struct error error;
    if (take(connection, command, words, &error)) {
        transaction->spoiled = true;
        connection_reply_error(connection, &error);
        return true;
    }
    if (!execute_is_silent(connection)) {
        connection_output_begin(connection);
        resp_simple(&connection->output.bytes, SLICE("QUEUED"));
        connection_output_end(connection, 1);
    }
    return true;
}

// ---------------------------------------------------------------------------------------------
// Commands

static enum status run_multi(struct call *call, struct error *error)
{
    struct connection *connection = call->session;
    if (connection->resp->transaction) {
        answer_error(connection, "ERR", "MULTI calls can not be nested");
        return STATUS_OK;
    }
    if (begin(connection)) {
        return error_set(error, STATUS_NO_MEMORY, "no memory for MULTI");
    }
    reply_ok(call->reply);
    return STATUS_OK;
}

// A command whose reply might not fit is not run.
static void run_one(struct connection *connection, struct slices words)
{
    const struct output *output = &connection->output;
    size_t reserve = transaction_reserve(connection) + REPLY_SIZE_LEAST;
    if (!output->bytes.status && output_room(output) >= reserve) {
        execute(connection, words);
    } else {
        answer_error(connection, "TOO_LARGE", "not run: no room for its reply");
    }
}

// All replies together are the one reply of EXEC (connection_output_end).
static void run_kept(struct connection *connection, struct transaction *transaction)
{
    transaction->runs = true;
    resp_array(&connection->output.bytes, transaction->count);
    // A SHUTDOWN among the commands may close the connection.
    transaction->left = transaction->count;
    for (struct kept *kept = transaction->first; kept && !connection->closed; kept = kept->next) {
        transaction->left--;
        run_one(connection, (struct slices){ kept->words, kept->count });
    }
    transaction->runs = false;
}

static enum status run_exec(struct call *call, struct error *error)
{
    (void)error;
    struct connection *connection = call->session;
    struct transaction *transaction = connection->resp->transaction;
    if (!transaction) {
        answer_error(connection, "ERR", "EXEC without MULTI");
        return STATUS_OK;
    }
    if (transaction->spoiled) {
        answer_error(connection, "EXECABORT", "Transaction discarded because of previous errors.");
    } else {
        run_kept(connection, transaction);
    }
    transaction_forget(connection);
    return STATUS_OK;
}

static enum status run_discard(struct call *call, struct error *error)
{
    (void)error;
    struct connection *connection = call->session;
    if (!connection->resp->transaction) {
        answer_error(connection, "ERR", "DISCARD without MULTI");
        return STATUS_OK;
    }
    transaction_forget(connection);
    reply_ok(call->reply);
    return STATUS_OK;
}

struct watch_arguments {
    struct slices keys;
};

static const struct argument watch_takes[] = {
    OPTIONAL_REST(watch_arguments, keys, TEXT, "key", "what to watch"),
};

static enum status run_watch(struct call *call, struct error *error)
{
    struct connection *connection = call->session;
    if (connection->resp->transaction) {
        answer_error(connection, "ERR", "WATCH inside MULTI is not allowed");
        return STATUS_OK;
    }
    return error_set(error, STATUS_UNSUPPORTED,
                     "there are no keys to watch; to find out whether a lease is still valid, use "
                     "its TOKEN");
}

static enum status run_unwatch(struct call *call, struct error *error)
{
    (void)error;
    reply_ok(call->reply); // WATCH is refused, so no key is watched
    return STATUS_OK;
}

static const struct command commands[] = {
    {
        .name = "MULTI",
        .group = "transactions",
        .flags = COMMAND_CONNECTION | COMMAND_UNQUEUED,
        .run = run_multi,
        .summary = "Keeps the requests that follow until EXEC, which runs them together.",
        .details = "For many jobs of one kind Q.MPUT and its like are shorter. SUBSCRIBE and its "
                   "like and CLIENT REPLY are refused: they do not have exactly one reply.",
        .replies = "OK; then QUEUED for each request that is kept.",
        EXAMPLES({ "MULTI", "OK" }),
    },
    {
        .name = "EXEC",
        .group = "transactions",
        .flags = COMMAND_CONNECTION | COMMAND_UNQUEUED,
        .run = run_exec,
        .summary = "Runs what was kept since MULTI, with nothing in between.",
        .details = "All changes become durable together. A command that fails neither stops the "
                   "others nor undoes them: each has its own answer in the list. A command that "
                   "would wait answers at once. A command whose answer has "
                   "no room beside the others in max-output is not run: its answer is TOO_LARGE.",
        .replies = "A list: the answer of each. EXECABORT when one of them was refused.",
        EXAMPLES({ "EXEC", "1) \"ann\"\n2) \"bob\"" }),
    },
    {
        .name = "DISCARD",
        .group = "transactions",
        .flags = COMMAND_CONNECTION | COMMAND_UNQUEUED,
        .run = run_discard,
        .summary = "Discards the commands that were queued since MULTI.",
        .replies = "OK.",
        EXAMPLES({ "DISCARD", "OK" }),
    },
    {
        .name = "WATCH",
        .group = "transactions",
        .flags = COMMAND_CONNECTION | COMMAND_UNQUEUED,
        TAKES(watch_arguments, watch_takes),
        .run = run_watch,
        .summary = "Refused: there are no keys to watch.",
        .replies = "An error.",
        EXAMPLES({ "WATCH key", "(error) UNSUPPORTED there are no keys to watch; ..." }),
    },
    {
        .name = "UNWATCH",
        .group = "transactions",
        .flags = COMMAND_CONNECTION,
        .run = run_unwatch,
        .summary = "Does nothing: there are no watched keys.",
        .replies = "OK.",
        EXAMPLES({ "UNWATCH", "OK" }),
    },
};

const struct command_table server_transaction_commands = TABLE(commands);
