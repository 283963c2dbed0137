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
static const char lock_name[] = "base/compact.mdb-lock"; // made by LMDB

enum {
    WASTE_PARTS_FULL = 8,    // on a full disk this part of the file is enough to gain
    PAUSE_US = 5000000,      // until the next attempt, after one that gained nothing
    SLACK_SIZE = 1280 << 10, // that a copy needs in addition to the copied entries
    EMPTY_SIZE = 256 << 10,  // free space up to this size is not worth a compaction
    STEP_SIZE = 1 << 20,     // copied at a time, at most
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
// Whether to compact

// Half of the file; on a full disk less.
static bool gains_enough(const struct store *store, const struct base_sizes *sizes)
{
    uint64_t waste = sizes->used - sizes->live;
    uint64_t enough = store->full ? sizes->used / WASTE_PARTS_FULL : sizes->live;
    bool by_pages = waste >= store->options.compact_min && waste >= enough;
    // False right after a rewrite, so the file is not rewritten again and again.
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
    // Entries after this key will be copied in their state at that time, if they still exist.
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

// Renames the copy to the name of the old file, and uses it. Nothing is committed to it, and no
// segment is reused, before the rename is durable: until then a crash may bring the old file back.
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
    // If this copy gained little, the next one would not gain more.
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
    // Twice, so that both of LMDB's snapshots contain everything.
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
