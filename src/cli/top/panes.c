// SPDX-License-Identifier: MIT
#include "cli/top/panes.h"

#include "cli/core/glyph.h"
#include "cli/top/top_time.h"

#include <assert.h>
#include <string.h>

enum {
    COLUMNS_MAX = 12,
    WIDE = 110, // from so many columns on there is room for more
};

struct column {
    const char *head;
    int narrow, wide; // columns on a narrow and a wide screen; 0: it is not there
    int grows;        // its part of the room that is left
    bool right;
};

// A row being written, column after column.
struct pen {
    struct screen *screen;
    const struct column *columns;
    const int *widths;
    size_t at;
    int row, column;
    double now;  // by the server's clock
    double most; // jobs, what the longest bar of a queue stands for
    unsigned style;
};

static void measure(const struct column *columns, size_t count, int total, int *widths)
{
    int left = total - 1, parts = 0;
    for (size_t i = 0; i < count; i++) {
        widths[i] = total >= WIDE ? columns[i].wide : columns[i].narrow;
        left -= widths[i] ? widths[i] + 1 : 0;
        parts += widths[i] ? columns[i].grows : 0;
    }
    for (size_t i = 0; i < count && left > 0; i++) {
        if (widths[i] && columns[i].grows) {
            int more = left * columns[i].grows / parts;
            widths[i] += more;
            left -= more;
            parts -= columns[i].grows;
        }
    }
}

// The width of the next column; 0: there is none of it on this screen.
static int pen_next(struct pen *pen)
{
    int width = pen->widths[pen->at++];
    pen->column += width ? width + 1 : 0;
    return width;
}

static void pen_text(struct pen *pen, unsigned style, const char *text)
{
    bool right = pen->columns[pen->at].right;
    int width = pen_next(pen);
    int start = pen->column - width - 1;
    if (right) {
        int room = width - glyph_text_width(text);
        start += room > 0 ? room : 0;
        width -= room > 0 ? room : 0;
    }
    if (width > 0) {
        screen_text(pen->screen, pen->row, start, width, pen->style | style, text);
    }
}

// What tells ids apart stands at their end: where there is no room, the beginning is left out.
static void pen_id(struct pen *pen, const char *text)
{
    int width = pen->widths[pen->at];
    int over = glyph_text_width(text) - width;
    if (over <= 0) {
        pen_text(pen, 0, text);
        return;
    }
    for (int skipped = 0; skipped <= over;) {
        skipped += glyph_width(glyph_next(&text));
    }
    char cut[SLUICE_NAME_SIZE + GLYPH_SIZE];
    size_t size = glyph_encode(GLYPH_ELLIPSIS, cut);
    (void)snprintf(cut + size, sizeof(cut) - size, "%s", text);
    pen_text(pen, 0, cut);
}

// A count stands out when there is something to count.
static void pen_count(struct pen *pen, unsigned style, int64_t count)
{
    int width = pen->widths[pen->at];
    pen_text(pen, count ? style : STYLE_DIM, brief_count(count, width).text);
}

static void pen_length(struct pen *pen, unsigned style, double seconds)
{
    pen_text(pen, style, brief_length(seconds).text);
}

// Two parts of a whole; the rest is blank.
static void pen_bar(struct pen *pen, double first, double second)
{
    int width = pen_next(pen);
    int start = pen->column - width - 1;
    // Something is never shown as nothing.
    int full = first > 0 ? 1 + (int)(first * (width - 1)) : 0;
    int shade = second > 0 ? 1 + (int)(second * (width - 1)) : 0;
    if (full + shade > width) {
        shade = width - full;
    }
    screen_fill(pen->screen, pen->row, start, full, pen->style | STYLE_GREEN, GLYPH_FULL);
    screen_fill(pen->screen, pen->row, start + full, shade, pen->style | STYLE_CYAN, GLYPH_SHADE);
}

// ---------------------------------------------------------------------------------------------
// Queues

