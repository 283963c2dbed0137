// SPDX-License-Identifier: MIT
#include "engine/queue/queue.h"
#include "engine/state.h"
#include "engine_test.h"

static void test_worker__the_most_recently_seen_comes_first(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "a");
    pop(w, 1, "q", "w1", 1);
    pop(w, 2, "q", "w2", 1);
    pop(w, 3, "q", "w3", 1);
    assert_string_equal(workers(w, 3), "w3 0/0,w2 0/0,w1 1/0");
    heartbeat(w, 4, "w1", "a");
    assert_string_equal(workers(w, 4), "w1 1/0,w3 0/0,w2 0/0");
    pop(w, 5, "q", "w2", 1);
    assert_string_equal(workers(w, 5), "w2 0/0,w1 1/0,w3 0/0");
    struct worker_view view;
    assert_true(engine_worker(w->engine, us(5), 1, &view));
    assert_slice_equal(view.name, "w1");
    assert_int_equal(view.seen_us, us(4));
    assert_false(engine_worker(w->engine, us(5), 3, &view));
}

static void test_worker__counts_what_it_holds(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "a");
    put(w, 0, "q", "b");
    put(w, 0, "q", "c");
    pop(w, 0, "q", "w1", 2);
    pop(w, 30, "q", "w1", 1);
    heartbeat(w, 50, "w1", "b");
    assert_string_equal(workers(w, 50), "w1 3/0");
    assert_string_equal(held(w, 50, "w1", false), "3: b,c,a");
    assert_string_equal(held(w, 50, "w1", true), "0: ");
    tick(w, 65);
    assert_string_equal(workers(w, 65), "w1 3/1");
    assert_string_equal(held(w, 65, "w1", false), "2: b,c");
    assert_string_equal(held(w, 65, "w1", true), "1: a");
    assert_string_equal(held(w, 65, "w2", false), "0: ");
    complete(w, 66, "w1", "b");
    assert_string_equal(workers(w, 66), "w1 2/1");
}

static void test_worker__its_jobs_are_given_a_page_at_a_time(void **state)
{
    struct world *w = *state;
    for (int i = 0; i < 3; i++) {
        const char *const jids[] = { "a", "b", "c" };
        put(w, i, "q", jids[i]);
        pop(w, i, "q", "w1", 1);
    }
    const struct job *room[1];
    struct page page = { .offset = 1, .count = 1, .jobs = room };
    engine_worker_jobs(w->engine, us(2), SLICE("w1"), LIST_RUNNING, &page);
    assert_int_equal(page.total, 3);
    assert_int_equal(page.found, 1);
    assert_ptr_equal(room[0], engine_get(w->engine, SLICE("b")));
    page.offset = 3;
    engine_worker_jobs(w->engine, us(2), SLICE("w1"), LIST_RUNNING, &page);
    assert_int_equal(page.total, 3);
    assert_int_equal(page.found, 0);
}

static void test_worker__one_not_seen_for_long_is_forgotten(void **state)
{
    struct world *w = *state;
    pop(w, 0, "q", "w1", 1);
    pop(w, 100, "q", "w2", 1);
    assert_string_equal(workers(w, DAY - 1), "w2 0/0,w1 0/0");
    assert_string_equal(workers(w, DAY + 1), "w2 0/0");
    set(w, "max-worker-age", "10");
    assert_string_equal(workers(w, DAY + 1), "");
    pop(w, DAY + 2, "q", "w1", 1);
    assert_string_equal(workers(w, DAY + 11), "w1 0/0");
    assert_string_equal(workers(w, DAY + 13), "");
}

static void test_worker__deregistered_ones_are_off_the_list_and_keep_their_leases(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "a");
    pop(w, 0, "q", "w1", 1);
    pop(w, 1, "q", "w2", 1);
    said(w, engine_worker_deregister(w->engine, at(w, 2), slices_of(w, "w1,unknown"), &w->error));
    assert_string_equal(workers(w, 2), "w2 0/0");
    assert_string_equal(queue_of(w, 2, "q"), "running 1, listeners 1");
    complete(w, 3, "w1", "a");
    assert_string_equal(state_of(w, "a"), "complete");
}

