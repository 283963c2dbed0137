// SPDX-License-Identifier: MIT
#include "generate.h"

#include "base/timefmt.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    TEXT_MAX = 64 << 20,  // never grows beyond: slices of it must not move
    TEXT_SPARE = 2 << 20, // for what is not hostile
    DEPTH_MAX = 2000,
};

#define COUNT(list)      (sizeof(list) / sizeof((list)[0]))
#define PICK(draw, list) ((list)[draw_below(draw, (uint32_t)COUNT(list))])

void generator_init(struct generator *generator, struct draw *draw, int64_t now_us)
{
    *generator = (struct generator){ .draw = draw, .now_us = now_us };
    // One for the whole process: under a sanitizer 64 MiB cost more than what is done with them.
    static struct buffer text;
    if (!text.allocator) {
        buffer_init(&text, &allocator_system, TEXT_MAX);
        if (!buffer_reserve(&text, TEXT_MAX)) {
            abort();
        }
    }
    generator->text = &text;
    buffer_clear(&text);
}

void generator_clear(struct generator *generator)
{
    static const uint32_t options[] = { 0, 8, 8, 40, 100 };
    static const uint32_t hostile[] = { 0, 0, 4, 128 };
    buffer_clear(generator->text);
    generator->options = PICK(generator->draw, options);
    generator->hostile = PICK(generator->draw, hostile);
}

struct slice generate_print(struct generator *generator, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    assert(size >= 0 && (size_t)size < sizeof(text));
    size_t start = generator->text->size;
    buffer_append(generator->text, slice_make(text, (size_t)size));
    assert(!generator->text->status);
    return slice_make(generator->text->data + start, (size_t)size);
}

// ---------------------------------------------------------------------------------------------
// Bytes

static size_t draw_size(struct draw *draw)
{
    static const size_t small[] = {
        0, 1, 64, 128, 254, 255, 256, 257, 511, 512, 513, 600, 600, 1025
    };
    static const size_t large[] = { 1024, 4095, 4096, 16384, 65535, 65536 };
    if (draw_chance(draw, 230)) {
        return PICK(draw, small);
    }
    return draw_chance(draw, 250) ? PICK(draw, large) : (size_t)1 << 20;
}

struct slice generate_hostile(struct generator *generator)
{
    static const char *const texts[] = {
        "--", "%s%n%d", "\r\n", "\"", "\\", "{", "[", "null", "*", "?[^", "../..", "\xff\xfe",
    };
    struct draw *draw = generator->draw;
    if (draw_chance(draw, 32)) {
        return slice_from_cstr(PICK(draw, texts));
    }
    size_t size = draw_size(draw), start = generator->text->size;
    if (size + TEXT_SPARE > TEXT_MAX - start) {
        return SLICE_EMPTY;
    }
    bool binary = draw_chance(draw, 96);
    struct random random = { draw_below(draw, 65536) };
    for (size_t i = 0; i < size; i++) {
        unsigned byte = binary ? (unsigned)random_u64(&random) & 0xff : 'A';
        buffer_append_char(generator->text, (char)byte);
    }
    return slice_make(generator->text->data + start, size);
}

struct slice generate_name(struct generator *generator)
{
    // The first ones more often, so that calls are about the same things.
    static const char *const names[] = { "a", "a", "a", "a", "b", "b", "b", "c", "c", "d", "e" };
    return draw_chance(generator->draw, generator->hostile)
               ? generate_hostile(generator)
               : slice_from_cstr(PICK(generator->draw, names));
}

// ---------------------------------------------------------------------------------------------
// Values by their type

static bool is_called(const struct argument *argument, const char *name)
{
    return strcasecmp(argument->name, name) == 0;
}

