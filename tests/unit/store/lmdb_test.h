// SPDX-License-Identifier: MIT
// Files that LMDB itself makes, in a folder that goes away again, and what LMDB finds in them.
#ifndef SLUICE_LMDB_TEST_H
#define SLUICE_LMDB_TEST_H

#include "base/slice.h"
#include "base/status.h"
#include "store/lmdb/scan.h"

#include "random.h"

#include <lmdb.h>

struct lmdb {
    char folder[64];
    char path[80]; // of data.mdb
    MDB_env *env;
    MDB_dbi database;
};

// Asserts that LMDB says that all is well.
#define assert_lmdb(call) assert_string_equal(mdb_strerror(call), mdb_strerror(MDB_SUCCESS))

// Makes an empty folder, and a database in it.
void lmdb_init(struct lmdb *lmdb);
void lmdb_release(struct lmdb *lmdb);

MDB_txn *lmdb_begin(const struct lmdb *lmdb);

// Puts a value of `size` bytes, at least 4: the CRC of the key and the rest, and a rest that `fill`
// stands for.
void lmdb_put(const struct lmdb *lmdb, MDB_txn *txn, struct slice key, size_t size, uint64_t fill);

// Whether a value is one that lmdb_put made for the key.
bool lmdb_value_is_whole(struct slice key, struct slice value);

// Scans the file and asserts that this finds just what LMDB's cursor finds.
void lmdb_compare(const struct lmdb *lmdb, struct scan_result *result);

// The same for an environment and a descriptor of its file.
void lmdb_compare_file(MDB_env *env, int fd, struct scan_result *result);

#endif
