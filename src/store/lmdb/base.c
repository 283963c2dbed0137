// SPDX-License-Identifier: MIT
// LMDB should not need more address space or disk in the middle of a transaction. So before each
// transaction the map and the file are enlarged for what it is expected to write, and a full disk
// is detected before anything was begun.
#include "store/lmdb/base.h"

#include "base/bytes.h"
#include "base/crc32c.h"
#include "os/file.h"
#include "store/key.h"

#include <errno.h>
#include <fcntl.h>
#include <lmdb.h>
#include <pthread.h>
#include <sys/mman.h>

enum {
    MAP_SIZE_MIN = 256 << 20,
    FILE_STEP = 4 << 20, // the minimum growth of the file
    META_PAGES = 2,
    SLACK_SIZE = 1 << 20, // of a transaction, in addition to its images: paths, the free list
    IMAGE_OVERHEAD = 64,  // of an image, in addition to its bytes
    ATTEMPTS = 8,         // at a transaction whose map was too small
    SHORT_SIZE = 512,     // of values that are copied on overwrite
};

static const char name[] = "base/data.mdb";

struct base {
    const struct allocator *allocator;
    MDB_env *env;
    MDB_dbi dbi;
    int fd;             // owned by LMDB
    uint64_t allocated; // bytes of the file
    uint64_t map_size;
    bool lost; // LMDB has no map any more: its functions would crash
    // Write-locked to move the map, which must not happen while a copy is made.
    pthread_rwlock_t map;
};

uint32_t base_checksum(struct slice key, struct slice bytes)
{
    return crc32c(crc32c(0, key.data, key.size), bytes.data, bytes.size);
}

static void record_write(const struct base_record *record, char out[BASE_RECORD_SIZE])
{
    bytes_store_u32(out, STORE_VERSION);
    memcpy(out + 4, record->id, STORE_ID_SIZE);
    bytes_store_u64(out + 20, record->covered);
    bytes_store_u64(out + 28, record->next.generation);
    bytes_store_u32(out + 36, record->next.sector);
    bytes_store_u32(out + 40, record->segments);
    bytes_store_u64(out + 44, record->segment_size);
    bytes_store_u64(out + 52, record->count);
    bytes_store_u64(out + 60, record->sum);
}

enum status base_record_read(struct slice bytes, struct base_record *out, struct error *error)
{
    uint32_t version = bytes.data && bytes.size >= 4 ? bytes_load_u32(bytes.data) : 0;
    enum status status = version_check(version, "the folder", error);
    if (status) {
        return status;
    }
    if (bytes.size != BASE_RECORD_SIZE) {
        return error_set(error, STATUS_CORRUPT, "the store's own record in %s has a wrong size",
                         name);
    }
    const char *data = bytes.data;
    out->version = version;
    memcpy(out->id, data + 4, STORE_ID_SIZE);
    out->covered = bytes_load_u64(data + 20);
    out->next = (struct position){ bytes_load_u64(data + 28), bytes_load_u32(data + 36) };
    out->segments = bytes_load_u32(data + 40);
    out->segment_size = bytes_load_u64(data + 44);
    out->count = bytes_load_u64(data + 52);
    out->sum = bytes_load_u64(data + 60);
    return STATUS_OK;
}

static enum status lmdb_error(struct error *error, const char *what, int code)
{
    enum status status = code == ENOMEM                     ? STATUS_NO_MEMORY
                         : code == ENOSPC || code == EDQUOT ? STATUS_NO_SPACE
                         : code == EACCES || code == EROFS  ? STATUS_DENIED
                                                            : STATUS_IO;
    return error_set(error, status, "cannot %s %s: %s", what, name,
                     code > 0 ? strerrordesc_np(code) : mdb_strerror(code));
}

static int open_database(MDB_env *env, MDB_dbi *dbi)
{
    MDB_txn *txn;
    int code = mdb_txn_begin(env, NULL, 0, &txn);
    if (code) {
        return code;
    }
    code = mdb_dbi_open(txn, NULL, 0, dbi);
    if (code) {
        mdb_txn_abort(txn);
        return code;
    }
    return mdb_txn_commit(txn);
}

