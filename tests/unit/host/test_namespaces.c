// SPDX-License-Identifier: MIT
#include "host_test.h"

#include <string.h>

static void ignore_event(void *context, struct ns *ns, const struct event *event)
{
    (void)context;
    (void)ns;
    (void)event;
}

// For every caller: a qless client's namespace is the setting's, and the number of its database.
static void test_namespaces__a_name_that_cannot_be_is_refused_and_nothing_is_made(void **state)
{
    (void)state;
    static const size_t sizes[] = { 0, 256, 257, 511, 600, 65536 };
    static char name[65536];
    const struct namespaces_options options = {
        .allocator = &allocator_system, .create = true, .count_max = 100, .event = ignore_event
    };
    struct namespaces all;
    struct error error = { 0 };
    memset(name, 'x', sizeof(name));
    assert_int_equal(namespaces_init(&all, &options, &error), STATUS_OK);
    for (size_t i = 0; TEST_ROW(i, sizes); i++) {
        struct ns *ns;
        struct slice given = slice_make(name, sizes[i]);
        assert_int_equal(namespaces_create(&all, given, ENGINE_CLOCK_SERVER, &ns, &error),
                         STATUS_INVALID);
        assert_non_null(strstr(error.detail, "namespace"));
        assert_int_equal(namespaces_acquire(&all, given, ENGINE_CLOCK_CLIENT, &ns, &error),
                         STATUS_INVALID);
        assert_int_equal(all.count, 0);
    }
    namespaces_release(&all);
}

static struct ns *use(struct namespaces *all, struct slice name)
{
    struct ns *ns;
    struct error error;
    assert_int_equal(namespaces_acquire(all, name, ENGINE_CLOCK_SERVER, &ns, &error), STATUS_OK);
    return ns;
}

// More of them than there may be namespaces.
static void test_namespaces__one_that_is_used_for_nothing_goes_again(void **state)
{
    (void)state;
    const struct namespaces_options options = {
        .allocator = &allocator_system, .create = true, .count_max = 2, .event = ignore_event
    };
    struct namespaces all;
    struct error error;
    assert_int_equal(namespaces_init(&all, &options, &error), STATUS_OK);
    for (int i = 0; i < 10; i++) {
        ns_drop_unused(use(&all, SLICE("refused")));
        assert_int_equal(all.count, 0);
        assert_null(namespaces_find(&all, SLICE("refused")));
    }
    struct ns *ns = use(&all, SLICE("app"));
    assert_int_equal(ns->space, 1); // those before used up none
    const struct job *job;
    const struct put_request request = {
        .queue = SLICE("q"), .jid = SLICE("a"), .klass = SLICE("k"), .data = SLICE("{}")
    };
    assert_int_equal(engine_put(ns->engine, 1, &request, &job, &error), STATUS_OK);
    ns_drop_unused(ns);
    assert_ptr_equal(namespaces_find(&all, SLICE("app")), ns);
    ns_drop_unused(use(&all, SLICE("app")));
    assert_ptr_equal(namespaces_find(&all, SLICE("app")), ns);
    ns_drop_unused(use(&all, SLICE("refused")));
    assert_int_equal(all.count, 1);
    namespaces_release(&all);
}

// ---------------------------------------------------------------------------------------------
// In a store

enum {
    NOW_US = 1000000, // as host_test does
    LATER_US = 60000000,
};

static size_t jobs_in(struct ns *ns, const char *queue)
{
    return engine_length(ns->engine, slice_from_cstr(queue));
}

static void test_namespaces__are_there_again_with_clock_and_jobs_after_a_restart(void **state)
{
    struct host_test *test = *state;
    struct ns *client;
    host_test_put(test, host_test_use(test, "app"), "mail", "a");
    assert_int_equal(
        namespaces_create(&test->all, SLICE("old"), ENGINE_CLOCK_CLIENT, &client, &test->error),
        STATUS_OK);
    assert_int_equal(ns_make_qless(client, 2, &test->error), STATUS_OK);
    host_test_append(test);

    host_test_reopen(test);
    assert_int_equal(test->all.count, 2);
    struct ns *app = namespaces_find(&test->all, SLICE("app"));
    assert_non_null(app);
    assert_int_equal(app->clock, ENGINE_CLOCK_SERVER);
    assert_int_equal(engine_clock_of(app->engine), ENGINE_CLOCK_SERVER);
    assert_int_equal(jobs_in(app, "mail"), 1);
    client = namespaces_find(&test->all, SLICE("old"));
    assert_non_null(client);
    assert_int_equal(engine_clock_of(client->engine), ENGINE_CLOCK_CLIENT);
    assert_int_equal(client->qless, 2);
    assert_int_equal(jobs_in(client, "mail"), 0);
}

