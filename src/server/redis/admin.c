// SPDX-License-Identifier: MIT
// Commands for administrators of the server: CONFIG and others.
#include "server/redis/answer.h"
#include "server/redis/tables.h"

#include "base/glob.h"
#include "base/num.h"

enum {
    VALUES_MAX = 1 << 20, // bytes of one setting's value
};

struct words_arguments {
    struct slices words;
};

// ---------------------------------------------------------------------------------------------
// CONFIG

// Redis's settings that clients ask for, and the settings of Sluice that come closest.
static const struct {
    const char *name, *value;
} redis_settings[] = {
    { "appendfsync", "always" },
    { "appendonly", "yes" },
    { "databases", "16" },
    { "maxmemory", "0" },
    { "save", "" },
    { "cluster-enabled", "no" },
    { "maxmemory-policy", "noeviction" },
};

enum {
    REDIS_SETTINGS = sizeof(redis_settings) / sizeof(redis_settings[0]),
};

enum {
    GET_PATTERNS_MAX = 100, // of a CONFIG GET
};

// The settings that match the patterns: those of Sluice, then those of Redis.
struct matched {
    bool own[SETTINGS_COUNT_MAX];
    bool redis[REDIS_SETTINGS];
    size_t count;
};

static void match_one(const struct glob *pattern, const char *name, struct matched *matched,
                      bool *already)
{
    if (!*already && glob_matches(pattern, slice_from_cstr(name))) {
        *already = true;
        matched->count++;
    }
}

static enum status match_settings(const struct allocator *allocator, struct slices patterns,
                                  struct matched *matched, struct error *error)
{
    *matched = (struct matched){ .count = 0 };
    if (patterns.count > GET_PATTERNS_MAX) {
        return error_set(error, STATUS_TOO_LARGE, "CONFIG GET takes at most %d patterns, not %zu",
                         GET_PATTERNS_MAX, patterns.count);
    }
    for (size_t i = 0; i < patterns.count; i++) {
        struct glob *pattern;
        enum status status = glob_new(allocator, patterns.items[i], GLOB_ANY_CASE, &pattern, error);
        if (status) {
            return status;
        }
        for (size_t j = 0; settings_name(j); j++) {
            match_one(pattern, settings_name(j), matched, &matched->own[j]);
        }
        for (size_t j = 0; j < REDIS_SETTINGS; j++) {
            match_one(pattern, redis_settings[j].name, matched, &matched->redis[j]);
        }
        glob_free(allocator, pattern);
    }
    return STATUS_OK;
}

static void write_setting(struct call *call, size_t index)
{
    const struct connection *connection = call->session;
    struct buffer value;
    buffer_init(&value, connection->server->settings.allocator, VALUES_MAX);
    settings_append_value(&connection->server->settings, index, &value);
    reply_text(call->reply, slice_from_cstr(settings_name(index)));
    reply_text(call->reply, buffer_slice(&value));
    buffer_release(&value);
}

static enum status run_get(struct call *call, struct slices words, struct error *error)
{
    const struct connection *connection = call->session;
    struct matched matched;
    enum status status =
        match_settings(connection->server->settings.allocator, words, &matched, error);
    if (status) {
        return status;
    }
    reply_map(call->reply, matched.count);
    for (size_t i = 0; settings_name(i); i++) {
        if (matched.own[i]) {
            write_setting(call, i);
        }
    }
    for (size_t i = 0; i < REDIS_SETTINGS; i++) {
        if (matched.redis[i]) {
            reply_text(call->reply, slice_from_cstr(redis_settings[i].name));
            reply_text(call->reply, slice_from_cstr(redis_settings[i].value));
        }
    }
    reply_end(call->reply);
    return STATUS_OK;
}

static enum status run_set(struct call *call, struct slices words, struct error *error)
{
    (void)call;
    (void)words;
    return error_set(error, STATUS_UNSUPPORTED,
                     "settings are changed in the config file, which SIGHUP reads again, and by "
                     "flags and the environment at the next start; those of a namespace by "
                     "Q.CONFIG.SET");
}

