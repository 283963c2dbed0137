// SPDX-License-Identifier: MIT
#include "memory_steps.h"

#include <stdio.h>
#include <string.h>

enum {
    LIST_SIZE = 16,
};

struct holder memory_holder(const char *jid)
{
    return (struct holder){ .jid = name_of(jid), .worker = SLICE("w1") };
}

enum status memory_put(struct world *w, int64_t now_us, struct put_request request)
{
    const struct job *job;
    request.klass = SLICE("klass");
    request.data = SLICE("{\"data\":1}");
    return engine_put(w->engine, now_us, &request, &job, &w->error);
}

static enum status put_a(struct world *w, int64_t now_us)
{
    return memory_put(w, now_us,
                      (struct put_request){ .queue = SLICE("q"),
                                            .jid = SLICE("a"),
                                            .has_tags = true,
                                            .tags = slices_of(w, "red,green,red") });
}

static enum status put_later_b(struct world *w, int64_t now_us)
{
    return memory_put(
        w, now_us,
        (struct put_request){ .queue = SLICE("q"), .jid = SLICE("b"), .delay_us = us(5) });
}

static enum status put_depending_c(struct world *w, int64_t now_us)
{
    return memory_put(w, now_us,
                      (struct put_request){ .queue = SLICE("r"),
                                            .jid = SLICE("c"),
                                            .depends = slices_of(w, "a,b"),
                                            .has_tags = true,
                                            .tags = slices_of(w, "red,blue") });
}

static enum status put_many(struct world *w, int64_t now_us)
{
    enum status status = STATUS_OK;
    for (int i = 0; i < MEMORY_MANY && !status; i++) {
        char jid[16];
        (void)snprintf(jid, sizeof(jid), "many%d", i);
        w->fault.fail_at = 0; // failing each of these tells nothing new
        status = memory_put(w, now_us,
                            (struct put_request){ .queue = SLICE("many"), .jid = name_of(jid) });
    }
    return status;
}

static enum status put_again_c(struct world *w, int64_t now_us)
{
    return memory_put(w, now_us,
                      (struct put_request){ .queue = SLICE("s"),
                                            .jid = SLICE("c"),
                                            .depends = slices_of(w, "b,many1,many2"),
                                            .has_tags = true,
                                            .tags = slices_of(w, "red,pink") });
}

static enum status track_a(struct world *w, int64_t now_us)
{
    bool changed;
    return engine_track(w->engine, now_us, SLICE("a"), &changed, &w->error);
}

static enum status untrack_a(struct world *w, int64_t now_us)
{
    bool changed;
    return engine_untrack(w->engine, now_us, SLICE("a"), &changed, &w->error);
}

static enum status pop_some(struct world *w, int64_t now_us)
{
    const struct slices queues = slices_of(w, "q,empty,many");
    const struct pop_request request = { .worker = SLICE("w1"), .queues = queues, .count = 4 };
    const struct job *jobs[4];
    size_t popped;
    return engine_pop(w->engine, now_us, &request, jobs, &popped, &w->error);
}

static enum status pop_a_again(struct world *w, int64_t now_us)
{
    const struct pop_request request = { .worker = SLICE("w1"),
                                         .queues = slices_of(w, "q"),
                                         .count = 1 };
    const struct job *jobs[1];
    size_t popped;
    return engine_pop(w->engine, now_us, &request, jobs, &popped, &w->error);
}

static enum status pop_in_turn(struct world *w, int64_t now_us)
{
    const struct slices queues = slices_of(w, "many,q,r,rec");
    const struct pop_request request = {
        .worker = SLICE("w2"), .queues = queues, .order = POP_ROUND_ROBIN, .count = 6
    };
    const struct job *jobs[6];
    size_t popped;
    return engine_pop(w->engine, now_us, &request, jobs, &popped, &w->error);
}

static enum status pop_the_best(struct world *w, int64_t now_us)
{
    const struct pop_request request = { .worker = SLICE("w2"),
                                         .queues = slices_of(w, "many,q,r,rec,none"),
                                         .order = POP_BEST,
                                         .count = 2,
                                         .lease_us = us(70) };
    const struct job *jobs[2];
    size_t popped;
    return engine_pop(w->engine, now_us, &request, jobs, &popped, &w->error);
}

static enum status peek_q(struct world *w, int64_t now_us)
{
    const struct job *jobs[LIST_SIZE];
    size_t found;
    return engine_peek(w->engine, now_us, SLICE("q"), LIST_SIZE, jobs, &found, &w->error);
}

