// SPDX-License-Identifier: MIT
#include "engine/queue/line.h"

#include "engine/job/job.h"
#include "engine/page.h"
#include "engine/queue/queue.h"

#include <assert.h>

size_t line_count(const struct queue *queue)
{
    return queue->plain.line.count + queue->laned.count;
}

size_t line_rank(const struct queue *queue, struct index_key key)
{
    return index_rank(&queue->plain.line, key) + index_rank(&queue->laned, key);
}

// How many of the first `position` waiting jobs have no domain.
static size_t plain_before(const struct queue *queue, size_t position)
{
    const struct index *plain = &queue->plain.line, *laned = &queue->laned;
    size_t low = position > laned->count ? position - laned->count : 0;
    size_t high = position < plain->count ? position : plain->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        // The job of that rank is among the first if it precedes the one that it competes with.
        bool among = index_key_less(index_at(plain, middle)->key,
                                    index_at(laned, position - middle - 1)->key);
        low = among ? middle + 1 : low;
        high = among ? high : middle;
    }
    return low;
}

void line_page(struct page *page, const struct queue *queue)
{
    size_t from = 0;
    size_t before = page->has_after ? line_rank(queue, page_key_after(page->after)) : 0;
    size_t count = page_begin(page, line_count(queue), before, &from);
    if (count == 0) {
        return;
    }
    size_t plain_from = plain_before(queue, from);
    struct index_cursor plain = index_cursor_at(&queue->plain.line, plain_from);
    struct index_cursor laned = index_cursor_at(&queue->laned, from - plain_from);
    struct index_node *from_plain = index_cursor_next(&plain),
                      *from_laned = index_cursor_next(&laned);
    while (page->found < count) {
        bool take_plain =
            from_plain && (!from_laned || index_key_less(from_plain->key, from_laned->key));
        struct index_node *node = take_plain ? from_plain : from_laned;
        assert(node); // there are as many as were counted
        page->jobs[page->found++] = job_of_node(node);
        page->last = node->key;
        if (take_plain) {
            from_plain = index_cursor_next(&plain);
        } else {
            from_laned = index_cursor_next(&laned);
        }
    }
}
