// SPDX-License-Identifier: MIT
// Words to arguments: a command with an argument of each type, and one whose last is repeated.
#include "api/command.h"

#include "api/table.h"
#include "fault_alloc.h"
#include "random.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    WORDS_MAX = 64,
    ROUNDS = 20000,
};

static const char *const colours[] = { "red", "light-green", NULL };

struct paint {
    struct slice name, note, data, also;
    int64_t count, pause, at, share, colour, more;
    bool has_count, has_more, wet;
    struct slices tags;
};

static const struct argument paint_takes[] = {
    ARGUMENT(paint, name, NAME, "name", "who"),
    ARGUMENT(paint, data, JSON, "data", "what"),
    OPTIONAL(paint, more, INTEGER, "more", "perhaps", .min = 0, .max = 9),
    OPTIONAL(paint, also, NAME, "also", "perhaps too"),
    OPTION(paint, note, TEXT, "NOTE", "any text"),
    OPTION_HAS(paint, count, has_count, INTEGER, "COUNT", "how many", .min = -3, .max = 5),
    OPTION(paint, pause, SECONDS, "PAUSE", "how long", .min = 0, .max = 60000000),
    OPTION(paint, at, MOMENT, "AT", "when"),
    OPTION(paint, share, FRACTION, "SHARE", "how much"),
    OPTION(paint, colour, WORD, "COLOUR", "which", .words = colours),
    OPTION(paint, wet, FLAG, "WET", "whether"),
    OPTION_EACH(paint, tags, NAME, "TAG", "a tag"),
};

struct fetch {
    struct slice from;
    int64_t limit;
    bool quick;
    struct slices tags, names;
};

static const struct argument fetch_takes[] = {
    ARGUMENT(fetch, from, NAME, "from", "where from"),
    REST(fetch, names, NAME, "name", "which"),
    OPTION(fetch, limit, INTEGER, "LIMIT", "how many", .min = 1, .max = 9),
    OPTION(fetch, quick, FLAG, "QUICK", "whether"),
    OPTION_EACH(fetch, tags, NAME, "TAG", "a tag"),
};

static const struct argument all_takes[] = {
    OPTIONAL_REST(fetch, names, NAME, "name", "which"),
};

static enum status nothing(struct call *call, struct error *error)
{
    (void)call;
    (void)error;
    return STATUS_OK;
}

static const struct command commands[] = {
    { .name = "PAINT",
      .group = "art",
      .flags = WRITES,
      TAKES(paint, paint_takes),
      .run = nothing,
      .summary = "Paints." },
    { .name = "Fetch",
      .group = "art",
      .flags = COMMAND_READS,
      TAKES(fetch, fetch_takes),
      .run = nothing,
      .summary = "Fetches." },
    { .name = "ALL", .group = "art", .flags = READS, TAKES(fetch, all_takes), .run = nothing },
    { .name = "NONE", .group = "art", .flags = READS, .run = nothing },
    { .name = "EACH", .group = "art", .flags = WRITES, .each = &commands[0] },
};

#define PAINT (&commands[0])
#define FETCH (&commands[1])
#define ALL   (&commands[2])
#define NONE  (&commands[3])
#define EACH  (&commands[4])

// ---------------------------------------------------------------------------------------------

// Words with one space between them, each in a block of its own so that a sanitizer sees a read
// beyond its end. "_" is an empty word.
struct words {
    struct slice items[WORDS_MAX];
    char *blocks[WORDS_MAX];
    size_t count;
};

static void words_init(struct words *words, const char *line)
{
    words->count = 0;
    while (*line) {
        size_t size = strcspn(line, " ");
        bool empty = size == 1 && line[0] == '_';
        char *copy = malloc(size ? size : 1);
        assert_non_null(copy);
        memcpy(copy, line, size);
        assert_true(words->count < WORDS_MAX);
        words->blocks[words->count] = copy;
        words->items[words->count++] = slice_make(copy, empty ? 0 : size);
        line += size + (line[size] == ' ');
    }
}

static void words_release(struct words *words)
{
    for (size_t i = 0; i < words->count; i++) {
        free(words->blocks[i]);
    }
}

