// SPDX-License-Identifier: MIT
#include "host_test.h"

enum {
    NOW_US = 1000000,
};

static void test_waiting__waiters_for_a_queue_are_served_in_order_one_for_each_job(void **state)
{
    struct host_test *test = *state;
    struct ns *ns = host_test_use(test, "app");
    (void)host_test_wait(test, ns, "a", "mail");
    (void)host_test_wait(test, ns, "b", "mail");
    (void)host_test_wait(test, ns, "c", "mail");
    waiting_serve(ns);
    host_test_expect(test, "");
    host_test_put(test, ns, "mail", "j1");
    host_test_put(test, ns, "mail", "j2");
    waiting_serve(ns);
    host_test_expect(test, "a=j1; b=j2; ");
    assert_int_equal(ns->waiting.count, 1);
    host_test_put(test, ns, "mail", "j3");
    waiting_serve(ns);
    host_test_expect(test, "c=j3; ");
    assert_int_equal(ns->waiting.count, 0);
}

static void test_waiting__a_waiter_for_several_queues_leaves_all_their_lines(void **state)
{
    struct host_test *test = *state;
    struct ns *ns = host_test_use(test, "app");
    (void)host_test_wait(test, ns, "both", "mail web");
    (void)host_test_wait(test, ns, "web", "web");
    host_test_put(test, ns, "mail", "m");
    waiting_serve(ns);
    host_test_expect(test, "both=m; ");
    host_test_put(test, ns, "web", "w");
    waiting_serve(ns);
    host_test_expect(test, "web=w; ");
    assert_int_equal(ns->waiting.lines.count, 0);
}

static void test_waiting__the_same_queue_may_be_named_twice(void **state)
{
    struct host_test *test = *state;
    struct ns *ns = host_test_use(test, "app");
    (void)host_test_wait(test, ns, "twice", "mail mail");
    host_test_put(test, ns, "mail", "m");
    waiting_serve(ns);
    host_test_expect(test, "twice=m; ");
    assert_int_equal(ns->waiting.lines.count, 0);
}

static void test_waiting__a_waiter_that_ends_gives_its_turn_to_the_next(void **state)
{
    struct host_test *test = *state;
    struct ns *ns = host_test_use(test, "app");
    struct host_waiter *first = host_test_wait(test, ns, "first", "mail");
    (void)host_test_wait(test, ns, "second", "mail");
    waiter_end(&first->waiter);
    host_test_put(test, ns, "mail", "m");
    waiting_serve(ns);
    host_test_expect(test, "second=m; ");
}

static void test_waiting__all_who_wait_for_a_job_get_its_end(void **state)
{
    struct host_test *test = *state;
    struct ns *ns = host_test_use(test, "app");
    (void)host_test_wait(test, ns, "w", "mail");
    host_test_put(test, ns, "mail", "m");
    (void)host_test_wait_finish(test, ns, "one", "m");
    struct host_waiter *gone = host_test_wait_finish(test, ns, "gone", "m");
    (void)host_test_wait_finish(test, ns, "two", "m");
    waiting_serve(ns);
    host_test_expect(test, "w=m; ");
    const struct complete_request request = { .holder = { .jid = SLICE("m"), .worker = SLICE("w") },
                                              .result = SLICE("[1]") };
    enum job_state job_state;
    ns_touch(ns);
    assert_int_equal(engine_complete(ns->engine, NOW_US, &request, &job_state, &test->error),
                     STATUS_OK);
    waiter_end(&gone->waiter); // between the job's end and its answer
    waiting_serve(ns);
    host_test_expect(test, "one=complete [1]; two=complete [1]; ");
    assert_int_equal(ns->waiting.numbers.count, 0);
}

static void test_waiting__a_deleted_namespace_fails_its_waiters_in_order(void **state)
{
    struct host_test *test = *state;
    struct ns *ns = host_test_use(test, "app");
    host_test_put(test, ns, "mail", "m");
    host_test_append(test);
    (void)host_test_wait_finish(test, ns, "first", "m");
    (void)host_test_wait(test, ns, "second", "web mail2");
    (void)host_test_wait_finish(test, ns, "third", "m");
    assert_int_equal(namespaces_delete(&test->all, SLICE("app"), &test->error), STATUS_OK);
    host_test_expect(test, "first!the namespace \"app\" was deleted; "
                           "second!the namespace \"app\" was deleted; "
                           "third!the namespace \"app\" was deleted; ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        HOST_TEST(test_waiting__waiters_for_a_queue_are_served_in_order_one_for_each_job),
        HOST_TEST(test_waiting__a_waiter_for_several_queues_leaves_all_their_lines),
        HOST_TEST(test_waiting__the_same_queue_may_be_named_twice),
        HOST_TEST(test_waiting__a_waiter_that_ends_gives_its_turn_to_the_next),
        HOST_TEST(test_waiting__all_who_wait_for_a_job_get_its_end),
        HOST_TEST(test_waiting__a_deleted_namespace_fails_its_waiters_in_order),
    };
    return cmocka_run_group_tests_name("waiting", tests, NULL, NULL);
}
