// SPDX-License-Identifier: MIT
// Few names of everything, so that calls meet. Options keep the number of jobs small: complete jobs
// vanish soon, recurring jobs make up for few runs, and what piles up is canceled.
#include "calls.h"

#include "engine/bulk/bulk.h"
#include "engine/config/policy.h"
#include "engine/dedup/request.h"
#include "engine/lanes/limit.h"
#include "engine/lease/workers.h"
#include "engine/recurring/zone.h"
#include "engine/state.h"

#include <stdio.h>
#include <stdlib.h>

#define COUNT(array)        (sizeof(array) / sizeof((array)[0]))
#define PICK(caller, array) ((array)[random_below(&(caller)->random, COUNT(array))])
#define NAME(caller, array) slice_from_cstr(PICK(caller, array))

#define SECOND INT64_C(1000000)
#define HOUR   (3600 * SECOND)
#define DAY    (24 * HOUR)

enum {
    LIST_MAX = 4,
    TEXT_SIZE = 512 * 1024,
    DATA_LARGE_MIN = 20 * 1024,
    DATA_LARGE_MAX = 200 * 1024,
    JOBS_MAX = 90, // with more of them some are canceled
    CROWD = 1010,  // more than an operation does in its call
    TICKS_MAX = 1000,
};

static const int64_t start_us = 1700000000 * SECOND;

static const char *const queues[] = { "mail", "web", "slow", "sp\xc3\xa4\xc5\xa5" };
static const char *const workers[] = { "w0", "w1", "w2", "w3", "w4" };
static const char *const klasses[] = { "Klass", "Other" };
#define RECURRING_KLASS SLICE("Recurring")
static const char *const tags[] = { "red", "green", "blue", "x" };
static const char *const groups[] = { "boom", "bust", "failed-retries-mail" };
static const char *const recurrings[] = { "r0", "r1", "r2" };
static const char *const domains[] = { "a.example", "b.example", "c", "" };
static const char *const limit_domains[] = { "", "*.example", "a*", "a.example", "c" };
static const char *const keys[] = { "k1", "k2", "k3" };
#define ZONE_NAME   SLICE("Test/One")
#define CROWD_QUEUE SLICE("crowd")

// ---------------------------------------------------------------------------------------------
// Draws. A call has at most one among its arguments: compilers evaluate these in different orders,
// and the calls must be the same with all of them.

static uint64_t below(struct caller *caller, uint64_t limit)
{
    return random_below(&caller->random, limit);
}

static bool weak_random(struct caller *caller, unsigned percent)
{
    return below(caller, 100) < percent;
}

static struct slice some_text(struct caller *caller, size_t size_min, size_t size_max)
{
    size_t size = size_min + below(caller, size_max - size_min + 1);
    return slice_make(caller->text + below(caller, TEXT_SIZE - size), size);
}

static struct slice data(struct caller *caller)
{
    if (below(caller, 200) == 0) {
        return some_text(caller, DATA_LARGE_MIN, DATA_LARGE_MAX);
    }
    return weak_random(caller, 70) ? some_text(caller, 10, 300) : some_text(caller, 300, 3000);
}

static struct slice queue(struct caller *caller)
{
    return weak_random(caller, 30) ? slice_from_cstr(queues[0]) : NAME(caller, queues);
}

static struct slice any_jid(struct caller *caller)
{
    return NAME(caller, caller->jids);
}

static unsigned state_bit(enum job_state state)
{
    return 1U << state;
}

// The jid of a job that is in one of the states (bits), if a few tries find one.
static struct slice jid_in(struct caller *caller, unsigned states)
{
    struct slice found = SLICE_EMPTY;
    for (int i = 0; i < 12; i++) {
        found = any_jid(caller);
        const struct job *job = engine_get(caller->engine, found);
        struct job_view view;
        if (job) {
            job_view(caller->engine, job, &view);
            if (states & state_bit(view.state)) {
                break;
            }
        }
    }
    return found;
}

struct names {
    struct slice items[LIST_MAX];
};

static struct slices some_of(struct caller *caller, struct names *list, const char *const *names,
                             size_t count)
{
    size_t wanted = 1 + below(caller, LIST_MAX);
    for (size_t i = 0; i < wanted; i++) {
        list->items[i] = slice_from_cstr(names[below(caller, count)]);
    }
    return (struct slices){ list->items, wanted };
}

