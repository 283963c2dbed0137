// SPDX-License-Identifier: MIT
#include "transcript.h"

#include "base/num.h"
#include "engine/check/check.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    TEXT_SIZE_MAX = 1 << 24,
};

// ---------------------------------------------------------------------------------------------
// Replies as redis-cli shows them

static size_t digits(size_t number)
{
    size_t count = 1;
    while (number /= 10) {
        count++;
    }
    return count;
}

static size_t frame_width(const struct shown_frame *frame)
{
    return digits(frame->map ? frame->count / 2 : frame->count);
}

static struct shown_reply *begin(struct reply *reply)
{
    struct shown_reply *shown = (struct shown_reply *)(void *)reply; // it is the first member
    if (shown->depth == 0) {
        assert_int_equal(shown->values, 0); // a command answers with one value
        shown->values++;
        return shown;
    }
    struct shown_frame *frame = &shown->frames[shown->depth - 1];
    assert_true(frame->said < frame->count);
    if (frame->map && frame->said % 2) {
        buffer_printf(shown->out, " => ");
    } else {
        if (frame->said) {
            buffer_printf(shown->out, "\n%*s", (int)frame->indent, "");
        }
        size_t number = 1 + (frame->map ? frame->said / 2 : frame->said);
        buffer_printf(shown->out, "%*zu%c ", (int)frame_width(frame), number,
                      frame->map ? '#' : ')');
    }
    frame->said++;
    return shown;
}

static void show_null(struct reply *reply)
{
    buffer_printf(begin(reply)->out, "(nil)");
}

static void show_word(struct reply *reply, struct slice word)
{
    buffer_append(begin(reply)->out, word);
}

static void show_text(struct reply *reply, struct slice bytes)
{
    struct buffer *out = begin(reply)->out;
    buffer_append_char(out, '"');
    for (size_t i = 0; i < bytes.size; i++) {
        char c = bytes.data[i];
        if (c == '"' || c == '\\') {
            buffer_printf(out, "\\%c", c);
        } else if (c == '\n') {
            buffer_printf(out, "\\n");
        } else if (isprint((unsigned char)c)) {
            buffer_append_char(out, c);
        } else {
            buffer_printf(out, "\\x%02x", (unsigned char)c);
        }
    }
    buffer_append_char(out, '"');
}

static void show_prose(struct reply *reply, struct slice lines)
{
    buffer_append(begin(reply)->out, lines);
}

static void show_integer(struct reply *reply, int64_t value)
{
    buffer_printf(begin(reply)->out, "(integer) %lld", (long long)value);
}

static void show_boolean(struct reply *reply, bool value)
{
    buffer_printf(begin(reply)->out, value ? "(true)" : "(false)");
}

static void show_number(struct reply *reply, double value)
{
    struct buffer *out = begin(reply)->out;
    buffer_printf(out, "(double) ");
    num_append_double(out, value);
}

static void show_seconds(struct reply *reply, int64_t us)
{
    struct buffer *out = begin(reply)->out;
    buffer_printf(out, "(double) ");
    num_append_seconds(out, us);
}

static void append_error(struct buffer *out, const struct error *error)
{
    buffer_printf(out, "(error) ");
    for (const char *c = status_name(error->status); *c; c++) {
        buffer_append_char(out, (char)toupper((unsigned char)*c));
    }
    buffer_printf(out, " %s", error_sentence(error));
}

static void show_error(struct reply *reply, const struct error *error)
{
    append_error(begin(reply)->out, error);
}

static void open_frame(struct reply *reply, bool map, size_t count)
{
    struct shown_reply *shown = begin(reply);
    const struct shown_frame *outer = shown->depth ? &shown->frames[shown->depth - 1] : NULL;
    assert_true(shown->depth < sizeof(shown->frames) / sizeof(shown->frames[0]));
    shown->frames[shown->depth++] = (struct shown_frame){
        .map = map,
        .count = map ? 2 * count : count,
        .indent = outer ? outer->indent + frame_width(outer) + 2 : 0,
    };
    if (count == 0) {
        buffer_printf(shown->out, map ? "(empty hash)" : "(empty array)");
    }
}

static void show_list(struct reply *reply, size_t count)
{
    open_frame(reply, false, count);
}

static void show_map(struct reply *reply, size_t pairs)
{
    open_frame(reply, true, pairs);
}

static void show_end(struct reply *reply)
{
    struct shown_reply *shown = (struct shown_reply *)(void *)reply;
    assert_true(shown->depth > 0);
    shown->depth--;
    assert_int_equal(shown->frames[shown->depth].said, shown->frames[shown->depth].count);
}

