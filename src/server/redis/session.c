// SPDX-License-Identifier: MIT
// Commands about the connection itself: authentication and the version of the protocol.
#include "server/redis/session.h"
#include "server/execute.h"
#include "server/redis/answer.h"
#include "server/redis/client.h"
#include "server/redis/tables.h"
#include "server/redis/transaction.h"

#include "base/num.h"

enum {
    DB_COUNT = 16,
};

// ---------------------------------------------------------------------------------------------
// Authentication

// Replies with an error and drains the connection if the user has the maximum number of
// connections.
static bool may_become(struct connection *connection, const struct user *user)
{
    struct error error;
    if (!crowd_check_user(connection, user, &error)) {
        return true;
    }
    answer_error(connection, "ERR", "max number of clients reached: %s", error_sentence(&error));
    connection_drain(connection);
    return false;
}

// The reply to a login that failed.
static void write_failure(struct connection *connection, enum status status,
                          const struct error *error)
{
    if (status == STATUS_DENIED) {
        answer_error(connection, "WRONGPASS",
                     "invalid username-password pair or user is disabled.");
    } else {
        answer_error(connection, "ERR", "%s", error_sentence(error));
    }
}

// Logs in; `end` writes the reply, at once or when the password has been checked.
static void log_in(struct call *call, struct slice name, struct slice password,
                   login_decided *decided, void (*end)(struct connection *connection))
{
    struct connection *connection = call->session;
    const struct user *user = users_anybody(connection->server->users);
    struct error error;
    if (user && (name.size == 0 || slice_equal(name, SLICE("default")))) {
        end(connection);
        return;
    }
    if (transaction_runs(connection)) {
        answer_error(connection, "ERR", "a transaction cannot log in; use AUTH before MULTI");
        return;
    }
    enum status status = login_start(connection, name, password, decided, &user, &error);
    if (status) {
        write_failure(connection, status, &error);
    } else if (!user) {
        call->wait.kind = WAIT_HOST;
    } else if (may_become(connection, user)) {
        connection_set_user(connection, user);
        end(connection);
    }
}

// Replies to a command that waited for its login.
static void decide(struct connection *connection, enum status status, const struct user *user,
                   const struct error *error, void (*end)(struct connection *connection))
{
    connection_output_begin(connection);
    uint64_t start = output_end(&connection->output);
    if (status) {
        write_failure(connection, status, error);
    } else if (may_become(connection, user)) {
        connection_set_user(connection, user);
        end(connection);
    }
    bool silent = execute_is_silent(connection);
    if (silent) {
        output_take_back(&connection->output, start);
    }
    connection_output_end(connection, silent ? 0 : 1);
}

struct auth_arguments {
    struct slice first, second;
};

static const struct argument auth_takes[] = {
    ARGUMENT(auth_arguments, first, TEXT, "user", "the user's name; left out: default"),
    OPTIONAL(auth_arguments, second, TEXT, "password", "the password; alone it stands first"),
};

static void end_auth(struct connection *connection)
{
    resp_simple(&connection->output.bytes, SLICE("OK"));
}

static void auth_decided(struct connection *connection, enum status status, const struct user *user,
                         const struct error *error)
{
    decide(connection, status, user, error, end_auth);
}

static enum status run_auth(struct call *call, struct error *error)
{
    (void)error;
    struct connection *connection = call->session;
    const struct auth_arguments *given = call->arguments;
    bool named = given->second.data;
    if (!named && users_anybody(connection->server->users)) {
        answer_error(connection, "ERR",
                     "AUTH <password> called without any password configured for the default user. "
                     "Are you sure your configuration is correct?");
    } else {
        log_in(call, named ? given->first : SLICE_EMPTY, named ? given->second : given->first,
               auth_decided, end_auth);
    }
    return STATUS_OK;
}

// ---------------------------------------------------------------------------------------------
// HELLO

struct words_arguments {
    struct slices words;
};

static const struct argument hello_takes[] = {
    OPTIONAL_REST(words_arguments, words, TEXT, "word",
                  "the version of the protocol, 2 or 3; behind it AUTH user password, SETNAME "
                  "name"),
};

struct hello {
    enum resp_version version;
    bool has_auth, has_name;
    struct slice user, password, name;
};

