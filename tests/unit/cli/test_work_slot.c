// SPDX-License-Identifier: MIT
#include "cli/work.h"

#include "test.h"

// A slot of a pool whose process has ended; another may be started from 5 on.
struct pool {
    struct work_options options;
    struct work work;
    struct work_slot slot;
};

static struct work_slot *without_process(struct pool *pool, enum work_slot_state state)
{
    *pool = (struct pool){ .work = { .model = &work_pool_model } };
    pool->work.options = &pool->options;
    pool->slot = (struct work_slot){ .work = &pool->work, .state = state, .rest_until = 5 };
    return &pool->slot;
}

static bool is_due(const struct work_slot *slot)
{
    return work_slot_due(slot) > 0;
}

static void test_due__a_slot_without_a_process_is_when_one_is_started(void **state)
{
    (void)state;
    struct pool pool;
    assert_true(is_due(without_process(&pool, WORK_SLOT_FREE)));
    assert_true(is_due(without_process(&pool, WORK_SLOT_RESTING)));
    assert_true(is_due(without_process(&pool, WORK_SLOT_RUNNING)));
}

static void test_due__a_slot_that_gets_no_process_is_not(void **state)
{
    (void)state;
    struct pool pool;
    assert_false(is_due(without_process(&pool, WORK_SLOT_SETTLING)));
    (void)without_process(&pool, WORK_SLOT_FREE);
    pool.work.draining = true;
    assert_false(is_due(&pool.slot));
    (void)without_process(&pool, WORK_SLOT_RESTING);
    pool.work.closing = true;
    assert_false(is_due(&pool.slot));
}

static void test_due__a_job_that_is_with_no_process_cannot_run_too_long(void **state)
{
    (void)state;
    struct pool pool;
    struct work_slot *slot = without_process(&pool, WORK_SLOT_RUNNING);
    pool.options.run_timeout = 2;
    assert_true(work_slot_due(slot) == 5);
    slot->began = 1;
    assert_true(work_slot_due(slot) == 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_due__a_slot_without_a_process_is_when_one_is_started),
        cmocka_unit_test(test_due__a_slot_that_gets_no_process_is_not),
        cmocka_unit_test(test_due__a_job_that_is_with_no_process_cannot_run_too_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
