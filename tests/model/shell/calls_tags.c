// SPDX-License-Identifier: MIT
// Calls: tags and tracked jobs.
#include "arguments.h"
#include "shell.h"
#include "views.h"

static enum status write_tagged_job(struct shell *shell, enum status status, const struct job *job)
{
    if (status == STATUS_OK) {
        struct job_view view;
        job_view(shell->engine, job, &view);
        write_tags(shell, job, view.tag_count);
    }
    return status;
}

static enum status call_tag_add(struct shell *shell)
{
    const struct job *job = NULL;
    enum status status =
        engine_tag_add(shell->engine, shell->now_us, arg_text(shell->request, "jid"),
                       arg_texts(shell, "tags"), &job, &shell->error);
    return write_tagged_job(shell, status, job);
}

static enum status call_tag_remove(struct shell *shell)
{
    const struct job *job = NULL;
    enum status status =
        engine_tag_remove(shell->engine, shell->now_us, arg_text(shell->request, "jid"),
                          arg_texts(shell, "tags"), &job, &shell->error);
    return write_tagged_job(shell, status, job);
}

static enum status call_tagged(struct shell *shell)
{
    struct page found = arg_page(shell);
    engine_tagged(shell->engine, arg_text(shell->request, "tag"), &found);
    write_page(shell, &found, false);
    return STATUS_OK;
}

static enum status call_tag_top(struct shell *shell)
{
    write_tag_top(shell);
    return STATUS_OK;
}

static enum status call_track(struct shell *shell)
{
    bool changed = false;
    enum status status = engine_track(shell->engine, shell->now_us, arg_text(shell->request, "jid"),
                                      &changed, &shell->error);
    json_write_bool(&shell->out, changed);
    return status;
}

static enum status call_untrack(struct shell *shell)
{
    bool changed = false;
    enum status status = engine_untrack(shell->engine, shell->now_us,
                                        arg_text(shell->request, "jid"), &changed, &shell->error);
    json_write_bool(&shell->out, changed);
    return status;
}

static enum status call_tracked(struct shell *shell)
{
    write_tracked(shell);
    return STATUS_OK;
}

const struct call calls_tags[] = {
    { "tag_add", call_tag_add }, { "tag_remove", call_tag_remove },
    { "tagged", call_tagged },   { "tag_top", call_tag_top },
    { "track", call_track },     { "untrack", call_untrack },
    { "tracked", call_tracked }, { NULL, NULL },
};
