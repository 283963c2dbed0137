// SPDX-License-Identifier: MIT
#include "cli/core/call.h"

#include "base/body.h"
#include "base/buffer.h"
#include "cli/core/absent.h"
#include "cli/core/moment.h"
#include "cli/core/table.h"
#include "cli/core/url.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const struct option page_options[PAGE_OPTION_COUNT] = {
    { .name = "offset",
      .letter = 'o',
      .type = OPTION_INTEGER,
      .value = "N",
      .word = "OFFSET",
      .summary = "how many of the first to leave out (0)" },
    { .name = "count",
      .letter = 'n',
      .type = OPTION_INTEGER,
      .value = "N",
      .word = "COUNT",
      .summary = "how many at most, up to 1000 (25)" },
};

// ---------------------------------------------------------------------------------------------
// Words

void words_add(struct words *words, const char *word)
{
    words->items = tool_resize(words->items, (words->count + 1) * sizeof *words->items);
    words->items[words->count++] = word;
}

void words_add_all(struct words *words, const char *spaced)
{
    while (*spaced) {
        size_t size = strcspn(spaced, " ");
        words_add(words, tool_copy(spaced, size));
        spaced += size + (spaced[size] ? 1 : 0);
    }
}

static void add_option_texts(struct words *words, const struct given *given)
{
    const char *at = given->text;
    for (bool more = true; more;) {
        size_t size = strcspn(at, ",");
        words_add(words, given->option->word);
        words_add(words, tool_copy(at, size));
        more = at[size];
        at += size + 1;
    }
}

bool words_add_options(struct words *words, const struct tool *tool)
{
    for (size_t i = 0; i < tool->given_count; i++) {
        const struct given *given = &tool->given[i];
        const struct option *option = given->option;
        if (!option->word) {
            continue;
        }
        if (option->type == OPTION_TEXTS) {
            add_option_texts(words, given);
            continue;
        }
        words_add(words, option->word);
        if (option->type != OPTION_FLAG) {
            bool json = option->value && !strcmp(option->value, "JSON");
            const char *text = json ? data_read(given->text) : given->text;
            if (!text) {
                return false;
            }
            words_add(words, text);
        }
    }
    return true;
}

// Whether the queue is in a process: a folder, or what a program shows with sluice_serve.
static bool is_in_process(const struct tool *tool)
{
    static const char *const words[] = { "HELLO" };
    struct sluice_value *hello = NULL;
    if (url_is_folder(tool->url)) {
        return true;
    }
    const char *mode = sluice_call(tool->queue, words, NULL, 1, &hello, NULL)
                           ? NULL
                           : sluice_value_text(sluice_value_get(hello, "mode"), NULL);
    bool in_process = mode && !strcmp(mode, "process");
    sluice_value_free(hello);
    return in_process;
}

int call_refuse(const struct tool *tool, const struct sluice_error *error)
{
    bool of_server = !strcmp(tool->command->group, "The server");
    if (error->status == SLUICE_INVALID && of_server && is_in_process(tool)) {
        tool_complain("`%s` needs a server, and %s is %s", tool->command->name,
                      url_to_show(tool->url),
                      url_is_folder(tool->url) ? "a folder"
                                               : "a queue in a program (`sluice queues` and "
                                                 "`sluice top` show it)");
        return EXIT_REFUSED;
    }
    return tool_refuse(error);
}

int words_call(const struct tool *tool, const struct words *words, struct sluice_value **out)
{
    struct sluice_error error = { 0 };
    *out = NULL;
    if (sluice_call(tool->queue, words->items, NULL, words->count, out, &error)) {
        return call_refuse(tool, &error);
    }
    return EXIT_DONE;
}

int call_words(const struct tool *tool, const char *spaced, struct sluice_value **out)
{
    struct words words = { 0 };
    words_add_all(&words, spaced);
    int code = words_call(tool, &words, out);
    tool_free(words.items);
    return code;
}

static char *read_whole(FILE *file, size_t *size)
{
    char *text = tool_allocate(1);
    char block[4096];
    *size = 0;
    for (size_t got = fread(block, 1, sizeof block, file); got;
         got = fread(block, 1, sizeof block, file)) {
        text = tool_resize(text, *size + got + 1);
        memcpy(text + *size, block, got);
        *size += got;
        text[*size] = 0;
    }
    return text;
}

static bool is_file(const char *text)
{
    return !strcmp(text, "-") || *text == '@';
}

// What - or @FILE stands for. NULL: it cannot be read, and it was said.
static char *read_file(const char *text, size_t *size)
{
    FILE *file = *text == '@' ? fopen(text + 1, "re") : stdin;
    if (!file) {
        tool_complain("%s cannot be read: %s", text + 1, strerror(errno));
        return NULL;
    }
    errno = 0;
    char *data = read_whole(file, size);
    const char *name = *text == '@' ? text + 1 : "standard input";
    bool failed = ferror(file);
    if (failed) {
        tool_complain("%s cannot be read: %s", name, strerror(errno));
    }
    if (file != stdin) {
        (void)fclose(file);
    }
    return failed ? NULL : data;
}

