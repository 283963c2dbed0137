// SPDX-License-Identifier: MIT
#include "name_calls.h"

#include "engine/bulk/bulk.h"
#include "engine/explain/explain.h"
#include "engine/recurring/zone.h"

static enum status put_queue(struct world *w, int64_t now_us, struct slice name)
{
    const struct put_request request = { .queue = name, .jid = SLICE("n"), .klass = SLICE("k") };
    const struct job *job;
    return engine_put(w->engine, now_us, &request, &job, &w->error);
}

static enum status put_jid(struct world *w, int64_t now_us, struct slice name)
{
    const struct put_request request = { .queue = SLICE("q"), .jid = name, .klass = SLICE("k") };
    const struct job *job;
    return engine_put(w->engine, now_us, &request, &job, &w->error);
}

static enum status put_klass(struct world *w, int64_t now_us, struct slice name)
{
    const struct put_request request = { .queue = SLICE("q"), .jid = SLICE("n"), .klass = name };
    const struct job *job;
    return engine_put(w->engine, now_us, &request, &job, &w->error);
}

static enum status put_tag(struct world *w, int64_t now_us, struct slice name)
{
    const struct put_request request = { .queue = SLICE("q"),
                                         .jid = SLICE("n"),
                                         .klass = SLICE("k"),
                                         .has_tags = true,
                                         .tags = { &name, 1 } };
    const struct job *job;
    return engine_put(w->engine, now_us, &request, &job, &w->error);
}

static enum status put_domain(struct world *w, int64_t now_us, struct slice name)
{
    const struct put_request request = { .queue = SLICE("q"),
                                         .jid = SLICE("n"),
                                         .klass = SLICE("k"),
                                         .has_domain = true,
                                         .domain = name };
    const struct job *job;
    return engine_put(w->engine, now_us, &request, &job, &w->error);
}

static enum status put_unique(struct world *w, int64_t now_us, struct slice name)
{
    const struct put_request request = { .queue = SLICE("q"),
                                         .jid = SLICE("n"),
                                         .klass = SLICE("k"),
                                         .unique = { .by = UNIQUE_BY_KEY, .key = name } };
    const struct job *job;
    return engine_put(w->engine, now_us, &request, &job, &w->error);
}

static enum status limit_for_queue(struct world *w, int64_t now_us, struct slice name)
{
    const struct limit limit = concurrency(1);
    return engine_limit_set(w->engine, now_us, name, SLICE("d"), &limit, &w->error);
}

static enum status limit_for_domain(struct world *w, int64_t now_us, struct slice name)
{
    const struct limit limit = rate(1, 1, 1);
    return engine_limit_set(w->engine, now_us, SLICE("q"), name, &limit, &w->error);
}

static enum status unlimit_queue(struct world *w, int64_t now_us, struct slice name)
{
    return engine_limit_unset(w->engine, now_us, name, SLICE("d"), &w->error);
}

static enum status unlimit_domain(struct world *w, int64_t now_us, struct slice name)
{
    return engine_limit_unset(w->engine, now_us, SLICE("q"), name, &w->error);
}

static enum status policy_of_klass(struct world *w, int64_t now_us, struct slice name)
{
    const struct job_options options = { .crashes_max = 1 };
    return engine_policy_set(w->engine, now_us, POLICY_KLASS, name, &options, &w->error);
}

static enum status policy_of_queue(struct world *w, int64_t now_us, struct slice name)
{
    const struct job_options options = { .timeout_us = -1 };
    return engine_policy_set(w->engine, now_us, POLICY_QUEUE, name, &options, &w->error);
}

static enum status no_policy(struct world *w, int64_t now_us, struct slice name)
{
    const struct job_options options = { 0 };
    return engine_policy_set(w->engine, now_us, POLICY_QUEUE, name, &options, &w->error);
}

static enum status log_message(struct world *w, int64_t now_us, struct slice name)
{
    const struct log_request request = { .jid = SLICE("a"), .message = name };
    return engine_log(w->engine, now_us, &request, &w->error);
}

static enum status pop_queue(struct world *w, int64_t now_us, struct slice name)
{
    const struct pop_request request = { .worker = SLICE("w1"), .queues = { &name, 1 } };
    size_t popped;
    return engine_pop(w->engine, now_us, &request, NULL, &popped, &w->error);
}

