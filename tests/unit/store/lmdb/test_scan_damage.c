// SPDX-License-Identifier: MIT
// A file that LMDB wrote, with some bytes changed: a scan must notice it, or find all entries as
// they were, but for the bytes of keys and values, which the CRC in each value is for.
#include "store/lmdb/scan.h"

#include "base/bytes.h"

#include "lmdb_test.h"
#include "random.h"
#include "test.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    PAGE = 4096,
    ENTRIES_MAX = 4096,
    META_TRANSACTION = 16 + 128,
    MAP_SIZE = 1 << 26,
};

struct entry {
    struct slice key, value;
    char *bytes; // of both, owned
};

struct world {
    struct random random;
    int fd;      // a file in memory
    char *bytes; // what it holds when it is not changed
    size_t size;
    struct entry entries[ENTRIES_MAX]; // that are in it
    size_t count;
    size_t met;                           // by the scan
    bool is_broken;                       // an entry was met whose CRC is wrong
    bool is_other;                        // one was met that was not in the file
    uint64_t transaction;                 // the last one
    unsigned long refused, noticed, same; // how scans ended
    unsigned long older;                  // with the snapshot before
};

static enum status keep(void *context, struct slice key, struct slice value)
{
    struct world *world = context;
    assert_true(world->count < ENTRIES_MAX);
    assert_true(lmdb_value_is_whole(key, value));
    char *bytes = malloc(key.size + value.size);
    assert_non_null(bytes);
    memcpy(bytes, key.data, key.size);
    memcpy(bytes + key.size, value.data, value.size);
    world->entries[world->count++] =
        (struct entry){ slice_make(bytes, key.size), slice_make(bytes + key.size, value.size),
                        bytes };
    return STATUS_OK;
}

static enum status recognize(void *context, struct slice key, struct slice value)
{
    struct world *world = context;
    if (!lmdb_value_is_whole(key, value)) {
        world->is_broken = true;
    } else if (world->met >= world->count || !slice_equal(key, world->entries[world->met].key) ||
               !slice_equal(value, world->entries[world->met].value)) {
        world->is_other = true;
    }
    world->met++;
    return STATUS_OK;
}

static void write_all(const struct world *world)
{
    assert_int_equal(ftruncate(world->fd, 0), 0);
    assert_int_equal(pwrite(world->fd, world->bytes, world->size, 0), (ssize_t)world->size);
}

static void world_init(struct world *world, const struct lmdb *lmdb)
{
    *world = (struct world){ .fd = memfd_create("data.mdb", MFD_CLOEXEC) };
    random_init(&world->random);
    int fd = open(lmdb->path, O_RDONLY | O_CLOEXEC);
    off_t size = lseek(fd, 0, SEEK_END);
    assert_true(world->fd >= 0 && size > 0);
    world->size = (size_t)size;
    world->bytes = malloc(world->size);
    assert_non_null(world->bytes);
    assert_int_equal(pread(fd, world->bytes, world->size, 0), size);
    (void)close(fd);
    write_all(world);
    struct scan_result result;
    const struct scan_sink sink = { keep, world };
    assert_int_equal(scan_file(world->fd, &allocator_system, &sink, &result, NULL), STATUS_OK);
    world->transaction = result.transaction;
}

static void world_release(struct world *world)
{
    print_message("# %lu refused, %lu noticed by CRC, %lu the same, %lu the snapshot before\n",
                  world->refused, world->noticed, world->same, world->older);
    for (size_t i = 0; i < world->count; i++) {
        free(world->entries[i].bytes);
    }
    free(world->bytes);
    (void)close(world->fd);
}

static enum status scan(struct world *world, struct scan_result *result, struct error *error)
{
    const struct scan_sink sink = { recognize, world };
    world->met = 0;
    world->is_broken = world->is_other = false;
    return scan_file(world->fd, &allocator_system, &sink, result, error);
}

