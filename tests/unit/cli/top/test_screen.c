// SPDX-License-Identifier: MIT
// A screen is held against a terminal of our own that knows no more than it must: what the terminal
// shows after the bytes of a frame must be the frame.
#include "cli/top/screen.h"

#include "cli/core/cli.h"
#include "cli/core/glyph.h"

#include "random.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

enum {
    ROWS = 6,
    COLUMNS = 20,
};

static struct screen screen;

static int set_up(void **state)
{
    (void)state;
    screen = (struct screen){ .utf8 = true, .color = true };
    screen_resize(&screen, ROWS, COLUMNS);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    screen_release(&screen);
    tool_free_all();
    return 0;
}

// ---------------------------------------------------------------------------------------------
// A terminal

struct terminal {
    uint32_t glyphs[ROWS][COLUMNS];
    bool reverse[ROWS][COLUMNS];
    int row, column;
    bool reversed;
};

static struct terminal terminal;

static void terminal_erase(int row, int column)
{
    for (; column < COLUMNS; column++) {
        terminal.glyphs[row][column] = ' ';
        terminal.reverse[row][column] = false;
    }
}

// Behind "ESC [". Returns behind its end.
static const char *terminal_obey(const char *at)
{
    int numbers[8] = { 0 }, count = 0;
    for (; *at == ';' || (*at >= '0' && *at <= '9'); at++) {
        if (*at == ';') {
            count++;
            assert_true(count < 8);
        } else {
            numbers[count] = numbers[count] * 10 + *at - '0';
        }
    }
    switch (*at) {
    case 'H':
        terminal.row = numbers[0] - 1;
        terminal.column = numbers[1] - 1;
        break;
    case 'K':
        assert_false(terminal.reversed);
        terminal_erase(terminal.row, terminal.column);
        break;
    case 'J':
        for (int row = 0; row < ROWS; row++) {
            terminal_erase(row, 0);
        }
        break;
    case 'm':
        terminal.reversed = false;
        for (int i = 0; i <= count; i++) {
            terminal.reversed = terminal.reversed || numbers[i] == 7;
        }
        break;
    default:
        fail_msg("a terminal was told '%c'", *at);
    }
    return at + 1;
}

static void terminal_show(uint32_t glyph)
{
    int width = glyph_width(glyph);
    assert_in_range(terminal.row, 0, ROWS - 1);
    assert_in_range(terminal.column, 0, COLUMNS - width);
    for (int i = 0; i < width; i++) {
        terminal.glyphs[terminal.row][terminal.column] = i ? 0 : glyph;
        terminal.reverse[terminal.row][terminal.column] = terminal.reversed;
        terminal.column++;
    }
}

static void terminal_feed(const char *at)
{
    while (*at) {
        if (!strncmp(at, "\033[", 2)) {
            at = terminal_obey(at + 2);
        } else {
            uint32_t glyph = glyph_next(&at);
            assert_true(glyph >= ' ');
            terminal_show(glyph);
        }
    }
}

// ---------------------------------------------------------------------------------------------

// Writes the frame to the terminal, which must show it then. Returns how many bytes it took.
static size_t show(void)
{
    char *bytes = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&bytes, &size);
    assert_non_null(out);
    screen_write(&screen, out);
    assert_int_equal(fclose(out), 0);
    terminal_feed(bytes);
    free(bytes);
    for (int row = 0; row < ROWS; row++) {
        for (int column = 0; column < COLUMNS; column++) {
            const struct screen_cell *cell = &screen.wanted[row * COLUMNS + column];
            assert_int_equal(terminal.glyphs[row][column], cell->glyph);
            assert_int_equal(terminal.reverse[row][column], (cell->style & STYLE_REVERSE) != 0);
        }
    }
    assert_false(terminal.reversed);
    return size;
}

static void assert_text(const char *wanted)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    screen_print(&screen, out);
    assert_int_equal(fclose(out), 0);
    assert_string_equal(text, wanted);
    free(text);
}

static void test_screen__text_stands_where_it_was_put_and_is_cut_at_its_width(void **state)
{
    (void)state;
    assert_int_equal(screen_text(&screen, 0, 0, 10, 0, "mail"), 4);
    assert_int_equal(screen_text(&screen, 1, 2, 5, 0, "reports"), 5);
    assert_int_equal(screen_text(&screen, 2, 17, 10, 0, "abcdef"), 3);
    assert_int_equal(screen_text(&screen, 3, 0, 4, 0, "four"), 4);
    assert_int_equal(screen_text(&screen, ROWS, 0, 4, 0, "below"), 0);
    assert_int_equal(screen_text(&screen, 0, COLUMNS, 4, 0, "right"), 0);
    assert_int_equal(screen_text(&screen, -1, 0, 4, 0, "above"), 0);
    assert_int_equal(screen_text(&screen, 4, 0, 0, 0, "none"), 0);
    screen_fill(&screen, 5, 18, 9, 0, '#');
    assert_text("mail\n  repo\xE2\x80\xA6\n                 ab\xE2\x80\xA6\nfour\n\n"
                "                  ##\n");
}

static void test_screen__control_characters_never_get_out(void **state)
{
    (void)state;
    screen_text(&screen, 0, 0, 20, 0,
                "a\033[2Jb\r\n\xC2\x9B"
                "1m\xFF");
    assert_text("a\xEF\xBF\xBD[2Jb\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"
                "1m\xEF\xBF\xBD\n\n\n\n\n\n");
    show();
}

