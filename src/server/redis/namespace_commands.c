// SPDX-License-Identifier: MIT
// Redis's commands for keys. They work on namespaces, which come closest to keys.
#include "base/glob.h"
#include "engine/measure/metrics.h"
#include "faces/qless/qless.h"
#include "server/redis/answer.h"
#include "server/redis/tables.h"

enum {
    JOB_KEY_SIZE_LEAST = sizeof(QLESS_JOB_KEY_PREFIX) + 8, // at least, of a job's key in a reply
};

struct name_arguments {
    struct slice name;
};

struct names_arguments {
    struct slices names;
};

static bool may_see(const struct connection *connection, const struct ns *ns)
{
    return user_may(connection->user, ns_name(ns), RIGHT_READ);
}

// ---------------------------------------------------------------------------------------------
// Lists of namespaces

static size_t count_seen(const struct connection *connection)
{
    size_t count = 0;
    for (const struct ns *ns = connection->server->namespaces.first; ns; ns = ns->next) {
        count += may_see(connection, ns);
    }
    return count;
}

static enum status run_dbsize(struct call *call, struct error *error)
{
    (void)error;
    reply_count(call->reply, count_seen(call->session));
    return STATUS_OK;
}

static const struct argument keys_takes[] = {
    ARGUMENT(name_arguments, name, TEXT, "pattern", "a pattern as in PSUBSCRIBE"),
};

// The jobs of qless's namespace as keys, because qless clients count them.
struct key_listing {
    const struct glob *pattern;
    struct reply *reply; // NULL: they are only counted
    size_t count;
};

static void list_key(void *context, struct slice key)
{
    struct key_listing *listing = context;
    if (glob_matches(listing->pattern, key)) {
        listing->count++;
        if (listing->reply) {
            reply_text(listing->reply, key);
        }
    }
}

static enum status write_job_keys(struct call *call, const struct glob *pattern,
                                  struct error *error)
{
    const struct connection *connection = call->session;
    char text[QLESS_NAMESPACE_SIZE];
    struct slice name = answer_qless_namespace(connection, text);
    const struct ns *ns = namespaces_find(&connection->server->namespaces, name);
    if (!ns || !may_see(connection, ns)) {
        reply_list(call->reply, 0);
        reply_end(call->reply);
        return STATUS_OK;
    }
    size_t most = engine_count(ns->engine, &(struct count_filter){ 0 });
    if (most > reply_room(call->reply) / JOB_KEY_SIZE_LEAST) {
        return error_set(error, STATUS_TOO_LARGE,
                         "%zu jobs are too many to list (max-output is the limit)", most);
    }
    struct key_listing listing = { .pattern = pattern };
    qless_each_job_key(ns->engine, list_key, &listing);
    reply_list(call->reply, listing.count);
    listing.reply = call->reply;
    qless_each_job_key(ns->engine, list_key, &listing);
    reply_end(call->reply);
    return STATUS_OK;
}

static enum status run_keys(struct call *call, struct error *error)
{
    const struct connection *connection = call->session;
    const struct name_arguments *given = call->arguments;
    const struct allocator *allocator = connection->server->settings.allocator;
    struct glob *pattern;
    enum status status = glob_new(allocator, given->name, 0, &pattern, error);
    if (status) {
        return status;
    }
    if (slice_starts_with(given->name, SLICE(QLESS_JOB_KEY_PREFIX))) {
        status = write_job_keys(call, pattern, error);
        glob_free(allocator, pattern);
        return status;
    }
    const struct ns *first = connection->server->namespaces.first;
    size_t count = 0;
    for (const struct ns *ns = first; ns; ns = ns->next) {
        count += may_see(connection, ns) && glob_matches(pattern, ns_name(ns));
    }
    reply_list(call->reply, count);
    for (const struct ns *ns = first; ns; ns = ns->next) {
        if (may_see(connection, ns) && glob_matches(pattern, ns_name(ns))) {
            reply_text(call->reply, ns_name(ns));
        }
    }
    reply_end(call->reply);
    glob_free(allocator, pattern);
    return STATUS_OK;
}

static const struct argument exists_takes[] = {
    REST(names_arguments, names, TEXT, "name", "a namespace"),
};

static bool exists(const struct connection *connection, struct slice name)
{
    const struct ns *ns = namespaces_find(&connection->server->namespaces, name);
    return ns && may_see(connection, ns);
}

static enum status run_exists(struct call *call, struct error *error)
{
    (void)error;
    const struct names_arguments *given = call->arguments;
    size_t count = 0;
    for (size_t i = 0; i < given->names.count; i++) {
        count += exists(call->session, given->names.items[i]);
    }
    reply_count(call->reply, count);
    return STATUS_OK;
}

static const struct argument type_takes[] = {
    ARGUMENT(name_arguments, name, TEXT, "name", "a namespace"),
};

