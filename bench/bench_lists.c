// SPDX-License-Identifier: MIT
// Measures the commands that a person or a dashboard looks with, in one thread, over many jobs,
// queues and lanes: the CPU time of a call with its reply in RESP, and of a slice of what goes on in
// the background. The median, the 99th percentile and the longest of many calls.
//
//     bench_lists [JOBS [QUEUES [LANES]]]      default: 1,000,000, 10,000 and 100,000
#include "api/call.h"
#include "base/num.h"
#include "engine/engine.h"
#include "faces/resp.h"

#include "bench.h"
#include "load.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    CALLS = 2000,
    WORDS_MAX = 16,
    WORD_SIZE = 64,
    CURSOR_SIZE = 80,
    FAILED = 10000,
    GROUPS = 500,
    HELD = 5000,
    WORKERS = 1000,
    RECURRING = 1000,
    LIMITS = 1000,
};

struct site {
    struct engine *engine;
    struct commands *commands;
    struct scratch scratch;
    struct buffer out;
    int64_t now_us;
    uint64_t random, jobs, queues, lanes;
    char cursor[CURSOR_SIZE]; // of the page before
};

static uint64_t next_random(void *context)
{
    struct site *site = context;
    return bench_scramble(site->random++);
}

static uint64_t below(struct site *site, uint64_t limit)
{
    return next_random(site) % limit;
}

// ---------------------------------------------------------------------------------------------
// Commands

// Runs a line of words; gives the time that it took.
static uint64_t run(struct site *site, const char *line)
{
    char bytes[1024];
    struct slice words[WORDS_MAX];
    size_t count = 0;
    (void)snprintf(bytes, sizeof(bytes), "%s", line);
    for (char *at = bytes, *end; *at && count < WORDS_MAX; at = end) {
        end = at + strcspn(at, " ");
        words[count++] = slice_make(at, (size_t)(end - at));
        end += *end == ' ';
    }
    const struct command *command = commands_find(site->commands, words[0]);
    struct host host = { .random = next_random, .context = site };
    struct error error = { 0 };
    struct resp_writer writer;
    buffer_clear(&site->out);
    resp_writer_init(&writer, &site->out, RESP_3);
    struct call call = { .command = command,
                         .ns = SLICE("app"),
                         .engine = site->engine,
                         .now_us = site->now_us,
                         .reply = &writer.reply,
                         .host = &host,
                         .last = true };
    uint64_t start = bench_cpu_ns();
    enum status status =
        call_run(&call, (struct slices){ words + 2, count - 2 }, &site->scratch, &error);
    uint64_t taken = bench_cpu_ns() - start;
    if (status) {
        (void)fprintf(stderr, "bench: %s: %s\n", line, error_sentence(&error));
        exit(1);
    }
    return taken;
}

// Keeps what the last answer gave as `next`.
static void keep_cursor(struct site *site)
{
    const char *at = memmem(site->out.data, site->out.size, "\r\nnext\r\n$", 9);
    site->cursor[0] = '\0';
    const char *text = at ? memchr(at + 9, '\n', 8) : NULL;
    if (text) {
        (void)snprintf(site->cursor, sizeof(site->cursor), " CURSOR %.*s",
                       (int)strcspn(text + 1, "\r"), text + 1);
    }
}

// ---------------------------------------------------------------------------------------------
// What there is

static void put(struct site *site, uint64_t number)
{
    char queue[WORD_SIZE], domain[WORD_SIZE], klass[WORD_SIZE], tag[WORD_SIZE], jid[WORD_SIZE];
    char data[LOAD_DATA_SIZE];
    struct slice tags = { .data = tag };
    load_data(data);
    bool laned = number < site->lanes * 2;
    (void)snprintf(queue, sizeof(queue), "queue-%" PRIu64, laned ? 0 : number % site->queues);
    (void)snprintf(domain, sizeof(domain), "customer-%" PRIu64, number % site->lanes);
    (void)snprintf(klass, sizeof(klass), "Klass%" PRIu64, number % 10000 == 17 ? 99 : number % 20);
    tags.size = (size_t)snprintf(tag, sizeof(tag), "tag-%" PRIu64, number % 50);
    (void)snprintf(jid, sizeof(jid), "job-%016" PRIx64, bench_scramble(number));
    const struct put_request request = {
        .queue = slice_from_cstr(queue),
        .jid = slice_from_cstr(jid),
        .klass = slice_from_cstr(klass),
        .data = slice_make(data, LOAD_DATA_SIZE),
        .has_domain = laned,
        .domain = laned ? slice_from_cstr(domain) : SLICE_EMPTY,
        .has_tags = number % 100 == 3,
        .tags = { &tags, number % 100 == 3 ? 1 : 0 },
        .delay_us = number % 10 == 7 ? INT64_C(86400000000) : 0,
    };
    const struct job *job;
    struct error error;
    load_must(engine_put(site->engine, site->now_us, &request, &job, &error), &error);
}