static enum status pop_worker(struct world *w, int64_t now_us, struct slice name)
{
    const struct slice queue = SLICE("q");
    const struct pop_request request = { .worker = name, .queues = { &queue, 1 } };
    size_t popped;
    return engine_pop(w->engine, now_us, &request, NULL, &popped, &w->error);
}

static enum status peek_queue(struct world *w, int64_t now_us, struct slice name)
{
    size_t found;
    return engine_peek(w->engine, now_us, name, 0, NULL, &found, &w->error);
}

static enum status complete_next(struct world *w, int64_t now_us, struct slice name)
{
    const struct complete_request request = { .holder = { SLICE("a"), SLICE("w1"), .token = 0 },
                                              .next = name };
    enum job_state state;
    return engine_complete(w->engine, now_us, &request, &state, &w->error);
}

static enum status fail_group(struct world *w, int64_t now_us, struct slice name)
{
    const struct fail_request request = { .holder = { SLICE("a"), SLICE("w1"), .token = 0 },
                                          .group = name,
                                          .message = SLICE("m") };
    return engine_fail(w->engine, now_us, &request, &w->error);
}

static enum status retry_to(struct world *w, int64_t now_us, struct slice name)
{
    const struct retry_request request = { .holder = { SLICE("a"), SLICE("w1"), .token = 0 },
                                           .to = name };
    int32_t remaining;
    return engine_retry(w->engine, now_us, &request, &remaining, &w->error);
}

static enum status retry_group(struct world *w, int64_t now_us, struct slice name)
{
    const struct retry_request request = { .holder = { SLICE("a"), SLICE("w1"), .token = 0 },
                                           .has_failure = true,
                                           .group = name,
                                           .message = SLICE("m") };
    int32_t remaining;
    return engine_retry(w->engine, now_us, &request, &remaining, &w->error);
}

static enum status unfail_queue(struct world *w, int64_t now_us, struct slice name)
{
    size_t moved;
    return engine_unfail(w->engine, now_us, name, SLICE("g"), 1, &moved, &w->error);
}

static enum status unfail_group(struct world *w, int64_t now_us, struct slice name)
{
    size_t moved;
    return engine_unfail(w->engine, now_us, SLICE("q"), name, 1, &moved, &w->error);
}

static enum status tag_add(struct world *w, int64_t now_us, struct slice name)
{
    const struct job *job;
    return engine_tag_add(w->engine, now_us, SLICE("a"), (struct slices){ &name, 1 }, &job,
                          &w->error);
}

static enum status look_queue(struct world *w, int64_t now_us, struct slice name)
{
    struct queue_view view;
    return engine_queue(w->engine, now_us, name, &view, &w->error);
}

static enum status list_queue(struct world *w, int64_t now_us, struct slice name)
{
    struct page page = { .count = 0 };
    return engine_jobs(w->engine, now_us, LIST_WAITING, name, &page, &w->error);
}

static enum status pause_queue(struct world *w, int64_t now_us, struct slice name)
{
    return engine_pause(w->engine, now_us, (struct slices){ &name, 1 }, &w->error);
}

static enum status unpause_queue(struct world *w, int64_t now_us, struct slice name)
{
    return engine_unpause(w->engine, now_us, (struct slices){ &name, 1 }, &w->error);
}

static enum status forget_queue(struct world *w, int64_t now_us, struct slice name)
{
    return engine_forget(w->engine, now_us, (struct slices){ &name, 1 }, &w->error);
}

struct recur_request name_calls_recur(void)
{
    return (struct recur_request){
        .queue = SLICE("q"), .jid = SLICE("n"), .klass = SLICE("k"), .interval_us = us(10)
    };
}

static enum status recur_queue(struct world *w, int64_t now_us, struct slice name)
{
    struct recur_request request = name_calls_recur();
    request.queue = name;
    return engine_recur(w->engine, now_us, &request, &w->error);
}

static enum status recur_jid(struct world *w, int64_t now_us, struct slice name)
{
    struct recur_request request = name_calls_recur();
    // The longest name leaves no room for the numbers of its jobs.
    request.jid =
        name.size == ENGINE_NAME_SIZE_MAX ? slice_sub(name, 0, RECURRING_JID_SIZE_MAX) : name;
    return engine_recur(w->engine, now_us, &request, &w->error);
}

