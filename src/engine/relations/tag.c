// SPDX-License-Identifier: MIT
#include "engine/relations/tag.h"

#include "engine/job/job.h"
#include "engine/page.h"
#include "engine/queue/queue.h"
#include "engine/records/record.h"
#include "engine/state.h"

#include <assert.h>
#include <string.h>

struct slice tag_key(const void *tag)
{
    const struct tag *of = tag;
    return slice_make(of->name, of->name_size);
}

bool job_has_tag(const struct job *job, struct slice name)
{
    for (const struct tagging *at = job && job->extra ? job->extra->tags : NULL; at;
         at = at->next) {
        if (slice_equal(tag_key(at->tag), name)) {
            return true;
        }
    }
    return false;
}

static struct index_key order_key(const struct tag *tag)
{
    return (struct index_key){ UINT64_MAX - tag->taggings.count, tag->id };
}

// Updates the position of the tag, which depends on its number of jobs. The first time it gets an
// id.
static void reorder(struct engine *engine, struct tag *tag, uint64_t id)
{
    if (tag->id) {
        index_remove(&engine->tag_order, &tag->order);
    } else {
        tag->id = id;
    }
    tag->order.key = order_key(tag);
    index_insert(&engine->tag_order, &tag->order);
}

static void tag_settle(struct engine *engine, struct tag *tag)
{
    if (tag->taggings.count == 0 && tag->pins == 0) {
        index_release(&tag->taggings);
        if (tag->id) {
            index_remove(&engine->tag_order, &tag->order);
        }
        map_remove(&engine->tags, tag_key(tag));
        mem_free(engine->allocator, tag, sizeof(*tag) + tag->name_size);
    }
}

// The tag with that name, which is created if necessary.
static enum status tag_acquire(struct engine *engine, struct slice name, struct tag **out)
{
    struct tag *tag = map_find(&engine->tags, name);
    if (!tag) {
        if (map_reserve(&engine->tags, name)) {
            return STATUS_NO_MEMORY;
        }
        tag = mem_zalloc(engine->allocator, sizeof(*tag) + name.size);
        if (!tag) {
            return STATUS_NO_MEMORY;
        }
        tag->name_size = (uint8_t)name.size;
        memcpy(tag->name, name.data, name.size);
        index_init(&tag->taggings, &engine->pool);
        map_add(&engine->tags, tag);
    }
    *out = tag;
    return STATUS_OK;
}

enum status tags_check_count(const struct engine *engine, size_t count, struct error *error)
{
    if ((int64_t)count > engine->config.max_tags) {
        return error_set(error, STATUS_TOO_LARGE, "%zu tags; max-tags allows %lld", count,
                         (long long)engine->config.max_tags);
    }
    return STATUS_OK;
}

enum status tags_check(const struct engine *engine, struct slices tags, struct error *error)
{
    enum status status = tags_check_count(engine, tags.count, error);
    return status ? status : names_check_new(engine, tags, "tag", error);
}

size_t tags_count_with(const struct job *job, struct slices tags)
{
    size_t count = job && job->extra ? job->extra->tag_count : 0;
    for (size_t i = 0; i < tags.count; i++) {
        bool there = job && job_has_tag(job, tags.items[i]);
        for (size_t j = 0; j < i && !there; j++) {
            there = slice_equal(tags.items[i], tags.items[j]);
        }
        count += !there;
    }
    return count;
}

enum status tags_reserve(struct engine *engine, const struct job *job, struct slices tags,
                         struct error *error)
{
    enum status status = tags_check(engine, tags, error);
    if (!status) {
        status = tags_check_count(engine, tags_count_with(job, tags), error);
    }
    size_t pinned = 0;
    while (!status && pinned < tags.count) {
        struct tag *tag;
        if (tag_acquire(engine, tags.items[pinned], &tag)) {
            status = engine_no_memory(error);
            break;
        }
        tag->pins++;
        pinned++;
        // Its position changes at most twice for a job.
        if (index_reserve(&tag->taggings, 1) || index_reserve(&engine->tag_order, 2)) {
            status = engine_no_memory(error);
        }
    }
    if (!status && slab_promise(&engine->taggings, tags.count)) {
        status = engine_no_memory(error);
    }
    if (status) {
        tags_unreserve(engine, (struct slices){ tags.items, pinned });
    }
    return status;
}

void tags_unreserve(struct engine *engine, struct slices tags)
{
    for (size_t i = 0; i < tags.count; i++) {
        struct tag *tag = map_find(&engine->tags, tags.items[i]);
        assert(tag && tag->pins > 0);
        tag->pins--;
        tag_settle(engine, tag);
    }
}

// Adds a tag that the job does not have, after its others. `id` is for a tag without an id.
static void attach(struct engine *engine, struct job *job, struct tag *tag, struct index_key key,
                   uint64_t id)
{
    struct tagging *tagging = slab_take(&engine->taggings);
    assert(tagging);
    *tagging = (struct tagging){ .node.key = key, .tag = tag, .job = job };
    index_insert(&tag->taggings, &tagging->node);
    reorder(engine, tag, id);
    struct tagging **end = &job->extra->tags;
    while (*end) {
        assert((*end)->tag != tag);
        end = &(*end)->next;
    }
    *end = tagging;
    job->extra->tag_count++;
}

