// SPDX-License-Identifier: MIT
// Any bytes as calls of a qless client: a line is a call, its words have | between them. Whatever
// is said, each call gets one answer, what is JSON can be read, and the engine stays whole.
#include "fuzz.h"

#include "base/json.h"
#include "engine/check.h"
#include "faces/qless.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    WORDS_MAX = 32,
    CALLS_MAX = 64,
    DEPTH_MAX = 1000,
};

static void require(bool holds, const char *sentence)
{
    if (!holds) {
        (void)fprintf(stderr, "fuzz_qless: %s\n", sentence);
        abort();
    }
}

// Counts answers, and looks at those that are texts.
struct counter {
    struct reply reply;
    size_t answers;
    size_t left; // items of a list that are still to come
    bool json;   // a text must be JSON
};

static struct counter *count(struct reply *reply)
{
    struct counter *counter = (struct counter *)(void *)reply;
    if (counter->left) {
        counter->left--;
    } else {
        counter->answers++;
    }
    return counter;
}

static void say_null(struct reply *reply)
{
    (void)count(reply);
}

static void say_text(struct reply *reply, struct slice bytes)
{
    const struct counter *counter = count(reply);
    require(!counter->json || !json_validate(bytes, DEPTH_MAX, NULL), "an answer is no JSON");
}

static void say_integer(struct reply *reply, int64_t value)
{
    (void)value;
    (void)count(reply);
}

static void say_error(struct reply *reply, const struct error *error)
{
    require(error->status != STATUS_OK && error_sentence(error)[0], "an error says nothing");
    (void)count(reply);
}

static void say_list(struct reply *reply, size_t size)
{
    struct counter *counter = count(reply);
    counter->left = size;
    counter->json = false;
}

static void say_end(struct reply *reply)
{
    require(((struct counter *)(void *)reply)->left == 0, "a list is not full");
}

static const struct reply_form form = {
    .null = say_null,
    .text = say_text,
    .integer = say_integer,
    .error = say_error,
    .list = say_list,
    .end = say_end,
};

static void publish(void *context, struct slice channel, struct slice message)
{
    (void)context;
    require(slice_starts_with(channel, SLICE("ql:")) && message.size, "a message is empty");
}

static void receive(void *context, const struct event *event)
{
    const struct qless_sink sink = { publish, NULL };
    qless_publish(event, context, &sink);
}

static void found(void *context, const char *sentence)
{
    (void)context;
    require(false, sentence);
}

// Those that answer with JSON, whatever their words are. Names may be any bytes, and JSON is UTF-8:
// so only when all that was said is ASCII.
static bool answers_json(struct slice name, struct slice all)
{
    static const char *const names[] = { "get",   "multiget", "peek", "pop",    "queues",
                                         "stats", "workers",  "tag",  "failed", "recur.get" };
    for (size_t i = 0; i < all.size; i++) {
        if ((unsigned char)all.data[i] > 127) {
            return false;
        }
    }
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (slice_equal(name, slice_from_cstr(names[i]))) {
            return true;
        }
    }
    return false;
}

// The bytes up to the first `end`, which are taken away with it.
static struct slice take(struct slice *text, char end)
{
    const char *at = text->size ? memchr(text->data, end, text->size) : NULL;
    size_t size = at ? (size_t)(at - text->data) : text->size;
    struct slice taken = slice_sub(*text, 0, size);
    *text = slice_sub(*text, size + 1, SIZE_MAX);
    return taken;
}

static void call(struct engine *engine, struct slice line, struct slice all)
{
    struct slice words[WORDS_MAX];
    size_t size = 0;
    while (line.size && size < WORDS_MAX) {
        words[size++] = take(&line, '|');
    }
    struct counter counter = { .reply = { &form }, .json = size && answers_json(words[0], all) };
    qless_run(&(struct qless_call){ .engine = engine,
                                    .words = { words, size },
                                    .allocator = &allocator_system,
                                    .reply = &counter.reply });
    require(counter.answers == 1 && counter.left == 0, "a call has not exactly one answer");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct engine *engine;
    struct buffer scratch;
    buffer_init(&scratch, &allocator_system, SIZE_MAX - 1);
    const struct engine_options options = { .allocator = &allocator_system,
                                            .clock = ENGINE_CLOCK_CLIENT,
                                            .sink = { receive, &scratch } };
    require(!engine_new(&options, &engine), "no engine");
    const struct slice all = slice_make(data, size);
    (void)qless_recognise(all);
    struct slice left = all;
    for (int i = 0; left.size && i < CALLS_MAX; i++) {
        call(engine, take(&left, '\n'), all);
    }
    (void)engine_check(engine, false, found, NULL);
    engine_free(engine);
    buffer_release(&scratch);
    return 0;
}
