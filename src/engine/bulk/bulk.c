// SPDX-License-Identifier: MIT
#include "engine/bulk/bulk.h"

#include "engine/dedup/unique.h"
#include "engine/job/job.h"
#include "engine/job/kick.h"
#include "engine/job/place.h"
#include "engine/job/requeue.h"
#include "engine/lease/lease.h"
#include "engine/name.h"
#include "engine/queue/queue.h"
#include "engine/relations/tag.h"
#include "engine/state.h"

#include <assert.h>
#include <string.h>

enum {
    SLICE_STEPS = 1000,
    DONE_MAX = 100,
};

// ---------------------------------------------------------------------------------------------
// Operations

static enum status check_filter(const struct job_filter *filter, struct error *error)
{
    const struct {
        struct slice name;
        const char *what;
    } names[] = {
        { filter->queue, "queue" }, { filter->klass, "klass" },   { filter->tag, "tag" },
        { filter->group, "group" }, { filter->worker, "worker" }, { filter->domain, "domain" },
    };
    enum status status = STATUS_OK;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && !status; i++) {
        status = name_check_if_given(names[i].name, names[i].what, error);
    }
    if (!status && filter->jids.count > BULK_JIDS_MAX) {
        status =
            error_set(error, STATUS_TOO_LARGE, "%zu jids are given, and at most %d are allowed",
                      filter->jids.count, BULK_JIDS_MAX);
    }
    if (!status) {
        status = names_check(filter->jids, "jid", error);
    }
    if (!status && filter->states >> JOB_STATE_COUNT) {
        status = error_set(error, STATUS_INVALID, "unknown state");
    }
    if (!status && ((filter->has_older && filter->older_us < 0) ||
                    (filter->has_newer && filter->newer_us < 0))) {
        status = error_set(error, STATUS_INVALID, "an age must not be negative");
    }
    return status;
}

static bool takes_tags(const struct bulk_request *request)
{
    return request->act == BULK_TAG || request->act == BULK_UNTAG;
}

enum status bulk_check(const struct bulk_request *request, struct error *error)
{
    if ((unsigned)request->act >= BULK_ACTS) {
        return error_set(error, STATUS_INVALID, "unknown act");
    }
    enum status status = check_filter(&request->filter, error);
    if (!status && request->act == BULK_MOVE) {
        status = name_check(request->to, "queue to move to", error);
    }
    if (!status) {
        status = request->user.size > ENGINE_NAME_SIZE_MAX
                     ? error_set(error, STATUS_INVALID, "the user's name is too long")
                     : STATUS_OK;
    }
    if (!status && takes_tags(request) && request->tags.count == 0) {
        status = error_set(error, STATUS_INVALID, "tags must be given");
    }
    return status;
}

static struct slice keep(char **at, struct slice bytes)
{
    struct slice kept = slice_make(*at, bytes.size);
    if (bytes.size) {
        memcpy(*at, bytes.data, bytes.size);
    }
    *at += bytes.size;
    return kept;
}

static size_t size_of_texts(struct slices texts, size_t count)
{
    size_t size = 0;
    for (size_t i = 0; i < count; i++) {
        size += texts.items[i].size;
    }
    return size;
}

// Heap sort, the largest first: moves the element at `from` to its place among the first `count`.
static void sift(struct slice *jids, size_t from, size_t count)
{
    for (size_t child; (child = 2 * from + 1) < count; from = child) {
        child += child + 1 < count && slice_compare(jids[child], jids[child + 1]) < 0;
        if (slice_compare(jids[from], jids[child]) >= 0) {
            return;
        }
        struct slice moved = jids[from];
        jids[from] = jids[child];
        jids[child] = moved;
    }
}

// Sorts the jids and removes duplicates; returns how many remain.
static size_t sort_jids(struct slice *jids, size_t count)
{
    size_t kept = 0;
    for (size_t i = count / 2; i-- > 0;) {
        sift(jids, i, count);
    }
    for (size_t left = count; left > 1; left--) {
        struct slice largest = jids[0];
        jids[0] = jids[left - 1];
        jids[left - 1] = largest;
        sift(jids, 0, left - 1);
    }
    for (size_t i = 0; i < count; i++) {
        if (kept == 0 || !slice_equal(jids[kept - 1], jids[i])) {
            jids[kept++] = jids[i];
        }
    }
    return kept;
}

