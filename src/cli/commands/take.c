// SPDX-License-Identifier: MIT
// Taking jobs by hand, and waiting for their end.
#include "cli/commands/finish.h"
#include "cli/core/sets.h"
#include "cli/core/table.h"

#include <string.h>
#include <unistd.h>

enum {
    COUNT_MAX = 1000,
};

struct pop_options {
    double wait;
    int64_t count;
    const char *worker;
    bool round_robin, best;
    double lease;
};

#define TAKER_OPTIONS                                                                              \
    { .name = "worker",                                                                            \
      .type = OPTION_TEXT,                                                                         \
      .value = "NAME",                                                                             \
      .offset = offsetof(struct pop_options, worker),                                              \
      .summary = "who takes them (sluice@HOST)" },                                                 \
    {                                                                                              \
        .name = "lease", .type = OPTION_SECONDS, .value = "SECONDS",                               \
        .offset = offsetof(struct pop_options, lease),                                             \
        .summary = "how long a lease lasts without a heartbeat (as the job or its queue says)"     \
    }

static const struct option take_options[] = { TAKER_OPTIONS };

static const struct option pop_options[] = {
    { .name = "wait",
      .letter = 'w',
      .type = OPTION_WAIT,
      .value = "SECONDS",
      .offset = offsetof(struct pop_options, wait),
      .summary = "how long to wait for the first one when there is none, or forever (0)" },
    { .name = "count",
      .letter = 'n',
      .type = OPTION_INTEGER,
      .value = "N",
      .offset = offsetof(struct pop_options, count),
      .minimum = 1,
      .maximum = COUNT_MAX,
      .summary = "how many at most (1)" },
    TAKER_OPTIONS,
    { .name = "round-robin",
      .type = OPTION_FLAG,
      .offset = offsetof(struct pop_options, round_robin),
      .summary = "one from each queue in turn, not the first queue as long as it has jobs" },
    { .name = "best",
      .type = OPTION_FLAG,
      .offset = offsetof(struct pop_options, best),
      .summary = "of all queues the job with the lowest priority" },
};

static int show_jobs(const struct tool *tool, struct sluice_job *const *jobs, size_t count)
{
    int code = EXIT_DONE;
    if (!tool->json) {
        struct table *table = table_new(tool, "jid klass queue token expires data");
        for (size_t i = 0; i < count; i++) {
            table_add_row(table, sluice_job_value(jobs[i]));
        }
        table_finish(tool, table);
    }
    for (size_t i = 0; tool->json && !code && i < count; i++) {
        code = tool_print_json(sluice_job_value(jobs[i]));
    }
    return code;
}

// The same from one call to the next, so that `sluice workers` does not fill with names.
static char *person(void)
{
    char host[SLUICE_NAME_SIZE / 2] = "";
    (void)gethostname(host, sizeof host - 1);
    return tool_format("sluice@%s", host);
}

static int pop_run(struct tool *tool)
{
    const struct pop_options *options = tool->options;
    size_t wanted = options->count ? (size_t)options->count : 1;
    struct sluice_job **jobs = tool_allocate(wanted * sizeof(struct sluice_job *));
    const struct sluice_take_options take =
        SLUICE_TAKE(.queues = tool->arguments, .wait = options->wait,
                    .round_robin = options->round_robin, .best = options->best,
                    .worker = options->worker ? options->worker : person(),
                    .lease = options->lease);
    size_t count = 0;
    struct sluice_error error = { 0 };
    enum sluice_status status = sluice_take(tool->queue, &take, jobs, wanted, &count, &error);
    if (status == SLUICE_TIMED_OUT || (!status && !count)) {
        tool_complain("there is nothing to pop");
        return EXIT_NOTHING;
    }
    int code = status ? tool_refuse(&error) : show_jobs(tool, jobs, count);
    for (size_t i = 0; i < count; i++) {
        sluice_job_free(jobs[i]);
    }
    return code;
}

