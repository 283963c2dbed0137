// SPDX-License-Identifier: MIT
#include "store/store.h"

#include "os/clock.h"
#include "os/file.h"
#include "os/thread.h"
#include "store/create.h"
#include "store/journal/frame.h"
#include "store/journal/journal.h"
#include "store/journal/sector.h"
#include "store/journal/trim.h"
#include "store/lmdb/checkpoint.h"
#include "store/lock.h"
#include "store/recover.h"
#include "store/reserve.h"
#include "store/state.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    SENTENCE_SIZE = 512,
    PACKED_SIZE = (1 + JOURNAL_PACKED_SECTORS) * SECTOR_SIZE,
    SLICE_SIZE_AT_FIRST = 1 << 20,
    // So many segments of the journal may be ahead of the base before a checkpoint starts early. A
    // larger value means that more records are deleted or replaced before they would be written to
    // the base.
    MUCH_SEGMENTS = 4,
    // So much of the journal's room is not offered to the host, so that records which are accepted
    // while the room runs out can be written. For small segments it is a part of the segment.
    MARGIN_SIZE = 256 << 10,
    MARGIN_PARTS = 4,
};

// ---------------------------------------------------------------------------------------------
// Functions for all threads

void store_log(const struct store *store, enum store_level level, const char *format, ...)
{
    if (!store->options.log) {
        return;
    }
    char sentence[SENTENCE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(sentence, sizeof(sentence), format, arguments);
    va_end(arguments);
    store->options.log(store->options.log_context, level, sentence);
}

bool store_has_failed(const struct store *store)
{
    return store->failure.status != STATUS_OK;
}

void store_notify(const struct store *store)
{
    // Fails only if the event is not read for 2^64 groups.
    (void)eventfd_write(store->event, 1);
}

static bool is_not_behind(struct position a, struct position b)
{
    return a.generation > b.generation || (a.generation == b.generation && a.sector >= b.sector);
}

// At most one group is being written, after the durable ones; the next group gathers.
static void check_groups(const struct store *store)
{
    uint64_t being_written = store->writing_size > 0;
    assert(store->gathering == store->durable + 1 + being_written);
    assert(store->gather.size == 0 || store->gather.size > FRAME_HEAD_SIZE);
    assert(store->synced <= store->durable);
    assert(store->options.durability != STORE_ALWAYS || store->synced == store->durable);
    assert(store->wanted <= store->durable);
}

// A group is synced before it is covered, and the journal begins where the base ends.
static void check_covered(const struct store *store)
{
    const struct base_record *record = &store->record;
    assert(record->covered <= store->synced);
    assert(is_not_behind(segments_place(&store->segments, store->end), record->next));
    assert(store->synced_generation <= store->end.generation);
    assert(record->segments >= 2);
    assert(store->lacked <= store->durable);
}

static void check_space(const struct store *store)
{
    assert(!store->full || store_is_lack(store->space.status));
    assert(!store->stuck || store_is_lack(store->space.status));
    assert(!store->journal_full || store->space.status == STATUS_NO_SPACE);
}

void store_check(const struct store *store)
{
    check_groups(store);
    check_covered(store);
    check_space(store);
}

static uint64_t sectors_of(uint64_t size)
{
    return (size + SECTOR_ROOM - 1) / SECTOR_ROOM;
}

int64_t store_spare_size(struct store *store)
{
    int64_t given = (int64_t)(sectors_of(store->writing_size) + sectors_of(store->gather.size));
    return ((int64_t)segments_room(&store->segments, store->end) - given) * SECTOR_ROOM;
}

bool store_is_short(struct store *store)
{
    int64_t part = (int64_t)(store->segments.sectors - 1) * SECTOR_ROOM / MARGIN_PARTS;
    return store_spare_size(store) < (part < MARGIN_SIZE ? part : MARGIN_SIZE);
}

static enum store_state get_state(struct store *store)
{
    if (store_has_failed(store)) {
        return STORE_FAILED;
    }
    if (store->journal_full || store->stuck) {
        return STORE_STUCK;
    }
    if (store->gather.size > store->options.gather_max || store_is_short(store)) {
        return STORE_BUSY;
    }
    return store->full ? STORE_FULL : STORE_READY;
}

void store_eased(struct store *store)
{
    bool tell = false;
    if (store->wants_segment) {
        pthread_cond_signal(&store->work);
    }
    if (store->stuck && !store_is_short(store)) {
        store->stuck = false;
        tell = true;
    }
    if (store->was_busy && get_state(store) != STORE_BUSY) {
        store->was_busy = false;
        tell = true;
    }
    if (tell) {
        store_notify(store);
    }
}

void store_fail(struct store *store, const struct error *error)
{
    if (store_has_failed(store)) {
        return;
    }
    store->failure = *error;
    store_log(store, STORE_ERROR, "nothing is written any more: %s", error_sentence(error));
    pthread_cond_broadcast(&store->progress);
    pthread_cond_broadcast(&store->work);
    pthread_cond_broadcast(&store->wake);
    store_notify(store);
}

void store_sleep(struct store *store, pthread_cond_t *condition, int64_t us)
{
    if (us == INT64_MAX) {
        pthread_cond_wait(condition, &store->mutex);
    } else if (us > 0) {
        (void)condition_wait_until(condition, &store->mutex, monotonic_us() + us);
    }
}

// ---------------------------------------------------------------------------------------------
// Opening and closing

static void set_defaults(struct store_options *options)
{
    options->interval_us = options->interval_us ? options->interval_us : 100000;
    options->segment_size = options->segment_size ? options->segment_size : 16 << 20;
    options->segments_max = options->segments_max ? options->segments_max : 64;
    options->gather_max = options->gather_max ? options->gather_max : 64 << 20;
    options->reserve_size = options->reserve_size ? options->reserve_size : 32 << 20;
    options->compact_min = options->compact_min ? options->compact_min : 1 << 20;
    options->checkpoint_us = options->checkpoint_us ? options->checkpoint_us : 1000000;
    options->stall_us = options->stall_us ? options->stall_us : 10000;
}

static enum status check_options(const struct store_options *options, struct error *error)
{
    if (options->segment_size < SEGMENT_SIZE_MIN || options->segment_size % SECTOR_SIZE ||
        options->segment_size > UINT32_MAX) {
        return error_set(error, STATUS_INVALID,
                         "a segment must have %d to 4294966784 bytes, a multiple of %d",
                         SEGMENT_SIZE_MIN, SECTOR_SIZE);
    }
    if (options->segments_max < 2 || options->interval_us < 0 || options->checkpoint_us < 0 ||
        options->stall_us < 0) {
        return error_set(error, STATUS_INVALID,
                         "there must be at least 2 segments, and no time below 0");
    }
    return STATUS_OK;
}

bool store_is_there(const char *path)
{
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) {
        return errno != ENOENT;
    }
    bool there = faccessat(folder, "base", F_OK, 0) == 0 ||
                 create_check_all_unused(folder, NULL) != STATUS_OK;
    close(folder);
    return there;
}