static enum status heartbeat_a(struct world *w, int64_t now_us)
{
    const struct heartbeat_request request = { .holder = memory_holder("a"),
                                               .data = SLICE("{\"more\":[1,2,3]}"),
                                               .has_lease = true,
                                               .lease_us = us(5) };
    int64_t expires_us;
    return engine_heartbeat(w->engine, now_us, &request, &expires_us, &w->error);
}

static enum status start_a(struct world *w, int64_t now_us)
{
    const struct holder holder = memory_holder("a");
    return engine_start(w->engine, now_us, &holder, 99, &w->error);
}

static enum status log_a(struct world *w, int64_t now_us)
{
    const struct log_request request = { .jid = SLICE("a"),
                                         .message = SLICE("a message of some length"),
                                         .data = SLICE("{\"with\":\"data\"}"),
                                         .worker = SLICE("w1") };
    return engine_log(w->engine, now_us, &request, &w->error);
}

static enum status update_data_b(struct world *w, int64_t now_us)
{
    return engine_update_data(w->engine, now_us, SLICE("b"), SLICE("[\"new\"]"), &w->error);
}

static enum status priority_b(struct world *w, int64_t now_us)
{
    return engine_priority(w->engine, now_us, SLICE("b"), 3, &w->error);
}

static enum status priority_in_line(struct world *w, int64_t now_us)
{
    return engine_priority(w->engine, now_us, SLICE("many60"), -3, &w->error);
}

static enum status depends_on_c(struct world *w, int64_t now_us)
{
    return engine_depends_on(w->engine, now_us, SLICE("c"), slices_of(w, "many50,many51"),
                             MISSING_COMPLETE, &w->error);
}

static enum status depends_off_c(struct world *w, int64_t now_us)
{
    return engine_depends_off(w->engine, now_us, SLICE("c"), slices_of(w, "many50"), &w->error);
}

static enum status depends_off_all_c(struct world *w, int64_t now_us)
{
    return engine_depends_off_all(w->engine, now_us, SLICE("c"), &w->error);
}

static enum status tag_a(struct world *w, int64_t now_us)
{
    const struct job *job;
    return engine_tag_add(w->engine, now_us, SLICE("a"), slices_of(w, "one,two,red"), &job,
                          &w->error);
}

static enum status untag_a(struct world *w, int64_t now_us)
{
    const struct job *job;
    return engine_tag_remove(w->engine, now_us, SLICE("a"), slices_of(w, "one,green"), &job,
                             &w->error);
}

static enum status return_a(struct world *w, int64_t now_us)
{
    const struct holder holder = memory_holder("a");
    return engine_return(w->engine, now_us, &holder, &w->error);
}

static enum status timeout_many(struct world *w, int64_t now_us)
{
    return engine_timeout(w->engine, now_us, slices_of(w, "many0,many1"), &w->error);
}

static enum status fail_a(struct world *w, int64_t now_us)
{
    const struct fail_request request = { .holder = memory_holder("a"),
                                          .group = SLICE("group"),
                                          .message = SLICE("message"),
                                          .data = SLICE("[0]") };
    return engine_fail(w->engine, now_us, &request, &w->error);
}

static enum status unfail_group(struct world *w, int64_t now_us)
{
    size_t moved;
    return engine_unfail(w->engine, now_us, SLICE("unfailed"), SLICE("group"), 5, &moved,
                         &w->error);
}

static enum status retry_many2(struct world *w, int64_t now_us)
{
    const struct retry_request request = { .holder = memory_holder("many2"),
                                           .to = SLICE("retried"),
                                           .has_delay = true,
                                           .delay_us = us(50),
                                           .has_failure = true,
                                           .group = SLICE("slow"),
                                           .message = SLICE("again") };
    int32_t remaining;
    return engine_retry(w->engine, now_us, &request, &remaining, &w->error);
}

static enum status put_last_try(struct world *w, int64_t now_us)
{
    return memory_put(w, now_us,
                      (struct put_request){ .queue = SLICE("q"),
                                            .jid = SLICE("last"),
                                            .has_priority = true,
                                            .priority = -9,
                                            .has_retries = true,
                                            .retries = 0 });
}

static enum status retry_last(struct world *w, int64_t now_us)
{
    const struct retry_request request = { .holder = memory_holder("last"),
                                           .to = SLICE("retried") };
    int32_t remaining;
    return engine_retry(w->engine, now_us, &request, &remaining, &w->error);
}

static enum status complete_with_result(struct world *w, int64_t now_us)
{
    const struct complete_request request = { .holder = memory_holder("a"),
                                              .data = SLICE("[1]"),
                                              .result = SLICE("\"a result\"") };
    enum job_state state;
    return engine_complete(w->engine, now_us, &request, &state, &w->error);
}

