// SPDX-License-Identifier: MIT
// The consistency check finds what is broken on purpose, and mends what can be mended.
#include "engine/check/check.h"

#include "engine/bulk/bulk.h"
#include "engine/config/policy.h"
#include "engine/dedup/promise.h"
#include "engine/dedup/unique.h"
#include "engine/job/job.h"
#include "engine/lanes/lane.h"
#include "engine/lanes/limit.h"
#include "engine/lease/lease.h"
#include "engine/lease/worker.h"
#include "engine/queue/queue.h"
#include "engine/recurring/zone.h"
#include "engine/relations/depends.h"
#include "engine/relations/tag.h"
#include "engine/state.h"

#include "engine_test.h"

// All sentences, each on a line.
struct findings {
    char all[16 * ERROR_DETAIL_SIZE];
};

static void note(void *context, const char *sentence)
{
    struct findings *findings = context;
    size_t used = strlen(findings->all);
    (void)snprintf(findings->all + used, sizeof(findings->all) - used, "%s\n", sentence);
}

// A world with something of everything.
static void prepare(struct world *w)
{
    put(w, 0, "q", "waits");
    put(w, 0, "q", "runs");
    put(w, 0, "q", "fails");
    put_depending(w, 0, "q", "depends", "waits");
    put_later(w, 0, "q", "later", 100);
    tag(w, 0, "waits", "red,blue");
    put_with(w, 0,
             (struct put_request){ .jid = SLICE("runs"), .has_priority = true, .priority = -2 });
    put_with(w, 0,
             (struct put_request){ .jid = SLICE("fails"), .has_priority = true, .priority = -1 });
    pop(w, 1, "q", "w1", 2);
    fail_job(w, 1, "w1", "fails", "group");
    assert_int_equal(engine_check(w->engine, true, NULL, NULL), 0);
}

static struct job *job_named(struct world *w, const char *jid)
{
    return map_find(&w->engine->jobs, slice_from_cstr(jid));
}

// The check says `words`; after a repair it says nothing any more.
static void expect_mended(struct world *w, const char *words)
{
    struct findings findings = { "" };
    assert_true(engine_check(w->engine, false, note, &findings) > 0);
    if (!strstr(findings.all, words)) {
        print_error("\"%s\" does not say \"%s\"\n", findings.all, words);
    }
    assert_non_null(strstr(findings.all, words));
    assert_true(engine_check(w->engine, true, NULL, NULL) > 0);
    assert_int_equal(engine_check(w->engine, false, NULL, NULL), 0);
}

// The check says `words`. What was broken is put back by the test itself.
static void expect_found(struct world *w, const char *words)
{
    struct findings findings = { "" };
    assert_true(engine_check(w->engine, false, note, &findings) > 0);
    if (!strstr(findings.all, words)) {
        print_error("\"%s\" does not say \"%s\"\n", findings.all, words);
    }
    assert_non_null(strstr(findings.all, words));
}

static void test_check__counts_of_a_job_are_mended(void **state)
{
    struct world *w = *state;
    prepare(w);
    job_named(w, "waits")->extra->tag_count++;
    expect_mended(w, "the number of tags of waits is 3 and should be 2");
    job_named(w, "waits")->extra->dependent_count = 7;
    expect_mended(w, "the number of dependents of waits is 7 and should be 1");
    job_named(w, "depends")->extra->dependency_count = 0;
    expect_mended(w, "the number of dependencies of depends is 0 and should be 1");
}

static void test_check__counts_of_a_queue_are_mended(void **state)
{
    struct world *w = *state;
    prepare(w);
    struct queue *queue = queue_find(w->engine, SLICE("q"));
    queue->jobs = 1;
    expect_mended(w, "the number of jobs of q is 1 and should be 5");
    queue->due_us++;
    expect_mended(w, "queue q does not know when it is next due");
}

static void test_check__a_job_that_is_not_found_by_its_jid_is_mended(void **state)
{
    struct world *w = *state;
    prepare(w);
    map_remove(&w->engine->jobs, SLICE("waits"));
    expect_mended(w, "job waits cannot be found by its jid");
    assert_string_equal(state_of(w, "waits"), "waiting");
}

static void test_check__a_job_that_does_not_know_that_it_is_tracked_is_mended(void **state)
{
    struct world *w = *state;
    prepare(w);
    track(w, 1, "waits");
    job_named(w, "waits")->tracked = false;
    expect_mended(w, "job waits is tracked, and does not know it");
    job_named(w, "runs")->tracked = true;
    expect_mended(w, "job runs is not tracked, and does not know it");
}

