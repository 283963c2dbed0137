// SPDX-License-Identifier: MIT
// One act on many jobs: which jobs are meant, and what becomes of them.
#include "engine_test_more.h"

#include <string.h>

enum {
    MANY = 5000,
};

// ---------------------------------------------------------------------------------------------
// A small world with something of everything

struct person {
    const char *jid;
    const char *queue; // NULL: in none
    const char *klass;
    const char *group;
    bool red; // has the tag
    enum job_state state;
    double made;
    bool depended_on;
};

// In the order in which an operation looks at them.
static const struct person people[] = {
    { "stalled", "q", "other", NULL, false, JOB_STALLED, 5, false },
    { "waiting", "q", "k", NULL, true, JOB_WAITING, 20, false },
    { "needed", "q", "other", NULL, false, JOB_WAITING, 20, true },
    { "domain", "q", "k", NULL, true, JOB_WAITING, 20, false },
    { "later", "q", "k", NULL, true, JOB_SCHEDULED, 20, false },
    { "running", "q", "k", NULL, true, JOB_RUNNING, 4, false },
    { "grace", "q", "k", NULL, false, JOB_RUNNING, 0, false },
    { "depends", "q", "other", NULL, false, JOB_DEPENDS, 20, false },
    { "elsewhere", "r", "k", NULL, true, JOB_WAITING, 15, false },
    { "f1", "q", "k", "g1", true, JOB_FAILED, 1, false },
    { "f2", "r", "other", "g2", false, JOB_FAILED, 2, false },
    { "done", "q", "k", NULL, true, JOB_COMPLETE, 3, false },
};

enum {
    PEOPLE = sizeof(people) / sizeof(people[0]),
    NOW = 30,
};

static void put_person(struct world *w, const char *jid)
{
    for (size_t i = 0; i < PEOPLE; i++) {
        const struct person *one = &people[i];
        if (strcmp(one->jid, jid) == 0) {
            struct put_request request = { .queue = name_of(one->queue),
                                           .jid = name_of(jid),
                                           .klass = name_of(one->klass) };
            if (one->red) {
                request.has_tags = true;
                request.tags = slices_of(w, "red");
            }
            if (strcmp(jid, "domain") == 0) {
                request.has_domain = true;
                request.domain = SLICE("d");
            }
            if (one->state == JOB_SCHEDULED) {
                request.delay_us = us(480);
            }
            if (one->state == JOB_DEPENDS) {
                request.depends = slices_of(w, "needed");
            }
            put_with(w, one->made, request);
            return;
        }
    }
    fail();
}

static void populate(struct world *w)
{
    set(w, "heartbeat", "10");
    set(w, "grace-period", "1000");
    put_person(w, "grace");
    assert_string_equal(pop(w, 0, "q", "w1", 1), "grace");
    set(w, "heartbeat", "10000");
    put_person(w, "f1");
    assert_string_equal(pop(w, 1, "q", "w1", 1), "f1");
    fail_job(w, 1, "w1", "f1", "g1");
    put_person(w, "f2");
    assert_string_equal(pop(w, 2, "r", "w1", 1), "f2");
    fail_job(w, 2, "w1", "f2", "g2");
    put_person(w, "done");
    assert_string_equal(pop(w, 3, "q", "w1", 1), "done");
    complete(w, 3, "w1", "done");
    put_person(w, "running");
    assert_string_equal(pop(w, 4, "q", "w1", 1), "running");
    put_person(w, "stalled");
    assert_string_equal(pop(w, 5, "q", "w1", 1), "stalled");
    time_out(w, 5, "stalled");
    put_person(w, "elsewhere");
    put_person(w, "waiting");
    put_person(w, "needed");
    put_person(w, "domain");
    put_person(w, "later");
    put_person(w, "depends");
    tick(w, NOW);
    for (size_t i = 0; i < PEOPLE; i++) {
        assert_int_equal(view_of(w, people[i].jid).state, people[i].state);
    }
    assert_true(view_of(w, "grace").grace);
}

static bool is(struct slice wanted, const char *name)
{
    return wanted.size == 0 || (name && slice_equal(wanted, name_of(name)));
}

static bool is_meant(const struct person *one, const struct job_filter *filter)
{
    int64_t age_us = us(NOW) - us(one->made);
    return is(filter->queue, one->queue) && is(filter->klass, one->klass) &&
           is(filter->group, one->group) && (filter->tag.size == 0 || one->red) &&
           (!filter->states || filter->states >> one->state & 1U) && age_us >= filter->older_us &&
           (!filter->has_newer || age_us <= filter->newer_us);
}

