// SPDX-License-Identifier: MIT
#include "cli/call.h"
#include "cli/progress.h"
#include "cli/sets.h"

// It takes as long as it takes.
static int backup_run(struct tool *tool)
{
    static const struct call done = { .form = CALL_SAID, .said = "backed up to" };
    struct sluice_error error = { 0 };
    if (tool_open(tool, &(struct sluice_options){ .timeout = SLUICE_FOREVER }, &tool->queue,
                  &error)) {
        return tool_refuse(&error);
    }
    struct words words = { 0 };
    words_add(&words, "Q.BACKUP");
    words_add(&words, tool->arguments[0]);
    struct sluice_value *answer;
    struct stopwatch *stopwatch = stopwatch_start(tool, "backing up");
    enum sluice_status status =
        sluice_call(tool->queue, words.items, NULL, words.count, &answer, &error);
    stopwatch_stop(stopwatch);
    int code = status ? tool_refuse(&error) : call_show(tool, &done, answer);
    sluice_value_free(status ? NULL : answer);
    return code;
}

static const struct tool_command commands[] = {
    { .name = "backup",
      .group = "Looking after it",
      .arguments = "PATH",
      ONE,
      .run = backup_run,
      .offline = true,
      .summary = "Makes a copy of all that is stored, while the server goes on",
      .details =
          "PATH is a folder on the server's machine that is not there yet: an absolute path. It "
          "can be opened as a store, by a server or with --url file:PATH.",
      .examples = EXAMPLES({ "sluice backup /var/backups/sluice-1", NULL }) },
};
const struct tool_set backup_set = SET(commands);