static const struct reply_ops shown_form = {
    .null = show_null,
    .word = show_word,
    .text = show_text,
    .json = show_text,
    .prose = show_prose,
    .integer = show_integer,
    .boolean = show_boolean,
    .number = show_number,
    .seconds = show_seconds,
    .moment = show_seconds,
    .error = show_error,
    .list = show_list,
    .map = show_map,
    .end = show_end,
};

void shown_reply_init(struct shown_reply *shown, struct buffer *out)
{
    *shown = (struct shown_reply){ .reply = { &shown_form }, .out = out };
}

// ---------------------------------------------------------------------------------------------
// Lines as redis-cli reads them

static char escaped(const char **at)
{
    char c = *(*at)++;
    if (c == 'x' && isxdigit((unsigned char)(*at)[0]) && isxdigit((unsigned char)(*at)[1])) {
        char hex[3] = { (*at)[0], (*at)[1], 0 };
        *at += 2;
        return (char)strtol(hex, NULL, 16);
    }
    return (char)(c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c);
}

static void read_word(struct talk *talk, const char **at)
{
    char quote = '\0';
    if (**at == '"' || **at == '\'') {
        quote = *(*at)++;
    }
    while (quote ? **at != quote : **at && !isspace((unsigned char)**at)) {
        assert_int_not_equal(**at, 0); // the quotes are closed
        char c = *(*at)++;
        bool escape = (quote == '"' && c == '\\') || (quote == '\'' && c == '\\' && **at == '\'');
        if (escape) {
            c = escaped(at);
        }
        buffer_append_char(&talk->bytes, c);
    }
    *at += quote != '\0';
}

struct slices split(struct talk *talk, const char *line)
{
    size_t ends[sizeof(talk->words) / sizeof(talk->words[0])];
    size_t count = 0;
    buffer_clear(&talk->bytes);
    for (const char *at = line; *at;) {
        if (isspace((unsigned char)*at)) {
            at++;
            continue;
        }
        assert_true(count < sizeof(ends) / sizeof(ends[0]));
        read_word(talk, &at);
        ends[count++] = talk->bytes.size;
    }
    for (size_t i = 0, start = 0; i < count; start = ends[i++]) {
        talk->words[i] = slice_make(talk->bytes.data + start, ends[i] - start);
    }
    return (struct slices){ talk->words, count };
}

// ---------------------------------------------------------------------------------------------
// The host

static uint64_t next_random(void *context)
{
    struct talk *talk = context;
    return ++talk->random;
}

// Central European time as it is in 2026.
static enum status find_zone(void *context, struct slice name, struct zone_rules *out,
                             struct error *error)
{
    static const struct zone_transition transitions[] = {
        { INT64_C(1774746000000000), 7200 }, // 2026-03-29T01:00:00Z
        { INT64_C(1792890000000000), 3600 }, // 2026-10-25T01:00:00Z
    };
    (void)context;
    if (!slice_equal(name, SLICE("Europe/Berlin"))) {
        return error_set(error, STATUS_NOT_FOUND, "time zone %.*s is not known", SLICE_PRINT(name));
    }
    *out = (struct zone_rules){ 3600, transitions, 2 };
    return STATUS_OK;
}

static void hear(void *context, const struct event *event)
{
    struct talk *talk = context;
    if (event->kind == EVENT_FINISHED && event->waiter == TALK_WAITER) {
        const struct slice from[] = { event->state, event->result, event->group, event->message };
        struct slice *const to[] = { &talk->finish.state, &talk->finish.result, &talk->finish.group,
                                     &talk->finish.message };
        char *at = talk->finish_bytes;
        for (size_t i = 0; TEST_ROW(i, from); i++) {
            assert_true(from[i].size <=
                        (size_t)(talk->finish_bytes + sizeof(talk->finish_bytes) - at));
            *to[i] = slice_make(at, from[i].size);
            if (from[i].size) {
                memcpy(at, from[i].data, from[i].size);
            }
            at += from[i].size;
        }
    }
}

