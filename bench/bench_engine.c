// SPDX-License-Identifier: MIT
// Measures the engine in one thread over constant backlogs: job lives (put 200 bytes, pop,
// complete) per second, the memory of a waiting job, a page deep in a long list, and the slowest
// single call.
//
//     bench_engine [--lives N] [BACKLOG...]      default: 0, 100,000, 1,000,000 and 10,000,000
//
// With few lives it can run under `valgrind --tool=callgrind`, which counts instructions and has no
// noise.
#include "base/num.h"
#include "engine/engine.h"

#include "bench.h"
#include "load.h"

#include <inttypes.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

static size_t lives = 1000000;

enum {
    PAGE = 25,
};

struct load {
    struct engine *engine;
    int64_t now_us;
    uint64_t made;
    uint64_t slowest_ns;
    char data[LOAD_DATA_SIZE];
};

static void load_init(struct load *load)
{
    *load = (struct load){ .now_us = 1700000000000000 };
    load_data(load->data);
    load->engine = load_engine(load->now_us, false);
}

static void put(struct load *load)
{
    load_put(load->engine, load->now_us, load->made++, load->data);
}

static void life(struct load *load)
{
    load->now_us++;
    put(load);
    load_work(load->engine, load->now_us);
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
               (double)(after - before) / (double)backlog - LOAD_DATA_SIZE - LOAD_JID_SIZE);
        printf("%-58s %10.1f us\n", "  slowest put while filling", (double)load->slowest_ns / 1000);
    }
}

static void bench_page(struct load *load, size_t backlog)
{
    const struct job *jobs[PAGE];
    struct page page = { .offset = backlog - backlog / 10, .count = PAGE, .jobs = jobs };
    struct error error;
    uint64_t start = bench_now_ns();
    load_must(engine_jobs(load->engine, load->now_us, LIST_WAITING, load_queue, &page, &error),
              &error);
    printf("%-58s %10.1f us\n", "  a page of 25 at nine tenths of the line",
           (double)(bench_now_ns() - start) / 1000);
}

static void bench_backlog(size_t backlog)
{
    struct load load;
    load_init(&load);
    printf("backlog %zu\n", backlog);
    fill(&load, backlog);
    for (size_t i = 0; i < lives / 10; i++) {
        life(&load);
    }
    uint64_t start = bench_now_ns(), cpu = bench_cpu_ns();
    for (size_t i = 0; i < lives; i++) {
        life(&load);
    }
    uint64_t took = bench_now_ns() - start, cpu_took = bench_cpu_ns() - cpu;
    printf("%-58s %10.0f /s  (%.2f us of CPU each)\n", "  lives",
           (double)lives * 1e9 / (double)took, (double)cpu_took / (double)lives / 1000);
    load.slowest_ns = 0;
    for (size_t i = 0; i < lives / 5; i++) {
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
    int first = 1;
    int64_t number;
    if (count > 2 && strcmp(arguments[1], "--lives") == 0 &&
        !num_parse_i64(slice_from_cstr(arguments[2]), &number) && number > 0) {
        lives = (size_t)number;
        first = 3;
    }
    for (int i = first; i < count; i++) {
        if (num_parse_i64(slice_from_cstr(arguments[i]), &number) || number < 0) {
            (void)fputs("usage: bench_engine [--lives N] [BACKLOG...]\n", stderr);
            return 2;
        }
        bench_backlog((size_t)number);
    }
    for (size_t i = 0; count == first && i < sizeof(defaults) / sizeof(defaults[0]); i++) {
        bench_backlog(defaults[i]);
    }
    return 0;
}
