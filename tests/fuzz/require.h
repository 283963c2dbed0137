// SPDX-License-Identifier: MIT
// How the worlds of the fuzz targets tell of a finding.
#ifndef SLUICE_FUZZ_REQUIRE_H
#define SLUICE_FUZZ_REQUIRE_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

// Ends the process with a sentence unless it holds.
static inline void require(bool holds, const char *sentence)
{
    if (!holds) {
        (void)fprintf(stderr, "fuzz: %s\n", sentence);
        abort();
    }
}

static inline void require_of(const char *what, bool holds, const char *sentence)
{
    if (!holds) {
        (void)fprintf(stderr, "fuzz: %s %s\n", what, sentence);
        abort();
    }
}

#endif
