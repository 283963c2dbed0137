// SPDX-License-Identifier: MIT
// Invariants: each edge is in both lists. The jobs that a job depends on exist and are not
// complete. There is no dependency cycle. A job in the state depends has a dependency. A job in
// another state may have dependencies too, if it failed while it ran; they count again when it is
// put again without naming any.
#include "engine/relations/depends.h"

#include "engine/job/job.h"
#include "engine/job/place.h"
#include "engine/queue/queue.h"
#include "engine/relations/cascade.h"
#include "engine/state.h"

#include <assert.h>

// Inserts an edge into both lists, after the last older one.
static void edge_insert(struct engine *engine, struct edge *edge)
{
    assert(edge->dependent != edge->dependency && edge->dependency->state != JOB_COMPLETE);
    struct job_extra *dependent = edge->dependent->extra;
    struct edge *before = dependent->dependencies_last;
    while (before && before->sequence > edge->sequence) {
        before = before->previous_dependency;
    }
    edge->previous_dependency = before;
    edge->next_dependency = before ? before->next_dependency : dependent->dependencies;
    *(before ? &before->next_dependency : &dependent->dependencies) = edge;
    *(edge->next_dependency ? &edge->next_dependency->previous_dependency
                            : &dependent->dependencies_last) = edge;
    dependent->dependency_count++;

    struct job_extra *dependency = edge->dependency->extra;
    before = dependency->dependents_last;
    while (before && before->sequence > edge->sequence) {
        before = before->previous_dependent;
    }
    edge->previous_dependent = before;
    edge->next_dependent = before ? before->next_dependent : dependency->dependents;
    *(before ? &before->next_dependent : &dependency->dependents) = edge;
    *(edge->next_dependent ? &edge->next_dependent->previous_dependent
                           : &dependency->dependents_last) = edge;
    dependency->dependent_count++;
    if (edge->dependency->state == JOB_FAILED) {
        dependent->members_failed++;
        cascade_note(engine, edge);
    }
}

static void edge_remove(struct engine *engine, struct edge *edge)
{
    struct job_extra *dependent = edge->dependent->extra;
    assert(dependent->dependency_count > 0 && edge->dependency->extra->dependent_count > 0);
    *(edge->previous_dependency ? &edge->previous_dependency->next_dependency
                                : &dependent->dependencies) = edge->next_dependency;
    *(edge->next_dependency ? &edge->next_dependency->previous_dependency
                            : &dependent->dependencies_last) = edge->previous_dependency;
    dependent->dependency_count--;

    struct job_extra *dependency = edge->dependency->extra;
    *(edge->previous_dependent ? &edge->previous_dependent->next_dependent
                               : &dependency->dependents) = edge->next_dependent;
    *(edge->next_dependent ? &edge->next_dependent->previous_dependent
                           : &dependency->dependents_last) = edge->previous_dependent;
    dependency->dependent_count--;
    if (edge->dependency->state == JOB_FAILED) {
        dependent->members_failed--;
    }

    job_changed(engine, edge->dependent, JOB_DIRTY_HEAD);
    slab_give(&engine->edges, edge);
}

bool job_dependency_next(const struct job *job, const void **position, struct slice *jid)
{
    const struct edge *last = *position;
    const struct edge *edge = last         ? last->next_dependency
                              : job->extra ? job->extra->dependencies
                                           : NULL;
    *position = edge;
    *jid = edge ? job_jid(edge->dependency) : SLICE_EMPTY;
    return edge;
}

bool job_dependent_next(const struct job *job, const void **position, struct slice *jid)
{
    const struct edge *last = *position;
    const struct edge *edge = last         ? last->next_dependent
                              : job->extra ? job->extra->dependents
                                           : NULL;
    *position = edge;
    *jid = edge ? job_jid(edge->dependent) : SLICE_EMPTY;
    return edge;
}

// ---------------------------------------------------------------------------------------------
// Sets of jobs: the jobs whose `visit` is the engine's newest value. So duplicates, and existing
// dependencies, are found without a search.

static void mark_dependencies(struct engine *engine, const struct job *job)
{
    uint64_t visit = ++engine->visit;
    for (struct edge *edge = job && job->extra ? job->extra->dependencies : NULL; edge;
         edge = edge->next_dependency) {
        edge->dependency->extra->visit = visit;
        engine_step(engine);
    }
}