struct bulk *bulk_new(struct engine *engine, const struct bulk_request *request)
{
    const struct job_filter *filter = &request->filter;
    size_t tag_count = takes_tags(request) ? request->tags.count : 0;
    size_t size = sizeof(struct bulk) + (tag_count + filter->jids.count) * sizeof(struct slice) +
                  filter->queue.size + filter->klass.size + filter->tag.size + filter->group.size +
                  filter->worker.size + filter->domain.size + request->to.size +
                  request->user.size + size_of_texts(request->tags, tag_count) +
                  size_of_texts(filter->jids, filter->jids.count);
    struct bulk *bulk = mem_zalloc(engine->allocator, size);
    if (!bulk) {
        return NULL;
    }
    char *at = (char *)(bulk->texts + tag_count + filter->jids.count);
    bulk->size = size;
    bulk->request = *request;
    bulk->request.filter.older_us = filter->has_older ? filter->older_us : 0;
    bulk->request.filter.newer_us = filter->has_newer ? filter->newer_us : 0;
    bulk->request.filter.queue = keep(&at, filter->queue);
    bulk->request.filter.klass = keep(&at, filter->klass);
    bulk->request.filter.tag = keep(&at, filter->tag);
    bulk->request.filter.group = keep(&at, filter->group);
    bulk->request.filter.worker = keep(&at, filter->worker);
    bulk->request.filter.domain = keep(&at, filter->domain);
    bulk->request.to = keep(&at, request->to);
    bulk->request.user = keep(&at, request->user);
    for (size_t i = 0; i < tag_count; i++) {
        bulk->texts[i] = keep(&at, request->tags.items[i]);
    }
    struct slice *jids = bulk->texts + tag_count;
    for (size_t i = 0; i < filter->jids.count; i++) {
        jids[i] = keep(&at, filter->jids.items[i]);
    }
    bulk->request.tags = (struct slices){ bulk->texts, tag_count };
    bulk->request.filter.jids = (struct slices){ jids, sort_jids(jids, filter->jids.count) };
    bulk->view.act = request->act;
    bulk->view.dry_run = request->dry_run;
    bulk->cursor.stage = bulk_first_stage(&bulk->request.filter);
    return bulk;
}

static void changed(struct engine *engine, struct bulk *bulk)
{
    ENGINE_NOTE_CHANGE(engine, dirty_bulks, bulk);
}

void bulk_add(struct engine *engine, struct bulk *bulk, uint64_t id)
{
    assert(id > 0 && !bulk->gone);
    bulk->view.id = id;
    bulk->node.key = (struct index_key){ 0, id };
    index_insert(&engine->bulks, &bulk->node);
    changed(engine, bulk);
}

void bulk_free_shell(struct engine *engine, struct bulk *bulk)
{
    bulk_set_free(engine, bulk);
    mem_free(engine->allocator, bulk, bulk->size);
}

void bulk_free(struct engine *engine, struct bulk *bulk)
{
    if (bulk->set_change != BULK_SET_OVER) {
        bulk_set_free(engine, bulk);
    }
    index_remove(&engine->bulks, &bulk->node);
    ENGINE_NOTE_GONE(engine, dirty_bulks, bulk, bulk_free_shell);
}

// Ends an operation. Only the operations that ended last are kept, including this one.
static void end(struct engine *engine, struct bulk *bulk)
{
    bulk->view.done = true;
    if (!bulk->view.dry_run) {
        bulk_set_end(engine, bulk);
    }
    changed(engine, bulk);
    size_t done = 0;
    struct bulk *oldest = NULL;
    struct index_cursor cursor = index_cursor_at(&engine->bulks, 0);
    for (struct index_node *node; (node = index_cursor_next(&cursor));) {
        struct bulk *at = bulk_of_node(node);
        done += at->view.done;
        oldest = at->view.done && at != bulk && !oldest ? at : oldest;
    }
    if (done > DONE_MAX) {
        bulk_free(engine, oldest);
    }
}

// ---------------------------------------------------------------------------------------------
// Acts. Each sets `*did` if it changes, or would change, the job.

// A job is left unchanged if another job holds its lock now.
static enum status leave_if_locked(struct engine *engine, const struct job *job, int64_t now_us,
                                   bool *did)
{
    enum status status = *did ? unique_reserve_again(engine, now_us, job, NULL) : STATUS_OK;
    *did = *did && !status;
    return status == STATUS_EXISTS ? STATUS_OK : status;
}

