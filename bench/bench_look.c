// SPDX-License-Identifier: MIT
// Measures what a page about a namespace asks for, with many jobs in many queues: totals, pages of
// queues in an order, series of a namespace and of a queue, days of statistics, and a tick. Each is
// asked for again and again while jobs are put, popped and completed in between, and the middle
// call, the 99th of a hundred and the slowest are printed, in microseconds of CPU time.
//
//     bench_look [JOBS [QUEUES]]        default: 1,000,000 jobs in 10,000 queues
#include "base/num.h"
#include "engine/measure/series.h"
#include "engine/measure/stats.h"
#include "engine/queue/queues.h"

#include "bench.h"
#include "load.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

enum {
    CALLS = 1000,
    LIVES_BETWEEN = 20, // in queues all over
    PAGE = 50,
};

struct load {
    struct engine *engine;
    int64_t now_us;
    uint64_t made;
    size_t queues;
    char data[LOAD_DATA_SIZE];
};

static struct slice queue_of(const struct load *load, uint64_t number, char text[32])
{
    int size = snprintf(text, 32, "queue-%llu",
                        (unsigned long long)(bench_scramble(number) % load->queues));
    return slice_make(text, (size_t)size);
}

static void put(struct load *load)
{
    char jid[32], queue[32];
    uint64_t number = load->made++;
    int size = snprintf(jid, sizeof(jid), "job-%016llx", (unsigned long long)number);
    const struct put_request request = { .queue = queue_of(load, number, queue),
                                         .jid = slice_make(jid, (size_t)size),
                                         .klass = load_klass,
                                         .data = slice_make(load->data, LOAD_DATA_SIZE) };
    const struct job *job;
    struct error error;
    load_must(engine_put(load->engine, load->now_us, &request, &job, &error), &error);
}

static void work(struct load *load)
{
    char text[32];
    struct slice queue = queue_of(load, load->made * 7, text);
    const struct pop_request pop = { .worker = load_worker, .queues = { &queue, 1 }, .count = 1 };
    const struct job *job;
    size_t popped;
    struct error error;
    load_must(engine_pop(load->engine, load->now_us, &pop, &job, &popped, &error), &error);
    if (popped) {
        struct job_view view;
        job_view(load->engine, job, &view);
        const struct complete_request complete = {
            .holder = { .jid = view.jid, .worker = load_worker, .token = view.token }
        };
        enum job_state state;
        load_must(engine_complete(load->engine, load->now_us, &complete, &state, &error), &error);
    }
}

// ---------------------------------------------------------------------------------------------
// What is asked for

static void ask_totals(struct load *load)
{
    struct totals_view view;
    struct error error;
    load_must(engine_totals(load->engine, load->now_us, &view, &error), &error);
    bench_touch(&view);
}

static void ask_page(struct load *load, enum queue_order order)
{
    static struct queue_page page;
    page = (struct queue_page){ .order = order, .count = PAGE };
    engine_queues(load->engine, load->now_us, &page);
    for (size_t i = 0; i < page.found; i++) {
        struct queue_view view;
        struct series_rates rates;
        struct error error;
        load_must(engine_queue(load->engine, load->now_us, page.names[i], &view, &error), &error);
        engine_rates(load->engine, load->now_us, page.names[i], &rates);
        bench_touch(&view);
        bench_touch(&rates);
    }
}

static void ask_seen(struct load *load)
{
    ask_page(load, QUEUES_BY_SEEN);
}

static void ask_name(struct load *load)
{
    ask_page(load, QUEUES_BY_NAME);
}

static void ask_waiting(struct load *load)
{
    ask_page(load, QUEUES_BY_WAITING);
}

static void ask_age(struct load *load)
{
    ask_page(load, QUEUES_BY_AGE);
}

static void ask_rate(struct load *load)
{
    ask_page(load, QUEUES_BY_COMPLETED);
}

static void ask_series(struct load *load, struct slice queue, int64_t step_s)
{
    static struct series_point points[SERIES_MINUTES];
    struct series_view view = { .points = points };
    struct error error;
    load_must(engine_series(load->engine, load->now_us, queue, step_s, &view, &error), &error);
    bench_touch(&view);
}