static struct slices some_tags(struct caller *caller, struct names *list)
{
    return some_of(caller, list, tags, COUNT(tags));
}

static struct slices some_jids(struct caller *caller, struct names *list)
{
    size_t wanted = 1 + below(caller, LIST_MAX);
    for (size_t i = 0; i < wanted; i++) {
        list->items[i] = any_jid(caller);
    }
    return (struct slices){ list->items, wanted };
}

// Who claims to hold a lease: mostly rightly, if anybody holds one.
static struct holder held(struct caller *caller)
{
    size_t first = below(caller, COUNT(workers));
    for (size_t i = 0; i < COUNT(workers); i++) {
        struct slice worker = slice_from_cstr(workers[(first + i) % COUNT(workers)]);
        const struct job *jobs[8];
        struct page page = { .count = COUNT(jobs), .jobs = jobs };
        engine_worker_jobs(caller->engine, caller->now_us, worker,
                           weak_random(caller, 20) ? LIST_EXPIRED : LIST_RUNNING, &page);
        if (page.found) {
            struct job_view view;
            job_view(caller->engine, jobs[below(caller, page.found)], &view);
            bool wrong = weak_random(caller, 3);
            return (struct holder){ .jid = view.jid,
                                    .worker = worker,
                                    .token = view.token + (wrong ? 1 : 0) };
        }
    }
    return (struct holder){ .jid = any_jid(caller), .worker = slice_from_cstr(workers[first]) };
}

// Longer than a workload lasts.
#define LONG (1000 * DAY)

static int64_t delay(struct caller *caller)
{
    static const int64_t delays[] = { 1, SECOND, 5 * SECOND, 60 * SECOND, HOUR };
    return PICK(caller, delays);
}

static void draw_options(struct caller *caller, struct job_options *options)
{
    *options = (struct job_options){ 0 };
    if (weak_random(caller, 50)) {
        options->backoff.kind = BACKOFF_FIXED + (enum backoff_kind)below(caller, 3);
        options->backoff.base_us = delay(caller);
        options->backoff.cap_us = weak_random(caller, 40) ? HOUR : 0;
        options->backoff.jitter_percent = (uint32_t)below(caller, 101);
    }
    if (weak_random(caller, 30)) {
        options->timeout_us = (int64_t)(1 + below(caller, 100)) * SECOND;
    }
    if (weak_random(caller, 30)) {
        options->result_ttl_us = weak_random(caller, 50) ? delay(caller) : LONG;
    }
    if (weak_random(caller, 30)) {
        options->crashes_max = (int64_t)below(caller, 4) - 1;
    }
    if (weak_random(caller, 30)) {
        options->lease_us = ((int64_t)below(caller, 100) - 1) * SECOND;
    }
    if (weak_random(caller, 50)) {
        options->dependency_policy = (enum dependency_policy)below(caller, DEPENDENCY_RUN + 1);
    }
}

// A call may be refused.
static void expect(enum status status)
{
    if (status == STATUS_NO_MEMORY || status == STATUS_CORRUPT || status == STATUS_IO) {
        (void)fprintf(stderr, "workload: a call failed: %s\n", status_sentence(status));
        abort();
    }
}

// ---------------------------------------------------------------------------------------------
// Jobs

static void draw_unique(struct caller *caller, struct put_request *request)
{
    static const char *const contents[] = { "{\"n\": 1, \"m\": 2}", "{\"m\":2,\"n\":1}", "[null]" };
    request->unique.until = (enum unique_until)below(caller, UNIQUE_FOR_TIME + 1);
    request->unique.for_us = weak_random(caller, 80) ? delay(caller) : LONG;
    request->unique.conflict = (enum unique_conflict)below(caller, UNIQUE_REFUSE + 1);
    if (weak_random(caller, 70)) {
        request->unique.by = UNIQUE_BY_KEY;
        request->unique.key = NAME(caller, keys);
    } else {
        request->unique.by = UNIQUE_BY_CONTENTS;
        request->data = NAME(caller, contents);
    }
}

