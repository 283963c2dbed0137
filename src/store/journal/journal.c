// SPDX-License-Identifier: MIT
// Invariants: between two checkpoints that cover it, a sector is written only once, so that no
// write can damage acknowledged data. Group n + 1 is not written before group n is durable.
#include "store/journal/journal.h"

#include "os/clock.h"
#include "os/file.h"
#include "store/journal/frame.h"
#include "store/journal/sector.h"

#include <assert.h>

enum {
    KEPT_SIZE = 1 << 20, // of a buffer that is reused for the next group
    // While no thread waits for the disk, records gather longer, because each group costs a write
    // and a wake-up.
    UNHURRIED_US = 2000,
    UNHURRIED_SIZE = 1 << 20,
};

// The state of the journal's thread.
struct writer {
    struct store *store;
    struct buffer group; // the one being written
    // a header if necessary, and up to JOURNAL_PACKED_SECTORS sectors of the group
    char *packed;
    struct position at; // the next sector to write
    uint64_t number;    // of the group
};

static bool sync_is_due(const struct store *store, int64_t since_us, int64_t *wait_us)
{
    if (store->options.durability != STORE_INTERVAL || store->synced == store->durable) {
        *wait_us = INT64_MAX;
        return false;
    }
    int64_t left_us = since_us + store->options.interval_us - monotonic_us();
    *wait_us = left_us;
    return left_us <= 0;
}

bool journal_sync(struct store *store)
{
    uint64_t upto = store->durable, first = store->synced_generation, last = store->end.generation;
    if (store->synced == upto || store_has_failed(store)) {
        return !store_has_failed(store);
    }
    store->syncing++;
    pthread_mutex_unlock(&store->mutex);
    struct error error = { 0 };
    enum status status = STATUS_OK;
    for (uint64_t generation = first; !status && generation <= last; generation++) {
        int64_t number = segments_find(&store->segments, generation);
        if (number >= 0) {
            status = segments_sync(&store->segments, (uint32_t)number, &error);
        }
    }
    pthread_mutex_lock(&store->mutex);
    store->syncing--;
    if (status) {
        store_fail(store, &error);
        return false;
    }
    store->figures.syncs++;
    if (store->synced < upto) {
        store->synced = upto;
        store->synced_generation = last;
    }
    store_check(store);
    return true;
}

// Returns the file for the writer's generation, at its beginning. Waits until a file is free;
// negative if none will be.
static int64_t take_segment(struct writer *writer, struct error *error)
{
    struct store *store = writer->store;
    pthread_mutex_lock(&store->mutex);
    int64_t number;
    while ((number = segments_take(&store->segments, writer->at.generation)) < 0) {
        if (store_has_failed(store) || (store->gives_up && store->stuck)) {
            *error = store_has_failed(store) ? store->failure : store->space;
            break;
        }
        store->wants_segment = true;
        pthread_cond_signal(&store->wake);
        pthread_cond_wait(&store->work, &store->mutex);
    }
    store->wants_segment = false;
    // So that more files are free when this one is full.
    pthread_cond_signal(&store->wake);
    pthread_mutex_unlock(&store->mutex);
    return number;
}

// Packs `count` sectors of the group, from `first` on.
static void pack(const struct writer *writer, char *sector, uint32_t first, uint32_t count,
                 uint32_t total)
{
    for (uint32_t i = first; i < first + count; i++, sector += SECTOR_SIZE) {
        size_t start = (size_t)i * SECTOR_ROOM, left = writer->group.size - start;
        size_t size = left < SECTOR_ROOM ? left : SECTOR_ROOM;
        memcpy(sector + SECTOR_HEAD_SIZE, writer->group.data + start, size);
        memset(sector + SECTOR_HEAD_SIZE + size, 0, SECTOR_ROOM - size);
        sector_seal(sector, writer->store->segments.seed,
                    (struct sector_stamp){ writer->number, i, i + 1 == total });
    }
}

// On a full disk it waits and repeats the write: nothing was acknowledged, and the same bytes go to
// the same position.
static enum status write_packed(struct writer *writer, uint32_t number, uint32_t sector,
                                uint32_t count, struct error *error)
{
    struct store *store = writer->store;
    char name[SEGMENT_NAME_SIZE];
    segment_name(name, number);
    int fd = segments_get(&store->segments, number).fd;
    for (;;) {
        enum status status = file_write(fd, name, writer->packed, (size_t)count * SECTOR_SIZE,
                                        (uint64_t)sector * SECTOR_SIZE, error);
        pthread_mutex_lock(&store->mutex);
        bool full = status == STATUS_NO_SPACE, stop = store->gives_up;
        if (full != store->journal_full) {
            store->journal_full = full;
            store->space = full ? *error : store->space;
            store_notify(store);
            pthread_cond_signal(&store->wake); // it may release the reserve
        }
        if (full && !stop) {
            store_sleep(store, &store->work, STORE_RETRY_US);
        }
        pthread_mutex_unlock(&store->mutex);
        if (!full || stop) {
            return status;
        }
    }
}

static enum status sync_segment(struct writer *writer, uint32_t number, struct error *error)
{
    struct store *store = writer->store;
    int64_t start_us = monotonic_us();
    enum status status = segments_sync(&store->segments, number, error);
    uint64_t took_us = (uint64_t)(monotonic_us() - start_us);
    pthread_mutex_lock(&store->mutex);
    struct store_figures *figures = &store->figures;
    figures->syncs++;
    figures->sync_us += took_us;
    figures->sync_us_max = took_us > figures->sync_us_max ? took_us : figures->sync_us_max;
    pthread_mutex_unlock(&store->mutex);
    return status;
}

