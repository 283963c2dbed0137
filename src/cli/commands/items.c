// SPDX-License-Identifier: MIT
// Items are restored in groups. One that depends on a job that is not there is set aside, in a file
// of its own, and tried again when all others have been: so the order of the lines is free, and the
// memory that is needed does not grow with what they hold.
#include "cli/commands/items.h"

#include "cli/commands/items_check.h"
#include "cli/core/call.h"
#include "cli/core/json.h"
#include "cli/core/progress.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum {
    GROUP = 200,
    GROUP_BYTES = 48 << 10, // the least that a server's max-request can be is more
};

// Where a line that was set aside stands.
struct aside {
    long offset;
    int64_t line;
};

struct importer {
    const struct tool *tool;
    const struct items_options *options;
    struct items_check *check; // of a dry run
    struct progress progress;
    char *items[GROUP];
    int64_t lines[GROUP];
    size_t count, bytes;
    FILE *spool; // lines that were set aside
    struct aside *aside;
    size_t aside_count, aside_room;
    char *number; // the line with the last number that was given out, for the end
    int64_t number_line;
    bool last;        // nothing is set aside any more
    bool skips_first; // the first line is not looked at
    int64_t line;     // that was read last
    int64_t settled;  // all up to this one were restored, refused, left alone or set aside
    int64_t restored, existing, refused;
    int code; // of the call that ended it
};

static volatile sig_atomic_t stopped;

static void stop(int number)
{
    (void)number;
    stopped = 1;
}

bool items_begin(const char *line)
{
    struct json_fields fields = { 0 };
    bool begin = !json_fields_read(&fields, line) && fields.count == 1 &&
                 json_fields_get(&fields, "namespace");
    json_fields_free(&fields);
    return begin;
}

static void refuse_line(struct importer *importer, int64_t line, const char *sentence)
{
    progress_end(&importer->progress);
    tool_complain("%s:%lld: %s", importer->options->name, (long long)line, sentence);
    importer->refused++;
}

// ---------------------------------------------------------------------------------------------
// Groups

static void set_aside(struct importer *importer, size_t index)
{
    if (importer->aside_count == importer->aside_room) {
        importer->aside_room = importer->aside_room ? 2 * importer->aside_room : GROUP;
        importer->aside =
            tool_resize(importer->aside, importer->aside_room * sizeof *importer->aside);
    }
    if (!importer->spool) {
        importer->spool = tmpfile();
    }
    long offset = -1;
    if (importer->spool && !fseek(importer->spool, 0, SEEK_END)) {
        offset = ftell(importer->spool);
    }
    if (offset < 0 || fprintf(importer->spool, "%s\n", importer->items[index]) < 0) {
        tool_complain("a temporary file cannot be written: %s", strerror(errno));
        importer->code = EXIT_REFUSED;
        return;
    }
    importer->aside[importer->aside_count++] =
        (struct aside){ .offset = offset, .line = importer->lines[index] };
}

static void take_outcome(struct importer *importer, size_t index, const struct sluice_value *said)
{
    const char *text = sluice_value_text(said, NULL);
    if (sluice_value_type(said) != SLUICE_FAULT) {
        importer->existing += !strcmp(text, "exists");
        importer->restored += !strcmp(text, "restored");
    } else if (sluice_value_status(said) == SLUICE_NOT_FOUND && !importer->last) {
        set_aside(importer, index);
    } else {
        refuse_line(importer, importer->lines[index], text);
    }
}

static enum sluice_status call_items(const struct importer *importer, size_t first, size_t count,
                                     struct sluice_value **answer, struct sluice_error *error)
{
    struct words words = { 0 };
    words_add(&words, importer->check ? "Q.RESTORE.CHECK" : "Q.RESTORE");
    words_add(&words, "--");
    for (size_t i = 0; i < count; i++) {
        words_add(&words, importer->items[first + i]);
    }
    enum sluice_status status =
        sluice_call(importer->tool->queue, words.items, NULL, words.count, answer, error);
    tool_free(words.items);
    return status;
}

static void take_answers(struct importer *importer, size_t first, size_t count,
                         const struct sluice_value *answer)
{
    for (size_t i = 0; i < count; i++) {
        const struct sluice_value *said = sluice_value_at(answer, i);
        int64_t line = importer->lines[first + i];
        if (!importer->check) {
            take_outcome(importer, first + i, said);
        } else if (sluice_value_type(said) == SLUICE_FAULT) {
            refuse_line(importer, line, sluice_value_text(said, NULL));
        } else {
            items_check_add(importer->check, line, said);
        }
    }
}

