// SPDX-License-Identifier: MIT
// Parses words as arguments by the command's table, and writes the usage line from the same table.
#include "api/command.h"

#include "base/ascii.h"
#include "base/json.h"
#include "base/num.h"
#include "base/timefmt.h"

#include <assert.h>

// Up to this number every integer is a double.
static const double DOUBLE_WHOLE_MAX = 9007199254740992;

void scratch_init(struct scratch *scratch, const struct allocator *allocator)
{
    *scratch = (struct scratch){ .allocator = allocator };
}

void scratch_release(struct scratch *scratch)
{
    mem_free(scratch->allocator, scratch->slices, scratch->capacity * sizeof(struct slice));
    scratch_init(scratch, scratch->allocator);
}

// Makes room for so many slices, and marks all of them as unused.
static enum status scratch_clear(struct scratch *scratch, size_t room)
{
    scratch->count = 0;
    if (room <= scratch->capacity) {
        return STATUS_OK;
    }
    struct slice *slices =
        mem_resize(scratch->allocator, scratch->slices, scratch->capacity * sizeof(struct slice),
                   room * sizeof(struct slice));
    if (!slices) {
        return STATUS_NO_MEMORY;
    }
    scratch->slices = slices;
    scratch->capacity = room;
    return STATUS_OK;
}

// The state of the parser.
struct parse {
    const struct command *command;
    struct slices words;
    size_t position;
    struct scratch *scratch;
    char *out;
    struct error *error;
};

static enum status refuse(const struct parse *parse, const struct argument *argument,
                          struct slice word, const char *what)
{
    return error_set(parse->error, STATUS_INVALID, "%s: %s must be %s, not \"%.*s\"",
                     parse->command->name, argument->name, what, SLICE_PRINT(slice_shown(word)));
}

static enum status refuse_range(const struct parse *parse, const struct argument *argument,
                                struct slice word)
{
    if (argument->type == ARGUMENT_INTEGER) {
        return error_set(parse->error, STATUS_INVALID, "%s: %s must be from %lld to %lld, not %.*s",
                         parse->command->name, argument->name, (long long)argument->min,
                         (long long)argument->max, SLICE_PRINT(slice_shown(word)));
    }
    return error_set(parse->error, STATUS_INVALID,
                     "%s: %s must be from %.12g to %.12g seconds, not %.*s", parse->command->name,
                     argument->name, (double)argument->min / 1e6, (double)argument->max / 1e6,
                     SLICE_PRINT(slice_shown(word)));
}

static enum status read_word(const struct parse *parse, const struct argument *argument,
                             struct slice word, int64_t *out)
{
    for (size_t i = 0; argument->words[i]; i++) {
        if (ascii_equal(slice_from_cstr(argument->words[i]), word)) {
            *out = (int64_t)i;
            return STATUS_OK;
        }
    }
    char list[128];
    size_t size = 0;
    for (size_t i = 0; argument->words[i] && size < sizeof(list); i++) {
        size += (size_t)snprintf(list + size, sizeof(list) - size, "%s%s", i ? ", " : "",
                                 argument->words[i]);
    }
    return error_set(parse->error, STATUS_INVALID, "%s: %s must be one of %s, not \"%.*s\"",
                     parse->command->name, argument->name, list, SLICE_PRINT(slice_shown(word)));
}

static enum status read_moment(const struct parse *parse, const struct argument *argument,
                               struct slice word, int64_t *out)
{
    enum status status = num_parse_seconds(word, out);
    if (status == STATUS_INVALID && timefmt_parse(word, out)) {
        return refuse(parse, argument, word,
                      "a time (seconds since 1970, or as 2030-01-31T12:00:00Z)");
    }
    return status == STATUS_TOO_LARGE || *out < 0 || *out > ENGINE_TIME_MAX
               ? refuse(parse, argument, word, "a time between 1970 and 9999")
               : STATUS_OK;
}

// Parses an integer, which may be written as 5.0 or 5e3, as some JSON writers do. TOO_LARGE: out of
// range.
static enum status parse_integer(struct slice word, int64_t *out)
{
    double number;
    enum status status = num_parse_i64(word, out);
    if (status != STATUS_INVALID) {
        return status;
    }
    status = num_parse_double(word, &number);
    if (status) {
        return status;
    }
    if (number < -DOUBLE_WHOLE_MAX || number > DOUBLE_WHOLE_MAX) {
        return STATUS_TOO_LARGE;
    }
    *out = (int64_t)number;
    return (double)*out == number ? STATUS_OK : STATUS_INVALID;
}

