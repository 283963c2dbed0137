// SPDX-License-Identifier: MIT
// A saved engine and its records: what was damaged is refused, what changed is told.
#include "engine_snapshot.h"

#include "base/bytes.h"
#include "base/crc32c.h"
#include "engine/bulk/bulk.h"
#include "engine/check/check.h"
#include "engine/records/changes.h"
#include "engine/recurring/zone.h"

#include "engine_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct engine_options options = { .allocator = &allocator_system, .seed = { 1, 2 } };

static struct put_request in_lane(const char *jid, const char *domain)
{
    return (struct put_request){
        .queue = SLICE("lanes"), .jid = name_of(jid), .has_domain = true, .domain = name_of(domain)
    };
}

// Lanes that may run, are limited, busy or at rest, in a queue that is fair for a while.
static void script_lanes(struct world *w, void (*after)(struct world *w))
{
    limit_set(w, 100, "lanes", "slow", rate(3, 100, 2));
    after(w);
    limit_set(w, 100, NULL, "b*", concurrency(1));
    after(w);
    limit_set(w, 100, NULL, NULL, weight(3));
    after(w);
    limit_set(w, 100, NULL, "*", rate(7, 1, 0));
    after(w);
    for (int i = 0; i < 12; i++) {
        char jid[8];
        (void)snprintf(jid, sizeof(jid), "lane%d", i);
        const char *domain = i % 4 == 0 ? "slow" : i % 4 == 1 ? "busy" : i % 4 == 2 ? "other" : "";
        put_with(w, 100, in_lane(jid, domain));
        after(w);
    }
    set(w, "lanes-fair", "1");
    after(w);
    pop(w, 101, "lanes", "w4", 2);
    after(w);
    pop(w, 101, "lanes", "w4", 9);
    after(w);
    limit_set(w, 102, "lanes", "slow", rate(1, 50, 4));
    after(w);
    limit_unset(w, 103, NULL, "*");
    after(w);
    complete(w, 104, "w4", "lane0");
    after(w);
    cancel(w, 104, "lane4");
    after(w);
    cancel(w, 104, "lane8"); // the lane has nothing left but what it may not run yet
    after(w);
    unset(w, "lanes-fair");
    after(w);
    pop(w, 110, "lanes", "w4", 2);
    after(w);
    set(w, "lanes-fair", "1");
    after(w);
    put_with(w, 111, in_lane("lane12", "new"));
    after(w);
    limit_set(w, 111, "lanes", NULL, rate(1, 5, 1));
    after(w);
    pop(w, 111, "lanes", "w4", 9);
    after(w);
    said(w, engine_priority(w->engine, at(w, 111), SLICE("lane9"), -4, &w->error));
    after(w);
    tick(w, 118);
    after(w);
    assert_int_equal(lane_count(w), 4);
}

