// SPDX-License-Identifier: MIT
// Whether there is anything to store.
#include "engine/records/changes.h"

#include "engine/explain/explain.h"
#include "engine/state.h"
#include "engine_snapshot.h"
#include "engine_test.h"

static enum status count(void *context, struct record_key key, struct slice bytes)
{
    (void)bytes;
    int *counts = context;
    counts[key.kind]++;
    return STATUS_OK;
}

// Tells the host, and gives how often it was told of each kind.
static const int *tell(struct world *w)
{
    static int counts[RECORD_END];
    for (size_t i = 0; i < RECORD_END; i++) {
        counts[i] = 0;
    }
    const struct changes_sink sink = { .receive = count, .context = counts };
    assert_int_equal(engine_changes(w->engine, &sink), STATUS_OK);
    assert_false(engine_has_changes(w->engine));
    return counts;
}

static enum status refuse(void *context, struct record_key key, struct slice bytes)
{
    (void)context;
    (void)key;
    (void)bytes;
    return STATUS_IO;
}

static void keep_changes(struct world *w)
{
    engine_free(w->engine);
    const struct engine_options keeping = {
        .allocator = &w->fault.allocator, .seed = { 3, 4 }, .clock = w->clock, .keeps_changes = true
    };
    assert_int_equal(engine_new(&keeping, &w->engine), STATUS_OK);
}

static void test_changes__a_new_engine_is_one(void **state)
{
    struct world *w = *state;
    keep_changes(w);
    assert_true(engine_has_changes(w->engine));
    assert_int_equal(engine_changes(w->engine, &(struct changes_sink){ .receive = refuse }),
                     STATUS_IO);
    assert_true(engine_has_changes(w->engine));
    assert_int_equal(tell(w)[RECORD_ENGINE], 1);
}

static void test_changes__what_only_reads_is_none(void **state)
{
    struct world *w = *state;
    keep_changes(w);
    limit_set(w, 1, "q", "d", rate(1, 60, 0));
    recur(w, 1, "q", "again", 600);
    put(w, 1, "q", "a");
    put_in(w, 1, "d", "b");
    put_in(w, 1, "d", "c");
    put_depending(w, 1, "q", "e", "a");
    tag(w, 1, "a", "red,blue");
    track(w, 1, "a");
    pop(w, 1, "q", "w1", 2);
    tell(w);

    struct explanation why;
    (void)tick(w, 2);
    (void)state_of(w, "a");
    (void)peek(w, 3, "q", 9);
    (void)queue_of(w, 4, "q");
    (void)queue_of(w, 4, "none");
    (void)jobs(w, 5, LIST_RUNNING, "q", 0, 9);
    (void)jobs(w, 5, LIST_WAITING, "none", 0, 9);
    (void)workers(w, 6);
    (void)held(w, 6, "w1", false);
    (void)tagged(w, "red", 0, 9);
    (void)top_tags(w);
    (void)tracked(w);
    (void)limits(w);
    (void)lane_of(w, 7, "q", "d");
    (void)config(w, "heartbeat");
    assert_false(wait_for(w, 7, "a", 1));
    said(w, engine_explain(w->engine, at(w, 8), SLICE("c"), &why, &w->error));
    assert_false(engine_has_changes(w->engine));
}

static void test_changes__what_is_refused_is_none(void **state)
{
    struct world *w = *state;
    keep_changes(w);
    put(w, 1, "q", "a");
    tell(w);
    refused(w, STATUS_NOT_FOUND, "");
    heartbeat(w, 1, "w1", "b");
    refused(w, STATUS_NOT_FOUND, "");
    tag(w, 1, "b", "red");
    refused(w, STATUS_INVALID, "");
    put_with(w, 1, (struct put_request){ .jid = SLICE("b"), .depends = slices_of(w, "b") });
    assert_false(engine_has_changes(w->engine));
}

static void test_changes__what_falls_due_during_a_read_is_one(void **state)
{
    struct world *w = *state;
    keep_changes(w);
    put_later(w, 1, "q", "a", 10);
    tell(w);
    (void)queue_of(w, 5, "q");
    assert_false(engine_has_changes(w->engine));
    (void)queue_of(w, 12, "q");
    assert_true(engine_has_changes(w->engine));
}

