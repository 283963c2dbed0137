// SPDX-License-Identifier: MIT
// Jobs out of a queue into a file, and back.
#include "cli/call.h"
#include "cli/json.h"
#include "cli/lines.h"
#include "cli/progress.h"
#include "cli/sets.h"
#include "cli/table.h"
#include "cli/walk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct import_options {
    int64_t from;
};

static const struct option import_options[] = {
    { .name = "from",
      .type = OPTION_INTEGER,
      .value = "LINE",
      .offset = offsetof(struct import_options, from),
      .minimum = 1,
      .maximum = INT64_MAX,
      .summary = "the first line that counts (1)" },
};

static int import_run(struct tool *tool)
{
    const struct import_options *options = tool->options;
    const char *name = tool->arguments[0];
    bool standard = !strcmp(name, "-");
    FILE *file = standard ? stdin : fopen(name, "re");
    if (!file) {
        tool_complain("%s cannot be read: %s", name, strerror(errno));
        return EXIT_USAGE;
    }
    const struct lines_options lines = { .file = file,
                                         .name = standard ? "standard input" : name,
                                         .from = options->from,
                                         .keep_existing = true,
                                         .quiet = true };
    int code = lines_put(tool, &lines);
    if (!standard) {
        (void)fclose(file);
    }
    return code;
}

// ---------------------------------------------------------------------------------------------
// Export

struct export_options {
    bool failed;
};

static const struct option export_options[] = {
    { .name = "failed",
      .type = OPTION_FLAG,
      .offset = offsetof(struct export_options, failed),
      .summary = "also jobs that have failed" },
};

struct exporting {
    const struct tool *tool;
    const char *queue;
    struct progress progress;
    int64_t count;
};

// What a job has and a put takes: as it stands when it is worth saying.
static int write_field(const char *key, const struct sluice_value *value)
{
    enum sluice_type type = sluice_value_type(value);
    if (type == SLUICE_NULL || (type == SLUICE_LIST && !sluice_value_count(value))) {
        return EXIT_DONE;
    }
    char *json = sluice_value_json(value);
    if (!json) {
        tool_complain("out of memory");
        return EXIT_REFUSED;
    }
    print(stdout, ",");
    json_write_text(stdout, key);
    print(stdout, ":%s", json);
    free(json);
    return EXIT_DONE;
}

static int write_options(const struct exporting *exporting, const char *jid)
{
    struct words words = { 0 };
    struct sluice_value *options;
    words_add(&words, "Q.OPTIONS");
    words_add(&words, jid);
    int code = words_call(exporting->tool, &words, &options);
    const struct sluice_value *given = sluice_value_get(options, "given");
    for (size_t i = 0; !code && i < sluice_value_count(given); i++) {
        code = write_field(sluice_value_key(given, i), sluice_value_at(given, i));
    }
    sluice_value_free(options);
    tool_free(words.items);
    return code;
}

static int write_unique(const struct sluice_value *job)
{
    const char *by = sluice_value_text(value_at(job, "unique/by"), NULL);
    if (by && !strcmp(by, "contents")) {
        print(stdout, ",\"unique-contents\":true");
        return EXIT_DONE;
    }
    return write_field("unique", value_at(job, "unique/key"));
}

static int write_job(const struct exporting *exporting, const struct sluice_value *job)
{
    static const struct {
        const char *key, *field;
    } fields[] = {
        { "queue", "queue" },     { "klass", "klass" },   { "priority", "priority" },
        { "retries", "retries" }, { "at", "scheduled" },  { "tags", "tags" },
        { "depends", "depends" }, { "domain", "domain" }, { "deadline", "deadline" },
    };
    const char *jid = sluice_value_text(sluice_value_get(job, "jid"), NULL);
    const char *data = sluice_value_text(sluice_value_get(job, "data"), NULL);
    int code = EXIT_DONE;
    print(stdout, "{\"jid\":");
    json_write_text(stdout, jid);
    for (size_t i = 0; !code && i < sizeof fields / sizeof *fields; i++) {
        code = write_field(fields[i].key, sluice_value_get(job, fields[i].field));
    }
    code = code ? code : write_options(exporting, jid);
    code = code ? code : write_unique(job);
    print(stdout, ",\"data\":%s}\n", data ? data : "{}");
    return code;
}

static int export_page(void *context, const struct sluice_value *jobs)
{
    struct exporting *exporting = context;
    int code = EXIT_DONE;
    for (size_t i = 0; !code && i < sluice_value_count(jobs); i++) {
        const struct sluice_value *job = sluice_value_at(jobs, i);
        const char *queue = sluice_value_text(sluice_value_get(job, "queue"), NULL);
        if (exporting->queue && queue && strcmp(queue, exporting->queue) != 0) {
            continue;
        }
        code = write_job(exporting, job);
        exporting->count++;
        progress_show(&exporting->progress, "%lld jobs", (long long)exporting->count);
    }
    return code;
}

static int export_run(struct tool *tool)
{
    const struct export_options *options = tool->options;
    struct exporting exporting = { .tool = tool,
                                   .queue = tool->argument_count ? tool->arguments[0] : NULL };
    struct walk walk = { .tool = tool,
                         .queue = exporting.queue,
                         .failed = options->failed,
                         .count = INT64_MAX,
                         .page = export_page,
                         .context = &exporting };
    progress_init(&exporting.progress, tool);
    int code = walk_jobs(&walk);
    progress_end(&exporting.progress);
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
      .summary = "Puts jobs from a file, a line of JSON each",
      .details =
          "The lines are as in `sluice put --bulk` and as `sluice export` writes them; - is "
          "standard "
          "input. A job whose jid is there already is left as it is, so that an import that was "
          "ended in between can simply be done again; jobs without a jid would be there twice, and "
          "--from goes on behind the line that was said." },
    { .name = "export",
      .group = "Looking after it",
      .arguments = "[QUEUE]",
      .arguments_max = 1,
      OPTIONS(export_options),
      .options_size = sizeof(struct export_options),
      .run = export_run,
      .summary = "Writes the jobs of a queue or of all to standard output, for import",
      .details = "Jobs that are complete are left out. What workers do meanwhile may make a job "
                 "appear twice or not at all: pause the queue first, or stop the workers.",
      .examples = EXAMPLES({ "sluice export mail >mail.jsonl", NULL }) },
};
const struct tool_set transfer_set = SET(commands);
