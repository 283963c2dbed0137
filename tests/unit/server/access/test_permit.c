// SPDX-License-Identifier: MIT
#include "server/access/permit.h"

#include "base/ascii.h"
#include "server/net/connection.h"
#include "server/redis/tables.h"

#include "settings_test.h"
#include "test.h"

#include <stdalign.h>
#include <string.h>

#define FLAGS(...) ((const char *const[]){ __VA_ARGS__, NULL })

// A user, all commands, and an engine that has no jobs.
struct permit_test {
    struct settings_test settings;
    struct users *users;
    struct commands *commands;
    struct engine *engine;
    struct connection connection;
    alignas(max_align_t) char arguments[COMMAND_ARGUMENTS_SIZE_MAX];
    struct error error;
};

static const struct slice mine[] = { { "mine", 4 } };
static const struct slice other[] = { { "other", 5 } };

static void start(struct permit_test *test, const char *user)
{
    *test = (struct permit_test){ 0 };
    settings_test_of(&test->settings, FLAGS(user));
    assert_int_equal(
        users_new(&allocator_system, &test->settings.settings, &test->users, &test->error),
        STATUS_OK);
    const struct engine_options options = { .allocator = &allocator_system };
    assert_int_equal(engine_new(&options, &test->engine), STATUS_OK);
    assert_int_equal(server_commands_new(&allocator_system, &test->commands), STATUS_OK);
    const struct login_name who = { SLICE("ann"), SLICE("unix") };
    struct login_check check;
    int64_t refused_us;
    assert_int_equal(users_login_begin(test->users, &who, SLICE("pa"), 0, &check,
                                       &test->connection.user, &test->error),
                     STATUS_OK);
    assert_int_equal(users_login_end(test->users, &who, &check, true, 0, &test->connection.user,
                                     &refused_us, &test->error),
                     STATUS_OK);
}

static void stop(struct permit_test *test)
{
    commands_free(test->commands);
    engine_free(test->engine);
    users_free(test->users);
    settings_test_release(&test->settings);
}

// All arguments that are about that become the name.
static size_t name_all(struct permit_test *test, const struct command *command,
                       enum argument_about about, const struct slice *name)
{
    size_t count = 0;
    for (size_t i = 0; i < command->argument_count; i++) {
        const struct argument *argument = &command->arguments[i];
        if (argument->about != about) {
            continue;
        }
        count++;
        if (argument->flags & ARGUMENT_REPEATED) {
            const struct slices names = { name, 1 };
            memcpy(test->arguments + argument->offset, &names, sizeof(names));
        } else {
            memcpy(test->arguments + argument->offset, name, sizeof(*name));
        }
    }
    return count;
}

// Both steps, in the namespace app.
static enum status ask(struct permit_test *test, const struct command *command)
{
    enum status status = permit_command(test->connection.user, command, SLICE("app"), &test->error);
    call_permit *permit = permit_arguments(test->connection.user, command, SLICE("app"));
    const struct call call = {
        .command = command,
        .ns = SLICE("app"),
        .engine = test->engine,
        .arguments = test->arguments,
        .session = &test->connection,
    };
    return status || !permit ? status : permit(&call, &test->error);
}

static bool is_of_namespace(const struct command *command)
{
    return (command->flags & COMMAND_NAMESPACE) && !command->each;
}

static void test_permit__every_command_needs_one_right(void **state)
{
    (void)state;
    struct permit_test test;
    const struct command *command;
    start(&test, "--user=ann pa app:read");
    for (size_t i = 0; (command = commands_at(test.commands, i)); i++) {
        enum right right = command_right(command);
        assert_true(right && !(right & (right - 1)));
        bool puts = command->flags & COMMAND_PUTS;
        bool works = command->flags & COMMAND_WORKS;
        assert_false(puts && works);
        assert_true(!puts || (command->flags & COMMAND_WRITES));
        assert_true(!(puts || works) || !(command->flags & COMMAND_ADMIN));
        assert_true(!(command->flags & COMMAND_READS) || right == RIGHT_READ ||
                    right == RIGHT_ADMIN || works);
        if (command->each) {
            assert_int_equal(command_right(command->each), right);
        }
    }
    stop(&test);
}

