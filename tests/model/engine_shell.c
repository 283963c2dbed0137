// SPDX-License-Identifier: MIT
// The engine behind a pipe, for tests in other languages: one JSON object a line comes in, names a
// call of engine.h and its arguments, and one JSON line goes out:
//
//     {"status":"ok","reply":...,"events":[...]}
//
// Times are microseconds. What a request leaves out is empty, 0 or, where a struct has a `has_`
// member, not given. After a failed call the reply is null; events come from what was due.
// A request that is not understood ends the program, since it is a mistake in the test.
#include "base/alloc.h"
#include "base/buffer.h"
#include "base/json_writer.h"
#include "engine/check.h"
#include "engine/engine.h"
#include "engine/snapshot.h"

#include <assert.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LIST_MAX = 256,
    PAGE_MAX = 4096,
    SLICES_MAX = 2, // lists of strings in one request
};

#define OUTPUT_SIZE_MAX ((size_t)INT_MAX)

struct shell {
    struct engine *engine;
    struct engine_options options;
    json_t *request; // the one being answered
    int64_t now_us;
    struct json_writer out;
    struct buffer events; // the events of this call as JSON, with commas
    struct buffer reply;
    struct error error; // taken so that sentences are made; they are not compared
    struct slice slices[SLICES_MAX][LIST_MAX];
    size_t slices_used;
    const struct job *jobs[PAGE_MAX];
    const struct recurring *recurrings[PAGE_MAX];
};

static _Noreturn void die(const char *what, const char *name)
{
    (void)fprintf(stderr, "engine_shell: %s: %s\n", what, name);
    exit(2);
}

// ---------------------------------------------------------------------------------------------
// Arguments

static bool has(const struct shell *shell, const char *name)
{
    return json_object_get(shell->request, name) != NULL;
}

static struct slice text(const struct shell *shell, const char *name)
{
    json_t *value = json_object_get(shell->request, name);
    if (!value) {
        return SLICE_EMPTY;
    }
    if (!json_is_string(value)) {
        die("not a string", name);
    }
    return slice_make(json_string_value(value), json_string_length(value));
}

static int64_t number(const struct shell *shell, const char *name)
{
    json_t *value = json_object_get(shell->request, name);
    if (!value) {
        return 0;
    }
    if (!json_is_integer(value)) {
        die("not a whole number", name);
    }
    return json_integer_value(value);
}

static int32_t number32(const struct shell *shell, const char *name)
{
    return (int32_t)number(shell, name);
}

static size_t size(const struct shell *shell, const char *name)
{
    int64_t value = number(shell, name);
    if (value < 0) {
        die("negative", name);
    }
    return (size_t)value;
}

static bool flag(const struct shell *shell, const char *name)
{
    return json_is_true(json_object_get(shell->request, name));
}

static struct slices texts(struct shell *shell, const char *name)
{
    json_t *array = json_object_get(shell->request, name);
    size_t count = json_array_size(array);
    if (count > LIST_MAX || shell->slices_used == SLICES_MAX) {
        die("too many", name);
    }
    struct slice *items = shell->slices[shell->slices_used++];
    for (size_t i = 0; i < count; i++) {
        json_t *value = json_array_get(array, i);
        items[i] = slice_make(json_string_value(value), json_string_length(value));
    }
    return (struct slices){ .items = items, .count = count };
}

static struct holder holder(const struct shell *shell)
{
    return (struct holder){
        .jid = text(shell, "jid"),
        .worker = text(shell, "worker"),
        .queue = text(shell, "queue"),
        .token = (uint64_t)number(shell, "token"),
    };
}

static struct page page(struct shell *shell)
{
    struct page result = {
        .offset = size(shell, "offset"),
        .count = has(shell, "count") ? size(shell, "count") : PAGE_MAX,
        .jobs = shell->jobs,
    };
    if (result.count > PAGE_MAX) {
        die("too large", "count");
    }
    return result;
}

// ---------------------------------------------------------------------------------------------
// Replies

static void key(struct json_writer *out, const char *name)
{
    json_write_key(out, slice_from_cstr(name));
}

static void put_text(struct json_writer *out, const char *name, struct slice value)
{
    key(out, name);
    json_write_string(out, value);
}

static void put_int(struct json_writer *out, const char *name, int64_t value)
{
    key(out, name);
    json_write_int(out, value);
}

static void put_uint(struct json_writer *out, const char *name, uint64_t value)
{
    key(out, name);
    json_write_uint(out, value);
}

static void put_bool(struct json_writer *out, const char *name, bool value)
{
    key(out, name);
    json_write_bool(out, value);
}

static void write_tags(struct shell *shell, struct json_writer *out, const struct job *job,
                       size_t count)
{
    json_write_begin_array(out);
    for (size_t i = 0; i < count; i++) {
        json_write_string(out, job_tag(shell->engine, job, i));
    }
    json_write_end_array(out);
}