// Sometimes as a request with an id, which may have come before.
static void put_once(struct caller *caller, const struct put_request *request)
{
    const struct job *job;
    bool once = weak_random(caller, 30), known = false;
    char id[24];
    int size = snprintf(id, sizeof(id), "request-%u", (unsigned)below(caller, 200));
    struct slice answer;
    const struct request_words words = { .id = slice_make(id, (size_t)size),
                                         .digest = below(caller, 2),
                                         .answer_max = request->jid.size };
    enum status status = STATUS_OK;
    if (once) {
        status =
            engine_request_begin(caller->engine, caller->now_us, &words, &known, &answer, NULL);
        expect(status);
    }
    if (status || known) {
        return;
    }
    status = engine_put(caller->engine, caller->now_us, request, &job, NULL);
    expect(status);
    if (once && status) {
        engine_request_cancel(caller->engine);
    } else if (once) {
        engine_request_end(caller->engine, request->jid);
    }
}

static void call_put(struct caller *caller)
{
    struct names tag_list, depends;
    struct job_options options;
    struct put_request request = { .queue = queue(caller),
                                   .jid = any_jid(caller),
                                   .klass = NAME(caller, klasses),
                                   .data = data(caller) };
    if (weak_random(caller, 40)) {
        request.worker = NAME(caller, workers);
    }
    if (weak_random(caller, 20)) {
        request.delay_us = delay(caller);
    }
    request.has_priority = weak_random(caller, 30);
    request.priority = (int32_t)below(caller, 5) - 2;
    request.has_retries = weak_random(caller, 40);
    request.retries = (int32_t)below(caller, 4);
    request.has_tags = weak_random(caller, 30);
    if (request.has_tags) {
        request.tags = some_tags(caller, &tag_list);
    }
    request.has_domain = weak_random(caller, 60);
    request.domain = NAME(caller, domains);
    request.has_deadline = weak_random(caller, 10);
    request.deadline_us = caller->now_us + delay(caller);
    if (weak_random(caller, 25)) {
        draw_options(caller, &options);
        request.options = &options;
    }
    if (weak_random(caller, 20)) {
        draw_unique(caller, &request);
    }
    if (weak_random(caller, 20)) {
        request.depends = some_jids(caller, &depends);
    }
    put_once(caller, &request);
}

static void call_cancel(struct caller *caller)
{
    struct names list;
    size_t canceled;
    expect(engine_cancel(caller->engine, caller->now_us, some_jids(caller, &list), &canceled, NULL,
                         NULL));
}

static void call_delete(struct caller *caller)
{
    unsigned states = state_bit(JOB_COMPLETE) | state_bit(JOB_FAILED);
    expect(engine_delete(caller->engine, caller->now_us, jid_in(caller, states), NULL));
}

static void call_priority(struct caller *caller)
{
    unsigned states = state_bit(JOB_WAITING) | state_bit(JOB_STALLED) | state_bit(JOB_SCHEDULED);
    struct slice jid = jid_in(caller, states);
    expect(
        engine_priority(caller->engine, caller->now_us, jid, (int32_t)below(caller, 7) - 3, NULL));
}

static void call_update_data(struct caller *caller)
{
    struct slice jid = jid_in(caller, ~0U);
    expect(engine_update_data(caller->engine, caller->now_us, jid, data(caller), NULL));
}

static void call_log(struct caller *caller)
{
    const struct log_request request = { .jid = jid_in(caller, ~0U),
                                         .message = SLICE("half way"),
                                         .data = some_text(caller, 0, 60) };
    expect(engine_log(caller->engine, caller->now_us, &request, NULL));
}

static void call_timeout(struct caller *caller)
{
    const struct holder holder = held(caller);
    expect(engine_timeout(caller->engine, caller->now_us, (struct slices){ &holder.jid, 1 }, NULL));
}

static void call_depends(struct caller *caller)
{
    struct names list;
    struct slice name = jid_in(caller, state_bit(JOB_DEPENDS));
    struct slices depends = some_jids(caller, &list);
    if (weak_random(caller, 50)) {
        expect(engine_depends_on(caller->engine, caller->now_us, name, depends, MISSING_COMPLETE,
                                 NULL));
    } else if (weak_random(caller, 70)) {
        expect(engine_depends_off(caller->engine, caller->now_us, name, depends, NULL));
    } else {
        expect(engine_depends_off_all(caller->engine, caller->now_us, name, NULL));
    }
}

