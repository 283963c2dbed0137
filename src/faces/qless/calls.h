// SPDX-License-Identifier: MIT
// The calls of qless's API, each with its name there (`config.get` is qless_config_get).
#ifndef SLUICE_FACES_QLESS_CALLS_H
#define SLUICE_FACES_QLESS_CALLS_H

#include "faces/qless/ask.h"

// Jobs: jobs.c
qless_function qless_get, qless_multiget, qless_put, qless_requeue, qless_cancel, qless_depends,
    qless_priority, qless_log, qless_timeout;
// Work: work.c
qless_function qless_peek, qless_pop, qless_complete, qless_fail, qless_retry, qless_heartbeat;
// Queues: queues.c
qless_function qless_queues, qless_jobs, qless_failed, qless_unfail, qless_stats, qless_length,
    qless_pause, qless_unpause, qless_queue_forget;
// Recurring jobs: recur.c
qless_function qless_recur, qless_unrecur, qless_recur_get, qless_recur_update, qless_recur_tag,
    qless_recur_untag;
// Tags and tracked jobs: tags.c
qless_function qless_tag, qless_track;
// Workers and configuration: settings.c
qless_function qless_workers, qless_worker_deregister, qless_config_get, qless_config_set,
    qless_config_unset;

#endif