static void write_history(struct shell *shell, struct json_writer *out, const struct job *job,
                          size_t count)
{
    struct history_view entry;
    size_t position = 0;
    size_t found = 0;
    json_write_begin_array(out);
    for (; job_history_next(shell->engine, job, &position, &entry); found++) {
        json_write_begin_array(out);
        json_write_int(out, entry.when_us);
        json_write_string(out, entry.what);
        json_write_string(out, entry.queue);
        json_write_string(out, entry.worker);
        json_write_string(out, entry.group);
        json_write_string(out, entry.data);
        json_write_end_array(out);
    }
    json_write_end_array(out);
    if (found != count) {
        die("history_count differs from the entries", "history");
    }
}

static void write_job(struct shell *shell, struct json_writer *out, const struct job *job)
{
    struct job_view view;
    if (!job) {
        json_write_null(out);
        return;
    }
    job_view(shell->engine, job, &view);
    json_write_begin_object(out);
    put_uint(out, "id", view.id);
    put_text(out, "jid", view.jid);
    put_text(out, "klass", view.klass);
    put_text(out, "data", view.data);
    put_text(out, "queue", view.queue);
    put_text(out, "worker", view.worker);
    put_text(out, "result", view.result);
    put_text(out, "spawned_from", view.spawned_from);
    put_text(out, "state", slice_from_cstr(job_state_name(view.state)));
    put_bool(out, "tracked", view.tracked);
    put_bool(out, "grace", view.grace);
    put_int(out, "priority", view.priority);
    put_int(out, "retries", view.retries);
    put_int(out, "remaining", view.remaining);
    put_uint(out, "crashes", view.crashes);
    put_uint(out, "token", view.token);
    put_int(out, "expires", view.expires_us);
    put_int(out, "scheduled", view.scheduled_us);
    put_int(out, "time", view.time_us);
    put_bool(out, "started", view.started);
    put_int(out, "pid", view.pid);
    key(out, "failure");
    json_write_begin_array(out);
    json_write_string(out, view.failure_group);
    json_write_string(out, view.failure_message);
    json_write_string(out, view.failure_worker);
    json_write_int(out, view.failure_when_us);
    json_write_end_array(out);
    key(out, "tags");
    write_tags(shell, out, job, view.tag_count);
    key(out, "dependencies");
    json_write_begin_array(out);
    for (size_t i = 0; i < view.dependency_count; i++) {
        json_write_string(out, job_dependency(job, i));
    }
    json_write_end_array(out);
    key(out, "dependents");
    json_write_begin_array(out);
    for (size_t i = 0; i < view.dependent_count; i++) {
        json_write_string(out, job_dependent(job, i));
    }
    json_write_end_array(out);
    key(out, "history");
    write_history(shell, out, job, view.history_count);
    json_write_end_object(out);
}

// As whole jobs, or as their jids.
static void write_jobs(struct shell *shell, struct json_writer *out, const struct job **jobs,
                       size_t count, bool whole)
{
    json_write_begin_array(out);
    for (size_t i = 0; i < count; i++) {
        if (whole) {
            write_job(shell, out, jobs[i]);
        } else {
            struct job_view view;
            job_view(shell->engine, jobs[i], &view);
            json_write_string(out, view.jid);
        }
    }
    json_write_end_array(out);
}

static void write_page(struct shell *shell, struct json_writer *out, const struct page *found,
                       bool whole)
{
    json_write_begin_object(out);
    put_uint(out, "total", found->total);
    key(out, "jobs");
    write_jobs(shell, out, found->jobs, found->found, whole);
    json_write_end_object(out);
}

static void write_recurring(struct shell *shell, struct json_writer *out,
                            const struct recurring *recurring)
{
    struct recurring_view view;
    if (!recurring) {
        json_write_null(out);
        return;
    }
    recurring_view(shell->engine, recurring, &view);
    json_write_begin_object(out);
    put_text(out, "jid", view.jid);
    put_text(out, "klass", view.klass);
    put_text(out, "data", view.data);
    put_text(out, "queue", view.queue);
    put_int(out, "interval", view.interval_us);
    put_int(out, "next", view.next_us);
    put_int(out, "priority", view.priority);
    put_int(out, "retries", view.retries);
    put_uint(out, "count", view.count);
    put_int(out, "backlog", view.backlog);
    key(out, "tags");
    json_write_begin_array(out);
    for (size_t i = 0; i < view.tag_count; i++) {
        json_write_string(out, recurring_tag(shell->engine, recurring, i));
    }
    json_write_end_array(out);
    json_write_end_object(out);
}

static void write_queue(struct json_writer *out, const struct queue_view *view)
{
    json_write_begin_object(out);
    put_text(out, "name", view->name);
    put_uint(out, "waiting", view->waiting);
    put_uint(out, "running", view->running);
    put_uint(out, "stalled", view->stalled);
    put_uint(out, "scheduled", view->scheduled);
    put_uint(out, "depends", view->depends);
    put_uint(out, "recurring", view->recurring);
    put_uint(out, "listeners", view->listeners);
    put_bool(out, "paused", view->paused);
    json_write_end_object(out);
}

static void write_series(struct json_writer *out, const struct stats_series *series)
{
    json_write_begin_object(out);
    put_uint(out, "count", series->count);
    key(out, "mean");
    json_write_double(out, series->mean);
    key(out, "std");
    json_write_double(out, series->std);
    // Most buckets are empty; only the others are written.
    key(out, "histogram");
    json_write_begin_array(out);
    for (size_t i = 0; i < STATS_BUCKETS; i++) {
        if (series->histogram[i]) {
            json_write_begin_array(out);
            json_write_uint(out, i);
            json_write_uint(out, series->histogram[i]);
            json_write_end_array(out);
        }
    }
    json_write_end_array(out);
    json_write_end_object(out);
}

