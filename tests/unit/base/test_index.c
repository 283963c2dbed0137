// SPDX-License-Identifier: MIT
#include "base/index.h"

#include "fault_alloc.h"
#include "random.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

struct world {
    struct fault_alloc fault;
    struct index_pool pool;
    struct index index;
};

static void world_init(struct world *world)
{
    fault_alloc_init(&world->fault);
    index_pool_init(&world->pool, &world->fault.allocator);
    index_init(&world->index, &world->pool);
}

static void world_release(struct world *world)
{
    index_release(&world->index);
    index_pool_release(&world->pool);
    fault_alloc_release(&world->fault);
}

static void insert(struct index *index, struct index_node *node)
{
    assert_int_equal(index_reserve(index, 1), STATUS_OK);
    index_insert(index, node);
    index_pool_settle(index->pool);
}

// The plain model: pointers to nodes, sorted by key.
struct sorted {
    struct index_node **nodes;
    size_t count;
};

static size_t sorted_rank(const struct sorted *sorted, struct index_key key)
{
    size_t low = 0, high = sorted->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (index_key_less(sorted->nodes[middle]->key, key)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static struct index_node *sorted_at(const struct sorted *sorted, size_t rank)
{
    return rank < sorted->count ? sorted->nodes[rank] : NULL;
}

static void sorted_insert(struct sorted *sorted, struct index_node *node)
{
    size_t rank = sorted_rank(sorted, node->key);
    memmove(sorted->nodes + rank + 1, sorted->nodes + rank,
            (sorted->count - rank) * sizeof(*sorted->nodes));
    sorted->nodes[rank] = node;
    sorted->count++;
}

static void sorted_remove(struct sorted *sorted, size_t rank)
{
    sorted->count--;
    memmove(sorted->nodes + rank, sorted->nodes + rank + 1,
            (sorted->count - rank) * sizeof(*sorted->nodes));
}

static void compare_queries(const struct index *index, const struct sorted *sorted,
                            struct random *random, struct index_key key)
{
    size_t rank = random_below(random, sorted->count + 3);
    assert_int_equal(index->count, sorted->count);
    assert_ptr_equal(index_first(index), sorted_at(sorted, 0));
    assert_ptr_equal(index_last(index), sorted_at(sorted, sorted->count - 1));
    assert_ptr_equal(index_at(index, rank), sorted_at(sorted, rank));
    assert_int_equal(index_rank(index, key), sorted_rank(sorted, key));
    assert_ptr_equal(index_find(index, key), sorted_at(sorted, sorted_rank(sorted, key)));
}

static void compare_walk(const struct index *index, const struct sorted *sorted, size_t rank)
{
    struct index_cursor cursor = index_cursor_at(index, rank);
    for (; rank < sorted->count; rank++) {
        assert_ptr_equal(index_cursor_next(&cursor), sorted->nodes[rank]);
    }
    assert_null(index_cursor_next(&cursor));
}

// How the next key relates to the others: each way grows another shape of tree.
enum shape {
    SHAPE_RANDOM,
    SHAPE_ASCENDING,
    SHAPE_DESCENDING,
    SHAPE_FEW_PRIORITIES,
    SHAPE_COUNT,
};

static struct index_key next_key(enum shape shape, struct random *random, uint64_t sequence)
{
    switch (shape) {
    case SHAPE_ASCENDING:
        return (struct index_key){ 0, sequence };
    case SHAPE_DESCENDING:
        return (struct index_key){ UINT64_MAX, UINT64_MAX - sequence };
    case SHAPE_FEW_PRIORITIES:
        return (struct index_key){ random_below(random, 5), sequence };
    default:
        return (struct index_key){ random_u64(random), sequence };
    }
}

// Gives a node a key near its own. It is taken only where the order stays.
static void rekey_one(struct index *index, const struct sorted *sorted, struct random *random)
{
    size_t rank = random_below(random, sorted->count);
    struct index_node *node = sorted->nodes[rank];
    struct index_key old = node->key, key = old;
    key.high += random_below(random, 3) - 1;
    if (key.high == old.high) {
        key.low ^= 0x8000000000000000;
    }
    bool stays = (rank == 0 || index_key_less(sorted->nodes[rank - 1]->key, key)) &&
                 (rank + 1 == sorted->count || index_key_less(key, sorted->nodes[rank + 1]->key));
    bool taken = index_rekey(index, node, key);
    assert_true(!taken || stays);
    assert_true(index_key_equal(node->key, taken ? key : old));
    assert_true(index_check(index));
    // Back to the key that is like no other.
    if (taken) {
        assert_true(index_rekey(index, node, old) || index_key_less(old, key));
    }
}

static void run_against_sorted_array(enum shape shape, struct random *random, size_t steps,
                                     size_t count_max)
{
    struct world world;
    world_init(&world);
    struct sorted sorted = { .nodes = calloc(count_max + 1, sizeof(struct index_node *)) };
    assert_non_null(sorted.nodes);
    for (uint64_t step = 0; step < steps; step++) {
        // Long phases of growth and of shrinking, so that nodes are split, emptied and merged.
        bool growing = step * 6 / steps % 2 == 0;
        bool add = random_below(random, 10) < (growing ? 8 : 2);
        if (add && sorted.count < count_max) {
            struct index_node *node = calloc(1, sizeof(*node));
            assert_non_null(node);
            node->key = next_key(shape, random, step);
            insert(&world.index, node);
            sorted_insert(&sorted, node);
        } else if (!add && sorted.count > 0) {
            bool front = random_below(random, 2);
            size_t rank = front ? 0 : random_below(random, sorted.count);
            struct index_node *node = sorted.nodes[rank];
            index_remove(&world.index, node);
            sorted_remove(&sorted, rank);
            free(node);
        }
        if (sorted.count) {
            rekey_one(&world.index, &sorted, random);
        }
        compare_queries(&world.index, &sorted, random, next_key(shape, random, step / 2));
        if (step % 1000 == 0) {
            assert_true(index_check(&world.index));
            compare_walk(&world.index, &sorted, random_below(random, sorted.count + 1));
        }
    }
    while (sorted.count > 0) {
        struct index_node *node = sorted.nodes[sorted.count - 1];
        index_remove(&world.index, node);
        sorted_remove(&sorted, sorted.count - 1);
        free(node);
    }
    assert_true(index_check(&world.index));
    assert_int_equal(world.pool.slab.live, 0);
    free(sorted.nodes);
    world_release(&world);
}

static void test_index__all_keys_are_shifted_and_the_order_stays(void **state)
{
    (void)state;
    enum {
        COUNT = 20000
    }; // three levels of the tree
    static struct index_node nodes[COUNT];
    static const int64_t changes[] = { 1, -3600, INT64_C(1) << 60, -(INT64_C(1) << 60) + 3599 };
    struct world world;
    world_init(&world);
    index_shift(&world.index, 7); // an empty one
    for (size_t i = 0; i < COUNT; i++) {
        nodes[i].key = (struct index_key){ index_key_signed((int64_t)(i * 7919 % COUNT)), i };
        insert(&world.index, &nodes[i]);
    }
    int64_t shifted = 0;
    for (size_t c = 0; TEST_ROW(c, changes); c++) {
        index_shift(&world.index, changes[c]);
        shifted += changes[c];
        assert_true(index_check(&world.index));
        for (size_t i = 0; i < COUNT; i += 101) {
            int64_t value = (int64_t)(i * 7919 % COUNT) + shifted;
            assert_true(nodes[i].key.high == index_key_signed(value) && nodes[i].key.low == i);
            assert_ptr_equal(index_find(&world.index, nodes[i].key), &nodes[i]);
        }
    }
    assert_int_equal(shifted, 0);
    for (size_t i = 0; i < COUNT; i++) {
        index_remove(&world.index, &nodes[i]);
    }
    world_release(&world);
}

static void test_index__a_key_is_changed_in_place_where_the_order_stays(void **state)
{
    (void)state;
    struct world world;
    world_init(&world);
    struct index_node nodes[3] = { { { 10, 0 } }, { { 20, 0 } }, { { 30, 0 } } };
    for (size_t i = 0; i < 3; i++) {
        insert(&world.index, &nodes[i]);
    }
    assert_true(index_rekey(&world.index, &nodes[1], (struct index_key){ 25, 7 }));
    assert_true(index_rekey(&world.index, &nodes[2], (struct index_key){ 40, 0 }));
    assert_true(index_rekey(&world.index, &nodes[0], (struct index_key){ 24, 0 }));
    assert_false(index_rekey(&world.index, &nodes[0], (struct index_key){ 25, 7 }));
    assert_false(index_rekey(&world.index, &nodes[1], (struct index_key){ 41, 0 }));
    assert_true(index_find(&world.index, (struct index_key){ 25, 7 }) == &nodes[1]);
    assert_true(index_check(&world.index));
    for (size_t i = 0; i < 3; i++) {
        index_remove(&world.index, &nodes[i]);
    }
    world_release(&world);
}

static void test_index__agrees_with_a_sorted_array_over_random_operations(void **state)
{
    (void)state;
    struct random random;
    random_init(&random);
    for (enum shape shape = 0; shape < SHAPE_COUNT; shape++) {
        run_against_sorted_array(shape, &random, 40000, 10000);
        run_against_sorted_array(shape, &random, 2000, 40);
        run_against_sorted_array(shape, &random, 3000, 3);
    }
}

static void test_index__an_empty_index_takes_no_memory(void **state)
{
    (void)state;
    struct world world;
    world_init(&world);
    struct index_node node = { { 1, 1 } };
    assert_null(index_first(&world.index));
    assert_null(index_last(&world.index));
    assert_null(index_at(&world.index, 0));
    assert_null(index_find(&world.index, (struct index_key){ 0, 0 }));
    assert_int_equal(index_rank(&world.index, (struct index_key){ 9, 9 }), 0);
    assert_int_equal(world.fault.bytes, 0);
    insert(&world.index, &node);
    assert_true(world.fault.bytes < 100);
    index_remove(&world.index, &node);
    assert_int_equal(world.fault.bytes, 0);
    world_release(&world);
}

static void test_index__a_line_that_grows_at_its_end_fills_its_leaves(void **state)
{
    (void)state;
    enum {
        COUNT = 100000
    };
    struct world world;
    world_init(&world);
    struct index_node *nodes = calloc(COUNT, sizeof(*nodes));
    assert_non_null(nodes);
    for (size_t i = 0; i < COUNT; i++) {
        nodes[i].key = (struct index_key){ 7, i };
        insert(&world.index, &nodes[i]);
    }
    // 24 bytes an entry; the rest is inner nodes, page ends and a last block in part.
    assert_true(world.fault.bytes < (size_t)COUNT * 30);
    assert_true(index_check(&world.index));
    free(nodes);
    world_release(&world);
}

static void test_index__signed_values_keep_their_order(void **state)
{
    (void)state;
    static const int64_t values[] = { INT64_MIN, -2, -1, 0, 1, 2, INT64_MAX };
    for (size_t i = 1; i < sizeof(values) / sizeof(*values); i++) {
        assert_true(index_key_signed(values[i - 1]) < index_key_signed(values[i]));
    }
}

static void test_index__indexes_of_one_pool_are_apart_and_their_reservations_add_up(void **state)
{
    (void)state;
    enum {
        INDEXES = 20,
        COUNT = 500
    };
    struct world world;
    world_init(&world);
    struct index indexes[INDEXES];
    struct index_node *nodes = calloc((size_t)INDEXES * COUNT, sizeof(*nodes));
    assert_non_null(nodes);
    for (size_t i = 0; i < INDEXES; i++) {
        index_init(&indexes[i], &world.pool);
    }
    for (size_t j = 0; j < COUNT; j++) {
        for (size_t i = 0; i < INDEXES; i++) {
            assert_int_equal(index_reserve(&indexes[i], 1), STATUS_OK);
        }
        size_t calls = world.fault.calls;
        for (size_t i = 0; i < INDEXES; i++) {
            nodes[j * INDEXES + i].key = (struct index_key){ (j * 7919) % COUNT, i };
            index_insert(&indexes[i], &nodes[j * INDEXES + i]);
        }
        assert_int_equal(world.fault.calls, calls);
        index_pool_settle(&world.pool);
    }
    for (size_t i = 0; i < INDEXES; i++) {
        assert_true(index_check(&indexes[i]));
        assert_int_equal(indexes[i].count, COUNT);
        assert_int_equal(index_at(&indexes[i], COUNT - 1)->key.low, i);
        index_release(&indexes[i]);
    }
    free(nodes);
    world_release(&world);
}

static void test_index__a_reservation_of_many_covers_them_all(void **state)
{
    (void)state;
    struct random random;
    random_init(&random);
    enum {
        ROUNDS = 60,
        BATCH = 200
    };
    struct world world;
    world_init(&world);
    struct index_node *nodes = calloc((size_t)ROUNDS * BATCH, sizeof(*nodes));
    assert_non_null(nodes);
    for (size_t i = 0; i < (size_t)ROUNDS * BATCH; i++) {
        if (i % BATCH == 0) {
            index_pool_settle(&world.pool);
            assert_int_equal(index_reserve(&world.index, BATCH), STATUS_OK);
        }
        size_t calls = world.fault.calls;
        nodes[i].key = (struct index_key){ random_u64(&random), i };
        index_insert(&world.index, &nodes[i]);
        assert_int_equal(world.fault.calls, calls);
    }
    assert_true(index_check(&world.index));
    free(nodes);
    world_release(&world);
}

static void test_index__a_reservation_outlives_the_last_entry(void **state)
{
    (void)state;
    struct world world;
    world_init(&world);
    struct index_node nodes[2] = { { { 1, 1 } }, { { 2, 2 } } };
    insert(&world.index, &nodes[0]);
    assert_int_equal(index_reserve(&world.index, 2), STATUS_OK);
    size_t calls = world.fault.calls;
    for (int round = 0; round < 2; round++) {
        index_remove(&world.index, &nodes[0]);
        assert_int_equal(world.index.count, 0);
        assert_null(index_first(&world.index));
        assert_true(index_check(&world.index));
        index_insert(&world.index, &nodes[0]);
    }
    assert_int_equal(world.fault.calls, calls);
    index_pool_settle(&world.pool);
    index_remove(&world.index, &nodes[0]);
    assert_int_equal(world.fault.bytes, 0);
    world_release(&world);
}

static void test_index__a_failed_reservation_changes_nothing(void **state)
{
    (void)state;
    enum {
        COUNT = 3000
    };
    struct index_node *nodes = calloc(COUNT, sizeof(*nodes));
    assert_non_null(nodes);
    struct fault_alloc fault;
    FAULT_ALLOC_EACH(&fault)
    {
        struct index_pool pool;
        index_pool_init(&pool, &fault.allocator);
        struct index index;
        index_init(&index, &pool);
        enum status status = STATUS_OK;
        size_t count = 0;
        while (!status && count < COUNT) {
            status = index_reserve(&index, 1);
            if (!status) {
                nodes[count].key = (struct index_key){ count * 7919 % COUNT, 0 };
                index_insert(&index, &nodes[count++]);
            }
            index_pool_settle(&pool);
        }
        FAULT_ALLOC_EXPECT(&fault, status);
        assert_int_equal(index.count, count);
        // A reservation that failed on an empty index may have left nothing behind.
        assert_true(index_check(&index));
        index_release(&index);
        index_pool_release(&pool);
    }
    free(nodes);
}

static void test_index__the_check_sees_a_key_that_was_changed_in_place(void **state)
{
    (void)state;
    struct world world;
    world_init(&world);
    struct index_node nodes[100];
    for (size_t i = 0; i < 100; i++) {
        nodes[i].key = (struct index_key){ i, 0 };
        insert(&world.index, &nodes[i]);
    }
    assert_true(index_check(&world.index));
    nodes[50].key.high = 3;
    assert_false(index_check(&world.index));
    nodes[50].key.high = 50;
    assert_true(index_check(&world.index));
    world_release(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_index__a_key_is_changed_in_place_where_the_order_stays),
        cmocka_unit_test(test_index__agrees_with_a_sorted_array_over_random_operations),
        cmocka_unit_test(test_index__an_empty_index_takes_no_memory),
        cmocka_unit_test(test_index__a_line_that_grows_at_its_end_fills_its_leaves),
        cmocka_unit_test(test_index__signed_values_keep_their_order),
        cmocka_unit_test(test_index__indexes_of_one_pool_are_apart_and_their_reservations_add_up),
        cmocka_unit_test(test_index__a_reservation_of_many_covers_them_all),
        cmocka_unit_test(test_index__all_keys_are_shifted_and_the_order_stays),
        cmocka_unit_test(test_index__a_reservation_outlives_the_last_entry),
        cmocka_unit_test(test_index__a_failed_reservation_changes_nothing),
        cmocka_unit_test(test_index__the_check_sees_a_key_that_was_changed_in_place),
    };
    return cmocka_run_group_tests_name("index", tests, NULL, NULL);
}