static void test_worker__offline_ones_stay_on_the_list_until_they_pop_again(void **state)
{
    struct world *w = *state;
    pop(w, 0, "q", "w1", 1);
    said(w, engine_worker_offline(w->engine, at(w, 1), SLICE("w1"), &w->error));
    assert_string_equal(workers(w, 1), "w1 0/0 offline");
    pop(w, 2, "q", "w1", 1);
    assert_string_equal(workers(w, 2), "w1 0/0");
    refused(w, STATUS_NOT_FOUND, "w2");
    said(w, engine_worker_offline(w->engine, us(2), SLICE("w2"), &w->error));
}

// The names of the queues that native lists show: those that have had a job, then those that only
// have listeners.
static const char *listed(struct world *w)
{
    const struct index *indexes[] = { &w->engine->queue_order, &w->engine->queue_listened };
    buffer_clear(&w->text);
    for (size_t i = 0; i < 2; i++) {
        struct index_cursor cursor = index_cursor_at(indexes[i], 0);
        for (struct index_node *node; (node = index_cursor_next(&cursor));) {
            buffer_printf(&w->text, "%s%.*s", w->text.size ? "," : "",
                          SLICE_PRINT(queue_name(queue_of_order(node))));
        }
    }
    buffer_append_char(&w->text, '\0');
    return w->text.data;
}

static const char *listeners_of(struct world *w, const char *queue)
{
    struct worker_view view;
    buffer_clear(&w->text);
    for (size_t i = 0; engine_listener(w->engine, us(0), name_of(queue), i, &view); i++) {
        buffer_printf(&w->text, "%s%.*s", i ? "," : "", SLICE_PRINT(view.name));
    }
    buffer_append_char(&w->text, '\0');
    return w->text.data;
}

static const char *queues_of(struct world *w, const char *worker)
{
    const void *position = NULL;
    struct slice queue;
    buffer_clear(&w->text);
    while (engine_worker_queue(w->engine, name_of(worker), &position, &queue)) {
        buffer_printf(&w->text, "%s%.*s", w->text.size ? "," : "", SLICE_PRINT(queue));
    }
    buffer_append_char(&w->text, '\0');
    return w->text.data;
}

static void test_worker__one_that_is_too_old_listens_no_more_whoever_looks(void **state)
{
    struct world *w = *state;
    pop(w, 0, "q", "w1", 1);
    assert_string_equal(queue_of(w, DAY - 1, "q"), "listeners 1");
    assert_string_equal(queue_of(w, DAY, "q"), "");
    assert_int_equal(faults_of(w), 0);
}

static void test_worker__one_with_a_connection_is_not_forgotten(void **state)
{
    struct world *w = *state;
    pop(w, 0, "q", "w1", 1);
    assert_true(engine_worker_attach(w->engine, SLICE("w1"), SLICE("10.0.0.7")));
    assert_false(engine_worker_attach(w->engine, SLICE("w2"), SLICE("10.0.0.8")));
    assert_string_equal(workers(w, 3 * DAY), "w1 0/0");
    assert_string_equal(queue_of(w, 9 * DAY, "q"), "listeners 1");
    engine_worker_detach(w->engine, SLICE("w1"), false);
    assert_string_equal(queue_of(w, 9 * DAY + 1, "q"), "listeners 1");
    assert_string_equal(queue_of(w, 11 * DAY, "q"), "");
    assert_int_equal(faults_of(w), 0);
}

