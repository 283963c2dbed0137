// SPDX-License-Identifier: MIT
// The tables as manual pages and as a document. A page is about a command or about a family.
#include "cli/core/options.h"
#include "cli/core/sets.h"

#include <ctype.h>
#include <string.h>

// ---------------------------------------------------------------------------------------------
// Manual pages

// Text in which nothing has a meaning to roff.
static void roff_text(const char *text, size_t size)
{
    bool line_start = true;
    for (size_t i = 0; i < size; i++) {
        if (text[i] == '\\') {
            print(stdout, "\\e");
        } else if (text[i] == '-') {
            print(stdout, "\\-");
        } else if (line_start && (text[i] == '.' || text[i] == '\'')) {
            print(stdout, "\\&%c", text[i]);
        } else if (text[i] == '\'') {
            print(stdout, "\\(aq");
        } else if (text[i] == '`') {
            print(stdout, "\\(ga");
        } else {
            print(stdout, "%c", text[i]);
        }
        line_start = text[i] == '\n';
    }
}

static void roff_line(const char *text)
{
    roff_text(text, strlen(text));
    print(stdout, "\n");
}

static void roff_paragraphs(const char *text)
{
    while (*text) {
        const char *end = strstr(text, "\n\n");
        size_t size = end ? (size_t)(end - text) : strlen(text);
        print(stdout, ".PP\n");
        roff_text(text, size);
        print(stdout, "\n");
        text += size + (end ? 2 : 0);
    }
}

static void roff_option(const struct option *option)
{
    print(stdout, ".TP\n");
    if (option->letter) {
        print(stdout, "\\fB\\-%c\\fR, ", option->letter);
    }
    print(stdout, "\\fB\\-\\-");
    roff_text(option->name, strlen(option->name));
    print(stdout, "\\fR");
    if (option->value) {
        print(stdout, " \\fI");
        roff_text(option->value, strlen(option->value));
        print(stdout, "\\fR");
    }
    print(stdout, "\n");
    roff_text(option->summary, strlen(option->summary));
    if (option->choices) {
        print(stdout, ": ");
        roff_text(option->choices, strlen(option->choices));
    }
    print(stdout, "\n");
}

static void roff_options(const struct option *options, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        roff_option(&options[i]);
    }
}

static void roff_head(const char *name, const char *summary)
{
    print(stdout, ".TH \"");
    for (const char *at = name; *at; at++) {
        print(stdout, "%c", *at == ' ' ? '-' : toupper((unsigned char)*at));
    }
    print(stdout, "\" \"1\" \"\" \"sluice %s\" \"Sluice\"\n.SH NAME\n", sluice_version());
    for (const char *at = name; *at; at++) {
        print(stdout, *at == ' ' || *at == '-' ? "\\-" : "%c", *at);
    }
    print(stdout, " \\- ");
    roff_line(summary);
}

static void roff_usage(const struct tool_command *command)
{
    print(stdout, "\\fBsluice ");
    roff_text(command->name, strlen(command->name));
    print(stdout, "\\fR");
    if (command->option_count) {
        print(stdout, " [\\fIOPTION\\fR]...");
    }
    if (*command->arguments) {
        print(stdout, " \\fI");
        roff_text(command->arguments, strlen(command->arguments));
        print(stdout, "\\fR");
    }
    print(stdout, "\n");
}

static void roff_examples(const struct tool_example *examples)
{
    for (; examples && examples->line; examples++) {
        print(stdout, ".PP\n.nf\n    ");
        roff_line(examples->line);
        print(stdout, ".fi\n");
        if (examples->summary) {
            print(stdout, ".br\n");
            roff_line(examples->summary);
        }
    }
}

static void roff_body(const struct tool_command *command)
{
    print(stdout, ".PP\n");
    roff_text(command->summary, strlen(command->summary));
    print(stdout, ".\n");
    if (command->details) {
        roff_paragraphs(command->details);
    }
    roff_options(command->options, command->option_count);
}