static void write_stats(struct shell *shell, struct json_writer *out, struct slice queue,
                        int64_t date_us)
{
    struct stats_view view;
    engine_stats(shell->engine, queue, date_us, &view);
    json_write_begin_object(out);
    put_int(out, "retries", view.retries);
    put_int(out, "failed", view.failed);
    put_int(out, "failures", view.failures);
    key(out, "wait");
    write_series(out, &view.wait);
    key(out, "run");
    write_series(out, &view.run);
    json_write_end_object(out);
}

static void write_count(struct json_writer *out, const struct count_view *view)
{
    json_write_begin_array(out);
    json_write_string(out, view->name);
    json_write_uint(out, view->count);
    json_write_end_array(out);
}

static void write_groups(struct shell *shell, struct json_writer *out)
{
    struct count_view view;
    json_write_begin_array(out);
    for (size_t i = 0; engine_failure_group(shell->engine, i, &view); i++) {
        write_count(out, &view);
    }
    json_write_end_array(out);
}

static void write_tag_top(struct shell *shell, struct json_writer *out)
{
    struct count_view view;
    json_write_begin_array(out);
    for (size_t i = 0; engine_tag_top(shell->engine, i, &view); i++) {
        write_count(out, &view);
    }
    json_write_end_array(out);
}

static void write_tracked(struct shell *shell, struct json_writer *out)
{
    struct slice jid;
    const struct job *job;
    json_write_begin_array(out);
    for (size_t i = 0; engine_tracked(shell->engine, i, &jid, &job); i++) {
        json_write_begin_array(out);
        json_write_string(out, jid);
        json_write_bool(out, job != NULL);
        json_write_end_array(out);
    }
    json_write_end_array(out);
}

static void write_queue_names(struct shell *shell, struct json_writer *out)
{
    struct slice name;
    json_write_begin_array(out);
    for (size_t i = 0; engine_queue_name(shell->engine, i, &name); i++) {
        json_write_string(out, name);
    }
    json_write_end_array(out);
}

static void write_workers(struct shell *shell, struct json_writer *out, int64_t now_us)
{
    struct worker_view view;
    json_write_begin_array(out);
    for (size_t i = 0; engine_worker(shell->engine, now_us, i, &view); i++) {
        json_write_begin_object(out);
        put_text(out, "name", view.name);
        put_int(out, "seen", view.seen_us);
        put_uint(out, "running", view.running);
        put_uint(out, "stalled", view.stalled);
        put_bool(out, "offline", view.offline);
        json_write_end_object(out);
    }
    json_write_end_array(out);
}

static void write_config(struct shell *shell, struct json_writer *out)
{
    struct slice option;
    struct slice value;
    json_write_begin_array(out);
    for (size_t i = 0; engine_config_at(shell->engine, i, &option, &value); i++) {
        json_write_begin_array(out);
        json_write_string(out, option);
        json_write_string(out, value);
        json_write_end_array(out);
    }
    json_write_end_array(out);
}

// ---------------------------------------------------------------------------------------------
// Events

static void receive(void *context, const struct event *event)
{
    struct shell *shell = context;
    struct json_writer out;
    if (shell->events.size) {
        buffer_append_char(&shell->events, ',');
    }
    json_writer_init(&out, &shell->events);
    json_write_begin_array(&out);
    json_write_string(&out, slice_from_cstr(event_kind_name(event->kind)));
    json_write_uint(&out, event->channels);
    json_write_int(&out, event->when_us);
    const struct slice fields[] = { event->jid,   event->queue,   event->worker, event->to,
                                    event->group, event->message, event->option, event->value };
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        json_write_string(&out, fields[i]);
    }
    json_write_end_array(&out);
}

// ---------------------------------------------------------------------------------------------
// Calls: jobs

typedef enum status call_function(struct shell *shell);

static enum status call_tick(struct shell *shell)
{
    json_write_int(&shell->out, engine_tick(shell->engine, shell->now_us));
    return STATUS_OK;
}

static enum status call_put(struct shell *shell)
{
    const struct put_request put = {
        .queue = text(shell, "queue"),
        .jid = text(shell, "jid"),
        .klass = text(shell, "klass"),
        .data = text(shell, "data"),
        .worker = text(shell, "worker"),
        .delay_us = number(shell, "delay"),
        .has_priority = has(shell, "priority"),
        .priority = number32(shell, "priority"),
        .has_retries = has(shell, "retries"),
        .retries = number32(shell, "retries"),
        .has_tags = has(shell, "tags"),
        .tags = texts(shell, "tags"),
        .depends = texts(shell, "depends"),
        .must_exist = flag(shell, "must_exist"),
    };
    const struct job *job = NULL;
    enum status status = engine_put(shell->engine, shell->now_us, &put, &job, &shell->error);
    if (status == STATUS_OK) {
        write_job(shell, &shell->out, job);
    }
    return status;
}

