// SPDX-License-Identifier: MIT
// Commands about users: the caller, the list of users, changes of users, and the audit log.
#include "base/ascii.h"
#include "server/access/audit.h"
#include "server/access/logins.h"
#include "server/access/user_store.h"
#include "server/execute.h"
#include "server/redis/answer.h"
#include "server/redis/tables.h"
#include "server/redis/transaction.h"

#include <assert.h>

enum {
    AUDIT_COUNT_MAX = 1000,
};

// ---------------------------------------------------------------------------------------------
// The caller

static void write_rights(struct reply *reply, const struct user *user)
{
    char text[USER_GRANT_SIZE];
    size_t count = 0;
    while (user_grant(user, count, text)) {
        count++;
    }
    reply_list(reply, count);
    for (size_t i = 0; user_grant(user, i, text); i++) {
        reply_text(reply, slice_from_cstr(text));
    }
    reply_end(reply);
}

static enum status run_whoami(struct call *call, struct error *error)
{
    (void)error;
    const struct connection *connection = call->session;
    reply_map(call->reply, 3);
    reply_key(call->reply, "user");
    reply_text_or_null(call->reply, slice_from_cstr(connection->user->name));
    reply_key(call->reply, "address");
    reply_text(call->reply, slice_from_cstr(connection->address));
    reply_key(call->reply, "rights");
    write_rights(call->reply, connection->user);
    reply_end(call->reply);
    return STATUS_OK;
}

static enum status run_acl_whoami(struct call *call, struct slices words, struct error *error)
{
    (void)words;
    (void)error;
    const struct connection *connection = call->session;
    const char *name = connection->user->name;
    reply_text(call->reply, slice_from_cstr(*name ? name : "default"));
    return STATUS_OK;
}

static const struct subcommand subcommands[] = {
    { "WHOAMI", "", "The user of this connection.", 0, 0, false, run_acl_whoami },
};

static const struct subcommands table = TABLE_OF_SUBCOMMANDS(subcommands);

struct acl_arguments {
    struct slices words;
};

static const struct argument acl_takes[] = {
    REST(acl_arguments, words, TEXT, "word", "a subcommand (ACL HELP) and its arguments"),
};

static enum status run_acl(struct call *call, struct error *error)
{
    const struct acl_arguments *given = call->arguments;
    return subcommand_run(&table, call, given->words, error);
}

// ---------------------------------------------------------------------------------------------
// Users at run time

struct user_set_arguments {
    struct slice name, password;
    struct slices rights;
};

static const struct argument user_set_takes[] = {
    ARGUMENT(user_set_arguments, name, NAME, "name", "the user's name"),
    OPTION(user_set_arguments, password, TEXT, "PASSWORD",
           "the password, or its hash as --hash-password prints it; as it was when not given",
           .about = ABOUT_SECRET),
    OPTION_EACH(user_set_arguments, rights, TEXT, "RIGHT",
                "NAMESPACE[/QUEUE]:RIGHT[+RIGHT]; all of them as they were when none is given"),
};

struct user_arguments {
    struct slice name;
};

static const struct argument user_takes[] = {
    ARGUMENT(user_arguments, name, NAME, "name", "the user's name"),
};

static struct slice next_word(struct slice *rest)
{
    assert(rest->data || !rest->size);
    const char *end = rest->size ? memchr(rest->data, ' ', rest->size) : NULL;
    struct slice word = slice_sub(*rest, 0, end ? (size_t)(end - rest->data) : rest->size);
    *rest = slice_sub(*rest, word.size + 1, SIZE_MAX);
    return word;
}

// Checks the name and the rights to be set, and that a user with every right remains.
static enum status check_user(struct server *server, const struct user_set_arguments *given,
                              struct slice before, struct error *error)
{
    const struct user *user = users_find(server->users, given->name);
    bool is_admin = before.size && !given->rights.count; // then the rights remain
    struct slice words[3] = { given->name, SLICE("x"), SLICE("*:read") };
    enum status status = user_check_words(words, 3, error);
    for (size_t i = 0; i < given->rights.count && !status; i++) {
        words[2] = given->rights.items[i];
        is_admin |= slice_equal(words[2], SLICE("*:admin"));
        status = user_check_words(words, 3, error);
    }
    if (status) {
        return status;
    }
    if (user && !user->stored) {
        return error_set(error, STATUS_STATE,
                         "user %.*s is set in the settings, which take precedence; change it there",
                         SLICE_PRINT(slice_shown(given->name)));
    }
    if (!before.size && (!given->password.data || !given->rights.count)) {
        return error_set(error, STATUS_INVALID, "a new user needs PASSWORD and RIGHT");
    }
    if (users_anybody(server->users)) {
        return error_set(error, STATUS_STATE,
                         "no users are set up; set a password or a user in the settings first");
    }
    if (!is_admin && !users_have_admin(server->users, given->name)) {
        return error_set(error, STATUS_STATE, "the last user with *:admin cannot lose this right");
    }
    return STATUS_OK;
}

