// SPDX-License-Identifier: MIT
// What a test reads from a world: engine_test.h.
#include "engine_text.h"

#include "engine/state.h"

const char *state_of(const struct world *w, const char *jid)
{
    const struct job *job = engine_get(w->engine, name_of(jid));
    struct job_view view;
    if (!job) {
        return "none";
    }
    job_view(w->engine, job, &view);
    return job_state_name(view.state);
}

static const struct job *job_of(const struct world *w, const char *jid)
{
    const struct job *job = engine_get(w->engine, name_of(jid));
    assert_non_null(job);
    return job;
}

struct job_view view_of(const struct world *w, const char *jid)
{
    struct job_view view;
    job_view(w->engine, job_of(w, jid), &view);
    return view;
}

const char *tags_of(struct world *w, const char *jid)
{
    buffer_clear(&w->text);
    for (size_t i = 0; i < view_of(w, jid).tag_count; i++) {
        world_add_name(w, job_tag(w->engine, job_of(w, jid), i));
    }
    return world_text_of(w);
}

const char *dependencies_of(struct world *w, const char *jid)
{
    buffer_clear(&w->text);
    struct slice name;
    for (const void *position = NULL; job_dependency_next(job_of(w, jid), &position, &name);) {
        world_add_name(w, name);
    }
    return world_text_of(w);
}

const char *dependents_of(struct world *w, const char *jid)
{
    buffer_clear(&w->text);
    struct slice name;
    for (const void *position = NULL; job_dependent_next(job_of(w, jid), &position, &name);) {
        world_add_name(w, name);
    }
    return world_text_of(w);
}

const char *history_of(struct world *w, const char *jid)
{
    struct buffer *text = &w->text;
    buffer_clear(text);
    const struct job *job = job_of(w, jid);
    struct history_view view;
    size_t count = 0;
    for (size_t position = 0; job_history_next(w->engine, job, &position, &view); count++) {
        buffer_printf(text, "%s", count ? "; " : "");
        world_add_seconds(text, view.when_us);
        buffer_printf(text, " %.*s", SLICE_PRINT(view.what));
        world_note_field(text, "in", view.queue);
        world_note_field(text, "by", view.worker);
        world_note_field(text, "as", view.group);
        world_note_field(text, "with", view.data);
    }
    assert_int_equal(count, view_of(w, jid).history_count);
    return world_text_of(w);
}

const char *log_of(struct world *w, const char *jid)
{
    struct buffer *text = &w->text;
    buffer_clear(text);
    struct log_view view;
    size_t count = 0;
    for (size_t position = 0; job_log_next(job_of(w, jid), &position, &view); count++) {
        buffer_printf(text, "%s", count ? "; " : "");
        world_add_seconds(text, view.when_us);
        buffer_printf(text, " %.*s", SLICE_PRINT(view.line));
    }
    assert_int_equal(count, view_of(w, jid).log_count);
    return world_text_of(w);
}

static void add_count(struct world *w, const char *what, size_t count)
{
    if (count) {
        buffer_printf(&w->text, "%s%s %zu", w->text.size ? ", " : "", what, count);
    }
}

static void add_limit(struct world *w, const struct limit *limit)
{
    struct buffer *text = &w->text;
    const char *glue = "";
    if (limit->has_rate) {
        buffer_printf(text, "rate %lld", (long long)limit->rate_count);
        if (limit->rate_count) {
            buffer_append_char(text, '/');
            world_add_seconds(text, limit->rate_period_us);
            buffer_printf(text, " burst %lld", (long long)limit->burst);
        }
        glue = ", ";
    }
    if (limit->has_concurrency) {
        buffer_printf(text, "%sconcurrency %lld", glue, (long long)limit->concurrency);
        glue = ", ";
    }
    if (limit->has_weight) {
        buffer_printf(text, "%sweight %lld", glue, (long long)limit->weight);
    }
}

const char *limits(struct world *w)
{
    struct limit_view view;
    buffer_clear(&w->text);
    for (size_t i = 0; engine_limit_at(w->engine, i, &view); i++) {
        buffer_printf(&w->text, "%s%.*s/%.*s: ", i ? "; " : "", SLICE_PRINT(view.queue),
                      SLICE_PRINT(view.domain));
        add_limit(w, &view.limit);
    }
    return world_text_of(w);
}

const char *lane_of(struct world *w, double now, const char *queue, const char *domain)
{
    struct lane_view view;
    said(w, engine_lane(w->engine, us(now), name_of(queue), name_of(domain), &view, &w->error));
    assert_true(view.limit.has_rate && view.limit.has_concurrency && view.limit.has_weight);
    buffer_clear(&w->text);
    add_count(w, "waiting", view.waiting);
    add_count(w, "running", view.running);
    view.limit.has_rate = view.limit.rate_count != 0;
    view.limit.has_concurrency = view.limit.concurrency != 0;
    view.limit.has_weight = view.limit.weight != 1;
    if (view.limit.has_rate || view.limit.has_concurrency || view.limit.has_weight) {
        buffer_printf(&w->text, "%s", w->text.size ? ", " : "");
        add_limit(w, &view.limit);
    }
    const char *glue = w->text.size ? ", " : "";
    if (view.ready_us == INT64_MAX) {
        buffer_printf(&w->text, "%sbusy", glue);
    } else if (view.ready_us > us(now)) {
        buffer_printf(&w->text, "%sready ", glue);
        world_add_seconds(&w->text, view.ready_us);
    }
    return world_text_of(w);
}