// Moves go to r; what is tagged is tagged blue and red; what is untagged is untagged red.
// The job that is needed goes with the one that needs it, unless the filter tells them apart.
static bool is_changed(const struct person *one, enum bulk_act act, const struct job_filter *filter)
{
    switch (act) {
    case BULK_CANCEL:
        return one->state != JOB_COMPLETE && !(one->depended_on && filter->states);
    case BULK_RETRY:
        return one->state == JOB_FAILED || one->state == JOB_SCHEDULED;
    case BULK_MOVE:
        return one->state == JOB_FAILED ||
               (one->state != JOB_RUNNING && one->state != JOB_COMPLETE &&
                strcmp(one->queue, "r") != 0);
    case BULK_TAG:
        return true;
    case BULK_UNTAG:
        return one->red;
    case BULK_DELETE:
        return one->state == JOB_FAILED || one->state == JOB_COMPLETE;
    case BULK_PRIORITY:
        return true;
    case BULK_TIMEOUT:
        return one->state == JOB_RUNNING;
    case BULK_ACTS:
        break;
    }
    return false;
}

static void expect_unchanged(struct world *w, const struct person *one)
{
    struct job_view view = view_of(w, one->jid);
    assert_int_equal(view.state, one->state);
    assert_slice_equal(view.queue, one->queue);
    assert_string_equal(tags_of(w, one->jid), one->red ? "red" : "");
}

static void expect_changed(struct world *w, const struct person *one, enum bulk_act act)
{
    if (act == BULK_CANCEL || act == BULK_DELETE) {
        assert_string_equal(state_of(w, one->jid), "none");
        return;
    }
    struct job_view view = view_of(w, one->jid);
    switch (act) {
    case BULK_RETRY:
        assert_int_equal(view.state, JOB_WAITING);
        assert_slice_equal(view.queue, one->queue);
        break;
    case BULK_MOVE:
        assert_slice_equal(view.queue, "r");
        assert_int_equal(view.state, one->state == JOB_SCHEDULED || one->state == JOB_DEPENDS
                                         ? one->state
                                         : JOB_WAITING);
        assert_int_equal(view.scheduled_us, one->state == JOB_SCHEDULED ? us(500) : 0);
        break;
    case BULK_TAG:
        assert_string_equal(tags_of(w, one->jid), one->red ? "red,blue" : "blue,red");
        break;
    case BULK_PRIORITY:
        assert_int_equal(view.priority, 7);
        break;
    case BULK_TIMEOUT:
        assert_int_equal(view.state, JOB_STALLED);
        break;
    case BULK_CANCEL:
    case BULK_DELETE:
    case BULK_ACTS:
    case BULK_UNTAG:
        assert_string_equal(tags_of(w, one->jid), "");
        break;
    }
}

static struct bulk_request request_for(struct world *w, enum bulk_act act, struct job_filter filter)
{
    return (struct bulk_request){ .filter = filter,
                                  .act = act,
                                  .priority = act == BULK_PRIORITY ? 7 : 0,
                                  .to = act == BULK_MOVE ? SLICE("r") : SLICE_EMPTY,
                                  .tags = slices_of(w, act == BULK_TAG ? "blue,red" : "red") };
}

static void check_filter(enum bulk_act act, struct job_filter filter)
{
    struct world *w = world_new(ENGINE_CLOCK_SERVER, 1);
    populate(w);
    size_t meant = 0, changed = 0;
    for (size_t i = 0; i < PEOPLE; i++) {
        meant += is_meant(&people[i], &filter);
        changed += is_meant(&people[i], &filter) && is_changed(&people[i], act, &filter);
    }
    struct bulk_request request = request_for(w, act, filter);
    for (int pass = 0; pass < 2; pass++) {
        request.dry_run = pass == 0;
        struct bulk_view view = bulk(w, NOW, request);
        assert_int_equal(view.act, act);
        assert_int_equal(view.dry_run, pass == 0);
        assert_int_equal(view.began_us, us(NOW));
        assert_true(view.done);
        // Of the jobs in the queue that is moved to only the failed ones are looked at.
        bool passes_over = act == BULK_MOVE && is_meant(&people[8], &filter);
        assert_int_equal(view.matched, meant - passes_over);
        assert_int_equal(view.changed, changed);
        assert_true(view.looked_at >= view.matched && view.looked_at <= PEOPLE);
        for (size_t i = 0; i < PEOPLE; i++) {
            bool is_now =
                pass == 1 && is_meant(&people[i], &filter) && is_changed(&people[i], act, &filter);
            if (is_now) {
                expect_changed(w, &people[i], act);
            } else {
                expect_unchanged(w, &people[i]);
            }
        }
    }
    world_free(w);
}

