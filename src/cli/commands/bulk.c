// SPDX-License-Identifier: MIT
// One thing done to all jobs that match, watched until it is done.
#include "cli/core/call.h"
#include "cli/core/progress.h"
#include "cli/core/sets.h"
#include "cli/core/table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BULK_COLUMNS "id act dry-run done stopped began looked-at matched changed"

enum {
    LOOK_MS = 200,
};

static const struct option start_options[] = {
    { .name = "queue",
      .letter = 'q',
      .type = OPTION_TEXT,
      .value = "QUEUE",
      .word = "QUEUE",
      .summary = "only jobs of that queue" },
    { .name = "klass",
      .letter = 'k',
      .type = OPTION_TEXT,
      .value = "KLASS",
      .word = "KLASS",
      .summary = "only jobs of that klass" },
    { .name = "state",
      .letter = 's',
      .type = OPTION_TEXT,
      .value = "STATE",
      .word = "STATE",
      .choices = "scheduled|depends|waiting|running|stalled|complete|failed",
      .summary = "only jobs in that state; may come again" },
    { .name = "group",
      .letter = 'g',
      .type = OPTION_TEXT,
      .value = "GROUP",
      .word = "GROUP",
      .summary = "only jobs that have failed in that group" },
    { .name = "tagged",
      .type = OPTION_TEXT,
      .value = "TAG",
      .word = "TAGGED",
      .summary = "only jobs with that tag" },
    { .name = "worker",
      .type = OPTION_TEXT,
      .value = "NAME",
      .word = "WORKER",
      .summary = "only jobs that the worker holds" },
    { .name = "domain",
      .type = OPTION_TEXT,
      .value = "DOMAIN",
      .word = "DOMAIN",
      .summary = "only jobs of that domain" },
    { .name = "jid",
      .letter = 'j',
      .type = OPTION_TEXT,
      .value = "JID",
      .word = "JID",
      .summary = "only that job; may come again, up to 10,000 times" },
    { .name = "jids",
      .type = OPTION_TEXT,
      .value = "FILE",
      .summary = "only the jobs whose jids are the lines of a file; - is standard input" },
    { .name = "as",
      .type = OPTION_INTEGER,
      .value = "ID",
      .word = "AS",
      .summary = "exactly the jobs that the dry run of that id has found, if they still match" },
    { .name = "older",
      .type = OPTION_SECONDS,
      .value = "SECONDS",
      .word = "OLDER",
      .summary = "only jobs made at least so long ago" },
    { .name = "newer",
      .type = OPTION_SECONDS,
      .value = "SECONDS",
      .word = "NEWER",
      .summary = "only jobs made at most so long ago" },
    { .name = "to",
      .type = OPTION_TEXT,
      .value = "QUEUE",
      .word = "TO",
      .summary = "of move: the queue to move them to" },
    { .name = "tag",
      .letter = 't',
      .type = OPTION_TEXTS,
      .value = "TAG",
      .word = "TAG",
      .summary = "of tag and untag: tags to give or take" },
    { .name = "priority",
      .letter = 'p',
      .type = OPTION_INTEGER,
      .value = "N",
      .word = "PRIORITY",
      .summary = "of priority: the new one" },
    { .name = "dry-run",
      .type = OPTION_FLAG,
      .word = "DRY-RUN",
      .summary = "only counts what would be changed, and says which --as does it" },
    { .name = "background", .type = OPTION_FLAG, .summary = "does not wait until it is done" },
    YES_OPTION,
};

static bool is_done(const struct sluice_value *bulk)
{
    return sluice_value_boolean(sluice_value_get(bulk, "done"));
}

static bool is_stopped(const struct sluice_value *bulk)
{
    return sluice_value_boolean(sluice_value_get(bulk, "stopped"));
}

static int look(const struct tool *tool, struct sluice_value **bulk)
{
    struct words words = { 0 };
    char *id = tool_format("%lld", (long long)sluice_value_integer(sluice_value_get(*bulk, "id")));
    words_add(&words, "Q.BULK.GET");
    words_add(&words, id);
    sluice_value_free(*bulk);
    int code = words_call(tool, &words, bulk);
    tool_free(words.items);
    tool_free(id);
    return code;
}