static void call_tag(struct caller *caller)
{
    struct names list;
    const struct job *job;
    struct slice name = jid_in(caller, ~0U);
    struct slices some = some_tags(caller, &list);
    if (weak_random(caller, 60)) {
        expect(engine_tag_add(caller->engine, caller->now_us, name, some, &job, NULL));
    } else {
        expect(engine_tag_remove(caller->engine, caller->now_us, name, some, &job, NULL));
    }
}

static void call_track(struct caller *caller)
{
    bool changed;
    if (weak_random(caller, 50)) {
        expect(engine_track(caller->engine, caller->now_us, jid_in(caller, ~0U), &changed, NULL));
    } else {
        expect(engine_untrack(caller->engine, caller->now_us, any_jid(caller), &changed, NULL));
    }
}

// ---------------------------------------------------------------------------------------------
// Work

static void call_pop(struct caller *caller)
{
    static const size_t counts[] = { 1, 1, 1, 2, 5 };
    struct names list;
    struct pop_request request = { .worker = NAME(caller, workers),
                                   .queues = some_of(caller, &list, queues, COUNT(queues)),
                                   .order = weak_random(caller, 50) ? POP_ORDERED : POP_ROUND_ROBIN,
                                   .count = PICK(caller, counts) };
    const struct job *jobs[5];
    size_t popped;
    expect(engine_pop(caller->engine, caller->now_us, &request, jobs, &popped, NULL));
}

static void call_heartbeat(struct caller *caller)
{
    int64_t expires_us;
    const struct heartbeat_request request = {
        .holder = held(caller),
        .data = weak_random(caller, 20) ? data(caller) : SLICE_EMPTY,
        .has_lease = weak_random(caller, 20),
        .lease_us = (int64_t)below(caller, 100) * SECOND,
    };
    expect(engine_heartbeat(caller->engine, caller->now_us, &request, &expires_us, NULL));
}

static void call_complete(struct caller *caller)
{
    enum job_state state;
    struct complete_request request = { .holder = held(caller) };
    if (weak_random(caller, 10)) {
        request.data = data(caller);
    }
    if (weak_random(caller, 40)) {
        request.result = some_text(caller, 1, 200);
    }
    if (weak_random(caller, 30)) {
        request.next = queue(caller);
        request.has_delay = weak_random(caller, 30);
        request.delay_us = delay(caller);
    }
    expect(engine_complete(caller->engine, caller->now_us, &request, &state, NULL));
}

static void call_fail(struct caller *caller)
{
    const struct fail_request request = { .holder = held(caller),
                                          .group = NAME(caller, groups),
                                          .message = some_text(caller, 0, 100) };
    expect(engine_fail(caller->engine, caller->now_us, &request, NULL));
}

static void call_retry(struct caller *caller)
{
    int32_t remaining;
    struct retry_request request = { .holder = held(caller),
                                     .to = weak_random(caller, 30) ? queue(caller) : SLICE_EMPTY,
                                     .has_delay = weak_random(caller, 50),
                                     .delay_us = delay(caller),
                                     .seed = random_u64(&caller->random) };
    request.has_failure = weak_random(caller, 50);
    if (request.has_failure) {
        request.group = NAME(caller, groups);
        request.message = some_text(caller, 0, 100);
    }
    expect(engine_retry(caller->engine, caller->now_us, &request, &remaining, NULL));
}

// What a running job may say.
static void call_say(struct caller *caller)
{
    struct engine *engine = caller->engine;
    const struct holder holder = held(caller);
    int32_t progress;
    switch (below(caller, 4)) {
    case 0:
        expect(engine_start(engine, caller->now_us, &holder, (int64_t)below(caller, 9999), NULL));
        break;
    case 1:
        progress = (int32_t)below(caller, 1000001);
        expect(engine_progress(engine, caller->now_us, &holder, progress, some_text(caller, 0, 20),
                               NULL));
        break;
    case 2:
        expect(engine_checkpoint(engine, caller->now_us, &holder, some_text(caller, 0, 50), NULL));
        break;
    default:
        expect(engine_log_line(engine, caller->now_us, &holder, some_text(caller, 1, 100), NULL));
        break;
    }
}

