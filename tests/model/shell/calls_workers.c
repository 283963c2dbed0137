// SPDX-License-Identifier: MIT
// Calls: workers.
#include "arguments.h"
#include "engine/lease/workers.h"
#include "shell.h"
#include "views.h"
#include "words.h"

static enum status call_workers(struct shell *shell)
{
    enum status status = engine_workers_prune(shell->engine, shell->now_us, &shell->error);
    write_workers(shell);
    return status;
}

static enum status call_worker_jobs(struct shell *shell)
{
    struct page found = arg_page(shell);
    engine_worker_jobs(shell->engine, shell->now_us, arg_text(shell->request, "worker"),
                       (enum list)arg_word(shell->request, "list", words_list), &found);
    write_page(shell, &found, false);
    return STATUS_OK;
}

static enum status call_worker_deregister(struct shell *shell)
{
    return engine_worker_deregister(shell->engine, shell->now_us, arg_texts(shell, "workers"),
                                    &shell->error);
}

static enum status call_worker_offline(struct shell *shell)
{
    return engine_worker_offline(shell->engine, shell->now_us, arg_text(shell->request, "worker"),
                                 &shell->error);
}

const struct call calls_workers[] = {
    { "workers", call_workers },
    { "worker_jobs", call_worker_jobs },
    { "worker_deregister", call_worker_deregister },
    { "worker_offline", call_worker_offline },
    { NULL, NULL },
};