static enum status call_get(struct shell *shell)
{
    write_job(shell, &shell->out, engine_get(shell->engine, text(shell, "jid")));
    return STATUS_OK;
}

static enum status call_cancel(struct shell *shell)
{
    size_t canceled = 0;
    enum status status =
        engine_cancel(shell->engine, shell->now_us, texts(shell, "jids"), &canceled, &shell->error);
    json_write_uint(&shell->out, canceled);
    return status;
}

static enum status call_delete(struct shell *shell)
{
    return engine_delete(shell->engine, shell->now_us, text(shell, "jid"), &shell->error);
}

static enum status call_priority(struct shell *shell)
{
    return engine_priority(shell->engine, shell->now_us, text(shell, "jid"),
                           number32(shell, "priority"), &shell->error);
}

static enum status call_update_data(struct shell *shell)
{
    return engine_update_data(shell->engine, shell->now_us, text(shell, "jid"), text(shell, "data"),
                              &shell->error);
}

static enum status call_log(struct shell *shell)
{
    const struct log_request entry = {
        .jid = text(shell, "jid"),
        .message = text(shell, "message"),
        .data = text(shell, "data"),
        .worker = text(shell, "worker"),
        .token = (uint64_t)number(shell, "token"),
    };
    return engine_log(shell->engine, shell->now_us, &entry, &shell->error);
}

static enum status call_timeout(struct shell *shell)
{
    return engine_timeout(shell->engine, shell->now_us, texts(shell, "jids"), &shell->error);
}

static enum status call_depends_on(struct shell *shell)
{
    return engine_depends_on(shell->engine, shell->now_us, text(shell, "jid"),
                             texts(shell, "depends"), &shell->error);
}

static enum status call_depends_off(struct shell *shell)
{
    return engine_depends_off(shell->engine, shell->now_us, text(shell, "jid"),
                              texts(shell, "depends"), &shell->error);
}

static enum status call_depends_off_all(struct shell *shell)
{
    return engine_depends_off_all(shell->engine, shell->now_us, text(shell, "jid"), &shell->error);
}

// ---------------------------------------------------------------------------------------------
// Calls: work

static enum status call_pop(struct shell *shell)
{
    const struct pop_request pop = {
        .worker = text(shell, "worker"),
        .queues = texts(shell, "queues"),
        .order = flag(shell, "round_robin") ? POP_ROUND_ROBIN : POP_ORDERED,
        .count = size(shell, "count"),
    };
    size_t popped = 0;
    assert(pop.count <= PAGE_MAX);
    enum status status =
        engine_pop(shell->engine, shell->now_us, &pop, shell->jobs, &popped, &shell->error);
    write_jobs(shell, &shell->out, shell->jobs, popped, true);
    return status;
}

static enum status call_peek(struct shell *shell)
{
    size_t found = 0;
    size_t count = size(shell, "count");
    assert(count <= PAGE_MAX);
    enum status status = engine_peek(shell->engine, shell->now_us, text(shell, "queue"), count,
                                     shell->jobs, &found, &shell->error);
    write_jobs(shell, &shell->out, shell->jobs, found, false);
    return status;
}

static enum status call_heartbeat(struct shell *shell)
{
    const struct holder who = holder(shell);
    int64_t expires_us = 0;
    enum status status = engine_heartbeat(shell->engine, shell->now_us, &who, text(shell, "data"),
                                          &expires_us, &shell->error);
    json_write_int(&shell->out, expires_us);
    return status;
}

static enum status call_start(struct shell *shell)
{
    const struct holder who = holder(shell);
    return engine_start(shell->engine, shell->now_us, &who, number(shell, "pid"), &shell->error);
}

static enum status call_complete(struct shell *shell)
{
    const struct complete_request complete = {
        .holder = holder(shell),
        .data = text(shell, "data"),
        .result = text(shell, "result"),
        .next = text(shell, "next"),
        .has_delay = has(shell, "delay"),
        .delay_us = number(shell, "delay"),
        .has_depends = has(shell, "depends"),
        .depends = texts(shell, "depends"),
    };
    enum job_state state = JOB_COMPLETE;
    enum status status =
        engine_complete(shell->engine, shell->now_us, &complete, &state, &shell->error);
    json_write_string(&shell->out, slice_from_cstr(job_state_name(state)));
    return status;
}

static enum status call_fail(struct shell *shell)
{
    const struct fail_request fail = {
        .holder = holder(shell),
        .group = text(shell, "group"),
        .message = text(shell, "message"),
        .data = text(shell, "data"),
    };
    return engine_fail(shell->engine, shell->now_us, &fail, &shell->error);
}

static enum status call_retry(struct shell *shell)
{
    const struct retry_request retry = {
        .holder = holder(shell),
        .to = text(shell, "to"),
        .delay_us = number(shell, "delay"),
        .has_failure = has(shell, "group"),
        .group = text(shell, "group"),
        .message = text(shell, "message"),
    };
    int32_t remaining = 0;
    enum status status =
        engine_retry(shell->engine, shell->now_us, &retry, &remaining, &shell->error);
    json_write_int(&shell->out, remaining);
    return status;
}

