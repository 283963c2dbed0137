// SPDX-License-Identifier: MIT
#include "server/config/users.h"

#include "fault_alloc.h"
#include "settings_test.h"
#include "test.h"

#include <string.h>

#define FLAGS(...) ((const char *const[]){ __VA_ARGS__, NULL })
#define SECOND     ((int64_t)1000000)

static const struct slice here = { "10.0.0.1", 8 };

struct users_test {
    struct settings_test settings;
    struct users *users;
    struct error error;
    int64_t now_us;
};

static void start(struct users_test *test, const char *const *flags)
{
    *test = (struct users_test){ .now_us = 1000 * SECOND };
    settings_test_of(&test->settings, flags);
    assert_int_equal(
        users_new(&allocator_system, &test->settings.settings, &test->users, &test->error),
        STATUS_OK);
}

static void stop(struct users_test *test)
{
    users_free(test->users);
    settings_test_release(&test->settings);
}

// Other users, as after SIGHUP.
static void reload(struct users_test *test, const char *const *flags)
{
    struct settings_test fresh;
    settings_test_of(&fresh, flags);
    assert_int_equal(
        users_reload(test->users, &fresh.settings, (struct slices){ NULL, 0 }, &test->error),
        STATUS_OK);
    settings_test_release(&fresh);
}

// All three steps of a login.
static enum status authenticate(struct users *users, const char *name, const char *password,
                                int64_t now_us, const struct user **out, struct error *error)
{
    const struct login_name who = { slice_from_cstr(name), here };
    struct slice plain = slice_from_cstr(password);
    struct login_check check;
    const struct user *user;
    int64_t refused_us;
    enum status status = users_login_begin(users, &who, plain, now_us, &check, &user, error);
    if (!status && !user) {
        bool right = login_check_run(&check, plain) == STATUS_OK;
        status = users_login_end(users, &who, &check, right, now_us, &user, &refused_us, error);
    }
    if (!status) {
        *out = user;
    }
    return status;
}

static enum status log_in(struct users_test *test, const char *name, const char *password,
                          const struct user **out)
{
    return authenticate(test->users, name, password, test->now_us, out, &test->error);
}

static void test_users__a_password_changed_during_its_check_is_denied(void **state)
{
    (void)state;
    struct users_test test;
    const struct user *user = NULL;
    const struct login_name who = { SLICE("ann"), here };
    struct login_check check;
    int64_t refused_us;
    start(&test, FLAGS("--user=ann secret app:write"));
    assert_int_equal(users_login_begin(test.users, &who, SLICE("secret"), test.now_us, &check,
                                       &user, &test.error),
                     STATUS_OK);
    assert_null(user);
    assert_int_equal(login_check_run(&check, SLICE("secret")), STATUS_OK);
    reload(&test, FLAGS("--user=ann other app:write"));
    assert_int_equal(users_login_end(test.users, &who, &check, true, test.now_us, &user,
                                     &refused_us, &test.error),
                     STATUS_DENIED);
    stop(&test);
}

static void test_users__without_any_everybody_may_do_everything(void **state)
{
    (void)state;
    struct users_test test;
    const struct user *user;
    start(&test, FLAGS("--allow-flush"));
    const struct user *anybody = users_anybody(test.users);
    assert_non_null(anybody);
    assert_true(user_may(anybody, SLICE("app"), RIGHT_ADMIN));
    assert_false(user_is_gone(anybody));
    assert_int_equal(log_in(&test, "default", "secret", &user), STATUS_STATE);
    stop(&test);
}

static void test_users__the_password_is_that_of_the_default_user(void **state)
{
    (void)state;
    struct users_test test;
    const struct user *user = NULL;
    start(&test, FLAGS("--password=secret"));
    assert_null(users_anybody(test.users));
    assert_int_equal(log_in(&test, "", "secret", &user), STATUS_OK);
    assert_string_equal(user->name, "default");
    assert_true(user_may(user, SLICE("any"), RIGHT_ADMIN));
    assert_int_equal(log_in(&test, "default", "secret", &user), STATUS_OK);
    assert_int_equal(log_in(&test, "ann", "secret", &user), STATUS_DENIED);
    stop(&test);
}