void tags_add(struct engine *engine, struct job *job, struct slices tags, int64_t now_us)
{
    for (size_t i = 0; i < tags.count; i++) {
        if (!job_has_tag(job, tags.items[i])) {
            uint64_t sequence = ++engine->sequence;
            attach(engine, job, map_find(&engine->tags, tags.items[i]), time_key(now_us, sequence),
                   sequence);
        }
    }
    job_changed(engine, job, JOB_DIRTY_BODY);
}

enum status tags_load(struct engine *engine, struct job *job, struct slice name, uint64_t tag_id,
                      struct index_key key)
{
    struct tag *tag;
    if (tag_acquire(engine, name, &tag)) {
        return STATUS_NO_MEMORY;
    }
    if (index_reserve(&tag->taggings, 1) || index_reserve(&engine->tag_order, 1) ||
        slab_promise(&engine->taggings, 1)) {
        tag_settle(engine, tag);
        return STATUS_NO_MEMORY;
    }
    // No other tag may have this number, now or later.
    enum status status = STATUS_OK;
    if (!tag->id) {
        status = record_take_id(engine, RECORD_TAG, tag_id, engine->sequence);
    } else if (tag->id != tag_id) {
        status = STATUS_CORRUPT;
    }
    if (!status &&
        (key.low > engine->sequence || job_has_tag(job, name) || index_has(&tag->taggings, key))) {
        status = STATUS_CORRUPT;
    }
    if (status) {
        tag_settle(engine, tag);
        return status;
    }
    attach(engine, job, tag, key, tag_id);
    return STATUS_OK;
}

// Takes the tag at `link` from its job. This cannot fail; without memory a tag that has become
// rarer keeps its place in the order until it changes again, which only the order of a list shows.
static void untag(struct engine *engine, struct tagging **link)
{
    struct tagging *tagging = *link;
    struct tag *tag = tagging->tag;
    *link = tagging->next;
    tagging->job->extra->tag_count--;
    index_remove(&tag->taggings, &tagging->node);
    slab_give(&engine->taggings, tagging);
    if (tag->taggings.count && !index_reserve(&engine->tag_order, 1)) {
        reorder(engine, tag, 0);
    }
    tag_settle(engine, tag);
}

void tags_clear(struct engine *engine, struct job *job)
{
    while (job->extra && job->extra->tags) {
        untag(engine, &job->extra->tags);
    }
}

struct slice job_tag(const struct engine *engine, const struct job *job, size_t index)
{
    (void)engine;
    const struct tagging *at = job->extra->tags;
    for (; index > 0; index--) {
        at = at->next;
    }
    return tag_key(at->tag);
}

int64_t job_tag_time(const struct job *job, struct slice tag)
{
    const struct tagging *at = job->extra->tags;
    while (!slice_equal(tag_key(at->tag), tag)) {
        at = at->next;
    }
    return time_of_key(at->node.key);
}

enum status tags_give(struct engine *engine, struct job *job, struct slices tags, int64_t now_us,
                      struct error *error)
{
    if (job_reserve_extra(engine, job)) {
        return engine_no_memory(error);
    }
    enum status status = tags_reserve(engine, job, tags, error);
    if (!status) {
        tags_add(engine, job, tags, now_us);
        tags_unreserve(engine, tags);
    }
    engine_settle(engine);
    return status;
}

size_t tags_take(struct engine *engine, struct job *job, struct slices tags)
{
    size_t taken = 0;
    for (size_t i = 0; job->extra && i < tags.count; i++) {
        struct tagging **link = &job->extra->tags;
        while (*link && !slice_equal(tag_key((*link)->tag), tags.items[i])) {
            link = &(*link)->next;
        }
        if (*link) {
            untag(engine, link);
            taken++;
        }
    }
    job_changed(engine, job, JOB_DIRTY_BODY);
    return taken;
}

enum status engine_tag_add(struct engine *engine, int64_t now_us, struct slice jid,
                           struct slices tags, const struct job **out, struct error *error)
{
    struct job *job;
    enum status status = job_begin(engine, &now_us, jid, &job, error);
    if (!status) {
        status = tags_give(engine, job, tags, now_us, error);
    }
    if (!status) {
        *out = job;
    }
    return status;
}

enum status engine_tag_remove(struct engine *engine, int64_t now_us, struct slice jid,
                              struct slices tags, const struct job **out, struct error *error)
{
    struct job *job;
    enum status status = job_begin(engine, &now_us, jid, &job, error);
    if (!status) {
        status = names_check(tags, "tag", error);
    }
    if (!status) {
        (void)tags_take(engine, job, tags);
        *out = job;
    }
    return status;
}

static struct job *job_of_tagging(struct index_node *node)
{
    return tagging_of_node(node)->job;
}

void engine_tagged(const struct engine *engine, struct slice name, struct page *page)
{
    const struct tag *tag = map_find(&engine->tags, name);
    if (!tag) {
        page_clear(page);
        return;
    }
    page_fill(page, &(struct page_source){ .index = &tag->taggings,
                                           .to = tag->taggings.count,
                                           .job_of = job_of_tagging });
}

size_t engine_tag_top_count(const struct engine *engine)
{
    return index_rank(&engine->tag_order, (struct index_key){ UINT64_MAX - 1, 0 });
}

bool engine_tag_top(const struct engine *engine, size_t index, struct count_view *view)
{
    if (index >= engine_tag_top_count(engine)) {
        return false;
    }
    const struct tag *tag = (const struct tag *)(const void *)index_at(&engine->tag_order, index);
    *view = (struct count_view){ tag_key(tag), tag->taggings.count };
    return true;
}
