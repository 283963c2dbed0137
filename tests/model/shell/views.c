// SPDX-License-Identifier: MIT
#include "views.h"

#include "engine/lease/workers.h"
#include "member.h"
#include "words.h"

void write_recurring(struct shell *shell, const struct recurring *recurring)
{
    struct json_writer *out = &shell->out;
    struct recurring_view view;
    if (!recurring) {
        json_write_null(out);
        return;
    }
    recurring_view(shell->engine, recurring, &view);
    json_write_begin_object(out);
    member_text(out, "jid", view.jid);
    member_text(out, "klass", view.klass);
    member_text(out, "data", view.data);
    member_text(out, "queue", view.queue);
    member_int(out, "interval", view.interval_us);
    member_text(out, "cron", view.cron);
    member_text(out, "zone", view.zone);
    member_text(out, "domain", view.domain);
    member_word(out, "missed", words_recur_missed[view.missed]);
    member_word(out, "overlap", words_recur_overlap[view.overlap]);
    member_int(out, "next", view.next_us);
    member_bool(out, "paused", view.paused);
    member_int(out, "priority", view.priority);
    member_int(out, "retries", view.retries);
    member_uint(out, "count", view.count);
    member_int(out, "backlog", view.backlog);
    member_key(out, "tags");
    json_write_begin_array(out);
    for (size_t i = 0; i < view.tag_count; i++) {
        json_write_string(out, recurring_tag(shell->engine, recurring, i));
    }
    json_write_end_array(out);
    json_write_end_object(out);
}

void write_recurrings(struct shell *shell, size_t count)
{
    json_write_begin_array(&shell->out);
    for (size_t i = 0; i < count; i++) {
        write_recurring(shell, shell->recurrings[i]);
    }
    json_write_end_array(&shell->out);
}

void write_queue(struct shell *shell, const struct queue_view *view)
{
    struct json_writer *out = &shell->out;
    json_write_begin_object(out);
    member_text(out, "name", view->name);
    member_uint(out, "waiting", view->waiting);
    member_uint(out, "running", view->running);
    member_uint(out, "stalled", view->stalled);
    member_uint(out, "expired", view->expired);
    member_uint(out, "failed", view->failed);
    member_int(out, "oldest", view->oldest_us);
    member_uint(out, "scheduled", view->scheduled);
    member_uint(out, "depends", view->depends);
    member_uint(out, "recurring", view->recurring);
    member_uint(out, "listeners", view->listeners);
    member_bool(out, "paused", view->paused);
    json_write_end_object(out);
}

static void write_series(struct json_writer *out, const struct stats_series *series)
{
    json_write_begin_object(out);
    member_uint(out, "count", series->count);
    member_key(out, "mean");
    json_write_double(out, series->mean);
    member_key(out, "std");
    json_write_double(out, series->std);
    // Most buckets are empty; only the others are written.
    member_key(out, "histogram");
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

void write_stats(struct shell *shell, struct slice queue, int64_t date_us)
{
    struct json_writer *out = &shell->out;
    struct stats_view view;
    engine_stats(shell->engine, queue, date_us, &view);
    json_write_begin_object(out);
    member_int(out, "lost_leases", view.lost_leases);
    member_int(out, "retries", view.retries);
    member_int(out, "failed", view.failed);
    member_int(out, "failures", view.failures);
    member_key(out, "wait");
    write_series(out, &view.wait);
    member_key(out, "run");
    write_series(out, &view.run);
    json_write_end_object(out);
}

void write_count(struct shell *shell, const struct count_view *view)
{
    struct json_writer *out = &shell->out;
    json_write_begin_array(out);
    json_write_string(out, view->name);
    json_write_uint(out, view->count);
    json_write_end_array(out);
}

void write_tag_top(struct shell *shell)
{
    struct json_writer *out = &shell->out;
    struct count_view view;
    json_write_begin_array(out);
    for (size_t i = 0; engine_tag_top(shell->engine, i, &view); i++) {
        write_count(shell, &view);
    }
    json_write_end_array(out);
}

void write_tracked(struct shell *shell)
{
    struct json_writer *out = &shell->out;
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

void write_queue_names(struct shell *shell)
{
    struct json_writer *out = &shell->out;
    struct slice name;
    json_write_begin_array(out);
    for (size_t i = 0; engine_queue_name(shell->engine, i, &name); i++) {
        json_write_string(out, name);
    }
    json_write_end_array(out);
}

void write_workers(struct shell *shell)
{
    struct json_writer *out = &shell->out;
    struct worker_view view;
    json_write_begin_array(out);
    for (size_t i = 0; engine_worker(shell->engine, shell->now_us, i, &view); i++) {
        json_write_begin_object(out);
        member_text(out, "name", view.name);
        member_int(out, "seen", view.seen_us);
        member_uint(out, "running", view.running);
        member_uint(out, "expired", view.expired);
        member_bool(out, "offline", view.offline);
        json_write_end_object(out);
    }
    json_write_end_array(out);
}

void write_config(struct shell *shell)
{
    struct json_writer *out = &shell->out;
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
