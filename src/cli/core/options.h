// SPDX-License-Identifier: MIT
// The words of a command line: global options anywhere, a command, its options and its arguments.
#ifndef SLUICE_CLI_CORE_OPTIONS_H
#define SLUICE_CLI_CORE_OPTIONS_H

#include "cli/core/cli.h"

struct global_options {
    const char *url, *ns, *color, *times;
    double timeout;
    const char *ca_file, *cert_file, *key_file, *password_file;
    bool json, wait_for_server, help, version;
};

extern const struct option global_option_table[];
extern const size_t global_option_count;

struct parsed {
    struct global_options global;
    const struct tool_command *command; // NULL: none was named
    const char *family;                 // only the name of a family without a primary command
    void *options;
    const char **arguments; // ends with NULL
    size_t argument_count;
    struct given *given;
    size_t given_count;
};

// Reads a command line without the program's name. Gives NULL, or what is wrong with it.
const char *options_parse(struct parsed *parsed, char *const *words, size_t count);

// Puts a value into its field of a struct of options. Gives NULL, or what is wrong with it.
const char *option_store(const struct option *option, const char *text, void *options);

// "90", "1.5", "500ms", "10s", "5m", "2h", "1d"; false: it is none of these.
bool seconds_parse(const char *text, double *out);
bool integer_parse(const char *text, int64_t *out);

// A command by its whole name, or a family's primary one; NULL: there is none.
const struct tool_command *command_find(const char *name);
// Whether there are commands "NAME ...".
bool command_is_family(const char *name);
// The command, option or choice whose name is nearest to a word, or NULL when none is near.
const char *command_nearest(const char *word);
size_t edit_distance(const char *one, const char *other);

#endif
