// SPDX-License-Identifier: MIT
#include "cli/commands/help.h"

#include "cli/core/options.h"
#include "cli/core/sets.h"

#include <string.h>

enum {
    WIDTH = 80,
    NAME_COLUMN = 20,
    OPTION_COLUMN = 30,
};

// Prints words from a column on, broken between words at the width.
static void print_wrapped(FILE *out, const char *text, size_t size, size_t indent, size_t column)
{
    const char *end = text + size;
    while (text < end) {
        const char *space = memchr(text, ' ', (size_t)(end - text));
        size_t length = (size_t)((space ? space : end) - text);
        if (column + length >= WIDTH && column > indent) {
            print(out, "\n%*s", (int)indent, "");
            column = indent;
        } else if (column > indent) {
            print(out, " ");
        }
        print(out, "%.*s", (int)length, text);
        column += length + 1;
        text += length + (space ? 1 : 0);
    }
    print(out, "\n");
}

static void print_paragraphs(FILE *out, const char *text)
{
    while (*text) {
        const char *end = strstr(text, "\n\n");
        size_t size = end ? (size_t)(end - text) : strlen(text);
        print_wrapped(out, text, size, 0, 0);
        text += size + (end ? 2 : 0);
        print(out, "\n");
    }
}

static void print_entry(FILE *out, const char *name, const char *summary, size_t column)
{
    size_t size = strlen(name) + 2;
    print(out, "  %s", name);
    if (size + 2 > column) {
        print(out, "\n%*s", (int)column, "");
    } else {
        print(out, "%*s", (int)(column - size), "");
    }
    print_wrapped(out, summary, strlen(summary), column, column);
}

static void print_option(FILE *out, const struct option *option)
{
    char *name = option->letter
                     ? tool_format("-%c, --%s%s%s", option->letter, option->name,
                                   option->value ? " " : "", option->value ? option->value : "")
                     : tool_format("    --%s%s%s", option->name, option->value ? " " : "",
                                   option->value ? option->value : "");
    char *summary = option->choices ? tool_format("%s: %s", option->summary, option->choices)
                                    : tool_format("%s", option->summary);
    print_entry(out, name, summary, OPTION_COLUMN);
    tool_free(summary);
    tool_free(name);
}

static void print_options(FILE *out, const char *title, const struct option *options, size_t count)
{
    if (count) {
        print(out, "%s\n", title);
    }
    for (size_t i = 0; i < count; i++) {
        print_option(out, &options[i]);
    }
    if (count) {
        print(out, "\n");
    }
}

static void print_examples(FILE *out, const struct tool_example *examples)
{
    print(out, "Examples:\n");
    for (; examples->line; examples++) {
        print(out, "  %s\n", examples->line);
        if (examples->summary) {
            print(out, "      ");
            print_wrapped(out, examples->summary, strlen(examples->summary), 6, 6);
        }
    }
}

void help_command(FILE *out, const struct tool_command *command)
{
    print(out, "%s.\n\nUsage: sluice %s%s%s%s\n\n", command->summary, command->name,
          command->option_count ? " [OPTION]..." : "", *command->arguments ? " " : "",
          command->arguments);
    if (command->details) {
        print_paragraphs(out, command->details);
    }
    print_options(out, "Options:", command->options, command->option_count);
    print_options(out, "Options of every command:", global_option_table, global_option_count);
    if (command->examples) {
        print_examples(out, command->examples);
    }
}

static void print_family(FILE *out, const char *family)
{
    size_t size = strlen(family);
    print(out, "Usage: sluice %s COMMAND\n\n", family);
    for (size_t i = 0; tool_command_at(i); i++) {
        const struct tool_command *command = tool_command_at(i);
        if (!strncmp(command->name, family, size) && command->name[size] == ' ') {
            print_entry(out, command->name, command->summary, NAME_COLUMN);
        }
    }
    print(out, "\nMore about one of them: sluice help %s COMMAND\n", family);
}

bool help_topic(FILE *out, const char *name)
{
    if (command_is_family(name)) {
        print_family(out, name);
        return true;
    }
    const struct tool_command *command = command_find(name);
    if (command) {
        help_command(out, command);
    }
    return command;
}

