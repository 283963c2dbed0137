// SPDX-License-Identifier: MIT
// CLIENT: connections by name and number.
#include "server/redis/client.h"

#include "base/num.h"
#include "server/redis/answer.h"
#include "server/redis/session.h"
#include "server/redis/tables.h"
#include "server/redis/transaction.h"

enum {
    LIST_MAX = 64 << 20, // bytes of CLIENT LIST
};

// ---------------------------------------------------------------------------------------------
// Names

static bool is_plain(struct slice text)
{
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] < '!' || text.data[i] > '~') {
            return false;
        }
    }
    return true;
}

static bool check_text(struct connection *connection, const char *what, struct slice text)
{
    if (!is_plain(text)) {
        answer_error(connection, "ERR", "%s cannot contain spaces, newlines or special characters.",
                     what);
    } else if (text.size >= CLIENT_NAME_SIZE) {
        answer_error(connection, "ERR", "%s cannot be longer than %d bytes.", what,
                     CLIENT_NAME_SIZE - 1);
    } else {
        return true;
    }
    return false;
}

static void set_text(char to[CLIENT_NAME_SIZE], struct slice text)
{
    if (text.size) {
        memcpy(to, text.data, text.size);
    }
    to[text.size] = '\0';
}

bool client_name_check(struct connection *connection, struct slice name)
{
    return check_text(connection, "Client names", name);
}

void client_name_set(struct connection *connection, struct slice name)
{
    set_text(connection->resp->name, name);
}

static enum status run_setname(struct call *call, struct slices words, struct error *error)
{
    (void)error;
    struct connection *connection = call->session;
    if (client_name_check(connection, words.items[0])) {
        client_name_set(connection, words.items[0]);
        reply_ok(call->reply);
    }
    return STATUS_OK;
}

static enum status run_getname(struct call *call, struct slices words, struct error *error)
{
    (void)words;
    (void)error;
    const struct connection *connection = call->session;
    reply_text_or_null(call->reply, slice_from_cstr(connection->resp->name));
    return STATUS_OK;
}

static enum status run_setinfo(struct call *call, struct slices words, struct error *error)
{
    (void)error;
    struct connection *connection = call->session;
    bool name = word_is(words.items[0], "LIB-NAME");
    if (!name && !word_is(words.items[0], "LIB-VER")) {
        answer_error(connection, "ERR", "Unrecognized option '%.*s'",
                     SLICE_PRINT(slice_shown(words.items[0])));
    } else if (check_text(connection, name ? "lib-name" : "lib-ver", words.items[1])) {
        set_text(name ? connection->resp->library : connection->resp->library_version,
                 words.items[1]);
        reply_ok(call->reply);
    }
    return STATUS_OK;
}

static enum status run_id(struct call *call, struct slices words, struct error *error)
{
    (void)words;
    (void)error;
    const struct connection *connection = call->session;
    reply_count(call->reply, connection->id);
    return STATUS_OK;
}

// ---------------------------------------------------------------------------------------------
// Lists

// The user of a client that need not authenticate has the name that Redis gives it.
static const char *user_of(const struct connection *at)
{
    return !at->user ? "(none)" : *at->user->name ? at->user->name : "default";
}

static const char *flags_of(const struct connection *at)
{
    return connection_streams(at)       ? "P"
           : connection_waits(at)       ? "b"
           : transaction_count(at) >= 0 ? "x"
           : connection_subscribes(at)  ? "P"
                                        : "N";
}

