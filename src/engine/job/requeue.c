// SPDX-License-Identifier: MIT
#include "engine/job/requeue.h"

#include "engine/dedup/unique.h"
#include "engine/job/history.h"
#include "engine/job/job.h"
#include "engine/job/place.h"
#include "engine/queue/queue.h"
#include "engine/relations/failure.h"
#include "engine/state.h"

#include <assert.h>

enum status job_requeue(struct engine *engine, int64_t now_us, struct job *job, struct queue *queue,
                        struct error *error)
{
    assert(job->state != JOB_RUNNING && job->state != JOB_COMPLETE);
    enum status status = unique_reserve_again(engine, now_us, job, error);
    if (status) {
        return status;
    }
    int64_t due_us = job_due_time(job);
    const struct history_entry entry = { .kind = HISTORY_PUT,
                                         .when_us = now_us,
                                         .until_us = due_us > now_us ? due_us : 0,
                                         .queue = queue_name(queue) };
    bool depends = job->extra && job->extra->dependency_count > 0;
    const struct place place = place_for(job, queue, depends, due_us > now_us);
    if (queue_reserve_known(engine, queue) || history_reserve(engine, job, &entry, 1) ||
        leave_reserve(engine, job) || place_reserve(engine, &place)) {
        return engine_no_memory(error);
    }
    queue_make_known(engine, queue, now_us);
    failure_forget(engine, job);
    history_append(engine, job, &entry);
    job_unlink(engine, job);
    job_move_to(engine, job, queue);
    job_start_anew(job, now_us);
    job->time_us = now_us;
    unique_take_again(engine, job);
    place_job(engine, job, now_us, due_us > now_us ? due_us - now_us : 0);
    job_changed(engine, job, JOB_DIRTY_HEAD);
    return STATUS_OK;
}
