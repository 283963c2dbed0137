// SPDX-License-Identifier: MIT
// Measures the cost of lanes and uniqueness: job lives (put 200 bytes, pop, complete) in a queue
// whose jobs are spread over 1, 1,000 and 1,000,000 lanes, compared with the same backlog without
// lanes; fair queues; lanes that are all rate-limited; and puts with a lock.
//
//     bench_lanes [LANES...]
#include "base/num.h"
#include "engine/engine.h"
#include "engine/lanes/limit.h"

#include "bench.h"
#include "load.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

enum {
    LIVES = 300000,
    TEXT_SIZE = 32,
};

enum kind {
    PLAIN,   // no domain
    ORDERED, // each job in one of the lanes
    FAIR,    // as ORDERED, in a fair queue
    LIMITED, // as ORDERED, and each lane has a rate that is never reached
};

static const char *const names[] = { "without lanes", "lanes", "lanes that take turns",
                                     "lanes with a rate" };

struct load {
    struct engine *engine;
    int64_t now_us;
    uint64_t made;
    size_t lanes;
    enum kind kind;
    char data[LOAD_DATA_SIZE];
};

static void load_init(struct load *load, enum kind kind, size_t lanes)
{
    *load = (struct load){ .now_us = 1700000000000000, .kind = kind, .lanes = lanes };
    load_data(load->data);
    load->engine = load_engine(load->now_us, false);
    struct error error;
    if (kind == FAIR) {
        load_must(
            engine_config_set(load->engine, load->now_us, SLICE("mail-fair"), SLICE("1"), &error),
            &error);
    }
    if (kind == LIMITED) {
        const struct limit limit = {
            .has_rate = true, .rate_count = 1000000, .rate_period_us = 1000000, .burst = 1000
        };
        load_must(
            engine_limit_set(load->engine, load->now_us, SLICE_EMPTY, SLICE("*"), &limit, &error),
            &error);
    }
}

static void put(struct load *load, const struct unique_request *unique)
{
    char jid[TEXT_SIZE], domain[TEXT_SIZE];
    uint64_t number = load->made++;
    int jid_size = snprintf(jid, sizeof(jid), "job-%016llx", (unsigned long long)number);
    int domain_size = snprintf(domain, sizeof(domain), "tenant-%llu.example",
                               (unsigned long long)(number % load->lanes));
    struct put_request request = { .queue = load_queue,
                                   .jid = slice_make(jid, (size_t)jid_size),
                                   .klass = load_klass,
                                   .data = slice_make(load->data, LOAD_DATA_SIZE) };
    if (load->kind != PLAIN) {
        request.has_domain = true;
        request.domain = slice_make(domain, (size_t)domain_size);
    }
    if (unique) {
        request.unique = *unique;
        request.unique.key = request.jid;
        // The contents of the payloads differ too.
        memcpy(load->data + 1, jid, (size_t)jid_size);
    }
    const struct job *job;
    struct error error;
    load_must(engine_put(load->engine, load->now_us, &request, &job, &error), &error);
}

static void life(struct load *load)
{
    load->now_us++;
    put(load, NULL);
    load_work(load->engine, load->now_us);
}

static void bench_lives(enum kind kind, size_t lanes)
{
    struct load load;
    load_init(&load, kind, lanes);
    size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
    for (size_t i = 0; i < lanes; i++) {
        load.now_us++;
        put(&load, NULL);
    }
    size_t after = mallinfo2().uordblks + mallinfo2().hblkhd;
    uint64_t slowest = 0, cpu = bench_cpu_ns();
    for (size_t i = 0; i < LIVES; i++) {
        uint64_t start = bench_now_ns();
        life(&load);
        uint64_t took = bench_now_ns() - start;
        slowest = took > slowest ? took : slowest;
    }
    printf("  %-24s %8.2f us of CPU a life, slowest %8.1f us, %6.0f bytes a waiting job\n",
           names[kind], (double)(bench_cpu_ns() - cpu) / LIVES / 1000, (double)slowest / 1000,
           (double)(after - before) / (double)lanes - LOAD_DATA_SIZE - 20);
    engine_free(load.engine);
}

// All lanes have jobs and have used up their rate. Measures a pop that finds nothing, and the query
// for the time of the next attempt.
static void bench_all_limited(size_t lanes)
{
    struct load load;
    load_init(&load, ORDERED, lanes);
    const struct limit limit = { .has_rate = true,
                                 .rate_count = 1,
                                 .rate_period_us = INT64_C(3600000000) };
    struct error error;
    load_must(engine_limit_set(load.engine, load.now_us, load_queue, SLICE_EMPTY, &limit, &error),
              &error);
    const struct job *jobs[100];
    size_t popped = 0;
    for (size_t i = 0; i < 2 * lanes; i++) {
        put(&load, NULL);
    }
    for (size_t i = 0; i < lanes; i += popped) {
        const struct pop_request pop = { .worker = load_worker,
                                         .queues = { &load_queue, 1 },
                                         .count = 100 };
        load_must(engine_pop(load.engine, load.now_us, &pop, jobs, &popped, &error), &error);
    }
    uint64_t start = bench_cpu_ns();
    for (size_t i = 0; i < LIVES; i++) {
        const struct pop_request pop = { .worker = load_worker,
                                         .queues = { &load_queue, 1 },
                                         .count = 1 };
        load_must(engine_pop(load.engine, load.now_us, &pop, jobs, &popped, &error), &error);
        if (popped) {
            (void)fputs("bench_lanes: a lane ran that may not\n", stderr);
            exit(1);
        }
        (void)engine_tick(load.engine, load.now_us);
    }
    printf("  %-24s %8.2f us of CPU a pop and a tick\n", "all lanes limited",
           (double)(bench_cpu_ns() - start) / LIVES / 1000);
    engine_free(load.engine);
}

static void bench_unique(const char *what, const struct unique_request *unique)
{
    struct load load;
    load_init(&load, PLAIN, 1);
    uint64_t start = bench_cpu_ns();
    for (size_t i = 0; i < LIVES; i++) {
        load.now_us++;
        put(&load, unique);
    }
    printf("  %-24s %8.2f us of CPU a put\n", what,
           (double)(bench_cpu_ns() - start) / LIVES / 1000);
    engine_free(load.engine);
}

static void bench_lanes(size_t lanes)
{
    printf("%zu lane%s, a job waiting in each\n", lanes, lanes == 1 ? "" : "s");
    for (enum kind kind = PLAIN; kind <= LIMITED; kind++) {
        bench_lives(kind, lanes);
    }
    bench_all_limited(lanes);
}

int main(int count, char **arguments)
{
    static const size_t defaults[] = { 1, 1000, 1000000 };
    for (int i = 1; i < count; i++) {
        int64_t lanes;
        if (num_parse_i64(slice_from_cstr(arguments[i]), &lanes) || lanes < 1) {
            (void)fputs("usage: bench_lanes [LANES...]\n", stderr);
            return 2;
        }
        bench_lanes((size_t)lanes);
    }
    for (size_t i = 0; count == 1 && i < sizeof(defaults) / sizeof(defaults[0]); i++) {
        bench_lanes(defaults[i]);
    }
    printf("%d puts into a line that grows\n", LIVES);
    bench_unique("without a lock", NULL);
    bench_unique("with a key", &(struct unique_request){ .by = UNIQUE_BY_KEY });
    bench_unique("by contents", &(struct unique_request){ .by = UNIQUE_BY_CONTENTS });
    return 0;
}
