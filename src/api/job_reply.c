// SPDX-License-Identifier: MIT
// Jobs in replies. Every field is always present, so that programs need not test for it; a missing
// value is null.
#include "api/job_words.h"

static void write_tags(struct reply *reply, const struct engine *engine, const struct job *job,
                       size_t count)
{
    reply_list(reply, count);
    for (size_t i = 0; i < count; i++) {
        reply_text(reply, job_tag(engine, job, i));
    }
    reply_end(reply);
}

enum {
    BACKOFF_TEXT_SIZE = 1024, // longer than any
};

static void write_backoff(struct reply *reply, const struct backoff *backoff)
{
    char bytes[BACKOFF_TEXT_SIZE + 1];
    struct buffer text = { .data = bytes,
                           .capacity = BACKOFF_TEXT_SIZE,
                           .size_max = BACKOFF_TEXT_SIZE };
    backoff_append(backoff, &text);
    reply_text_or_null(reply, buffer_slice(&text));
}

// The engine stores "none" as a negative number.
static int64_t limit_or_none(int64_t value)
{
    return value > 0 ? value : 0;
}

static void write_seconds_if_set(struct reply *reply, int64_t us)
{
    if (us) {
        reply_seconds(reply, limit_or_none(us));
    } else {
        reply_null(reply);
    }
}

void reply_job_options(struct reply *reply, const struct job_options *options)
{
    reply_map(reply, 6);
    reply_key(reply, "backoff");
    write_backoff(reply, &options->backoff);
    reply_key(reply, "timeout");
    write_seconds_if_set(reply, options->timeout_us);
    reply_key(reply, "lease");
    write_seconds_if_set(reply, options->lease_us);
    reply_key(reply, "result-ttl");
    write_seconds_if_set(reply, options->result_ttl_us);
    reply_key(reply, "max-crashes");
    if (options->crashes_max) {
        reply_integer(reply, limit_or_none(options->crashes_max));
    } else {
        reply_null(reply);
    }
    reply_key(reply, "on-dependency-failure");
    if (options->dependency_policy) {
        reply_text(
            reply,
            slice_from_cstr(dependency_policy_words[options->dependency_policy - DEPENDENCY_HOLD]));
    } else {
        reply_null(reply);
    }
    reply_end(reply);
}

void reply_popped(struct reply *reply, const struct engine *engine, const struct job *job)
{
    struct job_view view;
    job_view(engine, job, &view);
    reply_map(reply, 12);
    reply_key(reply, "jid");
    reply_text(reply, view.jid);
    reply_key(reply, "klass");
    reply_text(reply, view.klass);
    reply_key(reply, "queue");
    reply_text(reply, view.queue);
    reply_key(reply, "data");
    reply_json(reply, view.data);
    reply_key(reply, "token");
    reply_count(reply, view.token);
    reply_key(reply, "expires");
    reply_moment(reply, view.expires_us);
    reply_key(reply, "priority");
    reply_integer(reply, view.priority);
    reply_key(reply, "remaining");
    reply_integer(reply, view.remaining);
    reply_key(reply, "attempts");
    reply_count(reply, view.attempts);
    reply_key(reply, "domain");
    reply_text_or_null(reply, view.domain);
    reply_key(reply, "checkpoint");
    reply_text_or_null(reply, view.checkpoint);
    reply_key(reply, "tags");
    write_tags(reply, engine, job, view.tag_count);
    reply_end(reply);
}

// ---------------------------------------------------------------------------------------------
// Sizes

enum {
    POPPED_FIXED = 512, // keys and numbers of a popped job, and the list of its tags, in any format
    LIST_SIZE = 32,     // around the jobs
};

static size_t popped_bound(const struct fit *fit, const struct job *job)
{
    struct job_texts texts = job_texts(fit->engine, job);
    return POPPED_FIXED + reply_texts_max(fit->reply, texts.count, texts.size);
}

struct popped_about {
    const struct engine *engine;
    const struct job *job;
};

static void write_popped(struct reply *reply, const void *about)
{
    const struct popped_about *of = about;
    reply_popped(reply, of->engine, of->job);
}

static size_t popped_measure(const struct fit *fit, const struct job *job)
{
    const struct popped_about about = { fit->engine, job };
    return reply_measure(fit->reply, write_popped, &about);
}