static enum status retry_one(struct engine *engine, struct job *job, int64_t now_us, bool dry,
                             bool *did)
{
    *did = job_can_be_kicked(job);
    enum status status =
        job->state == JOB_FAILED ? leave_if_locked(engine, job, now_us, did) : STATUS_OK;
    return status || !*did || dry ? status : job_kick(engine, now_us, job, NULL);
}

static enum status move_one(struct engine *engine, struct job *job, int64_t now_us, bool dry,
                            struct slice name, bool *did)
{
    bool there = job->queue && slice_equal(queue_name(job->queue), name);
    *did = job->state == JOB_FAILED ||
           (!there && job->state != JOB_RUNNING && job->state != JOB_COMPLETE);
    enum status status = leave_if_locked(engine, job, now_us, did);
    if (status || !*did || dry) {
        return status;
    }
    struct queue *to;
    status = queue_acquire(engine, name, &to, NULL);
    if (!status) {
        status = job_requeue(engine, now_us, job, to, NULL);
        if (status) {
            queue_abandon(engine, to);
        }
    }
    return status;
}

static enum status tag_one(struct engine *engine, struct job *job, int64_t now_us,
                           const struct bulk_request *request, bool *did)
{
    bool tag = request->act == BULK_TAG;
    bool fits = !tag || !tags_check_count(engine, tags_count_with(job, request->tags), NULL);
    *did = false;
    for (size_t i = 0; fits && i < request->tags.count; i++) {
        *did = *did || job_has_tag(job, request->tags.items[i]) != tag;
    }
    if (!*did || request->dry_run) {
        return STATUS_OK;
    }
    if (tag) {
        return tags_give(engine, job, request->tags, now_us, NULL);
    }
    (void)tags_take(engine, job, request->tags);
    return STATUS_OK;
}

static enum status delete_one(struct engine *engine, struct job *job, bool dry, bool *did)
{
    *did = (job->state == JOB_COMPLETE || job->state == JOB_FAILED) &&
           !(job->extra && job->extra->dependent_count);
    return !*did || dry ? STATUS_OK : job_delete(engine, job);
}

static enum status timeout_one(struct engine *engine, struct job *job, int64_t now_us, bool dry,
                               bool *did)
{
    *did = job->state == JOB_RUNNING;
    return !*did || dry ? STATUS_OK : lease_take_away(engine, job, now_us);
}

static enum status act(struct engine *engine, const struct bulk *bulk, struct job *job,
                       int64_t now_us, bool *did)
{
    const struct bulk_request *request = &bulk->request;
    switch (request->act) {
    case BULK_CANCEL:
        return bulk_cancel_one(engine, bulk, job, now_us, did);
    case BULK_RETRY:
        return retry_one(engine, job, now_us, request->dry_run, did);
    case BULK_MOVE:
        return move_one(engine, job, now_us, request->dry_run, request->to, did);
    case BULK_DELETE:
        return delete_one(engine, job, request->dry_run, did);
    case BULK_PRIORITY:
        *did = true; // others do not match
        return request->dry_run ? STATUS_OK : job_set_priority(engine, job, request->priority);
    case BULK_TIMEOUT:
        return timeout_one(engine, job, now_us, request->dry_run, did);
    case BULK_TAG:
    case BULK_UNTAG:
    case BULK_ACTS:
        break;
    }
    return tag_one(engine, job, now_us, request, did);
}

// Applies the act to a job that matches. After a cancel the job is gone.
static enum status act_and_count(struct engine *engine, struct bulk *bulk, struct job *job,
                                 int64_t now_us)
{
    bool did = false;
    bool counted = bulk_has_counted(bulk, job);
    if (counted && !job->extra->freed) {
        bulk->view.looked_at--;
        return STATUS_OK; // the walk has reached a job that a dry run has counted already
    }
    enum status status = bulk_set_reserve(engine, bulk, job);
    if (!status) {
        status = act(engine, bulk, job, now_us, &did);
    }
    if (!status) {
        if (did && bulk->view.dry_run) {
            bulk_set_add(bulk, job);
        }
        bulk->view.matched += !counted;
        bulk->view.changed += did;
        bool gone = did && bulk->request.act == BULK_CANCEL && !bulk->request.dry_run;
        if (!gone && bulk->request.act == BULK_CANCEL) {
            bulk_count(bulk, job);
        }
    }
    return status;
}

