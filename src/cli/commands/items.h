// SPDX-License-Identifier: MIT
// The items of an export (docs/export.md), a line each, into a namespace.
#ifndef SLUICE_CLI_COMMANDS_ITEMS_H
#define SLUICE_CLI_COMMANDS_ITEMS_H

#include "cli/core/cli.h"

struct items_options {
    FILE *file;
    const char *name;  // of the file, for sentences
    const char *first; // its first line, which was read already
    int64_t from;      // the first line that counts, from 1 on
    bool dry_run;      // nothing is changed: what would not fit is said
};

// Whether a file that begins with this line has items.
bool items_begin(const char *line);

int items_import(const struct tool *tool, const struct items_options *options);

#endif