static void mark_jids(struct engine *engine, struct slices jids)
{
    uint64_t visit = ++engine->visit;
    for (size_t i = 0; i < jids.count; i++) {
        struct job *job = map_find(&engine->jobs, jids.items[i]);
        if (job && job->extra) {
            job->extra->visit = visit;
        }
        engine_step(engine);
    }
}

static bool is_marked(const struct engine *engine, const struct job *job)
{
    return job->extra && job->extra->visit == engine->visit;
}

// ---------------------------------------------------------------------------------------------
// Cycles

// The search of one request: no job is visited twice, whichever dependency led to it.
struct search {
    uint64_t visit;
    int64_t visited;
};

// Whether `target` can be reached from `from` along dependencies. Jobs still to be visited form a
// list through the jobs themselves, so a chain of any length needs no stack and no memory. Ends
// without a result if too many were visited.
static bool reaches(struct engine *engine, struct search *search, struct job *from,
                    const struct job *target)
{
    struct job *open = NULL;
    if (from->extra->visit != search->visit) {
        from->extra->visit = search->visit;
        from->extra->visit_next = NULL;
        open = from;
    }
    while (open && search->visited <= engine->config.max_dependency_search) {
        struct job *job = open;
        open = job->extra->visit_next;
        if (job == target) {
            return true;
        }
        for (struct edge *edge = job->extra->dependencies; edge; edge = edge->next_dependency) {
            struct job_extra *extra = edge->dependency->extra;
            search->visited++;
            engine_step(engine);
            if (extra->visit != search->visit) {
                extra->visit = search->visit;
                extra->visit_next = open;
                open = edge->dependency;
            }
        }
    }
    return false;
}

// Only a job with dependents can close a cycle.
static enum status check_cycles(struct engine *engine, struct job *job, struct slices jids,
                                struct error *error)
{
    if (!job || !job->extra || !job->extra->dependent_count) {
        return STATUS_OK;
    }
    struct search search = { .visit = ++engine->visit };
    for (size_t i = 0; i < jids.count; i++) {
        struct job *dependency = map_find(&engine->jobs, jids.items[i]);
        if (!dependency || dependency->state == JOB_COMPLETE || !dependency->extra) {
            continue;
        }
        if (reaches(engine, &search, dependency, job)) {
            return error_set(error, STATUS_INVALID,
                             "job %.*s cannot depend on %.*s, which depends on it",
                             SLICE_PRINT(job_jid(job)), SLICE_PRINT(job_jid(dependency)));
        }
        if (search.visited > engine->config.max_dependency_search) {
            return error_set(error, STATUS_TOO_LARGE,
                             "whether job %.*s may depend on %.*s takes a search through more "
                             "dependencies than max-dependency-search allows: %lld",
                             SLICE_PRINT(slice_shown(job_jid(job))),
                             SLICE_PRINT(slice_shown(job_jid(dependency))),
                             (long long)engine->config.max_dependency_search);
        }
    }
    return STATUS_OK;
}

// ---------------------------------------------------------------------------------------------

static enum status check_jids(const struct engine *engine, struct slice jid, struct slices jids,
                              struct error *error)
{
    if ((int64_t)jids.count > engine->config.max_depends) {
        return error_set(error, STATUS_TOO_LARGE, "%zu dependencies; at most %lld are allowed",
                         jids.count, (long long)engine->config.max_depends);
    }
    enum status status = STATUS_OK;
    for (size_t i = 0; i < jids.count && !status; i++) {
        status = name_check(jids.items[i], "jid of a dependency", error);
        if (!status && slice_equal(jids.items[i], jid)) {
            status = error_set(error, STATUS_INVALID, "job %.*s cannot depend on itself",
                               SLICE_PRINT(jid));
        }
    }
    return status;
}

// Completing a job releases all its dependents in one call.
static enum status check_dependents(const struct engine *engine, const struct job *dependency,
                                    struct error *error)
{
    int64_t max = engine->config.max_dependents;
    return (int64_t)dependency->extra->dependent_count < max
               ? STATUS_OK
               : error_set(error, STATUS_TOO_LARGE,
                           "%zu jobs depend on %.*s; max-dependents allows %lld",
                           (size_t)dependency->extra->dependent_count,
                           SLICE_PRINT(job_jid(dependency)), (long long)max);
}

// A jid that neither exists nor is known to have completed is most likely misspelled.
static enum status check_missing(const struct engine *engine, struct slice jid,
                                 struct slice dependency, struct error *error)
{
    return done_has(engine, dependency)
               ? STATUS_OK
               : error_set(error, STATUS_NOT_FOUND,
                           "job %.*s, which job %.*s is to depend on, does not exist",
                           SLICE_PRINT(slice_shown(dependency)), SLICE_PRINT(slice_shown(jid)));
}

