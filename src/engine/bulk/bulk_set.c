// SPDX-License-Identifier: MIT
// The jobs that a dry run would change, for an operation on exactly these jobs.
#include "engine/bulk/bulk.h"
#include "engine/job/job.h"
#include "engine/state.h"

void bulk_set_free(struct engine *engine, struct bulk *bulk)
{
    if (bulk->set) {
        id_set_release(bulk->set, engine->allocator);
        mem_free(engine->allocator, bulk->set, sizeof(*bulk->set));
        bulk->set = NULL;
    }
}

void bulk_set_begin(struct engine *engine, struct bulk *bulk)
{
    size_t count = 0;
    struct bulk *oldest = NULL;
    struct index_cursor cursor = index_cursor_at(&engine->bulks, 0);
    for (struct index_node *node; (node = index_cursor_next(&cursor));) {
        struct bulk *at = bulk_of_node(node);
        bool keeps = at->view.dry_run && at->set;
        count += keeps;
        oldest = keeps && !oldest ? at : oldest;
    }
    if (count >= BULK_SETS_MAX) {
        bulk_set_free(engine, oldest);
    }
    bulk->set = mem_zalloc(engine->allocator, sizeof(*bulk->set));
    if (bulk->set) {
        id_set_init(bulk->set, &engine->pool);
    }
}

enum status bulk_set_reserve(struct engine *engine, struct bulk *bulk, const struct job *job)
{
    if (!bulk->view.dry_run || !bulk->set) {
        return STATUS_OK;
    }
    if (bulk->set->bytes >= BULK_SET_BYTES_MAX) {
        bulk_set_free(engine, bulk);
        return STATUS_OK;
    }
    return id_set_reserve(bulk->set, engine->allocator, job->id);
}

void bulk_set_add(struct bulk *bulk, const struct job *job)
{
    if (bulk->set) {
        id_set_add(bulk->set, job->id);
    }
}
