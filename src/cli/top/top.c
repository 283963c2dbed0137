// SPDX-License-Identifier: MIT
// The loop: keys, news from the asker, frames. Nothing here waits for the server.
#include "cli/core/sets.h"

#include "cli/core/moment.h"
#include "cli/core/sets.h"
#include "cli/core/steady.h"
#include "cli/core/terminal.h"
#include "cli/core/url.h"
#include "cli/top/act.h"
#include "cli/top/draw.h"
#include "cli/top/json.h"
#include "cli/top/keys.h"
#include "cli/top/screen.h"
#include "cli/top/top_time.h"

#include <stdlib.h>
#include <string.h>

enum {
    TICK_MS = 1000, // the clock and the times go on
    ESCAPE_MS = 50, // so long an escape may be the beginning of a key
    ONCE_COLUMNS = 80,
    ONCE_ROWS = 1000,
};

#define INTERVAL_DEFAULT_S 2.0
#define TIMEOUT_S          2.0 // of a call: the user is watching
#define SLOW_S             1.5
#define NOTE_S             10.0 // so long it says what happened

struct top_options {
    double interval;
    bool once;
};

// ---------------------------------------------------------------------------------------------
// A terminal

static void fit(struct top *top)
{
    int rows, columns;
    terminal_size(&rows, &columns);
    if (rows != top->screen.rows || columns != top->screen.columns) {
        screen_resize(&top->screen, rows, columns);
    }
    top->screen.stale = true;
}

static void show(struct top *top)
{
    char *bytes = NULL;
    size_t size = 0;
    top->view.now = moment_now();
    top_draw(&top->screen, &top->view, top->look);
    FILE *out = open_memstream(&bytes, &size);
    if (out) {
        screen_write(&top->screen, out);
        if (!fclose(out)) {
            terminal_write(bytes, size);
        }
        free(bytes);
    }
}

static void take_look(struct top *top, struct look *look)
{
    struct top_view *view = &top->view;
    switch (look->error.status) {
    case SLUICE_OK:
        look_free(top->look);
        top->look = look;
        top->answered = steady_now();
        view->link = LINK_GOOD;
        view->trouble = "";
        return;
    case SLUICE_UNREACHABLE:
    case SLUICE_UNKNOWN:
    case SLUICE_TIMED_OUT:
    case SLUICE_INTERRUPTED:
        view->link = top->look ? LINK_BROKEN : LINK_OPENING;
        break;
    default:
        view->link = LINK_REFUSED;
    }
    (void)snprintf(top->trouble, sizeof(top->trouble), "%s", look->error.message);
    view->trouble = top->trouble;
    look_free(look);
}

static void hear(struct top *top)
{
    struct asker_news news;
    asker_news(top->asker, &news);
    if (news.look) {
        take_look(top, news.look);
    }
    if (*news.note) {
        top_note(top, !news.note_good, "%s", news.note);
    }
    double now = steady_now();
    if (now - top->noted > NOTE_S) {
        *top->view.note = 0;
    }
    top->view.quiet = now - top->answered;
    bool slow = news.asking > 0 && now - news.asking > SLOW_S;
    if (top->view.link == LINK_GOOD && slow) {
        top->view.link = LINK_SLOW;
    } else if (top->view.link == LINK_SLOW && !slow) {
        top->view.link = LINK_GOOD;
    }
}

// ---------------------------------------------------------------------------------------------
// Another namespace

// The name so many further in the list of namespaces. For tool_free; NULL: there is no other, or it
// was noted why it is not known.
static char *namespace_beside(struct top *top, int by)
{
    static const char *const words[] = { "Q.NAMESPACES" };
    struct sluice_value *list = NULL;
    struct sluice_error error = { 0 };
    if (sluice_call(top->queue, words, NULL, 1, &list, &error)) {
        top_note(top, true, "%s", error.message);
        return NULL;
    }
    size_t count = sluice_value_count(list);
    size_t at = by > 0 ? count - 1 : 0; // of one that is not listed, so that the first is next
    for (size_t i = 0; i < count; i++) {
        const struct sluice_value *name = sluice_value_get(sluice_value_at(list, i), "name");
        at = !strcmp(sluice_value_text(name, NULL), top->view.ns) ? i : at;
    }
    size_t next = count ? (at + (by > 0 ? 1 : count - 1)) % count : 0;
    const char *name =
        sluice_value_text(sluice_value_get(sluice_value_at(list, next), "name"), NULL);
    char *copy = name && strcmp(name, top->view.ns) != 0 ? tool_copy(name, strlen(name)) : NULL;
    if (!copy) {
        top_note(top, true, "there is no other namespace");
    }
    sluice_value_free(list);
    return copy;
}

