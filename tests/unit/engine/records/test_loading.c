// SPDX-License-Identifier: MIT
// An engine made of its records: in what order they may come, and what does not fit together.
#include "engine/bulk/bulk.h"
#include "engine/check/check.h"
#include "engine/records/changes.h"
#include "engine/records/record.h"

#include "engine_test.h"
#include "random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    RECORDS_MAX = 4000,
};

struct stored {
    struct record_key key;
    struct slice bytes; // in the heap
};

// What the engine of a test told, in the order of kind and number.
struct records {
    struct stored items[RECORDS_MAX];
    size_t count;
};

static enum status keep(void *context, struct record_key key, struct slice bytes)
{
    struct records *records = context;
    assert_true(records->count < RECORDS_MAX);
    char *copy = malloc(bytes.size + 1);
    assert_non_null(copy);
    if (bytes.size) {
        memcpy(copy, bytes.data, bytes.size);
    }
    records->items[records->count++] = (struct stored){ key, slice_make(copy, bytes.size) };
    return STATUS_OK;
}

static int compare(const void *a, const void *b)
{
    const struct record_key *x = &((const struct stored *)a)->key;
    const struct record_key *y = &((const struct stored *)b)->key;
    if (x->kind != y->kind) {
        return x->kind < y->kind ? -1 : 1;
    }
    return x->id < y->id ? -1 : x->id > y->id;
}

static struct records *take(struct world *w)
{
    struct records *records = calloc(1, sizeof(*records));
    assert_non_null(records);
    const struct changes_sink sink = { .receive = keep, .context = records };
    assert_int_equal(engine_changes(w->engine, &sink), STATUS_OK);
    qsort(records->items, records->count, sizeof(records->items[0]), compare);
    return records;
}

static void records_free(struct records *records)
{
    for (size_t i = 0; i < records->count; i++) {
        free((char *)records->items[i].bytes.data);
    }
    free(records);
}

static struct stored *find(struct records *records, enum record_kind kind, uint64_t id)
{
    for (size_t i = 0; i < records->count; i++) {
        if (records->items[i].key.kind == kind && records->items[i].key.id == id) {
            return &records->items[i];
        }
    }
    fail_msg("there is no record of kind %d with the number %d", (int)kind, (int)id);
    return NULL;
}

static enum status load(const struct records *records, const struct allocator *allocator,
                        struct engine **out, struct error *error)
{
    const struct engine_options options = { .allocator = allocator, .seed = { 5, 6 } };
    struct engine *engine;
    if (engine_new(&options, &engine)) {
        return STATUS_NO_MEMORY;
    }
    enum status status = STATUS_OK;
    for (size_t i = 0; !status && i < records->count; i++) {
        const struct stored *at = &records->items[i];
        status = at->bytes.size ? record_read(engine, at->key, at->bytes, error) : STATUS_OK;
    }
    enum status end = record_read_end(engine, status ? NULL : error);
    status = status ? status : end;
    if (status) {
        engine_free(engine);
        return status;
    }
    *out = engine;
    return STATUS_OK;
}

static void refuses(struct world *w, const struct records *records)
{
    struct engine *engine;
    assert_int_equal(load(records, &w->fault.allocator, &engine, &w->error), STATUS_CORRUPT);
    assert_true(w->error.detail[0]);
}

static void keep_changes(struct world *w)
{
    engine_free(w->engine);
    const struct engine_options keeping = { .allocator = &w->fault.allocator,
                                            .seed = { 3, 4 },
                                            .keeps_changes = true };
    assert_int_equal(engine_new(&keeping, &w->engine), STATUS_OK);
}

static void put_many(struct world *w, int count)
{
    keep_changes(w);
    for (int i = 0; i < count; i++) {
        char jid[16];
        (void)snprintf(jid, sizeof(jid), "job-%d", i);
        put(w, 1, i % 3 ? "q" : "r", jid);
    }
}

static void test_loading__a_complete_job_of_an_old_store_has_no_queue(void **state)
{
    struct world *w = *state;
    keep_changes(w);
    put(w, 1, "q", "a");
    pop(w, 1, "q", "w1", 1);
    complete(w, 1, "w1", "a");
    struct records *records = take(w);
    memset((char *)find(records, RECORD_HEAD, 1)->bytes.data + 1, 0, 8);
    struct engine *loaded = NULL;
    assert_int_equal(load(records, &w->fault.allocator, &loaded, &w->error), STATUS_OK);
    records_free(records);
    engine_free(w->engine);
    w->engine = loaded;
    assert_int_equal(faults_of(w), 0);
    assert_slice_equal(view_of(w, "a").queue, "");
    assert_string_equal(jobs(w, 2, LIST_COMPLETE, NULL, 0, 9), "1: a");
    assert_string_equal(jobs(w, 2, LIST_COMPLETE, "q", 0, 9), "0: ");
    put(w, 2, "q", "a");
    assert_string_equal(jobs(w, 2, LIST_WAITING, "q", 0, 9), "1: a");
}