static void test_check__a_number_that_lies_ahead_is_mended(void **state)
{
    struct world *w = *state;
    prepare(w);
    w->engine->job_id = 3;
    expect_mended(w, "lies ahead");
    assert_int_equal(w->engine->job_id, 5);
}

static void test_check__a_state_that_does_not_fit_its_place_is_found(void **state)
{
    struct world *w = *state;
    prepare(w);
    job_named(w, "later")->state = JOB_WAITING;
    expect_found(w, "job later is waiting, but not where such jobs of queue q are");
    job_named(w, "later")->state = JOB_SCHEDULED;

    struct job *waits = job_named(w, "waits");
    int64_t updated_us = waits->updated_us;
    waits->state = JOB_RUNNING;
    waits->held = NULL;
    expect_found(w, "job waits is running without a lease");
    waits->state = JOB_WAITING;
    waits->updated_us = updated_us;
}

static void test_check__a_lease_that_its_worker_does_not_know_is_found(void **state)
{
    struct world *w = *state;
    prepare(w);
    struct lease *lease = job_lease(job_named(w, "runs"));
    struct index *leases = &lease->worker->leases;
    index_remove(leases, &lease->node);
    expect_found(w, "job runs is not among the leases of its worker w1");
    assert_int_equal(index_reserve(leases, 1), STATUS_OK);
    index_insert(leases, &lease->node);
    index_pool_settle(&w->engine->pool);
}

static void test_check__a_tag_that_does_not_know_its_job_is_found(void **state)
{
    struct world *w = *state;
    prepare(w);
    struct tagging *tagging = job_named(w, "waits")->extra->tags;
    index_remove(&tagging->tag->taggings, &tagging->node);
    expect_found(w, "job waits is not among the jobs of its tag red");
    assert_int_equal(index_reserve(&tagging->tag->taggings, 1), STATUS_OK);
    index_insert(&tagging->tag->taggings, &tagging->node);
    index_pool_settle(&w->engine->pool);
}

static void test_check__a_key_changed_in_place_is_found(void **state)
{
    struct world *w = *state;
    prepare(w);
    struct job *job = job_named(w, "waits");
    struct index_key key = job->node.key;
    job->node.key.low++;
    expect_found(w, "the index of the line of q is broken");
    job->node.key = key;
}

static void test_check__a_dependency_that_is_complete_is_found(void **state)
{
    struct world *w = *state;
    prepare(w);
    struct job *job = job_named(w, "waits");
    job->state = JOB_COMPLETE;
    expect_found(w, "complete");
    job->state = JOB_WAITING;
}

// A lane with one job that runs and two that wait, and a job that holds a lock.
static struct lane *prepare_lane(struct world *w)
{
    const struct limit limit = { .has_rate = true,
                                 .rate_count = 1,
                                 .rate_period_us = us(10),
                                 .burst = 2,
                                 .has_concurrency = true,
                                 .concurrency = 2 };
    said(w, engine_limit_set(w->engine, 0, SLICE("lanes"), SLICE("acme"), &limit, &w->error));
    const char *const jids[] = { "a", "b", "c" };
    for (size_t i = 0; i < 3; i++) {
        put_with(
            w, 0,
            (struct put_request){ .queue = SLICE("lanes"),
                                  .jid = name_of(jids[i]),
                                  .has_domain = true,
                                  .domain = SLICE("acme"),
                                  .unique = { .by = UNIQUE_BY_KEY, .key = name_of(jids[i]) } });
    }
    pop(w, 0, "lanes", "w1", 1);
    assert_int_equal(engine_check(w->engine, true, NULL, NULL), 0);
    return job_lease(job_named(w, "a"))->lane;
}

static void test_check__the_leases_of_a_lane_are_mended(void **state)
{
    struct world *w = *state;
    struct lane *lane = prepare_lane(w);
    lane->running = 7;
    expect_mended(w, "the number of leases of a lane of lanes is 7 and should be 1");
    struct lane *plain = &queue_find(w->engine, SLICE("lanes"))->plain;
    plain->running = 1;
    expect_mended(w, "the number of leases of a lane of lanes is 1 and should be 0");
    assert_string_equal(pop(w, 1, "lanes", "w1", 9), "b");
}