enum status depends_reserve(struct engine *engine, struct job *job, struct slice jid,
                            struct depends_plan *plan, struct error *error)
{
    struct slices jids = plan->jids;
    plan->count = 0;
    if (jids.count == 0) {
        return STATUS_OK;
    }
    enum status status = check_jids(engine, jid, jids, error);
    if (!status) {
        status = check_cycles(engine, job, jids, error);
    }
    mark_dependencies(engine, job);
    for (size_t i = 0; i < jids.count && !status; i++) {
        struct job *dependency = map_find(&engine->jobs, jids.items[i]);
        engine_step(engine);
        if (!dependency && plan->missing == MISSING_REFUSED) {
            status = check_missing(engine, jid, jids.items[i], error);
        }
        if (!dependency || dependency->state == JOB_COMPLETE || is_marked(engine, dependency)) {
            continue;
        }
        status = job_reserve_extra(engine, dependency)
                     ? engine_no_memory(error)
                     : check_dependents(engine, dependency, error);
        if (!status) {
            dependency->extra->visit = engine->visit;
            plan->count++;
        }
    }
    if (!status && plan->count && slab_promise(&engine->edges, plan->count)) {
        status = engine_no_memory(error);
    }
    return status;
}

void depends_add(struct engine *engine, struct job *job, const struct depends_plan *plan)
{
    if (plan->jids.count) {
        mark_dependencies(engine, job);
    }
    for (size_t i = 0; i < plan->jids.count; i++) {
        struct job *dependency = map_find(&engine->jobs, plan->jids.items[i]);
        if (!dependency || dependency->state == JOB_COMPLETE || is_marked(engine, dependency)) {
            continue;
        }
        dependency->extra->visit = engine->visit;
        struct edge *edge = slab_take(&engine->edges);
        assert(edge);
        *edge = (struct edge){ .dependent = job,
                               .dependency = dependency,
                               .sequence = ++engine->sequence };
        edge_insert(engine, edge);
        job_changed(engine, job, JOB_DIRTY_HEAD);
    }
}

enum status depends_load(struct engine *engine, struct job *job, struct job *dependency,
                         uint64_t sequence)
{
    if (job_reserve_extra(engine, job) || job_reserve_extra(engine, dependency)) {
        return STATUS_NO_MEMORY;
    }
    struct edge *edge = slab_take(&engine->edges);
    if (!edge) {
        return STATUS_NO_MEMORY;
    }
    *edge = (struct edge){ .dependent = job, .dependency = dependency, .sequence = sequence };
    edge_insert(engine, edge);
    return STATUS_OK;
}

size_t depends_kept(struct engine *engine, const struct job *job, struct slices jids)
{
    if (!job->extra || jids.count == 0) {
        return job->extra ? job->extra->dependency_count : 0;
    }
    size_t kept = 0;
    mark_jids(engine, jids);
    for (const struct edge *edge = job->extra->dependencies; edge; edge = edge->next_dependency) {
        kept += is_marked(engine, edge->dependency);
        engine_step(engine);
    }
    return kept;
}

// Drops the named dependencies, or all others.
static void drop_dependencies(struct engine *engine, struct job *job, struct slices jids,
                              bool named)
{
    struct edge *next;
    mark_jids(engine, jids);
    for (struct edge *edge = job->extra ? job->extra->dependencies : NULL; edge; edge = next) {
        next = edge->next_dependency;
        engine_step(engine);
        if (is_marked(engine, edge->dependency) == named) {
            edge_remove(engine, edge);
        }
    }
}

void depends_drop(struct engine *engine, struct job *job, struct slices kept)
{
    drop_dependencies(engine, job, kept, false);
}

void depends_clear(struct engine *engine, struct job *job)
{
    while (job->extra->dependencies) {
        edge_remove(engine, job->extra->dependencies);
    }
    while (job->extra->dependents) {
        edge_remove(engine, job->extra->dependents);
    }
}

// Reserves the next place of a job that depends on nothing any more; then moves it there.
static enum status release_reserve(struct engine *engine, struct job *job, int64_t now_us)
{
    const struct place place = place_for(job, job->queue, false, job->extra->due_us > now_us);
    return place_reserve(engine, &place);
}

