// SPDX-License-Identifier: MIT
// An hour of a queue with many lanes, simulated: every domain gets what its limits allow.
#include "engine/lanes/limit.h"

#include "engine_test.h"
#include "random.h"

#include <stdio.h>
#include <string.h>

// ---------------------------------------------------------------------------------------------
// An hour

enum {
    DOMAINS = 31,  // the last one has no limit
    WORKERS = 140, // jobs that run at a time
    BACKLOG = 3,   // jobs of each domain in line at any time
};

#define HOUR_US (INT64_C(3600) * US)

struct traffic {
    char domain[8];
    int64_t count, period_us, burst, concurrency;
    int64_t duration_max_us;
    int64_t started, running, made;
    int64_t last_us;    // when one was started last
    int64_t gap_max_us; // the longest time without a start
};

struct run {
    int64_t ends_us;
    size_t domain;
    char jid[24];
};

struct hour {
    struct world *w;
    struct random random;
    struct traffic traffic[DOMAINS];
    struct run runs[WORKERS]; // a heap by ends_us
    size_t running;
    int64_t now_us;
    size_t in_vain; // called by the tick for nothing
};

static void hour_put(struct hour *h, size_t d)
{
    struct traffic *t = &h->traffic[d];
    char jid[24];
    (void)snprintf(jid, sizeof(jid), "%s-%lld", t->domain, (long long)++t->made);
    const struct put_request request = { .queue = SLICE("q"),
                                         .jid = name_of(jid),
                                         .klass = SLICE("k"),
                                         .data = SLICE("{}"),
                                         .has_domain = true,
                                         .domain = name_of(t->domain) };
    const struct job *job;
    said(h->w, engine_put(h->w->engine, h->now_us, &request, &job, &h->w->error));
}

static void swap_runs(struct run *a, struct run *b)
{
    struct run kept = *a;
    *a = *b;
    *b = kept;
}

static void hour_begin(struct hour *h, size_t d, const char *jid)
{
    struct traffic *t = &h->traffic[d];
    t->started++;
    t->running++;
    assert_true(t->concurrency == 0 || t->running <= t->concurrency);
    assert_true(t->count == 0 ||
                t->started <= t->burst + h->now_us / t->period_us * t->count +
                                  h->now_us % t->period_us * t->count / t->period_us);
    int64_t gap_us = h->now_us - t->last_us;
    t->gap_max_us = gap_us > t->gap_max_us ? gap_us : t->gap_max_us;
    t->last_us = h->now_us;
    assert_true(h->running < WORKERS);
    size_t at = h->running++;
    struct run *run = &h->runs[at];
    run->domain = d;
    run->ends_us = h->now_us + 1 + (int64_t)random_below(&h->random, (uint64_t)t->duration_max_us);
    (void)snprintf(run->jid, sizeof(run->jid), "%s", jid);
    for (; at > 0 && h->runs[at].ends_us < h->runs[(at - 1) / 2].ends_us; at = (at - 1) / 2) {
        swap_runs(&h->runs[at], &h->runs[(at - 1) / 2]);
    }
}

static void hour_complete_first(struct hour *h)
{
    struct run *first = &h->runs[0];
    const struct complete_request request = { .holder = { .jid = name_of(first->jid),
                                                          .worker = SLICE("w1") } };
    enum job_state state;
    said(h->w, engine_complete(h->w->engine, h->now_us, &request, &state, &h->w->error));
    h->traffic[first->domain].running--;
    *first = h->runs[--h->running];
    for (size_t at = 0, child; (child = 2 * at + 1) < h->running; at = child) {
        child += child + 1 < h->running && h->runs[child + 1].ends_us < h->runs[child].ends_us;
        if (h->runs[at].ends_us <= h->runs[child].ends_us) {
            break;
        }
        swap_runs(&h->runs[at], &h->runs[child]);
    }
}

// Takes all that may run, as far as there are workers; and puts as many jobs back into line.
static size_t hour_pop(struct hour *h)
{
    const struct slice queue = SLICE("q");
    size_t total = 0, popped = 1;
    while (popped > 0 && h->running < WORKERS) {
        const struct job *found[WORKERS];
        const struct pop_request request = { .worker = SLICE("w1"),
                                             .queues = { &queue, 1 },
                                             .count = WORKERS - h->running };
        said(h->w, engine_pop(h->w->engine, h->now_us, &request, found, &popped, &h->w->error));
        size_t domains[WORKERS];
        for (size_t i = 0; i < popped; i++) {
            struct job_view view;
            job_view(h->w->engine, found[i], &view);
            char jid[24];
            (void)snprintf(jid, sizeof(jid), "%.*s", SLICE_PRINT(view.jid));
            domains[i] = (size_t)strtoul(jid + 1, NULL, 10);
            hour_begin(h, domains[i], jid);
        }
        for (size_t i = 0; i < popped; i++) {
            hour_put(h, domains[i]);
        }
        total += popped;
    }
    return total;
}

