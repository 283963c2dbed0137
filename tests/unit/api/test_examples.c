// SPDX-License-Identifier: MIT
// The examples of the reference, all of them and in its order, in one conversation: they are true.
// What an example needs that no example before it has done is done here.
#include "transcript.h"

#include <stdio.h>
#include <stdlib.h>

// Said before the examples of a command.
static const struct {
    const char *command;
    const char *line;
} before[] = {
    { "Q.TAKE", "Q.REQUEUE app cat mail Send '{\"to\":\"cat\"}' DELAY 0" },
    { "Q.HELD", "Q.REQUEUE app cat mail Send '{\"to\":\"cat\"}' DELAY 60" },
    { "Q.HEARTBEAT", "sleep 30" },
    { "Q.FAIL", "Q.PUT app mail Send '{}' JID dan" },
    { "Q.FAIL", "Q.PUT app mail Send '{}' JID eve" },
    { "Q.FAIL", "Q.PUT app mail Send '{}' JID fay" },
    { "Q.FAIL", "Q.POP app worker-1 3 mail" },
    { "Q.RETURN", "Q.PUT app mail Send '{}' JID gil" },
    { "Q.RETURN", "Q.PUT app mail Send '{\"to\":\"hal\"}' JID hal TIMEOUT 600" },
    { "Q.RETURN", "Q.POP app worker-1 2 mail" },
    { "Q.RETRY", "Q.POP app worker-1 1 mail" },
    { "Q.OPTIONS", "Q.POLICY.SET app klass Send BACKOFF exponential:1:300:20" },
    { "Q.TIMEOUT", "Q.REQUEUE app gil mail Send '{}' DELAY 60" },
    { "Q.TIMEOUT", "Q.POP app worker-2 1 mail" },
    { "Q.DEPENDS.ON", "Q.PUT app reports Daily '{}' JID report DEPENDS gil" },
    { "Q.LANE", "Q.LIMIT.SET app QUEUE mail CONCURRENCY 100" },
    { "Q.WORKERS", "Q.POP app worker-1 1 mail" },
    { "Q.LIMITS", "Q.LIMIT.UNSET app QUEUE mail" },
    { "Q.BULK", "6000 times Q.PUT app mail Send '{}' TAG newsletter" },
};

// A line, or "sleep 30" for time that passes, or "6000 times" and a line.
static void do_before(struct talk *talk, const char *line)
{
    if (strncmp(line, "sleep ", 6) == 0) {
        passes(talk, strtod(line + 6, NULL));
        return;
    }
    char *rest;
    unsigned long times = strtoul(line, &rest, 10);
    const char *repeated = times ? rest + strlen(" times ") : line;
    for (unsigned long i = 0; i < (times ? times : 1); i++) {
        if (strncmp(run(talk, repeated), "(error)", 7) == 0) {
            print_error("> %s\n%s\n", repeated, talk->text.data);
            fail();
        }
    }
}

static void set_up(struct talk *talk, const char *command)
{
    for (size_t i = 0; i < sizeof(before) / sizeof(before[0]); i++) {
        if (strcmp(before[i].command, command) == 0) {
            do_before(talk, before[i].line);
        }
    }
}

static void test_examples__all_are_true(void **state)
{
    struct talk *talk = *state;
    size_t wrong = 0;
    const struct command *command;
    for (size_t i = 0; (command = commands_at(talk->commands, i)); i++) {
        set_up(talk, command->name);
        for (const struct example *at = command->examples; at->request; at++) {
            const char *shown = run(talk, at->request);
            if (!shows(shown, at->reply)) {
                (void)fprintf(stderr, "> %s\n%s\ninstead of\n%s\n\n", at->request, shown,
                              at->reply);
                wrong++;
            }
        }
    }
    assert_int_equal(wrong, 0);
}

static void test_examples__every_command_has_one_and_says_what_it_is(void **state)
{
    const struct talk *talk = *state;
    const struct command *command;
    for (size_t i = 0; (command = commands_at(talk->commands, i)); i++) {
        assert_true(command->examples && command->examples[0].request);
        assert_non_null(command->group);
        assert_non_null(command->summary);
        assert_non_null(command->replies);
        assert_true((command->run != NULL) != (command->each != NULL));
        assert_true(command->arguments_size <= COMMAND_ARGUMENTS_SIZE_MAX);
        assert_true(!(command->flags & COMMAND_READS) != !(command->flags & COMMAND_WRITES));
        assert_int_equal(command->summary[strlen(command->summary) - 1], '.');
        assert_int_equal(command->replies[strlen(command->replies) - 1], '.');
        for (const struct example *at = command->examples; at->request; at++) {
            size_t size = strlen(command->name);
            assert_memory_equal(at->request, command->name, size);
            assert_int_equal(at->request[size], ' ');
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TALK_TEST(test_examples__all_are_true),
        TALK_TEST(test_examples__every_command_has_one_and_says_what_it_is),
    };
    return cmocka_run_group_tests_name("examples", tests, NULL, NULL);
}
