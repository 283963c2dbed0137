// SPDX-License-Identifier: MIT
// The base contains the number of files. A used file beyond that number would be treated as damage,
// and so would a missing one. So a file is first marked as never used, then the number is
// decreased, then the file is removed.
//
// Each step is committed to both of LMDB's snapshots, because only the older one may survive: it
// must not count a removed file, nor refer to a position in it.
#include "store/journal/trim.h"

#include "os/file.h"
#include "store/journal/sector.h"
#include "store/state.h"

#include <assert.h>
#include <unistd.h>

static bool is_idle(const struct store *store)
{
    return store->writing_size == 0 && store->gather.size == 0 && store->syncing == 0 &&
           store->durable == store->record.covered;
}

bool trim_is_due(struct store *store)
{
    return store->segments.count > SEGMENTS_AT_FIRST && is_idle(store) && !store->stopping &&
           !store_is_short(store);
}

void trim_clean(int folder, uint32_t number)
{
    char name[SEGMENT_NAME_SIZE];
    do {
        segment_name(name, number++);
    } while (unlinkat(folder, name, 0) == 0);
}

static enum status commit_twice(struct store *store, struct base_record *record,
                                struct error *error)
{
    enum status status = base_commit(store->base, NULL, record, error);
    if (status) {
        return status;
    }
    // The first commit is valid whether or not there is space for the second.
    status = base_commit(store->base, NULL, record, error);
    return store_is_lack(status) ? STATUS_OK : status;
}

static enum status mark_unused(const struct store *store, uint32_t number, int fd,
                               struct error *error)
{
    char head[SECTOR_SIZE], name[SEGMENT_NAME_SIZE];
    segment_name(name, number);
    segment_head(&store->segments, number, 0, head);
    enum status status = file_write(fd, name, head, sizeof(head), 0, error);
    return status ? status : file_sync(fd, name, error);
}

static enum status remove_last(struct store *store, struct segment *segment, struct error *error)
{
    struct base_record record = store->record;
    record.segments--;
    pthread_mutex_unlock(&store->mutex);
    enum status status = mark_unused(store, record.segments, segment->fd, error);
    if (!status) {
        status = commit_twice(store, &record, error);
    }
    if (!status) {
        close(segment->fd);
        trim_clean(store->folder, record.segments);
    }
    pthread_mutex_lock(&store->mutex);
    if (status) {
        segment->generation = 0;
        enum status added = segments_add(&store->segments, *segment);
        assert(!added); // its slot was allocated before
        return status;
    }
    store->record = record;
    store_check(store);
    return STATUS_OK;
}

// Moves the end of the journal to a new generation in another file. The journal writes no group
// before the base contains that: until then neither the old nor the new position alone is enough to
// read it back.
static enum status leave_last(struct store *store, struct error *error)
{
    struct base_record record = store->record;
    record.next = (struct position){ store->end.generation + 1, 1 };
    store->held = true;
    pthread_mutex_unlock(&store->mutex);
    enum status status = commit_twice(store, &record, error);
    pthread_mutex_lock(&store->mutex);
    store->held = false;
    if (!status) {
        store->record = record;
        store->end = record.next;
        segments_free_before(&store->segments, record.next.generation);
        store_check(store);
    }
    pthread_cond_signal(&store->work);
    return status;
}

enum status trim_step(struct store *store, struct error *error)
{
    // A backup copies the files by number, and the journal without gaps.
    if (pthread_mutex_trylock(&store->backup)) {
        return STATUS_BUSY;
    }
    struct segment segment;
    enum status status = segments_remove_last(&store->segments, &segment)
                             ? remove_last(store, &segment, error)
                             : leave_last(store, error);
    pthread_mutex_unlock(&store->backup);
    return status;
}
