// SPDX-License-Identifier: MIT
#include "engine/measure/series.h"

#include "engine/records/changes.h"
#include "engine/state.h"
#include "engine_test.h"
#include "random.h"

#include <stdio.h>
#include <stdlib.h>

static const char *text_of(struct world *w)
{
    buffer_append_char(&w->text, '\0');
    return w->text.data;
}

static struct series_point points[SERIES_MINUTES];

static struct series_view series(struct world *w, double now, const char *queue, int64_t step_s)
{
    struct series_view view = { .points = points };
    said(w, engine_series(w->engine, at(w, now), name_of(queue), step_s, &view, &w->error));
    return view;
}

// The points in which something was counted, as "first second: counts / waiting running stalled".
static const char *counts(struct world *w, double now, const char *queue, int64_t step_s)
{
    const struct series_view view = series(w, now, queue, step_s);
    buffer_clear(&w->text);
    for (size_t i = 0; i < view.count; i++) {
        const struct series_point *point = &points[i];
        uint32_t any = 0;
        for (size_t j = 0; j < SERIES_COUNTS; j++) {
            any |= point->counts[j];
        }
        if (any) {
            long long second = view.from_us / 1000000 + (int64_t)i * step_s;
            buffer_printf(&w->text, "%s%lld:", w->text.size ? " " : "", second);
            for (size_t j = 0; j < SERIES_COUNTS; j++) {
                buffer_printf(&w->text, "%s%u", j ? "," : "", point->counts[j]);
            }
            buffer_printf(&w->text, "/%u,%u,%u", point->depths[JOB_WAITING],
                          point->depths[JOB_RUNNING], point->depths[JOB_STALLED]);
        }
    }
    return text_of(w);
}

// The depth of waiting jobs at the ends of the periods that began then.
static uint32_t waiting_at(struct world *w, double now, const char *queue, int64_t step_s,
                           int64_t start)
{
    const struct series_view view = series(w, now, queue, step_s);
    int64_t index = (start - view.from_us / 1000000) / step_s;
    assert_in_range(index, 0, (int64_t)view.count - 1);
    return points[index].depths[JOB_WAITING];
}

static void test_series__each_second_counts_what_happened_in_it(void **state)
{
    struct world *w = *state;
    put(w, 1000.25, "q", "a");
    put(w, 1000.5, "q", "b");
    put(w, 1000.75, "r", "c");
    assert_string_equal(counts(w, 1000.9, "q", 1), "");
    pop(w, 1003, "q", "w1", 1);
    complete(w, 1005.5, "w1", "a");
    assert_string_equal(counts(w, 1006, "q", 1),
                        "1000:2,0,0,0,0,0/2,0,0 1003:0,1,0,0,0,0/1,1,0 1005:0,0,1,0,0,0/1,0,0");
    assert_string_equal(counts(w, 1006, "", 1),
                        "1000:3,0,0,0,0,0/3,0,0 1003:0,1,0,0,0,0/2,1,0 1005:0,0,1,0,0,0/2,0,0");
    assert_string_equal(counts(w, 1006, "none", 1), "");
    // They leave one after the other.
    assert_string_equal(counts(w, 1061, "q", 1), "1003:0,1,0,0,0,0/1,1,0 1005:0,0,1,0,0,0/1,0,0");
    assert_string_equal(counts(w, 1065, "q", 1), "1005:0,0,1,0,0,0/1,0,0");
    assert_string_equal(counts(w, 1066, "q", 1), "");
    assert_int_equal(faults_of(w), 0);
}

static void test_series__seconds_without_anything_have_the_depth_from_before(void **state)
{
    struct world *w = *state;
    put(w, 1000, "q", "a");
    put(w, 1010, "q", "b");
    assert_int_equal(waiting_at(w, 1020, "q", 1, 999), 0);
    assert_int_equal(waiting_at(w, 1020, "q", 1, 1000), 1);
    assert_int_equal(waiting_at(w, 1020, "q", 1, 1009), 1);
    assert_int_equal(waiting_at(w, 1020, "q", 1, 1010), 2);
    pop(w, 1500, "q", "w1", 1);
    assert_int_equal(waiting_at(w, 1501, "q", 1, 1499), 2);
    assert_int_equal(waiting_at(w, 1501, "q", 1, 1500), 1);
    assert_int_equal(waiting_at(w, 1501, "", 1, 1442), 2);
    assert_int_equal(waiting_at(w, 1501, "q", 15, 990), 1);
    assert_int_equal(waiting_at(w, 1501, "q", 15, 1470), 2);
    assert_int_equal(waiting_at(w, 1560, "q", 60, 960), 2);
    assert_int_equal(waiting_at(w, 1560, "q", 60, 900), 0);
    assert_int_equal(waiting_at(w, 1560, "q", 60, 1380), 2);
    assert_int_equal(waiting_at(w, 1560, "q", 60, 1500), 1);
}