const char *data_read_raw(const char *text)
{
    size_t size = strlen(text);
    const char *bytes = is_file(text) ? read_file(text, &size) : text;
    struct buffer data;
    if (!bytes) {
        return NULL;
    }
    buffer_init(&data, &allocator_system, SIZE_MAX / 2);
    if (body_encode(slice_make(bytes, size), &data)) {
        tool_complain("out of memory");
        buffer_release(&data);
        return NULL;
    }
    char *copy = tool_copy((const char *)data.data, data.size);
    buffer_release(&data);
    return copy;
}

char *data_decode(const char *data, size_t *size)
{
    struct buffer body;
    buffer_init(&body, &allocator_system, SIZE_MAX / 2);
    if (body_decode(slice_from_cstr(data), &body)) {
        buffer_clear(&body); // there is no memory
    }
    *size = body.size;
    char *copy = tool_copy(body.size ? (const char *)body.data : "", body.size);
    buffer_release(&body);
    return copy;
}

const char *data_read(const char *text)
{
    size_t size;
    if (!is_file(text)) {
        return text;
    }
    char *data = read_file(text, &size);
    if (!data) {
        return NULL;
    }
    if (strlen(data) != size) {
        tool_complain("%s has a byte of value 0, which JSON does not have",
                      *text == '@' ? text + 1 : "standard input");
        return NULL;
    }
    while (size && strchr(" \t\r\n", data[size - 1])) {
        data[--size] = 0;
    }
    return data;
}

// ---------------------------------------------------------------------------------------------
// Leases

// Who holds a job, and with which token: as it was given, or else as the queue says. A person who
// finishes a job by hand has neither at hand.
static int add_lease(struct words *words, const struct tool *tool, const char **token)
{
    const char *worker = tool_given(tool, "worker");
    *token = tool_given(tool, "token");
    if (worker || tool_given(tool, "force")) {
        words_add(words, worker ? worker : "operator");
        return EXIT_DONE;
    }
    struct sluice_value *job;
    struct sluice_error error = { 0 };
    if (sluice_get(tool->queue, tool->arguments[0], &job, &error)) {
        return tool_refuse(&error);
    }
    const char *holder = sluice_value_text(value_at(job, "lease/worker"), NULL);
    int code = EXIT_DONE;
    if (holder) {
        words_add(words, tool_copy(holder, strlen(holder)));
        if (!*token) {
            *token =
                tool_format("%lld", (long long)sluice_value_integer(value_at(job, "lease/token")));
        }
    } else {
        tool_complain("job %s is not running: %s", tool->arguments[0],
                      sluice_value_text(sluice_value_get(job, "state"), NULL));
        code = EXIT_REFUSED;
    }
    sluice_value_free(job);
    return code;
}

// ---------------------------------------------------------------------------------------------
// Answers

static int nothing(const struct call *call, int code)
{
    if (call->missing) {
        tool_complain("%s", call->missing);
    }
    return code;
}

static int show_said(const struct tool *tool, const struct call *call,
                     const struct sluice_value *answer)
{
    if (sluice_value_type(answer) == SLUICE_BOOLEAN && !sluice_value_boolean(answer) &&
        call->missing) {
        return nothing(call, EXIT_NOTHING);
    }
    print(stdout, "%s", call->said);
    for (size_t i = 0; i < tool->argument_count; i++) {
        print(stdout, "%s%s", i ? ", " : " ", tool->arguments[i]);
    }
    print(stdout, "\n");
    return EXIT_DONE;
}

static void show_moment(double when, const char *zone)
{
    char moment[MOMENT_SIZE], relative[MOMENT_SIZE];
    if (zone) {
        moment_format_in(when, zone, moment);
    } else {
        moment_format(when, moment);
    }
    moment_relative(when, moment_now(), relative);
    print(stdout, "%s (%s)\n", moment, relative);
}

// The zone of a cron expression, as it was given or as the recurring job has it; NULL: none.
static const char *zone_of(const struct tool *tool, const struct call *call)
{
    struct words words = { 0 };
    struct sluice_value *job;
    if (!call->recurring) {
        return tool_given(tool, "zone");
    }
    words_add(&words, "Q.RECUR.GET");
    words_add(&words, tool->arguments[0]);
    int code = words_call(tool, &words, &job);
    const char *zone = code ? NULL : sluice_value_text(sluice_value_get(job, "zone"), NULL);
    zone = zone ? tool_copy(zone, strlen(zone)) : NULL;
    sluice_value_free(job);
    return zone;
}