static int open_env(struct base *base, const char *path, unsigned flags)
{
    int code = mdb_env_create(&base->env);
    if (!code) {
        code = mdb_env_set_mapsize(base->env, (size_t)base->map_size);
    }
    // Read-ahead is useful only for scans, which do not use LMDB.
    if (!code) {
        code = mdb_env_open(base->env, path, MDB_NOTLS | MDB_NORDAHEAD | flags, 0600);
    }
    if (!code) {
        code = open_database(base->env, &base->dbi);
    }
    if (!code) {
        code = mdb_env_get_fd(base->env, &base->fd);
    }
    // LMDB opens the file without O_CLOEXEC. A child of the process must not keep it open.
    if (!code && fcntl(base->fd, F_SETFD, FD_CLOEXEC)) {
        code = errno;
    }
    return code;
}

static enum status open_at(const char *path, const char *entry, unsigned flags,
                           const struct allocator *allocator, struct base **out,
                           struct error *error)
{
    char full[BASE_PATH_SIZE_MAX];
    if ((size_t)snprintf(full, sizeof(full), "%s/%s", path, entry) >= sizeof(full)) {
        return error_set(error, STATUS_TOO_LARGE, "the path of the store is too long");
    }
    struct base *base = mem_zalloc(allocator, sizeof(*base));
    if (!base) {
        return error_set(error, STATUS_NO_MEMORY, "out of memory");
    }
    base->allocator = allocator;
    base->map_size = MAP_SIZE_MIN;
    if (pthread_rwlock_init(&base->map, NULL)) {
        mem_free(allocator, base, sizeof(*base));
        return error_set(error, STATUS_NO_MEMORY, "out of memory");
    }
    int code = open_env(base, full, flags);
    MDB_envinfo info;
    if (!code) {
        code = mdb_env_info(base->env, &info);
    }
    if (code) {
        base_close(base);
        return lmdb_error(error, "open", code);
    }
    // If the file was larger, LMDB has enlarged the map.
    base->map_size = info.me_mapsize;
    enum status status = file_size(base->fd, name, &base->allocated, error);
    if (status) {
        base_close(base);
        return status;
    }
    *out = base;
    return STATUS_OK;
}

enum status base_open(const char *path, const char *folder, const struct allocator *allocator,
                      struct base **out, struct error *error)
{
    return open_at(path, folder, 0, allocator, out, error);
}

enum status base_open_file(const char *path, const char *file, const struct allocator *allocator,
                           struct base **out, struct error *error)
{
    return open_at(path, file, MDB_NOSUBDIR, allocator, out, error);
}

// A reference, so that leak checkers do not report it.
static MDB_env *last_lost __attribute__((used));

void base_close(struct base *base)
{
    if (!base) {
        return;
    }
    // Without its map, LMDB would unmap memory that is in use for something else since: it is not
    // closed.
    if (base->lost) {
        last_lost = base->env;
    } else if (base->env) {
        mdb_env_close(base->env);
    }
    pthread_rwlock_destroy(&base->map);
    mem_free(base->allocator, base, sizeof(*base));
}

static uint64_t target_size(uint64_t size)
{
    return (size / FILE_STEP + 1) * FILE_STEP;
}

struct base_sizes base_sizes(struct base *base)
{
    MDB_envinfo info;
    MDB_stat stat;
    if (base->lost) {
        return (struct base_sizes){ 0 };
    }
    mdb_env_info(base->env, &info);
    mdb_env_stat(base->env, &stat);
    uint64_t used = ((uint64_t)info.me_last_pgno + 1) * stat.ms_psize;
    uint64_t live =
        (META_PAGES + stat.ms_branch_pages + stat.ms_leaf_pages + stat.ms_overflow_pages) *
        (uint64_t)stat.ms_psize;
    return (struct base_sizes){
        .file = base->allocated > used ? base->allocated : used,
        .used = used,
        .live = live,
        .compact = target_size(live + SLACK_SIZE),
    };
}

// LMDB unmaps its map before it asks for a larger one, and cannot continue if that fails. So this
// checks first whether there is address space for the larger one.
static bool can_map(const struct base *base, uint64_t size)
{
    void *map = mmap(NULL, (size_t)size, PROT_READ, MAP_SHARED, base->fd, 0);
    return map != MAP_FAILED && munmap(map, (size_t)size) == 0;
}

