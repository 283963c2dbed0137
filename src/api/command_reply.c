// SPDX-License-Identifier: MIT
// Describes commands as Redis 7 describes its own. Clients use this to find the position of keys
// and the commands that write, and for hints while a command is typed.
#include "api/reference.h"

#include "base/ascii.h"

static void write_text(struct reply *reply, const char *text)
{
    reply_text(reply, slice_from_cstr(text));
}

void command_reply_name(struct reply *reply, const char *name)
{
    char text[64];
    size_t size = 0;
    for (; size < sizeof(text) && name[size]; size++) {
        text[size] = ascii_lower(name[size]);
    }
    reply_text(reply, slice_make(text, size));
}

// ---------------------------------------------------------------------------------------------
// COMMAND INFO

// The name of a Redis flag for commands that have one of our flags and not another.
struct flag_word {
    unsigned with, without;
    const char *word;
};

// denyoom means in Redis: refused when memory is full; here: when the disk is full.
static const struct flag_word flag_words[] = {
    { COMMAND_WRITES, 0, "write" },
    { COMMAND_READS, 0, "readonly" },
    { COMMAND_WRITES, COMMAND_SHRINKS, "denyoom" },
    { COMMAND_ADMIN, 0, "admin" },
    { COMMAND_WAITS, 0, "blocking" },
    { COMMAND_ANYBODY, 0, "no_auth" },
};

static const struct flag_word category_words[] = {
    { COMMAND_WRITES, 0, "@write" },   { COMMAND_READS, 0, "@read" },
    { COMMAND_ADMIN, 0, "@admin" },    { COMMAND_ADMIN, 0, "@dangerous" },
    { COMMAND_WAITS, 0, "@blocking" }, { COMMAND_CONNECTION, 0, "@connection" },
};

static bool applies(const struct command *command, const struct flag_word *word)
{
    return (command->flags & word->with) && !(command->flags & word->without);
}

static void write_words(struct reply *reply, const struct command *command,
                        const struct flag_word *words, size_t count)
{
    size_t applying = 0;
    for (size_t i = 0; i < count; i++) {
        applying += applies(command, &words[i]);
    }
    reply_list(reply, applying);
    for (size_t i = 0; i < count; i++) {
        if (applies(command, &words[i])) {
            reply_word(reply, slice_from_cstr(words[i].word));
        }
    }
    reply_end(reply);
}

static int64_t arity(const struct command *command)
{
    int64_t least = 1 + ((command->flags & COMMAND_NAMESPACE) != 0);
    bool exact = !command->each;
    for (size_t i = 0; i < command->argument_count; i++) {
        unsigned flags = command->arguments[i].flags;
        exact = exact && flags == 0;
        least += !(flags & (ARGUMENT_OPTION | ARGUMENT_OPTIONAL));
    }
    return exact ? least : -least;
}

static void write_integer(struct reply *reply, const char *key, int64_t value)
{
    write_text(reply, key);
    reply_integer(reply, value);
}

// Writes the position of the namespace.
static void write_key_spec(struct reply *reply, const struct command *command)
{
    bool reads = command->flags & COMMAND_READS;
    reply_map(reply, 3);
    reply_key(reply, "flags");
    reply_list(reply, reads ? 2 : 3);
    reply_word(reply, reads ? SLICE("RO") : SLICE("RW"));
    reply_word(reply, SLICE("access"));
    if (!reads) {
        reply_word(reply, SLICE("update"));
    }
    reply_end(reply);
    reply_key(reply, "begin_search");
    reply_map(reply, 2);
    reply_key(reply, "type");
    reply_key(reply, "index");
    reply_key(reply, "spec");
    reply_map(reply, 1);
    write_integer(reply, "index", 1);
    reply_end(reply);
    reply_end(reply);
    reply_key(reply, "find_keys");
    reply_map(reply, 2);
    reply_key(reply, "type");
    reply_key(reply, "range");
    reply_key(reply, "spec");
    reply_map(reply, 3);
    write_integer(reply, "lastkey", 0);
    write_integer(reply, "keystep", 1);
    write_integer(reply, "limit", 0);
    reply_end(reply);
    reply_end(reply);
    reply_end(reply);
}

void command_reply_info(struct reply *reply, const struct command *command)
{
    bool has_key = command->flags & COMMAND_NAMESPACE;
    reply_list(reply, 10);
    command_reply_name(reply, command->name);
    reply_integer(reply, arity(command));
    write_words(reply, command, flag_words, sizeof(flag_words) / sizeof(flag_words[0]));
    reply_integer(reply, has_key); // the first key, the last key, and the step
    reply_integer(reply, has_key);
    reply_integer(reply, has_key);
    write_words(reply, command, category_words, sizeof(category_words) / sizeof(category_words[0]));
    reply_list(reply, 0); // tips
    reply_end(reply);
    reply_list(reply, has_key);
    if (has_key) {
        write_key_spec(reply, command);
    }
    reply_end(reply);
    reply_list(reply, 0); // subcommands: here they are separate commands
    reply_end(reply);
    reply_end(reply);
}

// ---------------------------------------------------------------------------------------------
// COMMAND DOCS

