// SPDX-License-Identifier: MIT
#include "recurring_test.h"

enum {
    RUNS_MAX = 64,
};

struct recur_request by(const char *cron)
{
    return (struct recur_request){ .queue = SLICE("q"), .jid = SLICE("r"), .cron = name_of(cron) };
}

struct recur_request in_zone(const char *cron, const char *zone)
{
    struct recur_request request = by(cron);
    request.zone = name_of(zone);
    return request;
}

struct recur_request every(double interval, enum recur_missed missed, int64_t backlog)
{
    return (struct recur_request){ .queue = SLICE("q"),
                                   .jid = SLICE("r"),
                                   .interval_us = us(interval),
                                   .missed = missed,
                                   .backlog = backlog };
}

static const char *times(struct world *w, const int64_t *runs, size_t count)
{
    buffer_clear(&w->text);
    for (size_t i = 0; i < count; i++) {
        buffer_printf(&w->text, "%s%.12g", i ? "," : "", (double)runs[i] / US);
    }
    buffer_append_char(&w->text, '\0');
    return w->text.data;
}

const char *runs_of(struct world *w, size_t count)
{
    int64_t runs[RUNS_MAX];
    size_t found;
    assert_true(count <= RUNS_MAX);
    said(w, engine_recurring_runs(w->engine, SLICE("r"), count, runs, &found, &w->error));
    return times(w, runs, found);
}

const char *cron_runs(struct world *w, const char *cron, const char *zone_name, double after,
                      size_t count)
{
    int64_t runs[RUNS_MAX];
    size_t found = 0;
    assert_true(count <= RUNS_MAX);
    said(w, engine_cron_runs(w->engine, name_of(cron), name_of(zone_name), us(after), count, runs,
                             &found, &w->error));
    return times(w, runs, found);
}

const char *made_at(struct world *w, double now)
{
    const struct job *room[RUNS_MAX];
    struct page page = { .count = RUNS_MAX, .jobs = room };
    said(w, engine_jobs(w->engine, at(w, now), LIST_WAITING, SLICE("q"), &page, &w->error));
    int64_t made[RUNS_MAX];
    assert_int_equal(page.total, page.found);
    for (size_t i = 0; i < page.found; i++) {
        struct job_view view;
        job_view(w->engine, room[i], &view);
        made[i] = view.created_us;
    }
    return times(w, made, page.found);
}

const char *made_by(struct world *w, double now)
{
    (void)peek(w, now, "q", RUNS_MAX);
    return made_at(w, now);
}

double next_of(struct world *w)
{
    return (double)recurring_of(w, "r").next_us / US;
}
