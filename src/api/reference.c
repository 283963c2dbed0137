// SPDX-License-Identifier: MIT
// Texts about commands.
#include "api/reference.h"

#include "base/ascii.h"
#include "base/num.h"

enum {
    LINE_SIZE = 80, // columns of plain text
};

// ---------------------------------------------------------------------------------------------
// Shared parts

// Whether the command is the first of its group.
static bool opens_group(const struct commands *commands, size_t index)
{
    const struct command *command = commands_at(commands, index);
    for (size_t i = 0; i < index; i++) {
        if (strcmp(commands_at(commands, i)->group, command->group) == 0) {
            return false;
        }
    }
    return true;
}

// The next command of a group from `*index` on; `*index` is moved after it. NULL at the end.
static const struct command *next_of_group(const struct commands *commands, const char *group,
                                           size_t *index)
{
    const struct command *command;
    while ((command = commands_at(commands, (*index)++))) {
        if (strcmp(command->group, group) == 0) {
            return command;
        }
    }
    return NULL;
}

static void append(struct buffer *out, const char *text)
{
    buffer_append(out, slice_from_cstr(text));
}

static bool is_int32(const struct argument *argument)
{
    return argument->min == INT32_MIN && argument->max == INT32_MAX;
}

// A limit that exists only for technical reasons is not mentioned; a range with two such limits, as
// that of priorities, is.
static bool is_bounded(const struct argument *argument)
{
    return argument->type == ARGUMENT_SECONDS ? argument->max < INT64_C(100) * 365 * 86400 * 1000000
                                              : argument->max < INT32_MAX || is_int32(argument);
}

static void append_range(const struct argument *argument, struct buffer *out)
{
    bool seconds = argument->type == ARGUMENT_SECONDS;
    void (*number)(struct buffer *, int64_t) = seconds ? num_append_seconds : num_append_i64;
    append(out, is_bounded(argument) ? ", from " : ", at least ");
    number(out, argument->min);
    if (is_bounded(argument)) {
        append(out, " to ");
        number(out, argument->max);
    }
}

// "integer, from 0 to 5".
static void append_type(const struct argument *argument, struct buffer *out)
{
    switch (argument->type) {
    case ARGUMENT_NAME:
        append(out, "name");
        break;
    case ARGUMENT_TEXT:
        append(out, "text");
        break;
    case ARGUMENT_JSON:
        append(out, "JSON");
        break;
    case ARGUMENT_INTEGER:
        append(out, "integer");
        append_range(argument, out);
        break;
    case ARGUMENT_SECONDS:
        append(out, "seconds");
        append_range(argument, out);
        break;
    case ARGUMENT_MOMENT:
        append(out, "time");
        break;
    case ARGUMENT_FRACTION:
        append(out, "fraction, from 0 to 1");
        break;
    case ARGUMENT_WORD:
        for (size_t i = 0; argument->words[i]; i++) {
            buffer_printf(out, "%s%s", i ? ", " : "", argument->words[i]);
        }
        break;
    case ARGUMENT_FLAG:
        append(out, "flag");
        break;
    }
    if (argument->flags & ARGUMENT_REPEATED) {
        append(out, argument->flags & ARGUMENT_OPTION ? "; may come again" : "; one or more");
    }
    if (argument->flags & ARGUMENT_OPTIONAL) {
        append(out, argument->flags & ARGUMENT_REPEATED ? ", or none" : "; may be missing");
    }
}

// The flags of a command as a sentence: "It writes, may wait."
static void append_flags(const struct command *command, struct buffer *out)
{
    static const struct {
        unsigned flag;
        const char *words;
    } said[] = {
        { COMMAND_READS, "changes nothing" },
        { COMMAND_WRITES, "writes" },
        { COMMAND_SHRINKS, "works when disk or memory is full" },
        { COMMAND_WAITS, "may wait" },
        { COMMAND_ADMIN, "needs the right to administer" },
        { COMMAND_CONNECTION, "is about the connection or the server" },
        { COMMAND_ANYBODY, "is for anybody" },
    };
    const char *before = "It ";
    for (size_t i = 0; i < sizeof(said) / sizeof(said[0]); i++) {
        if (command->flags & said[i].flag) {
            buffer_printf(out, "%s%s", before, said[i].words);
            before = ", ";
        }
    }
    append(out, ".\n");
    if (command->flags & COMMAND_AUDITED) {
        append(out, "It is recorded in the audit log.\n");
    }
}

