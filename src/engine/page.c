// SPDX-License-Identifier: MIT
#include "engine/page.h"

#include <assert.h>

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

// The part of a source that a page of two is made from.
struct part {
    const struct index *index;
    size_t from, count;
};

static size_t rank_in(const struct page_source *source, struct index_key key)
{
    size_t rank = index_rank(source->index, key);
    return rank < source->from ? 0 : (rank > source->to ? source->to : rank) - source->from;
}

// How many of the first `position` jobs of both parts are in `a`.
static size_t first_of(const struct part *a, const struct part *b, size_t position)
{
    size_t low = position > b->count ? position - b->count : 0;
    size_t high = position < a->count ? position : a->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        // The job of that rank is among the first if it comes before the one it competes with.
        bool among = index_key_less(index_at(a->index, a->from + middle)->key,
                                    index_at(b->index, b->from + position - middle - 1)->key);
        low = among ? middle + 1 : low;
        high = among ? high : middle;
    }
    return low;
}

// The next node of a part of which `left` are left, or NULL.
static struct index_node *next_of(struct index_cursor *cursor, size_t *left)
{
    return *left ? (--*left, index_cursor_next(cursor)) : NULL;
}

void page_merge(struct page *page, const struct page_source sources[2])
{
    struct part parts[2];
    size_t before = 0, from = 0;
    for (int i = 0; i < 2; i++) {
        const struct page_source *source = &sources[i];
        parts[i] = (struct part){ source->index, source->from, source->to - source->from };
        before += page->has_after ? rank_in(source, page_key_after(page->after)) : 0;
    }
    size_t count = page_begin(page, parts[0].count + parts[1].count, before, &from);
    if (count == 0) {
        return;
    }
    size_t first = first_of(&parts[0], &parts[1], from);
    size_t starts[2] = { first, from - first }, left[2];
    struct index_cursor cursors[2];
    struct index_node *next[2];
    for (int i = 0; i < 2; i++) {
        cursors[i] = index_cursor_at(parts[i].index, parts[i].from + starts[i]);
        left[i] = parts[i].count - starts[i];
        next[i] = next_of(&cursors[i], &left[i]);
    }
    while (page->found < count) {
        int take = next[1] && (!next[0] || index_key_less(next[1]->key, next[0]->key));
        assert(next[take]); // there are as many as were counted
        page->jobs[page->found++] = sources[take].job_of(next[take]);
        page->last = next[take]->key;
        next[take] = next_of(&cursors[take], &left[take]);
    }
}
