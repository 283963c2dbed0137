// SPDX-License-Identifier: MIT
// The line of a queue, all lanes together. Limits and fairness are ignored.
#ifndef SLUICE_ENGINE_QUEUE_LINE_H
#define SLUICE_ENGINE_QUEUE_LINE_H

#include "engine/engine.h"
#include "engine/page.h"

struct queue;

// How many jobs are in line.
size_t line_count(const struct queue *queue);

// The jobs of LIST_WAITING, LIST_STALLED or LIST_LINE in an index ordered by line_key.
struct page_source line_source(const struct index *line, enum list list);

// Fills a page with one of these lists.
void line_page(struct page *page, const struct queue *queue, enum list list);

#endif