// ---------------------------------------------------------------------------------------------
// Markdown

static void append_title(const char *group, struct buffer *out)
{
    buffer_append_char(out, ascii_upper(group[0]));
    append(out, group + 1);
}

// A link to a heading, with the anchor that common renderers generate: in lower case, without dots.
static void append_link(const struct command *command, struct buffer *out)
{
    buffer_printf(out, "[%s](#", command->name);
    for (const char *c = command->name; *c; c++) {
        if (*c != '.') {
            buffer_append_char(out, ascii_lower(*c));
        }
    }
    buffer_append_char(out, ')');
}

// '|' would end the cell, so it is escaped.
static void append_cell(struct buffer *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '|') {
            buffer_append_char(out, '\\');
        }
        buffer_append_char(out, *text);
    }
}

static void append_arguments(const struct command *command, struct buffer *out)
{
    if (command->argument_count == 0) {
        return;
    }
    append(out, "| argument | type | what |\n|---|---|---|\n");
    for (size_t i = 0; i < command->argument_count; i++) {
        const struct argument *argument = &command->arguments[i];
        buffer_printf(out, "| `%s` | ", argument->name);
        append_type(argument, out);
        append(out, " | ");
        append_cell(out, argument->summary);
        append(out, " |\n");
    }
    buffer_append_char(out, '\n');
}

static void append_examples(const struct command *command, struct buffer *out)
{
    if (!command->examples || !command->examples[0].request) {
        return;
    }
    append(out, "```\n");
    for (const struct example *at = command->examples; at->request; at++) {
        buffer_printf(out, "> %s\n%s\n", at->request, at->reply);
    }
    append(out, "```\n\n");
}

static void append_command(const struct command *command, struct buffer *out)
{
    buffer_printf(out, "### %s\n\n    ", command->name);
    command_usage(command, out);
    buffer_printf(out, "\n\n%s", command->summary);
    if (command->details) {
        buffer_printf(out, " %s", command->details);
    }
    append(out, "\n\n");
    append_arguments(command, out);
    buffer_printf(out, "**Answers:** %s\n\n", command->replies);
    append_flags(command, out);
    buffer_append_char(out, '\n');
    append_examples(command, out);
}

static void append_contents(const struct commands *commands, struct buffer *out)
{
    for (size_t i = 0; commands_at(commands, i); i++) {
        if (opens_group(commands, i)) {
            const struct command *command;
            size_t index = i;
            const char *separator = ": ";
            append(out, "- **");
            append_title(commands_at(commands, i)->group, out);
            append(out, "**");
            while ((command = next_of_group(commands, commands_at(commands, i)->group, &index))) {
                append(out, separator);
                append_link(command, out);
                separator = ", ";
            }
            buffer_append_char(out, '\n');
        }
    }
}

void reference_markdown(const struct commands *commands, struct buffer *out)
{
    append(out, "# Commands\n\n"
                "A request is words: the name of a command, in whatever case; for most the "
                "namespace; its arguments in order; and options, each a name in whatever case and "
                "a value, in any order. Options stand behind the arguments; of a command whose "
                "last argument is repeated they stand before it, and end at the first word that is "
                "none, or at `--`. Names have 1 to 255 bytes, and new ones are UTF-8 "
                "without control characters. JSON has up to 1000 levels. Times are seconds since "
                "1970, or as "
                "`2030-01-31T12:00:00Z`.\n\n"
                "Answers are shown as redis-cli shows them in RESP3. A map always has all its "
                "fields; what there is none of is null. `...` stands for the rest.\n\n");
    append_contents(commands, out);
    for (size_t i = 0; commands_at(commands, i); i++) {
        if (opens_group(commands, i)) {
            const struct command *command;
            size_t index = i;
            append(out, "\n## ");
            append_title(commands_at(commands, i)->group, out);
            append(out, "\n\n");
            while ((command = next_of_group(commands, commands_at(commands, i)->group, &index))) {
                append_command(command, out);
            }
            buffer_truncate(out, out->size - 1); // one empty line is enough
        }
    }
}