static enum status run_rewrite(struct call *call, struct slices words, struct error *error)
{
    (void)call;
    (void)words;
    return error_set(error, STATUS_UNSUPPORTED, "the server never writes its config file");
}

static enum status run_resetstat(struct call *call, struct slices words, struct error *error)
{
    (void)words;
    (void)error;
    const struct connection *connection = call->session;
    connection->server->figures = (struct server_figures){ 0 };
    reply_ok(call->reply);
    return STATUS_OK;
}

static const struct subcommand config_subcommands[] = {
    { "GET", "<pattern> [<pattern> ...]", "The settings that match.", 1, SIZE_MAX, true, run_get },
    { "SET", "<name> <value>", "Refused: settings are changed in the config file.", 0, SIZE_MAX,
      true, run_set },
    { "RESETSTAT", "", "Count from zero again what INFO shows.", 0, 0, SUBCOMMAND_AUDITED,
      run_resetstat },
    { "REWRITE", "", "Refused: the server never writes its config file.", 0, 0, true, run_rewrite },
};

static const struct subcommands config_table = TABLE_OF_SUBCOMMANDS(config_subcommands);

static const struct argument words_takes[] = {
    REST(words_arguments, words, TEXT, "word", "a subcommand (HELP lists them) and its arguments"),
};

static enum status run_config(struct call *call, struct error *error)
{
    const struct words_arguments *given = call->arguments;
    return subcommand_run(&config_table, call, given->words, error);
}

// ---------------------------------------------------------------------------------------------
// Commands about what Redis stores and this server does not: empty replies, so that tools which
// read them continue

static enum status write_none(struct call *call, struct slices words, struct error *error)
{
    (void)words;
    (void)error;
    reply_list(call->reply, 0);
    reply_end(call->reply);
    return STATUS_OK;
}

static enum status write_zero(struct call *call, struct slices words, struct error *error)
{
    (void)words;
    (void)error;
    reply_integer(call->reply, 0);
    return STATUS_OK;
}

static const struct subcommand latency_subcommands[] = {
    { "LATEST", "", "Nothing: latencies are in INFO and in the metrics.", 0, 0, false, write_none },
    { "HISTORY", "<event>", "Nothing.", 1, 1, false, write_none },
    { "RESET", "[<event> ...]", "Nothing to do.", 0, SIZE_MAX, false, write_zero },
};

static const struct subcommands latency_table = TABLE_OF_SUBCOMMANDS(latency_subcommands);

static enum status run_latency(struct call *call, struct error *error)
{
    const struct words_arguments *given = call->arguments;
    return subcommand_run(&latency_table, call, given->words, error);
}

// ---------------------------------------------------------------------------------------------
// The process

static enum status run_time(struct call *call, struct error *error)
{
    (void)error;
    char text[2][24];
    int seconds = snprintf(text[0], sizeof(text[0]), "%lld", (long long)(call->now_us / 1000000));
    int rest = snprintf(text[1], sizeof(text[1]), "%lld", (long long)(call->now_us % 1000000));
    reply_list(call->reply, 2);
    reply_text(call->reply, slice_make(text[0], (size_t)seconds));
    reply_text(call->reply, slice_make(text[1], (size_t)rest));
    reply_end(call->reply);
    return STATUS_OK;
}

static const struct argument shutdown_takes[] = {
    OPTIONAL_REST(words_arguments, words, TEXT, "word",
                  "NOSAVE, SAVE, NOW and FORCE make no difference: nothing is ever lost"),
};

static bool is_shutdown_word(struct slice word)
{
    return word_is(word, "NOSAVE") || word_is(word, "SAVE") || word_is(word, "NOW") ||
           word_is(word, "FORCE");
}

// As in Redis there is no reply: the connection closes.
static enum status run_shutdown(struct call *call, struct error *error)
{
    const struct connection *connection = call->session;
    const struct words_arguments *given = call->arguments;
    for (size_t i = 0; i < given->words.count; i++) {
        if (!is_shutdown_word(given->words.items[i])) {
            return error_set(error, STATUS_INVALID, "SHUTDOWN takes NOSAVE, SAVE, NOW and FORCE");
        }
    }
    server_stop(connection->server);
    return STATUS_OK;
}

