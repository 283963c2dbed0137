// SPDX-License-Identifier: MIT
// ZCARD and ZSCORE, because qless clients read some of qless's keys directly instead of calling the
// script. No other keys exist.
#include "faces/qless/qless.h"
#include "server/redis/answer.h"
#include "server/redis/tables.h"

struct set_arguments {
    struct slice key;
    struct slice member;
};

// Finds the engine to read; NULL if the namespace does not exist, which is treated as empty.
static enum status find(const struct call *call, const struct engine **out, struct error *error)
{
    const struct connection *connection = call->session;
    char text[QLESS_NAMESPACE_SIZE];
    struct slice name = answer_qless_namespace(connection, text);
    enum status status = answer_check_right(connection, name, RIGHT_READ, error);
    if (!status) {
        const struct ns *ns = namespaces_find(&connection->server->namespaces, name);
        *out = ns ? ns->engine : NULL;
    }
    return status;
}

static const struct argument zcard_takes[] = {
    ARGUMENT(set_arguments, key, TEXT, "key",
             "ql:q:<queue>- and work, locks, scheduled, depends "
             "or recur; or ql:completed"),
};

static enum status run_zcard(struct call *call, struct error *error)
{
    const struct set_arguments *given = call->arguments;
    struct slice queue;
    enum qless_set set = qless_set_of(given->key, &queue);
    if (set == QLESS_SET_NONE) {
        return error_set(error, STATUS_UNSUPPORTED,
                         "ZCARD counts qless's ql:q:<queue>-work, -locks, -scheduled, -depends "
                         "and -recur, and ql:completed; there are no other keys");
    }
    const struct engine *engine;
    enum status status = find(call, &engine, error);
    if (!status) {
        reply_count(call->reply, engine ? qless_set_count(engine, set, queue) : 0);
    }
    return status;
}

static const struct argument zscore_takes[] = {
    ARGUMENT(set_arguments, key, TEXT, "key", "ql:q:<queue>-recur"),
    ARGUMENT(set_arguments, member, TEXT, "jid", "a recurring job"),
};

static enum status run_zscore(struct call *call, struct error *error)
{
    const struct set_arguments *given = call->arguments;
    struct slice queue;
    if (qless_set_of(given->key, &queue) != QLESS_SET_RECUR) {
        return error_set(error, STATUS_UNSUPPORTED,
                         "ZSCORE knows qless's ql:q:<queue>-recur and no other key");
    }
    const struct engine *engine;
    enum status status = find(call, &engine, error);
    if (status) {
        return status;
    }
    int64_t next_us;
    if (engine && qless_set_next_run(engine, queue, given->member, &next_us)) {
        reply_moment(call->reply, next_us);
    } else {
        reply_null(call->reply);
    }
    return STATUS_OK;
}

static const struct command commands[] = {
    {
        .name = "ZCARD",
        .group = "scripts",
        .flags = COMMAND_CONNECTION | COMMAND_READS,
        TAKES(set_arguments, zcard_takes),
        .run = run_zcard,
        .summary = "Counts the jobs of a queue of qless's that are in a state.",
        .details = "Clients of qless add them up to a queue's length. It looks into the namespace "
                   "that SELECT chose.",
        .replies = "How many there are.",
        EXAMPLES({ "ZCARD ql:q:mail-work", "(integer) 3" }),
    },
    {
        .name = "ZSCORE",
        .group = "scripts",
        .flags = COMMAND_CONNECTION | COMMAND_READS,
        TAKES(set_arguments, zscore_takes),
        .run = run_zscore,
        .summary = "Says when a recurring job of qless's runs next.",
        .details = "It looks into the namespace that SELECT chose.",
        .replies = "The time in seconds since 1970, or null when the queue has no such job.",
        EXAMPLES({ "ZSCORE ql:q:mail-recur daily", "\"1784000000\"" }),
    },
};

const struct command_table server_set_commands = TABLE(commands);
