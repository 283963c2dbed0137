// SPDX-License-Identifier: MIT
// Answers about a job as lines of a label and a text, for a person to read.
#ifndef SLUICE_CLI_TOP_DETAIL_H
#define SLUICE_CLI_TOP_DETAIL_H

#include "cli/top/look.h"

struct detail {
    struct look *look; // where they lie
    double now;        // by the server's clock
    struct look_line *items;
    size_t count, capacity;
};

void detail_add(struct detail *detail, const char *label, const char *text);

// Each pair of a map that has a value; of maps inside it as "lease worker".
void detail_map(struct detail *detail, const struct sluice_value *map);

// Why a job is not running: the sentence, and with `all` what it is made of.
void detail_explain(struct detail *detail, const struct sluice_value *explanation, bool all);

// The lines that were logged.
void detail_log(struct detail *detail, const struct sluice_value *log);

#endif
