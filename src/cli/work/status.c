// SPDX-License-Identifier: MIT
// The line is drawn again in place (carriage return, clear to the end) and is never longer than
// the screen is wide, since a line that wraps cannot be taken back. What others have to say is
// written as whole lines in its place, and it comes again below them.
#include "cli/work/status.h"

#include "cli/core/moment.h"
#include "cli/core/steady.h"

#include <math.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define CLEAR "\r\033[K"

static const double redraw_s = 0.2, rate_s = 1;

void work_status_init(struct work_status *status, bool wanted, bool verbose)
{
    bool terminal = wanted && isatty(STDERR_FILENO);
    *status = (struct work_status){ .terminal = terminal,
                                    .shared = isatty(STDOUT_FILENO),
                                    .tally = terminal || verbose,
                                    .began = steady_now() };
    pthread_mutex_init(&status->mutex, NULL);
}

void work_status_release(struct work_status *status)
{
    pthread_mutex_destroy(&status->mutex);
}

// ---------------------------------------------------------------------------------------------
// Lines

// The line below makes way; it comes again with the next drawing.
static void make_way(struct work_status *status)
{
    if (status->drawn) {
        (void)fputs(CLEAR, stderr);
        status->drawn = false;
        status->drawn_at = 0;
    }
}

void work_say(struct work_status *status, const char *prefix, const char *text, size_t size)
{
    pthread_mutex_lock(&status->mutex);
    make_way(status);
    if (prefix) {
        print(stderr, "[%s] ", prefix);
    }
    (void)fwrite(text, 1, size, stderr);
    (void)fputc('\n', stderr);
    (void)fflush(stderr);
    pthread_mutex_unlock(&status->mutex);
}

void work_complain(struct work_status *status, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    pthread_mutex_lock(&status->mutex);
    make_way(status);
    (void)fputs("sluice: ", stderr);
    (void)vfprintf(stderr, format, values);
    (void)fputc('\n', stderr);
    (void)fflush(stderr);
    pthread_mutex_unlock(&status->mutex);
    va_end(values);
}

void work_print(struct work_status *status, const char *text)
{
    pthread_mutex_lock(&status->mutex);
    if (status->shared) {
        make_way(status);
        (void)fflush(stderr);
    }
    print(stdout, "%s\n", text);
    (void)fflush(stdout);
    pthread_mutex_unlock(&status->mutex);
}

// ---------------------------------------------------------------------------------------------
// The line below

static size_t ended(const struct work_status *status)
{
    size_t sum = 0;
    for (int i = 0; i < WORK_OUTCOME_COUNT; i++) {
        sum += status->counts[i];
    }
    return sum;
}

// A second's count, and a part of what was before, so that it does not jump.
static void measure(struct work_status *status, double now)
{
    if (status->rate_at == 0) {
        status->rate_at = now;
    }
    double passed = now - status->rate_at;
    if (passed >= rate_s) {
        double lately = (double)(ended(status) - status->rate_count) / passed;
        status->rate = status->rate_count ? status->rate * 0.5 + lately * 0.5 : lately;
        status->rate_count = ended(status);
        status->rate_at = now;
    }
}

static size_t screen_width(void)
{
    struct winsize size;
    bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
    return known ? size.ws_col : 80;
}

static void compose(const struct work_status *status, char *line, size_t size)
{
    const size_t *counts = status->counts;
    size_t at = (size_t)snprintf(line, size, "%zu running, %zu done, %zu failed, %zu retried",
                                 status->running, counts[WORK_OUTCOME_DONE],
                                 counts[WORK_OUTCOME_FAILED], counts[WORK_OUTCOME_RETRIED]);
    size_t others = counts[WORK_OUTCOME_RETURNED] + counts[WORK_OUTCOME_LOST] +
                    counts[WORK_OUTCOME_CANCELED] + counts[WORK_OUTCOME_UNTOLD];
    if (others) {
        at += (size_t)snprintf(line + at, size - at, ", %zu others", others);
    }
    (void)snprintf(line + at, size - at, ", %.1f/s%s%s", status->rate, status->note ? ", " : "",
                   status->note ? status->note : "");
}

void work_status_draw(struct work_status *status, double now)
{
    pthread_mutex_lock(&status->mutex);
    if (status->terminal && now - status->drawn_at >= redraw_s) {
        char line[256];
        measure(status, now);
        compose(status, line, sizeof(line));
        print(stderr, CLEAR "%.*s", (int)screen_width() - 1, line);
        (void)fflush(stderr);
        status->drawn = true;
        status->drawn_at = now;
    }
    pthread_mutex_unlock(&status->mutex);
}

double work_status_due(struct work_status *status, double now)
{
    pthread_mutex_lock(&status->mutex);
    double due = status->terminal ? status->drawn_at + redraw_s - now : -1;
    bool late = status->terminal && due < 0;
    pthread_mutex_unlock(&status->mutex);
    return late ? 0 : due;
}

// How all jobs ended, in a line. Called with the mutex.
static void print_tally(const struct work_status *status, double took)
{
    char length[MOMENT_SIZE];
    length_format(floor(took), length);
    print(stderr, "%zu done, %zu failed, %zu retried", status->counts[WORK_OUTCOME_DONE],
          status->counts[WORK_OUTCOME_FAILED], status->counts[WORK_OUTCOME_RETRIED]);
    for (int i = WORK_OUTCOME_RETRIED + 1; i < WORK_OUTCOME_COUNT; i++) {
        if (status->counts[i]) {
            print(stderr, ", %zu %s", status->counts[i], work_outcome_name((enum work_outcome)i));
        }
    }
    print(stderr, " in %s\n", length);
}

void work_status_end(struct work_status *status, double now)
{
    pthread_mutex_lock(&status->mutex);
    make_way(status);
    if (status->tally) {
        print_tally(status, now - status->began);
    }
    (void)fflush(stderr);
    status->terminal = false;
    pthread_mutex_unlock(&status->mutex);
}
