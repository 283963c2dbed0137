// SPDX-License-Identifier: MIT
#include "cli/commands/lines.h"

#include "cli/commands/put_options.h"
#include "cli/core/call.h"
#include "cli/core/json.h"
#include "cli/core/progress.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum {
    GROUP = 500,
};

// The jobs of a group, each with its line.
struct group {
    struct put_options jobs[GROUP];
    int64_t lines[GROUP];
    size_t count;
};

struct reader {
    const struct tool *tool;
    const struct lines_options *options;
    struct group *group;
    struct progress progress;
    int64_t line;    // that was read last
    int64_t settled; // all up to this one were put, refused or left alone
    int64_t put, existing, refused;
    int code; // of the call that ended it
};

static volatile sig_atomic_t stopped;

static void stop(int number)
{
    (void)number;
    stopped = 1;
}

static void refuse_line(struct reader *reader, int64_t line, const char *sentence)
{
    progress_end(&reader->progress);
    tool_complain("%s:%lld: %s", reader->options->name, (long long)line, sentence);
    reader->refused++;
}

static void drop_job(struct group *group, size_t index)
{
    put_options_release(&group->jobs[index]);
    group->count--;
    memmove(&group->jobs[index], &group->jobs[index + 1],
            (group->count - index) * sizeof *group->jobs);
    memmove(&group->lines[index], &group->lines[index + 1],
            (group->count - index) * sizeof *group->lines);
}

// Takes those out of the group that are there already.
static int drop_existing(struct reader *reader)
{
    struct group *group = reader->group;
    struct words words = { 0 };
    words_add(&words, "Q.GET");
    for (size_t i = 0; i < group->count; i++) {
        if (group->jobs[i].put.jid) {
            words_add(&words, group->jobs[i].put.jid);
        }
    }
    struct sluice_value *found = NULL;
    int code = words.count > 1 ? words_call(reader->tool, &words, &found) : EXIT_DONE;
    size_t asked = words.count - 1;
    for (size_t i = group->count; !code && i > 0; i--) {
        if (!group->jobs[i - 1].put.jid) {
            continue;
        }
        asked--;
        if (sluice_value_type(sluice_value_at(found, asked)) == SLUICE_MAP) {
            drop_job(group, i - 1);
            reader->existing++;
        }
    }
    sluice_value_free(found);
    tool_free(words.items);
    return code;
}

static void show_jid(const struct reader *reader, const char *jid)
{
    if (reader->options->quiet) {
        return;
    }
    if (reader->tool->json) {
        print(stdout, "{\"jid\":");
        json_write_text(stdout, jid);
        print(stdout, "}\n");
    } else {
        print(stdout, "%s\n", jid);
    }
}

static bool is_of_call(enum sluice_status status)
{
    return status == SLUICE_UNREACHABLE || status == SLUICE_UNKNOWN || status == SLUICE_DENIED ||
           status == SLUICE_NO_MEMORY || status == SLUICE_INTERRUPTED || status == SLUICE_TIMED_OUT;
}

static int put_group(struct reader *reader)
{
    struct group *group = reader->group;
    struct sluice_put_options *puts = tool_allocate(GROUP * sizeof *puts);
    struct sluice_result *results = tool_allocate(GROUP * sizeof *results);
    struct sluice_error error = { 0 };
    for (size_t i = 0; i < group->count; i++) {
        puts[i] = group->jobs[i].put;
    }
    enum sluice_status status =
        sluice_put_many(reader->tool->queue, puts, group->count, results, &error);
    int code = is_of_call(status) ? tool_refuse(&error) : EXIT_DONE;
    for (size_t i = 0; !code && i < group->count; i++) {
        if (results[i].status) {
            refuse_line(reader, group->lines[i], results[i].message);
        } else {
            show_jid(reader, results[i].jid);
            reader->put++;
        }
    }
    tool_free(results);
    tool_free(puts);
    return code;
}

static int flush_group(struct reader *reader)
{
    struct group *group = reader->group;
    int code = reader->options->keep_existing ? drop_existing(reader) : EXIT_DONE;
    if (!code && group->count) {
        code = put_group(reader);
    }
    for (size_t i = 0; i < group->count; i++) {
        put_options_release(&group->jobs[i]);
    }
    group->count = 0;
    if (!code) {
        reader->settled = reader->line;
    }
    progress_show(&reader->progress, "%lld jobs put, line %lld", (long long)reader->put,
                  (long long)reader->line);
    return code;
}

static int take_line(struct reader *reader, const char *line, size_t size)
{
    struct group *group = reader->group;
    reader->line++;
    if (reader->line < reader->options->from || !line[strspn(line, " \t\r\n")]) {
        return EXIT_DONE;
    }
    const char *wrong = strlen(line) != size ? "a byte of value 0, which JSON does not have"
                                             : put_options_read(&group->jobs[group->count], line);
    if (wrong) {
        refuse_line(reader, reader->line, wrong);
        return EXIT_DONE;
    }
    group->lines[group->count++] = reader->line;
    return group->count == GROUP ? flush_group(reader) : EXIT_DONE;
}

static void read_lines(struct reader *reader)
{
    char *line = NULL;
    size_t room = 0;
    ssize_t size;
    if (reader->options->first) {
        reader->code = take_line(reader, reader->options->first, strlen(reader->options->first));
    }
    errno = 0;
    while (!reader->code && !stopped &&
           (size = getline(&line, &room, reader->options->file)) >= 0) {
        reader->code = take_line(reader, line, (size_t)size);
    }
    if (ferror(reader->options->file) && !stopped) {
        tool_complain("%s cannot be read: %s", reader->options->name, strerror(errno));
        reader->code = EXIT_REFUSED;
    }
    if (!reader->code) {
        reader->code = flush_group(reader);
    }
    free(line);
}

// Where to go on is worth more than what it has done.
static int report(const struct reader *reader)
{
    if (reader->options->quiet && reader->tool->json) {
        print(stdout, "{\"put\":%lld,\"existing\":%lld,\"refused\":%lld,\"lines\":%lld}\n",
              (long long)reader->put, (long long)reader->existing, (long long)reader->refused,
              (long long)reader->settled);
    } else if (reader->options->quiet) {
        print(stdout, "%lld put, %lld there already, %lld refused\n", (long long)reader->put,
              (long long)reader->existing, (long long)reader->refused);
    }
    if (reader->code || stopped) {
        tool_complain("stopped behind line %lld of %s", (long long)reader->settled,
                      reader->options->name);
        return reader->code ? reader->code : EXIT_REFUSED;
    }
    return reader->refused ? EXIT_REFUSED : EXIT_DONE;
}

int lines_put(const struct tool *tool, const struct lines_options *options)
{
    struct reader reader = { .tool = tool,
                             .options = options,
                             .group = tool_allocate(sizeof(struct group)) };
    // Ctrl-C ends it between two groups, so that it can say where.
    struct sigaction action = { .sa_handler = stop };
    (void)sigaction(SIGINT, &action, NULL);
    progress_init(&reader.progress, tool);
    read_lines(&reader);
    progress_end(&reader.progress);
    tool_free(reader.group);
    return report(&reader);
}
