// SPDX-License-Identifier: MIT
// Recurring jobs by cron and by interval: when they run, and what time zones do to them.
#include "recurring_test.h"

#include "base/bytes.h"
#include "base/crc32c.h"
#include "engine_snapshot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    HOUR = 3600,
};

// The call that was made is refused with exactly this sentence.
#define REFUSED(w, status, sentence, call)                                                         \
    do {                                                                                           \
        refused(w, status, "");                                                                    \
        call;                                                                                      \
        assert_string_equal((w)->error.detail, sentence);                                          \
    } while (0)

// Local time is UTC plus one hour; from day 10, 01:00 UTC, plus two; from day 20, 01:00 UTC, plus
// one again. So 02:00 to 03:00 is left out on day 10 and comes twice on day 20.
static void summer(struct world *w)
{
    static const struct shift shifts[] = { { 10 * DAY + HOUR, 2 * HOUR },
                                           { 20 * DAY + HOUR, HOUR } };
    zone(w, "Summer", HOUR, shifts, 2);
}

// ---------------------------------------------------------------------------------------------
// Runs

static void test_cron_recurring__makes_a_job_at_each_run(void **state)
{
    struct world *w = *state;
    set(w, "heartbeat", "100000");
    recur_with(w, 1, by("*/10 * * * *"));
    assert_true(next_of(w) == 600);
    assert_string_equal(queue_of(w, 1, "q"), "recurring 1");
    assert_string_equal(pop(w, 599, "q", "w1", 9), "");
    assert_string_equal(pop(w, 600, "q", "w1", 9), "r-1");
    assert_string_equal(pop(w, 1250, "q", "w1", 9), "r-2");
    assert_string_equal(history_of(w, "r-2"), "1200 put in q; 1250 popped by w1");
    assert_string_equal(pop(w, 3100, "q", "w1", 9), "r-3,r-4,r-5");
    assert_int_equal(recurring_of(w, "r").count, 5);
    assert_true(next_of(w) == 3600);
}

static void test_cron_recurring__the_first_run_may_be_now(void **state)
{
    struct world *w = *state;
    recur_with(w, 600, by("*/10 * * * *"));
    assert_true(next_of(w) == 600);
    assert_string_equal(pop(w, 600, "q", "w1", 9), "r-1");
    struct recur_request request = by("*/10 * * * *");
    request.restart = true;
    request.offset_us = us(601);
    recur_with(w, 600, request);
    assert_true(next_of(w) == 1800);
    request.offset_us = -us(600);
    recur_with(w, 601, request);
    assert_true(next_of(w) == 600);
    assert_int_equal(recurring_of(w, "r").count, 1);
}

static void test_cron_recurring__six_fields_begin_with_the_second(void **state)
{
    struct world *w = *state;
    recur_with(w, 1, by("*/20 * * * * *"));
    assert_string_equal(runs_of(w, 4), "20,40,60,80");
    recur_with(w, 1, by("5,10 30 * * * *"));
    assert_string_equal(runs_of(w, 4), "1805,1810,5405,5410");
    assert_string_equal(made_by(w, 1807), "1805");
}

static void test_cron_recurring__words_stand_for_expressions(void **state)
{
    struct world *w = *state;
    recur_with(w, 1, by("@hourly"));
    assert_string_equal(runs_of(w, 3), "3600,7200,10800");
    assert_slice_equal(recurring_of(w, "r").cron, "@hourly");
    recur_with(w, 1, by("@daily"));
    assert_string_equal(runs_of(w, 2), "86400,172800");
}

static void test_cron_recurring__can_be_looked_at(void **state)
{
    struct world *w = *state;
    summer(w);
    struct recur_request request = in_zone("30 2 * * *", "Summer");
    request.missed = RECUR_MISSED_SKIP;
    request.overlap = RECUR_OVERLAP_SKIP;
    request.domain = SLICE("acme");
    request.backlog = 3;
    recur_with(w, 0, request);
    struct recurring_view view = recurring_of(w, "r");
    assert_slice_equal(view.cron, "30 2 * * *");
    assert_slice_equal(view.zone, "Summer");
    assert_slice_equal(view.domain, "acme");
    assert_int_equal(view.missed, RECUR_MISSED_SKIP);
    assert_int_equal(view.overlap, RECUR_OVERLAP_SKIP);
    assert_int_equal(view.interval_us, 0);
    assert_int_equal(view.backlog, 3);
    assert_int_equal(view.next_us, us(1.5 * HOUR));
}

