// SPDX-License-Identifier: MIT
#include "server/access/sessions.h"

#include "fault_alloc.h"
#include "settings_test.h"
#include "test.h"

#include <string.h>

#define FLAGS(...) ((const char *const[]){ __VA_ARGS__, NULL })
#define SECOND     ((int64_t)1000000)
#define MINUTE     (60 * SECOND)

enum {
    ANN,
    BOB,
};

// As --hash-password prints them: a password in plain text is another one with each reload.
#define ANN_HASH                                                                                   \
    "pbkdf2-sha256$100000$c1196250e317606abd986ef946433f42$f1aaf1"                                 \
    "ac20b464b97b49cbf058588b53ca3521ee953f2a41e6835248bf1fbc53"
#define BOB_HASH                                                                                   \
    "pbkdf2-sha256$100000$83c30bcd5a7722a562bcd62198948e65$cd715f"                                 \
    "81979b8ebb7decc82bc82fa9259c7bf2a9e0e1b3958f71b34cf6e1f857"

static const char ann_admin[] = "ann " ANN_HASH " *:admin";
static const char bob_reader[] = "bob " BOB_HASH " *:read";
static const char bob_admin[] = "bob " BOB_HASH " *:admin";

static const char *const both[] = { "--user", ann_admin, "--user", bob_reader, NULL };

struct sessions_test {
    struct settings_test settings;
    struct users *users;
    struct sessions sessions;
    struct error error;
    int64_t now_us;
    uint8_t next; // makes each random number different
};

struct token {
    char text[SESSION_TOKEN_SIZE];
};

static void start(struct sessions_test *test, const struct allocator *allocator)
{
    *test = (struct sessions_test){ .now_us = 1000 * SECOND };
    settings_test_of(&test->settings, both);
    assert_int_equal(
        users_new(&allocator_system, &test->settings.settings, &test->users, &test->error),
        STATUS_OK);
    sessions_init(&test->sessions, allocator, (struct hash_seed){ 1, 2 });
    test->sessions.limits =
        (struct session_limits){ .count_max = 8, .idle_us = 10 * MINUTE, .age_us = 60 * MINUTE };
}

static void stop(struct sessions_test *test)
{
    sessions_release(&test->sessions);
    users_free(test->users);
    settings_test_release(&test->settings);
}

static void reload(struct sessions_test *test, const char *const *flags)
{
    struct settings_test fresh;
    settings_test_of(&fresh, flags);
    assert_int_equal(
        users_reload(test->users, &fresh.settings, (struct slices){ NULL, 0 }, &test->error),
        STATUS_OK);
    settings_test_release(&fresh);
    sessions_end_revoked(&test->sessions);
    users_settle(test->users);
}

static const struct user *user_of(const struct sessions_test *test, int who)
{
    const struct user *user =
        users_find(test->users, slice_from_cstr((const char *[]){ "ann", "bob" }[who]));
    assert_non_null(user);
    return user;
}

static enum status try_begin(struct sessions_test *test, int who, struct token *token)
{
    uint8_t random[SESSION_RANDOM_SIZE] = { test->next++ };
    return sessions_begin(&test->sessions, user_of(test, who), random, test->now_us, token->text);
}

static struct token begin(struct sessions_test *test, int who)
{
    struct token token;
    assert_int_equal(try_begin(test, who, &token), STATUS_OK);
    return token;
}

static struct session *use(struct sessions_test *test, const struct token *token)
{
    return sessions_use(&test->sessions, slice_make(token->text, sizeof(token->text)),
                        test->now_us);
}

static void test_sessions__a_token_stands_for_its_user_until_the_session_ends(void **state)
{
    (void)state;
    struct sessions_test test;
    start(&test, &allocator_system);
    struct token ann = begin(&test, ANN);
    struct token bob = begin(&test, BOB);
    assert_ptr_equal(use(&test, &ann)->user, user_of(&test, ANN));
    assert_ptr_equal(use(&test, &bob)->user, user_of(&test, BOB));
    sessions_end(&test.sessions, use(&test, &ann));
    assert_null(use(&test, &ann));
    assert_non_null(use(&test, &bob));
    stop(&test);
}