static void test_check__a_lane_in_the_wrong_place_is_found(void **state)
{
    struct world *w = *state;
    struct lane *lane = prepare_lane(w);
    const char *words = "a lane of queue lanes is not where it belongs";
    assert_int_equal(lane->place, LANE_READY);
    struct index *ready = &lane->queue->lanes[LANE_READY];
    struct index_key key = lane->node.key;
    index_remove(ready, &lane->node);
    lane->place = LANE_NOWHERE;
    expect_found(w, words);
    // Under a key that does not follow from its first job.
    assert_int_equal(index_reserve(ready, 1), STATUS_OK);
    lane->place = LANE_READY;
    lane->node.key.low++;
    index_insert(ready, &lane->node);
    index_pool_settle(&w->engine->pool);
    expect_found(w, words);
    index_remove(ready, &lane->node);
    assert_int_equal(index_reserve(ready, 1), STATUS_OK);
    lane->node.key = key;
    index_insert(ready, &lane->node);
    index_pool_settle(&w->engine->pool);
}

static void test_check__a_job_that_is_not_in_the_line_of_its_lane_is_found(void **state)
{
    struct world *w = *state;
    struct lane *lane = prepare_lane(w);
    struct job *job = job_named(w, "c");
    index_remove(&lane->line, &job->node);
    expect_found(w, "job c is not in the line of its lane");
    assert_int_equal(index_reserve(&lane->line, 1), STATUS_OK);
    index_insert(&lane->line, &job->node);
    index_pool_settle(&w->engine->pool);
}

static void test_check__counts_by_state_and_priority_are_mended(void **state)
{
    struct world *w = *state;
    prepare(w);
    struct queue *queue = queue_find(w->engine, SLICE("q"));
    queue->tallies.counts[JOB_WAITING] += 3;
    expect_mended(w, "4 jobs of q that are waiting are counted, 1 by priority, and there are 1");
    w->engine->tallies.counts[JOB_FAILED] = 0;
    expect_mended(w, "0 jobs of the engine that are failed are counted, 1 by priority, and there "
                     "are 1");
    tally_of_node(index_first(&queue->tallies.by_priority))->counts[JOB_RUNNING] = 9;
    expect_mended(w, "1 jobs of q that are running are counted, 9 by priority, and there are 1");
    tally_of_node(index_first(&w->engine->tallies.by_priority))->counts[JOB_RUNNING] = 0;
    expect_mended(w, "1 jobs of the engine that are running are counted, 0 by priority");
    assert_int_equal(queue->tallies.counts[JOB_WAITING], 1);
    assert_int_equal(cancel(w, 2, "runs,fails,later,depends,waits"), 5);
}

static void test_check__a_lock_that_is_not_among_those_held_is_found(void **state)
{
    struct world *w = *state;
    prepare_lane(w);
    struct unique *unique = job_rare(job_named(w, "b"))->unique;
    map_remove(&w->engine->uniques, unique_key(unique));
    expect_found(w, "the lock of job b is not among those that are held");
    expect_found(w, "2 locks are held, and 3 jobs hold one");
    assert_int_equal(map_insert(&w->engine->uniques, unique), STATUS_OK);
}

static void test_check__the_count_of_failed_members_is_mended(void **state)
{
    struct world *w = *state;
    prepare(w);
    job_named(w, "depends")->extra->members_failed = 5;
    expect_mended(w, "the number of failed members of depends is 5 and should be 0");
    pop(w, 2, "q", "w1", 1);
    fail_job(w, 2, "w1", "waits", "group");
    assert_int_equal(view_of(w, "depends").members_failed, 1);
    job_named(w, "depends")->extra->members_failed = 0;
    expect_mended(w, "the number of failed members of depends is 0 and should be 1");
}

static struct job *prepare_promises(struct world *w)
{
    const struct job_options keeps = { .result_ttl_us = us(100) };
    put_with(w, 0, (struct put_request){ .jid = SLICE("kept"), .options = &keeps });
    put_with(w, 0,
             (struct put_request){ .jid = SLICE("locked"),
                                   .unique = { .by = UNIQUE_BY_KEY,
                                               .key = SLICE("k"),
                                               .until = UNIQUE_FOR_TIME,
                                               .for_us = us(100) } });
    assert_int_equal(engine_check(w->engine, true, NULL, NULL), 0);
    return job_named(w, "locked");
}

