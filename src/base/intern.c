// SPDX-License-Identifier: MIT
// Invariants: the map contains exactly the entries with users, each at the slot of its id. The
// other ids below id_end are in the list that starts at id_unused.
#include "base/intern.h"

#include <assert.h>
#include <string.h>

enum {
    CHUNK_IDS = 1024,
};

struct intern_entry {
    uint32_t id;
    uint32_t users;
    uint32_t size;
    char bytes[];
};

static struct slice entry_key(const void *value)
{
    const struct intern_entry *entry = value;
    return slice_make(entry->bytes, entry->size);
}

static void entry_free(struct intern *intern, struct intern_entry *entry)
{
    mem_free(intern->by_string.allocator, entry, sizeof(*entry) + entry->size);
}

static union intern_slot *slot_of(const struct intern *intern, uint32_t id)
{
    return &intern->chunks[id / CHUNK_IDS][id % CHUNK_IDS];
}

static struct intern_entry *entry_of(const struct intern *intern, uint32_t id)
{
    assert(id < intern->id_end);
    return slot_of(intern, id)->entry;
}

void intern_init(struct intern *intern, const struct allocator *allocator, struct hash_seed seed)
{
    *intern = (struct intern){ .id_unused = INTERN_NONE };
    map_init(&intern->by_string, allocator, seed, entry_key);
}

void intern_release(struct intern *intern)
{
    const struct allocator *allocator = intern->by_string.allocator;
    // Clears the unused slots first, so that all remaining slots have entries.
    for (uint32_t id = intern->id_unused; id != INTERN_NONE;) {
        union intern_slot *slot = slot_of(intern, id);
        id = slot->next_unused;
        slot->entry = NULL;
    }
    for (uint32_t id = 0; id < intern->id_end; id++) {
        struct intern_entry *entry = entry_of(intern, id);
        if (entry) {
            entry_free(intern, entry);
        }
    }
    for (size_t i = 0; i < intern->chunk_count; i++) {
        mem_free(allocator, intern->chunks[i], CHUNK_IDS * sizeof(**intern->chunks));
    }
    mem_free(allocator, intern->chunks, intern->chunk_count * sizeof(*intern->chunks));
    map_release(&intern->by_string);
    intern_init(intern, allocator, intern->by_string.seed);
}

// Makes sure that there is an id for the next string.
static enum status reserve_id(struct intern *intern)
{
    if (intern->id_unused != INTERN_NONE || intern->id_end < intern->chunk_count * CHUNK_IDS) {
        return STATUS_OK;
    }
    if (intern->id_end > INTERN_NONE - CHUNK_IDS) {
        return STATUS_TOO_LARGE;
    }
    const struct allocator *allocator = intern->by_string.allocator;
    union intern_slot *chunk = mem_alloc(allocator, CHUNK_IDS * sizeof(*chunk));
    if (!chunk) {
        return STATUS_NO_MEMORY;
    }
    size_t size = intern->chunk_count * sizeof(*intern->chunks);
    union intern_slot **chunks =
        mem_resize(allocator, intern->chunks, size, size + sizeof(*intern->chunks));
    if (!chunks) {
        mem_free(allocator, chunk, CHUNK_IDS * sizeof(*chunk));
        return STATUS_NO_MEMORY;
    }
    chunks[intern->chunk_count++] = chunk;
    intern->chunks = chunks;
    return STATUS_OK;
}

static uint32_t take_id(struct intern *intern)
{
    if (intern->id_unused == INTERN_NONE) {
        return intern->id_end++;
    }
    uint32_t id = intern->id_unused;
    intern->id_unused = slot_of(intern, id)->next_unused;
    return id;
}

enum status intern_acquire(struct intern *intern, struct slice string, uint32_t *id)
{
    struct intern_entry *entry = map_find(&intern->by_string, string);
    if (entry) {
        entry->users++;
        *id = entry->id;
        return STATUS_OK;
    }
    if (string.size > UINT32_MAX) {
        return STATUS_TOO_LARGE;
    }
    enum status status = reserve_id(intern);
    if (!status) {
        status = map_reserve(&intern->by_string, string);
    }
    if (status) {
        return status;
    }
    entry = mem_alloc(intern->by_string.allocator, sizeof(*entry) + string.size);
    if (!entry) {
        return STATUS_NO_MEMORY;
    }
    entry->id = take_id(intern);
    entry->users = 1;
    entry->size = (uint32_t)string.size;
    if (string.size) {
        memcpy(entry->bytes, string.data, string.size);
    }
    slot_of(intern, entry->id)->entry = entry;
    map_add(&intern->by_string, entry);
    *id = entry->id;
    return STATUS_OK;
}

void intern_share(struct intern *intern, uint32_t id)
{
    if (id != INTERN_NONE) {
        entry_of(intern, id)->users++;
    }
}

void intern_drop(struct intern *intern, uint32_t id)
{
    if (id == INTERN_NONE) {
        return;
    }
    struct intern_entry *entry = entry_of(intern, id);
    assert(entry->users > 0);
    if (--entry->users > 0) {
        return;
    }
    map_remove(&intern->by_string, entry_key(entry));
    slot_of(intern, id)->next_unused = intern->id_unused;
    intern->id_unused = id;
    entry_free(intern, entry);
}

uint32_t intern_find(const struct intern *intern, struct slice string)
{
    const struct intern_entry *entry = map_find(&intern->by_string, string);
    return entry ? entry->id : INTERN_NONE;
}

struct slice intern_get(const struct intern *intern, uint32_t id)
{
    return id == INTERN_NONE ? SLICE_EMPTY : entry_key(entry_of(intern, id));
}
