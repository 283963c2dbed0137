// SPDX-License-Identifier: MIT
#include "base/map.h"

#include "fault_alloc.h"
#include "random.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MANY = 20000,
};

struct thing {
    char name[32];
    bool present;
};

static const struct hash_seed seed = { 0x0123456789abcdefU, 0xfedcba9876543210U };

static struct slice thing_key(const void *value)
{
    return slice_from_cstr(((const struct thing *)value)->name);
}

static struct thing *make_things(size_t count)
{
    struct thing *things = calloc(count, sizeof(*things));
    assert_non_null(things);
    for (size_t i = 0; i < count; i++) {
        (void)snprintf(things[i].name, sizeof(things[i].name), "thing %zu", i);
    }
    return things;
}

static void test_map__finds_what_was_inserted_and_nothing_else(void **state)
{
    (void)state;
    struct thing *things = make_things(MANY);
    struct map map;
    map_init(&map, &allocator_system, seed, thing_key);
    assert_null(map_find(&map, SLICE("thing 1")));
    for (size_t i = 0; i < MANY; i += 2) {
        assert_int_equal(map_insert(&map, &things[i]), STATUS_OK);
    }
    assert_int_equal(map.count, MANY / 2);
    for (size_t i = 0; i < MANY; i++) {
        assert_ptr_equal(map_find(&map, thing_key(&things[i])), i % 2 ? NULL : &things[i]);
    }
    map_release(&map);
    free(things);
}

static void test_map__a_key_is_any_bytes_also_none(void **state)
{
    (void)state;
    struct thing things[] = { { "" }, { "a" }, { "\xff\x01" } };
    struct map map;
    map_init(&map, &allocator_system, seed, thing_key);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(map_insert(&map, &things[i]), STATUS_OK);
    }
    assert_ptr_equal(map_find(&map, SLICE_EMPTY), &things[0]);
    assert_ptr_equal(map_find(&map, SLICE("\xff\x01")), &things[2]);
    assert_null(map_find(&map, SLICE("a\0")));
    map_release(&map);
}

static void test_map__a_second_object_with_the_same_key_is_refused(void **state)
{
    (void)state;
    struct thing one = { .name = "same" }, two = { .name = "same" };
    struct map map;
    map_init(&map, &allocator_system, seed, thing_key);
    assert_int_equal(map_insert(&map, &one), STATUS_OK);
    assert_int_equal(map_insert(&map, &two), STATUS_EXISTS);
    assert_int_equal(map.count, 1);
    assert_ptr_equal(map_find(&map, SLICE("same")), &one);
    map_release(&map);
}

static void test_map__agrees_with_an_array_over_random_operations(void **state)
{
    (void)state;
    struct random random;
    random_init(&random);
    struct thing *things = make_things(MANY);
    struct fault_alloc fault;
    fault_alloc_init(&fault);
    struct map map;
    map_init(&map, &fault.allocator, (struct hash_seed){ random_u64(&random), 0 }, thing_key);
    size_t count = 0;
    // Phases of growth and of shrinking, so that segments are split and merged.
    for (int step = 0; step < 400000; step++) {
        struct thing *thing = &things[random_below(&random, MANY)];
        bool growing = step / 50000 % 2 == 0;
        bool insert = random_below(&random, 8) < (growing ? 7 : 1);
        if (insert) {
            enum status status = map_insert(&map, thing);
            assert_int_equal(status, thing->present ? STATUS_EXISTS : STATUS_OK);
            count += !thing->present;
            thing->present = true;
        } else {
            void *removed = map_remove(&map, thing_key(thing));
            assert_ptr_equal(removed, thing->present ? thing : NULL);
            count -= thing->present;
            thing->present = false;
        }
        assert_int_equal(map.count, count);
    }
    for (size_t i = 0; i < MANY; i++) {
        assert_ptr_equal(map_find(&map, thing_key(&things[i])),
                         things[i].present ? &things[i] : NULL);
    }
    assert_int_equal(map_memory(&map), fault.bytes);
    map_release(&map);
    fault_alloc_release(&fault);
    free(things);
}

static void test_map__memory_goes_back_when_objects_are_removed(void **state)
{
    (void)state;
    struct thing *things = make_things(MANY);
    struct fault_alloc fault;
    fault_alloc_init(&fault);
    struct map map;
    map_init(&map, &fault.allocator, seed, thing_key);
    for (size_t i = 0; i < MANY; i++) {
        assert_int_equal(map_insert(&map, &things[i]), STATUS_OK);
    }
    assert_true(fault.bytes < (size_t)MANY * 40);
    for (size_t i = 0; i < MANY; i++) {
        assert_ptr_equal(map_remove(&map, thing_key(&things[i])), &things[i]);
    }
    assert_true(fault.bytes < 20000);
    map_release(&map);
    fault_alloc_release(&fault);
    free(things);
}

static void test_map__reserved_room_makes_the_add_certain(void **state)
{
    (void)state;
    struct thing *things = make_things(MANY);
    struct fault_alloc fault;
    fault_alloc_init(&fault);
    struct map map;
    map_init(&map, &fault.allocator, seed, thing_key);
    for (size_t i = 0; i < MANY; i++) {
        assert_int_equal(map_reserve(&map, thing_key(&things[i])), STATUS_OK);
        size_t calls = fault.calls;
        map_add(&map, &things[i]);
        assert_int_equal(fault.calls, calls);
    }
    map_release(&map);
    fault_alloc_release(&fault);
    free(things);
}

