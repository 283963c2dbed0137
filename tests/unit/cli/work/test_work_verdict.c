// SPDX-License-Identifier: MIT
#include "cli/work/verdict.h"

#include "test.h"

#include <signal.h>
#include <string.h>

// As waitpid says it.
#define EXITED(code)   ((code) << 8)
#define SIGNALED(code) (code)

static struct work_output output_of(const char *text)
{
    return (struct work_output){ .data = tool_copy(text, strlen(text)), .size = strlen(text) };
}

static void assert_text(const char *given, const char *wanted)
{
    if (wanted) {
        assert_non_null(given);
        assert_string_equal(given, wanted);
    } else {
        assert_null(given);
    }
}

static void test_exit__what_is_written_is_the_result(void **state)
{
    (void)state;
    static const struct {
        const char *output, *result;
    } rows[] = {
        { "", NULL },
        { " \n\n", NULL },
        { "{\"ok\": true}\n", "{\"ok\": true}" },
        { "  7 ", "7" },
        { "hello\n", "\"hello\"" },
        { "  two\nlines\n\n", "\"  two\\nlines\"" },
        { "{\"ok\":}", "\"{\\\"ok\\\":}\"" },
    };
    const struct work_verdict_rules rules = { 0 };
    const struct work_tail tail = { .maximum = 100 };
    for (size_t i = 0; TEST_ROW_NAMED(i, rows, rows[i].output); i++) {
        struct work_output output = output_of(rows[i].output);
        struct work_verdict verdict = work_verdict_of_exit(&rules, EXITED(0), &output, &tail);
        assert_int_equal(verdict.kind, WORK_VERDICT_DONE);
        assert_text(verdict.result, rows[i].result);
        work_verdict_release(&verdict);
        tool_free(output.data);
    }
}

static void test_exit__more_than_is_allowed_fails(void **state)
{
    (void)state;
    const struct work_verdict_rules rules = { 0 };
    const struct work_tail tail = { .maximum = 100 };
    const struct work_output output = { .over = true };
    struct work_verdict verdict = work_verdict_of_exit(&rules, EXITED(0), &output, &tail);
    assert_int_equal(verdict.kind, WORK_VERDICT_FAIL);
    assert_string_equal(verdict.group, "result-too-large");
    work_verdict_release(&verdict);
}

static void test_exit__codes_and_signals(void **state)
{
    (void)state;
    const char *retry[] = { "3", "signal:KILL", NULL }, *fail[] = { "75", NULL };
    const char *any[] = { "signal", NULL };
    const struct work_verdict_rules plain = { 0 }, named = { .group = "mail" },
                                    both = { .retry_on = { retry, 2 }, .fail_on = { fail, 1 } },
                                    signals = { .retry_on = { any, 1 } };
    const struct {
        const struct work_verdict_rules *rules;
        int status;
        enum work_verdict_kind kind;
        const char *group;
    } rows[] = {
        { &plain, EXITED(1), WORK_VERDICT_FAIL, "exit:1" },
        { &plain, EXITED(75), WORK_VERDICT_RETRY, "exit:75" },
        { &plain, EXITED(255), WORK_VERDICT_FAIL, "exit:255" },
        { &plain, SIGNALED(SIGKILL), WORK_VERDICT_FAIL, "signal:KILL" },
        { &plain, SIGNALED(SIGSEGV), WORK_VERDICT_FAIL, "signal:SEGV" },
        { &named, EXITED(9), WORK_VERDICT_FAIL, "mail" },
        { &named, EXITED(75), WORK_VERDICT_RETRY, "mail" },
        { &both, EXITED(3), WORK_VERDICT_RETRY, "exit:3" },
        { &both, EXITED(75), WORK_VERDICT_FAIL, "exit:75" },
        { &both, SIGNALED(SIGKILL), WORK_VERDICT_RETRY, "signal:KILL" },
        { &both, SIGNALED(SIGTERM), WORK_VERDICT_FAIL, "signal:TERM" },
        { &signals, SIGNALED(SIGTERM), WORK_VERDICT_RETRY, "signal:TERM" },
        { &signals, EXITED(1), WORK_VERDICT_FAIL, "exit:1" },
    };
    struct work_tail tail = { .maximum = 100 };
    work_tail_add(&tail, "it went wrong", 13);
    const struct work_output output = { 0 };
    for (size_t i = 0; TEST_ROW_NAMED(i, rows, rows[i].group); i++) {
        struct work_verdict verdict =
            work_verdict_of_exit(rows[i].rules, rows[i].status, &output, &tail);
        assert_int_equal(verdict.kind, rows[i].kind);
        assert_string_equal(verdict.group, rows[i].group);
        assert_string_equal(verdict.message, "it went wrong");
        work_verdict_release(&verdict);
    }
    work_tail_clear(&tail);
    struct work_verdict verdict = work_verdict_of_exit(&plain, EXITED(4), &output, &tail);
    assert_string_equal(verdict.message,
                        "it ended with exit:4 and wrote nothing to standard error");
    work_verdict_release(&verdict);
}