static void switch_namespace(const struct tool *tool, struct top *top)
{
    char *name = namespace_beside(top, top->switch_by);
    struct sluice *queue = NULL;
    struct sluice_error error = { 0 };
    top->switch_by = 0;
    if (name && tool_open(tool, &SLUICE_OPEN(.ns = name, .timeout = TIMEOUT_S), &queue, &error)) {
        top_note(top, true, "%s", error.message);
    }
    tool_free(name);
    if (!queue) {
        return;
    }
    asker_free(top->asker);
    if (top->queue != tool->queue) {
        sluice_close(top->queue);
    }
    top->queue = queue;
    top->view.ns = sluice_namespace(queue);
    view_restart(&top->view);
    look_free(top->look);
    top->look = NULL;
    top->view.link = LINK_OPENING;
    top->answered = steady_now();
    top->asker = asker_new(queue, &top->view.wish, top->view.interval, terminal_wake);
    top->over = !top->asker;
    top_note(top, false, "namespace %s", top->view.ns);
}

static void watch(const struct tool *tool, struct top *top)
{
    struct keys keys = { 0 };
    bool gone = false;
    fit(top);
    while (!top->over && !gone) {
        bool touched = top->touched;
        top->touched = false;
        show(top);
        asker_wish(top->asker, &top->view.wish, top->view.interval, touched);
        char bytes[32];
        struct terminal_news news;
        size_t count =
            terminal_read(bytes, sizeof(bytes), keys.count ? ESCAPE_MS : TICK_MS, &news, &gone);
        keys_add(&keys, bytes, count);
        for (int key; (key = keys_next(&keys, !count)) != KEY_NONE;) {
            top_key(top, key);
        }
        if (news.resized || news.continued) {
            fit(top);
            top->touched = true;
        }
        top->over = top->over || news.ended;
        if (top->switch_by && !top->over) {
            switch_namespace(tool, top);
            top->touched = true;
        }
        if (!top->asker) {
            break;
        }
        hear(top);
    }
}

static int run_live(struct tool *tool, struct top *top)
{
    if (!terminal_enter()) {
        return tool_misuse(tool, "top needs a terminal; --once prints one look and ends");
    }
    top->screen.utf8 = terminal_is_utf8();
    top->screen.color = tool->color;
    top->answered = steady_now();
    top->asker = asker_new(top->queue, &top->view.wish, top->view.interval, terminal_wake);
    if (top->asker) {
        watch(tool, top);
    }
    terminal_leave();
    if (!top->asker) {
        tool_complain("no thread could be started");
        return EXIT_REFUSED;
    }
    asker_free(top->asker);
    return EXIT_DONE;
}

// ---------------------------------------------------------------------------------------------
// Once

static int once_columns(void)
{
    const char *columns = getenv("COLUMNS");
    long count = columns ? strtol(columns, NULL, 10) : 0;
    return count >= ONCE_COLUMNS && count < ONCE_ROWS ? (int)count : ONCE_COLUMNS;
}

static void print_frame(struct top *top)
{
    struct screen *screen = &top->screen;
    top->view.still = true;
    top->view.link = LINK_GOOD;
    top->view.now = moment_now();
    screen->utf8 = terminal_is_utf8();
    screen_resize(screen, view_rows_wanted(&top->view, top->look), once_columns());
    top_draw(screen, &top->view, top->look);
    screen_print(screen, stdout);
}