void fit_init_popped(struct fit *fit, struct reply *reply, const struct engine *engine)
{
    fit_init(fit, reply, engine, LIST_SIZE);
    fit->bound = popped_bound;
    fit->measure = popped_measure;
    fit->rough = reply->ops->growth > 1;
}

// ---------------------------------------------------------------------------------------------

static void write_failure(struct reply *reply, const struct job_view *view)
{
    if (!view->failure_group.size) {
        reply_null(reply);
        return;
    }
    reply_map(reply, 4);
    reply_key(reply, "group");
    reply_text(reply, view->failure_group);
    reply_key(reply, "message");
    reply_text(reply, view->failure_message);
    reply_key(reply, "worker");
    reply_text_or_null(reply, view->failure_worker);
    reply_key(reply, "when");
    reply_moment(reply, view->failure_when_us);
    reply_end(reply);
}

static void write_related(struct reply *reply, const struct job *job, size_t count,
                          bool (*next)(const struct job *job, const void **position,
                                       struct slice *jid))
{
    struct slice jid;
    reply_list(reply, count);
    for (const void *position = NULL; next(job, &position, &jid);) {
        reply_text(reply, jid);
    }
    reply_end(reply);
}

static void write_progress(struct reply *reply, const struct job_view *view)
{
    if (view->progress_ppm < 0) {
        reply_null(reply);
        return;
    }
    reply_map(reply, 2);
    reply_key(reply, "fraction");
    reply_number(reply, view->progress_ppm / 1e6);
    reply_key(reply, "message");
    reply_text_or_null(reply, view->progress_message);
    reply_end(reply);
}

static void write_lease(struct reply *reply, const struct job_view *view)
{
    if (!view->token) {
        reply_null(reply);
        return;
    }
    reply_map(reply, 7);
    reply_key(reply, "worker");
    reply_text(reply, view->worker);
    reply_key(reply, "token");
    reply_count(reply, view->token);
    reply_key(reply, "expires");
    reply_moment(reply, view->expires_us);
    reply_key(reply, "length");
    write_seconds_if_set(reply, view->lease_us);
    reply_key(reply, "grace");
    reply_boolean(reply, view->grace);
    reply_key(reply, "run-ends");
    reply_moment_or_null(reply, view->run_ends_us);
    reply_key(reply, "pid");
    if (view->started) {
        reply_integer(reply, view->pid);
    } else {
        reply_null(reply);
    }
    reply_end(reply);
}

// Of a running job: whether its worker has reported the start.
static void write_stage(struct reply *reply, const struct job_view *view)
{
    reply_text_or_null(reply, !view->token    ? SLICE_EMPTY
                              : view->started ? SLICE("started")
                                              : SLICE("reserved"));
}

static void write_last_run(struct reply *reply, const struct job_past *past)
{
    if (!past->popped_us) {
        reply_null(reply);
        return;
    }
    reply_map(reply, 4);
    reply_key(reply, "worker");
    reply_text_or_null(reply, past->worker);
    reply_key(reply, "popped");
    reply_moment(reply, past->popped_us);
    reply_key(reply, "started");
    reply_moment_or_null(reply, past->started_us);
    reply_key(reply, "pid");
    if (past->pid) {
        reply_integer(reply, past->pid);
    } else {
        reply_null(reply);
    }
    reply_end(reply);
}

static void write_unique(struct reply *reply, const struct job_view *view)
{
    if (view->unique_by == UNIQUE_NONE) {
        reply_null(reply);
        return;
    }
    bool by_key = view->unique_by == UNIQUE_BY_KEY;
    reply_map(reply, 3);
    reply_key(reply, "by");
    reply_text(reply, by_key ? SLICE("key") : SLICE("contents"));
    reply_key(reply, "key");
    reply_text_or_null(reply, by_key ? view->unique_key : SLICE_EMPTY);
    reply_key(reply, "held");
    reply_boolean(reply, view->unique_held);
    reply_end(reply);
}

// Writes the jobs that it depends on or depended on.
static void write_members(struct reply *reply, const struct job_view *view)
{
    reply_map(reply, 2);
    reply_key(reply, "done");
    reply_count(reply, view->members_done);
    reply_key(reply, "failed");
    reply_count(reply, view->members_failed);
    reply_end(reply);
}