static void test_rules__words_that_are_no_end_are_found(void **state)
{
    (void)state;
    static const char *const good[] = { "1", "255", "signal", "signal:TERM" };
    static const char *const bad[] = { "0",       "256",   "-1", "x",
                                       "",        "1x",    "+1", "signal:SIGKILL",
                                       "signal:", "exit:3" };
    for (size_t i = 0; TEST_ROW_NAMED(i, good, good[i]); i++) {
        const char *words[] = { good[i], NULL };
        const struct work_verdict_rules rules = { .retry_on = { words, 1 } };
        assert_null(work_verdict_rules_check(&rules));
    }
    for (size_t i = 0; TEST_ROW_NAMED(i, bad, bad[i]); i++) {
        const char *words[] = { "1", bad[i], NULL };
        const struct work_verdict_rules rules = { .fail_on = { words, 2 } };
        assert_text(work_verdict_rules_check(&rules), bad[i]);
    }
}

static void test_answer__verdicts(void **state)
{
    (void)state;
    static const struct {
        const char *line;
        enum work_verdict_kind kind;
        double delay;
        const char *result, *group, *message;
    } rows[] = {
        { "{\"jid\":\"j\"}", WORK_VERDICT_DONE, 0, NULL, NULL, NULL },
        { "{\"jid\":\"j\",\"result\":{\"a\": 1}}", WORK_VERDICT_DONE, 0, "{\"a\": 1}", NULL, NULL },
        { "{\"result\":null}", WORK_VERDICT_DONE, 0, "null", NULL, NULL },
        { "{\"retry\":true}", WORK_VERDICT_RETRY, SLUICE_BACKOFF, NULL, "retry", NULL },
        { "{\"retry\":2.5,\"message\":\"busy\"}", WORK_VERDICT_RETRY, 2.5, NULL, "retry", "busy" },
        { "{\"retry\":0,\"group\":\"g\"}", WORK_VERDICT_RETRY, 0, NULL, "g", NULL },
        { "{\"fail\":\"smtp\",\"message\":\"no\"}", WORK_VERDICT_FAIL, 0, NULL, "smtp", "no" },
        { "{\"fail\":\"smtp\"}", WORK_VERDICT_FAIL, 0, NULL, "smtp", "" },
    };
    for (size_t i = 0; TEST_ROW_NAMED(i, rows, rows[i].line); i++) {
        struct work_answer answer = work_answer_parse(rows[i].line, "j");
        assert_int_equal(answer.kind, WORK_ANSWER_VERDICT);
        assert_int_equal(answer.verdict.kind, rows[i].kind);
        assert_true(answer.verdict.delay == rows[i].delay);
        assert_text(answer.verdict.result, rows[i].result);
        assert_text(answer.verdict.group, rows[i].group);
        assert_text(answer.verdict.message, rows[i].message);
        work_verdict_release(&answer.verdict);
    }
}

static void test_answer__lines_in_between(void **state)
{
    (void)state;
    static const struct {
        const char *line;
        enum work_line_kind kind;
        double fraction;
        const char *text;
    } rows[] = {
        { "{\"progress\":0.4,\"message\":\"m\"}", WORK_LINE_PROGRESS, 0.4, "m" },
        { "{\"jid\":\"j\",\"progress\":1}", WORK_LINE_PROGRESS, 1, "" },
        { "{\"log\":\"l\"}", WORK_LINE_LOG, 0, "l" },
        { "{\"checkpoint\":\"c\"}", WORK_LINE_CHECKPOINT, 0, "c" },
    };
    for (size_t i = 0; TEST_ROW_NAMED(i, rows, rows[i].line); i++) {
        struct work_answer answer = work_answer_parse(rows[i].line, "j");
        assert_int_equal(answer.kind, WORK_ANSWER_LINE);
        assert_int_equal(answer.line.kind, rows[i].kind);
        assert_true(answer.line.fraction == rows[i].fraction);
        assert_string_equal(answer.line.text, rows[i].text);
        tool_free(answer.text);
    }
}

static void test_answer__what_is_none(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "",
        "hello",
        "[]",
        "{}",
        "{\"other\":1}",
        "{\"jid\":\"k\"}",
        "{\"jid\":7}",
        "{\"retry\":false}",
        "{\"retry\":-1}",
        "{\"fail\":7}",
        "{\"fail\":\"\"}",
        "{\"progress\":2}",
        "{\"progress\":\"half\"}",
        "{\"log\":1}",
        "{\"checkpoint\":{}}",
        "{\"result\":1",
    };
    for (size_t i = 0; TEST_ROW_NAMED(i, lines, lines[i]); i++) {
        struct work_answer answer = work_answer_parse(lines[i], "j");
        assert_int_equal(answer.kind, WORK_ANSWER_WRONG);
        assert_non_null(answer.wrong);
        tool_free(answer.wrong);
    }
}

static void test_answer__names_its_job_or_does_not(void **state)
{
    (void)state;
    char *jid = work_answer_jid("{\"result\":1,\"jid\":\"a\\u0062\"}");
    assert_string_equal(jid, "ab");
    tool_free(jid);
    static const char *const others[] = { "", "hello", "[\"jid\"]", "{\"jid\":1}",
                                          "{\"result\":{\"jid\":\"a\"}}" };
    for (size_t i = 0; TEST_ROW_NAMED(i, others, others[i]); i++) {
        assert_null(work_answer_jid(others[i]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exit__what_is_written_is_the_result),
        cmocka_unit_test(test_exit__more_than_is_allowed_fails),
        cmocka_unit_test(test_exit__codes_and_signals),
        cmocka_unit_test(test_rules__words_that_are_no_end_are_found),
        cmocka_unit_test(test_answer__verdicts),
        cmocka_unit_test(test_answer__lines_in_between),
        cmocka_unit_test(test_answer__what_is_none),
        cmocka_unit_test(test_answer__names_its_job_or_does_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
