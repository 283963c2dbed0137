// SPDX-License-Identifier: MIT
#include "engine_test.h"

static struct recur_request every_ten(void)
{
    return (struct recur_request){ .queue = SLICE("q"), .jid = SLICE("r"), .interval_us = us(10) };
}

static const char *recurring_list(struct world *w, const char *queue, size_t offset, size_t count)
{
    const struct recurring *room[16];
    size_t found, total = engine_recurring(w->engine, name_of(queue), offset, count, room, &found);
    assert_true(count <= 16 && found <= count);
    buffer_clear(&w->text);
    buffer_printf(&w->text, "%zu: ", total);
    for (size_t i = 0; i < found; i++) {
        struct recurring_view view;
        recurring_view(w->engine, room[i], &view);
        buffer_printf(&w->text, "%s%.*s", i ? "," : "", SLICE_PRINT(view.jid));
    }
    buffer_append_char(&w->text, '\0');
    return w->text.data;
}

static const char *recurring_tags(struct world *w, const char *jid)
{
    buffer_clear(&w->text);
    for (size_t i = 0; i < recurring_of(w, jid).tag_count; i++) {
        struct slice tag =
            recurring_tag(w->engine, engine_recurring_get(w->engine, name_of(jid)), i);
        buffer_printf(&w->text, "%s%.*s", i ? "," : "", SLICE_PRINT(tag));
    }
    buffer_append_char(&w->text, '\0');
    return w->text.data;
}

static void update(struct world *w, double now, struct recur_update request)
{
    request.jid = SLICE("r");
    said(w, engine_recur_update(w->engine, at(w, now), &request, &w->error));
}

static void test_recurring__makes_a_job_each_interval(void **state)
{
    struct world *w = *state;
    recur(w, 5, "q", "r", 10);
    assert_string_equal(queues(w), "q");
    assert_string_equal(pop(w, 5, "q", "w1", 9), "r-1");
    assert_string_equal(pop(w, 14, "q", "w1", 9), "");
    assert_string_equal(pop(w, 15, "q", "w1", 9), "r-2");
    assert_string_equal(pop(w, 45, "q", "w1", 9), "r-3,r-4,r-5");
    assert_int_equal(recurring_of(w, "r").count, 5);
    assert_int_equal(recurring_of(w, "r").next_us, us(55));
}

static void test_recurring__its_jobs_are_made_as_it_says(void **state)
{
    struct world *w = *state;
    struct recur_request request = every_ten();
    request.klass = SLICE("Cleaner");
    request.data = SLICE("[7]");
    request.priority = -2;
    request.retries = 3;
    request.tags = slices_of(w, "red,blue,red");
    request.offset_us = us(4);
    recur_with(w, 0, request);
    assert_string_equal(pop(w, 3, "q", "w1", 9), "");
    assert_string_equal(pop(w, 6, "q", "w1", 9), "r-1");
    struct job_view view = view_of(w, "r-1");
    assert_slice_equal(view.klass, "Cleaner");
    assert_slice_equal(view.data, "[7]");
    assert_slice_equal(view.spawned_from, "r");
    assert_int_equal(view.priority, -2);
    assert_int_equal(view.retries, 3);
    assert_int_equal(view.remaining, 3);
    assert_string_equal(tags_of(w, "r-1"), "red,blue");
    assert_string_equal(history_of(w, "r-1"), "4 put in q; 6 popped by w1");
    assert_true(stats_of(w, "q", 0).wait.mean == 2);
}

static void test_recurring__its_jobs_stand_in_line_by_when_they_were_due(void **state)
{
    struct world *w = *state;
    put(w, 7, "q", "before");
    recur(w, 8, "q", "r", 10);
    put(w, 9, "q", "between");
    assert_string_equal(pop(w, 20, "q", "w1", 9), "before,r-1,between,r-2");
}

static void test_recurring__with_the_client_clock_a_pop_makes_no_more_than_it_needs(void **state)
{
    struct world *w = *state;
    recur(w, 0, "q", "r", 10);
    assert_string_equal(queue_of(w, 100, "q"), "recurring 1");
    assert_string_equal(pop(w, 100, "q", "w1", 2), "r-1,r-2");
    assert_int_equal(recurring_of(w, "r").count, 2);
    assert_string_equal(peek(w, 100, "q", 1), "r-3");
    assert_int_equal(recurring_of(w, "r").count, 3);
    assert_string_equal(pop(w, 100, "q", "w1", 99), "r-3,r-4,r-5,r-6,r-7,r-8,r-9,r-10,r-11");
}