// A call that is refused as a whole is refused for one of its items: halves find it.
static void send_items(struct importer *importer, size_t first, size_t count)
{
    struct sluice_value *answer = NULL;
    struct sluice_error error = { 0 };
    if (importer->code || !count) {
        return;
    }
    enum sluice_status status = call_items(importer, first, count, &answer, &error);
    if (!status) {
        take_answers(importer, first, count, answer);
    } else if (status != SLUICE_INVALID && status != SLUICE_TOO_LARGE) {
        progress_end(&importer->progress);
        importer->code = tool_refuse(&error);
    } else if (count == 1) {
        refuse_line(importer, importer->lines[first], error.message);
    } else {
        send_items(importer, first, count / 2);
        send_items(importer, first + count / 2, count - count / 2);
    }
    sluice_value_free(answer);
}

static void drop_group(struct importer *importer)
{
    for (size_t i = 0; i < importer->count; i++) {
        tool_free(importer->items[i]);
    }
    importer->count = importer->bytes = 0;
}

static void flush_group(struct importer *importer)
{
    send_items(importer, 0, importer->count);
    drop_group(importer);
    if (!importer->code) {
        importer->settled = importer->line;
    }
    progress_show(&importer->progress, "%lld restored, line %lld", (long long)importer->restored,
                  (long long)importer->line);
}

static void add_item(struct importer *importer, const char *text, size_t size, int64_t line)
{
    if (importer->count == GROUP || (importer->count && importer->bytes + size > GROUP_BYTES)) {
        flush_group(importer);
    }
    importer->items[importer->count] = tool_copy(text, size);
    importer->lines[importer->count++] = line;
    importer->bytes += size;
}

// ---------------------------------------------------------------------------------------------
// Lines

static size_t size_without_end(const char *line, size_t size)
{
    while (size && (line[size - 1] == '\n' || line[size - 1] == '\r')) {
        size--;
    }
    return size;
}

static void take_line(struct importer *importer, const char *line, size_t size)
{
    importer->line++;
    size = size_without_end(line, size);
    if (importer->line < importer->options->from || strspn(line, " \t\r\n") >= size ||
        (importer->line == 1 && importer->skips_first)) {
        return;
    }
    if (strlen(line) < size) {
        refuse_line(importer, importer->line, "a byte of value 0, which JSON does not have");
    } else if (!strncmp(line, "{\"number\"", 9) && !importer->number) {
        // Jobs that are set aside would count it up.
        importer->number = tool_copy(line, size);
        importer->number_line = importer->line;
    } else {
        add_item(importer, line, size, importer->line);
    }
}

static void read_lines(struct importer *importer)
{
    char *line = NULL;
    size_t room = 0;
    ssize_t size;
    FILE *file = importer->options->file;
    take_line(importer, importer->options->first, strlen(importer->options->first));
    errno = 0;
    while (!importer->code && !stopped && (size = getline(&line, &room, file)) >= 0) {
        take_line(importer, line, (size_t)size);
    }
    if (ferror(file) && !stopped) {
        tool_complain("%s cannot be read: %s", importer->options->name, strerror(errno));
        importer->code = EXIT_REFUSED;
    }
    free(line);
    flush_group(importer);
}

// ---------------------------------------------------------------------------------------------
// What was set aside

static void take_aside(struct importer *importer, const struct aside *aside)
{
    char *line = NULL;
    size_t room = 0;
    if (fseek(importer->spool, aside->offset, SEEK_SET)) {
        tool_complain("a temporary file cannot be read: %s", strerror(errno));
        importer->code = EXIT_REFUSED;
        return;
    }
    ssize_t size = getline(&line, &room, importer->spool);
    if (size > 0) {
        add_item(importer, line, size_without_end(line, (size_t)size), aside->line);
    }
    free(line);
}

// Once over all of them, from the last to the first: those that are set aside again then stand the
// other way round. So a chain of dependencies may stand in either order, and takes two passes.
static void retry_once(struct importer *importer)
{
    struct aside *aside = importer->aside;
    size_t count = importer->aside_count;
    importer->aside = NULL;
    importer->aside_count = importer->aside_room = 0;
    for (size_t i = 0; i < count && !importer->code && !stopped; i++) {
        take_aside(importer, &aside[count - 1 - i]);
    }
    flush_group(importer);
    tool_free(aside);
}