static void check_all_filters(enum bulk_act act)
{
    static const char *const queues_[] = { "", "q", "r" }, *const klasses[] = { "", "other" },
                             *const tags[] = { "", "red" }, *const groups_[] = { "", "g1" };
    static const double ages[] = { 0, 15 };
    for (size_t i = 0; i < (size_t)96 * (JOB_STATE_COUNT + 1); i++) {
        size_t rest = i;
        struct job_filter filter = { .queue = name_of(queues_[rest % 3]) };
        rest /= 3;
        filter.klass = name_of(klasses[rest % 2]);
        rest /= 2;
        filter.tag = name_of(tags[rest % 2]);
        rest /= 2;
        filter.group = name_of(groups_[rest % 2]);
        rest /= 2;
        filter.has_older = rest % 2;
        filter.older_us = us(ages[rest % 2]);
        rest /= 2;
        filter.has_newer = rest % 2;
        filter.newer_us = us(ages[rest % 2]);
        rest /= 2;
        filter.states = rest > 0 ? 1U << (rest - 1) : 0;
        check_filter(act, filter);
    }
}

static void test_bulk__delete_with_every_filter_as_the_dry_run_said(void **state)
{
    (void)state;
    check_all_filters(BULK_DELETE);
}

static void test_bulk__priority_with_every_filter_as_the_dry_run_said(void **state)
{
    (void)state;
    check_all_filters(BULK_PRIORITY);
}

static void test_bulk__timeout_with_every_filter_as_the_dry_run_said(void **state)
{
    (void)state;
    check_all_filters(BULK_TIMEOUT);
}

static void test_bulk__cancel_with_every_filter_as_the_dry_run_said(void **state)
{
    (void)state;
    check_all_filters(BULK_CANCEL);
}

static void test_bulk__retry_with_every_filter_as_the_dry_run_said(void **state)
{
    (void)state;
    check_all_filters(BULK_RETRY);
}

static void test_bulk__move_with_every_filter_as_the_dry_run_said(void **state)
{
    (void)state;
    check_all_filters(BULK_MOVE);
}

static void test_bulk__tag_with_every_filter_as_the_dry_run_said(void **state)
{
    (void)state;
    check_all_filters(BULK_TAG);
}

static void test_bulk__untag_with_every_filter_as_the_dry_run_said(void **state)
{
    (void)state;
    check_all_filters(BULK_UNTAG);
}

static void test_bulk__a_filter_for_what_is_not_there_changes_nothing(void **state)
{
    struct world *w = *state;
    populate(w);
    const struct job_filter nobody[] = {
        { .queue = SLICE("nowhere") },
        { .klass = SLICE("nothing") },
        { .tag = SLICE("green") },
        { .group = SLICE("g3") },
        { .has_older = true, .older_us = us(100) },
        { .has_newer = true, .newer_us = 1 },
        { .has_newer = true, .newer_us = 0 },
    };
    for (size_t i = 0; TEST_ROW(i, nobody); i++) {
        struct bulk_view view =
            bulk(w, NOW, (struct bulk_request){ .act = BULK_CANCEL, .filter = nobody[i] });
        assert_true(view.done);
        assert_int_equal(view.matched, 0);
        assert_int_equal(view.changed, 0);
    }
    assert_int_equal(count_all(w, NULL), PEOPLE);
}

static void test_bulk__cancel_tells_each_as_cancel_does(void **state)
{
    struct world *w = *state;
    populate(w);
    track(w, NOW, "later");
    forget_events(w);
    (void)bulk(w, NOW, request_for(w, BULK_CANCEL, (struct job_filter){ .queue = SLICE("q") }));
    expect_events(w, "log: canceled stalled in q; log: canceled waiting in q; "
                     "log: canceled domain in q; log+tracker: canceled later in q; "
                     "worker+log: canceled running in q by w1; "
                     "worker+log: canceled grace in q by w1; log: canceled depends in q; "
                     "log: canceled needed in q; log: canceled f1 in q");
    assert_string_equal(queue_of(w, NOW, "q"), "listeners 1");
    assert_int_equal(stats_of(w, "q", 0).failed, 0);
}