// What the last line was read as; borrowed from the test until the next.
static struct {
    struct words words;
    struct scratch scratch;
    struct error error;
    union {
        struct paint paint;
        struct fetch fetch;
    } as;
} given;

static enum status parse(const struct command *command, const char *line)
{
    words_release(&given.words);
    words_init(&given.words, line);
    memset(&given.as, 0x55, sizeof(given.as));
    given.error = (struct error){ 0 };
    return command_parse(command, (struct slices){ given.words.items, given.words.count },
                         &given.scratch, &given.as, &given.error);
}

static int begin(void **state)
{
    (void)state;
    given.words.count = 0;
    scratch_init(&given.scratch, &allocator_system);
    return 0;
}

static int end(void **state)
{
    (void)state;
    words_release(&given.words);
    scratch_release(&given.scratch);
    return 0;
}

static void refused(const struct command *command, const char *line, enum status status,
                    const char *sentence)
{
    assert_int_equal(parse(command, line), status);
    assert_int_equal(given.error.status, status);
    assert_string_equal(error_sentence(&given.error), sentence);
}

#define accepted(command, line) assert_int_equal(parse((command), (line)), STATUS_OK)

// ---------------------------------------------------------------------------------------------

static void test_command__what_is_not_given_is_zero(void **state)
{
    (void)state;
    accepted(PAINT, "ann {}");
    assert_slice_equal(given.as.paint.name, "ann");
    assert_slice_equal(given.as.paint.data, "{}");
    assert_int_equal(given.as.paint.also.size, 0);
    assert_int_equal(given.as.paint.more, 0);
    assert_int_equal(given.as.paint.count, 0);
    assert_false(given.as.paint.has_count);
    assert_false(given.as.paint.wet);
    assert_int_equal(given.as.paint.tags.count, 0);
}

static void test_command__each_type_is_handed_over_as_its_own(void **state)
{
    (void)state;
    accepted(PAINT, "ann [1] 7 bob NOTE _ COUNT -3 PAUSE 1.5 AT 2026-07-14T03:33:20.5Z SHARE 0.25 "
                    "COLOUR light-green WET TAG a");
    assert_int_equal(given.as.paint.more, 7);
    assert_slice_equal(given.as.paint.also, "bob");
    assert_int_equal(given.as.paint.note.size, 0);
    assert_int_equal(given.as.paint.count, -3);
    assert_true(given.as.paint.has_count);
    assert_int_equal(given.as.paint.pause, 1500000);
    assert_int_equal(given.as.paint.at, INT64_C(1784000000500000));
    assert_int_equal(given.as.paint.share, 250000);
    assert_int_equal(given.as.paint.colour, 1);
    assert_true(given.as.paint.wet);
    assert_int_equal(given.as.paint.tags.count, 1);
}

static void test_command__options_come_in_any_order_and_case(void **state)
{
    (void)state;
    accepted(PAINT, "ann {} wet Tag x colour LIGHT-Green tAG y count 5 TAG z");
    assert_true(given.as.paint.wet);
    assert_int_equal(given.as.paint.colour, 1);
    assert_int_equal(given.as.paint.count, 5);
    assert_int_equal(given.as.paint.tags.count, 3);
    assert_slice_equal(given.as.paint.tags.items[0], "x");
    assert_slice_equal(given.as.paint.tags.items[1], "y");
    assert_slice_equal(given.as.paint.tags.items[2], "z");
}

static void test_command__of_an_option_given_twice_the_last_counts(void **state)
{
    (void)state;
    accepted(PAINT, "ann {} COUNT 1 COUNT 2");
    assert_int_equal(given.as.paint.count, 2);
}

static void test_command__a_value_may_look_like_an_option(void **state)
{
    (void)state;
    accepted(PAINT, "wet {} TAG TAG NOTE WET TAG COUNT COUNT 4");
    assert_slice_equal(given.as.paint.name, "wet");
    assert_slice_equal(given.as.paint.note, "WET");
    assert_false(given.as.paint.wet);
    assert_int_equal(given.as.paint.tags.count, 2);
    assert_slice_equal(given.as.paint.tags.items[0], "TAG");
    assert_slice_equal(given.as.paint.tags.items[1], "COUNT");
    assert_int_equal(given.as.paint.count, 4);
}

