// SPDX-License-Identifier: MIT
// A file of LMDB with changed bytes: it must be refused with a reason, or LMDB must find in it what
// the scan found. The input is a list of changes: two bytes of where, one of what.
#include "store/lmdb/scan.h"

#include "base/bytes.h"

#include "fuzz.h"

#include <lmdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    FILE_SIZE_MAX = 1 << 16, // what two bytes can name
    TRANSACTIONS = 2,
    KEYS = 40,
};

static void require(int holds, const char *sentence)
{
    if (!holds) {
        (void)fprintf(stderr, "fuzz_scan: %s\n", sentence);
        abort();
    }
}

// LMDB with the file of a descriptor.
static MDB_env *env_open(int fd, unsigned flags)
{
    MDB_env *env;
    char path[64];
    (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    require(!mdb_env_create(&env) && !mdb_env_set_mapsize(env, 1 << 24) &&
                !mdb_env_open(env, path, flags | MDB_NOSUBDIR | MDB_NOLOCK | MDB_NOSYNC, 0600),
            "LMDB does not open the file");
    return env;
}

static void put(MDB_txn *txn, MDB_dbi database, unsigned number, size_t size)
{
    char key[2] = { (char)(number % KEYS), 'k' }, bytes[8192] = { (char)number };
    MDB_val name = { sizeof(key), key }, value = { size, bytes };
    require(!mdb_put(txn, database, &name, &value, 0), "LMDB does not put");
}

// A few pages with something of everything: a branch, leaves, overflow pages, free pages.
static size_t make(int fd, char *bytes)
{
    MDB_env *env = env_open(fd, 0);
    for (unsigned i = 0; i < TRANSACTIONS; i++) {
        MDB_txn *txn;
        MDB_dbi database;
        require(!mdb_txn_begin(env, NULL, 0, &txn) && !mdb_dbi_open(txn, NULL, 0, &database),
                "LMDB does not begin");
        for (unsigned j = 0; j < KEYS; j++) {
            put(txn, database, i ? 0 : j, 100);
        }
        put(txn, database, 1, 5000);
        require(!mdb_txn_commit(txn), "LMDB does not commit");
    }
    mdb_env_close(env);
    ssize_t size = pread(fd, bytes, FILE_SIZE_MAX, 0);
    require(size > 0 && size < FILE_SIZE_MAX, "the file cannot be read");
    return (size_t)size;
}

struct found {
    uint64_t entries;
    struct slice previous;
    char previous_bytes[511];
    uint64_t sum; // of all bytes, in order
};

static uint64_t add(uint64_t sum, struct slice bytes)
{
    sum = sum * 31 + bytes.size;
    for (size_t i = 0; i < bytes.size; i++) {
        sum = sum * 31 + (unsigned char)bytes.data[i];
    }
    return sum;
}

static enum status receive(void *context, struct slice key, struct slice value)
{
    struct found *found = context;
    require(!found->entries || slice_compare(found->previous, key) < 0, "a key is out of order");
    memcpy(found->previous_bytes, key.data, key.size);
    found->previous = slice_make(found->previous_bytes, key.size);
    found->sum = add(add(found->sum, key), value);
    found->entries++;
    return STATUS_OK;
}

static void compare_with_lmdb(int fd, const struct found *found)
{
    MDB_txn *txn;
    MDB_dbi database;
    MDB_cursor *cursor = NULL;
    MDB_val key, value;
    uint64_t sum = 0, entries = 0;
    MDB_env *env = env_open(fd, MDB_RDONLY);
    require(!mdb_txn_begin(env, NULL, MDB_RDONLY, &txn) && !mdb_dbi_open(txn, NULL, 0, &database) &&
                !mdb_cursor_open(txn, database, &cursor),
            "LMDB does not read");
    while (!mdb_cursor_get(cursor, &key, &value, MDB_NEXT)) {
        sum = add(sum, slice_make(key.mv_data, key.mv_size));
        sum = add(sum, slice_make(value.mv_data, value.mv_size));
        entries++;
    }
    require(entries == found->entries && sum == found->sum, "LMDB finds something else");
    mdb_cursor_close(cursor);
    mdb_txn_abort(txn);
    mdb_env_close(env);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char original[FILE_SIZE_MAX]; // made once
    static size_t file_size;
    static int fd = -1;
    if (fd < 0) {
        fd = memfd_create("data.mdb", MFD_CLOEXEC);
        require(fd >= 0, "there is no file");
        file_size = make(fd, original);
    }
    static char bytes[FILE_SIZE_MAX];
    memcpy(bytes, original, file_size);
    for (size_t i = 0; i + 3 <= size; i += 3) {
        bytes[bytes_load_u16(data + i) % file_size] = (char)data[i + 2];
    }
    require(pwrite(fd, bytes, file_size, 0) == (ssize_t)file_size, "the file cannot be written");

    struct found found = { 0 };
    struct scan_result result;
    struct error error = { 0 };
    const struct scan_sink sink = { receive, &found };
    enum status status = scan_file(fd, &allocator_system, &sink, &result, &error);
    if (status) {
        require(status == STATUS_CORRUPT && error.detail[0], "it was refused without a reason");
    } else {
        require(result.entries == found.entries, "the count of entries is wrong");
        compare_with_lmdb(fd, &found);
    }
    return 0;
}