static void ask_seconds(struct load *load)
{
    ask_series(load, SLICE_EMPTY, 1);
}

static void ask_minutes(struct load *load)
{
    ask_series(load, SLICE_EMPTY, SERIES_MINUTE_S);
}

static void ask_queue_minutes(struct load *load)
{
    char text[32];
    ask_series(load, queue_of(load, load->made, text), SERIES_MINUTE_S);
}

static void ask_days(struct load *load)
{
    static struct stats_days_page page;
    page = (struct stats_days_page){ .from_us = INT64_MIN, .count = 100 };
    engine_stats_days(load->engine, &page);
    bench_touch(&page);
}

static void close_minutes(struct load *load)
{
    (void)engine_series_close(load->engine, load->now_us);
}

static const struct {
    const char *what;
    void (*ask)(struct load *load);
} asked[] = {
    { "totals", ask_totals },
    { "50 queues, as first seen", ask_seen },
    { "50 queues, by name", ask_name },
    { "50 queues, by waiting jobs", ask_waiting },
    { "50 queues, by age", ask_age },
    { "50 queues, by rate", ask_rate },
    { "series, 60 seconds", ask_seconds },
    { "series, 1,440 minutes", ask_minutes },
    { "series of a queue, 1,440 minutes", ask_queue_minutes },
    { "100 days of statistics", ask_days },
    { "closing minutes, a slice", close_minutes },
};

static int compare(const void *a, const void *b)
{
    uint64_t one = *(const uint64_t *)a, other = *(const uint64_t *)b;
    return one < other ? -1 : one > other;
}

static void bench_ask(struct load *load, size_t which)
{
    static uint64_t took[CALLS];
    for (size_t i = 0; i < CALLS; i++) {
        for (int life = 0; life < LIVES_BETWEEN; life++) {
            put(load);
            work(load);
        }
        load->now_us += 250000; // a page asks at most so often
        (void)engine_tick(load->engine, load->now_us);
        uint64_t start = bench_cpu_ns();
        asked[which].ask(load);
        took[i] = bench_cpu_ns() - start;
    }
    qsort(took, CALLS, sizeof(took[0]), compare);
    size_t middle = CALLS / 2, late = CALLS * 99 / 100;
    printf("  %-40s %9.1f %9.1f %9.1f\n", asked[which].what, (double)took[middle] / 1000,
           (double)took[late] / 1000, (double)took[CALLS - 1] / 1000);
    (void)fflush(stdout);
}

static void fill(struct load *load, size_t jobs)
{
    // Over a day, so that there are minutes of all of it.
    int64_t step_us = INT64_C(86400) * 1000000 / (int64_t)(jobs ? jobs : 1);
    size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
    for (size_t i = 0; i < jobs; i++) {
        load->now_us += step_us;
        put(load);
        if (i % 4 == 0) {
            work(load);
        }
        if (i % 1000 == 0) {
            while (engine_series_close(load->engine, load->now_us)) {
            }
        }
    }
    size_t after = mallinfo2().uordblks + mallinfo2().hblkhd;
    printf("%zu jobs in %zu queues, %.0f bytes a job with all that is measured\n", jobs,
           load->queues, (double)(after - before) / (double)jobs);
}

int main(int count, char **arguments)
{
    int64_t jobs = 1000000, queues = 10000;
    bool bad = count > 3;
    bad = bad || (count > 1 && (num_parse_i64(slice_from_cstr(arguments[1]), &jobs) || jobs < 1));
    bad =
        bad || (count > 2 && (num_parse_i64(slice_from_cstr(arguments[2]), &queues) || queues < 1));
    if (bad) {
        (void)fputs("usage: bench_look [JOBS [QUEUES]]\n", stderr);
        return 2;
    }
    static struct load load;
    load.now_us = INT64_C(1700000000000000);
    load.queues = (size_t)queues;
    load_data(load.data);
    load.engine = load_engine(load.now_us, false);
    fill(&load, (size_t)jobs);
    printf("  %-40s %9s %9s %9s\n", "us of CPU", "p50", "p99", "max");
    for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
        bench_ask(&load, i);
    }
    engine_free(load.engine);
    return 0;
}