static enum status read_number(const struct parse *parse, const struct argument *argument,
                               struct slice word, int64_t *out)
{
    enum status status = STATUS_OK;
    switch (argument->type) {
    case ARGUMENT_INTEGER:
        status = parse_integer(word, out);
        if (status == STATUS_INVALID) {
            return refuse(parse, argument, word, "a whole number");
        }
        break;
    case ARGUMENT_SECONDS:
        status = num_parse_seconds(word, out);
        if (status == STATUS_INVALID) {
            return refuse(parse, argument, word, "a number of seconds");
        }
        break;
    case ARGUMENT_FRACTION:
        if (num_parse_seconds(word, out) || *out < 0 || *out > 1000000) {
            return refuse(parse, argument, word, "a number from 0 to 1");
        }
        return STATUS_OK;
    case ARGUMENT_MOMENT:
        return read_moment(parse, argument, word, out);
    default:
        return read_word(parse, argument, word, out);
    }
    return status || *out < argument->min || *out > argument->max
               ? refuse_range(parse, argument, word)
               : STATUS_OK;
}

// Not inlined, so that valid texts are checked without stack space for an error.
static __attribute__((noinline)) enum status
check_json(const struct parse *parse, const struct argument *argument, struct slice word)
{
    struct error why;
    enum status status = json_validate(word, JSON_VALUE_DEPTH_MAX, &why);
    return status ? error_set(parse->error, status, "%s: %s is not JSON: %s", parse->command->name,
                              argument->name, error_sentence(&why))
                  : STATUS_OK;
}

static enum status check_text(const struct parse *parse, const struct argument *argument,
                              struct slice word)
{
    if (argument->type == ARGUMENT_NAME) {
        if (word.size == 0) {
            return error_set(parse->error, STATUS_INVALID, "%s: %s must not be empty",
                             parse->command->name, argument->name);
        }
        if (word.size > ENGINE_NAME_SIZE_MAX) {
            return error_set(parse->error, STATUS_TOO_LARGE,
                             "%s: %s has %zu bytes; at most %d are allowed", parse->command->name,
                             argument->name, word.size, ENGINE_NAME_SIZE_MAX);
        }
    }
    return argument->type == ARGUMENT_JSON ? check_json(parse, argument, word) : STATUS_OK;
}

// Parses one word as the argument's value.
static enum status read_value(const struct parse *parse, const struct argument *argument,
                              struct slice word)
{
    if (word.size == 0 && argument->or_empty) {
        return STATUS_OK;
    }
    if (argument->has != ARGUMENT_NO_HAS) {
        *(bool *)(parse->out + argument->has) = true;
    }
    char *at = parse->out + argument->offset;
    switch (argument->type) {
    case ARGUMENT_NAME:
    case ARGUMENT_TEXT:
    case ARGUMENT_JSON:
        *(struct slice *)(void *)at = word;
        return check_text(parse, argument, word);
    case ARGUMENT_FLAG:
        *(bool *)at = true;
        return STATUS_OK;
    default:
        return read_number(parse, argument, word, (int64_t *)(void *)at);
    }
}

const struct argument *command_option(const struct command *command, struct slice name)
{
    for (size_t i = 0; i < command->argument_count; i++) {
        const struct argument *argument = &command->arguments[i];
        if ((argument->flags & ARGUMENT_OPTION) &&
            ascii_equal(slice_from_cstr(argument->name), name)) {
            return argument;
        }
    }
    return NULL;
}

static enum status refuse_count(const struct parse *parse, const char *what)
{
    char usage[160];
    struct buffer line;
    buffer_init(&line, &allocator_system, sizeof(usage) * 8);
    command_usage(parse->command, &line);
    struct slice text = slice_sub(buffer_slice(&line), 0, sizeof(usage) - 1);
    enum status status = error_set(parse->error, STATUS_INVALID, "%s; usage: %.*s%s", what,
                                   SLICE_PRINT(text), line.size > text.size ? "..." : "");
    buffer_release(&line);
    return status;
}