static void test_check__a_promise_that_is_not_in_the_order_is_found(void **state)
{
    struct world *w = *state;
    struct promise *promise = job_rare(prepare_promises(w))->unique->promise;
    struct index *order = &w->engine->promise_order;
    index_remove(order, &promise->node);
    expect_found(w, "more promises belong to jobs than are in the order of promises");
    assert_int_equal(index_reserve(order, 1), STATUS_OK);
    index_insert(order, &promise->node);
    index_pool_settle(&w->engine->pool);
    map_remove(&w->engine->promises, promise_key(promise));
    expect_found(w, "what was promised about job locked is not where it belongs");
    assert_int_equal(map_insert(&w->engine->promises, promise), STATUS_OK);
}

static void test_check__bytes_are_mended(void **state)
{
    struct world *w = *state;
    (void)prepare_promises(w);
    w->engine->promise_bytes += 5;
    expect_mended(w, "the bytes of the promises of the engine is");
    w->engine->bytes += 5;
    expect_mended(w, "the bytes of the jobs of the engine is");
}

static void test_check__a_lane_without_its_record_is_mended(void **state)
{
    struct world *w = *state;
    struct lane *lane = prepare_lane(w);
    assert_true(lane->id != 0);
    index_remove(&w->engine->lanes_saved, &lane->saved);
    expect_mended(w, "a lane of queue lanes is not among the lanes with a record");
    assert_int_equal(w->engine->lanes_saved.count, 1);
    uint64_t id = lane->id;
    lane->id = 0;
    expect_found(w, "1 lanes have a record, and there should be 0");
    lane->id = id;
}

// A limit of each kind, a policy, a zone and a bulk operation.
static void prepare_settings(struct world *w)
{
    const struct limit limit = { .has_concurrency = true, .concurrency = 2 };
    const char *const domains[] = { "acme", "b*", "a*c", "" };
    for (size_t i = 0; i < 4; i++) {
        said(w, engine_limit_set(w->engine, 0, SLICE("q"), name_of(domains[i]), &limit, &w->error));
    }
    const struct job_options options = { .result_ttl_us = us(100) };
    said(w, engine_policy_set(w->engine, 0, POLICY_KLASS, SLICE("Send"), &options, &w->error));
    const struct zone_transition at = { us(10), 3600 };
    const struct zone_rules rules = { 0, &at, 1 };
    said(w, engine_zone_set(w->engine, 0, SLICE("Europe/Berlin"), &rules, &w->error));
    uint64_t id;
    const struct bulk_request request = { .act = BULK_RETRY };
    said(w, engine_bulk(w->engine, 0, &request, &id, &w->error));
    assert_int_equal(engine_check(w->engine, true, NULL, NULL), 0);
}

static void test_check__settings_that_are_not_found_by_name_are_mended(void **state)
{
    struct world *w = *state;
    prepare_settings(w);
    struct engine *engine = w->engine;
    struct limit_entry *limit = limit_of_node(index_first(&engine->limit_order));
    map_remove(&engine->limits, limit_key(limit));
    expect_mended(w, "the limit acme cannot be found by its name");
    struct policy *policy = policy_of_node(index_first(&engine->policy_order));
    map_remove(&engine->policies, policy_key(policy));
    expect_mended(w, "the policy Send cannot be found by its name");
    struct zone *zone = zone_of_node(index_first(&engine->zone_order));
    map_remove(&engine->zones, zone_key(zone));
    expect_mended(w, "the zone Europe/Berlin cannot be found by its name");
}

static void test_check__settings_that_are_not_in_the_order_are_found(void **state)
{
    struct world *w = *state;
    prepare_settings(w);
    struct engine *engine = w->engine;
    struct {
        struct index *order;
        const char *words;
    } rows[] = {
        { &engine->limit_order, "4 limits can be found by name, and there are 3" },
        { &engine->policy_order, "1 policies can be found by name, and there are 0" },
        { &engine->zone_order, "1 zones can be found by name, and there are 0" },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct index_node *node = index_first(rows[i].order);
        index_remove(rows[i].order, node);
        expect_found(w, rows[i].words);
        assert_int_equal(index_reserve(rows[i].order, 1), STATUS_OK);
        index_insert(rows[i].order, node);
        index_pool_settle(&engine->pool);
    }
}