static enum status grow_map(struct base *base, uint64_t size, struct error *error)
{
    if (!can_map(base, size)) {
        return error_set(error, STATUS_NO_MEMORY,
                         "no address space to map %llu bytes of %s (RLIMIT_AS, ulimit -v)",
                         (unsigned long long)size, name);
    }
    pthread_rwlock_wrlock(&base->map);
    int code = mdb_env_set_mapsize(base->env, (size_t)size);
    base->lost = code != 0;
    pthread_rwlock_unlock(&base->map);
    if (code) {
        (void)lmdb_error(error, "map", code);
        error->status = STATUS_IO; // the transaction must not be repeated
        return STATUS_IO;
    }
    base->map_size = size;
    return STATUS_OK;
}

// Enlarges the file. If there is not enough space for the preferred size, the required size is
// enough, or free pages in the file.
static enum status grow_file(struct base *base, uint64_t wanted, uint64_t free_size, uint64_t size,
                             struct error *error)
{
    const uint64_t targets[] = { target_size(wanted), wanted };
    enum status status = STATUS_OK;
    for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
        status =
            file_allocate(base->fd, name, base->allocated, targets[i] - base->allocated, error);
        if (!status) {
            base->allocated = targets[i];
        }
        if (status != STATUS_NO_SPACE) {
            break;
        }
    }
    // If the file system cannot allocate, LMDB detects a full disk when it writes.
    return status == STATUS_UNSUPPORTED || (status == STATUS_NO_SPACE && free_size >= 2 * size)
               ? STATUS_OK
               : status;
}

// Makes room for a transaction that writes about `size` bytes.
static enum status make_room(struct base *base, uint64_t size, struct error *error)
{
    if (base->lost) {
        return error_set(error, STATUS_IO, "%s is no longer mapped", name);
    }
    struct base_sizes sizes = base_sizes(base);
    uint64_t wanted = sizes.used + size;
    base->allocated = sizes.file;
    if (wanted > base->allocated) {
        enum status status = grow_file(base, wanted, sizes.used - sizes.live, size, error);
        if (status) {
            return status;
        }
    }
    // Enlarged before it is necessary, so that a failure can be followed by another attempt.
    uint64_t good = wanted + wanted / 4;
    if (good <= base->map_size) {
        return STATUS_OK;
    }
    enum status status = grow_map(base, 2 * good, error);
    if (status == STATUS_NO_MEMORY) {
        status = grow_map(base, good, error);
    }
    return status == STATUS_NO_MEMORY && wanted <= base->map_size ? STATUS_OK : status;
}

// Subtracts a removed entry with this value from the count and the sum.
static void count_off(struct base_record *record, const MDB_val *old)
{
    record->count--;
    record->sum -= old->mv_size < BASE_CHECKSUM_SIZE ? 0 : bytes_load_u32(old->mv_data);
}

static int remove_entry(MDB_cursor *cursor, MDB_val *key, struct base_record *record)
{
    MDB_val old;
    int code = mdb_cursor_get(cursor, key, &old, MDB_SET);
    if (code) {
        return code == MDB_NOTFOUND ? 0 : code;
    }
    count_off(record, &old);
    return mdb_cursor_del(cursor, 0);
}

static void fill(char *value, uint32_t checksum, struct slice bytes)
{
    bytes_store_u32(value, checksum);
    memcpy(value + BASE_CHECKSUM_SIZE, bytes.data, bytes.size);
}

// Overwrites the value of the entry at the cursor. With MDB_RESERVE, LMDB searches for the entry
// again; with the value it does not, so short values are assembled first.
static int overwrite(MDB_cursor *cursor, MDB_val *key, uint32_t checksum, struct slice bytes)
{
    char together[SHORT_SIZE];
    MDB_val value = { BASE_CHECKSUM_SIZE + bytes.size, together };
    if (value.mv_size <= sizeof(together)) {
        fill(together, checksum, bytes);
        return mdb_cursor_put(cursor, key, &value, MDB_CURRENT);
    }
    int code = mdb_cursor_put(cursor, key, &value, MDB_CURRENT | MDB_RESERVE);
    if (!code) {
        fill(value.mv_data, checksum, bytes);
    }
    return code;
}

