// SPDX-License-Identifier: MIT
#include "engine/records/walk.h"

#include "engine/job/job.h"
#include "engine/queue/queue.h"
#include "engine/relations/group.h"
#include "engine/state.h"

static void walk_index(const struct index *index, void (*visit)(void *context, struct job *job),
                       void *context)
{
    struct index_cursor cursor = index_cursor_at(index, 0);
    for (struct index_node *node; (node = index_cursor_next(&cursor));) {
        visit(context, job_of_node(node));
    }
}

void walk_queues(const struct engine *engine, void (*visit)(void *context, struct queue *queue),
                 void *context)
{
    struct index_cursor cursor = index_cursor_at(&engine->queue_all, 0);
    for (struct index_node *node; (node = index_cursor_next(&cursor));) {
        visit(context, queue_of_all(node));
    }
}

struct visitor {
    void (*visit)(void *context, struct job *job);
    void *context;
};

static void visit_queue(void *context, struct queue *queue)
{
    const struct visitor *visitor = context;
    const struct index *indexes[] = { &queue->plain.line, &queue->laned, &queue->scheduled,
                                      &queue->leased,     &queue->grace, &queue->depends };
    for (size_t i = 0; i < sizeof(indexes) / sizeof(indexes[0]); i++) {
        walk_index(indexes[i], visitor->visit, visitor->context);
    }
}

void walk_jobs(const struct engine *engine, void (*visit)(void *context, struct job *job),
               void *context)
{
    struct visitor visitor = { visit, context };
    walk_queues(engine, visit_queue, &visitor);
    struct index_cursor cursor = index_cursor_at(&engine->group_order, 0);
    for (struct index_node *node; (node = index_cursor_next(&cursor));) {
        walk_index(&group_of_node(node)->jobs, visit, context);
    }
    walk_index(&engine->completed, visit, context);
}