static bool read_hello(struct connection *connection, struct slices words, struct hello *out)
{
    *out = (struct hello){ .version = connection->resp->version };
    if (words.count == 0) {
        return true;
    }
    int64_t version;
    if (num_parse_i64(words.items[0], &version)) {
        answer_error(connection, "ERR", "Protocol version is not an integer or out of range");
        return false;
    }
    if (version != RESP_2 && version != RESP_3) {
        answer_error(connection, "NOPROTO", "unsupported protocol version");
        return false;
    }
    out->version = (enum resp_version)version;
    for (size_t i = 1; i < words.count;) {
        size_t left = words.count - i - 1;
        if (word_is(words.items[i], "AUTH") && left >= 2) {
            out->has_auth = true;
            out->user = words.items[i + 1];
            out->password = words.items[i + 2];
            i += 3;
        } else if (word_is(words.items[i], "SETNAME") && left >= 1) {
            out->has_name = true;
            out->name = words.items[i + 1];
            i += 2;
        } else {
            answer_error(connection, "ERR", "Syntax error in HELLO option '%.*s'",
                         SLICE_PRINT(slice_shown(words.items[i])));
            return false;
        }
    }
    return true;
}

static void write_hello(struct connection *connection)
{
    struct buffer *out = &connection->output.bytes;
    resp_map(out, connection->resp->version, 8);
    resp_bulk(out, SLICE("server"));
    resp_bulk(out, SLICE("sluice"));
    resp_bulk(out, SLICE("version"));
    resp_bulk(out, SLICE(REDIS_VERSION));
    resp_bulk(out, SLICE("sluice_version"));
    resp_bulk(out, SLICE(SLUICE_VERSION));
    resp_bulk(out, SLICE("proto"));
    resp_integer(out, connection->resp->version);
    resp_bulk(out, SLICE("id"));
    resp_integer(out, (int64_t)connection->id);
    resp_bulk(out, SLICE("mode"));
    resp_bulk(out, SLICE("standalone"));
    resp_bulk(out, SLICE("role"));
    resp_bulk(out, SLICE("master"));
    resp_bulk(out, SLICE("modules"));
    resp_array(out, 0);
}

// The reply uses the protocol version that was requested.
static void end_hello(struct connection *connection)
{
    const struct hello_pending *kept = &connection->resp->hello;
    if (!connection->user) {
        answer_error(connection, "NOAUTH",
                     "HELLO must be called with the client already authenticated, otherwise the "
                     "HELLO <proto> AUTH <user> <pass> option can be used to authenticate the "
                     "client and select the RESP protocol version at the same time");
        return;
    }
    if (kept->has_name) {
        client_name_set(connection, slice_from_cstr(kept->name));
    }
    connection->resp->version = kept->version;
    write_hello(connection);
}

static void hello_decided(struct connection *connection, enum status status,
                          const struct user *user, const struct error *error)
{
    decide(connection, status, user, error, end_hello);
}

static enum status run_hello(struct call *call, struct error *error)
{
    (void)error;
    struct connection *connection = call->session;
    const struct words_arguments *given = call->arguments;
    struct hello hello;
    if (!read_hello(connection, given->words, &hello) ||
        (hello.has_name && !client_name_check(connection, hello.name))) {
        return STATUS_OK;
    }
    struct hello_pending *kept = &connection->resp->hello;
    *kept = (struct hello_pending){ .version = hello.version, .has_name = hello.has_name };
    (void)snprintf(kept->name, sizeof(kept->name), "%.*s", SLICE_PRINT(hello.name));
    if (hello.has_auth) {
        log_in(call, hello.user, hello.password, hello_decided, end_hello);
    } else {
        end_hello(connection);
    }
    return STATUS_OK;
}

// ---------------------------------------------------------------------------------------------
// Other commands

struct text_arguments {
    struct slice text;
};

static const struct argument ping_takes[] = {
    OPTIONAL(text_arguments, text, TEXT, "message", "what to answer (PONG)"),
};

// A RESP 2 subscriber gets a reply in the form of a message.
static enum status run_ping(struct call *call, struct error *error)
{
    (void)error;
    struct connection *connection = call->session;
    const struct text_arguments *given = call->arguments;
    if (connection->resp->version == RESP_2 && connection_subscribes(connection)) {
        reply_list(call->reply, 2);
        reply_text(call->reply, SLICE("pong"));
        reply_text(call->reply, given->text);
        reply_end(call->reply);
    } else if (given->text.data) {
        reply_text(call->reply, given->text);
    } else {
        reply_word(call->reply, SLICE("PONG"));
    }
    return STATUS_OK;
}

static const struct argument echo_takes[] = {
    ARGUMENT(text_arguments, text, TEXT, "message", "what to answer"),
};

static enum status run_echo(struct call *call, struct error *error)
{
    (void)error;
    const struct text_arguments *given = call->arguments;
    reply_text(call->reply, given->text);
    return STATUS_OK;
}

struct select_arguments {
    int64_t index;
};