// Writes all fields that Redis writes, because clients read some of them.
static void append_line(const struct connection *at, int64_t now_us, struct buffer *out)
{
    const struct resp_session *session = session_of(at);
    buffer_printf(out, "id=%llu addr=%s laddr= fd=%d name=%s age=%lld idle=%lld flags=%s db=%u",
                  (unsigned long long)at->id, at->address, at->socket.transport.fd, session->name,
                  (long long)((now_us - at->began_us) / 1000000),
                  (long long)((now_us - at->active_us) / 1000000), flags_of(at), session->db);
    buffer_printf(out, " sub=%zu psub=%zu ssub=0 multi=%lld watch=0",
                  session->subscriptions.channels, session->subscriptions.patterns,
                  (long long)transaction_count(at));
    buffer_printf(out, " qbuf=%zu qbuf-free=%zu argv-mem=0 multi-mem=0 obl=%zu oll=0 omem=%zu",
                  at->input.size, at->input.capacity - at->input.size, connection_unsent(at),
                  at->output.bytes.capacity);
    buffer_printf(out, " tot-mem=%zu events=%s%s",
                  sizeof(*at) + at->input.capacity + at->output.bytes.capacity,
                  at->socket.watches_read ? "r" : "", at->socket.watches_write ? "w" : "");
    buffer_printf(out, " cmd=%s user=%s redir=-1 resp=%d lib-name=%s lib-ver=%s\n",
                  at->last_command ? at->last_command : "NULL", user_of(at), (int)session->version,
                  session->library, session->library_version);
}

static enum status write_lines(struct call *call, struct buffer *lines, struct error *error)
{
    enum status status = lines->status;
    if (status) {
        (void)error_set(error, status, "the list is too long");
    } else {
        reply_prose(call->reply, buffer_slice(lines));
    }
    buffer_release(lines);
    return status;
}

static enum status run_info(struct call *call, struct slices words, struct error *error)
{
    (void)words;
    const struct connection *connection = call->session;
    struct buffer lines;
    buffer_init(&lines, connection->server->settings.allocator, LIST_MAX);
    append_line(connection, server_elapsed(connection->server), &lines);
    return write_lines(call, &lines, error);
}

// Selects the connections that match all fields that are set.
struct filter {
    struct slices ids; // none: all
    struct slice address, user, type;
    bool skip_self;
    int64_t age_us;
};

static bool has_type(const struct connection *at, struct slice type)
{
    bool pubsub = connection_subscribes(at);
    return type.size == 0 ||
           (word_is(type, "pubsub") ? pubsub : word_is(type, "normal") && !pubsub);
}

static bool has_id(const struct connection *at, struct slices ids)
{
    for (size_t i = 0; i < ids.count; i++) {
        uint64_t id;
        if (!num_parse_u64(ids.items[i], &id) && id == at->id) {
            return true;
        }
    }
    return ids.count == 0;
}

static bool fits(const struct connection *at, const struct connection *self,
                 const struct filter *filter)
{
    return !(filter->skip_self && at == self) && has_id(at, filter->ids) &&
           has_type(at, filter->type) &&
           (filter->address.size == 0 ||
            slice_equal(filter->address, slice_from_cstr(at->address))) &&
           (filter->user.size == 0 || slice_equal(filter->user, slice_from_cstr(user_of(at)))) &&
           at->active_us - at->began_us >= filter->age_us;
}

static bool is_type(struct slice word)
{
    static const char *const types[] = { "normal", "pubsub", "master", "replica", "slave" };
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        if (word_is(word, types[i])) {
            return true;
        }
    }
    return false;
}

static enum status run_list(struct call *call, struct slices words, struct error *error)
{
    const struct connection *connection = call->session;
    struct filter filter = { 0 };
    if (words.count >= 2 && word_is(words.items[0], "ID")) {
        filter.ids = (struct slices){ words.items + 1, words.count - 1 };
    } else if (words.count == 2 && word_is(words.items[0], "TYPE") && is_type(words.items[1])) {
        filter.type = words.items[1];
    } else if (words.count) {
        return error_set(error, STATUS_INVALID,
                         "CLIENT LIST takes TYPE normal|pubsub, or ID and numbers of clients");
    }
    struct buffer lines;
    buffer_init(&lines, connection->server->settings.allocator, LIST_MAX);
    for (const struct connection *at = connection->server->connections.newest; at; at = at->next) {
        if (fits(at, connection, &filter)) {
            append_line(at, server_elapsed(at->server), &lines);
        }
    }
    return write_lines(call, &lines, error);
}