static enum status open_folder(struct store *store, struct error *error)
{
    if (mkdir(store->path, 0700) && errno != EEXIST) {
        return file_error(error, "make", store->path);
    }
    return file_open(AT_FDCWD, store->path, O_RDONLY | O_DIRECTORY, &store->folder, error);
}

// If another process has the lock, the message names it.
static enum status take_lock(struct store *store, struct error *error)
{
    enum status status =
        lock_take(store->folder, store->path, O_RDWR | O_CREAT, &store->lock, error);
    if (status) {
        return status;
    }
    char text[32];
    int size = snprintf(text, sizeof(text), "%ld", (long)getpid());
    if (ftruncate(store->lock, 0)) {
        return file_error(error, "write", "lock");
    }
    return file_write(store->lock, "lock", text, (size_t)size, 0, error);
}

static bool init_threads(struct store *store)
{
    return !pthread_mutex_init(&store->mutex, NULL) && !pthread_mutex_init(&store->backup, NULL) &&
           !condition_init(&store->work) && !condition_init(&store->wake) &&
           !condition_init(&store->progress);
}

static struct store *store_new(const struct store_options *options)
{
    const struct allocator *allocator = options->allocator;
    struct store *store = mem_zalloc(allocator, sizeof(*store));
    if (!store) {
        return NULL;
    }
    store->options = *options;
    store->allocator = allocator;
    store->folder = store->lock = store->event = -1;
    store->path_size = strlen(options->path) + 1;
    buffer_init(&store->pending, allocator, UINT32_MAX);
    buffer_init(&store->gather, allocator, UINT32_MAX);
    store->slice_size = SLICE_SIZE_AT_FIRST;
    store->much_size = MUCH_SEGMENTS * options->segment_size;
    store->path = mem_alloc(allocator, store->path_size);
    store->packed = mem_alloc(allocator, PACKED_SIZE);
    if (!store->path || !store->packed || !init_threads(store)) {
        mem_free(allocator, store->path, store->path ? store->path_size : 0);
        mem_free(allocator, store->packed, store->packed ? PACKED_SIZE : 0);
        mem_free(allocator, store, sizeof(*store));
        return NULL;
    }
    memcpy(store->path, options->path, store->path_size);
    return store;
}

