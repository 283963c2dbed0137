// SPDX-License-Identifier: MIT
// The engine as a whole: time, and that nothing but the calls made decides what it holds.
#include "engine_test.h"

#include "base/bytes.h"
#include "engine/records/record.h"
#include "engine_snapshot.h"
#include "random.h"

#include <stdio.h>
#include <string.h>

enum {
    RANDOM_CALLS = 20000,
    RANDOM_CHECK_EVERY = 1000,
    RANDOM_CHECK_FIRST = 400,
    RANDOM_FAILURES = 5000,
};

// The minute of a series that is not over is not saved: an engine that was loaded has other series.
static void assert_same_as(const struct world *a, const struct world *b, bool loaded)
{
    struct buffer bytes_a, bytes_b;
    buffer_init(&bytes_a, &allocator_system, SIZE_MAX - 1);
    buffer_init(&bytes_b, &allocator_system, SIZE_MAX - 1);
    (loaded ? save_but_series : save)(a, &bytes_a);
    (loaded ? save_but_series : save)(b, &bytes_b);
    assert_int_equal(bytes_a.size, bytes_b.size);
    assert_memory_equal(bytes_a.data, bytes_b.data, bytes_a.size);
    buffer_release(&bytes_a);
    buffer_release(&bytes_b);
}

static void assert_same(const struct world *a, const struct world *b)
{
    assert_same_as(a, b, false);
}

// ---------------------------------------------------------------------------------------------
// Time

static void test_engine__tick_says_when_it_wants_to_be_called_next(void **state)
{
    struct world *w = *state;
    assert_true(tick(w, 0) == -1);
    put(w, 1, "q", "a");
    assert_true(tick(w, 1) == -1);
    put_later(w, 1, "q", "b", 100);
    assert_true(tick(w, 1) == 101);
    pop(w, 2, "q", "w1", 1);
    assert_true(tick(w, 2) == 62);
    heartbeat(w, 10, "w1", "a");
    assert_true(tick(w, 10) == 70);
    recur(w, 11, "r", "r", 20);
    assert_true(tick(w, 11) == 31);
    // The grace begins at 70; r is due again at 71; the grace ends at 80.
    assert_true(tick(w, 70) == 71);
    assert_true(tick(w, 71) == 80);
    assert_true(tick(w, 80) == 91);
    said(w, engine_unrecur(w->engine, at(w, 80), SLICE("r"), &w->error));
    assert_true(tick(w, 80) == 101);
    assert_true(tick(w, 101) == -1);
    // Asking about the past changes nothing.
    assert_true(tick(w, 5) == -1);
}

static void test_engine__with_the_client_clock_a_tick_does_nothing(void **state)
{
    struct world *w = *state;
    put_later(w, 0, "q", "a", 10);
    assert_true(tick(w, 50) == -1);
    assert_string_equal(state_of(w, "a"), "scheduled");
}

static void test_engine__a_call_first_does_what_was_due(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "a");
    pop(w, 0, "q", "w1", 1);
    put_later(w, 0, "q", "b", 65);
    forget_events(w);
    put(w, 100, "r", "c");
    expect_events(w, "worker+log: lock_lost a by w1; log: put c in r");
    assert_string_equal(state_of(w, "a"), "stalled");
    assert_string_equal(state_of(w, "b"), "waiting");
}

static void test_engine__a_thousand_things_happen_in_one_call_the_rest_in_the_next(void **state)
{
    struct world *w = *state;
    for (int i = 0; i < 2500; i++) {
        char jid[16];
        (void)snprintf(jid, sizeof(jid), "j%d", i);
        put_later(w, 0, "q", jid, 10);
    }
    assert_true(tick(w, 20) == 20);
    assert_string_equal(state_of(w, "j999"), "waiting");
    assert_string_equal(state_of(w, "j1000"), "scheduled");
    assert_true(tick(w, 20) == 20);
    assert_string_equal(state_of(w, "j1999"), "waiting");
    assert_string_equal(state_of(w, "j2000"), "scheduled");
    assert_true(tick(w, 20) == -1);
    assert_string_equal(queue_of(w, 20, "q"), "waiting 2500");
}