// Options, policies, locks, deadlines, and what a run reports.
static void script_options(struct world *w, void (*after)(struct world *w))
{
    static const struct holder holds = { .jid = { "report", 6 }, .worker = { "w5", 2 } };
    const struct job_options options_of_job = {
        .backoff = { .kind = BACKOFF_LIST,
                     .jitter_percent = 20,
                     .cap_us = us(50),
                     .list_count = 3,
                     .list_us = { us(1), us(2), us(3) } },
        .timeout_us = us(1000),
        .dependency_policy = DEPENDENCY_RUN,
    };
    policy_set(w, 120, POLICY_KLASS, "k",
               (struct job_options){ .crashes_max = 2, .result_ttl_us = us(20) });
    after(w);
    policy_set(w, 120, POLICY_QUEUE, "report", options_of_job);
    after(w);
    policy_set(w, 120, POLICY_QUEUE, "report", (struct job_options){ .timeout_us = -1 });
    after(w);
    policy_set(w, 120, POLICY_QUEUE, "none", (struct job_options){ .timeout_us = us(3) });
    after(w);
    policy_set(w, 120, POLICY_QUEUE, "none", (struct job_options){ 0 });
    after(w);
    put_with(w, 120,
             (struct put_request){ .queue = SLICE("report"),
                                   .jid = SLICE("report"),
                                   .options = &options_of_job,
                                   .has_deadline = true,
                                   .deadline_us = us(500),
                                   .unique = { .by = UNIQUE_BY_KEY, .key = SLICE("key") } });
    after(w);
    put_with(
        w, 120,
        (struct put_request){
            .queue = SLICE("report"),
            .jid = SLICE("contents"),
            .delay_us = us(900),
            .has_deadline = true,
            .deadline_us = us(140),
            .unique = { .by = UNIQUE_BY_CONTENTS, .until = UNIQUE_FOR_TIME, .for_us = us(50) } });
    after(w);
    put_with(w, 120,
             (struct put_request){ .queue = SLICE("report"),
                                   .jid = SLICE("started"),
                                   .unique = { .by = UNIQUE_BY_KEY,
                                               .key = SLICE("started"),
                                               .until = UNIQUE_UNTIL_STARTED } });
    after(w);
    pop(w, 121, "report", "w5", 1);
    after(w);
    said(w, engine_progress(w->engine, at(w, 122), &holds, 500000, SLICE("half"), &w->error));
    after(w);
    said(w, engine_checkpoint(w->engine, at(w, 122), &holds, SLICE("[10]"), &w->error));
    after(w);
    said(w, engine_log_line(w->engine, at(w, 122), &holds, SLICE("a line"), &w->error));
    after(w);
    said(w, engine_log_line(w->engine, at(w, 123), &holds, SLICE("another"), &w->error));
    after(w);
    retry_with(w, 124, (struct retry_request){ .holder = holds, .seed = 4 });
    after(w);
    pop(w, 130, "report", "w5", 2);
    after(w);
    complete_with(w, 131,
                  (struct complete_request){ .holder = holds, .result = SLICE("\"result\"") });
    after(w);
    put_with(
        w, 132,
        (struct put_request){ .queue = SLICE("report"),
                              .jid = SLICE("replaces"),
                              .unique = { .by = UNIQUE_BY_CONTENTS, .conflict = UNIQUE_REPLACE } });
    after(w);
    put_with(w, 132,
             (struct put_request){ .queue = SLICE("report"),
                                   .jid = SLICE("expires"),
                                   .has_deadline = true,
                                   .deadline_us = us(135),
                                   .unique = { .by = UNIQUE_BY_KEY, .key = SLICE("expires") } });
    after(w);
    tick(w, 140); // with the server clock it expires
    after(w);
    tick(w, 160); // and the result is dropped
    after(w);
    complete(w, 161, "w5", "started");
    after(w);
}

// What the host hands over and begins.
static void script_operations(struct world *w, void (*after)(struct world *w))
{
    static const struct zone_transition transitions[] = { { 5, 3600 }, { 900, 7200 } };
    const struct zone_rules rules = { .offset_s = -60, .transitions = transitions, .count = 2 };
    said(w, engine_zone_set(w->engine, at(w, 170), SLICE("Here/There"), &rules, &w->error));
    after(w);
    const struct zone_rules utc = { 0 };
    said(w, engine_zone_set(w->engine, at(w, 170), SLICE("Nowhere"), &utc, &w->error));
    after(w);
    recur_with(w, 170,
               (struct recur_request){ .queue = SLICE("lanes"),
                                       .jid = SLICE("cron"),
                                       .cron = SLICE("*/5 * * * *"),
                                       .zone = SLICE("Here/There"),
                                       .missed = RECUR_MISSED_ONE,
                                       .overlap = RECUR_OVERLAP_SKIP,
                                       .domain = SLICE("other"),
                                       .options = &(struct job_options){ .crashes_max = 3 },
                                       .tags = slices_of(w, "red") });
    after(w);
    const struct bulk_request request = { .act = BULK_TAG,
                                          .filter.queue = SLICE("lanes"),
                                          .tags = slices_of(w, "green") };
    uint64_t id;
    said(w, engine_bulk(w->engine, at(w, 171), &request, &id, &w->error));
    after(w);
    pop(w, 320, "lanes", "w6", 1);
    after(w);
}

