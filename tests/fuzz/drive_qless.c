// SPDX-License-Identifier: MIT
#include "drive.h"
#include "generate.h"
#include "qless_world.h"
#include "require.h"

#include <string.h>

enum {
    WORDS_MAX = 64,
};

#define BEGINS_S INT64_C(1784000000)

// What a call takes behind the time; or, where the name has a capital, what a script that makes one
// call takes, with its keys first. A letter is a word: n a name, w a worker, j JSON, l a list of
// names as JSON, i an integer, s seconds, t a text, T the time; with * one or more. Words with |
// between are alternatives. What stands behind ? may be left out, what stands in {} is a key and a
// value that may be left out.
static const struct shape {
    const char *name, *takes;
} shapes[] = {
    { "cancel", "n*" },
    { "complete", "n w n j ? { next n delay s depends l }" },
    { "config.get", "? o" },
    { "config.set", "o t" },
    { "config.unset", "o" },
    { "depends", "n on|off n*" },
    { "fail", "n w n t ? j" },
    { "failed", "? n i i" },
    { "get", "n" },
    { "heartbeat", "n w ? j" },
    { "jobs", "complete|running|stalled|scheduled|depends|recurring|waiting ? n i i" },
    { "length", "n" },
    { "log", "n t ? j" },
    { "multiget", "n*" },
    { "pause", "n*" },
    { "peek", "n i" },
    { "pop", "n w i" },
    { "priority", "n i" },
    { "put", "w n n n j s { priority i retries i tags l depends l }" },
    { "queue.forget", "n*" },
    { "queues", "? n" },
    { "recur", "n n n j interval s s { priority i retries i tags l backlog i klass n }" },
    { "recur.get", "n" },
    { "recur.tag", "n n*" },
    { "recur.untag", "n n*" },
    { "recur.update", "n { priority i interval s retries i data j klass n queue n backlog i }" },
    { "requeue", "w n n n j s { priority i retries i tags l depends l }" },
    { "retry", "n n w ? s n t" },
    { "stats", "n ? s" },
    { "tag", "add|remove|get|top n n*" },
    { "timeout", "n*" },
    { "track", "? track|untrack n" },
    { "unfail", "n n i" },
    { "unpause", "n*" },
    { "unrecur", "n" },
    { "worker.deregister", "w*" },
    { "workers", "? w" },
    { "Cancel", "n*" },
    { "Complete", "n w n T j ? { next n delay s depends l }" },
    { "Config", "get|set|unset ? o t" },
    { "Depends", "n on|off n*" },
    { "DeregisterWorkers", "w*" },
    { "Fail", "n w n t T ? j" },
    { "Failed", "? n i i" },
    { "Get", "n" },
    { "GetConfig", "? o" },
    { "Heartbeat", "n w T ? j" },
    { "Jobs", "complete|running|stalled|scheduled|depends|recurring|waiting T ? n i i" },
    { "Pause", "n*" },
    { "Peek", "n i T" },
    { "Pop", "n w i T" },
    { "Priority", "n i" },
    { "Put", "n n n j T s { priority i retries i tags l depends l }" },
    { "Queues", "T ? n" },
    { "Recur",
      "on|off|get|update|tag|untag n n n j T interval s s { priority i retries i tags l }" },
    { "Retry", "n n w T ? s" },
    { "SetConfig", "o ? t" },
    { "Stats", "n ? s" },
    { "Tag", "add|remove|get|top n T n*" },
    { "Track", "? track|untrack n T" },
    { "Unfail", "T n n i" },
    { "Workers", "T ? w" },
};

static bool makes_one_call(const struct shape *shape)
{
    return shape->name[0] >= 'A' && shape->name[0] <= 'Z';
}

enum {
    SHAPES = sizeof(shapes) / sizeof(shapes[0]),
};

struct words {
    struct slice items[WORDS_MAX];
    size_t count;
};

static void add(struct words *words, struct slice word)
{
    if (words->count < WORDS_MAX) {
        words->items[words->count++] = word;
    }
}

static struct slice generate_list(struct generator *generator)
{
    struct draw *draw = generator->draw;
    if (draw_chance(draw, 16)) {
        return generate_hostile(generator);
    }
    uint32_t count = draw_below(draw, 4);
    struct slice first = draw_chance(draw, 240) ? slice_from_cstr("\"a\"") : slice_from_cstr("7");
    struct slice second =
        draw_chance(draw, 128) ? slice_from_cstr("\"b\"") : slice_from_cstr("\"\\u0000\\n\"");
    return count == 0   ? SLICE("[]")
           : count == 1 ? generate_print(generator, "[%.*s]", SLICE_PRINT(first))
           : count == 2
               ? generate_print(generator, "[%.*s,%.*s]", SLICE_PRINT(first), SLICE_PRINT(second))
               : SLICE("{\"a\":1}");
}

