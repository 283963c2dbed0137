// SPDX-License-Identifier: MIT
// The frame: two rows about the whole, the panes of a page, and a row of what happened and what can
// be done. Lists of the panes stand in panes.c.
#include "cli/top/draw.h"

#include "cli/core/glyph.h"
#include "cli/top/panes.h"
#include "cli/top/top_time.h"

#include <string.h>

enum {
    LABEL_WIDTH = 18, // of the details of a job
};

// ---------------------------------------------------------------------------------------------
// The header

static const char *link_text(const struct top_view *view, char *room, size_t size)
{
    static const char *const words[] = {
        [LINK_OPENING] = "connecting",  [LINK_GOOD] = "connected",  [LINK_SLOW] = "no answer",
        [LINK_BROKEN] = "reconnecting", [LINK_REFUSED] = "refused",
    };
    if (view->link == LINK_GOOD || view->link == LINK_REFUSED) {
        return words[view->link];
    }
    (void)snprintf(room, size, "%s %s", words[view->link], brief_length(view->quiet).text);
    return room;
}

static unsigned link_style(enum top_link link)
{
    switch (link) {
    case LINK_GOOD:
        return STYLE_GREEN;
    case LINK_OPENING:
    case LINK_SLOW:
        return STYLE_YELLOW | STYLE_BOLD;
    default:
        return STYLE_RED | STYLE_BOLD;
    }
}

// From the right: the clock, how often it looks, and the state of the connection.
static int draw_link(struct screen *screen, const struct top_view *view)
{
    char room[64], times[64];
    const char *text = link_text(view, room, sizeof(room));
    (void)snprintf(times, sizeof(times), "  every %gs  %s", view->interval,
                   brief_clock(view->now).text);
    int column = screen->columns - (int)strlen(times) - 1;
    screen_text(screen, 0, column, screen->columns, STYLE_PLAIN, times);
    column -= (int)strlen(text);
    screen_text(screen, 0, column, (int)strlen(text), link_style(view->link), text);
    return column;
}

static void draw_totals(struct screen *screen, const struct look *look)
{
    const struct look_totals *totals = &look->totals;
    const struct {
        const char *narrow, *wide;
        int64_t count;
        unsigned style;
    } counts[] = {
        { "wait", "waiting", totals->waiting, STYLE_PLAIN },
        { "run", "running", totals->running, STYLE_GREEN },
        { "sched", "scheduled", totals->scheduled, STYLE_PLAIN },
        { "stall", "stalled", totals->stalled, STYLE_YELLOW },
        { "deps", "depends", totals->depends, STYLE_PLAIN },
        { "fail", "failed", totals->failed, STYLE_RED },
        { "done", "complete", totals->complete, STYLE_PLAIN },
    };
    bool wide = screen->columns >= 100;
    int column = 1;
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        unsigned style = STYLE_BOLD | (counts[i].count ? counts[i].style : STYLE_PLAIN);
        column += 1 + screen_text(screen, 1, column, 16, STYLE_DIM,
                                  wide ? counts[i].wide : counts[i].narrow);
        column += 1 + screen_text(screen, 1, column, 16, style,
                                  brief_count(counts[i].count, wide ? 9 : 4).text);
    }
    char rates[2 * BRIEF_SIZE + 16];
    (void)snprintf(rates, sizeof(rates), "%s/s in %s/s out", brief_rate(totals->in).text,
                   brief_rate(totals->out).text);
    int left = screen->columns - (int)strlen(rates) - 1;
    screen_text(screen, 1, left > column ? left : column, 64, STYLE_PLAIN, rates);
}

static void draw_header(struct screen *screen, const struct top_view *view, const struct look *look)
{
    int end = draw_link(screen, view) - 2;
    int column = 1;
    column += screen_text(screen, 0, column, end - column, STYLE_BOLD, view->ns) + 2;
    column += screen_text(screen, 0, column, end - column, STYLE_PLAIN, view->url) + 2;
    if (look) {
        screen_text(screen, 0, column, end - column, STYLE_DIM, look->server);
        draw_totals(screen, look);
    }
}

// ---------------------------------------------------------------------------------------------
// Pages of lines

// A column of text that is written from the top; rows that are scrolled away are counted only.
struct scroll {
    struct screen *screen;
    int top, height;
    size_t first, row;
};

static void put_line(struct scroll *scroll, int column, unsigned style, const char *text)
{
    if (scroll->row >= scroll->first && scroll->row - scroll->first < (size_t)scroll->height) {
        int row = scroll->top + (int)(scroll->row - scroll->first);
        screen_text(scroll->screen, row, column, scroll->screen->columns, style, text);
    }
}

// How many bytes of a text go into a row: up to the last blank, or as many as fit.
static size_t row_size(const char *text, int width)
{
    const char *at = text, *blank = NULL;
    int used = 0;
    while (*at && *at != '\n') {
        const char *start = at;
        used += glyph_width(glyph_next(&at));
        if (used > width) {
            return (size_t)((blank ? blank : start > text ? start : at) - text);
        }
        blank = *start == ' ' ? at : blank;
    }
    return (size_t)(at - text);
}

// Over as many rows as it takes.
static void put_wrapped(struct scroll *scroll, int column, unsigned style, const char *text)
{
    int width = scroll->screen->columns - column - 1;
    do {
        size_t size = row_size(text, width > 8 ? width : 8);
        char row[4096];
        (void)snprintf(row, sizeof(row), "%.*s", (int)size, text);
        put_line(scroll, column, style, row);
        scroll->row++;
        text += size;
        text += *text == '\n';
    } while (*text);
}

