// SPDX-License-Identifier: MIT
#include "command_world.h"
#include "drive.h"
#include "generate.h"

#include <string.h>

enum {
    WORDS_MAX = 8192,
    NOISE = 8,             // of 256 requests are not laid out as they should be
    SAVED_MAX = 256 << 10, // of an engine up to this size every step is compared
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

static void add_given(struct words *words, const struct given *given, bool options)
{
    for (size_t i = 0; i < given->argument_count; i++) {
        const struct given_argument *at = &given->arguments[i];
        bool option = at->argument->flags & ARGUMENT_OPTION;
        if (option != options) {
            continue;
        }
        if (option && at->argument->type == ARGUMENT_FLAG) {
            add(words, slice_from_cstr(at->argument->name));
        }
        for (size_t v = 0; v < at->count; v++) {
            if (option) {
                add(words, slice_from_cstr(at->argument->name));
            }
            add(words, given->values[at->first + v]);
        }
    }
}

// Arguments, then options; of a command whose last argument is repeated the options stand before
// that one, with -- between.
static void lay_out(struct words *words, struct given *given)
{
    const struct given_argument *last = NULL;
    for (size_t i = 0; i < given->argument_count; i++) {
        const struct argument *argument = given->arguments[i].argument;
        if (!(argument->flags & ARGUMENT_OPTION)) {
            last = &given->arguments[i];
        }
    }
    bool rest = last && (last->argument->flags & ARGUMENT_REPEATED) &&
                !(last->argument->flags & ARGUMENT_OPTION);
    if (!rest) {
        add_given(words, given, false);
        add_given(words, given, true);
        return;
    }
    struct given_argument kept = *last;
    size_t at = (size_t)(last - given->arguments);
    given->arguments[at].count = 0;
    add_given(words, given, false);
    add_given(words, given, true);
    add(words, SLICE("--"));
    for (size_t v = 0; v < kept.count; v++) {
        add(words, given->values[kept.first + v]);
    }
}

static void generate_words(struct generator *generator, const struct command *command,
                           struct words *words)
{
    static struct given given;
    if (!command->each) {
        generate_arguments(generator, command, &given);
        lay_out(words, &given);
        return;
    }
    static struct words element;
    for (uint32_t i = draw_below(generator->draw, 4); i > 0; i--) {
        element.count = 0;
        generate_words(generator, command->each, &element);
        add(words, generate_print(generator, "%zu", element.count));
        for (size_t k = 0; k < element.count; k++) {
            add(words, element.items[k]);
        }
    }
}

// A word too many, one too few, one twice, one that is something else.
static void disturb(struct generator *generator, struct words *words)
{
    struct draw *draw = generator->draw;
    if (!words->count || !draw_chance(draw, NOISE)) {
        return;
    }
    size_t at = draw_below(draw, (uint32_t)words->count);
    switch (draw_below(draw, 4)) {
    case 0:
        words->count--;
        break;
    case 1:
        add(words, words->items[at]);
        break;
    case 2:
        words->items[at] = generate_hostile(generator);
        break;
    default:
        memmove(words->items + at, words->items + at + 1,
                (words->count - at - 1) * sizeof(*words->items));
        words->count--;
        break;
    }
}

static int64_t draw_pass_us(struct draw *draw)
{
    static const int64_t passes[] = { 1, 1000, 500000, 1000000, 5000000, 61000000, 3600000000 };
    return passes[draw_below(draw, sizeof(passes) / sizeof(passes[0]))];
}

// Of each few steps one has little room for its answer.
static size_t room_for(size_t step)
{
    static const size_t rooms[] = { SIZE_MAX, 0, SIZE_MAX, 8200, SIZE_MAX, 10000, SIZE_MAX, 70000 };
    return rooms[step % (sizeof(rooms) / sizeof(rooms[0]))];
}

// With one engine; gives how many steps were made.
static size_t drive(struct draw *draw, size_t steps, struct drive_counts *counts)
{
    static struct words words;
    struct command_world world;
    struct generator generator;
    size_t step = 0, commands = 0;
    command_world_init(&world);
    generator_init(&generator, draw, world.now_us);
    uint32_t put = 0, pop = 0;
    for (const struct command *at; (at = commands_at(world.commands, commands)); commands++) {
        put = strcmp(at->name, "Q.PUT") == 0 ? (uint32_t)commands : put;
        pop = strcmp(at->name, "Q.POP") == 0 ? (uint32_t)commands : pop;
    }
    for (; step < steps && step < DRIVE_STEPS_MAX && !draw_is_over(draw) &&
           world.memory.used < BOUNDED_ENOUGH;
         step++) {
        generator_clear(&generator);
        generator.now_us = world.now_us;
        if (draw_chance(draw, 24)) {
            command_world_pass(&world, draw_pass_us(draw));
        }
        uint32_t at = drive_pick(draw, (uint32_t)commands, put, pop);
        const struct command *command = commands_at(world.commands, at);
        words.count = 0;
        generate_words(&generator, command, &words);
        disturb(&generator, &words);
        world.room = room_for(step);
        world.compares = world.after.size < SAVED_MAX || step % DRIVE_CHECK_EVERY == 0;
        enum status status =
            command_world_run(&world, command, (struct slices){ words.items, words.count });
        drive_note(counts, at, "", command->name, status == STATUS_OK);
        if (step % DRIVE_CHECK_EVERY == 0) {
            command_world_check(&world);
        }
    }
    command_world_check(&world);
    command_world_release(&world);
    return step;
}

void drive_command(struct draw *draw, size_t steps, struct drive_counts *counts)
{
    while (steps && !draw_is_over(draw)) {
        steps -= drive(draw, steps, counts);
    }
}
