// SPDX-License-Identifier: MIT
// Proves what the other tests here go by: the records that a workload's engine tells of make, after
// every step, an engine with the same digest.
#include "workload.h"

#include "engine/records/changes.h"
#include "random.h"
#include "test.h"

#include <stdlib.h>

// ---------------------------------------------------------------------------------------------
// A store that is a plain array, in the order of its keys

struct kept {
    struct record_key key;
    char *bytes;
    size_t size;
};

struct shelf {
    struct kept *items;
    size_t count, capacity;
};

static int compare_keys(struct record_key a, struct record_key b)
{
    if (a.kind != b.kind) {
        return a.kind < b.kind ? -1 : 1;
    }
    if (a.id != b.id) {
        return a.id < b.id ? -1 : 1;
    }
    return (a.extra > b.extra) - (a.extra < b.extra);
}

// Where a key is, or would be.
static size_t shelf_find(const struct shelf *shelf, struct record_key key)
{
    size_t low = 0, high = shelf->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_keys(shelf->items[middle].key, key) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static void shelf_remove(struct shelf *shelf, size_t at)
{
    free(shelf->items[at].bytes);
    shelf->count--;
    memmove(shelf->items + at, shelf->items + at + 1, (shelf->count - at) * sizeof(*shelf->items));
}

static void shelf_insert(struct shelf *shelf, size_t at, struct record_key key)
{
    if (shelf->count == shelf->capacity) {
        shelf->capacity = 2 * shelf->capacity + 64;
        shelf->items = realloc(shelf->items, shelf->capacity * sizeof(*shelf->items));
        assert_non_null(shelf->items);
    }
    memmove(shelf->items + at + 1, shelf->items + at, (shelf->count - at) * sizeof(*shelf->items));
    shelf->items[at] = (struct kept){ .key = key };
    shelf->count++;
}

static enum status receive(void *context, struct record_key key, struct slice bytes)
{
    struct shelf *shelf = context;
    size_t at = shelf_find(shelf, key);
    bool found = at < shelf->count && compare_keys(shelf->items[at].key, key) == 0;
    if (bytes.size == 0) {
        if (found) {
            shelf_remove(shelf, at);
        }
        return STATUS_OK;
    }
    if (!found) {
        shelf_insert(shelf, at, key);
    }
    struct kept *kept = &shelf->items[at];
    free(kept->bytes);
    kept->bytes = malloc(bytes.size);
    assert_non_null(kept->bytes);
    memcpy(kept->bytes, bytes.data, bytes.size);
    kept->size = bytes.size;
    return STATUS_OK;
}

static void shelf_release(struct shelf *shelf)
{
    while (shelf->count) {
        shelf_remove(shelf, shelf->count - 1);
    }
    free(shelf->items);
}

static void take(struct shelf *shelf, struct engine *engine)
{
    if (!engine_has_changes(engine)) {
        return;
    }
    const struct changes_sink sink = { .receive = receive, .context = shelf };
    assert_int_equal(engine_changes(engine, &sink), STATUS_OK);
}

static void rebuild_from(const struct shelf *shelf, struct rebuild *rebuild)
{
    struct store_visitor visitor = rebuild_visitor(rebuild);
    for (size_t i = 0; i < shelf->count; i++) {
        const struct kept *kept = &shelf->items[i];
        struct error error = { 0 };
        enum status status =
            visitor.visit(visitor.context, (struct store_key){ .record = kept->key },
                          slice_make(kept->bytes, kept->size), &error);
        if (status) {
            fail_msg("%s", error_sentence(&error));
        }
    }
    assert_true(rebuild_end(rebuild));
}

static uint64_t digest_of(const struct shelf *shelf)
{
    struct rebuild rebuild;
    rebuild_from(shelf, &rebuild);
    uint64_t digest = engine_digest(rebuild.engine);
    rebuild_release(&rebuild);
    return digest;
}

// ---------------------------------------------------------------------------------------------

static void test_workload__what_is_told_makes_the_same_engine_after_every_step(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct shelf shelf = { 0 };
        struct workload *workload = workload_new(seed, NULL);
        assert_int_equal(digest_of(&shelf), workload_digest(workload, 0));
        for (size_t n = 1; n <= 150; n++) {
            workload_step(workload);
            take(&shelf, workload_engine(workload));
            assert_int_equal(workload_steps(workload), n);
            if (digest_of(&shelf) != workload_digest(workload, n)) {
                fail_msg("seed %llu: the digests differ after step %zu", (unsigned long long)seed,
                         n);
            }
        }
        workload_free(workload);
        shelf_release(&shelf);
    }
}

