// SPDX-License-Identifier: MIT
#include "store/journal/sector.h"

#include "test.h"

#include <string.h>

enum {
    SEED = 77,
};

static void make(char *sector, struct sector_stamp stamp)
{
    for (int i = SECTOR_HEAD_SIZE; i < SECTOR_SIZE; i++) {
        sector[i] = (char)(i * 7);
    }
    sector_seal(sector, SEED, stamp);
}

static void flip(char *sector, int bit)
{
    sector[bit / 8] = (char)(sector[bit / 8] ^ 1 << bit % 8);
}

static void test_sector__its_stamp_comes_back(void **state)
{
    (void)state;
    static const struct sector_stamp stamps[] = {
        { 1, 0, true }, { 1, 0, false }, { UINT64_MAX, 0x7fffffff, true }, { 12, 34567, false }
    };
    for (size_t i = 0; TEST_ROW(i, stamps); i++) {
        char sector[SECTOR_SIZE];
        struct sector_stamp stamp;
        make(sector, stamps[i]);
        assert_int_equal(sector_read(sector, SEED, &stamp), SECTOR_VALID);
        assert_int_equal(stamp.group, stamps[i].group);
        assert_int_equal(stamp.index, stamps[i].index);
        assert_int_equal(stamp.last, stamps[i].last);
    }
}

static void test_sector__every_changed_bit_shows(void **state)
{
    (void)state;
    char sector[SECTOR_SIZE];
    struct sector_stamp stamp;
    make(sector, (struct sector_stamp){ 5, 6, false });
    for (int i = 0; i < SECTOR_SIZE * 8; i++) {
        flip(sector, i);
        assert_int_equal(sector_read(sector, SEED, &stamp), SECTOR_DAMAGED);
        flip(sector, i);
    }
    assert_int_equal(sector_read(sector, SEED, &stamp), SECTOR_VALID);
}

static void test_sector__zeros_are_blank_and_nothing_else_is(void **state)
{
    (void)state;
    char sector[SECTOR_SIZE] = { 0 };
    struct sector_stamp stamp;
    assert_int_equal(sector_read(sector, SEED, &stamp), SECTOR_BLANK);
    assert_int_equal(sector_read(sector, 0, &stamp), SECTOR_BLANK);
    for (int i = 0; i < SECTOR_SIZE; i++) {
        sector[i] = 1;
        assert_int_equal(sector_read(sector, SEED, &stamp), SECTOR_DAMAGED);
        sector[i] = 0;
    }
}

static void test_sector__one_of_another_store_does_not_check(void **state)
{
    (void)state;
    char sector[SECTOR_SIZE];
    struct sector_stamp stamp;
    make(sector, (struct sector_stamp){ 5, 6, false });
    assert_int_equal(sector_read(sector, SEED + 1, &stamp), SECTOR_DAMAGED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sector__its_stamp_comes_back),
        cmocka_unit_test(test_sector__every_changed_bit_shows),
        cmocka_unit_test(test_sector__zeros_are_blank_and_nothing_else_is),
        cmocka_unit_test(test_sector__one_of_another_store_does_not_check),
    };
    return cmocka_run_group_tests_name("sector", tests, NULL, NULL);
}
