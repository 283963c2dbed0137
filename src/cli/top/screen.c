// SPDX-License-Identifier: MIT
#include "cli/top/screen.h"

#include "cli/core/cli.h"
#include "cli/core/glyph.h"

#include <string.h>

enum {
    REACH_MAX = 6, // so many cells are rather written again than jumped over
};

static const struct screen_cell blank = { .glyph = ' ' };

static bool same(struct screen_cell a, struct screen_cell b)
{
    return a.glyph == b.glyph && a.style == b.style;
}

static size_t cell_count(const struct screen *screen)
{
    return (size_t)screen->rows * (size_t)screen->columns;
}

static struct screen_cell *row_of(const struct screen *screen, struct screen_cell *cells, int row)
{
    return cells + (size_t)row * (size_t)screen->columns;
}

void screen_resize(struct screen *screen, int rows, int columns)
{
    screen_release(screen);
    screen->rows = rows;
    screen->columns = columns;
    screen->wanted = tool_allocate(cell_count(screen) * sizeof(*screen->wanted));
    screen->shown = tool_allocate(cell_count(screen) * sizeof(*screen->shown));
    screen->stale = true;
    screen_clear(screen);
}

void screen_release(struct screen *screen)
{
    tool_free(screen->wanted);
    tool_free(screen->shown);
    screen->wanted = screen->shown = NULL;
    screen->rows = screen->columns = 0;
}

void screen_clear(struct screen *screen)
{
    for (size_t i = 0; i < cell_count(screen); i++) {
        screen->wanted[i] = blank;
    }
}

// ---------------------------------------------------------------------------------------------
// Painting

// Half a wide character cannot be shown: when one half is painted over, the other becomes blank.
static void put(struct screen *screen, int row, int column, struct screen_cell cell)
{
    struct screen_cell *cells = row_of(screen, screen->wanted, row);
    if (!cells[column].glyph && cell.glyph && column > 0) {
        cells[column - 1].glyph = ' ';
    }
    if (column + 1 < screen->columns && !cells[column + 1].glyph) {
        cells[column + 1].glyph = ' ';
    }
    cells[column] = cell;
}

static bool fits(const struct screen *screen, int row, int column)
{
    return row >= 0 && row < screen->rows && column >= 0 && column < screen->columns;
}

static void put_glyph(struct screen *screen, int row, int column, uint32_t glyph, unsigned style)
{
    put(screen, row, column, (struct screen_cell){ glyph, (uint8_t)style });
    if (glyph_width(glyph) == 2) {
        put(screen, row, column + 1, (struct screen_cell){ 0, (uint8_t)style });
    }
}

int screen_text(struct screen *screen, int row, int column, int width, unsigned style,
                const char *text)
{
    if (width > screen->columns - column) {
        width = screen->columns - column;
    }
    if (width <= 0 || !fits(screen, row, column)) {
        return 0;
    }
    bool cut = glyph_text_width(text) > width;
    int room = width - cut;
    int used = 0;
    for (uint32_t glyph; (glyph = glyph_next(&text)) != 0;) {
        int needs = glyph_width(glyph);
        if (used + needs > room) {
            break;
        }
        if (needs) {
            put_glyph(screen, row, column + used, glyph, style);
        }
        used += needs;
    }
    if (cut) {
        put_glyph(screen, row, column + used, GLYPH_ELLIPSIS, style);
        used++;
    }
    return used;
}

void screen_fill(struct screen *screen, int row, int column, int width, unsigned style,
                 uint32_t glyph)
{
    for (int i = 0; i < width && fits(screen, row, column + i); i++) {
        put_glyph(screen, row, column + i, glyph, style);
    }
}

// ---------------------------------------------------------------------------------------------
// Writing

// Where the terminal's cursor is, and how it writes.
struct cursor {
    FILE *out;
    int row, column; // -1: not known
    unsigned style;
};

static void set_style(const struct screen *screen, struct cursor *cursor, unsigned style)
{
    if (!screen->color) {
        style &= ~(unsigned)STYLE_COLOR;
    }
    if (style == cursor->style) {
        return;
    }
    (void)fputs("\033[0", cursor->out);
    if (style & STYLE_BOLD) {
        (void)fputs(";1", cursor->out);
    }
    if (style & STYLE_DIM) {
        (void)fputs(";2", cursor->out);
    }
    if (style & STYLE_REVERSE) {
        (void)fputs(";7", cursor->out);
    }
    if (style & STYLE_COLOR) {
        (void)fprintf(cursor->out, ";3%u", (style & STYLE_COLOR) >> 4);
    }
    (void)fputc('m', cursor->out);
    cursor->style = style;
}

