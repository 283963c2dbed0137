// SPDX-License-Identifier: MIT
#include "store/lmdb/scan.h"

#include "base/bytes.h"

#include "fault_alloc.h"
#include "lmdb_test.h"
#include "random.h"
#include "test.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    KEY_SIZE = 21,
};

// The key with number `index`, as the store makes them: big-endian, the number in the middle.
static struct slice key_of(uint64_t index, char bytes[KEY_SIZE])
{
    memset(bytes, 0, KEY_SIZE);
    bytes_store_u64(bytes + 5, __builtin_bswap64(index));
    return slice_make(bytes, KEY_SIZE);
}

static void put(const struct lmdb *lmdb, MDB_txn *txn, uint64_t index, size_t size)
{
    char bytes[KEY_SIZE];
    lmdb_put(lmdb, txn, key_of(index, bytes), size, index);
}

static void delete_entry(const struct lmdb *lmdb, MDB_txn *txn, uint64_t index)
{
    char bytes[KEY_SIZE];
    (void)key_of(index, bytes);
    MDB_val name = { sizeof(bytes), bytes };
    int result = mdb_del(txn, lmdb->database, &name, NULL);
    assert_true(result == MDB_SUCCESS || result == MDB_NOTFOUND);
}

static void test_scan__a_new_file_is_empty(void **state)
{
    (void)state;
    struct lmdb lmdb;
    struct scan_result result;
    lmdb_init(&lmdb);
    lmdb_compare(&lmdb, &result);
    assert_int_equal(result.entries, 0);
    assert_int_equal(result.pages, 2);
    lmdb_release(&lmdb);
}

static void test_scan__a_file_that_was_emptied_is_empty(void **state)
{
    (void)state;
    struct lmdb lmdb;
    struct scan_result result;
    lmdb_init(&lmdb);
    for (unsigned round = 0; round < 6; round++) {
        MDB_txn *txn = lmdb_begin(&lmdb);
        for (uint64_t i = 0; i < 500; i++) {
            put(&lmdb, txn, i, 100 + 10 * (size_t)i);
        }
        assert_lmdb(mdb_txn_commit(txn));
        lmdb_compare(&lmdb, &result);
        txn = lmdb_begin(&lmdb);
        if (round % 2) {
            assert_lmdb(mdb_drop(txn, lmdb.database, 0));
        }
        for (uint64_t i = 0; i < 500; i++) {
            delete_entry(&lmdb, txn, i);
        }
        assert_lmdb(mdb_txn_commit(txn));
        lmdb_compare(&lmdb, &result);
        assert_int_equal(result.entries, 0);
        assert_true(result.pages_free > 100);
    }
    lmdb_release(&lmdb);
}

static void test_scan__few_entries_are_found(void **state)
{
    (void)state;
    static const size_t key_sizes[] = { 1, 2, 3, 100, 510, 511 };
    static const size_t sizes[] = { 4, 5, 6, 7, 1000, 2000, 2010, 2020, 2030, 2040, 4080, 4081 };
    struct lmdb lmdb;
    struct scan_result result;
    lmdb_init(&lmdb);
    for (size_t i = 0; i < 6; i++) {
        for (size_t j = 0; j < 12; j++) {
            char key[511];
            memset(key, (int)j, sizeof(key));
            MDB_txn *txn = lmdb_begin(&lmdb);
            lmdb_put(&lmdb, txn, slice_make(key, key_sizes[i]), sizes[j], j);
            assert_lmdb(mdb_txn_commit(txn));
            lmdb_compare(&lmdb, &result);
        }
    }
    assert_int_equal(result.entries, 72);
    assert_int_equal(result.transaction, 72);
    lmdb_release(&lmdb);
}