// Pops a job of a random queue; gives its jid.
static struct slice pop(struct site *site, const char *worker)
{
    for (;;) {
        char queue[WORD_SIZE];
        (void)snprintf(queue, sizeof(queue), "queue-%" PRIu64, below(site, site->queues));
        struct slice name = slice_from_cstr(queue);
        const struct pop_request request = { .worker = slice_from_cstr(worker),
                                             .queues = { &name, 1 },
                                             .count = 1 };
        const struct job *job;
        size_t popped;
        struct error error;
        load_must(engine_pop(site->engine, site->now_us, &request, &job, &popped, &error), &error);
        if (popped) {
            return job_jid(job);
        }
    }
}

static void fill(struct site *site)
{
    char line[256];
    for (uint64_t i = 0; i < site->jobs; i++) {
        put(site, i);
    }
    for (uint64_t i = 0; i < FAILED; i++) {
        struct slice jid = pop(site, "worker-1");
        (void)snprintf(line, sizeof(line), "Q.FAIL app %.*s worker-1 group-%" PRIu64 " message",
                       SLICE_PRINT(jid), i % GROUPS);
        (void)run(site, line);
    }
    for (uint64_t i = 0; i < HELD; i++) {
        (void)snprintf(line, sizeof(line), "worker-%" PRIu64, i % WORKERS);
        (void)pop(site, line);
    }
    for (uint64_t i = 0; i < RECURRING; i++) {
        (void)snprintf(line, sizeof(line),
                       "Q.RECUR app r%" PRIu64 " queue-%" PRIu64 " K {} CRON @daily", i,
                       i % site->queues);
        (void)run(site, line);
    }
    (void)run(site, "Q.LIMIT.SET app QUEUE queue-0 DOMAIN customer-* CONCURRENCY 2");
    for (uint64_t i = 0; i < LIMITS; i++) {
        (void)snprintf(line, sizeof(line),
                       "Q.LIMIT.SET app QUEUE queue-0 DOMAIN customer-%" PRIu64 " RATE 5", i);
        (void)run(site, line);
    }
    while (engine_tick(site->engine, site->now_us) == site->now_us) {
    }
}

// ---------------------------------------------------------------------------------------------
// Measuring