// A chain of jobs, the last put first if `upwards`; and one that depends on the one in the middle.
static void put_chain(struct world *w, size_t count, bool upwards)
{
    for (size_t i = 0; i < count; i++) {
        put(w, 0, "q", numbered("j", i));
    }
    for (size_t i = 1; i < count; i++) {
        size_t at = upwards ? count - i : i;
        put_depending(w, (double)i, "q", numbered("j", at), numbered("j", at - 1));
        forget_events(w);
    }
}

static void test_bulk__cancel_takes_whole_chains(void **state)
{
    (void)state;
    for (int upwards = 0; upwards < 2; upwards++) {
        struct world *w = world_new(ENGINE_CLOCK_SERVER, 1);
        struct bulk_request request = { .act = BULK_CANCEL, .dry_run = true };
        put_chain(w, 10, upwards);
        struct bulk_view view = bulk(w, NOW, request);
        assert_true(view.done);
        assert_int_equal(view.matched, 10);
        assert_int_equal(view.changed, 10);
        assert_int_equal(count_all(w, NULL), 10);
        forget_events(w);
        request.dry_run = false;
        view = bulk(w, NOW, request);
        assert_true(view.done);
        assert_int_equal(view.matched, 10);
        assert_int_equal(view.changed, 10);
        assert_int_equal(count_all(w, NULL), 0);
        expect_events(w, "log: canceled j9 in q; log: canceled j8 in q; log: canceled j7 in q; "
                         "log: canceled j6 in q; log: canceled j5 in q; log: canceled j4 in q; "
                         "log: canceled j3 in q; log: canceled j2 in q; log: canceled j1 in q; "
                         "log: canceled j0 in q");
        world_free(w);
    }
}

static void test_bulk__cancel_leaves_what_others_depend_on(void **state)
{
    struct world *w = *state;
    put_chain(w, 10, false);
    put_depending(w, 20, "other", "stays", "j4");
    put_depending(w, 20, "other", "stays too", "stays");
    struct bulk_request request = { .act = BULK_CANCEL,
                                    .filter = { .queue = SLICE("q") },
                                    .dry_run = true };
    for (int pass = 0; pass < 2; pass++) {
        struct bulk_view view = bulk(w, NOW, request);
        assert_int_equal(view.matched, 10);
        assert_int_equal(view.changed, 5);
        request.dry_run = false;
    }
    assert_string_equal(state_of(w, "j4"), "depends");
    assert_string_equal(state_of(w, "j5"), "none");
    assert_string_equal(state_of(w, "stays too"), "depends");
    forget_events(w);
}

// Also when it is saved and loaded on the way; and no slice is long.
static void test_bulk__cancel_takes_a_long_chain_in_slices(void **state)
{
    (void)state;
    for (int way = 0; way < 4; way++) {
        struct world *w = world_new(ENGINE_CLOCK_SERVER, 1);
        put_chain(w, MANY, way & 1);
        put(w, 0, "q", "more");
        uint64_t id = bulk(w, MANY, (struct bulk_request){ .act = BULK_CANCEL }).id;
        size_t slices = 1;
        while (!bulk_of(w, id).done) {
            if ((way & 2) && slices == 7) {
                reload(w);
            }
            size_t before = count_all(w, NULL);
            tick(w, MANY);
            assert_true(before - count_all(w, NULL) <= 1000);
            forget_events(w);
            slices++;
        }
        assert_true(slices <= 7 + 2 * MANY / 1000 + 2);
        assert_int_equal(count_all(w, NULL), 0);
        assert_int_equal(bulk_of(w, id).matched, MANY + 1);
        assert_int_equal(bulk_of(w, id).changed, MANY + 1);
        world_free(w);
    }
}