static int take_run(struct tool *tool)
{
    const struct pop_options *options = tool->options;
    const struct sluice_take_options take =
        SLUICE_TAKE(.worker = options->worker ? options->worker : person(),
                    .lease = options->lease);
    struct sluice_job *job;
    struct sluice_error error = { 0 };
    enum sluice_status status =
        sluice_take_job(tool->queue, tool->arguments[0], &take, &job, &error);
    if (status) {
        return tool_refuse(&error);
    }
    int code = show_jobs(tool, &job, 1);
    sluice_job_free(job);
    return code;
}

// ---------------------------------------------------------------------------------------------
// Waiting

struct wait_options {
    double wait_for;
};

static const struct option wait_options[] = {
    { .name = "for",
      .type = OPTION_WAIT,
      .value = "SECONDS",
      .offset = offsetof(struct wait_options, wait_for),
      .summary = "how long at most (forever); 0: only looks" },
};

static int show_failure(const char *jid, const struct sluice_value *end)
{
    const char *group = sluice_value_text(sluice_value_get(end, "group"), NULL);
    char *message = value_text(sluice_value_get(end, "message"), NULL);
    tool_complain("job %s has failed: %s: %s", jid, group ? group : "-", message);
    tool_free(message);
    return EXIT_REFUSED;
}

static int show_end(const struct tool *tool, const char *jid, const struct sluice_value *end)
{
    const char *state = sluice_value_text(sluice_value_get(end, "state"), NULL);
    const char *result = sluice_value_text(sluice_value_get(end, "result"), NULL);
    int code = tool->json ? tool_print_json(end) : EXIT_DONE;
    if (code) {
        return code;
    }
    if (!strcmp(state, "complete")) {
        if (!tool->json) {
            print(stdout, "%s\n", result ? result : state);
        }
        return EXIT_DONE;
    }
    if (!strcmp(state, "failed")) {
        return show_failure(jid, end);
    }
    tool_complain("job %s is gone: %s", jid, state);
    return EXIT_NOTHING;
}

int finish_wait(const struct tool *tool, const char *jid, double seconds)
{
    const double wait = tool_given(tool, "for") ? seconds : SLUICE_FOREVER;
    struct sluice_value *end = NULL;
    struct sluice_error error = { 0 };
    enum sluice_status status = sluice_wait(tool->queue, jid, wait, &end, &error);
    if (status == SLUICE_TIMED_OUT) {
        tool_complain("job %s has not finished", jid);
        return EXIT_NOTHING;
    }
    int code = status ? tool_refuse(&error) : show_end(tool, jid, end);
    sluice_value_free(end);
    return code;
}

static int wait_run(struct tool *tool)
{
    const struct wait_options *options = tool->options;
    return finish_wait(tool, tool->arguments[0], options->wait_for);
}

static const struct tool_command commands[] = {
    { .name = "pop",
      .group = "Work",
      .arguments = "QUEUE...",
      MANY,
      OPTIONS(pop_options),
      .options_size = sizeof(struct pop_options),
      .run = pop_run,
      .summary = "Takes jobs out of queues, each under a lease",
      .details =
          "The job is yours until its lease runs out: `sluice complete`, `sluice fail` and "
          "`sluice retry` settle it, `sluice heartbeat` renews the lease. With --json there is "
          "a line for each job. When there is none the exit code is 3.",
      .examples = EXAMPLES({ "sluice pop mail --wait 30s", NULL },
                           { "sluice pop mail reports --count 10 --json", NULL }) },
    { .name = "take",
      .group = "Work",
      .arguments = "JID",
      ONE,
      OPTIONS(take_options),
      .options_size = sizeof(struct pop_options),
      .run = take_run,
      .summary = "Takes a given job out of its turn, under a lease",
      .details =
          "The job must be waiting or stalled; `sluice kick` brings a scheduled or failed one "
          "into line. Pauses and limits hold as for pop.",
      .examples = EXAMPLES({ "sluice take ann --lease 10m", NULL }) },
    { .name = "wait",
      .group = "Work",
      .arguments = "JID",
      ONE,
      OPTIONS(wait_options),
      .options_size = sizeof(struct wait_options),
      .run = wait_run,
      .summary = "Waits until a job has finished, and prints its result",
      .details =
          "The exit code is 0 when it is complete, 1 when it has failed, and 3 when it is gone "
          "or the time is over." },
};
const struct tool_set take_set = SET(commands);
