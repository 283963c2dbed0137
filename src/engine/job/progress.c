// SPDX-License-Identifier: MIT
// What a running job reports: its progress, log lines, a checkpoint for its next run.
#include "engine/job/history.h"
#include "engine/job/job.h"
#include "engine/lease/lease.h"
#include "engine/lease/worker.h"
#include "engine/queue/queue.h"
#include "engine/state.h"

enum {
    PROGRESS_MAX = 1000000,
};

// Finds the holder's job, with its rare part.
static enum status find(struct engine *engine, const struct holder *holder, struct job **out,
                        struct error *error)
{
    enum status status = lease_check(engine, holder, out, error);
    if (!status && job_reserve_rare(engine, *out)) {
        status = engine_no_memory(error);
    }
    return status;
}

enum status engine_progress(struct engine *engine, int64_t now_us, const struct holder *holder,
                            int32_t progress_ppm, struct slice message, struct error *error)
{
    struct job *job;
    char *copy;
    enum status status = engine_begin(engine, &now_us, error);
    if (!status && (progress_ppm < 0 || progress_ppm > PROGRESS_MAX)) {
        status = error_set(error, STATUS_INVALID, "progress must lie between 0 and 1");
    }
    if (!status) {
        status = data_check(message, error);
    }
    if (!status) {
        status = find(engine, holder, &job, error);
    }
    if (!status && bytes_copy(engine, message, &copy)) {
        status = engine_no_memory(error);
    }
    if (status) {
        return status;
    }
    struct job_rare *rare = job->extra->rare;
    job_forget_progress(engine, job);
    rare->progress_ppm = progress_ppm;
    rare->progress = copy;
    rare->progress_size = (uint32_t)message.size;
    job_changed(engine, job, JOB_DIRTY_HEAD);
    unsigned followers = engine_followers(engine, job->tracked);
    if (followers) {
        engine_emit(engine, &(struct event){ .kind = EVENT_PROGRESS,
                                             .channels = followers,
                                             .when_us = now_us,
                                             .jid = job_jid(job),
                                             .queue = queue_name(job->queue),
                                             .worker = worker_name(job_lease(job)->worker),
                                             .message = message,
                                             .progress_ppm = progress_ppm });
    }
    return STATUS_OK;
}

enum status engine_checkpoint(struct engine *engine, int64_t now_us, const struct holder *holder,
                              struct slice value, struct error *error)
{
    struct job *job;
    char *copy;
    enum status status = engine_begin(engine, &now_us, error);
    if (!status) {
        status = data_check(value, error);
    }
    if (!status) {
        status = find(engine, holder, &job, error);
    }
    if (!status && bytes_copy(engine, value, &copy)) {
        status = engine_no_memory(error);
    }
    if (status) {
        return status;
    }
    job_forget_checkpoint(engine, job);
    job->extra->rare->checkpoint = copy;
    job->extra->rare->checkpoint_size = (uint32_t)value.size;
    job_changed(engine, job, JOB_DIRTY_HEAD);
    return STATUS_OK;
}

enum status engine_log_line(struct engine *engine, int64_t now_us, const struct holder *holder,
                            struct slice line, struct error *error)
{
    struct job *job;
    enum status status = engine_begin(engine, &now_us, error);
    if (!status && line.size == 0) {
        status = error_set(error, STATUS_INVALID, "a line of a log must not be empty");
    }
    if (!status) {
        status = find(engine, holder, &job, error);
    }
    if (!status && log_reserve(engine, job, line)) {
        status = engine_no_memory(error);
    }
    if (status) {
        return status;
    }
    log_append(engine, job, now_us, line);
    job_changed(engine, job, JOB_DIRTY_HEAD);
    return STATUS_OK;
}
