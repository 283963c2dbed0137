// SPDX-License-Identifier: MIT
// A transaction of LMDB ends with a sync of everything that it wrote, and the journal's syncs wait
// for the same disk. So a checkpoint is divided into slices, each as large as the disk can write in
// `stall_us` by measurement, with pauses between them while the journal has room. The size of a
// slice is what remains when only the newest image of each record is kept: a slice covers as many
// groups as are needed for that size. Of jobs that were created and deleted in these groups nothing
// remains.
#include "store/lmdb/checkpoint.h"

#include "os/clock.h"
#include "store/journal/journal.h"
#include "store/journal/reader.h"
#include "store/journal/trim.h"
#include "store/lmdb/images.h"
#include "store/reserve.h"

#include <assert.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum {
    SPARE_SEGMENTS = 2,
    SLICE_SIZE_MIN = 64 << 10,
    SLICE_SIZE_MAX = 16 << 20,
    GATHER_SIZE_MAX = 64 << 20, // bytes of groups that one slice reads
    CALM_INTERVALS = 10,        // so many intervals without writes before journal files are removed
    CALM_US_MAX = 60000000,
};

static bool is_behind(const struct store *store)
{
    return store->durable > store->record.covered;
}

// Whether the journal is short of room, or more than half of it is in use.
static bool is_pressed(struct store *store)
{
    uint32_t in_use = store->segments.count - segments_free_count(&store->segments);
    return store_is_short(store) || 2 * in_use > store->options.segments_max;
}

// How much longer nothing may be written until the journal counts as calm.
static int64_t calm_left_us(const struct store *store)
{
    int64_t interval_us = store->options.checkpoint_us;
    int64_t calm_us =
        interval_us < CALM_US_MAX / CALM_INTERVALS ? CALM_INTERVALS * interval_us : CALM_US_MAX;
    return store->covered_us + calm_us - monotonic_us();
}

// Whether a slice could not be covered, and must be before the store may grow again.
static bool has_lacked(const struct store *store)
{
    return store->full && store->record.covered < store->lacked;
}

static bool is_urgent(struct store *store)
{
    return store->ended || store->wanted > store->record.covered || has_lacked(store) ||
           is_pressed(store);
}

// Free bytes in the base's file.
static uint64_t free_inside(const struct store *store)
{
    return store->figures.base_used_bytes - store->figures.base_live_bytes;
}

// Updates the sizes. With the mutex held, which it releases temporarily.
static void measure(struct store *store)
{
    struct statvfs volume = { 0 };
    pthread_mutex_unlock(&store->mutex);
    struct base_sizes sizes = base_sizes(store->base);
    (void)fstatvfs(store->folder, &volume);
    pthread_mutex_lock(&store->mutex);
    store->figures.base_bytes = sizes.file;
    store->figures.base_used_bytes = sizes.used;
    store->figures.base_live_bytes = sizes.live;
    store->figures.volume_free_bytes = (uint64_t)volume.f_bavail * volume.f_frsize;
}

// Records that there is no disk space or memory, or that there is again. With the mutex held.
static void set_full(struct store *store, const struct error *error)
{
    if (error) {
        store->space = *error;
    }
    if (store->full == (error != NULL)) {
        return;
    }
    store->full = error != NULL;
    store->free_at_full = free_inside(store);
    store_check(store);
    store_log(store, store->full ? STORE_ERROR : STORE_INFO, "%s",
              store->full ? error_sentence(error) : "the store can grow again");
    pthread_cond_signal(&store->work);
    pthread_cond_broadcast(&store->progress);
    store_notify(store);
}

// Deletes the reserve, and accepts no new jobs from now on: the space is for changes to existing
// jobs, and for what was accepted already. Returns whether there was a reserve. With the mutex
// held, which it releases temporarily.
static bool give_reserve(struct store *store, const struct error *lack)
{
    set_full(store, lack);
    if (!store->has_reserve) {
        return false;
    }
    store->has_reserve = false;
    pthread_mutex_unlock(&store->mutex);
    reserve_give(store->folder);
    pthread_mutex_lock(&store->mutex);
    return true;
}

// Frees disk space: first a copy of the base that is being made, which can be made again, then the
// reserve. Returns whether there was any. With the mutex held, which it releases temporarily.
static bool find_space(struct store *store, const struct error *lack)
{
    pthread_mutex_unlock(&store->mutex);
    bool found = compact_abandon(store);
    pthread_mutex_lock(&store->mutex);
    return found || give_reserve(store, lack);
}