static void test_bulk__a_cancel_that_is_stopped_forgets_what_it_had_freed(void **state)
{
    struct world *w = *state;
    put_chain(w, 2500, true);
    uint64_t id = bulk(w, MANY, (struct bulk_request){ .act = BULK_CANCEL }).id;
    // Another one waits until the first is done.
    uint64_t second = bulk(w, MANY, (struct bulk_request){ .act = BULK_CANCEL }).id;
    assert_int_equal(bulk_of(w, second).looked_at, 0);
    tick(w, MANY);
    size_t left = count_all(w, NULL);
    assert_true(left > 0 && left < 2500);
    said(w, engine_bulk_stop(w->engine, us(MANY), id, &w->error));
    assert_true(bulk_of(w, id).stopped);
    assert_int_equal(count_all(w, NULL), left);
    reload(w);
    assert_true(bulk_of(w, id).stopped);
    while (!bulk_of(w, second).done) {
        tick(w, MANY);
    }
    assert_int_equal(bulk_of(w, second).matched, left);
    assert_int_equal(count_all(w, NULL), 0);
    forget_events(w);
}

static void test_bulk__a_moved_job_goes_to_the_end_of_the_line_with_a_clean_record(void **state)
{
    struct world *w = *state;
    populate(w);
    forget_events(w);
    (void)bulk(w, NOW, request_for(w, BULK_MOVE, (struct job_filter){ .queue = SLICE("q") }));
    expect_events(w, "");
    // All at the same time, so that they stand in the order in which they were made.
    assert_string_equal(jobs(w, NOW, LIST_WAITING, "r", 0, 9),
                        "6: elsewhere,f1,stalled,waiting,needed,domain");
    assert_string_equal(queue_of(w, NOW, "q"), "running 2, expired 1, listeners 1");
    assert_string_equal(history_of(w, "stalled"),
                        "5 put in q; 5 popped by w1; 5 timed-out; 30 put in r");
    assert_string_equal(history_of(w, "depends"), "20 put in q; 30 put in r");
    assert_int_equal(view_of(w, "stalled").attempts, 0);
    assert_int_equal(view_of(w, "f1").remaining, 5);
    assert_int_equal(stats_of(w, "q", 0).failed, 0);
    assert_slice_equal(view_of(w, "f1").failure_group, "g1");
    // What depends still does.
    assert_string_equal(pop(w, 40, "r", "w1", 9), "elsewhere,f1,stalled,waiting,needed,domain");
    complete(w, 40, "w1", "needed");
    assert_string_equal(pop(w, 40, "r", "w1", 9), "depends");
    tick(w, 500);
    assert_string_equal(pop(w, 500, "r", "w1", 9), "later");
}

static void test_bulk__a_retried_job_goes_back_where_it_failed(void **state)
{
    struct world *w = *state;
    populate(w);
    (void)bulk(w, NOW, request_for(w, BULK_RETRY, (struct job_filter){ 0 }));
    assert_string_equal(history_of(w, "f2"),
                        "2 put in r; 2 popped by w1; 2 failed by w1 as g2; 30 put in r");
    // Due now, and behind those that came before.
    assert_string_equal(jobs(w, NOW, LIST_LINE, "q", 0, 9),
                        "6: stalled,waiting,needed,domain,f1,later");
    assert_string_equal(history_of(w, "later"), "20 put in q");
    assert_string_equal(groups(w), "");
}

static void test_bulk__a_job_that_cannot_take_more_tags_is_left_as_it_is(void **state)
{
    struct world *w = *state;
    set(w, "max-tags", "3");
    put(w, 0, "q", "one");
    put(w, 0, "q", "two");
    tag(w, 0, "one", "a");
    tag(w, 0, "two", "a,b");
    struct bulk_request request = { .act = BULK_TAG, .tags = slices_of(w, "c,d"), .dry_run = true };
    assert_int_equal(bulk(w, 1, request).changed, 1);
    request.dry_run = false;
    assert_int_equal(bulk(w, 1, request).changed, 1);
    assert_string_equal(tags_of(w, "one"), "a,c,d");
    assert_string_equal(tags_of(w, "two"), "a,b");
    assert_int_equal(bulk(w, 1, request).changed, 0);
}

static void test_bulk__with_a_tag_jobs_come_in_the_order_in_which_they_got_it(void **state)
{
    struct world *w = *state;
    put_many(w, 0, "q", 3);
    tag(w, 1, "j2", "red");
    tag(w, 1, "j0", "red");
    struct bulk_request request = { .filter = { .tag = SLICE("red") }, .act = BULK_CANCEL };
    forget_events(w);
    struct bulk_view view = bulk(w, 2, request);
    assert_int_equal(view.looked_at, 2);
    expect_events(w, "log: canceled j2 in q; log: canceled j0 in q");
    assert_string_equal(state_of(w, "j1"), "waiting");
}