// Who may run does, as long as there are workers.
static void expect_nobody_waits(const struct hour *h)
{
    for (size_t d = 0; h->running < WORKERS && d < DOMAINS; d++) {
        struct lane_view view;
        assert_int_equal(engine_lane(h->w->engine, h->now_us, SLICE("q"),
                                     name_of(h->traffic[d].domain), &view, NULL),
                         STATUS_OK);
        assert_true(view.ready_us > h->now_us);
        assert_int_equal(view.running, h->traffic[d].running);
        assert_true(view.waiting >= BACKLOG);
    }
}

static void hour_prepare(struct hour *h)
{
    // Runs in so many milliseconds, and the burst.
    static const int64_t rates[DOMAINS - 1][3] = {
        { 1, 5000, 1 },    { 1, 4000, 1 },  { 3, 10000, 2 },  { 1, 3000, 2 },   { 2, 5000, 1 },
        { 1, 2000, 1 },    { 7, 11000, 5 }, { 3, 4000, 2 },   { 1, 1000, 2 },   { 13, 10000, 3 },
        { 3, 2000, 10 },   { 2, 1000, 3 },  { 60, 29000, 4 }, { 5, 2000, 3 },   { 3, 1000, 5 },
        { 10, 3000, 4 },   { 7, 2000, 5 },  { 4, 1000, 6 },   { 9, 2000, 6 },   { 5, 1000, 7 },
        { 100, 19000, 8 }, { 6, 1000, 8 },  { 7, 1000, 5 },   { 15, 2000, 9 },  { 8, 1000, 9 },
        { 9, 1000, 7 },    { 1, 100, 10 },  { 13, 1000, 10 }, { 20, 1000, 20 }, { 50, 1000, 30 },
    };
    random_init(&h->random);
    for (size_t d = 0; d < DOMAINS; d++) {
        struct traffic *t = &h->traffic[d];
        (void)snprintf(t->domain, sizeof(t->domain), "d%zu", d);
        t->duration_max_us = INT64_C(2) * US;
        if (d < DOMAINS - 1) {
            t->count = rates[d][0];
            t->period_us = rates[d][1] * 1000;
            t->burst = rates[d][2];
            t->concurrency = 1 + (int64_t)d % 7;
            // As many at a time as the concurrency allows, even if each takes the longest time.
            t->duration_max_us = t->period_us * t->concurrency * 8 / (t->count * 10);
            struct limit limit = { .has_rate = true,
                                   .rate_count = t->count,
                                   .rate_period_us = t->period_us,
                                   .burst = t->burst,
                                   .has_concurrency = true,
                                   .concurrency = t->concurrency };
            limit_set(h->w, 0, d % 2 ? "q" : NULL, t->domain, limit);
        }
        for (int i = 0; i < BACKLOG; i++) {
            hour_put(h, d);
        }
    }
}

static void test_hour__an_hour_in_which_all_domains_always_have_jobs(void **state)
{
    static struct hour hour;
    struct hour *h = &hour;
    *h = (struct hour){ .w = *state };
    set(h->w, "heartbeat", "86400");
    set(h->w, "jobs-history-count", "10");
    hour_prepare(h);
    hour_pop(h);
    for (size_t steps = 0;; steps++) {
        forget_events(h->w);
        int64_t tick_us = engine_tick(h->w->engine, h->now_us);
        int64_t done_us = h->running ? h->runs[0].ends_us : INT64_MAX;
        assert_true(tick_us > h->now_us);
        h->now_us = tick_us < done_us ? tick_us : done_us;
        if (h->now_us >= HOUR_US) {
            break;
        }
        while (h->running && h->runs[0].ends_us <= h->now_us) {
            hour_complete_first(h);
        }
        bool may = h->running < WORKERS;
        h->in_vain += hour_pop(h) == 0 && may && tick_us < done_us;
        if (steps % 1000 == 0) {
            expect_nobody_waits(h);
        }
    }
    // The tick never calls for nothing.
    assert_int_equal(h->in_vain, 0);
    for (size_t d = 0; d < DOMAINS; d++) {
        const struct traffic *t = &h->traffic[d];
        if (t->count == 0) {
            assert_true(t->started > 10000);
            assert_true(t->gap_max_us < US);
            continue;
        }
        double allowed = (double)t->count * 3600e6 / (double)t->period_us;
        if ((double)t->started < allowed * 0.99 ||
            (double)t->started > allowed + (double)t->burst) {
            print_error("%s ran %lld times, and may %g times\n", t->domain, (long long)t->started,
                        allowed);
        }
        assert_true((double)t->started >= allowed * 0.99);
        assert_true((double)t->started <= allowed + (double)t->burst);
        // No job waits much longer than its own limits make it.
        int64_t bound_us = t->period_us / t->count + t->duration_max_us + US;
        if (t->gap_max_us > bound_us) {
            print_error("%s did not run for %lld us\n", t->domain, (long long)t->gap_max_us);
        }
        assert_true(t->gap_max_us <= bound_us);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SERVER_TEST(test_hour__an_hour_in_which_all_domains_always_have_jobs),
    };
    return cmocka_run_group_tests_name("hour", tests, NULL, NULL);
}