static const struct argument select_takes[] = {
    ARGUMENT(select_arguments, index, INTEGER, "index", "from 0 to 15", .min = INT64_MIN,
             .max = INT64_MAX),
};

static enum status run_select(struct call *call, struct error *error)
{
    (void)error;
    struct connection *connection = call->session;
    const struct select_arguments *given = call->arguments;
    if (given->index < 0 || given->index >= DB_COUNT) {
        answer_error(connection, "ERR", "DB index is out of range");
        return STATUS_OK;
    }
    connection->resp->db = (uint32_t)given->index;
    reply_ok(call->reply);
    return STATUS_OK;
}

static enum status run_quit(struct call *call, struct error *error)
{
    (void)error;
    reply_ok(call->reply);
    connection_drain(call->session);
    return STATUS_OK;
}

static enum status run_reset(struct call *call, struct error *error)
{
    (void)error;
    struct connection *connection = call->session;
    transaction_forget(connection);
    pubsub_forget(connection);
    struct resp_session *session = connection->resp;
    session->version = RESP_2;
    session->db = 0;
    session->reply_off = false;
    session->replies_skipped = 0;
    session->name[0] = '\0';
    connection_set_user(connection, connection_default_user(connection));
    resp_simple(&connection->output.bytes, SLICE("RESET"));
    return STATUS_OK;
}

// ---------------------------------------------------------------------------------------------

static const struct command commands[] = {
    {
        .name = "PING",
        .group = "connection",
        .flags = COMMAND_CONNECTION | COMMAND_SUBSCRIBED,
        TAKES(text_arguments, ping_takes),
        .run = run_ping,
        .summary = "Replies, to show that the server is running.",
        .replies = "PONG, or the message. For a subscriber who speaks RESP2: a list of pong and "
                   "the message.",
        EXAMPLES({ "PING", "PONG" }),
    },
    {
        .name = "ECHO",
        .group = "connection",
        .flags = COMMAND_CONNECTION,
        TAKES(text_arguments, echo_takes),
        .run = run_echo,
        .summary = "Returns its argument.",
        .replies = "The message.",
        EXAMPLES({ "ECHO hello", "\"hello\"" }),
    },
    {
        .name = "AUTH",
        .group = "connection",
        .flags = COMMAND_CONNECTION | COMMAND_ANYBODY | COMMAND_SECRET,
        TAKES(auth_arguments, auth_takes),
        .run = run_auth,
        .summary = "Logs in.",
        .replies = "OK, or the error WRONGPASS.",
        EXAMPLES({ "AUTH ann secret", "OK" }),
    },
    {
        .name = "HELLO",
        .group = "connection",
        .flags = COMMAND_CONNECTION | COMMAND_ANYBODY | COMMAND_SECRET,
        TAKES(words_arguments, hello_takes),
        .run = run_hello,
        .summary = "Chooses the version of the protocol; may log in and name the connection.",
        .details = "`version` is the version of Redis whose answers clients may count on; "
                   "`sluice_version` is the server's own.",
        .replies = "A map about the server and the connection, in the version chosen.",
        EXAMPLES({ "HELLO 3 AUTH ann secret SETNAME mailer",
                   "1# \"server\" => \"sluice\"\n2# \"version\" => \"" REDIS_VERSION "\"\n..." }),
    },
    {
        .name = "SELECT",
        .group = "connection",
        .flags = COMMAND_CONNECTION,
        TAKES(select_arguments, select_takes),
        .run = run_select,
        .summary = "Chooses which of 16 namespaces of qless its scripts work in.",
        .details = "With 0 it is the setting qless-namespace, with N the same followed by -N. "
                   "Native commands name their namespace and do not care.",
        .replies = "OK.",
        EXAMPLES({ "SELECT 1", "OK" }),
    },
    {
        .name = "QUIT",
        .group = "connection",
        .flags = COMMAND_CONNECTION | COMMAND_ANYBODY | COMMAND_SUBSCRIBED | COMMAND_UNQUEUED,
        .run = run_quit,
        .summary = "Ends the connection after all requests are answered.",
        .replies = "OK.",
        EXAMPLES({ "QUIT", "OK" }),
    },
    {
        .name = "RESET",
        .group = "connection",
        .flags = COMMAND_CONNECTION | COMMAND_ANYBODY | COMMAND_SUBSCRIBED | COMMAND_UNQUEUED,
        .run = run_reset,
        .summary = "Resets the connection: logged out, RESP2, no name, no subscriptions.",
        .replies = "RESET.",
        EXAMPLES({ "RESET", "RESET" }),
    },
};

const struct command_table server_session_commands = TABLE(commands);