static void test_engine__at_one_instant_queues_go_by_age_and_leases_before_the_rest(void **state)
{
    struct world *w = *state;
    put(w, 0, "young", "x");
    forget_events(w);
    put(w, 0, "old", "l");
    recur_with(w, 0,
               (struct recur_request){ .queue = SLICE("old"),
                                       .jid = SLICE("r"),
                                       .interval_us = us(1000),
                                       .offset_us = us(60) });
    put_later(w, 0, "old", "s", 60);
    pop_queues(w, 0, "old,young", POP_ORDERED, 9);
    forget_events(w);
    tick(w, 60);
    // "young" was seen first, whatever it is called.
    expect_events(w, "worker+log: lock_lost x by w1; worker+log: lock_lost l by w1");
    assert_string_equal(jobs(w, 60, LIST_WAITING, "old", 0, 9), "2: s,r-1");
    assert_true(view_of(w, "s").id < view_of(w, "r-1").id);
}

// Something of everything that can fall due.
static struct world *eventful_world(void)
{
    struct world *w = world_new(ENGINE_CLOCK_SERVER, 1);
    set(w, "short-heartbeat", "7");
    recur(w, 0, "q", "r", 13);
    recur_with(w, 1,
               (struct recur_request){ .queue = SLICE("short"),
                                       .jid = SLICE("tagged"),
                                       .interval_us = us(17),
                                       .tags = slices_of(w, "red,blue") });
    for (int i = 0; i < 30; i++) {
        char jid[16];
        (void)snprintf(jid, sizeof(jid), "j%d", i);
        const int now = 2 + i / 10;
        put_with(w, now,
                 (struct put_request){ .queue = i % 3 ? SLICE("q") : SLICE("short"),
                                       .jid = name_of(jid),
                                       .delay_us = us(i % 4 ? 0 : i * 5),
                                       .has_retries = true,
                                       .retries = i % 2 });
        if (i % 5 == 0) {
            track(w, now, jid);
        }
    }
    pop_queues(w, 6, "q,short", POP_ROUND_ROBIN, 9);
    tick(w, 6);
    forget_events(w);
    return w;
}

static void test_engine__it_makes_no_difference_when_somebody_looked(void **state)
{
    (void)state;
    static const double looks[][3] = {
        { 60, 70, 200 },    { 13, 14, 15 },       { 66, 66.5, 76 },     { 6, 500, 500 },
        { 76, 76, 300.25 }, { 12.999, 40, 65.5 }, { 100, 150, 1000.5 },
    };
    for (size_t i = 0; TEST_ROW(i, looks); i++) {
        struct world *often = eventful_world(), *seldom = eventful_world();
        const double *when = looks[i];
        tick(often, when[0]);
        tick(often, when[1]);
        for (int j = 0; when[1] + 1.5 * j < when[2]; j++) {
            tick(often, when[1] + 1.5 * j);
        }
        tick(often, when[2]);
        tick(seldom, when[2]);
        assert_same(often, seldom);
        buffer_append_char(&seldom->events, '\0');
        expect_events(often, seldom->events.data);
        world_free(often);
        world_free(seldom);
    }
}

// ---------------------------------------------------------------------------------------------
// The same calls give the same bytes

enum {
    JIDS = 40,
    QUEUES = 4,
    WORKERS = 4,
    TAGS = 6,
    DOMAINS = 5,
};

static struct slice pick(struct random *random, char kind, uint64_t count)
{
    static char names[32][8];
    static size_t next;
    char *name = names[next++ % 32];
    (void)snprintf(name, sizeof(names[0]), "%c%u", kind, (unsigned)random_below(random, count));
    return slice_from_cstr(name);
}

static struct slices pick_some(struct random *random, char kind, uint64_t count,
                               struct slice items[3])
{
    size_t some = random_below(random, 4);
    for (size_t i = 0; i < some; i++) {
        items[i] = pick(random, kind, count);
    }
    return (struct slices){ items, some };
}

