// SPDX-License-Identifier: MIT
// Measures lives of jobs (put, take, done) in this process. Each thread runs one life after
// another. Variants: no thread waits (a thread takes a job that it or another thread has put), and
// takers wait for putters. Prints lives per second and the CPU time per life, over all threads.
//
//     bench_local [--folder PATH] [--seconds N]
//
// The folder must be on the disk to be measured.
#include <sluice/sluice.h>

#include <ftw.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    THREADS_MAX = 64,
};

static const char *folder = ".";
static double seconds = 3;

struct run {
    struct sluice *queue;
    atomic_bool over;
    atomic_uint_fast64_t lives;
};

static double clock_s(clockid_t clock)
{
    struct timespec now;
    (void)clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void check(enum sluice_status status, const struct sluice_error *error)
{
    if (status) {
        (void)fprintf(stderr, "bench_local: %s\n", error->message);
        exit(1);
    }
}

static void put(struct run *run)
{
    struct sluice_error error;
    const struct sluice_put_options job =
        SLUICE_PUT(.queue = "mail", .klass = "Send",
                   .data = "{\"to\":\"ann@example.org\",\"subject\":\"hello\"}");
    check(sluice_put(run->queue, &job, NULL, &error), &error);
}

// False when it was interrupted.
static bool take(struct run *run)
{
    struct sluice_error error;
    struct sluice_job *job;
    enum sluice_status status = sluice_next(run->queue, "mail", SLUICE_FOREVER, &job, &error);
    if (status == SLUICE_INTERRUPTED) {
        return false;
    }
    check(status, &error);
    check(sluice_done(job, NULL, &error), &error);
    sluice_job_free(job);
    return true;
}

static void *live(void *context)
{
    struct run *run = context;
    while (!run->over) {
        put(run);
        (void)take(run);
        run->lives++;
    }
    return NULL;
}

static void *put_all(void *context)
{
    struct run *run = context;
    while (!run->over) {
        put(run);
    }
    return NULL;
}

static void *take_all(void *context)
{
    struct run *run = context;
    while (take(run)) {
        run->lives++;
    }
    return NULL;
}

static int remove_one(const char *path, const struct stat *about, int type, struct FTW *walk)
{
    (void)about;
    (void)type;
    (void)walk;
    return remove(path);
}

// `pairs`: half of the threads put, half take.
static void measure(int threads, const char *durability, bool pairs)
{
    char path[512], url[600];
    pthread_t ids[THREADS_MAX];
    struct sluice_error error;
    struct run run = { 0 };
    (void)snprintf(path, sizeof(path), "%s/bench-local-XXXXXX", folder);
    if (!mkdtemp(path)) {
        perror(path);
        exit(1);
    }
    (void)snprintf(url, sizeof(url), "file:%s/queue", path);
    const struct sluice_open_options options = SLUICE_OPEN(.durability = durability);
    check(sluice_open(url, &options, &run.queue, &error), &error);
    double wall = clock_s(CLOCK_MONOTONIC), cpu = clock_s(CLOCK_PROCESS_CPUTIME_ID);
    for (int i = 0; i < threads; i++) {
        (void)pthread_create(&ids[i], NULL, pairs ? i % 2 ? take_all : put_all : live, &run);
    }
    const struct timespec pause = { .tv_sec = (time_t)seconds,
                                    .tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9) };
    (void)nanosleep(&pause, NULL);
    wall = clock_s(CLOCK_MONOTONIC) - wall;
    cpu = clock_s(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    uint64_t lives = run.lives;
    run.over = true;
    sluice_interrupt(run.queue, true);
    for (int i = 0; i < threads; i++) {
        (void)pthread_join(ids[i], NULL);
    }
    sluice_close(run.queue);
    (void)nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    printf("%-8s %2d threads%-24s %9.0f lives/s %8.2f us CPU a life\n", durability, threads,
           pairs ? ", half put, half take" : "", (double)lives / wall,
           cpu * 1e6 / (double)(lives ? lives : 1));
    (void)fflush(stdout);
}

int main(int count, char **words)
{
    for (int i = 1; i + 1 < count; i += 2) {
        if (strcmp(words[i], "--folder") == 0) {
            folder = words[i + 1];
        } else if (strcmp(words[i], "--seconds") == 0) {
            seconds = strtod(words[i + 1], NULL);
        } else {
            (void)fprintf(stderr, "bench_local [--folder PATH] [--seconds N]\n");
            return 2;
        }
    }
    static const char *const durabilities[] = { "never", "always" };
    for (size_t i = 0; i < 2; i++) {
        measure(1, durabilities[i], false);
        measure(8, durabilities[i], false);
        measure(8, durabilities[i], true);
    }
    return 0;
}