static int show_moments(const struct tool *tool, const struct call *call,
                        const struct sluice_value *value)
{
    const char *zone = zone_of(tool, call);
    if (sluice_value_type(value) != SLUICE_LIST) {
        show_moment(sluice_value_number(value), zone);
    }
    for (size_t i = 0; i < sluice_value_count(value); i++) {
        show_moment(sluice_value_number(sluice_value_at(value, i)), zone);
    }
    return EXIT_DONE;
}

// Says so when there are more than a page shows.
static void mention_rest(const struct tool *tool, const struct sluice_value *page, size_t shown)
{
    int64_t total = sluice_value_integer(sluice_value_get(page, "total"));
    const char *offset = tool_given(tool, "offset");
    long long end = (offset ? strtoll(offset, NULL, 10) : 0) + (long long)shown;
    if (shown && end < total) {
        tool_complain("%zu of %lld shown; --offset %lld shows the next", shown, (long long)total,
                      end);
    }
}

static int show_list(const struct tool *tool, const struct call *call,
                     const struct sluice_value *answer)
{
    size_t shown = 0;
    const char *path = call->list ? call->list : "";
    int code = EXIT_DONE;
    do {
        size_t size = strcspn(path, " ");
        char *one = tool_copy(path, size);
        const struct sluice_value *list = size ? value_at(answer, one) : answer;
        if (tool->json) {
            code = code ? code : tool_print_json_list(list);
        } else {
            table_print(tool, list, call->columns);
        }
        shown += sluice_value_count(list);
        tool_free(one);
        path += size + (path[size] ? 1 : 0);
    } while (*path);
    mention_rest(tool, answer, shown);
    if (tool->json) {
        return code ? code : shown || !call->of_name ? EXIT_DONE : EXIT_NOTHING;
    }
    return shown ? EXIT_DONE : nothing(call, call->of_name ? EXIT_NOTHING : EXIT_DONE);
}

static int show_settings(const struct tool *tool, const struct sluice_value *map)
{
    size_t width = 0;
    for (size_t i = 0; i < sluice_value_count(map); i++) {
        size_t size = strlen(sluice_value_key(map, i));
        width = size > width ? size : width;
    }
    for (size_t i = 0; i < sluice_value_count(map); i++) {
        char *text = value_text(sluice_value_at(map, i), NULL);
        table_print_pair(tool, width, sluice_value_key(map, i), text);
        tool_free(text);
    }
    return EXIT_DONE;
}

static int show_count(const struct call *call, int64_t count)
{
    if (!count) {
        return nothing(call, EXIT_NOTHING);
    }
    print(stdout, "%lld %s\n", (long long)count, call->said);
    return EXIT_DONE;
}

static int show_value(const struct sluice_value *value)
{
    char *text = value_text(value, NULL);
    print(stdout, "%s\n", text);
    tool_free(text);
    return EXIT_DONE;
}

int call_show(const struct tool *tool, const struct call *call, const struct sluice_value *answer)
{
    if (tool->json && call->form == CALL_LIST) {
        return show_list(tool, call, answer);
    }
    if (tool->json && call->form == CALL_MOMENTS && sluice_value_type(answer) == SLUICE_LIST) {
        return tool_print_json_list(answer);
    }
    if (tool->json) {
        int code =
            call->form == CALL_SETTINGS ? tool_print_json_names(answer) : tool_print_json(answer);
        // A program too sees from the exit code that there was nothing.
        bool acts = call->form == CALL_COUNT || (call->form == CALL_SAID && call->missing);
        bool none = acts && value_is_blank(answer);
        return code ? code : none ? EXIT_NOTHING : EXIT_DONE;
    }
    switch (call->form) {
    case CALL_SAID:
        return show_said(tool, call, answer);
    case CALL_COUNT:
        return show_count(call, sluice_value_integer(answer));
    case CALL_VALUE:
        return show_value(answer);
    case CALL_MOMENTS:
        return show_moments(tool, call, answer);
    case CALL_FIELD:
        return show_value(sluice_value_get(answer, call->columns));
    case CALL_LIST:
        return show_list(tool, call, answer);
    case CALL_MAPS:
        table_print_map(tool, answer, call->columns);
        return EXIT_DONE;
    case CALL_RECORD:
        table_print_record(tool, answer);
        return EXIT_DONE;
    case CALL_SETTINGS:
        return show_settings(tool, answer);
    }
    return EXIT_DONE;
}

// ---------------------------------------------------------------------------------------------
// The whole

// Any number of arguments are a list, which the options stand before; `--` ends them, since what is
// listed may have the name of one.
static size_t list_start(const struct tool_command *command)
{
    return command->arguments_max < SIZE_MAX ? SIZE_MAX
           : command->arguments_min          ? command->arguments_min - 1
                                             : 0;
}

