// SPDX-License-Identifier: MIT
// A saved engine with changed bytes and a checksum that is right all the same: it must load or be
// refused, and what loads must work. The input is a list of changes: two bytes of where, one of
// what.
#include "engine/bulk/bulk.h"
#include "engine/check/check.h"
#include "engine/config/policy.h"
#include "engine/explain/explain.h"
#include "engine/lanes/limit.h"
#include "engine/recurring/zone.h"
#include "engine_snapshot.h"

#include "base/bytes.h"
#include "base/crc32c.h"

#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    HEADER_SIZE = 12,
    CRC_SIZE = 4,
    SECOND = 1000000,
};

static const struct engine_options options = { .allocator = &allocator_system, .seed = { 1, 2 } };
static const struct slice queue = { "q", 1 }, worker = { "w", 1 };

static void require(int holds, const char *sentence)
{
    if (!holds) {
        (void)fprintf(stderr, "fuzz_snapshot: %s\n", sentence);
        abort();
    }
}

static void put(struct engine *engine, struct put_request request)
{
    const struct slice tag = SLICE("red");
    const struct job *job;
    request.queue = request.queue.size ? request.queue : queue;
    request.klass = SLICE("k");
    request.data = SLICE("{}");
    request.has_tags = true;
    request.tags = (struct slices){ &tag, 1 };
    require(!engine_put(engine, SECOND, &request, &job, NULL), "a job cannot be put");
}

// A job in every state.
static void make_jobs(struct engine *engine)
{
    const struct slice first = SLICE("first"), second = SLICE("second");
    const struct job *jobs[3];
    size_t popped;
    bool changed;
    enum job_state state;
    put(engine, (struct put_request){ .jid = first });
    put(engine, (struct put_request){ .jid = second });
    put(engine, (struct put_request){ .jid = SLICE("third") });
    put(engine, (struct put_request){ .jid = SLICE("waits") });
    put(engine, (struct put_request){ .jid = SLICE("depends"), .depends = { &first, 1 } });
    put(engine, (struct put_request){ .jid = SLICE("later"), .delay_us = 100 * (int64_t)SECOND });
    const struct pop_request pop = { .worker = worker, .queues = { &queue, 1 }, .count = 3 };
    require(!engine_pop(engine, SECOND, &pop, jobs, &popped, NULL) && popped == 3, "no pop");
    const struct fail_request fail = { .holder = { .jid = second, .worker = worker },
                                       .group = SLICE("group"),
                                       .message = SLICE("message") };
    require(!engine_fail(engine, SECOND, &fail, NULL), "no fail");
    const struct complete_request complete = {
        .holder = { .jid = SLICE("third"), .worker = worker }, .result = SLICE("1")
    };
    require(!engine_complete(engine, SECOND, &complete, &state, NULL), "no complete");
    // What has failed, and is to be dealt with by the next call.
    put(engine, (struct put_request){
                    .jid = SLICE("falls"),
                    .depends = { &second, 1 },
                    .options = &(struct job_options){ .dependency_policy = DEPENDENCY_FAIL } });
    require(!engine_track(engine, SECOND, SLICE("waits"), &changed, NULL), "no track");
}

// A lane that has used up its rate, with all that a job can have; and a fair queue.
static void make_lanes(struct engine *engine)
{
    static const char *const domains[] = { "acme", "bold", "" };
    const struct slice lanes = SLICE("lanes");
    const struct limit limit = { .has_rate = true,
                                 .rate_count = 1,
                                 .rate_period_us = 30 * (int64_t)SECOND,
                                 .burst = 2,
                                 .has_concurrency = true,
                                 .concurrency = 3,
                                 .has_weight = true,
                                 .weight = 5 };
    require(!engine_config_set(engine, SECOND, SLICE("lanes-fair"), SLICE("1"), NULL), "no fair");
    require(!engine_limit_set(engine, SECOND, lanes, SLICE("acme"), &limit, NULL), "no limit");
    require(!engine_limit_set(engine, SECOND, SLICE_EMPTY, SLICE("b*"), &limit, NULL), "no limit");
    for (unsigned i = 0; i < 9; i++) {
        const char jid[] = { 'l', (char)('0' + i), '\0' };
        put(engine,
            (struct put_request){
                .queue = lanes,
                .jid = slice_from_cstr(jid),
                .has_domain = true,
                .domain = slice_from_cstr(domains[i % 3]),
                .has_deadline = i > 4,
                .deadline_us = 50 * (int64_t)SECOND,
                .options = &(
                    struct job_options){ .backoff = { .kind = BACKOFF_LIST,
                                                      .jitter_percent = 10,
                                                      .list_count = 2,
                                                      .list_us = { SECOND, INT64_C(2) * SECOND } },
                                         .timeout_us = 40 * (int64_t)SECOND,
                                         .result_ttl_us = 60 * (int64_t)SECOND,
                                         .crashes_max = 2 },
                .unique = { .by = i % 2 ? UNIQUE_BY_KEY : UNIQUE_NONE,
                            .key = slice_from_cstr(jid),
                            .until = i % 4 == 1 ? UNIQUE_UNTIL_FINISHED : UNIQUE_FOR_TIME,
                            .for_us = 20 * (int64_t)SECOND } });
    }
    const struct pop_request pop = { .worker = worker, .queues = { &lanes, 1 }, .count = 4 };
    const struct job *jobs[4];
    size_t popped;
    require(!engine_pop(engine, SECOND, &pop, jobs, &popped, NULL) && popped == 4, "no pop");
    struct job_view view;
    job_view(engine, jobs[0], &view);
    const struct holder holder = { .jid = view.jid, .worker = worker };
    require(!engine_progress(engine, SECOND, &holder, 500000, SLICE("half"), NULL), "no progress");
    require(!engine_checkpoint(engine, SECOND, &holder, SLICE("7"), NULL), "no checkpoint");
    require(!engine_log_line(engine, SECOND, &holder, SLICE("line"), NULL), "no log");
    job_view(engine, jobs[1], &view);
    enum job_state state;
    const struct complete_request complete = { .holder = { .jid = view.jid, .worker = worker },
                                               .result = SLICE("1") };
    require(!engine_complete(engine, SECOND, &complete, &state, NULL), "no complete");
}