static int run_once(struct tool *tool, struct top *top)
{
    struct look_window all = { .count = ONCE_ROWS };
    const struct look_wish wish = { .queues = all, .running = all, .groups = all, .workers = all };
    top->look = look_take(tool->queue, &wish, NULL);
    if (top->look->error.status) {
        return tool_refuse(&top->look->error);
    }
    if (tool->json) {
        top_json(stdout, &top->view, top->look);
    } else {
        print_frame(top);
    }
    return EXIT_DONE;
}

// ---------------------------------------------------------------------------------------------

// A folder can be open once; a server gets a connection whose calls do not take long.
static int open_queue(const struct tool *tool, struct top *top)
{
    if (url_is_folder(tool->url)) {
        top->queue = tool->queue;
        return EXIT_DONE;
    }
    const struct sluice_open_options options = SLUICE_OPEN(.timeout = TIMEOUT_S);
    return tool_connect(tool, &options, &top->queue);
}

static int run_top(struct tool *tool)
{
    const struct top_options *options = tool->options;
    double interval = tool_given(tool, "interval") ? options->interval : INTERVAL_DEFAULT_S;
    if (interval < TOP_INTERVAL_MIN || interval > TOP_INTERVAL_MAX) {
        return tool_misuse(tool, "--interval: from %g to %g seconds", TOP_INTERVAL_MIN,
                           TOP_INTERVAL_MAX);
    }
    if (tool->json && !options->once) {
        return tool_misuse(tool, "--json: only together with --once");
    }
    struct top *top = tool_allocate(sizeof(*top));
    top->view.url = url_to_show(tool->url);
    top->view.ns = sluice_namespace(tool->queue);
    top->view.interval = interval;
    top->view.trouble = "";
    int code = options->once ? run_once(tool, top) : open_queue(tool, top);
    if (!code && !options->once) {
        code = run_live(tool, top);
    }
    if (top->queue != tool->queue) {
        sluice_close(top->queue);
    }
    look_free(top->look);
    view_release(&top->view);
    screen_release(&top->screen);
    return code;
}

static const struct option top_options[] = {
    { .name = "interval",
      .letter = 'i',
      .type = OPTION_SECONDS,
      .value = "SECONDS",
      .offset = offsetof(struct top_options, interval),
      .summary = "how often it looks (2)" },
    { .name = "once",
      .type = OPTION_FLAG,
      .offset = offsetof(struct top_options, once),
      .summary = "prints one look as text, or with --json as JSON, and ends" },
};

static const struct tool_example top_examples[] = {
    { "sluice top", "watches the queue at SLUICE_URL" },
    { "sluice top --interval 500ms --ns app", "looks twice a second" },
    { "sluice top --once", "prints what there is now" },
    { NULL, NULL },
};

static const struct tool_command top_commands[] = {
    {
        .name = "top",
        .group = "Queues",
        .arguments = "",
        .options = top_options,
        .option_count = sizeof(top_options) / sizeof(top_options[0]),
        .options_size = sizeof(struct top_options),
        .run = run_top,
        .summary = "Watches queues, running jobs, failures and workers on the whole screen",
        .details =
            "The arrow keys or j and k choose a row, tab or 1 to 4 the pane. Enter shows the jobs "
            "of "
            "a queue, a group of failures or a worker, and the details of a job; esc goes back. p "
            "pauses a queue or lets it go on, s changes the order of the queues, n and N go to "
            "another namespace, r retries failures, c cancels a job, e explains why "
            "a job is not running, / shows only what has a text in its name, + and - change how "
            "often it looks, ? shows all keys, q quits. What changes jobs or queues asks first.\n\n"
            "It asks for counts, and for details of what is in sight alone, so that it costs the "
            "same however many jobs there are. When the server goes away it says so, keeps what it "
            "has seen, and goes on once the server is back. Rates are jobs put into and taken out "
            "of a queue each second, over the last minute. COLUMNS says how wide --once prints.",
        .examples = top_examples,
    },
};

const struct tool_set top_set = { top_commands, sizeof(top_commands) / sizeof(top_commands[0]) };