static enum status recur_klass(struct world *w, int64_t now_us, struct slice name)
{
    struct recur_request request = name_calls_recur();
    request.klass = name;
    return engine_recur(w->engine, now_us, &request, &w->error);
}

static enum status recur_domain(struct world *w, int64_t now_us, struct slice name)
{
    struct recur_request request = name_calls_recur();
    request.domain = name;
    return engine_recur(w->engine, now_us, &request, &w->error);
}

static enum status recur_tag(struct world *w, int64_t now_us, struct slice name)
{
    return engine_recur_tag(w->engine, now_us, SLICE("r"), (struct slices){ &name, 1 }, &w->error);
}

static enum status update_queue(struct world *w, int64_t now_us, struct slice name)
{
    const struct recur_update request = { .jid = SLICE("r"), .has_queue = true, .queue = name };
    return engine_recur_update(w->engine, now_us, &request, &w->error);
}

static enum status update_klass(struct world *w, int64_t now_us, struct slice name)
{
    const struct recur_update request = { .jid = SLICE("r"), .has_klass = true, .klass = name };
    return engine_recur_update(w->engine, now_us, &request, &w->error);
}

static enum status deregister(struct world *w, int64_t now_us, struct slice name)
{
    return engine_worker_deregister(w->engine, now_us, (struct slices){ &name, 1 }, &w->error);
}

static enum status config_option(struct world *w, int64_t now_us, struct slice name)
{
    return engine_config_set(w->engine, now_us, name, SLICE("1"), &w->error);
}

static enum status unset_option(struct world *w, int64_t now_us, struct slice name)
{
    return engine_config_unset(w->engine, now_us, name, &w->error);
}

// ---------------------------------------------------------------------------------------------
// Other names of a put, and jids

static enum status put_worker(struct world *w, int64_t now_us, struct slice name)
{
    const struct put_request request = {
        .queue = SLICE("q"), .jid = SLICE("n"), .klass = SLICE("k"), .worker = name
    };
    const struct job *job;
    return engine_put(w->engine, now_us, &request, &job, &w->error);
}

static enum status put_depends(struct world *w, int64_t now_us, struct slice name)
{
    const struct put_request request = {
        .queue = SLICE("q"), .jid = SLICE("n"), .klass = SLICE("k"), .depends = { &name, 1 }
    };
    const struct job *job;
    return engine_put(w->engine, now_us, &request, &job, &w->error);
}

static enum status cancel_jid(struct world *w, int64_t now_us, struct slice name)
{
    size_t canceled;
    return engine_cancel(w->engine, now_us, (struct slices){ &name, 1 }, &canceled, NULL,
                         &w->error);
}

static enum status delete_jid(struct world *w, int64_t now_us, struct slice name)
{
    return engine_delete(w->engine, now_us, name, &w->error);
}

static enum status priority_jid(struct world *w, int64_t now_us, struct slice name)
{
    return engine_priority(w->engine, now_us, name, 1, &w->error);
}

static enum status data_jid(struct world *w, int64_t now_us, struct slice name)
{
    return engine_update_data(w->engine, now_us, name, SLICE("1"), &w->error);
}

static enum status log_jid(struct world *w, int64_t now_us, struct slice name)
{
    const struct log_request request = { .jid = name, .message = SLICE("m") };
    return engine_log(w->engine, now_us, &request, &w->error);
}

static enum status log_worker(struct world *w, int64_t now_us, struct slice name)
{
    const struct log_request request = { .jid = SLICE("a"), .message = SLICE("m"), .worker = name };
    return engine_log(w->engine, now_us, &request, &w->error);
}

static enum status kick_jid(struct world *w, int64_t now_us, struct slice name)
{
    size_t kicked;
    return engine_kick(w->engine, now_us, (struct slices){ &name, 1 }, &kicked, &w->error);
}

static enum status timeout_jid(struct world *w, int64_t now_us, struct slice name)
{
    return engine_timeout(w->engine, now_us, (struct slices){ &name, 1 }, &w->error);
}

static enum status depends_on_jid(struct world *w, int64_t now_us, struct slice name)
{
    const struct slice other = SLICE("a");
    return engine_depends_on(w->engine, now_us, name, (struct slices){ &other, 1 },
                             MISSING_COMPLETE, &w->error);
}