static enum status call_unfail(struct shell *shell)
{
    size_t moved = 0;
    enum status status =
        engine_unfail(shell->engine, shell->now_us, text(shell, "queue"), text(shell, "group"),
                      size(shell, "count"), &moved, &shell->error);
    json_write_uint(&shell->out, moved);
    return status;
}

// ---------------------------------------------------------------------------------------------
// Calls: failures, tags, tracked jobs

static enum status call_failure_groups(struct shell *shell)
{
    write_groups(shell, &shell->out);
    return STATUS_OK;
}

static enum status call_failed(struct shell *shell)
{
    struct page found = page(shell);
    engine_failed(shell->engine, text(shell, "group"), &found);
    write_page(shell, &shell->out, &found, false);
    return STATUS_OK;
}

static enum status write_tagged_job(struct shell *shell, enum status status, const struct job *job,
                                    struct json_writer *out)
{
    if (status == STATUS_OK) {
        struct job_view view;
        job_view(shell->engine, job, &view);
        write_tags(shell, out, job, view.tag_count);
    }
    return status;
}

static enum status call_tag_add(struct shell *shell)
{
    const struct job *job = NULL;
    enum status status = engine_tag_add(shell->engine, shell->now_us, text(shell, "jid"),
                                        texts(shell, "tags"), &job, &shell->error);
    return write_tagged_job(shell, status, job, &shell->out);
}

static enum status call_tag_remove(struct shell *shell)
{
    const struct job *job = NULL;
    enum status status = engine_tag_remove(shell->engine, shell->now_us, text(shell, "jid"),
                                           texts(shell, "tags"), &job, &shell->error);
    return write_tagged_job(shell, status, job, &shell->out);
}

static enum status call_tagged(struct shell *shell)
{
    struct page found = page(shell);
    engine_tagged(shell->engine, text(shell, "tag"), &found);
    write_page(shell, &shell->out, &found, false);
    return STATUS_OK;
}

static enum status call_tag_top(struct shell *shell)
{
    write_tag_top(shell, &shell->out);
    return STATUS_OK;
}

static enum status call_track(struct shell *shell)
{
    bool changed = false;
    enum status status =
        engine_track(shell->engine, shell->now_us, text(shell, "jid"), &changed, &shell->error);
    json_write_bool(&shell->out, changed);
    return status;
}

static enum status call_untrack(struct shell *shell)
{
    bool changed = false;
    enum status status =
        engine_untrack(shell->engine, shell->now_us, text(shell, "jid"), &changed, &shell->error);
    json_write_bool(&shell->out, changed);
    return status;
}

static enum status call_tracked(struct shell *shell)
{
    write_tracked(shell, &shell->out);
    return STATUS_OK;
}

// ---------------------------------------------------------------------------------------------
// Calls: queues

static enum status call_queue(struct shell *shell)
{
    struct queue_view view;
    enum status status =
        engine_queue(shell->engine, shell->now_us, text(shell, "queue"), &view, &shell->error);
    if (status == STATUS_OK) {
        write_queue(&shell->out, &view);
    }
    return status;
}

static enum status call_queue_names(struct shell *shell)
{
    write_queue_names(shell, &shell->out);
    return STATUS_OK;
}

static enum status call_length(struct shell *shell)
{
    json_write_uint(&shell->out, engine_length(shell->engine, text(shell, "queue")));
    return STATUS_OK;
}

static const struct {
    const char *name;
    enum list list;
} lists[] = {
    { "waiting", LIST_WAITING },     { "running", LIST_RUNNING }, { "stalled", LIST_STALLED },
    { "scheduled", LIST_SCHEDULED }, { "depends", LIST_DEPENDS }, { "complete", LIST_COMPLETE },
};

static enum status call_jobs(struct shell *shell)
{
    struct page found = page(shell);
    size_t i = 0;
    while (!slice_equal(text(shell, "list"), slice_from_cstr(lists[i].name))) {
        if (++i == sizeof(lists) / sizeof(lists[0])) {
            die("no such list", "list");
        }
    }
    enum status status = engine_jobs(shell->engine, shell->now_us, lists[i].list,
                                     text(shell, "queue"), &found, &shell->error);
    if (status == STATUS_OK) {
        write_page(shell, &shell->out, &found, false);
    }
    return status;
}

static enum status call_pause(struct shell *shell)
{
    return engine_pause(shell->engine, shell->now_us, texts(shell, "queues"), &shell->error);
}

static enum status call_unpause(struct shell *shell)
{
    return engine_unpause(shell->engine, shell->now_us, texts(shell, "queues"), &shell->error);
}

static enum status call_forget(struct shell *shell)
{
    return engine_forget(shell->engine, shell->now_us, texts(shell, "queues"), &shell->error);
}

static enum status call_stats(struct shell *shell)
{
    write_stats(shell, &shell->out, text(shell, "queue"), number(shell, "date"));
    return STATUS_OK;
}

// ---------------------------------------------------------------------------------------------
// Calls: recurring jobs

