// SPDX-License-Identifier: MIT
#include "lmdb_test.h"

#include "base/bytes.h"
#include "base/crc32c.h"

#include "test.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    CRC_SIZE = 4,
    KEY_SIZE_MAX = 511,
    FILE_MODE = 0600,
};

#define MAP_SIZE (UINT64_C(1) << 32)

static void open_database(struct lmdb *lmdb)
{
    MDB_txn *txn;
    assert_lmdb(mdb_env_create(&lmdb->env));
    assert_lmdb(mdb_env_set_mapsize(lmdb->env, MAP_SIZE));
    // Without MDB_NOTLS a thread could have but one transaction that reads.
    assert_lmdb(mdb_env_open(lmdb->env, lmdb->folder, MDB_NOSYNC | MDB_NOTLS, FILE_MODE));
    assert_lmdb(mdb_txn_begin(lmdb->env, NULL, MDB_RDONLY, &txn));
    assert_lmdb(mdb_dbi_open(txn, NULL, 0, &lmdb->database));
    mdb_txn_abort(txn);
}

void lmdb_init(struct lmdb *lmdb)
{
    *lmdb = (struct lmdb){ 0 };
    const char *place = getenv("TMPDIR");
    (void)snprintf(lmdb->folder, sizeof(lmdb->folder), "%.40s/sluice-XXXXXX",
                   place && strlen(place) <= 40 ? place : "/tmp");
    assert_non_null(mkdtemp(lmdb->folder));
    (void)snprintf(lmdb->path, sizeof(lmdb->path), "%s/data.mdb", lmdb->folder);
    open_database(lmdb);
}

void lmdb_release(struct lmdb *lmdb)
{
    char lock[sizeof(lmdb->path)];
    (void)snprintf(lock, sizeof(lock), "%s/lock.mdb", lmdb->folder);
    mdb_env_close(lmdb->env);
    (void)unlink(lmdb->path);
    (void)unlink(lock);
    assert_int_equal(rmdir(lmdb->folder), 0);
}

MDB_txn *lmdb_begin(const struct lmdb *lmdb)
{
    MDB_txn *txn;
    assert_lmdb(mdb_txn_begin(lmdb->env, NULL, 0, &txn));
    return txn;
}

static uint32_t crc_of(struct slice key, const char *rest, size_t size)
{
    return crc32c(crc32c(0, key.data, key.size), rest, size);
}

void lmdb_put(const struct lmdb *lmdb, MDB_txn *txn, struct slice key, size_t size, uint64_t fill)
{
    struct random random = { fill };
    char *bytes = malloc(size + sizeof(uint64_t));
    assert_non_null(bytes);
    for (size_t i = CRC_SIZE; i < size; i += sizeof(uint64_t)) {
        bytes_store_u64(bytes + i, random_u64(&random));
    }
    bytes_store_u32(bytes, crc_of(key, bytes + CRC_SIZE, size - CRC_SIZE));
    char key_bytes[KEY_SIZE_MAX]; // LMDB would have it without const
    assert_true(key.size <= sizeof(key_bytes));
    memcpy(key_bytes, key.data, key.size);
    MDB_val name = { key.size, key_bytes }, value = { size, bytes };
    assert_lmdb(mdb_put(txn, lmdb->database, &name, &value, 0));
    free(bytes);
}

bool lmdb_value_is_whole(struct slice key, struct slice value)
{
    return value.size >= CRC_SIZE &&
           bytes_load_u32(value.data) == crc_of(key, value.data + CRC_SIZE, value.size - CRC_SIZE);
}

static enum status compare_entry(void *context, struct slice key, struct slice value)
{
    MDB_cursor *cursor = context;
    MDB_val name, data;
    assert_lmdb(mdb_cursor_get(cursor, &name, &data, MDB_NEXT));
    assert_true(slice_equal(key, slice_make(name.mv_data, name.mv_size)));
    assert_true(slice_equal(value, slice_make(data.mv_data, data.mv_size)));
    return STATUS_OK;
}

void lmdb_compare_file(MDB_env *env, int fd, struct scan_result *result)
{
    MDB_txn *txn;
    MDB_cursor *cursor;
    MDB_dbi database;
    MDB_val name, data;
    MDB_stat stat;
    MDB_envinfo info;
    assert_lmdb(mdb_txn_begin(env, NULL, MDB_RDONLY, &txn));
    assert_lmdb(mdb_dbi_open(txn, NULL, 0, &database));
    assert_lmdb(mdb_cursor_open(txn, database, &cursor));
    struct error error = { 0 };
    const struct scan_sink sink = { compare_entry, cursor };
    if (scan_file(fd, &allocator_system, &sink, result, &error)) {
        fail_msg("%s: %s", status_name(error.status), error.detail);
    }
    assert_int_equal(mdb_cursor_get(cursor, &name, &data, MDB_NEXT), MDB_NOTFOUND);
    assert_lmdb(mdb_stat(txn, database, &stat));
    assert_lmdb(mdb_env_info(env, &info));
    assert_int_equal(result->entries, stat.ms_entries);
    assert_int_equal(result->page_size, stat.ms_psize);
    assert_int_equal(result->pages, info.me_last_pgno + 1);
    assert_int_equal(result->transaction, info.me_last_txnid);
    mdb_cursor_close(cursor);
    mdb_txn_abort(txn);
}

void lmdb_compare(const struct lmdb *lmdb, struct scan_result *result)
{
    int fd = open(lmdb->path, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    lmdb_compare_file(lmdb->env, fd, result);
    assert_int_equal(close(fd), 0);
}
