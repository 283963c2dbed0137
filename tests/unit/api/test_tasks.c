// SPDX-License-Identifier: MIT
// Fresnel's tasks, from being put to having run; what workers do is said in the native words.
#include "transcript.h"

#include "engine/check/check.h"
#include "fault_alloc.h"

// A member of the map that was shown last, as shown.
static const char *member(const struct talk *t, const char *name)
{
    static char value[256];
    char key[64];
    (void)snprintf(key, sizeof(key), "# \"%s\" => ", name);
    const char *at = strstr(t->text.data, key);
    assert_non_null(at);
    at += strlen(key);
    size_t size = strcspn(at, "\n");
    assert_true(size < sizeof(value));
    memcpy(value, at, size);
    value[size] = '\0';
    return value;
}

#define assert_member(talk, name, value) assert_string_equal(member((talk), (name)), (value))

static const char *get(struct talk *t, const char *id)
{
    char line[64];
    (void)snprintf(line, sizeof(line), "T.GET app %s", id);
    return run(t, line);
}

#define assert_state(talk, id, word)                                                               \
    do {                                                                                           \
        (void)get((talk), (id));                                                                   \
        assert_member((talk), "state", "\"" word "\"");                                            \
    } while (0)

// ---------------------------------------------------------------------------------------------

static void test_tasks__are_described_as_fresnel_does(void **state)
{
    struct talk *t = *state;
    says(t, "T.PUT app UserBackfill '[\"12\"]'",
         " 1# \"class\" => \"UserBackfill\"\n"
         " 2# \"args\" => \"[\\\"12\\\"]\"\n"
         " 3# \"id\" => (integer) 1\n"
         " 4# \"attempts\" => (integer) 0\n"
         " 5# \"state\" => \"ready\"\n"
         " 6# \"lastError\" => (nil)\n"
         " 7# \"queuedAt\" => \"2026-07-14T03:33:20.500Z\"\n"
         " 8# \"firstRunAt\" => (nil)\n"
         " 9# \"reservedAt\" => (nil)\n"
         "10# \"lastRunAt\" => (nil)\n"
         "11# \"firstScheduledFor\" => \"2026-07-14T03:33:20.500Z\"\n"
         "12# \"scheduledFor\" => \"2026-07-14T03:33:20.500Z\"\n"
         "13# \"lastRunBy\" => (nil)\n"
         "14# \"priority\" => (integer) 0");
}

static void test_tasks__go_from_ready_to_reserved_to_running_to_complete(void **state)
{
    struct talk *t = *state;
    (void)run(t, "T.PUT app Mail '[1]' PRIORITY -3");
    assert_member(t, "priority", "(integer) -3");
    passes(t, 10);
    (void)run(t, "Q.POP app w 1 Mail");
    assert_state(t, "1", "reserved");
    assert_member(t, "attempts", "(integer) 1");
    assert_member(t, "reservedAt", "\"2026-07-14T03:33:30.500Z\"");
    assert_member(t, "firstRunAt", "(nil)");
    assert_member(t, "lastRunAt", "(nil)");
    assert_member(t, "lastRunBy", "(nil)");
    (void)run(t, "Q.START app 1 w 77");
    assert_state(t, "1", "running");
    assert_member(t, "firstRunAt", "\"2026-07-14T03:33:30.500Z\"");
    assert_member(t, "lastRunAt", "\"2026-07-14T03:33:30.500Z\"");
    assert_member(t, "lastRunBy", "\"w\"");
    says(t, "Q.COMPLETE app 1 w", "\"complete\"");
    assert_state(t, "1", "complete");
    assert_member(t, "lastRunBy", "\"w\"");
    assert_member(t, "scheduledFor", "\"2026-07-14T03:33:20.500Z\"");
}