// What is a name to the table, and more than that to its command.
static struct slice special_name(struct generator *generator, const struct argument *argument)
{
    static const char *const options[] = {
        "heartbeat",          "grace-period",   "jobs-history",
        "jobs-history-count", "stats-history",  "histogram-history",
        "max-tags",           "max-depends",    "max-job-history",
        "max-job-log",        "max-worker-age", "a-heartbeat",
        "heartbeat-b",        "a-fair",         "b-fair",
        "a-max-concurrency",  "x-own",          "missed-after",
    };
    static const char *const crons[] = { "* * * * *",   "0 3 * * *",  "*/7 1-5 1,15 * MON",
                                         "@daily",      "0 0 31 2 *", "* * * * * *",
                                         "59 23 29 2 *" };
    static const char *const zones[] = { "Z", "UTC", "Europe/Berlin", "None" };
    static const char *const domains[] = { "a", "b*", "*", "*a*b*", "" };
    static const char *const acts[] = { "cancel", "retry", "move", "tag", "untag" };
    static const char *const scopes[] = { "klass", "queue" };
    struct draw *draw = generator->draw;
    if (draw_chance(draw, generator->hostile)) {
        return generate_hostile(generator);
    }
    if (is_called(argument, "option") || is_called(argument, "key")) {
        return slice_from_cstr(PICK(draw, options));
    }
    if (is_called(argument, "cron") || is_called(argument, "expression")) {
        return slice_from_cstr(PICK(draw, crons));
    }
    if (is_called(argument, "zone")) {
        return slice_from_cstr(PICK(draw, zones));
    }
    if (is_called(argument, "domain")) {
        return slice_from_cstr(PICK(draw, domains));
    }
    if (is_called(argument, "act")) {
        return slice_from_cstr(PICK(draw, acts));
    }
    if (is_called(argument, "scope")) {
        return slice_from_cstr(PICK(draw, scopes));
    }
    // With few workers it often is the right one.
    return is_called(argument, "worker") && draw_chance(draw, 200) ? SLICE("a")
                                                                   : generate_name(generator);
}

static struct slice text_value(struct generator *generator, const struct argument *argument)
{
    static const char *const texts[] = { "some words", "0", "1", "5", "0.5", "-1", "" };
    static const char *const backoffs[] = {
        "fixed:1",  "linear:1:60",          "exponential:1:300:20",
        "list:1,2", "exponential:0.000001", "fixed:1:1:101"
    };
    if (is_called(argument, "backoff") && !draw_chance(generator->draw, generator->hostile)) {
        return slice_from_cstr(PICK(generator->draw, backoffs));
    }
    if (is_called(argument, "domain")) {
        return special_name(generator, argument);
    }
    return draw_chance(generator->draw, generator->hostile)
               ? generate_hostile(generator)
               : slice_from_cstr(PICK(generator->draw, texts));
}

static struct slice json_value(struct generator *generator)
{
    static const char *const values[] = {
        "{}",      "{\"to\":\"ann\"}",
        "[1,2,3]", "\"text\"",
        "1e308",   "-0.0",
        "null",    "[[[[]]]]",
        "true",    "\"\\u0000\\ud83d\\ude00\"",
    };
    static const char *const broken[] = { "{", "[1,]", "\"\\ud800\"", "01", "{\"a\":1}x", "" };
    struct draw *draw = generator->draw;
    uint32_t kind = draw_below(draw, 32);
    if (kind == 0) {
        return slice_from_cstr(PICK(draw, broken));
    }
    if (kind == 1) {
        return generate_hostile(generator);
    }
    size_t start = generator->text->size;
    if (kind == 2) {
        uint32_t depth = draw_below(draw, DEPTH_MAX);
        for (uint32_t i = 0; i < 2 * depth; i++) {
            buffer_append_char(generator->text, i < depth ? '[' : ']');
        }
    } else if (kind == 3) {
        size_t size = draw_size(draw);
        buffer_append_char(generator->text, '"');
        for (size_t i = 0; i < size; i++) {
            buffer_append_char(generator->text, 'x');
        }
        buffer_append_char(generator->text, '"');
    } else {
        return slice_from_cstr(PICK(draw, values));
    }
    return slice_make(generator->text->data + start, generator->text->size - start);
}

