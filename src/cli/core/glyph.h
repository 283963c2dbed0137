// SPDX-License-Identifier: MIT
// Characters on a terminal: which of a text's bytes may go there, and how much room they take.
//
// The names that people give to queues and jobs hold any byte. What a terminal would act upon
// rather than show never comes out of here. Widths are from a table of our own, so that they do not
// hang on the locale.
#ifndef SLUICE_CLI_CORE_GLYPH_H
#define SLUICE_CLI_CORE_GLYPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    GLYPH_ODD = 0xFFFD,      // stands for what cannot be shown
    GLYPH_ELLIPSIS = 0x2026, // stands for what was cut off
    GLYPH_FULL = 0x2588,     // of bars
    GLYPH_SHADE = 0x2591,
    GLYPH_LAST = 0x10FFFF, // there is none beyond
    GLYPH_BROKEN,          // no UTF-8
    GLYPH_SIZE = 4,        // the most bytes that one takes
};

// The next character of a text, which moves on behind it; 0 at its end, GLYPH_BROKEN for bytes that
// are none.
uint32_t glyph_decode(const char **text);

// The same for a terminal: control characters, broken UTF-8 and marks that turn the direction of
// writing are GLYPH_ODD.
uint32_t glyph_next(const char **text);

// How many columns it takes: 1, 2, or 0 for what joins the one before it.
int glyph_width(uint32_t glyph);

// Whether all terminals agree on its width.
bool glyph_is_sure(uint32_t glyph);

// The columns of a text.
int glyph_text_width(const char *text);

// Its bytes in UTF-8; returns how many.
size_t glyph_encode(uint32_t glyph, char out[GLYPH_SIZE]);

#endif