static void test_command__arguments_that_may_be_missing_end_where_options_begin(void **state)
{
    (void)state;
    accepted(PAINT, "ann {} 3 COUNT 1");
    assert_int_equal(given.as.paint.more, 3);
    assert_int_equal(given.as.paint.also.size, 0);
    assert_int_equal(given.as.paint.count, 1);
    accepted(PAINT, "ann {} WET");
    assert_true(given.as.paint.wet);
}

static void test_command__what_does_not_fit_is_refused_by_name(void **state)
{
    (void)state;
    static const struct {
        const char *line;
        const char *sentence;
    } cases[] = {
        { "_ {}", "PAINT: name must not be empty" },
        { "ann {",
          "PAINT: data is not JSON: invalid JSON at byte 1: the text ends, expected a key in "
          "quotes" },
        { "ann _",
          "PAINT: data is not JSON: invalid JSON at byte 0: the text ends, expected a value" },
        { "ann {} x", "PAINT: more must be a whole number, not \"x\"" },
        { "ann {} 10", "PAINT: more must be from 0 to 9, not 10" },
        { "ann {} -1", "PAINT: more must be from 0 to 9, not -1" },
        { "ann {} 1.5", "PAINT: more must be a whole number, not \"1.5\"" },
        { "ann {} COUNT 6", "PAINT: COUNT must be from -3 to 5, not 6" },
        { "ann {} COUNT -4", "PAINT: COUNT must be from -3 to 5, not -4" },
        { "ann {} COUNT 99999999999999999999",
          "PAINT: COUNT must be from -3 to 5, not 99999999999999999999" },
        { "ann {} COUNT 1e18", "PAINT: COUNT must be from -3 to 5, not 1e18" },
        { "ann {} COUNT 1e999", "PAINT: COUNT must be from -3 to 5, not 1e999" },
        { "ann {} COUNT 5.0000001", "PAINT: COUNT must be a whole number, not \"5.0000001\"" },
        { "ann {} COUNT 5.", "PAINT: COUNT must be a whole number, not \"5.\"" },
        { "ann {} PAUSE 1e18", "PAINT: PAUSE must be from 0 to 60 seconds, not 1e18" },
        { "ann {} PAUSE -1e999", "PAINT: PAUSE must be from 0 to 60 seconds, not -1e999" },
        { "ann {} AT 1e18", "PAINT: AT must be a time between 1970 and 9999, not \"1e18\"" },
        { "ann {} PAUSE soon", "PAINT: PAUSE must be a number of seconds, not \"soon\"" },
        { "ann {} PAUSE 60.000001", "PAINT: PAUSE must be from 0 to 60 seconds, not 60.000001" },
        { "ann {} PAUSE -1", "PAINT: PAUSE must be from 0 to 60 seconds, not -1" },
        { "ann {} AT noon", "PAINT: AT must be a time (seconds since 1970, or as "
                            "2030-01-31T12:00:00Z), not \"noon\"" },
        { "ann {} AT -1", "PAINT: AT must be a time between 1970 and 9999, not \"-1\"" },
        { "ann {} AT 999999999999",
          "PAINT: AT must be a time between 1970 and 9999, not \"999999999999\"" },
        { "ann {} SHARE 1.01", "PAINT: SHARE must be a number from 0 to 1, not \"1.01\"" },
        { "ann {} SHARE -0.1", "PAINT: SHARE must be a number from 0 to 1, not \"-0.1\"" },
        { "ann {} COLOUR blue", "PAINT: COLOUR must be one of red, light-green, not \"blue\"" },
        { "ann {} COLOUR re", "PAINT: COLOUR must be one of red, light-green, not \"re\"" },
        { "ann {} TAG _", "PAINT: TAG must not be empty" },
        { "ann {} TAG a TAG _", "PAINT: TAG must not be empty" },
        { "ann {} 1 bob SIZE 3", "PAINT has no option \"SIZE\"" },
        { "ann {} 1 bob COUNT 3 4", "PAINT has no option \"4\"" },
        { "ann {} 1 bob WET true", "PAINT has no option \"true\"" },
        { "ann {} COUNT", "PAINT: COUNT has no value" },
        { "ann {} TAG a TAG", "PAINT: TAG has no value" },
    };
    for (size_t i = 0; TEST_ROW_NAMED(i, cases, cases[i].line); i++) {
        refused(PAINT, cases[i].line, STATUS_INVALID, cases[i].sentence);
    }
    refused(NONE, "x", STATUS_INVALID, "NONE has no option \"x\"");
}

