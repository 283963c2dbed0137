// SPDX-License-Identifier: MIT
// No command does more work in one call than STEPS_MAX, however much there is: every command of the
// tables is run, with arguments made from the tables, on a large engine. Work is counted (objects
// visited by the engine, values of the reply), never timed. A command that is added is part of this
// by itself.
#include "transcript.h"

#include "base/num.h"
#include "engine/lanes/limit.h"
#include "engine/measure/metrics.h"

#include <stdio.h>

enum {
    STEPS_MAX = 200000, // some 10 ms: a worker that holds 2,000 jobs, shown in full, takes most
    MANY = 10000,       // of each kind of thing
    REPEATED = 1000,    // words where a command takes any number of them
    ELEMENTS = 100,     // of a command that takes many requests
    WORDS_MAX = 8192,
};

// ---------------------------------------------------------------------------------------------
// A reply that is only counted

struct counted {
    struct reply reply;
    uint64_t values;
};

static void count(struct reply *reply)
{
    ((struct counted *)(void *)reply)->values++;
}

static void count_slice(struct reply *reply, struct slice bytes)
{
    (void)bytes;
    count(reply);
}

static void count_integer(struct reply *reply, int64_t value)
{
    (void)value;
    count(reply);
}

static void count_boolean(struct reply *reply, bool value)
{
    (void)value;
    count(reply);
}

static void count_number(struct reply *reply, double value)
{
    (void)value;
    count(reply);
}

static void count_error(struct reply *reply, const struct error *error)
{
    (void)error;
    count(reply);
}

static void count_size(struct reply *reply, size_t size)
{
    (void)size;
    count(reply);
}

static const struct reply_ops counting = {
    .null = count,
    .word = count_slice,
    .text = count_slice,
    .json = count_slice,
    .prose = count_slice,
    .integer = count_integer,
    .boolean = count_boolean,
    .number = count_number,
    .seconds = count_integer,
    .moment = count_integer,
    .error = count_error,
    .list = count_size,
    .map = count_size,
    .end = count,
};

// ---------------------------------------------------------------------------------------------
// A large engine

static struct slice name(struct buffer *room, const char *prefix, size_t number)
{
    buffer_clear(room);
    buffer_append(room, slice_from_cstr(prefix));
    num_append_u64(room, number);
    return buffer_slice(room);
}

static void put(struct talk *t, struct put_request request)
{
    const struct job *job;
    struct error error;
    request.klass = SLICE("k");
    request.data = SLICE("{}");
    if (engine_put(t->engine, t->now_us, &request, &job, &error)) {
        fail_msg("%s", error.detail);
    }
}

static void pop(struct talk *t, struct slice queue, struct slice worker, size_t most)
{
    const struct job *jobs[1000];
    size_t popped;
    const struct pop_request request = { .worker = worker, .queues = { &queue, 1 }, .count = most };
    assert_int_equal(engine_pop(t->engine, t->now_us, &request, jobs, &popped, NULL), 0);
}

// The job `hub`, which runs, has as many dependents as it may, and `sink` as many dependencies.
static void make_graph(struct talk *t, struct buffer *room)
{
    const struct slice hub = SLICE("hub"), tag = SLICE("t");
    put(t, (struct put_request){ .queue = SLICE("hubs"), .jid = hub });
    pop(t, SLICE("hubs"), SLICE("w"), 1);
    static char texts[MANY][16];
    static struct slice jids[MANY];
    for (size_t i = 0; i < MANY; i++) {
        struct slice jid = name(room, "d", i);
        put(t, (struct put_request){ .queue = SLICE("big"),
                                     .jid = jid,
                                     .depends = { &hub, 1 },
                                     .has_tags = true,
                                     .tags = { &tag, 1 } });
        memcpy(texts[i], jid.data, jid.size);
        jids[i] = slice_make(texts[i], jid.size);
    }
    put(t, (struct put_request){
               .queue = SLICE("big"), .jid = SLICE("sink"), .depends = { jids, MANY } });
}

static void make_failures(struct talk *t, struct buffer *room)
{
    struct buffer group;
    buffer_init(&group, &allocator_system, 64);
    for (size_t i = 0; i < MANY; i++) {
        struct slice jid = name(room, "f", i);
        put(t, (struct put_request){ .queue = SLICE("fails"), .jid = jid });
        pop(t, SLICE("fails"), SLICE("w"), 1);
        struct slice kind = i % 2 ? name(&group, "g", i) : SLICE("g");
        const struct fail_request request = {
            .holder = { .jid = jid, .worker = SLICE("w") },
            .group = kind,
            .message = SLICE("m"),
        };
        assert_int_equal(engine_fail(t->engine, t->now_us, &request, NULL), 0);
    }
    buffer_release(&group);
}