static bool maybe(struct random *random)
{
    return random_below(random, 3) == 0;
}

static struct job_options random_options(struct random *random)
{
    struct job_options options = {
        .backoff = { .kind = (enum backoff_kind)random_below(random, 4),
                     .jitter_percent = (uint32_t)random_below(random, 50),
                     .base_us = us((double)random_below(random, 10)),
                     .cap_us = us((double)random_below(random, 30)) },
        .timeout_us = maybe(random) ? us((double)random_below(random, 90)) : 0,
        .result_ttl_us = maybe(random) ? us((double)random_below(random, 60)) : 0,
        .crashes_max = (int64_t)random_below(random, 3),
        .lease_us = maybe(random) ? us((double)random_below(random, 90)) : 0,
        .dependency_policy = (enum dependency_policy)random_below(random, 5),
    };
    return options;
}

static void random_extras(struct random *random, int64_t now_us, struct put_request *request,
                          struct job_options *options)
{
    request->has_domain = random_below(random, 4) > 0;
    request->domain =
        request->has_domain && !maybe(random) ? pick(random, 'd', DOMAINS) : SLICE_EMPTY;
    request->has_deadline = maybe(random);
    request->deadline_us = maybe(random) ? 0 : now_us + us(1 + (double)random_below(random, 60));
    if (maybe(random)) {
        *options = random_options(random);
        request->options = options;
    }
    if (maybe(random)) {
        request->unique =
            (struct unique_request){ .by = (enum unique_by)random_below(random, 3),
                                     .key = pick(random, 'u', 5),
                                     .until = (enum unique_until)random_below(random, 3),
                                     .for_us = us(1 + (double)random_below(random, 50)),
                                     .conflict = (enum unique_conflict)random_below(random, 3) };
    }
}

static enum status random_put(struct world *w, int64_t now_us, struct random *random)
{
    struct slice tags[3], depends[3];
    struct job_options options;
    const struct job *job;
    struct put_request request = {
        .queue = pick(random, 'q', QUEUES),
        .jid = pick(random, 'j', JIDS),
        .klass = pick(random, 'k', 3),
        .data = maybe(random) ? SLICE("[1, 2]") : SLICE("{}"),
        .worker = pick(random, 'w', WORKERS),
        .delay_us = maybe(random) ? us((double)random_below(random, 100)) : 0,
        .has_priority = maybe(random),
        .priority = (int32_t)random_below(random, 5) - 2,
        .has_retries = maybe(random),
        .retries = (int32_t)random_below(random, 3),
        .has_tags = maybe(random),
        .must_exist = random_below(random, 9) == 0,
    };
    random_extras(random, now_us, &request, &options);
    request.tags = request.has_tags ? pick_some(random, 't', TAGS, tags) : (struct slices){ 0 };
    request.depends = maybe(random) ? pick_some(random, 'j', JIDS, depends) : (struct slices){ 0 };
    return engine_put(w->engine, now_us, &request, &job, &w->error);
}

static enum status random_pop(struct world *w, int64_t now_us, struct random *random)
{
    struct slice queues[3];
    const struct job *popped[8];
    size_t count;
    const struct pop_request request = { .worker = pick(random, 'w', WORKERS),
                                         .queues = pick_some(random, 'q', QUEUES, queues),
                                         .order = maybe(random) ? POP_ROUND_ROBIN : POP_ORDERED,
                                         .count = random_below(random, 8) };
    return engine_pop(w->engine, now_us, &request, popped, &count, &w->error);
}

// The holder of some job, so that the calls of holders mostly work.
static struct holder random_holder(struct world *w, struct random *random)
{
    // What the engine gave is not to be given back to it.
    static char worker[8];
    struct slice jid = pick(random, 'j', JIDS), other = pick(random, 'w', WORKERS);
    const struct job *job = engine_get(w->engine, jid);
    struct job_view view = { .worker = other };
    if (job) {
        job_view(w->engine, job, &view);
    }
    (void)snprintf(worker, sizeof(worker), "%.*s",
                   SLICE_PRINT(view.worker.size ? view.worker : other));
    return (struct holder){ .jid = jid,
                            .worker = slice_from_cstr(worker),
                            .token = maybe(random) ? view.token : 0 };
}

