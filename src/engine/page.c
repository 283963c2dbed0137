// SPDX-License-Identifier: MIT
#include "engine/page.h"

struct index_key page_key_after(struct index_key key)
{
    key.high += ++key.low == 0;
    return key;
}

size_t page_begin(struct page *page, size_t total, size_t before, size_t *from)
{
    page->total = total;
    page->found = 0;
    page->more = false;
    size_t left = total - before;
    if (page->offset >= left) {
        return 0;
    }
    *from = before + page->offset;
    left -= page->offset;
    size_t count = page->count < left ? page->count : left;
    page->more = count && count < left;
    return count;
}

void page_clear(struct page *page)
{
    size_t from;
    (void)page_begin(page, 0, 0, &from);
}

// How many entries of the list precede the cursor.
static size_t before_cursor(const struct page *page, const struct page_source *source)
{
    if (!page->has_after) {
        return 0;
    }
    struct index_key key = source->backwards ? page->after : page_key_after(page->after);
    size_t rank = index_rank(source->index, key);
    rank = rank < source->from ? source->from : rank > source->to ? source->to : rank;
    return source->backwards ? source->to - rank : rank - source->from;
}

void page_fill(struct page *page, const struct page_source *source)
{
    size_t total = source->to - source->from, from = 0;
    size_t count = page_begin(page, total, before_cursor(page, source), &from);
    if (count == 0) {
        return;
    }
    size_t start = source->backwards ? source->to - from - count : source->from + from;
    struct index_cursor cursor = index_cursor_at(source->index, start);
    for (size_t i = 0; i < count; i++) {
        struct index_node *node = index_cursor_next(&cursor);
        page->jobs[source->backwards ? count - 1 - i : i] = source->job_of(node);
        if (i == (source->backwards ? 0 : count - 1)) {
            page->last = node->key;
        }
    }
    page->found = count;
}
