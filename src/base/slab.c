// SPDX-License-Identifier: MIT
// A block is one piece from the allocator, cut into pages that are aligned to their own size, so
// that an object finds its page by masking its address. A page holds objects of the slab.
//
//     block:  | header, then unused up to the alignment | page | page | ... |
//     page:   | header | object | object | ... |
//
// Invariants: `open` lists exactly the pages that have a free object. A block's `used` counts its
// pages that have a live object. A block with none is kept only while its objects are promised or
// it is the only one.
#include "base/slab.h"

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    OBJECT_ALIGN = 8,
    PAGE_SIZE_MIN = 4096,
    PAGE_OBJECTS_MIN = 8,
    BLOCK_PAGES = 15, // a sixteenth page is used up by the alignment
};

struct slab_block {
    struct slab_page *pages; // the first page
    size_t used;
};

// A free object contains the link to the next one.
struct free_object {
    struct free_object *next;
};

_Static_assert(sizeof(struct free_object) <= OBJECT_ALIGN, "the smallest object holds a link");

struct slab_page {
    struct slab_block *block;
    struct slab_page *next, *previous; // in the list of open pages
    struct free_object *free;
    size_t fresh; // objects from this index on have never been taken
    size_t used;
};

_Static_assert(sizeof(struct slab_page) % OBJECT_ALIGN == 0, "objects follow the page's header");

static size_t round_up(size_t size, size_t unit)
{
    return (size + unit - 1) / unit * unit;
}

void slab_init(struct slab *slab, const struct allocator *allocator, size_t object_size)
{
    assert(object_size > 0);
    size_t size = round_up(object_size, OBJECT_ALIGN);
    size_t page_size = PAGE_SIZE_MIN;
    while (page_size - sizeof(struct slab_page) < size * PAGE_OBJECTS_MIN) {
        page_size *= 2;
    }
    *slab = (struct slab){
        .allocator = allocator,
        .object_size = size,
        .page_size = page_size,
        .page_objects = (page_size - sizeof(struct slab_page)) / size,
    };
}

static size_t block_size(const struct slab *slab)
{
    return slab->page_size * (BLOCK_PAGES + 1);
}

static struct slab_page *block_page(const struct slab *slab, const struct slab_block *block,
                                    size_t i)
{
    return (struct slab_page *)((char *)block->pages + i * slab->page_size);
}

static size_t block_objects(const struct slab *slab)
{
    return slab->page_objects * BLOCK_PAGES;
}

static bool page_is_open(const struct slab *slab, const struct slab_page *page)
{
    return page->used < slab->page_objects;
}

static void open_page(struct slab *slab, struct slab_page *page)
{
    page->previous = NULL;
    page->next = slab->open;
    if (slab->open) {
        slab->open->previous = page;
    }
    slab->open = page;
}

static void close_page(struct slab *slab, struct slab_page *page)
{
    if (page->previous) {
        page->previous->next = page->next;
    } else {
        slab->open = page->next;
    }
    if (page->next) {
        page->next->previous = page->previous;
    }
}

static enum status block_new(struct slab *slab)
{
    struct slab_block *block = mem_alloc(slab->allocator, block_size(slab));
    if (!block) {
        return STATUS_NO_MEMORY;
    }
    uintptr_t after_header = (uintptr_t)(block + 1);
    size_t offset = round_up(after_header, slab->page_size) - (uintptr_t)block;
    block->pages = (struct slab_page *)((char *)block + offset);
    block->used = 0;
    for (size_t i = BLOCK_PAGES; i-- > 0;) {
        struct slab_page *page = block_page(slab, block, i);
        *page = (struct slab_page){ .block = block };
        open_page(slab, page);
    }
    slab->capacity += block_objects(slab);
    return STATUS_OK;
}

static void block_free(struct slab *slab, struct slab_block *block)
{
    assert(block->used == 0 && slab->capacity >= block_objects(slab));
    for (size_t i = 0; i < BLOCK_PAGES; i++) {
        close_page(slab, block_page(slab, block, i));
    }
    slab->capacity -= block_objects(slab);
    mem_free(slab->allocator, block, block_size(slab));
}

void slab_release(struct slab *slab)
{
    assert(slab->live == 0);
    while (slab->open) {
        block_free(slab, slab->open->block);
    }
    slab->promised = 0;
}

enum status slab_promise(struct slab *slab, size_t count)
{
    while (slab->capacity - slab->live < slab->promised + count) {
        if (block_new(slab)) {
            return STATUS_NO_MEMORY;
        }
    }
    slab->promised += count;
    return STATUS_OK;
}

void slab_settle(struct slab *slab)
{
    slab->promised = 0;
}

void *slab_take(struct slab *slab)
{
    if (!slab->open && block_new(slab)) {
        return NULL;
    }
    struct slab_page *page = slab->open;
    void *object;
    if (page->free) {
        object = page->free;
        page->free = page->free->next;
    } else {
        object = (char *)page + sizeof(struct slab_page) + page->fresh++ * slab->object_size;
    }
    if (page->used++ == 0) {
        page->block->used++;
    }
    if (!page_is_open(slab, page)) {
        close_page(slab, page);
    }
    slab->live++;
    slab->promised -= slab->promised > 0;
    return object;
}

void slab_give(struct slab *slab, void *object)
{
    size_t offset = (uintptr_t)object & (slab->page_size - 1);
    struct slab_page *page = (struct slab_page *)(void *)((char *)object - offset);
    if (!page_is_open(slab, page)) {
        open_page(slab, page);
    }
    struct free_object *free = object;
    free->next = page->free;
    page->free = free;
    slab->live--;
    if (--page->used > 0 || --page->block->used > 0) {
        return;
    }
    // Keeps one block's worth of free objects, so that a slab whose size varies around the end of a
    // block does not free and allocate that block repeatedly.
    size_t free_after = slab->capacity - slab->live - block_objects(slab);
    if (free_after >= block_objects(slab) / 2 && free_after >= slab->promised) {
        block_free(slab, page->block);
    }
}

size_t slab_memory(const struct slab *slab)
{
    return slab->capacity / block_objects(slab) * block_size(slab);
}