struct talk *talk_new(const struct allocator *allocator)
{
    struct talk *talk = calloc(1, sizeof(*talk));
    assert_non_null(talk);
    const struct engine_options options = { .allocator = allocator,
                                            .seed = { 1, 2 },
                                            .clock = ENGINE_CLOCK_SERVER,
                                            .sink = { hear, talk } };
    assert_int_equal(engine_new(&options, &talk->engine), STATUS_OK);
    assert_int_equal(commands_new(&allocator_system, api_tables, API_TABLES, &talk->commands),
                     STATUS_OK);
    scratch_init(&talk->scratch, allocator);
    buffer_init(&talk->text, &allocator_system, TEXT_SIZE_MAX);
    buffer_init(&talk->bytes, &allocator_system, TEXT_SIZE_MAX);
    talk->host = (struct host){ .random = next_random, .zone = find_zone, .context = talk };
    talk->now_us = TALK_BEGINS_US;
    return talk;
}

void talk_free(struct talk *talk)
{
    engine_free(talk->engine);
    commands_free(talk->commands);
    scratch_release(&talk->scratch);
    buffer_release(&talk->text);
    buffer_release(&talk->bytes);
    free(talk);
}

int talk_begin(void **state)
{
    *state = talk_new(&allocator_system);
    return 0;
}

static void complain(void *context, const char *sentence)
{
    (void)context;
    print_error("%s\n", sentence);
}

int talk_end(void **state)
{
    struct talk *talk = *state;
    size_t broken = engine_check(talk->engine, false, complain, NULL);
    talk_free(talk);
    return broken ? -1 : 0;
}

// ---------------------------------------------------------------------------------------------
// A line and its answer

static const char *answer(struct talk *talk, const struct error *error)
{
    if (error) {
        append_error(&talk->text, error);
    }
    buffer_append_char(&talk->text, '\0');
    assert_int_equal(talk->text.status, STATUS_OK);
    return talk->text.data;
}

const char *run_words(struct talk *talk, const struct slice *words, size_t count)
{
    struct error error = { 0 };
    struct shown_reply shown;
    buffer_clear(&talk->text);
    shown_reply_init(&shown, &talk->text);
    const struct command *command = count ? commands_find(talk->commands, words[0]) : NULL;
    if (!command || count < 2) {
        (void)error_set(&error, STATUS_INVALID, command ? "no namespace" : "no such command");
        return answer(talk, &error);
    }
    (void)engine_tick(talk->engine, talk->now_us);
    struct call call = {
        .command = command,
        .ns = words[1],
        .engine = talk->engine,
        .now_us = talk->now_us,
        .reply = &shown.reply,
        .host = &talk->host,
        .last = talk->last,
        .waiter = TALK_WAITER,
        .finish = talk->finish.state.size ? &talk->finish : NULL,
    };
    enum status status =
        call_run(&call, (struct slices){ words + 2, count - 2 }, &talk->scratch, &error);
    talk->wait = call.wait;
    assert_int_equal(shown.depth, 0);
    if (status) {
        assert_int_equal(status, error.status);
        assert_int_equal(shown.values, 0);
        return answer(talk, &error);
    }
    if (call.wait.kind) {
        assert_true(command->flags & COMMAND_WAITS);
        assert_int_equal(shown.values, 0);
        return "(waits)";
    }
    assert_int_equal(shown.values, 1);
    return answer(talk, NULL);
}

const char *run(struct talk *talk, const char *line)
{
    struct slices words = split(talk, line);
    return run_words(talk, words.items, words.count);
}

bool shows(const char *shown, const char *wanted)
{
    size_t size = strlen(wanted);
    if (size >= 3 && strcmp(wanted + size - 3, "...") == 0) {
        return strncmp(shown, wanted, size - 3) == 0;
    }
    return strcmp(shown, wanted) == 0;
}

void says_at(struct talk *talk, const char *line, const char *reply, const char *file, int number)
{
    const char *shown = run(talk, line);
    if (!shows(shown, reply)) {
        (void)fprintf(stderr, "> %s\n%s\ninstead of\n%s\n", line, shown, reply);
        _fail(file, number);
    }
}

void passes(struct talk *talk, double seconds)
{
    talk->now_us += (int64_t)(seconds * 1e6);
}

void has(struct talk *t, const char *line, const char *pieces)
{
    const char *text = run(t, line), *at = text;
    while (*pieces) {
        const char *end = strstr(pieces, "...");
        size_t size = end ? (size_t)(end - pieces) : strlen(pieces);
        const char *found = size ? memmem(at, strlen(at), pieces, size) : at;
        if (!found) {
            print_error("> %s\n%s\nhas no\n%.*s\n", line, text, (int)size, pieces);
        }
        assert_non_null(found);
        at = found + size;
        pieces += end ? size + 3 : size;
    }
}