// Writes sectors of the group to their segment, after its header if they are the first in it. Syncs
// if the rest of the group is in another segment.
static enum status write_part(struct writer *writer, uint32_t *done, uint32_t total,
                              struct error *error)
{
    struct segments *segments = &writer->store->segments;
    writer->at = segments_place(segments, writer->at);
    int64_t number = segments_find(segments, writer->at.generation);
    uint32_t head = 0;
    if (number < 0) {
        assert(writer->at.sector == 1);
        number = take_segment(writer, error);
        if (number < 0) {
            return error->status;
        }
        segment_head(segments, (uint32_t)number, writer->at.generation, writer->packed);
        head = 1;
    }
    uint32_t room = segments->sectors - writer->at.sector, count = total - *done;
    count = count < room ? count : room;
    count = count < JOURNAL_PACKED_SECTORS ? count : JOURNAL_PACKED_SECTORS;
    pack(writer, writer->packed + (size_t)head * SECTOR_SIZE, *done, count, total);
    enum status status =
        write_packed(writer, (uint32_t)number, writer->at.sector - head, count + head, error);
    writer->at.sector += count;
    *done += count;
    bool ends = *done == total || writer->at.sector == segments->sectors;
    if (!status && ends && writer->store->options.durability == STORE_ALWAYS) {
        status = sync_segment(writer, (uint32_t)number, error);
    }
    return status;
}

static enum status write_group(struct writer *writer, struct error *error)
{
    size_t size = writer->group.size;
    uint32_t total = (uint32_t)((size + SECTOR_ROOM - 1) / SECTOR_ROOM), done = 0;
    enum status status = STATUS_OK;
    while (!status && done < total) {
        status = write_part(writer, &done, total, error);
    }
    return status;
}

// Returns whether the checkpoint's thread should wake up. With the mutex held.
static bool note_durable(struct writer *writer)
{
    struct store *store = writer->store;
    bool begins = store->durable == store->record.covered;
    bool was_much = store->behind_size >= store->much_size;
    store->behind_size += writer->group.size;
    store->durable = writer->number;
    store->end = writer->at;
    store->writing_size = 0;
    if (store->options.durability == STORE_ALWAYS) {
        store->synced = writer->number;
        store->synced_generation = writer->at.generation;
    }
    store->figures.groups++;
    store->figures.group_bytes += writer->group.size;
    store_check(store);
    store_eased(store);
    return begins || (!was_much && store->behind_size >= store->much_size) || store_is_short(store);
}

// Called without the mutex, so that the threads that wake up need not wait for it.
static void announce_durable(struct store *store, bool wake)
{
    pthread_cond_broadcast(&store->progress);
    if (wake) {
        pthread_cond_signal(&store->wake);
    }
    store_notify(store);
}

// Takes the gathering group to write it. With the mutex held.
static void take_group(struct writer *writer)
{
    struct store *store = writer->store;
    buffer_swap(&store->gather, &writer->group);
    buffer_clear(&store->gather);
    if (store->gather.capacity > KEPT_SIZE && writer->group.size < KEPT_SIZE) {
        buffer_release(&store->gather);
    }
    writer->number = store->gathering++;
    writer->at = store->end; // a checkpoint may have moved it
    store->writing_size = writer->group.size;
    store_check(store);
    store_eased(store);
    frame_seal(&writer->group, store->synced);
}

// How much longer the group may gather.
static int64_t may_gather_us(const struct store *store, int64_t last_us)
{
    if (store->options.durability != STORE_NEVER || store->stopping ||
        store->gather.size >= UNHURRIED_SIZE) {
        return 0;
    }
    return last_us + UNHURRIED_US - monotonic_us();
}

static void loop(struct writer *writer)
{
    struct store *store = writer->store;
    int64_t unsynced_since_us = 0, last_us = 0, wait_us;
    while (!store_has_failed(store)) {
        if (sync_is_due(store, unsynced_since_us, &wait_us)) {
            (void)journal_sync(store);
            continue;
        }
        if (store->gather.size == 0 || store->held) {
            if (store->stopping && store->gather.size == 0) {
                break;
            }
            store_sleep(store, &store->work, wait_us);
            continue;
        }
        wait_us = may_gather_us(store, last_us);
        if (wait_us > 0) {
            store_sleep(store, &store->work, wait_us);
            continue;
        }
        bool clean = store->synced == store->durable;
        take_group(writer);
        pthread_mutex_unlock(&store->mutex);
        struct error error = { 0 };
        enum status status = write_group(writer, &error);
        pthread_mutex_lock(&store->mutex);
        if (status) {
            store_fail(store, &error);
            break;
        }
        last_us = monotonic_us();
        unsynced_since_us = clean ? last_us : unsynced_since_us;
        bool wake = note_durable(writer);
        pthread_mutex_unlock(&store->mutex);
        announce_durable(store, wake);
        pthread_mutex_lock(&store->mutex);
    }
}

void *journal_run(void *context)
{
    struct store *store = context;
    pthread_setname_np(pthread_self(), "journal");
    struct writer writer = { .store = store, .packed = store->packed };
    buffer_init(&writer.group, store->allocator, UINT32_MAX);
    pthread_mutex_lock(&store->mutex);
    loop(&writer);
    if (store->options.durability != STORE_NEVER) {
        (void)journal_sync(store);
    }
    store->ended = true;
    pthread_cond_signal(&store->wake);
    pthread_cond_broadcast(&store->progress);
    pthread_mutex_unlock(&store->mutex);
    buffer_release(&writer.group);
    return NULL;
}
