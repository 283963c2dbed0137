// SPDX-License-Identifier: MIT
// Jobs by their ids: what they are, and what they have said.
#include "cli/core/call.h"
#include "cli/core/moment.h"
#include "cli/core/sets.h"
#include "cli/core/table.h"

#include <string.h>

static int show_job(const struct tool *tool, const struct sluice_value *job, const char *jid)
{
    if (sluice_value_type(job) == SLUICE_NULL) {
        tool_complain("there is no job %s", jid);
        return EXIT_NOTHING;
    }
    if (tool->json) {
        return tool_print_json(job);
    }
    table_print_record(tool, job);
    return EXIT_DONE;
}

// Its data as the bytes that it stands for, and nothing else.
static int show_body(const struct sluice_value *job, const char *jid)
{
    const char *data = sluice_value_text(sluice_value_get(job, "data"), NULL);
    if (!data) {
        tool_complain("there is no job %s", jid);
        return EXIT_NOTHING;
    }
    size_t size;
    char *body = data_decode(data, &size);
    (void)fwrite(body, 1, size, stdout);
    tool_free(body);
    return EXIT_DONE;
}

static const struct option get_options[] = {
    { .name = "raw", .type = OPTION_FLAG, .summary = "only the bytes that `put --raw` was given" },
};

static int get_run(struct tool *tool)
{
    struct words words = { 0 };
    bool raw = tool_given(tool, "raw");
    if (raw && tool->argument_count > 1) {
        return tool_misuse(tool, "--raw is for one job");
    }
    words_add(&words, "Q.GET");
    for (size_t i = 0; i < tool->argument_count; i++) {
        words_add(&words, tool->arguments[i]);
    }
    struct sluice_value *jobs;
    int code = words_call(tool, &words, &jobs);
    for (size_t i = 0; i < sluice_value_count(jobs); i++) {
        if (i && !tool->json) {
            print(stdout, "\n");
        }
        int one = raw ? show_body(sluice_value_at(jobs, i), tool->arguments[i])
                      : show_job(tool, sluice_value_at(jobs, i), tool->arguments[i]);
        code = code ? code : one;
    }
    sluice_value_free(jobs);
    return code;
}

// ---------------------------------------------------------------------------------------------
// Logs

#define LOOK_AGAIN 0.5

struct logs_options {
    bool follow;
};

static const struct option logs_options[] = {
    { .name = "follow",
      .letter = 'f',
      .type = OPTION_FLAG,
      .offset = offsetof(struct logs_options, follow),
      .summary = "goes on until the job has finished" },
};

static int show_line(const struct tool *tool, const struct sluice_value *line)
{
    if (tool->json) {
        return tool_print_json(line);
    }
    char when[MOMENT_SIZE];
    moment_format(sluice_value_number(sluice_value_get(line, "when")), when);
    char *text = value_text(sluice_value_get(line, "line"), NULL);
    print(stdout, "%s  %s\n", when, text);
    tool_free(text);
    return EXIT_DONE;
}

// How many of the last lines were shown before. Old lines may have gone since, so that it is not
// enough to count them.
static size_t first_new(const struct sluice_value *lines, double last, size_t shown_then)
{
    size_t then = 0;
    for (size_t i = 0; i < sluice_value_count(lines); i++) {
        double when = sluice_value_number(sluice_value_get(sluice_value_at(lines, i), "when"));
        if (when > last || (when >= last && ++then > shown_then)) {
            return i;
        }
    }
    return sluice_value_count(lines);
}

struct shown {
    double last; // when the last line that was shown was logged
    size_t then; // how many lines of that moment were shown
};

static int show_lines(const struct tool *tool, struct shown *shown)
{
    struct words words = { 0 };
    words_add(&words, "Q.LOGS");
    words_add(&words, tool->arguments[0]);
    struct sluice_value *lines;
    int code = words_call(tool, &words, &lines);
    for (size_t i = first_new(lines, shown->last, shown->then);
         !code && i < sluice_value_count(lines); i++) {
        const struct sluice_value *line = sluice_value_at(lines, i);
        double when = sluice_value_number(sluice_value_get(line, "when"));
        shown->then = when > shown->last ? 1 : shown->then + 1;
        shown->last = when;
        code = show_line(tool, line);
    }
    (void)fflush(stdout);
    sluice_value_free(lines);
    tool_free(words.items);
    return code;
}

static int logs_run(struct tool *tool)
{
    const struct logs_options *options = tool->options;
    struct shown shown = { 0 };
    int code = show_lines(tool, &shown);
    while (!code && options->follow) {
        struct sluice_error error = { 0 };
        struct sluice_value *end = NULL;
        enum sluice_status status =
            sluice_wait(tool->queue, tool->arguments[0], LOOK_AGAIN, &end, &error);
        sluice_value_free(end);
        if (status && status != SLUICE_TIMED_OUT) {
            return tool_refuse(&error);
        }
        code = show_lines(tool, &shown);
        if (!status) {
            break;
        }
    }
    return code;
}

static const struct tool_command commands[] = {
    { .name = "get",
      .group = "Jobs",
      .arguments = "JID...",
      MANY,
      OPTIONS(get_options),
      .run = get_run,
      .summary = "Shows jobs",
      .details = "With --json there is a line for each job." },
    { .name = "logs",
      .group = "Jobs",
      .arguments = "JID",
      ONE,
      OPTIONS(logs_options),
      .options_size = sizeof(struct logs_options),
      .run = logs_run,
      .summary = "Shows the lines that a job's workers have logged" },
};
const struct tool_set job_set = SET(commands);
