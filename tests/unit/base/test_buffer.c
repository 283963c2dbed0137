// SPDX-License-Identifier: MIT
#include "base/buffer.h"

#include "fault_alloc.h"
#include "test.h"

static void test_buffer__holds_what_was_appended(void **state)
{
    (void)state;
    struct buffer buffer;
    buffer_init(&buffer, &allocator_system, 1000);
    buffer_append(&buffer, SLICE("put "));
    buffer_append(&buffer, SLICE_EMPTY);
    buffer_append_char(&buffer, '#');
    buffer_printf(&buffer, "%d of %s", 7, "nine");
    assert_int_equal(buffer.status, STATUS_OK);
    assert_slice_equal(buffer_slice(&buffer), "put #7 of nine");
    buffer_release(&buffer);
}

static void test_buffer__an_empty_one_costs_no_memory(void **state)
{
    (void)state;
    struct fault_alloc fault;
    fault_alloc_init(&fault);
    struct buffer buffer;
    buffer_init(&buffer, &fault.allocator, 10);
    assert_non_null(buffer_reserve(&buffer, 0));
    buffer_append(&buffer, SLICE_EMPTY);
    buffer_printf(&buffer, "%s", "");
    assert_int_equal(buffer.size, 0);
    assert_int_equal(fault.calls, 0);
    buffer_release(&buffer);
    fault_alloc_release(&fault);
}

static void test_buffer__fills_to_its_maximum_and_no_further(void **state)
{
    (void)state;
    struct fault_alloc fault;
    fault_alloc_init(&fault);
    for (size_t size_max = 0; size_max < 200; size_max++) {
        struct buffer buffer;
        buffer_init(&buffer, &fault.allocator, size_max);
        for (size_t i = 0; i < size_max; i++) {
            buffer_append_char(&buffer, 'x');
        }
        assert_int_equal(buffer.status, STATUS_OK);
        assert_int_equal(buffer.size, size_max);
        assert_true(fault.bytes <= size_max + 1);

        buffer_append_char(&buffer, 'y');
        assert_int_equal(buffer.status, STATUS_TOO_LARGE);
        assert_int_equal(buffer.size, size_max);
        buffer_release(&buffer);
    }
    fault_alloc_release(&fault);
}

static void test_buffer__printf_fills_to_its_maximum_and_no_further(void **state)
{
    (void)state;
    for (int size = 0; size < 200; size++) {
        struct buffer buffer;
        buffer_init(&buffer, &allocator_system, 100);
        buffer_printf(&buffer, "%*s", size, "");
        assert_int_equal(buffer.status, size <= 100 ? STATUS_OK : STATUS_TOO_LARGE);
        assert_int_equal(buffer.size, size <= 100 ? size : 0);
        buffer_release(&buffer);
    }
}

static void test_buffer__after_an_error_all_appends_are_refused_until_cleared(void **state)
{
    (void)state;
    struct buffer buffer;
    buffer_init(&buffer, &allocator_system, 4);
    buffer_append(&buffer, SLICE("abc"));
    buffer_append(&buffer, SLICE("de"));
    buffer_append_char(&buffer, 'f');
    buffer_printf(&buffer, "g");
    assert_null(buffer_reserve(&buffer, 0));
    assert_int_equal(buffer.status, STATUS_TOO_LARGE);
    assert_slice_equal(buffer_slice(&buffer), "abc");

    buffer_clear(&buffer);
    buffer_append(&buffer, SLICE("defg"));
    assert_int_equal(buffer.status, STATUS_OK);
    assert_slice_equal(buffer_slice(&buffer), "defg");
    buffer_release(&buffer);
}

static void test_buffer__a_size_near_the_largest_does_not_wrap(void **state)
{
    (void)state;
    struct buffer buffer;
    buffer_init(&buffer, &allocator_system, SIZE_MAX - 1);
    buffer_append(&buffer, SLICE("abc"));
    assert_null(buffer_reserve(&buffer, SIZE_MAX - 3));
    assert_int_equal(buffer.status, STATUS_TOO_LARGE);
    buffer_release(&buffer);
}

static void test_buffer__consume_and_truncate_keep_the_rest(void **state)
{
    (void)state;
    struct buffer buffer;
    buffer_init(&buffer, &allocator_system, 100);
    buffer_append(&buffer, SLICE("0123456789"));
    buffer_consume(&buffer, 3);
    assert_slice_equal(buffer_slice(&buffer), "3456789");
    buffer_truncate(&buffer, 2);
    assert_slice_equal(buffer_slice(&buffer), "34");
    buffer_truncate(&buffer, 50);
    assert_slice_equal(buffer_slice(&buffer), "34");
    buffer_consume(&buffer, 2);
    assert_int_equal(buffer.size, 0);
    buffer_release(&buffer);
}

static void test_buffer__a_failed_allocation_keeps_what_it_held(void **state)
{
    (void)state;
    struct fault_alloc fault;
    FAULT_ALLOC_EACH(&fault)
    {
        struct buffer buffer;
        buffer_init(&buffer, &fault.allocator, 100000);
        size_t size_good = 0;
        for (int i = 0; i < 300; i++) {
            buffer_printf(&buffer, "piece %d;", i);
            buffer_append(&buffer, SLICE("and one more"));
            size_good = buffer.status ? size_good : buffer.size;
        }
        FAULT_ALLOC_EXPECT(&fault, buffer.status);
        assert_true(buffer.size >= size_good);
        assert_true(size_good == 0 || memcmp(buffer.data, "piece 0;and", 11) == 0);
        buffer_release(&buffer);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_buffer__holds_what_was_appended),
        cmocka_unit_test(test_buffer__an_empty_one_costs_no_memory),
        cmocka_unit_test(test_buffer__fills_to_its_maximum_and_no_further),
        cmocka_unit_test(test_buffer__printf_fills_to_its_maximum_and_no_further),
        cmocka_unit_test(test_buffer__after_an_error_all_appends_are_refused_until_cleared),
        cmocka_unit_test(test_buffer__a_size_near_the_largest_does_not_wrap),
        cmocka_unit_test(test_buffer__consume_and_truncate_keep_the_rest),
        cmocka_unit_test(test_buffer__a_failed_allocation_keeps_what_it_held),
    };
    return cmocka_run_group_tests_name("buffer", tests, NULL, NULL);
}
