// SPDX-License-Identifier: MIT
#include "engine/dedup/settled.h"

#include "base/bytes.h"
#include "base/crc32c.h"
#include "engine/dedup/done.h"
#include "engine/job/history.h"
#include "engine/job/job.h"
#include "engine/lease/lease.h"
#include "engine/lease/worker.h"
#include "engine/name.h"
#include "engine/state.h"

#include <assert.h>

static const char *const act_names[SETTLED_ACT_COUNT] = {
    [SETTLED_COMPLETE] = "completed",
    [SETTLED_FAIL] = "failed",
    [SETTLED_RETRY] = "retried",
    [SETTLED_RETURN] = "returned",
};

static uint32_t worker_sum(struct slice name)
{
    return crc32c(0, name.data, name.size);
}

static uint32_t digest_of(uint64_t token, uint32_t worker)
{
    char bytes[8];
    bytes_store_u64(bytes, token);
    uint32_t sum = crc32c(worker, bytes, sizeof(bytes));
    return sum ? sum : 1;
}

enum settled_act job_settled(const struct job *job, struct settled *out)
{
    const struct trail *trail = job->history;
    if (!trail || trail->settled_act == SETTLED_NOT) {
        return SETTLED_NOT;
    }
    *out = trail->settled;
    return (enum settled_act)trail->settled_act;
}

uint32_t settled_digest(const struct job *job)
{
    struct settled settled;
    bool complete =
        job_settled(job, &settled) == SETTLED_COMPLETE && settled.outcome == JOB_COMPLETE;
    return complete ? digest_of(settled.token, settled.worker) : 0;
}

// How the job was last settled under the holder's token, if it was.
static enum settled_act settled_under(const struct job *job, const struct holder *holder,
                                      int32_t *outcome)
{
    struct settled settled;
    enum settled_act act = job_settled(job, &settled);
    if (act == SETTLED_NOT || settled.token != holder->token ||
        settled.worker != worker_sum(holder->worker)) {
        return SETTLED_NOT;
    }
    *outcome = settled.outcome;
    return act;
}

// Whether a deleted job with that jid was completed under the holder's token.
static bool completed_and_gone(const struct engine *engine, const struct holder *holder)
{
    return done_has_digest(engine, holder->jid,
                           digest_of(holder->token, worker_sum(holder->worker)));
}

static enum status repeat(const struct engine *engine, const struct holder *holder,
                          enum settled_act act, struct settling *out, struct error *error)
{
    const struct job *job = map_find(&engine->jobs, holder->jid);
    enum settled_act as = job ? settled_under(job, holder, &out->outcome) : SETTLED_NOT;
    if (as == SETTLED_NOT && completed_and_gone(engine, holder)) {
        as = SETTLED_COMPLETE;
        out->outcome = JOB_COMPLETE;
    }
    if (as != SETTLED_NOT && as != act) {
        return error_set(error, STATUS_STALE, "job %.*s was %s under the token %llu",
                         SLICE_PRINT(holder->jid), act_names[as],
                         (unsigned long long)holder->token);
    }
    if (as == SETTLED_NOT && job && job->state != JOB_RUNNING) {
        return error_set(error, STATUS_STALE,
                         "job %.*s is not running: %s; the token %llu is no longer valid",
                         SLICE_PRINT(holder->jid), job_state_name(job->state),
                         (unsigned long long)holder->token);
    }
    out->repeated = as != SETTLED_NOT;
    return STATUS_OK;
}

enum status settled_check(const struct engine *engine, const struct holder *holder,
                          enum settled_act act, struct settling *out, struct error *error)
{
    *out = (struct settling){ .job = NULL };
    enum status status = STATUS_OK;
    if (lease_check(engine, holder, &out->job, NULL)) {
        // Checked again for the error message.
        bool named = holder->token && !name_check(holder->jid, "jid", NULL) &&
                     !name_check_if_given(holder->worker, "worker", NULL) &&
                     !name_check_if_given(holder->queue, "queue", NULL);
        status = named ? repeat(engine, holder, act, out, error) : STATUS_OK;
        return status || out->repeated ? status : lease_check(engine, holder, &out->job, error);
    }
    out->by.token = job_lease(out->job)->token;
    out->by.worker = worker_sum(holder->worker);
    return STATUS_OK;
}

void settled_note(struct job *job, const struct settling *settling, enum settled_act act,
                  int32_t outcome)
{
    struct trail *trail = job->history;
    assert(trail && settling->by.token);
    trail->settled = settling->by;
    trail->settled.outcome = outcome;
    trail->settled_act = (uint8_t)act;
}

static bool is_sane(const struct engine *engine, enum settled_act act,
                    const struct settled *settled)
{
    bool state = act != SETTLED_COMPLETE ||
                 (settled->outcome >= 0 && settled->outcome < (int32_t)JOB_STATE_COUNT);
    return act > SETTLED_NOT && act < SETTLED_ACT_COUNT && state && settled->token &&
           settled->token <= engine->token;
}

enum status settled_load(struct engine *engine, struct job *job, enum settled_act act,
                         const struct settled *settled)
{
    if (!is_sane(engine, act, settled)) {
        return STATUS_CORRUPT;
    }
    if (trail_reserve(engine, &job->history)) {
        return STATUS_NO_MEMORY;
    }
    job->history->settled = *settled;
    job->history->settled_act = (uint8_t)act;
    return STATUS_OK;
}