static void
test_cron_recurring__a_time_in_a_gap_runs_right_after_it_and_one_that_comes_twice_once(void **state)
{
    struct world *w = *state;
    summer(w);
    recur_with(w, 9 * DAY, in_zone("30 2 * * *", "Summer"));
    // 02:30 on day 9; the end of the gap; 02:30 with two hours of difference.
    assert_string_equal(runs_of(w, 3), "783000,867600,952200");
    assert_string_equal(made_by(w, 10 * DAY + HOUR), "783000,867600");
    struct recur_request again = in_zone("30 2 * * *", "Summer");
    again.restart = true;
    recur_with(w, 19 * DAY, again);
    // The first of the two on day 20, and none an hour later.
    assert_string_equal(runs_of(w, 3), "1643400,1729800,1819800");
}

static void test_cron_recurring__what_runs_at_all_hours_neither_pauses_nor_doubles(void **state)
{
    struct world *w = *state;
    summer(w);
    recur_with(w, 10 * DAY, in_zone("*/30 * * * *", "Summer"));
    assert_string_equal(runs_of(w, 5), "864000,865800,867600,869400,871200");
    said(w, engine_unrecur(w->engine, at(w, 10 * DAY), SLICE("r"), &w->error));
    cancel(w, 10 * DAY, "r-1");
    recur_with(w, 20 * DAY, in_zone("*/30 * * * *", "Summer"));
    assert_string_equal(runs_of(w, 5), "1728000,1729800,1731600,1733400,1735200");
    assert_string_equal(made_by(w, 20 * DAY + 2 * HOUR), "1728000,1729800,1731600,1733400,1735200");
}

static void test_cron_recurring__a_preview_changes_nothing(void **state)
{
    struct world *w = *state;
    summer(w);
    assert_string_equal(cron_runs(w, "0 0 * * *", "", 0, 3), "86400,172800,259200");
    assert_string_equal(cron_runs(w, "0 0 * * *", "UTC", 86399.5, 1), "86400");
    assert_string_equal(cron_runs(w, "0 0 * * *", "Summer", 0, 2), "82800,169200");
    assert_string_equal(cron_runs(w, "0 0 29 2 *", "", 0, 2), "68169600,194400000");
    assert_string_equal(cron_runs(w, "0 0 * * *", "", 0, 0), "");
    recur_with(w, 5, every(10, RECUR_MISSED_ALL, 0));
    assert_string_equal(runs_of(w, 3), "5,15,25");
    assert_string_equal(runs_of(w, 0), "");
    assert_int_equal(recurring_of(w, "r").count, 0);
}

static void test_cron_recurring__at_the_end_of_time_it_stops(void **state)
{
    struct world *w = *state;
    const double last_day = 253402214400; // the 31st of December 9999
    recur_with(w, last_day, by("0 12 * * *"));
    assert_string_equal(runs_of(w, 9), "253402257600");
    assert_string_equal(made_by(w, last_day + 20 * HOUR), "253402257600");
    assert_string_equal(runs_of(w, 9), "");
    assert_int_equal(recurring_of(w, "r").next_us, INT64_MAX);
    assert_string_equal(cron_runs(w, "0 12 * * *", "", last_day + 20 * HOUR, 9), "");
    reload(w);
    assert_string_equal(made_by(w, last_day + 23 * HOUR), "253402257600");
    // One that would begin there has no run at all.
    recur_with(w, last_day + 23 * HOUR, by("0 12 * * *"));
    assert_string_equal(runs_of(w, 9), "");
    reload(w);
}

static void test_cron_recurring__by_interval_it_stops_there_too(void **state)
{
    struct world *w = *state;
    const double last_day = 253402214400;
    recur_with(w, last_day, every(50000, RECUR_MISSED_ALL, 0));
    assert_string_equal(runs_of(w, 9), "253402214400,253402264400");
    assert_string_equal(made_by(w, last_day + 23 * HOUR), "253402214400,253402264400");
    reload(w);
    assert_string_equal(runs_of(w, 9), "");
}

// ---------------------------------------------------------------------------------------------
// What is passed on

