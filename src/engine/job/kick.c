// SPDX-License-Identifier: MIT
#include "engine/job/kick.h"

#include "engine/dedup/unique.h"
#include "engine/due.h"
#include "engine/job/job.h"
#include "engine/job/requeue.h"
#include "engine/state.h"

bool job_can_be_kicked(const struct job *job)
{
    return job->state == JOB_FAILED || job->state == JOB_SCHEDULED;
}

enum status job_kick(struct engine *engine, int64_t now_us, struct job *job, struct error *error)
{
    if (job->state == JOB_FAILED) {
        return job_requeue(engine, now_us, job, job->queue, error);
    }
    return due_move(engine, job, now_us) ? engine_no_memory(error) : STATUS_OK;
}

static enum status check(struct engine *engine, int64_t now_us, struct slice jid,
                         struct error *error)
{
    struct job *job;
    enum status status = job_find(engine, jid, &job, error);
    if (!status && !job_can_be_kicked(job)) {
        status = error_set(error, STATUS_STATE, "job %.*s is neither failed nor scheduled: %s",
                           SLICE_PRINT(jid), job_state_name(job->state));
    }
    if (!status && job->state == JOB_FAILED) {
        status = unique_reserve_again(engine, now_us, job, error);
    }
    return status;
}

enum status engine_kick(struct engine *engine, int64_t now_us, struct slices jids, size_t *kicked,
                        struct error *error)
{
    *kicked = 0;
    enum status status = engine_begin(engine, &now_us, error);
    for (size_t i = 0; !status && i < jids.count; i++) {
        status = check(engine, now_us, jids.items[i], error);
    }
    // Jobs are kicked one by one: if memory runs out, some have been kicked. If two jobs want the
    // same lock, the first one gets it.
    for (size_t i = 0; !status && i < jids.count; i++) {
        struct job *job = map_find(&engine->jobs, jids.items[i]);
        if (!job_can_be_kicked(job)) {
            continue; // a jid was given twice
        }
        status = job_kick(engine, now_us, job, error);
        engine_settle(engine);
        *kicked += !status;
        status = status == STATUS_EXISTS ? STATUS_OK : status;
    }
    engine_settle(engine);
    return *kicked ? STATUS_OK : status;
}