static void test_check__numbers_of_settings_are_found(void **state)
{
    struct world *w = *state;
    prepare_settings(w);
    struct engine *engine = w->engine;
    uint64_t sequence = engine->sequence;
    engine->sequence = 0;
    expect_mended(w, "the number of the limit acme lies ahead");
    assert_true(engine->sequence >= 7);
    engine->sequence = sequence;
    limit_of_node(index_first(&engine->limit_order))->id = 0;
    expect_found(w, "the limit acme is under the number 1 and has 0");
    limit_of_node(index_first(&engine->limit_order))->id = 1;
    zone_of_node(index_first(&engine->zone_order))->id--;
    expect_found(w, "the zone Europe/Berlin is under the number");
    zone_of_node(index_first(&engine->zone_order))->id++;
}

static void test_check__the_list_of_patterns_is_checked(void **state)
{
    struct world *w = *state;
    prepare_settings(w);
    struct engine *engine = w->engine;
    engine->pattern_count = 9;
    expect_mended(w, "the number of patterns of the engine is 9 and should be 2");
    struct limit_entry *first = engine->patterns;
    engine->patterns = first->next_pattern;
    expect_found(w, "1 limits are among the patterns, and 2 have one");
    engine->patterns = first;
    struct glob *pattern = first->pattern;
    first->pattern = NULL;
    expect_found(w, "is among the patterns and should not be");
    first->pattern = pattern;
}

static void test_check__the_progress_of_a_bulk_operation_is_checked(void **state)
{
    struct world *w = *state;
    prepare_settings(w);
    struct bulk *bulk = bulk_of_node(index_first(&w->engine->bulks));
    bulk->view.changed = bulk->view.matched + 1;
    expect_found(w, "the progress of bulk operation 7 contradicts itself");
    bulk->view.changed = 0;
}

static void test_check__a_zone_with_borrowed_transitions_is_found(void **state)
{
    struct world *w = *state;
    prepare_settings(w);
    struct zone *zone = zone_of_node(index_first(&w->engine->zone_order));
    const struct zone_transition other = { 0 };
    zone->rules.transitions = &other;
    expect_found(w, "the zone Europe/Berlin does not have its own transitions");
    zone->rules.transitions = zone->transitions;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SERVER_TEST(test_check__counts_of_a_job_are_mended),
        SERVER_TEST(test_check__counts_of_a_queue_are_mended),
        SERVER_TEST(test_check__a_job_that_is_not_found_by_its_jid_is_mended),
        SERVER_TEST(test_check__a_job_that_does_not_know_that_it_is_tracked_is_mended),
        SERVER_TEST(test_check__a_number_that_lies_ahead_is_mended),
        SERVER_TEST(test_check__a_state_that_does_not_fit_its_place_is_found),
        SERVER_TEST(test_check__a_lease_that_its_worker_does_not_know_is_found),
        SERVER_TEST(test_check__a_tag_that_does_not_know_its_job_is_found),
        SERVER_TEST(test_check__a_key_changed_in_place_is_found),
        SERVER_TEST(test_check__a_dependency_that_is_complete_is_found),
        SERVER_TEST(test_check__the_leases_of_a_lane_are_mended),
        SERVER_TEST(test_check__a_lane_in_the_wrong_place_is_found),
        SERVER_TEST(test_check__a_job_that_is_not_in_the_line_of_its_lane_is_found),
        SERVER_TEST(test_check__counts_by_state_and_priority_are_mended),
        SERVER_TEST(test_check__a_lock_that_is_not_among_those_held_is_found),
        SERVER_TEST(test_check__the_count_of_failed_members_is_mended),
        SERVER_TEST(test_check__a_promise_that_is_not_in_the_order_is_found),
        SERVER_TEST(test_check__bytes_are_mended),
        SERVER_TEST(test_check__a_lane_without_its_record_is_mended),
        SERVER_TEST(test_check__settings_that_are_not_found_by_name_are_mended),
        SERVER_TEST(test_check__settings_that_are_not_in_the_order_are_found),
        SERVER_TEST(test_check__numbers_of_settings_are_found),
        SERVER_TEST(test_check__the_list_of_patterns_is_checked),
        SERVER_TEST(test_check__the_progress_of_a_bulk_operation_is_checked),
        SERVER_TEST(test_check__a_zone_with_borrowed_transitions_is_found),
    };
    return cmocka_run_group_tests_name("check", tests, NULL, NULL);
}