static void
test_namespaces__a_created_one_is_stored_without_a_job_and_a_used_one_is_not(void **state)
{
    struct host_test *test = *state;
    struct ns *ns;
    assert_int_equal(
        namespaces_create(&test->all, SLICE("empty"), ENGINE_CLOCK_SERVER, &ns, &test->error),
        STATUS_OK);
    (void)host_test_use(test, "refused"); // nothing is put into it
    host_test_append(test);
    assert_null(namespaces_find(&test->all, SLICE("refused")));

    host_test_reopen(test);
    assert_int_equal(test->all.count, 1);
    assert_non_null(namespaces_find(&test->all, SLICE("empty")));
}

static void test_namespaces__use_creates_one_only_if_allowed_and_create_always_does(void **state)
{
    struct host_test *test = *state;
    struct namespaces *all = &test->all;
    struct ns *ns;
    all->options.create = false;
    assert_int_equal(namespaces_acquire(all, SLICE("app"), ENGINE_CLOCK_SERVER, &ns, &test->error),
                     STATUS_NOT_FOUND);
    assert_non_null(strstr(test->error.detail, "\"app\""));
    assert_int_equal(namespaces_create(all, SLICE("app"), ENGINE_CLOCK_SERVER, &ns, &test->error),
                     STATUS_OK);
    struct ns *used;
    assert_int_equal(
        namespaces_acquire(all, SLICE("app"), ENGINE_CLOCK_CLIENT, &used, &test->error), STATUS_OK);
    assert_ptr_equal(used, ns);
    assert_int_equal(used->clock, ENGINE_CLOCK_SERVER);
    assert_int_equal(namespaces_create(all, SLICE("app"), ENGINE_CLOCK_SERVER, &ns, &test->error),
                     STATUS_EXISTS);
    assert_int_equal(all->count, 1);
}

static void test_namespaces__more_than_max_namespaces_are_refused_until_one_is_deleted(void **state)
{
    struct host_test *test = *state;
    struct namespaces *all = &test->all;
    struct ns *ns;
    all->options.count_max = 2;
    host_test_put(test, host_test_use(test, "a"), "q", "j");
    host_test_put(test, host_test_use(test, "b"), "q", "j");
    assert_int_equal(namespaces_acquire(all, SLICE("c"), ENGINE_CLOCK_SERVER, &ns, &test->error),
                     STATUS_TOO_LARGE);
    assert_non_null(strstr(test->error.detail, "max-namespaces"));
    assert_int_equal(namespaces_create(all, SLICE("c"), ENGINE_CLOCK_SERVER, &ns, &test->error),
                     STATUS_TOO_LARGE);
    host_test_append(test);
    assert_int_equal(namespaces_delete(all, SLICE("a"), &test->error), STATUS_OK);
    assert_int_equal(namespaces_acquire(all, SLICE("c"), ENGINE_CLOCK_SERVER, &ns, &test->error),
                     STATUS_OK);
}

static void test_namespaces__only_a_command_that_writes_creates_one(void **state)
{
    struct host_test *test = *state;
    static const struct command reads = { .name = "Q.PEEK" };
    static const struct command writes = { .name = "Q.PUT", .flags = COMMAND_WRITES };
    struct ns *ns;
    assert_int_equal(namespaces_for(&test->all, &reads, SLICE("app"), &ns, &test->error),
                     STATUS_OK);
    assert_null(ns);
    assert_int_equal(test->all.count, 0);
    assert_int_equal(namespaces_for(&test->all, &writes, SLICE("app"), &ns, &test->error),
                     STATUS_OK);
    assert_non_null(ns);
    struct ns *found;
    assert_int_equal(namespaces_for(&test->all, &reads, SLICE("app"), &found, &test->error),
                     STATUS_OK);
    assert_ptr_equal(found, ns);
}

