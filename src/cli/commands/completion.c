// SPDX-License-Identifier: MIT
// Completion in shells. The scripts are short: they hand the words of the line to a hidden command,
// which knows the tables, so that they never know less than the tool.
#include "cli/core/options.h"
#include "cli/core/sets.h"

#include <string.h>

static const char bash_script[] = "_sluice() {\n"
                                  "    local IFS=$'\\n'\n"
                                  "    COMPREPLY=($(sluice complete-words -- "
                                  "\"${COMP_WORDS[@]:1:COMP_CWORD}\" 2>/dev/null))\n"
                                  "}\n"
                                  "complete -o default -F _sluice sluice\n";

static const char zsh_script[] =
    "#compdef sluice\n"
    "_sluice() {\n"
    "    local -a found\n"
    "    found=(${(f)\"$(sluice complete-words -- \"${(@)words[2,CURRENT]}\" 2>/dev/null)\"})\n"
    "    if (( $#found )); then compadd -a found; else _files; fi\n"
    "}\n"
    "if [[ $funcstack[1] == _sluice ]]; then _sluice; else compdef _sluice sluice; fi\n";

static const char fish_script[] = "function __sluice_words\n"
                                  "    set -l words (commandline -opc) (commandline -ct)\n"
                                  "    sluice complete-words -- $words[2..-1] 2>/dev/null\n"
                                  "end\n"
                                  "complete -c sluice -a '(__sluice_words)'\n";

static int completion_run(struct tool *tool)
{
    static const struct {
        const char *shell, *script;
    } scripts[] = { { "bash", bash_script }, { "zsh", zsh_script }, { "fish", fish_script } };
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
        if (!strcmp(tool->arguments[0], scripts[i].shell)) {
            print(stdout, "%s", scripts[i].script);
            return EXIT_DONE;
        }
    }
    return tool_misuse(tool, "there is no completion for %s, only for bash, zsh and fish",
                       tool->arguments[0]);
}

// ---------------------------------------------------------------------------------------------
// Words

static bool begins(const char *text, const char *beginning)
{
    return !strncmp(text, beginning, strlen(beginning));
}

static void offer_choices(const char *choices, const char *begun)
{
    for (const char *at = choices; *at;) {
        size_t size = strcspn(at, "|");
        char *choice = tool_copy(at, size);
        if (begins(choice, begun)) {
            print(stdout, "%s\n", choice);
        }
        tool_free(choice);
        at += size + (at[size] ? 1 : 0);
    }
}

static void offer_options(const struct option *options, size_t count, const char *begun)
{
    for (size_t i = 0; i < count; i++) {
        char *name = tool_format("--%s", options[i].name);
        if (begins(name, begun)) {
            print(stdout, "%s\n", name);
        }
        tool_free(name);
    }
}

// First words, or the second ones of a family.
static void offer_commands(const char *family, const char *begun)
{
    const char *last = "";
    size_t last_size = 0;
    for (size_t i = 0; tool_command_at(i); i++) {
        const struct tool_command *command = tool_command_at(i);
        size_t skip = family ? strlen(family) + 1 : 0;
        if (!command->group ||
            (family && (!begins(command->name, family) || command->name[skip - 1] != ' '))) {
            continue;
        }
        const char *word = command->name + skip;
        size_t size = strcspn(word, " ");
        bool again = size == last_size && !strncmp(word, last, size);
        if (begins(word, begun) && !again) {
            print(stdout, "%.*s\n", (int)size, word);
            last = word;
            last_size = size;
        }
    }
}

static const struct option *named(const struct option *options, size_t count, const char *word)
{
    for (size_t i = 0; i < count; i++) {
        bool by_letter =
            word[0] == '-' && options[i].letter && word[1] == options[i].letter && !word[2];
        if (by_letter || (begins(word, "--") && !strcmp(word + 2, options[i].name))) {
            return &options[i];
        }
    }
    return NULL;
}

// The option whose value the last word is.
static const struct option *awaits_value(const struct tool_command *command, const char *word)
{
    const struct option *option =
        command ? named(command->options, command->option_count, word) : NULL;
    option = option ? option : named(global_option_table, global_option_count, word);
    return option && option->type != OPTION_FLAG ? option : NULL;
}

// What the words before the last one say.
struct line {
    const struct tool_command *command;
    const char *family;
    const struct option *awaiting;
    size_t arguments;
};

static void read_line_word(struct line *line, const char *word)
{
    if (line->awaiting) {
        line->awaiting = NULL;
    } else if (*word == '-') {
        line->awaiting = awaits_value(line->command, word);
    } else if (line->command) {
        line->arguments++;
    } else if (line->family) {
        char *name = tool_format("%s %s", line->family, word);
        line->command = command_find(name);
        tool_free(name);
    } else if (command_is_family(word)) {
        line->family = word;
    } else {
        line->command = command_find(word);
    }
}

// Arguments that are one of a few words: "klass|queue NAME".
static void offer_argument(const struct tool_command *command, const char *begun)
{
    size_t size = strcspn(command->arguments, " ");
    char *first = tool_copy(command->arguments, size);
    if (strchr(first, '|')) {
        offer_choices(first, begun);
    }
    tool_free(first);
}

static int words_run(struct tool *tool)
{
    struct line line = { 0 };
    size_t count = tool->argument_count;
    const char *begun = count ? tool->arguments[count - 1] : "";
    for (size_t i = 0; i + 1 < count; i++) {
        read_line_word(&line, tool->arguments[i]);
    }
    if (line.awaiting) {
        offer_choices(line.awaiting->choices ? line.awaiting->choices : "", begun);
    } else if (*begun == '-') {
        if (line.command) {
            offer_options(line.command->options, line.command->option_count, begun);
        }
        offer_options(global_option_table, global_option_count, begun);
    } else if (!line.command) {
        offer_commands(line.family, begun);
    } else if (!strcmp(line.command->name, "help")) {
        offer_commands(NULL, begun);
    } else if (!line.arguments) {
        offer_argument(line.command, begun);
    }
    return EXIT_DONE;
}

static const struct tool_command commands[] = {
    { .name = "completion",
      .group = "The tool",
      .arguments = "bash|zsh|fish",
      ONE,
      .run = completion_run,
      .offline = true,
      .summary = "Prints a script that completes this tool's words in a shell",
      .examples = EXAMPLES({ "source <(sluice completion bash)", NULL }) },
    { .name = "complete-words",
      .arguments = "WORD...",
      .arguments_max = SIZE_MAX,
      .run = words_run,
      .offline = true,
      .summary = "Lists what the last of the words could be" },
};
const struct tool_set completion_set = SET(commands);
