// SPDX-License-Identifier: MIT
#include "store_test.h"

#include "store/key.h"

#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    VALUE_SIZE_MAX = 3000,
    RECORDS_MAX = 8,
};

static void run(const char *format, const char *a, const char *b)
{
    char command[512];
    (void)snprintf(command, sizeof(command), format, a, b);
    assert_int_equal(system(command), 0); // NOLINT(cert-env33-c): names are ours
}

static void keep_log(void *context, enum store_level level, const char *sentence)
{
    struct store_test *test = context;
    (void)level;
    (void)snprintf(test->log, sizeof(test->log), "%s", sentence);
}

void store_test_init(struct store_test *test)
{
    *test = (struct store_test){ .options = { .allocator = &allocator_system,
                                              .segment_size = 16384,
                                              .segments_max = 6,
                                              .reserve_size = 65536,
                                              .log = keep_log,
                                              .log_context = test } };
    const char *root = getenv("TMPDIR");
    (void)snprintf(test->folder, sizeof(test->folder), "%s/sluice-XXXXXX", root ? root : "/tmp");
    assert_non_null(mkdtemp(test->folder));
    (void)snprintf(test->path, sizeof(test->path), "%s/store", test->folder);
    test->options.path = test->path;
    random_init(&test->random);
}

void store_test_release(struct store_test *test)
{
    if (test->store) {
        store_test_close(test);
    }
    run("rm -rf '%s%s'", test->folder, "");
}

static struct slice value_of(uint32_t number, uint32_t value, char *bytes)
{
    size_t size = 4 + value % (value % 7 ? 200 : VALUE_SIZE_MAX - 4);
    for (size_t i = 0; i < size; i++) {
        bytes[i] = (char)(value * 31 + number + i);
    }
    memcpy(bytes, &value, sizeof(value));
    return slice_make(bytes, size);
}

static struct store_key key_of(uint32_t number)
{
    return (struct store_key){
        1 + number % 3, { (enum record_kind)(1 + number % 14), (uint64_t)number * 7, number % 2 }
    };
}

static enum status visit(void *context, struct store_key key, struct slice bytes,
                         struct error *error)
{
    struct store_test *test = context;
    char expected[VALUE_SIZE_MAX];
    (void)error;
    uint32_t number = (uint32_t)(key.record.id / 7);
    assert_true(number < TEST_KEYS && test->values[number] != 0);
    struct store_key wanted = key_of(number);
    assert_int_equal(key_compare(&key, &wanted), 0);
    assert_true(slice_equal(bytes, value_of(number, test->values[number], expected)));
    test->found++;
    return STATUS_OK;
}

struct store_visitor store_test_visitor(struct store_test *test)
{
    return (struct store_visitor){ .visit = visit, .context = test };
}

void store_test_open(struct store_test *test)
{
    const struct store_visitor visitor = store_test_visitor(test);
    size_t expected = 0;
    test->found = 0;
    enum status status = store_open(&test->options, &visitor, &test->store, &test->error);
    if (status) {
        print_error("%s\n", error_sentence(&test->error));
    }
    assert_int_equal(status, STATUS_OK);
    for (size_t i = 0; i < TEST_KEYS; i++) {
        expected += test->values[i] != 0;
    }
    assert_int_equal(test->found, expected);
}

void store_test_refused(struct store_test *test, enum status status)
{
    const struct store_visitor visitor = store_test_visitor(test);
    struct store *store;
    assert_int_equal(store_open(&test->options, &visitor, &store, &test->error), status);
    assert_true(test->error.detail[0]);
}

void store_test_close(struct store_test *test)
{
    assert_int_equal(store_close(test->store, &test->error), STATUS_OK);
    test->store = NULL;
}

void store_test_append(struct store_test *test)
{
    static char bytes[RECORDS_MAX][VALUE_SIZE_MAX];
    struct store_record records[RECORDS_MAX];
    size_t count = 1 + random_below(&test->random, RECORDS_MAX);
    for (size_t i = 0; i < count; i++) {
        uint32_t number = (uint32_t)random_below(&test->random, TEST_KEYS);
        bool gone = random_below(&test->random, 4) == 0;
        uint32_t value = gone ? 0 : 1 + (uint32_t)random_below(&test->random, UINT32_MAX - 1);
        test->values[number] = value;
        records[i].key = key_of(number);
        records[i].bytes = gone ? SLICE_EMPTY : value_of(number, value, bytes[i]);
    }
    assert_int_equal(store_append(test->store, records, count, &test->group, &test->error),
                     STATUS_OK);
}

void store_test_wait(struct store_test *test)
{
    assert_int_equal(store_wait(test->store, test->group, &test->error), STATUS_OK);
    assert_true(store_durable(test->store) >= test->group);
}

void store_test_copy(const char *from, const char *to)
{
    run("cp -a '%s' '%s'", from, to);
}