static const struct column queue_columns[] = {
    { "", 16, 22, 3, false },   { "wait", 5, 9, 0, true },  { "run", 5, 7, 0, true },
    { "sched", 5, 9, 0, true }, { "stall", 5, 7, 0, true }, { "deps", 5, 7, 0, true },
    { "fail", 5, 7, 0, true },  { "in/s", 5, 6, 0, true },  { "out/s", 5, 6, 0, true },
    { "", 8, 10, 2, false },
};

// A paused queue has no bar.
static int64_t most_jobs(const struct look *look)
{
    int64_t most = 1;
    for (size_t i = 0; look && i < look->queue_count; i++) {
        int64_t jobs = look->queues[i].waiting + look->queues[i].running;
        most = jobs > most && !look->queues[i].paused ? jobs : most;
    }
    return most;
}

static void draw_queue(struct pen *pen, const struct look *look, size_t index)
{
    const struct look_queue *queue = &look->queues[index];
    pen_text(pen, queue->paused ? STYLE_YELLOW : 0u, queue->name);
    pen_count(pen, 0, queue->waiting);
    pen_count(pen, STYLE_GREEN, queue->running);
    pen_count(pen, 0, queue->scheduled);
    pen_count(pen, STYLE_YELLOW, queue->stalled);
    pen_count(pen, 0, queue->depends);
    if (queue->seen) {
        pen_count(pen, STYLE_RED, queue->failed);
        pen_text(pen, queue->in > 0 ? 0u : STYLE_DIM, brief_rate(queue->in).text);
        pen_text(pen, queue->out > 0 ? 0u : STYLE_DIM, brief_rate(queue->out).text);
    } else {
        for (int i = 0; i < 3; i++) {
            pen_text(pen, STYLE_DIM, ".");
        }
    }
    if (queue->paused) {
        pen_text(pen, STYLE_YELLOW | STYLE_BOLD, "paused");
    } else {
        pen_bar(pen, (double)queue->running / pen->most, (double)queue->waiting / pen->most);
    }
}

// ---------------------------------------------------------------------------------------------
// Jobs

static const struct column running_columns[] = {
    { "", 14, 24, 1, false },       { "queue", 9, 12, 1, false }, { "klass", 8, 12, 1, false },
    { "worker", 10, 14, 1, false }, { "for", 6, 6, 0, true },     { "lease", 6, 6, 0, true },
    { "", 5, 8, 1, false },         { "", 4, 4, 0, true },        { "message", 9, 14, 3, false },
};

static void pen_lease(struct pen *pen, const struct look_job *job)
{
    double left = job->expires - pen->now;
    if (job->expires > 0 && left <= 0) {
        pen_text(pen, STYLE_YELLOW | STYLE_BOLD, "ended");
    } else if (job->expires > 0) {
        pen_length(pen, left < 5 ? STYLE_YELLOW : 0u, left);
    } else {
        pen_text(pen, 0, "");
    }
}

static void pen_progress(struct pen *pen, const struct look_job *job)
{
    char share[8] = "";
    if (job->fraction >= 0) {
        (void)snprintf(share, sizeof(share), "%d%%", (int)(job->fraction * 100 + 0.5) % 1000);
    }
    pen_bar(pen, job->fraction, job->fraction >= 0 ? 1 - job->fraction : 0);
    pen_text(pen, 0, share);
}

static void draw_running(struct pen *pen, const struct look *look, size_t index)
{
    const struct look_job *job = &look->running[index];
    pen_id(pen, job->jid);
    pen_text(pen, 0, job->queue);
    pen_text(pen, 0, job->klass);
    pen_text(pen, 0, job->worker);
    pen_length(pen, STYLE_BOLD, pen->now - job->since);
    pen_lease(pen, job);
    pen_progress(pen, job);
    pen_text(pen, 0, job->message);
}

