// SPDX-License-Identifier: MIT
// Commands that subscribe to channels, and commands that publish.
#include "base/glob.h"
#include "server/redis/answer.h"
#include "server/redis/session.h"
#include "server/redis/tables.h"

struct names_arguments {
    struct slices names;
};

static const struct argument channels_takes[] = {
    REST(names_arguments, names, TEXT, "channel", "a channel"),
};

static const struct argument patterns_takes[] = {
    REST(names_arguments, names, TEXT, "pattern", "a pattern of channels"),
};

static const struct argument maybe_channels_takes[] = {
    OPTIONAL_REST(names_arguments, names, TEXT, "channel", "a channel; none: all"),
};

static const struct argument maybe_patterns_takes[] = {
    OPTIONAL_REST(names_arguments, names, TEXT, "pattern", "a pattern; none: all"),
};

// ---------------------------------------------------------------------------------------------
// Subscribing

// Replies with the result for one channel and the number of subscriptions. An empty name without
// bytes is null.
static void confirm(struct connection *connection, const char *what, struct slice name)
{
    struct buffer *out = &connection->output.bytes;
    resp_push(out, connection->resp->version, 3);
    resp_bulk(out, slice_from_cstr(what));
    if (name.data) {
        resp_bulk(out, name);
    } else {
        resp_null(out, connection->resp->version);
    }
    resp_integer(out, (int64_t)(connection->resp->subscriptions.channels +
                                connection->resp->subscriptions.patterns));
}

static enum status check_names(struct slices names, bool pattern, struct error *error)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; i < names.count && !status; i++) {
        status = pattern ? glob_check(names.items[i], 0, error)
                         : glob_check_text("channel", names.items[i], error);
    }
    return status;
}

static enum status subscribe(struct call *call, bool pattern, struct error *error)
{
    struct connection *connection = call->session;
    const struct names_arguments *given = call->arguments;
    enum status status = check_names(given->names, pattern, error);
    if (status) {
        return status;
    }
    for (size_t i = 0; i < given->names.count; i++) {
        struct error why;
        if (pubsub_subscribe(connection, given->names.items[i], pattern, &why)) {
            // The subscriptions before this one were made and confirmed.
            answer_error(connection, "ERR", "%s", error_sentence(&why));
            break;
        }
        confirm(connection, pattern ? "psubscribe" : "subscribe", given->names.items[i]);
    }
    return STATUS_OK;
}

static enum status unsubscribe(struct call *call, bool pattern)
{
    struct connection *connection = call->session;
    const struct names_arguments *given = call->arguments;
    const char *what = pattern ? "punsubscribe" : "unsubscribe";
    for (size_t i = 0; i < given->names.count; i++) {
        (void)pubsub_unsubscribe(connection, given->names.items[i], pattern);
        confirm(connection, what, given->names.items[i]);
    }
    if (given->names.count == 0) {
        struct slice name;
        size_t count = 0;
        for (; pubsub_unsubscribe_next(connection, pattern, &name); count++) {
            confirm(connection, what, name);
        }
        if (count == 0) {
            confirm(connection, what, SLICE_EMPTY);
        }
    }
    return STATUS_OK;
}

static enum status run_subscribe(struct call *call, struct error *error)
{
    return subscribe(call, false, error);
}

static enum status run_psubscribe(struct call *call, struct error *error)
{
    return subscribe(call, true, error);
}

static enum status run_unsubscribe(struct call *call, struct error *error)
{
    (void)error;
    return unsubscribe(call, false);
}

static enum status run_punsubscribe(struct call *call, struct error *error)
{
    (void)error;
    return unsubscribe(call, true);
}

// ---------------------------------------------------------------------------------------------
// Publishing

struct publish_arguments {
    struct slice channel, message;
};

static const struct argument publish_takes[] = {
    ARGUMENT(publish_arguments, channel, TEXT, "channel", "where to say it"),
    ARGUMENT(publish_arguments, message, TEXT, "message", "what to say"),
};

// Only the server publishes on its own channels, so that subscribers can trust their messages.
static enum status check_channel(const struct connection *connection, struct slice channel,
                                 struct error *error)
{
    enum status status = glob_check_text("channel", channel, error);
    if (status) {
        return status;
    }
    if (slice_starts_with(channel, SLICE("sluice:"))) {
        return error_set(error, STATUS_DENIED,
                         "only the server itself speaks on channels that begin with sluice:");
    }
    if (slice_starts_with(channel, SLICE("ql:"))) {
        return answer_check_right(connection,
                                  slice_from_cstr(connection->server->settings.qless_namespace),
                                  RIGHTS_WRITE, error);
    }
    return user_may_anywhere(connection->user, RIGHTS_WRITE)
               ? STATUS_OK
               : error_set(error, STATUS_DENIED, "user %s has no right to write anywhere",
                           connection->user->name);
}

