// SPDX-License-Identifier: MIT
// Files made here, whole and damaged. Each is given in memory of just its size, so that ASan sees a
// read beyond it.
#include "host/zones/tzif.h"

#include "fault_alloc.h"
#include "random.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

enum {
    FILE_MAX = 512,
    SECOND_HEADER = 44 + 6 + 4, // behind a first block with a type and a name
};

struct file {
    uint8_t bytes[FILE_MAX];
    size_t size;
};

static void put(struct file *file, const void *bytes, size_t size)
{
    assert_true(file->size + size <= FILE_MAX);
    memcpy(file->bytes + file->size, bytes, size);
    file->size += size;
}

static void put_number(struct file *file, int64_t number, unsigned size)
{
    for (unsigned i = size; i > 0; i--) {
        uint8_t byte = (uint8_t)((uint64_t)number >> (8 * (i - 1)));
        put(file, &byte, 1);
    }
}

static void put_header(struct file *file, char version, unsigned times, unsigned types)
{
    static const char nothing[15];
    put(file, "TZif", 4);
    put(file, &version, 1);
    put(file, nothing, sizeof(nothing));
    put_number(file, 0, 4);
    put_number(file, 0, 4);
    put_number(file, 0, 4);
    put_number(file, times, 4);
    put_number(file, types, 4);
    put_number(file, 4, 4);
}

static void put_type(struct file *file, int32_t offset_s)
{
    put_number(file, offset_s, 4);
    put_number(file, 0, 2);
}

// Three transitions between an hour and two to the east, and a rule.
static void make(struct file *file, const char *rule)
{
    static const uint8_t indices[] = { 1, 2, 1 };
    file->size = 0;
    put_header(file, '2', 0, 1);
    put_type(file, 0);
    put(file, "LMT", 4);
    put_header(file, '2', 3, 3);
    put_number(file, -1000000000, 8);
    put_number(file, 1000000000, 8);
    put_number(file, 1010000000, 8);
    put(file, indices, sizeof(indices));
    put_type(file, 1234);
    put_type(file, 3600);
    put_type(file, 7200);
    put(file, "LMT", 4);
    put(file, "\n", 1);
    put(file, rule, strlen(rule));
    put(file, "\n", 1);
}

static enum status read_file(const struct file *file, struct tzif *out, struct error *error)
{
    uint8_t *copy = malloc(file->size ? file->size : 1);
    memcpy(copy, file->bytes, file->size);
    enum status status =
        tzif_read(out, &allocator_system, SLICE("A/B"), slice_make(copy, file->size), error);
    free(copy);
    return status;
}

// Whatever was in the file, what comes out is in order.
static void check(const struct tzif *tzif)
{
    int32_t offset_s = tzif->offset_s;
    for (size_t i = 0; i < tzif->count; i++) {
        assert_true(i == 0 || tzif->transitions[i].at_us > tzif->transitions[i - 1].at_us);
        assert_int_not_equal(tzif->transitions[i].offset_s, offset_s);
        offset_s = tzif->transitions[i].offset_s;
        assert_true(offset_s <= ZONE_OFFSET_MAX_S && offset_s >= -ZONE_OFFSET_MAX_S);
    }
    assert_true(tzif->count <= 10000);
}

static void test_tzif__the_table_is_read(void **state)
{
    (void)state;
    struct file file;
    struct tzif tzif;
    struct error error;
    make(&file, "CET-1");
    assert_int_equal(read_file(&file, &tzif, &error), STATUS_OK);
    check(&tzif);
    assert_int_equal(tzif.offset_s, 1234);
    assert_int_equal(tzif.count, 3);
    assert_int_equal(tzif.transitions[0].at_us, -1000000000000000);
    assert_int_equal(tzif.transitions[1].offset_s, 7200);
    assert_int_equal(tzif.transitions[2].at_us, 1010000000000000);
    tzif_release(&tzif);
}

static void test_tzif__the_rule_goes_on_until_2100(void **state)
{
    (void)state;
    struct file file;
    struct tzif tzif;
    struct error error;
    make(&file, "CET-1CEST,M3.5.0,M10.5.0/3");
    assert_int_equal(read_file(&file, &tzif, &error), STATUS_OK);
    check(&tzif);
    // The table ends in January 2002; two a year from then on.
    assert_int_equal(tzif.count, 3 + 2 * (2100 - 2002 + 1));
    assert_int_equal(tzif.transitions[tzif.count - 1].at_us, 4128627600000000);
    tzif_release(&tzif);
}

