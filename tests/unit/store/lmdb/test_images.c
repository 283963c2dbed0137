// SPDX-License-Identifier: MIT
#include "store/journal/frame.h"
#include "store/key.h"
#include "store/lmdb/images.h"

#include "fault_alloc.h"
#include "random.h"
#include "test.h"

#include <string.h>

static void test_key__bytes_are_ordered_as_keys_are(void **state)
{
    (void)state;
    struct random random;
    random_init(&random);
    for (int i = 0; i < 20000; i++) {
        struct store_key keys[2];
        char bytes[2][KEY_SIZE];
        for (int j = 0; j < 2; j++) {
            // Few different numbers, so that the first parts are often the same.
            keys[j] = (struct store_key){
                (uint32_t)(random_below(&random, 3) << random_below(&random, 30)),
                { (enum record_kind)random_below(&random, 3),
                  random_below(&random, 3) << random_below(&random, 60),
                  (int64_t)(random_below(&random, 3) << random_below(&random, 60)) }
            };
            key_write(bytes[j], keys[j]);
            struct store_key back = key_read(bytes[j]);
            assert_int_equal(key_compare(&back, &keys[j]), 0);
        }
        int by_key = key_compare(&keys[0], &keys[1]),
            by_bytes = memcmp(bytes[0], bytes[1], KEY_SIZE);
        assert_int_equal((by_key > 0) - (by_key < 0), (by_bytes > 0) - (by_bytes < 0));
    }
}

static void test_frame__gives_its_records_back(void **state)
{
    (void)state;
    struct buffer group;
    buffer_init(&group, &allocator_system, UINT32_MAX);
    frame_begin(&group);
    frame_add(&group, (struct store_key){ 1, { RECORD_BODY, 7, 0 } }, SLICE("body"));
    frame_add(&group, (struct store_key){ 2, { RECORD_STATS, 8, 9 } }, SLICE_EMPTY);
    frame_seal(&group, 41);
    struct frame_head head = frame_head(group.data);
    assert_int_equal(head.synced, 41);
    assert_int_equal(head.size, group.size - FRAME_HEAD_SIZE);

    struct slice left = slice_make(group.data + FRAME_HEAD_SIZE, head.size);
    struct store_record record;
    enum status status;
    assert_true(frame_next(&left, &record, &status));
    assert_int_equal(record.key.record.id, 7);
    assert_true(slice_equal(record.bytes, SLICE("body")));
    assert_true(frame_next(&left, &record, &status));
    assert_int_equal(record.key.record.extra, 9);
    assert_int_equal(record.bytes.size, 0);
    assert_false(frame_next(&left, &record, &status));
    assert_int_equal(status, STATUS_OK);
    buffer_release(&group);
}

static void test_frame__cut_short_makes_no_sense(void **state)
{
    (void)state;
    struct buffer group;
    buffer_init(&group, &allocator_system, UINT32_MAX);
    frame_add(&group, (struct store_key){ 1, { RECORD_BODY, 7, 0 } }, SLICE("body"));
    for (size_t size = 1; size < group.size; size++) {
        struct slice left = slice_make(group.data, size);
        struct store_record record;
        enum status status;
        assert_false(frame_next(&left, &record, &status));
        assert_int_equal(status, STATUS_CORRUPT);
    }
    buffer_release(&group);
}

static void test_images__the_newest_of_each_is_left_in_order(void **state)
{
    (void)state;
    struct random random;
    struct images images;
    uint64_t newest[50] = { 0 };
    random_init(&random);
    images_init(&images, &allocator_system);
    for (uint64_t round = 1; round <= 300; round++) {
        struct buffer group;
        buffer_init(&group, &allocator_system, UINT32_MAX);
        for (int i = 0; i < 5; i++) {
            uint64_t id = random_below(&random, 50), value = 10 * round + (uint64_t)i;
            frame_add(&group, (struct store_key){ 1, { RECORD_HEAD, id, 0 } },
                      slice_make(&value, sizeof(value)));
            newest[id] = value;
        }
        assert_int_equal(images_add(&images, buffer_slice(&group)), STATUS_OK);
        buffer_release(&group);
    }
    images_sort(&images);
    size_t at = 0;
    for (uint64_t id = 0; id < 50; id++) {
        if (newest[id]) {
            assert_true(at < images.count);
            assert_int_equal(images.items[at].key.record.id, id);
            assert_memory_equal(images.items[at].bytes.data, &newest[id], sizeof(newest[id]));
            at++;
        }
    }
    assert_int_equal(images.count, at);
    images_release(&images);
}

static enum status add_two(const struct allocator *allocator)
{
    struct images images;
    struct buffer group;
    buffer_init(&group, &allocator_system, UINT32_MAX);
    for (uint64_t id = 0; id < 300; id++) {
        frame_add(&group, (struct store_key){ 1, { RECORD_HEAD, id, 0 } }, SLICE("head"));
    }
    images_init(&images, allocator);
    enum status status = images_add(&images, buffer_slice(&group));
    if (!status) {
        status = images_add(&images, buffer_slice(&group));
    }
    images_release(&images);
    buffer_release(&group);
    return status;
}

static void test_images__no_memory_is_said(void **state)
{
    (void)state;
    struct fault_alloc fault;
    FAULT_ALLOC_EACH(&fault)
    {
        enum status status = add_two(&fault.allocator);
        FAULT_ALLOC_EXPECT(&fault, status);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_key__bytes_are_ordered_as_keys_are),
        cmocka_unit_test(test_frame__gives_its_records_back),
        cmocka_unit_test(test_frame__cut_short_makes_no_sense),
        cmocka_unit_test(test_images__the_newest_of_each_is_left_in_order),
        cmocka_unit_test(test_images__no_memory_is_said),
    };
    return cmocka_run_group_tests_name("images", tests, NULL, NULL);
}