// Something of everything, one call after the other; `after` is called behind each.
static void script(struct world *w, void (*after)(struct world *w))
{
    set(w, "q-heartbeat", "30");
    after(w);
    put(w, 0, "q", "a");
    after(w);
    tag(w, 0, "a", "red,blue");
    after(w);
    put_depending(w, 0, "q", "b", "a");
    after(w);
    put_later(w, 0, "q", "c", 10);
    after(w);
    recur(w, 0, "r", "again", 60);
    after(w);
    track(w, 0, "a");
    after(w);
    said(w, engine_pause(w->engine, at(w, 0), slices_of(w, "p"), &w->error));
    after(w);
    pop(w, 1, "q", "w1", 1);
    after(w);
    heartbeat(w, 2, "w1", "a");
    after(w);
    complete_with(w, 3,
                  (struct complete_request){ .holder = { .jid = SLICE("a"), .worker = SLICE("w1") },
                                             .data = SLICE("[1,2,3]"),
                                             .result = SLICE("\"done\"") });
    after(w);
    pop(w, 20, "q", "w2", 2);
    after(w);
    fail_job(w, 21, "w2", "b", "group");
    after(w);
    tick(w, 55); // the lease of c runs out, and it is in its grace
    after(w);
    pop(w, 60, "r", "w3", 1);
    after(w);
    put(w, 61, "q", "gone");
    after(w);
    cancel(w, 61, "gone");
    after(w);
    untag(w, 61, "a", "blue");
    after(w);
    said(w, engine_unrecur(w->engine, at(w, 61), SLICE("again"), &w->error));
    after(w);
    said(w, engine_worker_deregister(w->engine, at(w, 61), slices_of(w, "w1"), &w->error));
    after(w);
    tick(w, 70);
    after(w);
    script_lanes(w, after);
    script_options(w, after);
    script_operations(w, after);
}

static void nothing(struct world *w)
{
    (void)w;
}

static void saved(struct world *w, struct buffer *out)
{
    script(w, nothing);
    buffer_init(out, &allocator_system, SIZE_MAX - 1);
    save(w, out);
}

static void test_snapshot__every_damaged_byte_is_found(void **state)
{
    struct world *w = *state;
    struct buffer bytes;
    saved(w, &bytes);
    for (size_t i = 0; i < bytes.size; i++) {
        bytes.data[i] ^= 0x10;
        struct engine *engine = NULL;
        struct error error = { 0 };
        enum status status = engine_load(&options, buffer_slice(&bytes), &engine, &error);
        assert_true(status == STATUS_CORRUPT || status == STATUS_UNSUPPORTED);
        assert_true(error.detail[0] != '\0');
        bytes.data[i] ^= 0x10;
    }
    buffer_release(&bytes);
}

static void test_snapshot__every_cut_is_found(void **state)
{
    struct world *w = *state;
    struct buffer bytes;
    saved(w, &bytes);
    for (size_t size = 0; size < bytes.size; size++) {
        struct engine *engine = NULL;
        enum status status =
            engine_load(&options, slice_make(bytes.data, size), &engine, &w->error);
        assert_int_equal(status, STATUS_CORRUPT);
    }
    buffer_release(&bytes);
}

// As before, but with a checksum that is right: nothing may crash or leak, and what loads is sound.
static void test_snapshot__damage_under_a_right_checksum_loads_sound_or_not_at_all(void **state)
{
    struct world *w = *state;
    struct buffer bytes;
    saved(w, &bytes);
    size_t covered = bytes.size - 4;
    size_t refused_count = 0;
    for (size_t i = 12; i < covered; i++) {
        for (unsigned bit = 0; bit < 8; bit += 3) {
            bytes.data[i] = (char)(bytes.data[i] ^ (1 << bit));
            bytes_store_u32(bytes.data + covered, crc32c(0, bytes.data, covered));
            struct engine *engine = NULL;
            enum status status = engine_load(&options, buffer_slice(&bytes), &engine, &w->error);
            refused_count += status != STATUS_OK;
            engine_free(engine);
            bytes.data[i] = (char)(bytes.data[i] ^ (1 << bit));
        }
    }
    assert_true(refused_count > covered / 4);
    buffer_release(&bytes);
}

static void test_snapshot__without_memory_nothing_is_loaded(void **state)
{
    struct world *w = *state;
    struct buffer bytes;
    saved(w, &bytes);
    struct fault_alloc fault;
    FAULT_ALLOC_EACH(&fault)
    {
        const struct engine_options failing = { .allocator = &fault.allocator, .seed = { 1, 2 } };
        struct engine *engine = NULL;
        enum status status = engine_load(&failing, buffer_slice(&bytes), &engine, NULL);
        FAULT_ALLOC_EXPECT(&fault, status);
        engine_free(engine);
    }
    buffer_release(&bytes);
}

