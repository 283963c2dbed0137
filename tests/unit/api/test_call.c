// SPDX-License-Identifier: MIT
// Commands that repeat another, commands that wait, and what a failure leaves behind.
#include "transcript.h"

#include "engine/check/check.h"
#include "fault_alloc.h"

#include <stdio.h>

static void test_call__each_element_has_an_answer_of_its_own(void **state)
{
    struct talk *t = *state;
    says(t, "Q.MPUT app 3 mail Send {} 5 mail Send {} JID bob 2 mail Send 5 mail Send [ JID cat",
         "1) \"019f5eaf-b1f4-7000-8000-000000000200\"\n"
         "2) \"bob\"\n"
         "3) (error) INVALID too few arguments; usage: Q.PUT ns queue klass data [JID jid] ...");
    assert_non_null(strstr(t->text.data, "\n4) (error) INVALID Q.PUT: data is not JSON"));
    says(t, "Q.LENGTH app mail", "(integer) 2");
}

static void test_call__no_element_is_an_empty_list(void **state)
{
    struct talk *t = *state;
    says(t, "Q.MPUT app", "(empty array)");
    says(t, "Q.MPUT app 0", "1) (error) INVALID too few arguments; usage: Q.PUT ns queue ...");
}

static void test_call__words_that_do_not_add_up_change_nothing(void **state)
{
    struct talk *t = *state;
    static const struct {
        const char *line;
        const char *reply;
    } cases[] = {
        { "Q.MPUT app 3 mail Send {} 4 mail Send {}",
          "(error) INVALID Q.MPUT: an element has 4 arguments, but 3 are left" },
        { "Q.MPUT app 3 mail Send {} mail Send {}",
          "(error) INVALID Q.MPUT: expected an argument count, got "
          "\"mail\"" },
        { "Q.MPUT app 3 mail Send {} -1 mail",
          "(error) INVALID Q.MPUT: expected an argument count, got "
          "\"-1\"" },
        { "Q.MPUT app 3 mail Send {} 18446744073709551615",
          "(error) INVALID Q.MPUT: an element has 18446744073709551615 arguments, but 0 are "
          "left" },
        { "Q.MPUT app 3 mail Send {} 1",
          "(error) INVALID Q.MPUT: an element has 1 arguments, but 0 are left" },
    };
    for (size_t i = 0; TEST_ROW_NAMED(i, cases, cases[i].line); i++) {
        says(t, cases[i].line, cases[i].reply);
    }
    says(t, "Q.LENGTH app mail", "(integer) 0");
}

static void test_call__all_forms_for_many_do_what_the_form_for_one_does(void **state)
{
    struct talk *t = *state;
    for (int i = 0; i < 8; i++) {
        char line[64];
        (void)snprintf(line, sizeof(line), "Q.PUT app mail Send {} JID %c", "abcdefgh"[i]);
        (void)run(t, line);
    }
    (void)run(t, "Q.POP app w 8 mail");
    says(t, "Q.MHEARTBEAT app 2 a w 4 b w TOKEN 2 4 c w TOKEN 9",
         "1) (double) 1784000060.5\n2) (double) 1784000060.5\n"
         "3) (error) STALE ...");
    says(t, "Q.MCOMPLETE app 4 a w RESULT 1 4 b w NEXT reports", "1) \"complete\"\n2) \"waiting\"");
    says(t, "Q.MFAIL app 4 c w smtp no 4 d other smtp no", "1) OK\n2) (error) STALE ...");
    says(t, "Q.MRETRY app 2 d w 6 e w GROUP smtp MESSAGE no", "1) (integer) 4\n2) (integer) 4");
    says(t, "Q.COUNT app STATE running", "(integer) 3");
}

// ---------------------------------------------------------------------------------------------

static void test_call__a_pop_waits_until_it_is_the_last_time(void **state)
{
    struct talk *t = *state;
    says(t, "Q.POP app w 1 mail", "(empty array)");
    says(t, "Q.POP app w 1 WAIT 2.5 mail reports", "(waits)");
    assert_int_equal(t->wait.kind, WAIT_POP);
    assert_int_equal(t->wait.timeout_us, 2500000);
    assert_int_equal(t->wait.queues.count, 2);
    says(t, "Q.POP app w 1 WAIT 0 mail", "(waits)");
    assert_int_equal(t->wait.timeout_us, INT64_MAX);
    t->last = true;
    says(t, "Q.POP app w 1 WAIT 0 mail", "(empty array)");
    t->last = false;
    says(t, "Q.PUT app mail Send {} JID bob", "\"bob\"");
    says(t, "Q.POP app w 1 WAIT 0 mail", "1)  1# \"jid\" => \"bob\"\n...");
}

