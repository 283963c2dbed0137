// SPDX-License-Identifier: MIT
#include "member.h"
#include "options.h"
#include "views.h"
#include "words.h"

enum {
    HASH_SIZE = 32,
};

void write_tags(struct shell *shell, const struct job *job, size_t count)
{
    struct json_writer *out = &shell->out;
    json_write_begin_array(out);
    for (size_t i = 0; i < count; i++) {
        json_write_string(out, job_tag(shell->engine, job, i));
    }
    json_write_end_array(out);
}

static void write_history(struct shell *shell, const struct job *job, size_t count)
{
    struct json_writer *out = &shell->out;
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
        if (entry.message.size) {
            json_write_string(out, entry.message);
        }
        if (entry.until_us) {
            json_write_int(out, entry.until_us);
        }
        json_write_end_array(out);
    }
    json_write_end_array(out);
    if (found != count) {
        die("history_count differs from the entries", "history");
    }
}

static void write_log(struct shell *shell, const struct job *job, size_t count)
{
    struct json_writer *out = &shell->out;
    struct log_view entry;
    size_t position = 0;
    size_t found = 0;
    json_write_begin_array(out);
    for (; job_log_next(job, &position, &entry); found++) {
        json_write_begin_array(out);
        json_write_int(out, entry.when_us);
        json_write_string(out, entry.line);
        json_write_end_array(out);
    }
    json_write_end_array(out);
    if (found != count) {
        die("log_count differs from the lines", "log");
    }
}

// A key that is a hash is no text; it is written in hexadecimal digits.
static void write_unique_key(struct shell *shell, const struct job_view *view)
{
    static const char digits[] = "0123456789abcdef";
    char text[2 * HASH_SIZE];
    struct slice key = view->unique_key;
    if (view->unique_by != UNIQUE_BY_CONTENTS) {
        json_write_string(&shell->out, key);
        return;
    }
    if (key.size > HASH_SIZE) {
        die("too long for a hash", "unique_key");
    }
    for (size_t i = 0; i < key.size; i++) {
        unsigned char byte = (unsigned char)key.data[i];
        text[2 * i] = digits[byte / 16];
        text[2 * i + 1] = digits[byte % 16];
    }
    json_write_string(&shell->out, slice_make(text, 2 * key.size));
}

static void write_unique(struct shell *shell, const struct job_view *view)
{
    struct json_writer *out = &shell->out;
    member_word(out, "unique_by", words_unique_by[view->unique_by]);
    member_key(out, "unique_key");
    write_unique_key(shell, view);
    member_bool(out, "unique_held", view->unique_held);
}

static void write_run_members(struct shell *shell, const struct job_view *view)
{
    struct json_writer *out = &shell->out;
    member_uint(out, "attempts", view->attempts);
    member_int(out, "created_us", view->created_us);
    member_int(out, "deadline_us", view->deadline_us);
    member_int(out, "run_ends_us", view->run_ends_us);
    member_int(out, "result_until_us", view->result_until_us);
    member_uint(out, "members_done", view->members_done);
    member_uint(out, "members_failed", view->members_failed);
    member_int(out, "progress_ppm", view->progress_ppm);
    member_text(out, "progress_message", view->progress_message);
    member_text(out, "checkpoint", view->checkpoint);
}

static void write_plain_members(struct shell *shell, const struct job_view *view)
{
    struct json_writer *out = &shell->out;
    member_uint(out, "id", view->id);
    member_text(out, "jid", view->jid);
    member_text(out, "klass", view->klass);
    member_text(out, "data", view->data);
    member_text(out, "queue", view->queue);
    member_text(out, "domain", view->domain);
    member_text(out, "worker", view->worker);
    member_text(out, "result", view->result);
    member_text(out, "spawned_from", view->spawned_from);
    member_word(out, "state", job_state_name(view->state));
    member_bool(out, "tracked", view->tracked);
    member_bool(out, "grace", view->grace);
    member_int(out, "priority", view->priority);
    member_int(out, "retries", view->retries);
    member_int(out, "remaining", view->remaining);
    member_uint(out, "crashes", view->crashes);
    member_uint(out, "token", view->token);
    member_int(out, "expires", view->expires_us);
    member_int(out, "lease_us", view->lease_us);
    member_int(out, "scheduled", view->scheduled_us);
    member_int(out, "time", view->time_us);
    member_bool(out, "started", view->started);
    member_int(out, "pid", view->pid);
}

static void write_failure(struct shell *shell, const struct job_view *view)
{
    struct json_writer *out = &shell->out;
    json_write_begin_array(out);
    json_write_string(out, view->failure_group);
    json_write_string(out, view->failure_message);
    json_write_string(out, view->failure_worker);
    json_write_int(out, view->failure_when_us);
    json_write_end_array(out);
}

static void write_dependencies(struct shell *shell, const struct job *job)
{
    struct slice jid;
    json_write_begin_array(&shell->out);
    for (const void *position = NULL; job_dependency_next(job, &position, &jid);) {
        json_write_string(&shell->out, jid);
    }
    json_write_end_array(&shell->out);
}

static void write_dependents(struct shell *shell, const struct job *job)
{
    struct slice jid;
    json_write_begin_array(&shell->out);
    for (const void *position = NULL; job_dependent_next(job, &position, &jid);) {
        json_write_string(&shell->out, jid);
    }
    json_write_end_array(&shell->out);
}

void write_job(struct shell *shell, const struct job *job)
{
    struct json_writer *out = &shell->out;
    struct job_view view;
    struct job_options options;
    if (!job) {
        json_write_null(out);
        return;
    }
    job_view(shell->engine, job, &view);
    json_write_begin_object(out);
    write_plain_members(shell, &view);
    write_run_members(shell, &view);
    write_unique(shell, &view);
    member_key(out, "failure");
    write_failure(shell, &view);
    member_key(out, "tags");
    write_tags(shell, job, view.tag_count);
    member_key(out, "dependencies");
    write_dependencies(shell, job);
    member_key(out, "dependents");
    write_dependents(shell, job);
    member_key(out, "history");
    write_history(shell, job, view.history_count);
    member_key(out, "log");
    write_log(shell, job, view.log_count);
    job_options(shell->engine, job, &options);
    member_key(out, "options");
    write_options(out, &options);
    json_write_end_object(out);
}

void write_jobs(struct shell *shell, const struct job **jobs, size_t count, bool whole)
{
    struct json_writer *out = &shell->out;
    json_write_begin_array(out);
    for (size_t i = 0; i < count; i++) {
        if (whole) {
            write_job(shell, jobs[i]);
        } else {
            struct job_view view;
            job_view(shell->engine, jobs[i], &view);
            json_write_string(out, view.jid);
        }
    }
    json_write_end_array(out);
}

void write_page(struct shell *shell, const struct page *found, bool whole)
{
    struct json_writer *out = &shell->out;
    json_write_begin_object(out);
    member_uint(out, "total", found->total);
    member_key(out, "jobs");
    write_jobs(shell, found->jobs, found->found, whole);
    json_write_end_object(out);
}
