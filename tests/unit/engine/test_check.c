// SPDX-License-Identifier: MIT
// The consistency check finds what is broken on purpose, and mends what can be mended.
#include "engine/check.h"

#include "engine/depends.h"
#include "engine/job.h"
#include "engine/lease.h"
#include "engine/queue.h"
#include "engine/state.h"
#include "engine/tag.h"
#include "engine/worker.h"

#include "engine_test.h"

struct findings {
    char first[ERROR_DETAIL_SIZE];
};

static void note(void *context, const char *sentence)
{
    struct findings *findings = context;
    if (!findings->first[0]) {
        (void)snprintf(findings->first, sizeof(findings->first), "%s", sentence);
    }
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
    if (!strstr(findings.first, words)) {
        print_error("\"%s\" does not say \"%s\"\n", findings.first, words);
    }
    assert_non_null(strstr(findings.first, words));
    assert_true(engine_check(w->engine, true, NULL, NULL) > 0);
    assert_int_equal(engine_check(w->engine, false, NULL, NULL), 0);
}

// The check says `words`. What was broken is put back by the test itself.
static void expect_found(struct world *w, const char *words)
{
    struct findings findings = { "" };
    assert_true(engine_check(w->engine, false, note, &findings) > 0);
    if (!strstr(findings.first, words)) {
        print_error("\"%s\" does not say \"%s\"\n", findings.first, words);
    }
    assert_non_null(strstr(findings.first, words));
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
    queue->listeners++;
    expect_mended(w, "the number of listeners of q is 2 and should be 1");
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

    job_named(w, "waits")->state = JOB_RUNNING;
    expect_found(w, "job waits is running without a lease");
    job_named(w, "waits")->state = JOB_WAITING;
}

static void test_check__a_lease_that_its_worker_does_not_know_is_found(void **state)
{
    struct world *w = *state;
    prepare(w);
    struct lease *lease = job_named(w, "runs")->lease;
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
    };
    return cmocka_run_group_tests_name("check", tests, NULL, NULL);
}