// What stands for a character where there is only ASCII.
static char plain_of(uint32_t glyph)
{
    switch (glyph) {
    case GLYPH_FULL:
        return '#';
    case GLYPH_SHADE:
        return '-';
    case GLYPH_ELLIPSIS:
        return '~';
    default:
        return '?';
    }
}

static void write_cell(const struct screen *screen, struct cursor *cursor, struct screen_cell cell)
{
    set_style(screen, cursor, cell.style);
    int width = glyph_width(cell.glyph);
    if (screen->utf8 || cell.glyph < 0x80) {
        char bytes[GLYPH_SIZE];
        size_t size = glyph_encode(cell.glyph, bytes);
        (void)fwrite(bytes, 1, size, cursor->out);
    } else {
        (void)fprintf(cursor->out, width == 2 ? "%c?" : "%c", plain_of(cell.glyph));
    }
    cursor->column += width;
    // Where terminals differ about the width, or are about to wrap, the cursor is set anew.
    bool sure = glyph_is_sure(cell.glyph) || !screen->utf8;
    if (!sure || cursor->column >= screen->columns) {
        cursor->column = -1;
    }
}

// A few cells between the cursor and where it shall go cost less than the order to jump.
static bool can_reach(const struct screen *screen, const struct cursor *cursor, int row, int column)
{
    if (cursor->row != row || cursor->column < 0 || column < cursor->column ||
        column - cursor->column > REACH_MAX) {
        return false;
    }
    const struct screen_cell *cells = row_of(screen, screen->wanted, row);
    for (int i = cursor->column; i < column; i++) {
        if (cells[i].glyph < ' ' || cells[i].glyph >= 0x7F || cells[i].style != cursor->style) {
            return false;
        }
    }
    return true;
}

static void move_to(const struct screen *screen, struct cursor *cursor, int row, int column)
{
    if (cursor->row == row && cursor->column == column) {
        return;
    }
    if (can_reach(screen, cursor, row, column)) {
        const struct screen_cell *cells = row_of(screen, screen->wanted, row);
        while (cursor->column < column) {
            write_cell(screen, cursor, cells[cursor->column]);
        }
        return;
    }
    (void)fprintf(cursor->out, "\033[%d;%dH", row + 1, column + 1);
    cursor->row = row;
    cursor->column = column;
}

// From where on a row is blank.
static int row_end(const struct screen *screen, const struct screen_cell *cells)
{
    int end = screen->columns;
    while (end > 0 && same(cells[end - 1], blank)) {
        end--;
    }
    return end;
}

static void write_row(struct screen *screen, struct cursor *cursor, int row)
{
    const struct screen_cell *wanted = row_of(screen, screen->wanted, row);
    const struct screen_cell *shown = row_of(screen, screen->shown, row);
    int end = row_end(screen, wanted);
    int shown_end = row_end(screen, shown);
    for (int column = 0; column < end; column++) {
        if (wanted[column].glyph && (!same(wanted[column], shown[column]) ||
                                     (column + 1 < end && !wanted[column + 1].glyph &&
                                      !same(wanted[column + 1], shown[column + 1])))) {
            move_to(screen, cursor, row, column);
            write_cell(screen, cursor, wanted[column]);
        }
    }
    if (shown_end > end) {
        move_to(screen, cursor, row, end);
        set_style(screen, cursor, STYLE_PLAIN);
        (void)fputs("\033[K", cursor->out);
    }
}

void screen_write(struct screen *screen, FILE *out)
{
    struct cursor cursor = { .out = out, .row = -1, .column = -1 };
    if (screen->stale) {
        (void)fputs("\033[0m\033[2J", out);
        for (size_t i = 0; i < cell_count(screen); i++) {
            screen->shown[i] = blank;
        }
        screen->stale = false;
    }
    for (int row = 0; row < screen->rows; row++) {
        write_row(screen, &cursor, row);
    }
    set_style(screen, &cursor, STYLE_PLAIN);
    memcpy(screen->shown, screen->wanted, cell_count(screen) * sizeof(*screen->shown));
}

void screen_print(const struct screen *screen, FILE *out)
{
    struct cursor cursor = { .out = out };
    for (int row = 0; row < screen->rows; row++) {
        const struct screen_cell *cells = row_of(screen, screen->wanted, row);
        int end = screen->columns;
        while (end > 0 && cells[end - 1].glyph == ' ') {
            end--;
        }
        for (int column = 0; column < end; column++) {
            if (cells[column].glyph) {
                write_cell(screen, &cursor,
                           (struct screen_cell){ cells[column].glyph, STYLE_PLAIN });
            }
        }
        (void)fputc('\n', out);
    }
}