struct drain_arguments {
    bool off;
};

static const struct argument drain_takes[] = {
    OPTION(drain_arguments, off, FLAG, "OFF", "accepts new jobs again"),
};

static enum status run_drain(struct call *call, struct error *error)
{
    (void)error;
    const struct connection *connection = call->session;
    const struct drain_arguments *given = call->arguments;
    server_drain(connection->server, !given->off);
    return call_ok(call, STATUS_OK);
}

static enum status run_reload(struct call *call, struct error *error)
{
    const struct connection *connection = call->session;
    return call_ok(call, server_reload(connection->server, error));
}

// ---------------------------------------------------------------------------------------------

static const struct command commands[] = {
    {
        .name = "CONFIG",
        .group = "server",
        .flags = COMMAND_CONNECTION | COMMAND_SECRET,
        TAKES(words_arguments, words_takes),
        .run = run_config,
        .summary = "Shows the settings of the server.",
        .details = "Secrets are hidden. What some of Redis's settings come closest to here is "
                   "shown too.",
        .replies = "A map of names and values; CONFIG HELP lists the subcommands.",
        EXAMPLES({ "CONFIG GET max-*", "1# \"max-arguments\" => \"1048576\"\n2# ..." }),
    },
    {
        .name = "TIME",
        .group = "server",
        .flags = COMMAND_CONNECTION | COMMAND_READS,
        .run = run_time,
        .summary = "Shows the time of the server.",
        .replies = "A list: the seconds since 1970, and the microseconds beyond them.",
        EXAMPLES({ "TIME", "1) \"1784000000\"\n2) \"500000\"" }),
    },
    {
        .name = "SHUTDOWN",
        .group = "server",
        .flags = COMMAND_CONNECTION | COMMAND_ADMIN | COMMAND_AUDITED,
        TAKES(words_arguments, shutdown_takes),
        .run = run_shutdown,
        .summary = "Replies to the requests that were received, and stops the server.",
        .replies = "Nothing: the connection ends.",
        EXAMPLES({ "SHUTDOWN", "" }),
    },
    {
        .name = "Q.DRAIN",
        .group = "server",
        .flags = COMMAND_CONNECTION | COMMAND_ADMIN | COMMAND_AUDITED,
        TAKES(drain_arguments, drain_takes),
        .run = run_drain,
        .summary = "Drains the server: it accepts no new jobs, and work on present ones goes on.",
        .details = "Puts are refused with BUSY, also those of tasks and of qless's clients, and "
                   "recurring jobs make no jobs; when it ends, runs that were missed are treated "
                   "as Q.RECUR's MISSED says. A job that exists can be requeued, retried, kicked "
                   "and advanced; a restore is accepted. SIGUSR1 does the same. It ends with OFF "
                   "or when the server stops. INFO and /readyz show it.",
        .replies = "OK.",
        EXAMPLES({ "Q.DRAIN", "OK" }, { "Q.DRAIN OFF", "OK" }),
    },
    {
        .name = "Q.RELOAD",
        .group = "server",
        .flags = COMMAND_CONNECTION | COMMAND_ADMIN | COMMAND_AUDITED,
        .run = run_reload,
        .summary = "Reads the config file again, as on SIGHUP.",
        .details = "Settings that need a restart keep their values, and the log lists them.",
        .replies = "OK, or what is wrong with the file; then every setting stays as it was.",
        EXAMPLES({ "Q.RELOAD", "OK" }),
    },
    {
        .name = "LATENCY",
        .group = "server",
        .flags = COMMAND_CONNECTION,
        TAKES(words_arguments, words_takes),
        .run = run_latency,
        .summary = "Empty: latencies are not kept this way.",
        .replies = "As in Redis, with nothing in it.",
        EXAMPLES({ "LATENCY LATEST", "(empty array)" }),
    },
};

const struct command_table server_admin_commands = TABLE(commands);