static enum status complete_on(struct world *w, int64_t now_us)
{
    const struct complete_request request = { .holder = memory_holder("b"),
                                              .next = SLICE("next"),
                                              .has_delay = true,
                                              .delay_us = us(3),
                                              .has_depends = true,
                                              .depends = slices_of(w, "many40,many41") };
    enum job_state state;
    return engine_complete(w->engine, now_us, &request, &state, &w->error);
}

static enum status cancel_some(struct world *w, int64_t now_us)
{
    size_t canceled;
    return engine_cancel(w->engine, now_us, slices_of(w, "many30,many31,gone"), &canceled, NULL,
                         &w->error);
}

static enum status delete_a(struct world *w, int64_t now_us)
{
    return engine_delete(w->engine, now_us, SLICE("a"), &w->error);
}

static enum status recur_r(struct world *w, int64_t now_us)
{
    const struct recur_request request = { .queue = SLICE("rec"),
                                           .jid = SLICE("r"),
                                           .klass = SLICE("recurring klass"),
                                           .data = SLICE("[5]"),
                                           .interval_us = us(40),
                                           .offset_us = us(1),
                                           .tags = slices_of(w, "red,round") };
    return engine_recur(w->engine, now_us, &request, &w->error);
}

static enum status recur_update_r(struct world *w, int64_t now_us)
{
    const struct recur_update request = { .jid = SLICE("r"),
                                          .has_priority = true,
                                          .has_interval = true,
                                          .interval_us = us(35),
                                          .has_data = true,
                                          .data = SLICE("[6]"),
                                          .has_klass = true,
                                          .klass = SLICE("other klass"),
                                          .has_queue = true,
                                          .queue = SLICE("rec2") };
    return engine_recur_update(w->engine, now_us, &request, &w->error);
}

static enum status recur_tag_r(struct world *w, int64_t now_us)
{
    return engine_recur_tag(w->engine, now_us, SLICE("r"), slices_of(w, "x,y"), &w->error);
}

static enum status recur_untag_r(struct world *w, int64_t now_us)
{
    return engine_recur_untag(w->engine, now_us, SLICE("r"), slices_of(w, "x,red"), &w->error);
}

static enum status unrecur_r(struct world *w, int64_t now_us)
{
    return engine_unrecur(w->engine, now_us, SLICE("r"), &w->error);
}

static enum status queue_counts(struct world *w, int64_t now_us)
{
    struct queue_view view;
    return engine_queue(w->engine, now_us, SLICE("q"), &view, &w->error);
}

static enum status queue_list(struct world *w, int64_t now_us)
{
    const struct job *jobs[LIST_SIZE];
    struct page page = { .count = LIST_SIZE, .jobs = jobs };
    return engine_jobs(w->engine, now_us, LIST_SCHEDULED, SLICE("q"), &page, &w->error);
}

static enum status pause_some(struct world *w, int64_t now_us)
{
    return engine_pause(w->engine, now_us, slices_of(w, "paused1,s,paused2"), &w->error);
}

static enum status unpause_some(struct world *w, int64_t now_us)
{
    return engine_unpause(w->engine, now_us, slices_of(w, "paused1,s"), &w->error);
}

static enum status forget_some(struct world *w, int64_t now_us)
{
    return engine_forget(w->engine, now_us, slices_of(w, "s,many"), &w->error);
}

static enum status config_set(struct world *w, int64_t now_us)
{
    return engine_config_set(w->engine, now_us, SLICE("q-heartbeat"), SLICE("300"), &w->error);
}

static enum status config_replace(struct world *w, int64_t now_us)
{
    return engine_config_set(w->engine, now_us, SLICE("q-heartbeat"), SLICE("301.5"), &w->error);
}

static enum status config_unset(struct world *w, int64_t now_us)
{
    return engine_config_unset(w->engine, now_us, SLICE("q-heartbeat"), &w->error);
}

static enum status prune(struct world *w, int64_t now_us)
{
    return engine_workers_prune(w->engine, now_us, &w->error);
}

static enum status offline_w1(struct world *w, int64_t now_us)
{
    return engine_worker_offline(w->engine, now_us, SLICE("w1"), &w->error);
}

static enum status deregister_w1(struct world *w, int64_t now_us)
{
    return engine_worker_deregister(w->engine, now_us, slices_of(w, "w1,w9"), &w->error);
}