static int by_size(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

static void report(const char *what, uint64_t *times, size_t count)
{
    qsort(times, count, sizeof(*times), by_size);
    size_t middle = count / 2, late = count * 99 / 100;
    printf("%-62s %8.1f %8.1f %8.1f us\n", what, (double)times[middle] / 1e3,
           (double)times[late] / 1e3, (double)times[count - 1] / 1e3);
    (void)fflush(stdout);
}

// A line in which # is a random number below `range`; each page leads to the next.
static void measure(struct site *site, const char *line, uint64_t range)
{
    static uint64_t times[CALLS];
    site->cursor[0] = '\0';
    for (size_t i = 0; i < CALLS; i++) {
        char text[512];
        const char *mark = strchr(line, '#');
        if (mark) {
            (void)snprintf(text, sizeof(text), "%.*s%" PRIu64 "%s%s", (int)(mark - line), line,
                           below(site, range), mark + 1, "");
        } else {
            (void)snprintf(text, sizeof(text), "%s%s", line, site->cursor);
        }
        times[i] = run(site, text);
        keep_cursor(site);
    }
    report(line, times, CALLS);
}

// The slices of what a line begins.
static void measure_slices(struct site *site, const char *line)
{
    static uint64_t times[1 << 20];
    size_t count = 0;
    bool more = true;
    times[count++] = run(site, line);
    while (more && count < 1 << 20) {
        uint64_t start = bench_cpu_ns();
        more = engine_tick(site->engine, site->now_us) == site->now_us;
        times[count++] = bench_cpu_ns() - start;
    }
    char what[128];
    (void)snprintf(what, sizeof(what), "%s: %zu slices", line, count);
    report(what, times, count);
}

int main(int argc, char **argv)
{
    static struct site site = { .now_us = 1700000000000000 };
    uint64_t *const numbers[] = { &site.jobs, &site.queues, &site.lanes };
    static const uint64_t defaults[] = { 1000000, 10000, 100000 };
    for (int i = 0; i < 3; i++) {
        *numbers[i] = defaults[i];
        if (argc > i + 1 && num_parse_u64(slice_from_cstr(argv[i + 1]), numbers[i])) {
            (void)fprintf(stderr, "bench_lists: not a number: %s\n", argv[i + 1]);
            return 2;
        }
    }
    site.engine = load_engine(site.now_us, false);
    scratch_init(&site.scratch, &allocator_system);
    buffer_init(&site.out, &allocator_system, (size_t)64 << 20);
    if (commands_new(&allocator_system, api_tables, API_TABLES, &site.commands)) {
        return 1;
    }
    fill(&site);
    printf("%" PRIu64 " jobs, %" PRIu64 " queues, %" PRIu64 " lanes%*s median      p99  longest\n",
           site.jobs, site.queues, site.lanes, 20, "");
    static const struct {
        const char *line;
        uint64_t range;
    } lines[] = {
        { "Q.JOBS app any COUNT 50 DATA-MAX 100", 0 },
        { "Q.JOBS app waiting COUNT 50 DATA-MAX 100", 0 },
        { "Q.JOBS app waiting queue-0 COUNT 50 DATA-MAX 100", 0 },
        { "Q.JOBS app stalled COUNT 50 DATA-MAX 100", 0 },
        { "Q.JOBS app expired COUNT 50 DATA-MAX 100", 0 },
        { "Q.JOBS app running COUNT 50 DATA-MAX 100", 0 },
        { "Q.JOBS app failed COUNT 50 DATA-MAX 100", 0 },
        { "Q.JOBS app scheduled COUNT 50 DATA-MAX 100", 0 },
        { "Q.JOBS app any queue-# COUNT 50 DATA-MAX 100", 10000 },
        { "Q.JOBS app any KLASS Klass3 COUNT 50 DATA-MAX 100", 0 },
        { "Q.JOBS app any KLASS Klass99 COUNT 50 DATA-MAX 100", 0 },
        { "Q.JOBS app failed KLASS Klass99 COUNT 50 DATA-MAX 100", 0 },
        { "Q.JOBS app any WORKER worker-# COUNT 50 DATA-MAX 100", WORKERS },
        { "Q.JOBS app any TAGGED tag-# COUNT 50 DATA-MAX 100", 50 },
        { "Q.JOBS app waiting queue-0 DOMAIN customer-# COUNT 50", 100000 },
        { "Q.JOBS app waiting DOMAIN customer-5 COUNT 50", 0 },
        { "Q.FAILURES app COUNT 50", 0 },
        { "Q.FAILED app group-# COUNT 50", GROUPS },
        { "Q.TOTALS app", 0 },
        { "Q.COUNT app STATE waiting", 0 },
        { "Q.PRIORITIES app", 0 },
        { "Q.QUEUE app queue-#", 10000 },
        { "Q.QUEUES app COUNT 50", 0 },
        { "Q.QUEUES app SORT name COUNT 50", 0 },
        { "Q.QUEUES app SORT waiting COUNT 50", 0 },
        { "Q.QUEUES app SORT running COUNT 50", 0 },
        { "Q.QUEUES app SORT stalled COUNT 50", 0 },
        { "Q.QUEUES app SORT failed COUNT 50", 0 },
        { "Q.QUEUES app SORT age COUNT 50", 0 },
        { "Q.QUEUES app SORT put COUNT 50", 0 },
        { "Q.QUEUES app SORT completed COUNT 50", 0 },
        { "Q.SERIES app", 0 },
        { "Q.SERIES app queue-#", 10000 },
        { "Q.SERIES app STEP 60 COUNT 1440", 0 },
        { "Q.STATS.DAYS app", 0 },
        { "Q.METRICS app queue-#", 10000 },
        { "Q.PEEK app queue-# 50", 10000 },
        { "Q.TAGS app", 0 },
        { "Q.TAGGED app tag-# COUNT 50", 50 },
        { "Q.TRACKED app", 0 },
        { "Q.WORKER app worker-#", WORKERS },
        { "Q.LISTENERS app queue-#", 10000 },
        { "Q.LANE app queue-0 customer-#", 100000 },
        { "Q.LIMITS app COUNT 100", 0 },
        { "Q.WORKERS app COUNT 50", 0 },
        { "Q.RECURRING app COUNT 25 RUNS 5", 0 },
        { "Q.LANES app queue-0 COUNT 100", 0 },
        { "Q.EXPLAIN.QUEUE app queue-#", 10000 },
        { "Q.BULKS app", 0 },
    };
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        measure(&site, lines[i].line, lines[i].range);
    }
    measure_slices(&site, "Q.FIND app WORD nothing");
    measure_slices(&site, "Q.FIND app TEXT nothing");
    measure_slices(&site, "Q.BULK app priority PRIORITY 7 DRY-RUN");
    measure_slices(&site, "Q.BULK app cancel KLASS Klass99");
    commands_free(site.commands);
    scratch_release(&site.scratch);
    buffer_release(&site.out);
    engine_free(site.engine);
    return 0;
}