static enum status depends_on_name(struct world *w, int64_t now_us, struct slice name)
{
    return engine_depends_on(w->engine, now_us, SLICE("b"), (struct slices){ &name, 1 },
                             MISSING_COMPLETE, &w->error);
}

static enum status depends_off_jid(struct world *w, int64_t now_us, struct slice name)
{
    const struct slice other = SLICE("a");
    return engine_depends_off(w->engine, now_us, name, (struct slices){ &other, 1 }, &w->error);
}

static enum status depends_off_name(struct world *w, int64_t now_us, struct slice name)
{
    return engine_depends_off(w->engine, now_us, SLICE("b"), (struct slices){ &name, 1 },
                              &w->error);
}

static enum status depends_off_all(struct world *w, int64_t now_us, struct slice name)
{
    return engine_depends_off_all(w->engine, now_us, name, &w->error);
}

static enum status wait_jid(struct world *w, int64_t now_us, struct slice name)
{
    bool finished;
    return engine_wait(w->engine, now_us, name, 1, &finished, &w->error);
}

static enum status tag_add_jid(struct world *w, int64_t now_us, struct slice name)
{
    const struct slice tag = SLICE("t");
    const struct job *job;
    return engine_tag_add(w->engine, now_us, name, (struct slices){ &tag, 1 }, &job, &w->error);
}

static enum status tag_remove_jid(struct world *w, int64_t now_us, struct slice name)
{
    const struct slice tag = SLICE("t");
    const struct job *job;
    return engine_tag_remove(w->engine, now_us, name, (struct slices){ &tag, 1 }, &job, &w->error);
}

static enum status tag_remove(struct world *w, int64_t now_us, struct slice name)
{
    const struct job *job;
    return engine_tag_remove(w->engine, now_us, SLICE("a"), (struct slices){ &name, 1 }, &job,
                             &w->error);
}

static enum status track_jid(struct world *w, int64_t now_us, struct slice name)
{
    bool changed;
    return engine_track(w->engine, now_us, name, &changed, &w->error);
}

static enum status untrack_jid(struct world *w, int64_t now_us, struct slice name)
{
    bool changed;
    return engine_untrack(w->engine, now_us, name, &changed, &w->error);
}

static enum status explain_jid(struct world *w, int64_t now_us, struct slice name)
{
    struct explanation explanation;
    return engine_explain(w->engine, now_us, name, &explanation, &w->error);
}

// ---------------------------------------------------------------------------------------------
// Who takes a job, and who holds it

static enum status take_worker(struct world *w, int64_t now_us, struct slice name)
{
    const struct take_request request = { .worker = name, .jid = SLICE("a") };
    const struct job *job;
    return engine_take(w->engine, now_us, &request, &job, &w->error);
}

static enum status take_jid(struct world *w, int64_t now_us, struct slice name)
{
    const struct take_request request = { .worker = SLICE("w1"), .jid = name };
    const struct job *job;
    return engine_take(w->engine, now_us, &request, &job, &w->error);
}

static enum status heartbeat_of(struct world *w, int64_t now_us, const struct holder *holder)
{
    const struct heartbeat_request request = { .holder = *holder };
    int64_t expires_us;
    return engine_heartbeat(w->engine, now_us, &request, &expires_us, &w->error);
}

static enum status start_of(struct world *w, int64_t now_us, const struct holder *holder)
{
    return engine_start(w->engine, now_us, holder, 1, &w->error);
}

static enum status held_of(struct world *w, int64_t now_us, const struct holder *holder)
{
    const struct job *job;
    return engine_held(w->engine, now_us, holder, &job, &w->error);
}

static enum status return_of(struct world *w, int64_t now_us, const struct holder *holder)
{
    return engine_return(w->engine, now_us, holder, &w->error);
}

static enum status complete_of(struct world *w, int64_t now_us, const struct holder *holder)
{
    enum job_state ended;
    return engine_complete(w->engine, now_us, &(struct complete_request){ .holder = *holder },
                           &ended, &w->error);
}

static enum status fail_of(struct world *w, int64_t now_us, const struct holder *holder)
{
    const struct fail_request request = { .holder = *holder, .group = SLICE("g") };
    return engine_fail(w->engine, now_us, &request, &w->error);
}

static enum status retry_of(struct world *w, int64_t now_us, const struct holder *holder)
{
    int32_t remaining;
    return engine_retry(w->engine, now_us, &(struct retry_request){ .holder = *holder }, &remaining,
                        &w->error);
}