// Writes or removes one entry, and updates the count and the sum.
static int apply(MDB_cursor *cursor, const struct image *image, struct base_record *record)
{
    char bytes[KEY_SIZE];
    key_write(bytes, image->key);
    MDB_val key = { KEY_SIZE, bytes };
    if (image->bytes.size == 0) {
        return remove_entry(cursor, &key, record);
    }
    uint32_t checksum = base_checksum(slice_make(bytes, KEY_SIZE), image->bytes);
    record->count++;
    record->sum += checksum;
    // Many entries are new. So put searches for them, and reports the entry if it exists.
    MDB_val value = { BASE_CHECKSUM_SIZE + image->bytes.size, NULL };
    int code = mdb_cursor_put(cursor, &key, &value, MDB_RESERVE | MDB_NOOVERWRITE);
    if (code == MDB_KEYEXIST) {
        count_off(record, &value);
        return overwrite(cursor, &key, checksum, image->bytes);
    }
    if (!code) {
        fill(value.mv_data, checksum, image->bytes);
    }
    return code;
}

static char record_key[KEY_SIZE];

enum status base_record(struct base *base, struct base_record *out, struct error *error)
{
    MDB_txn *txn;
    MDB_val key = { KEY_SIZE, record_key }, value;
    int code = mdb_txn_begin(base->env, NULL, MDB_RDONLY, &txn);
    if (code) {
        return lmdb_error(error, "read", code);
    }
    code = mdb_get(txn, base->dbi, &key, &value);
    enum status status;
    if (code) {
        status = lmdb_error(error, "read", code);
    } else {
        struct slice bytes = slice_make(value.mv_data, value.mv_size);
        status = base_record_read(slice_sub(bytes, BASE_CHECKSUM_SIZE, bytes.size), out, error);
    }
    mdb_txn_abort(txn);
    return status;
}

static int put_record(MDB_txn *txn, MDB_dbi dbi, const struct base_record *record)
{
    char bytes[BASE_CHECKSUM_SIZE + BASE_RECORD_SIZE];
    record_write(record, bytes + BASE_CHECKSUM_SIZE);
    bytes_store_u32(bytes, base_checksum(slice_make(record_key, KEY_SIZE),
                                         slice_make(bytes + BASE_CHECKSUM_SIZE, BASE_RECORD_SIZE)));
    MDB_val key = { KEY_SIZE, record_key }, value = { sizeof(bytes), bytes };
    return mdb_put(txn, dbi, &key, &value, 0);
}

// The body of a transaction. Returns a status of LMDB. It is called again if the transaction has to
// be repeated.
typedef int act(struct base *base, MDB_txn *txn, void *context);

static int try_once(struct base *base, act *run, void *context)
{
    MDB_txn *txn;
    int code = mdb_txn_begin(base->env, NULL, 0, &txn);
    if (code) {
        return code;
    }
    code = run(base, txn, context);
    if (code) {
        mdb_txn_abort(txn);
        return code;
    }
    return mdb_txn_commit(txn);
}

// Runs a transaction that writes about `size` bytes.
static enum status transact(struct base *base, uint64_t size, act *run, void *context,
                            struct error *error)
{
    enum status status = make_room(base, size, error);
    for (int attempt = 0; !status && attempt < ATTEMPTS; attempt++) {
        int code = try_once(base, run, context);
        if (!code) {
            return STATUS_OK;
        }
        // After both errors nothing has been written, and the transaction may be repeated.
        if (code == MDB_MAP_FULL) {
            status = grow_map(base, 2 * base->map_size, error);
        } else if (code != EINTR) {
            status = lmdb_error(error, "write", code);
        }
    }
    return status ? status : lmdb_error(error, "write", MDB_MAP_FULL);
}

struct commit {
    const struct images *images; // or NULL
    struct base_record before, after;
};

static int commit(struct base *base, MDB_txn *txn, void *context)
{
    struct commit *commit = context;
    int code = 0;
    commit->after = commit->before;
    if (commit->images) {
        MDB_cursor *cursor = NULL;
        code = mdb_cursor_open(txn, base->dbi, &cursor);
        for (size_t i = 0; !code && i < commit->images->count; i++) {
            code = apply(cursor, &commit->images->items[i], &commit->after);
        }
        mdb_cursor_close(cursor);
    }
    return code ? code : put_record(txn, base->dbi, &commit->after);
}