// Whether a page is about a command: its own, or its family's.
static bool is_on_page(const struct tool_command *command, const char *page)
{
    size_t size = strlen(page);
    return command->group && !strncmp(command->name, page, size) &&
           (!command->name[size] || command->name[size] == ' ') &&
           (command->name[size] || !command_is_family(page));
}

static void roff_page_commands(const char *page)
{
    bool family = command_is_family(page);
    for (size_t i = 0; tool_command_at(i); i++) {
        const struct tool_command *command = tool_command_at(i);
        if (!is_on_page(command, page)) {
            continue;
        }
        if (family) {
            print(stdout, ".SS sluice %s\n", command->name);
        }
        roff_body(command);
        roff_examples(command->examples);
    }
}

static void roff_page(const char *page, const struct tool_command *first)
{
    char *name = tool_format("sluice %s", page);
    roff_head(name, first->summary);
    print(stdout, ".SH SYNOPSIS\n");
    bool more = false;
    for (size_t i = 0; tool_command_at(i); i++) {
        if (is_on_page(tool_command_at(i), page)) {
            print(stdout, "%s", more ? ".br\n" : "");
            roff_usage(tool_command_at(i));
            more = true;
        }
    }
    print(stdout, ".SH DESCRIPTION\n");
    roff_page_commands(page);
    print(stdout, ".SH OPTIONS OF EVERY COMMAND\n");
    roff_options(global_option_table, global_option_count);
    print(stdout, ".SH SEE ALSO\n\\fBsluice\\fR(1)\n");
    tool_free(name);
}

#define EXIT_CODES                                                                                 \
    "0 done; 1 rejected by the queue; 2 wrong usage; 3 not found: no such job, or no job to pop; " \
    "4 the server cannot be reached; 5 the reply was lost: the command may have been executed."

static void roff_all(void)
{
    roff_head("sluice", "a job queue on the command line");
    print(stdout,
          ".SH SYNOPSIS\n\\fBsluice\\fR \\fICOMMAND\\fR [\\fIOPTION\\fR]... [\\fIARGUMENT\\fR]...\n"
          ".SH OPTIONS OF EVERY COMMAND\n");
    roff_options(global_option_table, global_option_count);
    for (const char *const *group = tool_groups; *group; group++) {
        print(stdout, ".SH ");
        for (const char *at = *group; *at; at++) {
            print(stdout, "%c", toupper((unsigned char)*at));
        }
        print(stdout, "\n");
        for (size_t i = 0; tool_command_at(i); i++) {
            const struct tool_command *command = tool_command_at(i);
            if (command->group && !strcmp(command->group, *group)) {
                print(stdout, ".SS ");
                roff_usage(command);
                roff_body(command);
                roff_examples(command->examples);
            }
        }
    }
    print(stdout, ".SH EXIT STATUS\n");
    roff_line(EXIT_CODES);
}

// ---------------------------------------------------------------------------------------------
// The document

static void markdown_text(const char *text)
{
    for (; *text; text++) {
        print(stdout, *text == '*' || *text == '|' || *text == '<' ? "\\%c" : "%c", *text);
    }
}

static void markdown_options(const struct option *options, size_t count)
{
    if (!count) {
        return;
    }
    print(stdout, "| option | what |\n|---|---|\n");
    for (size_t i = 0; i < count; i++) {
        print(stdout, "| `");
        if (options[i].letter) {
            print(stdout, "-%c, ", options[i].letter);
        }
        print(stdout, "--%s%s%s` | ", options[i].name, options[i].value ? " " : "",
              options[i].value ? options[i].value : "");
        markdown_text(options[i].summary);
        if (options[i].choices) {
            print(stdout, ": ");
            markdown_text(options[i].choices);
        }
        print(stdout, " |\n");
    }
    print(stdout, "\n");
}