static void test_cron_recurring__domain_and_options_are_those_of_its_jobs(void **state)
{
    struct world *w = *state;
    struct recur_request request = by("* * * * *");
    request.domain = SLICE("acme");
    request.options = &(struct job_options){
        .backoff = { .kind = BACKOFF_LINEAR, .base_us = us(7), .cap_us = us(70) },
        .timeout_us = us(30),
        .result_ttl_us = us(40),
        .crashes_max = 3,
        .dependency_policy = DEPENDENCY_RUN
    };
    recur_with(w, 0, request);
    reload(w);
    assert_string_equal(pop(w, 60, "q", "w1", 9), "r-1,r-2");
    assert_slice_equal(view_of(w, "r-2").domain, "acme");
    struct job_options options;
    job_options(w->engine, engine_get(w->engine, SLICE("r-2")), &options);
    assert_int_equal(options.backoff.kind, BACKOFF_LINEAR);
    assert_int_equal(options.backoff.base_us, us(7));
    assert_int_equal(options.backoff.cap_us, us(70));
    assert_int_equal(options.timeout_us, us(30));
    assert_int_equal(options.result_ttl_us, us(40));
    assert_int_equal(options.crashes_max, 3);
    assert_int_equal(options.dependency_policy, DEPENDENCY_RUN);
    assert_int_equal(view_of(w, "r-2").run_ends_us, us(90));
    complete(w, 61, "w1", "r-1");
    complete(w, 61, "w1", "r-2");
    // Replaced without them, its next jobs have none.
    recur_with(w, 61, by("* * * * *"));
    assert_string_equal(pop(w, 120, "q", "w1", 9), "r-3");
    assert_slice_equal(view_of(w, "r-3").domain, "");
    job_options(w->engine, engine_get(w->engine, SLICE("r-3")), &options);
    assert_int_equal(options.timeout_us, 0);
    assert_int_equal(options.backoff.kind, BACKOFF_UNSET);
}

static void test_cron_recurring__its_jobs_keep_to_the_limits_of_their_lane(void **state)
{
    struct world *w = *state;
    struct recur_request request = every(10, RECUR_MISSED_ALL, 0);
    request.domain = SLICE("acme");
    recur_with(w, 0, request);
    limit(w, "", "acme", (struct limit){ .has_concurrency = true, .concurrency = 1 });
    assert_string_equal(pop(w, 30, "q", "w1", 9), "r-1");
    assert_string_equal(queue_of(w, 30, "q"), "waiting 3, running 1, recurring 1, listeners 1");
}

// ---------------------------------------------------------------------------------------------
// Zones

static void test_cron_recurring__a_zone_handed_over_anew_moves_the_next_runs(void **state)
{
    struct world *w = *state;
    zone(w, "Here", HOUR, NULL, 0);
    zone(w, "There", 0, NULL, 0);
    recur_with(w, 0, in_zone("0 12 * * *", "Here"));
    struct recur_request other = in_zone("0 12 * * *", "There");
    other.jid = SLICE("other");
    recur_with(w, 0, other);
    struct recur_request again = in_zone("30 12 * * *", "Here");
    again.jid = SLICE("again");
    recur_with(w, 0, again);
    assert_true(next_of(w) == 11 * HOUR);
    zone(w, "Here", 3 * HOUR, NULL, 0);
    assert_true(next_of(w) == 9 * HOUR);
    assert_int_equal(recurring_of(w, "again").next_us, us(9.5 * HOUR));
    assert_int_equal(recurring_of(w, "other").next_us, us(12 * HOUR));
    assert_string_equal(pop(w, 9 * HOUR, "q", "w1", 9), "r-1");
    // It ran at noon; by the new rules noon comes again today.
    zone(w, "Here", -5 * HOUR, NULL, 0);
    assert_true(next_of(w) == 17 * HOUR);
    reload(w);
    assert_true(next_of(w) == 17 * HOUR);
    struct slice name;
    struct zone_rules rules;
    assert_true(engine_zone_at(w->engine, 0, &name, &rules));
    assert_slice_equal(name, "Here");
    assert_int_equal(rules.offset_s, -5 * HOUR);
    assert_true(engine_zone_at(w->engine, 1, &name, &rules));
    assert_slice_equal(name, "There");
    assert_false(engine_zone_at(w->engine, 2, &name, &rules));
}