static int add_arguments(struct words *words, const struct tool *tool, const struct call *call)
{
    size_t list = call->each ? SIZE_MAX : list_start(tool->command);
    const char *token = NULL;
    for (size_t i = 0; i < tool->argument_count; i++) {
        const char *word = tool->arguments[i];
        if (i + 1 == call->json_argument && !(word = data_read(word))) {
            return EXIT_USAGE;
        }
        if (i == list) {
            if (!words_add_options(words, tool)) {
                return EXIT_USAGE;
            }
            words_add(words, "--");
        }
        words_add(words, word);
        int code = call->leased && !i ? add_lease(words, tool, &token) : EXIT_DONE;
        if (code) {
            return code;
        }
    }
    if (call->otherwise && tool->argument_count < tool->command->arguments_max) {
        words_add(words, call->otherwise);
    }
    if (token) {
        words_add(words, "TOKEN");
        words_add(words, token);
    }
    return tool->argument_count > list || words_add_options(words, tool) ? EXIT_DONE : EXIT_USAGE;
}

static int check_one_of(const struct tool *tool, const char *names)
{
    struct words words = { 0 };
    words_add_all(&words, names);
    char *list = tool_copy("", 0);
    bool given = false;
    for (size_t i = 0; i < words.count; i++) {
        given = given || tool_given(tool, words.items[i]);
        list = tool_format("%s%s--%s", list,
                           !i                    ? ""
                           : i + 1 < words.count ? ", "
                                                 : " or ",
                           words.items[i]);
    }
    return given ? EXIT_DONE : tool_misuse(tool, "%s needs %s", tool->command->name, list);
}

static char *replace_argument(const char *text, const char *argument)
{
    const char *mark = strstr(text, "%s");
    return mark ? tool_format("%.*s%s%s", (int)(mark - text), text, argument, mark + 2)
                : tool_copy(text, strlen(text));
}

static int check_queues(const struct tool *tool, const struct call *call)
{
    int code = EXIT_DONE;
    for (size_t i = 0; call->queues_exist && !code && i < tool->argument_count; i++) {
        code = absent_check(tool, tool->arguments[i]);
    }
    return code;
}

// An answer that says nothing: because there is nothing, or because of a mistyped name.
static int check_answer(const struct tool *tool, const struct call *call,
                        const struct sluice_value *answer)
{
    if (call->known && sluice_value_type(value_at(answer, call->known)) == SLUICE_NULL) {
        tool_complain("worker %s is not known", tool->arguments[0]);
        return EXIT_NOTHING;
    }
    bool looks = call->form == CALL_LIST || call->form == CALL_MAPS || call->form == CALL_RECORD ||
                 call->counts;
    if (!looks || call->of_server || !value_is_blank(answer)) {
        return EXIT_DONE;
    }
    return absent_check(tool, call->of_queue && tool->argument_count ? tool->arguments[0]
                                                                     : tool_given(tool, "queue"));
}

static int show_checked(const struct tool *tool, const struct call *call,
                        const struct sluice_value *answer)
{
    int code = check_answer(tool, call, answer);
    if (!code) {
        return call_show(tool, call, answer);
    }
    if (call->counts) {
        return call_show(tool, call, answer) ? EXIT_REFUSED : code; // none is a count too
    }
    return tool->json && call->form != CALL_LIST && tool_print_json(answer) ? EXIT_REFUSED : code;
}

static int run_call(const struct tool *tool, const struct call *call)
{
    struct words words = { 0 };
    words_add_all(&words, call->words);
    int code = check_queues(tool, call);
    code = code ? code : add_arguments(&words, tool, call);
    if (code) {
        return code;
    }
    struct sluice_value *answer;
    code = words_call(tool, &words, &answer);
    if (!code) {
        code = show_checked(tool, call, answer);
    }
    sluice_value_free(answer);
    return code;
}

static int run_each(const struct tool *tool)
{
    int code = EXIT_DONE;
    for (size_t i = 0; i < tool->argument_count; i++) {
        struct tool one = *tool;
        const char *const argument[] = { tool->arguments[i], NULL };
        one.arguments = argument;
        one.argument_count = 1;
        int end = run_call(&one, tool->command->call);
        code = code ? code : end;
    }
    return code;
}

int call_run(struct tool *tool)
{
    const struct call *call = tool->command->call;
    if (call->with_argument && tool->argument_count) {
        call = call->with_argument;
    }
    if (call->one_of && check_one_of(tool, call->one_of)) {
        return EXIT_USAGE;
    }
    if (call->question) {
        char *question = replace_argument(call->question, tool->arguments[0]);
        int answer = tool_confirm(tool, question);
        if (answer) {
            return answer;
        }
    }
    return call->each ? run_each(tool) : run_call(tool, call);
}