static enum status random_work(struct world *w, int64_t now_us, struct random *random)
{
    struct slice depends[3];
    const struct holder holder = random_holder(w, random);
    enum job_state state;
    int64_t expires_us;
    int32_t remaining;
    switch (random_below(random, 10)) {
    case 7:
        return engine_progress(w->engine, now_us, &holder, (int32_t)random_below(random, 1000),
                               SLICE("so far"), &w->error);
    case 8:
        return engine_checkpoint(w->engine, now_us, &holder, pick(random, 'c', 9), &w->error);
    case 9:
        return engine_log_line(w->engine, now_us, &holder, pick(random, 'l', 9), &w->error);
    case 0: {
        const struct heartbeat_request request = {
            .holder = holder,
            .has_lease = maybe(random),
            .lease_us = us((double)random_below(random, 90)),
        };
        return engine_heartbeat(w->engine, now_us, &request, &expires_us, &w->error);
    }
    case 1:
        return engine_start(w->engine, now_us, &holder, 77, &w->error);
    case 2: {
        const struct fail_request request = { .holder = holder,
                                              .group = pick(random, 'g', 3),
                                              .message = SLICE("message") };
        return engine_fail(w->engine, now_us, &request, &w->error);
    }
    case 3: {
        const struct retry_request request = { .holder = holder,
                                               .to = maybe(random) ? pick(random, 'q', QUEUES)
                                                                   : SLICE_EMPTY,
                                               .has_delay = maybe(random),
                                               .seed = random_u64(random),
                                               .delay_us = maybe(random) ? us(30) : 0,
                                               .has_failure = maybe(random),
                                               .group = SLICE("g0"),
                                               .message = SLICE("again") };
        return engine_retry(w->engine, now_us, &request, &remaining, &w->error);
    }
    default: {
        struct complete_request request = { .holder = holder, .result = pick(random, 'e', 3) };
        if (maybe(random)) {
            request.next = pick(random, 'q', QUEUES);
            request.has_delay = maybe(random);
            request.delay_us = request.has_delay ? us(20) : 0;
            request.has_depends = maybe(random);
            request.depends =
                request.has_depends ? pick_some(random, 'j', JIDS, depends) : (struct slices){ 0 };
        }
        return engine_complete(w->engine, now_us, &request, &state, &w->error);
    }
    }
}

static enum status random_change(struct world *w, int64_t now_us, struct random *random)
{
    struct slice items[3];
    struct slice jid = pick(random, 'j', JIDS);
    const struct job *job;
    size_t count;
    bool changed;
    switch (random_below(random, 12)) {
    case 0:
        return engine_cancel(w->engine, now_us, pick_some(random, 'j', JIDS, items), &count, NULL,
                             &w->error);
    case 1:
        return engine_delete(w->engine, now_us, jid, &w->error);
    case 2:
        return engine_priority(w->engine, now_us, jid, 1, &w->error);
    case 3:
        return engine_update_data(w->engine, now_us, jid, SLICE("[1]"), &w->error);
    case 4:
        return engine_timeout(w->engine, now_us, (struct slices){ &jid, 1 }, &w->error);
    case 5:
        return engine_depends_on(w->engine, now_us, jid, pick_some(random, 'j', JIDS, items),
                                 maybe(random) ? MISSING_COMPLETE : MISSING_REFUSED, &w->error);
    case 6:
        return engine_depends_off(w->engine, now_us, jid, pick_some(random, 'j', JIDS, items),
                                  &w->error);
    case 7:
        return engine_unfail(w->engine, now_us, pick(random, 'q', QUEUES), pick(random, 'g', 3), 2,
                             &count, &w->error);
    case 8:
        return engine_tag_add(w->engine, now_us, jid, pick_some(random, 't', TAGS, items), &job,
                              &w->error);
    case 9:
        return engine_tag_remove(w->engine, now_us, jid, pick_some(random, 't', TAGS, items), &job,
                                 &w->error);
    case 10:
        return engine_track(w->engine, now_us, jid, &changed, &w->error);
    default:
        return engine_untrack(w->engine, now_us, jid, &changed, &w->error);
    }
}

