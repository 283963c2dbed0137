// SPDX-License-Identifier: MIT
#include "server/h2/head.h"

#include "fault_alloc.h"
#include "test.h"

static void test_h2_head__fields_are_found_by_name_and_in_order(void **state)
{
    (void)state;
    struct h2_head head;
    struct h2_field field;
    struct slice value;
    h2_head_init(&head, &allocator_system);
    h2_head_begin(&head, 1000);
    assert_int_equal(h2_head_add(&head, SLICE(":path"), SLICE("/a")), STATUS_OK);
    assert_int_equal(h2_head_add(&head, SLICE("k"), SLICE("1")), STATUS_OK);
    assert_int_equal(h2_head_add(&head, SLICE("k"), SLICE("2")), STATUS_OK);
    assert_int_equal(h2_head_add(&head, SLICE("empty"), SLICE("")), STATUS_OK);
    assert_int_equal(h2_head_find(&head, SLICE("k"), &value), 2);
    assert_slice_equal(value, "1");
    assert_int_equal(h2_head_find(&head, SLICE("empty"), &value), 1);
    assert_slice_equal(value, "");
    assert_int_equal(h2_head_find(&head, SLICE("none"), &value), 0);
    assert_true(h2_head_at(&head, 2, &field));
    assert_slice_equal(field.value, "2");
    assert_false(h2_head_at(&head, 4, &field));
    h2_head_begin(&head, 1000);
    assert_int_equal(h2_head_find(&head, SLICE("k"), &value), 0);
    h2_head_release(&head);
}

static void test_h2_head__what_exceeds_its_size_is_counted_and_not_kept(void **state)
{
    (void)state;
    struct h2_head head;
    struct slice value;
    h2_head_init(&head, &allocator_system);
    h2_head_begin(&head, 2 * (size_t)(H2_FIELD_OVERHEAD + 2));
    assert_int_equal(h2_head_add(&head, SLICE("a"), SLICE("1")), STATUS_OK);
    assert_int_equal(h2_head_add(&head, SLICE("b"), SLICE("1")), STATUS_OK);
    assert_false(h2_head_is_too_large(&head));
    assert_int_equal(h2_head_add(&head, SLICE("c"), SLICE("1")), STATUS_OK);
    assert_true(h2_head_is_too_large(&head));
    assert_int_equal(h2_head_find(&head, SLICE("c"), &value), 0);
    assert_int_equal(head.size, 3 * (H2_FIELD_OVERHEAD + 2));
    h2_head_release(&head);
}

static void test_h2_head__more_fields_than_there_is_room_for_are_too_large(void **state)
{
    (void)state;
    struct h2_head head;
    struct h2_field field;
    h2_head_init(&head, &allocator_system);
    h2_head_begin(&head, 1 << 20);
    for (int i = 0; i < H2_HEAD_FIELDS_MAX; i++) {
        assert_int_equal(h2_head_add(&head, SLICE("a"), SLICE("1")), STATUS_OK);
        assert_false(h2_head_is_too_large(&head));
    }
    for (int i = 0; i < 3; i++) {
        assert_int_equal(h2_head_add(&head, SLICE("a"), SLICE("1")), STATUS_OK);
        assert_true(h2_head_is_too_large(&head));
    }
    assert_true(h2_head_at(&head, H2_HEAD_FIELDS_MAX - 1, &field));
    assert_false(h2_head_at(&head, H2_HEAD_FIELDS_MAX, &field));
    h2_head_release(&head);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_h2_head__fields_are_found_by_name_and_in_order),
        cmocka_unit_test(test_h2_head__what_exceeds_its_size_is_counted_and_not_kept),
        cmocka_unit_test(test_h2_head__more_fields_than_there_is_room_for_are_too_large),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