static void test_bulk__taking_the_tag_away_that_it_looks_for_misses_none(void **state)
{
    struct world *w = *state;
    put_many(w, 0, "q", 2500);
    for (size_t i = 0; i < 2500; i++) {
        tag(w, 0, numbered("j", i), "red");
    }
    struct bulk_request request = { .filter = { .tag = SLICE("red") },
                                    .act = BULK_UNTAG,
                                    .tags = slices_of(w, "red") };
    uint64_t id = bulk(w, 1, request).id;
    while (tick(w, 1) == 1) {
    }
    assert_true(bulk_of(w, id).done);
    assert_int_equal(bulk_of(w, id).changed, 2500);
    assert_string_equal(tagged(w, "red", 0, 1), "0: ");
}

// ---------------------------------------------------------------------------------------------
// Memory

// All that can be seen of the jobs.
static void describe(struct world *w, struct buffer *out)
{
    buffer_clear(out);
    for (size_t i = 0; i < PEOPLE; i++) {
        const char *jid = people[i].jid;
        buffer_printf(out, "%s %s", jid, state_of(w, jid));
        if (engine_get(w->engine, name_of(jid))) {
            buffer_printf(out, " in %.*s", SLICE_PRINT(view_of(w, jid).queue));
            buffer_printf(out, " tags %s", tags_of(w, jid));
            buffer_printf(out, " was %s", history_of(w, jid));
        }
        buffer_append_char(out, '\n');
    }
    buffer_printf(out, "groups %s\n", groups(w));
    buffer_printf(out, "q %s\n", queue_of(w, NOW, "q"));
    buffer_printf(out, "r %s", queue_of(w, NOW, "r"));
    buffer_append_char(out, '\0');
}

static void without_memory(enum bulk_act act, struct buffer *wanted)
{
    bool reached = true;
    for (size_t n = 0; reached; n++) {
        struct world *w = world_new(ENGINE_CLOCK_SERVER, 1);
        populate(w);
        const struct bulk_request request = request_for(w, act, (struct job_filter){ 0 });
        uint64_t id = 0;
        w->fault.calls = 0;
        w->fault.failed = false;
        w->fault.fail_at = n;
        enum status status = engine_bulk(w->engine, us(NOW), &request, &id, &w->error);
        reached = n == 0 || w->fault.failed;
        w->fault.fail_at = 0;
        assert_int_equal(faults_of(w), 0);
        if (status) {
            assert_int_equal(status, STATUS_NO_MEMORY);
            struct bulk_view view;
            assert_false(engine_bulk_at(w->engine, 0, &view));
            for (size_t i = 0; i < PEOPLE; i++) {
                expect_unchanged(w, &people[i]);
            }
            id = bulk(w, NOW, request).id;
        }
        // The ticks get no memory at first either.
        for (size_t m = 1; m < 4 && !bulk_of(w, id).done; m++) {
            w->fault.calls = 0;
            w->fault.fail_at = m;
            (void)tick(w, NOW);
            w->fault.fail_at = 0;
            assert_int_equal(faults_of(w), 0);
        }
        while (!bulk_of(w, id).done) {
            tick(w, NOW);
        }
        struct bulk_view view = bulk_of(w, id);
        size_t changed = 0;
        for (size_t i = 0; i < PEOPLE; i++) {
            changed += is_changed(&people[i], act, &(struct job_filter){ 0 });
        }
        assert_int_equal(view.changed, changed);
        struct buffer found;
        buffer_init(&found, &allocator_system, 1 << 20);
        describe(w, n == 0 ? wanted : &found);
        if (n > 0) {
            assert_string_equal(found.data, wanted->data);
        }
        buffer_release(&found);
        reload(w);
        world_free(w);
    }
}

static void test_bulk__without_memory_each_job_is_changed_or_not_and_it_is_done_later(void **state)
{
    (void)state;
    for (enum bulk_act act = BULK_CANCEL; act < BULK_ACTS; act++) {
        struct buffer wanted;
        buffer_init(&wanted, &allocator_system, 1 << 20);
        without_memory(act, &wanted);
        buffer_release(&wanted);
    }
}

// ---------------------------------------------------------------------------------------------
// Bad input