// Waiters are refused, the name is free at once, and neither the jobs nor the space nor the tokens
// come back.
static void test_namespaces__a_deleted_one_leaves_nothing_to_a_new_one_of_its_name(void **state)
{
    struct host_test *test = *state;
    struct namespaces *all = &test->all;
    struct ns *ns = host_test_use(test, "app");
    host_test_put(test, ns, "mail", "a");
    (void)host_test_wait(test, ns, "w", "other");
    host_test_append(test);
    uint32_t space = ns->space;

    assert_int_equal(namespaces_delete(all, SLICE("app"), &test->error), STATUS_OK);
    host_test_expect(test, "w!the namespace \"app\" was deleted; ");
    assert_null(namespaces_find(all, SLICE("app")));
    assert_int_equal(namespaces_delete(all, SLICE("app"), &test->error), STATUS_NOT_FOUND);

    ns = host_test_use(test, "app");
    assert_true(ns->space > space);
    assert_int_equal(jobs_in(ns, "mail"), 0);
    host_test_put(test, ns, "mail", "b");
    const struct pop_request request = { .worker = SLICE("w"),
                                         .queues = { &(struct slice){ "mail", 4 }, 1 },
                                         .count = 1 };
    const struct job *job;
    size_t popped;
    assert_int_equal(engine_pop(ns->engine, NOW_US, &request, &job, &popped, &test->error),
                     STATUS_OK);
    struct job_view view;
    job_view(ns->engine, job, &view);
    assert_true(view.token > (uint64_t)space << 32); // above all tokens of the deleted one
    host_test_append(test);

    host_test_reopen(test);
    assert_int_equal(test->all.count, 1);
    ns = namespaces_find(&test->all, SLICE("app"));
    assert_non_null(ns);
    assert_null(engine_get(ns->engine, SLICE("a")));
    assert_non_null(engine_get(ns->engine, SLICE("b")));
}

static void test_namespaces__a_space_is_not_given_again_after_a_restart(void **state)
{
    struct host_test *test = *state;
    host_test_put(test, host_test_use(test, "app"), "q", "a");
    host_test_append(test);
    uint32_t space = namespaces_find(&test->all, SLICE("app"))->space;
    assert_int_equal(namespaces_delete(&test->all, SLICE("app"), &test->error), STATUS_OK);
    for (bool more = true; more;) {
        assert_int_equal(namespaces_remove(&test->all, &more, &test->error), STATUS_OK);
    }
    host_test_reopen(test);
    assert_int_equal(test->all.count, 0);
    assert_true(host_test_use(test, "app")->space > space);
}

static void test_namespaces__a_tick_does_what_is_due_in_each_and_says_what_comes_next(void **state)
{
    struct host_test *test = *state;
    struct namespaces *all = &test->all;
    struct ns *near = host_test_use(test, "near");
    struct ns *far = host_test_use(test, "far");
    const int64_t delays_us[] = { LATER_US, 2 * (int64_t)LATER_US };
    struct ns *both[] = { near, far };
    for (size_t i = 0; i < 2; i++) {
        const struct put_request request = { .queue = SLICE("q"),
                                             .jid = SLICE("a"),
                                             .klass = SLICE("k"),
                                             .data = SLICE("{}"),
                                             .delay_us = delays_us[i] };
        const struct job *job;
        ns_touch(both[i]);
        assert_int_equal(engine_put(both[i]->engine, NOW_US, &request, &job, &test->error),
                         STATUS_OK);
    }
    (void)host_test_wait(test, near, "n", "q");
    (void)host_test_wait(test, far, "f", "q");
    assert_int_equal(namespaces_tick(all, NOW_US), NOW_US + LATER_US);
    host_test_expect(test, "");
    (void)namespaces_tick(all, NOW_US + LATER_US);
    host_test_expect(test, "n=a; ");
    (void)namespaces_tick(all, NOW_US + 2 * LATER_US);
    host_test_expect(test, "f=a; ");
}