static void test_map__a_failed_allocation_changes_nothing(void **state)
{
    (void)state;
    struct thing *things = make_things(MANY);
    struct fault_alloc fault;
    FAULT_ALLOC_EACH(&fault)
    {
        struct map map;
        map_init(&map, &fault.allocator, seed, thing_key);
        enum status status = STATUS_OK;
        size_t count = 0;
        while (!status && count < MANY) {
            status = map_insert(&map, &things[count]);
            count += !status;
        }
        FAULT_ALLOC_EXPECT(&fault, status);
        assert_int_equal(map.count, count);
        for (size_t i = 0; i < MANY; i++) {
            assert_ptr_equal(map_find(&map, thing_key(&things[i])), i < count ? &things[i] : NULL);
        }
        // What failed once works the next time.
        if (count < MANY) {
            assert_int_equal(map_insert(&map, &things[count]), STATUS_OK);
        }
        map_release(&map);
    }
    free(things);
}

static struct map_entry *make_entries(const struct map *map, struct thing *things, size_t count)
{
    struct map_entry *entries = calloc(count, sizeof(*entries));
    assert_non_null(entries);
    for (size_t i = 0; i < count; i++) {
        entries[i] = (struct map_entry){ map_spot(map, thing_key(&things[i])), &things[i] };
    }
    return entries;
}

static void test_map__what_is_filled_in_at_once_is_found_and_can_be_removed(void **state)
{
    (void)state;
    static const size_t counts[] = { 1, 2, 895, 896, 897, 1793, MANY, 300000 };
    struct thing *things = make_things(300001);
    for (size_t i = 0; TEST_ROW(i, counts); i++) {
        size_t count = counts[i];
        struct fault_alloc fault;
        fault_alloc_init(&fault);
        struct map map;
        map_init(&map, &fault.allocator, seed, thing_key);
        struct map_entry *entries = make_entries(&map, things, count);
        assert_int_equal(map_fill(&map, entries, count), STATUS_OK);
        free(entries);
        assert_int_equal(map.count, count);
        for (size_t j = 0; j <= count; j++) {
            assert_ptr_equal(map_find(&map, thing_key(&things[j])), j < count ? &things[j] : NULL);
        }
        assert_int_equal(map_insert(&map, &things[0]), STATUS_EXISTS);
        assert_int_equal(map_insert(&map, &things[count]), STATUS_OK);
        for (size_t j = 0; j <= count; j++) {
            assert_ptr_equal(map_remove(&map, thing_key(&things[j])), &things[j]);
        }
        // A map that held something before can be filled too.
        entries = make_entries(&map, things, 2);
        assert_int_equal(map_fill(&map, entries, 2), STATUS_OK);
        assert_ptr_equal(map_find(&map, thing_key(&things[1])), &things[1]);
        free(entries);
        map_release(&map);
        fault_alloc_release(&fault);
    }
    free(things);
}

static void test_map__two_with_the_same_key_fill_nothing_in(void **state)
{
    (void)state;
    struct thing *things = make_things(MANY);
    memcpy(things[MANY - 1].name, things[7].name, sizeof(things[7].name));
    struct map map;
    map_init(&map, &allocator_system, seed, thing_key);
    struct map_entry *entries = make_entries(&map, things, MANY);
    assert_int_equal(map_fill(&map, entries, MANY), STATUS_EXISTS);
    assert_int_equal(map.count, 0);
    assert_null(map_find(&map, thing_key(&things[7])));
    free(entries);
    map_release(&map);
    free(things);
}

static void test_map__without_memory_nothing_is_filled_in(void **state)
{
    (void)state;
    struct thing *things = make_things(MANY);
    struct fault_alloc fault;
    FAULT_ALLOC_EACH(&fault)
    {
        struct map map;
        map_init(&map, &fault.allocator, seed, thing_key);
        struct map_entry *entries = make_entries(&map, things, MANY);
        enum status status = map_fill(&map, entries, MANY);
        FAULT_ALLOC_EXPECT(&fault, status);
        assert_int_equal(map.count, status ? 0 : MANY);
        assert_ptr_equal(map_find(&map, thing_key(&things[1])), status ? NULL : &things[1]);
        free(entries);
        map_release(&map);
    }
    free(things);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_map__finds_what_was_inserted_and_nothing_else),
        cmocka_unit_test(test_map__a_key_is_any_bytes_also_none),
        cmocka_unit_test(test_map__a_second_object_with_the_same_key_is_refused),
        cmocka_unit_test(test_map__agrees_with_an_array_over_random_operations),
        cmocka_unit_test(test_map__memory_goes_back_when_objects_are_removed),
        cmocka_unit_test(test_map__reserved_room_makes_the_add_certain),
        cmocka_unit_test(test_map__a_failed_allocation_changes_nothing),
        cmocka_unit_test(test_map__what_is_filled_in_at_once_is_found_and_can_be_removed),
        cmocka_unit_test(test_map__two_with_the_same_key_fill_nothing_in),
        cmocka_unit_test(test_map__without_memory_nothing_is_filled_in),
    };
    return cmocka_run_group_tests_name("map", tests, NULL, NULL);
}