static enum status call_recur(struct shell *shell)
{
    const struct recur_request recur = {
        .queue = text(shell, "queue"),
        .jid = text(shell, "jid"),
        .klass = text(shell, "klass"),
        .data = text(shell, "data"),
        .interval_us = number(shell, "interval"),
        .offset_us = number(shell, "offset"),
        .priority = number32(shell, "priority"),
        .retries = number32(shell, "retries"),
        .backlog = number(shell, "backlog"),
        .tags = texts(shell, "tags"),
    };
    return engine_recur(shell->engine, shell->now_us, &recur, &shell->error);
}

static enum status call_unrecur(struct shell *shell)
{
    return engine_unrecur(shell->engine, shell->now_us, text(shell, "jid"), &shell->error);
}

static enum status call_recurring_get(struct shell *shell)
{
    write_recurring(shell, &shell->out, engine_recurring_get(shell->engine, text(shell, "jid")));
    return STATUS_OK;
}

static enum status call_recur_update(struct shell *shell)
{
    const struct recur_update update = {
        .jid = text(shell, "jid"),
        .has_priority = has(shell, "priority"),
        .has_interval = has(shell, "interval"),
        .has_retries = has(shell, "retries"),
        .has_backlog = has(shell, "backlog"),
        .has_data = has(shell, "data"),
        .has_klass = has(shell, "klass"),
        .has_queue = has(shell, "queue"),
        .priority = number32(shell, "priority"),
        .interval_us = number(shell, "interval"),
        .retries = number32(shell, "retries"),
        .backlog = number(shell, "backlog"),
        .data = text(shell, "data"),
        .klass = text(shell, "klass"),
        .queue = text(shell, "queue"),
    };
    return engine_recur_update(shell->engine, shell->now_us, &update, &shell->error);
}

static enum status call_recur_tag(struct shell *shell)
{
    return engine_recur_tag(shell->engine, shell->now_us, text(shell, "jid"), texts(shell, "tags"),
                            &shell->error);
}

static enum status call_recur_untag(struct shell *shell)
{
    return engine_recur_untag(shell->engine, shell->now_us, text(shell, "jid"),
                              texts(shell, "tags"), &shell->error);
}

static enum status call_recurring(struct shell *shell)
{
    size_t found = 0;
    size_t count = has(shell, "count") ? size(shell, "count") : PAGE_MAX;
    assert(count <= PAGE_MAX);
    size_t total = engine_recurring(shell->engine, text(shell, "queue"), size(shell, "offset"),
                                    count, shell->recurrings, &found);
    json_write_begin_object(&shell->out);
    put_uint(&shell->out, "total", total);
    key(&shell->out, "jobs");
    json_write_begin_array(&shell->out);
    for (size_t i = 0; i < found; i++) {
        write_recurring(shell, &shell->out, shell->recurrings[i]);
    }
    json_write_end_array(&shell->out);
    json_write_end_object(&shell->out);
    return STATUS_OK;
}

// ---------------------------------------------------------------------------------------------
// Calls: workers

static enum status call_workers(struct shell *shell)
{
    enum status status = engine_workers_prune(shell->engine, shell->now_us, &shell->error);
    write_workers(shell, &shell->out, shell->now_us);
    return status;
}

static enum status call_worker_jobs(struct shell *shell)
{
    struct page found = page(shell);
    engine_worker_jobs(shell->engine, shell->now_us, text(shell, "worker"), flag(shell, "stalled"),
                       &found);
    write_page(shell, &shell->out, &found, false);
    return STATUS_OK;
}

static enum status call_worker_deregister(struct shell *shell)
{
    return engine_worker_deregister(shell->engine, shell->now_us, texts(shell, "workers"),
                                    &shell->error);
}

static enum status call_worker_offline(struct shell *shell)
{
    return engine_worker_offline(shell->engine, shell->now_us, text(shell, "worker"),
                                 &shell->error);
}

// ---------------------------------------------------------------------------------------------
// Calls: configuration

static enum status call_config_get(struct shell *shell)
{
    json_write_string(&shell->out, engine_config_get(shell->engine, text(shell, "option")));
    return STATUS_OK;
}

static enum status call_config_all(struct shell *shell)
{
    write_config(shell, &shell->out);
    return STATUS_OK;
}

static enum status call_config_set(struct shell *shell)
{
    return engine_config_set(shell->engine, shell->now_us, text(shell, "option"),
                             text(shell, "value"), &shell->error);
}

static enum status call_config_unset(struct shell *shell)
{
    return engine_config_unset(shell->engine, shell->now_us, text(shell, "option"), &shell->error);
}

// ---------------------------------------------------------------------------------------------
// Commands of the shell's own