static void test_sessions__the_token_itself_is_not_kept(void **state)
{
    (void)state;
    struct sessions_test test;
    start(&test, &allocator_system);
    struct token token = begin(&test, ANN);
    assert_memory_equal(token.text, "00000000", 8);
    const struct session *session = use(&test, &token);
    assert_null(memmem(session, sizeof(*session), token.text, 16));
    uint8_t random[SESSION_RANDOM_SIZE] = { 0 };
    assert_memory_not_equal(session->digest, random, sizeof(random));
    stop(&test);
}

static void test_sessions__other_tokens_are_refused(void **state)
{
    (void)state;
    struct sessions_test test;
    start(&test, &allocator_system);
    struct token token = begin(&test, ANN);
    struct slice text = slice_make(token.text, sizeof(token.text));
    assert_null(sessions_use(&test.sessions, SLICE_EMPTY, test.now_us));
    assert_null(sessions_use(&test.sessions, slice_sub(text, 0, text.size - 1), test.now_us));
    token.text[SESSION_TOKEN_SIZE - 1] = '1';
    assert_null(use(&test, &token));
    stop(&test);
}

static void test_sessions__one_that_is_not_used_ends(void **state)
{
    (void)state;
    struct sessions_test test;
    start(&test, &allocator_system);
    struct token used = begin(&test, ANN);
    struct token idle = begin(&test, ANN);
    test.now_us += 9 * MINUTE;
    assert_non_null(use(&test, &used));
    test.now_us += MINUTE;
    sessions_expire(&test.sessions, test.now_us);
    assert_int_equal(test.sessions.count, 1);
    assert_null(use(&test, &idle));
    assert_non_null(use(&test, &used));
    stop(&test);
}

static void test_sessions__one_that_is_used_ends_when_it_is_too_old(void **state)
{
    (void)state;
    struct sessions_test test;
    start(&test, &allocator_system);
    struct token token = begin(&test, ANN);
    for (int i = 0; i < 11; i++) {
        test.now_us += 5 * MINUTE;
        assert_non_null(use(&test, &token));
    }
    test.now_us += 5 * MINUTE;
    assert_null(use(&test, &token));
    assert_int_equal(test.sessions.count, 0);
    stop(&test);
}

static void test_sessions__a_stream_keeps_its_session_going(void **state)
{
    (void)state;
    struct sessions_test test;
    start(&test, &allocator_system);
    struct token token = begin(&test, ANN);
    struct token other = begin(&test, BOB);
    uint64_t id = use(&test, &token)->id;
    for (int i = 0; i < 11; i++) {
        test.now_us += 5 * MINUTE;
        assert_true(sessions_go_on(&test.sessions, id, test.now_us));
        sessions_expire(&test.sessions, test.now_us);
    }
    assert_null(use(&test, &other));
    test.now_us += 5 * MINUTE;
    assert_false(sessions_go_on(&test.sessions, id, test.now_us));
    assert_false(sessions_go_on(&test.sessions, 4711, test.now_us));
    stop(&test);
}

static void test_sessions__those_of_a_removed_user_end(void **state)
{
    (void)state;
    struct sessions_test test;
    start(&test, &allocator_system);
    struct token ann = begin(&test, ANN);
    struct token bob = begin(&test, BOB);
    reload(&test, FLAGS("--user", ann_admin));
    assert_non_null(use(&test, &ann));
    assert_null(use(&test, &bob));
    assert_int_equal(test.sessions.count, 1);
    stop(&test);
}

static void test_sessions__those_of_a_user_with_another_password_end(void **state)
{
    (void)state;
    struct sessions_test test;
    start(&test, &allocator_system);
    struct token ann = begin(&test, ANN);
    struct token bob = begin(&test, BOB);
    reload(&test, FLAGS("--user", "ann changed *:admin", "--user", bob_admin));
    assert_null(use(&test, &ann));
    assert_non_null(use(&test, &bob)); // with the rights that the user has now
    assert_true(user_may(use(&test, &bob)->user, SLICE("app"), RIGHT_ADMIN));
    stop(&test);
}

