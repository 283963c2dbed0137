// SPDX-License-Identifier: MIT
#include "engine/relations/group.h"

#include "engine/job/job.h"
#include "engine/page.h"
#include "engine/queue/queue.h"
#include "engine/relations/failure.h"
#include "engine/state.h"

#include <assert.h>
#include <string.h>

struct slice group_key(const void *group)
{
    const struct group *of = group;
    return slice_make(of->name, of->name_size);
}

enum status group_acquire(struct engine *engine, struct slice name, struct group **out)
{
    struct group *group = map_find(&engine->groups, name);
    if (!group) {
        if (map_reserve(&engine->groups, name)) {
            return STATUS_NO_MEMORY;
        }
        group = mem_zalloc(engine->allocator, sizeof(*group) + name.size);
        if (!group) {
            return STATUS_NO_MEMORY;
        }
        group->name_size = (uint8_t)name.size;
        memcpy(group->name, name.data, name.size);
        index_init(&group->jobs, &engine->pool);
        map_add(&engine->groups, group);
    }
    if (index_reserve(&engine->group_order, 1) || index_reserve(&group->jobs, 1)) {
        group_settle(engine, group);
        return STATUS_NO_MEMORY;
    }
    *out = group;
    return STATUS_OK;
}

void group_add(struct engine *engine, struct group *group, struct job *job, uint64_t sequence)
{
    assert(job->state == JOB_FAILED && !job->extra->group);
    if (!group->listed) {
        group->listed = true;
        group->order.key = (struct index_key){ sequence, 0 };
        index_insert(&engine->group_order, &group->order);
    }
    job->extra->group = group;
}

void group_settle(struct engine *engine, struct group *group)
{
    if (group->jobs.count == 0) {
        index_release(&group->jobs);
        if (group->listed) {
            index_remove(&engine->group_order, &group->order);
        }
        map_remove(&engine->groups, group_key(group));
        mem_free(engine->allocator, group, sizeof(*group) + group->name_size);
    }
}

bool engine_failure_group(const struct engine *engine, size_t index, struct count_view *view)
{
    struct index_node *node = index_at(&engine->group_order, index);
    if (node) {
        const struct group *group = group_of_node(node);
        *view = (struct count_view){ group_key(group), group->jobs.count };
    }
    return node != NULL;
}

static int64_t failed_at(struct index_node *node)
{
    return job_of_node(node)->extra->failure->when_us;
}

bool engine_failure_group_after(const struct engine *engine, const struct index_key *after,
                                size_t index, struct failure_group_view *view)
{
    size_t before = after ? index_rank(&engine->group_order, page_key_after(*after)) : 0;
    size_t left = engine->group_order.count - before;
    struct index_node *node = index < left ? index_at(&engine->group_order, before + index) : NULL;
    if (node) {
        const struct group *group = group_of_node(node);
        struct index_node *newest = index_last(&group->jobs);
        *view = (struct failure_group_view){ .name = group_key(group),
                                             .count = group->jobs.count,
                                             .first_us = failed_at(index_first(&group->jobs)),
                                             .last_us = failed_at(newest),
                                             .newest = job_of_node(newest),
                                             .place = node->key };
    }
    return node != NULL;
}

size_t engine_failure_group_count(const struct engine *engine)
{
    return engine->group_order.count;
}

void engine_failed(const struct engine *engine, struct slice name, struct page *page)
{
    const struct group *group = map_find(&engine->groups, name);
    if (!group) {
        page_clear(page);
        return;
    }
    page_fill(page, &(struct page_source){ .index = &group->jobs,
                                           .to = group->jobs.count,
                                           .backwards = true,
                                           .job_of = job_of_node });
}
