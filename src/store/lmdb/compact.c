// SPDX-License-Identifier: MIT
#include "store/lmdb/compact.h"

#include "os/clock.h"
#include "os/file.h"
#include "store/key.h"
#include "store/state.h"

#include <fcntl.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

static const char copy_name[] = "base/compact.mdb";
static const char lock_name[] = "base/compact.mdb-lock"; // LMDB's

enum {
    WASTE_PARTS_FULL = 8,    // on a full disk it is done for that part of the file
    PAUSE_US = 5000000,      // before the next try, after one that was of no use
    SLACK_SIZE = 1280 << 10, // that a copy needs beside what is copied
    EMPTY_SIZE = 256 << 10,  // with less than that it is as good as new
    STEP_SIZE = 1 << 20,     // so much is copied at a time, at most
};

void compact_clean(int folder)
{
    unlinkat(folder, copy_name, 0);
    unlinkat(folder, lock_name, 0);
}

bool compact_abandon(struct store *store)
{
    struct compaction *compaction = &store->compaction;
    if (!compaction->to) {
        return false;
    }
    base_close(compaction->to);
    compaction->to = NULL;
    compaction->not_before_us = monotonic_us() + PAUSE_US;
    compact_clean(store->folder);
    return true;
}

// ---------------------------------------------------------------------------------------------
// When

// Half of the file, or more; on a full disk a part of it will do.
static bool gains_enough(const struct store *store, const struct base_sizes *sizes)
{
    uint64_t waste = sizes->used - sizes->live;
    uint64_t enough = store->full ? sizes->used / WASTE_PARTS_FULL : sizes->live;
    bool by_pages = waste >= store->options.compact_min && waste >= enough;
    // A new file is never that large.
    bool by_file = sizes->file > 2 * sizes->compact;
    bool by_rest = sizes->live < EMPTY_SIZE && sizes->file > sizes->compact;
    return by_pages || by_file || by_rest;
}

static bool fits(const struct store *store, const struct base_sizes *sizes)
{
    struct statvfs volume;
    return fstatvfs(store->folder, &volume) == 0 && (uint64_t)volume.f_bavail * volume.f_frsize >=
                                                        sizes->live + sizes->live / 8 + SLACK_SIZE;
}

static bool is_backed_up(struct store *store)
{
    bool busy = pthread_mutex_trylock(&store->backup) != 0;
    if (!busy) {
        pthread_mutex_unlock(&store->backup);
    }
    return busy;
}

bool compact_is_due(struct store *store)
{
    struct compaction *compaction = &store->compaction;
    if (compaction->to) {
        return !compaction->progress.ends || !is_backed_up(store);
    }
    struct base_sizes sizes = base_sizes(store->base);
    return gains_enough(store, &sizes) && monotonic_us() >= compaction->not_before_us &&
           fits(store, &sizes);
}

// ---------------------------------------------------------------------------------------------
// The copy

static enum status begin(struct store *store, struct error *error)
{
    struct compaction *compaction = &store->compaction;
    compaction->progress = (struct base_progress){ 0 };
    compact_clean(store->folder);
    enum status status =
        base_open_file(store->path, copy_name, store->allocator, &compaction->to, error);
    if (status) {
        compaction->to = NULL;
        compaction->not_before_us = monotonic_us() + PAUSE_US;
        compact_clean(store->folder);
    }
    return status;
}

enum status compact_follow(struct store *store, const struct images *images, struct error *error)
{
    struct compaction *compaction = &store->compaction;
    if (!compaction->to) {
        return STATUS_OK;
    }
    // Those behind what is copied will be copied as they are then, if anything still will be.
    struct store_key reached = key_read(compaction->progress.reached);
    struct images copied = *images;
    copied.count = 0;
    while (copied.count < images->count &&
           (compaction->progress.ends ||
            key_compare(&images->items[copied.count].key, &reached) <= 0)) {
        copied.count++;
    }
    enum status status =
        copied.count ? base_commit(compaction->to, &copied, &compaction->progress.record, error)
                     : STATUS_OK;
    if (store_is_lack(status)) {
        compact_abandon(store);
        return STATUS_OK;
    }
    return status;
}

static enum status sync_base_folder(const struct store *store, struct error *error)
{
    int fd;
    enum status status = file_open(store->folder, "base", O_RDONLY | O_DIRECTORY, &fd, error);
    if (!status) {
        status = folder_sync(fd, "base", error);
        close(fd);
    }
    return status;
}

// The copy takes the old file's name, and its place here. Nothing is committed to it, and no
// segment used again, before its name is certain: up to then a crash may bring back the old one.
static enum status put_in_place(struct store *store, struct error *error)
{
    struct compaction *compaction = &store->compaction;
    if (renameat(store->folder, copy_name, store->folder, "base/data.mdb")) {
        return file_error(error, "rename", copy_name);
    }
    struct base *old = store->base;
    store->base = compaction->to;
    compaction->to = NULL;
    base_close(old);
    // What one copy did not gain the next one would not gain either.
    struct base_sizes sizes = base_sizes(store->base);
    if (gains_enough(store, &sizes)) {
        compaction->not_before_us = monotonic_us() + PAUSE_US;
    }
    unlinkat(store->folder, lock_name, 0);
    return sync_base_folder(store, error);
}

static enum status finish(struct store *store, bool *finished, struct error *error)
{
    struct base_progress *progress = &store->compaction.progress;
    struct base_record record = store->record;
    if (progress->record.count != record.count || progress->record.sum != record.sum) {
        return error_set(
            error, STATUS_CORRUPT, "base/data.mdb holds %llu entries and should hold %llu",
            (unsigned long long)progress->record.count, (unsigned long long)record.count);
    }
    // A backup reads the old file.
    if (pthread_mutex_trylock(&store->backup)) {
        return STATUS_BUSY;
    }
    // Twice, so that both of LMDB's snapshots are whole.
    enum status status = base_commit(store->compaction.to, NULL, &record, error);
    if (!status) {
        status = base_commit(store->compaction.to, NULL, &record, error);
    }
    if (!status) {
        status = put_in_place(store, error);
    }
    pthread_mutex_unlock(&store->backup);
    *finished = status == STATUS_OK;
    return status;
}

enum status compact_step(struct store *store, uint64_t size, bool *finished, struct error *error)
{
    struct compaction *compaction = &store->compaction;
    *finished = false;
    enum status status = compaction->to ? STATUS_OK : begin(store, error);
    if (!status) {
        status = compaction->progress.ends ? finish(store, finished, error)
                                           : base_copy_part(store->base, compaction->to,
                                                            size < STEP_SIZE ? size : STEP_SIZE,
                                                            &compaction->progress, error);
    }
    if (store_is_lack(status)) {
        compact_abandon(store);
    }
    return status;
}