static enum status random_rest(struct world *w, int64_t now_us, struct random *random)
{
    struct slice items[3];
    struct queue_view view;
    switch (random_below(random, 10)) {
    case 0: {
        const struct recur_request request = { .queue = pick(random, 'q', QUEUES),
                                               .jid = pick(random, 'r', 3),
                                               .klass = SLICE("k"),
                                               .interval_us = us(25),
                                               .backlog = (int64_t)random_below(random, 3),
                                               .tags = pick_some(random, 't', TAGS, items) };
        return engine_recur(w->engine, now_us, &request, &w->error);
    }
    case 1:
        return engine_unrecur(w->engine, now_us, pick(random, 'r', 3), &w->error);
    case 2:
        return engine_pause(w->engine, now_us, pick_some(random, 'q', QUEUES, items), &w->error);
    case 3:
        return engine_unpause(w->engine, now_us, pick_some(random, 'q', QUEUES, items), &w->error);
    case 4:
        return engine_forget(w->engine, now_us, pick_some(random, 'q', QUEUES, items), &w->error);
    case 5:
        return engine_workers_prune(w->engine, now_us, &w->error);
    case 6:
        return engine_worker_offline(w->engine, now_us, pick(random, 'w', WORKERS), &w->error);
    case 7:
        return engine_worker_deregister(w->engine, now_us, pick_some(random, 'w', WORKERS, items),
                                        &w->error);
    case 8:
        return engine_config_set(
            w->engine, now_us, maybe(random) ? SLICE("jobs-history-count") : SLICE("q1-heartbeat"),
            maybe(random) ? SLICE("10") : SLICE("4.5"), &w->error);
    default:
        return engine_queue(w->engine, now_us, pick(random, 'q', QUEUES), &view, &w->error);
    }
}

static enum status random_setting(struct world *w, int64_t now_us, struct random *random)
{
    static const char *const patterns[] = { "*", "d*", "*1" };
    const struct slice queue = maybe(random) ? pick(random, 'q', QUEUES) : SLICE_EMPTY;
    const struct slice domain = maybe(random)   ? name_of(patterns[random_below(random, 3)])
                                : maybe(random) ? SLICE_EMPTY
                                                : pick(random, 'd', DOMAINS);
    switch (random_below(random, 6)) {
    case 0:
    case 1: {
        const struct limit limit = { .has_rate = maybe(random),
                                     .rate_count = (int64_t)random_below(random, 4),
                                     .rate_period_us = us(1 + (double)random_below(random, 9)),
                                     .burst = (int64_t)random_below(random, 4),
                                     .has_concurrency = true,
                                     .concurrency = (int64_t)random_below(random, 5),
                                     .has_weight = maybe(random),
                                     .weight = 1 + (int64_t)random_below(random, 7) };
        return engine_limit_set(w->engine, now_us, queue, domain, &limit, &w->error);
    }
    case 2:
        return engine_limit_unset(w->engine, now_us, queue, domain, &w->error);
    case 3:
        return engine_config_set(w->engine, now_us,
                                 maybe(random) ? SLICE("q0-fair") : SLICE("q1-fair"),
                                 maybe(random) ? SLICE("0") : SLICE("1"), &w->error);
    default: {
        const struct job_options options =
            maybe(random) ? random_options(random) : (struct job_options){ 0 };
        return engine_policy_set(w->engine, now_us, POLICY_KLASS, pick(random, 'k', 3), &options,
                                 &w->error);
    }
    }
}