static void test_scan__many_entries_are_found_in_order(void **state)
{
    (void)state;
    struct random random;
    random_init(&random);
    for (unsigned shape = 0; shape < 3; shape++) {
        struct lmdb lmdb;
        struct scan_result result;
        lmdb_init(&lmdb);
        for (unsigned i = 0; i < 60;) {
            MDB_txn *txn = lmdb_begin(&lmdb);
            for (uint64_t end = ++i * UINT64_C(1000), j = end - 1000; j < end; j++) {
                // Ascending, descending, random.
                uint64_t index = shape == 0 ? j : shape == 1 ? 100000 - j : random_u64(&random);
                put(&lmdb, txn, index, 4 + (size_t)random_below(&random, 300));
            }
            assert_lmdb(mdb_txn_commit(txn));
        }
        lmdb_compare(&lmdb, &result);
        assert_int_equal(result.entries, 60000);
        lmdb_release(&lmdb);
    }
}

static void test_scan__large_values_are_found(void **state)
{
    (void)state;
    struct lmdb lmdb;
    struct scan_result result;
    lmdb_init(&lmdb);
    for (size_t size = 4; size <= 1 << 20; size = size * 5 / 4 + 1) {
        MDB_txn *txn = lmdb_begin(&lmdb);
        put(&lmdb, txn, size * 7919 % 1000, size);
        put(&lmdb, txn, 1000 + size, size);
        assert_lmdb(mdb_txn_commit(txn));
    }
    MDB_txn *txn = lmdb_begin(&lmdb);
    put(&lmdb, txn, 5, 1 << 20);
    // A value that gets shorter in the transaction that wrote it keeps its pages.
    put(&lmdb, txn, 6, 300000);
    put(&lmdb, txn, 6, 30000);
    put(&lmdb, txn, 7, 300000);
    put(&lmdb, txn, 7, 4);
    assert_lmdb(mdb_txn_commit(txn));
    lmdb_compare(&lmdb, &result);
    lmdb_release(&lmdb);
}

// What happened to a store over a long time, in short.
static void churn(struct lmdb *lmdb, struct random *random, unsigned rounds)
{
    MDB_txn *reader = NULL;
    for (unsigned round = 0; round < rounds; round++) {
        MDB_txn *txn = lmdb_begin(lmdb);
        uint64_t range = round % 50 < 25 ? 200 : 5000;
        uint64_t changes = random_below(random, round % 10 ? 30 : 1500);
        uint64_t deletes = random_below(random, 100); // how likely they are
        for (uint64_t i = 0; i < changes; i++) {
            uint64_t index = random_below(random, range);
            if (random_below(random, 100) < deletes) {
                delete_entry(lmdb, txn, index);
            } else {
                size_t magnitude = (size_t)1 << random_below(random, i % 16 ? 9 : 16);
                put(lmdb, txn, index, 4 + (size_t)random_below(random, magnitude));
            }
        }
        if (random_below(random, 60) == 0) {
            assert_lmdb(mdb_drop(txn, lmdb->database, 0));
        }
        if (random_below(random, 20) == 0) {
            mdb_txn_abort(txn);
        } else {
            assert_lmdb(mdb_txn_commit(txn));
        }
        if (random_below(random, 40) == 0) {
            mdb_txn_abort(reader);
            reader = NULL;
            if (random_below(random, 3)) {
                assert_lmdb(mdb_txn_begin(lmdb->env, NULL, MDB_RDONLY, &reader));
            }
        }
        struct scan_result result;
        lmdb_compare(lmdb, &result);
    }
    mdb_txn_abort(reader);
}

static void test_scan__what_many_transactions_left_is_found(void **state)
{
    (void)state;
    struct random random;
    random_init(&random);
    for (unsigned i = 0; i < 3; i++) {
        struct lmdb lmdb;
        struct scan_result result;
        lmdb_init(&lmdb);
        churn(&lmdb, &random, 400);
        lmdb_compare(&lmdb, &result);
        lmdb_release(&lmdb);
    }
}

