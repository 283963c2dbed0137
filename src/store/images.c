// SPDX-License-Identifier: MIT
#include "store/images.h"

#include "store/frame.h"

#include <stdlib.h>

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
    images->count = 0;
    images->order = 0;
    images->bytes = images->bytes_kept = 0;
}

void images_release(struct images *images)
{
    images_clear(images);
    mem_free(images->allocator, images->items, images->capacity * sizeof(*images->items));
    images_init(images, images->allocator);
}

static enum status push(struct images *images, const struct store_record *record)
{
    if (images->count == images->capacity) {
        size_t capacity = images->capacity ? 2 * images->capacity : 256;
        void *items =
            mem_resize(images->allocator, images->items, images->capacity * sizeof(*images->items),
                       capacity * sizeof(*images->items));
        if (!items) {
            return STATUS_NO_MEMORY;
        }
        images->items = items;
        images->capacity = capacity;
    }
    images->items[images->count] = (struct image){ record->key, images->order++, record->bytes };
    images->count++;
    return STATUS_OK;
}

enum status images_add(struct images *images, struct slice records)
{
    if (records.size == 0) {
        return STATUS_OK;
    }
    struct images_block *block = mem_alloc(images->allocator, sizeof(*block) + records.size);
    if (!block) {
        return STATUS_NO_MEMORY;
    }
    block->next = images->blocks;
    block->size = records.size;
    memcpy(block->bytes, records.data, records.size);
    images->blocks = block;
    images->bytes += records.size;

    struct slice left = slice_make(block->bytes, block->size);
    struct store_record record;
    enum status status;
    while (frame_next(&left, &record, &status)) {
        if (push(images, &record)) {
            return STATUS_NO_MEMORY;
        }
    }
    return status;
}

static int compare(const void *a, const void *b)
{
    const struct image *left = a, *right = b;
    int order = key_compare(&left->key, &right->key);
    // Of the same key the newest comes first.
    return order ? order : (left->order < right->order) - (left->order > right->order);
}

void images_sort(struct images *images)
{
    if (images->count == 0) {
        return;
    }
    qsort(images->items, images->count, sizeof(*images->items), compare);
    size_t kept = 0;
    images->bytes_kept = 0;
    for (size_t i = 0; i < images->count; i++) {
        if (i == 0 || key_compare(&images->items[i].key, &images->items[kept - 1].key) != 0) {
            images->bytes_kept += FRAME_RECORD_HEAD_SIZE + images->items[i].bytes.size;
            images->items[kept++] = images->items[i];
        }
    }
    images->count = kept;
}