// A family has one line: that of its primary command, or else of its first.
static bool stands_for_family(const struct tool_command *command)
{
    size_t size = strcspn(command->name, " ");
    for (size_t i = 0; !command->primary && tool_command_at(i) != command; i++) {
        if (!strncmp(tool_command_at(i)->name, command->name, size + 1)) {
            return false;
        }
    }
    for (size_t i = 0; !command->primary && tool_command_at(i); i++) {
        const struct tool_command *other = tool_command_at(i);
        if (other->primary && !strncmp(other->name, command->name, size + 1)) {
            return false;
        }
    }
    return true;
}

static bool in_overview(const struct tool_command *command, const char *group)
{
    return command->group && !strcmp(command->group, group) &&
           (!strchr(command->name, ' ') || stands_for_family(command));
}

static void print_line(FILE *out, const struct tool_command *command)
{
    const char *space = strchr(command->name, ' ');
    if (!space) {
        print_entry(out, command->name, command->summary, NAME_COLUMN);
        return;
    }
    size_t size = (size_t)(space - command->name);
    char *name = tool_copy(command->name, size);
    char *summary = tool_format("%s", command->summary);
    const char *before = "; also ";
    for (size_t i = 0; tool_command_at(i); i++) {
        const struct tool_command *other = tool_command_at(i);
        if (other != command && !strncmp(other->name, command->name, size + 1)) {
            summary = tool_format("%s%s%s", summary, before, other->name + size + 1);
            before = ", ";
        }
    }
    print_entry(out, name, summary, NAME_COLUMN);
}

// Names alone, in a column of their own.
static void print_names(FILE *out, const char *group)
{
    char *names = tool_copy("", 0);
    for (size_t i = 0; tool_command_at(i); i++) {
        const struct tool_command *command = tool_command_at(i);
        if (in_overview(command, group)) {
            char *more = tool_format("%s%s%.*s", names, *names ? " " : "",
                                     (int)strcspn(command->name, " "), command->name);
            tool_free(names);
            names = more;
        }
    }
    print_entry(out, group, names, NAME_COLUMN);
    tool_free(names);
}

static void print_greeting(FILE *out)
{
    print(out, "sluice: a job queue on the command line.\n\n"
               "  sluice put mail Send '{\"to\":\"ann\"}'    puts a job\n"
               "  sluice work -q mail -- ./send          runs a program for each\n"
               "  sluice queues                          shows the queues\n");
}

void help_overview(FILE *out)
{
    print_greeting(out);
    print(out, "\nCommands:\n");
    for (const char *const *group = tool_groups; *group; group++) {
        print_names(out, *group);
    }
    print(out,
          "\n`sluice help` describes each in a line, `sluice help COMMAND` describes one.\n"
          "The queue is that of --url or SLUICE_URL, otherwise sluice://127.0.0.1:7711/default.\n");
}

void help_all(FILE *out)
{
    print_greeting(out);
    for (const char *const *group = tool_groups; *group; group++) {
        print(out, "\n%s:\n", *group);
        for (size_t i = 0; tool_command_at(i); i++) {
            if (in_overview(tool_command_at(i), *group)) {
                print_line(out, tool_command_at(i));
            }
        }
    }
    print(out, "\n`sluice help COMMAND` describes one of them.\n\n");
    print_options(out, "Options of every command:", global_option_table, global_option_count);
    print(out,
          "Exit codes: 0 done; 1 rejected; 2 wrong usage; 3 not found; 4 the server cannot be\n"
          "reached; 5 the reply was lost: the command may have been executed.\n");
}

// ---------------------------------------------------------------------------------------------
// The command

static int help_run(struct tool *tool)
{
    if (!tool->argument_count) {
        help_all(stdout);
        return EXIT_DONE;
    }
    const char *name = tool->argument_count == 1
                           ? tool->arguments[0]
                           : tool_format("%s %s", tool->arguments[0], tool->arguments[1]);
    if (help_topic(stdout, name)) {
        return EXIT_DONE;
    }
    const char *nearest = command_nearest(name);
    if (nearest) {
        return tool_misuse(NULL, "there is no command %s; is it %s?", name, nearest);
    }
    return tool_misuse(NULL, "there is no command %s", name);
}

static const struct tool_command help_commands[] = {
    { .name = "help",
      .group = "The tool",
      .arguments = "[COMMAND]",
      .arguments_max = 2,
      .run = help_run,
      .summary = "Explains a command",
      .offline = true },
};
const struct tool_set help_set = SET(help_commands);
