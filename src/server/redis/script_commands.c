// SPDX-License-Identifier: MIT
// EVAL, EVALSHA and SCRIPT for qless clients: qless's scripts are recognised, and their calls go to
// the engine of qless's namespace.
#include "faces/resp.h"
#include "server/access/audit.h"
#include "server/redis/answer.h"
#include "server/redis/tables.h"

// ---------------------------------------------------------------------------------------------
// Running

enum {
    AUDIT_WORDS_MAX = 16, // of a call, in the audit log
};

struct eval_arguments {
    struct slice script;
    int64_t key_count;
    struct slices words;
};

// All clients share the known scripts, whose number is limited: a script is kept only if the user
// may run it.
static enum status load(const struct connection *connection, struct slice text,
                        const struct script **out, struct error *error)
{
    char name[QLESS_NAMESPACE_SIZE];
    enum status status = answer_check_right(connection, answer_qless_namespace(connection, name),
                                            RIGHTS_WRITE, error);
    return status ? status : scripts_load(&connection->server->scripts, text, out, error);
}

static enum status acquire(const struct connection *connection, struct ns **out,
                           struct error *error)
{
    char text[QLESS_NAMESPACE_SIZE];
    struct slice name = answer_qless_namespace(connection, text);
    enum status status = answer_check_right(connection, name, RIGHTS_WRITE, error);
    if (!status) {
        status = namespaces_acquire(&connection->server->namespaces, name, ENGINE_CLOCK_CLIENT, out,
                                    error);
    }
    if (!status && (*out)->clock != ENGINE_CLOCK_CLIENT) {
        // The clock of that namespace does not follow the times in the calls.
        status =
            error_set(error, STATUS_STATE,
                      "namespace %.*s has the server clock, and calls of qless need the client "
                      "clock; use another database or the setting qless-namespace, or create "
                      "the namespace anew with Q.NAMESPACE.CREATE %.*s CLOCK client",
                      SLICE_PRINT(name), SLICE_PRINT(name));
    }
    return status;
}

// The calls whose native counterparts are recorded in the audit log.
static bool is_administrative(struct slice name)
{
    static const char *const names[] = { "cancel",  "config.set", "config.unset",
                                         "pause",   "unpause",    "queue.forget",
                                         "timeout", "unfail",     "unrecur" };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (slice_equal(name, slice_from_cstr(names[i]))) {
            return true;
        }
    }
    return false;
}

// An entry begins with the name of the call; a script that makes one call has no such argument.
static void audit_call(struct connection *connection, const struct command *command,
                       const struct ns *ns, const struct script *script, struct slices words)
{
    struct slice name = qless_call_name(script->kind, words);
    if (!is_administrative(name)) {
        return;
    }
    struct slice shown[AUDIT_WORDS_MAX] = { name };
    size_t count = 1;
    for (size_t i = script->kind < QLESS_SPLIT; i < words.count && count < AUDIT_WORDS_MAX; i++) {
        shown[count++] = words.items[i];
    }
    audit_act(connection, command, ns_name(ns), (struct slices){ shown, count }, STATUS_OK);
}

// When qless clients use a namespace, other patterns receive its events.
static enum status make_qless(struct server *server, struct ns *ns, const struct script *script,
                              struct error *error)
{
    uint8_t generation =
        script->kind < QLESS_SPLIT ? QLESS_GENERATION_UNIFIED : QLESS_GENERATION_SPLIT;
    if (ns->qless & generation) {
        return STATUS_OK;
    }
    enum status status = ns_make_qless(ns, generation, error);
    if (!status) {
        pubsub_rights_changed(server);
    }
    return status;
}

// The data for the message about a job that is too large for a reply.
struct unfit_context {
    const struct host *host;
    struct slice ns;
    size_t size_max;
};

static void note_unfit(void *context, struct slice jid)
{
    const struct unfit_context *of = context;
    if (of->host->unfit) {
        of->host->unfit(of->host->context, of->ns, jid, of->size_max);
    }
}

