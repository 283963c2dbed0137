// SPDX-License-Identifier: MIT
// Jobs by what is in them: a search that the queue makes in the background, watched until it is done.
#include "cli/core/absent.h"
#include "cli/core/call.h"
#include "cli/core/progress.h"
#include "cli/core/sets.h"
#include "cli/core/table.h"

#include <stdlib.h>
#include <time.h>

enum {
    LOOK_MS = 100,
    PAGE_SIZE = 1000, // more are never found
};

struct find_options {
    struct texts words;
    int64_t count;
};

static const struct option find_options[] = {
    { .name = "jid",
      .letter = 'j',
      .type = OPTION_TEXT,
      .value = "TEXT",
      .word = "JID",
      .summary = "only jobs that have it in their jid" },
    { .name = "data",
      .letter = 'd',
      .type = OPTION_TEXT,
      .value = "TEXT",
      .word = "WORD",
      .summary = "only jobs that have it in their data; may come again" },
    { .name = "state",
      .letter = 's',
      .type = OPTION_TEXT,
      .value = "STATE",
      .word = "STATE",
      .choices = "any|waiting|running|stalled|scheduled|depends|complete|failed",
      .summary = "only jobs in that state (any)" },
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
    { .name = "worker",
      .type = OPTION_TEXT,
      .value = "NAME",
      .word = "WORKER",
      .summary = "only jobs that the worker holds" },
    { .name = "tagged",
      .type = OPTION_TEXT,
      .value = "TAG",
      .word = "TAGGED",
      .summary = "only jobs with that tag" },
    { .name = "domain",
      .type = OPTION_TEXT,
      .value = "DOMAIN",
      .word = "DOMAIN",
      .summary = "only jobs of that domain" },
    { .name = "group",
      .letter = 'g',
      .type = OPTION_TEXT,
      .value = "GROUP",
      .word = "GROUP",
      .summary = "only jobs that have failed in that group" },
    { .name = "count",
      .letter = 'n',
      .type = OPTION_INTEGER,
      .value = "N",
      .minimum = 1,
      .maximum = PAGE_SIZE,
      .summary = "how many to show at most (25)" },
};

static int ask(const struct tool *tool, const char *command, int64_t id, const char *count,
               struct sluice_value **out)
{
    char *words = tool_format("%s %lld%s%s", command, (long long)id, count ? " COUNT " : "",
                              count ? count : "");
    int code = call_words(tool, words, out);
    tool_free(words);
    return code;
}

static int64_t figure(const struct sluice_value *search, const char *key)
{
    return sluice_value_integer(sluice_value_get(search, key));
}

static int watch(const struct tool *tool, int64_t id, struct sluice_value **search)
{
    struct progress progress;
    int code = EXIT_DONE;
    progress_init(&progress, tool);
    while (!code && !sluice_value_boolean(sluice_value_get(*search, "done"))) {
        double total = (double)figure(*search, "total");
        progress_bar(&progress, "looking",
                     total > 0 ? (double)figure(*search, "looked-at") / total : 0);
        (void)nanosleep(&(struct timespec){ .tv_nsec = LOOK_MS * 1000000L }, NULL);
        sluice_value_free(*search);
        code = ask(tool, "Q.FIND.GET", id, "0", search);
    }
    progress_end(&progress);
    return code;
}

static int show(const struct tool *tool, const struct sluice_value *search)
{
    const struct sluice_value *jobs = sluice_value_get(search, "jobs");
    struct table *table = table_new(tool, JOB_COLUMNS);
    long long shown = 0;
    int code = EXIT_DONE;
    for (size_t i = 0; !code && i < sluice_value_count(jobs); i++) {
        const struct sluice_value *job = sluice_value_at(jobs, i);
        if (sluice_value_type(job) != SLUICE_MAP) {
            continue; // it is gone since
        }
        shown++;
        if (tool->json) {
            code = tool_print_json(job);
        } else {
            table_add_row(table, job);
        }
    }
    table_finish(tool, table);
    long long found = figure(search, "found");
    if (sluice_value_boolean(sluice_value_get(search, "full"))) {
        tool_complain("%lld found, and there may be more: the search has ended with them", found);
    } else if (shown && found > shown) {
        tool_complain("%lld of %lld shown; --count shows more", shown, found);
    }
    return code;
}

static int find_run(struct tool *tool)
{
    struct words words = { 0 };
    words_add(&words, "Q.FIND");
    for (size_t i = 0; i < tool->argument_count; i++) {
        words_add(&words, "TEXT");
        words_add(&words, tool->arguments[i]);
    }
    (void)words_add_options(&words, tool); // none of them is a file
    const char *count = tool_given(tool, "count");
    struct sluice_value *search;
    int code = words_call(tool, &words, &search);
    int64_t id = figure(search, "id");
    code = code ? code : watch(tool, id, &search);
    sluice_value_free(search);
    if (code) {
        return code;
    }
    code = ask(tool, "Q.FIND.GET", id, count ? count : "25", &search);
    code = code ? code : show(tool, search);
    if (!code && !figure(search, "found")) {
        code = absent_check(tool, tool_given(tool, "queue"));
        if (!code) {
            tool_complain("no job has that");
            code = EXIT_NOTHING;
        }
    }
    sluice_value_free(search);
    struct sluice_value *dropped = NULL;
    int end = ask(tool, "Q.FIND.DROP", id, NULL, &dropped);
    sluice_value_free(dropped);
    return code ? code : end;
}

static const struct tool_command commands[] = {
    { .name = "find",
      .group = "Jobs",
      .arguments = "[TEXT...]",
      .arguments_max = SIZE_MAX,
      OPTIONS(find_options),
      .run = find_run,
      .summary = "Finds jobs by what is in them",
      .details = "Each TEXT must be in the jid, the klass or the data of a job; small and capital "
                 "letters are the same. The search ends with the first 1,000 jobs. When there are "
                 "none the exit code is 3.",
      .examples = EXAMPLES({ "sluice find ann@example.com --state failed", NULL }) },
};
const struct tool_set find_set = SET(commands);