static void test_command__whole_numbers_may_have_a_fraction_of_zeros(void **state)
{
    (void)state;
    static const char *const lines[] = { "ann {} 5", "ann {} 5.0", "ann {} 5e0", "ann {} 0.5e1",
                                         "ann {} 50e-1" };
    for (size_t i = 0; TEST_ROW_NAMED(i, lines, lines[i]); i++) {
        accepted(PAINT, lines[i]);
        assert_int_equal(given.as.paint.more, 5);
    }
}

static void test_command__json_has_up_to_1000_levels(void **state)
{
    (void)state;
    char line[2100] = "ann ";
    memset(line + 4, '[', 1000);
    memset(line + 1004, ']', 1000);
    accepted(PAINT, line);
    memset(line + 4, '[', 1001);
    memset(line + 1005, ']', 1001);
    refused(PAINT, line, STATUS_TOO_LARGE,
            "PAINT: data is not JSON: JSON too deep at byte 1000: more than 1000 levels");
}

static void test_command__names_have_up_to_255_bytes(void **state)
{
    (void)state;
    char line[300];
    memset(line, 'n', sizeof(line));
    memcpy(line + 255, " {}", 4);
    accepted(PAINT, line);
    memset(line, 'n', sizeof(line));
    memcpy(line + 256, " {}", 4);
    refused(PAINT, line, STATUS_TOO_LARGE, "PAINT: name has 256 bytes; at most 255 are allowed");
}

static void test_command__of_a_long_word_a_sentence_shows_the_beginning(void **state)
{
    (void)state;
    char line[300];
    memset(line, '7', sizeof(line) - 1);
    line[sizeof(line) - 1] = '\0';
    memcpy(line, "a 1 ", 4);
    assert_int_equal(parse(PAINT, line), STATUS_INVALID);
    assert_int_equal(strlen(error_sentence(&given.error)),
                     strlen("PAINT: more must be from 0 to 9, not ") + 64);
}

static void test_command__too_few_words_are_answered_with_the_usage(void **state)
{
    (void)state;
    static const char usage[] =
        "too few arguments; usage: PAINT ns name data [more] [also] [NOTE text] [COUNT n] "
        "[PAUSE seconds] [AT time] [SHARE fraction] [COLOUR red|light-green] [WET] [TAG tag] ...";
    refused(PAINT, "", STATUS_INVALID, usage);
    refused(PAINT, "ann", STATUS_INVALID, usage);
    static const char fetch[] = "too few arguments; usage: Fetch from [LIMIT n] [QUICK] [TAG tag] "
                                "... name [name ...]";
    refused(FETCH, "", STATUS_INVALID, fetch);
    refused(FETCH, "shop", STATUS_INVALID, fetch);
    refused(FETCH, "shop QUICK", STATUS_INVALID, fetch);
    refused(FETCH, "shop --", STATUS_INVALID, fetch);
}

static void assert_names(const char *wanted)
{
    char names[200] = "";
    size_t size = 0;
    for (size_t i = 0; i < given.as.fetch.names.count; i++) {
        size += (size_t)snprintf(names + size, sizeof(names) - size, "%s%.*s", i ? "," : "",
                                 SLICE_PRINT(given.as.fetch.names.items[i]));
    }
    assert_string_equal(names, wanted);
}