static enum status progress_of(struct world *w, int64_t now_us, const struct holder *holder)
{
    return engine_progress(w->engine, now_us, holder, 5, SLICE("m"), &w->error);
}

static enum status checkpoint_of(struct world *w, int64_t now_us, const struct holder *holder)
{
    return engine_checkpoint(w->engine, now_us, holder, SLICE("1"), &w->error);
}

static enum status log_line_of(struct world *w, int64_t now_us, const struct holder *holder)
{
    return engine_log_line(w->engine, now_us, holder, SLICE("line"), &w->error);
}

// A call of the holder of job a, with one name of the holder's exchanged.
#define HOLDER_CALL(call, field)                                                                   \
    static enum status call##_##field(struct world *w, int64_t now_us, struct slice name)          \
    {                                                                                              \
        struct holder holder = { .jid = SLICE("a"), .worker = SLICE("w1") };                       \
        holder.field = name;                                                                       \
        return call##_of(w, now_us, &holder);                                                      \
    }
#define HOLDER_CALLS(call)                                                                         \
    HOLDER_CALL(call, jid)                                                                         \
    HOLDER_CALL(call, worker)                                                                      \
    HOLDER_CALL(call, queue)

HOLDER_CALLS(heartbeat)
HOLDER_CALLS(start)
HOLDER_CALLS(held)
HOLDER_CALLS(return )
HOLDER_CALLS(complete)
HOLDER_CALLS(fail)
HOLDER_CALLS(retry)
HOLDER_CALLS(progress)
HOLDER_CALLS(checkpoint)
HOLDER_CALLS(log_line)

static enum status complete_depends(struct world *w, int64_t now_us, struct slice name)
{
    const struct complete_request request = { .holder = { SLICE("a"), SLICE("w1"), .token = 0 },
                                              .next = SLICE("q"),
                                              .has_depends = true,
                                              .depends = { &name, 1 } };
    enum job_state ended;
    return engine_complete(w->engine, now_us, &request, &ended, &w->error);
}

static enum status offline(struct world *w, int64_t now_us, struct slice name)
{
    return engine_worker_offline(w->engine, now_us, name, &w->error);
}

// ---------------------------------------------------------------------------------------------
// Recurring jobs, zones, lanes, bulk operations, watches

static enum status unrecur_jid(struct world *w, int64_t now_us, struct slice name)
{
    return engine_unrecur(w->engine, now_us, name, &w->error);
}

static enum status recur_with_tag(struct world *w, int64_t now_us, struct slice name)
{
    struct recur_request request = name_calls_recur();
    request.tags = (struct slices){ &name, 1 };
    return engine_recur(w->engine, now_us, &request, &w->error);
}

static enum status recur_zone(struct world *w, int64_t now_us, struct slice name)
{
    struct recur_request request = name_calls_recur();
    request.interval_us = 0;
    request.cron = SLICE("* * * * *");
    request.zone = name;
    return engine_recur(w->engine, now_us, &request, &w->error);
}

static enum status recur_tag_jid(struct world *w, int64_t now_us, struct slice name)
{
    const struct slice tag = SLICE("t");
    return engine_recur_tag(w->engine, now_us, name, (struct slices){ &tag, 1 }, &w->error);
}

static enum status recur_untag_jid(struct world *w, int64_t now_us, struct slice name)
{
    const struct slice tag = SLICE("t");
    return engine_recur_untag(w->engine, now_us, name, (struct slices){ &tag, 1 }, &w->error);
}

static enum status recur_untag(struct world *w, int64_t now_us, struct slice name)
{
    return engine_recur_untag(w->engine, now_us, SLICE("r"), (struct slices){ &name, 1 },
                              &w->error);
}

static enum status update_jid(struct world *w, int64_t now_us, struct slice name)
{
    const struct recur_update request = { .jid = name, .has_retries = true };
    return engine_recur_update(w->engine, now_us, &request, &w->error);
}

static enum status runs_jid(struct world *w, int64_t now_us, struct slice name)
{
    (void)now_us;
    int64_t runs[1];
    size_t found;
    return engine_recurring_runs(w->engine, name, 1, runs, &found, &w->error);
}

