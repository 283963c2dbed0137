// SPDX-License-Identifier: MIT
// How a look is shown: page and pane, chosen row, scroll positions, filter. When a new look comes,
// the chosen thing stays chosen, even if its row changes.
#ifndef SLUICE_CLI_TOP_VIEW_H
#define SLUICE_CLI_TOP_VIEW_H

#include "cli/top/look.h"

enum top_pane {
    PANE_QUEUES,
    PANE_RUNNING,
    PANE_FAILURES,
    PANE_WORKERS,
    PANE_JOBS, // alone on its page
    PANE_COUNT,
    PANES_ABREAST = PANE_JOBS, // on the first page, one below the other
};

enum top_page {
    PAGE_PANES,
    PAGE_JOBS, // of a queue, a group or a worker
    PAGE_JOB,  // the details of one, or why it is not running
    PAGE_HELP,
};

enum top_link {
    LINK_OPENING,
    LINK_GOOD,
    LINK_SLOW,    // no answer for a while
    LINK_BROKEN,  // the server cannot be reached; it is tried again
    LINK_REFUSED, // it is there, and says no
};

enum {
    TOP_HEADER_ROWS = 2,
    TOP_TEXT_SIZE = 512,
};

struct top_list {
    size_t *rows; // which ones of the look's match the filter
    size_t count, capacity;
    size_t selected, first;     // among those
    char key[SLUICE_NAME_SIZE]; // what is selected; "": nothing yet
    int title; // its row on the screen; the rows of the list are below. -1: not there
    int height;
};

struct top_view {
    const char *url, *ns;
    double interval;
    double now;   // by our clock
    double quiet; // so long there was no answer
    enum top_link link;
    const char *trouble; // why the link is not good; or ""
    enum top_page page;
    enum top_pane focus; // of the first page
    struct top_list lists[PANE_COUNT];
    size_t line_first;            // how far the details are scrolled
    struct look_wish wish;        // the filter, the list and the job that are seen
    bool typing;                  // the filter
    bool still;                   // a picture for a file: nothing is chosen, no keys
    char question[TOP_TEXT_SIZE]; // to be answered by y or n; or ""
    char note[TOP_TEXT_SIZE];     // what happened; or ""
    bool note_bad;
};

void view_release(struct top_view *view);

// The pane that keys go to.
enum top_pane view_pane(const struct top_view *view);
const struct look_job *view_job(const struct top_view *view, const struct look *look);
// The name or jid that is chosen in the pane that keys go to; NULL: nothing.
const char *view_key(const struct top_view *view, const struct look *look);

void view_focus(struct top_view *view, enum top_pane pane);
// Down by so many rows, or up.
void view_move(struct top_view *view, const struct look *look, int64_t by);
void view_move_to(struct top_view *view, const struct look *look, size_t row);
// To the jobs of something, the details of a job, and back again.
void view_open_list(struct top_view *view, enum look_list list, const char *name);
void view_open_job(struct top_view *view, const char *jid, bool explain);
void view_back(struct top_view *view);

// To the first page as it was at the start, for another namespace. The order of the queues stays.
void view_restart(struct top_view *view);

// Fits lists into so many rows of a screen: what matches, what is chosen, how far it is scrolled.
// Says in the view's wish what is in sight.
void view_arrange(struct top_view *view, const struct look *look, int rows);

// How many rows a screen would need for all there is.
int view_rows_wanted(struct top_view *view, const struct look *look);

#endif