// To be called when there is no way to get the journal more room. With the mutex held.
static void set_stuck(struct store *store)
{
    if (store->stuck || !store_is_short(store)) {
        return;
    }
    store->stuck = true;
    store_check(store);
    store_log(store, STORE_ERROR, "the journal has no room left, and waits: %s",
              error_sentence(&store->space));
    pthread_cond_signal(&store->work);
    store_eased(store);
    store_notify(store);
}

// ---------------------------------------------------------------------------------------------
// A slice

// Collects the images of the groups after the covered ones, up to the group `last` or as many as
// make a slice.
static enum status gather_images(struct store *store, struct images *images,
                                 struct base_record *record, uint64_t last, struct error *error)
{
    struct reader reader;
    images_clear(images);
    if (reader_init(&reader, &store->segments, record->next, record->covered + 1)) {
        return error_set(error, STATUS_NO_MEMORY, "out of memory");
    }
    enum status status = STATUS_OK;
    while (!status && record->covered < last && images->bytes_kept < store->slice_size &&
           images->bytes < GATHER_SIZE_MAX) {
        bool found = false;
        struct slice records;
        status = reader_next(&reader, &found, &records, error);
        if (!status && !found) {
            status = error_set(error, STATUS_CORRUPT,
                               "group %llu, which was written, cannot be read back",
                               (unsigned long long)reader.group);
        }
        if (!status && images_add(images, records)) {
            status = error_set(error, STATUS_NO_MEMORY, "out of memory");
        }
        if (!status) {
            record->covered++;
        }
    }
    record->next = segments_place(&store->segments, reader.at);
    reader_release(&reader);
    images_sort(images);
    return status;
}

// Adapts the size of the next slice to the speed of the disk.
static void adapt(struct store *store, int64_t took_us)
{
    uint64_t size = store->slice_size;
    if (took_us > store->options.stall_us) {
        size /= 2;
    } else if (took_us < store->options.stall_us / 2) {
        size *= 2;
    }
    // On a full disk, small slices fit into space that earlier ones have freed.
    size = size < SLICE_SIZE_MIN || store->full ? SLICE_SIZE_MIN : size;
    store->slice_size = size > SLICE_SIZE_MAX ? SLICE_SIZE_MAX : size;
}

static void note_covered(struct store *store, const struct base_record *record,
                         const struct images *images, uint64_t bytes, int64_t took_us)
{
    struct store_figures *figures = &store->figures;
    store->record = *record;
    store->covered_us = monotonic_us();
    store->behind_size -= bytes < store->behind_size ? bytes : store->behind_size;
    if (!is_behind(store)) {
        store->behind_size = 0;
    }
    segments_free_before(&store->segments, record->next.generation);
    store_check(store);
    figures->checkpoints++;
    figures->records_checkpointed += images->count;
    if ((uint64_t)took_us > figures->checkpoint_us_max) {
        figures->checkpoint_us_max = (uint64_t)took_us;
    }
    store_eased(store);
    pthread_cond_broadcast(&store->progress);
}

// Commits to the base, and to its copy if one is being made. Without the mutex.
static enum status commit_images(struct store *store, const struct images *images,
                                 struct base_record *record, struct error *error)
{
    enum status status = base_commit(store->base, images, record, error);
    return status ? status : compact_follow(store, images, error);
}

// With the mutex held, which it releases temporarily.
static enum status cover_slice(struct store *store, struct images *images)
{
    // Groups are synced before they are covered, so that the journal never ends before the base.
    if (!journal_sync(store)) {
        return store->failure.status;
    }
    uint64_t last = store->synced;
    struct base_record record = store->record;
    struct error error = { 0 };
    pthread_mutex_unlock(&store->mutex);
    enum status status = gather_images(store, images, &record, last, &error);
    uint64_t bytes = images->bytes;
    int64_t start_us = monotonic_us();
    if (!status) {
        status = commit_images(store, images, &record, &error);
    }
    pthread_mutex_lock(&store->mutex);
    while (status == STATUS_NO_SPACE && find_space(store, &error)) {
        pthread_mutex_unlock(&store->mutex);
        status = commit_images(store, images, &record, &error);
        pthread_mutex_lock(&store->mutex);
    }
    int64_t took_us = monotonic_us() - start_us;
    if (!status) {
        note_covered(store, &record, images, bytes, took_us);
        adapt(store, took_us);
        if (!is_urgent(store)) {
            store_sleep(store, &store->wake, took_us);
        }
    } else if (store_is_lack(status)) {
        // Small slices fit into space that earlier ones have freed; a large slice needs no space
        // for records that it deletes again. Both sizes are tried alternately.
        store->slice_size = store->slice_size == SLICE_SIZE_MIN ? GATHER_SIZE_MAX : SLICE_SIZE_MIN;
        store->lacked = store->record.covered + 1;
        set_full(store, &error);
    } else {
        store_fail(store, &error);
    }
    return status;
}

