// SPDX-License-Identifier: MIT
#include "base/crc32c.h"

#include "random.h"
#include "test.h"

#include <string.h>

enum {
    ROUNDS = 5000,
    BLOCK_SIZE = 600,
};

// The three ways to get it; where there is no instruction for it, only the first two are used.
static uint32_t (*const ways[])(uint32_t crc, const void *data, size_t size) = {
    crc32c,
    crc32c_table,
    crc32c_hardware,
};

static size_t ways_count(void)
{
    return crc32c_hardware_present() ? 3 : 2;
}

// Bit by bit, from the definition.
static uint32_t crc32c_by_bits(uint32_t crc, const uint8_t *bytes, size_t size)
{
    crc = ~crc;
    for (size_t i = 0; i < size; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++) {
            crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78U : 0);
        }
    }
    return ~crc;
}

static void test_crc32c__matches_the_vectors_of_rfc_3720(void **state)
{
    (void)state;
    uint8_t zeros[32] = { 0 };
    uint8_t ones[32];
    uint8_t ascending[32];
    uint8_t descending[32];
    for (uint8_t i = 0; i < 32; i++) {
        ones[i] = 0xff;
        ascending[i] = i;
        descending[i] = (uint8_t)(31 - i);
    }
    static const uint8_t iscsi_read[48] = {
        0x01, 0xc0, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
        0x00, 0x00, 0x00, 0x00, 0x14, 0x00, 0x00, 0x00, 0x00, 0x00, 0x04, 0x00,
        0x00, 0x00, 0x00, 0x14, 0x00, 0x00, 0x00, 0x18, 0x28, 0x00, 0x00, 0x00,
        0x00, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    };
    for (size_t i = 0; i < ways_count(); i++) {
        assert_int_equal(ways[i](0, "123456789", 9), 0xe3069283);
        assert_int_equal(ways[i](0, zeros, sizeof(zeros)), 0x8a9136aa);
        assert_int_equal(ways[i](0, ones, sizeof(ones)), 0x62a8ab43);
        assert_int_equal(ways[i](0, ascending, sizeof(ascending)), 0x46dd794e);
        assert_int_equal(ways[i](0, descending, sizeof(descending)), 0x113fdb5c);
        assert_int_equal(ways[i](0, iscsi_read, sizeof(iscsi_read)), 0xd9963a56);
    }
}

static void test_crc32c__no_bytes_change_nothing(void **state)
{
    (void)state;
    for (size_t i = 0; i < ways_count(); i++) {
        assert_int_equal(ways[i](0, NULL, 0), 0);
        assert_int_equal(ways[i](0x12345678, NULL, 0), 0x12345678);
        assert_int_equal(ways[i](0xffffffff, "", 0), 0xffffffff);
    }
}

static void test_crc32c__every_single_bit_of_eight_bytes_has_its_own_remainder(void **state)
{
    (void)state;
    // By linearity these stand for every entry of the table.
    for (int bit = 0; bit < 64; bit++) {
        uint8_t bytes[8] = { 0 };
        bytes[bit / 8] = (uint8_t)(1U << bit % 8);
        uint32_t wanted = crc32c_by_bits(0, bytes, sizeof(bytes));
        for (size_t i = 0; i < ways_count(); i++) {
            assert_int_equal(ways[i](0, bytes, sizeof(bytes)), wanted);
        }
    }
    for (unsigned byte = 0; byte < 256; byte++) {
        uint8_t bytes[8];
        memset(bytes, (int)byte, sizeof(bytes));
        for (size_t i = 0; i < ways_count(); i++) {
            assert_int_equal(ways[i](0, bytes, 1), crc32c_by_bits(0, bytes, 1));
            assert_int_equal(ways[i](0, bytes, 8), crc32c_by_bits(0, bytes, 8));
        }
    }
}

static void test_crc32c__all_ways_agree_at_any_place_size_and_cut(void **state)
{
    (void)state;
    struct random random;
    random_init(&random);
    uint8_t block[BLOCK_SIZE];
    for (size_t i = 0; i < sizeof(block); i++) {
        block[i] = (uint8_t)random_u64(&random);
    }
    for (int round = 0; round < ROUNDS; round++) {
        size_t start = (size_t)random_below(&random, 17);
        size_t size = (size_t)random_below(&random, BLOCK_SIZE - 16);
        size_t cut = (size_t)random_below(&random, size + 1);
        const uint8_t *bytes = block + start;
        uint32_t before = (uint32_t)random_u64(&random);
        uint32_t wanted = crc32c_by_bits(before, bytes, size);
        for (size_t i = 0; i < ways_count(); i++) {
            assert_int_equal(ways[i](before, bytes, size), wanted);
            uint32_t first = ways[i](before, bytes, cut);
            assert_int_equal(ways[i](first, bytes + cut, size - cut), wanted);
        }
    }
}

static void test_crc32c__any_flipped_bit_is_noticed(void **state)
{
    (void)state;
    uint8_t block[BLOCK_SIZE] = { 0 };
    uint32_t whole = crc32c(0, block, sizeof(block));
    for (size_t bit = 0; bit < 8 * sizeof(block); bit++) {
        block[bit / 8] ^= (uint8_t)(1U << bit % 8);
        assert_int_not_equal(crc32c(0, block, sizeof(block)), whole);
        block[bit / 8] ^= (uint8_t)(1U << bit % 8);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_crc32c__matches_the_vectors_of_rfc_3720),
        cmocka_unit_test(test_crc32c__no_bytes_change_nothing),
        cmocka_unit_test(test_crc32c__every_single_bit_of_eight_bytes_has_its_own_remainder),
        cmocka_unit_test(test_crc32c__all_ways_agree_at_any_place_size_and_cut),
        cmocka_unit_test(test_crc32c__any_flipped_bit_is_noticed),
    };
    return cmocka_run_group_tests_name("crc32c", tests, NULL, NULL);
}