static void test_series__spans_and_minutes_sum_up_seconds(void **state)
{
    struct world *w = *state;
    for (int i = 0; i < 100; i++) {
        char jid[16];
        (void)snprintf(jid, sizeof(jid), "j%d", i);
        put(w, 1200 + i, "q", jid);
    }
    assert_string_equal(counts(w, 1300, "q", 15),
                        "1200:15,0,0,0,0,0/15,0,0 1215:15,0,0,0,0,0/30,0,0 "
                        "1230:15,0,0,0,0,0/45,0,0 1245:15,0,0,0,0,0/60,0,0 "
                        "1260:15,0,0,0,0,0/75,0,0 1275:15,0,0,0,0,0/90,0,0");
    assert_string_equal(counts(w, 1300, "q", 60), "1200:60,0,0,0,0,0/60,0,0");
    struct series_rates rates;
    engine_rates(w->engine, us(1300), SLICE("q"), &rates);
    assert_int_equal(rates.minute[SERIES_PUT], 60);
    assert_int_equal(rates.second[SERIES_PUT], 1);
    engine_rates(w->engine, us(1310), SLICE("q"), &rates);
    assert_int_equal(rates.minute[SERIES_PUT], 50);
    assert_int_equal(rates.second[SERIES_PUT], 0);
    engine_rates(w->engine, us(1359), SLICE_EMPTY, &rates);
    assert_int_equal(rates.minute[SERIES_PUT], 1);
    engine_rates(w->engine, us(1360), SLICE_EMPTY, &rates);
    assert_int_equal(rates.minute[SERIES_PUT], 0);
    engine_rates(w->engine, us(1360), SLICE("none"), &rates);
    assert_int_equal(rates.minute[SERIES_PUT], 0);
    assert_string_equal(counts(w, 1360, "q", 60),
                        "1200:60,0,0,0,0,0/60,0,0 1260:40,0,0,0,0,0/100,0,0");
}

static void test_series__failed_retried_and_lost_are_counted(void **state)
{
    struct world *w = *state;
    put(w, 6000, "q", "a");
    put(w, 6000, "q", "b");
    put(w, 6000, "q", "c");
    pop(w, 6001, "q", "w1", 3);
    fail_job(w, 6002, "w1", "a", "broken");
    retry(w, 6003, "w1", "b");
    // The lease runs out after a minute, and the grace ten seconds later.
    assert_string_equal(counts(w, 6061.5, "q", 60), "6000:3,3,0,1,1,0/1,1,0");
    tick(w, 6500);
    assert_string_equal(counts(w, 6540, "q", 60), "6000:3,3,0,1,1,0/1,1,0 6060:0,0,0,0,0,1/1,0,1");
    const struct series_view view = series(w, 6540, "q", 60);
    assert_int_equal(points[view.count - 1].depths[series_depth_of(JOB_FAILED)], 1);
}

// The largest value of a quantile's bucket, in seconds; -1 when there is none.
static double seconds_of(uint8_t bucket)
{
    return bucket == SERIES_NO_BUCKET ? -1 : (double)histogram_bound(bucket) / 1e6;
}

static void assert_about(double given, double wanted)
{
    assert_true(given >= wanted && given <= 1.25 * wanted);
}