static void test_tasks__that_fail_are_tried_again_until_their_limit(void **state)
{
    struct talk *t = *state;
    (void)run(t, "T.PUT app Mail '[1]' RETRIES 1");
    (void)run(t, "Q.POP app w1 1 Mail");
    passes(t, 5);
    (void)run(t, "Q.RETRY app 1 w1 GROUP smtp MESSAGE 'no route' DELAY 60");
    assert_state(t, "1", "failed");
    assert_member(t, "lastError", "\"no route\"");
    assert_member(t, "attempts", "(integer) 1");
    assert_member(t, "scheduledFor", "\"2026-07-14T03:34:25.500Z\"");
    assert_member(t, "firstScheduledFor", "\"2026-07-14T03:33:20.500Z\"");
    assert_member(t, "lastRunBy", "\"w1\"");
    passes(t, 60);
    assert_state(t, "1", "failed");
    (void)run(t, "Q.POP app w2 1 Mail");
    assert_state(t, "1", "reserved");
    assert_member(t, "attempts", "(integer) 2");
    assert_member(t, "lastRunAt", "\"2026-07-14T03:33:20.500Z\"");
    assert_member(t, "lastRunBy", "\"w1\"");
    assert_member(t, "reservedAt", "\"2026-07-14T03:34:25.500Z\"");
    (void)run(t, "Q.RETRY app 1 w2 GROUP smtp MESSAGE 'refused'");
    assert_state(t, "1", "error");
    assert_member(t, "lastError", "\"refused\"");
    assert_member(t, "firstRunAt", "\"2026-07-14T03:33:20.500Z\"");
    assert_member(t, "lastRunAt", "\"2026-07-14T03:34:25.500Z\"");
    assert_member(t, "lastRunBy", "\"w2\"");
    says(t, "Q.UNFAIL app smtp Mail", "(integer) 1");
    assert_state(t, "1", "ready");
    (void)run(t, "Q.POP app w3 1 Mail");
    (void)run(t, "Q.COMPLETE app 1 w3");
    assert_state(t, "1", "complete");
    assert_member(t, "lastError", "\"refused\"");
}

// What a task was to run at stays what it was once it is due, and while it runs.
static void test_tasks__scheduled_for_stays_when_a_retried_task_is_due(void **state)
{
    struct talk *t = *state;
    (void)run(t, "T.PUT app Mail '[1]'");
    (void)run(t, "Q.POP app w 1 Mail");
    (void)run(t, "Q.RETRY app 1 w GROUP smtp MESSAGE 'no route' DELAY 60");
    (void)get(t, "1");
    assert_member(t, "scheduledFor", "\"2026-07-14T03:34:20.500Z\"");
    passes(t, 100);
    (void)get(t, "1");
    assert_member(t, "scheduledFor", "\"2026-07-14T03:34:20.500Z\"");
    (void)run(t, "Q.PRIORITY app 1 3");
    (void)get(t, "1");
    assert_member(t, "scheduledFor", "\"2026-07-14T03:34:20.500Z\"");
    (void)run(t, "Q.POP app w 1 Mail");
    (void)get(t, "1");
    assert_member(t, "scheduledFor", "\"2026-07-14T03:34:20.500Z\"");
    assert_member(t, "firstScheduledFor", "\"2026-07-14T03:33:20.500Z\"");
    (void)run(t, "Q.COMPLETE app 1 w");
    (void)get(t, "1");
    assert_member(t, "scheduledFor", "\"2026-07-14T03:34:20.500Z\"");
}

static void test_tasks__scheduled_for_stays_by_whatever_command_it_was_delayed(void **state)
{
    struct talk *t = *state;
    (void)run(t, "Q.PUT app Mail Mail '[1]' JID 7 DELAY 60");
    passes(t, 100);
    (void)get(t, "7");
    assert_member(t, "scheduledFor", "\"2026-07-14T03:34:20.500Z\"");
    (void)run(t, "Q.POP app w 1 Mail");
    (void)get(t, "7");
    assert_member(t, "scheduledFor", "\"2026-07-14T03:34:20.500Z\"");
    // Put again, for a time of its own.
    (void)run(t, "Q.PUT app Mail Mail '[1]' JID 7 DELAY 60");
    passes(t, 100);
    (void)get(t, "7");
    assert_member(t, "scheduledFor", "\"2026-07-14T03:36:00.500Z\"");
    (void)run(t, "Q.POP app w 1 Mail");
    (void)get(t, "7");
    assert_member(t, "scheduledFor", "\"2026-07-14T03:36:00.500Z\"");
}