static void test_snapshot__what_was_loaded_saves_the_same_after_every_call(void **state)
{
    script(*state, reload);
}

// A store in its plainest form: the newest bytes of each record.
enum {
    RECORDS_MAX = 4000,
};

struct stored {
    struct record_key key;
    char *bytes;
    size_t size;
};

static struct stored store[RECORDS_MAX];
static size_t store_count;
static size_t body_writes;

static bool same_key(struct record_key a, struct record_key b)
{
    return a.kind == b.kind && a.id == b.id && a.extra == b.extra;
}

static enum status keep(void *context, struct record_key key, struct slice bytes)
{
    (void)context;
    size_t i = 0;
    while (i < store_count && !same_key(store[i].key, key)) {
        i++;
    }
    body_writes += key.kind == RECORD_BODY && bytes.size;
    if (i == store_count) {
        assert_true(store_count < RECORDS_MAX);
        store[store_count++] = (struct stored){ .key = key };
    }
    free(store[i].bytes);
    store[i].bytes = NULL;
    store[i].size = bytes.size;
    if (bytes.size) {
        store[i].bytes = malloc(bytes.size);
        assert_non_null(store[i].bytes);
        memcpy(store[i].bytes, bytes.data, bytes.size);
    }
    return STATUS_OK;
}

static int compare(const void *a, const void *b)
{
    const struct record_key *x = &((const struct stored *)a)->key;
    const struct record_key *y = &((const struct stored *)b)->key;
    if (x->kind != y->kind) {
        return x->kind < y->kind ? -1 : 1;
    }
    if (x->id != y->id) {
        return x->id < y->id ? -1 : 1;
    }
    return x->extra < y->extra ? -1 : x->extra > y->extra;
}

// An engine made of the store's records, in the order of their keys.
static struct engine *rebuild(enum engine_clock clock, struct error *error)
{
    struct engine_options of_clock = options;
    of_clock.clock = clock;
    struct engine *engine;
    assert_int_equal(engine_new(&of_clock, &engine), STATUS_OK);
    qsort(store, store_count, sizeof(store[0]), compare);
    for (size_t i = 0; i < store_count; i++) {
        if (!store[i].bytes && store[i].key.kind != RECORD_CONFIG) {
            continue;
        }
        enum status status =
            record_read(engine, store[i].key, slice_make(store[i].bytes, store[i].size), error);
        if (status) {
            print_error("%s\n", error->detail);
        }
        assert_int_equal(status, STATUS_OK);
    }
    assert_int_equal(record_read_end(engine, error), STATUS_OK);
    return engine;
}

static void take_changes_and_compare(struct world *w)
{
    const struct changes_sink sink = { .receive = keep };
    assert_int_equal(engine_changes(w->engine, &sink), STATUS_OK);
    struct engine *rebuilt = rebuild(w->clock, &w->error);
    struct buffer wanted, got;
    buffer_init(&wanted, &allocator_system, SIZE_MAX - 1);
    buffer_init(&got, &allocator_system, SIZE_MAX - 1);
    assert_int_equal(engine_save(w->engine, &wanted), STATUS_OK);
    assert_int_equal(engine_save(rebuilt, &got), STATUS_OK);
    assert_int_equal(got.size, wanted.size);
    assert_memory_equal(got.data, wanted.data, got.size);
    assert_int_equal(engine_check(rebuilt, false, NULL, NULL), 0);
    engine_free(rebuilt);
    buffer_release(&wanted);
    buffer_release(&got);
}

static void keep_changes(struct world *w)
{
    engine_free(w->engine);
    const struct engine_options keeping = {
        .allocator = &w->fault.allocator, .seed = { 3, 4 }, .clock = w->clock, .keeps_changes = true
    };
    assert_int_equal(engine_new(&keeping, &w->engine), STATUS_OK);
}

static void empty_store(void)
{
    while (store_count > 0) {
        free(store[--store_count].bytes);
    }
    body_writes = 0;
}