static void test_call__who_waits_for_a_job_is_told_how_it_finished(void **state)
{
    struct talk *t = *state;
    (void)run(t, "Q.PUT app mail Send {} JID bob");
    says(t, "Q.WAIT app bob TIMEOUT 5", "(waits)");
    assert_int_equal(t->wait.kind, WAIT_FINISH);
    assert_int_equal(t->wait.timeout_us, 5000000);
    (void)run(t, "Q.POP app w 1 mail");
    (void)run(t, "Q.COMPLETE app bob w RESULT 7");
    static const char answer[] = "1# \"state\" => \"complete\"\n2# \"result\" => \"7\"\n"
                                 "3# \"group\" => (nil)\n4# \"message\" => (nil)";
    assert_slice_equal(t->finish.state, "complete");
    says(t, "Q.WAIT app bob TIMEOUT 5", answer);
    // What it was told counts, whatever has become of the job since.
    (void)run(t, "Q.PUT app mail Send {} JID bob");
    says(t, "Q.WAIT app bob TIMEOUT 5", answer);
    (void)run(t, "Q.CANCEL app bob");
    says(t, "Q.WAIT app bob TIMEOUT 5", answer);
}

static void test_call__the_result_of_a_job_that_is_not_kept_is_told(void **state)
{
    struct talk *t = *state;
    (void)run(t, "Q.CONFIG.SET app jobs-history-count 0");
    (void)run(t, "Q.PUT app mail Send {} JID bob");
    says(t, "Q.WAIT app bob", "(waits)");
    (void)run(t, "Q.POP app w 1 mail");
    (void)run(t, "Q.COMPLETE app bob w RESULT 7");
    says(t, "Q.GET app bob", "1) (nil)");
    says(t, "Q.WAIT app bob",
         "1# \"state\" => \"complete\"\n2# \"result\" => \"7\"\n"
         "3# \"group\" => (nil)\n4# \"message\" => (nil)");
}

static void test_call__who_waits_for_a_job_that_fails_is_told_why(void **state)
{
    struct talk *t = *state;
    static const char answer[] = "1# \"state\" => \"failed\"\n2# \"result\" => (nil)\n"
                                 "3# \"group\" => \"smtp\"\n4# \"message\" => \"no route\"";
    (void)run(t, "Q.PUT app mail Send {} JID bob");
    says(t, "Q.WAIT app bob", "(waits)");
    (void)run(t, "Q.POP app w 1 mail");
    (void)run(t, "Q.FAIL app bob w smtp 'no route'");
    says(t, "Q.WAIT app bob", answer);
    (void)run(t, "Q.DELETE app bob");
    says(t, "Q.WAIT app bob", answer);
    t->finish = (struct finish){ 0 };
    // One that comes when it has failed already gets the same.
    (void)run(t, "Q.PUT app mail Send {} JID bob");
    (void)run(t, "Q.POP app w 1 mail");
    (void)run(t, "Q.FAIL app bob w smtp 'no route'");
    says(t, "Q.WAIT app bob", answer);
}

static void test_call__who_waits_for_a_job_that_is_canceled_is_told(void **state)
{
    struct talk *t = *state;
    says(t, "Q.WAIT app bob", "(error) NOT_FOUND job bob does not exist");
    (void)run(t, "Q.PUT app mail Send {} JID bob");
    says(t, "Q.WAIT app bob", "(waits)");
    assert_int_equal(t->wait.timeout_us, INT64_MAX);
    (void)run(t, "Q.CANCEL app bob");
    says(t, "Q.WAIT app bob",
         "1# \"state\" => \"canceled\"\n2# \"result\" => (nil)\n"
         "3# \"group\" => (nil)\n4# \"message\" => (nil)");
}

static void test_call__when_the_time_is_over_waiting_ends_with_null(void **state)
{
    struct talk *t = *state;
    (void)run(t, "Q.PUT app mail Send {} JID bob");
    says(t, "Q.WAIT app bob TIMEOUT 5", "(waits)");
    engine_wait_end(t->engine, TALK_WAITER);
    t->last = true;
    says(t, "Q.WAIT app bob TIMEOUT 5", "(nil)");
}