static void test_bulk__what_cannot_be_is_refused(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "a");
    char text[256];
    memset(text, 'x', sizeof(text));
    const struct slice size_256 = slice_make(text, sizeof(text));
    const struct {
        struct bulk_request request;
        const char *sentence;
    } cases[] = {
        { { .act = BULK_ACTS }, "unknown act" },
        { { .act = BULK_MOVE }, "queue to move to must not be empty" },
        { { .act = BULK_MOVE, .to = size_256 },
          "queue to move to is 256 bytes long, and at most 255 are allowed" },
        { { .act = BULK_TAG }, "tags must be given" },
        { { .act = BULK_UNTAG }, "tags must be given" },
        { { .act = BULK_TAG, .tags = { &SLICE_EMPTY, 1 } }, "tag must not be empty" },
        { { .act = BULK_CANCEL, .filter = { .queue = size_256 } },
          "queue is 256 bytes long, and at most 255 are allowed" },
        { { .act = BULK_CANCEL, .filter = { .klass = size_256 } },
          "klass is 256 bytes long, and at most 255 are allowed" },
        { { .act = BULK_CANCEL, .filter = { .tag = size_256 } },
          "tag is 256 bytes long, and at most 255 are allowed" },
        { { .act = BULK_CANCEL, .filter = { .group = size_256 } },
          "group is 256 bytes long, and at most 255 are allowed" },
        { { .act = BULK_CANCEL, .filter = { .states = 1U << JOB_STATE_COUNT } }, "unknown state" },
        { { .act = BULK_CANCEL, .filter = { .has_older = true, .older_us = -1 } },
          "an age must not be negative" },
        { { .act = BULK_CANCEL, .filter = { .has_newer = true, .newer_us = -1 } },
          "an age must not be negative" },
    };
    for (size_t i = 0; TEST_ROW_NAMED(i, cases, cases[i].sentence); i++) {
        refused(w, STATUS_INVALID, "");
        (void)bulk(w, 0, cases[i].request);
        assert_string_equal(w->error.detail, cases[i].sentence);
    }
    set(w, "max-tags", "2");
    refused(w, STATUS_TOO_LARGE, "3 tags");
    (void)bulk(w, 0, (struct bulk_request){ .act = BULK_TAG, .tags = slices_of(w, "a,b,c") });
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bulk__delete_with_every_filter_as_the_dry_run_said),
        cmocka_unit_test(test_bulk__priority_with_every_filter_as_the_dry_run_said),
        cmocka_unit_test(test_bulk__timeout_with_every_filter_as_the_dry_run_said),
        cmocka_unit_test(test_bulk__cancel_with_every_filter_as_the_dry_run_said),
        cmocka_unit_test(test_bulk__retry_with_every_filter_as_the_dry_run_said),
        cmocka_unit_test(test_bulk__move_with_every_filter_as_the_dry_run_said),
        cmocka_unit_test(test_bulk__tag_with_every_filter_as_the_dry_run_said),
        cmocka_unit_test(test_bulk__untag_with_every_filter_as_the_dry_run_said),
        SERVER_TEST(test_bulk__a_filter_for_what_is_not_there_changes_nothing),
        SERVER_TEST(test_bulk__cancel_tells_each_as_cancel_does),
        cmocka_unit_test(test_bulk__cancel_takes_whole_chains),
        SERVER_TEST(test_bulk__cancel_leaves_what_others_depend_on),
        cmocka_unit_test(test_bulk__cancel_takes_a_long_chain_in_slices),
        SERVER_TEST(test_bulk__a_cancel_that_is_stopped_forgets_what_it_had_freed),
        SERVER_TEST(test_bulk__a_moved_job_goes_to_the_end_of_the_line_with_a_clean_record),
        SERVER_TEST(test_bulk__a_retried_job_goes_back_where_it_failed),
        SERVER_TEST(test_bulk__a_job_that_cannot_take_more_tags_is_left_as_it_is),
        SERVER_TEST(test_bulk__with_a_tag_jobs_come_in_the_order_in_which_they_got_it),
        SERVER_TEST(test_bulk__taking_the_tag_away_that_it_looks_for_misses_none),
        CLIENT_TEST(test_bulk__taking_the_tag_away_that_it_looks_for_misses_none),
        cmocka_unit_test(test_bulk__without_memory_each_job_is_changed_or_not_and_it_is_done_later),
        SERVER_TEST(test_bulk__what_cannot_be_is_refused),
    };
    return cmocka_run_group_tests_name("bulk", tests, NULL, NULL);
}