static void close_fd(int fd)
{
    if (fd >= 0) {
        close(fd);
    }
}

static void store_free(struct store *store)
{
    const struct allocator *allocator = store->allocator;
    compact_abandon(store);
    base_close(store->base);
    if (store->segments.sectors) {
        segments_release(&store->segments);
    }
    close_fd(store->event);
    close_fd(store->lock); // releases the lock
    close_fd(store->folder);
    buffer_release(&store->pending);
    buffer_release(&store->gather);
    pthread_cond_destroy(&store->work);
    pthread_cond_destroy(&store->wake);
    pthread_cond_destroy(&store->progress);
    pthread_mutex_destroy(&store->mutex);
    pthread_mutex_destroy(&store->backup);
    mem_free(allocator, store->packed, PACKED_SIZE);
    mem_free(allocator, store->path, store->path_size);
    mem_free(allocator, store, sizeof(*store));
}

// Before anything is written: an older program must refuse the folder instead of treating newer
// data as damage. If the disk is full, the reserve is used for this.
static enum status upgrade(struct store *store, struct error *error)
{
    store_log(store, STORE_WARNING,
              "the folder has version %u of the file format, and has version %d from now on: older "
              "programs do not open it any more",
              store->record.version, STORE_VERSION);
    enum status status = base_commit(store->base, NULL, &store->record, error);
    if (status == STATUS_NO_SPACE) {
        reserve_give(store->folder);
        status = base_commit(store->base, NULL, &store->record, error);
    }
    store->record.version = STORE_VERSION;
    return status;
}

static enum status open_files(struct store *store, const struct store_visitor *visitor,
                              struct error *error)
{
    enum status status = open_folder(store, error);
    if (!status) {
        status = take_lock(store, error);
    }
    if (!status) {
        status = recover(store, visitor, error);
    }
    if (!status) {
        status = base_open(store->path, "base", store->allocator, &store->base, error);
    }
    if (!status && store->record.version < STORE_VERSION) {
        status = upgrade(store, error);
    }
    if (!status) {
        compact_clean(store->folder);
        trim_clean(store->folder, store->record.segments);
    }
    return status;
}

// A full disk does not prevent the start.
static enum status take_reserve(struct store *store, struct error *error)
{
    enum status status = reserve_take(store->folder, store->options.reserve_size, error);
    if (status == STATUS_NO_SPACE) {
        store->full = true;
        store->space = *error;
        store_log(store, STORE_ERROR, "%s", error_sentence(error));
        return STATUS_OK;
    }
    store->has_reserve = status == STATUS_OK;
    return status;
}

static enum status start(struct store *store, struct error *error)
{
    store->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (store->event < 0) {
        return file_error(error, "make", "an event");
    }
    store->journal_runs = !thread_start(&store->journal, journal_run, store);
    store->checkpoint_runs =
        store->journal_runs && !thread_start(&store->checkpoint, checkpoint_run, store);
    return store->checkpoint_runs
               ? STATUS_OK
               : error_set(error, STATUS_NO_MEMORY, "cannot start a thread for the store");
}

// Waits until the threads have finished.
static void stop(struct store *store)
{
    pthread_mutex_lock(&store->mutex);
    store->stopping = store->gives_up = true;
    pthread_cond_broadcast(&store->work);
    pthread_cond_broadcast(&store->wake);
    pthread_mutex_unlock(&store->mutex);
    if (store->journal_runs) {
        pthread_join(store->journal, NULL);
    }
    if (store->checkpoint_runs) {
        pthread_join(store->checkpoint, NULL);
    }
}

// Appends what an operator can do about damage.
static enum status add_advice(struct error *error)
{
    const struct error what = *error;
    return error_set(error, what.status,
                     "%s; nothing was changed: restore a backup, or see `sluice doctor`",
                     error_sentence(&what));
}

