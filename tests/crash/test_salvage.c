// SPDX-License-Identifier: MIT
// An engine's records with some left out, or some as they were earlier: what is made of them is
// sound, and has every job that has both its records.
#include "workload.h"

#include "base/bytes.h"
#include "engine/check/check.h"
#include "engine/records/changes.h"
#include "engine/records/salvage.h"
#include "random.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    STEPS = 60,
    STEPS_MORE = 12,
    SEEDS = 8,
    MIXES = 60,
    SPOILS = 200,
    SPOILED_MAX = 8,
};

struct records {
    struct salvage_record *items; // with bytes of their own
    size_t count, capacity;
};

static enum status keep(void *context, struct record_key key, struct slice bytes)
{
    struct records *records = context;
    if (records->count == records->capacity) {
        records->capacity = 2 * records->capacity + 256;
        records->items = realloc(records->items, records->capacity * sizeof(*records->items));
        assert_non_null(records->items);
    }
    char *mine = malloc(bytes.size + 1);
    assert_non_null(mine);
    if (bytes.size) {
        memcpy(mine, bytes.data, bytes.size);
    }
    records->items[records->count++] =
        (struct salvage_record){ .key = key, .bytes = slice_make(mine, bytes.size) };
    return STATUS_OK;
}

static int compare_keys(const struct record_key *a, const struct record_key *b)
{
    int order = (a->kind > b->kind) - (a->kind < b->kind);
    order = order ? order : (a->id > b->id) - (a->id < b->id);
    return order ? order
                 : ((uint64_t)a->extra > (uint64_t)b->extra) -
                       ((uint64_t)a->extra < (uint64_t)b->extra);
}

static int compare(const void *a, const void *b)
{
    return compare_keys(&((const struct salvage_record *)a)->key,
                        &((const struct salvage_record *)b)->key);
}

static void records_take(struct records *records, const struct engine *engine)
{
    *records = (struct records){ 0 };
    const struct changes_sink sink = { keep, records };
    assert_int_equal(engine_records(engine, &sink), STATUS_OK);
    qsort(records->items, records->count, sizeof(*records->items), compare);
}

static void records_release(struct records *records)
{
    for (size_t i = 0; i < records->count; i++) {
        free((char *)records->items[i].bytes.data);
    }
    free(records->items);
}

static const struct salvage_record *find(const struct salvage_record *items, size_t count,
                                         struct record_key key)
{
    const struct salvage_record wanted = { .key = key };
    return bsearch(&wanted, items, count, sizeof(*items), compare);
}

static void remember(void *context, const char *sentence)
{
    char *said = context;
    size_t used = strlen(said);
    (void)snprintf(said + used, 4096 - used, "%s\n", sentence);
}

static void print(void *context, const char *sentence)
{
    (void)fprintf(stderr, "%s: %s\n", (const char *)context, sentence);
}

// The jid of a body's job.
static struct slice jid_of(struct slice body)
{
    return slice_make(body.data + 4, bytes_load_u32(body.data));
}

static bool has_namesake(const struct salvage_record *items, size_t count,
                         const struct salvage_record *body)
{
    for (size_t i = 0; i < count; i++) {
        if (&items[i] != body && items[i].key.kind == RECORD_BODY &&
            slice_equal(jid_of(items[i].bytes), jid_of(body->bytes))) {
            return true;
        }
    }
    return false;
}

// Salvages records, which are changed by it, and asserts what must be. With `jobs` all of them that
// have both records are to be there.
static void try_records(struct salvage_record *items, size_t count, const char *what, bool jobs)
{
    const struct engine_options options = { .allocator = &allocator_system, .seed = { 5, 6 } };
    char said[4096] = "";
    const struct salvage salvage = { .options = &options,
                                     .records = items,
                                     .count = count,
                                     .now_us = INT64_C(1700000000) * 1000000,
                                     .lossy = true,
                                     .report = remember,
                                     .context = said };
    struct engine *engine;
    struct error error = { 0 };
    bool as_it_was;
    enum status status = engine_salvage(&salvage, &engine, &as_it_was, &error);
    if (status) {
        fail_msg("%s: %s\n%s", what, error_sentence(&error), said);
    }
    assert_false(as_it_was);
    assert_int_equal(engine_check(engine, false, print, (void *)what), 0);
    for (size_t i = 0; i < count && jobs; i++) {
        struct record_key head = { RECORD_HEAD, items[i].key.id, 0 };
        if (items[i].key.kind == RECORD_BODY && find(items, count, head) &&
            !engine_get(engine, jid_of(items[i].bytes)) && !has_namesake(items, count, &items[i])) {
            fail_msg("%s: job %.*s is gone\n%s", what, SLICE_PRINT(jid_of(items[i].bytes)), said);
        }
    }
    // And what is written of it can be read.
    struct rebuild rebuild;
    struct store_visitor visitor = rebuild_visitor(&rebuild);
    struct records written = { 0 };
    records_take(&written, engine);
    for (size_t i = 0; i < written.count; i++) {
        const struct store_key key = { 1, written.items[i].key };
        status = visitor.visit(visitor.context, key, written.items[i].bytes, &error);
        if (status) {
            fail_msg("%s: what is written cannot be read: %s\n%s", what, error_sentence(&error),
                     said);
        }
    }
    assert_true(rebuild_end(&rebuild));
    rebuild_release(&rebuild);
    records_release(&written);
    engine_free(engine);
}

