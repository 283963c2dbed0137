// SPDX-License-Identifier: MIT
#include "base/uuid.h"

#include "random.h"
#include "test.h"

#include <string.h>

enum {
    ROUNDS = 20000,
};

static const uint8_t zeros[UUID_ENTROPY_SIZE];
static const uint8_t ones[UUID_ENTROPY_SIZE] = { 0xff, 0xff, 0xff, 0xff, 0xff,
                                                 0xff, 0xff, 0xff, 0xff, 0xff };

static void random_entropy(struct random *random, uint8_t entropy[UUID_ENTROPY_SIZE])
{
    for (int i = 0; i < UUID_ENTROPY_SIZE; i++) {
        entropy[i] = (uint8_t)random_u64(random);
    }
}

static void assert_uuid_equal(const struct uuid *uuid, const char *text)
{
    char given[UUID_TEXT_SIZE + 1] = { 0 };
    uuid_format(uuid, given);
    assert_string_equal(given, text);
}

static void test_uuid__holds_the_time_the_fraction_and_the_entropy(void **state)
{
    (void)state;
    static const uint8_t entropy[UUID_ENTROPY_SIZE] = { 0xee, 0xec, 0x18, 0xc4, 0xdc,
                                                        0x0c, 0x0c, 0x07, 0x39, 0x8f };
    struct uuid uuid;
    // The moment of RFC 9562, appendix A.6.
    uuid_v7(1645557742000000, entropy, &uuid);
    assert_uuid_equal(&uuid, "017f22e2-79b0-7000-98c4-dc0c0c07398f");
    uuid_v7(1645557742000500, entropy, &uuid);
    assert_uuid_equal(&uuid, "017f22e2-79b0-7800-98c4-dc0c0c07398f");
    uuid_v7(1645557742000999, entropy, &uuid);
    assert_uuid_equal(&uuid, "017f22e2-79b0-7ffb-98c4-dc0c0c07398f");
    uuid_v7(1645557742001000, entropy, &uuid);
    assert_uuid_equal(&uuid, "017f22e2-79b1-7000-98c4-dc0c0c07398f");
    uuid_v7(1645557742000000, zeros, &uuid);
    assert_uuid_equal(&uuid, "017f22e2-79b0-7000-8000-000000000000");
    uuid_v7(1645557742000000, ones, &uuid);
    assert_uuid_equal(&uuid, "017f22e2-79b0-7003-bfff-ffffffffffff");
}

static void test_uuid__a_time_that_does_not_fit_counts_as_the_nearest_that_does(void **state)
{
    (void)state;
    struct uuid uuid;
    static const int64_t early[] = { 0, -1, -1000, INT64_MIN };
    for (size_t i = 0; TEST_ROW(i, early); i++) {
        uuid_v7(early[i], zeros, &uuid);
        assert_uuid_equal(&uuid, "00000000-0000-7000-8000-000000000000");
    }
    static const int64_t late[] = { 281474976710655999, 281474976710656000, INT64_MAX };
    for (size_t i = 0; TEST_ROW(i, late); i++) {
        uuid_v7(late[i], ones, &uuid);
        assert_uuid_equal(&uuid, "ffffffff-ffff-7ffe-bfff-ffffffffffff");
    }
}

static void test_uuid__a_later_microsecond_sorts_later_whatever_the_entropy(void **state)
{
    (void)state;
    for (int64_t us = 1645557742000000; us < 1645557742003000; us++) {
        struct uuid before;
        struct uuid after;
        uuid_v7(us, ones, &before);
        uuid_v7(us + 1, zeros, &after);
        assert_true(memcmp(&before, &after, sizeof(before)) < 0);

        char before_text[UUID_TEXT_SIZE];
        char after_text[UUID_TEXT_SIZE];
        uuid_format(&before, before_text);
        uuid_format(&after, after_text);
        assert_true(memcmp(before_text, after_text, UUID_TEXT_SIZE) < 0);
    }
}

static void test_uuid__version_and_variant_are_set_whatever_the_entropy(void **state)
{
    (void)state;
    struct random random;
    random_init(&random);
    for (int i = 0; i < ROUNDS; i++) {
        uint8_t entropy[UUID_ENTROPY_SIZE];
        random_entropy(&random, entropy);
        struct uuid uuid;
        uuid_v7((int64_t)random_u64(&random), entropy, &uuid);
        assert_int_equal(uuid.bytes[6] >> 4, 7);
        assert_int_equal(uuid.bytes[8] >> 6, 2);
    }
}

static void test_uuid__entropy_of_64_bits_is_kept(void **state)
{
    (void)state;
    int kept = 0;
    for (int bit = 0; bit < 8 * UUID_ENTROPY_SIZE; bit++) {
        uint8_t entropy[UUID_ENTROPY_SIZE] = { 0 };
        entropy[bit / 8] = (uint8_t)(1U << bit % 8);
        struct uuid plain;
        struct uuid flipped;
        uuid_v7(1645557742000123, zeros, &plain);
        uuid_v7(1645557742000123, entropy, &flipped);
        kept += memcmp(&plain, &flipped, sizeof(plain)) != 0;
    }
    assert_int_equal(kept, 64);
}

static void test_uuid__the_text_has_every_byte_in_order(void **state)
{
    (void)state;
    struct uuid uuid;
    for (int i = 0; i < UUID_SIZE; i++) {
        uuid.bytes[i] = (uint8_t)(i * 17);
    }
    assert_uuid_equal(&uuid, "00112233-4455-6677-8899-aabbccddeeff");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_uuid__holds_the_time_the_fraction_and_the_entropy),
        cmocka_unit_test(test_uuid__a_time_that_does_not_fit_counts_as_the_nearest_that_does),
        cmocka_unit_test(test_uuid__a_later_microsecond_sorts_later_whatever_the_entropy),
        cmocka_unit_test(test_uuid__version_and_variant_are_set_whatever_the_entropy),
        cmocka_unit_test(test_uuid__entropy_of_64_bits_is_kept),
        cmocka_unit_test(test_uuid__the_text_has_every_byte_in_order),
    };
    return cmocka_run_group_tests_name("uuid", tests, NULL, NULL);
}