// What only looks, and cannot fail.
static enum status look_around(struct world *w, int64_t now_us)
{
    const struct engine *engine = w->engine;
    const struct job *jobs[LIST_SIZE];
    const struct recurring *recurring[LIST_SIZE];
    struct page page = { .count = LIST_SIZE, .jobs = jobs };
    struct slice name, value;
    struct count_view count;
    struct worker_view worker;
    struct stats_view stats;
    const struct job *job;
    size_t found;
    w->fault.fail_at = 1;
    assert_false(engine_failure_group(engine, 99, &count));
    engine_failed(engine, SLICE("group"), &page);
    engine_tagged(engine, SLICE("red"), &page);
    (void)engine_tag_top(engine, 0, &count);
    (void)engine_tracked(engine, 0, &name, &job);
    assert_true(engine_queue_name(engine, 0, &name));
    assert_true(engine_length(engine, SLICE("many")) > 0);
    engine_stats(engine, SLICE("q"), now_us, &stats);
    (void)engine_recurring(engine, SLICE("rec"), 0, LIST_SIZE, recurring, &found);
    (void)engine_worker(engine, now_us, 0, &worker);
    engine_worker_jobs(engine, now_us, SLICE("w1"), LIST_RUNNING, &page);
    assert_slice_equal(engine_config_get(engine, SLICE("heartbeat")), "60");
    assert_true(engine_config_at(engine, 0, &name, &value));
    (void)history_of(w, "c");
    (void)tags_of(w, "c");
    (void)dependencies_of(w, "c");
    (void)dependents_of(w, "b");
    assert_false(w->fault.failed);
    w->fault.fail_at = 0;
    return STATUS_OK;
}

const struct step memory_script[] = {
    { "put with tags", 0, put_a, STAYS },
    { "put with a delay", 0, put_later_b, STAYS },
    { "put with dependencies", 0, put_depending_c, STAYS },
    { "put many", 0, put_many, STAYS },
    { "put a job again", 0, put_again_c, STAYS },
    { "put a job with its last retry", 0, put_last_try, STAYS },
    { "track", 0, track_a, STAYS },
    { "pop", 1, pop_some, POPS },
    { "pop", 6, pop_some, POPS },
    { "heartbeat", 7, heartbeat_a, STAYS },
    { "start", 7, start_a, STAYS },
    { "log", 7, log_a, STAYS },
    { "update data", 7, update_data_b, STAYS },
    { "priority of a running job", 7, priority_b, STAYS },
    { "priority of a job in line", 7, priority_in_line, STAYS },
    { "depends on", 7, depends_on_c, STAYS },
    { "depends off", 7, depends_off_c, STAYS },
    { "tag", 7, tag_a, STAYS },
    { "untag", 7, untag_a, STAYS },
    { "set", 7, config_set, STAYS },
    { "set again", 7, config_replace, STAYS },
    { "unset", 7, config_unset, STAYS },
    { "recur", 8, recur_r, STAYS },
    { "look around", 8, look_around, STAYS },
    { "recur update", 8, recur_update_r, STAYS },
    { "recur tag", 8, recur_tag_r, STAYS },
    { "recur untag", 8, recur_untag_r, STAYS },
    { "retry with a delay", 9, retry_many2, STAYS },
    { "the last retry", 9, retry_last, STAYS },
    { "return", 9, return_a, STAYS },
    { "pop what was returned", 9, pop_a_again, POPS },
    { "timeout", 10, timeout_many, STAYS },
    { "fail", 11, fail_a, STAYS },
    { "unfail", 12, unfail_group, STAYS },
    { "put again", 12, put_a, STAYS },
    { "pop", 13, pop_some, POPS },
    { "pop in turn", 13, pop_in_turn, POPS },
    { "complete into the next queue", 14, complete_on, STAYS },
    { "complete", 14, complete_with_result, STAYS },
    { "depends off all", 14, depends_off_all_c, STAYS },
    { "cancel", 15, cancel_some, STAYS },
    { "untrack", 15, untrack_a, STAYS },
    { "delete", 15, delete_a, STAYS },
    { "put later", 15, put_later_b, STAYS },
    { "peek", 20, peek_q, LOOKS },
    { "put later", 20, put_later_b, STAYS },
    { "count", 25, queue_counts, LOOKS },
    { "put later", 25, put_later_b, STAYS },
    { "list", 30, queue_list, LOOKS },
    { "pause", 30, pause_some, STAYS },
    { "unpause", 30, unpause_some, STAYS },
    { "forget", 30, forget_some, STAYS },
    { "offline", 30, offline_w1, STAYS },
    { "pop in turn", 50, pop_in_turn, POPS },
    { "pop when leases have run out", 95, pop_in_turn, POPS },
    { "pop when leases were lost", 200, pop_in_turn, POPS },
    { "pop the best", 200, pop_the_best, POPS },
    { "deregister", 200, deregister_w1, STAYS },
    { "prune", 90000, prune, STAYS },
    { "unrecur", 90000, unrecur_r, STAYS },
    { NULL, 0, NULL, STAYS },
};