// ---------------------------------------------------------------------------------------------
// Kill

static enum status read_kill(struct slices words, struct filter *filter, struct error *error)
{
    *filter = (struct filter){ .skip_self = true };
    for (size_t i = 0; i < words.count; i += 2) {
        struct slice name = words.items[i];
        if (i + 1 == words.count) {
            return error_set(error, STATUS_INVALID, "CLIENT KILL: %.*s has no value",
                             SLICE_PRINT(slice_shown(name)));
        }
        struct slice value = words.items[i + 1];
        int64_t seconds;
        if (word_is(name, "ID")) {
            filter->ids = (struct slices){ words.items + i + 1, 1 };
        } else if (word_is(name, "ADDR")) {
            filter->address = value;
        } else if (word_is(name, "USER")) {
            filter->user = value;
        } else if (word_is(name, "TYPE") && is_type(value)) {
            filter->type = value;
        } else if (word_is(name, "SKIPME") && (word_is(value, "yes") || word_is(value, "no"))) {
            filter->skip_self = word_is(value, "yes");
        } else if (word_is(name, "MAXAGE") && !num_parse_i64(value, &seconds) && seconds >= 0 &&
                   seconds < INT64_MAX / 1000000) {
            filter->age_us = seconds * 1000000;
        } else {
            return error_set(error, STATUS_INVALID,
                             "CLIENT KILL takes ID n, ADDR host:port, USER name, TYPE "
                             "normal|pubsub, MAXAGE seconds and SKIPME yes|no, not %.*s %.*s",
                             SLICE_PRINT(slice_sub(name, 0, 32)),
                             SLICE_PRINT(slice_sub(value, 0, 32)));
        }
    }
    return STATUS_OK;
}

// A client that kills its own connection gets its reply first.
static size_t kill_all(struct connection *self, const struct filter *filter)
{
    size_t count = 0;
    struct connection *next;
    for (struct connection *at = self->server->connections.newest; at; at = next) {
        next = at->next;
        if (fits(at, self, filter)) {
            count++;
            if (at == self) {
                connection_drain(at);
            } else {
                connection_close(at);
            }
        }
    }
    return count;
}

static enum status run_kill(struct call *call, struct slices words, struct error *error)
{
    struct connection *connection = call->session;
    if (words.count == 1) {
        struct filter filter = { .address = words.items[0] };
        if (words.items[0].size == 0 || kill_all(connection, &filter) == 0) {
            answer_error(connection, "ERR", "No such client");
        } else {
            reply_ok(call->reply);
        }
        return STATUS_OK;
    }
    struct filter filter;
    enum status status = read_kill(words, &filter, error);
    if (!status) {
        reply_count(call->reply, kill_all(connection, &filter));
    }
    return status;
}

// ---------------------------------------------------------------------------------------------
// Settings of a connection

static enum status run_reply(struct call *call, struct slices words, struct error *error)
{
    struct connection *connection = call->session;
    if (word_is(words.items[0], "ON")) {
        connection->resp->reply_off = false;
        reply_ok(call->reply);
    } else if (word_is(words.items[0], "OFF")) {
        connection->resp->reply_off = true;
    } else if (word_is(words.items[0], "SKIP")) {
        connection->resp->replies_skipped = 2; // this one and the next
    } else {
        return error_set(error, STATUS_INVALID, "CLIENT REPLY takes ON, OFF or SKIP");
    }
    return STATUS_OK;
}

static enum status run_switch(struct call *call, struct slices words, struct error *error)
{
    if (!word_is(words.items[0], "ON") && !word_is(words.items[0], "OFF")) {
        return error_set(error, STATUS_INVALID, "it takes ON or OFF");
    }
    reply_ok(call->reply);
    return STATUS_OK;
}