// What is accepted LMDB has to read in the same way, and when it has gone on writing to it, still.
static void let_lmdb_use_it(struct world *world)
{
    char path[64];
    struct lmdb lmdb;
    (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", world->fd);
    assert_lmdb(mdb_env_create(&lmdb.env));
    assert_lmdb(mdb_env_set_mapsize(lmdb.env, MAP_SIZE));
    assert_lmdb(mdb_env_open(lmdb.env, path, MDB_NOSUBDIR | MDB_NOLOCK | MDB_NOSYNC, 0600));
    struct scan_result result;
    lmdb_compare_file(lmdb.env, world->fd, &result);
    for (unsigned round = 0; round < 4; round++) {
        MDB_txn *txn = lmdb_begin(&lmdb);
        assert_lmdb(mdb_dbi_open(txn, NULL, 0, &lmdb.database));
        for (unsigned i = 0; i < 10; i++) {
            char key[2] = { (char)round, (char)random_below(&world->random, 256) };
            lmdb_put(&lmdb, txn, slice_make(key, sizeof(key)), 4 + 500 * (size_t)i, i);
        }
        assert_lmdb(mdb_txn_commit(txn));
        lmdb_compare_file(lmdb.env, world->fd, &result);
    }
    mdb_env_close(lmdb.env);
    write_all(world);
}

static void expect_noticed_or_same(struct world *world, size_t where, int what)
{
    struct error error = { 0 };
    struct scan_result result;
    enum status status = scan(world, &result, &error);
    if (status) {
        assert_int_equal(status, STATUS_CORRUPT);
        assert_true(error.detail[0]);
        world->refused++;
        return;
    }
    if (result.transaction != world->transaction) {
        assert_false(world->is_broken);
        world->older++;
        return;
    }
    if (!world->is_broken && (world->is_other || world->met != world->count)) {
        fail_msg("byte %zu changed to %d is not noticed", where, what);
    }
    assert_int_equal(world->met, world->count);
    world->noticed += world->is_broken;
    world->same += !world->is_broken;
    if (!world->is_broken && random_below(&world->random, 512) == 0) {
        let_lmdb_use_it(world);
    }
}

static void change_byte(struct world *world, size_t where, int what)
{
    char byte = (char)what;
    if (byte != world->bytes[where]) {
        assert_int_equal(pwrite(world->fd, &byte, 1, (off_t)where), 1);
        expect_noticed_or_same(world, where, what);
        assert_int_equal(pwrite(world->fd, world->bytes + where, 1, (off_t)where), 1);
    }
}

// Makes some transactions over keys of three bytes; an even number of them makes page 0 the newer
// meta page, an odd one page 1.
static void fill(struct lmdb *lmdb, struct random *random, unsigned transactions, uint64_t keys,
                 size_t size_max)
{
    for (unsigned i = 0; i < transactions; i++) {
        MDB_txn *txn = lmdb_begin(lmdb);
        for (uint64_t j = 0; j < keys; j++) {
            uint64_t number = random_below(random, keys);
            char key[] = { 'k', (char)(number >> 8), (char)number };
            size_t size = 4 + (size_t)random_below(random, 200);
            lmdb_put(lmdb, txn, slice_make(key, sizeof(key)), size, number);
        }
        lmdb_put(lmdb, txn, SLICE("large"), size_max, i);
        assert_lmdb(mdb_txn_commit(txn));
    }
}

static void test_damage__any_byte_of_a_small_file(void **state)
{
    (void)state;
    for (unsigned transactions = 5; transactions <= 6; transactions++) {
        struct random random;
        random_init(&random);
        struct lmdb lmdb;
        static struct world world;
        lmdb_init(&lmdb);
        fill(&lmdb, &random, transactions, 60, 6000);
        world_init(&world, &lmdb);
        assert_in_range(world.size, 8 * PAGE, 32 * PAGE);
        for (size_t i = 0; i < world.size; i++) {
            int byte = (unsigned char)world.bytes[i];
            bool is_meta = i < 2 * (size_t)PAGE && i % PAGE < 256;
            change_byte(&world, i, byte ^ 1 << random_below(&random, 8));
            change_byte(&world, i, 0);
            change_byte(&world, i, 0xff);
            for (int bit = 0; is_meta && bit < 8; bit++) {
                change_byte(&world, i, byte ^ 1 << bit);
            }
        }
        world_release(&world);
        lmdb_release(&lmdb);
    }
}

static void test_damage__some_bytes_of_larger_files(void **state)
{
    (void)state;
    struct random random;
    random_init(&random);
    struct lmdb lmdb;
    static struct world world;
    lmdb_init(&lmdb);
    // The reader makes the free list long.
    MDB_txn *reader;
    fill(&lmdb, &random, 1, 1000, 20000);
    assert_lmdb(mdb_txn_begin(lmdb.env, NULL, MDB_RDONLY, &reader));
    fill(&lmdb, &random, 120, 50, 20000);
    mdb_txn_abort(reader);
    world_init(&world, &lmdb);
    for (unsigned i = 0; i < 3000; i++) {
        // One byte, or a sector with a few, at any place or in the header of a page.
        size_t where = (size_t)random_below(&random, world.size);
        where = random_below(&random, 2) ? where : where / PAGE * PAGE + where % 32;
        change_byte(&world, where, (int)random_below(&random, 256));
    }
    for (unsigned i = 0; i < 300; i++) {
        // A page in another's place, as when a disk writes where it should not.
        off_t from = (off_t)random_below(&random, world.size / PAGE) * PAGE;
        off_t to = (off_t)random_below(&random, world.size / PAGE) * PAGE;
        assert_int_equal(pwrite(world.fd, world.bytes + from, PAGE, to), PAGE);
        expect_noticed_or_same(&world, (size_t)to, -1);
        assert_int_equal(pwrite(world.fd, world.bytes + to, PAGE, to), PAGE);
    }
    world_release(&world);
    lmdb_release(&lmdb);
}

static void test_damage__a_file_that_was_cut(void **state)
{
    (void)state;
    struct random random;
    random_init(&random);
    struct lmdb lmdb;
    static struct world world;
    lmdb_init(&lmdb);
    fill(&lmdb, &random, 6, 200, 20000);
    world_init(&world, &lmdb);
    for (size_t size = 0; size < world.size; size += 512) {
        assert_int_equal(ftruncate(world.fd, (off_t)size), 0);
        expect_noticed_or_same(&world, size, -1);
        write_all(&world);
    }
    assert_true(world.refused > 0);
    // What is behind the last page does not count.
    assert_int_equal(ftruncate(world.fd, (off_t)world.size + 12345), 0);
    struct error error = { 0 };
    struct scan_result result;
    assert_int_equal(scan(&world, &result, &error), STATUS_OK);
    world_release(&world);
    lmdb_release(&lmdb);
}

// The last page of a kind that is in use: one without which the scan fails.
static size_t find_page(struct world *world, unsigned flags)
{
    for (size_t page = world->size / PAGE; page-- > 2;) {
        if (bytes_load_u16(world->bytes + page * PAGE + 10) == flags) {
            struct error error = { 0 };
            struct scan_result result;
            const char zeros[PAGE] = { 0 };
            (void)!pwrite(world->fd, zeros, PAGE, (off_t)(page * PAGE));
            enum status status = scan(world, &result, &error);
            write_all(world);
            if (status) {
                return page;
            }
        }
    }
    fail_msg("there is no page with flags %u", flags);
    return 0;
}

static void expect_sentence(struct world *world, size_t where, uint64_t value, size_t size,
                            const char *sentence)
{
    struct error error = { 0 };
    struct scan_result result;
    assert_int_equal(pwrite(world->fd, &value, size, (off_t)where), (ssize_t)size);
    assert_int_equal(scan(world, &result, &error), STATUS_CORRUPT);
    assert_int_equal(error.status, STATUS_CORRUPT);
    if (!strstr(error.detail, sentence)) {
        fail_msg("'%s' should be '%s'", error.detail, sentence);
    }
    write_all(world);
}

static void test_damage__is_told_in_plain_words(void **state)
{
    (void)state;
    struct random random;
    random_init(&random);
    struct lmdb lmdb;
    static struct world world;
    char sentence[256];
    lmdb_init(&lmdb);
    fill(&lmdb, &random, 6, 200, 20000);
    world_init(&world, &lmdb);
    size_t leaf = find_page(&world, 2), branch = find_page(&world, 1), run = find_page(&world, 4);
    const struct {
        size_t where;
        uint64_t value;
        size_t size;
        size_t page;
        const char *sentence;
    } rows[] = {
        { leaf * PAGE, 4711, 8, leaf, "page %zu of data.mdb says that it is page 4711" },
        { leaf * PAGE + 10, 1, 2, leaf, "page %zu of data.mdb should be a leaf page" },
        { branch * PAGE + 10, 2, 2, branch, "page %zu of data.mdb should be a branch page" },
        { branch * PAGE + 12, 15, 2, branch, "page %zu of data.mdb says that its free space is" },
        { branch * PAGE + 16, 0, 2, branch, "the nodes of page %zu of data.mdb are not in" },
        { run * PAGE + 12, 1, 4, run, "page %zu of data.mdb begins a value of 5 pages, but" },
        { 16, 0, 4, 0, "page %zu of data.mdb does not begin as LMDB's meta pages do" },
        { PAGE + 16, 0, 4, 1, "page %zu of data.mdb does not begin as LMDB's meta pages do" },
        { PAGE + 20, 2, 4, 1, "page %zu of data.mdb is of another version" },
        { 16 + 24, 512, 4, 0, "page %zu of data.mdb names a page size that cannot be" },
        { 16 + 24 + 4, 4, 2, 0, "page %zu of data.mdb names flags that this database" },
        { 16 + 72 + 6, 33, 2, 0, "page %zu of data.mdb has counts that contradict" },
        { 16 + 120, 1000, 8, 0, "pages of data.mdb are neither in use nor free" },
        { 16 + 120, 500000, 8, 0, "the last page of data.mdb is 500000, but the file ends" },
        { 16 + 72 + 32, 1000, 8, 0, "page %zu of data.mdb says that the database has 1000 entr" },
        { META_TRANSACTION, 8, 8, 0, "pages 0 and 1 of data.mdb are of transactions 8 and 5" },
        { META_TRANSACTION, 7, 8, 0, "page %zu of data.mdb names a transaction that does not" },
    };
    for (size_t i = 0; TEST_ROW_NAMED(i, rows, rows[i].sentence); i++) {
        const char *number = strstr(rows[i].sentence, "%zu");
        (void)snprintf(sentence, sizeof(sentence), "%s", rows[i].sentence);
        if (number) {
            (void)snprintf(sentence, sizeof(sentence), "%.*s%zu%s",
                           (int)(number - rows[i].sentence), rows[i].sentence, rows[i].page,
                           number + 3);
        }
        expect_sentence(&world, rows[i].where, rows[i].value, rows[i].size, sentence);
    }
    world_release(&world);
    lmdb_release(&lmdb);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_damage__any_byte_of_a_small_file),
        cmocka_unit_test(test_damage__some_bytes_of_larger_files),
        cmocka_unit_test(test_damage__a_file_that_was_cut),
        cmocka_unit_test(test_damage__is_told_in_plain_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