static void test_worker__one_whose_last_connection_is_closed_listens_no_more(void **state)
{
    struct world *w = *state;
    pop(w, 5, "q", "w1", 1);
    (void)engine_worker_attach(w->engine, SLICE("w1"), SLICE("10.0.0.7"));
    (void)engine_worker_attach(w->engine, SLICE("w1"), SLICE("10.0.0.7"));
    engine_worker_detach(w->engine, SLICE("w1"), true);
    assert_string_equal(queue_of(w, 6, "q"), "listeners 1");
    engine_worker_detach(w->engine, SLICE("w1"), true);
    assert_string_equal(queue_of(w, 6, "q"), "");
    assert_string_equal(workers(w, 6), "w1 0/0 offline");
    engine_worker_detach(w->engine, SLICE("w1"), true);
    engine_worker_detach(w->engine, SLICE("nobody"), true);
    pop(w, 7, "q", "w1", 1);
    struct worker_view view;
    assert_true(engine_worker_find(w->engine, us(7), SLICE("w1"), &view));
    assert_slice_equal(view.host, "10.0.0.7");
    assert_int_equal(view.started_us, us(7));
    assert_false(view.offline);
    reload(w);
    assert_true(engine_worker_find(w->engine, us(7), SLICE("w1"), &view));
    assert_slice_equal(view.host, "10.0.0.7");
    assert_int_equal(view.started_us, us(7));
    // The host was away, and with it all connections.
    said(w, engine_resume(w->engine, us(8), &w->error));
    assert_string_equal(workers(w, 8), "w1 0/0 offline");
    assert_int_equal(faults_of(w), 0);
}

static void test_worker__a_queue_with_listeners_alone_is_listed_as_long_as_it_has_some(void **state)
{
    struct world *w = *state;
    put(w, 0, "jobs", "a");
    pop_queues(w, 0, "x,y", POP_ORDERED, 1);
    pop(w, 0, "x", "w2", 1);
    assert_string_equal(listed(w), "jobs,x,y");
    assert_string_equal(queues(w), "jobs"); // as qless lists them
    assert_string_equal(listeners_of(w, "x"), "w1,w2");
    assert_string_equal(listeners_of(w, "y"), "w1");
    assert_string_equal(listeners_of(w, "jobs"), "");
    assert_string_equal(queues_of(w, "w1"), "y,x");
    assert_string_equal(queues_of(w, "nobody"), "");
    put(w, 1, "y", "b");
    assert_string_equal(listed(w), "jobs,y,x");
    reload(w);
    assert_string_equal(listed(w), "jobs,y,x");
    said(w, engine_worker_offline(w->engine, us(1), SLICE("w1"), &w->error));
    assert_string_equal(listed(w), "jobs,y,x");
    said(w, engine_worker_offline(w->engine, us(1), SLICE("w2"), &w->error));
    assert_string_equal(listed(w), "jobs,y");
    pop(w, 2, "y", "w1", 1);
    said(w, engine_forget(w->engine, us(2), slices_of(w, "jobs,y"), &w->error));
    assert_string_equal(listed(w), "y");
    assert_int_equal(faults_of(w), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SERVER_TEST(test_worker__one_that_is_too_old_listens_no_more_whoever_looks),
        SERVER_TEST(test_worker__one_with_a_connection_is_not_forgotten),
        SERVER_TEST(test_worker__one_whose_last_connection_is_closed_listens_no_more),
        SERVER_TEST(test_worker__a_queue_with_listeners_alone_is_listed_as_long_as_it_has_some),
        CLIENT_TEST(test_worker__a_queue_with_listeners_alone_is_listed_as_long_as_it_has_some),
        SERVER_TEST(test_worker__the_most_recently_seen_comes_first),
        CLIENT_TEST(test_worker__the_most_recently_seen_comes_first),
        SERVER_TEST(test_worker__counts_what_it_holds),
        CLIENT_TEST(test_worker__counts_what_it_holds),
        SERVER_TEST(test_worker__its_jobs_are_given_a_page_at_a_time),
        SERVER_TEST(test_worker__one_not_seen_for_long_is_forgotten),
        CLIENT_TEST(test_worker__one_not_seen_for_long_is_forgotten),
        SERVER_TEST(test_worker__deregistered_ones_are_off_the_list_and_keep_their_leases),
        SERVER_TEST(test_worker__offline_ones_stay_on_the_list_until_they_pop_again),
    };
    return cmocka_run_group_tests_name("worker", tests, NULL, NULL);
}
