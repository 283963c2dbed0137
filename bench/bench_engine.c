// SPDX-License-Identifier: MIT
// Job lives (put 200 bytes, pop, complete) per second in one thread, over standing backlogs; memory
// a waiting job takes; a page deep in a long list; the slowest single call. `bench_engine
// [BACKLOG...]`, by default 0, 100,000, 1,000,000 and 10,000,000.
#include "base/alloc.h"
#include "base/num.h"
#include "base/uuid.h"
#include "engine/engine.h"

#include "bench.h"

#include <inttypes.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

enum {
    LIVES = 1000000,
    DATA_SIZE = 200,
    JID_SIZE = 36,
    PAGE = 25,
};

static const struct slice queue = { "mail", 4 }, klass = { "Send", 4 }, worker = { "worker-1", 8 };

struct load {
    struct engine *engine;
    int64_t now_us;
    uint64_t made;
    uint64_t slowest_ns;
    char data[DATA_SIZE];
};

static void must(enum status status, const struct error *error)
{
    if (status) {
        (void)fprintf(stderr, "bench_engine: %s\n", error_sentence(error));
        exit(1);
    }
}

static void load_init(struct load *load)
{
    *load = (struct load){ .now_us = 1700000000000000 };
    memset(load->data, 'x', DATA_SIZE);
    load->data[0] = load->data[DATA_SIZE - 1] = '"';
    const struct engine_options options = { .allocator = &allocator_system,
                                            .seed = { 1, 2 },
                                            .clock = ENGINE_CLOCK_SERVER };
    if (engine_new(&options, &load->engine)) {
        exit(1);
    }
    // What is complete is forgotten soon, so that a run measures its backlog and not the past.
    struct error error;
    must(engine_config_set(load->engine, load->now_us, SLICE("jobs-history-count"), SLICE("1000"),
                           &error),
         &error);
}

static void put(struct load *load)
{
    uint8_t entropy[10] = { 0 };
    uint64_t random = bench_scramble(load->made++);
    memcpy(entropy, &random, sizeof(random));
    struct uuid uuid;
    char jid[JID_SIZE];
    uuid_v7(load->now_us, entropy, &uuid);
    uuid_format(&uuid, jid);
    const struct put_request request = { .queue = queue,
                                         .jid = slice_make(jid, JID_SIZE),
                                         .klass = klass,
                                         .data = slice_make(load->data, DATA_SIZE) };
    const struct job *job;
    struct error error;
    must(engine_put(load->engine, load->now_us, &request, &job, &error), &error);
}

static void life(struct load *load)
{
    struct error error;
    load->now_us++;
    put(load);
    const struct pop_request pop = { .worker = worker, .queues = { &queue, 1 }, .count = 1 };
    const struct job *job;
    size_t popped;
    must(engine_pop(load->engine, load->now_us, &pop, &job, &popped, &error), &error);
    struct job_view view;
    job_view(load->engine, job, &view);
    const struct complete_request complete = {
        .holder = { .jid = view.jid, .worker = worker, .token = view.token }
    };
    enum job_state state;
    must(engine_complete(load->engine, load->now_us, &complete, &state, &error), &error);
}

static void fill(struct load *load, size_t backlog)
{
    size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
    for (size_t i = 0; i < backlog; i++) {
        load->now_us++;
        uint64_t start = bench_cpu_ns();
        put(load);
        uint64_t took = bench_cpu_ns() - start;
        load->slowest_ns = took > load->slowest_ns ? took : load->slowest_ns;
    }
    size_t after = mallinfo2().uordblks + mallinfo2().hblkhd;
    if (backlog) {
        printf("%-58s %10.1f bytes\n", "  memory a waiting job beyond its jid and data",
               (double)(after - before) / (double)backlog - DATA_SIZE - JID_SIZE);
        printf("%-58s %10.1f us\n", "  slowest put while filling", (double)load->slowest_ns / 1000);
    }
}

static void bench_page(struct load *load, size_t backlog)
{
    const struct job *jobs[PAGE];
    struct page page = { .offset = backlog - backlog / 10, .count = PAGE, .jobs = jobs };
    struct error error;
    uint64_t start = bench_now_ns();
    must(engine_jobs(load->engine, load->now_us, LIST_WAITING, queue, &page, &error), &error);
    printf("%-58s %10.1f us\n", "  a page of 25 at nine tenths of the line",
           (double)(bench_now_ns() - start) / 1000);
}

static void bench_backlog(size_t backlog)
{
    struct load load;
    load_init(&load);
    printf("backlog %zu\n", backlog);
    fill(&load, backlog);
    for (size_t i = 0; i < LIVES / 10; i++) {
        life(&load);
    }
    uint64_t start = bench_now_ns(), cpu = bench_cpu_ns();
    for (size_t i = 0; i < LIVES; i++) {
        life(&load);
    }
    uint64_t took = bench_now_ns() - start, cpu_took = bench_cpu_ns() - cpu;
    printf("%-58s %10.0f /s  (%.2f us of CPU each)\n", "  lives", LIVES * 1e9 / (double)took,
           (double)cpu_took / LIVES / 1000);
    load.slowest_ns = 0;
    for (size_t i = 0; i < LIVES / 5; i++) {
        uint64_t before = bench_cpu_ns();
        life(&load);
        uint64_t one = bench_cpu_ns() - before;
        load.slowest_ns = one > load.slowest_ns ? one : load.slowest_ns;
    }
    printf("%-58s %10.1f us\n", "  slowest life", (double)load.slowest_ns / 1000);
    if (backlog) {
        bench_page(&load, backlog);
    }
    engine_free(load.engine);
}

int main(int count, char **arguments)
{
    static const size_t defaults[] = { 0, 100000, 1000000, 10000000 };
    for (int i = 1; i < count; i++) {
        int64_t backlog;
        if (num_parse_i64(slice_from_cstr(arguments[i]), &backlog) || backlog < 0) {
            (void)fputs("usage: bench_engine [BACKLOG...]\n", stderr);
            return 2;
        }
        bench_backlog((size_t)backlog);
    }
    for (size_t i = 0; count == 1 && i < sizeof(defaults) / sizeof(defaults[0]); i++) {
        bench_backlog(defaults[i]);
    }
    return 0;
}