static enum status run_tracking(struct call *call, struct slices words, struct error *error)
{
    if (words.count == 1 && word_is(words.items[0], "OFF")) {
        reply_ok(call->reply);
        return STATUS_OK;
    }
    return error_set(error, STATUS_UNSUPPORTED,
                     "client-side caching is not supported: there are no keys to track");
}

static enum status run_getredir(struct call *call, struct slices words, struct error *error)
{
    (void)words;
    (void)error;
    reply_integer(call->reply, -1); // tracking is off
    return STATUS_OK;
}

static enum status run_pause(struct call *call, struct slices words, struct error *error)
{
    (void)call;
    (void)words;
    return error_set(error, STATUS_UNSUPPORTED,
                     "clients cannot be paused; Q.PAUSE pauses queues, so that no jobs are handed "
                     "out");
}

static const struct subcommand subcommands[] = {
    { "ID", "", "The connection's number.", 0, 0, false, run_id },
    { "GETNAME", "", "The connection's name.", 0, 0, false, run_getname },
    { "SETNAME", "<name>", "Name the connection.", 1, 1, false, run_setname },
    { "SETINFO", "LIB-NAME|LIB-VER <text>", "Say which library the client uses.", 2, 2, false,
      run_setinfo },
    { "INFO", "", "A line about the connection.", 0, 0, false, run_info },
    { "LIST", "[TYPE normal|pubsub | ID <id> ...]", "A line about each connection.", 0, SIZE_MAX,
      true, run_list },
    { "KILL",
      "<addr> | [ID <id>] [ADDR <addr>] [USER <name>] [TYPE <type>] [MAXAGE <s>] "
      "[SKIPME yes|no]",
      "End connections.", 1, 12, SUBCOMMAND_AUDITED, run_kill },
    { "REPLY", "ON|OFF|SKIP", "Whether to be answered.", 1, 1, false, run_reply },
    { "NO-EVICT", "ON|OFF", "Accepted, and without effect: no client is evicted.", 1, 1, false,
      run_switch },
    { "NO-TOUCH", "ON|OFF", "Accepted, and without effect: there are no keys.", 1, 1, false,
      run_switch },
    { "TRACKING", "OFF", "Only OFF: there are no keys to track.", 1, SIZE_MAX, false,
      run_tracking },
    { "CACHING", "YES|NO", "Refused: there are no keys to track.", 1, 1, false, run_tracking },
    { "GETREDIR", "", "-1: tracking is off.", 0, 0, false, run_getredir },
    { "PAUSE", "<ms> [WRITE|ALL]", "Refused: see Q.PAUSE.", 0, SIZE_MAX, false, run_pause },
    { "UNPAUSE", "", "Refused: see Q.UNPAUSE.", 0, SIZE_MAX, false, run_pause },
};

static const struct subcommands table = TABLE_OF_SUBCOMMANDS(subcommands);

struct client_arguments {
    struct slices words;
};

static const struct argument client_takes[] = {
    REST(client_arguments, words, TEXT, "word", "a subcommand (CLIENT HELP) and its arguments"),
};

static enum status run_client(struct call *call, struct error *error)
{
    const struct client_arguments *given = call->arguments;
    return subcommand_run(&table, call, given->words, error);
}

bool client_is_reply(const struct command *command, struct slices words)
{
    return command->run == run_client && words.count > 0 && word_is(words.items[0], "REPLY");
}

static const struct command commands[] = {
    {
        .name = "CLIENT",
        .group = "connection",
        .flags = COMMAND_CONNECTION,
        TAKES(client_arguments, client_takes),
        .run = run_client,
        .summary = "Names, lists and ends connections.",
        .replies = "As in Redis; CLIENT HELP lists the subcommands.",
        EXAMPLES({ "CLIENT SETNAME mailer", "OK" }, { "CLIENT ID", "(integer) 3" }),
    },
};

const struct command_table server_client_commands = TABLE(commands);
