// SPDX-License-Identifier: MIT
#include "faces/qless/print.h"

#include "faces/qless/cjson.h"

static void print_string(struct buffer *out, const char *key, struct slice value)
{
    qless_cjson_key(out, key);
    qless_cjson_string(out, value);
}

static void print_integer(struct buffer *out, const char *key, int64_t value)
{
    qless_cjson_key(out, key);
    qless_cjson_integer(out, value);
}

static void print_count(struct buffer *out, const char *key, size_t value)
{
    print_integer(out, key, (int64_t)value);
}

// ---------------------------------------------------------------------------------------------
// Jobs

void qless_print_tags(struct buffer *out, const struct engine *engine, const struct job *job)
{
    struct job_view view;
    job_view(engine, job, &view);
    struct qless_cjson_array array = qless_cjson_begin(out);
    for (size_t i = 0; i < view.tag_count; i++) {
        qless_cjson_next(&array);
        qless_cjson_string(out, job_tag(engine, job, i));
    }
    qless_cjson_end(&array);
}

static void print_edges(struct buffer *out, const char *key, const struct job *job,
                        bool (*next)(const struct job *job, const void **position,
                                     struct slice *jid))
{
    qless_cjson_key(out, key);
    struct qless_cjson_array array = qless_cjson_begin(out);
    struct slice jid;
    for (const void *position = NULL; next(job, &position, &jid);) {
        qless_cjson_next(&array);
        qless_cjson_string(out, jid);
    }
    qless_cjson_end(&array);
}

// `worker` had the job, for a failure that no worker reported.
static void print_failure(struct buffer *out, const struct job_view *view, struct slice worker)
{
    qless_cjson_key(out, "failure");
    buffer_append_char(out, '{');
    if (view->failure_group.size) {
        print_string(out, "group", view->failure_group);
        print_string(out, "message", view->failure_message);
        qless_cjson_key(out, "when");
        // qless writes down the very moment only where no worker reported it.
        if (view->failure_worker.size) {
            qless_cjson_seconds_floor(out, view->failure_when_us);
        } else {
            qless_cjson_seconds(out, view->failure_when_us);
        }
        print_string(out, "worker", view->failure_worker.size ? view->failure_worker : worker);
    }
    buffer_append_char(out, '}');
}

// The engine notes starts and retries, which qless does not; one that a logger wrote has no worker.
static bool is_of_qless(const struct history_view *entry)
{
    bool native =
        slice_equal(entry->what, SLICE("retried")) || slice_equal(entry->what, SLICE("started"));
    return !(native && entry->worker.size);
}

static void print_entry(struct buffer *out, const struct history_view *entry)
{
    buffer_append_char(out, '{');
    if (entry->queue.size) {
        print_string(out, "q", entry->queue);
    }
    if (entry->worker.size) {
        print_string(out, "worker", entry->worker);
    }
    if (entry->group.size) {
        print_string(out, "group", entry->group);
    }
    if (entry->data.size) {
        qless_cjson_members(out, entry->data);
    }
    print_string(out, "what", entry->what);
    qless_cjson_key(out, "when");
    qless_cjson_seconds_floor(out, entry->when_us);
    buffer_append_char(out, '}');
}

static void print_history(struct buffer *out, const struct engine *engine, const struct job *job)
{
    struct history_view entry;
    size_t position = 0;
    qless_cjson_key(out, "history");
    struct qless_cjson_array array = qless_cjson_begin(out);
    while (job_history_next(engine, job, &position, &entry)) {
        if (is_of_qless(&entry)) {
            qless_cjson_next(&array);
            print_entry(out, &entry);
        }
    }
    qless_cjson_end(&array);
}

// ---------------------------------------------------------------------------------------------
// Stages: the history as the split generation has it

// What happened to a job between one put and the next.
struct stage {
    struct slice queue, worker;
    int64_t put_us, popped_us, done_us, failed_us; // or NEVER
};

enum {
    NEVER = -1,
};

static const struct stage no_stage = {
    .put_us = NEVER, .popped_us = NEVER, .done_us = NEVER, .failed_us = NEVER
};