static void test_screen__wide_characters_are_whole_or_not_there(void **state)
{
    (void)state;
    // Of three wide ones two fit, with the ellipsis.
    assert_int_equal(screen_text(&screen, 0, 0, 5, 0, "\xE6\x97\xA5\xE6\x9C\xAC\xE8\xAA\x9E"), 5);
    show();
    // One half of it painted over, the right one and the left one.
    screen_text(&screen, 0, 1, 1, 0, "x");
    show();
    screen_text(&screen, 0, 2, 1, 0, "y");
    show();
    screen_text(&screen, 1, 0, 8, 0, "\xE6\x97\xA5\xE6\x9C\xAC");
    show();
    screen_text(&screen, 1, 1, 8, 0, "\xE6\x97\xA5\xE6\x9C\xAC");
    show();
    assert_text(" xy \xE2\x80\xA6\n \xE6\x97\xA5\xE6\x9C\xAC\n\n\n\n\n");
}

static void test_screen__only_differences_are_written(void **state)
{
    (void)state;
    screen_text(&screen, 0, 0, 20, STYLE_BOLD, "header");
    screen_text(&screen, 3, 0, 20, 0, "12:34:56 and the rest");
    assert_true(show() > 0);
    assert_int_equal(show(), 0);
    // A frame that is painted anew and is the same costs nothing either.
    screen_clear(&screen);
    screen_text(&screen, 0, 0, 20, STYLE_BOLD, "header");
    screen_text(&screen, 3, 0, 20, 0, "12:34:56 and the rest");
    assert_int_equal(show(), 0);
    // A digit costs an order to jump and itself.
    screen_text(&screen, 3, 7, 1, 0, "7");
    assert_int_equal(show(), strlen("\033[4;8H7"));
    // Two that are near are written with what is between them.
    screen_text(&screen, 3, 4, 1, 0, "5");
    screen_text(&screen, 3, 7, 1, 0, "8");
    assert_int_equal(show(), strlen("\033[4;5H5:58"));
    // What is blank up to the end of a row is erased at once.
    screen_clear(&screen);
    screen_text(&screen, 0, 0, 20, STYLE_BOLD, "header");
    assert_int_equal(show(), strlen("\033[4;1H\033[K"));
}

static void test_screen__after_a_resize_all_is_written(void **state)
{
    (void)state;
    screen_text(&screen, 0, 0, 20, 0, "header");
    size_t all = show();
    assert_int_equal(show(), 0);
    screen.stale = true;
    memset(&terminal, 0, sizeof(terminal));
    assert_int_equal(show(), all);
    screen_resize(&screen, ROWS, COLUMNS);
    show();
    assert_text("\n\n\n\n\n\n");
}

static void test_screen__colours_only_where_they_are_allowed(void **state)
{
    (void)state;
    for (int color = 0; color < 2; color++) {
        char *bytes = NULL;
        size_t size = 0;
        screen.color = color;
        screen.stale = true;
        screen_text(&screen, 0, 0, 20, STYLE_RED | STYLE_REVERSE, "failed");
        FILE *out = open_memstream(&bytes, &size);
        screen_write(&screen, out);
        assert_int_equal(fclose(out), 0);
        assert_string_equal(bytes, color ? "\033[0m\033[2J\033[1;1H\033[0;7;31mfailed\033[0m"
                                         : "\033[0m\033[2J\033[1;1H\033[0;7mfailed\033[0m");
        free(bytes);
    }
}

static void test_screen__without_utf8_all_is_ascii_of_the_same_width(void **state)
{
    (void)state;
    screen.utf8 = false;
    screen_text(&screen, 0, 0, 20, 0, "\xC3\xA4\xE6\x97\xA5z");
    screen_fill(&screen, 1, 0, 2, 0, GLYPH_FULL);
    screen_fill(&screen, 1, 2, 2, 0, GLYPH_SHADE);
    screen_text(&screen, 2, 0, 3, 0, "cut off");
    assert_text("???z\n##--\ncu~\n\n\n\n");
}

// Whatever is painted over whatever, the terminal shows the frame.
static void test_screen__any_frame_after_any_other(void **state)
{
    (void)state;
    static const char *const words[] = {
        "mail",
        "\xE6\x97\xA5\xE6\x9C\xAC\xE8\xAA\x9E",
        "a",
        "e\xCC\x81t\xC3\xA9",
        " ",
        "\xF0\x9F\x98\x80!",
        "0123456789",
        "\x1B[m",
        "\xE2\x96\x88\xE2\x96\x91",
    };
    struct random random;
    random_init(&random);
    for (int frame = 0; frame < 3000; frame++) {
        if (frame % 3 == 0) {
            screen_clear(&screen);
        }
        for (int i = 0; i < 6; i++) {
            screen_text(&screen, (int)random_below(&random, ROWS),
                        (int)random_below(&random, COLUMNS), (int)random_below(&random, 12),
                        random_below(&random, 3) ? STYLE_PLAIN : STYLE_REVERSE,
                        words[random_below(&random, sizeof(words) / sizeof(words[0]))]);
        }
        show();
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_screen__text_stands_where_it_was_put_and_is_cut_at_its_width),
        TEST(test_screen__control_characters_never_get_out),
        TEST(test_screen__wide_characters_are_whole_or_not_there),
        TEST(test_screen__only_differences_are_written),
        TEST(test_screen__after_a_resize_all_is_written),
        TEST(test_screen__colours_only_where_they_are_allowed),
        TEST(test_screen__without_utf8_all_is_ascii_of_the_same_width),
        TEST(test_screen__any_frame_after_any_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
