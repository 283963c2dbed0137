// SPDX-License-Identifier: MIT
// Command lines as people write them, with the tool's own commands.
#include "cli/core/options.h"

#include "cli/commands/put_options.h"

#include "test.h"

#include <string.h>

enum {
    WORDS_MAX = 16,
};

// Words between spaces.
static const char *parse(struct parsed *parsed, const char *line)
{
    static char *words[WORDS_MAX];
    size_t count = 0;
    while (*line) {
        size_t size = strcspn(line, " ");
        words[count++] = tool_copy(line, size);
        line += size + (line[size] ? 1 : 0);
    }
    return options_parse(parsed, words, count);
}

static int release(void **state)
{
    (void)state;
    tool_free_all();
    return 0;
}

static void test_options__are_read_in_every_form(void **state)
{
    static const char *const lines[] = {
        "put mail Send -p 5 --delay 2h --tag a,b -t c --unique-contents",
        "put --priority=5 mail --delay=120m -ta,b,c Send --unique-contents",
        "--ns x put -p5 --tag a --tag b --unique-contents --tag c --delay 7200 -- mail Send",
    };
    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct parsed parsed;
        assert_null(parse(&parsed, lines[i]));
        const struct put_options *options = parsed.options;
        assert_string_equal(parsed.command->name, "put");
        assert_int_equal(parsed.argument_count, 2);
        assert_string_equal(parsed.arguments[0], "mail");
        assert_string_equal(parsed.arguments[1], "Send");
        assert_null(parsed.arguments[2]);
        assert_int_equal(options->put.priority, 5);
        assert_true(options->put.delay == 7200);
        assert_true(options->put.unique_contents);
        assert_int_equal(options->tags.count, 3);
        assert_string_equal(options->tags.items[2], "c");
        assert_null(options->tags.items[3]);
    }
}

static void test_options__global_ones_stand_anywhere(void **state)
{
    static const char *const lines[] = {
        "--json --ns app queues",
        "queues --ns=app --json",
        "--ns app queues --json",
    };
    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct parsed parsed;
        assert_null(parse(&parsed, lines[i]));
        assert_string_equal(parsed.command->name, "queues");
        assert_true(parsed.global.json);
        assert_string_equal(parsed.global.ns, "app");
    }
}

static void test_options__negative_numbers_are_arguments(void **state)
{
    (void)state;
    struct parsed parsed;
    assert_null(parse(&parsed, "priority ann -10"));
    assert_string_equal(parsed.arguments[1], "-10");
    assert_null(parse(&parsed, "data ann -"));
    assert_string_equal(parsed.arguments[1], "-");
    assert_null(parse(&parsed, "call -- -x --json"));
    assert_int_equal(parsed.argument_count, 2);
    assert_false(parsed.global.json);
}