static void test_tasks__whose_lease_is_lost_have_timed_out(void **state)
{
    struct talk *t = *state;
    (void)run(t, "Q.CONFIG.SET app grace-period 0");
    (void)run(t, "T.PUT app Mail '[1]'");
    (void)run(t, "Q.POP app w 1 Mail");
    passes(t, 61);
    (void)run(t, "Q.QUEUES app");
    assert_state(t, "1", "failed");
    assert_member(t, "lastError", "\"timed-out\"");
    (void)run(t, "Q.POP app w 1 Mail");
    (void)run(t, "Q.FAIL app 1 w disk 'it is full'");
    assert_state(t, "1", "error");
    assert_member(t, "lastError", "\"it is full\"");
}

static void test_tasks__that_time_out_at_the_last_attempt_say_so(void **state)
{
    struct talk *t = *state;
    (void)run(t, "Q.CONFIG.SET app grace-period 0");
    (void)run(t, "T.PUT app Mail '[1]' RETRIES 1");
    (void)run(t, "Q.POP app w 1 Mail");
    (void)run(t, "Q.RETRY app 1 w GROUP smtp MESSAGE 'no route'");
    (void)run(t, "Q.POP app w 1 Mail");
    passes(t, 61);
    assert_state(t, "1", "error");
    assert_member(t, "lastError", "\"timed-out\"");
    // With a grace period too, and when the crashes are too many.
    (void)run(t, "Q.CONFIG.SET app grace-period 10");
    (void)run(t, "Q.POLICY.SET app klass Post MAX-CRASHES 1");
    (void)run(t, "T.PUT app Post '[2]' RETRIES 3");
    (void)run(t, "Q.POP app w 1 Post");
    passes(t, 71);
    assert_state(t, "2", "error");
    assert_member(t, "lastError", "\"timed-out\"");
    // A request that had no answer in time has timed out as well.
    (void)run(t, "T.PUT app Mail '[3]'");
    (void)run(t, "Q.POP app w 1 Mail");
    (void)run(t, "Q.RETRY app 3 w GROUP push:timeout MESSAGE 'Operation timed out'");
    assert_state(t, "3", "failed");
    assert_member(t, "lastError", "\"timed-out\"");
}

static void test_tasks__in_error_run_again_one_by_one(void **state)
{
    struct talk *t = *state;
    (void)run(t, "T.PUT app Mail '[1]' RETRIES 0");
    (void)run(t, "T.PUT app Mail '[2]' RETRIES 0");
    says(t, "T.RETRY app 1", "(error) STATE job 1 has not failed: waiting");
    (void)run(t, "Q.POP app w 2 Mail");
    (void)run(t, "Q.FAIL app 1 w g m");
    (void)run(t, "Q.FAIL app 2 w g m");
    (void)run(t, "T.RETRY app 2");
    assert_member(t, "id", "(integer) 2");
    assert_member(t, "state", "\"ready\"");
    assert_member(t, "attempts", "(integer) 0");
    assert_member(t, "lastError", "\"m\"");
    assert_state(t, "1", "error");
    // It is the only one of its kind again.
    (void)run(t, "T.PUT app Mail '[2]'");
    assert_member(t, "id", "(integer) 2");
    // The same was put meanwhile.
    (void)run(t, "T.PUT app Mail '[1]'");
    assert_member(t, "id", "(integer) 3");
    says(t, "T.RETRY app 1", "(error) EXISTS job 3 holds the lock of job 1");
    assert_state(t, "1", "error");
    says(t, "T.RETRY app 9", "(error) NOT_FOUND task 9 does not exist");
    assert_int_equal(engine_check(t->engine, false, NULL, NULL), 0);
}