static enum status run_script(struct call *call, const struct script *script, struct error *error)
{
    struct connection *connection = call->session;
    struct server *server = connection->server;
    const struct eval_arguments *given = call->arguments;
    if ((uint64_t)given->key_count > given->words.count) {
        answer_error(connection, "ERR", "Number of keys can't be greater than number of args");
        return STATUS_OK;
    }
    if (script->kind == QLESS_LIB) {
        return error_set(error, STATUS_UNSUPPORTED,
                         "this script builds on qless-lib.lua and is not qless's own; no Lua is "
                         "run");
    }
    size_t keys = (size_t)given->key_count;
    struct slices words = { given->words.items + keys, given->words.count - keys };
    if (!qless_shrinks(script->kind, words)) {
        if (server->store_state == STORE_FULL) {
            return error_copy(error, &server->store_why);
        }
        if (memory_check(&server->memory, "max-memory", error)) {
            return STATUS_NO_MEMORY;
        }
    }
    if (slice_equal(qless_call_name(script->kind, words), SLICE("put")) &&
        server_check_drain(server, error)) {
        return STATUS_BUSY;
    }
    struct ns *ns;
    enum status status = acquire(connection, &ns, error);
    if (status) {
        return status;
    }
    status = make_qless(server, ns, script, error);
    if (status) {
        return status;
    }
    ns_touch(ns);
    audit_call(connection, call->command, ns, script, words);
    struct unfit_context unfit = { call->host, ns_name(ns), reply_room_max(call->reply) };
    resp_writer_set_code(call->reply, SLICE("ERR")); // the code of errors of scripts in Redis
    qless_run(&(struct qless_call){
        .engine = ns->engine,
        .script = script->kind,
        .keys = { given->words.items, keys },
        .words = words,
        .host_us = call->now_us,
        .random = call->host->random(call->host->context),
        .allocator = server->settings.allocator,
        .reply = call->reply,
        .unfit = note_unfit,
        .unfit_context = &unfit,
    });
    return STATUS_OK;
}

static const struct argument eval_takes[] = {
    ARGUMENT(eval_arguments, script, TEXT, "script", "the text of qless's script"),
    ARGUMENT(eval_arguments, key_count, INTEGER, "keys", "how many keys follow", .min = 0,
             .max = INT32_MAX),
    OPTIONAL_REST(eval_arguments, words, TEXT, "word",
                  "the keys, then what the script takes as ARGV"),
};

static enum status run_eval(struct call *call, struct error *error)
{
    const struct eval_arguments *given = call->arguments;
    const struct script *script;
    enum status status = load(call->session, given->script, &script, error);
    return status ? status : run_script(call, script, error);
}

static const struct argument evalsha_takes[] = {
    ARGUMENT(eval_arguments, script, TEXT, "sha1", "the SHA-1 of a script that was loaded"),
    ARGUMENT(eval_arguments, key_count, INTEGER, "keys", "how many keys follow", .min = 0,
             .max = INT32_MAX),
    OPTIONAL_REST(eval_arguments, words, TEXT, "word",
                  "the keys, then what the script takes as ARGV"),
};

static enum status run_evalsha(struct call *call, struct error *error)
{
    struct connection *connection = call->session;
    const struct eval_arguments *given = call->arguments;
    const struct script *script = scripts_find(&connection->server->scripts, given->script);
    if (!script) {
        answer_error(connection, "NOSCRIPT", "No matching script. Please use EVAL.");
        return STATUS_OK;
    }
    return run_script(call, script, error);
}

// ---------------------------------------------------------------------------------------------
// SCRIPT

static enum status run_load(struct call *call, struct slices words, struct error *error)
{
    const struct script *script;
    enum status status = load(call->session, words.items[0], &script, error);
    if (!status) {
        reply_text(call->reply, slice_make(script->sha, SCRIPT_SHA_SIZE));
    }
    return status;
}

static enum status run_exists(struct call *call, struct slices words, struct error *error)
{
    (void)error;
    const struct connection *connection = call->session;
    reply_list(call->reply, words.count);
    for (size_t i = 0; i < words.count; i++) {
        reply_integer(call->reply,
                      scripts_find(&connection->server->scripts, words.items[i]) ? 1 : 0);
    }
    reply_end(call->reply);
    return STATUS_OK;
}