// Adds a word of a repeated option.
static enum status add_word(const struct parse *parse, const struct argument *argument,
                            struct slice word)
{
    int64_t *words = (int64_t *)(void *)(parse->out + argument->offset), index;
    enum status status = read_word(parse, argument, word, &index);
    *words |= status ? 0 : INT64_C(1) << index;
    return status;
}

// Collects all values of a repeated option in the scratch memory: when the first one is found, the
// others are searched.
static enum status read_repeated(struct parse *parse, const struct argument *argument,
                                 struct slice value)
{
    struct slices *list = (struct slices *)(void *)(parse->out + argument->offset);
    if (argument->has != ARGUMENT_NO_HAS) {
        *(bool *)(parse->out + argument->has) = true;
    }
    if (argument->type == ARGUMENT_WORD) {
        return add_word(parse, argument, value);
    }
    if (list->count) {
        return STATUS_OK; // it was read with the first of them
    }
    struct slice *items = parse->scratch->slices + parse->scratch->count;
    for (size_t i = parse->position; i + 1 < parse->words.count;) {
        const struct argument *option = command_option(parse->command, parse->words.items[i]);
        if (!option) {
            break;
        }
        if (option == argument) {
            struct slice word = parse->words.items[i + 1];
            enum status status = check_text(parse, argument, word);
            if (status) {
                return status;
            }
            items[list->count++] = word;
        }
        i += option->type == ARGUMENT_FLAG ? 1 : 2;
    }
    list->items = items;
    parse->scratch->count += list->count;
    return STATUS_OK;
}

// Parses options up to the first word that is not one.
static enum status read_options(struct parse *parse)
{
    while (parse->position < parse->words.count) {
        struct slice word = parse->words.items[parse->position];
        const struct argument *option = command_option(parse->command, word);
        if (!option) {
            return STATUS_OK;
        }
        bool flag = option->type == ARGUMENT_FLAG;
        if (!flag && parse->position + 1 == parse->words.count) {
            return error_set(parse->error, STATUS_INVALID, "%s: %s has no value",
                             parse->command->name, option->name);
        }
        struct slice value = flag ? word : parse->words.items[parse->position + 1];
        enum status status = option->flags & ARGUMENT_REPEATED ? read_repeated(parse, option, value)
                                                               : read_value(parse, option, value);
        if (status) {
            return status;
        }
        parse->position += flag ? 1 : 2;
    }
    return STATUS_OK;
}

// The name of an option among the words of a list is refused: as a word it would silently become,
// for example, a queue without jobs.
static enum status check_rest(const struct parse *parse, const struct argument *argument,
                              const struct slices *list)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct argument *option = command_option(parse->command, list->items[i]);
        if (option) {
            return error_set(parse->error, STATUS_INVALID,
                             "%s: options stand before the list, and %s is one; a %s of that name "
                             "is written behind --",
                             parse->command->name, option->name, argument->name);
        }
    }
    return STATUS_OK;
}

// The last argument: all remaining words, after options and possibly `--`.
static enum status read_rest(struct parse *parse, const struct argument *argument)
{
    enum status status = read_options(parse);
    if (status) {
        return status;
    }
    bool marked = parse->position < parse->words.count &&
                  slice_equal(parse->words.items[parse->position], SLICE("--"));
    parse->position += marked;
    struct slices *list = (struct slices *)(void *)(parse->out + argument->offset);
    *list = (struct slices){ parse->words.items + parse->position,
                             parse->words.count - parse->position };
    if (list->count == 0 && !(argument->flags & ARGUMENT_OPTIONAL)) {
        return refuse_count(parse, "too few arguments");
    }
    if (!marked) {
        status = check_rest(parse, argument, list);
    }
    for (size_t i = 0; i < list->count && !status; i++) {
        status = check_text(parse, argument, list->items[i]);
    }
    parse->position = parse->words.count;
    return status;
}

// Whether `--` precedes an optional argument, so that a value with the name of an option is not
// taken for the option.
static bool is_marked(const struct parse *parse, const struct argument *argument)
{
    assert(parse->position < parse->words.count);
    return (argument->flags & ARGUMENT_OPTIONAL) && parse->position + 1 < parse->words.count &&
           slice_equal(parse->words.items[parse->position], SLICE("--"));
}