static void test_command__the_last_argument_takes_all_words_behind_the_options(void **state)
{
    (void)state;
    accepted(FETCH, "shop a");
    assert_names("a");
    accepted(FETCH, "shop LIMIT 3 tag x QUICK TAG y a b c");
    assert_names("a,b,c");
    assert_int_equal(given.as.fetch.limit, 3);
    assert_true(given.as.fetch.quick);
    assert_int_equal(given.as.fetch.tags.count, 2);
    accepted(FETCH, "shop QUICK -- TAG x -- y");
    assert_names("TAG,x,--,y");
    assert_int_equal(given.as.fetch.tags.count, 0);
    refused(FETCH, "shop LIMIT 3 a _ b", STATUS_INVALID, "Fetch: name must not be empty");
    refused(FETCH, "shop LIMIT", STATUS_INVALID, "Fetch: LIMIT has no value");
    refused(FETCH, "shop LIMIT a", STATUS_INVALID,
            "Fetch: LIMIT must be a whole number, not \"a\"");
}

static void test_command__an_option_among_the_words_of_a_list_is_refused(void **state)
{
    (void)state;
    static const char *const lines[] = { "shop a limit 99", "shop a b LIMIT",
                                         "shop TAG x a LIMIT" };
    for (size_t i = 0; TEST_ROW_NAMED(i, lines, lines[i]); i++) {
        refused(FETCH, lines[i], STATUS_INVALID,
                "Fetch: options stand before the list, and LIMIT is one; a name of that name is "
                "written behind --");
    }
    accepted(FETCH, "shop -- a limit 99");
    assert_names("a,limit,99");
    accepted(FETCH, "shop QUICK -- a quick");
    assert_names("a,quick");
    accepted(ALL, "LIMIT a QUICK"); // it has no such options
    assert_names("LIMIT,a,QUICK");
}

static void test_command__an_argument_that_may_be_missing_can_be_named_as_an_option(void **state)
{
    (void)state;
    accepted(PAINT, "ann {} 7 -- WET");
    assert_slice_equal(given.as.paint.also, "WET");
    assert_false(given.as.paint.wet);
    accepted(PAINT, "ann {} -- 7 -- COUNT COUNT 2");
    assert_slice_equal(given.as.paint.also, "COUNT");
    assert_int_equal(given.as.paint.count, 2);
    accepted(PAINT, "ann {} 7 -- --");
    assert_slice_equal(given.as.paint.also, "--");
    accepted(PAINT, "ann {} 7 --");
    assert_slice_equal(given.as.paint.also, "--");
}

static void test_command__a_list_may_be_allowed_to_be_empty(void **state)
{
    (void)state;
    accepted(ALL, "");
    assert_names("");
    accepted(ALL, "a b");
    assert_names("a,b");
}

static void test_command__without_memory_it_is_refused_and_can_be_tried_again(void **state)
{
    (void)state;
    struct fault_alloc fault;
    fault_alloc_init(&fault);
    struct scratch scratch;
    scratch_init(&scratch, &fault.allocator);
    struct words words;
    words_init(&words, "ann {} TAG a TAG b");
    struct slices slices = { words.items, words.count };
    struct paint paint;
    struct error error;
    fault.fail_at = 1;
    assert_int_equal(command_parse(PAINT, slices, &scratch, &paint, &error), STATUS_NO_MEMORY);
    assert_string_equal(error_sentence(&error), "PAINT: no memory for its arguments");
    assert_int_equal(command_parse(PAINT, slices, &scratch, &paint, &error), STATUS_OK);
    assert_int_equal(paint.tags.count, 2);
    words_release(&words);
    scratch_release(&scratch);
    fault_alloc_release(&fault);
}

static void test_command__random_words_stay_within_bounds(void **state)
{
    (void)state;
    static const char *const pool[] = { "ann", "{}", "TAG", "tag", "COUNT", "1",     "-1",    "WET",
                                        "--",  "_",  "AT",  "x",   "NOTE",  "LIMIT", "QUICK", "9" };
    struct random random;
    random_init(&random);
    for (size_t round = 0; round < ROUNDS; round++) {
        char line[200] = "";
        size_t size = 0;
        for (size_t count = random_below(&random, 12); count > 0; count--) {
            const char *word = pool[random_below(&random, sizeof(pool) / sizeof(pool[0]))];
            size +=
                (size_t)snprintf(line + size, sizeof(line) - size, "%s%s", size ? " " : "", word);
        }
        const struct command *command = &commands[random_below(&random, 4)];
        if (parse(command, line)) {
            assert_true(given.error.detail[0]);
        } else if (command == PAINT) {
            for (size_t i = 0; i < given.as.paint.tags.count; i++) {
                assert_true(given.as.paint.tags.items[i].size > 0);
            }
        }
    }
}