static void test_tasks__are_counted_in_their_states(void **state)
{
    struct talk *t = *state;
    for (int i = 1; i <= 8; i++) {
        char line[64];
        (void)snprintf(line, sizeof(line), "T.PUT app Mail '[%d]' RETRIES 3 PRIORITY %d", i, i > 6);
        (void)run(t, line);
    }
    (void)run(t, "T.PUT app Later '[]' SCHEDULED-FOR 2027-01-01T00:00:00Z");
    (void)run(t, "Q.POP app w 5 Mail");
    (void)run(t, "Q.START app 1 w 1");
    (void)run(t, "Q.START app 1 w 1");
    (void)run(t, "Q.COMPLETE app 2 w");
    (void)run(t, "Q.FAIL app 3 w g m");
    (void)run(t, "Q.RETRY app 4 w DELAY 100 GROUP g MESSAGE m");
    says(t, "T.COUNTS app",
         "1# \"ready\" => (integer) 4\n"
         "2# \"reserved\" => (integer) 1\n"
         "3# \"running\" => (integer) 1\n"
         "4# \"failed\" => (integer) 1\n"
         "5# \"error\" => (integer) 1\n"
         "6# \"complete\" => (integer) 1\n"
         "7# \"reservoir\" => (integer) 2");
    says(t, "T.COUNTS app CLASS Mail",
         "1# \"ready\" => (integer) 3\n"
         "2# \"reserved\" => (integer) 1\n"
         "3# \"running\" => (integer) 1\n"
         "4# \"failed\" => (integer) 1\n"
         "5# \"error\" => (integer) 1\n...");
    says(t, "T.COUNTS app CLASS Mail PRIORITY 1",
         "1# \"ready\" => (integer) 2\n"
         "2# \"reserved\" => (integer) 0\n...");
    (void)run(t, "T.COUNTS app CLASS None");
    assert_member(t, "ready", "(integer) 0");
    (void)run(t, "Q.TIMEOUT app 1");
    (void)run(t, "T.COUNTS app");
    assert_member(t, "running", "(integer) 0");
    assert_member(t, "failed", "(integer) 2");
    (void)run(t, "T.DELETE app 4");
    (void)run(t, "T.RETRY app 3");
    (void)run(t, "T.COUNTS app");
    assert_member(t, "ready", "(integer) 5");
    assert_member(t, "failed", "(integer) 1");
    assert_member(t, "error", "(integer) 0");
    assert_member(t, "reservoir", "(integer) 1");
    assert_int_equal(engine_check(t->engine, false, NULL, NULL), 0);
}

static void test_tasks__without_a_priority_have_none_set(void **state)
{
    struct talk *t = *state;
    (void)run(t, "T.PUT app Mail '[1]' PRIORITY ''");
    assert_member(t, "priority", "(integer) 0");
    says(t, "T.PUT app Mail '[2]' PRIORITY x",
         "(error) INVALID T.PUT: PRIORITY must be a whole number, not \"x\"");
    says(t, "T.PUT app Mail '[2]' RETRIES ''",
         "(error) INVALID T.PUT: RETRIES must be a whole number, not \"\"");
}

// A whole error output, of which a list shows the beginning.
static void test_tasks__show_the_whole_error_output_but_in_lists(void **state)
{
    struct talk *t = *state;
    static char line[70000];
    int size = snprintf(line, sizeof(line), "Q.RETRY app 1 w GROUP g MESSAGE '");
    memset(line + size, 'x', 65536);
    (void)snprintf(line + size + 65536, 8, "'");
    (void)run(t, "T.PUT app Mail '[1]'");
    (void)run(t, "Q.POP app w 1 Mail");
    (void)run(t, line);
    (void)get(t, "1");
    assert_true(strlen(t->text.data) > 65536);
    (void)run(t, "T.LIST app");
    assert_true(strlen(t->text.data) > 1024);
    assert_true(strlen(t->text.data) < 4096);
}

static void test_tasks__that_are_the_same_are_one_until_it_has_run(void **state)
{
    struct talk *t = *state;
    (void)run(t, "T.PUT app Mail '[{\"a\":1,\"b\":[2]}]'");
    (void)run(t, "T.PUT app Mail ' [ { \"b\" : [2], \"a\":1 } ]' PRIORITY 7");
    assert_member(t, "id", "(integer) 1");
    assert_member(t, "priority", "(integer) 0");
    (void)run(t, "T.PUT app Mail '[{\"a\":1,\"b\":[3]}]'");
    assert_member(t, "id", "(integer) 2");
    (void)run(t, "T.PUT app Post '[{\"a\":1,\"b\":[2]}]'");
    assert_member(t, "id", "(integer) 3");
    (void)run(t, "Q.POP app w 1 Mail");
    (void)run(t, "Q.START app 1 w 1");
    (void)run(t, "T.PUT app Mail '[{\"a\":1,\"b\":[2]}]'");
    assert_member(t, "id", "(integer) 1");
    assert_member(t, "state", "\"running\"");
    (void)run(t, "Q.RETRY app 1 w");
    (void)run(t, "T.PUT app Mail '[{\"a\":1,\"b\":[2]}]'");
    assert_member(t, "id", "(integer) 1");
    (void)run(t, "Q.POP app w 1 Mail");
    (void)run(t, "Q.COMPLETE app 1 w");
    (void)run(t, "T.PUT app Mail '[{\"a\":1,\"b\":[2]}]'");
    assert_member(t, "id", "(integer) 4");
    (void)run(t, "T.DELETE app 4");
    (void)run(t, "T.PUT app Mail '[{\"a\":1,\"b\":[2]}]'");
    assert_member(t, "id", "(integer) 5");
}