// Jobs in several states, some of which depend on others.
static struct records *some(struct world *w)
{
    put_many(w, 60);
    put_depending(w, 2, "q", "last", "job-59,job-1,job-30");
    put_depending(w, 2, "q", "first", "last");
    put_later(w, 2, "r", "later", 10);
    tag(w, 2, "job-7", "red,blue");
    tag(w, 2, "job-5", "blue");
    pop(w, 3, "q", "w1", 5);
    fail_job(w, 3, "w1", "job-1", "group");
    complete(w, 3, "w1", "job-2");
    return take(w);
}

static void shuffle(struct records *records, struct random *random)
{
    for (size_t i = records->count; i > 1; i--) {
        size_t other = random_below(random, i);
        struct stored kept = records->items[i - 1];
        records->items[i - 1] = records->items[other];
        records->items[other] = kept;
    }
}

static void assert_same(const struct world *w, struct engine *engine)
{
    struct world other = *w;
    other.engine = engine;
    struct buffer wanted, got;
    buffer_init(&wanted, &allocator_system, SIZE_MAX - 1);
    buffer_init(&got, &allocator_system, SIZE_MAX - 1);
    save(w, &wanted);
    save(&other, &got);
    assert_int_equal(got.size, wanted.size);
    assert_memory_equal(got.data, wanted.data, got.size);
    assert_int_equal(engine_check(engine, false, NULL, NULL), 0);
    buffer_release(&wanted);
    buffer_release(&got);
}

// What comes in another order within its kind: nothing, all, only heads, only bodies.
static void test_loading__records_of_a_kind_come_in_any_order(void **state)
{
    struct world *w = *state;
    struct records *records = some(w);
    struct random random;
    random_init(&random);
    for (int round = 0; round < 40; round++) {
        struct records *mixed = malloc(sizeof(*mixed));
        assert_non_null(mixed);
        *mixed = *records;
        if (round) {
            shuffle(mixed, &random);
        }
        // A stable sort by kind, in which bodies or heads may be in their order again.
        struct records *sorted = calloc(1, sizeof(*sorted));
        assert_non_null(sorted);
        for (enum record_kind kind = RECORD_ENGINE; kind < RECORD_END; kind++) {
            bool in_order =
                (kind == RECORD_BODY && round % 4 == 1) || (kind == RECORD_HEAD && round % 4 == 2);
            const struct records *from = in_order ? records : mixed;
            for (size_t i = 0; i < from->count; i++) {
                if (from->items[i].key.kind == kind) {
                    sorted->items[sorted->count++] = from->items[i];
                }
            }
        }
        struct engine *engine;
        assert_int_equal(load(sorted, &w->fault.allocator, &engine, &w->error), STATUS_OK);
        assert_same(w, engine);
        engine_free(engine);
        free(mixed);
        free(sorted);
    }
    records_free(records);
}

static void test_loading__two_bodies_do_not_have_one_number(void **state)
{
    struct world *w = *state;
    struct records *records = some(w);
    // Twice in a row, and with others in between.
    find(records, RECORD_BODY, 11)->key.id = 10;
    refuses(w, records);
    find(records, RECORD_BODY, 12)->key.id = 2;
    refuses(w, records);
    records_free(records);
}

static void test_loading__two_jobs_do_not_have_one_jid(void **state)
{
    struct world *w = *state;
    struct records *records = some(w);
    struct stored *one = find(records, RECORD_BODY, 20), *other = find(records, RECORD_BODY, 40);
    assert_int_equal(one->bytes.size, other->bytes.size);
    memcpy((char *)other->bytes.data, one->bytes.data, one->bytes.size);
    refuses(w, records);
    records_free(records);
}

static void test_loading__a_body_has_one_head_and_a_head_a_body(void **state)
{
    struct world *w = *state;
    for (int which = 0; which < 4; which++) {
        struct records *records = some(w);
        if (which == 0) {
            find(records, RECORD_HEAD, 30)->key.id = 31;
        } else if (which == 1) {
            find(records, RECORD_HEAD, 30)->key.id = 29;
        } else if (which == 2) {
            find(records, RECORD_HEAD, 30)->key.id = 300;
        } else {
            find(records, RECORD_HEAD, 30)->bytes.size = 0;
        }
        refuses(w, records);
        records_free(records);
    }
}

static void test_loading__a_body_does_not_follow_a_head(void **state)
{
    struct world *w = *state;
    struct records *records = some(w);
    struct stored *head = find(records, RECORD_HEAD, 1), *body = head - 1;
    assert_int_equal(body->key.kind, RECORD_BODY);
    struct stored kept = *head;
    *head = *body;
    *body = kept;
    refuses(w, records);
    records_free(records);
}

