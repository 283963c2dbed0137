// SPDX-License-Identifier: MIT
#include "engine/bulk/id_set.h"

#include <assert.h>
#include <string.h>

enum {
    CHUNK_IDS = ID_SET_WORDS * 64,
};

struct chunk {
    struct index_node node;
    uint64_t words[ID_SET_WORDS];
};

static struct chunk *chunk_of_node(struct index_node *node)
{
    return (struct chunk *)(void *)node; // it is the first member
}

static struct chunk *find(const struct id_set *set, uint64_t id)
{
    const struct index_key key = { 0, id / CHUNK_IDS };
    struct index_node *node = index_find(&set->chunks, key);
    return node && index_key_equal(node->key, key) ? chunk_of_node(node) : NULL;
}

void id_set_init(struct id_set *set, struct index_pool *pool)
{
    *set = (struct id_set){ 0 };
    index_init(&set->chunks, pool);
}

void id_set_release(struct id_set *set, const struct allocator *allocator)
{
    for (struct index_node *node; (node = index_last(&set->chunks));) {
        index_remove(&set->chunks, node);
        mem_free(allocator, chunk_of_node(node), sizeof(struct chunk));
    }
    index_release(&set->chunks);
    set->count = 0;
    set->bytes = 0;
}

enum status id_set_reserve(struct id_set *set, const struct allocator *allocator, uint64_t id)
{
    if (find(set, id)) {
        return STATUS_OK;
    }
    struct chunk *chunk =
        index_reserve(&set->chunks, 1) ? NULL : mem_zalloc(allocator, sizeof(*chunk));
    if (!chunk) {
        return STATUS_NO_MEMORY;
    }
    chunk->node.key.low = id / CHUNK_IDS;
    index_insert(&set->chunks, &chunk->node);
    set->bytes += sizeof(*chunk);
    return STATUS_OK;
}

static uint64_t bit_of(uint64_t id)
{
    return UINT64_C(1) << id % 64;
}

void id_set_add(struct id_set *set, uint64_t id)
{
    struct chunk *chunk = find(set, id);
    assert(chunk); // it was reserved
    uint64_t *word = &chunk->words[id % CHUNK_IDS / 64];
    set->count += !(*word & bit_of(id));
    *word |= bit_of(id);
}

bool id_set_has(const struct id_set *set, uint64_t id)
{
    const struct chunk *chunk = find(set, id);
    return chunk && chunk->words[id % CHUNK_IDS / 64] & bit_of(id);
}

bool id_set_chunk(const struct id_set *set, size_t index, uint64_t *number, const uint64_t **words)
{
    struct index_node *node = index_at(&set->chunks, index);
    if (node) {
        *number = node->key.low;
        *words = chunk_of_node(node)->words;
    }
    return node != NULL;
}

enum status id_set_load(struct id_set *set, const struct allocator *allocator, uint64_t number,
                        const uint64_t words[ID_SET_WORDS])
{
    size_t count = 0;
    for (size_t i = 0; i < ID_SET_WORDS; i++) {
        count += (size_t)__builtin_popcountll(words[i]);
    }
    if (count == 0 || number > UINT64_MAX / CHUNK_IDS || find(set, number * CHUNK_IDS)) {
        return STATUS_CORRUPT;
    }
    enum status status = id_set_reserve(set, allocator, number * CHUNK_IDS);
    if (!status) {
        memcpy(find(set, number * CHUNK_IDS)->words, words, ID_SET_WORDS * sizeof(*words));
        set->count += count;
    }
    return status;
}