static void
test_cron_recurring__a_zone_may_move_the_only_recurring_job_to_an_earlier_time(void **state)
{
    struct world *w = *state;
    zone(w, "Here", 0, NULL, 0);
    recur_with(w, 1, in_zone("0 12 * * *", "Here"));
    zone(w, "Here", 2 * HOUR, NULL, 0);
    assert_true(next_of(w) == 10 * HOUR);
    zone(w, "Here", 2 * HOUR, NULL, 0);
    assert_true(next_of(w) == 10 * HOUR);
}

static void test_cron_recurring__many_of_one_zone_all_move_whichever_way(void **state)
{
    struct world *w = *state;
    zone(w, "Here", 0, NULL, 0);
    for (size_t i = 0; i < 24; i++) {
        struct recur_request request = in_zone(numbered("0 ", i), i % 3 ? "Here" : "");
        char cron[32];
        (void)snprintf(cron, sizeof(cron), "0 %zu * * *", i);
        request.cron = name_of(cron);
        request.jid = name_of(numbered("r", i));
        recur_with(w, 1, request);
    }
    zone(w, "Here", 6 * HOUR, NULL, 0);
    for (size_t i = 0; i < 24; i++) {
        // Hour i there is hour i - 6 here, on this day or the next; hour 0 and 6 have passed.
        size_t hour = i % 3 ? (i + 18) % 24 : i;
        double next = hour ? (double)hour * HOUR : DAY;
        assert_int_equal(recurring_of(w, numbered("r", i)).next_us, us(next));
    }
    assert_int_equal(faults_of(w), 0);
}

static void test_cron_recurring__zones_are_kept_as_they_were_given(void **state)
{
    struct world *w = *state;
    summer(w);
    reload(w);
    struct slice name;
    struct zone_rules rules;
    assert_true(engine_zone_at(w->engine, 0, &name, &rules));
    assert_slice_equal(name, "Summer");
    assert_int_equal(rules.offset_s, HOUR);
    assert_int_equal(rules.count, 2);
    assert_int_equal(rules.transitions[0].at_us, us(10 * DAY + HOUR));
    assert_int_equal(rules.transitions[0].offset_s, 2 * HOUR);
    assert_int_equal(rules.transitions[1].at_us, us(20 * DAY + HOUR));
    assert_int_equal(rules.transitions[1].offset_s, HOUR);
}

static void test_cron_recurring__what_is_no_zone_is_refused(void **state)
{
    struct world *w = *state;
    summer(w);
    REFUSED(w, STATUS_INVALID, "zone must not be empty", zone(w, "", 0, NULL, 0));
    REFUSED(w, STATUS_INVALID, "the rules of UTC cannot be set", zone(w, "UTC", 0, NULL, 0));
    const char *insane =
        "the transitions of zone Z must ascend, and its offsets be at most 26 hours";
    REFUSED(w, STATUS_INVALID, insane, zone(w, "Z", 26 * HOUR + 1, NULL, 0));
    REFUSED(w, STATUS_INVALID, insane, zone(w, "Z", -26 * HOUR - 1, NULL, 0));
    const struct shift far[] = { { 5, 27 * HOUR } };
    REFUSED(w, STATUS_INVALID, insane, zone(w, "Z", 0, far, 1));
    const struct shift same[] = { { 5, HOUR }, { 5, 0 } };
    REFUSED(w, STATUS_INVALID, insane, zone(w, "Z", 0, same, 2));
    const struct shift back[] = { { 5, HOUR }, { 4, 0 } };
    REFUSED(w, STATUS_INVALID, insane, zone(w, "Z", 0, back, 2));

    struct zone_transition *many = calloc(10001, sizeof(*many));
    assert_non_null(many);
    for (int i = 0; i < 10001; i++) {
        many[i].at_us = i;
    }
    struct zone_rules rules = { 0, many, 10001 };
    REFUSED(w, STATUS_TOO_LARGE, "zone Z has 10001 transitions; at most 10000 are allowed",
            said(w, engine_zone_set(w->engine, 0, SLICE("Z"), &rules, &w->error)));
    rules.count = 10000;
    said(w, engine_zone_set(w->engine, 0, SLICE("Z"), &rules, &w->error));
    free(many);
    reload(w);
    zone(w, "Widest", 26 * HOUR, NULL, 0);
}