static void markdown_command(const struct tool_command *command)
{
    print(stdout, "### sluice %s\n\n    sluice %s%s%s%s\n\n", command->name, command->name,
          command->option_count ? " [OPTION]..." : "", *command->arguments ? " " : "",
          command->arguments);
    markdown_text(command->summary);
    print(stdout, ".");
    if (command->details) {
        print(stdout, " ");
        markdown_text(command->details);
    }
    print(stdout, "\n\n");
    markdown_options(command->options, command->option_count);
    for (const struct tool_example *example = command->examples; example && example->line;
         example++) {
        print(stdout, "    %s%s%s\n", example->line, example->summary ? "    # " : "",
              example->summary ? example->summary : "");
        if (!example[1].line) {
            print(stdout, "\n");
        }
    }
}

static void markdown_all(void)
{
    print(stdout,
          "# sluice\n\nThe command line tool: `sluice COMMAND [OPTION]... [ARGUMENT]...`.\n\n"
          "- Options can be anywhere after the command. The options of every command can also be "
          "before it. Words after `--` are arguments.\n"
          "- Results are tables. With `--json` they are JSON: a line for each item of a list, "
          "otherwise one line, with the member names of the HTTP API.\n"
          "- On a terminal, a table that is too wide is made narrower. Columns without values are "
          "left out first.\n"
          "- A time without a zone in an argument is UTC.\n"
          "- Commands that add something create a folder (`file:PATH`) that does not exist. All "
          "others report that there is no queue.\n\n");
    markdown_options(global_option_table, global_option_count);
    print(stdout, "Exit codes: " EXIT_CODES "\n\n");
    for (const char *const *group = tool_groups; *group; group++) {
        print(stdout, "## %s\n\n", *group);
        for (size_t i = 0; tool_command_at(i); i++) {
            const struct tool_command *command = tool_command_at(i);
            if (command->group && !strcmp(command->group, *group)) {
                markdown_command(command);
            }
        }
    }
}

// ---------------------------------------------------------------------------------------------
// The command

struct man_options {
    bool markdown, list;
};

static const struct option man_options[] = {
    { .name = "markdown",
      .type = OPTION_FLAG,
      .offset = offsetof(struct man_options, markdown),
      .summary = "the reference as a document" },
    { .name = "list",
      .type = OPTION_FLAG,
      .offset = offsetof(struct man_options, list),
      .summary = "the names of all pages" },
};

// The first command of each page, so that every page comes once.
static const struct tool_command *first_on_page(const char *page)
{
    for (size_t i = 0; tool_command_at(i); i++) {
        if (is_on_page(tool_command_at(i), page)) {
            return tool_command_at(i);
        }
    }
    return NULL;
}

static int list_pages(void)
{
    print(stdout, "sluice\n");
    for (size_t i = 0; tool_command_at(i); i++) {
        const struct tool_command *command = tool_command_at(i);
        char *page = tool_copy(command->name, strcspn(command->name, " "));
        if (first_on_page(page) == command) {
            print(stdout, "sluice-%s\n", page);
        }
        tool_free(page);
    }
    return EXIT_DONE;
}

static int man_run(struct tool *tool)
{
    const struct man_options *options = tool->options;
    if (options->markdown) {
        markdown_all();
        return EXIT_DONE;
    }
    if (options->list) {
        return list_pages();
    }
    if (!tool->argument_count) {
        roff_all();
        return EXIT_DONE;
    }
    const struct tool_command *first = first_on_page(tool->arguments[0]);
    if (!first) {
        return tool_misuse(NULL, "there is no page about %s", tool->arguments[0]);
    }
    roff_page(tool->arguments[0], first);
    return EXIT_DONE;
}

static const struct tool_command commands[] = {
    { .name = "man",
      .arguments = "[COMMAND]",
      .arguments_max = 1,
      OPTIONS(man_options),
      .options_size = sizeof(struct man_options),
      .run = man_run,
      .offline = true,
      .summary = "Writes a manual page: of a command, of a family of them, or of all" },
};
const struct tool_set man_set = SET(commands);
