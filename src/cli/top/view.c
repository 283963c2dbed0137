// SPDX-License-Identifier: MIT
#include "cli/top/view.h"

#include "cli/core/cli.h"

#include <string.h>

enum {
    ROWS_FOR_ALL_PANES = 14, // on a smaller screen there is only the pane in focus
    WINDOW_SLACK = 4,
    SHARE = 8, // a pane that is not in focus has an eighth of the rows at least
};

void view_release(struct top_view *view)
{
    for (int pane = 0; pane < PANE_COUNT; pane++) {
        tool_free(view->lists[pane].rows);
        view->lists[pane] = (struct top_list){ 0 };
    }
}

enum top_pane view_pane(const struct top_view *view)
{
    return view->page == PAGE_PANES ? view->focus : PANE_JOBS;
}

// ---------------------------------------------------------------------------------------------
// What is in a pane

static size_t item_count(const struct top_view *view, const struct look *look, enum top_pane pane)
{
    switch (pane) {
    case PANE_QUEUES:
        return look->queue_count;
    case PANE_RUNNING:
        return look->running_count;
    case PANE_FAILURES:
        return look->group_count;
    case PANE_WORKERS:
        return look->worker_count;
    default:
        return look_has_jobs(look, &view->wish) ? look->job_count : 0;
    }
}

static const char *item_key(const struct look *look, enum top_pane pane, size_t index)
{
    switch (pane) {
    case PANE_QUEUES:
        return look->queues[index].name;
    case PANE_RUNNING:
        return look->running[index].jid;
    case PANE_FAILURES:
        return look->groups[index].name;
    case PANE_WORKERS:
        return look->workers[index].name;
    default:
        return look->jobs[index].jid;
    }
}

static bool job_matches(const struct look_job *job, const char *filter)
{
    const char *texts[] = { job->jid, job->klass, job->queue, job->worker };
    return look_matches(filter, texts, sizeof(texts) / sizeof(texts[0]));
}

static bool item_matches(const struct look *look, enum top_pane pane, size_t index,
                         const char *filter)
{
    switch (pane) {
    case PANE_QUEUES:
        return look_queue_matches(&look->queues[index], filter);
    case PANE_RUNNING:
        return job_matches(&look->running[index], filter);
    case PANE_FAILURES:
        return look_group_matches(&look->groups[index], filter);
    case PANE_WORKERS:
        return look_matches(filter, &look->workers[index].name, 1);
    default:
        return job_matches(&look->jobs[index], filter);
    }
}

static void remember(struct top_list *list, const struct look *look, enum top_pane pane)
{
    (void)snprintf(list->key, sizeof(list->key), "%s",
                   list->count ? item_key(look, pane, list->rows[list->selected]) : "");
}

// Finds the rows that match, and what was chosen among them.
static void gather(struct top_view *view, const struct look *look, enum top_pane pane)
{
    struct top_list *list = &view->lists[pane];
    size_t count = item_count(view, look, pane);
    if (list->capacity < count) {
        list->rows = tool_resize(list->rows, count * sizeof(*list->rows));
        list->capacity = count;
    }
    list->count = 0;
    bool found = false;
    for (size_t i = 0; i < count; i++) {
        if (!item_matches(look, pane, i, view->wish.filter)) {
            continue;
        }
        if (!found && *list->key && !strcmp(list->key, item_key(look, pane, i))) {
            list->selected = list->count;
            found = true;
        }
        list->rows[list->count++] = i;
    }
    if (list->selected >= list->count) {
        list->selected = list->count ? list->count - 1 : 0;
    }
    if (list->count) {
        remember(list, look, pane);
    }
}

// ---------------------------------------------------------------------------------------------
// Choosing

static const struct top_list *list_in_focus(const struct top_view *view)
{
    return &view->lists[view_pane(view)];
}

const char *view_key(const struct top_view *view, const struct look *look)
{
    const struct top_list *list = list_in_focus(view);
    if (!look || !list->count) {
        return NULL;
    }
    return item_key(look, view_pane(view), list->rows[list->selected]);
}

const struct look_job *view_job(const struct top_view *view, const struct look *look)
{
    const struct top_list *list = list_in_focus(view);
    enum top_pane pane = view_pane(view);
    if (!look || !list->count || (pane != PANE_RUNNING && pane != PANE_JOBS)) {
        return NULL;
    }
    size_t index = list->rows[list->selected];
    return pane == PANE_RUNNING ? &look->running[index] : &look->jobs[index];
}

void view_focus(struct top_view *view, enum top_pane pane)
{
    view->focus = pane;
    view->page = PAGE_PANES;
    view->wish.list = LIST_NONE;
    *view->wish.jid = 0;
}

static size_t moved(size_t from, int64_t by, size_t count)
{
    if (by < 0) {
        return from > (size_t)-by ? from - (size_t)-by : 0;
    }
    size_t last = count ? count - 1 : 0;
    return from < last && (size_t)by < last - from ? from + (size_t)by : last;
}

void view_move_to(struct top_view *view, const struct look *look, size_t row)
{
    if (view->page == PAGE_JOB || view->page == PAGE_HELP) {
        view->line_first = row;
        return;
    }
    struct top_list *list = &view->lists[view_pane(view)];
    if (look && list->count) {
        list->selected = row < list->count ? row : list->count - 1;
        remember(list, look, view_pane(view));
    }
}

void view_move(struct top_view *view, const struct look *look, int64_t by)
{
    if (view->page == PAGE_JOB || view->page == PAGE_HELP) {
        // The end is where the drawing stops it.
        view_move_to(view, look, moved(view->line_first, by, SIZE_MAX));
    } else {
        const struct top_list *list = list_in_focus(view);
        view_move_to(view, look, moved(list->selected, by, list->count));
    }
}