static void test_cron_recurring__a_zone_without_memory_changes_nothing(void **state)
{
    bool reached = true;
    for (size_t n = 1; reached; n++) {
        struct world *w = world_new(ENGINE_CLOCK_SERVER, 1);
        zone(w, "Here", 0, NULL, 0);
        recur_with(w, 1, in_zone("0 12 * * *", "Here"));
        const struct zone_transition at_last = { us(100 * DAY), HOUR };
        const struct zone_rules rules = { 3 * HOUR, &at_last, 1 };
        for (int pass = 0; pass < 2; pass++) {
            struct slice name = pass ? SLICE("Here") : SLICE("New");
            struct buffer before;
            buffer_init(&before, &allocator_system, 1 << 20);
            save(w, &before);
            w->fault.calls = 0;
            w->fault.failed = false;
            w->fault.fail_at = n;
            enum status status = engine_zone_set(w->engine, us(1), name, &rules, &w->error);
            reached = w->fault.failed || (pass && reached);
            w->fault.fail_at = 0;
            if (w->fault.failed) {
                assert_int_equal(status, STATUS_NO_MEMORY);
                struct buffer after;
                buffer_init(&after, &allocator_system, 1 << 20);
                save(w, &after);
                assert_int_equal(before.size, after.size);
                assert_memory_equal(before.data, after.data, after.size);
                buffer_release(&after);
                said(w, engine_zone_set(w->engine, us(1), name, &rules, &w->error));
            } else {
                assert_int_equal(status, STATUS_OK);
            }
            buffer_release(&before);
        }
        assert_true(next_of(w) == 9 * HOUR);
        world_free(w);
    }
    (void)state;
}

// ---------------------------------------------------------------------------------------------
// Bad input

static void test_cron_recurring__what_cannot_be_is_refused(void **state)
{
    struct world *w = *state;
    summer(w);
    struct recur_request request = by("* * * * *");
    request.interval_us = us(1);
    REFUSED(w, STATUS_INVALID, "an interval and a cron expression exclude each other",
            recur_with(w, 0, request));
    REFUSED(w, STATUS_INVALID, "interval must be greater than 0", recur_with(w, 0, by("")));
    request = every(10, RECUR_MISSED_ALL, 0);
    request.zone = SLICE("Summer");
    REFUSED(w, STATUS_INVALID, "a zone is only for a cron expression", recur_with(w, 0, request));
    REFUSED(w, STATUS_NOT_FOUND, "time zone Mars is not known",
            recur_with(w, 0, in_zone("* * * * *", "Mars")));
    REFUSED(w, STATUS_INVALID,
            "a cron expression has five fields, or six with the second in front; this one has 2",
            recur_with(w, 0, by("* *")));
    REFUSED(w, STATUS_INVALID,
            "cron day of month: no month that is given has a day 30, so it can never run",
            recur_with(w, 0, by("0 0 30 2 *")));
    REFUSED(w, STATUS_INVALID, "backlog must not be negative",
            recur_with(w, 0, every(10, RECUR_MISSED_ALL, -1)));
    REFUSED(w, STATUS_INVALID, "unknown value of missed or overlap",
            recur_with(w, 0, every(10, RECUR_MISSED_SKIP + 1, 0)));
    request = by("* * * * *");
    request.overlap = RECUR_OVERLAP_SKIP + 1;
    REFUSED(w, STATUS_INVALID, "unknown value of missed or overlap", recur_with(w, 0, request));
    request = by("* * * * *");
    request.offset_us = -1;
    REFUSED(w, STATUS_INVALID, "offset reaches before the year 1970 or beyond the year 9999",
            recur_with(w, 0, request));
    request.offset_us = ENGINE_TIME_MAX + 1;
    REFUSED(w, STATUS_INVALID, "offset reaches before the year 1970 or beyond the year 9999",
            recur_with(w, 0, request));
    request.offset_us = INT64_MIN;
    REFUSED(w, STATUS_INVALID, "offset reaches before the year 1970 or beyond the year 9999",
            recur_with(w, 0, request));
    request = by("* * * * *");
    char domain[256];
    memset(domain, 'd', sizeof(domain));
    request.domain = slice_make(domain, sizeof(domain));
    REFUSED(w, STATUS_INVALID, "domain is 256 bytes long, and at most 255 are allowed",
            recur_with(w, 0, request));
}