static void test_loading__many_jobs_are_found_by_their_jids(void **state)
{
    struct world *w = *state;
    put_many(w, 1900);
    struct records *records = take(w);
    struct engine *engine;
    assert_int_equal(load(records, &w->fault.allocator, &engine, &w->error), STATUS_OK);
    assert_same(w, engine);
    engine_free(w->engine);
    w->engine = engine;
    assert_string_equal(state_of(w, "job-1899"), "waiting");
    assert_int_equal(cancel(w, 2, "job-0,job-1000"), 2);
    records_free(records);
}

// The records of before had no flags for ages: one other than 0 was meant.
static void test_loading__an_age_without_its_flag_still_filters(void **state)
{
    struct world *w = *state;
    enum {
        FLAGS = 2 + 4 * 4
    }; // behind the act, the dry run and four empty names
    for (int flagged = 0; flagged < 2; flagged++) {
        put_many(w, 1500);
        const struct bulk_request request = {
            .act = BULK_CANCEL, .filter = { .has_newer = true, .newer_us = flagged ? 0 : us(1) }
        };
        uint64_t id;
        assert_int_equal(engine_bulk(w->engine, us(3), &request, &id, &w->error), STATUS_OK);
        struct records *records = take(w);
        char *flags = (char *)find(records, RECORD_BULK, id)->bytes.data + FLAGS;
        assert_int_equal(*flags, FILTER_HAS_NEWER);
        if (!flagged) {
            *flags = 0;
        }
        struct engine *engine;
        assert_int_equal(load(records, &w->fault.allocator, &engine, &w->error), STATUS_OK);
        while (engine_tick(engine, us(3)) == us(3)) {
        }
        struct bulk_view view;
        assert_true(engine_bulk_get(engine, id, &view));
        assert_true(view.done);
        assert_int_equal(view.looked_at, 1500);
        assert_int_equal(view.matched, 0);
        engine_free(engine);
        *flags = 8;
        refuses(w, records);
        records_free(records);
    }
}

// Such values were accepted once. The default counts, and what has no meaning stays.
static void test_loading__an_option_that_is_refused_by_now_is_left_out(void **state)
{
    struct world *w = *state;
    keep_changes(w);
    put(w, 1, "q", "a");
    set(w, "heartbeat", "77");
    set(w, "q-heartbeat", "77");
    set(w, "grace-period", "5");
    set(w, "colour", "red");
    struct records *records = take(w);
    struct slice stored = find(records, RECORD_CONFIG, 0)->bytes;
    for (size_t i = 0; i + 1 < stored.size; i++) {
        if (memcmp(stored.data + i, "77", 2) == 0) {
            memcpy((char *)stored.data + i, "-7", 2);
        }
    }
    struct engine *engine;
    assert_int_equal(load(records, &w->fault.allocator, &engine, &w->error), STATUS_OK);
    engine_free(w->engine);
    w->engine = engine;
    assert_string_equal(config(w, "heartbeat"), "60");
    assert_string_equal(config(w, "q-heartbeat"), "");
    assert_string_equal(config(w, "grace-period"), "5");
    assert_string_equal(config(w, "colour"), "red");
    pop(w, 2, "q", "w1", 1);
    assert_int_equal(view_of(w, "a").expires_us, us(62));
    records_free(records);
}

static void test_loading__without_memory_nothing_is_loaded(void **state)
{
    struct world *w = *state;
    put_many(w, 1000);
    struct records *records = take(w);
    struct fault_alloc fault;
    FAULT_ALLOC_EACH(&fault)
    {
        struct engine *engine = NULL;
        enum status status = load(records, &fault.allocator, &engine, &w->error);
        FAULT_ALLOC_EXPECT(&fault, status);
        engine_free(engine);
    }
    records_free(records);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SERVER_TEST(test_loading__records_of_a_kind_come_in_any_order),
        SERVER_TEST(test_loading__a_complete_job_of_an_old_store_has_no_queue),
        SERVER_TEST(test_loading__two_bodies_do_not_have_one_number),
        SERVER_TEST(test_loading__two_jobs_do_not_have_one_jid),
        SERVER_TEST(test_loading__a_body_has_one_head_and_a_head_a_body),
        SERVER_TEST(test_loading__a_body_does_not_follow_a_head),
        SERVER_TEST(test_loading__many_jobs_are_found_by_their_jids),
        SERVER_TEST(test_loading__an_age_without_its_flag_still_filters),
        SERVER_TEST(test_loading__an_option_that_is_refused_by_now_is_left_out),
        SERVER_TEST(test_loading__without_memory_nothing_is_loaded),
    };
    return cmocka_run_group_tests_name("loading", tests, NULL, NULL);
}
