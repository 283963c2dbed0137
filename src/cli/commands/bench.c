// SPDX-License-Identifier: MIT
// How many jobs a second a queue takes through their lives. Several threads share one handle, as
// those of a program would; the jobs are in a namespace of their own, which is deleted at the end.
#include "cli/core/call.h"
#include "cli/core/moment.h"
#include "cli/core/progress.h"
#include "cli/core/sets.h"
#include "cli/core/steady.h"
#include "os/thread.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define QUEUE     "bench"
#define TAKE_WAIT 5.0

enum {
    JOBS_DEFAULT = 10000,
    JOBS_MAX = 100000000,
    THREADS_DEFAULT = 8,
    THREADS_MAX = 256,
    PAYLOAD_DEFAULT = 100,
    PAYLOAD_MAX = 1 << 20,
    LOOK_MS = 100,
};

struct bench_options {
    int64_t jobs, threads, payload;
};

static const struct option bench_options[] = {
    { .name = "jobs",
      .letter = 'n',
      .type = OPTION_INTEGER,
      .value = "N",
      .offset = offsetof(struct bench_options, jobs),
      .minimum = 1,
      .maximum = JOBS_MAX,
      .summary = "how many lives (10000)" },
    { .name = "threads",
      .letter = 't',
      .type = OPTION_INTEGER,
      .value = "N",
      .offset = offsetof(struct bench_options, threads),
      .minimum = 1,
      .maximum = THREADS_MAX,
      .summary = "how many threads at a time (8)" },
    { .name = "payload",
      .letter = 'p',
      .type = OPTION_INTEGER,
      .value = "BYTES",
      .offset = offsetof(struct bench_options, payload),
      .minimum = 2,
      .maximum = PAYLOAD_MAX,
      .summary = "how much data each job has (100)" },
};

enum step {
    STEP_PUT,
    STEP_TAKE,
    STEP_DONE,
    STEP_LIFE,
    STEP_COUNT,
};

static const char *const step_names[STEP_COUNT] = { "put", "take", "done", "life" };

struct bench {
    struct sluice *queue;
    char *data;
    int64_t jobs;
    double *times[STEP_COUNT]; // in seconds, by the number of the life
    atomic_int_fast64_t begun, ended;
    atomic_bool failed;
    struct sluice_error error; // of the one that set `failed`
};

static enum sluice_status live(struct bench *bench, size_t index, struct sluice_error *error)
{
    struct sluice_job *job = NULL;
    const struct sluice_put_options put =
        SLUICE_PUT(.queue = QUEUE, .klass = "Bench", .data = bench->data);
    double start = steady_now();
    enum sluice_status status = sluice_put(bench->queue, &put, NULL, error);
    double put_end = steady_now();
    status = status ? status : sluice_next(bench->queue, QUEUE, TAKE_WAIT, &job, error);
    double take_end = steady_now();
    status = status ? status : sluice_done(job, NULL, error);
    double end = steady_now();
    sluice_job_free(job);
    bench->times[STEP_PUT][index] = put_end - start;
    bench->times[STEP_TAKE][index] = take_end - put_end;
    bench->times[STEP_DONE][index] = end - take_end;
    bench->times[STEP_LIFE][index] = end - start;
    return status;
}

static void *work(void *context)
{
    struct bench *bench = context;
    while (!atomic_load(&bench->failed)) {
        int_fast64_t index = atomic_fetch_add(&bench->begun, 1);
        struct sluice_error error = { 0 };
        if (index >= bench->jobs) {
            break;
        }
        if (live(bench, (size_t)index, &error) && !atomic_exchange(&bench->failed, true)) {
            bench->error = error;
        }
        atomic_fetch_add(&bench->ended, 1);
    }
    return NULL;
}

static int compare_times(const void *one, const void *other)
{
    double left = *(const double *)one;
    double right = *(const double *)other;
    return (left > right) - (left < right);
}

static double quantile(const struct bench *bench, enum step step, double share)
{
    return bench->times[step][(size_t)(share * (double)(bench->jobs - 1))];
}

static void show_people(const struct tool *tool, const struct bench *bench, double seconds)
{
    const struct bench_options *options = tool->options;
    print(stdout, "%lld lives in %.3g s: %.0f a second (threads %lld, payload %lld bytes)\n\n",
          (long long)bench->jobs, seconds, (double)bench->jobs / seconds,
          (long long)(options->threads ? options->threads : THREADS_DEFAULT),
          (long long)(options->payload ? options->payload : PAYLOAD_DEFAULT));
    print(stdout, "STEP        P50       P99       MAX\n");
    for (enum step step = 0; step < STEP_COUNT; step++) {
        char p50[MOMENT_SIZE], p99[MOMENT_SIZE], max[MOMENT_SIZE];
        length_format(quantile(bench, step, 0.5), p50);
        length_format(quantile(bench, step, 0.99), p99);
        length_format(quantile(bench, step, 1), max);
        print(stdout, "%-5s %9s %9s %9s\n", step_names[step], p50, p99, max);
    }
}

