// SPDX-License-Identifier: MIT
#include "base/alloc.h"

#include "fault_alloc.h"
#include "test.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static void test_alloc__the_systems_blocks_keep_their_bytes_when_resized(void **state)
{
    (void)state;
    const struct allocator *allocator = &allocator_system;
    char *block = mem_alloc(allocator, 5);
    assert_non_null(block);
    memset(block, 'q', 5);
    block = mem_resize(allocator, block, 5, 100000);
    assert_non_null(block);
    assert_memory_equal(block, "qqqqq", 5);
    block = mem_resize(allocator, block, 100000, 2);
    assert_non_null(block);
    assert_memory_equal(block, "qq", 2);
    mem_free(allocator, block, 2);
}

static void test_alloc__the_systems_blocks_are_aligned_for_anything(void **state)
{
    (void)state;
    for (size_t size = 1; size < 200; size++) {
        void *block = mem_alloc(&allocator_system, size);
        assert_non_null(block);
        // A block smaller than the alignment cannot hold what needs it.
        if (size >= _Alignof(max_align_t)) {
            assert_int_equal((uintptr_t)block % _Alignof(max_align_t), 0);
        }
        mem_free(&allocator_system, block, size);
    }
}

static void test_alloc__resizing_to_nothing_frees(void **state)
{
    (void)state;
    void *block = mem_alloc(&allocator_system, 10);
    assert_non_null(block);
    assert_null(mem_resize(&allocator_system, block, 10, 0));
}

static void test_alloc__zalloc_clears_every_byte(void **state)
{
    (void)state;
    struct fault_alloc fault;
    fault_alloc_init(&fault);
    // This allocator hands out spoiled bytes, so a zero is one that was written.
    static const size_t sizes[] = { 1, 7, 64, 4097 };
    for (size_t i = 0; TEST_ROW(i, sizes); i++) {
        unsigned char *block = mem_zalloc(&fault.allocator, sizes[i]);
        assert_non_null(block);
        for (size_t j = 0; j < sizes[i]; j++) {
            assert_int_equal(block[j], 0);
        }
        mem_free(&fault.allocator, block, sizes[i]);
    }
    fault_alloc_release(&fault);
}

static void test_alloc__without_memory_the_answer_is_null_and_the_old_block_stays(void **state)
{
    (void)state;
    struct fault_alloc fault;
    fault_alloc_init(&fault);
    fault.fail_at = 2;
    char *block = mem_alloc(&fault.allocator, 3);
    assert_non_null(block);
    memset(block, 'q', 3);
    assert_null(mem_resize(&fault.allocator, block, 3, 1000));
    assert_memory_equal(block, "qqq", 3);
    mem_free(&fault.allocator, block, 3);
    fault_alloc_release(&fault);

    fault_alloc_init(&fault);
    fault.fail_at = 1;
    assert_null(mem_zalloc(&fault.allocator, 10));
    fault_alloc_release(&fault);
}

static void test_alloc__a_shrinking_block_never_fails(void **state)
{
    (void)state;
    struct fault_alloc fault;
    fault_alloc_init(&fault);
    void *block = mem_alloc(&fault.allocator, 100);
    assert_non_null(block);
    fault.fail_at = fault.calls + 1;
    for (size_t size = 100; size > 1; size--) {
        block = mem_resize(&fault.allocator, block, size, size - 1);
        assert_non_null(block);
    }
    block = mem_resize(&fault.allocator, block, 1, 1);
    assert_non_null(block);
    mem_free(&fault.allocator, block, 1);
    fault_alloc_release(&fault);
}

static void test_alloc__freeing_nothing_does_nothing(void **state)
{
    (void)state;
    struct fault_alloc fault;
    fault_alloc_init(&fault);
    mem_free(&fault.allocator, NULL, 0);
    mem_free(&allocator_system, NULL, 0);
    assert_int_equal(fault.calls, 0);
    fault_alloc_release(&fault);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_alloc__the_systems_blocks_keep_their_bytes_when_resized),
        cmocka_unit_test(test_alloc__the_systems_blocks_are_aligned_for_anything),
        cmocka_unit_test(test_alloc__resizing_to_nothing_frees),
        cmocka_unit_test(test_alloc__zalloc_clears_every_byte),
        cmocka_unit_test(test_alloc__without_memory_the_answer_is_null_and_the_old_block_stays),
        cmocka_unit_test(test_alloc__a_shrinking_block_never_fails),
        cmocka_unit_test(test_alloc__freeing_nothing_does_nothing),
    };
    return cmocka_run_group_tests_name("alloc", tests, NULL, NULL);
}