// Appends "NAME RIGHTS...".
static void append_user(struct buffer *out, const struct user_set_arguments *given,
                        struct slice before)
{
    buffer_append(out, given->name);
    (void)next_word(&before);
    (void)next_word(&before);
    if (!given->rights.count) {
        buffer_append(out, SLICE(" "));
        buffer_append(out, before);
    }
    for (size_t i = 0; i < given->rights.count; i++) {
        buffer_append(out, SLICE(" "));
        buffer_append(out, given->rights.items[i]);
    }
}

// `kept` is "NAME RIGHTS..."; the hash is inserted between them.
static enum status store_user(struct connection *connection, struct slice kept, struct slice hash,
                              struct error *error)
{
    struct server *server = connection->server;
    struct buffer line;
    buffer_init(&line, server->settings.allocator, NOTE_SIZE_MAX);
    buffer_append(&line, next_word(&kept));
    buffer_append(&line, SLICE(" "));
    buffer_append(&line, hash);
    buffer_append(&line, SLICE(" "));
    buffer_append(&line, kept);
    enum status status = line.status
                             ? error_set(error, line.status, "the user's rights are too long")
                             : user_store_set(server, buffer_slice(&line), error);
    buffer_release(&line);
    if (!status) {
        user_store_apply(server, connection);
    }
    return status;
}

static void user_hashed(struct connection *connection, struct slice kept,
                        const struct password *password, const struct error *why)
{
    struct error error;
    char hash[PASSWORD_TEXT_SIZE];
    enum status status = STATUS_OK;
    if (password) {
        password_format(password, hash);
        status = store_user(connection, kept, slice_from_cstr(hash), &error);
    } else {
        status = error_copy(&error, why);
    }
    if (status) {
        connection_reply_error(connection, &error);
    } else if (!execute_is_silent(connection)) {
        struct resp_writer writer;
        connection_output_begin(connection);
        reply_ok(connection->protocol->begin(connection, &writer));
        (void)connection->protocol->end(connection, &writer);
        connection_output_end(connection, 1);
    }
}

static enum status run_user_set(struct call *call, struct error *error)
{
    struct connection *connection = call->session;
    struct server *server = connection->server;
    const struct user_set_arguments *given = call->arguments;
    struct slice before = user_store_line(server, given->name);
    enum status status = check_user(server, given, before, error);
    if (status) {
        return status;
    }
    struct password parsed;
    struct slice hash = given->password;
    struct slice rest = before;
    bool is_plain = hash.data && !password_is_hash(hash);
    if (!hash.data) {
        (void)next_word(&rest);
        hash = next_word(&rest);
    }
    if (!is_plain) {
        status = password_parse(hash, &parsed, error);
    } else if (transaction_runs(connection)) {
        status = error_set(error, STATUS_UNSUPPORTED,
                           "a transaction cannot hash a password; give its hash");
    }
    if (status) {
        return status;
    }
    struct buffer kept;
    buffer_init(&kept, server->settings.allocator, NOTE_SIZE_MAX);
    append_user(&kept, given, before);
    if (kept.status) {
        status = error_set(error, kept.status, "the user's rights are too long");
    } else if (is_plain) {
        status = login_hash(connection, hash, buffer_slice(&kept), user_hashed, error);
        call->wait.kind = status ? WAIT_NONE : WAIT_HOST;
    } else {
        char text[PASSWORD_TEXT_SIZE]; // a copy, since the change frees the original
        password_format(&parsed, text);
        status = call_ok(call,
                         store_user(connection, buffer_slice(&kept), slice_from_cstr(text), error));
    }
    buffer_release(&kept);
    return status;
}

static enum status run_user_del(struct call *call, struct error *error)
{
    struct connection *connection = call->session;
    struct server *server = connection->server;
    const struct user_arguments *given = call->arguments;
    if (!users_have_admin(server->users, given->name)) {
        return error_set(error, STATUS_STATE, "the last user with *:admin cannot be removed");
    }
    enum status status = user_store_unset(server, given->name, error);
    if (!status) {
        user_store_apply(server, connection);
    }
    return call_ok(call, status);
}