static void test_scan__a_free_list_of_many_pages_is_read(void **state)
{
    (void)state;
    struct random random;
    random_init(&random);
    struct lmdb lmdb;
    struct scan_result result;
    lmdb_init(&lmdb);
    MDB_txn *txn = lmdb_begin(&lmdb);
    for (uint64_t i = 0; i < 4000; i++) {
        put(&lmdb, txn, i, 5000);
    }
    assert_lmdb(mdb_txn_commit(txn));
    // While it is open no page is used again, so the list gets long.
    MDB_txn *reader;
    assert_lmdb(mdb_txn_begin(lmdb.env, NULL, MDB_RDONLY, &reader));
    for (unsigned round = 0; round < 400; round++) {
        txn = lmdb_begin(&lmdb);
        for (unsigned i = 0; i < (round % 100 ? 5 : 1000); i++) {
            put(&lmdb, txn, random_below(&random, 4000), 5000);
        }
        assert_lmdb(mdb_txn_commit(txn));
    }
    mdb_txn_abort(reader);
    lmdb_compare(&lmdb, &result);
    assert_true(result.pages_free > 4000);
    for (unsigned round = 0; round < 100; round++) {
        txn = lmdb_begin(&lmdb);
        for (unsigned i = 0; i < 10; i++) {
            put(&lmdb, txn, random_below(&random, 4000), (size_t)4 << random_below(&random, 14));
            delete_entry(&lmdb, txn, random_below(&random, 4000));
        }
        assert_lmdb(mdb_txn_commit(txn));
        lmdb_compare(&lmdb, &result);
    }
    lmdb_release(&lmdb);
}

static void test_scan__a_copy_is_found_whole(void **state)
{
    (void)state;
    struct random random;
    random_init(&random);
    struct lmdb lmdb;
    lmdb_init(&lmdb);
    churn(&lmdb, &random, 50);
    for (unsigned flags = 0; flags <= MDB_CP_COMPACT; flags += MDB_CP_COMPACT) {
        struct lmdb copy;
        struct scan_result result;
        lmdb_init(&copy);
        mdb_env_close(copy.env);
        assert_int_equal(unlink(copy.path), 0);
        assert_lmdb(mdb_env_copy2(lmdb.env, copy.folder, flags));
        assert_lmdb(mdb_env_create(&copy.env));
        assert_lmdb(mdb_env_open(copy.env, copy.folder, MDB_NOSYNC, 0600));
        lmdb_compare(&copy, &result);
        lmdb_release(&copy);
    }
    lmdb_release(&lmdb);
}

static enum status accept_all(void *context, struct slice key, struct slice value)
{
    (void)key;
    (void)value;
    unsigned *left = context;
    return --*left ? STATUS_OK : STATUS_STALE;
}

static void test_scan__what_the_sink_returns_ends_it(void **state)
{
    (void)state;
    struct lmdb lmdb;
    lmdb_init(&lmdb);
    MDB_txn *txn = lmdb_begin(&lmdb);
    for (uint64_t i = 0; i < 1000; i++) {
        put(&lmdb, txn, i, 100);
    }
    assert_lmdb(mdb_txn_commit(txn));
    int fd = open(lmdb.path, O_RDONLY | O_CLOEXEC);
    for (unsigned stop_at = 1; stop_at <= 1000; stop_at += 37) {
        unsigned left = stop_at;
        struct scan_result result;
        const struct scan_sink sink = { accept_all, &left };
        assert_int_equal(scan_file(fd, &allocator_system, &sink, &result, NULL), STATUS_STALE);
        assert_int_equal(left, 0);
    }
    (void)close(fd);
    lmdb_release(&lmdb);
}

struct first {
    uint64_t count;
    char key[KEY_SIZE];
};

static enum status keep_first(void *context, struct slice key, struct slice value)
{
    struct first *first = context;
    (void)value;
    assert_int_equal(key.size, KEY_SIZE);
    memcpy(first->key, key.data, KEY_SIZE);
    first->count++;
    return STATUS_OK;
}