// A name that is a queue or a jid must be said to be one, or a user with rights on some queues
// could name any.
static void test_permit__every_argument_that_is_a_queue_or_a_job_says_so(void **state)
{
    (void)state;
    static const char *const names[] = { "queue", "jid", "dependency", "depends", "next", "token" };
    static const char *const exempt[] = { "Q.PUT JID", "Q.PUSH.SET QUEUE", "Q.NOTE TOKEN",
                                          "Q.FIND JID", "T.LIST QUEUE" };
    struct permit_test test;
    const struct command *command;
    start(&test, "--user=ann pa app:read");
    for (size_t i = 0; (command = commands_at(test.commands, i)); i++) {
        for (size_t j = 0; is_of_namespace(command) && j < command->argument_count; j++) {
            const struct argument *argument = &command->arguments[j];
            char whole[128];
            bool should = false;
            (void)snprintf(whole, sizeof(whole), "%s %s", command->name, argument->name);
            for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++) {
                should |= ascii_equal(slice_from_cstr(argument->name), slice_from_cstr(names[k]));
            }
            for (size_t k = 0; k < sizeof(exempt) / sizeof(exempt[0]); k++) {
                should &= strcmp(whole, exempt[k]) != 0;
            }
            if (should && argument->about == ABOUT_NOTHING) {
                fail_msg("%s: the argument does not say what it is about", whole);
            }
        }
    }
    stop(&test);
}

// Whether a command that changes something is work, a put or a remark, and no administrative act.
// qless's calls are recorded under their own names.
static bool is_daily_work(const struct command *command)
{
    static const char *const exempt[] = { "Q.NOTE", "Q.TRACK", "Q.UNTRACK", "Q.WORKER.OFFLINE",
                                          "EVAL",   "EVALSHA", "EVAL_RO",   "EVALSHA_RO" };
    for (size_t i = 0; i < sizeof(exempt) / sizeof(exempt[0]); i++) {
        if (!strcmp(command->name, exempt[i])) {
            return true;
        }
    }
    return command->flags & (COMMAND_PUTS | COMMAND_WORKS);
}

static void test_permit__every_administrative_act_is_audited_and_nothing_else(void **state)
{
    (void)state;
    struct permit_test test;
    const struct command *command;
    start(&test, "--user=ann pa app:read");
    for (size_t i = 0; (command = commands_at(test.commands, i)); i++) {
        bool changes = command->flags & (COMMAND_WRITES | COMMAND_SHRINKS) ||
                       (command->flags & COMMAND_ADMIN && !(command->flags & COMMAND_READS));
        bool acts = changes && !is_daily_work(command);
        bool audited = command->flags & COMMAND_AUDITED;
        print_message("%s: %s\n", command->name, audited ? "audited" : "not audited");
        if (acts != audited) {
            fail_msg("%s %s", command->name,
                     acts ? "is an administrative act, and is not audited"
                          : "is audited, and is no administrative act");
        }
        assert_true(audited || !(command->flags & COMMAND_JOB_ACT));
    }
    stop(&test);
}

static void test_permit__a_user_without_rights_may_run_no_command(void **state)
{
    (void)state;
    struct permit_test test;
    const struct command *command;
    start(&test, "--user=ann pa elsewhere:write app-2:admin");
    for (size_t i = 0; (command = commands_at(test.commands, i)); i++) {
        if (command->flags & COMMAND_NAMESPACE) {
            assert_int_equal(ask(&test, command), STATUS_DENIED);
        }
    }
    stop(&test);
}

static void test_permit__a_user_of_one_queue_may_name_no_other(void **state)
{
    (void)state;
    struct permit_test test;
    const struct command *command;
    size_t allowed = 0;
    start(&test, "--user=ann pa app/mine:write");
    for (size_t i = 0; (command = commands_at(test.commands, i)); i++) {
        if (!is_of_namespace(command)) {
            continue;
        }
        memset(test.arguments, 0, sizeof(test.arguments));
        assert_int_equal(ask(&test, command), STATUS_DENIED); // it names nothing
        (void)name_all(&test, command, ABOUT_TARGET, mine);
        assert_int_equal(ask(&test, command), STATUS_DENIED);
        if (name_all(&test, command, ABOUT_QUEUE, mine) && command_right(command) != RIGHT_ADMIN) {
            assert_int_equal(ask(&test, command), STATUS_OK);
            allowed++;
            if (name_all(&test, command, ABOUT_TARGET, other)) {
                assert_int_equal(ask(&test, command), STATUS_DENIED);
                (void)name_all(&test, command, ABOUT_TARGET, mine);
            }
        }
        (void)name_all(&test, command, ABOUT_QUEUE, other);
        assert_int_equal(ask(&test, command), STATUS_DENIED);
        (void)name_all(&test, command, ABOUT_QUEUE, mine);
        if (name_all(&test, command, ABOUT_JOB, mine) ||
            name_all(&test, command, ABOUT_RECURRING, mine)) {
            assert_int_equal(ask(&test, command), STATUS_DENIED); // a job that is not there
        }
    }
    assert_true(allowed >= 15);
    stop(&test);
}