static void test_users__who_does_not_exist_is_denied_like_who_is_wrong(void **state)
{
    (void)state;
    struct users_test test;
    const struct user *user = NULL;
    char sentence[ERROR_DETAIL_SIZE];
    start(&test, FLAGS("--user=ann secret app:write"));
    assert_int_equal(log_in(&test, "ann", "wrong", &user), STATUS_DENIED);
    (void)snprintf(sentence, sizeof(sentence), "%s", test.error.detail);
    assert_int_equal(log_in(&test, "bob", "wrong", &user), STATUS_DENIED);
    assert_string_equal(test.error.detail, sentence);
    assert_int_equal(log_in(&test, "ann", "", &user), STATUS_DENIED);
    assert_null(user);
    stop(&test);
}

static void test_users__who_has_logged_in_before_still_needs_the_password(void **state)
{
    (void)state;
    struct users_test test;
    const struct user *user = NULL;
    start(&test, FLAGS("--user=ann secret app:write", "--user=bob secret app:write"));
    for (int i = 0; i < 3; i++) {
        assert_int_equal(log_in(&test, "ann", "secret", &user), STATUS_OK);
        assert_string_equal(user->name, "ann");
        assert_int_equal(log_in(&test, "ann", "Secret", &user), STATUS_DENIED);
    }
    assert_int_equal(log_in(&test, "bob", "secret", &user), STATUS_OK);
    assert_string_equal(user->name, "bob");
    stop(&test);
}

static void test_users__too_many_failures_are_refused_even_with_the_password(void **state)
{
    (void)state;
    struct users_test test;
    const struct user *user = NULL;
    start(&test, FLAGS("--user=ann secret app:write"));
    for (int i = 0; i < 5; i++) {
        assert_int_equal(log_in(&test, "ann", "wrong", &user), STATUS_DENIED);
    }
    assert_int_equal(log_in(&test, "ann", "secret", &user), STATUS_BUSY);
    assert_string_equal(test.error.detail, "too many failed logins; try again in 1 seconds");
    test.now_us += SECOND;
    assert_int_equal(log_in(&test, "ann", "secret", &user), STATUS_OK);
    stop(&test);
}

static void test_users__rights_are_those_of_all_grants_together(void **state)
{
    (void)state;
    static const struct {
        const char *ns, *queue;
        unsigned whole, on, somewhere;
    } cases[] = {
        { "app", "q", RIGHTS_WRITE, RIGHTS_WRITE, RIGHTS_WRITE },
        { "apps", "q", 0, 0, 0 },
        { "ap", "q", 0, 0, 0 },
        { "", "q", 0, 0, 0 },
        { "team-", "q", RIGHT_READ, RIGHT_READ, RIGHT_READ },
        { "team-lead", "q", RIGHTS_ADMIN, RIGHTS_ADMIN, RIGHTS_ADMIN },
        { "team-leads", "q", RIGHT_READ, RIGHT_READ, RIGHT_READ },
        { "a:b", "q", RIGHTS_WRITE, RIGHTS_WRITE, RIGHTS_WRITE },
        { "jobs", "mail-out", RIGHT_READ, RIGHT_READ | RIGHT_PUT, RIGHTS_WRITE },
        { "jobs", "mail", RIGHT_READ, RIGHT_READ, RIGHTS_WRITE },
        { "jobs", "a/b:c", RIGHT_READ, RIGHT_READ | RIGHT_WORK | RIGHT_OPERATE, RIGHTS_WRITE },
    };
    struct users_test test;
    const struct user *user = NULL;
    start(&test, FLAGS("--user=ann secret app:write team-*:read team-lead:admin a:b:write "
                       "jobs/mail-*:put jobs:read jobs/a/b:c:work+operate"));
    assert_int_equal(log_in(&test, "ann", "secret", &user), STATUS_OK);
    for (size_t i = 0; TEST_ROW_NAMED(i, cases, cases[i].ns); i++) {
        struct slice ns = slice_from_cstr(cases[i].ns);
        assert_int_equal(user_rights(user, ns), cases[i].whole);
        assert_int_equal(user_rights_on(user, ns, slice_from_cstr(cases[i].queue)), cases[i].on);
        assert_int_equal(user_rights_somewhere(user, ns), cases[i].somewhere);
        assert_int_equal(user_may(user, ns, RIGHTS_WRITE),
                         (cases[i].whole & RIGHTS_WRITE) == RIGHTS_WRITE);
    }
    assert_true(user_may_anywhere(user, RIGHT_ADMIN));
    stop(&test);
}