static enum status run_users(struct call *call, struct error *error)
{
    (void)error;
    const struct connection *connection = call->session;
    const struct users *users = connection->server->users;
    const struct user *user;
    size_t count = 0;
    while (users_at(users, count)) {
        count++;
    }
    reply_list(call->reply, count);
    for (size_t i = 0; (user = users_at(users, i)); i++) {
        reply_map(call->reply, 3);
        reply_key(call->reply, "user");
        reply_text(call->reply, slice_from_cstr(user->name));
        reply_key(call->reply, "stored");
        reply_boolean(call->reply, user->stored);
        reply_key(call->reply, "rights");
        write_rights(call->reply, user);
        reply_end(call->reply);
    }
    reply_end(call->reply);
    return STATUS_OK;
}

// ---------------------------------------------------------------------------------------------
// The audit log

static const char *const kind_words[] = { "act", "denied", "login", NULL };

struct audit_arguments {
    int64_t count, before, kind;
    bool has_count, has_before, has_kind;
    struct slice ns, user, command;
};

static const struct argument audit_takes[] = {
    OPTION_HAS(audit_arguments, count, has_count, INTEGER, "COUNT", "how many at most (100)",
               .min = 1, .max = AUDIT_COUNT_MAX),
    OPTION_HAS(audit_arguments, before, has_before, INTEGER, "BEFORE",
               "only entries with a number below this", .min = 1, .max = INT64_MAX),
    OPTION_HAS(audit_arguments, kind, has_kind, WORD, "KIND", "only entries of this kind",
               .words = kind_words),
    OPTION(audit_arguments, ns, NAME, "NAMESPACE", "only entries about this namespace"),
    OPTION(audit_arguments, user, NAME, "USER", "only entries of this user"),
    OPTION(audit_arguments, command, NAME, "COMMAND", "only entries about this command"),
};

static const struct audit_entry *next_entry(const struct audit *audit,
                                            const struct audit_arguments *given, uint64_t before)
{
    const struct audit_entry *entry = audit_before(audit, before);
    while (entry && ((given->has_kind && (int64_t)entry->kind != given->kind) ||
                     (given->ns.data && !slice_equal(entry->ns, given->ns)) ||
                     (given->user.size && !slice_equal(entry->user, given->user)) ||
                     (given->command.size && !ascii_equal(entry->command, given->command)))) {
        entry = audit_before(audit, entry->id);
    }
    return entry;
}

static void write_entry(struct reply *reply, const struct audit_entry *entry)
{
    reply_map(reply, 9);
    reply_key(reply, "id");
    reply_count(reply, entry->id);
    reply_key(reply, "at");
    reply_moment(reply, entry->at_us);
    reply_key(reply, "kind");
    reply_text(reply, slice_from_cstr(audit_kind_name(entry->kind)));
    reply_key(reply, "user");
    reply_text_or_null(reply, entry->user);
    reply_key(reply, "address");
    reply_text(reply, entry->address);
    reply_key(reply, "namespace");
    reply_text_or_null(reply, entry->ns);
    reply_key(reply, "command");
    reply_text_or_null(reply, entry->command);
    reply_key(reply, "arguments");
    reply_text_or_null(reply, entry->arguments);
    reply_key(reply, "outcome");
    reply_text(reply, slice_from_cstr(status_name(entry->status)));
    reply_end(reply);
}

static enum status run_audit(struct call *call, struct error *error)
{
    const struct connection *connection = call->session;
    const struct audit_arguments *given = call->arguments;
    const struct audit *audit = &connection->server->audit;
    enum status status = given->ns.data
                             ? answer_check_right(connection, given->ns, RIGHT_ADMIN, error)
                             : answer_check_admin(connection, "Q.AUDIT without NAMESPACE", error);
    if (status) {
        return status;
    }
    uint64_t newest = given->has_before ? (uint64_t)given->before : UINT64_MAX;
    size_t wanted = given->has_count ? (size_t)given->count : 100;
    size_t count = 0;
    const struct audit_entry *entry = next_entry(audit, given, newest);
    for (; entry && count < wanted; count++) {
        entry = next_entry(audit, given, entry->id);
    }
    reply_list(call->reply, count);
    entry = next_entry(audit, given, newest);
    for (size_t i = 0; i < count; i++) {
        write_entry(call->reply, entry);
        entry = next_entry(audit, given, entry->id);
    }
    reply_end(call->reply);
    return STATUS_OK;
}