// After a pass that brought nothing the next one says what is missing.
static void retry_all(struct importer *importer)
{
    while (importer->aside_count && !importer->code && !stopped) {
        int64_t restored = importer->restored;
        retry_once(importer);
        importer->last = importer->restored == restored;
    }
    if (importer->number && !importer->code && !stopped) {
        add_item(importer, importer->number, strlen(importer->number), importer->number_line);
        flush_group(importer);
    }
}

// ---------------------------------------------------------------------------------------------

static bool names_client_clock(const char *line)
{
    struct json_fields fields = { 0 }, inner = { 0 };
    bool client = false;
    const char *value =
        json_fields_read(&fields, line) ? NULL : json_fields_get(&fields, "namespace");
    if (value && !json_fields_read(&inner, value)) {
        const char *clock = json_fields_get(&inner, "clock");
        client = clock && !strcmp(clock, "\"client\"");
    }
    json_fields_free(&inner);
    json_fields_free(&fields);
    return client;
}

static bool has_namespace(const struct tool *tool, const char *name, int *code)
{
    struct sluice_value *list = NULL;
    bool found = false;
    *code = call_words(tool, "Q.NAMESPACES", &list);
    for (size_t i = 0; i < sluice_value_count(list) && !found; i++) {
        const char *one =
            sluice_value_text(sluice_value_get(sluice_value_at(list, i), "name"), NULL);
        found = one && !strcmp(one, name);
    }
    sluice_value_free(list);
    return found;
}

// A namespace with the client clock must be made as such. A dry run makes none, and then does not
// look at the line that asks for it.
static int prepare(struct importer *importer)
{
    int code;
    const struct tool *tool = importer->tool;
    const char *name = sluice_namespace(tool->queue);
    if (!names_client_clock(importer->options->first) || has_namespace(tool, name, &code) || code) {
        return EXIT_DONE;
    }
    if (importer->check) {
        importer->skips_first = true;
        return EXIT_DONE;
    }
    struct words words = { 0 };
    words_add(&words, "Q.NAMESPACE.CREATE");
    words_add(&words, name);
    words_add_all(&words, "CLOCK client");
    struct sluice_value *answer;
    code = words_call(tool, &words, &answer);
    sluice_value_free(answer);
    tool_free(words.items);
    return code;
}

// Where to go on is worth more than what it has done.
static int report(const struct importer *importer)
{
    if (importer->tool->json) {
        print(stdout, "{\"restored\":%lld,\"existing\":%lld,\"refused\":%lld,\"lines\":%lld}\n",
              (long long)importer->restored, (long long)importer->existing,
              (long long)importer->refused, (long long)importer->settled);
    } else {
        print(stdout, "%lld restored, %lld there already, %lld refused\n",
              (long long)importer->restored, (long long)importer->existing,
              (long long)importer->refused);
    }
    if (importer->code || stopped) {
        tool_complain("stopped behind line %lld of %s; importing it again restores the rest",
                      (long long)importer->settled, importer->options->name);
        return importer->code ? importer->code : EXIT_REFUSED;
    }
    return importer->refused ? EXIT_REFUSED : EXIT_DONE;
}

int items_import(const struct tool *tool, const struct items_options *options)
{
    struct importer *importer = tool_allocate(sizeof *importer);
    importer->tool = tool;
    importer->options = options;
    importer->check = options->dry_run ? items_check_new(tool, options->name) : NULL;
    // Ctrl-C ends it between two groups, so that it can say where.
    struct sigaction action = { .sa_handler = stop };
    (void)sigaction(SIGINT, &action, NULL);
    progress_init(&importer->progress, tool);
    importer->code = prepare(importer);
    if (!importer->code) {
        read_lines(importer);
        retry_all(importer);
    }
    progress_end(&importer->progress);
    if (importer->spool) {
        (void)fclose(importer->spool);
    }
    int code = importer->check && !importer->code
                   ? items_check_end(importer->check, importer->refused)
                   : report(importer);
    tool_free(importer->aside);
    tool_free(importer->number);
    tool_free(importer);
    return code;
}