static void test_users__a_grant_that_is_malformed_is_refused(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "app",      "app:",        "app:all",     "app:read+",    "app:+read",
        ":read",    "app/:read",   "/q:read",     "a*b:read",     "app/a*b:read",
        "app:READ", "app/q:admin", "app/*:admin", "app:read,put", "app/q:put+admin",
    };
    static const char *const right[] = { "app:read+put", "*/mail:put", "*:admin", "app/*:work" };
    struct error error;
    for (size_t i = 0; TEST_ROW_NAMED(i, wrong, wrong[i]); i++) {
        const struct slice words[] = { SLICE("ann"), SLICE("secret"), slice_from_cstr(wrong[i]) };
        assert_int_equal(user_check_words(words, 3, &error), STATUS_INVALID);
    }
    for (size_t i = 0; TEST_ROW_NAMED(i, right, right[i]); i++) {
        const struct slice words[] = { SLICE("ann"), SLICE("secret"), slice_from_cstr(right[i]) };
        assert_int_equal(user_check_words(words, 3, &error), STATUS_OK);
    }
}

static void test_users__a_star_is_every_namespace(void **state)
{
    (void)state;
    struct users_test test;
    const struct user *user = NULL;
    start(&test, FLAGS("--user=ann secret app:admin *:read"));
    assert_int_equal(log_in(&test, "ann", "secret", &user), STATUS_OK);
    assert_int_equal(user->everywhere, RIGHT_READ);
    assert_true(user_may(user, SLICE("any"), RIGHT_READ));
    assert_false(user_may(user, SLICE("any"), RIGHTS_WRITE));
    assert_true(user_may(user, SLICE("app"), RIGHT_ADMIN));
    stop(&test);
}

static void test_users__a_reload_changes_rights_of_who_is_logged_in(void **state)
{
    (void)state;
    struct users_test test;
    const struct user *ann = NULL;
    const struct user *bob = NULL;
    start(&test, FLAGS("--user=ann secret app:admin", "--user=bob secret *:admin"));
    assert_int_equal(log_in(&test, "ann", "secret", &ann), STATUS_OK);
    assert_int_equal(log_in(&test, "bob", "secret", &bob), STATUS_OK);
    reload(&test, FLAGS("--user=ann other app:read", "--password=secret"));
    assert_true(user_may(ann, SLICE("app"), RIGHT_READ));
    assert_false(user_may(ann, SLICE("app"), RIGHTS_WRITE));
    assert_true(user_is_gone(bob));
    assert_false(user_is_gone(ann));
    assert_false(user_may(bob, SLICE("app"), RIGHT_READ));
    assert_false(user_may_anywhere(bob, RIGHT_READ));
    assert_string_equal(bob->name, "bob");
    const struct user *user = NULL;
    assert_int_equal(log_in(&test, "bob", "secret", &user), STATUS_DENIED);
    assert_int_equal(log_in(&test, "ann", "secret", &user), STATUS_DENIED);
    assert_int_equal(log_in(&test, "ann", "other", &user), STATUS_OK);
    assert_ptr_equal(user, ann);
    reload(&test, FLAGS("--user=bob secret app:read"));
    assert_true(user_may(bob, SLICE("app"), RIGHT_READ));
    assert_true(user_is_gone(ann));
    stop(&test);
}