static enum status random_call(struct world *w, int64_t now_us, struct random *random)
{
    uint64_t choice = random_below(random, 100);
    return choice < 25   ? random_put(w, now_us, random)
           : choice < 50 ? random_pop(w, now_us, random)
           : choice < 75 ? random_work(w, now_us, random)
           : choice < 88 ? random_change(w, now_us, random)
           : choice < 94 ? random_setting(w, now_us, random)
                         : random_rest(w, now_us, random);
}

// Time goes on; with the client clock now and then it is behind.
static int64_t random_time(struct random *random, enum engine_clock clock, double *now)
{
    *now += (double)random_below(random, 4000) / 1000;
    bool behind = clock == ENGINE_CLOCK_CLIENT && random_below(random, 10) == 0;
    double seconds = behind ? *now - (double)random_below(random, 60) : *now;
    return us(seconds > 0 ? seconds : 0);
}

// With `loads` one of the two engines is saved and loaded all the time.
static void same_calls_same_bytes(enum engine_clock clock, bool loads)
{
    struct random random;
    random_init(&random);
    struct world *a = world_new(clock, 1), *b = world_new(clock, 2);
    double now = 0;
    for (int i = 1; i <= RANDOM_CALLS; i++) {
        int64_t now_us = random_time(&random, clock, &now);
        struct random one = random, other = random;
        enum status status = random_call(a, now_us, &one);
        assert_int_equal(random_call(b, now_us, &other), status);
        assert_int_equal(one.state, other.state);
        random = one;
        if (i % RANDOM_CHECK_EVERY == 0 || i <= RANDOM_CHECK_FIRST) {
            assert_same_as(a, b, loads);
            assert_int_equal(faults_of(a), 0);
            if (loads) {
                reload(a);
            }
            buffer_append_char(&b->events, '\0');
            expect_events(a, b->events.data);
            buffer_clear(&b->events);
        }
    }
    world_free(a);
    world_free(b);
}

static void test_engine__the_same_calls_give_the_same_bytes(void **state)
{
    (void)state;
    same_calls_same_bytes(ENGINE_CLOCK_SERVER, false);
}

static void test_engine__an_engine_that_was_loaded_goes_on_as_if_it_had_not(void **state)
{
    (void)state;
    same_calls_same_bytes(ENGINE_CLOCK_SERVER, true);
}

static void test_engine__the_same_calls_give_the_same_bytes_with_the_client_clock(void **state)
{
    (void)state;
    same_calls_same_bytes(ENGINE_CLOCK_CLIENT, false);
}

static void
test_engine__an_engine_that_was_loaded_goes_on_as_if_it_had_not_with_the_client_clock(void **state)
{
    (void)state;
    same_calls_same_bytes(ENGINE_CLOCK_CLIENT, true);
}

// Two lanes without jobs in line get a record in the same call. In one engine the lane of d1 is the
// older one; in the other, which was loaded, that of d2.
static void test_engine__it_makes_no_difference_which_lane_is_older(void **state)
{
    (void)state;
    struct world *both[] = { world_new(ENGINE_CLOCK_SERVER, 1), world_new(ENGINE_CLOCK_SERVER, 1) };
    for (int i = 0; i < 2; i++) {
        struct world *w = both[i];
        limit_set(w, 0, "q", NULL, rate(1, 1, 1));
        put_in(w, 1, "d1", "first");
        put_in(w, 1, "d2", "second");
        put_in(w, 1, "d1", "third");
        assert_int_equal(cancel(w, 1, "first"), 1);
        assert_string_equal(pop(w, 2, "q", "w", 2), "second,third");
        if (i == 1) {
            reload(w);
        }
        limit_set(w, 10, "q", NULL, rate(1, 1, 5));
    }
    assert_same(both[0], both[1]);
    world_free(both[0]);
    world_free(both[1]);
}

