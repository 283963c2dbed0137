// SPDX-License-Identifier: MIT
// What happened lately, and on the days of which statistics are kept.
#include "cli/core/call.h"
#include "cli/core/moment.h"
#include "cli/core/sets.h"
#include "cli/core/table.h"

#include <stdlib.h>

enum {
    SERIES_COLUMNS = 11,
};

static const char *const series_paths[SERIES_COLUMNS - 1] = {
    "put",  "popped",        "completed",     "failed",   "retried",
    "lost", "depth/waiting", "depth/running", "wait/p99", "run/p99",
};

static const struct option series_options[] = {
    { .name = "step",
      .letter = 's',
      .type = OPTION_INTEGER,
      .value = "SECONDS",
      .word = "STEP",
      .minimum = 1,
      .maximum = 60,
      .summary = "the length of a period: 1 (the last minute), 15 (a quarter of an hour) or 60 (a "
                 "day) (60)" },
    { .name = "count",
      .letter = 'n',
      .type = OPTION_INTEGER,
      .value = "N",
      .word = "COUNT",
      .minimum = 1,
      .maximum = 1440,
      .summary = "how many periods, the newest (15)" },
};

static char *cell_of(const struct sluice_value *series, const char *path, size_t index)
{
    const struct sluice_value *value = sluice_value_at(value_at(series, path), index);
    return value_text(value, sluice_value_type(value) == SLUICE_NUMBER ? "p99" : NULL);
}

static void show_series(const struct tool *tool, const struct sluice_value *series)
{
    struct table *table = table_new(tool, "FROM put popped completed failed retried lost waiting "
                                          "running WAIT-P99=wait RUN-P99=run");
    size_t count = (size_t)sluice_value_integer(sluice_value_get(series, "count"));
    double from = sluice_value_number(sluice_value_get(series, "from"));
    double step = sluice_value_number(sluice_value_get(series, "step"));
    for (size_t i = 0; i < count; i++) {
        char when[MOMENT_SIZE];
        char *cells[SERIES_COLUMNS] = { when };
        moment_show(from + (double)i * step, tool->times, when);
        for (size_t j = 1; j < SERIES_COLUMNS; j++) {
            cells[j] = cell_of(series, series_paths[j - 1], i);
        }
        table_add_cells(table, cells);
        for (size_t j = 1; j < SERIES_COLUMNS; j++) {
            tool_free(cells[j]);
        }
    }
    table_finish(tool, table);
}

static int series_run(struct tool *tool)
{
    struct words words = { 0 };
    words_add(&words, "Q.SERIES");
    if (tool->argument_count) {
        words_add(&words, "--");
        words_add(&words, tool->arguments[0]);
    }
    if (!tool_given(tool, "step")) {
        words_add_all(&words, "STEP 60");
    }
    if (!tool_given(tool, "count")) {
        words_add_all(&words, "COUNT 15");
    }
    (void)words_add_options(&words, tool); // none of them is a file
    struct sluice_value *series;
    int code = words_call(tool, &words, &series);
    if (!code && tool->json) {
        code = tool_print_json(series);
    } else if (!code) {
        show_series(tool, series);
    }
    sluice_value_free(series);
    return code;
}

static const struct option days_options[] = {
    { .name = "from",
      .type = OPTION_TIME,
      .value = "DATE",
      .word = "FROM",
      .summary = "only that day, in UTC, and later ones" },
    { .name = "count",
      .letter = 'n',
      .type = OPTION_INTEGER,
      .value = "N",
      .word = "COUNT",
      .summary = "how many at most, up to 1000 (100)" },
};

static const struct tool_command commands[] = {
    { .name = "totals",
      .group = "Queues",
      .arguments = "",
      CALL(.words = "Q.TOTALS", .form = CALL_RECORD),
      .summary = "Shows how many jobs the namespace has in each state, and how fast they move" },
    { .name = "series",
      .group = "Queues",
      .arguments = "[QUEUE]",
      .arguments_max = 1,
      OPTIONS(series_options),
      .run = series_run,
      .summary = "Shows what happened lately, period by period",
      .details = "The times are how long jobs waited and ran; 99 of 100 took less.",
      .examples = EXAMPLES({ "sluice series mail --step 1", "the last seconds of a queue" }) },
    { .name = "days",
      .group = "Queues",
      .arguments = "[QUEUE]",
      .arguments_max = 1,
      OPTIONS(days_options),
      CALL(.words = "Q.STATS.DAYS", .form = CALL_LIST, .list = "days",
           .columns = "queue date:d WAITED=wait/count MEAN-WAIT=wait/mean RAN=run/count "
                      "MEAN-RUN=run/mean retries lost_leases failures failed",
           .missing = "there are no statistics"),
      .summary = "Shows how queues did on the days of which statistics are kept" },
};
const struct tool_set measure_call_set = SET(commands);
