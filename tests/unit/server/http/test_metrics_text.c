// SPDX-License-Identifier: MIT
#include "server/http/metrics_text.h"

#include "test.h"

enum {
    PLENTY = 1 << 20,
};

static void expect(struct buffer *out, const char *wanted)
{
    buffer_append_char(out, '\0');
    assert_int_equal(out->status, STATUS_OK);
    assert_string_equal(out->data, wanted);
    buffer_clear(out);
}

static void say_some(struct metrics_text *text)
{
    metrics_family(text, &(struct metric){ "jobs", METRIC_GAUGE, "Jobs." });
    metrics_count(text, SLICE("queue=\"mail\""), 17);
    metrics_family(text, &(struct metric){ "sent_bytes", METRIC_COUNTER, "Bytes." });
    metrics_count(text, SLICE_EMPTY, 18446744073709551615U);
    metrics_family(text, &(struct metric){ "sync_seconds", METRIC_SUMMARY, "Syncs." });
    metrics_times(text, SLICE_EMPTY, 3, 1500000);
    metrics_family(text, &(struct metric){ "up_seconds", METRIC_GAUGE, "Since." });
    metrics_time(text, SLICE_EMPTY, 1);
    metrics_end(text);
}

static void test_metrics_text__in_both_forms(void **state)
{
    (void)state;
    struct buffer out;
    buffer_init(&out, &allocator_system, PLENTY);
    say_some(&(struct metrics_text){ .out = &out, .open = true });
    expect(&out, "# HELP jobs Jobs.\n"
                 "# TYPE jobs gauge\n"
                 "jobs{queue=\"mail\"} 17\n"
                 "# HELP sent_bytes Bytes.\n"
                 "# TYPE sent_bytes counter\n"
                 "# UNIT sent_bytes bytes\n"
                 "sent_bytes_total 18446744073709551615\n"
                 "# HELP sync_seconds Syncs.\n"
                 "# TYPE sync_seconds summary\n"
                 "# UNIT sync_seconds seconds\n"
                 "sync_seconds_count 3\n"
                 "sync_seconds_sum 1.5\n"
                 "# HELP up_seconds Since.\n"
                 "# TYPE up_seconds gauge\n"
                 "# UNIT up_seconds seconds\n"
                 "up_seconds 0.000001\n"
                 "# EOF\n");
    say_some(&(struct metrics_text){ .out = &out });
    expect(&out, "# HELP jobs Jobs.\n"
                 "# TYPE jobs gauge\n"
                 "jobs{queue=\"mail\"} 17\n"
                 "# HELP sent_bytes_total Bytes.\n"
                 "# TYPE sent_bytes_total counter\n"
                 "sent_bytes_total 18446744073709551615\n"
                 "# HELP sync_seconds Syncs.\n"
                 "# TYPE sync_seconds summary\n"
                 "sync_seconds_count 3\n"
                 "sync_seconds_sum 1.5\n"
                 "# HELP up_seconds Since.\n"
                 "# TYPE up_seconds gauge\n"
                 "up_seconds 0.000001\n");
    buffer_release(&out);
}

static void test_metrics_text__labels_are_escaped(void **state)
{
    (void)state;
    struct buffer labels;
    buffer_init(&labels, &allocator_system, PLENTY);
    metrics_label(&labels, "a", SLICE("x\"y\\z\nw\xC3\xA4\xFF\x1b\0\x7f\xC2\x9B"));
    metrics_label(&labels, "b", SLICE_EMPTY);
    expect(&labels,
           "a=\"x\\\"y\\\\z\\nw\xC3\xA4\\\\xFF\\\\x1B\\\\x00\\\\x7F\\\\xC2\\\\x9B\",b=\"\"");
    buffer_release(&labels);
}

