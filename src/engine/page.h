// SPDX-License-Identifier: MIT
// Filling a page of a list of jobs from an index.
#ifndef SLUICE_ENGINE_PAGE_H
#define SLUICE_ENGINE_PAGE_H

#include "engine/engine.h"

#include "base/index.h"

// A list: the entries `from` up to `to` of an index, in its order or the other way round.
struct page_source {
    const struct index *index;
    size_t from, to;
    bool backwards;
    struct job *(*job_of)(struct index_node *node);
};

void page_fill(struct page *page, const struct page_source *source);

// Fills a page from two indexes as if they were one index; none is `backwards`.
void page_merge(struct page *page, const struct page_source sources[2]);

// For a list that consists of several indexes: `before` of its `total` jobs come before the cursor of
// the page. Returns how many jobs the page takes; `*from` is the rank of the first one.
size_t page_begin(struct page *page, size_t total, size_t before, size_t *from);

// An empty page.
void page_clear(struct page *page);

// The smallest key above `key`.
struct index_key page_key_after(struct index_key key);

#endif