static void draw_title(struct screen *screen, int row, const char *text)
{
    screen_fill(screen, row, 0, screen->columns, STYLE_REVERSE, ' ');
    screen_text(screen, row, 1, screen->columns - 2, STYLE_REVERSE | STYLE_BOLD, text);
}

// What was scrolled too far comes back.
static void settle(struct top_view *view, const struct scroll *scroll)
{
    size_t height = (size_t)scroll->height;
    size_t last = scroll->row > height ? scroll->row - height : 0;
    if (view->line_first > last) {
        view->line_first = last;
    }
}

static struct scroll scroll_of(struct screen *screen, const struct top_view *view)
{
    int height = screen->rows - TOP_HEADER_ROWS - 2;
    return (struct scroll){ .screen = screen,
                            .top = TOP_HEADER_ROWS + 1,
                            .height = height > 0 ? height : 0,
                            .first = view->line_first };
}

static void put_job_lines(struct scroll *scroll, const struct look *look)
{
    for (size_t i = 0; i < look->line_count; i++) {
        const struct look_line *line = &look->lines[i];
        put_line(scroll, 1, STYLE_CYAN, line->label);
        put_wrapped(scroll, *line->label || i ? 1 + LABEL_WIDTH : 1, STYLE_PLAIN, line->text);
    }
}

static void draw_job(struct screen *screen, struct top_view *view, const struct look *look)
{
    char title[TOP_TEXT_SIZE];
    (void)snprintf(title, sizeof(title), "%s %s", view->wish.explain ? "Why" : "Job",
                   view->wish.jid);
    draw_title(screen, TOP_HEADER_ROWS, title);
    if (!look || !look_has_lines(look, &view->wish)) {
        screen_text(screen, TOP_HEADER_ROWS + 1, 1, screen->columns, STYLE_DIM, "asking ...");
        return;
    }
    struct scroll counting = scroll_of(screen, view);
    counting.height = 0;
    put_job_lines(&counting, look);
    struct scroll scroll = scroll_of(screen, view);
    counting.height = scroll.height;
    settle(view, &counting);
    scroll.first = view->line_first;
    put_job_lines(&scroll, look);
}

static void draw_help(struct screen *screen, struct top_view *view)
{
    static const char *const lines[][2] = {
        { "up down j k", "choose a row; PgUp PgDn, Home End or g G go further" },
        { "tab 1 2 3 4", "go to another pane" },
        { "enter", "the jobs of a queue, a group or a worker; the details of a job" },
        { "esc", "back; without the filter" },
        { "e", "explain why a job is not running" },
        { "p", "pause a queue, or let it go on" },
        { "s", "another order of the queues" },
        { "n  N", "the next namespace, or the one before" },
        { "r", "retry: a group of failures, a failed job, or a running one" },
        { "c", "cancel a job" },
        { "/", "show only what has a text in its name" },
        { "+ -", "look more often, less often" },
        { "space", "look now" },
        { "ctrl-L", "draw all anew" },
        { "q", "quit" },
    };
    draw_title(screen, TOP_HEADER_ROWS, "Help");
    struct scroll scroll = scroll_of(screen, view);
    size_t count = sizeof(lines) / sizeof(lines[0]);
    settle(view, &(struct scroll){ .height = scroll.height, .row = count });
    scroll.first = view->line_first;
    for (size_t i = 0; i < count; i++) {
        put_line(&scroll, 1, STYLE_BOLD, lines[i][0]);
        put_line(&scroll, 1 + LABEL_WIDTH, STYLE_PLAIN, lines[i][1]);
        scroll.row++;
    }
}

// ---------------------------------------------------------------------------------------------
// The last row

static const char *hints(const struct top_view *view)
{
    switch (view->page) {
    case PAGE_JOBS:
        return "q quit  ? help  esc back  enter open  r retry  c cancel  e why  / find";
    case PAGE_JOB:
        return "q quit  ? help  esc back  r retry  c cancel  e why";
    case PAGE_HELP:
        return "q quit  esc back";
    default:
        return "q quit  ? help  tab pane  enter open  p pause  r retry  c cancel  e why  / find";
    }
}

static void draw_bottom(struct screen *screen, const struct top_view *view)
{
    int row = screen->rows - 1;
    int width = screen->columns;
    int column = 0;
    if (*view->question) {
        screen_text(screen, row, column, width, STYLE_YELLOW | STYLE_BOLD, view->question);
        return;
    }
    if (view->typing || *view->wish.filter) {
        char filter[LOOK_FILTER_SIZE + 8];
        (void)snprintf(filter, sizeof(filter), "/%s%s", view->wish.filter, view->typing ? "_" : "");
        column += screen_text(screen, row, column, width, STYLE_BOLD, filter) + 2;
    }
    if (view->typing) {
        screen_text(screen, row, column, width, STYLE_DIM, "enter keeps it, esc drops it");
    } else if (*view->note) {
        screen_text(screen, row, column, width - column,
                    view->note_bad ? STYLE_RED | STYLE_BOLD : STYLE_GREEN, view->note);
    } else if (*view->trouble) {
        screen_text(screen, row, column, width - column, STYLE_RED, view->trouble);
    } else {
        screen_text(screen, row, column, width - column, STYLE_DIM, hints(view));
    }
}

void top_draw(struct screen *screen, struct top_view *view, const struct look *look)
{
    screen_clear(screen);
    view_arrange(view, look, screen->rows);
    draw_header(screen, view, look);
    switch (view->page) {
    case PAGE_JOB:
        draw_job(screen, view, look);
        break;
    case PAGE_HELP:
        draw_help(screen, view);
        break;
    default:
        panes_draw(screen, view, look);
    }
    if (!view->still) {
        draw_bottom(screen, view);
    }
}