// A thing to be restored: mostly with the members that it needs, and some of the others.
static struct slice item_value(struct generator *generator)
{
    static const char *const states[] = { "waiting", "waiting",  "scheduled", "depends",
                                          "stalled", "complete", "failed",    "running" };
    static const char *const members[] = {
        "\"scheduled\":1784000100",
        "\"depends\":[\"a\",\"b\"]",
        "\"depends\":[\"c\"]",
        "\"failure\":{\"group\":\"b\",\"message\":\"m\"}",
        "\"rank\":\"lost\",\"line\":0",
        "\"tags\":[\"a\",\"b\",\"a\"]",
        "\"tags\":[\"c\"],\"tagged\":[5]",
        "\"unique\":{\"by\":\"key\",\"key\":\"a\"}",
        "\"unique\":{\"by\":\"contents\",\"held\":false}",
        "\"unique\":{\"by\":\"key\",\"key\":\"b\",\"until\":\"time\",\"until-time\":1}",
        "\"result\":[1],\"result-until\":1784000200",
        "\"deadline\":1784000001",
        "\"attempts\":65535,\"crashes\":65535",
        "\"remaining\":-1",
        "\"domain\":{\"hex\":\"ff00\"}",
        "\"priority\":-2147483648",
        "\"history\":[{\"when\":1,\"what\":\"put\",\"queue\":\"a\"},{\"when\":2,\"note\":\"n\"}]",
        "\"log\":[{\"when\":1,\"line\":\"l\"}],\"progress\":{\"fraction\":1}",
        "\"options\":{\"timeout\":0,\"on-dependency-failure\":\"run\"}",
        "\"members\":{\"done\":2147483647},\"created\":0,\"moved\":253402300799",
        "\"data\":null",
        "\"color\":1",
    };
    static const char *const others[] = {
        "{\"namespace\":{\"format\":1}}",
        "{\"queue\":{\"name\":\"d\",\"first-seen\":1,\"paused\":true}}",
        "{\"queue\":{\"name\":\"e\",\"paused\":true}}",
        "{\"tracked\":{\"jid\":\"e\"}}",
        "{\"depends\":{\"jid\":\"a\",\"depends\":[\"b\",\"c\"]}}",
        "{\"option\":{\"name\":\"a-max-jobs\",\"value\":\"9\"}}",
        "{\"limit\":{\"queue\":\"a\",\"rate\":1,\"period\":0.000001,\"burst\":9}}",
        "{\"policy\":{\"scope\":\"klass\",\"name\":\"a\",\"options\":{\"timeout\":1}}}",
        ("{\"recurring\":{\"jid\":\"a\",\"klass\":\"a\",\"queue\":\"b\",\"interval\":60,"
         "\"next\":-5,\"count\":9223372036854775807}}"),
        "{\"number\":{\"last\":70}}",
        "{\"room\":{\"queue\":\"a\",\"jobs\":9223372036854775807}}",
    };
    struct draw *draw = generator->draw;
    if (draw_chance(draw, 48)) {
        return draw_chance(draw, 64) ? json_value(generator) : slice_from_cstr(PICK(draw, others));
    }
    const char *first = draw_chance(draw, 180) ? "" : PICK(draw, members);
    const char *second = draw_chance(draw, 200) ? "" : PICK(draw, members);
    uint32_t state = draw_below(draw, (uint32_t)COUNT(states));
    // The first members are what the third state and those behind it ask for.
    const char *needed = state >= 2 && state != 5 && draw_chance(draw, 230)
                             ? members[state == 6   ? 3
                                       : state == 4 ? 4
                                                    : state - 2]
                             : "";
    return generate_print(generator,
                          "{\"job\":{\"jid\":\"%c\",\"klass\":\"a\",\"queue\":\"%c\","
                          "\"state\":\"%s\"%s%s%s%s%s%s}}",
                          (char)('a' + draw_below(draw, 8)), (char)('a' + draw_below(draw, 3)),
                          states[state], *needed ? "," : "", needed, *first ? "," : "", first,
                          *second ? "," : "", second);
}

static struct slice integer_value(struct generator *generator, int64_t min, int64_t max)
{
    static const char *const strange[] = {
        "9223372036854775807",
        "9223372036854775808",
        "-9223372036854775808",
        "-9223372036854775809",
        "18446744073709551615",
        "99999999999999999999999999",
        "1e3",
        "0x10",
        "",
        " 1",
        "1 ",
        "+1",
        "-0",
        "1.5",
        "NaN",
        "-1",
        "2147483647",
        "2147483648",
        "-2147483649",
    };
    struct draw *draw = generator->draw;
    switch (draw_below(draw, 10)) {
    case 0:
        return generate_print(generator, "%lld", (long long)min);
    case 1:
        return generate_print(generator, "%lld", (long long)max);
    case 2:
        return draw_chance(draw, 128)
                   ? generate_print(generator, "%lld", (long long)(max < INT64_MAX ? max + 1 : max))
                   : generate_print(generator, "%lld",
                                    (long long)(min > INT64_MIN ? min - 1 : min));
    case 3:
        return draw_chance(draw, generator->hostile) ? generate_hostile(generator)
                                                     : slice_from_cstr(PICK(draw, strange));
    default:
        return generate_print(generator, "%u", draw_below(draw, 32));
    }
}

static struct slice seconds_value(struct generator *generator, int64_t min, int64_t max)
{
    static const char *const usual[] = { "0", "0.5", "1", "10", "60", "3600", "86400" };
    static const char *const strange[] = {
        "0.000001", "0.0000001",        "-1", "1e3", "-0", "1e308", "1e-9", "253402300799", "",
        "inf",      "3153600000.000001"
    };
    struct draw *draw = generator->draw;
    switch (draw_below(draw, 12)) {
    case 0:
        return generate_print(generator, "%lld", (long long)(min / 1000000));
    case 1:
        return generate_print(generator, "%lld", (long long)(max / 1000000));
    case 2:
        return draw_chance(draw, generator->hostile) ? generate_hostile(generator)
                                                     : slice_from_cstr(PICK(draw, strange));
    default:
        return slice_from_cstr(PICK(draw, usual));
    }
}