static bool takes_freed(const struct engine *engine, const struct bulk *bulk)
{
    return bulk->request.act == BULK_CANCEL && engine->freed_first;
}

// Takes a job on which nothing depends any more from the list of freed jobs.
static enum status take_freed(struct engine *engine, struct bulk *bulk, int64_t now_us)
{
    struct job *job = engine->freed_first;
    bool matches = bulk_matches(engine, bulk, job);
    bool is_new = matches && !bulk_has_counted(bulk, job);
    enum status status = matches ? act_and_count(engine, bulk, job, now_us) : STATUS_OK;
    if (status) {
        return status;
    }
    bulk->view.looked_at += is_new;
    if (!matches || bulk->request.dry_run) {
        bulk_freed_forget(engine, job);
    }
    return STATUS_OK;
}

// Takes the next job of the walk; without memory the walk remains at it.
static enum status walk_on(struct engine *engine, struct bulk *bulk, int64_t now_us)
{
    const struct bulk_cursor before = bulk->cursor;
    uint64_t looked_at = bulk->view.looked_at;
    struct job *job = bulk_next(engine, bulk);
    enum status status = job ? act_and_count(engine, bulk, job, now_us) : STATUS_OK;
    if (status) {
        bulk->cursor = before;
        bulk->view.looked_at = looked_at;
    }
    return status;
}

// Visits up to a slice of jobs. Returns whether there are more.
static bool run_slice(struct engine *engine, struct bulk *bulk, int64_t now_us)
{
    assert(!bulk->view.done);
    for (int step = 0; step < SLICE_STEPS; step++) {
        enum status status = takes_freed(engine, bulk) ? take_freed(engine, bulk, now_us)
                                                       : walk_on(engine, bulk, now_us);
        engine_settle(engine);
        if (status) {
            return true;
        }
        if (bulk->cursor.stage == BULK_END && !takes_freed(engine, bulk)) {
            end(engine, bulk);
            return false;
        }
    }
    return true;
}

static void announce_progress(const struct engine *engine, const struct bulk *bulk, int64_t now_us)
{
    if (engine_wanted(engine, EVENT_TO_WATCHER)) {
        const struct bulk_view *view = &bulk->view;
        engine_emit(engine, &(struct event){ .kind = EVENT_BULK,
                                             .channels = EVENT_TO_WATCHER,
                                             .when_us = now_us,
                                             .bulk = { .id = view->id,
                                                       .looked_at = view->looked_at,
                                                       .matched = view->matched,
                                                       .changed = view->changed,
                                                       .done = view->done,
                                                       .stopped = view->stopped } });
    }
}

// The first operation, or cancel, that is in progress.
static struct bulk *first_open(const struct engine *engine, bool cancel)
{
    struct index_cursor cursor = index_cursor_at(&engine->bulks, 0);
    for (struct index_node *node; (node = index_cursor_next(&cursor));) {
        struct bulk *bulk = bulk_of_node(node);
        if (!bulk->view.done && (!cancel || bulk->request.act == BULK_CANCEL)) {
            return bulk;
        }
    }
    return NULL;
}

bool bulk_run(struct engine *engine, int64_t now_us)
{
    struct bulk *bulk = engine->bulks.count ? first_open(engine, false) : NULL;
    if (bulk) {
        changed(engine, bulk);
        (void)run_slice(engine, bulk, now_us);
        announce_progress(engine, bulk, now_us);
        bulk = first_open(engine, false);
    }
    return bulk != NULL;
}

// ---------------------------------------------------------------------------------------------
// Calls