static void test_changes__each_call_that_writes_is_one(void **state)
{
    struct world *w = *state;
    keep_changes(w);
    tell(w);
#define CHANGES(call)                                                                              \
    do {                                                                                           \
        (void)(call);                                                                              \
        assert_true(engine_has_changes(w->engine));                                                \
        tell(w);                                                                                   \
    } while (0)
    CHANGES((set(w, "heartbeat", "20"), 0));
    CHANGES((put(w, 1, "q", "a"), 0));
    CHANGES((tag(w, 1, "a", "red"), 0));
    CHANGES(track(w, 1, "a"));
    CHANGES(untrack(w, 1, "a"));
    CHANGES(pop(w, 2, "q", "w1", 1));
    CHANGES(heartbeat(w, 3, "w1", "a"));
    CHANGES((complete(w, 4, "w1", "a"), 0));
    CHANGES((delete_job(w, 5, "a"), 0));
    CHANGES((recur(w, 5, "q", "again", 60), 0));
    CHANGES((limit_set(w, 5, "q", NULL, rate(1, 60, 0)), 0));
    CHANGES((limit_unset(w, 5, "q", NULL), 0));
    CHANGES((unset(w, "heartbeat"), 0));
#undef CHANGES
}

// Nothing else has changed, but the engine must not give the number out again.
static void test_changes__a_counter_that_moved_is_one(void **state)
{
    struct world *w = *state;
    keep_changes(w);
    put(w, 1, "q", "a");
    struct engine *engine = w->engine;
    uint64_t *counters[] = { &engine->job_id, &engine->queue_id, &engine->worker_id, &engine->token,
                             &engine->sequence };
    assert_int_equal(sizeof(counters) / sizeof(counters[0]), ENGINE_COUNTERS);
    for (size_t i = 0; i < ENGINE_COUNTERS; i++) {
        tell(w);
        ++*counters[i];
        assert_true(engine_has_changes(engine));
    }
}

static enum status read_into(void *context, struct record_key key, struct slice bytes)
{
    struct error error;
    return bytes.size ? record_read(context, key, bytes, &error) : STATUS_OK;
}

// The records of a new engine come in the order in which they are read, but for the heads.
static void test_changes__loading_is_none(void **state)
{
    struct world *w = *state;
    const struct engine_options keeping = { .allocator = &w->fault.allocator,
                                            .seed = { 5, 6 },
                                            .keeps_changes = true };
    keep_changes(w);
    set(w, "heartbeat", "20");
    put(w, 1, "q", "a");
    pop(w, 2, "q", "w1", 1);
    struct engine *loaded;
    assert_int_equal(engine_new(&keeping, &loaded), STATUS_OK);
    const struct changes_sink sink = { .receive = read_into, .context = loaded };
    assert_int_equal(engine_changes(w->engine, &sink), STATUS_OK);
    assert_int_equal(record_read_end(loaded, &w->error), STATUS_OK);
    assert_false(engine_has_changes(loaded));

    engine_free(w->engine);
    w->engine = loaded;
    heartbeat(w, 3, "w1", "a");
    assert_true(engine_has_changes(w->engine));
    assert_int_equal(tell(w)[RECORD_HEAD], 1);
}

static void test_changes__an_engine_without_a_record_is_one(void **state)
{
    struct world *w = *state;
    keep_changes(w);
    assert_int_equal(record_read_end(w->engine, &w->error), STATUS_OK);
    assert_true(engine_has_changes(w->engine));
    assert_int_equal(tell(w)[RECORD_ENGINE], 1);
}

static void test_changes__a_saved_engine_that_is_loaded_is_none(void **state)
{
    struct world *w = *state;
    const struct engine_options keeping = { .allocator = &w->fault.allocator,
                                            .seed = { 5, 6 },
                                            .keeps_changes = true };
    set(w, "heartbeat", "20");
    put(w, 1, "q", "a");
    struct buffer saved;
    buffer_init(&saved, &allocator_system, 1 << 20);
    assert_int_equal(engine_save(w->engine, &saved), STATUS_OK);
    engine_free(w->engine);
    assert_int_equal(engine_load(&keeping, buffer_slice(&saved), &w->engine, &w->error), STATUS_OK);
    buffer_release(&saved);
    assert_false(engine_has_changes(w->engine));
    cancel(w, 2, "a");
    assert_true(engine_has_changes(w->engine));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SERVER_TEST(test_changes__a_new_engine_is_one),
        SERVER_TEST(test_changes__what_only_reads_is_none),
        SERVER_TEST(test_changes__what_is_refused_is_none),
        SERVER_TEST(test_changes__what_falls_due_during_a_read_is_one),
        CLIENT_TEST(test_changes__what_falls_due_during_a_read_is_one),
        SERVER_TEST(test_changes__each_call_that_writes_is_one),
        SERVER_TEST(test_changes__a_counter_that_moved_is_one),
        SERVER_TEST(test_changes__loading_is_none),
        SERVER_TEST(test_changes__an_engine_without_a_record_is_one),
        SERVER_TEST(test_changes__a_saved_engine_that_is_loaded_is_none),
    };
    return cmocka_run_group_tests_name("changes", tests, NULL, NULL);
}