static void test_cron_recurring__an_interval_is_nothing_for_cron(void **state)
{
    struct world *w = *state;
    recur_with(w, 1, by("0 * * * *"));
    struct recur_update update = { .jid = SLICE("r"), .has_interval = true, .interval_us = us(5) };
    REFUSED(w, STATUS_INVALID, "recurring job r is by cron and has no interval",
            said(w, engine_recur_update(w->engine, us(1), &update, &w->error)));
    // All else can be changed, and the next run stays.
    update = (struct recur_update){
        .jid = SLICE("r"), .has_backlog = true, .backlog = 1, .has_queue = true, .queue = SLICE("s")
    };
    said(w, engine_recur_update(w->engine, at(w, 1), &update, &w->error));
    assert_slice_equal(recurring_of(w, "r").queue, "s");
    assert_slice_equal(recurring_of(w, "r").cron, "0 * * * *");
    assert_true(next_of(w) == HOUR);
}

static void test_cron_recurring__a_preview_of_what_is_not_there_is_refused(void **state)
{
    struct world *w = *state;
    REFUSED(w, STATUS_NOT_FOUND, "recurring job r does not exist", runs_of(w, 3));
    REFUSED(w, STATUS_NOT_FOUND, "time zone Mars is not known",
            cron_runs(w, "* * * * *", "Mars", 0, 3));
    REFUSED(w, STATUS_INVALID, "after must lie between the years 1970 and 9999",
            cron_runs(w, "* * * * *", "", -1, 3));
    REFUSED(w, STATUS_INVALID,
            "a cron expression that begins with @ must be @yearly, @annually, @monthly, @weekly, "
            "@daily, @midnight or @hourly",
            cron_runs(w, "@reboot", "", 0, 3));
}

// ---------------------------------------------------------------------------------------------
// Kept

static void test_cron_recurring__saved_and_loaded_it_goes_on_as_before(void **state)
{
    struct world *w = *state;
    summer(w);
    struct recur_request request = in_zone("30 2 * * *", "Summer");
    request.missed = RECUR_MISSED_ONE;
    request.overlap = RECUR_OVERLAP_SKIP;
    request.domain = SLICE("acme");
    request.backlog = 4;
    request.priority = 3;
    request.tags = slices_of(w, "red,blue");
    recur_with(w, 8 * DAY, request);
    assert_string_equal(made_by(w, 9 * DAY), "696600");
    reload(w);
    struct recurring_view view = recurring_of(w, "r");
    assert_slice_equal(view.cron, "30 2 * * *");
    assert_slice_equal(view.zone, "Summer");
    assert_slice_equal(view.domain, "acme");
    assert_int_equal(view.missed, RECUR_MISSED_ONE);
    assert_int_equal(view.overlap, RECUR_OVERLAP_SKIP);
    assert_int_equal(view.count, 1);
    assert_int_equal(view.backlog, 4);
    assert_int_equal(view.tag_count, 2);
    // The zone is the same one as before: replacing it moves the run.
    zone(w, "Summer", 0, NULL, 0);
    assert_true(next_of(w) == 9 * DAY + 2.5 * HOUR);
    cancel(w, 9 * DAY, "r-1");
    assert_string_equal(made_by(w, 12 * DAY), "959400");
    assert_string_equal(tags_of(w, "r-2"), "red,blue");
    assert_int_equal(view_of(w, "r-2").priority, 3);
}

// The saved engine with each of the numbers `old` replaced, and a checksum that is right.
static enum status load_with(struct world *w, int64_t old, int64_t new, struct engine **out)
{
    struct buffer bytes;
    buffer_init(&bytes, &allocator_system, 1 << 20);
    save(w, &bytes);
    size_t covered = bytes.size - 4, found = 0;
    for (size_t i = 0; i + 8 <= covered; i++) {
        if (bytes_load_u64(bytes.data + i) == (uint64_t)old) {
            bytes_store_u64(bytes.data + i, (uint64_t) new);
            found++;
        }
    }
    assert_int_equal(found, 1);
    bytes_store_u32(bytes.data + covered, crc32c(0, bytes.data, covered));
    const struct engine_options options = { .allocator = &allocator_system, .seed = { 1, 2 } };
    *out = NULL;
    enum status status = engine_load(&options, buffer_slice(&bytes), out, &w->error);
    buffer_release(&bytes);
    return status;
}

