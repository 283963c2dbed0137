// SPDX-License-Identifier: MIT
// Completion in shells. The scripts are short: they hand the words of the line to a hidden command,
// which knows the tables, so that they never know less than the tool.
#include "cli/core/call.h"
#include "cli/core/options.h"
#include "cli/core/sets.h"
#include "cli/core/url.h"

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
    const char *url, *ns; // as the line gives them; or NULL
};

// ---------------------------------------------------------------------------------------------
// Names that the server knows

#define NAMES_TIMEOUT_S 1.0 // a user waits for the shell

// What stands for names in arguments and options, and the command that lists them.
static const struct names {
    const char *stand_in, *words, *list, *key;
} names_table[] = {
    { "QUEUE", "Q.QUEUES SORT name COUNT 1000", "queues", "queue" },
    { "GROUP", "Q.FAILURES COUNT 1000", "failures", "group" },
    { "WORKER", "Q.WORKERS COUNT 1000", "workers", "worker" },
    { "NAMESPACE", "Q.NAMESPACES", "", "name" },
    { "RECURRING", "Q.RECURRING COUNT 1000", "jobs", "jid" },
};

// A name that a shell takes as one word, as it is. Others are not offered.
static bool is_plain(const char *name)
{
    return !name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                              "._:@%+,/=-")];
}

static void offer_names(const struct tool *tool, const struct names *names, const char *begun)
{
    struct words words = { 0 };
    struct sluice_value *answer = NULL;
    words_add_all(&words, names->words);
    if (sluice_call(tool->queue, words.items, NULL, words.count, &answer, NULL)) {
        return;
    }
    const struct sluice_value *list = *names->list ? sluice_value_get(answer, names->list) : answer;
    for (size_t i = 0; i < sluice_value_count(list); i++) {
        const char *name =
            sluice_value_text(sluice_value_get(sluice_value_at(list, i), names->key), NULL);
        if (name && begins(name, begun) && is_plain(name)) {
            print(stdout, "%s\n", name);
        }
    }
    sluice_value_free(answer);
}

// From a server that answers at once; a folder may be another process's at any time.
static void offer_known(const struct tool *tool, const struct line *line, const char *stand_in,
                        const char *begun)
{
    struct tool asking = *tool;
    asking.url = line->url ? line->url : tool->url;
    asking.ns = line->ns ? line->ns : tool->ns;
    for (size_t i = 0; i < sizeof names_table / sizeof *names_table; i++) {
        const struct sluice_open_options options = SLUICE_OPEN(.timeout = NAMES_TIMEOUT_S);
        if (strcmp(names_table[i].stand_in, stand_in) != 0 || url_is_folder(asking.url) ||
            tool_open(&asking, &options, &asking.queue, NULL)) {
            continue;
        }
        offer_names(&asking, &names_table[i], begun);
        sluice_close(asking.queue);
    }
}

// "QUEUE" of "JID QUEUE KLASS [DATA]": what the argument at this place stands for. For tool_free.
static char *stand_in_of(const struct tool_command *command, size_t place)
{
    const char *at = command->arguments;
    for (size_t i = 0; i < place; i++) {
        size_t size = strcspn(at, " ");
        bool repeated = size > 3 && strstr(at, "...") && strstr(at, "...") < at + size;
        if (!at[size] && !repeated) {
            return tool_copy("", 0);
        }
        at += at[size] ? size + 1 : 0;
    }
    at += *at == '[';
    size_t size = strcspn(at, " .]");
    bool recurring = begins(command->name, "recur ") && strcmp(command->name, "recur add") != 0 &&
                     size == 3 && begins(at, "JID");
    bool deleted = !strcmp(command->name, "namespaces delete");
    return recurring ? tool_format("RECURRING")
           : deleted ? tool_format("NAMESPACE")
                     : tool_copy(at, size);
}

static void offer_value(const struct tool *tool, const struct line *line, const char *begun)
{
    const struct option *option = line->awaiting;
    if (option->choices) {
        offer_choices(option->choices, begun);
    } else if (!strcmp(option->name, "ns")) {
        offer_known(tool, line, "NAMESPACE", begun);
    } else if (option->value) {
        offer_known(tool, line, begins(option->value, "QUEUE") ? "QUEUE" : option->value, begun);
    }
}

static void read_line_word(struct line *line, const char *word)
{
    if (line->awaiting) {
        bool global = line->awaiting >= global_option_table &&
                      line->awaiting < global_option_table + global_option_count;
        line->url = global && !strcmp(line->awaiting->name, "url") ? word : line->url;
        line->ns = global && !strcmp(line->awaiting->name, "ns") ? word : line->ns;
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
        offer_value(tool, &line, begun);
    } else if (*begun == '-') {
        if (line.command) {
            offer_options(line.command->options, line.command->option_count, begun);
        }
        offer_options(global_option_table, global_option_count, begun);
    } else if (!line.command) {
        offer_commands(line.family, begun);
    } else if (!strcmp(line.command->name, "help")) {
        offer_commands(NULL, begun);
    } else {
        char *stand_in = stand_in_of(line.command, line.arguments);
        if (!line.arguments) {
            offer_argument(line.command, begun);
        }
        offer_known(tool, &line, stand_in, begun);
        tool_free(stand_in);
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
      .details = "Names of queues, namespaces, groups, workers and recurring jobs are those of the "
                 "server that the line or SLUICE_URL names, if it answers within a second.",
      .examples = EXAMPLES({ "source <(sluice completion bash)", NULL }) },
    { .name = "complete-words",
      .arguments = "WORD...",
      .arguments_max = SIZE_MAX,
      .run = words_run,
      .offline = true,
      .summary = "Lists what the last of the words could be" },
};
const struct tool_set completion_set = SET(commands);