// Each right alone allows the commands that need it, and no other.
static void test_permit__a_right_allows_its_commands_only(void **state)
{
    (void)state;
    static const struct {
        const char *flag;
        unsigned rights;
    } cases[] = {
        { "--user=ann pa app:read", RIGHT_READ },    { "--user=ann pa app:put", RIGHT_PUT },
        { "--user=ann pa app:work", RIGHT_WORK },    { "--user=ann pa app:operate", RIGHT_OPERATE },
        { "--user=ann pa app:write", RIGHTS_WRITE }, { "--user=ann pa app:admin", RIGHTS_ADMIN },
    };
    for (size_t i = 0; TEST_ROW_NAMED(i, cases, cases[i].flag); i++) {
        struct permit_test test;
        const struct command *command;
        start(&test, cases[i].flag);
        for (size_t j = 0; (command = commands_at(test.commands, j)); j++) {
            if (command->flags & COMMAND_NAMESPACE) {
                bool may = cases[i].rights & command_right(command);
                assert_int_equal(
                    permit_command(test.connection.user, command, SLICE("app"), &test.error),
                    may ? STATUS_OK : STATUS_DENIED);
            }
        }
        stop(&test);
    }
}

static void test_permit__a_worker_needs_the_token_and_an_operator_does_not(void **state)
{
    (void)state;
    struct permit_test test;
    const struct command *command;
    for (int operates = 0; operates < 2; operates++) {
        size_t count = 0;
        start(&test, operates ? "--user=ann pa app:work+operate" : "--user=ann pa app:work");
        for (size_t i = 0; (command = commands_at(test.commands, i)); i++) {
            const struct argument *token =
                is_of_namespace(command) ? command_option(command, SLICE("TOKEN")) : NULL;
            if (!token || command_right(command) != RIGHT_WORK) {
                continue;
            }
            count++;
            memset(test.arguments, 0, sizeof(test.arguments));
            (void)name_all(&test, command, ABOUT_JOB, mine);
            assert_int_equal(ask(&test, command), operates ? STATUS_OK : STATUS_DENIED);
            const int64_t number = 7;
            memcpy(test.arguments + token->offset, &number, sizeof(number));
            assert_int_equal(ask(&test, command), STATUS_OK);
        }
        assert_true(count >= 8);
        stop(&test);
    }
}

static void test_permit__a_producer_may_not_replace_a_job(void **state)
{
    (void)state;
    struct permit_test test;
    start(&test, "--user=ann pa app:put");
    const struct command *command = commands_find(test.commands, SLICE("Q.PUT"));
    const struct argument *conflict = command_option(command, SLICE("ON-CONFLICT"));
    (void)name_all(&test, command, ABOUT_QUEUE, mine);
    for (int64_t word = 0; conflict->words[word]; word++) {
        memcpy(test.arguments + conflict->offset, &word, sizeof(word));
        assert_int_equal(ask(&test, command),
                         strcmp(conflict->words[word], "replace") ? STATUS_OK : STATUS_DENIED);
    }
    stop(&test);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_permit__every_command_needs_one_right),
        cmocka_unit_test(test_permit__every_argument_that_is_a_queue_or_a_job_says_so),
        cmocka_unit_test(test_permit__every_administrative_act_is_audited_and_nothing_else),
        cmocka_unit_test(test_permit__a_user_without_rights_may_run_no_command),
        cmocka_unit_test(test_permit__a_user_of_one_queue_may_name_no_other),
        cmocka_unit_test(test_permit__a_right_allows_its_commands_only),
        cmocka_unit_test(test_permit__a_worker_needs_the_token_and_an_operator_does_not),
        cmocka_unit_test(test_permit__a_producer_may_not_replace_a_job),
    };
    return cmocka_run_group_tests_name("permit", tests, NULL, NULL);
}
