// SPDX-License-Identifier: MIT
// The line of a queue, all lanes together. Limits and fairness are ignored.
#ifndef SLUICE_ENGINE_QUEUE_LINE_H
#define SLUICE_ENGINE_QUEUE_LINE_H

#include "engine/engine.h"

struct queue;

// How many jobs are in line, and how many before a key.
size_t line_count(const struct queue *queue);
size_t line_rank(const struct queue *queue, struct index_key key);

// Fills a page.
void line_page(struct page *page, const struct queue *queue);

#endif
