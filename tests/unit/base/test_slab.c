// SPDX-License-Identifier: MIT
#include "base/slab.h"

#include "fault_alloc.h"
#include "random.h"
#include "test.h"

#include <string.h>

enum {
    MANY = 5000,
};

static void test_slab__objects_do_not_overlap_and_keep_what_was_written(void **state)
{
    (void)state;
    static const size_t sizes[] = { 1, 8, 24, 100, 1552, 5000 };
    for (size_t s = 0; TEST_ROW(s, sizes); s++) {
        struct fault_alloc fault;
        fault_alloc_init(&fault);
        struct slab slab;
        slab_init(&slab, &fault.allocator, sizes[s]);
        unsigned char *objects[MANY];
        for (size_t i = 0; i < MANY; i++) {
            objects[i] = slab_take(&slab);
            assert_non_null(objects[i]);
            assert_int_equal((uintptr_t)objects[i] % 8, 0);
            memset(objects[i], (int)(i % 251), sizes[s]);
        }
        for (size_t i = 0; i < MANY; i++) {
            assert_int_equal(objects[i][0], i % 251);
            assert_int_equal(objects[i][sizes[s] - 1], i % 251);
            slab_give(&slab, objects[i]);
        }
        slab_release(&slab);
        fault_alloc_release(&fault);
    }
}

static void test_slab__memory_goes_back_when_objects_do(void **state)
{
    (void)state;
    struct fault_alloc fault;
    fault_alloc_init(&fault);
    struct slab slab;
    slab_init(&slab, &fault.allocator, 200);
    void *objects[MANY];
    for (size_t i = 0; i < MANY; i++) {
        objects[i] = slab_take(&slab);
    }
    size_t bytes_full = fault.bytes;
    assert_int_equal(slab_memory(&slab), fault.bytes);
    assert_true(bytes_full < MANY * 200 * 5 / 4);
    for (size_t i = 0; i < MANY; i++) {
        slab_give(&slab, objects[i]);
    }
    assert_true(fault.blocks <= 2);
    assert_true(fault.bytes < bytes_full / 4);
    slab_release(&slab);
    fault_alloc_release(&fault);
}

static void test_slab__hovering_at_the_edge_of_a_block_allocates_once(void **state)
{
    (void)state;
    struct fault_alloc fault;
    fault_alloc_init(&fault);
    struct slab slab;
    slab_init(&slab, &fault.allocator, 64);
    void *first = slab_take(&slab);
    void *objects[MANY];
    size_t taken = 0;
    while (slab.live < slab.capacity) {
        objects[taken++] = slab_take(&slab);
    }
    for (int round = 0; round < 1000; round++) {
        void *over = slab_take(&slab);
        slab_give(&slab, over);
    }
    assert_int_equal(fault.calls, 2);
    while (taken > 0) {
        slab_give(&slab, objects[--taken]);
    }
    slab_give(&slab, first);
    slab_release(&slab);
    fault_alloc_release(&fault);
}

static void test_slab__promised_objects_need_no_further_memory(void **state)
{
    (void)state;
    struct fault_alloc fault;
    fault_alloc_init(&fault);
    struct slab slab;
    slab_init(&slab, &fault.allocator, 64);
    assert_int_equal(slab_promise(&slab, 1000), STATUS_OK);
    assert_int_equal(slab_promise(&slab, 1000), STATUS_OK);
    size_t calls = fault.calls;
    void *objects[2000];
    for (size_t i = 0; i < 2000; i++) {
        objects[i] = slab_take(&slab);
    }
    assert_int_equal(fault.calls, calls);
    for (size_t i = 0; i < 2000; i++) {
        slab_give(&slab, objects[i]);
    }
    slab_release(&slab);
    fault_alloc_release(&fault);
}

static void test_slab__giving_back_frees_nothing_that_is_promised(void **state)
{
    (void)state;
    struct fault_alloc fault;
    fault_alloc_init(&fault);
    struct slab slab;
    slab_init(&slab, &fault.allocator, 64);
    void *objects[MANY];
    for (size_t i = 0; i < MANY; i++) {
        objects[i] = slab_take(&slab);
    }
    assert_int_equal(slab_promise(&slab, MANY), STATUS_OK);
    for (size_t i = 0; i < MANY; i++) {
        slab_give(&slab, objects[i]);
    }
    size_t calls = fault.calls;
    for (size_t i = 0; i < MANY; i++) {
        objects[i] = slab_take(&slab);
    }
    assert_int_equal(fault.calls, calls);
    slab_settle(&slab);
    for (size_t i = 0; i < MANY; i++) {
        slab_give(&slab, objects[i]);
    }
    slab_release(&slab);
    fault_alloc_release(&fault);
}

static void test_slab__random_takes_and_gives_stay_apart(void **state)
{
    (void)state;
    struct random random;
    random_init(&random);
    struct fault_alloc fault;
    fault_alloc_init(&fault);
    struct slab slab;
    slab_init(&slab, &fault.allocator, sizeof(uint64_t));
    uint64_t *objects[MANY] = { 0 };
    for (int step = 0; step < 200000; step++) {
        size_t i = random_below(&random, MANY);
        if (objects[i]) {
            assert_int_equal(*objects[i], i);
            slab_give(&slab, objects[i]);
            objects[i] = NULL;
        } else {
            objects[i] = slab_take(&slab);
            *objects[i] = i;
        }
    }
    for (size_t i = 0; i < MANY; i++) {
        if (objects[i]) {
            slab_give(&slab, objects[i]);
        }
    }
    slab_release(&slab);
    fault_alloc_release(&fault);
}

// The first thousand are promised; all others may fail.
static enum status take_many(const struct allocator *allocator)
{
    struct slab slab;
    slab_init(&slab, allocator, 64);
    void *objects[MANY];
    size_t count = 0;
    enum status status = slab_promise(&slab, 1000);
    while (!status && count < MANY) {
        objects[count] = slab_take(&slab);
        if (objects[count]) {
            count++;
        } else {
            assert_true(count >= 1000);
            status = STATUS_NO_MEMORY;
        }
    }
    assert_int_equal(slab.live, count);
    while (count > 0) {
        slab_give(&slab, objects[--count]);
    }
    slab_release(&slab);
    return status;
}

static void test_slab__a_failed_allocation_changes_nothing(void **state)
{
    (void)state;
    struct fault_alloc fault;
    FAULT_ALLOC_EACH(&fault)
    {
        enum status status = take_many(&fault.allocator);
        FAULT_ALLOC_EXPECT(&fault, status);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slab__objects_do_not_overlap_and_keep_what_was_written),
        cmocka_unit_test(test_slab__memory_goes_back_when_objects_do),
        cmocka_unit_test(test_slab__hovering_at_the_edge_of_a_block_allocates_once),
        cmocka_unit_test(test_slab__promised_objects_need_no_further_memory),
        cmocka_unit_test(test_slab__giving_back_frees_nothing_that_is_promised),
        cmocka_unit_test(test_slab__random_takes_and_gives_stay_apart),
        cmocka_unit_test(test_slab__a_failed_allocation_changes_nothing),
    };
    return cmocka_run_group_tests_name("slab", tests, NULL, NULL);
}