static struct slice moment_value(struct generator *generator)
{
    static const char *const strange[] = { "0",
                                           "-1",
                                           "253402300799.999999",
                                           "1e18",
                                           "1970-01-01T00:00:00Z",
                                           "9999-12-31T23:59:59.999999Z",
                                           "2030-02-30T00:00:00Z",
                                           "",
                                           "tomorrow",
                                           "2030-01-31T12:00:00+14:00" };
    struct draw *draw = generator->draw;
    if (draw_chance(draw, 64)) {
        return draw_chance(draw, generator->hostile) ? generate_hostile(generator)
                                                     : slice_from_cstr(PICK(draw, strange));
    }
    long long now_s = generator->now_us / 1000000;
    return generate_print(generator, "%lld", now_s + (long long)draw_below(draw, 4096));
}

static struct slice word_value(struct generator *generator, const struct argument *argument)
{
    uint32_t count = 0;
    while (argument->words[count]) {
        count++;
    }
    if (draw_chance(generator->draw, generator->hostile / 4)) {
        return generate_hostile(generator);
    }
    return slice_from_cstr(argument->words[draw_below(generator->draw, count)]);
}

struct slice generate_value(struct generator *generator, const struct argument *argument)
{
    static const char *const fractions[] = { "0", "0.5", "1", "0.000001", "1.000001", "-1", "" };
    switch (argument->type) {
    case ARGUMENT_NAME:
        return special_name(generator, argument);
    case ARGUMENT_TEXT:
        return text_value(generator, argument);
    case ARGUMENT_JSON:
        return argument->flags & ARGUMENT_REPEATED ? item_value(generator) : json_value(generator);
    case ARGUMENT_INTEGER:
        return integer_value(generator, argument->min, argument->max);
    case ARGUMENT_SECONDS:
        return seconds_value(generator, argument->min, argument->max);
    case ARGUMENT_MOMENT:
        return moment_value(generator);
    case ARGUMENT_FRACTION:
        return slice_from_cstr(PICK(generator->draw, fractions));
    case ARGUMENT_WORD:
        return word_value(generator, argument);
    case ARGUMENT_FLAG:
        break;
    }
    return SLICE_EMPTY;
}

// ---------------------------------------------------------------------------------------------
// All arguments of a command

static bool is_given(struct generator *generator, const struct argument *argument)
{
    if (argument->flags & ARGUMENT_OPTION) {
        // With made up jids no call would be about what another one made.
        uint32_t weak_random = is_called(argument, "JID")        ? 240
                               : is_called(argument, "INTERVAL") ? 128
                               : is_called(argument, "DEPENDS")  ? 64
                                                                 : generator->options;
        return draw_chance(generator->draw, weak_random);
    }
    return !(argument->flags & ARGUMENT_OPTIONAL) || draw_chance(generator->draw, 160);
}

static uint32_t value_count(struct generator *generator, const struct argument *argument)
{
    if (argument->type == ARGUMENT_FLAG) {
        return 0;
    }
    if (!(argument->flags & ARGUMENT_REPEATED)) {
        return 1;
    }
    return draw_chance(generator->draw, 2) ? GIVEN_VALUES_MAX : 1 + draw_below(generator->draw, 4);
}

void generate_arguments(struct generator *generator, const struct command *command,
                        struct given *out)
{
    out->argument_count = out->value_count = 0;
    assert(command->argument_count <= GIVEN_ARGUMENTS_MAX);
    bool ended = false; // an argument was left out, and so are those behind it
    for (size_t i = 0; i < command->argument_count; i++) {
        const struct argument *argument = &command->arguments[i];
        bool option = argument->flags & ARGUMENT_OPTION;
        if (!is_given(generator, argument) || (ended && !option)) {
            ended = ended || !option;
            continue;
        }
        uint32_t count = value_count(generator, argument);
        size_t room = COUNT(out->values) - out->value_count - (command->argument_count - i);
        count = count > room ? 1 : count;
        out->arguments[out->argument_count++] =
            (struct given_argument){ argument, out->value_count, count };
        for (uint32_t v = 0; v < count; v++) {
            out->values[out->value_count++] = generate_value(generator, argument);
        }
    }
}
