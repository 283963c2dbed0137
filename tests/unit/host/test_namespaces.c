// SPDX-License-Identifier: MIT
#include "host/namespaces.h"

#include "test.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_namespaces__a_name_that_cannot_be_is_refused_and_nothing_is_made),
        cmocka_unit_test(test_namespaces__one_that_is_used_for_nothing_goes_again),
    };
    return cmocka_run_group_tests_name("namespaces", tests, NULL, NULL);
}