static void test_recurring__a_backlog_limits_what_is_made_up_for(void **state)
{
    struct world *w = *state;
    struct recur_request request = every_ten();
    request.backlog = 2;
    set(w, "heartbeat", "1000");
    recur_with(w, 0, request);
    assert_string_equal(pop(w, 0, "q", "w1", 9), "r-1");
    // The runs of 10, 20, ... 100 were missed; those of 90 and 100 are made up for.
    assert_string_equal(pop(w, 105, "q", "w1", 9), "r-2,r-3");
    assert_string_equal(history_of(w, "r-2"), "90 put in q; 105 popped by w1");
    assert_string_equal(history_of(w, "r-3"), "100 put in q; 105 popped by w1");
    assert_int_equal(recurring_of(w, "r").next_us, us(110));
    // Two missed are not more than two.
    assert_string_equal(pop(w, 125, "q", "w1", 9), "r-4,r-5");
    assert_string_equal(history_of(w, "r-4"), "110 put in q; 125 popped by w1");
}

static void test_recurring__a_jid_that_is_taken_swallows_no_run(void **state)
{
    struct world *w = *state;
    put(w, 0, "other", "r-2");
    recur(w, 1, "q", "r", 10);
    assert_string_equal(pop(w, 25, "q", "w1", 9), "r-1,r-3,r-4");
    assert_slice_equal(view_of(w, "r-2").queue, "other");
    assert_int_equal(recurring_of(w, "r").count, 4);
}

static void test_recurring__removed_and_made_again_it_skips_no_run(void **state)
{
    struct world *w = *state;
    recur(w, 0, "q", "r", 10);
    assert_string_equal(pop(w, 15, "q", "w1", 9), "r-1,r-2");
    said(w, engine_unrecur(w->engine, at(w, 15), SLICE("r"), &w->error));
    recur(w, 16, "q", "r", 10);
    assert_string_equal(pop(w, 16, "q", "w1", 9), "r-3");
    assert_string_equal(pop(w, 26, "q", "w1", 9), "r-4");
}

static void test_recurring__many_taken_jids_cost_few_lookups(void **state)
{
    struct world *w = *state;
    char jid[32];
    for (int i = 1; i <= 1000; i++) {
        (void)snprintf(jid, sizeof(jid), "r-%d", i);
        put(w, 0, "other", jid);
    }
    recur(w, 1, "q", "r", 10);
    // The first hundred numbers one by one, then in steps that double.
    assert_string_equal(pop(w, 1, "q", "w1", 9), "r-1122");
    assert_string_equal(pop(w, 11, "q", "w1", 9), "r-1123");
}

static void test_recurring__made_again_unchanged_nothing_changes(void **state)
{
    struct world *w = *state;
    const struct job_options wanted = { .timeout_us = us(7), .crashes_max = 3 };
    struct recur_request request = every_ten();
    request.tags = slices_of(w, "red,blue,red");
    request.domain = SLICE("lane");
    request.options = &wanted;
    for (int i = 0; i < 5; i++) {
        recur_with(w, 0, request);
    }
    assert_string_equal(pop(w, 1, "q", "w1", 9), "r-1");
    // A delay counts for the first run alone: no deploy postpones the next one.
    request.offset_us = us(60);
    for (int i = 2; i < 10; i++) {
        recur_with(w, i, request);
        assert_int_equal(recurring_of(w, "r").next_us, us(10));
    }
    assert_string_equal(pop(w, 10, "q", "w1", 9), "r-2");
}

static void test_recurring__made_again_with_a_change_it_keeps_its_phase(void **state)
{
    struct world *w = *state;
    struct recur_request request = every_ten();
    recur_with(w, 3, request);
    assert_string_equal(pop(w, 3, "q", "w1", 9), "r-1");
    request.data = SLICE("[1]");
    request.offset_us = us(60);
    recur_with(w, 5, request);
    assert_slice_equal(recurring_of(w, "r").data, "[1]");
    assert_int_equal(recurring_of(w, "r").next_us, us(13));
    assert_int_equal(recurring_of(w, "r").count, 1);
    // Another interval counts from the last run, and what would be past is not made up for.
    request.interval_us = us(100);
    recur_with(w, 6, request);
    assert_int_equal(recurring_of(w, "r").next_us, us(103));
    request.interval_us = us(2);
    recur_with(w, 50, request);
    assert_int_equal(recurring_of(w, "r").next_us, us(51));
    // Another queue.
    request.queue = SLICE("other");
    recur_with(w, 50, request);
    assert_int_equal(recurring_of(w, "r").next_us, us(51));
    assert_string_equal(pop(w, 51, "other", "w1", 9), "r-2");
}