static void call_unfail(struct caller *caller)
{
    size_t moved;
    struct slice of = queue(caller);
    struct slice group = NAME(caller, groups);
    expect(engine_unfail(caller->engine, caller->now_us, of, group, 1 + below(caller, 4), &moved,
                         NULL));
}

// ---------------------------------------------------------------------------------------------
// Settings

static void call_recur(struct caller *caller)
{
    static const char *const crons[] = { "*/5 * * * *", "0 3 * * *", "30 2 * * *" };
    struct names list;
    struct slice jid = NAME(caller, recurrings);
    if (weak_random(caller, 30)) {
        expect(engine_unrecur(caller->engine, caller->now_us, jid, NULL));
        return;
    }
    struct recur_request request = { .queue = queue(caller),
                                     .jid = jid,
                                     .klass = RECURRING_KLASS,
                                     .data = some_text(caller, 10, 200),
                                     .backlog = 1 + (int64_t)below(caller, 3),
                                     .retries = (int32_t)below(caller, 3),
                                     .domain = NAME(caller, domains) };
    if (weak_random(caller, 40)) {
        request.cron = NAME(caller, crons);
        request.missed = weak_random(caller, 50) ? RECUR_MISSED_ONE : RECUR_MISSED_SKIP;
        request.overlap = weak_random(caller, 50) ? RECUR_OVERLAP_ALLOW : RECUR_OVERLAP_SKIP;
        if (weak_random(caller, 50)) {
            request.zone = ZONE_NAME;
        }
    } else {
        request.interval_us = (int64_t)(10 + below(caller, 200)) * SECOND;
        request.offset_us = (int64_t)below(caller, 20) * SECOND;
    }
    if (weak_random(caller, 40)) {
        request.tags = some_tags(caller, &list);
    }
    expect(engine_recur(caller->engine, caller->now_us, &request, NULL));
}

static void call_zone(struct caller *caller)
{
    const struct zone_transition transitions[] = { { caller->now_us + DAY, 3600 },
                                                   { caller->now_us + 3 * DAY, 7200 } };
    const struct zone_rules rules = { .offset_s = 3600,
                                      .transitions = transitions,
                                      .count = below(caller, COUNT(transitions) + 1) };
    expect(engine_zone_set(caller->engine, caller->now_us, ZONE_NAME, &rules, NULL));
}

static void call_config(struct caller *caller)
{
    static const struct option {
        const char *name;
        const char *values[3];
    } options[] = {
        { "heartbeat", { "60", "5", "1.5" } },
        { "grace-period", { "10", "0.5", "0" } },
        { "jobs-history-count", { "0", "2", "10" } },
        { "stats-history", { "1", "2", "3" } },
        { "histogram-history", { "1", "2", "3" } },
        { "max-job-history", { "2", "5", "20" } },
        { "max-job-log", { "1", "5", "20" } },
        { "max-worker-age", { "60", "3600", "86400" } },
        { "mail-fair", { "0", "1", "1" } },
        { "web-fair", { "0", "1", "1" } },
        { "slow-max-concurrency", { "0", "1", "3" } },
        { "web-heartbeat", { "60", "5", "1.5" } },
        { "colour", { "blue", "red", "" } },
    };
    const struct option *option = &PICK(caller, options);
    struct slice name = slice_from_cstr(option->name);
    // Without a small one complete jobs would pile up.
    bool keep = slice_equal(name, SLICE("jobs-history-count"));
    if (!keep && weak_random(caller, 30)) {
        expect(engine_config_unset(caller->engine, caller->now_us, name, NULL));
    } else {
        expect(engine_config_set(caller->engine, caller->now_us, name, NAME(caller, option->values),
                                 NULL));
    }
}

static void call_limit(struct caller *caller)
{
    struct slice of = weak_random(caller, 30) ? SLICE_EMPTY : queue(caller);
    struct slice domain = NAME(caller, limit_domains);
    if (weak_random(caller, 40)) {
        expect(engine_limit_unset(caller->engine, caller->now_us, of, domain, NULL));
        return;
    }
    const struct limit limit = { .has_rate = weak_random(caller, 60),
                                 .rate_count = 1 + (int64_t)below(caller, 5),
                                 .rate_period_us = (int64_t)(1 + below(caller, 10)) * SECOND,
                                 .burst = 1 + (int64_t)below(caller, 4),
                                 .has_concurrency = weak_random(caller, 40),
                                 .concurrency = (int64_t)below(caller, 4),
                                 .has_weight = true,
                                 .weight = 1 + (int64_t)below(caller, 10) };
    expect(engine_limit_set(caller->engine, caller->now_us, of, domain, &limit, NULL));
}