static void test_tasks__may_be_for_later(void **state)
{
    struct talk *t = *state;
    (void)run(t, "T.PUT app Mail '[1]' SCHEDULED-FOR 2026-07-14T05:00:00+01:00");
    assert_member(t, "state", "\"ready\"");
    assert_member(t, "queuedAt", "\"2026-07-14T03:33:20.500Z\"");
    assert_member(t, "scheduledFor", "\"2026-07-14T04:00:00.000Z\"");
    assert_member(t, "firstScheduledFor", "\"2026-07-14T04:00:00.000Z\"");
    says(t, "Q.POP app w 1 Mail", "(empty array)");
    passes(t, 3600);
    says(t, "Q.POP app w 1 Mail", "1)  1# \"jid\" => \"1\"\n...");
    (void)run(t, "Q.RETRY app 1 w DELAY 60");
    (void)get(t, "1");
    assert_member(t, "firstScheduledFor", "\"2026-07-14T04:00:00.000Z\"");
    assert_member(t, "scheduledFor", "\"2026-07-14T04:34:20.500Z\"");
    (void)run(t, "T.PUT app Mail '[2]' SCHEDULED-FOR 2010-07-08T18:02:23.347Z");
    assert_member(t, "scheduledFor", "\"2026-07-14T04:33:20.500Z\"");
    says(t, "Q.POP app w 1 Mail", "1)  1# \"jid\" => \"2\"\n...");
}

static void test_tasks__have_numbers_that_are_never_given_twice(void **state)
{
    struct talk *t = *state;
    (void)run(t, "Q.PUT app q K {} JID 1");
    (void)run(t, "Q.PUT app q K {} JID 3");
    (void)run(t, "Q.PUT app q K {} JID 4");
    (void)run(t, "T.PUT app Mail '[1]'");
    assert_member(t, "id", "(integer) 5");
    (void)run(t, "T.DELETE app 5");
    (void)run(t, "T.PUT app Mail '[1]'");
    assert_member(t, "id", "(integer) 6");
    (void)run(t, "Q.PUT app q K {} JID x");
    (void)run(t, "T.PUT app Mail '[2]'");
    assert_member(t, "id", "(integer) 8");
    says(t, "T.GET app 4", " 1# \"class\" => \"K\"\n 2# \"args\" => \"{}\"\n...");
}

static void test_tasks__are_refused_when_they_are_none(void **state)
{
    struct talk *t = *state;
    says(t, "T.PUT app Mail '{\"a\":1}'",
         "(error) INVALID T.PUT: args must be an array, not an object");
    says(t, "T.PUT app Mail 5", "(error) INVALID T.PUT: args must be an array, not a number");
    says(t, "T.PUT app Mail '[1'", "(error) INVALID T.PUT: args is not JSON: ...");
    says(t, "T.PUT app '' '[]'", "(error) INVALID T.PUT: class must not be empty");
    says(t, "T.PUT app Mail '[]' SCHEDULED-FOR soon",
         "(error) INVALID T.PUT: SCHEDULED-FOR must be a time ...");
    says(t, "T.GET app 9", "(error) NOT_FOUND task 9 does not exist");
    says(t, "T.GET app 0", "(error) INVALID T.GET: id must be from 1 to ...");
    says(t, "T.GET app x", "(error) INVALID T.GET: id must be a whole number, not \"x\"");
    says(t, "T.DELETE app 9", "(error) NOT_FOUND task 9 does not exist");
    says(t, "T.LIST app", "1# \"tasks\" => (empty array)\n2# \"next\" => (nil)");
    (void)run(t, "Q.PUT app Mail Mail '[1]' JID x UNIQUE-CONTENTS");
    says(t, "T.PUT app Mail '[1]'", "(error) EXISTS job x holds the lock and has no number");
}