// A job that is canceled by what was due when the waiter asks is gone in the middle of the call.
static void test_call__a_job_that_goes_while_one_begins_to_wait_is_not_found(void **state)
{
    struct talk *t = *state;
    (void)run(t, "Q.PUT app mail Send {} JID base DEADLINE 1784000001");
    (void)run(t, "Q.PUT app mail Send {} JID bob DEPENDS base ON-DEPENDENCY-FAILURE cancel");
    struct shown_reply shown;
    buffer_clear(&t->text);
    shown_reply_init(&shown, &t->text);
    const struct slice words[] = { SLICE("bob") };
    struct error error;
    struct call call = { .command = commands_find(t->commands, SLICE("Q.WAIT")),
                         .engine = t->engine,
                         .now_us = t->now_us + 5000000, // nothing ticks before
                         .reply = &shown.reply,
                         .host = &t->host,
                         .waiter = TALK_WAITER };
    assert_int_equal(call_run(&call, (struct slices){ words, 1 }, &t->scratch, &error),
                     STATUS_NOT_FOUND);
    assert_string_equal(error_sentence(&error), "job bob does not exist");
}

// ---------------------------------------------------------------------------------------------

static const char *const script[] = {
    "Q.PUT app mail Send {} JID ann TAG a TAG b DOMAIN x BACKOFF list:1,2:9:50 UNIQUE k",
    "Q.MPUT app 5 mail Send {} JID bob 7 mail Send {} JID cat DEPENDS bob",
    "Q.POP app w 5 mail",
    "Q.PROGRESS app ann w 0.5 MESSAGE half",
    "Q.LOG app ann w line",
    "Q.CHECKPOINT app ann w here",
    "Q.RETRY app ann w",
    "Q.COMPLETE app bob w RESULT {}",
    "Q.POP app w 5 mail",
    "Q.FAIL app cat w smtp no",
    "Q.UNFAIL app smtp other",
    "Q.NOTE app cat seen DATA {}",
    "Q.TRACK app cat",
    "Q.TAG app cat a",
    "Q.RECUR app nightly mail Nightly {} CRON '0 3 * * *' ZONE Europe/Berlin TAG r",
    "Q.RECUR.TAG app nightly s",
    "Q.CONFIG.SET app x-colour blue",
    "Q.LIMIT.SET app QUEUE mail CONCURRENCY 3",
    "Q.POLICY.SET app queue mail TIMEOUT 60",
    "Q.BULK app tag KLASS Send TAG z",
    "Q.QUEUES app",
    "Q.WORKERS app",
    "Q.GET app ann bob cat",
    "Q.CHECK app",
};

// The first allocation fails, the second, ... in the engine or the scratch: every line is answered,
// with an error or as if nothing had been, and the engine holds together.
static void test_call__without_memory_a_command_says_so_and_nothing_is_broken(void **state)
{
    (void)state;
    struct fault_alloc fault;
    for (size_t fail_at = 1;; fail_at++) {
        fault_alloc_init(&fault);
        struct talk *t = talk_new(&fault.allocator);
        fault.calls = 0;
        fault.fail_at = fail_at;
        for (size_t i = 0; i < sizeof(script) / sizeof(script[0]); i++) {
            (void)run(t, script[i]);
        }
        assert_int_equal(engine_check(t->engine, false, NULL, NULL), 0);
        bool failed = fault.failed;
        talk_free(t);
        fault_alloc_release(&fault);
        if (!failed) {
            break;
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TALK_TEST(test_call__each_element_has_an_answer_of_its_own),
        TALK_TEST(test_call__no_element_is_an_empty_list),
        TALK_TEST(test_call__words_that_do_not_add_up_change_nothing),
        TALK_TEST(test_call__all_forms_for_many_do_what_the_form_for_one_does),
        TALK_TEST(test_call__a_pop_waits_until_it_is_the_last_time),
        TALK_TEST(test_call__who_waits_for_a_job_is_told_how_it_finished),
        TALK_TEST(test_call__the_result_of_a_job_that_is_not_kept_is_told),
        TALK_TEST(test_call__who_waits_for_a_job_that_fails_is_told_why),
        TALK_TEST(test_call__who_waits_for_a_job_that_is_canceled_is_told),
        TALK_TEST(test_call__when_the_time_is_over_waiting_ends_with_null),
        TALK_TEST(test_call__a_job_that_goes_while_one_begins_to_wait_is_not_found),
        cmocka_unit_test(test_call__without_memory_a_command_says_so_and_nothing_is_broken),
    };
    return cmocka_run_group_tests_name("call", tests, NULL, NULL);
}
