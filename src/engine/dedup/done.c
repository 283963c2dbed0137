// SPDX-License-Identifier: MIT
#include "engine/dedup/done.h"

#include "base/bytes.h"
#include "base/hash.h"
#include "engine/state.h"

enum {
    HASH_SIZE = 8,
    DIGEST_SIZE = 4,
    ENTRY_SIZE = HASH_SIZE + DIGEST_SIZE,
    DROPPED_MAX = 2, // blocks per call, so that a lower limit is reached gradually
};

static struct slice hash_key(const void *entry)
{
    return slice_make(&((const struct done_entry *)entry)->hash, HASH_SIZE);
}

// The same in every process, because the hashes are saved.
static uint64_t hash_of(struct slice jid)
{
    static const struct hash_seed seed = { 0x736c7569636521ULL, 0x646f6e65ULL };
    uint64_t hash = hash_bytes(&seed, jid);
    return hash ? hash : 1;
}

void done_init(struct engine *engine, struct hash_seed seed)
{
    map_init(&engine->done.hashes, engine->allocator, seed, hash_key);
}

static void changed(struct engine *engine, struct done_block *block)
{
    ENGINE_NOTE_CHANGE(engine, dirty_done, block);
}

void done_free_shell(struct engine *engine, struct done_block *block)
{
    mem_free(engine->allocator, block, sizeof(*block));
}

// Inserts a block after the last older one.
static void insert(struct done *done, struct done_block *block)
{
    struct done_block *before = done->last;
    while (before && before->id > block->id) {
        before = before->previous;
    }
    block->previous = before;
    block->next = before ? before->next : done->first;
    *(before ? &before->next : &done->first) = block;
    *(block->next ? &block->next->previous : &done->last) = block;
    done->blocks++;
}

static void drop_first(struct engine *engine)
{
    struct done *done = &engine->done;
    struct done_block *block = done->first;
    for (size_t i = 0; i < block->count; i++) {
        if (block->entries[i].hash) {
            map_remove(&done->hashes, hash_key(&block->entries[i]));
        }
    }
    engine_step(engine);
    done->first = block->next;
    *(block->next ? &block->next->previous : &done->last) = NULL;
    done->blocks--;
    ENGINE_NOTE_GONE(engine, dirty_done, block, done_free_shell);
}

void done_release(struct engine *engine)
{
    for (struct done_block *block = engine->done.first; block;) {
        struct done_block *next = block->next;
        done_free_shell(engine, block);
        block = next;
    }
    map_release(&engine->done.hashes);
}

// So many blocks contain at least as many jids as configured.
static size_t blocks_max(const struct engine *engine)
{
    int64_t jids = engine->config.jobs_history_jids;
    return jids > 0 ? (size_t)jids / DONE_BLOCK_SIZE + 2 : 0;
}

static struct done_entry *find(const struct engine *engine, struct slice jid)
{
    const struct done_entry wanted = { .hash = hash_of(jid) };
    return engine->done.blocks ? map_find(&engine->done.hashes, hash_key(&wanted)) : NULL;
}

bool done_has(const struct engine *engine, struct slice jid)
{
    return find(engine, jid) != NULL;
}

bool done_has_digest(const struct engine *engine, struct slice jid, uint32_t digest)
{
    const struct done_entry *entry = find(engine, jid);
    return entry && entry->digest == digest;
}

static struct done_block *block_of(struct done_entry *entry)
{
    char *first = (char *)(entry - entry->index);
    return (struct done_block *)(void *)(first - offsetof(struct done_block, entries));
}

static void forget(struct engine *engine, struct done_entry *entry)
{
    map_remove(&engine->done.hashes, hash_key(entry));
    entry->hash = 0;
    entry->digest = 0;
    changed(engine, block_of(entry));
}

void done_forget(struct engine *engine, struct slice jid)
{
    struct done_entry *entry = find(engine, jid);
    if (entry) {
        forget(engine, entry);
    }
}

// The block for the next jid, which may be a new one that is not in the list yet.
static struct done_block *open_block(struct engine *engine)
{
    struct done_block *last = engine->done.last;
    return last && last->count < DONE_BLOCK_SIZE
               ? last
               : mem_zalloc(engine->allocator, sizeof(struct done_block));
}

// Appends an entry without adding it to the hash table.
static struct done_entry *append(struct done_block *block, uint64_t hash, uint32_t digest)
{
    struct done_entry *entry = &block->entries[block->count];
    *entry = (struct done_entry){ .hash = hash, .digest = digest, .index = block->count };
    block->count++;
    return entry;
}

enum status done_add(struct engine *engine, struct slice jid, uint32_t digest)
{
    struct done *done = &engine->done;
    size_t max = blocks_max(engine);
    if (max) {
        const struct done_entry added = { .hash = hash_of(jid) };
        const struct map_spot spot = map_spot(&done->hashes, hash_key(&added));
        struct done_block *block = open_block(engine);
        if (!block || map_reserve_at(&done->hashes, spot)) {
            if (block && block != done->last) {
                done_free_shell(engine, block);
            }
            return STATUS_NO_MEMORY;
        }
        if (block != done->last) {
            block->id = ++engine->sequence;
            insert(done, block);
        }
        struct done_entry *old = map_find_at(&done->hashes, spot, hash_key(&added));
        if (old) {
            forget(engine, old);
        }
        map_add_at(&done->hashes, spot, append(block, added.hash, digest));
        changed(engine, block);
    }
    for (int i = 0; i < DROPPED_MAX && done->blocks > max; i++) {
        drop_first(engine);
    }
    return STATUS_OK;
}

enum status done_load(struct engine *engine, uint64_t id, struct slice bytes)
{
    struct done *done = &engine->done;
    bool digests = bytes.size % 2;
    size_t size = digests ? ENTRY_SIZE : HASH_SIZE;
    if (digests && bytes.data[0] != DONE_RECORD_DIGESTS) {
        return STATUS_CORRUPT;
    }
    struct slice entries = slice_sub(bytes, digests, SIZE_MAX);
    if (entries.size == 0 || entries.size % size || entries.size / size > DONE_BLOCK_SIZE) {
        return STATUS_CORRUPT;
    }
    struct done_block *block = mem_zalloc(engine->allocator, sizeof(*block));
    if (!block) {
        return STATUS_NO_MEMORY;
    }
    block->id = id;
    insert(done, block);
    for (const char *at = entries.data; at < entries.data + entries.size; at += size) {
        struct done_entry *entry =
            append(block, bytes_load_u64(at), digests ? bytes_load_u32(at + HASH_SIZE) : 0);
        enum status status = entry->hash ? map_insert(&done->hashes, entry) : STATUS_OK;
        if (status) {
            block->count--; // it is not in the hash table
            return status == STATUS_EXISTS ? STATUS_CORRUPT : status;
        }
    }
    return STATUS_OK;
}

size_t done_size(const struct engine *engine)
{
    return engine->done.blocks * DONE_BLOCK_SIZE;
}

bool done_check(const struct engine *engine)
{
    const struct done *done = &engine->done;
    size_t count = 0, blocks = 0;
    for (const struct done_block *block = done->first; block; block = block->next, blocks++) {
        for (size_t i = 0; i < block->count; i++) {
            const struct done_entry *entry = &block->entries[i];
            if (entry->index != i ||
                (entry->hash && map_find(&done->hashes, hash_key(entry)) != entry)) {
                return false;
            }
            count += entry->hash != 0;
        }
    }
    return count == done->hashes.count && blocks == done->blocks;
}