static enum status run_publish(struct call *call, struct error *error)
{
    struct connection *connection = call->session;
    const struct publish_arguments *given = call->arguments;
    enum status status = check_channel(connection, given->channel, error);
    if (!status) {
        reply_count(call->reply,
                    pubsub_publish(connection->server, given->channel, given->message));
    }
    return status;
}

// ---------------------------------------------------------------------------------------------
// PUBSUB

// Whether the rest of a name after "sluice:NS:" is that of one of the server's channels.
static bool is_own_channel(struct slice rest)
{
    return slice_equal(rest, SLICE("log")) || slice_equal(rest, SLICE("tracked")) ||
           slice_starts_with(rest, SLICE("worker:"));
}

// Whether the user may learn that the channel has subscribers: for the server's own channels, the
// user must have the right to read the namespace. The name of a namespace may contain ':'.
static bool may_see(const struct connection *connection, struct slice channel)
{
    const struct slice own = SLICE("sluice:");
    const struct user *user = connection->user;
    if (user->everywhere & RIGHT_READ) {
        return true;
    }
    if (slice_starts_with(channel, SLICE("ql:"))) {
        const char *qless = connection->server->settings.qless_namespace;
        return user_may(user, slice_from_cstr(qless), RIGHT_READ);
    }
    if (!slice_starts_with(channel, own)) {
        return true;
    }
    for (size_t i = own.size; i < channel.size; i++) {
        if (channel.data[i] == ':' && is_own_channel(slice_sub(channel, i + 1, SIZE_MAX)) &&
            user_may(user, slice_sub(channel, own.size, i - own.size), RIGHT_READ)) {
            return true;
        }
    }
    return false;
}

// The channels that match a pattern: the first pass counts them, the second writes them.
struct channel_list {
    const struct connection *connection; // that runs the command
    const struct glob *pattern;          // NULL: all
    size_t count;
    struct reply *reply; // NULL: the channels are counted
};

static void visit_channel(void *context, struct slice name)
{
    struct channel_list *list = context;
    if (!may_see(list->connection, name) || (list->pattern && !glob_matches(list->pattern, name))) {
        return;
    }
    list->count++;
    if (list->reply) {
        reply_text(list->reply, name);
    }
}

static enum status run_channels(struct call *call, struct slices words, struct error *error)
{
    const struct connection *connection = call->session;
    const struct allocator *allocator = connection->server->settings.allocator;
    struct glob *pattern = NULL;
    enum status status =
        words.count ? glob_new(allocator, words.items[0], 0, &pattern, error) : STATUS_OK;
    if (status) {
        return status;
    }
    struct channel_list list = { .connection = connection, .pattern = pattern };
    pubsub_each_channel(connection->server, visit_channel, &list);
    reply_list(call->reply, list.count);
    list.reply = call->reply;
    pubsub_each_channel(connection->server, visit_channel, &list);
    reply_end(call->reply);
    glob_free(allocator, pattern);
    return STATUS_OK;
}

static enum status run_numsub(struct call *call, struct slices words, struct error *error)
{
    (void)error;
    const struct connection *connection = call->session;
    reply_map(call->reply, words.count);
    for (size_t i = 0; i < words.count; i++) {
        struct slice name = words.items[i];
        reply_text(call->reply, name);
        reply_count(call->reply,
                    may_see(connection, name) ? pubsub_subscribers(connection->server, name) : 0);
    }
    reply_end(call->reply);
    return STATUS_OK;
}

static enum status run_numpat(struct call *call, struct slices words, struct error *error)
{
    (void)words;
    (void)error;
    const struct connection *connection = call->session;
    bool all = connection->user->everywhere & RIGHT_READ;
    reply_count(call->reply, all ? connection->server->pubsub.pattern_count
                                 : connection->resp->subscriptions.patterns);
    return STATUS_OK;
}

static const struct subcommand subcommands[] = {
    { "CHANNELS", "[<pattern>]", "The channels that are listened to.", 0, 1, false, run_channels },
    { "NUMSUB", "[<channel> ...]", "How many listen to each of the channels.", 0, SIZE_MAX, false,
      run_numsub },
    { "NUMPAT", "", "How many patterns there are subscriptions to.", 0, 0, false, run_numpat },
};

static const struct subcommands table = TABLE_OF_SUBCOMMANDS(subcommands);

static const struct argument pubsub_takes[] = {
    REST(names_arguments, names, TEXT, "word", "a subcommand (PUBSUB HELP) and its arguments"),
};