static void show_program(const struct bench *bench, double seconds)
{
    print(stdout, "{\"lives\":%lld,\"seconds\":%.6f,\"per_second\":%.1f", (long long)bench->jobs,
          seconds, (double)bench->jobs / seconds);
    for (enum step step = 0; step < STEP_COUNT; step++) {
        print(stdout, ",\"%s\":{\"p50\":%.9f,\"p99\":%.9f,\"max\":%.9f}", step_names[step],
              quantile(bench, step, 0.5), quantile(bench, step, 0.99), quantile(bench, step, 1));
    }
    print(stdout, "}\n");
}

static int run_threads(const struct tool *tool, struct bench *bench, size_t threads)
{
    pthread_t *handles = tool_allocate(threads * sizeof *handles);
    struct progress progress;
    size_t started = 0;
    double start = steady_now();
    while (started < threads && !thread_start(&handles[started], work, bench)) {
        started++;
    }
    if (!started) {
        tool_complain("no thread could be started");
        return EXIT_REFUSED;
    }
    progress_init(&progress, tool);
    while (progress.on && !atomic_load(&bench->failed) &&
           atomic_load(&bench->ended) < bench->jobs) {
        progress_bar(&progress, QUEUE, (double)atomic_load(&bench->ended) / (double)bench->jobs);
        (void)nanosleep(&(struct timespec){ .tv_nsec = LOOK_MS * 1000000L }, NULL);
    }
    for (size_t i = 0; i < started; i++) {
        pthread_join(handles[i], NULL);
    }
    progress_end(&progress);
    double seconds = steady_now() - start;
    if (atomic_load(&bench->failed)) {
        return tool_refuse(&bench->error);
    }
    for (enum step step = 0; step < STEP_COUNT; step++) {
        qsort(bench->times[step], (size_t)bench->jobs, sizeof(double), compare_times);
    }
    if (tool->json) {
        show_program(bench, seconds);
    } else {
        show_people(tool, bench, seconds);
    }
    return EXIT_DONE;
}

// A JSON text of so many bytes.
static char *payload_of(size_t size)
{
    char *data = tool_allocate(size + 1);
    memset(data, 'x', size);
    data[0] = '"';
    data[size - 1] = '"';
    return data;
}

static int remove_namespace(const struct tool *tool, const char *ns)
{
    struct sluice_value *answer;
    const char *items[] = { "Q.NAMESPACE.DELETE", ns };
    int code = words_call(tool, &(struct words){ items, 2 }, &answer);
    sluice_value_free(answer);
    return code;
}

static int bench_run(struct tool *tool)
{
    const struct bench_options *options = tool->options;
    struct bench bench = { .jobs = options->jobs ? options->jobs : JOBS_DEFAULT };
    char *ns = tool_format("bench-%lld-%lld", (long long)getpid(), (long long)time(NULL));
    int code = tool_connect(tool, &SLUICE_OPEN(.ns = ns), &tool->queue);
    if (code) {
        return code;
    }
    bench.queue = tool->queue;
    bench.data = payload_of(options->payload ? (size_t)options->payload : PAYLOAD_DEFAULT);
    for (enum step step = 0; step < STEP_COUNT; step++) {
        bench.times[step] = tool_allocate((size_t)bench.jobs * sizeof(double));
    }
    code = run_threads(tool, &bench, options->threads ? (size_t)options->threads : THREADS_DEFAULT);
    int removed = atomic_load(&bench.ended) ? remove_namespace(tool, ns) : EXIT_DONE;
    return code ? code : removed;
}

static const struct tool_command commands[] = {
    { .name = "bench",
      .group = "Looking after it",
      .arguments = "",
      OPTIONS(bench_options),
      .options_size = sizeof(struct bench_options),
      .run = bench_run,
      .offline = true,
      .makes = true,
      .summary = "Measures how many jobs a second go through their lives",
      .details =
          "A life is a put, a take and a done. The jobs are in a namespace of their own, which is "
          "deleted at the end.",
      .examples = EXAMPLES({ "sluice bench --jobs 100000 --threads 32", NULL }) },
};
const struct tool_set bench_set = SET(commands);
