// SPDX-License-Identifier: MIT
#include "cli/work/work.h"

#include "test.h"

// A runner of a pool whose process has ended, with one slot; another process may be started from 5
// on.
struct pool {
    struct work_options options;
    struct work work;
    struct work_runner runner;
    struct work_slot slot;
};

static struct work_runner *without_process(struct pool *pool, enum work_slot_state state)
{
    *pool = (struct pool){ .work = { .model = &work_pool_model } };
    pool->work.options = &pool->options;
    pool->runner = (struct work_runner){
        .work = &pool->work, .slots = &pool->slot, .slot_count = 1, .rest_until = 5
    };
    pool->slot = (struct work_slot){ .work = &pool->work, .runner = &pool->runner, .state = state };
    return &pool->runner;
}

static void test_due__a_runner_without_a_process_is_when_one_is_started(void **state)
{
    (void)state;
    struct pool pool;
    assert_true(work_runner_due(without_process(&pool, WORK_SLOT_FREE)) == 5);
    assert_true(work_runner_due(without_process(&pool, WORK_SLOT_RESTING)) == 5);
    assert_true(work_runner_due(without_process(&pool, WORK_SLOT_RUNNING)) == 5);
}

static void test_due__a_runner_that_gets_no_process_is_not(void **state)
{
    (void)state;
    struct pool pool;
    (void)without_process(&pool, WORK_SLOT_FREE);
    pool.work.draining = true;
    assert_true(work_runner_due(&pool.runner) == 0);
    (void)without_process(&pool, WORK_SLOT_RESTING);
    pool.work.closing = true;
    assert_true(work_runner_due(&pool.runner) == 0);
}

static void test_due__a_job_that_is_with_no_process_cannot_run_too_long(void **state)
{
    (void)state;
    struct pool pool;
    (void)without_process(&pool, WORK_SLOT_RUNNING);
    pool.options.run_timeout = 2;
    assert_true(work_slot_due(&pool.slot) == 0);
    pool.slot.began = 1;
    assert_true(work_slot_due(&pool.slot) == 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_due__a_runner_without_a_process_is_when_one_is_started),
        cmocka_unit_test(test_due__a_runner_that_gets_no_process_is_not),
        cmocka_unit_test(test_due__a_job_that_is_with_no_process_cannot_run_too_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
