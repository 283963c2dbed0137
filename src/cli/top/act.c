// SPDX-License-Identifier: MIT
#include "cli/top/act.h"

#include "cli/core/steady.h"
#include "cli/core/terminal.h"
#include "cli/top/keys.h"
#include "cli/top/top_time.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void top_note(struct top *top, bool bad, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    (void)vsnprintf(top->view.note, sizeof(top->view.note), format, values);
    va_end(values);
    top->view.note_bad = bad;
    top->noted = steady_now();
}

// ---------------------------------------------------------------------------------------------
// Orders

static void give(struct top *top, const struct order *order)
{
    if (asker_order(top->asker, order)) {
        top_note(top, false, "asking ...");
    } else {
        top_note(top, true, "too much is waiting for the server; nothing done");
    }
}

// What changes jobs or queues is asked about; `question` is a format with the name in it.
static void ask_first(struct top *top, const struct order *order, const char *question)
{
    top->order = *order;
    (void)snprintf(top->view.question, sizeof(top->view.question), "%s %s? y/n", question,
                   order->name);
}

static void answer(struct top *top, int key)
{
    *top->view.question = 0;
    if (key == 'y' || key == 'Y') {
        give(top, &top->order);
    } else {
        top_note(top, false, "nothing done");
    }
}

static struct order order_of(enum order_kind kind, const char *name)
{
    struct order order = { .kind = kind };
    (void)snprintf(order.name, sizeof(order.name), "%s", name);
    return order;
}

static void pause_or_not(struct top *top)
{
    const struct top_list *list = &top->view.lists[PANE_QUEUES];
    if (top->view.page != PAGE_PANES || top->view.focus != PANE_QUEUES || !list->count) {
        top_note(top, true, "p pauses a queue: choose one in pane 1");
        return;
    }
    const struct look_queue *queue = &top->look->queues[list->rows[list->selected]];
    struct order order = order_of(queue->paused ? ORDER_UNPAUSE : ORDER_PAUSE, queue->name);
    ask_first(top, &order, queue->paused ? "Let go on queue" : "Pause queue");
}

static void sort_next(struct top *top)
{
    struct look_wish *wish = &top->view.wish;
    wish->sort = (enum look_sort)((wish->sort + 1) % SORT_COUNT);
    top_note(top, false, "queues by %s",
             wish->sort == SORT_SEEN ? "when they were first seen" : look_sort_word(wish->sort));
}

// The job that is chosen in a list, or whose details are seen, as far as it is known.
static const struct look_job *job_meant(const struct top *top)
{
    const struct look *look = top->look;
    if (top->view.page != PAGE_JOB) {
        return view_job(&top->view, look);
    }
    const char *jid = top->view.wish.jid;
    for (size_t i = 0; look && i < look->running_count; i++) {
        if (!strcmp(look->running[i].jid, jid)) {
            return &look->running[i];
        }
    }
    for (size_t i = 0; look && i < look->job_count; i++) {
        if (!strcmp(look->jobs[i].jid, jid)) {
            return &look->jobs[i];
        }
    }
    return NULL;
}

static void cancel(struct top *top)
{
    const struct look_job *job = job_meant(top);
    if (!job && top->view.page != PAGE_JOB) {
        top_note(top, true, "c cancels a job: choose one in pane 2, or open a queue or a group");
        return;
    }
    struct order order = order_of(ORDER_CANCEL, job ? job->jid : top->view.wish.jid);
    ask_first(top, &order, "Cancel job");
}

static void retry_job(struct top *top, const struct look_job *job)
{
    if (!strcmp(job->state, "failed")) {
        struct order order = order_of(ORDER_UNFAIL, job->jid);
        ask_first(top, &order, "Try again the failed job");
    } else if (*job->worker) {
        struct order order = order_of(ORDER_TAKE_BACK, job->jid);
        (void)snprintf(order.worker, sizeof(order.worker), "%s", job->worker);
        order.token = job->token;
        ask_first(top, &order, "Take from its worker, to be tried again, job");
    } else {
        top_note(top, true, "job %s is %s: there is nothing to try again", job->jid, job->state);
    }
}

static void retry(struct top *top)
{
    const char *key = view_key(&top->view, top->look);
    const struct look_job *job = job_meant(top);
    if (job) {
        retry_job(top, job);
    } else if (top->view.page == PAGE_PANES && top->view.focus == PANE_FAILURES && key) {
        struct order order = order_of(ORDER_RETRY_GROUP, key);
        ask_first(top, &order, "Try again all jobs that failed in group");
    } else {
        top_note(top, true, "r retries: choose a group in pane 3, or a job");
    }
}

// ---------------------------------------------------------------------------------------------
// Pages

static void open_chosen(struct top *top)
{
    static const enum look_list lists[] = {
        [PANE_QUEUES] = LIST_QUEUE,
        [PANE_FAILURES] = LIST_GROUP,
        [PANE_WORKERS] = LIST_WORKER,
    };
    const char *key = view_key(&top->view, top->look);
    enum top_pane pane = view_pane(&top->view);
    if (!key || top->view.page == PAGE_JOB || top->view.page == PAGE_HELP) {
        return;
    }
    if (pane == PANE_RUNNING || pane == PANE_JOBS) {
        view_open_job(&top->view, key, false);
    } else {
        view_open_list(&top->view, lists[pane], key);
    }
}

