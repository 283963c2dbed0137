// SPDX-License-Identifier: MIT
#include "server/redis/slow_commands.h"

#include "base/num.h"
#include "server/log/log.h"
#include "server/redis/answer.h"
#include "server/redis/session.h"
#include "server/redis/tables.h"

#include <assert.h>

enum {
    MORE_SIZE = 40,     // of "... (4294967296 more arguments)"
    GET_COUNT = 10,     // SLOWLOG GET without a number, as in Redis
    GET_COUNT_ALL = -1, // with this number: all
    US_A_SECOND = 1000000,
};

// One block: the struct, the slices of the words, and their bytes.
struct slow_command {
    struct slow_command *newer, *older;
    size_t size; // of the block
    uint64_t id;
    int64_t at_us, took_us;
    char address[ADDRESS_TEXT_SIZE], name[CLIENT_NAME_SIZE];
    size_t count;
    struct slice words[];
};

// ---------------------------------------------------------------------------------------------
// Entries

static void drop_oldest(struct server *server)
{
    struct slow_commands *all = &server->slow_commands;
    struct slow_command *oldest = all->oldest;
    assert(oldest);
    all->oldest = oldest->newer;
    *(oldest->newer ? &oldest->newer->older : &all->newest) = NULL;
    all->count--;
    mem_free(server->settings.allocator, oldest, oldest->size);
}

void slow_commands_clear(struct server *server)
{
    while (server->slow_commands.count) {
        drop_oldest(server);
    }
}

static size_t kept_size(struct slice word)
{
    return word.size <= SLOW_WORD_SIZE_MAX ? word.size : SLOW_WORD_SIZE_MAX + MORE_SIZE;
}

// Copies a word to `at`, truncated.
static struct slice keep_word(struct slice word, char *at)
{
    size_t size = word.size < SLOW_WORD_SIZE_MAX ? word.size : SLOW_WORD_SIZE_MAX;
    if (size) {
        memcpy(at, word.data, size);
    }
    if (size < word.size) {
        size += (size_t)snprintf(at + size, MORE_SIZE, "... (%zu more bytes)", word.size - size);
    }
    return slice_make(at, size);
}

// Selects the words of an entry: at most SLOW_WORDS_MAX, the last of which may be the number of
// omitted words. `more` has room for it.
static struct slices choose_words(const struct command *command, struct slices words,
                                  struct slice chosen[SLOW_WORDS_MAX], char more[MORE_SIZE])
{
    chosen[0] = slice_from_cstr(command->name);
    if ((command->flags & COMMAND_SECRET) && words.count > 1) {
        chosen[1] = SLICE("(redacted)");
        return (struct slices){ chosen, 2 };
    }
    size_t count = words.count < SLOW_WORDS_MAX ? words.count : SLOW_WORDS_MAX;
    for (size_t i = 1; i < count; i++) {
        chosen[i] = words.items[i];
    }
    if (count < words.count) {
        int size = snprintf(more, MORE_SIZE, "... (%zu more arguments)", words.count - count + 1);
        chosen[count - 1] = slice_make(more, (size_t)size);
    }
    return (struct slices){ chosen, count };
}

// NULL: no memory.
static struct slow_command *entry_new(const struct connection *connection, struct slices words)
{
    size_t size = sizeof(struct slow_command) + words.count * sizeof(struct slice);
    for (size_t i = 0; i < words.count; i++) {
        size += kept_size(words.items[i]);
    }
    struct slow_command *entry = mem_alloc(connection->server->settings.allocator, size);
    if (!entry) {
        return NULL;
    }
    *entry = (struct slow_command){ .size = size, .count = words.count };
    memcpy(entry->address, connection->address, sizeof(entry->address));
    memcpy(entry->name, session_of(connection)->name, sizeof(entry->name));
    char *at = (char *)(entry->words + words.count);
    for (size_t i = 0; i < words.count; i++) {
        entry->words[i] = keep_word(words.items[i], at);
        at += kept_size(words.items[i]);
    }
    return entry;
}

static void keep(struct connection *connection, struct slices words, int64_t took_us)
{
    struct server *server = connection->server;
    struct slow_commands *all = &server->slow_commands;
    uint64_t id = all->total++;
    struct slow_command *entry = entry_new(connection, words);
    if (!entry) {
        return; // the command is logged and counted without an entry
    }
    entry->id = id;
    entry->at_us = server_now(server);
    entry->took_us = took_us;
    entry->older = all->newest;
    *(all->newest ? &all->newest->newer : &all->oldest) = entry;
    all->newest = entry;
    all->count++;
    while (all->count > server->settings.slow_commands_kept) {
        drop_oldest(server);
    }
}