static void test_tasks__are_deleted_in_any_state(void **state)
{
    struct talk *t = *state;
    (void)run(t, "T.PUT app Mail '[1]'");
    (void)run(t, "T.PUT app Mail '[2]'");
    (void)run(t, "T.PUT app Mail '[3]'");
    (void)run(t, "T.PUT app Mail '[4]'");
    (void)run(t, "Q.POP app w 3 Mail");
    (void)run(t, "Q.COMPLETE app 1 w");
    (void)run(t, "Q.FAIL app 2 w g m");
    says(t, "T.DELETE app 1", "OK");
    says(t, "T.DELETE app 2", "OK");
    says(t, "T.DELETE app 3", "OK");
    says(t, "T.DELETE app 4", "OK");
    says(t, "T.LIST app", "1# \"tasks\" => (empty array)\n2# \"next\" => (nil)");
    says(t, "Q.COMPLETE app 3 w", "(error) NOT_FOUND job 3 does not exist");
    (void)run(t, "T.PUT app Mail '[1]'");
    (void)run(t, "Q.PUT app q K {} JID child DEPENDS 5");
    says(t, "T.DELETE app 5", "(error) STATE job 5 is a dependency of child...");
}

// ---------------------------------------------------------------------------------------------
// Lists

// The numbers of all tasks of a list, page by page, with blanks between.
static const char *listed(struct talk *t, const char *options)
{
    static char numbers[4096];
    char cursor[96] = "";
    size_t size = 0;
    numbers[0] = '\0';
    for (;;) {
        char line[256];
        (void)snprintf(line, sizeof(line), "T.LIST app %s %s", options, cursor);
        const char *at = run(t, line);
        while ((at = strstr(at, "# \"id\" => (integer) "))) {
            at += strlen("# \"id\" => (integer) ");
            size += (size_t)snprintf(numbers + size, sizeof(numbers) - size, "%s%.*s",
                                     size ? " " : "", (int)strcspn(at, "\n"), at);
        }
        const char *next = strstr(t->text.data, "2# \"next\" => ");
        assert_non_null(next);
        next += strlen("2# \"next\" => ");
        if (strcmp(next, "(nil)") == 0) {
            return numbers;
        }
        (void)snprintf(cursor, sizeof(cursor), "CURSOR %s", next);
    }
}

static void test_tasks__are_listed_by_state_and_class(void **state)
{
    struct talk *t = *state;
    for (int i = 1; i <= 8; i++) {
        char line[64];
        (void)snprintf(line, sizeof(line), "T.PUT app Mail '[%d]' RETRIES 3", i);
        (void)run(t, line);
    }
    (void)run(t, "T.PUT app Later '[]' SCHEDULED-FOR 2027-01-01T00:00:00Z");
    (void)run(t, "Q.PUT app Mail Mail '[]' JID no-task");
    (void)run(t, "Q.POP app w 5 Mail");
    (void)run(t, "Q.START app 1 w 1");
    (void)run(t, "Q.COMPLETE app 2 w");
    (void)run(t, "Q.FAIL app 3 w g m");
    (void)run(t, "Q.RETRY app 4 w DELAY 100 GROUP g MESSAGE m");
    assert_string_equal(listed(t, "STATE ready"), "6 7 8 9");
    assert_string_equal(listed(t, "STATE ready CLASS Mail"), "6 7 8");
    assert_string_equal(listed(t, "STATE ready CLASS Mail COUNT 1"), "6 7 8");
    assert_string_equal(listed(t, "STATE reserved"), "5");
    assert_string_equal(listed(t, "STATE running"), "1");
    assert_string_equal(listed(t, "STATE failed"), "4");
    assert_string_equal(listed(t, "STATE error"), "3");
    assert_string_equal(listed(t, "STATE error CLASS Later"), "");
    assert_string_equal(listed(t, "STATE complete"), "2");
    assert_string_equal(listed(t, "STATE complete CLASS None"), "");
    assert_string_equal(listed(t, "RESERVOIR"), "4 9");
    assert_string_equal(listed(t, "RESERVOIR STATE ready"), "9");
    assert_string_equal(listed(t, "RESERVOIR STATE error"), "");
    assert_string_equal(listed(t, "COUNT 2"), "1 5 6 7 8 4 9 3 2");
}

