// SPDX-License-Identifier: MIT
#include "host/memory.h"

#include "base/alloc.h"

#include "test.h"

#include <string.h>
#include <unistd.h>

#define MIB ((size_t)1 << 20)

// Memory that is in use, as jobs are.
static char *use(size_t size)
{
    char *block = mem_alloc(&allocator_system, size);
    assert_non_null(block);
    memset(block, 1, size);
    return block;
}

static void test_memory__is_full_at_its_limit_and_not_when_some_was_freed(void **state)
{
    (void)state;
    struct memory memory;
    struct error error;
    memory_init(&memory, 0);
    memory_set_limit(&memory, memory_live(&memory) + 32 * MIB);
    assert_false(memory_is_full(&memory));
    assert_int_equal(memory_check(&memory, "max-memory", &error), STATUS_OK);

    char *block = use(40 * MIB);
    assert_true(memory_is_full(&memory)); // without another look
    assert_int_equal(memory_check(&memory, "max-memory", &error), STATUS_NO_MEMORY);
    assert_non_null(strstr(error.detail, "raise max-memory"));

    mem_free(&allocator_system, block, 40 * MIB);
    memory_look(&memory);
    assert_false(memory_is_full(&memory));
    memory_release(&memory);
}

static void test_memory__what_is_allocated_is_counted_between_two_looks(void **state)
{
    (void)state;
    struct memory memory;
    memory_init(&memory, 0);
    uint64_t live = memory_live(&memory), resident = memory_resident(&memory);
    assert_false(memory_is_due(&memory));
    char *block = use(16 * MIB);
    assert_true(memory_live(&memory) >= live + 16 * MIB);
    assert_true(memory_live(&memory) < live + 17 * MIB);
    assert_true(memory_resident(&memory) >= resident + 16 * MIB);
    assert_true(memory_is_due(&memory));
    memory_look(&memory);
    assert_false(memory_is_due(&memory));
    mem_free(&allocator_system, block, 16 * MIB);
    assert_true(memory_live(&memory) < live + MIB);
    memory_release(&memory);
}

static void test_memory__without_a_limit_it_is_never_full(void **state)
{
    (void)state;
    struct memory memory;
    memory_init(&memory, 0);
    char *block = use(64 * MIB);
    assert_false(memory_is_full(&memory));
    mem_free(&allocator_system, block, 64 * MIB);
    memory_release(&memory);
}

static void
test_memory__after_the_reserve_was_used_it_is_full_until_there_is_one_again(void **state)
{
    (void)state;
    struct memory memory;
    struct error error;
    memory_init(&memory, 0);
    assert_true(memory_free_reserve(&memory));
    assert_false(memory_free_reserve(&memory));
    assert_true(memory_is_full(&memory));
    assert_true(memory_is_due(&memory));
    assert_int_equal(memory_check(&memory, "max-memory", &error), STATUS_NO_MEMORY);
    assert_non_null(strstr(error.detail, "the system gives no more"));
    memory_look(&memory);
    assert_false(memory_is_full(&memory));
    assert_true(memory_free_reserve(&memory));
    memory_release(&memory);
}

static void test_memory__the_default_limit_is_a_part_of_the_machine(void **state)
{
    (void)state;
    uint64_t machine = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t limit = memory_default_limit();
    assert_true(limit > 0);
    assert_true(limit <= machine / 100 * 80);
    struct memory memory;
    memory_init(&memory, MEMORY_AUTO);
    assert_int_equal(memory.limit, limit);
    memory_release(&memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory__is_full_at_its_limit_and_not_when_some_was_freed),
        cmocka_unit_test(test_memory__what_is_allocated_is_counted_between_two_looks),
        cmocka_unit_test(test_memory__without_a_limit_it_is_never_full),
        cmocka_unit_test(
            test_memory__after_the_reserve_was_used_it_is_full_until_there_is_one_again),
        cmocka_unit_test(test_memory__the_default_limit_is_a_part_of_the_machine),
    };
    return cmocka_run_group_tests_name("memory", tests, NULL, NULL);
}