static void make_complete(struct talk *t, struct buffer *room)
{
    enum job_state state;
    for (size_t i = 0; i < MANY; i++) {
        struct slice jid = name(room, "c", i);
        put(t, (struct put_request){ .queue = SLICE("ends"), .jid = jid });
        pop(t, SLICE("ends"), SLICE("w"), 1);
        const struct complete_request request = { .holder = { .jid = jid, .worker = SLICE("w") } };
        assert_int_equal(engine_complete(t->engine, t->now_us, &request, &state, NULL), 0);
    }
}

// As many queues, lanes, priorities, workers with a lease, tags, jobs that fall due at one instant,
// recurring jobs and limits.
static void make_others(struct talk *t, struct buffer *room)
{
    struct buffer other;
    buffer_init(&other, &allocator_system, 64);
    for (size_t i = 0; i < MANY; i++) {
        struct slice queue = name(&other, "q", i);
        put(t, (struct put_request){ .queue = queue, .jid = name(room, "a", i) });
        pop(t, queue, name(room, "w", i), 1);
        struct slice domain = name(&other, "domain", i);
        put(t, (struct put_request){ .queue = SLICE("big"),
                                     .jid = name(room, "l", i),
                                     .has_priority = true,
                                     .priority = (int32_t)i,
                                     .has_domain = true,
                                     .domain = domain,
                                     .has_tags = true,
                                     .tags = { &domain, 1 } });
        put(t, (struct put_request){ .queue = SLICE("big"),
                                     .jid = name(room, "s", i),
                                     .delay_us = INT64_C(10) * 1000000 });
        bool tracked;
        assert_int_equal(engine_track(t->engine, t->now_us, name(room, "s", i), &tracked, NULL), 0);
        const struct recur_request recur = { .queue = SLICE("big"),
                                             .jid = name(room, "r", i),
                                             .klass = SLICE("k"),
                                             .data = SLICE("{}"),
                                             .interval_us = 3600 * INT64_C(1000000),
                                             .offset_us = INT64_C(20) * 1000000 };
        assert_int_equal(engine_recur(t->engine, t->now_us, &recur, NULL), 0);
    }
    const struct limit limit = { .has_concurrency = true, .concurrency = 5 };
    for (size_t i = 0; i < 100; i++) {
        struct slice pattern = name(&other, "*omai*n*", i);
        assert_int_equal(engine_limit_set(t->engine, t->now_us, SLICE_EMPTY, pattern, &limit, NULL),
                         0);
    }
    buffer_release(&other);
}

static void make_large(struct talk *t)
{
    struct buffer room;
    buffer_init(&room, &allocator_system, 64);
    make_graph(t, &room);
    make_failures(t, &room);
    make_complete(t, &room);
    make_others(t, &room);
    buffer_release(&room);
}

// ---------------------------------------------------------------------------------------------
// Words from the tables

struct line {
    struct slice words[WORDS_MAX];
    size_t count;
    struct buffer bytes; // what they are in; never moved
};

static void add(struct line *line, struct slice word)
{
    assert_true(line->count < WORDS_MAX);
    size_t start = line->bytes.size;
    assert_true(start + word.size <= line->bytes.capacity);
    buffer_append(&line->bytes, word);
    line->words[line->count++] = slice_make(line->bytes.data + start, word.size);
}

// A name of something that is large, by what the argument is called.
static struct slice name_for(const struct argument *argument, size_t variant)
{
    static const struct {
        const char *part;
        const char *names[3];
    } known[] = {
        { "jid", { "hub", "sink", "d1" } },
        { "dependency", { "sink", "hub", "d1" } },
        { "worker", { "w", "w1", "w2" } },
        { "group", { "g", "g1", "g3" } },
        { "tag", { "t", "domain1", "t" } },
        { "domain", { "domain1", "*omain*", "x" } },
        { "option", { "heartbeat", "big-fair", "heartbeat" } },
        { "token", { "1", "1", "1" } },
    };
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (strstr(argument->name, known[i].part)) {
            return slice_from_cstr(known[i].names[variant % 3]);
        }
    }
    return variant % 3 == 2 ? SLICE("ends") : SLICE("big");
}