static enum status runs_zone(struct world *w, int64_t now_us, struct slice name)
{
    int64_t runs[1];
    size_t found;
    return engine_cron_runs(w->engine, SLICE("* * * * *"), name, now_us, 1, runs, &found,
                            &w->error);
}

static enum status zone_name(struct world *w, int64_t now_us, struct slice name)
{
    const struct zone_rules rules = { 3600, NULL, 0 };
    return engine_zone_set(w->engine, now_us, name, &rules, &w->error);
}

static enum status lane_queue(struct world *w, int64_t now_us, struct slice name)
{
    struct lane_view view;
    return engine_lane(w->engine, now_us, name, SLICE("d"), &view, &w->error);
}

static enum status lane_domain(struct world *w, int64_t now_us, struct slice name)
{
    struct lane_view view;
    return engine_lane(w->engine, now_us, SLICE("q"), name, &view, &w->error);
}

static enum status bulk_with(struct world *w, int64_t now_us, const struct bulk_request *request)
{
    uint64_t id;
    return engine_bulk(w->engine, now_us, request, &id, &w->error);
}

static enum status bulk_queue(struct world *w, int64_t now_us, struct slice name)
{
    return bulk_with(w, now_us, &(struct bulk_request){ .filter.queue = name });
}

static enum status bulk_klass(struct world *w, int64_t now_us, struct slice name)
{
    return bulk_with(w, now_us, &(struct bulk_request){ .filter.klass = name });
}

static enum status bulk_of_tag(struct world *w, int64_t now_us, struct slice name)
{
    return bulk_with(w, now_us, &(struct bulk_request){ .filter.tag = name });
}

static enum status bulk_group(struct world *w, int64_t now_us, struct slice name)
{
    return bulk_with(w, now_us, &(struct bulk_request){ .filter.group = name });
}

static enum status bulk_move(struct world *w, int64_t now_us, struct slice name)
{
    return bulk_with(w, now_us, &(struct bulk_request){ .act = BULK_MOVE, .to = name });
}

static enum status bulk_tag(struct world *w, int64_t now_us, struct slice name)
{
    return bulk_with(w, now_us, &(struct bulk_request){ .act = BULK_TAG, .tags = { &name, 1 } });
}

static enum status bulk_untag(struct world *w, int64_t now_us, struct slice name)
{
    return bulk_with(w, now_us, &(struct bulk_request){ .act = BULK_UNTAG, .tags = { &name, 1 } });
}