static void call_policy(struct caller *caller)
{
    struct job_options options = { 0 };
    bool by_klass = weak_random(caller, 50);
    if (weak_random(caller, 65)) {
        draw_options(caller, &options);
    }
    expect(engine_policy_set(caller->engine, caller->now_us, by_klass ? POLICY_KLASS : POLICY_QUEUE,
                             by_klass ? NAME(caller, klasses) : queue(caller), &options, NULL));
}

static void call_bulk(struct caller *caller)
{
    struct names list;
    struct bulk_request request = { .act = (enum bulk_act)below(caller, BULK_ACTS),
                                    .dry_run = weak_random(caller, 20) };
    request.filter.queue = weak_random(caller, 60) ? queue(caller) : SLICE_EMPTY;
    request.filter.tag = weak_random(caller, 30) ? NAME(caller, tags) : SLICE_EMPTY;
    bool any = weak_random(caller, 40);
    request.filter.states = any ? 0 : 1U << below(caller, JOB_STATE_COUNT);
    request.priority = request.act == BULK_PRIORITY ? (int32_t)below(caller, 3) : 0;
    if (request.act == BULK_CANCEL || request.act == BULK_DELETE) {
        request.filter.klass = RECURRING_KLASS;
    } else if (request.act == BULK_MOVE) {
        request.to = queue(caller);
    } else if (request.act == BULK_TAG || request.act == BULK_UNTAG) {
        request.tags = some_tags(caller, &list);
    }
    uint64_t id;
    expect(engine_bulk(caller->engine, caller->now_us, &request, &id, NULL));
}

static bool bulk_is_open(const struct engine *engine)
{
    struct bulk_view view;
    bool open = false;
    for (size_t i = 0; !open && engine_bulk_at(engine, i, &view); i++) {
        open = !view.done;
    }
    return open;
}

// Ends the operations in progress.
static void end_bulks(struct caller *caller)
{
    for (int i = 0; bulk_is_open(caller->engine); i++) {
        if (i == TICKS_MAX) {
            (void)fprintf(stderr, "workload: an operation does not end\n");
            abort();
        }
        (void)engine_tick(caller->engine, caller->now_us);
    }
}

static void put_crowd(struct caller *caller)
{
    char jid[16];
    for (unsigned i = 0; i < CROWD; i++) {
        const struct job *job;
        int size = snprintf(jid, sizeof(jid), "crowd-%u", i);
        expect(engine_put(caller->engine, caller->now_us,
                          &(struct put_request){ .queue = CROWD_QUEUE,
                                                 .jid = slice_make(jid, (size_t)size),
                                                 .klass = SLICE("Crowd"),
                                                 .data = SLICE("{}") },
                          &job, NULL));
    }
}

// Most of the crowd is gone before a store hears of it.
void caller_begin_exact(struct caller *caller)
{
    const struct bulk_request dry_run = { .act = BULK_CANCEL,
                                          .dry_run = true,
                                          .filter.queue = CROWD_QUEUE };
    uint64_t id, exact;
    end_bulks(caller);
    put_crowd(caller);
    expect(engine_bulk(caller->engine, caller->now_us, &dry_run, &id, NULL));
    end_bulks(caller);
    enum status status =
        engine_bulk_as(caller->engine, caller->now_us, id, BULK_CANCEL, SLICE_EMPTY, &exact, NULL);
    if (status || !bulk_is_open(caller->engine)) {
        (void)fprintf(stderr, "workload: no exact operation is in progress\n");
        abort();
    }
}

static void call_queue(struct caller *caller)
{
    struct names list;
    struct slices some = some_of(caller, &list, queues, COUNT(queues));
    switch (below(caller, 6)) {
    case 0:
        expect(engine_pause(caller->engine, caller->now_us, some, NULL));
        break;
    case 1:
        expect(engine_forget(caller->engine, caller->now_us, some, NULL));
        break;
    default:
        expect(engine_unpause(caller->engine, caller->now_us, some, NULL));
        break;
    }
}