static void test_series__quantiles_are_of_the_period_and_of_the_window(void **state)
{
    struct world *w = *state;
    for (int i = 0; i < 10; i++) {
        char jid[16];
        (void)snprintf(jid, sizeof(jid), "j%d", i);
        double start = 3600 + 60 * i;
        put(w, start, "q", jid);
        pop(w, start + 2, "q", "w1", 1);
        complete(w, start + 2 + (i < 9 ? 1 : 20), "w1", jid);
    }
    struct series_view view = series(w, 4200, "q", 60);
    const struct series_point *last = &points[view.count - 1], *before = &points[view.count - 2];
    assert_about(seconds_of(last->wait[0]), 2);
    assert_about(seconds_of(last->run[0]), 20);
    assert_about(seconds_of(before->run[0]), 1);
    assert_about(seconds_of(before->run[2]), 1);
    assert_int_equal(points[0].run[0], SERIES_NO_BUCKET);
    assert_about(seconds_of(series_quantile(view.times.run, 500)), 1);
    assert_about(seconds_of(series_quantile(view.times.run, 900)), 1);
    assert_about(seconds_of(series_quantile(view.times.run, 990)), 20);
    // The last quarter of an hour has the same, the last minute only the last one.
    view = series(w, 4200, "q", 15);
    assert_about(seconds_of(series_quantile(view.times.run, 500)), 1);
    assert_about(seconds_of(series_quantile(view.times.run, 990)), 20);
    view = series(w, 4200, "q", 1);
    assert_about(seconds_of(series_quantile(view.times.run, 10)), 20);
    // All have left the window of a minute, then that of a quarter of an hour, then that of a day.
    view = series(w, 4300, "q", 1);
    assert_int_equal(series_quantile(view.times.run, 500), SERIES_NO_BUCKET);
    view = series(w, 5200, "q", 15);
    assert_int_equal(series_quantile(view.times.run, 500), SERIES_NO_BUCKET);
    view = series(w, 5200, "q", 60);
    assert_about(seconds_of(series_quantile(view.times.run, 500)), 1);
}

static enum status count_series(void *context, struct record_key key, struct slice bytes)
{
    int *told = context;
    if (key.kind == RECORD_SERIES) {
        told[bytes.size ? 0 : 1]++;
    }
    return STATUS_OK;
}

// How many records of series are written, and how many are gone: "written,gone".
static const char *changes(struct world *w)
{
    int told[2] = { 0 };
    const struct changes_sink sink = { .receive = count_series, .context = told };
    assert_int_equal(engine_changes(w->engine, &sink), STATUS_OK);
    buffer_clear(&w->text);
    buffer_printf(&w->text, "%d,%d", told[0], told[1]);
    return text_of(w);
}

static void keep_changes(struct world *w)
{
    engine_free(w->engine);
    const struct engine_options keeping = {
        .allocator = &w->fault.allocator, .seed = { 3, 4 }, .clock = w->clock, .keeps_changes = true
    };
    assert_int_equal(engine_new(&keeping, &w->engine), STATUS_OK);
}

static void test_series__a_minute_is_a_change_when_it_is_closed(void **state)
{
    struct world *w = *state;
    keep_changes(w);
    put(w, 7200, "q", "a");
    put(w, 7259, "q", "b");
    assert_string_equal(changes(w), "0,0");
    put(w, 7260, "q", "c");
    assert_string_equal(changes(w), "2,0"); // of the queue, and of all
    put(w, 7261, "q", "d");
    assert_string_equal(changes(w), "0,0");
    // Who looks closes none; the host does.
    (void)series(w, 7400, "q", 60);
    tick(w, 7400);
    assert_string_equal(changes(w), "0,0");
    assert_false(engine_series_close(w->engine, us(7400)));
    assert_string_equal(changes(w), "2,0");
    assert_false(engine_series_close(w->engine, us(7500)));
    assert_string_equal(changes(w), "0,0");
    assert_int_equal(faults_of(w), 0);
}

static void test_series__minutes_outlive_a_restart(void **state)
{
    struct world *w = *state;
    put(w, 7200, "q", "a");
    pop(w, 7202, "q", "w1", 1);
    complete(w, 7205, "w1", "a");
    put(w, 10805, "q", "b");
    put(w, 10870, "q", "c");
    const char *all = "7200:1,1,1,0,0,0/0,0,0 10800:1,0,0,0,0,0/1,0,0 10860:1,0,0,0,0,0/2,0,0";
    (void)engine_series_close(w->engine, us(10920));
    assert_string_equal(counts(w, 10980, "q", 60), all);
    reload(w);
    assert_int_equal(faults_of(w), 0);
    assert_string_equal(counts(w, 10980, "q", 60), all);
    assert_string_equal(counts(w, 10980, "", 60), all);
    assert_int_equal(waiting_at(w, 10980, "q", 60, 10740), 0);
    assert_int_equal(waiting_at(w, 10980, "q", 60, 10920), 2);
    struct series_view view = series(w, 10980, "q", 60);
    assert_about(seconds_of(series_quantile(view.times.wait, 500)), 2);
    // It goes on in the same hour.
    put(w, 10985, "q", "d");
    reload(w);
    put(w, 11045, "q", "e");
    (void)engine_series_close(w->engine, us(11100));
    assert_string_equal(counts(w, 11100, "q", 60),
                        "7200:1,1,1,0,0,0/0,0,0 10800:1,0,0,0,0,0/1,0,0 "
                        "10860:1,0,0,0,0,0/2,0,0 11040:1,0,0,0,0,0/4,0,0");
}