void slow_commands_note(struct connection *connection, const struct command *command,
                        struct slices words, int64_t took_us)
{
    int64_t slow_us = connection->server->settings.slow_command_us;
    if (slow_us == 0 || took_us < slow_us) {
        return;
    }
    struct slice ns =
        (command->flags & COMMAND_NAMESPACE) && words.count > 1 ? words.items[1] : SLICE_EMPTY;
    log_line(LOG_LEVEL_WARNING, "slow command", LOG_STRING("command", command->name),
             LOG_NUMBER("us", took_us), LOG_TEXT("ns", ns),
             LOG_STRING("address", connection->address));
    struct slice chosen[SLOW_WORDS_MAX];
    char more[MORE_SIZE];
    keep(connection, choose_words(command, words, chosen, more), took_us);
}

// ---------------------------------------------------------------------------------------------
// SLOWLOG

static void reply_entry(struct call *call, const struct slow_command *entry)
{
    reply_list(call->reply, 6);
    reply_count(call->reply, entry->id);
    reply_integer(call->reply, entry->at_us / US_A_SECOND);
    reply_integer(call->reply, entry->took_us);
    reply_list(call->reply, entry->count);
    for (size_t i = 0; i < entry->count; i++) {
        reply_text(call->reply, entry->words[i]);
    }
    reply_end(call->reply);
    reply_text(call->reply, slice_from_cstr(entry->address));
    reply_text(call->reply, slice_from_cstr(entry->name));
    reply_end(call->reply);
}

static enum status run_get(struct call *call, struct slices words, struct error *error)
{
    const struct connection *connection = call->session;
    const struct slow_commands *all = &connection->server->slow_commands;
    int64_t count = GET_COUNT;
    if (words.count && (num_parse_i64(words.items[0], &count) || count < GET_COUNT_ALL)) {
        return error_set(error, STATUS_INVALID, "count should be greater than or equal to -1");
    }
    if (count == GET_COUNT_ALL || (uint64_t)count > all->count) {
        count = (int64_t)all->count;
    }
    reply_list(call->reply, (size_t)count);
    for (const struct slow_command *at = all->newest; at && count > 0; at = at->older, count--) {
        reply_entry(call, at);
    }
    reply_end(call->reply);
    return STATUS_OK;
}

static enum status run_len(struct call *call, struct slices words, struct error *error)
{
    (void)words;
    (void)error;
    const struct connection *connection = call->session;
    reply_count(call->reply, connection->server->slow_commands.count);
    return STATUS_OK;
}

static enum status run_reset(struct call *call, struct slices words, struct error *error)
{
    (void)words;
    (void)error;
    const struct connection *connection = call->session;
    slow_commands_clear(connection->server);
    reply_ok(call->reply);
    return STATUS_OK;
}

// The entries show the arguments of commands in all namespaces, so only an administrator of all
// namespaces may read them.
static const struct subcommand subcommands[] = {
    { "GET", "[<count>]", "The slow commands that are kept, the newest first.", 0, 1, true,
      run_get },
    { "LEN", "", "How many are kept.", 0, 0, true, run_len },
    { "RESET", "", "Forget those that are kept.", 0, 0, true, run_reset },
};

static const struct subcommands table = TABLE_OF_SUBCOMMANDS(subcommands);

struct words_arguments {
    struct slices words;
};

static const struct argument words_takes[] = {
    REST(words_arguments, words, TEXT, "word", "a subcommand (HELP lists them) and its arguments"),
};

static enum status run_slowlog(struct call *call, struct error *error)
{
    const struct words_arguments *given = call->arguments;
    return subcommand_run(&table, call, given->words, error);
}

static const struct command commands[] = {
    {
        .name = "SLOWLOG",
        .group = "server",
        .flags = COMMAND_CONNECTION,
        TAKES(words_arguments, words_takes),
        .run = run_slowlog,
        .summary = "Shows the commands that took longer than the setting slow-command.",
        .details = "The time is that of running the command, without waiting, reading the request "
                   "and sending the reply. Long commands are cut; the words of commands that take "
                   "secrets are not kept. Needs an administrator of every namespace. GET has 10 "
                   "of them, with a count as many, with -1 all.",
        .replies = "GET: a list of lists: id, time in seconds since 1970, duration in "
                   "microseconds, words, the client's address, its name. LEN: a number. RESET: OK.",
        EXAMPLES({ "SLOWLOG LEN", "(integer) 0" }),
    },
};

const struct command_table server_slowlog_commands = TABLE(commands);
