// SPDX-License-Identifier: MIT
// What every command needs: how it complains, asks and prints.
#include "cli/core/cli.h"
#include "cli/core/json.h"
#include "cli/core/table.h"
#include "cli/core/url.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    SENTENCE_SIZE = 2048,
};

void print(FILE *file, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    (void)vfprintf(file, format, values);
    va_end(values);
}

static void complain(const char *format, va_list values)
{
    char sentence[SENTENCE_SIZE];
    (void)vsnprintf(sentence, sizeof sentence, format, values);
    // What was printed before stands before it.
    (void)fflush(stdout);
    char *clean = text_clean(sentence, strlen(sentence));
    print(stderr, "sluice: %s\n", clean);
    tool_free(clean);
}

void tool_complain(const char *format, ...)
{
    va_list values;
    va_start(values, format);
    complain(format, values);
    va_end(values);
}

int tool_misuse(const struct tool *tool, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    complain(format, values);
    va_end(values);
    const char *name = tool && tool->command ? tool->command->name : NULL;
    print(stderr, "`sluice help%s%s` says more.\n", name ? " " : "", name ? name : "");
    return EXIT_USAGE;
}

int tool_exit_code(enum sluice_status status)
{
    switch (status) {
    case SLUICE_OK:
        return EXIT_DONE;
    case SLUICE_NOT_FOUND:
    case SLUICE_TIMED_OUT:
        return EXIT_NOTHING;
    case SLUICE_UNREACHABLE:
        return EXIT_UNREACHABLE;
    case SLUICE_UNKNOWN:
        return EXIT_UNKNOWN;
    default:
        return EXIT_REFUSED;
    }
}

int tool_refuse(const struct sluice_error *error)
{
    tool_complain("%s", *error->message ? error->message : sluice_status_name(error->status));
    return tool_exit_code(error->status);
}

int tool_confirm(const struct tool *tool, const char *question)
{
    if (tool_given(tool, "yes")) {
        return EXIT_DONE;
    }
    if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO)) {
        return tool_misuse(tool, "%s needs --yes when standard input is not a terminal",
                           tool->command->name);
    }
    char answer[16];
    print(stderr, "%s [y/N] ", question);
    if (fgets(answer, sizeof answer, stdin) && (*answer == 'y' || *answer == 'Y')) {
        return EXIT_DONE;
    }
    tool_complain("nothing was done");
    return EXIT_REFUSED;
}

static int print_json(const struct sluice_value *value, bool names)
{
    char *json = sluice_value_json(value);
    if (!json) {
        tool_complain("out of memory");
        return EXIT_REFUSED;
    }
    if (names) {
        print(stdout, "%s", json);
    } else {
        json_write_keys(stdout, json, strlen(json));
    }
    print(stdout, "\n");
    sluice_free(json);
    return EXIT_DONE;
}

int tool_print_json(const struct sluice_value *value)
{
    return print_json(value, false);
}

int tool_print_json_names(const struct sluice_value *value)
{
    return print_json(value, true);
}

int tool_print_json_list(const struct sluice_value *list)
{
    int code = EXIT_DONE;
    for (size_t i = 0; !code && i < sluice_value_count(list); i++) {
        code = tool_print_json(sluice_value_at(list, i));
    }
    return code;
}

const char *tool_given(const struct tool *tool, const char *name)
{
    for (size_t i = tool->given_count; i > 0; i--) {
        if (!strcmp(tool->given[i - 1].option->name, name)) {
            return tool->given[i - 1].text;
        }
    }
    return NULL;
}

static void say_trouble(void *context, enum sluice_log_level level, const char *sentence)
{
    (void)context;
    (void)level;
    tool_complain("%s", sentence);
}

static enum sluice_status fault(struct sluice_error *error, const char *option, const char *what)
{
    *error = (struct sluice_error){ .status = SLUICE_INVALID };
    (void)snprintf(error->message, sizeof error->message, "--%s needs an address %s", option, what);
    return SLUICE_INVALID;
}

// A file for connections that the address would leave aside is a mistake, not a setting.
static enum sluice_status check_files(const struct tool *tool, struct sluice_error *error)
{
    const char *name = tool->ca_file     ? "ca-file"
                       : tool->cert_file ? "cert-file"
                       : tool->key_file  ? "key-file"
                                         : NULL;
    if (name && !url_is_tls(tool->url)) {
        return fault(error, name, "with TLS, such as sluices://HOST");
    }
    if (tool->password_file && url_is_folder(tool->url)) {
        return fault(error, "password-file", "of a server, such as sluice://HOST");
    }
    return SLUICE_OK;
}

enum sluice_status tool_open(const struct tool *tool, const struct sluice_open_options *options,
                             struct sluice **out, struct sluice_error *error)
{
    struct sluice_open_options all = options ? *options : SLUICE_OPEN();
    if (!all.ns) {
        all.ns = tool->ns;
    }
    if (all.timeout == 0) {
        all.timeout = tool->timeout;
    }
    // What is not given, the library reads from the environment.
    all.ca_file = tool->ca_file;
    all.cert_file = tool->cert_file;
    all.key_file = tool->key_file;
    all.password_file = tool->password_file;
    all.fail_fast = !tool->wait_for_server;
    if (!all.log && tool->wait_for_server && !tool->command->patient) {
        all.log = say_trouble;
    }
    struct sluice_error unheard;
    enum sluice_status status = check_files(tool, error ? error : &unheard);
    if (status) {
        return status;
    }
    char *url = tool->command->makes ? NULL : url_of_existing(tool->url);
    status = sluice_open(url ? url : tool->url, &all, out, error);
    tool_free(url);
    return status;
}

int tool_connect(const struct tool *tool, const struct sluice_open_options *options,
                 struct sluice **out)
{
    struct sluice_error error = { 0 };
    enum sluice_status status = tool_open(tool, options, out, &error);
    if (status == SLUICE_INVALID) {
        return tool_misuse(tool, "%s", error.message);
    }
    return status ? tool_refuse(&error) : EXIT_DONE;
}
