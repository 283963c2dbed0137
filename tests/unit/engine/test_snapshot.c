// SPDX-License-Identifier: MIT
// A saved engine and its records: what was damaged is refused, what changed is told.
#include "engine/snapshot.h"

#include "base/bytes.h"
#include "base/crc32c.h"
#include "engine/changes.h"
#include "engine/check.h"

#include "engine_test.h"

#include <stdlib.h>
#include <string.h>

static const struct engine_options options = { .allocator = &allocator_system, .seed = { 1, 2 } };

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

// A store in its plainest form: the newest bytes of each record.
enum {
    RECORDS_MAX = 200,
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

// An engine made of the store's records, kind by kind.
static struct engine *rebuild(struct error *error)
{
    static const enum record_kind order[] = { RECORD_ENGINE, RECORD_CONFIG, RECORD_QUEUE,
                                              RECORD_STATS,  RECORD_WORKER, RECORD_RECURRING,
                                              RECORD_BODY,   RECORD_HEAD,   RECORD_TRACKED };
    struct engine *engine;
    assert_int_equal(engine_new(&options, &engine), STATUS_OK);
    for (size_t k = 0; k < sizeof(order) / sizeof(order[0]); k++) {
        for (size_t i = 0; i < store_count; i++) {
            if (store[i].key.kind == order[k] && (store[i].bytes || order[k] == RECORD_CONFIG)) {
                enum status status = record_read(engine, store[i].key,
                                                 slice_make(store[i].bytes, store[i].size), error);
                if (status) {
                    print_error("%s\n", error->detail);
                }
                assert_int_equal(status, STATUS_OK);
            }
        }
    }
    assert_int_equal(record_read_end(engine, error), STATUS_OK);
    return engine;
}

static void take_changes_and_compare(struct world *w)
{
    const struct changes_sink sink = { .receive = keep };
    assert_int_equal(engine_changes(w->engine, &sink), STATUS_OK);
    struct engine *rebuilt = rebuild(&w->error);
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
    const struct engine_options keeping = { .allocator = &w->fault.allocator,
                                            .seed = { 3, 4 },
                                            .keeps_changes = true };
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
        SERVER_TEST(test_changes__the_records_told_make_the_same_engine_after_every_call),
        SERVER_TEST(test_changes__a_heartbeat_does_not_write_the_data_again),
        SERVER_TEST(test_changes__what_the_sink_refuses_is_told_again),
    };
    return cmocka_run_group_tests_name("snapshot", tests, NULL, NULL);
}