static void test_recurring__before_its_first_run_another_interval_leaves_that_alone(void **state)
{
    struct world *w = *state;
    struct recur_request request = every_ten();
    request.offset_us = us(60);
    recur_with(w, 0, request);
    request.interval_us = us(7);
    recur_with(w, 30, request);
    assert_int_equal(recurring_of(w, "r").next_us, us(60));
}

static void test_recurring__another_kind_of_schedule_starts_anew(void **state)
{
    struct world *w = *state;
    struct recur_request request = every_ten();
    recur_with(w, 3, request);
    assert_string_equal(pop(w, 3, "q", "w1", 9), "r-1");
    request.interval_us = 0;
    request.cron = SLICE("*/5 * * * *");
    recur_with(w, 5, request);
    assert_int_equal(recurring_of(w, "r").next_us, us(300));
    request.cron = SLICE("*/3 * * * *");
    recur_with(w, 6, request);
    assert_int_equal(recurring_of(w, "r").next_us, us(180));
    request.interval_us = us(10);
    request.cron = SLICE_EMPTY;
    request.offset_us = us(4);
    recur_with(w, 7, request);
    assert_int_equal(recurring_of(w, "r").next_us, us(11));
}

static void test_recurring__asked_to_restart_it_starts_anew(void **state)
{
    struct world *w = *state;
    struct recur_request request = every_ten();
    recur_with(w, 3, request);
    assert_string_equal(pop(w, 3, "q", "w1", 9), "r-1");
    request.restart = true;
    request.offset_us = us(4);
    recur_with(w, 5, request);
    assert_int_equal(recurring_of(w, "r").next_us, us(9));
    assert_string_equal(pop(w, 9, "q", "w1", 9), "r-2");
}

static void test_recurring__a_jid_too_long_for_its_jobs_is_refused(void **state)
{
    struct world *w = *state;
    char jid[ENGINE_NAME_SIZE_MAX];
    memset(jid, 'x', sizeof(jid));
    struct recur_request request = every_ten();
    request.jid = slice_make(jid, RECURRING_JID_SIZE_MAX + 1);
    refused(w, STATUS_INVALID, "jid");
    recur_with(w, 0, request);
    request.jid = slice_make(jid, RECURRING_JID_SIZE_MAX);
    recur_with(w, 0, request);
    assert_string_equal(queue_of(w, 1, "q"), "waiting 1, recurring 1");
}

static void test_recurring__can_be_looked_at(void **state)
{
    struct world *w = *state;
    assert_null(engine_recurring_get(w->engine, SLICE("r")));
    struct recur_request request = every_ten();
    request.backlog = 4;
    request.priority = 6;
    request.offset_us = us(100);
    request.tags = slices_of(w, "red,blue");
    recur_with(w, 0, request);
    struct recurring_view view = recurring_of(w, "r");
    assert_slice_equal(view.jid, "r");
    assert_slice_equal(view.klass, "k");
    assert_slice_equal(view.data, "{}");
    assert_slice_equal(view.queue, "q");
    assert_int_equal(view.interval_us, us(10));
    assert_int_equal(view.next_us, us(100));
    assert_int_equal(view.priority, 6);
    assert_int_equal(view.retries, 5);
    assert_int_equal(view.count, 0);
    assert_int_equal(view.backlog, 4);
    assert_string_equal(recurring_tags(w, "r"), "red,blue");
    assert_string_equal(queue_of(w, 0, "q"), "recurring 1");
}

static void test_recurring__are_listed_by_when_they_are_next_due(void **state)
{
    struct world *w = *state;
    const char *const jids[] = { "c", "a", "b" };
    for (int i = 0; i < 3; i++) {
        struct recur_request request = every_ten();
        request.jid = name_of(jids[i]);
        request.offset_us = us(100 - 10 * i);
        recur_with(w, 0, request);
    }
    assert_string_equal(recurring_list(w, "q", 0, 9), "3: b,a,c");
    assert_string_equal(recurring_list(w, "q", 1, 1), "3: a");
    assert_string_equal(recurring_list(w, "q", 3, 9), "3: ");
    assert_string_equal(recurring_list(w, "other", 0, 9), "0: ");
}

static void test_recurring__made_again_is_replaced_and_goes_on_counting(void **state)
{
    struct world *w = *state;
    recur(w, 0, "q", "r", 10);
    pop(w, 10, "q", "w1", 9);
    struct recur_request request = every_ten();
    request.queue = SLICE("other");
    request.interval_us = us(100);
    request.offset_us = us(5);
    recur_with(w, 11, request);
    assert_int_equal(recurring_of(w, "r").count, 2);
    assert_string_equal(queue_of(w, 11, "q"), "running 2, listeners 1");
    assert_string_equal(pop(w, 109, "other", "w1", 9), "");
    assert_string_equal(pop(w, 110, "other", "w1", 9), "r-3");
    assert_int_equal(recurring_of(w, "r").next_us, us(210));
}