// One of the first allocations of each call fails. Then nothing may have changed, unless the call
// is one that does what it can.
static void calls_without_memory(enum engine_clock clock)
{
    struct random random;
    random_init(&random);
    struct world *w = world_new(clock, 1);
    struct buffer before, after;
    buffer_init(&before, &allocator_system, SIZE_MAX - 1);
    buffer_init(&after, &allocator_system, SIZE_MAX - 1);
    double now = 0;
    for (int i = 1; i <= RANDOM_FAILURES; i++) {
        int64_t now_us = random_time(&random, clock, &now);
        while (engine_tick(w->engine, now_us) == now_us) {
        }
        save(w, &before);
        size_t events = w->events.size, fail_at = 1 + random_below(&random, 12);
        struct random look = random;
        uint64_t choice = random_below(&look, 100);
        bool looks =
            (choice >= 25 && choice < 50) || (clock == ENGINE_CLOCK_CLIENT && choice >= 94);
        w->fault.calls = 0;
        w->fault.failed = false;
        w->fault.fail_at = fail_at;
        enum status status = random_call(w, now_us, &random);
        assert_true(status != STATUS_NO_MEMORY || w->fault.failed);
        w->fault.fail_at = 0;
        if (status && !looks) {
            save(w, &after);
            bool same = slice_equal(buffer_slice(&before), buffer_slice(&after)) &&
                        w->events.size == events;
            if (!same) {
                print_error("call %d, choice %d, allocation %zu: %s\n", i, (int)choice,
                            w->fault.calls, error_sentence(&w->error));
            }
            assert_true(same);
        }
        forget_events(w);
        if (i % 10 == 0) {
            assert_int_equal(faults_of(w), 0);
        }
    }
    buffer_release(&before);
    buffer_release(&after);
    world_free(w);
}

static void test_engine__calls_that_cannot_get_memory_change_nothing(void **state)
{
    (void)state;
    calls_without_memory(ENGINE_CLOCK_SERVER);
}

static void
test_engine__calls_that_cannot_get_memory_change_nothing_with_the_client_clock(void **state)
{
    (void)state;
    calls_without_memory(ENGINE_CLOCK_CLIENT);
}

static void test_engine__a_host_that_does_not_listen_is_not_told(void **state)
{
    (void)state;
    const struct engine_options options = { .allocator = &allocator_system,
                                            .clock = ENGINE_CLOCK_SERVER };
    struct engine *engine;
    assert_int_equal(engine_new(&options, &engine), STATUS_OK);
    const struct put_request request = { .queue = SLICE("q"),
                                         .jid = SLICE("a"),
                                         .klass = SLICE("k") };
    const struct job *job;
    assert_int_equal(engine_put(engine, 0, &request, &job, NULL), STATUS_OK);
    engine_free(engine);
    engine_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SERVER_TEST(test_engine__tick_says_when_it_wants_to_be_called_next),
        CLIENT_TEST(test_engine__with_the_client_clock_a_tick_does_nothing),
        SERVER_TEST(test_engine__a_call_first_does_what_was_due),
        SERVER_TEST(test_engine__a_thousand_things_happen_in_one_call_the_rest_in_the_next),
        SERVER_TEST(test_engine__at_one_instant_queues_go_by_age_and_leases_before_the_rest),
        cmocka_unit_test(test_engine__it_makes_no_difference_when_somebody_looked),
        cmocka_unit_test(test_engine__the_same_calls_give_the_same_bytes),
        cmocka_unit_test(test_engine__the_same_calls_give_the_same_bytes_with_the_client_clock),
        cmocka_unit_test(test_engine__an_engine_that_was_loaded_goes_on_as_if_it_had_not),
        cmocka_unit_test(
            test_engine__an_engine_that_was_loaded_goes_on_as_if_it_had_not_with_the_client_clock),
        cmocka_unit_test(test_engine__it_makes_no_difference_which_lane_is_older),
        cmocka_unit_test(test_engine__calls_that_cannot_get_memory_change_nothing),
        cmocka_unit_test(
            test_engine__calls_that_cannot_get_memory_change_nothing_with_the_client_clock),
        cmocka_unit_test(test_engine__a_host_that_does_not_listen_is_not_told),
    };
    return cmocka_run_group_tests_name("engine", tests, NULL, NULL);
}