static const struct column job_columns[] = {
    { "", 24, 36, 0, false },     { "state", 9, 9, 0, false }, { "queue", 9, 12, 1, false },
    { "klass", 9, 12, 1, false }, { "for", 6, 6, 0, true },    { "message", 12, 20, 4, false },
};

static void draw_listed(struct pen *pen, const struct look *look, size_t index)
{
    const struct look_job *job = &look->jobs[index];
    bool failed = !strcmp(job->state, "failed");
    pen_id(pen, job->jid);
    pen_text(pen, failed ? STYLE_RED : 0u, *job->stage ? job->stage : job->state);
    pen_text(pen, 0, job->queue);
    pen_text(pen, 0, job->klass);
    pen_length(pen, STYLE_BOLD, pen->now - job->since);
    pen_text(pen, 0, failed ? job->failure : job->message);
}

// ---------------------------------------------------------------------------------------------
// Failures and workers

static const struct column group_columns[] = {
    { "", 18, 26, 1, false },    { "jobs", 6, 9, 0, true },       { "newest", 6, 6, 0, true },
    { "job", 12, 36, 0, false }, { "message", 20, 20, 3, false },
};

static void draw_group(struct pen *pen, const struct look *look, size_t index)
{
    const struct look_group *group = &look->groups[index];
    pen_text(pen, STYLE_RED, group->name);
    pen_count(pen, STYLE_BOLD, group->count);
    pen_text(pen, 0, group->seen ? brief_length(pen->now - group->when).text : ".");
    pen_id(pen, group->jid);
    pen_text(pen, 0, group->message);
}

static const struct column worker_columns[] = {
    { "", 24, 40, 1, false },  { "running", 8, 8, 0, true }, { "expired", 8, 8, 0, true },
    { "seen", 8, 8, 0, true }, { "", 10, 10, 0, false },
};

static void draw_worker(struct pen *pen, const struct look *look, size_t index)
{
    const struct look_worker *worker = &look->workers[index];
    pen_text(pen, 0, worker->name);
    pen_count(pen, STYLE_GREEN, worker->running);
    pen_count(pen, STYLE_YELLOW, worker->expired);
    pen_length(pen, 0, pen->now - worker->seen);
    pen_text(pen, STYLE_DIM, worker->offline ? "offline" : "");
}

// ---------------------------------------------------------------------------------------------
// Panes

static const struct pane {
    const char *title;
    const struct column *columns;
    size_t column_count;
    void (*draw)(struct pen *pen, const struct look *look, size_t index);
    const char *empty;
} panes[PANE_COUNT] = {
#define COLUMNS(table) (table), sizeof(table) / sizeof((table)[0])
    [PANE_QUEUES] = { "1 Queues", COLUMNS(queue_columns), draw_queue, "no queues" },
    [PANE_RUNNING] = { "2 Running", COLUMNS(running_columns), draw_running, "no jobs are running" },
    [PANE_FAILURES] = { "3 Failures", COLUMNS(group_columns), draw_group, "no failures" },
    [PANE_WORKERS] = { "4 Workers", COLUMNS(worker_columns), draw_worker, "no workers" },
    [PANE_JOBS] = { "Jobs", COLUMNS(job_columns), draw_listed, "no jobs" },
#undef COLUMNS
};

// How many there are, where that is more than are shown.
static int64_t pane_total(const struct look *look, enum top_pane pane)
{
    switch (pane) {
    case PANE_QUEUES:
        return (int64_t)look->queue_count;
    case PANE_RUNNING:
        return look->totals.running;
    case PANE_FAILURES:
        return (int64_t)look->group_count;
    case PANE_WORKERS:
        return (int64_t)look->worker_total;
    default:
        return (int64_t)look->job_total;
    }
}