static void test_recurring__can_be_ended_also_when_there_is_none(void **state)
{
    struct world *w = *state;
    recur(w, 0, "q", "r", 10);
    pop(w, 0, "q", "w1", 9);
    said(w, engine_unrecur(w->engine, at(w, 5), SLICE("r"), &w->error));
    assert_null(engine_recurring_get(w->engine, SLICE("r")));
    assert_string_equal(pop(w, 50, "q", "w1", 9), "");
    assert_string_equal(state_of(w, "r-1"), "running");
    said(w, engine_unrecur(w->engine, at(w, 50), SLICE("r"), &w->error));
}

static void test_recurring__each_part_can_be_changed_alone(void **state)
{
    struct world *w = *state;
    recur(w, 0, "q", "r", 10);
    pop(w, 0, "q", "w1", 9);
    update(w, 1, (struct recur_update){ .has_priority = true, .priority = 9 });
    update(w, 1, (struct recur_update){ .has_retries = true, .retries = 1 });
    update(w, 1, (struct recur_update){ .has_backlog = true, .backlog = 3 });
    update(w, 1, (struct recur_update){ .has_data = true, .data = SLICE("[9]") });
    update(w, 1, (struct recur_update){ .has_klass = true, .klass = SLICE("New") });
    update(w, 1, (struct recur_update){ .has_queue = true, .queue = SLICE("other") });
    struct recurring_view view = recurring_of(w, "r");
    assert_int_equal(view.priority, 9);
    assert_int_equal(view.retries, 1);
    assert_int_equal(view.backlog, 3);
    assert_slice_equal(view.data, "[9]");
    assert_slice_equal(view.klass, "New");
    assert_slice_equal(view.queue, "other");
    assert_int_equal(view.interval_us, us(10));
    assert_int_equal(view.next_us, us(10));
    assert_int_equal(view.count, 1);
    assert_string_equal(queues(w), "q,other");
    assert_string_equal(pop(w, 10, "q", "w1", 9), "");
    assert_string_equal(pop(w, 10, "other", "w1", 9), "r-2");
}

static void test_recurring__another_interval_moves_the_next_run_by_the_difference(void **state)
{
    struct world *w = *state;
    recur(w, 0, "q", "r", 10);
    pop(w, 0, "q", "w1", 9);
    update(w, 1, (struct recur_update){ .has_interval = true, .interval_us = us(25) });
    assert_int_equal(recurring_of(w, "r").next_us, us(25));
    update(w, 1, (struct recur_update){ .has_interval = true, .interval_us = us(5) });
    assert_int_equal(recurring_of(w, "r").next_us, us(5));
    assert_string_equal(pop(w, 10, "q", "w1", 9), "r-2,r-3");
}

static void test_recurring__tags_can_be_added_and_removed(void **state)
{
    struct world *w = *state;
    recur(w, 0, "q", "r", 10);
    said(w, engine_recur_tag(w->engine, at(w, 0), SLICE("r"), slices_of(w, "a,b,a"), &w->error));
    said(w, engine_recur_tag(w->engine, at(w, 0), SLICE("r"), slices_of(w, "c,b"), &w->error));
    assert_string_equal(recurring_tags(w, "r"), "a,b,c");
    said(w, engine_recur_untag(w->engine, at(w, 0), SLICE("r"), slices_of(w, "b,x"), &w->error));
    assert_string_equal(recurring_tags(w, "r"), "a,c");
    pop(w, 10, "q", "w1", 9);
    assert_string_equal(tags_of(w, "r-2"), "a,c");
    assert_string_equal(tagged(w, "b", 0, 9), "0: ");
}

static void test_recurring__the_options_of_its_jobs_can_be_looked_at(void **state)
{
    struct world *w = *state;
    struct recur_request request = { .queue = SLICE("q"),
                                     .jid = SLICE("r"),
                                     .klass = SLICE("K"),
                                     .data = SLICE("{}"),
                                     .interval_us = us(10) };
    struct job_options options = { .timeout_us = 1 };
    said(w, engine_recur(w->engine, at(w, 0), &request, &w->error));
    recurring_options(w->engine, engine_recurring_get(w->engine, SLICE("r")), &options);
    assert_int_equal(options.timeout_us, 0);
    assert_int_equal(options.backoff.kind, BACKOFF_UNSET);
    const struct job_options wanted = { .timeout_us = us(7), .crashes_max = 3 };
    request.options = &wanted;
    said(w, engine_recur(w->engine, at(w, 0), &request, &w->error));
    recurring_options(w->engine, engine_recurring_get(w->engine, SLICE("r")), &options);
    assert_int_equal(options.timeout_us, us(7));
    assert_int_equal(options.crashes_max, 3);
}

