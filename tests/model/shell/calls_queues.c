// SPDX-License-Identifier: MIT
// Calls: queues.
#include "arguments.h"
#include "shell.h"
#include "views.h"
#include "words.h"

static enum status call_queue(struct shell *shell)
{
    struct queue_view view;
    enum status status = engine_queue(shell->engine, shell->now_us,
                                      arg_text(shell->request, "queue"), &view, &shell->error);
    if (status == STATUS_OK) {
        write_queue(shell, &view);
    }
    return status;
}

static enum status call_queue_names(struct shell *shell)
{
    write_queue_names(shell);
    return STATUS_OK;
}

static enum status call_length(struct shell *shell)
{
    json_write_uint(&shell->out, engine_length(shell->engine, arg_text(shell->request, "queue")));
    return STATUS_OK;
}

static enum status call_jobs(struct shell *shell)
{
    struct page found = arg_page(shell);
    enum list list = (enum list)arg_word(shell->request, "list", words_list);
    enum status status = engine_jobs(shell->engine, shell->now_us, list,
                                     arg_text(shell->request, "queue"), &found, &shell->error);
    if (status == STATUS_OK) {
        write_page(shell, &found, false);
    }
    return status;
}

static enum status call_pause(struct shell *shell)
{
    return engine_pause(shell->engine, shell->now_us, arg_texts(shell, "queues"), &shell->error);
}

static enum status call_unpause(struct shell *shell)
{
    return engine_unpause(shell->engine, shell->now_us, arg_texts(shell, "queues"), &shell->error);
}

static enum status call_forget(struct shell *shell)
{
    return engine_forget(shell->engine, shell->now_us, arg_texts(shell, "queues"), &shell->error);
}

static enum status call_stats(struct shell *shell)
{
    write_stats(shell, arg_text(shell->request, "queue"), arg_number(shell->request, "date"));
    return STATUS_OK;
}

const struct call calls_queues[] = {
    { "queue", call_queue },
    { "queue_names", call_queue_names },
    { "length", call_length },
    { "jobs", call_jobs },
    { "pause", call_pause },
    { "unpause", call_unpause },
    { "forget", call_forget },
    { "stats", call_stats },
    { NULL, NULL },
};