static enum status run_flush(struct call *call, struct slices words, struct error *error)
{
    const struct connection *connection = call->session;
    if (words.count && !word_is(words.items[0], "SYNC") && !word_is(words.items[0], "ASYNC")) {
        return error_set(error, STATUS_INVALID, "SCRIPT FLUSH takes SYNC or ASYNC");
    }
    scripts_flush(&connection->server->scripts);
    reply_ok(call->reply);
    return STATUS_OK;
}

static enum status run_kill(struct call *call, struct slices words, struct error *error)
{
    (void)words;
    (void)error;
    answer_error(call->session, "NOTBUSY", "No scripts in execution right now.");
    return STATUS_OK;
}

static const struct subcommand subcommands[] = {
    { "LOAD", "<script>", "Keep a script of qless for EVALSHA.", 1, 1, false, run_load },
    { "EXISTS", "<sha1> [<sha1> ...]", "Which of the scripts are known.", 1, SIZE_MAX, false,
      run_exists },
    { "FLUSH", "[ASYNC|SYNC]", "Forget all scripts.", 0, 1, true, run_flush },
    { "KILL", "", "Nothing to do: no script ever runs.", 0, 0, false, run_kill },
};

static const struct subcommands table = TABLE_OF_SUBCOMMANDS(subcommands);

struct script_arguments {
    struct slices words;
};

static const struct argument script_takes[] = {
    REST(script_arguments, words, TEXT, "word", "a subcommand (SCRIPT HELP) and its arguments"),
};

static enum status run_script_command(struct call *call, struct error *error)
{
    const struct script_arguments *given = call->arguments;
    return subcommand_run(&table, call, given->words, error);
}

// ---------------------------------------------------------------------------------------------

// Whether a full disk allows the command depends on the call.
enum {
    RUNS = COMMAND_CONNECTION | COMMAND_WRITES | COMMAND_SHRINKS,
};

#define SHA "\"5b5d2f4d3e5cb2a3a4e3ffbd0c2f2d0f0c9f4d27\""

static const struct command commands[] = {
    {
        .name = "EVAL",
        .group = "scripts",
        .flags = RUNS,
        TAKES(eval_arguments, eval_takes),
        .run = run_eval,
        .summary = "Makes a call of qless.",
        .details = "The script must be qless's: it is recognised and not run. The call works in "
                   "the namespace that SELECT chose. Any other script is refused.",
        .replies = "As qless's script does.",
        EXAMPLES({ "EVAL \"...\" 0 length 1784000000 mail", "(integer) 3" }),
    },
    {
        .name = "EVALSHA",
        .group = "scripts",
        .flags = RUNS,
        TAKES(eval_arguments, evalsha_takes),
        .run = run_evalsha,
        .summary = "Makes a call of qless, whose script was loaded before.",
        .replies = "As qless's script does; NOSCRIPT when the script is not known.",
        EXAMPLES({ "EVALSHA " SHA " 0 length 1784000000 mail", "(integer) 3" }),
    },
    {
        .name = "EVAL_RO",
        .group = "scripts",
        .flags = RUNS,
        TAKES(eval_arguments, eval_takes),
        .run = run_eval,
        .summary = "The same as EVAL.",
        .replies = "As qless's script does.",
        EXAMPLES({ "EVAL_RO \"...\" 0 length 1784000000 mail", "(integer) 3" }),
    },
    {
        .name = "EVALSHA_RO",
        .group = "scripts",
        .flags = RUNS,
        TAKES(eval_arguments, evalsha_takes),
        .run = run_evalsha,
        .summary = "The same as EVALSHA.",
        .replies = "As qless's script does.",
        EXAMPLES({ "EVALSHA_RO " SHA " 0 length 1784000000 mail", "(integer) 3" }),
    },
    {
        .name = "SCRIPT",
        .group = "scripts",
        .flags = COMMAND_CONNECTION,
        TAKES(script_arguments, script_takes),
        .run = run_script_command,
        .summary = "Loads qless's script, and says which are known.",
        .replies = "As in Redis; SCRIPT HELP lists the subcommands.",
        EXAMPLES({ "SCRIPT LOAD \"...\"", SHA }, { "SCRIPT EXISTS " SHA, "1) (integer) 1" }),
    },
};

const struct command_table server_script_commands = TABLE(commands);