void view_open_list(struct top_view *view, enum look_list list, const char *name)
{
    view->page = PAGE_JOBS;
    view->wish.list = list;
    (void)snprintf(view->wish.name, sizeof(view->wish.name), "%s", name);
    struct top_list *jobs = &view->lists[PANE_JOBS];
    jobs->count = jobs->selected = jobs->first = 0;
    *jobs->key = 0;
}

void view_open_job(struct top_view *view, const char *jid, bool explain)
{
    view->page = PAGE_JOB;
    view->line_first = 0;
    view->wish.explain = explain;
    (void)snprintf(view->wish.jid, sizeof(view->wish.jid), "%s", jid);
}

void view_back(struct top_view *view)
{
    if (view->page == PAGE_HELP && *view->wish.jid) {
        view->page = PAGE_JOB;
    } else if (view->page != PAGE_JOBS && view->wish.list != LIST_NONE) {
        view->page = PAGE_JOBS;
        *view->wish.jid = 0;
    } else {
        view_focus(view, view->focus);
    }
}

// ---------------------------------------------------------------------------------------------
// Fitting

// A list that is empty has a row that says so.
static int rows_of(const struct top_list *list)
{
    return list->count > INT16_MAX ? INT16_MAX : list->count ? (int)list->count : 1;
}

// Gives a list more rows, as many as it has use for. Returns what is left.
static int grant(struct top_list *list, int rows)
{
    int missing = rows_of(list) - list->height;
    int given = rows < missing ? rows : missing;
    list->height += given;
    return rows - given;
}

// All panes have their share, the one in focus comes next, and the others take what is left in
// turn.
static void share_rows(struct top_view *view, int rows)
{
    int share = rows / SHARE;
    for (int pane = 0; pane < PANES_ABREAST; pane++) {
        view->lists[pane].height = 0;
        rows -= share - grant(&view->lists[pane], share);
    }
    rows = grant(&view->lists[view->focus], rows);
    for (int before = rows + 1; rows > 0 && rows < before;) {
        before = rows;
        for (int pane = 0; pane < PANES_ABREAST && rows > 0; pane++) {
            rows -= 1 - grant(&view->lists[pane], 1);
        }
    }
}

static void place_panes(struct top_view *view)
{
    int row = TOP_HEADER_ROWS;
    for (int pane = 0; pane < PANES_ABREAST; pane++) {
        view->lists[pane].title = row;
        row += 1 + view->lists[pane].height;
    }
}

static void place_alone(struct top_view *view, enum top_pane pane, int rows)
{
    view->lists[pane].title = TOP_HEADER_ROWS;
    view->lists[pane].height = rows - 1 > 0 ? rows - 1 : 0;
}

static void scroll(struct top_list *list)
{
    size_t height = list->height > 0 ? (size_t)list->height : 0;
    if (list->selected < list->first) {
        list->first = list->selected;
    }
    if (height && list->selected - list->first >= height) {
        list->first = list->selected - height + 1;
    }
    if (list->first + height > list->count) {
        list->first = list->count > height ? list->count - height : 0;
    }
}

// A few rows more than are in sight, for what comes to be before the next look.
static struct look_window window_of(const struct top_list *list)
{
    size_t height = list->height > 0 ? (size_t)list->height : 0;
    return (struct look_window){ .first = list->first, .count = height + WINDOW_SLACK };
}

static void wish_for_windows(struct top_view *view)
{
    view->wish.queues = window_of(&view->lists[PANE_QUEUES]);
    view->wish.running = window_of(&view->lists[PANE_RUNNING]);
    view->wish.groups = window_of(&view->lists[PANE_FAILURES]);
    view->wish.workers = window_of(&view->lists[PANE_WORKERS]);
    view->wish.jobs = window_of(&view->lists[PANE_JOBS]);
}

void view_arrange(struct top_view *view, const struct look *look, int rows)
{
    static const struct look nothing;
    look = look ? look : &nothing;
    for (int pane = 0; pane < PANE_COUNT; pane++) {
        gather(view, look, (enum top_pane)pane);
        view->lists[pane].title = -1;
    }
    int room = rows - TOP_HEADER_ROWS - !view->still;
    if (view->page != PAGE_PANES) {
        place_alone(view, PANE_JOBS, room);
    } else if (rows < ROWS_FOR_ALL_PANES && !view->still) {
        place_alone(view, view->focus, room);
    } else {
        share_rows(view, room - PANES_ABREAST);
        place_panes(view);
    }
    for (int pane = 0; pane < PANE_COUNT; pane++) {
        scroll(&view->lists[pane]);
    }
    // Before the first look nothing is known of how much there will be.
    if (look != &nothing) {
        wish_for_windows(view);
    }
}

int view_rows_wanted(struct top_view *view, const struct look *look)
{
    int rows = TOP_HEADER_ROWS;
    for (int pane = 0; pane < PANES_ABREAST; pane++) {
        gather(view, look, (enum top_pane)pane);
        rows += 1 + rows_of(&view->lists[pane]);
    }
    return rows;
}

void view_restart(struct top_view *view)
{
    enum look_sort sort = view->wish.sort;
    view->wish = (struct look_wish){ .sort = sort };
    view->page = PAGE_PANES;
    view->focus = PANE_QUEUES;
    view->line_first = 0;
    for (int pane = 0; pane < PANE_COUNT; pane++) {
        struct top_list *list = &view->lists[pane];
        list->count = list->selected = list->first = 0;
        *list->key = 0;
    }
}