// Everything there is to see of one queue, its jobs as a whole.
static enum status dump_queue(struct shell *shell, struct slice queue, int64_t now_us, json_t *days,
                              struct json_writer *out)
{
    struct queue_view view;
    enum status status = engine_queue(shell->engine, now_us, queue, &view, &shell->error);
    if (status != STATUS_OK) {
        return status;
    }
    json_write_begin_object(out);
    key(out, "counts");
    write_queue(out, &view);
    put_uint(out, "length", engine_length(shell->engine, queue));
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        if (lists[i].list == LIST_COMPLETE) {
            continue;
        }
        struct page found = { .count = PAGE_MAX, .jobs = shell->jobs };
        status = engine_jobs(shell->engine, now_us, lists[i].list, queue, &found, &shell->error);
        if (status != STATUS_OK) {
            return status;
        }
        key(out, lists[i].name);
        write_page(shell, out, &found, true);
    }
    size_t found = 0;
    engine_recurring(shell->engine, queue, 0, PAGE_MAX, shell->recurrings, &found);
    key(out, "recurring");
    json_write_begin_array(out);
    for (size_t i = 0; i < found; i++) {
        write_recurring(shell, out, shell->recurrings[i]);
    }
    json_write_end_array(out);
    key(out, "stats");
    json_write_begin_array(out);
    for (size_t i = 0; i < json_array_size(days); i++) {
        write_stats(shell, out, queue, json_integer_value(json_array_get(days, i)));
    }
    json_write_end_array(out);
    json_write_end_object(out);
    return STATUS_OK;
}

static void dump_failures(struct shell *shell, struct json_writer *out)
{
    struct count_view view;
    json_write_begin_array(out);
    for (size_t i = 0; engine_failure_group(shell->engine, i, &view); i++) {
        struct page found = { .count = PAGE_MAX, .jobs = shell->jobs };
        engine_failed(shell->engine, view.name, &found);
        json_write_begin_array(out);
        write_count(out, &view);
        write_page(shell, out, &found, true);
        json_write_end_array(out);
    }
    json_write_end_array(out);
}

// The whole of what can be observed: of the queues, tags, workers and days that the request names,
// since the engine has no list of tags or of queues that were forgotten.
static enum status call_dump(struct shell *shell)
{
    struct slices queues = texts(shell, "queues");
    struct slices tags = texts(shell, "tags");
    enum status status;

    json_write_begin_object(&shell->out);
    key(&shell->out, "names");
    write_queue_names(shell, &shell->out);
    key(&shell->out, "queues");
    json_write_begin_array(&shell->out);
    for (size_t i = 0; i < queues.count; i++) {
        status = dump_queue(shell, queues.items[i], shell->now_us,
                            json_object_get(shell->request, "days"), &shell->out);
        if (status != STATUS_OK) {
            return status;
        }
    }
    json_write_end_array(&shell->out);

    struct page complete = { .count = PAGE_MAX, .jobs = shell->jobs };
    status = engine_jobs(shell->engine, shell->now_us, LIST_COMPLETE, SLICE_EMPTY, &complete,
                         &shell->error);
    if (status != STATUS_OK) {
        return status;
    }
    key(&shell->out, "complete");
    write_page(shell, &shell->out, &complete, true);
    key(&shell->out, "failures");
    dump_failures(shell, &shell->out);

    key(&shell->out, "tags");
    json_write_begin_array(&shell->out);
    for (size_t i = 0; i < tags.count; i++) {
        struct page found = { .count = PAGE_MAX, .jobs = shell->jobs };
        engine_tagged(shell->engine, tags.items[i], &found);
        write_page(shell, &shell->out, &found, false);
    }
    json_write_end_array(&shell->out);
    key(&shell->out, "top");
    write_tag_top(shell, &shell->out);
    key(&shell->out, "tracked");
    write_tracked(shell, &shell->out);

    key(&shell->out, "workers");
    write_workers(shell, &shell->out, shell->now_us);
    key(&shell->out, "held");
    json_write_begin_array(&shell->out);
    json_t *workers = json_object_get(shell->request, "workers");
    for (size_t i = 0; i < 2 * json_array_size(workers); i++) {
        struct page found = { .count = PAGE_MAX, .jobs = shell->jobs };
        json_t *worker = json_array_get(workers, i / 2);
        engine_worker_jobs(shell->engine, shell->now_us,
                           slice_make(json_string_value(worker), json_string_length(worker)),
                           i % 2 == 1, &found);
        write_page(shell, &shell->out, &found, false);
    }
    json_write_end_array(&shell->out);
    key(&shell->out, "config");
    write_config(shell, &shell->out);
    json_write_end_object(&shell->out);
    return STATUS_OK;
}

static enum status call_new(struct shell *shell)
{
    if (shell->engine) {
        engine_free(shell->engine);
        shell->engine = NULL;
    }
    shell->options.clock = slice_equal(text(shell, "clock"), SLICE("client")) ? ENGINE_CLOCK_CLIENT
                                                                              : ENGINE_CLOCK_SERVER;
    return engine_new(&shell->options, &shell->engine);
}

// Saves, loads what was saved into a new engine and goes on with that one. Says whether saving it
// again gives the same bytes.
static enum status call_save_load(struct shell *shell)
{
    struct buffer first;
    struct buffer second;
    struct engine *loaded = NULL;
    buffer_init(&first, &allocator_system, OUTPUT_SIZE_MAX);
    buffer_init(&second, &allocator_system, OUTPUT_SIZE_MAX);
    enum status status = engine_save(shell->engine, &first);
    if (status == STATUS_OK) {
        status = engine_load(&shell->options, buffer_slice(&first), &loaded, &shell->error);
        if (status != STATUS_OK) {
            (void)fprintf(stderr, "engine_shell: load: %s\n", error_sentence(&shell->error));
        }
    }
    if (status == STATUS_OK) {
        engine_free(shell->engine);
        shell->engine = loaded;
        status = engine_save(shell->engine, &second);
        json_write_bool(&shell->out, slice_equal(buffer_slice(&first), buffer_slice(&second)));
    }
    buffer_release(&first);
    buffer_release(&second);
    return status;
}