enum status base_commit(struct base *base, const struct images *images, struct base_record *record,
                        struct error *error)
{
    struct commit context = { .images = images, .before = *record };
    uint64_t size = SLACK_SIZE;
    if (images) {
        size += 2 * (images->bytes_kept + (uint64_t)images->count * IMAGE_OVERHEAD);
    }
    enum status status = transact(base, size, commit, &context, error);
    if (!status) {
        *record = context.after;
    }
    return status;
}

enum status base_copy(struct base *base, int fd, struct error *error)
{
    pthread_rwlock_rdlock(&base->map);
    int code = base->lost ? EIO : mdb_env_copyfd2(base->env, fd, 0);
    pthread_rwlock_unlock(&base->map);
    return code ? lmdb_error(error, "copy", code) : STATUS_OK;
}

// ---------------------------------------------------------------------------------------------
// Copying from one base to another

struct part {
    MDB_cursor *from;
    uint64_t size_max;
    char first[KEY_SIZE]; // the entries up to this key were copied before
    char last[KEY_SIZE];  // the last key of this part
    struct base_record before, after;
    bool ends;
};

// Moves to the first entry after the key.
static int go_behind(MDB_cursor *cursor, char reached[KEY_SIZE], MDB_val *key, MDB_val *value)
{
    *key = (MDB_val){ KEY_SIZE, reached };
    int code = mdb_cursor_get(cursor, key, value, MDB_SET_RANGE);
    if (!code && key->mv_size == KEY_SIZE && memcmp(key->mv_data, reached, KEY_SIZE) == 0) {
        code = mdb_cursor_get(cursor, key, value, MDB_NEXT);
    }
    return code;
}

// The entries are sorted, so pages are filled one after the other.
static int copy_part(struct base *to, MDB_txn *txn, void *context)
{
    struct part *part = context;
    MDB_cursor *cursor = NULL;
    MDB_val key, value;
    uint64_t size = 0;
    part->after = part->before;
    memcpy(part->last, part->first, KEY_SIZE);
    int code = mdb_cursor_open(txn, to->dbi, &cursor);
    int read = code ? code : go_behind(part->from, part->last, &key, &value);
    while (!code && !read && size < part->size_max) {
        if (key.mv_size != KEY_SIZE || value.mv_size < BASE_CHECKSUM_SIZE) {
            code = MDB_CORRUPTED;
            break;
        }
        memcpy(part->last, key.mv_data, KEY_SIZE);
        size += value.mv_size + IMAGE_OVERHEAD;
        part->after.count++;
        part->after.sum += bytes_load_u32(value.mv_data);
        code = mdb_cursor_put(cursor, &key, &value, MDB_APPEND);
        if (!code) {
            read = mdb_cursor_get(part->from, &key, &value, MDB_NEXT);
        }
    }
    mdb_cursor_close(cursor);
    part->ends = read == MDB_NOTFOUND;
    return code || part->ends ? code : read;
}

enum status base_copy_part(struct base *from, struct base *to, uint64_t size,
                           struct base_progress *progress, struct error *error)
{
    struct part part = { .size_max = size, .before = progress->record };
    uint64_t live = base_sizes(from).live;
    size = size < live ? size : live;
    memcpy(part.first, progress->reached, KEY_SIZE);
    MDB_txn *txn;
    int code = mdb_txn_begin(from->env, NULL, MDB_RDONLY, &txn);
    if (code) {
        return lmdb_error(error, "read", code);
    }
    code = mdb_cursor_open(txn, from->dbi, &part.from);
    enum status status = code ? lmdb_error(error, "read", code)
                              : transact(to, SLACK_SIZE + 2 * size, copy_part, &part, error);
    mdb_cursor_close(part.from);
    mdb_txn_abort(txn);
    if (!status) {
        progress->record = part.after;
        progress->ends = part.ends;
        memcpy(progress->reached, part.last, KEY_SIZE);
    }
    return status;
}