enum status command_parse(const struct command *command, struct slices words,
                          struct scratch *scratch, void *out, struct error *error)
{
    assert(command->arguments_size <= COMMAND_ARGUMENTS_SIZE_MAX);
    memset(out, 0, command->arguments_size);
    struct parse parse = { command, words, 0, scratch, out, error };
    if (scratch_clear(scratch, words.count)) {
        return error_set(error, STATUS_NO_MEMORY, "%s: no memory for its arguments", command->name);
    }
    enum status status = STATUS_OK;
    for (size_t i = 0; i < command->argument_count && !status; i++) {
        const struct argument *argument = &command->arguments[i];
        if (argument->flags & ARGUMENT_OPTION) {
            break;
        }
        if (argument->flags & ARGUMENT_REPEATED) {
            status = read_rest(&parse, argument);
        } else if (parse.position == words.count) {
            return argument->flags & ARGUMENT_OPTIONAL ? STATUS_OK
                                                       : refuse_count(&parse, "too few arguments");
        } else if ((argument->flags & ARGUMENT_OPTIONAL) &&
                   command_option(command, words.items[parse.position])) {
            break;
        } else {
            parse.position += is_marked(&parse, argument);
            status = read_value(&parse, argument, words.items[parse.position]);
            parse.position++;
        }
    }
    if (!status) {
        status = read_options(&parse);
    }
    if (!status && parse.position < words.count) {
        return error_set(error, STATUS_INVALID, "%s has no option \"%.*s\"", command->name,
                         SLICE_PRINT(slice_shown(words.items[parse.position])));
    }
    return status;
}

// ---------------------------------------------------------------------------------------------
// Usage

static const char *value_word(const struct argument *argument)
{
    switch (argument->type) {
    case ARGUMENT_JSON:
        return "json";
    case ARGUMENT_SECONDS:
        return "seconds";
    case ARGUMENT_MOMENT:
        return "time";
    case ARGUMENT_FRACTION:
        return "fraction";
    case ARGUMENT_INTEGER:
        return "n";
    default:
        return "text";
    }
}

static void append_option(const struct argument *argument, struct buffer *out)
{
    buffer_printf(out, " [%s", argument->name);
    if (argument->type == ARGUMENT_WORD) {
        for (size_t i = 0; argument->words[i]; i++) {
            buffer_printf(out, "%c%s", i ? '|' : ' ', argument->words[i]);
        }
    } else if (argument->type == ARGUMENT_NAME) {
        buffer_append_char(out, ' ');
        for (const char *c = argument->name; *c; c++) {
            buffer_append_char(out, ascii_lower(*c));
        }
    } else if (argument->type != ARGUMENT_FLAG) {
        buffer_printf(out, " %s", value_word(argument));
    }
    buffer_printf(out, "%s", argument->flags & ARGUMENT_REPEATED ? "] ..." : "]");
}

static void append_options(const struct command *command, struct buffer *out)
{
    for (size_t i = 0; i < command->argument_count; i++) {
        if (command->arguments[i].flags & ARGUMENT_OPTION) {
            append_option(&command->arguments[i], out);
        }
    }
}

void command_usage(const struct command *command, struct buffer *out)
{
    buffer_printf(out, "%s%s", command->name, command->flags & COMMAND_NAMESPACE ? " ns" : "");
    if (command->each) {
        buffer_append(out, SLICE(" [count word [word ...] ...]"));
        return;
    }
    bool rest = false;
    for (size_t i = 0; i < command->argument_count; i++) {
        const struct argument *argument = &command->arguments[i];
        if (argument->flags & ARGUMENT_OPTION) {
            break;
        }
        bool optional = argument->flags & ARGUMENT_OPTIONAL;
        rest = argument->flags & ARGUMENT_REPEATED;
        if (rest) {
            append_options(command, out);
        }
        buffer_printf(out, optional ? " [%s%s]" : " %s%s", argument->name,
                      rest && optional ? " ..." : "");
        if (rest && !optional) {
            buffer_printf(out, " [%s ...]", argument->name);
        }
    }
    if (!rest) {
        append_options(command, out);
    }
}