static struct salvage_record *copy(const struct records *records)
{
    struct salvage_record *items = malloc((records->count + 1) * sizeof(*items));
    assert_non_null(items);
    memcpy(items, records->items, records->count * sizeof(*items));
    return items;
}

static void test_salvage__each_record_left_out(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct workload *workload = workload_new(seed, NULL);
        for (unsigned i = 0; i < STEPS; i++) {
            workload_step(workload);
        }
        struct records records = { 0 };
        records_take(&records, workload_engine(workload));
        for (size_t i = 0; i < records.count; i++) {
            char what[64];
            struct salvage_record *items = copy(&records);
            (void)snprintf(what, sizeof(what), "seed %llu without kind %d number %llu",
                           (unsigned long long)seed, (int)items[i].key.kind,
                           (unsigned long long)items[i].key.id);
            memmove(items + i, items + i + 1, (records.count - i - 1) * sizeof(*items));
            try_records(items, records.count - 1, what, true);
            free(items);
        }
        records_release(&records);
        workload_free(workload);
    }
}

// Each record as it was earlier or is now, at random, and some not at all.
static void mix(const struct records *earlier, const struct records *now, struct random *random,
                const char *what)
{
    struct salvage_record *items = malloc((earlier->count + now->count) * sizeof(*items));
    assert_non_null(items);
    size_t count = 0;
    for (size_t a = 0, b = 0; a < earlier->count || b < now->count;) {
        const struct salvage_record *old = a < earlier->count ? &earlier->items[a] : NULL;
        const struct salvage_record *new = b < now->count ? &now->items[b] : NULL;
        int order = !old ? 1 : !new ? -1 : compare_keys(&old->key, &new->key);
        a += order <= 0;
        b += order >= 0;
        uint64_t draw = random_below(random, 20);
        const struct salvage_record *chosen = order == 0  ? (draw < 5 ? old : new)
                                              : order < 0 ? (draw < 3 ? old : NULL)
                                                          : (draw < 18 ? new : NULL);
        if (chosen) {
            items[count++] = *chosen;
        }
    }
    try_records(items, count, what, true);
    free(items);
}

static void test_salvage__records_of_two_times(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct random random = { seed };
        struct workload *workload = workload_new(seed, NULL);
        struct records earlier = { 0 }, now = { 0 };
        for (unsigned i = 0; i < STEPS; i++) {
            workload_step(workload);
        }
        records_take(&earlier, workload_engine(workload));
        for (unsigned i = 0; i < STEPS_MORE; i++) {
            workload_step(workload);
        }
        records_take(&now, workload_engine(workload));
        for (unsigned i = 0; i < MIXES; i++) {
            char what[64];
            (void)snprintf(what, sizeof(what), "seed %llu mix %u", (unsigned long long)seed, i);
            mix(&earlier, &now, &random, what);
        }
        records_release(&earlier);
        records_release(&now);
        workload_free(workload);
    }
}

// Changes some bytes of a record, or where it ends. What was there before is kept by others.
static void spoil(struct salvage_record *record, struct random *random)
{
    char *bytes = malloc(record->bytes.size + 1);
    assert_non_null(bytes);
    size_t size = record->bytes.size;
    memcpy(bytes, record->bytes.data, size);
    for (uint64_t i = random_below(random, 4); i > 0 && size; i--) {
        size_t at = random_below(random, size);
        // Far off, or next to what it was.
        int by = random_below(random, 2) ? (int)random_below(random, 256)
                                         : 1 - 2 * (int)random_below(random, 2);
        bytes[at] = (char)(unsigned char)((unsigned char)bytes[at] + by);
    }
    if (random_below(random, 6) == 0) {
        size = random_below(random, size + 1);
    }
    record->bytes = slice_make(bytes, size);
}

static void try_spoiled(const struct records *records, struct random *random, const char *what)
{
    struct salvage_record *items = copy(records);
    struct slice spoiled[SPOILED_MAX];
    size_t count = 1 + random_below(random, SPOILED_MAX);
    for (size_t i = 0; i < count; i++) {
        struct salvage_record *record = &items[random_below(random, records->count)];
        spoil(record, random);
        spoiled[i] = record->bytes;
    }
    try_records(items, records->count, what, false);
    for (size_t i = 0; i < count; i++) {
        free((char *)spoiled[i].data);
    }
    free(items);
}

static void test_salvage__records_with_changed_bytes(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct random random = { seed };
        struct workload *workload = workload_new(seed, NULL);
        struct records records = { 0 };
        for (unsigned i = 0; i < STEPS; i++) {
            workload_step(workload);
        }
        records_take(&records, workload_engine(workload));
        for (unsigned i = 0; i < SPOILS; i++) {
            char what[64];
            (void)snprintf(what, sizeof(what), "seed %llu change %u", (unsigned long long)seed, i);
            try_spoiled(&records, &random, what);
        }
        records_release(&records);
        workload_free(workload);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_salvage__each_record_left_out),
        cmocka_unit_test(test_salvage__records_of_two_times),
        cmocka_unit_test(test_salvage__records_with_changed_bytes),
    };
    return cmocka_run_group_tests_name("salvage", tests, NULL, NULL);
}