// Until it is done; Ctrl-C ends the watching, not the work.
static int watch(const struct tool *tool, struct sluice_value **bulk)
{
    struct progress progress;
    int code = EXIT_DONE;
    progress_init(&progress, tool);
    while (!code && !is_done(*bulk)) {
        progress_show(&progress, "%lld looked at, %lld changed",
                      (long long)sluice_value_integer(sluice_value_get(*bulk, "looked-at")),
                      (long long)sluice_value_integer(sluice_value_get(*bulk, "changed")));
        (void)nanosleep(&(struct timespec){ .tv_nsec = LOOK_MS * 1000000L }, NULL);
        code = look(tool, bulk);
    }
    progress_end(&progress);
    return code;
}

static int show_bulk(const struct tool *tool, const struct sluice_value *bulk)
{
    // One that looked at all jobs and found none is told by the exit code, like any other act.
    bool none = is_done(bulk) && !sluice_value_integer(sluice_value_get(bulk, "matched"));
    int end = is_stopped(bulk) ? EXIT_REFUSED : none ? EXIT_NOTHING : EXIT_DONE;
    if (tool->json) {
        int code = tool_print_json(bulk);
        return code ? code : end;
    }
    if (none) {
        tool_complain("no job matches");
        return end;
    }
    bool dry = sluice_value_boolean(sluice_value_get(bulk, "dry-run"));
    print(stdout, "%lld matched, %lld %s%s%s\n",
          (long long)sluice_value_integer(sluice_value_get(bulk, "matched")),
          (long long)sluice_value_integer(sluice_value_get(bulk, "changed")),
          dry ? "would be changed" : "changed",
          dry && sluice_value_boolean(sluice_value_get(bulk, "executable"))
              ? tool_format("; --as %lld changes them",
                            (long long)sluice_value_integer(sluice_value_get(bulk, "id")))
              : "",
          is_stopped(bulk) ? "; stopped before all jobs were looked at"
          : is_done(bulk)  ? ""
                           : "; it goes on");
    return end;
}

static int run_bulk(const struct tool *tool, const struct words *words)
{
    struct sluice_value *bulk;
    int code = words_call(tool, words, &bulk);
    if (!code && !tool_given(tool, "background")) {
        code = watch(tool, &bulk);
    }
    if (!code) {
        code = show_bulk(tool, bulk);
    }
    sluice_value_free(bulk);
    return code;
}

// A jid for each line; an empty file names no job, and not all of them.
static int add_jids(const struct tool *tool, struct words *words, const char *name)
{
    bool standard = !strcmp(name, "-");
    FILE *file = standard ? stdin : fopen(name, "re");
    if (!file) {
        tool_complain("%s cannot be read: %s", name, strerror(errno));
        return EXIT_USAGE;
    }
    char *line = NULL;
    size_t room = 0;
    size_t count = 0;
    for (ssize_t size; (size = getline(&line, &room, file)) >= 0;) {
        line[strcspn(line, "\r\n")] = 0;
        if (*line) {
            words_add(words, "JID");
            words_add(words, tool_copy(line, strlen(line)));
            count++;
        }
    }
    free(line);
    bool failed = ferror(file);
    if (!standard) {
        (void)fclose(file);
    }
    if (failed || !count) {
        (void)tool;
        tool_complain(failed ? "%s cannot be read" : "%s names no job",
                      standard ? "standard input" : name);
        return failed ? EXIT_USAGE : EXIT_NOTHING;
    }
    return EXIT_DONE;
}

static int confirm(const struct tool *tool)
{
    const char *act = tool->arguments[0];
    bool removes = !strcmp(act, "cancel") || !strcmp(act, "delete");
    return removes && !tool_given(tool, "dry-run")
               ? tool_confirm(tool, *act == 'c' ? "Cancel all jobs that match?"
                                                : "Delete all jobs that match?")
               : EXIT_DONE;
}