enum status store_open(const struct store_options *options, const struct store_visitor *visitor,
                       struct store **out, struct error *error)
{
    struct store_options complete = *options;
    struct error ignored = { 0 };
    error = error ? error : &ignored;
    set_defaults(&complete);
    enum status status = check_options(&complete, error);
    if (status) {
        return status;
    }
    struct store *store = store_new(&complete);
    if (!store) {
        return error_set(error, STATUS_NO_MEMORY, "out of memory");
    }
    status = open_files(store, visitor, error);
    if (!status) {
        status = take_reserve(store, error);
    }
    if (!status) {
        status = start(store, error);
        if (status) {
            stop(store);
        }
    }
    if (status) {
        store_free(store);
        return status == STATUS_CORRUPT ? add_advice(error) : status;
    }
    *error = (struct error){ .status = STATUS_OK };
    *out = store;
    return STATUS_OK;
}

enum status store_close(struct store *store, struct error *error)
{
    stop(store);
    enum status status = store->failure.status;
    if (status) {
        error_copy(error, &store->failure);
    }
    store_free(store);
    return status;
}

// ---------------------------------------------------------------------------------------------
// State and figures

uint64_t store_durable(const struct store *store)
{
    return store->durable;
}

int store_event(const struct store *store)
{
    return store->event;
}

void store_event_clear(const struct store *store)
{
    eventfd_t count;
    (void)eventfd_read(store->event, &count);
}

enum status store_wait(struct store *store, uint64_t group, struct error *error)
{
    return store_wait_until(store, group, INT64_MAX, error);
}

enum status store_wait_until(struct store *store, uint64_t group, int64_t deadline_us,
                             struct error *error)
{
    const struct timespec until = { .tv_sec = deadline_us / 1000000,
                                    .tv_nsec = deadline_us % 1000000 * 1000 };
    int late = 0;
    pthread_mutex_lock(&store->mutex);
    while (store->durable < group && !store_has_failed(store) && !late) {
        late = deadline_us == INT64_MAX
                   ? pthread_cond_wait(&store->progress, &store->mutex)
                   : pthread_cond_timedwait(&store->progress, &store->mutex, &until);
    }
    enum status status = STATUS_OK;
    if (store->durable < group) {
        status = store_has_failed(store)
                     ? error_copy(error, &store->failure)
                     : error_set(error, STATUS_BUSY, "the disk took too long to store it");
    }
    pthread_mutex_unlock(&store->mutex);
    return status;
}

enum store_state store_state(struct store *store, struct error *why)
{
    pthread_mutex_lock(&store->mutex);
    enum store_state state = get_state(store);
    store->was_busy |= state == STORE_BUSY;
    if (state == STORE_FAILED) {
        error_copy(why, &store->failure);
    } else if (state == STORE_STUCK || store->full) {
        error_copy(why, &store->space);
    } else if (state == STORE_BUSY) {
        error_set(why, STATUS_BUSY, "%zu bytes wait to be written to disk",
                  store->writing_size + store->gather.size);
    }
    pthread_mutex_unlock(&store->mutex);
    return state;
}

uint64_t store_room(struct store *store)
{
    pthread_mutex_lock(&store->mutex);
    int64_t spare = store_spare_size(store);
    pthread_mutex_unlock(&store->mutex);
    return spare > 0 ? (uint64_t)spare : 0;
}

void store_give_up(struct store *store)
{
    pthread_mutex_lock(&store->mutex);
    store->gives_up = true;
    pthread_cond_broadcast(&store->work);
    pthread_mutex_unlock(&store->mutex);
}

enum status store_checkpoint(struct store *store, struct error *error)
{
    pthread_mutex_lock(&store->mutex);
    uint64_t wanted = store->durable;
    store->wanted = wanted > store->wanted ? wanted : store->wanted;
    pthread_cond_signal(&store->wake);
    while (store->record.covered < wanted && !store_has_failed(store) && !store->full) {
        pthread_cond_wait(&store->progress, &store->mutex);
    }
    enum status status = STATUS_OK;
    if (store->record.covered < wanted) {
        status = error_copy(error, store_has_failed(store) ? &store->failure : &store->space);
    }
    pthread_mutex_unlock(&store->mutex);
    return status;
}

void store_figures(struct store *store, struct store_figures *out)
{
    pthread_mutex_lock(&store->mutex);
    *out = store->figures;
    out->groups_behind = store->durable - store->record.covered;
    out->journal_bytes = (uint64_t)store->record.segments * store->record.segment_size;
    pthread_mutex_unlock(&store->mutex);
}