// ---------------------------------------------------------------------------------------------

static const struct command commands[] = {
    {
        .name = "Q.WHOAMI",
        .group = "users",
        .flags = COMMAND_CONNECTION | COMMAND_READS,
        .run = run_whoami,
        .summary = "Shows the user of the connection, its address and its rights.",
        .details = "The user is null when no users are set up: then every client has every right.",
        .replies = "A map.",
        EXAMPLES({ "Q.WHOAMI", "1# \"user\" => \"ann\"\n2# \"address\" => \"127.0.0.1:50000\"\n"
                               "3# \"rights\" => 1) \"app/mail-*:put\"" }),
    },
    {
        .name = "ACL",
        .group = "users",
        .flags = COMMAND_CONNECTION | COMMAND_READS,
        TAKES(acl_arguments, acl_takes),
        .run = run_acl,
        .summary = "Shows the user of the connection, for Redis clients.",
        .replies = "As in Redis; ACL HELP lists the subcommands.",
        EXAMPLES({ "ACL WHOAMI", "\"ann\"" }),
    },
    {
        .name = "Q.USER.SET",
        .group = "users",
        .flags =
            COMMAND_CONNECTION | COMMAND_WRITES | COMMAND_ADMIN | COMMAND_AUDITED | COMMAND_SECRET,
        TAKES(user_set_arguments, user_set_takes),
        .run = run_user_set,
        .summary = "Adds a user, or changes one that was added so.",
        .details = "The user is stored and survives a restart. A user of the same name in the "
                   "settings takes precedence; without it the stored one counts again. Rights "
                   "change at once; when the password changes, the user's connections are closed.",
        .replies = "OK.",
        EXAMPLES({ "Q.USER.SET shop PASSWORD secret RIGHT app/mail-*:put", "OK" }),
    },
    {
        .name = "Q.USER.DEL",
        .group = "users",
        .flags =
            COMMAND_CONNECTION | COMMAND_WRITES | COMMAND_SHRINKS | COMMAND_ADMIN | COMMAND_AUDITED,
        TAKES(user_arguments, user_takes),
        .run = run_user_del,
        .summary = "Removes a user that Q.USER.SET has added, and closes its connections.",
        .replies = "OK.",
        EXAMPLES({ "Q.USER.DEL shop", "OK" }),
    },
    {
        .name = "Q.USERS",
        .group = "users",
        .flags = COMMAND_CONNECTION | COMMAND_READS | COMMAND_ADMIN,
        .run = run_users,
        .summary = "Lists the users and their rights.",
        .replies = "A list of maps; `stored` is false for users of the settings.",
        EXAMPLES({ "Q.USERS", "1) 1# \"user\" => \"shop\"\n   2# \"stored\" => (true)\n"
                              "   3# \"rights\" => 1) \"app/mail-*:put\"" }),
    },
    {
        .name = "Q.AUDIT",
        .group = "users",
        .flags = COMMAND_CONNECTION | COMMAND_READS,
        TAKES(audit_arguments, audit_takes),
        .run = run_audit,
        .summary = "Lists what administrators did, and what was refused, the newest first.",
        .details =
            "Entries are of the kind `act` (a command that changes what concerns more than "
            "the caller's own jobs), `denied` (a user had no right to a command) or `login` "
            "(a failed login). As many as audit-kept says are kept in memory, acts, "
            "acts on single jobs and refusals apart; each is in the server's log too. Secrets are "
            "never part of an "
            "entry. It needs the right `admin` on every namespace, or with NAMESPACE on that "
            "one.",
        .replies = "A list of maps. BEFORE with the last id gives the next ones.",
        EXAMPLES({ "Q.AUDIT COUNT 1", "1) 1# \"id\" => (integer) 7\n"
                                      "   2# \"at\" => (double) 1784000000.5\n"
                                      "   3# \"kind\" => \"act\"\n"
                                      "   4# \"user\" => \"ann\"\n"
                                      "   5# \"address\" => \"127.0.0.1:50000\"\n"
                                      "   6# \"namespace\" => \"app\"\n"
                                      "   7# \"command\" => \"Q.PAUSE\"\n"
                                      "   8# \"arguments\" => \"mail\"\n"
                                      "   9# \"outcome\" => \"ok\"" }),
    },
};

const struct command_table server_user_commands = TABLE(commands);