static void test_scan__the_first_entry_alone_is_received(void **state)
{
    (void)state;
    static const uint64_t counts[] = { 0, 1, 20000 };
    for (size_t i = 0; i < 3; i++) {
        struct lmdb lmdb;
        lmdb_init(&lmdb);
        MDB_txn *txn = lmdb_begin(&lmdb);
        for (uint64_t j = 0; j < counts[i]; j++) {
            put(&lmdb, txn, j + 7, j == 0 ? 10000 : 100);
        }
        assert_lmdb(mdb_txn_commit(txn));
        struct first first = { 0 };
        const struct scan_sink sink = { .receive = keep_first, .context = &first };
        int fd = open(lmdb.path, O_RDONLY | O_CLOEXEC);
        assert_true(fd >= 0);
        assert_int_equal(scan_first(fd, &allocator_system, &sink, NULL), STATUS_OK);
        (void)close(fd);
        char key[KEY_SIZE];
        (void)key_of(7, key);
        assert_int_equal(first.count, counts[i] > 0);
        assert_true(first.count == 0 || memcmp(first.key, key, KEY_SIZE) == 0);
        lmdb_release(&lmdb);
    }
}

static void test_scan__running_out_of_memory_is_reported(void **state)
{
    (void)state;
    struct lmdb lmdb;
    lmdb_init(&lmdb);
    MDB_txn *txn = lmdb_begin(&lmdb);
    for (uint64_t i = 0; i < 1000; i++) {
        put(&lmdb, txn, i, i % 10 ? 100 : 10 * (size_t)i + 4);
    }
    assert_lmdb(mdb_txn_commit(txn));
    int fd = open(lmdb.path, O_RDONLY | O_CLOEXEC);
    struct fault_alloc fault;
    FAULT_ALLOC_EACH(&fault)
    {
        unsigned left = 2000;
        struct scan_result result;
        struct error error = { 0 };
        const struct scan_sink sink = { accept_all, &left };
        enum status status = scan_file(fd, &fault.allocator, &sink, &result, &error);
        FAULT_ALLOC_EXPECT(&fault, status);
        assert_int_equal(error.status, status);
    }
    (void)close(fd);
    lmdb_release(&lmdb);
}

static void test_scan__a_file_that_cannot_be_read_is_an_io_error(void **state)
{
    (void)state;
    struct lmdb lmdb;
    lmdb_init(&lmdb);
    unsigned left = 10;
    struct scan_result result;
    struct error error;
    const struct scan_sink sink = { accept_all, &left };
    int for_writing = open(lmdb.path, O_WRONLY | O_CLOEXEC);
    assert_int_equal(scan_file(for_writing, &allocator_system, &sink, &result, &error), STATUS_IO);
    assert_non_null(strstr(error.detail, "data.mdb cannot be read at byte 0"));
    int folder = open(lmdb.folder, O_RDONLY | O_CLOEXEC);
    assert_int_equal(scan_file(folder, &allocator_system, &sink, &result, &error), STATUS_IO);
    assert_int_equal(scan_file(-1, &allocator_system, &sink, &result, &error), STATUS_IO);
    (void)close(for_writing);
    (void)close(folder);
    lmdb_release(&lmdb);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scan__a_new_file_is_empty),
        cmocka_unit_test(test_scan__a_file_that_was_emptied_is_empty),
        cmocka_unit_test(test_scan__few_entries_are_found),
        cmocka_unit_test(test_scan__many_entries_are_found_in_order),
        cmocka_unit_test(test_scan__large_values_are_found),
        cmocka_unit_test(test_scan__what_many_transactions_left_is_found),
        cmocka_unit_test(test_scan__a_free_list_of_many_pages_is_read),
        cmocka_unit_test(test_scan__a_copy_is_found_whole),
        cmocka_unit_test(test_scan__what_the_sink_returns_ends_it),
        cmocka_unit_test(test_scan__the_first_entry_alone_is_received),
        cmocka_unit_test(test_scan__running_out_of_memory_is_reported),
        cmocka_unit_test(test_scan__a_file_that_cannot_be_read_is_an_io_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