static void add_value(struct line *line, const struct argument *argument, size_t variant)
{
    char text[32];
    switch (argument->type) {
    case ARGUMENT_NAME:
    case ARGUMENT_TEXT:
        add(line, name_for(argument, variant));
        return;
    case ARGUMENT_JSON:
        add(line, SLICE("{}"));
        return;
    case ARGUMENT_INTEGER: {
        int64_t value = variant % 2 ? argument->min : argument->max;
        (void)snprintf(text, sizeof(text), "%lld", (long long)value);
        add(line, slice_from_cstr(text));
        return;
    }
    case ARGUMENT_WORD: {
        size_t words = 0;
        while (argument->words[words]) {
            words++;
        }
        add(line, slice_from_cstr(argument->words[variant % words]));
        return;
    }
    case ARGUMENT_SECONDS:
    case ARGUMENT_MOMENT:
    case ARGUMENT_FRACTION:
        add(line, SLICE("1"));
        return;
    case ARGUMENT_FLAG:
        return;
    }
}

static void add_many(struct line *line, const struct argument *argument, size_t variant,
                     size_t most)
{
    struct buffer room;
    buffer_init(&room, &allocator_system, 64);
    add_value(line, argument, variant);
    const char *prefix = strstr(argument->name, "queue")    ? "q"
                         : strstr(argument->name, "worker") ? "w"
                         : strstr(argument->name, "tag")    ? "domain"
                                                            : "d";
    for (size_t i = 1; i < most; i++) {
        add(line, name(&room, prefix, i));
    }
    buffer_release(&room);
}

// The arguments, and of the options one (`option`), none or all.
static void add_arguments(struct line *line, const struct command *command, size_t option,
                          size_t variant, size_t most)
{
    for (size_t i = 0; i < command->argument_count; i++) {
        const struct argument *argument = &command->arguments[i];
        bool is_option = argument->flags & ARGUMENT_OPTION;
        if (is_option && i != option && option != command->argument_count) {
            continue;
        }
        if ((argument->flags & ARGUMENT_OPTIONAL) && option == SIZE_MAX) {
            break;
        }
        if (is_option) {
            add(line, slice_from_cstr(argument->name));
        }
        if ((argument->flags & ARGUMENT_REPEATED) && !is_option) {
            add_many(line, argument, variant, most);
        } else {
            add_value(line, argument, variant);
        }
    }
}

static void make_line(struct line *line, const struct command *command, size_t option,
                      size_t variant)
{
    line->count = 0;
    buffer_clear(&line->bytes);
    if (!command->each) {
        add_arguments(line, command, option, variant, REPEATED);
        return;
    }
    for (size_t i = 0; i < ELEMENTS && line->count + 64 < WORDS_MAX; i++) {
        char text[32];
        size_t at = line->count++;
        add_arguments(line, command->each, option, variant + i, 10);
        (void)snprintf(text, sizeof(text), "%zu", line->count - at - 1);
        size_t start = line->bytes.size;
        buffer_append(&line->bytes, slice_from_cstr(text));
        line->words[at] = slice_make(line->bytes.data + start, strlen(text));
    }
}

// ---------------------------------------------------------------------------------------------

// Q.CHECK FORCE walks the whole engine, for an administrator who suspects it to be broken.
static bool is_exception(const struct command *command, const struct line *line)
{
    for (size_t i = 0; i < line->count && strcmp(command->name, "Q.CHECK") == 0; i++) {
        if (slice_equal(line->words[i], SLICE("FORCE"))) {
            return true;
        }
    }
    return false;
}

static uint64_t worst;
static size_t answered;

static void check_steps(const struct command *command, const struct line *line, const char *what,
                        uint64_t steps)
{
    if (steps > STEPS_MAX) {
        fail_msg("%s: %llu steps in %s; its first word is %.*s", command->name,
                 (unsigned long long)steps, what,
                 SLICE_PRINT(line->count ? line->words[0] : SLICE_EMPTY));
    }
    if (steps > worst) {
        worst = steps;
        print_message("# %s: %llu steps in %s\n", command->name, (unsigned long long)steps, what);
    }
}

static void run_line(struct talk *t, const struct command *command, const struct line *line)
{
    if (is_exception(command, line)) {
        return;
    }
    struct counted counted = { .reply = { &counting } };
    struct error error;
    uint64_t before = engine_steps(t->engine);
    t->now_us += 1000;
    struct call call = {
        .command = command,
        .ns = SLICE("app"),
        .engine = t->engine,
        .now_us = t->now_us,
        .reply = &counted.reply,
        .host = &t->host,
        .last = true,
        .waiter = TALK_WAITER,
    };
    answered += !call_run(&call, (struct slices){ line->words, line->count }, &t->scratch, &error);
    check_steps(command, line, "the call", engine_steps(t->engine) - before + counted.values);
    for (int ticks = 0; ticks < 3; ticks++) {
        before = engine_steps(t->engine);
        (void)engine_tick(t->engine, t->now_us);
        check_steps(command, line, "the tick behind it", engine_steps(t->engine) - before);
    }
}