static void test_workload__goes_on_from_an_engine_that_was_rebuilt(void **state)
{
    (void)state;
    struct shelf shelf = { 0 };
    struct workload *workload = workload_new(1, NULL);
    for (uint64_t round = 0; round < 30; round++) {
        uint64_t digest = 0;
        for (size_t n = 1; n <= 50; n++) {
            workload_step(workload);
            take(&shelf, workload_engine(workload));
            digest = workload_digest(workload, n);
        }
        workload_free(workload);
        struct rebuild rebuild;
        rebuild_from(&shelf, &rebuild);
        workload = workload_new(100 + round, rebuild.engine);
        assert_int_equal(workload_digest(workload, 0), digest);
    }
    workload_free(workload);
    shelf_release(&shelf);
}

static void test_workload__the_same_seed_makes_the_same_calls(void **state)
{
    (void)state;
    struct workload *a = workload_new(5, NULL), *b = workload_new(5, NULL);
    struct workload *c = workload_new(6, NULL);
    for (size_t n = 1; n <= 200; n++) {
        workload_step(a);
        workload_step(b);
        workload_step(c);
        assert_int_equal(workload_digest(a, n), workload_digest(b, n));
    }
    assert_int_not_equal(workload_digest(a, 200), workload_digest(c, 200));
    workload_free(a);
    workload_free(b);
    workload_free(c);
}

// Whatever an engine has been told of by then, it can be released.
static void test_workload__an_engine_can_be_freed_after_any_record(void **state)
{
    (void)state;
    struct shelf shelf = { 0 };
    struct workload *workload = workload_new(3, NULL);
    for (size_t n = 1; n <= 150; n++) {
        workload_step(workload);
        take(&shelf, workload_engine(workload));
    }
    for (size_t count = 0; count <= shelf.count; count++) {
        struct rebuild rebuild;
        struct store_visitor visitor = rebuild_visitor(&rebuild);
        for (size_t i = 0; i < count; i++) {
            const struct kept *kept = &shelf.items[i];
            assert_int_equal(visitor.visit(visitor.context,
                                           (struct store_key){ .record = kept->key },
                                           slice_make(kept->bytes, kept->size), NULL),
                             STATUS_OK);
        }
        rebuild_release(&rebuild);
    }
    workload_free(workload);
    shelf_release(&shelf);
}

static bool has_set(const struct shelf *shelf)
{
    size_t at = shelf_find(shelf, (struct record_key){ .kind = RECORD_BULK_SET });
    return at < shelf->count && shelf->items[at].key.kind == RECORD_BULK_SET;
}

// The set of jobs of an operation is in a store from the step that begins it to the one that ends
// it.
static void test_workload__exact_operations_are_in_progress_across_steps(void **state)
{
    (void)state;
    struct shelf shelf = { 0 };
    struct workload *workload = workload_new(1, NULL);
    size_t with = 0, ended = 0;
    for (size_t n = 1; n <= (size_t)20 * WORKLOAD_EXACT_EVERY; n++) {
        bool before = has_set(&shelf);
        workload_step(workload);
        take(&shelf, workload_engine(workload));
        bool now = has_set(&shelf);
        assert_true(now || n % WORKLOAD_EXACT_EVERY != 0);
        with += now;
        ended += before && !now;
    }
    assert_true(with > 40 && ended > 5);
    workload_free(workload);
    shelf_release(&shelf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_workload__what_is_told_makes_the_same_engine_after_every_step),
        cmocka_unit_test(test_workload__goes_on_from_an_engine_that_was_rebuilt),
        cmocka_unit_test(test_workload__the_same_seed_makes_the_same_calls),
        cmocka_unit_test(test_workload__an_engine_can_be_freed_after_any_record),
        cmocka_unit_test(test_workload__exact_operations_are_in_progress_across_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
