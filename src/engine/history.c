// SPDX-License-Identifier: MIT
// The first entry is a put and stands in the job's own fields. The others are packed one after the
// other: size (4), kind (1), time (8), then the strings of the kind, each with a size of one byte,
// but data with four.
#include "engine/history.h"

#include "base/bytes.h"
#include "engine/job.h"
#include "engine/state.h"

#include <assert.h>
#include <string.h>

enum {
    HEADER_SIZE = 13,
    CAPACITY_MIN = 48,
};

// The strings of an entry that its kind has, in the order in which they are packed.
static size_t strings_of(const struct history_entry *entry, struct slice out[2])
{
    switch (entry->kind) {
    case HISTORY_PUT:
        out[0] = entry->queue;
        return 1;
    case HISTORY_POPPED:
        out[0] = entry->worker;
        return 1;
    case HISTORY_FAILED:
        out[0] = entry->worker;
        out[1] = entry->group;
        return 2;
    case HISTORY_LOG:
        out[0] = entry->what;
        return 1;
    case HISTORY_DONE:
    case HISTORY_TIMED_OUT:
    default:
        return 0;
    }
}

static size_t entry_size(const struct history_entry *entry)
{
    struct slice strings[2];
    size_t count = strings_of(entry, strings);
    size_t size = HEADER_SIZE;
    for (size_t i = 0; i < count; i++) {
        size += 1 + strings[i].size;
    }
    return size + (entry->kind == HISTORY_LOG ? 4 + entry->data.size : 0);
}

size_t history_count(const struct job *job)
{
    return 1 + (job->history ? job->history->count : 0);
}

struct slice history_bytes(const struct job *job)
{
    return job->history ? slice_make(job->history->entries, job->history->size) : SLICE_EMPTY;
}

static size_t history_size(const struct history *history)
{
    return history ? sizeof(*history) + history->capacity : 0;
}

// Makes room for `size` bytes in all.
static enum status reserve_size(struct engine *engine, struct job *job, size_t size)
{
    struct history *old = job->history;
    if (old && size <= old->capacity) {
        return STATUS_OK;
    }
    size_t capacity = old ? old->capacity : CAPACITY_MIN;
    while (capacity < size) {
        capacity *= 2;
    }
    struct history *history =
        mem_resize(engine->allocator, old, history_size(old), sizeof(*history) + capacity);
    if (!history) {
        return STATUS_NO_MEMORY;
    }
    if (!old) {
        *history = (struct history){ 0 };
    }
    history->capacity = (uint32_t)capacity;
    job->history = history;
    return STATUS_OK;
}

enum status history_reserve(struct engine *engine, struct job *job,
                            const struct history_entry *entries, size_t count)
{
    size_t needed = history_bytes(job).size;
    for (size_t i = 0; i < count; i++) {
        needed += entry_size(&entries[i]);
    }
    return reserve_size(engine, job, needed);
}

// Drops the oldest entries but the first until one more fits under the maximum.
static void make_room(const struct engine *engine, struct history *history)
{
    int64_t count_max = engine->config.max_job_history;
    if (count_max <= 0) {
        return;
    }
    size_t dropped = 0;
    while (history->count > 0 && history->count + 1 >= count_max) {
        dropped += bytes_load_u32(history->entries + dropped);
        history->count--;
    }
    if (dropped) {
        history->size -= (uint32_t)dropped;
        memmove(history->entries, history->entries + dropped, history->size);
    }
}

static char *put_string(char *at, struct slice string)
{
    *at++ = (char)string.size;
    if (string.size) {
        memcpy(at, string.data, string.size);
    }
    return at + string.size;
}

void history_append(struct engine *engine, struct job *job, const struct history_entry *entry)
{
    struct history *history = job->history;
    make_room(engine, history);
    if (engine->config.max_job_history == 1) {
        return; // the first stays, and there is no room for another
    }
    size_t size = entry_size(entry);
    assert(history->size + size <= history->capacity);
    char *at = history->entries + history->size;
    bytes_store_u32(at, (uint32_t)size);
    at[4] = (char)entry->kind;
    bytes_store_u64(at + 5, (uint64_t)entry->when_us);
    at += HEADER_SIZE;
    struct slice strings[2];
    size_t count = strings_of(entry, strings);
    for (size_t i = 0; i < count; i++) {
        at = put_string(at, strings[i]);
    }
    if (entry->kind == HISTORY_LOG) {
        bytes_store_u32(at, (uint32_t)entry->data.size);
        if (entry->data.size) {
            memcpy(at + 4, entry->data.data, entry->data.size);
        }
    }
    history->size += (uint32_t)size;
    history->count++;
}

