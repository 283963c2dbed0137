// SPDX-License-Identifier: MIT
// Calls: jobs.
#include "arguments.h"
#include "options.h"
#include "shell.h"
#include "views.h"
#include "words.h"

static struct unique_request read_unique(const json_t *from)
{
    return (struct unique_request){
        .by = (enum unique_by)arg_word(from, "by", words_unique_by),
        .key = arg_text(from, "key"),
        .until = (enum unique_until)arg_word(from, "until", words_unique_until),
        .for_us = arg_number(from, "for_us"),
        .conflict = (enum unique_conflict)arg_word(from, "conflict", words_unique_conflict),
    };
}

static enum status call_put(struct shell *shell)
{
    const json_t *request = shell->request;
    const struct job_options options = arg_options(request);
    struct slice gone = SLICE_EMPTY;
    const struct put_request put = {
        .queue = arg_text(request, "queue"),
        .jid = arg_text(request, "jid"),
        .klass = arg_text(request, "klass"),
        .data = arg_text(request, "data"),
        .worker = arg_text(request, "worker"),
        .delay_us = arg_number(request, "delay"),
        .keeps_time = arg_flag(request, "keeps_time"),
        .has_priority = arg_has(request, "priority"),
        .priority = arg_number32(request, "priority"),
        .has_retries = arg_has(request, "retries"),
        .retries = arg_number32(request, "retries"),
        .has_tags = arg_has(request, "tags"),
        .tags = arg_texts(shell, "tags"),
        .has_domain = arg_has(request, "domain"),
        .domain = arg_text(request, "domain"),
        .has_deadline = arg_has(request, "deadline_us"),
        .deadline_us = arg_number(request, "deadline_us"),
        .options = arg_has(request, "options") ? &options : NULL,
        .unique = read_unique(json_object_get(request, "unique")),
        .depends = arg_texts(shell, "depends"),
        .missing = arg_missing(request),
        .must_exist = arg_flag(request, "must_exist"),
        .gone = &gone,
    };
    const struct job *job = NULL;
    enum status status = engine_put(shell->engine, shell->now_us, &put, &job, &shell->error);
    if (status == STATUS_OK && job) {
        write_job(shell, job);
    } else if (status == STATUS_OK) {
        json_write_string(&shell->out, gone);
    }
    return status;
}

static enum status call_result_kept(struct shell *shell)
{
    struct slice result;
    if (engine_result_kept(shell->engine, shell->now_us, arg_text(shell->request, "jid"),
                           &result)) {
        json_write_string(&shell->out, result);
    } else {
        json_write_null(&shell->out);
    }
    return STATUS_OK;
}

static enum status call_get(struct shell *shell)
{
    write_job(shell, engine_get(shell->engine, arg_text(shell->request, "jid")));
    return STATUS_OK;
}

static enum status call_cancel(struct shell *shell)
{
    size_t canceled = 0;
    enum status status = engine_cancel(shell->engine, shell->now_us, arg_texts(shell, "jids"),
                                       &canceled, NULL, &shell->error);
    json_write_uint(&shell->out, canceled);
    return status;
}

static enum status call_delete(struct shell *shell)
{
    return engine_delete(shell->engine, shell->now_us, arg_text(shell->request, "jid"),
                         &shell->error);
}

static enum status call_priority(struct shell *shell)
{
    return engine_priority(shell->engine, shell->now_us, arg_text(shell->request, "jid"),
                           arg_number32(shell->request, "priority"), &shell->error);
}

static enum status call_update_data(struct shell *shell)
{
    return engine_update_data(shell->engine, shell->now_us, arg_text(shell->request, "jid"),
                              arg_text(shell->request, "data"), &shell->error);
}

static enum status call_log(struct shell *shell)
{
    const json_t *request = shell->request;
    const struct log_request entry = {
        .jid = arg_text(request, "jid"),
        .message = arg_text(request, "message"),
        .data = arg_text(request, "data"),
        .worker = arg_text(request, "worker"),
        .token = arg_unsigned(request, "token"),
    };
    return engine_log(shell->engine, shell->now_us, &entry, &shell->error);
}

static enum status call_timeout(struct shell *shell)
{
    return engine_timeout(shell->engine, shell->now_us, arg_texts(shell, "jids"), &shell->error);
}

static enum status call_depends_on(struct shell *shell)
{
    return engine_depends_on(shell->engine, shell->now_us, arg_text(shell->request, "jid"),
                             arg_texts(shell, "depends"), arg_missing(shell->request),
                             &shell->error);
}

static enum status call_depends_off(struct shell *shell)
{
    return engine_depends_off(shell->engine, shell->now_us, arg_text(shell->request, "jid"),
                              arg_texts(shell, "depends"), &shell->error);
}

static enum status call_depends_off_all(struct shell *shell)
{
    return engine_depends_off_all(shell->engine, shell->now_us, arg_text(shell->request, "jid"),
                                  &shell->error);
}

const struct call calls_jobs[] = {
    { "put", call_put },
    { "get", call_get },
    { "result_kept", call_result_kept },
    { "cancel", call_cancel },
    { "delete", call_delete },
    { "priority", call_priority },
    { "update_data", call_update_data },
    { "log", call_log },
    { "timeout", call_timeout },
    { "depends_on", call_depends_on },
    { "depends_off", call_depends_off },
    { "depends_off_all", call_depends_off_all },
    { NULL, NULL },
};
