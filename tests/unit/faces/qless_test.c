// SPDX-License-Identifier: MIT
#include "qless_test.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    WORDS_MAX = 64,
    SIZE_MAX_OF_TEXT = 1 << 20,
};

// ---------------------------------------------------------------------------------------------
// Answers

struct recorder {
    struct reply reply;
    struct conversation *conversation;
    size_t left[8]; // items that are still to come, of each list that is open
    size_t depth;
};

static struct buffer *answer_of(struct reply *reply)
{
    return &((struct recorder *)(void *)reply)->conversation->answer;
}

// An item: it is one less that is to come.
static struct buffer *next(struct reply *reply)
{
    struct recorder *recorder = (struct recorder *)(void *)reply;
    struct buffer *out = answer_of(reply);
    if (recorder->depth > 0) {
        assert_true(recorder->left[recorder->depth - 1]-- > 0);
        if (out->data[out->size - 1] != '[') {
            buffer_append(out, SLICE(", "));
        }
    }
    return out;
}

static void say_null(struct reply *reply)
{
    buffer_append(next(reply), SLICE("(nil)"));
}

static void say_text(struct reply *reply, struct slice bytes)
{
    buffer_append(next(reply), bytes);
}

static void say_integer(struct reply *reply, int64_t value)
{
    buffer_printf(next(reply), "(integer) %" PRId64, value);
}

static void say_error(struct reply *reply, const struct error *error)
{
    struct recorder *recorder = (struct recorder *)(void *)reply;
    recorder->conversation->status = error->status;
    assert_int_equal(recorder->conversation->answer.size, 0);
    buffer_printf(next(reply), "(error) %s", error_sentence(error));
}

static void say_list(struct reply *reply, size_t count)
{
    struct recorder *recorder = (struct recorder *)(void *)reply;
    buffer_append_char(next(reply), '[');
    recorder->left[recorder->depth++] = count;
}

static void say_end(struct reply *reply)
{
    struct recorder *recorder = (struct recorder *)(void *)reply;
    assert_int_equal(recorder->left[--recorder->depth], 0);
    buffer_append_char(answer_of(reply), ']');
}

static size_t room(const struct reply *reply)
{
    const struct recorder *recorder = (const struct recorder *)(const void *)reply;
    return recorder->conversation->room ? recorder->conversation->room : SIZE_MAX;
}

// What qless does not know of is not there, and would not be survived.
static const struct reply_ops form = {
    .null = say_null,
    .text = say_text,
    .integer = say_integer,
    .error = say_error,
    .list = say_list,
    .end = say_end,
    .room = room,
};

// ---------------------------------------------------------------------------------------------
// Messages

static void publish(void *context, struct slice channel, struct slice message)
{
    struct conversation *c = context;
    buffer_printf(&c->messages, "%s%.*s %.*s", c->messages.size ? "; " : "", SLICE_PRINT(channel),
                  SLICE_PRINT(message));
}

static void receive(void *context, const struct event *event)
{
    struct conversation *c = context;
    const struct qless_sink sink = { publish, c };
    qless_publish(event, c->generations, &c->scratch, &sink);
}

void expect_messages(struct conversation *c, const char *messages)
{
    buffer_append_char(&c->messages, '\0');
    assert_string_equal(c->messages.data, messages);
    buffer_clear(&c->messages);
}

// ---------------------------------------------------------------------------------------------
// Conversations

int conversation_begin(void **state)
{
    static struct conversation c;
    c = (struct conversation){ .generations = QLESS_GENERATION_UNIFIED };
    fault_alloc_init(&c.fault);
    buffer_init(&c.answer, &allocator_system, SIZE_MAX_OF_TEXT);
    buffer_init(&c.messages, &allocator_system, SIZE_MAX_OF_TEXT);
    buffer_init(&c.scratch, &allocator_system, SIZE_MAX_OF_TEXT);
    const struct engine_options options = { .allocator = &c.fault.allocator,
                                            .clock = ENGINE_CLOCK_CLIENT,
                                            .sink = { receive, &c } };
    *state = &c;
    return engine_new(&options, &c.engine) ? -1 : 0;
}

int conversation_end(void **state)
{
    struct conversation *c = *state;
    engine_free(c->engine);
    buffer_release(&c->answer);
    buffer_release(&c->messages);
    buffer_release(&c->scratch);
    fault_alloc_release(&c->fault);
    return 0;
}

// Words with blanks between them.
static size_t split(const char *text, struct slice words[WORDS_MAX])
{
    size_t count = 0;
    while (*text) {
        bool quoted = *text == '\'';
        text += quoted;
        size_t size = strcspn(text, quoted ? "'" : " ");
        assert_true(count < WORDS_MAX);
        words[count++] = slice_make(text, size);
        text += size;
        text += quoted && *text == '\'';
        text += *text == ' ';
    }
    return count;
}

static const char *say_to(struct conversation *c, enum qless_script script, const char *keys,
                          const char *words)
{
    struct slice key_slices[WORDS_MAX], word_slices[WORDS_MAX];
    struct recorder recorder = { .reply = { &form }, .conversation = c };
    buffer_clear(&c->answer);
    c->status = STATUS_OK;
    const struct qless_call call = {
        .engine = c->engine,
        .script = script,
        .keys = { key_slices, split(keys, key_slices) },
        .words = { word_slices, split(words, word_slices) },
        .host_us = INT64_C(1000) * 1000000,
        .allocator = &c->fault.allocator,
        .reply = &recorder.reply,
    };
    qless_run(&call);
    assert_int_equal(recorder.depth, 0);
    assert_true(c->answer.size > 0 || c->status == STATUS_OK);
    buffer_append_char(&c->answer, '\0');
    return c->answer.data;
}

const char *say_with_keys(struct conversation *c, const char *keys, const char *words)
{
    return say_to(c, QLESS_API, keys, words);
}

const char *say_script(struct conversation *c, const char *name, const char *keys,
                       const char *words)
{
    char text[128];
    int size =
        snprintf(text, sizeof(text),
                 "return redis.call('zrevrange', 'ql:', ARGV[1]) or error('%s(): no')", name);
    enum qless_script script = qless_recognise(slice_make(text, (size_t)size));
    assert_true(script >= QLESS_SPLIT);
    return say_to(c, script, keys, words);
}

const char *say(struct conversation *c, const char *words)
{
    return say_with_keys(c, "", words);
}

void told_of(struct conversation *c, const char *words, const char *part)
{
    const char *answer = say(c, words);
    if (!strstr(answer, part)) {
        print_error("%s\n  tells %s\n  not %s\n", words, answer, part);
        fail();
    }
}