static void test_tasks__are_all_found_in_long_lists(void **state)
{
    struct talk *t = *state;
    for (int i = 0; i < 2500; i++) {
        (void)run(t, "Q.PUT app Mail Mail {}");
    }
    (void)run(t, "T.PUT app Mail '[1]'");
    says(t, "T.LIST app STATE ready", "1# \"tasks\" => (empty array)\n2# \"next\" => \"0.0.2...");
    assert_string_equal(listed(t, "STATE ready"), "2501");
}

static void test_tasks__cursors_that_are_none_are_refused(void **state)
{
    static const char *const cursors[] = { "x",       "1",       "1.2.3",     "0.0.5.0",
                                           "3.0.0.0", "0.0.0.x", "0.0.0.0.0", "-1.0.0.0" };
    struct talk *t = *state;
    for (size_t i = 0; TEST_ROW_NAMED(i, cursors, cursors[i]); i++) {
        char line[64];
        (void)snprintf(line, sizeof(line), "T.LIST app CURSOR %s", cursors[i]);
        says(t, line,
             "(error) INVALID T.LIST: CURSOR must be the value of next in an earlier page");
    }
    says(t, "T.LIST app CURSOR 0.18446744073709551615.4.18446744073709551615",
         "1# \"tasks\" => (empty array)\n2# \"next\" => (nil)");
}

// The first allocation fails, the second, ...: a task that was refused is not there, not in part.
static void test_tasks__without_memory_there_is_no_task(void **state)
{
    (void)state;
    struct fault_alloc fault;
    bool failed = true;
    size_t count = 0;
    for (size_t fail_at = 1; failed; fail_at++) {
        fault_alloc_init(&fault);
        struct talk *t = talk_new(&fault.allocator);
        fault.calls = 0;
        fault.fail_at = fail_at;
        const char *shown = run(t, "T.PUT app Mail '[1]' SCHEDULED-FOR 2030-01-01T00:00:00Z");
        bool refused = strncmp(shown, "(error) NO_MEMORY", 17) == 0;
        failed = fault.failed;
        count += refused;
        assert_true(failed || !refused);
        fault.fail_at = 0;
        assert_string_equal(listed(t, ""), refused ? "" : "1");
        assert_int_equal(engine_check(t->engine, false, NULL, NULL), 0);
        talk_free(t);
        fault_alloc_release(&fault);
    }
    assert_true(count > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TALK_TEST(test_tasks__are_described_as_fresnel_does),
        TALK_TEST(test_tasks__go_from_ready_to_reserved_to_running_to_complete),
        TALK_TEST(test_tasks__that_fail_are_tried_again_until_their_limit),
        TALK_TEST(test_tasks__that_time_out_at_the_last_attempt_say_so),
        TALK_TEST(test_tasks__in_error_run_again_one_by_one),
        TALK_TEST(test_tasks__are_counted_in_their_states),
        TALK_TEST(test_tasks__without_a_priority_have_none_set),
        TALK_TEST(test_tasks__show_the_whole_error_output_but_in_lists),
        TALK_TEST(test_tasks__scheduled_for_stays_when_a_retried_task_is_due),
        TALK_TEST(test_tasks__scheduled_for_stays_by_whatever_command_it_was_delayed),
        TALK_TEST(test_tasks__whose_lease_is_lost_have_timed_out),
        TALK_TEST(test_tasks__that_are_the_same_are_one_until_it_has_run),
        TALK_TEST(test_tasks__may_be_for_later),
        TALK_TEST(test_tasks__have_numbers_that_are_never_given_twice),
        TALK_TEST(test_tasks__are_refused_when_they_are_none),
        TALK_TEST(test_tasks__are_deleted_in_any_state),
        TALK_TEST(test_tasks__are_listed_by_state_and_class),
        TALK_TEST(test_tasks__are_all_found_in_long_lists),
        TALK_TEST(test_tasks__cursors_that_are_none_are_refused),
        cmocka_unit_test(test_tasks__without_memory_there_is_no_task),
    };
    return cmocka_run_group_tests_name("tasks", tests, NULL, NULL);
}