static struct slice generate_of(struct generator *generator, char letter)
{
    static const struct argument integer = { .name = "integer",
                                             .type = ARGUMENT_INTEGER,
                                             .min = INT32_MIN,
                                             .max = INT32_MAX },
                                 seconds = { .name = "seconds",
                                             .type = ARGUMENT_SECONDS,
                                             .max = INT64_C(3162240000000000) },
                                 text = { .name = "text", .type = ARGUMENT_TEXT },
                                 json = { .name = "json", .type = ARGUMENT_JSON },
                                 option = { .name = "option", .type = ARGUMENT_NAME },
                                 worker = { .name = "worker", .type = ARGUMENT_NAME };
    switch (letter) {
    case 'T':
        return generate_print(generator, "%lld", (long long)(generator->now_us / 1000000));
    case 'n':
        return generate_name(generator);
    case 'w':
        return generate_value(generator, &worker);
    case 'o':
        return generate_value(generator, &option);
    case 'i':
        return generate_value(generator, &integer);
    case 's':
        return generate_value(generator, &seconds);
    case 't':
        return generate_value(generator, &text);
    case 'j':
        return generate_value(generator, &json);
    case 'l':
        return generate_list(generator);
    default:
        require(false, "a shape has an unknown letter");
        return SLICE_EMPTY;
    }
}

static struct slice next_token(struct slice *rest)
{
    const char *space = rest->size ? memchr(rest->data, ' ', rest->size) : NULL;
    size_t size = space ? (size_t)(space - rest->data) : rest->size;
    struct slice token = slice_sub(*rest, 0, size);
    *rest = slice_sub(*rest, space ? size + 1 : size, SIZE_MAX);
    return token;
}

static struct slice pick_alternative(struct draw *draw, struct slice token)
{
    struct slice alternatives[16] = { { 0 } };
    uint32_t count = 0;
    while (token.size && count < 16) {
        const char *bar = memchr(token.data, '|', token.size);
        size_t size = bar ? (size_t)(bar - token.data) : token.size;
        alternatives[count++] = slice_sub(token, 0, size);
        token = slice_sub(token, bar ? size + 1 : size, SIZE_MAX);
    }
    return alternatives[draw_below(draw, count)];
}

static void generate_words(struct generator *generator, const struct shape *shape,
                           struct words *words)
{
    struct draw *draw = generator->draw;
    struct slice rest = slice_from_cstr(shape->takes);
    bool options = false;
    while (rest.size) {
        struct slice token = next_token(&rest);
        if (slice_equal(token, SLICE("?"))) {
            if (draw_chance(draw, 80)) {
                return;
            }
        } else if (slice_equal(token, SLICE("{"))) {
            options = true;
        } else if (slice_equal(token, SLICE("}"))) {
            options = false;
        } else if (options) {
            char letter = next_token(&rest).data[0];
            if (draw_chance(draw, 80)) {
                add(words, token);
                add(words, generate_of(generator, letter));
            }
        } else if (token.size == 1) {
            add(words, generate_of(generator, token.data[0]));
        } else if (token.size == 2 && token.data[1] == '*') {
            for (uint32_t i = draw_below(draw, 4); i > 0; i--) {
                add(words, generate_of(generator, token.data[0]));
            }
        } else {
            add(words, pick_alternative(draw, token));
        }
    }
}

// A word too few, or one that is something else.
static void disturb(struct generator *generator, struct words *words)
{
    struct draw *draw = generator->draw;
    if (draw_chance(draw, 8)) {
        size_t at = draw_below(draw, (uint32_t)words->count);
        if (draw_chance(draw, 128)) {
            words->count = at;
        } else {
            words->items[at] = generate_hostile(generator);
        }
    }
}

static size_t drive(struct draw *draw, size_t steps, struct drive_counts *counts)
{
    struct qless_world world;
    struct generator generator;
    struct words words;
    size_t step = 0;
    int64_t now_s = BEGINS_S;
    qless_world_init(&world);
    generator_init(&generator, draw, now_s * 1000000);
    uint32_t put = 0, pop = 0;
    for (uint32_t i = 0; i < SHAPES; i++) {
        put = strcmp(shapes[i].name, "put") == 0 ? i : put;
        pop = strcmp(shapes[i].name, "pop") == 0 ? i : pop;
    }
    for (; step < steps && step < DRIVE_STEPS_MAX && !draw_is_over(draw) &&
           world.memory.used < BOUNDED_ENOUGH;
         step++) {
        generator_clear(&generator);
        if (draw_chance(draw, 24)) {
            // With this clock time may go back.
            now_s += (int64_t)draw_below(draw, 400) - 50;
        }
        uint32_t at = drive_pick(draw, SHAPES, put, pop);
        const struct shape *shape = &shapes[at];
        words.count = 0;
        add(&words, slice_from_cstr(shape->name));
        generator.now_us = now_s * 1000000;
        if (!makes_one_call(shape)) {
            add(&words, generate_of(&generator, 'T'));
        }
        generate_words(&generator, shape, &words);
        disturb(&generator, &words);
        bool worked = qless_world_call(&world, (struct slices){ words.items, words.count });
        drive_note(counts, at, "", shape->name, worked);
        if (step % DRIVE_CHECK_EVERY == 0) {
            qless_world_check(&world);
        }
    }
    qless_world_check(&world);
    qless_world_release(&world);
    return step;
}

// Every call of the unified script has a shape, and every shape before the scripts is a call.
static void check_shapes(void)
{
    size_t calls = 0;
    while (calls < SHAPES && !makes_one_call(&shapes[calls])) {
        calls++;
    }
    for (size_t i = 0; i < calls; i++) {
        require_of(shapes[i].name, slice_equal(qless_call_at(i), slice_from_cstr(shapes[i].name)),
                   "is not the call at this place of the table");
    }
    require(qless_call_at(calls).size == 0, "a call has no shape");
}

void drive_qless(struct draw *draw, size_t steps, struct drive_counts *counts)
{
    check_shapes();
    while (steps && !draw_is_over(draw)) {
        steps -= drive(draw, steps, counts);
    }
}