static void make_recurring(struct engine *engine)
{
    const struct zone_transition shifts[] = { { 10 * (int64_t)SECOND, 3600 },
                                              { 20 * (int64_t)SECOND, -7200 } };
    const struct zone_rules rules = { 60, shifts, 2 };
    const struct recur_request by_interval = { .queue = queue,
                                               .jid = SLICE("again"),
                                               .klass = SLICE("k"),
                                               .data = SLICE("{}"),
                                               .interval_us = 60 * (int64_t)SECOND,
                                               .offset_us = 60 * (int64_t)SECOND };
    const struct recur_request by_cron = { .queue = queue,
                                           .jid = SLICE("cron"),
                                           .klass = SLICE("k"),
                                           .data = SLICE("{}"),
                                           .cron = SLICE("*/30 * * * * *"),
                                           .zone = SLICE("Here"),
                                           .domain = SLICE("acme"),
                                           .backlog = 2,
                                           .overlap = RECUR_OVERLAP_SKIP,
                                           .options =
                                               &(struct job_options){ .timeout_us = SECOND } };
    require(!engine_recur(engine, SECOND, &by_interval, NULL), "no recur");
    require(!engine_zone_set(engine, SECOND, SLICE("Here"), &rules, NULL), "no zone");
    require(!engine_recur(engine, SECOND, &by_cron, NULL), "no cron");
}

// Policies, and one bulk operation that is done.
static void make_settings(struct engine *engine)
{
    const struct slice tags[] = { SLICE("blue"), SLICE("green") };
    const struct job_options policy = { .dependency_policy = DEPENDENCY_RUN,
                                        .timeout_us = 30 * (int64_t)SECOND };
    const struct bulk_request bulk = { .filter = { .queue = queue, .klass = SLICE("k") },
                                       .act = BULK_TAG,
                                       .tags = { tags, 2 } };
    uint64_t id;
    require(!engine_policy_set(engine, SECOND, POLICY_KLASS, SLICE("k"), &policy, NULL) &&
                !engine_policy_set(engine, SECOND, POLICY_QUEUE, queue, &policy, NULL),
            "no policy");
    require(!engine_bulk(engine, SECOND, &bulk, &id, NULL), "no bulk");
    require(!engine_config_set(engine, SECOND, SLICE("heartbeat"), SLICE("20"), NULL), "no config");
}

// Something of everything. The jobs come last, so that what they left to be done is not done yet.
static void make(struct buffer *out)
{
    struct engine *engine;
    require(!engine_new(&options, &engine), "no engine");
    make_lanes(engine);
    make_recurring(engine);
    make_settings(engine);
    make_jobs(engine);
    require(!engine_save(engine, out), "it cannot be saved");
    engine_free(engine);
}

// What is due happens, and the rest of the calls find their way.
static void use(struct engine *engine)
{
    const struct slice queues[] = { queue, SLICE("lanes") };
    const struct pop_request pop = { .worker = worker, .queues = { queues, 2 }, .count = 4 };
    const struct bulk_request bulk = { .act = BULK_RETRY };
    const struct job *jobs[4];
    struct explanation why;
    size_t popped;
    uint64_t id;
    for (int64_t second = 0; second <= 100; second += 25) {
        (void)engine_tick(engine, second * SECOND);
        (void)!engine_pop(engine, second * SECOND, &pop, jobs, &popped, NULL);
        (void)!engine_explain(engine, second * SECOND, SLICE("l7"), &why, NULL);
    }
    (void)!engine_bulk(engine, 100 * (int64_t)SECOND, &bulk, &id, NULL);
}

static void complain(void *context, const char *sentence)
{
    (void)context;
    (void)fprintf(stderr, "fuzz_snapshot: %s\n", sentence);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct buffer saved; // made once, and kept to the end
    if (!saved.size) {
        buffer_init(&saved, &allocator_system, 1 << 20);
        make(&saved);
    }
    struct buffer bytes;
    buffer_init(&bytes, &allocator_system, 1 << 20);
    buffer_append(&bytes, buffer_slice(&saved));
    size_t end = bytes.size - CRC_SIZE;
    for (size_t i = 0; i + 3 <= size; i += 3) {
        size_t where = HEADER_SIZE + bytes_load_u16(data + i) % (end - HEADER_SIZE);
        bytes.data[where] = (char)data[i + 2];
    }
    bytes_store_u32(bytes.data + end, crc32c(0, bytes.data, end));

    struct engine *engine = NULL;
    struct error error = { 0 };
    enum status status = engine_load(&options, buffer_slice(&bytes), &engine, &error);
    require(!status || error.detail[0], "it was refused without a reason");
    if (!status) {
        require(!engine_check(engine, false, complain, NULL), "what was loaded is not sound");
        use(engine);
    }
    engine_free(engine);
    buffer_release(&bytes);
    return 0;
}