static void run_command(struct talk *t, const struct command *command, struct line *line)
{
    const struct command *of = command->each ? command->each : command;
    for (size_t variant = 0; variant < 6; variant++) {
        for (size_t option = 0; option <= of->argument_count; option++) {
            make_line(line, command, option, variant);
            run_line(t, command, line);
        }
        make_line(line, command, SIZE_MAX, variant);
        run_line(t, command, line);
    }
}

static void test_steps__no_command_does_more_than_a_slice_in_a_call(void **state)
{
    struct talk *t = *state;
    static struct line line;
    buffer_init(&line.bytes, &allocator_system, 1 << 20);
    assert_non_null(buffer_reserve(&line.bytes, 1 << 20));
    make_large(t);
    size_t commands = 0;
    const struct command *command;
    for (size_t i = 0; (command = commands_at(t->commands, i)); i++) {
        run_command(t, command, &line);
        commands++;
    }
    // What was scheduled has fallen due by then, all at once.
    t->now_us += 60 * INT64_C(1000000);
    for (int i = 0; i < 100; i++) {
        line.count = 0;
        uint64_t before = engine_steps(t->engine);
        (void)engine_tick(t->engine, t->now_us);
        check_steps(commands_at(t->commands, 0), &line, "a tick", engine_steps(t->engine) - before);
    }
    print_message("# %zu commands, %zu answers without an error, at most %llu steps\n", commands,
                  answered, (unsigned long long)worst);
    assert_true(commands > 70 && answered > 500);
    buffer_release(&line.bytes);
}

// The job that has as many dependents as it may: completed, and failed with them.
static void test_steps__many_dependents_are_released_or_failed_within_the_limit(void **state)
{
    struct talk *t = *state;
    struct buffer room;
    enum job_state job_state;
    buffer_init(&room, &allocator_system, 64);
    make_graph(t, &room);
    struct line line = { .count = 0 };
    const struct complete_request done = { .holder = { .jid = SLICE("hub"),
                                                       .worker = SLICE("w") } };
    uint64_t before = engine_steps(t->engine);
    assert_int_equal(engine_complete(t->engine, t->now_us, &done, &job_state, NULL), 0);
    check_steps(commands_find(t->commands, SLICE("Q.COMPLETE")), &line, "the call",
                engine_steps(t->engine) - before);

    put(t, (struct put_request){ .queue = SLICE("hubs"), .jid = SLICE("other") });
    const struct slice other = SLICE("other");
    const struct job_options options = { .dependency_policy = DEPENDENCY_FAIL };
    for (size_t i = 0; i < MANY; i++) {
        put(t, (struct put_request){ .queue = SLICE("big"),
                                     .jid = name(&room, "e", i),
                                     .depends = { &other, 1 },
                                     .options = i % 2 ? &options : NULL });
    }
    pop(t, SLICE("hubs"), SLICE("w"), 1);
    const struct fail_request fails = { .holder = { .jid = other, .worker = SLICE("w") },
                                        .group = SLICE("g"),
                                        .message = SLICE("m") };
    before = engine_steps(t->engine);
    assert_int_equal(engine_fail(t->engine, t->now_us, &fails, NULL), 0);
    const struct command *command = commands_find(t->commands, SLICE("Q.FAIL"));
    check_steps(command, &line, "the call", engine_steps(t->engine) - before);
    size_t ticks = 0;
    for (int64_t next = t->now_us; next <= t->now_us; ticks++) {
        before = engine_steps(t->engine);
        next = engine_tick(t->engine, t->now_us);
        check_steps(command, &line, "a tick", engine_steps(t->engine) - before);
    }
    assert_true(ticks > 1);
    const struct count_filter failed = { .has_state = true, .state = JOB_FAILED };
    assert_int_equal(engine_count(t->engine, &failed), 1 + MANY / 2);
    buffer_release(&room);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TALK_TEST(test_steps__many_dependents_are_released_or_failed_within_the_limit),
        TALK_TEST(test_steps__no_command_does_more_than_a_slice_in_a_call),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
