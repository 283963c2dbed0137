// SPDX-License-Identifier: MIT
#include "cli/core/progress.h"

#include "cli/core/moment.h"
#include "cli/core/steady.h"
#include "os/thread.h"

#include <pthread.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PAUSE 0.1

enum {
    BAR_WIDTH = 30,
};

void progress_init(struct progress *progress, const struct tool *tool)
{
    *progress = (struct progress){ .on = isatty(STDERR_FILENO) && !tool->json };
}

void progress_show(struct progress *progress, const char *format, ...)
{
    double now = steady_now();
    if (!progress->on || now < progress->next) {
        return;
    }
    va_list values;
    va_start(values, format);
    print(stderr, "\r\033[K");
    (void)vfprintf(stderr, format, values);
    va_end(values);
    (void)fflush(stderr);
    progress->shown = true;
    progress->next = now + PAUSE;
}

void progress_bar(struct progress *progress, const char *what, double share)
{
    char bar[BAR_WIDTH + 1] = { 0 };
    size_t full = (size_t)(share * BAR_WIDTH);
    memset(bar, '.', BAR_WIDTH);
    memset(bar, '#', full < BAR_WIDTH ? full : BAR_WIDTH);
    progress_show(progress, "%s [%s] %.0f%%", what, bar, share * 100);
}

void progress_end(struct progress *progress)
{
    if (progress->shown) {
        print(stderr, "\r\033[K");
        (void)fflush(stderr);
    }
}

struct stopwatch {
    struct progress progress;
    const char *what;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    bool stopped, running;
};

static void *tick(void *argument)
{
    struct stopwatch *stopwatch = argument;
    double start = steady_now();
    pthread_mutex_lock(&stopwatch->mutex);
    while (!stopwatch->stopped) {
        char length[MOMENT_SIZE];
        length_format((double)(long)(steady_now() - start), length);
        progress_show(&stopwatch->progress, "%s: %s", stopwatch->what, length);
        (void)steady_cond_wait(&stopwatch->changed, &stopwatch->mutex, steady_now() + 1);
    }
    pthread_mutex_unlock(&stopwatch->mutex);
    return NULL;
}

struct stopwatch *stopwatch_start(const struct tool *tool, const char *what)
{
    struct stopwatch *stopwatch = tool_allocate(sizeof *stopwatch);
    progress_init(&stopwatch->progress, tool);
    stopwatch->what = what;
    pthread_mutex_init(&stopwatch->mutex, NULL);
    (void)condition_init(&stopwatch->changed);
    // Without the thread there is only less to see.
    stopwatch->running =
        stopwatch->progress.on && !thread_start(&stopwatch->thread, tick, stopwatch);
    return stopwatch;
}

void stopwatch_stop(struct stopwatch *stopwatch)
{
    pthread_mutex_lock(&stopwatch->mutex);
    stopwatch->stopped = true;
    pthread_cond_signal(&stopwatch->changed);
    pthread_mutex_unlock(&stopwatch->mutex);
    if (stopwatch->running) {
        pthread_join(stopwatch->thread, NULL);
    }
    progress_end(&stopwatch->progress);
    pthread_cond_destroy(&stopwatch->changed);
    pthread_mutex_destroy(&stopwatch->mutex);
    tool_free(stopwatch);
}