// "2 Running (12)", "Jobs of mail (3)".
static void title_text(const struct top_view *view, const struct look *look, enum top_pane pane,
                       char *text, size_t size)
{
    static const char *const lists[] = {
        [LIST_NONE] = "",
        [LIST_QUEUE] = " of ",
        [LIST_GROUP] = " failed: ",
        [LIST_WORKER] = " held by ",
    };
    bool listed = pane == PANE_JOBS;
    bool sorted = pane == PANE_QUEUES && view->wish.sort != SORT_SEEN;
    (void)snprintf(text, size, "%s%s%s (%lld)%s%s", panes[pane].title,
                   listed ? lists[view->wish.list] : "", listed ? view->wish.name : "",
                   look ? (long long)pane_total(look, pane) : 0LL, sorted ? " by " : "",
                   sorted ? look_sort_word(view->wish.sort) : "");
}

static void draw_heads(struct pen *pen, const struct pane *pane, const char *title)
{
    for (size_t i = 0; i < pane->column_count; i++) {
        pen_text(pen, 0, i ? pane->columns[i].head : "");
    }
    // The title may reach into columns that have no head, or cover one.
    screen_text(pen->screen, pen->row, 1, pen->widths[0], pen->style, title);
}

static const char *empty_text(const struct top_view *view, const struct look *look,
                              enum top_pane pane)
{
    if (!look || (pane == PANE_JOBS && !look_has_jobs(look, &view->wish))) {
        return "asking ...";
    }
    return *view->wish.filter ? "nothing matches" : panes[pane].empty;
}

static void draw_rows(struct pen *pen, const struct top_view *view, const struct look *look,
                      enum top_pane pane)
{
    const struct top_list *list = &view->lists[pane];
    bool focused = view_pane(view) == pane && !view->still;
    for (size_t i = 0; i < (size_t)list->height && list->first + i < list->count; i++) {
        bool chosen = focused && list->first + i == list->selected;
        pen->row = list->title + 1 + (int)i;
        pen->at = 0;
        pen->column = 1;
        pen->style = chosen ? STYLE_REVERSE : 0u;
        if (chosen) {
            screen_fill(pen->screen, pen->row, 0, pen->screen->columns, STYLE_REVERSE, ' ');
            screen_text(pen->screen, pen->row, 0, 1, STYLE_REVERSE | STYLE_BOLD, ">");
        }
        panes[pane].draw(pen, look, list->rows[list->first + i]);
        assert(pen->at == panes[pane].column_count);
    }
    if (!list->count && list->height > 0) {
        screen_text(pen->screen, list->title + 1, 1, pen->screen->columns, STYLE_DIM,
                    empty_text(view, look, pane));
    }
}

static void draw_pane(struct screen *screen, const struct top_view *view, const struct look *look,
                      enum top_pane pane)
{
    int widths[COLUMNS_MAX] = { 0 };
    const struct pane *of = &panes[pane];
    measure(of->columns, of->column_count, screen->columns, widths);
    bool focused = view_pane(view) == pane && !view->still;
    char title[SLUICE_NAME_SIZE + 64];
    title_text(view, look, pane, title, sizeof(title));
    struct pen pen = {
        .screen = screen,
        .columns = of->columns,
        .widths = widths,
        .row = view->lists[pane].title,
        .column = 1,
        .now = look ? view->now + look->ahead : view->now,
        .most = pane == PANE_QUEUES ? (double)most_jobs(look) : 1,
        .style = STYLE_REVERSE | (focused ? STYLE_BOLD : STYLE_DIM),
    };
    screen_fill(screen, pen.row, 0, screen->columns, pen.style, ' ');
    screen_text(screen, pen.row, 0, 1, pen.style, focused ? ">" : " ");
    draw_heads(&pen, of, title);
    draw_rows(&pen, view, look, pane);
}

void panes_draw(struct screen *screen, const struct top_view *view, const struct look *look)
{
    for (int pane = 0; pane < PANE_COUNT; pane++) {
        if (view->lists[pane].title >= 0) {
            draw_pane(screen, view, look, (enum top_pane)pane);
        }
    }
}