static void test_namespaces__quotas_hold_in_those_that_are_there_and_in_new_ones(void **state)
{
    struct host_test *test = *state;
    struct ns *old = host_test_use(test, "old");
    host_test_put(test, old, "q", "a");
    namespaces_set_quotas(&test->all, &(struct quotas){ .jobs = 1 });
    host_test_put(test, host_test_use(test, "new"), "q", "a");
    const struct put_request request = {
        .queue = SLICE("q"), .jid = SLICE("b"), .klass = SLICE("k"), .data = SLICE("{}")
    };
    for (struct ns *ns = test->all.first; ns; ns = ns->next) {
        const struct job *job;
        assert_int_equal(engine_put(ns->engine, NOW_US, &request, &job, &test->error),
                         STATUS_TOO_LARGE);
    }
}

// Also in a namespace that is made meanwhile; and both reasons must end.
static void test_namespaces__recurring_jobs_rest_while_growth_is_held_for_any_reason(void **state)
{
    struct host_test *test = *state;
    struct namespaces *all = &test->all;
    struct ns *both[2];
    const struct recur_request request = { .queue = SLICE("q"),
                                           .jid = SLICE("r"),
                                           .klass = SLICE("k"),
                                           .data = SLICE("{}"),
                                           .interval_us = LATER_US,
                                           .offset_us = LATER_US };
    static const char *const names[] = { "before", "meanwhile" };
    for (size_t i = 0; i < 2; i++) {
        both[i] = host_test_use(test, names[i]);
        ns_touch(both[i]);
        assert_int_equal(engine_recur(both[i]->engine, NOW_US, &request, &test->error), STATUS_OK);
        namespaces_hold_growth(all, GROWTH_MEMORY, true);
    }
    namespaces_hold_growth(all, GROWTH_DISK, true);
    (void)namespaces_tick(all, NOW_US + LATER_US);
    namespaces_hold_growth(all, GROWTH_MEMORY, false);
    (void)namespaces_tick(all, NOW_US + LATER_US);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(jobs_in(both[i], "q"), 0);
    }
    namespaces_hold_growth(all, GROWTH_DISK, false);
    (void)namespaces_tick(all, NOW_US + LATER_US);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(jobs_in(both[i], "q"), 1);
    }
}

static enum status visit_record(struct namespaces *all, uint32_t space, enum record_kind kind,
                                struct error *error)
{
    return namespaces_visit(all, (struct store_key){ space, { kind, 0, 0 } }, SLICE_EMPTY, error);
}

static void test_namespaces__records_of_a_space_without_a_name_are_corrupt(void **state)
{
    (void)state;
    const struct namespaces_options options = { .allocator = &allocator_system,
                                                .event = ignore_event };
    struct namespaces all;
    struct error error;
    assert_int_equal(namespaces_init(&all, &options, &error), STATUS_OK);
    assert_int_equal(visit_record(&all, 7, RECORD_QUEUE, &error), STATUS_CORRUPT);
    assert_non_null(strstr(error.detail, "namespace 7"));
    namespaces_release(&all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_namespaces__a_name_that_cannot_be_is_refused_and_nothing_is_made),
        cmocka_unit_test(test_namespaces__one_that_is_used_for_nothing_goes_again),
        HOST_TEST(test_namespaces__are_there_again_with_clock_and_jobs_after_a_restart),
        HOST_TEST(test_namespaces__a_created_one_is_stored_without_a_job_and_a_used_one_is_not),
        HOST_TEST(test_namespaces__use_creates_one_only_if_allowed_and_create_always_does),
        HOST_TEST(test_namespaces__more_than_max_namespaces_are_refused_until_one_is_deleted),
        HOST_TEST(test_namespaces__only_a_command_that_writes_creates_one),
        HOST_TEST(test_namespaces__a_deleted_one_leaves_nothing_to_a_new_one_of_its_name),
        HOST_TEST(test_namespaces__a_space_is_not_given_again_after_a_restart),
        HOST_TEST(test_namespaces__a_tick_does_what_is_due_in_each_and_says_what_comes_next),
        HOST_TEST(test_namespaces__quotas_hold_in_those_that_are_there_and_in_new_ones),
        HOST_TEST(test_namespaces__recurring_jobs_rest_while_growth_is_held_for_any_reason),
        cmocka_unit_test(test_namespaces__records_of_a_space_without_a_name_are_corrupt),
    };
    return cmocka_run_group_tests_name("namespaces", tests, NULL, NULL);
}
