// SPDX-License-Identifier: MIT
#include "base/base64.h"

#include "base/alloc.h"
#include "random.h"
#include "test.h"

enum {
    SIZE_LIMIT = 1 << 12,
};

// RFC 4648, section 10, and what is none.
static void test_base64__texts_and_bytes(void **state)
{
    static const struct row {
        const char *text, *bytes; // NULL: the text is not base64
        bool either;              // only where padding may be missing
    } rows[] = {
        { "", "", false },
        { "Zg==", "f", false },
        { "Zm8=", "fo", false },
        { "Zm9v", "foo", false },
        { "Zm9vYg==", "foob", false },
        { "Zm9vYmE=", "fooba", false },
        { "Zm9vYmFy", "foobar", false },
        { "Zg", "f", true },
        { "Zm8", "fo", true },
        { "Zm9vYg", "foob", true },
        { "Z", NULL, false },
        { "Zg=", NULL, false },
        { "Zm9vY", NULL, false },
        { "Z===", NULL, false },
        { "====", NULL, false },
        { "=", NULL, false },
        { "Zg==Zg==", NULL, false },
        { "Zh==", NULL, false },
        { "Zm9=", NULL, false },
        { "Zm9_", NULL, false },
        { "Zm 9", NULL, false },
        { "Zm9v\n", NULL, false },
    };
    (void)state;
    for (size_t i = 0; TEST_ROW_NAMED(i, rows, rows[i].text); i++) {
        for (int either = 0; either <= 1; either++) {
            struct buffer out;
            bool valid = rows[i].bytes && (either || !rows[i].either);
            buffer_init(&out, &allocator_system, SIZE_LIMIT);
            enum status status = base64_decode(slice_from_cstr(rows[i].text),
                                               either ? BASE64_EITHER : BASE64_PADDED, &out);
            assert_int_equal(status, valid ? STATUS_OK : STATUS_INVALID);
            if (valid) {
                assert_slice_equal(buffer_slice(&out), rows[i].bytes);
            }
            buffer_release(&out);
        }
        if (rows[i].bytes && !rows[i].either) {
            struct buffer out;
            buffer_init(&out, &allocator_system, SIZE_LIMIT);
            base64_append(&out, slice_from_cstr(rows[i].bytes));
            assert_slice_equal(buffer_slice(&out), rows[i].text);
            buffer_release(&out);
        }
    }
}

static void test_base64__any_bytes_come_back(void **state)
{
    struct random random;
    (void)state;
    random_init(&random);
    for (int i = 0; i < 2000; i++) {
        char bytes[64];
        struct buffer text, back;
        size_t size = random_below(&random, sizeof(bytes) + 1);
        for (size_t j = 0; j < size; j++) {
            bytes[j] = (char)random_u64(&random);
        }
        buffer_init(&text, &allocator_system, SIZE_LIMIT);
        buffer_init(&back, &allocator_system, SIZE_LIMIT);
        base64_append(&text, slice_make(bytes, size));
        assert_int_equal(base64_decode(buffer_slice(&text), BASE64_PADDED, &back), STATUS_OK);
        assert_true(slice_equal(buffer_slice(&back), slice_make(bytes, size)));
        buffer_release(&text);
        buffer_release(&back);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_base64__texts_and_bytes),
        cmocka_unit_test(test_base64__any_bytes_come_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