// ---------------------------------------------------------------------------------------------

static void assert_usage(const struct command *command, const char *wanted)
{
    struct buffer usage;
    buffer_init(&usage, &allocator_system, 4096);
    command_usage(command, &usage);
    assert_slice_equal(buffer_slice(&usage), wanted);
    buffer_release(&usage);
}

static void test_command__usage_names_every_argument(void **state)
{
    (void)state;
    assert_usage(FETCH, "Fetch from [LIMIT n] [QUICK] [TAG tag] ... name [name ...]");
    assert_usage(ALL, "ALL ns [name ...]");
    assert_usage(NONE, "NONE ns");
    assert_usage(EACH, "EACH ns [count word [word ...] ...]");
}

static void test_command__are_found_by_name_in_whatever_case(void **state)
{
    (void)state;
    const struct command_table table = TABLE(commands);
    const struct command_table *tables[] = { &table, &api_put, &api_check };
    struct commands *found;
    assert_int_equal(commands_new(&allocator_system, tables, 3, &found), STATUS_OK);
    assert_ptr_equal(commands_find(found, SLICE("paint")), PAINT);
    assert_ptr_equal(commands_find(found, SLICE("FETCH")), FETCH);
    assert_string_equal(commands_find(found, SLICE("q.Put"))->name, "Q.PUT");
    assert_null(commands_find(found, SLICE("")));
    assert_null(commands_find(found, SLICE("Q.PU")));
    assert_null(commands_find(found, SLICE("Q.PUTT")));
    assert_null(commands_find(found, slice_make("Q.PUT\0", 6)));
    size_t count = 0;
    for (const struct command *at; (at = commands_at(found, count)); count++) {
        assert_ptr_equal(commands_find(found, slice_from_cstr(at->name)), at);
    }
    assert_int_equal(count, table.count + api_put.count + api_check.count);
    assert_ptr_equal(commands_at(found, 0), PAINT);
    commands_free(found);
    commands_free(NULL);
}

int main(void)
{
#define PARSE_TEST(test) cmocka_unit_test_setup_teardown(test, begin, end)
    const struct CMUnitTest tests[] = {
        PARSE_TEST(test_command__what_is_not_given_is_zero),
        PARSE_TEST(test_command__each_type_is_handed_over_as_its_own),
        PARSE_TEST(test_command__options_come_in_any_order_and_case),
        PARSE_TEST(test_command__of_an_option_given_twice_the_last_counts),
        PARSE_TEST(test_command__a_value_may_look_like_an_option),
        PARSE_TEST(test_command__arguments_that_may_be_missing_end_where_options_begin),
        PARSE_TEST(test_command__what_does_not_fit_is_refused_by_name),
        PARSE_TEST(test_command__whole_numbers_may_have_a_fraction_of_zeros),
        PARSE_TEST(test_command__json_has_up_to_1000_levels),
        PARSE_TEST(test_command__names_have_up_to_255_bytes),
        PARSE_TEST(test_command__of_a_long_word_a_sentence_shows_the_beginning),
        PARSE_TEST(test_command__too_few_words_are_answered_with_the_usage),
        PARSE_TEST(test_command__the_last_argument_takes_all_words_behind_the_options),
        PARSE_TEST(test_command__an_option_among_the_words_of_a_list_is_refused),
        PARSE_TEST(test_command__an_argument_that_may_be_missing_can_be_named_as_an_option),
        PARSE_TEST(test_command__a_list_may_be_allowed_to_be_empty),
        PARSE_TEST(test_command__without_memory_it_is_refused_and_can_be_tried_again),
        PARSE_TEST(test_command__random_words_stay_within_bounds),
        cmocka_unit_test(test_command__usage_names_every_argument),
        cmocka_unit_test(test_command__are_found_by_name_in_whatever_case),
    };
    return cmocka_run_group_tests_name("command", tests, NULL, NULL);
}
