// SPDX-License-Identifier: MIT
// A program that runs a pool as it is told, for test_pool.py:
//
//     client_pool ADDRESS '{"queues": ["q"], "concurrency": 2, "grace": 1}'
//
// It prints a line of JSON for what its handlers see, and one at the end. Its standard input takes
// lines of JSON meanwhile: ["go"] lets handlers end that wait for it, ["stop"] stops the pool, and
// everything else is a command of the queue, whose answer is printed.
#include <sluice/pool.h>

#include <jansson.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    QUEUES_MAX = 8,
    WORDS_MAX = 32,
};

static struct sluice *queue;
static struct sluice_pool *pool;
static pthread_mutex_t output_mutex = PTHREAD_MUTEX_INITIALIZER;
static atomic_uint go, together;

static void say(json_t *line)
{
    char *text = json_dumps(line, JSON_COMPACT);
    pthread_mutex_lock(&output_mutex);
    (void)puts(text);
    (void)fflush(stdout);
    pthread_mutex_unlock(&output_mutex);
    free(text);
    json_decref(line);
}

static void rest(void)
{
    const struct timespec pause = { .tv_nsec = 2000000 };
    (void)nanosleep(&pause, NULL);
}

// ---------------------------------------------------------------------------------------------
// Handlers

static void echo(void *context, struct sluice_job *job, struct sluice_run *run)
{
    (void)context;
    sluice_run_fail(run, "first", "the last call counts");
    sluice_run_done(run, sluice_job_data(job));
}

static void quiet(void *context, struct sluice_job *job, struct sluice_run *run)
{
    (void)context;
    (void)job;
    (void)run;
}

static void fail(void *context, struct sluice_job *job, struct sluice_run *run)
{
    (void)job;
    sluice_run_fail(run, context, "why");
}

static void retry(void *context, struct sluice_job *job, struct sluice_run *run)
{
    (void)context;
    (void)job;
    sluice_run_retry(run, 1000, "group", "later");
}

// Tries again at once, or is given back, until its third attempt.
static void again(void *context, struct sluice_job *job, struct sluice_run *run)
{
    if (sluice_job_attempts(job) < 3 && context) {
        sluice_run_return(run);
    } else if (sluice_job_attempts(job) < 3) {
        sluice_run_retry(run, 0, NULL, NULL);
    }
}

static void bad(void *context, struct sluice_job *job, struct sluice_run *run)
{
    (void)context;
    (void)job;
    sluice_run_done(run, "this is no JSON");
}

// Waits until as many run at the same time as its data says.
static void meet(void *context, struct sluice_job *job, struct sluice_run *run)
{
    (void)context;
    (void)run;
    unsigned count = (unsigned)strtoul(sluice_job_data(job), NULL, 10);
    atomic_fetch_add(&together, 1);
    while (atomic_load(&together) < count) {
        rest();
    }
}

static void renewed(void *context, struct sluice_job *job, struct sluice_run *run)
{
    (void)context;
    (void)run;
    double before = sluice_job_expires(job);
    while (sluice_job_expires(job) < before + 1 && !sluice_job_lost(job)) {
        rest();
    }
}

static const char *loss_of(enum sluice_loss why)
{
    static const char *const losses[] = { "kept", "lost", "canceled", "returned" };
    return losses[why];
}

// Waits for what its data names: "go", "lost", "draining" or "never".
static void hold(void *context, struct sluice_job *job, struct sluice_run *run)
{
    (void)context;
    const char *until = sluice_job_data(job);
    unsigned gone = atomic_load(&go);
    say(json_pack("{s:s, s:s}", "event", "running", "jid", sluice_job_jid(job)));
    bool over = false;
    while (!over) {
        rest();
        over = (strcmp(until, "\"go\"") == 0 && atomic_load(&go) != gone) ||
               (strcmp(until, "\"lost\"") == 0 && sluice_job_lost(job)) ||
               (strcmp(until, "\"draining\"") == 0 && sluice_run_draining(run));
    }
    say(json_pack("{s:s, s:s, s:s, s:b}", "event", "ended", "jid", sluice_job_jid(job), "lost",
                  loss_of(sluice_job_lost(job)), "draining", sluice_run_draining(run)));
}

static void lost(void *context, struct sluice_job *job, enum sluice_loss why)
{
    (void)context;
    say(json_pack("{s:s, s:s, s:s}", "event", "lost", "jid", sluice_job_jid(job), "why",
                  loss_of(why)));
}

static char group[] = "group", back[] = "back";

static const struct sluice_handler handlers[] = {
    { .klass = "echo", .run = echo },
    { .klass = "quiet", .run = quiet },
    { .klass = "fail", .run = fail, .context = group },
    { .klass = "retry", .run = retry },
    { .klass = "again", .run = again },
    { .klass = "back", .run = again, .context = back },
    { .klass = "bad", .run = bad },
    { .klass = "meet", .run = meet },
    { .klass = "renewed", .run = renewed },
    { .klass = "hold", .run = hold, .lost = lost },
};