static void report(void *context, const char *sentence)
{
    json_write_string(context, slice_from_cstr(sentence));
}

static enum status call_check(struct shell *shell)
{
    json_write_begin_object(&shell->out);
    key(&shell->out, "sentences");
    json_write_begin_array(&shell->out);
    size_t count = engine_check(shell->engine, flag(shell, "repair"), report, &shell->out);
    json_write_end_array(&shell->out);
    put_uint(&shell->out, "count", count);
    json_write_end_object(&shell->out);
    return STATUS_OK;
}

// ---------------------------------------------------------------------------------------------

static const struct {
    const char *name;
    call_function *function;
} calls[] = {
    { "cancel", call_cancel },
    { "check", call_check },
    { "complete", call_complete },
    { "config_all", call_config_all },
    { "config_get", call_config_get },
    { "config_set", call_config_set },
    { "config_unset", call_config_unset },
    { "delete", call_delete },
    { "depends_off", call_depends_off },
    { "depends_off_all", call_depends_off_all },
    { "depends_on", call_depends_on },
    { "dump", call_dump },
    { "fail", call_fail },
    { "failed", call_failed },
    { "failure_groups", call_failure_groups },
    { "forget", call_forget },
    { "get", call_get },
    { "heartbeat", call_heartbeat },
    { "jobs", call_jobs },
    { "length", call_length },
    { "log", call_log },
    { "new", call_new },
    { "pause", call_pause },
    { "peek", call_peek },
    { "pop", call_pop },
    { "priority", call_priority },
    { "put", call_put },
    { "queue", call_queue },
    { "queue_names", call_queue_names },
    { "recur", call_recur },
    { "recur_tag", call_recur_tag },
    { "recur_untag", call_recur_untag },
    { "recur_update", call_recur_update },
    { "recurring", call_recurring },
    { "recurring_get", call_recurring_get },
    { "retry", call_retry },
    { "save_load", call_save_load },
    { "start", call_start },
    { "stats", call_stats },
    { "tag_add", call_tag_add },
    { "tag_remove", call_tag_remove },
    { "tag_top", call_tag_top },
    { "tagged", call_tagged },
    { "tick", call_tick },
    { "timeout", call_timeout },
    { "track", call_track },
    { "tracked", call_tracked },
    { "unfail", call_unfail },
    { "unpause", call_unpause },
    { "unrecur", call_unrecur },
    { "untrack", call_untrack },
    { "update_data", call_update_data },
    { "worker_deregister", call_worker_deregister },
    { "worker_jobs", call_worker_jobs },
    { "worker_offline", call_worker_offline },
    { "workers", call_workers },
};

static call_function *find_call(const char *name)
{
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        if (strcmp(name, calls[i].name) == 0) {
            return calls[i].function;
        }
    }
    die("no such command", name);
}

static void answer(struct shell *shell, const char *line, size_t line_size)
{
    json_error_t problem;
    shell->request = json_loadb(line, line_size, 0, &problem);
    const char *name = json_string_value(json_object_get(shell->request, "cmd"));
    if (!name) {
        die("not a request", line);
    }
    call_function *function = find_call(name);
    if (!shell->engine && function != call_new) {
        die("new comes first", name);
    }
    shell->now_us = number(shell, "now");
    buffer_clear(&shell->reply);
    buffer_clear(&shell->events);
    shell->slices_used = 0;
    json_writer_init(&shell->out, &shell->reply);
    enum status status = function(shell);
    if (status != STATUS_OK || shell->reply.size == 0) {
        buffer_clear(&shell->reply);
        buffer_append(&shell->reply, SLICE("null"));
    }
    if (shell->reply.status != STATUS_OK || shell->events.status != STATUS_OK) {
        die("out of memory", name);
    }
    printf("{\"status\":\"%s\",\"reply\":%.*s,\"events\":[%.*s]}\n", status_name(status),
           SLICE_PRINT(buffer_slice(&shell->reply)), SLICE_PRINT(buffer_slice(&shell->events)));
    if (fflush(stdout)) {
        die("cannot write", name);
    }
    json_decref(shell->request);
}

int main(void)
{
    static struct shell shell;
    char *line = NULL;
    size_t line_capacity = 0;
    ssize_t line_size;

    shell.options = (struct engine_options){
        .allocator = &allocator_system,
        .seed = { UINT64_C(0x736c75696365), UINT64_C(0x6d6f64656c) },
        .sink = { receive, &shell },
    };
    buffer_init(&shell.reply, &allocator_system, OUTPUT_SIZE_MAX);
    buffer_init(&shell.events, &allocator_system, OUTPUT_SIZE_MAX);
    while ((line_size = getline(&line, &line_capacity, stdin)) > 0) {
        answer(&shell, line, (size_t)line_size);
    }
    free(line);
    if (shell.engine) {
        engine_free(shell.engine);
    }
    buffer_release(&shell.reply);
    buffer_release(&shell.events);
    return 0;
}