static void test_recurring__changes_of_what_is_not_there_are_refused(void **state)
{
    struct world *w = *state;
    refused(w, STATUS_NOT_FOUND, "r does not exist");
    update(w, 0, (struct recur_update){ .has_priority = true });
    refused(w, STATUS_NOT_FOUND, "r does not exist");
    said(w, engine_recur_tag(w->engine, 0, SLICE("r"), slices_of(w, "a"), &w->error));
    refused(w, STATUS_NOT_FOUND, "r does not exist");
    said(w, engine_recur_untag(w->engine, 0, SLICE("r"), slices_of(w, "a"), &w->error));
}

static void test_recurring__a_zero_byte_in_its_jid_stays_in_those_of_its_jobs(void **state)
{
    struct world *w = *state;
    const struct slice jid = SLICE("a\0b");
    recur_with(w, 100,
               (struct recur_request){ .queue = SLICE("q"), .jid = jid, .interval_us = us(10) });
    (void)pop(w, 100, "q", "w1", 1);
    assert_non_null(engine_get(w->engine, SLICE("a\0b-1")));
    assert_null(engine_get(w->engine, SLICE("a-1")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CLIENT_TEST(test_recurring__a_zero_byte_in_its_jid_stays_in_those_of_its_jobs),
        SERVER_TEST(test_recurring__makes_a_job_each_interval),
        CLIENT_TEST(test_recurring__makes_a_job_each_interval),
        SERVER_TEST(test_recurring__its_jobs_are_made_as_it_says),
        CLIENT_TEST(test_recurring__its_jobs_are_made_as_it_says),
        SERVER_TEST(test_recurring__its_jobs_stand_in_line_by_when_they_were_due),
        CLIENT_TEST(test_recurring__its_jobs_stand_in_line_by_when_they_were_due),
        CLIENT_TEST(test_recurring__with_the_client_clock_a_pop_makes_no_more_than_it_needs),
        SERVER_TEST(test_recurring__a_backlog_limits_what_is_made_up_for),
        CLIENT_TEST(test_recurring__a_backlog_limits_what_is_made_up_for),
        SERVER_TEST(test_recurring__a_jid_that_is_taken_swallows_no_run),
        CLIENT_TEST(test_recurring__a_jid_that_is_taken_swallows_no_run),
        SERVER_TEST(test_recurring__removed_and_made_again_it_skips_no_run),
        CLIENT_TEST(test_recurring__removed_and_made_again_it_skips_no_run),
        SERVER_TEST(test_recurring__many_taken_jids_cost_few_lookups),
        SERVER_TEST(test_recurring__made_again_unchanged_nothing_changes),
        CLIENT_TEST(test_recurring__made_again_unchanged_nothing_changes),
        SERVER_TEST(test_recurring__made_again_with_a_change_it_keeps_its_phase),
        SERVER_TEST(test_recurring__before_its_first_run_another_interval_leaves_that_alone),
        SERVER_TEST(test_recurring__another_kind_of_schedule_starts_anew),
        SERVER_TEST(test_recurring__asked_to_restart_it_starts_anew),
        CLIENT_TEST(test_recurring__asked_to_restart_it_starts_anew),
        SERVER_TEST(test_recurring__a_jid_too_long_for_its_jobs_is_refused),
        SERVER_TEST(test_recurring__can_be_looked_at),
        SERVER_TEST(test_recurring__are_listed_by_when_they_are_next_due),
        SERVER_TEST(test_recurring__made_again_is_replaced_and_goes_on_counting),
        SERVER_TEST(test_recurring__can_be_ended_also_when_there_is_none),
        SERVER_TEST(test_recurring__each_part_can_be_changed_alone),
        SERVER_TEST(test_recurring__another_interval_moves_the_next_run_by_the_difference),
        CLIENT_TEST(test_recurring__another_interval_moves_the_next_run_by_the_difference),
        SERVER_TEST(test_recurring__tags_can_be_added_and_removed),
        SERVER_TEST(test_recurring__the_options_of_its_jobs_can_be_looked_at),
        SERVER_TEST(test_recurring__changes_of_what_is_not_there_are_refused),
    };
    return cmocka_run_group_tests_name("recurring", tests, NULL, NULL);
}
