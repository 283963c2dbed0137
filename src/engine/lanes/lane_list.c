// SPDX-License-Identifier: MIT
#include "engine/lanes/lane_list.h"

#include "engine/lanes/lane.h"
#include "engine/name.h"
#include "engine/page.h"
#include "engine/queue/queue.h"
#include "engine/state.h"

static void add_row(const struct engine *engine, const struct lane *lane, int64_t now_us,
                    struct index_key place, struct lane_page *page)
{
    struct lane_row *row = &page->rows[page->found++];
    page->last = place;
    *row = (struct lane_row){
        .domain = intern_get(&engine->names, (uint32_t)lane->key.domain),
        .view = { .waiting = lane->line.count,
                  .running = lane->running,
                  .ready_us = lane_room(lane) ? lane_ready_us(engine, lane, now_us, 0) : INT64_MAX,
                  .limit = { .has_rate = true,
                             .rate_count = lane->rate_count,
                             .rate_period_us = lane->rate_period_us,
                             .burst = lane->burst,
                             .has_concurrency = true,
                             .concurrency = lane->concurrency,
                             .has_weight = true,
                             .weight = lane->weight } },
        .tokens = lane_tokens(lane, now_us),
    };
}

enum status engine_lanes(struct engine *engine, int64_t now_us, struct slice name,
                         struct lane_page *page, struct error *error)
{
    enum status status = engine_begin(engine, &now_us, error);
    if (!status) {
        status = name_check(name, "queue", error);
    }
    if (status) {
        return status;
    }
    const struct queue *queue = queue_find(engine, name);
    page->found = page->total = 0;
    page->more = false;
    if (!queue) {
        return STATUS_OK;
    }
    const struct index *index = &queue->lanes_listed;
    page->total = 1 + index->count;
    if (!page->has_after && page->count) {
        add_row(engine, &queue->plain, now_us, (struct index_key){ 0, 0 }, page);
    }
    size_t from = page->has_after ? index_rank(index, page_key_after(page->after)) : 0;
    struct index_cursor cursor = index_cursor_at(index, from);
    struct index_node *node;
    while (page->found < page->count && (node = index_cursor_next(&cursor))) {
        add_row(engine, lane_of_listed(node), now_us, node->key, page);
        from++;
    }
    page->more = page->found && from < index->count;
    return STATUS_OK;
}
