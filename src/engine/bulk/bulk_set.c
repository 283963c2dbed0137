// SPDX-License-Identifier: MIT
// The jobs that a dry run would change, for an operation on exactly these jobs.
#include "engine/bulk/bulk.h"
#include "engine/job/job.h"
#include "engine/state.h"

#include <assert.h>

void bulk_set_free(struct engine *engine, struct bulk *bulk)
{
    if (bulk->set) {
        id_set_release(bulk->set, engine->allocator);
        mem_free(engine->allocator, bulk->set, sizeof(*bulk->set));
        bulk->set = NULL;
    }
}

void bulk_set_take(struct bulk *bulk, struct bulk *dry_run)
{
    assert(!bulk->set && dry_run->set);
    bulk->set = dry_run->set;
    bulk->set_change = BULK_SET_NEW;
    dry_run->set = NULL;
}

void bulk_set_end(struct engine *engine, struct bulk *bulk)
{
    bool saved = engine->keeps_changes && bulk->set_change == BULK_SET_SAME;
    bulk->set_change = saved && bulk->set ? BULK_SET_OVER : BULK_SET_SAME;
    if (bulk->set_change != BULK_SET_OVER) {
        bulk_set_free(engine, bulk);
    }
}

void bulk_set_told(struct engine *engine, struct bulk *bulk)
{
    if (bulk->set_change == BULK_SET_OVER) {
        bulk_set_free(engine, bulk);
    }
    bulk->set_change = BULK_SET_SAME;
}

enum status bulk_set_make(struct engine *engine, struct bulk *bulk)
{
    bulk->set = mem_zalloc(engine->allocator, sizeof(*bulk->set));
    if (!bulk->set) {
        return STATUS_NO_MEMORY;
    }
    id_set_init(bulk->set, &engine->pool);
    return STATUS_OK;
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
    if (bulk_set_make(engine, bulk)) {
        assert(!bulk->set); // it can only be looked at
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
