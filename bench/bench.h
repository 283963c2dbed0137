// SPDX-License-Identifier: MIT
// Shared by the benchmarks: a clock, a line of output, and random numbers that are the same in each
// run.
#ifndef SLUICE_BENCH_H
#define SLUICE_BENCH_H

#include <stdint.h>
#include <stdio.h>
#include <time.h>

static inline uint64_t bench_now_ns(void)
{
    struct timespec now;
    (void)timespec_get(&now, TIME_UTC);
    return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

// CPU time of this thread. Other processes on the machine do not affect it.
static inline uint64_t bench_cpu_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

static inline void bench_report(const char *what, uint64_t total_ns, uint64_t operations)
{
    printf("%-58s %10.1f ns\n", what, (double)total_ns / (double)operations);
    (void)fflush(stdout);
}

// Makes the compiler assume that the object is read and changed here, so that work on it is not
// optimised away.
static inline void bench_touch(void *object)
{
    __asm__ volatile("" : : "r"(object) : "memory");
}

// SplitMix64 of a counter.
static inline uint64_t bench_scramble(uint64_t number)
{
    uint64_t z = (number + 1) * 0x9e3779b97f4a7c15U;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
}

#endif