static int start_run(struct tool *tool)
{
    struct words words = { 0 };
    const char *jids = tool_given(tool, "jids");
    int code = confirm(tool);
    if (code) {
        return code;
    }
    words_add(&words, "Q.BULK");
    words_add(&words, tool->arguments[0]);
    (void)words_add_options(&words, tool); // none of them is a file
    code = jids ? add_jids(tool, &words, jids) : EXIT_DONE;
    return code ? code : run_bulk(tool, &words);
}

// ---------------------------------------------------------------------------------------------
// Unfail

static const struct option unfail_options[] = {
    { .name = "count",
      .letter = 'n',
      .type = OPTION_INTEGER,
      .value = "N",
      .word = "COUNT",
      .summary = "with QUEUE: how many at most, up to 1000 (25)" },
    { .name = "background",
      .type = OPTION_FLAG,
      .summary = "without QUEUE: does not wait until all are back" },
};

static int unfail_run(struct tool *tool)
{
    static const struct call into_queue = { .form = CALL_COUNT,
                                            .said = "put",
                                            .missing = "nothing has failed in that group" };
    struct words words = { 0 };
    if (tool->argument_count < 2) {
        if (tool_given(tool, "count")) {
            return tool_misuse(tool, "--count needs a QUEUE to put them into");
        }
        words_add_all(&words, "Q.BULK retry GROUP");
        words_add(&words, tool->arguments[0]);
        return run_bulk(tool, &words);
    }
    words_add(&words, "Q.UNFAIL");
    words_add(&words, tool->arguments[0]);
    words_add(&words, tool->arguments[1]);
    (void)words_add_options(&words, tool);
    struct sluice_value *answer;
    int code = words_call(tool, &words, &answer);
    code = code ? code : call_show(tool, &into_queue, answer);
    sluice_value_free(answer);
    return code;
}

static const struct tool_command commands[] = {
    { .name = "unfail",
      .group = "Queues",
      .arguments = "GROUP [QUEUE]",
      .arguments_min = 1,
      .arguments_max = 2,
      OPTIONS(unfail_options),
      .run = unfail_run,
      .summary = "Puts jobs that have failed in a group back",
      .details =
          "Without QUEUE all of them go back into the queues that they failed in. Their retries "
          "start anew.",
      .examples = EXAMPLES({ "sluice unfail smtp", NULL },
                           { "sluice unfail smtp mail --count 1", "try one first" }) },
    { .name = "bulk list",
      .group = "Looking after it",
      .arguments = "",
      CALL(.words = "Q.BULKS", .form = CALL_LIST, .columns = BULK_COLUMNS,
           .missing = "there are no operations"),
      .summary = "Lists what is being done to many jobs, and the last hundred that are done",
      .primary = true },
    { .name = "bulk start",
      .group = "Looking after it",
      .arguments = "cancel|retry|move|tag|untag|delete|priority|timeout",
      ONE,
      OPTIONS(start_options),
      .run = start_run,
      .summary = "Does one thing to all jobs that match",
      .details = "cancel: but complete jobs, and jobs that others depend on. retry: failed jobs go "
                 "back into "
                 "the queue that they failed in, scheduled ones are due now. move: jobs that are "
                 "not running "
                 "nor complete go to another queue. delete: complete and failed jobs that no job "
                 "depends on. priority: jobs get another priority. timeout: running jobs lose "
                 "their leases.\n\n"
                 "It waits until all is done; ended with Ctrl-C, the work goes on on a server.",
      .examples =
          EXAMPLES({ "sluice bulk start cancel -q mail --tagged newsletter --dry-run", NULL },
                   { "sluice bulk start cancel --as 12", "exactly what that dry run has found" },
                   { "sluice bulk start move -q mail --klass Send --to outbox", NULL }) },
    { .name = "bulk get",
      .group = "Looking after it",
      .arguments = "ID",
      ONE,
      CALL(.words = "Q.BULK.GET", .form = CALL_RECORD),
      .summary = "Shows how far an operation is" },
    { .name = "bulk stop",
      .group = "Looking after it",
      .arguments = "ID",
      ONE,
      CALL(.words = "Q.BULK.STOP", .form = CALL_SAID, .said = "stopped"),
      .summary = "Ends an operation where it is; what it has done stays done" },
};
const struct tool_set bulk_set = SET(commands);