static void test_options__a_family_is_followed_by_one_of_its_commands(void **state)
{
    static const struct {
        const char *line, *command;
    } lines[] = {
        { "recur add a b c", "recur add" }, { "recur", "recur list" },
        { "recur --json", "recur list" },   { "--json recur --ns x get a", "recur get" },
        { "config", "config get" },         { "config set a b", "config set" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct parsed parsed;
        assert_null(parse(&parsed, lines[i].line));
        assert_string_equal(parsed.command->name, lines[i].command);
    }
    struct parsed parsed;
    assert_null(parse(&parsed, "depends"));
    assert_null(parsed.command);
    assert_string_equal(parsed.family, "depends");
}

static void test_options__what_is_wrong_is_named(void **state)
{
    static const struct {
        const char *line, *wrong;
    } lines[] = {
        { "putt mail", "there is no command putt; is it put?" },
        { "zzzzzzzz", "there is no command zzzzzzzz" },
        { "recur ad", "there is no command recur ad; is it recur add?" },
        { "config heartbeat",
          "there is no command config heartbeat; `sluice help config` lists what there is" },
        { "put --nothing", "there is no option --nothing of put" },
        { "queues -z", "there is no option -z of queues" },
        { "--priority 5 put",
          "there is no option --priority; options of a command stand behind it" },
        { "put a b -p", "--priority needs a value (N)" },
        { "put a b -p many", "--priority is not a whole number: many" },
        { "put a b -p 5.5", "--priority is not a whole number: 5.5" },
        { "put a b -p 0x10", "--priority is not a whole number: 0x10" },
        { "put a b -p inf", "--priority is not a whole number: inf" },
        { "put a b --delay -5",
          "--delay is not a length of time such as 90, 1.5, 10s, 5m, 2h or 1d: -5" },
        { "put a b --delay soon",
          "--delay is not a length of time such as 90, 1.5, 10s, 5m, 2h or 1d: soon" },
        { "put a b --delay 0x10",
          "--delay is not a length of time such as 90, 1.5, 10s, 5m, 2h or 1d: 0x10" },
        { "put a b --at noon", "--at is not a time such as 2030-01-31, 2030-01-31T12:00:00Z or "
                               "seconds since 1970: noon" },
        { "put a b --on-conflict maybe",
          "--on-conflict is one of existing|replace|refuse|once, not maybe" },
        { "put a b --on-conflict exist",
          "--on-conflict is one of existing|replace|refuse|once, not exist" },
        { "put a b --bulk=yes", "--bulk takes no value" },
        { "pop mail --count 0", "--count must be from 1 to 1000: 0" },
        { "pop", "pop needs QUEUE..." },
        { "queues mail", "queues does not take so many arguments: mail" },
        { "get", "get needs JID..." },
        { "-- put", "there is no command in front of --" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct parsed parsed;
        const char *wrong = parse(&parsed, lines[i].line);
        assert_non_null(wrong);
        assert_string_equal(wrong, lines[i].wrong);
    }
}

static void test_options__as_words_lengths_and_moments_are_seconds(void **state)
{
    (void)state;
    struct parsed parsed;
    assert_null(parse(&parsed, "recur add a b c --interval 5m --tag x,y"));
    assert_int_equal(parsed.given_count, 2);
    assert_string_equal(parsed.given[0].option->word, "INTERVAL");
    assert_string_equal(parsed.given[0].text, "300");
    assert_string_equal(parsed.given[1].text, "x,y");
    assert_null(parse(&parsed, "cron x --after 1970-01-02"));
    assert_string_equal(parsed.given[0].text, "86400.000000");
}

static void test_options__lines_of_json_have_the_same_names(void **state)
{
    (void)state;
    struct put_options options;
    assert_null(put_options_read(
        &options, "{\"queue\":\"mail\",\"klass\":\"Send\",\"data\":{\"a\": 1},\"jid\":\"j\","
                  "\"tags\":[\"x\",\"y\"],\"retries\":0,\"timeout\":60,\"unique_contents\":true,"
                  "\"delay\":\"5m\",\"domain\":null}"));
    assert_string_equal(options.put.queue, "mail");
    assert_string_equal(options.put.data, "{\"a\": 1}");
    assert_string_equal(options.put.jid, "j");
    assert_string_equal(options.put.tags[1], "y");
    assert_null(options.put.tags[2]);
    assert_int_equal(options.put.retries, SLUICE_NONE);
    assert_true(options.put.timeout == 60);
    assert_true(options.put.delay == 300);
    assert_true(options.put.unique_contents);
    assert_null(options.put.domain);
    put_options_release(&options);
}

static void test_options__zero_is_not_the_default(void **state)
{
    (void)state;
    struct put_options options;
    assert_null(put_options_read(
        &options,
        "{\"queue\":\"a\",\"klass\":\"b\",\"priority\":0,\"delay\":0,\"at\":\"1970-01-01\","
        "\"retries\":0,\"deadline\":0,\"timeout\":0,\"lease\":0,\"result_ttl\":0,"
        "\"max_crashes\":0}"));
    assert_int_equal(options.put.priority, SLUICE_ZERO);
    assert_true(options.put.delay == SLUICE_ZERO);
    assert_true(options.put.at == SLUICE_ZERO);
    assert_int_equal(options.put.retries, SLUICE_NONE);
    assert_true(options.put.deadline == SLUICE_NONE);
    assert_true(options.put.timeout == SLUICE_NONE);
    assert_true(options.put.lease == SLUICE_NONE);
    assert_true(options.put.result_ttl == SLUICE_NONE);
    assert_int_equal(options.put.max_crashes, SLUICE_NONE);
    put_options_release(&options);
    assert_null(put_options_read(&options, "{\"queue\":\"a\",\"klass\":\"b\"}"));
    assert_int_equal(options.put.priority, 0);
    assert_true(options.put.deadline == 0);
    put_options_release(&options);
}

static void test_options__lines_of_json_that_are_wrong_say_why(void **state)
{
    static const struct {
        const char *line, *wrong;
    } lines[] = {
        { "[]", "not a JSON object" },
        { "{\"klass\":\"a\"}", "queue is missing" },
        { "{\"queue\":\"a\"}", "klass is missing" },
        { "{\"queue\":5,\"klass\":\"a\"}", "queue is not a text" },
        { "{\"queue\":\"a\",\"klass\":\"b\",\"colour\":1}", "there is no such key: colour" },
        { "{\"queue\":\"a\",\"klass\":\"b\",\"wait\":true}", "there is no such key: wait" },
        { "{\"queue\":\"a\",\"klass\":\"b\",\"priority\":\"x\"}",
          "--priority is not a whole number: x" },
        { "{\"queue\":\"a\",\"klass\":\"b\",\"priority\":[1]}", "priority is not a number" },
        { "{\"queue\":\"a\",\"klass\":\"b\",\"jid\":1}", "jid is not a text" },
        { "{\"queue\":\"a\",\"klass\":\"b\",\"tags\":\"x\"}", "tags is not a list of texts" },
        { "{\"queue\":\"a\",\"klass\":\"b\",\"tags\":[1]}", "tags is not a list of texts" },
        { "{\"queue\":\"a\",\"klass\":\"b\",\"unique-contents\":1}",
          "unique-contents is not true or false" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct put_options options;
        const char *wrong = put_options_read(&options, lines[i].line);
        assert_non_null(wrong);
        assert_string_equal(wrong, lines[i].wrong);
        put_options_release(&options);
    }
}

static void test_options__no_command_takes_a_name_that_all_have(void **state)
{
    (void)state;
    for (size_t i = 0; tool_command_at(i); i++) {
        const struct tool_command *command = tool_command_at(i);
        for (size_t j = 0; j < command->option_count * global_option_count; j++) {
            const struct option *own = &command->options[j / global_option_count];
            const struct option *global = &global_option_table[j % global_option_count];
            if (!strcmp(own->name, global->name) ||
                (own->letter && own->letter == global->letter)) {
                fail_msg("--%s of %s hides that of all commands", own->name, command->name);
            }
        }
    }
}

static void test_options__the_nearest_name_is_found(void **state)
{
    (void)state;
    assert_int_equal(edit_distance("", "abc"), 3);
    assert_int_equal(edit_distance("kitten", "sitting"), 3);
    assert_int_equal(edit_distance("same", "same"), 0);
    assert_string_equal(command_nearest("quue"), "queue");
    assert_string_equal(command_nearest("cancle"), "cancel");
    assert_null(command_nearest("complete-wordz-x"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_options__are_read_in_every_form, release),
        cmocka_unit_test_teardown(test_options__global_ones_stand_anywhere, release),
        cmocka_unit_test_teardown(test_options__negative_numbers_are_arguments, release),
        cmocka_unit_test_teardown(test_options__a_family_is_followed_by_one_of_its_commands,
                                  release),
        cmocka_unit_test_teardown(test_options__what_is_wrong_is_named, release),
        cmocka_unit_test_teardown(test_options__as_words_lengths_and_moments_are_seconds, release),
        cmocka_unit_test_teardown(test_options__lines_of_json_have_the_same_names, release),
        cmocka_unit_test_teardown(test_options__zero_is_not_the_default, release),
        cmocka_unit_test_teardown(test_options__lines_of_json_that_are_wrong_say_why, release),
        cmocka_unit_test(test_options__no_command_takes_a_name_that_all_have),
        cmocka_unit_test_teardown(test_options__the_nearest_name_is_found, release),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