static void print_moment(struct buffer *out, const char *key, int64_t us)
{
    if (us != NEVER) {
        qless_cjson_key(out, key);
        qless_cjson_seconds_floor(out, us);
    }
}

static void print_stage(struct qless_cjson_array *array, const struct stage *stage)
{
    struct buffer *out = array->out;
    qless_cjson_next(array);
    buffer_append_char(out, '{');
    if (stage->queue.size) {
        print_string(out, "q", stage->queue);
    }
    if (stage->worker.size) {
        print_string(out, "worker", stage->worker);
    }
    print_moment(out, "put", stage->put_us);
    print_moment(out, "popped", stage->popped_us);
    print_moment(out, "done", stage->done_us);
    print_moment(out, "failed", stage->failed_us);
    buffer_append_char(out, '}');
}

// Adds to a stage what an entry that is no put says.
static void stage_add(struct stage *stage, const struct history_view *entry)
{
    if (slice_equal(entry->what, SLICE("popped")) && entry->worker.size) {
        stage->worker = entry->worker;
        stage->popped_us = entry->when_us;
    } else if (slice_equal(entry->what, SLICE("done"))) {
        stage->done_us = entry->when_us;
    } else if (slice_equal(entry->what, SLICE("failed")) && entry->group.size) {
        stage->failed_us = entry->when_us;
    }
}

// Gives the worker that had the job when it last failed.
static struct slice print_stages(struct buffer *out, const struct engine *engine,
                                 const struct job *job)
{
    struct history_view entry;
    struct stage stage = no_stage;
    struct slice failed = SLICE_EMPTY;
    bool begun = false;
    qless_cjson_key(out, "history");
    struct qless_cjson_array array = qless_cjson_begin(out);
    for (size_t position = 0; job_history_next(engine, job, &position, &entry); begun = true) {
        if (!slice_equal(entry.what, SLICE("put")) || entry.queue.size == 0) {
            stage_add(&stage, &entry);
            failed = stage.failed_us == entry.when_us ? stage.worker : failed;
            continue;
        }
        if (begun) {
            print_stage(&array, &stage);
        }
        stage = no_stage;
        stage.queue = entry.queue;
        stage.put_us = entry.when_us;
    }
    if (begun) {
        print_stage(&array, &stage);
    }
    qless_cjson_end(&array);
    return failed;
}

// ---------------------------------------------------------------------------------------------

// The members that both generations have alike.
static void print_head(struct buffer *out, const struct job_view *view)
{
    print_string(out, "jid", view->jid);
    print_string(out, "klass", view->klass);
    print_string(out, "state", slice_from_cstr(job_state_name(view->state)));
    print_string(out, "queue", view->state == JOB_COMPLETE ? SLICE_EMPTY : view->queue);
    print_string(out, "worker", view->worker);
    qless_cjson_key(out, "tracked");
    qless_cjson_bool(out, view->tracked);
    print_integer(out, "priority", -(int64_t)view->priority);
    qless_cjson_key(out, "expires");
    qless_cjson_seconds(out, view->expires_us);
    print_integer(out, "retries", view->retries);
    print_integer(out, "remaining", view->remaining);
}

// The split generation decodes the data; the unified one passes it on as a text.
static void print_data(struct buffer *out, struct slice data, bool split)
{
    qless_cjson_key(out, "data");
    if (split) {
        qless_cjson_again(out, data);
    } else {
        qless_cjson_string(out, data);
    }
}

void qless_print_job(struct buffer *out, const struct engine *engine, const struct job *job,
                     bool split)
{
    struct job_view view;
    struct slice worker = SLICE_EMPTY;
    job_view(engine, job, &view);
    buffer_append_char(out, '{');
    print_head(out, &view);
    print_data(out, view.data, split);
    qless_cjson_key(out, "tags");
    qless_print_tags(out, engine, job);
    if (split) {
        worker = print_stages(out, engine, job);
    } else {
        print_history(out, engine, job);
    }
    print_failure(out, &view, worker);
    if (!split) {
        qless_cjson_key(out, "spawned_from_jid");
        if (view.spawned_from.size) {
            qless_cjson_string(out, view.spawned_from);
        } else {
            qless_cjson_bool(out, false);
        }
    }
    print_edges(out, "dependents", job, job_dependent_next);
    print_edges(out, "dependencies", job, job_dependency_next);
    buffer_append_char(out, '}');
}

