// SPDX-License-Identifier: MIT
#include "command_world.h"

#include "engine/check/check.h"
#include "engine/measure/metrics.h"
#include "engine_snapshot.h"
#include "require.h"

#include <string.h>

enum {
    DEPTH_MAX = 16,
    SAVED_SIZE_MAX = 1 << 28,
    TICKS_MAX = 64,
    FRAME_SIZE = 16, // around a value
};

#define BEGINS_US INT64_C(1784000000500000)

// ---------------------------------------------------------------------------------------------
// A reply that only counts, and reads every byte that it is given

struct counted {
    struct reply reply;
    size_t left[DEPTH_MAX]; // of the open lists and maps
    size_t depth;
    size_t values;
    unsigned sum;
    size_t said, room; // bytes, as RESP would take them
};

static struct counted *count_value(struct reply *reply)
{
    struct counted *counted = (struct counted *)(void *)reply; // it is the first member
    counted->said += FRAME_SIZE;
    if (counted->depth == 0) {
        counted->values++;
    } else {
        require(counted->left[counted->depth - 1]-- > 0, "a list has more than it said");
    }
    return counted;
}

static void count_null(struct reply *reply)
{
    (void)count_value(reply);
}

static void count_text(struct reply *reply, struct slice bytes)
{
    struct counted *counted = count_value(reply);
    counted->said += bytes.size;
    for (size_t i = 0; i < bytes.size; i++) {
        counted->sum += (unsigned char)bytes.data[i];
    }
}

static void count_integer(struct reply *reply, int64_t value)
{
    count_value(reply)->sum += (unsigned)value;
}

static void count_boolean(struct reply *reply, bool value)
{
    count_value(reply)->sum += value;
}

static void count_number(struct reply *reply, double value)
{
    count_value(reply)->sum += value > 0;
}

static void count_error(struct reply *reply, const struct error *error)
{
    count_value(reply)->said += strlen(error->detail);
    require(error->status && error->detail[0], "an error has no words");
}

static void count_open(struct reply *reply, size_t count)
{
    struct counted *counted = count_value(reply);
    require(counted->depth < DEPTH_MAX, "a reply is too deep");
    counted->left[counted->depth++] = count;
}

static void count_map(struct reply *reply, size_t pairs)
{
    count_open(reply, 2 * pairs);
}

static void count_end(struct reply *reply)
{
    struct counted *counted = (struct counted *)(void *)reply;
    require(counted->depth > 0 && counted->left[--counted->depth] == 0,
            "a list has fewer than it said");
}

static size_t count_room(const struct reply *reply)
{
    const struct counted *counted = (const struct counted *)(const void *)reply;
    return counted->said < counted->room ? counted->room - counted->said : 0;
}

static size_t count_room_max(const struct reply *reply)
{
    return ((const struct counted *)(const void *)reply)->room;
}

static const struct reply_ops counted_form;

static size_t count_measure(struct reply *reply, reply_writer *write, const void *about)
{
    struct counted apart = { .reply = { &counted_form }, .room = count_room_max(reply) };
    write(&apart.reply, about);
    return apart.said;
}

static const struct reply_ops counted_form = {
    .null = count_null,
    .word = count_text,
    .text = count_text,
    .json = count_text,
    .prose = count_text,
    .integer = count_integer,
    .boolean = count_boolean,
    .number = count_number,
    .seconds = count_integer,
    .moment = count_integer,
    .error = count_error,
    .list = count_open,
    .map = count_map,
    .end = count_end,
    .room = count_room,
    .room_max = count_room_max,
    .measure = count_measure,
    .growth = 1,
    .error_size = FRAME_SIZE + REPLY_SHORT_ERROR,
};

// ---------------------------------------------------------------------------------------------
// The host

static uint64_t next_random(void *context)
{
    struct command_world *world = context;
    return ++world->random;
}