// ---------------------------------------------------------------------------------------------
// Space

// The base counts the file before it is used, so that a missing file is detected. Without the
// mutex.
static enum status add_segment(struct store *store, struct base_record *record, struct error *error)
{
    struct segment segment = { .free = true };
    if (segments_reserve(&store->segments)) {
        return error_set(error, STATUS_NO_MEMORY, "no memory for one more journal file");
    }
    enum status status = segments_make(&store->segments, record->segments, &segment.fd, error);
    if (status) {
        return status;
    }
    record->segments++;
    status = base_commit(store->base, NULL, record, error);
    if (status) {
        record->segments--;
        close(segment.fd);
        trim_clean(store->folder, record->segments);
        return status;
    }
    enum status added = segments_add(&store->segments, segment);
    assert(!added); // its slot was reserved
    return STATUS_OK;
}

// Makes one more segment, using the reserve if the journal needs one urgently. With the mutex held,
// which it releases temporarily.
static enum status make_segment(struct store *store)
{
    struct base_record record = store->record;
    struct error error = { 0 };
    pthread_mutex_unlock(&store->mutex);
    enum status status = add_segment(store, &record, &error);
    pthread_mutex_lock(&store->mutex);
    while (status == STATUS_NO_SPACE && store_is_short(store) && find_space(store, &error)) {
        pthread_mutex_unlock(&store->mutex);
        status = add_segment(store, &record, &error);
        pthread_mutex_lock(&store->mutex);
    }
    if (!status) {
        store->record = record;
        store_check(store);
        store_eased(store);
    } else if (store_is_lack(status)) {
        set_full(store, &error);
    } else {
        store_fail(store, &error);
    }
    return status;
}

// Whether the journal has nothing to write.
static bool is_idle(const struct store *store)
{
    return store->writing_size == 0 && store->gather.size == 0;
}

// Whether there may be one more segment. The limit does not apply if a single group is larger than
// all segments, or if a backup keeps them in use.
static bool may_have_segment(struct store *store)
{
    return store->segments.count < store->options.segments_max ||
           (!is_behind(store) &&
            (store->wants_segment || (is_idle(store) && store_is_short(store))));
}

// Whether the journal is short of room, or has fewer than `spare` free segments, and may have
// another one.
static bool needs_segment(struct store *store, uint32_t spare)
{
    return (segments_free_count(&store->segments) < spare || store_is_short(store)) &&
           may_have_segment(store);
}

// Without a reserve, space inside the base's file that has become free is sufficient: twice the
// size to start, the size to continue.
static bool has_room_inside(const struct store *store, uint64_t times)
{
    return free_inside(store) >= store->free_at_full + times * store->options.reserve_size;
}

// Tries to get back what is lacking. Segments for the journal come first: while it has too few, the
// next lack of space is near.
static enum status regain_space(struct store *store)
{
    if (store->journal_full) {
        return STATUS_NO_SPACE;
    }
    if (has_lacked(store)) {
        return store->space.status;
    }
    struct error error = { 0 };
    pthread_mutex_unlock(&store->mutex);
    enum status status = reserve_take(store->folder, store->options.reserve_size, &error);
    pthread_mutex_lock(&store->mutex);
    store->has_reserve = status == STATUS_OK;
    while (!status && needs_segment(store, SPARE_SEGMENTS)) {
        status = make_segment(store);
    }
    if (!status && store->has_reserve) {
        set_full(store, NULL);
    } else if (status == STATUS_NO_SPACE && has_room_inside(store, 2) && !store_is_short(store)) {
        set_full(store, NULL);
        status = STATUS_OK;
    }
    return status;
}

// ---------------------------------------------------------------------------------------------
// Giving space back