void qless_print_jobs(struct buffer *out, const struct engine *engine,
                      const struct job *const *jobs, size_t count)
{
    struct qless_cjson_array array = qless_cjson_begin(out);
    for (size_t i = 0; i < count && !out->status; i++) {
        qless_cjson_next(&array);
        qless_print_job(out, engine, jobs[i], false);
    }
    qless_cjson_end(&array);
}

// ---------------------------------------------------------------------------------------------
// Recurring jobs

void qless_print_recurring_tags(struct buffer *out, const struct engine *engine,
                                const struct recurring *recurring)
{
    struct recurring_view view;
    recurring_view(engine, recurring, &view);
    struct qless_cjson_array array = qless_cjson_begin(out);
    for (size_t i = 0; i < view.tag_count; i++) {
        qless_cjson_next(&array);
        qless_cjson_string(out, recurring_tag(engine, recurring, i));
    }
    qless_cjson_end(&array);
}

void qless_print_recurring(struct buffer *out, const struct engine *engine,
                           const struct recurring *recurring, bool split)
{
    struct recurring_view view;
    recurring_view(engine, recurring, &view);
    buffer_append_char(out, '{');
    print_string(out, "jid", view.jid);
    print_string(out, "klass", view.klass);
    print_string(out, "state", SLICE("recur"));
    print_string(out, "queue", view.queue);
    print_integer(out, "priority", -(int64_t)view.priority);
    qless_cjson_key(out, "interval");
    qless_cjson_seconds(out, view.interval_us);
    print_integer(out, "retries", view.retries);
    print_count(out, "count", view.count);
    print_data(out, view.data, split);
    qless_cjson_key(out, "tags");
    qless_print_recurring_tags(out, engine, recurring);
    if (!split) {
        print_integer(out, "backlog", view.backlog);
    }
    buffer_append_char(out, '}');
}

// ---------------------------------------------------------------------------------------------
// Queues

void qless_print_queue(struct buffer *out, const struct queue_view *view, bool split)
{
    buffer_append_char(out, '{');
    print_string(out, "name", view->name);
    // In qless a job in line is waiting, and one whose lease has expired is stalled.
    print_count(out, "waiting", view->waiting + view->stalled);
    print_count(out, "stalled", view->expired);
    print_count(out, "running", view->running - view->expired);
    print_count(out, "scheduled", view->scheduled);
    print_count(out, "depends", view->depends);
    print_count(out, "recurring", view->recurring);
    if (!split) {
        qless_cjson_key(out, "paused");
        qless_cjson_bool(out, view->paused);
    }
    buffer_append_char(out, '}');
}

static void print_series(struct buffer *out, const char *key, const struct stats_series *series)
{
    qless_cjson_key(out, key);
    buffer_append_char(out, '{');
    print_count(out, "count", series->count);
    qless_cjson_key(out, "mean");
    qless_cjson_number(out, series->mean);
    qless_cjson_key(out, "std");
    qless_cjson_number(out, series->std);
    qless_cjson_key(out, "histogram");
    struct qless_cjson_array array = qless_cjson_begin(out);
    for (size_t i = 0; i < STATS_BUCKETS; i++) {
        qless_cjson_next(&array);
        qless_cjson_integer(out, (int64_t)series->histogram[i]);
    }
    qless_cjson_end(&array);
    buffer_append_char(out, '}');
}

void qless_print_stats(struct buffer *out, const struct stats_view *view)
{
    buffer_append_char(out, '{');
    print_integer(out, "retries", view->lost_leases);
    print_integer(out, "failed", view->failed);
    print_integer(out, "failures", view->failures);
    print_series(out, "wait", &view->wait);
    print_series(out, "run", &view->run);
    buffer_append_char(out, '}');
}