// Begins an operation that was checked. With `as` the jobs are those of that dry run.
static enum status begin_bulk(struct engine *engine, int64_t now_us,
                              const struct bulk_request *request, struct bulk *as, uint64_t *id,
                              struct error *error)
{
    struct bulk *bulk = index_reserve(&engine->bulks, 1) ? NULL : bulk_new(engine, request);
    if (!bulk) {
        engine_settle(engine);
        return engine_no_memory(error);
    }
    bulk->view.began_us = bulk->aged_us = now_us;
    bulk->job_last = engine->job_id;
    if (as) {
        bulk->view.as = as->view.id;
        bulk->aged_us = as->aged_us;
        bulk->job_last = as->job_last;
        bulk_set_take(bulk, as);
    } else if (request->dry_run) {
        bulk_set_begin(engine, bulk);
    }
    bulk_add(engine, bulk, ++engine->sequence);
    *id = bulk->view.id;
    engine_settle(engine);
    // The list of freed jobs belongs to a single cancel at a time.
    if (request->act != BULK_CANCEL || first_open(engine, true) == bulk) {
        (void)run_slice(engine, bulk, now_us);
    }
    announce_progress(engine, bulk, now_us);
    return STATUS_OK;
}

enum status engine_bulk(struct engine *engine, int64_t now_us, const struct bulk_request *request,
                        uint64_t *id, struct error *error)
{
    enum status status = engine_begin(engine, &now_us, error);
    if (!status) {
        status = bulk_check(request, error);
    }
    if (!status && takes_tags(request)) {
        status = tags_check(engine, request->tags, error);
    }
    if (!status && request->act == BULK_MOVE) {
        status = name_check_new(engine, request->to, "queue to move to", error);
    }
    return status ? status : begin_bulk(engine, now_us, request, NULL, id, error);
}

static struct bulk *find(const struct engine *engine, uint64_t id)
{
    const struct index_key key = { 0, id };
    struct index_node *node = index_find(&engine->bulks, key);
    return node && index_key_equal(node->key, key) ? bulk_of_node(node) : NULL;
}

static void view_of(const struct bulk *bulk, struct bulk_view *view)
{
    *view = bulk->view;
    view->request = &bulk->request;
    view->has_set = view->dry_run && bulk->set;
}

static enum status check_as(const struct bulk *as, uint64_t dry_run, enum bulk_act act,
                            struct error *error)
{
    unsigned long long id = dry_run;
    if (!as) {
        return error_set(error, STATUS_NOT_FOUND, "operation %llu does not exist", id);
    }
    if (!as->view.dry_run || !as->view.done) {
        return error_set(error, STATUS_STATE, "operation %llu is %s", id,
                         as->view.dry_run ? "not done yet" : "no dry run");
    }
    if (as->request.act != act) {
        return error_set(error, STATUS_INVALID, "operation %llu is a dry run of another act", id);
    }
    if (!as->set) {
        return error_set(error, STATUS_STATE,
                         "the jobs of operation %llu are not known any more; do the dry run again",
                         id);
    }
    return STATUS_OK;
}

enum status engine_bulk_as(struct engine *engine, int64_t now_us, uint64_t dry_run,
                           enum bulk_act act, struct slice user, uint64_t *id, struct error *error)
{
    enum status status = engine_begin(engine, &now_us, error);
    struct bulk *as = status ? NULL : find(engine, dry_run);
    if (!status) {
        status = check_as(as, dry_run, act, error);
    }
    if (status) {
        return status;
    }
    struct bulk_request request = as->request;
    request.dry_run = false;
    request.user = user;
    status = bulk_check(&request, error);
    return status ? status : begin_bulk(engine, now_us, &request, as, id, error);
}

bool engine_bulk_at(const struct engine *engine, size_t index, struct bulk_view *view)
{
    struct index_node *node = index_at(&engine->bulks, index);
    if (node) {
        view_of(bulk_of_node(node), view);
    }
    return node != NULL;
}

bool engine_bulk_get(const struct engine *engine, uint64_t id, struct bulk_view *view)
{
    const struct bulk *bulk = find(engine, id);
    if (bulk) {
        view_of(bulk, view);
    }
    return bulk != NULL;
}

enum status engine_bulk_stop(struct engine *engine, int64_t now_us, uint64_t id,
                             struct error *error)
{
    enum status status = engine_begin(engine, &now_us, error);
    struct bulk *bulk = status ? NULL : find(engine, id);
    if (!status && (!bulk || bulk->view.done)) {
        return error_set(error, STATUS_NOT_FOUND, "no operation %llu is under way",
                         (unsigned long long)id);
    }
    if (bulk) {
        if (bulk == first_open(engine, true)) {
            bulk_freed_clear(engine);
        }
        bulk->view.stopped = true;
        end(engine, bulk);
        announce_progress(engine, bulk, now_us);
    }
    return status;
}