static void explain(struct top *top)
{
    const struct look_job *job = job_meant(top);
    if (top->view.page == PAGE_JOB) {
        top->view.wish.explain = !top->view.wish.explain;
        top->view.line_first = 0;
    } else if (job) {
        view_open_job(&top->view, job->jid, true);
    } else {
        top_note(top, true, "e explains a job: choose one in pane 2, or open a queue or a group");
    }
}

static void go_back(struct top *top)
{
    if (top->view.page == PAGE_PANES) {
        *top->view.wish.filter = 0;
    } else {
        view_back(&top->view);
    }
}

static void go_to(struct top *top, int pane)
{
    view_focus(&top->view, (enum top_pane)((pane + PANES_ABREAST) % PANES_ABREAST));
}

static void change_interval(struct top *top, double factor)
{
    double interval = top->view.interval * factor;
    interval = interval < TOP_INTERVAL_MIN ? TOP_INTERVAL_MIN : interval;
    interval = interval > TOP_INTERVAL_MAX ? TOP_INTERVAL_MAX : interval;
    top->view.interval = interval;
    top_note(top, false, "looks every %gs", interval);
}

// ---------------------------------------------------------------------------------------------
// Keys

static void type_filter(struct top *top, int key)
{
    char *filter = top->view.wish.filter;
    size_t size = strlen(filter);
    if (key == KEY_ENTER) {
        top->view.typing = false;
    } else if (key == KEY_ESCAPE || key == KEY_CTRL_C) {
        top->view.typing = false;
        *filter = 0;
    } else if (key == KEY_BACKSPACE && size) {
        // A character of several bytes goes as a whole.
        while (size > 1 && ((unsigned char)filter[size - 1] & 0xC0) == 0x80) {
            size--;
        }
        filter[size - 1] = 0;
    } else if (key >= ' ' && key < KEY_UP && size + 1 < LOOK_FILTER_SIZE) {
        filter[size] = (char)key;
        filter[size + 1] = 0;
    }
}

static bool move_key(struct top *top, int key)
{
    struct top_view *view = &top->view;
    int page = top->screen.rows > 8 ? top->screen.rows / 2 : 4;
    switch (key) {
    case KEY_UP:
    case 'k':
        view_move(view, top->look, -1);
        return true;
    case KEY_DOWN:
    case 'j':
        view_move(view, top->look, 1);
        return true;
    case KEY_PAGE_UP:
        view_move(view, top->look, -page);
        return true;
    case KEY_PAGE_DOWN:
        view_move(view, top->look, page);
        return true;
    case KEY_HOME:
    case 'g':
        view_move_to(view, top->look, 0);
        return true;
    case KEY_END:
    case 'G':
        view_move_to(view, top->look, SIZE_MAX);
        return true;
    default:
        return false;
    }
}

static bool page_key(struct top *top, int key)
{
    switch (key) {
    case KEY_TAB:
    case KEY_RIGHT:
        go_to(top, (int)top->view.focus + 1);
        return true;
    case KEY_BACK_TAB:
    case KEY_LEFT:
        go_to(top, (int)top->view.focus - 1);
        return true;
    case '1':
    case '2':
    case '3':
    case '4':
        go_to(top, key - '1');
        return true;
    case KEY_ENTER:
        open_chosen(top);
        return true;
    case KEY_ESCAPE:
    case KEY_BACKSPACE:
        go_back(top);
        return true;
    case '?':
    case 'h':
        top->view.page = PAGE_HELP;
        top->view.line_first = 0;
        return true;
    case '/':
        top->view.typing = true;
        return true;
    default:
        return false;
    }
}

// Keys that do something to what is in sight.
static bool act_key(struct top *top, int key)
{
    switch (key) {
    case 'p':
        pause_or_not(top);
        break;
    case 'r':
        retry(top);
        break;
    case 'c':
        cancel(top);
        break;
    case 'e':
        explain(top);
        break;
    case 's':
        sort_next(top);
        break;
    default:
        return false;
    }
    return true;
}

static void other_key(struct top *top, int key)
{
    switch (key) {
    case '+':
    case '=':
        change_interval(top, 0.5);
        break;
    case '-':
        change_interval(top, 2);
        break;
    case 'n':
        top->switch_by = 1;
        break;
    case 'N':
        top->switch_by = -1;
        break;
    case 'q':
    case KEY_CTRL_C:
        top->over = true;
        break;
    case KEY_CTRL_L:
        top->screen.stale = true;
        break;
    case KEY_CTRL_Z:
        terminal_suspend();
        top->screen.stale = true;
        break;
    default:
        break;
    }
}

void top_key(struct top *top, int key)
{
    top->touched = true;
    *top->view.note = 0;
    if (*top->view.question) {
        answer(top, key);
    } else if (top->view.typing) {
        type_filter(top, key);
    } else if (!move_key(top, key) && !page_key(top, key) &&
               (top->view.page == PAGE_HELP || !act_key(top, key))) {
        other_key(top, key);
    }
}