const struct name_call name_calls[] = {
    { put_queue, "queue", STATUS_INVALID, STATUS_OK, .is_new = true },
    { put_jid, "jid", STATUS_INVALID, STATUS_OK, .is_new = true },
    { put_klass, "klass", STATUS_INVALID, STATUS_OK, .is_new = true },
    { put_tag, "tag", STATUS_INVALID, STATUS_OK, .is_new = true },
    { log_message, "message", STATUS_INVALID, STATUS_OK },
    { pop_queue, "queue", STATUS_INVALID, STATUS_OK, .is_new = true },
    { pop_worker, "worker", STATUS_INVALID, STATUS_OK, .is_new = true },
    { peek_queue, "queue", STATUS_INVALID, STATUS_OK },
    { complete_next, "next queue", STATUS_OK, STATUS_OK, .is_new = true },
    { fail_group, "group", STATUS_INVALID, STATUS_OK, .is_new = true },
    { retry_to, "queue", STATUS_OK, STATUS_OK, .is_new = true },
    { retry_group, "group", STATUS_INVALID, STATUS_OK, .is_new = true },
    { unfail_queue, "queue", STATUS_INVALID, STATUS_OK, .is_new = true },
    { unfail_group, "group", STATUS_INVALID, STATUS_OK },
    { tag_add, "tag", STATUS_INVALID, STATUS_OK, .is_new = true },
    { look_queue, "queue", STATUS_INVALID, STATUS_OK },
    { list_queue, "queue", STATUS_INVALID, STATUS_OK },
    { pause_queue, "queue", STATUS_INVALID, STATUS_OK, .is_new = true },
    { unpause_queue, "queue", STATUS_INVALID, STATUS_OK, .is_new = true },
    { forget_queue, "queue", STATUS_INVALID, STATUS_OK, .is_new = true },
    { recur_queue, "queue", STATUS_INVALID, STATUS_OK, .is_new = true },
    { recur_jid, "jid", STATUS_INVALID, STATUS_OK, .is_new = true },
    { recur_klass, "klass", STATUS_INVALID, STATUS_OK, .is_new = true },
    { recur_tag, "tag", STATUS_INVALID, STATUS_OK, .is_new = true },
    { update_queue, "queue", STATUS_INVALID, STATUS_OK, .is_new = true },
    { update_klass, "klass", STATUS_INVALID, STATUS_OK, .is_new = true },
    { deregister, "worker", STATUS_INVALID, STATUS_OK },
    { config_option, "option", STATUS_INVALID, STATUS_OK, .is_new = true },
    { unset_option, "option", STATUS_INVALID, STATUS_OK },
    { put_domain, "domain", STATUS_OK, STATUS_OK, .is_new = true },
    { put_unique, "the key of uniqueness", STATUS_INVALID, STATUS_OK },
    { limit_for_queue, "queue", STATUS_OK, STATUS_OK, .is_new = true },
    { limit_for_domain, "domain", STATUS_OK, STATUS_OK, .is_new = true },
    { unlimit_queue, "queue", STATUS_OK, STATUS_OK },
    { unlimit_domain, "domain", STATUS_OK, STATUS_OK },
    { policy_of_klass, "klass", STATUS_INVALID, STATUS_OK, .is_new = true },
    { policy_of_queue, "queue", STATUS_INVALID, STATUS_OK, .is_new = true },
    { no_policy, "queue", STATUS_INVALID, STATUS_OK, .is_new = true },
    { recur_domain, "domain", STATUS_OK, STATUS_OK, .is_new = true },
    { put_worker, "worker", STATUS_OK, STATUS_OK },
    { put_depends, "jid of a dependency", STATUS_INVALID, STATUS_OK },
    { cancel_jid, "jid", STATUS_INVALID, STATUS_OK },
    { delete_jid, "jid", STATUS_INVALID, STATUS_NOT_FOUND },
    { priority_jid, "jid", STATUS_INVALID, STATUS_NOT_FOUND },
    { data_jid, "jid", STATUS_INVALID, STATUS_NOT_FOUND },
    { log_jid, "jid", STATUS_INVALID, STATUS_NOT_FOUND },
    { kick_jid, "jid", STATUS_INVALID, STATUS_NOT_FOUND },
    { timeout_jid, "jid", STATUS_INVALID, STATUS_NOT_FOUND },
    { depends_on_jid, "jid", STATUS_INVALID, STATUS_NOT_FOUND },
    { depends_off_jid, "jid", STATUS_INVALID, STATUS_NOT_FOUND },
    { depends_off_all, "jid", STATUS_INVALID, STATUS_NOT_FOUND },
    { wait_jid, "jid", STATUS_INVALID, STATUS_NOT_FOUND },
    { tag_add_jid, "jid", STATUS_INVALID, STATUS_NOT_FOUND },
    { tag_remove_jid, "jid", STATUS_INVALID, STATUS_NOT_FOUND },
    { track_jid, "jid", STATUS_INVALID, STATUS_NOT_FOUND },
    { untrack_jid, "jid", STATUS_INVALID, STATUS_NOT_FOUND },
    { explain_jid, "jid", STATUS_INVALID, STATUS_NOT_FOUND },
    { recur_tag_jid, "jid", STATUS_INVALID, STATUS_NOT_FOUND },
    { recur_untag_jid, "jid", STATUS_INVALID, STATUS_NOT_FOUND },
    { update_jid, "jid", STATUS_INVALID, STATUS_NOT_FOUND },
    { log_worker, "worker", STATUS_OK, STATUS_STALE },
    { depends_on_name, "jid of a dependency", STATUS_INVALID, STATUS_OK },
    { depends_off_name, "jid of a dependency", STATUS_INVALID, STATUS_OK },
    { tag_remove, "tag", STATUS_INVALID, STATUS_OK },
    { take_worker, "worker", STATUS_INVALID, STATUS_OK, .is_new = true },
    { take_jid, "jid", STATUS_INVALID, STATUS_OK },
    { heartbeat_jid, "jid", STATUS_INVALID, STATUS_NOT_FOUND },
    { heartbeat_worker, "worker", STATUS_STALE, STATUS_STALE },
    { heartbeat_queue, "queue", STATUS_OK, STATUS_STALE },
    { start_jid, "jid", STATUS_INVALID, STATUS_NOT_FOUND },
    { start_worker, "worker", STATUS_STALE, STATUS_STALE },
    { start_queue, "queue", STATUS_OK, STATUS_STALE },
    { held_jid, "jid", STATUS_INVALID, STATUS_NOT_FOUND },
    { held_worker, "worker", STATUS_STALE, STATUS_STALE },
    { held_queue, "queue", STATUS_OK, STATUS_STALE },
    { return_jid, "jid", STATUS_INVALID, STATUS_NOT_FOUND },
    { return_worker, "worker", STATUS_STALE, STATUS_STALE },
    { return_queue, "queue", STATUS_OK, STATUS_STALE },
    { complete_jid, "jid", STATUS_INVALID, STATUS_NOT_FOUND },
    { complete_worker, "worker", STATUS_STALE, STATUS_STALE },
    { complete_queue, "queue", STATUS_OK, STATUS_STALE },
    { fail_jid, "jid", STATUS_INVALID, STATUS_NOT_FOUND },
    { fail_worker, "worker", STATUS_STALE, STATUS_STALE },
    { fail_queue, "queue", STATUS_OK, STATUS_STALE },
    { retry_jid, "jid", STATUS_INVALID, STATUS_NOT_FOUND },
    { retry_worker, "worker", STATUS_STALE, STATUS_STALE },
    { retry_queue, "queue", STATUS_OK, STATUS_STALE },
    { progress_jid, "jid", STATUS_INVALID, STATUS_NOT_FOUND },
    { progress_worker, "worker", STATUS_STALE, STATUS_STALE },
    { progress_queue, "queue", STATUS_OK, STATUS_STALE },
    { checkpoint_jid, "jid", STATUS_INVALID, STATUS_NOT_FOUND },
    { checkpoint_worker, "worker", STATUS_STALE, STATUS_STALE },
    { checkpoint_queue, "queue", STATUS_OK, STATUS_STALE },
    { log_line_jid, "jid", STATUS_INVALID, STATUS_NOT_FOUND },
    { log_line_worker, "worker", STATUS_STALE, STATUS_STALE },
    { log_line_queue, "queue", STATUS_OK, STATUS_STALE },
    { complete_depends, "jid of a dependency", STATUS_INVALID, STATUS_OK },
    { offline, "worker", STATUS_INVALID, STATUS_NOT_FOUND },
    { unrecur_jid, "jid", STATUS_INVALID, STATUS_OK },
    { recur_with_tag, "tag", STATUS_INVALID, STATUS_OK, .is_new = true },
    { recur_zone, "zone", STATUS_OK, STATUS_NOT_FOUND },
    { recur_untag, "tag", STATUS_INVALID, STATUS_OK },
    { zone_name, "zone", STATUS_INVALID, STATUS_OK },
    { bulk_queue, "queue", STATUS_OK, STATUS_OK },
    { bulk_klass, "klass", STATUS_OK, STATUS_OK },
    { bulk_of_tag, "tag", STATUS_OK, STATUS_OK },
    { bulk_group, "group", STATUS_OK, STATUS_OK },
    { bulk_move, "queue to move to", STATUS_INVALID, STATUS_OK, .is_new = true },
    { bulk_tag, "tag", STATUS_INVALID, STATUS_OK, .is_new = true },
    { bulk_untag, "tag", STATUS_INVALID, STATUS_OK, .is_new = true },
    { runs_jid, "jid", STATUS_INVALID, STATUS_NOT_FOUND, .timeless = true },
    { runs_zone, "zone", STATUS_OK, STATUS_NOT_FOUND, .timeless = true },
    { lane_queue, "queue", STATUS_INVALID, STATUS_OK, .timeless = true },
    { lane_domain, "domain", STATUS_OK, STATUS_OK, .timeless = true },
};

const size_t name_calls_count = sizeof(name_calls) / sizeof(name_calls[0]);

void name_calls_prepare(struct world *w)
{
    put(w, 100, "q", "a");
    assert_string_equal(pop(w, 100, "q", "w1", 1), "a");
    put_depending(w, 100, "q", "b", "a");
    recur_with(w, 100,
               (struct recur_request){ .queue = SLICE("q"),
                                       .jid = SLICE("r"),
                                       .interval_us = us(1000),
                                       .offset_us = us(1000) });
    forget_events(w);
}
