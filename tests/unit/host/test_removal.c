// SPDX-License-Identifier: MIT
#include "host/removal.h"

#include "host_test.h"

#include <sched.h>
#include <stdio.h>

enum {
    JOBS = 2500, // more than two slices
};

static void fill(struct host_test *test, const char *name)
{
    struct ns *ns = host_test_use(test, name);
    for (int i = 0; i < JOBS; i++) {
        char jid[16];
        (void)snprintf(jid, sizeof(jid), "j%d", i);
        host_test_put(test, ns, "q", jid);
    }
    host_test_append(test);
}

static void wait_for_list(struct host_test *test)
{
    while (!removal_is_ready(test->all.removals)) {
        (void)sched_yield();
    }
}

// Gives how many slices it took.
static int remove_all(struct host_test *test)
{
    int slices = 0;
    for (bool more = true; more; slices++) {
        assert_int_equal(namespaces_remove(&test->all, &more, &test->error), STATUS_OK);
    }
    return slices;
}

static void delete_namespace(struct host_test *test, const char *name)
{
    assert_int_equal(namespaces_delete(&test->all, slice_from_cstr(name), &test->error), STATUS_OK);
    assert_null(namespaces_find(&test->all, slice_from_cstr(name)));
}

static void test_removal__a_deleted_namespace_goes_in_slices_and_leaves_nothing(void **state)
{
    struct host_test *test = *state;
    host_test_reopen(test);
    size_t before = test->records;
    fill(test, "app");
    delete_namespace(test, "app");
    wait_for_list(test);
    assert_in_range(remove_all(test), 3, 10);
    assert_null(test->all.removals);
    host_test_reopen(test);
    assert_in_range(test->records, before, before + 1); // one says which space was the last
}

static void test_removal__one_that_was_interrupted_goes_on_after_a_restart(void **state)
{
    struct host_test *test = *state;
    host_test_reopen(test);
    size_t before = test->records;
    fill(test, "app");
    delete_namespace(test, "app");
    wait_for_list(test);
    bool more;
    assert_int_equal(namespaces_remove(&test->all, &more, &test->error), STATUS_OK);
    assert_true(more);
    host_test_reopen(test);
    assert_in_range(test->records, before + JOBS, before + (size_t)2 * JOBS + 2); // of some 5,000
    assert_non_null(test->all.removals);
    (void)remove_all(test);
    host_test_reopen(test);
    assert_in_range(test->records, before, before + 1);
    assert_int_equal(remove_all(test), 1);
}

static void test_removal__a_new_namespace_of_the_same_name_is_untouched(void **state)
{
    struct host_test *test = *state;
    fill(test, "app");
    delete_namespace(test, "app");
    struct ns *ns = host_test_use(test, "app");
    host_test_put(test, ns, "q", "j1");
    host_test_append(test);
    wait_for_list(test);
    (void)remove_all(test);
    host_test_reopen(test);
    ns = namespaces_find(&test->all, SLICE("app"));
    assert_non_null(ns);
    assert_non_null(engine_get(ns->engine, SLICE("j1")));
    assert_null(engine_get(ns->engine, SLICE("j2")));
}

static void test_removal__several_are_removed_in_the_order_of_their_deletion(void **state)
{
    (void)state;
    struct removal *list = NULL;
    for (uint32_t space = 5; space > 2; space--) {
        struct removal *removal = removal_new(&allocator_system, space);
        assert_non_null(removal);
        removal_add(&list, removal);
    }
    assert_int_equal(removal_space(removal_find(list, 4)), 4);
    assert_null(removal_find(list, 9));
    for (uint32_t space = 5; space > 2; space--) {
        struct removal *first = removal_take(&list);
        assert_int_equal(removal_space(first), space);
        removal_free(first);
    }
    assert_null(list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        HOST_TEST(test_removal__a_deleted_namespace_goes_in_slices_and_leaves_nothing),
        HOST_TEST(test_removal__one_that_was_interrupted_goes_on_after_a_restart),
        HOST_TEST(test_removal__a_new_namespace_of_the_same_name_is_untouched),
        cmocka_unit_test(test_removal__several_are_removed_in_the_order_of_their_deletion),
    };
    return cmocka_run_group_tests_name("removal", tests, NULL, NULL);
}