// There would be no end to looking for what is due.
static void test_cron_recurring__a_snapshot_with_times_that_cannot_be_is_refused(void **state)
{
    struct world *w = *state;
    struct engine *engine;
    recur_with(w, 12345.678901, by("17 * * * *"));
    assert_int_equal(recurring_of(w, "r").next_us, us(15420));
    assert_int_equal(load_with(w, us(15420), -1, &engine), STATUS_CORRUPT);
    assert_int_equal(load_with(w, us(15420), INT64_MIN, &engine), STATUS_CORRUPT);
    assert_int_equal(load_with(w, us(15420), us(15420) + 1, &engine), STATUS_OK);
    engine_free(engine);
    tick(w, 12347.000001);
    assert_int_equal(load_with(w, us(12347.000001), ENGINE_TIME_MAX + 1, &engine), STATUS_CORRUPT);
    assert_int_equal(load_with(w, us(12347.000001), -1, &engine), STATUS_CORRUPT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SERVER_TEST(test_cron_recurring__makes_a_job_at_each_run),
        CLIENT_TEST(test_cron_recurring__makes_a_job_at_each_run),
        SERVER_TEST(test_cron_recurring__the_first_run_may_be_now),
        CLIENT_TEST(test_cron_recurring__the_first_run_may_be_now),
        SERVER_TEST(test_cron_recurring__six_fields_begin_with_the_second),
        CLIENT_TEST(test_cron_recurring__six_fields_begin_with_the_second),
        SERVER_TEST(test_cron_recurring__words_stand_for_expressions),
        SERVER_TEST(test_cron_recurring__can_be_looked_at),
        SERVER_TEST(
            test_cron_recurring__a_time_in_a_gap_runs_right_after_it_and_one_that_comes_twice_once),
        CLIENT_TEST(
            test_cron_recurring__a_time_in_a_gap_runs_right_after_it_and_one_that_comes_twice_once),
        SERVER_TEST(test_cron_recurring__what_runs_at_all_hours_neither_pauses_nor_doubles),
        CLIENT_TEST(test_cron_recurring__what_runs_at_all_hours_neither_pauses_nor_doubles),
        SERVER_TEST(test_cron_recurring__a_preview_changes_nothing),
        SERVER_TEST(test_cron_recurring__at_the_end_of_time_it_stops),
        CLIENT_TEST(test_cron_recurring__at_the_end_of_time_it_stops),
        SERVER_TEST(test_cron_recurring__by_interval_it_stops_there_too),
        CLIENT_TEST(test_cron_recurring__by_interval_it_stops_there_too),
        SERVER_TEST(test_cron_recurring__domain_and_options_are_those_of_its_jobs),
        CLIENT_TEST(test_cron_recurring__domain_and_options_are_those_of_its_jobs),
        SERVER_TEST(test_cron_recurring__its_jobs_keep_to_the_limits_of_their_lane),
        SERVER_TEST(test_cron_recurring__a_zone_handed_over_anew_moves_the_next_runs),
        CLIENT_TEST(test_cron_recurring__a_zone_handed_over_anew_moves_the_next_runs),
        SERVER_TEST(test_cron_recurring__a_zone_may_move_the_only_recurring_job_to_an_earlier_time),
        SERVER_TEST(test_cron_recurring__many_of_one_zone_all_move_whichever_way),
        SERVER_TEST(test_cron_recurring__zones_are_kept_as_they_were_given),
        SERVER_TEST(test_cron_recurring__what_is_no_zone_is_refused),
        cmocka_unit_test(test_cron_recurring__a_zone_without_memory_changes_nothing),
        SERVER_TEST(test_cron_recurring__what_cannot_be_is_refused),
        SERVER_TEST(test_cron_recurring__an_interval_is_nothing_for_cron),
        SERVER_TEST(test_cron_recurring__a_preview_of_what_is_not_there_is_refused),
        SERVER_TEST(test_cron_recurring__saved_and_loaded_it_goes_on_as_before),
        CLIENT_TEST(test_cron_recurring__saved_and_loaded_it_goes_on_as_before),
        SERVER_TEST(test_cron_recurring__a_snapshot_with_times_that_cannot_be_is_refused),
    };
    return cmocka_run_group_tests_name("cron_recurring", tests, NULL, NULL);
}