struct slice text_up_to(struct slice text, size_t size_max)
{
    if (text.size <= size_max) {
        return text;
    }
    while (size_max > 0 && ((unsigned char)text.data[size_max] & 0xC0U) == 0x80U) {
        size_max--;
    }
    return slice_sub(text, 0, size_max);
}

// Writes JSON, or as text as much of it as is allowed. Returns whether it was truncated.
static bool write_json_up_to(struct reply *reply, struct slice json, size_t size_max)
{
    if (json.size <= size_max) {
        reply_json_or_null(reply, json);
        return false;
    }
    reply_text(reply, text_up_to(json, size_max));
    return true;
}

static void write_cut(struct reply *reply, const struct job_view *view, bool data, bool result)
{
    reply_key(reply, "data-size");
    reply_count(reply, view->data.size);
    reply_key(reply, "data-cut");
    reply_boolean(reply, data);
    reply_key(reply, "result-cut");
    reply_boolean(reply, result);
}

static void write_job(struct reply *reply, const struct engine *engine, const struct job *job,
                      const size_t *data_max)
{
    struct job_view view;
    struct job_past past;
    size_t size_max = data_max ? *data_max : SIZE_MAX;
    job_view(engine, job, &view);
    job_past(engine, job, &past);
    reply_map(reply, data_max ? 35 : 32);
    reply_key(reply, "jid");
    reply_text(reply, view.jid);
    reply_key(reply, "klass");
    reply_text(reply, view.klass);
    reply_key(reply, "queue");
    reply_text_or_null(reply, view.queue);
    reply_key(reply, "state");
    reply_text(reply, slice_from_cstr(job_state_name(view.state)));
    reply_key(reply, "stage");
    write_stage(reply, &view);
    reply_key(reply, "data");
    bool data_cut = write_json_up_to(reply, view.data, size_max);
    reply_key(reply, "priority");
    reply_integer(reply, view.priority);
    reply_key(reply, "retries");
    reply_integer(reply, view.retries);
    reply_key(reply, "remaining");
    reply_integer(reply, view.remaining);
    reply_key(reply, "attempts");
    reply_count(reply, view.attempts);
    reply_key(reply, "crashes");
    reply_count(reply, view.crashes);
    reply_key(reply, "domain");
    reply_text_or_null(reply, view.domain);
    reply_key(reply, "tags");
    write_tags(reply, engine, job, view.tag_count);
    reply_key(reply, "tracked");
    reply_boolean(reply, view.tracked);
    reply_key(reply, "created");
    reply_moment(reply, view.created_us);
    reply_key(reply, "moved");
    reply_moment(reply, view.time_us);
    reply_key(reply, "updated");
    reply_moment(reply, view.updated_us);
    reply_key(reply, "eta");
    reply_moment_or_null(reply, past.eta_us);
    reply_key(reply, "scheduled");
    reply_moment_or_null(reply, view.scheduled_us);
    reply_key(reply, "deadline");
    reply_moment_or_null(reply, view.deadline_us);
    reply_key(reply, "lease");
    write_lease(reply, &view);
    reply_key(reply, "last-run");
    write_last_run(reply, &past);
    reply_key(reply, "failure");
    write_failure(reply, &view);
    reply_key(reply, "result");
    bool result_cut = write_json_up_to(reply, view.result, size_max);
    reply_key(reply, "result-until");
    reply_moment_or_null(reply, view.result_until_us);
    reply_key(reply, "progress");
    write_progress(reply, &view);
    reply_key(reply, "checkpoint");
    reply_text_or_null(reply, view.checkpoint);
    reply_key(reply, "depends");
    write_related(reply, job, view.dependency_count, job_dependency_next);
    reply_key(reply, "dependents");
    write_related(reply, job, view.dependent_count, job_dependent_next);
    reply_key(reply, "members");
    write_members(reply, &view);
    reply_key(reply, "unique");
    write_unique(reply, &view);
    reply_key(reply, "spawned-from");
    reply_text_or_null(reply, view.spawned_from);
    if (data_max) {
        write_cut(reply, &view, data_cut, result_cut);
    }
    reply_end(reply);
}

void reply_job(struct reply *reply, const struct engine *engine, const struct job *job)
{
    write_job(reply, engine, job, NULL);
}

void reply_job_cut(struct reply *reply, const struct engine *engine, const struct job *job,
                   size_t data_max)
{
    write_job(reply, engine, job, &data_max);
}