static void test_series__hours_are_dropped_after_a_day(void **state)
{
    struct world *w = *state;
    keep_changes(w);
    put(w, 3600, "q", "a");
    put(w, 3660, "q", "b");
    assert_string_equal(changes(w), "2,0");
    put(w, 3600 + 24 * 3600, "q", "c");
    assert_string_equal(changes(w), "2,0");
    put(w, 7200 + 24 * 3600, "q", "d");
    assert_string_equal(changes(w), "2,0");
    put(w, 7200 + 25 * 3600, "q", "e");
    assert_string_equal(changes(w), "2,2");
    assert_int_equal(waiting_at(w, 7200 + 25 * 3600 + 60, "q", 60, 7200 + 24 * 3600 - 60), 3);
}

static void test_series__a_queue_that_is_idle_gives_its_memory_back(void **state)
{
    struct world *w = *state;
    put(w, 1000, "q", "a");
    put(w, 1000, "r", "b");
    assert_non_null(queue_find(w->engine, SLICE("q"))->series);
    while (engine_series_close(w->engine, us(1100))) {
    }
    put(w, 1900, "r", "c");
    while (engine_series_close(w->engine, us(2100))) {
    }
    const struct queue *queue = queue_find(w->engine, SLICE("q"));
    assert_null(queue->series->live);
    assert_non_null(queue_find(w->engine, SLICE("r"))->series->live);
    assert_string_equal(counts(w, 2100, "q", 60), "960:1,0,0,0,0,0/1,0,0");
    assert_int_equal(waiting_at(w, 2100, "q", 1, 2050), 1);
    while (engine_series_close(w->engine, us(2000 + 26 * 3600))) {
    }
    assert_null(queue->series);
    assert_int_equal(waiting_at(w, 2000 + 26 * 3600, "q", 60, 86400), 1);
    put(w, 2000 + 26 * 3600, "q", "d");
    assert_string_equal(counts(w, 2001 + 26 * 3600, "q", 1), "95600:1,0,0,0,0,0/2,0,0");
    assert_int_equal(faults_of(w), 0);
}

static void test_series__a_queue_that_is_gone_takes_its_records_along(void **state)
{
    struct world *w = *state;
    keep_changes(w);
    set(w, "stats-history", "1");
    put(w, 1000, "q", "a");
    put(w, 1060, "q", "b");
    assert_string_equal(changes(w), "2,0");
    cancel(w, 1061, "a");
    cancel(w, 1061, "b");
    assert_string_equal(changes(w), "0,0");
    said(w, engine_forget(w->engine, at(w, 1062), slices_of(w, "q"), &w->error));
    assert_string_equal(changes(w), "0,1");
    assert_int_equal(faults_of(w), 0);
}

static void test_series__a_clock_that_is_set_back_forgets_what_came_later(void **state)
{
    struct world *w = *state;
    keep_changes(w);
    put(w, 7100, "q", "a");
    put(w, 9000, "q", "b");
    put(w, 9100, "q", "c");
    assert_string_equal(changes(w), "4,0");
    said(w, engine_set_time(w->engine, us(9100), us(7500), &w->error));
    assert_string_equal(changes(w), "0,2");
    put(w, 7501, "q", "d");
    assert_string_equal(counts(w, 7502, "q", 1), "7501:1,0,0,0,0,0/4,0,0");
    assert_string_equal(counts(w, 7560, "q", 60), "7080:1,0,0,0,0,0/1,0,0 7500:1,0,0,0,0,0/4,0,0");
    assert_int_equal(faults_of(w), 0);
}

static void test_series__with_the_client_clock_time_does_not_go_back(void **state)
{
    struct world *w = *state;
    put(w, 1000, "q", "a");
    put(w, 900, "q", "b");
    assert_string_equal(counts(w, 1001, "q", 1), "1000:2,0,0,0,0,0/2,0,0");
    assert_string_equal(counts(w, 1, "q", 1), "1000:2,0,0,0,0,0/2,0,0");
    put(w, 1080, "q", "c");
    assert_false(engine_series_close(w->engine, us(5000)));
    assert_string_equal(counts(w, 1140, "q", 60), "960:2,0,0,0,0,0/2,0,0 1080:1,0,0,0,0,0/3,0,0");
}