static void test_users__a_stored_user_counts_unless_the_settings_have_its_name(void **state)
{
    (void)state;
    struct users_test test;
    const struct user *ann = NULL;
    char line[PASSWORD_TEXT_SIZE + 64];
    char hash[PASSWORD_TEXT_SIZE];
    struct password password;
    start(&test, FLAGS("--password=secret"));
    assert_int_equal(password_hash(SLICE("stored"), 1000, &password, &test.error), STATUS_OK);
    password_format(&password, hash);
    (void)snprintf(line, sizeof(line), "ann %s app/q:put", hash);
    const struct slice lines[] = { slice_from_cstr(line) };
    const struct slices stored = { lines, 1 };
    assert_int_equal(users_reload(test.users, &test.settings.settings, stored, &test.error),
                     STATUS_OK);
    assert_int_equal(log_in(&test, "ann", "stored", &ann), STATUS_OK);
    assert_true(ann->stored);
    users_settle(test.users);
    struct settings_test fresh;
    settings_test_of(&fresh, FLAGS("--password=secret", "--user=ann file app:read"));
    assert_int_equal(users_reload(test.users, &fresh.settings, stored, &test.error), STATUS_OK);
    assert_true(ann->revoked);
    assert_false(ann->stored);
    assert_int_equal(user_rights(ann, SLICE("app")), RIGHT_READ);
    users_settle(test.users);
    assert_int_equal(users_reload(test.users, &test.settings.settings, stored, &test.error),
                     STATUS_OK);
    assert_true(ann->stored);
    assert_int_equal(user_rights_on(ann, SLICE("app"), SLICE("q")), RIGHT_PUT);
    users_settle(test.users);
    assert_int_equal(users_reload(test.users, &test.settings.settings, stored, &test.error),
                     STATUS_OK);
    assert_false(ann->revoked); // nothing has changed
    assert_true(users_have_admin(test.users, SLICE("ann")));
    assert_false(users_have_admin(test.users, SLICE("default")));
    assert_ptr_equal(users_find(test.users, SLICE("ann")), ann);
    assert_null(users_find(test.users, SLICE("bob")));
    settings_test_release(&fresh);
    stop(&test);
}

static void test_users__the_first_user_takes_the_rights_of_anybody(void **state)
{
    (void)state;
    struct users_test test;
    start(&test, FLAGS("--allow-flush"));
    const struct user *anybody = users_anybody(test.users);
    reload(&test, FLAGS("--password=secret"));
    assert_null(users_anybody(test.users));
    assert_false(user_may(anybody, SLICE("app"), RIGHT_READ));
    assert_true(user_is_gone(anybody));
    reload(&test, FLAGS("--allow-flush"));
    assert_ptr_equal(users_anybody(test.users), anybody);
    assert_true(user_may(anybody, SLICE("app"), RIGHT_ADMIN));
    stop(&test);
}

static void test_users__a_lack_of_memory_is_told_and_leaves_nothing(void **state)
{
    (void)state;
    struct fault_alloc fault;
    struct settings_test before;
    struct settings_test after;
    settings_test_of(&before, FLAGS("--user=ann a app:read", "--user=bob b app:read"));
    settings_test_of(&after, FLAGS("--user=ann a app:write", "--password=b"));
    FAULT_ALLOC_EACH(&fault)
    {
        struct users *users = NULL;
        struct error error;
        const struct user *ann = NULL;
        enum status status = users_new(&fault.allocator, &before.settings, &users, &error);
        if (status == STATUS_OK) {
            assert_int_equal(authenticate(users, "ann", "a", 0, &ann, &error), STATUS_OK);
            status = users_reload(users, &after.settings, (struct slices){ NULL, 0 }, &error);
            assert_int_equal(user_rights(ann, SLICE("app")), status ? RIGHT_READ : RIGHTS_WRITE);
            users_free(users);
        }
        FAULT_ALLOC_EXPECT(&fault, status);
    }
    settings_test_release(&before);
    settings_test_release(&after);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_users__a_password_changed_during_its_check_is_denied),
        cmocka_unit_test(test_users__without_any_everybody_may_do_everything),
        cmocka_unit_test(test_users__the_password_is_that_of_the_default_user),
        cmocka_unit_test(test_users__who_does_not_exist_is_denied_like_who_is_wrong),
        cmocka_unit_test(test_users__who_has_logged_in_before_still_needs_the_password),
        cmocka_unit_test(test_users__too_many_failures_are_refused_even_with_the_password),
        cmocka_unit_test(test_users__rights_are_those_of_all_grants_together),
        cmocka_unit_test(test_users__a_grant_that_is_malformed_is_refused),
        cmocka_unit_test(test_users__a_star_is_every_namespace),
        cmocka_unit_test(test_users__a_reload_changes_rights_of_who_is_logged_in),
        cmocka_unit_test(test_users__a_stored_user_counts_unless_the_settings_have_its_name),
        cmocka_unit_test(test_users__the_first_user_takes_the_rights_of_anybody),
        cmocka_unit_test(test_users__a_lack_of_memory_is_told_and_leaves_nothing),
    };
    return cmocka_run_group_tests_name("users", tests, NULL, NULL);
}
