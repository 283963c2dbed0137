// SPDX-License-Identifier: MIT
// sluice: a queue on the command line.
#include "cli/commands/help.h"
#include "cli/core/options.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define URL_DEFAULT "sluice://127.0.0.1:7711/default"

// Short, so that a user learns soon that the server cannot be reached.
#define TIMEOUT_DEFAULT 5.0

static const char *first_text(const char *given, const char *variable, const char *otherwise)
{
    const char *value = given ? given : getenv(variable);
    return value && *value ? value : otherwise;
}

static bool wants_color(const char *when)
{
    const char *no_color = getenv("NO_COLOR");
    const char *terminal = getenv("TERM");
    if (when && strcmp(when, "auto") != 0) {
        return !strcmp(when, "always");
    }
    return isatty(STDOUT_FILENO) && !(no_color && *no_color) &&
           !(terminal && !strcmp(terminal, "dumb"));
}

static enum times times_of(const char *given)
{
    const char *how = first_text(given, "SLUICE_TIMES", "");
    return !strcmp(how, "utc") ? TIMES_UTC : !strcmp(how, "local") ? TIMES_LOCAL : TIMES_RELATIVE;
}

static struct tool tool_of(const struct parsed *parsed)
{
    const struct global_options *global = &parsed->global;
    return (struct tool){
        .command = parsed->command,
        .options = parsed->options,
        .arguments = parsed->arguments,
        .argument_count = parsed->argument_count,
        .given = parsed->given,
        .given_count = parsed->given_count,
        .url = first_text(global->url, "SLUICE_URL", URL_DEFAULT),
        .ns = first_text(global->ns, "SLUICE_NS", NULL),
        .timeout = global->timeout > 0 ? global->timeout : TIMEOUT_DEFAULT,
        .timeout_given = global->timeout > 0,
        .ca_file = global->ca_file,
        .cert_file = global->cert_file,
        .key_file = global->key_file,
        .password_file = global->password_file,
        .wait_for_server = global->wait_for_server || (parsed->command && parsed->command->patient),
        .times = times_of(global->times),
        .json = global->json,
        .color = wants_color(global->color),
        .terminal = isatty(STDOUT_FILENO) && isatty(STDERR_FILENO),
    };
}

static int run(struct tool *tool)
{
    int code = tool->command->offline ? EXIT_DONE : tool_connect(tool, NULL, &tool->queue);
    if (code) {
        return code;
    }
    code = tool->command->run(tool);
    sluice_close(tool->queue);
    return code;
}

static int show_help(const struct parsed *parsed)
{
    if (parsed->command) {
        help_command(stdout, parsed->command);
    } else if (parsed->family) {
        (void)help_topic(stdout, parsed->family);
    } else {
        help_all(stdout);
    }
    return EXIT_DONE;
}

// Words without a command: nothing at all, or a family of which one has to be chosen.
static int show_choice(const struct parsed *parsed)
{
    if (!parsed->family) {
        help_overview(stdout);
        return EXIT_DONE;
    }
    tool_complain("%s is several commands", parsed->family);
    (void)help_topic(stderr, parsed->family);
    return EXIT_USAGE;
}

static int run_words(char *const *words, size_t count)
{
    struct parsed parsed;
    const char *wrong = options_parse(&parsed, words, count);
    struct tool tool = tool_of(&parsed);
    if (wrong) {
        return tool_misuse(&tool, "%s", wrong);
    }
    if (parsed.global.version) {
        print(stdout, "sluice %s\n", sluice_version());
        return EXIT_DONE;
    }
    if (parsed.global.help) {
        return show_help(&parsed);
    }
    return parsed.command ? run(&tool) : show_choice(&parsed);
}

int main(int argc, char **argv)
{
    int code = run_words(argv + 1, argc > 0 ? (size_t)(argc - 1) : 0);
    // A failed flush in between leaves nothing for the last one.
    bool failed = ferror(stdout) != 0;
    failed |= fclose(stdout) != 0;
    if (failed && code == EXIT_DONE) {
        tool_complain("standard output could not be written");
        code = EXIT_REFUSED;
    }
    tool_free_all();
    return code;
}
