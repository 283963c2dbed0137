// SPDX-License-Identifier: MIT
#include "engine/queue/line.h"

#include "engine/job/job.h"
#include "engine/queue/queue.h"

size_t line_count(const struct queue *queue)
{
    return queue->plain.line.count + queue->laned.count;
}

struct page_source line_source(const struct index *line, enum list list)
{
    size_t stalled = list == LIST_LINE ? 0 : index_rank(line, line_key_waiting());
    return (struct page_source){ .index = line,
                                 .from = list == LIST_WAITING ? stalled : 0,
                                 .to = list == LIST_STALLED ? stalled : line->count,
                                 .job_of = job_of_node };
}

void line_page(struct page *page, const struct queue *queue, enum list list)
{
    const struct page_source sources[] = { line_source(&queue->plain.line, list),
                                           line_source(&queue->laned, list) };
    page_merge(page, sources);
}
