// SPDX-License-Identifier: MIT
// Calls: recurring jobs, cron expressions and time zones.
#include "arguments.h"
#include "engine/recurring/zone.h"
#include "member.h"
#include "options.h"
#include "shell.h"
#include "views.h"
#include "words.h"

enum {
    TRANSITIONS_MAX = 1024,
};

static enum status call_recur(struct shell *shell)
{
    const json_t *request = shell->request;
    const struct job_options options = arg_options(request);
    const struct recur_request recur = {
        .queue = arg_text(request, "queue"),
        .jid = arg_text(request, "jid"),
        .klass = arg_text(request, "klass"),
        .data = arg_text(request, "data"),
        .interval_us = arg_number(request, "interval"),
        .offset_us = arg_number(request, "offset"),
        .cron = arg_text(request, "cron"),
        .zone = arg_text(request, "zone"),
        .missed = (enum recur_missed)arg_word(request, "missed", words_recur_missed),
        .overlap = (enum recur_overlap)arg_word(request, "overlap", words_recur_overlap),
        .priority = arg_number32(request, "priority"),
        .retries = arg_number32(request, "retries"),
        .backlog = arg_number(request, "backlog"),
        .tags = arg_texts(shell, "tags"),
        .domain = arg_text(request, "domain"),
        .options = &options,
        .restart = arg_flag(request, "restart"),
    };
    return engine_recur(shell->engine, shell->now_us, &recur, &shell->error);
}

static enum status call_unrecur(struct shell *shell)
{
    return engine_unrecur(shell->engine, shell->now_us, arg_text(shell->request, "jid"),
                          &shell->error);
}

static enum status call_recur_pause(struct shell *shell)
{
    return engine_recur_pause(shell->engine, shell->now_us, arg_text(shell->request, "jid"),
                              arg_flag(shell->request, "paused"), &shell->error);
}

static enum status call_recur_run(struct shell *shell)
{
    const struct job *job;
    return engine_recur_run(shell->engine, shell->now_us, arg_text(shell->request, "jid"), &job,
                            &shell->error);
}

static enum status call_recurring_get(struct shell *shell)
{
    write_recurring(shell, engine_recurring_get(shell->engine, arg_text(shell->request, "jid")));
    return STATUS_OK;
}

static enum status call_recur_update(struct shell *shell)
{
    const json_t *request = shell->request;
    const struct recur_update update = {
        .jid = arg_text(request, "jid"),
        .has_priority = arg_has(request, "priority"),
        .has_interval = arg_has(request, "interval"),
        .has_retries = arg_has(request, "retries"),
        .has_backlog = arg_has(request, "backlog"),
        .has_data = arg_has(request, "data"),
        .has_klass = arg_has(request, "klass"),
        .has_queue = arg_has(request, "queue"),
        .priority = arg_number32(request, "priority"),
        .interval_us = arg_number(request, "interval"),
        .retries = arg_number32(request, "retries"),
        .backlog = arg_number(request, "backlog"),
        .data = arg_text(request, "data"),
        .klass = arg_text(request, "klass"),
        .queue = arg_text(request, "queue"),
    };
    return engine_recur_update(shell->engine, shell->now_us, &update, &shell->error);
}

static enum status call_recur_tag(struct shell *shell)
{
    return engine_recur_tag(shell->engine, shell->now_us, arg_text(shell->request, "jid"),
                            arg_texts(shell, "tags"), &shell->error);
}

static enum status call_recur_untag(struct shell *shell)
{
    return engine_recur_untag(shell->engine, shell->now_us, arg_text(shell->request, "jid"),
                              arg_texts(shell, "tags"), &shell->error);
}

static enum status call_recurring(struct shell *shell)
{
    size_t found = 0;
    size_t total = engine_recurring(shell->engine, arg_text(shell->request, "queue"),
                                    arg_size(shell->request, "offset"), arg_count(shell, PAGE_MAX),
                                    shell->recurrings, &found);
    json_write_begin_object(&shell->out);
    member_uint(&shell->out, "total", total);
    member_key(&shell->out, "jobs");
    write_recurrings(shell, found);
    json_write_end_object(&shell->out);
    return STATUS_OK;
}

static void write_runs(struct shell *shell, const int64_t *runs, size_t count)
{
    json_write_begin_array(&shell->out);
    for (size_t i = 0; i < count; i++) {
        json_write_int(&shell->out, runs[i]);
    }
    json_write_end_array(&shell->out);
}

static enum status call_recurring_runs(struct shell *shell)
{
    int64_t runs[PAGE_MAX];
    size_t found = 0;
    enum status status = engine_recurring_runs(shell->engine, arg_text(shell->request, "jid"),
                                               arg_count(shell, 0), runs, &found, &shell->error);
    if (status == STATUS_OK) {
        write_runs(shell, runs, found);
    }
    return status;
}

static enum status call_cron_runs(struct shell *shell)
{
    int64_t runs[PAGE_MAX];
    size_t found = 0;
    enum status status = engine_cron_runs(
        shell->engine, arg_text(shell->request, "cron"), arg_text(shell->request, "zone"),
        arg_number(shell->request, "after_us"), arg_count(shell, 0), runs, &found, &shell->error);
    if (status == STATUS_OK) {
        write_runs(shell, runs, found);
    }
    return status;
}

// Each transition is a pair: when, and the offset from then on.
static enum status call_zone_set(struct shell *shell)
{
    struct zone_transition transitions[TRANSITIONS_MAX];
    json_t *pairs = json_object_get(shell->request, "transitions");
    const struct zone_rules rules = {
        .offset_s = arg_number32(shell->request, "offset_s"),
        .transitions = transitions,
        .count = json_array_size(pairs),
    };
    if (rules.count > TRANSITIONS_MAX) {
        die("too many", "transitions");
    }
    for (size_t i = 0; i < rules.count; i++) {
        json_t *pair = json_array_get(pairs, i);
        transitions[i] = (struct zone_transition){
            .at_us = json_integer_value(json_array_get(pair, 0)),
            .offset_s = (int32_t)json_integer_value(json_array_get(pair, 1)),
        };
    }
    return engine_zone_set(shell->engine, shell->now_us, arg_text(shell->request, "name"), &rules,
                           &shell->error);
}

const struct call calls_recurring[] = {
    { "recur", call_recur },
    { "unrecur", call_unrecur },
    { "recur_pause", call_recur_pause },
    { "recur_run", call_recur_run },
    { "recurring_get", call_recurring_get },
    { "recur_update", call_recur_update },
    { "recur_tag", call_recur_tag },
    { "recur_untag", call_recur_untag },
    { "recurring", call_recurring },
    { "recurring_runs", call_recurring_runs },
    { "cron_runs", call_cron_runs },
    { "zone_set", call_zone_set },
    { NULL, NULL },
};