static const char *type_word(enum argument_type type)
{
    switch (type) {
    case ARGUMENT_INTEGER:
        return "integer";
    case ARGUMENT_SECONDS:
    case ARGUMENT_FRACTION:
        return "double";
    case ARGUMENT_MOMENT:
        return "unix-time";
    case ARGUMENT_WORD:
        return "oneof";
    case ARGUMENT_FLAG:
        return "pure-token";
    default:
        return "string";
    }
}

// The beginning of the map of an argument that contains others.
static void write_outer(struct reply *reply, const char *name, const char *type)
{
    reply_key(reply, "name");
    command_reply_name(reply, name);
    reply_key(reply, "type");
    write_text(reply, type);
}

// The beginning of the map of any other argument.
static void write_argument(struct reply *reply, const char *name, const char *type)
{
    write_outer(reply, name, type);
    reply_key(reply, "display_text");
    command_reply_name(reply, name);
}

static void write_words_of(struct reply *reply, const struct argument *argument)
{
    size_t count = 0;
    while (argument->words[count]) {
        count++;
    }
    reply_key(reply, "arguments");
    reply_list(reply, count);
    for (size_t i = 0; i < count; i++) {
        reply_map(reply, 4);
        write_argument(reply, argument->words[i], "pure-token");
        reply_key(reply, "token");
        write_text(reply, argument->words[i]);
        reply_end(reply);
    }
    reply_end(reply);
}

static void write_argument_flags(struct reply *reply, unsigned flags)
{
    bool option = flags & ARGUMENT_OPTION;
    bool repeated = flags & ARGUMENT_REPEATED;
    bool optional = flags & (ARGUMENT_OPTION | ARGUMENT_OPTIONAL);
    reply_key(reply, "flags");
    reply_list(reply, (size_t)optional + (size_t)repeated + (size_t)(option && repeated));
    if (optional) {
        reply_word(reply, SLICE("optional"));
    }
    if (repeated) {
        reply_word(reply, SLICE("multiple"));
    }
    if (option && repeated) {
        reply_word(reply, SLICE("multiple_token"));
    }
    reply_end(reply);
}

static void write_documented(struct reply *reply, const struct argument *argument)
{
    bool option = argument->flags & ARGUMENT_OPTION;
    bool one_of = argument->type == ARGUMENT_WORD;
    // The allowed words, or a text to display.
    reply_map(reply, 4 + (size_t)option + (size_t)(argument->flags != 0));
    (one_of ? write_outer : write_argument)(reply, argument->name, type_word(argument->type));
    if (option) {
        reply_key(reply, "token");
        write_text(reply, argument->name);
    }
    reply_key(reply, "summary");
    write_text(reply, argument->summary);
    if (argument->flags) {
        write_argument_flags(reply, argument->flags);
    }
    if (one_of) {
        write_words_of(reply, argument);
    }
    reply_end(reply);
}

// The elements of a bulk command: each a count and that many words.
static void write_elements(struct reply *reply)
{
    reply_map(reply, 4);
    write_outer(reply, "element", "block");
    write_argument_flags(reply, ARGUMENT_OPTIONAL | ARGUMENT_REPEATED);
    reply_key(reply, "arguments");
    reply_list(reply, 2);
    reply_map(reply, 3);
    write_argument(reply, "count", "integer");
    reply_end(reply);
    reply_map(reply, 4);
    write_argument(reply, "word", "string");
    write_argument_flags(reply, ARGUMENT_REPEATED);
    reply_end(reply);
    reply_end(reply);
    reply_end(reply);
}

// Writes the arguments with exactly these flags, out of the flags in the mask.
static void write_those(struct reply *reply, const struct command *command, unsigned flags)
{
    const unsigned looked_at = ARGUMENT_OPTION | ARGUMENT_REPEATED;
    for (size_t i = 0; i < command->argument_count; i++) {
        const struct argument *argument = &command->arguments[i];
        bool option = argument->flags & ARGUMENT_OPTION;
        if ((option ? ARGUMENT_OPTION : argument->flags & looked_at) == flags) {
            write_documented(reply, argument);
        }
    }
}

// In the order in which they are typed: options precede a repeated argument.
static void write_arguments(struct reply *reply, const struct command *command)
{
    bool has_key = command->flags & COMMAND_NAMESPACE;
    reply_list(reply, (size_t)has_key + (command->each != NULL) + command->argument_count);
    if (has_key) {
        reply_map(reply, 4);
        write_argument(reply, "ns", "key");
        write_integer(reply, "key_spec_index", 0);
        reply_end(reply);
    }
    if (command->each) {
        write_elements(reply);
    }
    write_those(reply, command, 0);
    write_those(reply, command, ARGUMENT_OPTION);
    write_those(reply, command, ARGUMENT_REPEATED);
    reply_end(reply);
}

void command_reply_docs(struct reply *reply, const struct command *command)
{
    reply_map(reply, 4);
    reply_key(reply, "summary");
    write_text(reply, command->summary);
    reply_key(reply, "since");
    reply_key(reply, "1.0.0");
    reply_key(reply, "group");
    write_text(reply, command->group);
    reply_key(reply, "arguments");
    write_arguments(reply, command);
    reply_end(reply);
}