static void call_worker(struct caller *caller)
{
    struct names list;
    struct slices some = some_of(caller, &list, workers, COUNT(workers));
    switch (below(caller, 3)) {
    case 0:
        expect(engine_worker_deregister(caller->engine, caller->now_us, some, NULL));
        break;
    case 1:
        expect(engine_worker_offline(caller->engine, caller->now_us, some.items[0], NULL));
        break;
    default:
        expect(engine_workers_prune(caller->engine, caller->now_us, NULL));
        break;
    }
}

static void call_tick(struct caller *caller)
{
    (void)engine_tick(caller->engine, caller->now_us);
}

// ---------------------------------------------------------------------------------------------
// All of them

static const struct call {
    void (*make)(struct caller *caller);
    unsigned weight;
} calls[] = {
    { call_put, 240 },   { call_pop, 200 },    { call_complete, 120 }, { call_heartbeat, 40 },
    { call_fail, 35 },   { call_retry, 50 },   { call_say, 40 },       { call_timeout, 12 },
    { call_cancel, 15 }, { call_delete, 12 },  { call_priority, 20 },  { call_update_data, 8 },
    { call_log, 12 },    { call_depends, 25 }, { call_tag, 25 },       { call_track, 15 },
    { call_unfail, 20 }, { call_recur, 16 },   { call_zone, 3 },       { call_config, 25 },
    { call_limit, 25 },  { call_policy, 10 },  { call_bulk, 16 },      { call_queue, 12 },
    { call_worker, 8 },  { call_tick, 30 },
};

// Cancels what recurring jobs made and no worker took.
static void thin_out(struct caller *caller)
{
    const struct bulk_request request = { .act = BULK_CANCEL, .filter.klass = RECURRING_KLASS };
    uint64_t id;
    end_bulks(caller);
    expect(engine_bulk(caller->engine, caller->now_us, &request, &id, NULL));
}

void caller_call(struct caller *caller)
{
    if (caller->engine->jobs.count > JOBS_MAX) {
        thin_out(caller);
    }
    unsigned sum = 0;
    for (size_t i = 0; i < COUNT(calls); i++) {
        sum += calls[i].weight;
    }
    uint64_t draw = below(caller, sum);
    size_t at = 0;
    while (draw >= calls[at].weight) {
        draw -= calls[at++].weight;
    }
    calls[at].make(caller);
}

void caller_advance(struct caller *caller)
{
    uint64_t draw = below(caller, 1000);
    if (draw < 400) {
        return;
    }
    if (draw < 900) {
        caller->now_us += (int64_t)below(caller, 3 * SECOND);
    } else if (draw < 990) {
        caller->now_us += (int64_t)below(caller, 70 * SECOND);
    } else if (draw < 997) {
        caller->now_us += (int64_t)below(caller, 5 * HOUR);
    } else {
        caller->now_us += (int64_t)below(caller, 3 * DAY);
    }
}

void caller_init(struct caller *caller, struct engine *engine, uint64_t seed)
{
    bool is_new = engine->now_us == 0;
    *caller = (struct caller){ .engine = engine,
                               .random = { seed },
                               .now_us = is_new ? start_us : engine->now_us,
                               .text = malloc(TEXT_SIZE) };
    if (!caller->text) {
        abort();
    }
    for (unsigned i = 0; i < CALLER_JIDS; i++) {
        (void)snprintf(caller->jids[i], CALLER_JID_SIZE, "j%u", i);
    }
    struct random letters = { 1 };
    for (size_t i = 0; i < TEXT_SIZE; i += 8) {
        uint64_t number = random_u64(&letters);
        for (size_t j = i; j < i + 8; j++, number >>= 8) {
            caller->text[j] = (char)('a' + number % 16);
        }
    }
    if (is_new) {
        call_zone(caller);
        expect(engine_config_set(engine, caller->now_us, SLICE("jobs-history-count"), SLICE("5"),
                                 NULL));
    }
}

void caller_release(struct caller *caller)
{
    free(caller->text);
}