static void test_tzif__summer_all_year_is_one_transition(void **state)
{
    (void)state;
    struct file file;
    struct tzif tzif;
    struct error error;
    make(&file, "XXX-1YYY,0/0,J365/25");
    assert_int_equal(read_file(&file, &tzif, &error), STATUS_OK);
    check(&tzif);
    // The end of the last year has no beginning of a next one to cancel it.
    assert_int_equal(tzif.count, 3 + 2);
    tzif_release(&tzif);
}

static void test_tzif__a_time_since_ever_is_the_first_offset(void **state)
{
    (void)state;
    struct file file;
    struct tzif tzif;
    struct error error;
    make(&file, "");
    file.bytes[SECOND_HEADER + 44] = 0xf8; // about -2^59 seconds
    assert_int_equal(read_file(&file, &tzif, &error), STATUS_OK);
    check(&tzif);
    assert_int_equal(tzif.offset_s, 3600);
    assert_int_equal(tzif.count, 2);
    tzif_release(&tzif);
}

static void test_tzif__what_is_not_supported_is_said_so(void **state)
{
    (void)state;
    struct file file;
    struct tzif tzif;
    struct error error;
    make(&file, "CET-1");
    file.bytes[4] = '\0';
    assert_int_equal(read_file(&file, &tzif, &error), STATUS_UNSUPPORTED);
    make(&file, "CET-1");
    file.bytes[SECOND_HEADER + 31] = 1; // a leap second, out of the bytes behind
    put(&file, "0123456789ab\n\n", 14);
    assert_int_equal(read_file(&file, &tzif, &error), STATUS_UNSUPPORTED);
    assert_string_equal(error.detail, "time zone 'A/B' counts leap seconds");
}

static void test_tzif__every_cut_is_noticed(void **state)
{
    (void)state;
    struct file file;
    struct tzif tzif;
    struct error error;
    make(&file, "CET-1CEST,M3.5.0,M10.5.0/3");
    size_t size = file.size;
    for (file.size = 0; file.size < size; file.size++) {
        assert_int_equal(read_file(&file, &tzif, &error), STATUS_CORRUPT);
        assert_true(strncmp(error.detail, "the file of time zone 'A/B' is damaged: ", 40) == 0);
    }
}

static void test_tzif__damaged_bytes_do_no_harm(void **state)
{
    (void)state;
    struct file file;
    struct random random;
    make(&file, "CET-1CEST,M3.5.0,M10.5.0/3");
    random_init(&random);
    for (size_t i = 0; i < file.size; i++) {
        uint8_t before = file.bytes[i];
        for (int value = 0; value < 256; value++) {
            struct tzif tzif;
            struct error error;
            file.bytes[i] = (uint8_t)value;
            if (read_file(&file, &tzif, &error) == STATUS_OK) {
                check(&tzif);
                tzif_release(&tzif);
            }
        }
        file.bytes[i] = before;
    }
    for (int i = 0; i < 20000; i++) {
        struct file damaged = file;
        struct tzif tzif;
        struct error error;
        for (uint64_t j = random_below(&random, 4) + 2; j > 0; j--) {
            damaged.bytes[random_below(&random, file.size)] = (uint8_t)random_u64(&random);
        }
        if (read_file(&damaged, &tzif, &error) == STATUS_OK) {
            check(&tzif);
            tzif_release(&tzif);
        }
    }
}

static void test_tzif__a_lack_of_memory_is_told_and_leaves_nothing(void **state)
{
    (void)state;
    struct file file;
    struct fault_alloc fault;
    make(&file, "CET-1CEST,M3.5.0,M10.5.0/3");
    FAULT_ALLOC_EACH(&fault)
    {
        struct tzif tzif;
        struct error error;
        enum status status = tzif_read(&tzif, &fault.allocator, SLICE("A/B"),
                                       slice_make(file.bytes, file.size), &error);
        FAULT_ALLOC_EXPECT(&fault, status);
        if (status == STATUS_OK) {
            tzif_release(&tzif);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tzif__the_table_is_read),
        cmocka_unit_test(test_tzif__the_rule_goes_on_until_2100),
        cmocka_unit_test(test_tzif__summer_all_year_is_one_transition),
        cmocka_unit_test(test_tzif__a_time_since_ever_is_the_first_offset),
        cmocka_unit_test(test_tzif__what_is_not_supported_is_said_so),
        cmocka_unit_test(test_tzif__every_cut_is_noticed),
        cmocka_unit_test(test_tzif__damaged_bytes_do_no_harm),
        cmocka_unit_test(test_tzif__a_lack_of_memory_is_told_and_leaves_nothing),
    };
    return cmocka_run_group_tests_name("tzif", tests, NULL, NULL);
}
