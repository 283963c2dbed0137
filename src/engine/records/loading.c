// SPDX-License-Identifier: MIT
#include "engine/records/loading.h"

#include "engine/job/job.h"

enum {
    CAPACITY_MIN = 64,
    AHEAD = 8, // number of heads that are prefetched
    CACHE_LINE = 64,
};

static struct slice id_key(const void *value)
{
    const struct job *job = value;
    return slice_make(&job->id, sizeof(job->id));
}

void loading_init(struct loading *loading, const struct allocator *allocator, struct hash_seed seed)
{
    *loading = (struct loading){ 0 };
    map_init(&loading->by_id, allocator, seed, id_key);
}

static void release_entries(struct loading *loading)
{
    mem_free(loading->by_id.allocator, loading->entries,
             loading->entries ? loading->capacity * sizeof(*loading->entries) : 0);
    loading->entries = NULL;
}

void loading_release(struct loading *loading)
{
    const struct allocator *allocator = loading->by_id.allocator;
    release_entries(loading);
    mem_free(allocator, loading->jobs, loading->capacity * sizeof(*loading->jobs));
    map_release(&loading->by_id);
    loading_init(loading, allocator, loading->by_id.seed);
}

static enum status reserve(struct loading *loading)
{
    if (loading->count < loading->capacity) {
        return STATUS_OK;
    }
    const struct allocator *allocator = loading->by_id.allocator;
    size_t old = loading->capacity, capacity = old ? 2 * old : CAPACITY_MIN;
    struct loading_job *jobs =
        mem_resize(allocator, loading->jobs, old * sizeof(*jobs), capacity * sizeof(*jobs));
    if (!jobs) {
        return STATUS_NO_MEMORY;
    }
    loading->jobs = jobs;
    struct map_entry *entries = mem_resize(allocator, loading->entries, old * sizeof(*entries),
                                           capacity * sizeof(*entries));
    if (!entries) {
        loading->jobs = mem_resize(allocator, jobs, capacity * sizeof(*jobs), old * sizeof(*jobs));
        return STATUS_NO_MEMORY;
    }
    loading->entries = entries;
    loading->capacity = capacity;
    return STATUS_OK;
}

// From now on the map is used to find numbers.
static enum status leave_order(struct loading *loading)
{
    for (size_t i = 0; i < loading->count; i++) {
        if (map_insert(&loading->by_id, loading->jobs[i].job)) {
            map_release(&loading->by_id);
            return STATUS_NO_MEMORY;
        }
    }
    loading->has_numbers = true;
    return STATUS_OK;
}

enum status loading_add(struct loading *loading, struct job *job, struct map_spot spot)
{
    if (loading->has_bodies) {
        return STATUS_CORRUPT;
    }
    size_t count = loading->count;
    bool in_order = !count || loading->jobs[count - 1].id < job->id;
    if (reserve(loading) || (!in_order && !loading->has_numbers && leave_order(loading))) {
        return STATUS_NO_MEMORY;
    }
    if (loading->has_numbers) {
        enum status status = map_insert(&loading->by_id, job);
        if (status) {
            return status == STATUS_EXISTS ? STATUS_CORRUPT : status;
        }
    }
    loading->jobs[count] = (struct loading_job){ job->id, job };
    loading->entries[count] = (struct map_entry){ spot, job };
    loading->count++;
    return STATUS_OK;
}

const struct job *loading_last(const struct loading *loading)
{
    return loading->count ? loading->jobs[loading->count - 1].job : NULL;
}

enum status loading_fill(struct loading *loading, struct map *jobs)
{
    if (loading->has_bodies) {
        return STATUS_OK;
    }
    enum status status = map_fill(jobs, loading->entries, loading->count);
    if (!status) {
        loading->has_bodies = true;
        release_entries(loading);
    }
    return status == STATUS_EXISTS ? STATUS_CORRUPT : status;
}

// How many have a number less than `id`.
static size_t below(const struct loading *loading, uint64_t id)
{
    size_t low = 0, high = loading->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (loading->jobs[middle].id < id) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

struct job *loading_find(const struct loading *loading, uint64_t id)
{
    if (loading->has_numbers) {
        return map_find(&loading->by_id, slice_make(&id, sizeof(id)));
    }
    size_t at = below(loading, id);
    return at < loading->count && loading->jobs[at].id == id ? loading->jobs[at].job : NULL;
}

static void prefetch(const struct job *job)
{
    for (size_t i = 0; i < offsetof(struct job, jid); i += CACHE_LINE) {
        __builtin_prefetch((const char *)job + i, 1);
    }
}

struct job *loading_next(struct loading *loading, uint64_t id)
{
    if (loading->next >= loading->count || loading->jobs[loading->next].id != id) {
        if (loading->has_numbers) {
            return loading_find(loading, id);
        }
        size_t at = below(loading, id);
        if (at == loading->count || loading->jobs[at].id != id) {
            return NULL;
        }
        loading->next = at;
    }
    if (loading->next + AHEAD < loading->count) {
        prefetch(loading->jobs[loading->next + AHEAD].job);
    }
    return loading->jobs[loading->next++].job;
}
