// SPDX-License-Identifier: MIT
// Many jobs from lines of JSON: put in groups, with what was refused by its line.
#ifndef SLUICE_CLI_COMMANDS_LINES_H
#define SLUICE_CLI_COMMANDS_LINES_H

#include "cli/core/cli.h"

struct lines_options {
    FILE *file;
    const char *name;   // of the file, for sentences
    const char *first;  // its first line, if it was read already
    int64_t from;       // the first line that counts, from 1 on
    bool keep_existing; // a job whose jid is there already is left alone
    bool quiet;         // the jids are not printed
};

int lines_put(const struct tool *tool, const struct lines_options *options);

#endif
