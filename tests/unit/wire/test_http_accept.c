// SPDX-License-Identifier: MIT
#include "wire/http_accept.h"

#include "base/buffer.h"
#include "test.h"

static void test_http_accept__items_have_weights(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        { "", "" },
        { "gzip", "[gzip 1]" },
        { "gzip, deflate;q=0.5 ,\tbr ; q=0", "[gzip 1][deflate 0.5][br 0]" },
        { "text/*;Q=1.,a;q=0.", "[text/* 1][a 0]" },
        { "application/json;version=1;q=0.25", "[application/json 0.25]" },
        { "a;q=,b;q=x,c;q=0.5x", "[a 0][b 0][c 0]" },
        { "a;quality=0", "[a 1]" },
        { "a,,b", "[a 1][ 1][b 1]" },
        { ";q=0", "[ 0]" },
    };
    for (size_t i = 0; TEST_ROW(i, rows); i++) {
        struct slice list = slice_from_cstr(rows[i][0]);
        struct http_accept item;
        struct buffer out;
        buffer_init(&out, &allocator_system, 1000);
        while (http_accept_next(&list, &item)) {
            buffer_printf(&out, "[%.*s %g]", SLICE_PRINT(item.value), item.weight);
        }
        assert_slice_equal(buffer_slice(&out), rows[i][1]);
        buffer_release(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_http_accept__items_have_weights),
    };
    return cmocka_run_group_tests_name("http_accept", tests, NULL, NULL);
}
