// SPDX-License-Identifier: MIT
#include "store/lmdb/images.h"

#include "base/hash.h"
#include "store/journal/frame.h"

#include <stdlib.h>

enum {
    CAPACITY_MIN = 256,
};

struct images_block {
    struct images_block *next;
    size_t size;
    char bytes[];
};

void images_init(struct images *images, const struct allocator *allocator)
{
    *images = (struct images){ .allocator = allocator };
}

void images_clear(struct images *images)
{
    while (images->blocks) {
        struct images_block *block = images->blocks;
        images->blocks = block->next;
        mem_free(images->allocator, block, sizeof(*block) + block->size);
    }
    if (images->slots) {
        memset(images->slots, 0, images->slot_count * sizeof(*images->slots));
    }
    images->count = 0;
    images->bytes = images->bytes_kept = 0;
}

void images_release(struct images *images)
{
    images_clear(images);
    mem_free(images->allocator, images->items, images->capacity * sizeof(*images->items));
    mem_free(images->allocator, images->slots, images->slot_count * sizeof(*images->slots));
    images_init(images, images->allocator);
}

// The slot of a key: the one that has it, or the empty slot for it.
static uint32_t *find_slot(const struct images *images, const struct store_key *key)
{
    uint64_t hash = hash_mix((uint64_t)key->space << 8 | (uint64_t)key->record.kind);
    hash = hash_mix(hash ^ key->record.id);
    hash = hash_mix(hash ^ (uint64_t)key->record.extra);
    for (size_t i = hash & (images->slot_count - 1);; i = (i + 1) & (images->slot_count - 1)) {
        uint32_t *slot = &images->slots[i];
        if (*slot == 0 || key_compare(&images->items[*slot - 1].key, key) == 0) {
            return slot;
        }
    }
}

// Makes room for one more item. At least half of the slots stay empty.
static enum status grow(struct images *images)
{
    if (images->count < images->capacity) {
        return STATUS_OK;
    }
    size_t capacity = images->capacity ? 2 * images->capacity : CAPACITY_MIN;
    uint32_t *slots = mem_zalloc(images->allocator, 2 * capacity * sizeof(*slots));
    if (!slots) {
        return STATUS_NO_MEMORY;
    }
    void *items =
        mem_resize(images->allocator, images->items, images->capacity * sizeof(*images->items),
                   capacity * sizeof(*images->items));
    if (!items) {
        mem_free(images->allocator, slots, 2 * capacity * sizeof(*slots));
        return STATUS_NO_MEMORY;
    }
    mem_free(images->allocator, images->slots, images->slot_count * sizeof(*images->slots));
    images->items = items;
    images->capacity = capacity;
    images->slots = slots;
    images->slot_count = 2 * capacity;
    for (size_t i = 0; i < images->count; i++) {
        *find_slot(images, &images->items[i].key) = (uint32_t)i + 1;
    }
    return STATUS_OK;
}

static enum status take(struct images *images, const struct store_record *record)
{
    if (grow(images)) {
        return STATUS_NO_MEMORY;
    }
    uint32_t *slot = find_slot(images, &record->key);
    if (*slot == 0) {
        images->items[images->count++] = (struct image){ record->key, SLICE_EMPTY };
        images->bytes_kept += FRAME_RECORD_HEAD_SIZE;
        *slot = (uint32_t)images->count;
    }
    struct image *image = &images->items[*slot - 1];
    images->bytes_kept += record->bytes.size - image->bytes.size;
    image->bytes = record->bytes;
    return STATUS_OK;
}

static struct images_block *copy(struct images *images, struct slice bytes)
{
    struct images_block *block = mem_alloc(images->allocator, sizeof(*block) + bytes.size);
    if (block) {
        block->next = images->blocks;
        block->size = bytes.size;
        memcpy(block->bytes, bytes.data, bytes.size);
        images->blocks = block;
        images->bytes += bytes.size;
    }
    return block;
}

enum status images_put(struct images *images, struct store_key key, struct slice bytes)
{
    struct store_record record = { key, SLICE_EMPTY };
    if (bytes.size) {
        struct images_block *block = copy(images, bytes);
        if (!block) {
            return STATUS_NO_MEMORY;
        }
        record.bytes = slice_make(block->bytes, block->size);
    }
    return take(images, &record);
}

const struct image *images_find(const struct images *images, const struct store_key *key)
{
    const uint32_t *slot = images->slot_count ? find_slot(images, key) : NULL;
    return slot && *slot ? &images->items[*slot - 1] : NULL;
}

enum status images_add(struct images *images, struct slice records)
{
    if (records.size == 0) {
        return STATUS_OK;
    }
    struct images_block *block = copy(images, records);
    if (!block) {
        return STATUS_NO_MEMORY;
    }
    struct slice left = slice_make(block->bytes, block->size);
    struct store_record record;
    enum status status;
    while (frame_next(&left, &record, &status)) {
        if (take(images, &record)) {
            return STATUS_NO_MEMORY;
        }
    }
    return status;
}

static int compare(const void *a, const void *b)
{
    return key_compare(&((const struct image *)a)->key, &((const struct image *)b)->key);
}

void images_sort(struct images *images)
{
    if (images->count > 0) {
        qsort(images->items, images->count, sizeof(*images->items), compare);
    }
}
