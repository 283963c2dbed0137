// SPDX-License-Identifier: MIT
// The jobs of queues, whatever state they are in, and the recurring ones.
#include "cli/commands/walk.h"
#include "cli/core/absent.h"
#include "cli/core/sets.h"
#include "cli/core/table.h"

#include <stdint.h>
#include <string.h>

struct jobs_options {
    const char *state;
    int64_t offset, count;
};

enum {
    COUNT_DEFAULT = 25,
};

static const struct option jobs_options[] = {
    { .name = "state",
      .letter = 's',
      .type = OPTION_TEXT,
      .value = "STATE",
      .offset = offsetof(struct jobs_options, state),
      .choices = walk_states,
      .summary = "only those in that state (all that are in a queue)" },
    { .name = "offset",
      .letter = 'o',
      .type = OPTION_INTEGER,
      .value = "N",
      .offset = offsetof(struct jobs_options, offset),
      .maximum = INT64_MAX,
      .summary = "how many of the first to leave out (0)" },
    { .name = "count",
      .letter = 'n',
      .type = OPTION_INTEGER,
      .value = "N",
      .offset = offsetof(struct jobs_options, count),
      .minimum = 1,
      .maximum = INT64_MAX,
      .summary = "how many at most (25)" },
};

struct listing {
    const struct tool *tool;
    struct table *table; // NULL: lines of JSON
    int64_t shown;
};

static int list_page(void *context, const struct sluice_value *jobs)
{
    struct listing *listing = context;
    int code = EXIT_DONE;
    for (size_t i = 0; !code && i < sluice_value_count(jobs); i++) {
        const struct sluice_value *job = sluice_value_at(jobs, i);
        listing->shown++;
        if (listing->table) {
            table_add_row(listing->table, job);
        } else {
            code = tool_print_json(job);
        }
    }
    return code;
}

static int jobs_end(const struct tool *tool, const struct listing *listing, int64_t total)
{
    const struct jobs_options *options = tool->options;
    int64_t end = options->offset + listing->shown;
    if (!listing->shown) {
        int code = absent_check(tool, tool->argument_count ? tool->arguments[0] : NULL);
        if (code) {
            return code;
        }
        tool_complain("there are no such jobs");
    } else if (!tool->json && end < total) {
        tool_complain("%lld of %lld shown; --offset %lld shows the next", (long long)listing->shown,
                      (long long)total, (long long)end);
    }
    return EXIT_DONE;
}

static int jobs_run(struct tool *tool)
{
    const struct jobs_options *options = tool->options;
    struct listing listing = { .tool = tool,
                               .table = tool->json ? NULL : table_new(tool, JOB_COLUMNS) };
    struct walk walk = { .tool = tool,
                         .queue = tool->argument_count ? tool->arguments[0] : NULL,
                         .state = options->state,
                         .offset = options->offset,
                         .count = options->count ? options->count : COUNT_DEFAULT,
                         .page = list_page,
                         .context = &listing };
    int code = walk_jobs(&walk);
    if (listing.table) {
        table_finish(tool, listing.table);
    }
    return code ? code : jobs_end(tool, &listing, walk.total);
}

static int recur_list_run(struct tool *tool)
{
    struct listing listing = {
        .tool = tool,
        .table = tool->json
                     ? NULL
                     : table_new(tool, "jid queue klass interval cron zone next count data")
    };
    struct walk walk = { .tool = tool,
                         .queue = tool->argument_count ? tool->arguments[0] : NULL,
                         .count = INT64_MAX,
                         .page = list_page,
                         .context = &listing };
    int code = walk_recurring(&walk);
    if (listing.table) {
        table_finish(tool, listing.table);
    }
    if (!code && !listing.shown) {
        code = absent_check(tool, tool->argument_count ? tool->arguments[0] : NULL);
        if (!code) {
            tool_complain("there are no recurring jobs");
        }
    }
    return code;
}

static const struct tool_command commands[] = {
    { .name = "jobs",
      .group = "Queues",
      .arguments = "[QUEUE]",
      .arguments_max = 1,
      OPTIONS(jobs_options),
      .options_size = sizeof(struct jobs_options),
      .run = jobs_run,
      .summary = "Lists jobs, of a queue or of all, by their state",
      .details =
          "Complete and failed jobs are listed by the queue that they finished in, the newest "
          "first. With --json there is a line for each job.",
      .examples = EXAMPLES({ "sluice jobs mail --state running", NULL }) },
    { .name = "recur list",
      .group = "Queues",
      .arguments = "[QUEUE]",
      .arguments_max = 1,
      .run = recur_list_run,
      .summary = "Lists the recurring jobs, of a queue or of all",
      .details = "With --json there is a line for each.",
      .primary = true },
};
const struct tool_set queue_set = SET(commands);