static void test_changes__the_records_told_make_the_same_engine_after_every_call(void **state)
{
    struct world *w = *state;
    keep_changes(w);
    script(w, take_changes_and_compare);
    empty_store();
}

static void test_changes__a_heartbeat_does_not_write_the_data_again(void **state)
{
    struct world *w = *state;
    keep_changes(w);
    const struct changes_sink sink = { .receive = keep };
    put(w, 0, "q", "a");
    pop(w, 0, "q", "w1", 1);
    assert_int_equal(engine_changes(w->engine, &sink), STATUS_OK);
    assert_int_equal(body_writes, 1);
    heartbeat(w, 1, "w1", "a");
    complete(w, 2, "w1", "a");
    assert_int_equal(engine_changes(w->engine, &sink), STATUS_OK);
    assert_int_equal(body_writes, 1);
    empty_store();
}

// The jobs of an operation that executes a dry run are saved as long as it is under way.
static void test_changes__the_jobs_of_an_operation_are_told_once_and_taken_back(void **state)
{
    enum {
        JOBS = 1500,
    };
    struct world *w = *state;
    keep_changes(w);
    for (int i = 0; i < JOBS; i++) {
        char jid[16];
        (void)snprintf(jid, sizeof(jid), "j%d", i);
        put(w, 0, "q", jid);
    }
    struct bulk_request request = { .act = BULK_PRIORITY, .priority = 5, .dry_run = true };
    uint64_t dry, id;
    for (int stops = 0; stops < 2; stops++, request.priority++) {
        assert_int_equal(engine_bulk(w->engine, us(1), &request, &dry, &w->error), STATUS_OK);
        while (engine_tick(w->engine, us(1)) == us(1)) {
        }
        take_changes_and_compare(w);
        assert_int_equal(
            engine_bulk_as(w->engine, us(1), dry, BULK_PRIORITY, SLICE_EMPTY, &id, &w->error),
            STATUS_OK);
        take_changes_and_compare(w);
        assert_int_equal(engine_tick(w->engine, us(1)), us(1));
        take_changes_and_compare(w);
        if (stops) {
            assert_int_equal(engine_bulk_stop(w->engine, us(1), id, &w->error), STATUS_OK);
        }
        while (engine_tick(w->engine, us(1)) == us(1)) {
        }
        take_changes_and_compare(w);
    }
    for (size_t i = 0; i < store_count; i++) {
        assert_true(store[i].key.kind != RECORD_BULK_SET || !store[i].bytes);
    }
    empty_store();
}

static enum status refuse(void *context, struct record_key key, struct slice bytes)
{
    (void)context;
    (void)bytes;
    return key.kind == RECORD_HEAD ? STATUS_IO : STATUS_OK;
}

static void test_changes__what_the_sink_refuses_is_told_again(void **state)
{
    struct world *w = *state;
    keep_changes(w);
    put(w, 0, "q", "a");
    cancel(w, 0, "a");
    put(w, 0, "q", "b");
    assert_int_equal(engine_changes(w->engine, &(struct changes_sink){ .receive = refuse }),
                     STATUS_IO);
    take_changes_and_compare(w);
    empty_store();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SERVER_TEST(test_snapshot__every_damaged_byte_is_found),
        SERVER_TEST(test_snapshot__every_cut_is_found),
        SERVER_TEST(test_snapshot__damage_under_a_right_checksum_loads_sound_or_not_at_all),
        SERVER_TEST(test_snapshot__without_memory_nothing_is_loaded),
        SERVER_TEST(test_snapshot__what_was_loaded_saves_the_same_after_every_call),
        CLIENT_TEST(test_snapshot__what_was_loaded_saves_the_same_after_every_call),
        SERVER_TEST(test_changes__the_records_told_make_the_same_engine_after_every_call),
        CLIENT_TEST(test_changes__the_records_told_make_the_same_engine_after_every_call),
        SERVER_TEST(test_changes__a_heartbeat_does_not_write_the_data_again),
        SERVER_TEST(test_changes__the_jobs_of_an_operation_are_told_once_and_taken_back),
        SERVER_TEST(test_changes__what_the_sink_refuses_is_told_again),
    };
    return cmocka_run_group_tests_name("snapshot", tests, NULL, NULL);
}