static void test_metrics_text__a_histogram_is_exact_at_its_bounds(void **state)
{
    (void)state;
    struct buffer out;
    struct histogram histogram = { 0 };
    static const int64_t values[] = { 0, 1, 1, 2, 7, 8, 9, 10, 1000000 };
    buffer_init(&out, &allocator_system, PLENTY);
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        histogram_add(&histogram, values[i]);
    }
    struct metrics_text text = { .out = &out, .open = true };
    text.metric = &(struct metric){ "runs", METRIC_HISTOGRAM, "Runs." };
    metrics_histogram(&text, SLICE("q=\"m\""), &histogram, &metric_bounds_few);
    expect(&out, "runs_bucket{q=\"m\",le=\"1.0\"} 3\n"
                 "runs_bucket{q=\"m\",le=\"2.0\"} 4\n"
                 "runs_bucket{q=\"m\",le=\"3.0\"} 4\n"
                 "runs_bucket{q=\"m\",le=\"4.0\"} 4\n"
                 "runs_bucket{q=\"m\",le=\"5.0\"} 4\n"
                 "runs_bucket{q=\"m\",le=\"7.0\"} 5\n"
                 "runs_bucket{q=\"m\",le=\"9.0\"} 7\n"
                 "runs_bucket{q=\"m\",le=\"15.0\"} 8\n"
                 "runs_bucket{q=\"m\",le=\"31.0\"} 8\n"
                 "runs_bucket{q=\"m\",le=\"63.0\"} 8\n"
                 "runs_bucket{q=\"m\",le=\"127.0\"} 8\n"
                 "runs_bucket{q=\"m\",le=\"+Inf\"} 9\n"
                 "runs_count{q=\"m\"} 9\n"
                 "runs_sum{q=\"m\"} 1000038\n");
    text.metric = &(struct metric){ "turn_seconds", METRIC_HISTOGRAM, "Turns." };
    metrics_histogram(&text, SLICE_EMPTY, &histogram, &metric_bounds_short);
    assert_non_null(strstr(out.data, "turn_seconds_bucket{le=\"0.000015\"} 8\n"));
    assert_non_null(strstr(out.data, "turn_seconds_bucket{le=\"1.048575\"} 9\n"));
    assert_non_null(strstr(out.data, "turn_seconds_sum 1.000038\n"));
    buffer_release(&out);
}

static void test_metrics_text__bounds_are_those_of_the_histogram(void **state)
{
    (void)state;
    const struct metric_bounds *const all[] = { &metric_bounds_long, &metric_bounds_short,
                                                &metric_bounds_few };
    for (size_t i = 0; TEST_ROW(i, all); i++) {
        for (size_t j = 0; j < all[i]->count; j++) {
            int64_t bound = all[i]->items[j];
            assert_int_equal(histogram_bound(histogram_bucket(bound)), bound);
            assert_true(j == 0 || bound > all[i]->items[j - 1]);
        }
    }
}

static void test_metrics_text__which_form_is_wanted(void **state)
{
    (void)state;
    static const struct {
        const char *accept;
        bool open;
    } rows[] = {
        { "", false },
        { "*/*", false },
        { "text/plain", false },
        { "application/openmetrics-text", true },
        { "Application/OpenMetrics-Text; version=1.0.0; charset=utf-8", true },
        { "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3,*/*;q="
          "0.1",
          true },
        { "text/plain;q=0.5 , application/openmetrics-text ; q=0.4", false },
        { "application/openmetrics-text;q=0", false },
        { "application/openmetrics-text;q=much", false },
        { "text/html,application/json", false },
        { ",,;;,", false },
    };
    for (size_t i = 0; TEST_ROW_NAMED(i, rows, rows[i].accept); i++) {
        if (metrics_wants_open(slice_from_cstr(rows[i].accept)) != rows[i].open) {
            fail_msg("%s", rows[i].accept);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_metrics_text__in_both_forms),
        cmocka_unit_test(test_metrics_text__labels_are_escaped),
        cmocka_unit_test(test_metrics_text__a_histogram_is_exact_at_its_bounds),
        cmocka_unit_test(test_metrics_text__bounds_are_those_of_the_histogram),
        cmocka_unit_test(test_metrics_text__which_form_is_wanted),
    };
    return cmocka_run_group_tests_name("metrics_text", tests, NULL, NULL);
}
