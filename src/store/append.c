// SPDX-License-Identifier: MIT
// Appended records are first collected without a lock (`pending`). Then they are added to the
// gathering group, or become it.
#include "engine/records/changes.h"
#include "store/journal/frame.h"
#include "store/state.h"

// Truncates a buffer to a size that it had, and resets its status after a lack of memory.
static enum status take_back(struct buffer *buffer, size_t size, struct error *error)
{
    enum status status = buffer->status;
    buffer->status = STATUS_OK;
    buffer_truncate(buffer, size);
    return error_set(error, status, "no memory for what is to be written");
}

// The buffer begins with room for the head of a group, because it may become one.
static size_t begin_pending(struct store *store)
{
    size_t before = store->pending.size;
    if (before == 0) {
        frame_begin(&store->pending);
    }
    return before;
}

// Moves the pending records to the gathering group.
static enum status submit(struct store *store, uint64_t *group, struct error *error)
{
    struct buffer *gather = &store->gather;
    bool begins = false, gets_busy = false;
    pthread_mutex_lock(&store->mutex);
    enum status status = store->failure.status;
    if (status) {
        error_copy(error, &store->failure);
    } else if (store->pending.size > FRAME_HEAD_SIZE) {
        size_t before = gather->size;
        if (before == 0) {
            buffer_swap(gather, &store->pending);
            begins = true;
        } else {
            struct slice pending = buffer_slice(&store->pending);
            buffer_append(gather, slice_sub(pending, FRAME_HEAD_SIZE, pending.size));
            status = gather->status ? take_back(gather, before, error) : STATUS_OK;
        }
        if (!status) {
            buffer_clear(&store->pending);
            // The host gets an event when the store is no longer busy.
            gets_busy = !store->was_busy &&
                        (gather->size > store->options.gather_max || store_is_short(store));
            store->was_busy |= gets_busy;
        }
    }
    *group = gather->size ? store->gathering : store->gathering - 1;
    store_check(store);
    pthread_mutex_unlock(&store->mutex);
    // Signalled without the mutex, so that the journal's thread need not wait for it.
    if (begins) {
        pthread_cond_signal(&store->work);
    }
    if (gets_busy) {
        pthread_cond_signal(&store->wake); // so that it gets room for the journal
    }
    return status;
}

// Logs the begin and the end of a lack of memory.
static enum status log_lack(struct store *store, enum status status)
{
    bool lacks = status == STATUS_NO_MEMORY;
    if (lacks != store->append_lacks) {
        store->append_lacks = lacks;
        store_log(store, lacks ? STORE_ERROR : STORE_INFO, "%s",
                  lacks ? "out of memory: changes wait to be appended to the journal"
                        : "changes are appended to the journal again");
    }
    return status;
}

enum status store_append(struct store *store, const struct store_record *records, size_t count,
                         uint64_t *group, struct error *error)
{
    size_t before = begin_pending(store);
    for (size_t i = 0; i < count; i++) {
        frame_add(&store->pending, records[i].key, records[i].bytes);
    }
    if (store->pending.status) {
        return log_lack(store, take_back(&store->pending, before, error));
    }
    enum status status = submit(store, group, error);
    if (status) {
        buffer_truncate(&store->pending, before);
    }
    return log_lack(store, status);
}

struct taking {
    struct store *store;
    uint32_t space;
};

static enum status take_one(void *context, struct record_key key, struct slice bytes)
{
    const struct taking *taking = context;
    struct buffer *pending = &taking->store->pending;
    frame_add(pending, (struct store_key){ taking->space, key }, bytes);
    return pending->status;
}

enum status store_take(struct store *store, uint32_t space, struct engine *engine, uint64_t *group,
                       struct error *error)
{
    struct taking taking = { store, space };
    const struct changes_sink sink = { .receive = take_one, .context = &taking };
    size_t before = begin_pending(store);
    enum status status = engine_has_changes(engine) ? engine_changes(engine, &sink) : STATUS_OK;
    if (status) {
        store->pending.status = status;
        return log_lack(store, take_back(&store->pending, before, error));
    }
    // The engine no longer has the changes. If they cannot be submitted they stay pending.
    return log_lack(store, submit(store, group, error));
}