static enum status find_zone(void *context, struct slice name, struct zone_rules *out,
                             struct error *error)
{
    static const struct zone_transition transition = { BEGINS_US, 7200 };
    (void)context;
    *out = (struct zone_rules){ 3600, &transition, 1 };
    return slice_equal(name, SLICE("Z")) ? STATUS_OK
                                         : error_set(error, STATUS_NOT_FOUND, "no such zone");
}

static void settle(struct command_world *world)
{
    for (int i = 0; i < TICKS_MAX && engine_tick(world->engine, world->now_us) <= world->now_us;
         i++) {
    }
}

static void save(const struct command_world *world, struct buffer *out)
{
    buffer_clear(out);
    require(!engine_save(world->engine, out), "the engine cannot be saved");
}

// What changes something although it only reads, or fails: the list of workers forgets some, and a
// recurring job that is refused may have made its time zone known.
static bool is_excused(const struct command *command)
{
    return strcmp(command->name, "Q.WORKERS") == 0 || strcmp(command->name, "Q.RECUR") == 0;
}

static size_t count_running(const struct command_world *world)
{
    return engine_count(world->engine,
                        &(struct count_filter){ .has_state = true, .state = JOB_RUNNING });
}

enum status command_world_run(struct command_world *world, const struct command *command,
                              struct slices words)
{
    struct counted counted = { .reply = { &counted_form }, .room = world->room };
    struct error error = { 0 };
    struct call call = { .command = command,
                         .ns = SLICE("app"),
                         .engine = world->engine,
                         .now_us = world->now_us,
                         .reply = &counted.reply,
                         .host = &world->host,
                         .waiter = 1 };
    size_t running = count_running(world);
    if (world->compares) {
        save(world, &world->before);
    }
    enum status status = call_run(&call, words, &world->scratch, &error);
    engine_wait_end(world->engine, 1);
    require(counted.depth == 0, "a reply is not whole");
    require(counted.values == (status == STATUS_OK && call.wait.kind == WAIT_NONE),
            "a command does not answer with one value");
    if (status) {
        require(error.status == status && error.detail[0], "a command fails without a word");
    }
    require_of(command->name, !(command->flags & COMMAND_WRITES) || counted.said <= counted.room,
               "writes, and says more than there is room for");
    if (world->compares && !is_excused(command)) {
        save(world, &world->after);
        bool same = slice_equal(buffer_slice(&world->before), buffer_slice(&world->after));
        bool reads = command->flags & COMMAND_READS;
        // A worker whose pop found nothing that fits was seen.
        same |= status == STATUS_TOO_LARGE && strcmp(command->name, "Q.POP") == 0 &&
                running == count_running(world);
        require_of(command->name, same || !status, "fails and has changed something");
        require_of(command->name, same || !reads, "only reads, and wrote");
    }
    settle(world);
    return status;
}

void command_world_pass(struct command_world *world, int64_t pass_us)
{
    world->now_us += pass_us;
    settle(world);
}

static void report(void *context, const char *sentence)
{
    (void)context;
    require(false, sentence);
}

void command_world_check(struct command_world *world)
{
    (void)engine_check(world->engine, false, report, NULL);
}

void command_world_init(struct command_world *world)
{
    *world = (struct command_world){ .now_us = BEGINS_US, .compares = true, .room = SIZE_MAX };
    bounded_init(&world->memory);
    const struct engine_options options = { .allocator = &world->memory.allocator,
                                            .seed = { 1, 2 } };
    require(!engine_new(&options, &world->engine) &&
                !commands_new(&allocator_system, api_tables, API_TABLES, &world->commands),
            "no memory");
    world->host = (struct host){ .random = next_random, .zone = find_zone, .context = world };
    scratch_init(&world->scratch, &allocator_system);
    buffer_init(&world->before, &allocator_system, SAVED_SIZE_MAX);
    buffer_init(&world->after, &allocator_system, SAVED_SIZE_MAX);
    settle(world); // so that the engine knows the time
}

void command_world_release(struct command_world *world)
{
    buffer_release(&world->before);
    buffer_release(&world->after);
    scratch_release(&world->scratch);
    commands_free(world->commands);
    engine_free(world->engine);
}
