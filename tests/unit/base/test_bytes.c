// SPDX-License-Identifier: MIT
#include "base/bytes.h"

#include "test.h"

static void test_bytes__are_little_endian_at_any_address(void **state)
{
    (void)state;
    unsigned char bytes[17] = { 0 };
    for (size_t i = 0; i < 8; i++) {
        bytes_store_u64(bytes + i, 0x0807060504030201U);
        for (unsigned j = 0; j < 8; j++) {
            assert_int_equal(bytes[i + j], j + 1);
        }
        assert_true(bytes_load_u64(bytes + i) == 0x0807060504030201U);
        assert_int_equal(bytes_load_u32(bytes + i), 0x04030201);
        assert_int_equal(bytes_load_u16(bytes + i), 0x0201);

        bytes_store_u32(bytes + i, 0xa4a3a2a1U);
        assert_true(bytes_load_u64(bytes + i) == 0x08070605a4a3a2a1U);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes__are_little_endian_at_any_address),
    };
    return cmocka_run_group_tests_name("bytes", tests, NULL, NULL);
}
