// SPDX-License-Identifier: MIT
// What a terminal shows, as a grid of cells. A frame is painted into the grid; then only the cells
// that differ from what the terminal shows already are written to it.
//
// It knows nothing of terminals but how to move their cursor and colour their text: it writes to a
// stream, and can be read as plain text.
#ifndef SLUICE_CLI_TOP_SCREEN_H
#define SLUICE_CLI_TOP_SCREEN_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

// A style is a sum of these; at most one colour.
enum screen_style {
    STYLE_PLAIN = 0,
    STYLE_BOLD = 1,
    STYLE_DIM = 2,
    STYLE_REVERSE = 4,
    STYLE_RED = 1 << 4,
    STYLE_GREEN = 2 << 4,
    STYLE_YELLOW = 3 << 4,
    STYLE_CYAN = 6 << 4,
    STYLE_COLOR = 7 << 4, // the bits that hold it
};

struct screen_cell {
    uint32_t glyph; // 0: the right half of the wide one before it
    uint8_t style;
};

struct screen {
    int rows, columns;
    bool utf8;  // otherwise what is not ASCII is written as '?'
    bool color; // otherwise colours are left out
    bool stale; // what the terminal shows is not known
    struct screen_cell *wanted, *shown;
};

// Makes it that large, empty, and stale. A screen begins as zeros.
void screen_resize(struct screen *screen, int rows, int columns);
void screen_release(struct screen *screen);

// A frame begins: all cells are blank.
void screen_clear(struct screen *screen);

// Writes a text into a row, from a column on, over at most `width` columns; what is longer ends
// with an ellipsis. What lies outside the screen is left out. Returns the columns used.
int screen_text(struct screen *screen, int row, int column, int width, unsigned style,
                const char *text);

// The same character over `width` columns; it must be one that is a column wide.
void screen_fill(struct screen *screen, int row, int column, int width, unsigned style,
                 uint32_t glyph);

// Writes what makes the terminal show this frame, which is nothing when it does already. The
// terminal must have a plain style, and will have it afterwards.
void screen_write(struct screen *screen, FILE *out);

// The frame as lines of text without blanks at their ends.
void screen_print(const struct screen *screen, FILE *out);

#endif
