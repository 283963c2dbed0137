// SPDX-License-Identifier: MIT
// Writes what the engine shows, as JSON, into the reply.
#ifndef SLUICE_TESTS_MODEL_SHELL_VIEWS_H
#define SLUICE_TESTS_MODEL_SHELL_VIEWS_H

#include "shell.h"

// Jobs
void write_tags(struct shell *shell, const struct job *job, size_t count);
void write_job(struct shell *shell, const struct job *job); // NULL: null
// As whole jobs, or as their jids.
void write_jobs(struct shell *shell, const struct job **jobs, size_t count, bool whole);
void write_page(struct shell *shell, const struct page *found, bool whole);

// An event sink whose context is the shell: appends to its events.
void write_event(void *context, const struct event *event);

void write_recurring(struct shell *shell, const struct recurring *recurring); // NULL: null
void write_recurrings(struct shell *shell, size_t count); // the first in shell->recurrings
void write_queue(struct shell *shell, const struct queue_view *view);
void write_queue_names(struct shell *shell);
void write_stats(struct shell *shell, struct slice queue, int64_t date_us);
void write_count(struct shell *shell, const struct count_view *view);
void write_tag_top(struct shell *shell);
void write_tracked(struct shell *shell);
void write_workers(struct shell *shell);
void write_config(struct shell *shell);

#endif