// Whether the strings of an entry fill it exactly.
static bool entry_valid(struct slice entry)
{
    if (entry.size < HEADER_SIZE || entry.data[4] < 0 || entry.data[4] > HISTORY_LOG) {
        return false;
    }
    static const size_t counts[] = {
        [HISTORY_PUT] = 1,    [HISTORY_POPPED] = 1,    [HISTORY_DONE] = 0,
        [HISTORY_FAILED] = 2, [HISTORY_TIMED_OUT] = 0, [HISTORY_LOG] = 1
    };
    size_t at = HEADER_SIZE;
    for (size_t i = 0; i < counts[(size_t)entry.data[4]]; i++) {
        if (at >= entry.size) {
            return false;
        }
        at += 1 + (size_t)(unsigned char)entry.data[at];
    }
    if (entry.data[4] == HISTORY_LOG) {
        if (at > entry.size || entry.size - at < 4) {
            return false;
        }
        at += 4 + (size_t)bytes_load_u32(entry.data + at);
    }
    return at == entry.size;
}

enum status history_load(struct engine *engine, struct job *job, struct slice bytes)
{
    uint32_t count = 0;
    for (size_t at = 0; at < bytes.size; count++) {
        size_t size = bytes.size - at < 4 ? 0 : bytes_load_u32(bytes.data + at);
        if (size > bytes.size - at || !entry_valid(slice_sub(bytes, at, size))) {
            return STATUS_CORRUPT;
        }
        at += size;
    }
    if (bytes.size == 0) {
        return STATUS_OK;
    }
    if (reserve_size(engine, job, bytes.size)) {
        return STATUS_NO_MEMORY;
    }
    memcpy(job->history->entries, bytes.data, bytes.size);
    job->history->size = (uint32_t)bytes.size;
    job->history->count = count;
    return STATUS_OK;
}

void history_release(struct engine *engine, struct job *job)
{
    mem_free(engine->allocator, job->history, history_size(job->history));
}

static const char *take_string(const char *at, struct slice *out)
{
    *out = slice_make(at + 1, (unsigned char)*at);
    return at + 1 + out->size;
}

static void read_entry(const char *at, struct history_view *view)
{
    view->when_us = (int64_t)bytes_load_u64(at + 5);
    const char *strings = at + HEADER_SIZE;
    switch ((enum history_kind)at[4]) {
    case HISTORY_PUT:
        view->what = SLICE("put");
        (void)take_string(strings, &view->queue);
        break;
    case HISTORY_POPPED:
        view->what = SLICE("popped");
        (void)take_string(strings, &view->worker);
        break;
    case HISTORY_DONE:
        view->what = SLICE("done");
        break;
    case HISTORY_FAILED:
        view->what = SLICE("failed");
        strings = take_string(strings, &view->worker);
        (void)take_string(strings, &view->group);
        break;
    case HISTORY_TIMED_OUT:
        view->what = SLICE("timed-out");
        break;
    case HISTORY_LOG:
        strings = take_string(strings, &view->what);
        view->data = slice_make(strings + 4, bytes_load_u32(strings));
        break;
    }
}

bool job_history_next(const struct engine *engine, const struct job *job, size_t *position,
                      struct history_view *view)
{
    *view = (struct history_view){ 0 };
    if (*position == 0) {
        *view = (struct history_view){
            .when_us = job->created_us,
            .what = SLICE("put"),
            .queue = intern_get(&engine->names, job->created_queue),
        };
        *position = 1;
        return true;
    }
    // Behind the first the position is an offset, plus one.
    size_t offset = *position - 1;
    struct slice bytes = history_bytes(job);
    if (offset >= bytes.size) {
        return false;
    }
    read_entry(bytes.data + offset, view);
    *position += bytes_load_u32(bytes.data + offset);
    return true;
}
