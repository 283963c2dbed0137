// SPDX-License-Identifier: MIT
#include "qless_world.h"

#include "base/json.h"
#include "engine/check/check.h"
#include "require.h"

#include <stdio.h>

enum {
    DEPTH_MAX = 1000,
};

// Counts answers, and looks at those that are texts.
struct counter {
    struct reply reply;
    size_t answers;
    size_t left; // items of a list that are still to come
    bool json;   // a text must be JSON
    bool error;  // it was refused
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
    count(reply)->error = true;
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

static const struct reply_ops form = {
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
    require(channel.size && message.size, "a message is empty");
}

static void receive(void *context, const struct event *event)
{
    const struct qless_sink sink = { publish, NULL };
    qless_publish(event, QLESS_GENERATION_UNIFIED | QLESS_GENERATION_SPLIT, context, &sink);
}

static void found(void *context, const char *sentence)
{
    (void)context;
    require(false, sentence);
}

// Those that answer with JSON, whatever their words are.
static bool answers_json(struct slice name)
{
    static const char *const names[] = { "get",   "multiget", "peek", "pop",    "queues",
                                         "stats", "workers",  "tag",  "failed", "recur.get" };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (slice_equal(name, slice_from_cstr(names[i]))) {
            return true;
        }
    }
    return false;
}

static bool is_ascii(struct slice text)
{
    for (size_t i = 0; i < text.size; i++) {
        if ((unsigned char)text.data[i] > 127) {
            return false;
        }
    }
    return true;
}

// The script of that name, of the generation that has one for each call; else the unified one.
static enum qless_script script_of(struct slice name)
{
    char text[64];
    if (name.size == 0 || name.size > 32) {
        return QLESS_API;
    }
    int size = snprintf(text, sizeof(text), "zrevrange 'ql:' ARGV '%.*s():", SLICE_PRINT(name));
    enum qless_script script = qless_recognise(slice_make(text, (size_t)size));
    return script < QLESS_SPLIT ? QLESS_API : script;
}

// How many of the words behind the name are keys.
static size_t keys_of(struct slice name, size_t words)
{
    bool one = slice_equal(name, SLICE("Put")) || slice_equal(name, SLICE("Pop")) ||
               slice_equal(name, SLICE("Peek"));
    return one && words > 0;
}

bool qless_world_call(struct qless_world *world, struct slices words)
{
    for (size_t i = 0; i < words.count; i++) {
        world->ascii = world->ascii && is_ascii(words.items[i]);
    }
    enum qless_script script = words.count ? script_of(words.items[0]) : QLESS_API;
    struct slices keys = { NULL, 0 };
    if (script >= QLESS_SPLIT) {
        keys = (struct slices){ words.items + 1, keys_of(words.items[0], words.count - 1) };
        words = (struct slices){ keys.items + keys.count, words.count - 1 - keys.count };
    }
    struct counter counter = { .reply = { &form },
                               .json =
                                   world->ascii && answers_json(qless_call_name(script, words)) };
    qless_run(&(struct qless_call){ .engine = world->engine,
                                    .script = script,
                                    .keys = keys,
                                    .words = words,
                                    .host_us = INT64_C(1784000000000000),
                                    .random = ++world->random,
                                    .allocator = &allocator_system,
                                    .reply = &counter.reply });
    require(counter.answers == 1 && counter.left == 0, "a call has not exactly one answer");
    return !counter.error;
}

void qless_world_check(struct qless_world *world)
{
    (void)engine_check(world->engine, false, found, NULL);
}

void qless_world_init(struct qless_world *world)
{
    *world = (struct qless_world){ .ascii = true };
    buffer_init(&world->scratch, &allocator_system, SIZE_MAX - 1);
    bounded_init(&world->memory);
    const struct engine_options options = { .allocator = &world->memory.allocator,
                                            .clock = ENGINE_CLOCK_CLIENT,
                                            .sink = { receive, &world->scratch } };
    require(!engine_new(&options, &world->engine), "no engine");
}

void qless_world_release(struct qless_world *world)
{
    engine_free(world->engine);
    buffer_release(&world->scratch);
}
