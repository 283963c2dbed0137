// SPDX-License-Identifier: MIT
// A namespace out of a queue into a file, and back.
#include "cli/commands/items.h"
#include "cli/commands/lines.h"
#include "cli/core/absent.h"
#include "cli/core/call.h"
#include "cli/core/progress.h"
#include "cli/core/sets.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct import_options {
    int64_t from;
    bool dry_run;
};

static const struct option import_options[] = {
    { .name = "from",
      .type = OPTION_INTEGER,
      .value = "LINE",
      .offset = offsetof(struct import_options, from),
      .minimum = 1,
      .maximum = INT64_MAX,
      .summary = "the first line that counts (1)" },
    { .name = "dry-run",
      .letter = 'n',
      .type = OPTION_FLAG,
      .offset = offsetof(struct import_options, dry_run),
      .summary = "change nothing, and say what would not fit" },
};

static int import_file(struct tool *tool, FILE *file, const char *name)
{
    const struct import_options *options = tool->options;
    char *first = NULL;
    size_t room = 0;
    int code;
    if (getline(&first, &room, file) < 0) {
        free(first);
        first = NULL;
    }
    if (first && items_begin(first)) {
        const struct items_options items = { .file = file,
                                             .name = name,
                                             .first = first,
                                             .from = options->from,
                                             .dry_run = options->dry_run };
        code = items_import(tool, &items);
    } else if (options->dry_run) {
        code = tool_misuse(tool, "--dry-run is for files that `sluice export` wrote");
    } else {
        const struct lines_options lines = { .file = file,
                                             .name = name,
                                             .first = first,
                                             .from = options->from,
                                             .keep_existing = true,
                                             .quiet = true };
        code = lines_put(tool, &lines);
    }
    free(first);
    return code;
}

static int import_run(struct tool *tool)
{
    const char *name = tool->arguments[0];
    bool standard = !strcmp(name, "-");
    FILE *file = standard ? stdin : fopen(name, "re");
    if (!file) {
        tool_complain("%s cannot be read: %s", name, strerror(errno));
        return EXIT_USAGE;
    }
    int code = import_file(tool, file, standard ? "standard input" : name);
    if (!standard) {
        (void)fclose(file);
    }
    return code;
}

// ---------------------------------------------------------------------------------------------
// Export

static int ask_page(const struct tool *tool, const char *cursor, struct sluice_value **page)
{
    struct words words = { 0 };
    words_add_all(&words, "Q.DUMP COUNT 1000");
    if (tool->argument_count) {
        words_add(&words, "QUEUE");
        words_add(&words, tool->arguments[0]);
    }
    if (cursor) {
        words_add(&words, "CURSOR");
        words_add(&words, cursor);
    }
    int code = words_call(tool, &words, page);
    tool_free(words.items);
    return code;
}

static size_t write_items(const struct sluice_value *items)
{
    size_t count = sluice_value_count(items);
    for (size_t i = 0; i < count; i++) {
        size_t size;
        const char *text = sluice_value_text(sluice_value_at(items, i), &size);
        (void)fwrite(text, 1, size, stdout);
        print(stdout, "\n");
    }
    return count;
}

static int export_run(struct tool *tool)
{
    struct progress progress;
    char *cursor = NULL;
    long long written = 0, first = 0, last = 0;
    bool begun = false, more = true;
    int code = absent_check(tool, NULL);
    progress_init(&progress, tool);
    while (!code && more) {
        struct sluice_value *page = NULL;
        code = ask_page(tool, cursor, &page);
        written += (long long)write_items(sluice_value_get(page, "items"));
        last = sluice_value_integer(sluice_value_get(page, "changes"));
        first = begun ? first : last;
        begun = true;
        const char *next = sluice_value_text(sluice_value_get(page, "next"), NULL);
        more = next != NULL;
        tool_free(cursor);
        cursor = more ? tool_copy(next, strlen(next)) : NULL;
        progress_show(&progress, "%lld lines", written);
        sluice_value_free(page);
        more = more && !ferror(stdout); // which is told at the end
    }
    progress_end(&progress);
    tool_free(cursor);
    if (!code && tool->argument_count && written <= 1) { // the line of the namespace
        code = absent_check(tool, tool->arguments[0]);
    }
    if (!code && first != last && !ferror(stdout)) {
        tool_complain("%lld changes of jobs while they were exported: jobs that moved may be "
                      "missing; `sluice help export` says how to get an exact copy",
                      last - first);
        return EXIT_REFUSED;
    }
    return code;
}

static const struct tool_command commands[] = {
    { .name = "import",
      .group = "Looking after it",
      .arguments = "FILE",
      ONE,
      OPTIONS(import_options),
      .options_size = sizeof(struct import_options),
      .run = import_run,
      .makes = true,
      .summary = "Restores what was exported, or puts jobs from a file, a line of JSON each",
      .details =
          "A file that `sluice export` wrote is restored: jobs with their state and their past, "
          "recurring jobs, settings. docs/export.md describes the lines. Otherwise the lines are "
          "as "
          "in `sluice put --bulk`; - is standard input.\n\n"
          "What is there already is left as it is, so that an import that was ended in between can "
          "simply be done again; jobs that are put without a jid would be there twice, and --from "
          "goes on behind the line that was said. Workers should start when the import is "
          "done.\n\n"
          "--dry-run lists what would be refused, what is there already and which limits are too "
          "low for all of it.",
      .examples = EXAMPLES({ "sluice --ns app export | sluice --ns copy import -", NULL },
                           { "sluice import app.jsonl --dry-run", NULL }) },
    { .name = "export",
      .group = "Looking after it",
      .arguments = "[QUEUE]",
      .arguments_max = 1,
      .run = export_run,
      .summary = "Writes a namespace, or a queue of it, to standard output, for import",
      .details =
          "A line of JSON for each thing: all jobs with their state and their past, recurring "
          "jobs, queues, tracked jobs, options, limits and policies. A running job is written as "
          "stalled: its lease stays behind. Not written are statistics, workers, bulk operations "
          "and pushes.\n\n"
          "The server goes on meanwhile. Jobs that move then may be missing or be written twice; "
          "export says so and ends with 1. For an exact copy of a server that is in use, export "
          "from a backup of it: `sluice backup copy`, then `sluice --url file:copy export`.",
      .examples = EXAMPLES({ "sluice export >app.jsonl", NULL },
                           { "sluice export mail >mail.jsonl", NULL }) },
};
const struct tool_set transfer_set = SET(commands);