// ---------------------------------------------------------------------------------------------
// Plain text

// Appends words in lines that begin at `indent`; the first line begins at `column`.
static void append_wrapped(struct buffer *out, struct slice text, size_t column, size_t indent)
{
    while (text.size) {
        const char *space = memchr(text.data, ' ', text.size);
        size_t size = space ? (size_t)(space - text.data) : text.size;
        if (column > indent && column + 1 + size > LINE_SIZE) {
            buffer_printf(out, "\n%*s", (int)indent, "");
            column = indent;
        } else if (column > indent) {
            buffer_append_char(out, ' ');
            column++;
        }
        buffer_append(out, slice_sub(text, 0, size));
        column += size;
        text = slice_sub(text, space ? size + 1 : size, SIZE_MAX);
    }
    buffer_append_char(out, '\n');
}

static void append_paragraph(struct buffer *out, const char *text)
{
    append_wrapped(out, slice_from_cstr(text), 0, 0);
}

void reference_overview(const struct commands *commands, struct buffer *out)
{
    enum {
        SUMMARY_COLUMN = 22,
    };
    for (size_t i = 0; commands_at(commands, i); i++) {
        if (opens_group(commands, i)) {
            const struct command *command;
            size_t index = i;
            buffer_printf(out, "%s%s\n", i ? "\n" : "", commands_at(commands, i)->group);
            while ((command = next_of_group(commands, commands_at(commands, i)->group, &index))) {
                buffer_printf(out, "  %-19s ", command->name);
                append_wrapped(out, slice_from_cstr(command->summary), SUMMARY_COLUMN,
                               SUMMARY_COLUMN);
            }
        }
    }
}

// Appends the usage in lines; text in brackets is not split.
static void append_usage(const struct command *command, struct buffer *out)
{
    size_t start = out->size;
    command_usage(command, out);
    size_t column = 0, depth = 0, broken_at = 0;
    for (size_t i = start; i < out->size && !out->status; i++, column++) {
        char c = out->data[i];
        depth += c == '[';
        depth -= c == ']' && depth > 0;
        if (c == ' ' && depth == 0) {
            if (column > LINE_SIZE && broken_at) {
                out->data[broken_at] = '\n';
                column = i - broken_at;
            }
            broken_at = i;
        }
    }
    if (column > LINE_SIZE && broken_at && !out->status) {
        out->data[broken_at] = '\n';
    }
    buffer_append_char(out, '\n');
}

// Breaks a line that began at `start` if it is too long.
static void break_line(struct buffer *out, size_t start)
{
    size_t at = start + LINE_SIZE;
    while (!out->status && out->size > start + LINE_SIZE && at > start) {
        if (out->data[at] == ' ') {
            out->data[at] = '\n';
            return;
        }
        at--;
    }
}

void reference_help(const struct command *command, struct buffer *out)
{
    append_usage(command, out);
    buffer_append_char(out, '\n');
    append_paragraph(out, command->summary);
    if (command->details) {
        append_paragraph(out, command->details);
    }
    for (size_t i = 0; i < command->argument_count; i++) {
        const struct argument *argument = &command->arguments[i];
        append(out, i ? "" : "\n");
        size_t start = out->size;
        buffer_printf(out, "  %s (", argument->name);
        append_type(argument, out);
        buffer_append_char(out, ')');
        break_line(out, start);
        append(out, "\n      ");
        append_wrapped(out, slice_from_cstr(argument->summary), 6, 6);
    }
    append(out, "\nAnswers:");
    append_wrapped(out, slice_from_cstr(command->replies), strlen("Answers:"), 0);
    append_flags(command, out);
    for (const struct example *at = command->examples; at && at->request; at++) {
        buffer_printf(out, "\n> %s\n%s\n", at->request, at->reply);
    }
}
