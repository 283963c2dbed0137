// SPDX-License-Identifier: MIT
// Namespaces: which there are, made and deleted. Redis's words for keys are about them too, for
// what a namespace is to us comes closest to what a key is there.
#include "engine/metrics.h"
#include "server/answer.h"
#include "server/glob.h"
#include "server/tables.h"

struct name_arguments {
    struct slice name;
    int64_t clock;
};

struct names_arguments {
    struct slices names;
};

static bool may_see(const struct connection *connection, const struct ns *ns)
{
    return user_may(connection->user, ns_name(ns), RIGHT_READ);
}

// ---------------------------------------------------------------------------------------------
// Which there are

static size_t count_queues(const struct engine *engine)
{
    size_t count = 0;
    struct slice name;
    while (engine_queue_name(engine, count, &name)) {
        count++;
    }
    return count;
}

static void say_namespace(struct reply *reply, const struct ns *ns)
{
    reply_map(reply, 6);
    reply_key(reply, "name");
    reply_text(reply, ns_name(ns));
    reply_key(reply, "clock");
    reply_text(reply, ns->clock == ENGINE_CLOCK_CLIENT ? SLICE("client") : SLICE("server"));
    reply_key(reply, "qless");
    reply_boolean(reply, ns->qless);
    reply_key(reply, "queues");
    reply_count(reply, count_queues(ns->engine));
    reply_key(reply, "clients_waiting");
    reply_count(reply, ns->waiting.count);
    reply_key(reply, "jobs");
    reply_map(reply, JOB_STATE_COUNT);
    for (int state = 0; state < JOB_STATE_COUNT; state++) {
        const struct count_filter filter = { .has_state = true, .state = (enum job_state)state };
        reply_text(reply, slice_from_cstr(job_state_name(filter.state)));
        reply_count(reply, engine_count(ns->engine, &filter));
    }
    reply_end(reply);
    reply_end(reply);
}

static size_t count_seen(const struct connection *connection)
{
    size_t count = 0;
    for (const struct ns *ns = connection->server->namespaces.first; ns; ns = ns->next) {
        count += may_see(connection, ns);
    }
    return count;
}

static enum status run_namespaces(struct call *call, struct error *error)
{
    (void)error;
    const struct connection *connection = call->session;
    reply_list(call->reply, count_seen(connection));
    for (const struct ns *ns = connection->server->namespaces.first; ns; ns = ns->next) {
        if (may_see(connection, ns)) {
            say_namespace(call->reply, ns);
        }
    }
    reply_end(call->reply);
    return STATUS_OK;
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

static enum status run_keys(struct call *call, struct error *error)
{
    (void)error;
    const struct connection *connection = call->session;
    const struct name_arguments *given = call->arguments;
    const struct ns *first = connection->server->namespaces.first;
    size_t count = 0;
    for (const struct ns *ns = first; ns; ns = ns->next) {
        count += may_see(connection, ns) && glob_matches(given->name, ns_name(ns));
    }
    reply_list(call->reply, count);
    for (const struct ns *ns = first; ns; ns = ns->next) {
        if (may_see(connection, ns) && glob_matches(given->name, ns_name(ns))) {
            reply_text(call->reply, ns_name(ns));
        }
    }
    reply_end(call->reply);
    return STATUS_OK;
}

static const struct argument exists_takes[] = {
    REST(names_arguments, names, TEXT, "name", "a namespace"),
};

static bool exists(const struct connection *connection, struct slice name)
{
    const struct ns *ns = namespaces_find(connection->server, name);
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
// Made and deleted

static const char *const clock_words[] = { "server", "client", NULL };

static const struct argument create_takes[] = {
    ARGUMENT(name_arguments, name, NAME, "name", "its name"),
    OPTION(name_arguments, clock, WORD, "CLOCK",
           "whose clock rules: the server's, or as in qless the clients' (server)",
           .words = clock_words),
};

static enum status run_create(struct call *call, struct error *error)
{
    const struct connection *connection = call->session;
    const struct name_arguments *given = call->arguments;
    enum status status = answer_check_right(connection, given->name, RIGHT_ADMIN, error);
    struct ns *ns;
    if (!status) {
        status =
            namespaces_create(connection->server, given->name,
                              given->clock ? ENGINE_CLOCK_CLIENT : ENGINE_CLOCK_SERVER, &ns, error);
    }
    return call_ok(call, status);
}

static const struct argument delete_takes[] = {
    ARGUMENT(name_arguments, name, NAME, "name", "its name"),
};

static enum status run_delete(struct call *call, struct error *error)
{
    const struct connection *connection = call->session;
    const struct name_arguments *given = call->arguments;
    enum status status = answer_check_right(connection, given->name, RIGHT_ADMIN, error);
    if (!status) {
        status = namespaces_delete(connection->server, given->name, error);
    }
    return call_ok(call, status);
}

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
    if (!status && namespaces_find(connection->server, name)) {
        status = namespaces_delete(connection->server, name, error);
    }
    return call_ok(call, status);
}

static enum status run_flushall(struct call *call, struct error *error)
{
    const struct connection *connection = call->session;
    struct server *server = connection->server;
    enum status status = check_flush(call, error);
    if (!status) {
        status = answer_check_admin(connection, "FLUSHALL", error);
    }
    while (!status && server->namespaces.first) {
        status = namespaces_delete(server, ns_name(server->namespaces.first), error);
    }
    return call_ok(call, status);
}

// ---------------------------------------------------------------------------------------------

enum {
    DELETES = COMMAND_CONNECTION | COMMAND_WRITES | COMMAND_SHRINKS,
};

static const struct command commands[] = {
    {
        .name = "Q.NAMESPACES",
        .group = "namespaces",
        .flags = COMMAND_CONNECTION | COMMAND_READS,
        .run = run_namespaces,
        .summary = "Shows the namespaces that the user may read.",
        .replies = "A list of maps, in the order in which they were made.",
        EXAMPLES({ "Q.NAMESPACES",
                   "1) 1# \"name\" => \"app\"\n   2# \"clock\" => \"server\"\n   3# \"qless\" => "
                   "(false)\n   4# \"queues\" => (integer) 2\n   5# \"clients_waiting\" => "
                   "(integer) 0\n   6# \"jobs\" =>\n      1# \"scheduled\" => (integer) 0\n      "
                   "..." }),
    },
    {
        .name = "Q.NAMESPACE.CREATE",
        .group = "namespaces",
        .flags = COMMAND_CONNECTION | COMMAND_WRITES,
        TAKES(name_arguments, create_takes),
        .run = run_create,
        .summary = "Makes a namespace.",
        .details = "Needs the right to administer it. Unless the setting create-namespaces is off, "
                   "one is also made by the first command that writes to it.",
        .replies = "OK; EXISTS when there is one of that name.",
        EXAMPLES({ "Q.NAMESPACE.CREATE app", "OK" }),
    },
    {
        .name = "Q.NAMESPACE.DELETE",
        .group = "namespaces",
        .flags = DELETES,
        TAKES(name_arguments, delete_takes),
        .run = run_delete,
        .summary = "Deletes a namespace with all that is in it.",
        .details = "Needs the right to administer it. Those who wait in it get an error.",
        .replies = "OK.",
        EXAMPLES({ "Q.NAMESPACE.DELETE app", "OK" }),
    },
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
