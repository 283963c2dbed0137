// SPDX-License-Identifier: MIT
// Calls: failed jobs.
#include "arguments.h"
#include "shell.h"
#include "views.h"

static void write_groups(struct shell *shell)
{
    struct json_writer *out = &shell->out;
    struct count_view view;
    json_write_begin_array(out);
    for (size_t i = 0; engine_failure_group(shell->engine, i, &view); i++) {
        write_count(shell, &view);
    }
    json_write_end_array(out);
}

static enum status call_failure_groups(struct shell *shell)
{
    write_groups(shell);
    return STATUS_OK;
}

static enum status call_failed(struct shell *shell)
{
    struct page found = arg_page(shell);
    engine_failed(shell->engine, arg_text(shell->request, "group"), &found);
    write_page(shell, &found, false);
    return STATUS_OK;
}

static enum status call_unfail(struct shell *shell)
{
    size_t moved = 0;
    enum status status =
        engine_unfail(shell->engine, shell->now_us, arg_text(shell->request, "queue"),
                      arg_text(shell->request, "group"), arg_size(shell->request, "count"), &moved,
                      &shell->error);
    json_write_uint(&shell->out, moved);
    return status;
}

static enum status call_unfail_job(struct shell *shell)
{
    return engine_unfail_job(shell->engine, shell->now_us, arg_text(shell->request, "jid"),
                             &shell->error);
}

const struct call calls_failures[] = {
    { "failure_groups", call_failure_groups },
    { "failed", call_failed },
    { "unfail", call_unfail },
    { "unfail_job", call_unfail_job },
    { NULL, NULL },
};
