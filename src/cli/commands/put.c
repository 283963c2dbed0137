// SPDX-License-Identifier: MIT
#include "cli/commands/finish.h"
#include "cli/commands/lines.h"
#include "cli/commands/put_options.h"
#include "cli/core/call.h"
#include "cli/core/json.h"
#include "cli/core/sets.h"

static int put_bulk(struct tool *tool)
{
    if (tool->argument_count) {
        return tool_misuse(tool,
                           "with --bulk the jobs come from standard input, not from arguments");
    }
    const struct lines_options options = { .file = stdin, .name = "standard input" };
    return lines_put(tool, &options);
}

static int put_one(const struct tool *tool, const struct put_options *options)
{
    char jid[SLUICE_NAME_SIZE];
    struct sluice_error error = { 0 };
    if (sluice_put(tool->queue, &options->put, jid, &error)) {
        return tool_refuse(&error);
    }
    if (options->wait) {
        return finish_wait(tool, jid, options->wait_for);
    }
    if (tool->json) {
        print(stdout, "{\"jid\":");
        json_write_text(stdout, jid);
        print(stdout, "}\n");
    } else {
        print(stdout, "%s\n", jid);
    }
    return EXIT_DONE;
}

static int put_run(struct tool *tool)
{
    struct put_options options = *(const struct put_options *)tool->options;
    if (options.bulk && options.raw) {
        return tool_misuse(tool, "--bulk and --raw do not go together");
    }
    if (options.bulk) {
        return put_bulk(tool);
    }
    if (tool->argument_count < 2) {
        return tool_misuse(tool, "put needs QUEUE KLASS [DATA]");
    }
    options.put.queue = tool->arguments[0];
    options.put.klass = tool->arguments[1];
    if (options.raw && tool->argument_count < 3) {
        return tool_misuse(tool, "--raw needs DATA");
    }
    options.put.data = options.raw                ? data_read_raw(tool->arguments[2])
                       : tool->argument_count > 2 ? data_read(tool->arguments[2])
                                                  : "{}";
    if (!options.put.data) {
        return EXIT_USAGE;
    }
    for (size_t i = 0; i < tool->given_count; i++) {
        put_options_settle(&options, tool->given[i].option);
    }
    put_options_finish(&options);
    return put_one(tool, &options);
}

static const struct tool_command commands[] = {
    { .name = "put",
      .group = "Work",
      .arguments = "QUEUE KLASS [DATA]",
      .arguments_max = 3,
      .options = put_option_table,
      .option_count = PUT_OPTION_COUNT,
      .options_size = sizeof(struct put_options),
      .run = put_run,
      .makes = true,
      .summary = "Puts a job into a queue",
      .details =
          "Prints the job's id. DATA is JSON ({}); - reads it from standard input, @FILE from a "
          "file.\n\n"
          "With --bulk each line of standard input is a job: an object with queue, klass and data, "
          "and the options under their names (tags and depends are lists). What is refused is said "
          "with the number of its line.",
      .examples = EXAMPLES(
          { "sluice put mail Send '{\"to\":\"ann\"}'", NULL },
          { "sluice put reports Daily --delay 2h --retries 3 --tag nightly", NULL },
          { "sluice put mail Send @letter.json --wait", "prints the result" },
          { "sluice put scans Store --raw @page.png", "`sluice work --raw` gets the bytes" },
          { "sluice put --bulk <jobs.jsonl",
            "lines such as {\"queue\":\"mail\",\"klass\":\"Send\",\"data\":{}}" }) },
};
const struct tool_set put_set = SET(commands);