static void test_sessions__with_too_many_the_least_recently_used_one_ends(void **state)
{
    (void)state;
    struct sessions_test test;
    struct token tokens[8];
    start(&test, &allocator_system);
    test.sessions.limits.count_max = 7; // an eighth is less than one: the user's own gives way
    for (size_t i = 0; i < 7; i++) {
        tokens[i] = begin(&test, ANN);
    }
    assert_non_null(use(&test, &tokens[0]));
    tokens[7] = begin(&test, ANN);
    assert_int_equal(test.sessions.count, 7);
    assert_non_null(use(&test, &tokens[0]));
    assert_null(use(&test, &tokens[1]));
    assert_non_null(use(&test, &tokens[7]));
    stop(&test);
}

static void test_sessions__a_user_with_an_eighth_of_them_ends_no_others(void **state)
{
    (void)state;
    struct sessions_test test;
    start(&test, &allocator_system);
    struct token ann = begin(&test, ANN);
    for (size_t i = 0; i < 20; i++) {
        (void)begin(&test, BOB);
    }
    assert_int_equal(test.sessions.count, 8);
    assert_non_null(use(&test, &ann));
    stop(&test);
}

static void test_sessions__a_user_without_any_gets_one_though_there_are_too_many(void **state)
{
    (void)state;
    struct sessions_test test;
    struct token tokens[8];
    start(&test, &allocator_system);
    for (size_t i = 0; i < 8; i++) {
        tokens[i] = begin(&test, BOB);
    }
    struct token ann = begin(&test, ANN);
    assert_int_equal(test.sessions.count, 8);
    assert_non_null(use(&test, &ann));
    assert_null(use(&test, &tokens[0]));
    assert_non_null(use(&test, &tokens[1]));
    stop(&test);
}

static void test_sessions__a_limit_that_was_lowered_holds_with_the_next_one(void **state)
{
    (void)state;
    struct sessions_test test;
    start(&test, &allocator_system);
    for (size_t i = 0; i < 8; i++) {
        (void)begin(&test, i % 2 ? ANN : BOB);
    }
    test.sessions.limits.count_max = 1;
    struct token last = begin(&test, ANN);
    assert_int_equal(test.sessions.count, 1);
    assert_non_null(use(&test, &last));
    stop(&test);
}

static void test_sessions__without_memory_nothing_changes(void **state)
{
    (void)state;
    struct fault_alloc fault;
    FAULT_ALLOC_EACH(&fault)
    {
        struct sessions_test test;
        struct token token;
        start(&test, &fault.allocator);
        enum status status = try_begin(&test, ANN, &token);
        assert_int_equal(test.sessions.count, status ? 0 : 1);
        stop(&test);
        FAULT_ALLOC_EXPECT(&fault, status);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sessions__a_token_stands_for_its_user_until_the_session_ends),
        cmocka_unit_test(test_sessions__the_token_itself_is_not_kept),
        cmocka_unit_test(test_sessions__other_tokens_are_refused),
        cmocka_unit_test(test_sessions__one_that_is_not_used_ends),
        cmocka_unit_test(test_sessions__one_that_is_used_ends_when_it_is_too_old),
        cmocka_unit_test(test_sessions__a_stream_keeps_its_session_going),
        cmocka_unit_test(test_sessions__those_of_a_removed_user_end),
        cmocka_unit_test(test_sessions__those_of_a_user_with_another_password_end),
        cmocka_unit_test(test_sessions__with_too_many_the_least_recently_used_one_ends),
        cmocka_unit_test(test_sessions__a_user_with_an_eighth_of_them_ends_no_others),
        cmocka_unit_test(test_sessions__a_user_without_any_gets_one_though_there_are_too_many),
        cmocka_unit_test(test_sessions__a_limit_that_was_lowered_holds_with_the_next_one),
        cmocka_unit_test(test_sessions__without_memory_nothing_changes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