// ---------------------------------------------------------------------------------------------

static void answer(const json_t *words)
{
    const char *texts[WORDS_MAX];
    struct sluice_value *value;
    struct sluice_error error;
    size_t count = json_array_size(words);
    for (size_t i = 0; i < count && i < WORDS_MAX; i++) {
        texts[i] = json_string_value(json_array_get(words, i));
    }
    enum sluice_status status = sluice_call(queue, texts, NULL, count, &value, &error);
    char *text = sluice_value_json(value);
    json_t *json = status ? json_string(error.message) : json_loads(text, JSON_DECODE_ANY, NULL);
    say(json_pack("{s:s, s:s, s:o}", "event", "answer", "status", sluice_status_name(status),
                  "value", json));
    sluice_free(text);
    sluice_value_free(value);
}

static void *read_lines(void *context)
{
    char *line = NULL;
    size_t capacity = 0;
    (void)context;
    while (getline(&line, &capacity, stdin) > 0) {
        json_t *words = json_loads(line, 0, NULL);
        const char *first = json_string_value(json_array_get(words, 0));
        if (first && strcmp(first, "go") == 0) {
            atomic_fetch_add(&go, 1);
        } else if (first && strcmp(first, "stop") == 0) {
            sluice_pool_stop(pool);
        } else if (first) {
            answer(words);
        }
        json_decref(words);
    }
    free(line);
    return NULL;
}

static void log_sentence(void *context, enum sluice_log_level level, const char *sentence)
{
    (void)context;
    (void)level;
    say(json_pack("{s:s, s:s}", "event", "log", "sentence", sentence));
}

static struct sluice_pool_new_options options_of(const json_t *given, const char **queues)
{
    const json_t *names = json_object_get(given, "queues");
    for (size_t i = 0; i < json_array_size(names); i++) {
        queues[i] = json_string_value(json_array_get(names, i));
    }
    struct sluice_pool_new_options options =
        SLUICE_POOL_NEW(.queues = queues, .handlers = handlers,
                        .handler_count = sizeof(handlers) / sizeof(handlers[0]),
                        .concurrency = json_integer_value(json_object_get(given, "concurrency")),
                        .grace = json_number_value(json_object_get(given, "grace")),
                        .idle = json_number_value(json_object_get(given, "idle")),
                        .round_robin = json_is_true(json_object_get(given, "round_robin")),
                        .best = json_is_true(json_object_get(given, "best")),
                        .no_signals = json_is_true(json_object_get(given, "no_signals")));
    if (json_is_true(json_object_get(given, "no_grace"))) {
        options.grace = (double)SLUICE_ZERO;
    }
    return options;
}

static void say_end(enum sluice_status status, const struct sluice_pool_tally *tally,
                    const struct sluice_error *error)
{
    say(json_pack("{s:s, s:s, s:s, s:{s:I, s:I, s:I, s:I, s:I, s:I}}", "event", "over", "status",
                  sluice_status_name(status), "message", status ? error->message : "", "tally",
                  "done", (json_int_t)tally->done, "failed", (json_int_t)tally->failed, "retried",
                  (json_int_t)tally->retried, "returned", (json_int_t)tally->returned, "lost",
                  (json_int_t)tally->lost, "unsettled", (json_int_t)tally->unsettled));
}

int main(int argc, char **argv)
{
    const char *queues[QUEUES_MAX + 1] = { NULL };
    struct sluice_error error;
    struct sluice_pool_tally tally = { 0 };
    pthread_t reader;
    json_t *given = argc == 3 ? json_loads(argv[2], 0, NULL) : NULL;
    const struct sluice_open_options open =
        SLUICE_OPEN(.worker = "pool", .log = log_sentence,
                    .timeout = json_number_value(json_object_get(given, "timeout")));
    if (!given || sluice_open(argv[1], &open, &queue, &error)) {
        return 2;
    }
    const struct sluice_pool_new_options options = options_of(given, queues);
    enum sluice_status status = sluice_pool_new(queue, &options, &pool, &error);
    bool made = !status;
    if (made && pthread_create(&reader, NULL, read_lines, NULL)) {
        return 2;
    }
    if (made) {
        status = sluice_pool_run(pool, &tally, &error);
    }
    say_end(status, &tally, &error);
    if (made) {
        (void)pthread_join(reader, NULL); // the test has closed it, or ends us with a signal
    }
    if (status == SLUICE_BUSY) {
        _exit(0); // a handler still runs
    }
    sluice_pool_free(pool);
    sluice_close(queue);
    json_decref(given);
    return !made;
}