static enum status run_type(struct call *call, struct error *error)
{
    (void)error;
    const struct name_arguments *given = call->arguments;
    reply_word(call->reply,
               exists(call->session, given->name) ? SLICE("namespace") : SLICE("none"));
    return STATUS_OK;
}

// ---------------------------------------------------------------------------------------------
// Deletion

static enum status check_flush(const struct call *call, struct error *error)
{
    const struct connection *connection = call->session;
    const struct names_arguments *given = call->arguments;
    if (given->names.count > 1 ||
        (given->names.count == 1 && !word_is(given->names.items[0], "SYNC") &&
         !word_is(given->names.items[0], "ASYNC"))) {
        return error_set(error, STATUS_INVALID, "%s takes SYNC or ASYNC", call->command->name);
    }
    if (!connection->server->settings.allow_flush) {
        return error_set(error, STATUS_DENIED,
                         "%s would delete jobs, and the setting allow-flush does not allow it",
                         call->command->name);
    }
    return STATUS_OK;
}

static const struct argument flush_takes[] = {
    OPTIONAL_REST(names_arguments, names, TEXT, "mode", "SYNC or ASYNC, which are the same"),
};

static enum status run_flushdb(struct call *call, struct error *error)
{
    const struct connection *connection = call->session;
    char text[QLESS_NAMESPACE_SIZE];
    struct slice name = answer_qless_namespace(connection, text);
    enum status status = check_flush(call, error);
    if (!status) {
        status = answer_check_right(connection, name, RIGHT_ADMIN, error);
    }
    if (!status && namespaces_find(&connection->server->namespaces, name)) {
        status = namespaces_delete(&connection->server->namespaces, name, error);
    }
    return call_ok(call, status);
}

static enum status run_flushall(struct call *call, struct error *error)
{
    const struct connection *connection = call->session;
    struct namespaces *all = &connection->server->namespaces;
    enum status status = check_flush(call, error);
    if (!status) {
        status = answer_check_admin(connection, "FLUSHALL", error);
    }
    while (!status && all->first) {
        status = namespaces_delete(all, ns_name(all->first), error);
    }
    return call_ok(call, status);
}

// ---------------------------------------------------------------------------------------------

enum {
    DELETES = COMMAND_CONNECTION | COMMAND_WRITES | COMMAND_SHRINKS | COMMAND_AUDITED,
};

static const struct command commands[] = {
    {
        .name = "DBSIZE",
        .group = "namespaces",
        .flags = COMMAND_CONNECTION | COMMAND_READS,
        .run = run_dbsize,
        .summary = "Counts the namespaces that the user may read.",
        .replies = "How many there are.",
        EXAMPLES({ "DBSIZE", "(integer) 2" }),
    },
    {
        .name = "KEYS",
        .group = "namespaces",
        .flags = COMMAND_CONNECTION | COMMAND_READS,
        TAKES(name_arguments, keys_takes),
        .run = run_keys,
        .summary = "Names the namespaces that match a pattern.",
        .details = "A pattern that begins with ql:j: lists the jobs of qless's namespace instead, "
                   "as the keys ql:j:<jid>.",
        .replies = "A list of names.",
        EXAMPLES({ "KEYS *", "1) \"app\"\n2) \"qless\"" }),
    },
    {
        .name = "EXISTS",
        .group = "namespaces",
        .flags = COMMAND_CONNECTION | COMMAND_READS,
        TAKES(names_arguments, exists_takes),
        .run = run_exists,
        .summary = "Counts which of the namespaces there are.",
        .replies = "How many of them.",
        EXAMPLES({ "EXISTS app nothing", "(integer) 1" }),
    },
    {
        .name = "TYPE",
        .group = "namespaces",
        .flags = COMMAND_CONNECTION | COMMAND_READS,
        TAKES(name_arguments, type_takes),
        .run = run_type,
        .summary = "Says whether there is a namespace of that name.",
        .replies = "namespace or none.",
        EXAMPLES({ "TYPE app", "namespace" }),
    },
    {
        .name = "FLUSHDB",
        .group = "namespaces",
        .flags = DELETES,
        TAKES(names_arguments, flush_takes),
        .run = run_flushdb,
        .summary = "Deletes qless's namespace, the one that SELECT chose.",
        .details = "Needs the setting allow-flush and the right to administer it.",
        .replies = "OK.",
        EXAMPLES({ "FLUSHDB", "OK" }),
    },
    {
        .name = "FLUSHALL",
        .group = "namespaces",
        .flags = DELETES,
        TAKES(names_arguments, flush_takes),
        .run = run_flushall,
        .summary = "Deletes all namespaces.",
        .details = "Needs the setting allow-flush and an administrator of the server.",
        .replies = "OK.",
        EXAMPLES({ "FLUSHALL", "OK" }),
    },
};

const struct command_table server_namespace_commands = TABLE(commands);
