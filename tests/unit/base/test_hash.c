// SPDX-License-Identifier: MIT
#include "base/hash.h"

#include "base/bytes.h"

#include "test.h"

static void test_hash__depends_on_every_byte_on_the_size_and_on_the_seed(void **state)
{
    (void)state;
    const struct hash_seed seed = { 1, 2 };
    char bytes[64] = { 0 };
    for (size_t size = 0; size < sizeof(bytes); size++) {
        uint64_t hash = hash_bytes(&seed, slice_make(bytes, size));
        assert_true(hash != hash_bytes(&seed, slice_make(bytes, size + 1)));
        assert_true(hash != hash_bytes(&(struct hash_seed){ 1, 3 }, slice_make(bytes, size)));
        assert_true(hash != hash_bytes(&(struct hash_seed){ 2, 2 }, slice_make(bytes, size)));
        for (size_t i = 0; i < size; i++) {
            bytes[i] ^= 1;
            assert_true(hash != hash_bytes(&seed, slice_make(bytes, size)));
            bytes[i] ^= 1;
        }
    }
}

static void test_hash__is_the_same_wherever_the_bytes_stand(void **state)
{
    (void)state;
    const struct hash_seed seed = { 3, 4 };
    const struct slice id = SLICE("0190a4c2-5b1f-7cc3-98c4-dc0c0c07398f");
    char bytes[80];
    for (size_t offset = 0; offset < 16; offset++) {
        memset(bytes, 0x55, sizeof(bytes));
        memcpy(bytes + offset, id.data, id.size);
        assert_true(hash_bytes(&seed, slice_make(bytes + offset, id.size)) ==
                    hash_bytes(&seed, id));
    }
}

// Key 00..0f over the messages "", 00, 00 01, ..., computed from the definition of SipHash in the
// paper by another program, which also gives the paper's own vector for SipHash-2-4.
static void test_hash__is_siphash_with_one_and_three_rounds(void **state)
{
    (void)state;
    static const struct {
        size_t size;
        uint64_t hash;
    } cases[] = {
        { 0, 0xabac0158050fc4dc },  { 1, 0xc9f49bf37d57ca93 }, { 2, 0x82cb9b024dc7d44d },
        { 7, 0xd3927d989bb11140 },  { 8, 0x369095118d299a8e }, { 15, 0xd320d86d2a519956 },
        { 36, 0x2cf508d3ada26206 },
    };
    uint8_t bytes[36];
    for (size_t i = 0; i < sizeof(bytes); i++) {
        bytes[i] = (uint8_t)i;
    }
    const struct hash_seed seed = { bytes_load_u64(bytes), bytes_load_u64(bytes + 8) };
    for (size_t i = 0; TEST_ROW(i, cases); i++) {
        assert_true(hash_bytes(&seed, slice_make(bytes, cases[i].size)) == cases[i].hash);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hash__depends_on_every_byte_on_the_size_and_on_the_seed),
        cmocka_unit_test(test_hash__is_the_same_wherever_the_bytes_stand),
        cmocka_unit_test(test_hash__is_siphash_with_one_and_three_rounds),
    };
    return cmocka_run_group_tests_name("hash", tests, NULL, NULL);
}