static void release(struct engine *engine, struct job *job, int64_t now_us)
{
    assert(job->state == JOB_DEPENDS && job->extra->dependency_count == 0);
    int64_t due_us = job->extra->due_us;
    job_unlink(engine, job);
    job->extra->due_us = 0;
    place_job(engine, job, now_us, due_us > now_us ? due_us - now_us : 0);
    job_changed(engine, job, JOB_DIRTY_HEAD);
}

void depends_count_failed(struct engine *engine, struct job *job, bool failed)
{
    for (struct edge *edge = job->extra->dependents; edge; edge = edge->next_dependent) {
        engine_step(engine);
        edge->dependent->extra->members_failed += failed ? 1 : UINT32_MAX;
    }
}

static bool waits_only_for_one(const struct job *job)
{
    return job->state == JOB_DEPENDS && job->extra->dependency_count == 1;
}

enum status depends_reserve_release(struct engine *engine, struct job *job, int64_t now_us)
{
    for (struct edge *edge = job->extra ? job->extra->dependents : NULL; edge;
         edge = edge->next_dependent) {
        engine_step(engine);
        if (waits_only_for_one(edge->dependent) &&
            release_reserve(engine, edge->dependent, now_us)) {
            return STATUS_NO_MEMORY;
        }
    }
    return STATUS_OK;
}

// Removes an edge; if it was the last one of a waiting job, the job becomes ready.
static void drop(struct engine *engine, struct edge *edge, int64_t now_us)
{
    struct job *dependent = edge->dependent;
    engine_step(engine);
    bool free_now = waits_only_for_one(dependent);
    edge_remove(engine, edge);
    if (free_now) {
        release(engine, dependent, now_us);
    }
}

enum status depends_pass(struct engine *engine, struct edge *edge, int64_t now_us)
{
    struct job *dependent = edge->dependent;
    if (release_reserve(engine, dependent, now_us)) {
        engine_settle(engine);
        return STATUS_NO_MEMORY;
    }
    dependent->extra->members_passed++;
    drop(engine, edge, now_us);
    engine_settle(engine);
    return STATUS_OK;
}

void depends_release(struct engine *engine, struct job *job, int64_t now_us)
{
    while (job->extra && job->extra->dependents) {
        struct edge *edge = job->extra->dependents;
        edge->dependent->extra->members_done++;
        drop(engine, edge, now_us);
    }
}

static enum status find_depending(struct engine *engine, struct slice jid, struct job **out,
                                  struct error *error)
{
    enum status status = job_find(engine, jid, out, error);
    if (!status && (*out)->state != JOB_DEPENDS) {
        status = error_set(error, STATUS_STATE, "job %.*s is not in the depends state: %s",
                           SLICE_PRINT(jid), job_state_name((*out)->state));
    }
    return status;
}

enum status engine_depends_on(struct engine *engine, int64_t now_us, struct slice jid,
                              struct slices depends, enum missing_dependencies missing,
                              struct error *error)
{
    struct job *job;
    struct depends_plan plan = { .jids = depends, .missing = missing };
    enum status status = engine_begin(engine, &now_us, error);
    if (!status) {
        status = find_depending(engine, jid, &job, error);
    }
    if (!status) {
        status = depends_reserve(engine, job, jid, &plan, error);
    }
    if (!status) {
        depends_add(engine, job, &plan);
    }
    engine_settle(engine);
    cascade_run(engine);
    return status;
}

// Drops the named dependencies, or all; if none is left, the job becomes ready.
static enum status off(struct engine *engine, int64_t now_us, struct slice jid,
                       const struct slices *depends, struct error *error)
{
    struct job *job;
    enum status status = engine_begin(engine, &now_us, error);
    if (!status) {
        status = find_depending(engine, jid, &job, error);
    }
    if (!status && depends) {
        status = names_check(*depends, "jid of a dependency", error);
    }
    if (status) {
        return status;
    }
    if (release_reserve(engine, job, now_us)) {
        engine_settle(engine);
        return engine_no_memory(error);
    }
    struct slices none = { 0 };
    drop_dependencies(engine, job, depends ? *depends : none, depends != NULL);
    if (job->extra->dependency_count == 0) {
        release(engine, job, now_us);
    }
    engine_settle(engine);
    return STATUS_OK;
}

enum status engine_depends_off(struct engine *engine, int64_t now_us, struct slice jid,
                               struct slices depends, struct error *error)
{
    return off(engine, now_us, jid, &depends, error);
}

enum status engine_depends_off_all(struct engine *engine, int64_t now_us, struct slice jid,
                                   struct error *error)
{
    return off(engine, now_us, jid, NULL, error);
}