static enum status run_pubsub(struct call *call, struct error *error)
{
    const struct names_arguments *given = call->arguments;
    return subcommand_run(&table, call, given->names, error);
}

// ---------------------------------------------------------------------------------------------

enum {
    LISTENING = COMMAND_CONNECTION | COMMAND_SUBSCRIBED | COMMAND_MANY_REPLIES,
};

static const struct command commands[] = {
    {
        .name = "SUBSCRIBE",
        .group = "pubsub",
        .flags = LISTENING,
        TAKES(names_arguments, channels_takes),
        .run = run_subscribe,
        .summary = "Listens to channels.",
        .details =
            "What happens in a namespace is told as JSON on sluice:NS:log (all of it), "
            "sluice:NS:tracked (about tracked jobs) and sluice:NS:worker:NAME (to a worker), to "
            "those who may read the namespace. In a namespace of qless the same is told as qless's "
            "own messages on ql:* too; patterns that begin with a wildcard hear only those there.",
        .replies = "For each channel a push (in RESP2 a list): subscribe, the channel, how many "
                   "subscriptions there are now. Messages come as: message, the channel, the text.",
        EXAMPLES({ "SUBSCRIBE sluice:app:log",
                   "1) \"subscribe\"\n2) \"sluice:app:log\"\n3) (integer) 1" }),
    },
    {
        .name = "PSUBSCRIBE",
        .group = "pubsub",
        .flags = LISTENING,
        TAKES(names_arguments, patterns_takes),
        .run = run_psubscribe,
        .summary = "Listens to all channels whose names match a pattern.",
        .details = "In a pattern * is any bytes, ? any byte, [a-c] one of a set, [^a-c] one that "
                   "is not, and \\ takes the meaning of the next byte away. The settings "
                   "max-patterns and max-patterns-total limit how many there may be. Patterns and "
                   "the names of channels have at most 1,024 bytes, and a pattern at most 255 "
                   "bytes, ? and sets behind its literal beginning.",
        .replies = "As SUBSCRIBE, with psubscribe and the pattern. Messages come as: pmessage, the "
                   "pattern, the channel, the text.",
        EXAMPLES({ "PSUBSCRIBE sluice:app:*",
                   "1) \"psubscribe\"\n2) \"sluice:app:*\"\n3) (integer) 1" }),
    },
    {
        .name = "UNSUBSCRIBE",
        .group = "pubsub",
        .flags = LISTENING,
        TAKES(names_arguments, maybe_channels_takes),
        .run = run_unsubscribe,
        .summary = "Ends subscriptions to channels.",
        .replies = "As SUBSCRIBE, with unsubscribe.",
        EXAMPLES({ "UNSUBSCRIBE sluice:app:log",
                   "1) \"unsubscribe\"\n2) \"sluice:app:log\"\n3) (integer) 0" }),
    },
    {
        .name = "PUNSUBSCRIBE",
        .group = "pubsub",
        .flags = LISTENING,
        TAKES(names_arguments, maybe_patterns_takes),
        .run = run_punsubscribe,
        .summary = "Ends subscriptions to patterns.",
        .replies = "As SUBSCRIBE, with punsubscribe.",
        EXAMPLES({ "PUNSUBSCRIBE", "1) \"punsubscribe\"\n2) (nil)\n3) (integer) 0" }),
    },
    {
        .name = "PUBLISH",
        .group = "pubsub",
        .flags = COMMAND_CONNECTION,
        TAKES(publish_arguments, publish_takes),
        .run = run_publish,
        .summary = "Sends a message to the listeners of a channel.",
        .details = "Needs the right to write in some namespace; for ql:*, in qless's. On channels "
                   "that begin with sluice: only the server speaks.",
        .replies = "How many were told.",
        EXAMPLES({ "PUBLISH news hello", "(integer) 2" }),
    },
    {
        .name = "PUBSUB",
        .group = "pubsub",
        .flags = COMMAND_CONNECTION,
        TAKES(names_arguments, pubsub_takes),
        .run = run_pubsub,
        .summary = "Which channels there are, and how many listen to them.",
        .details = "A user that may not read every namespace is shown neither channels of "
                   "namespaces that it may not read nor patterns of other connections.",
        .replies = "As in Redis; PUBSUB HELP lists the subcommands.",
        EXAMPLES({ "PUBSUB CHANNELS", "1) \"sluice:app:log\"" },
                 { "PUBSUB NUMSUB sluice:app:log", "1# \"sluice:app:log\" => (integer) 1" }),
    },
};

const struct command_table server_pubsub_commands = TABLE(commands);