size_t lane_count(const struct world *w)
{
    return w->engine->lanes.count;
}

void forget_events(struct world *w)
{
    buffer_clear(&w->events);
}

void expect_events(struct world *w, const char *events)
{
    buffer_append_char(&w->events, '\0');
    assert_string_equal(w->events.data, events);
    buffer_clear(&w->events);
}

void expect_ended(struct world *w, const char *jids)
{
    buffer_append_char(&w->ended, '\0');
    assert_string_equal(w->ended.data, jids);
    buffer_clear(&w->ended);
}

static const char *page_text(struct world *w, const struct page *page)
{
    buffer_clear(&w->text);
    buffer_printf(&w->text, "%zu: ", page->total);
    world_add_jobs(w, page->jobs, page->found);
    return world_text_of(w);
}

const char *jobs(struct world *w, double now, enum list list, const char *queue, size_t offset,
                 size_t count)
{
    const struct job *room[JOBS_MAX];
    struct page page = { .offset = offset, .count = count, .jobs = room };
    assert_true(count <= JOBS_MAX);
    said(w, engine_jobs(w->engine, at(w, now), list, name_of(queue), &page, &w->error));
    return page_text(w, &page);
}

const char *failed(struct world *w, const char *group, size_t offset, size_t count)
{
    const struct job *room[JOBS_MAX];
    struct page page = { .offset = offset, .count = count, .jobs = room };
    assert_true(count <= JOBS_MAX);
    engine_failed(w->engine, name_of(group), &page);
    return page_text(w, &page);
}

const char *tagged(struct world *w, const char *tag, size_t offset, size_t count)
{
    const struct job *room[JOBS_MAX];
    struct page page = { .offset = offset, .count = count, .jobs = room };
    assert_true(count <= JOBS_MAX);
    engine_tagged(w->engine, name_of(tag), &page);
    return page_text(w, &page);
}

const char *held(struct world *w, double now, const char *worker, bool expired)
{
    const struct job *room[JOBS_MAX];
    struct page page = { .count = JOBS_MAX, .jobs = room };
    engine_worker_jobs(w->engine, at(w, now), name_of(worker),
                       expired ? LIST_EXPIRED : LIST_UNEXPIRED, &page);
    return page_text(w, &page);
}

const char *queue_of(struct world *w, double now, const char *queue)
{
    struct queue_view view = { 0 };
    said(w, engine_queue(w->engine, at(w, now), name_of(queue), &view, &w->error));
    assert_slice_equal(view.name, queue);
    buffer_clear(&w->text);
    add_count(w, "waiting", view.waiting);
    add_count(w, "running", view.running);
    add_count(w, "stalled", view.stalled);
    add_count(w, "expired", view.expired);
    add_count(w, "scheduled", view.scheduled);
    add_count(w, "depends", view.depends);
    add_count(w, "recurring", view.recurring);
    add_count(w, "listeners", view.listeners);
    if (view.paused) {
        buffer_printf(&w->text, "%spaused", w->text.size ? ", " : "");
    }
    return world_text_of(w);
}

const char *queues(struct world *w)
{
    struct slice name;
    buffer_clear(&w->text);
    for (size_t i = 0; engine_queue_name(w->engine, i, &name); i++) {
        world_add_name(w, name);
    }
    return world_text_of(w);
}

static void add_named_count(struct world *w, const struct count_view *view)
{
    world_add_name(w, view->name);
    buffer_printf(&w->text, " %zu", view->count);
}

const char *groups(struct world *w)
{
    struct count_view view;
    buffer_clear(&w->text);
    for (size_t i = 0; engine_failure_group(w->engine, i, &view); i++) {
        add_named_count(w, &view);
    }
    return world_text_of(w);
}

const char *top_tags(struct world *w)
{
    struct count_view view;
    buffer_clear(&w->text);
    for (size_t i = 0; engine_tag_top(w->engine, i, &view); i++) {
        add_named_count(w, &view);
    }
    return world_text_of(w);
}

const char *tracked(struct world *w)
{
    struct slice jid;
    const struct job *job;
    buffer_clear(&w->text);
    for (size_t i = 0; engine_tracked(w->engine, i, &jid, &job); i++) {
        buffer_printf(&w->text, job ? "%s%.*s" : "%s(%.*s)", i ? "," : "", SLICE_PRINT(jid));
    }
    return world_text_of(w);
}

const char *workers(struct world *w, double now)
{
    struct worker_view view;
    buffer_clear(&w->text);
    said(w, engine_workers_prune(w->engine, at(w, now), &w->error));
    for (size_t i = 0; engine_worker(w->engine, us(now), i, &view); i++) {
        world_add_name(w, view.name);
        buffer_printf(&w->text, " %zu/%zu%s", view.running, view.expired,
                      view.offline ? " offline" : "");
    }
    return world_text_of(w);
}

const char *config(struct world *w, const char *option)
{
    buffer_clear(&w->text);
    buffer_append(&w->text, engine_config_get(w->engine, name_of(option)));
    return world_text_of(w);
}

struct stats_view stats_of(const struct world *w, const char *queue, double date)
{
    struct stats_view view;
    engine_stats(w->engine, name_of(queue), us(date), &view);
    return view;
}

struct recurring_view recurring_of(const struct world *w, const char *jid)
{
    const struct recurring *recurring = engine_recurring_get(w->engine, name_of(jid));
    struct recurring_view view;
    assert_non_null(recurring);
    recurring_view(w->engine, recurring, &view);
    return view;
}