// Makes a step of a compaction. With the mutex held, which it releases temporarily.
static bool compact_some(struct store *store)
{
    struct error error = { 0 };
    bool finished = false;
    uint64_t size = store->slice_size;
    // With the mutex held, so that a signal between the check and the wait is not missed.
    if (!compact_is_due(store)) {
        return false;
    }
    pthread_mutex_unlock(&store->mutex);
    int64_t start_us = monotonic_us();
    enum status status = compact_step(store, size, &finished, &error);
    int64_t took_us = monotonic_us() - start_us;
    pthread_mutex_lock(&store->mutex);
    store->figures.compactions += finished;
    if (status && !store_is_lack(status) && status != STATUS_BUSY) {
        store_fail(store, &error);
    } else if (!is_urgent(store)) {
        adapt(store, took_us);
        store_sleep(store, &store->wake, took_us);
    }
    return true;
}

// The same for the journal, when it has been calm, or when the space is needed.
static bool trim_some(struct store *store)
{
    struct error error = { 0 };
    if (!trim_is_due(store) || (!store->full && calm_left_us(store) > 0)) {
        return false;
    }
    enum status status = trim_step(store, &error);
    if (status && !store_is_lack(status) && status != STATUS_BUSY) {
        store_fail(store, &error);
    }
    return status == STATUS_OK;
}

static bool tidy(struct store *store)
{
    return !store->stopping && (compact_some(store) || trim_some(store));
}

// ---------------------------------------------------------------------------------------------
// The thread

// Waits until there may be something to do.
static void rest(struct store *store, int64_t since_us)
{
    if (!is_behind(store)) {
        int64_t left_us = calm_left_us(store);
        bool calm = trim_is_due(store) && left_us > 0;
        store_sleep(store, &store->wake, calm ? left_us : INT64_MAX);
        return;
    }
    since_us = since_us ? since_us : monotonic_us();
    store_sleep(store, &store->wake, since_us + store->options.checkpoint_us - monotonic_us());
}

static bool is_due(struct store *store, int64_t since_us)
{
    return is_behind(store) &&
           (is_urgent(store) || store->behind_size >= store->much_size ||
            (since_us && monotonic_us() - since_us >= store->options.checkpoint_us));
}

// The disk is full, and nothing more can be covered: frees what it can for the journal.
static enum status relieve(struct store *store, enum status status)
{
    if (store->journal_full) {
        const struct error lack = store->space;
        (void)find_space(store, &lack);
    }
    // A backup that has ended may have kept some in use.
    segments_free_before(&store->segments, store->record.next.generation);
    store_eased(store);
    if (store_is_short(store) && may_have_segment(store)) {
        status = make_segment(store);
    }
    if (store_is_lack(status)) {
        set_stuck(store);
    }
    return status;
}

static void loop(struct store *store, struct images *images)
{
    int64_t since_us = 0; // since when there has been something to cover
    while (!store_has_failed(store)) {
        enum status status = STATUS_OK;
        bool acted = true;
        if (!is_behind(store)) {
            since_us = 0;
        } else if (!since_us) {
            since_us = monotonic_us();
        }
        uint64_t compactions = store->figures.compactions;
        bool due = is_due(store, since_us);
        if (!store->full && needs_segment(store, due ? 1 : SPARE_SEGMENTS)) {
            status = make_segment(store);
        } else if (due) {
            status = cover_slice(store, images);
        } else {
            acted = tidy(store);
        }
        if (acted) {
            measure(store);
        }
        if (!store->full && !store->has_reserve && !has_room_inside(store, 1)) {
            const struct error lack = store->space;
            set_full(store, &lack);
        }
        if (store->ended && (status || !is_behind(store))) {
            break;
        }
        if ((store->full || store->journal_full) && (!due || store_is_lack(status))) {
            status = relieve(store, status);
        }
        // The reserve would take the space that a compaction needs; it is made after the
        // compaction.
        if (!status && store->full &&
            (store->stopping || store->figures.compactions > compactions ||
             !compact_is_due(store))) {
            status = regain_space(store);
        }
        // No event reports free disk space, so it is polled.
        if (status || (store->full && !acted)) {
            store_sleep(store, &store->wake, STORE_RETRY_US);
        } else if (!acted) {
            rest(store, since_us);
        }
    }
}

void *checkpoint_run(void *context)
{
    struct store *store = context;
    pthread_setname_np(pthread_self(), "checkpoint");
    struct images images;
    images_init(&images, store->allocator);
    pthread_mutex_lock(&store->mutex);
    measure(store);
    loop(store, &images);
    pthread_cond_broadcast(&store->progress);
    pthread_mutex_unlock(&store->mutex);
    images_release(&images);
    return NULL;
}