static void test_series__queues_that_changed_lately_come_the_newest_first(void **state)
{
    struct world *w = *state;
    put(w, 100, "a", "1");
    put(w, 101.5, "b", "2");
    put(w, 102, "c", "3");
    put(w, 102.5, "a", "4");
    const void *position = NULL;
    struct slice name;
    buffer_clear(&w->text);
    while (engine_changed_next(w->engine, us(102.75), &position, &name)) {
        buffer_printf(&w->text, "%.*s ", SLICE_PRINT(name));
    }
    assert_string_equal(text_of(w), "a c b ");
    position = NULL;
    assert_true(engine_changed_next(w->engine, us(103.5), &position, &name));
    assert_true(engine_changed_next(w->engine, us(103.5), &position, &name));
    assert_false(engine_changed_next(w->engine, us(103.5), &position, &name));
    position = NULL;
    assert_false(engine_changed_next(w->engine, us(104), &position, &name));
}

// What the series of a queue should say, by counting each second on its own.
struct simple {
    uint32_t puts[20000];
};

static void test_series__any_pattern_of_idle_and_busy_seconds_adds_up(void **state)
{
    struct world *w = *state;
    struct random random;
    random_init(&random);
    struct simple *simple = calloc(1, sizeof(*simple));
    assert_non_null(simple);
    double now = 100;
    for (int i = 0; i < 1500; i++) {
        char jid[16];
        (void)snprintf(jid, sizeof(jid), "j%d", i);
        put(w, now, "q", jid);
        simple->puts[us(now) / 1000000]++;
        static const double steps[] = { 0.1, 0.5, 1, 3, 20, 70, 200 };
        now += steps[random_below(&random, i % 100 ? 5 : 7)];
        now = now < 19000 ? now : 19000;
        if (i % 7 == 0) {
            (void)engine_series_close(w->engine, us(now));
        }
        static const int64_t all_steps[] = { 1, 15, 60 };
        for (size_t s = 0; s < 3 && i % 10 == 0; s++) {
            const struct series_view view = series(w, now, "q", all_steps[s]);
            for (size_t p = 0; p < view.count; p++) {
                int64_t start = view.from_us / 1000000 + (int64_t)p * all_steps[s];
                uint32_t sum = 0;
                for (int64_t second = start; second < start + all_steps[s]; second++) {
                    sum += simple->puts[second];
                }
                assert_int_equal(points[p].counts[SERIES_PUT], sum);
            }
        }
    }
    assert_int_equal(faults_of(w), 0);
    free(simple);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SERVER_TEST(test_series__each_second_counts_what_happened_in_it),
        CLIENT_TEST(test_series__each_second_counts_what_happened_in_it),
        SERVER_TEST(test_series__seconds_without_anything_have_the_depth_from_before),
        CLIENT_TEST(test_series__seconds_without_anything_have_the_depth_from_before),
        SERVER_TEST(test_series__spans_and_minutes_sum_up_seconds),
        CLIENT_TEST(test_series__spans_and_minutes_sum_up_seconds),
        SERVER_TEST(test_series__failed_retried_and_lost_are_counted),
        SERVER_TEST(test_series__quantiles_are_of_the_period_and_of_the_window),
        CLIENT_TEST(test_series__quantiles_are_of_the_period_and_of_the_window),
        SERVER_TEST(test_series__a_minute_is_a_change_when_it_is_closed),
        SERVER_TEST(test_series__minutes_outlive_a_restart),
        SERVER_TEST(test_series__hours_are_dropped_after_a_day),
        SERVER_TEST(test_series__a_queue_that_is_idle_gives_its_memory_back),
        SERVER_TEST(test_series__a_queue_that_is_gone_takes_its_records_along),
        SERVER_TEST(test_series__a_clock_that_is_set_back_forgets_what_came_later),
        CLIENT_TEST(test_series__with_the_client_clock_time_does_not_go_back),
        SERVER_TEST(test_series__queues_that_changed_lately_come_the_newest_first),
        SERVER_TEST(test_series__any_pattern_of_idle_and_busy_seconds_adds_up),
    };
    return cmocka_run_group_tests_name("series", tests, NULL, NULL);
}
