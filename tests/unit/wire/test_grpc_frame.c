// SPDX-License-Identifier: MIT
#include "wire/grpc_frame.h"

#include "base/alloc.h"
#include "test.h"

enum {
    SIZE_LIMIT = 1 << 20,
};

static void test_grpc_frame__frames_are_taken_off_the_front(void **state)
{
    static const struct row {
        struct slice input;
        size_t size_max;
        enum grpc_frame_step step;
        size_t missing;
        const char *message;
        bool compressed;
    } rows[] = {
        { { "", 0 }, 10, GRPC_FRAME_MORE, 5, "", false },
        { { "\0\0\0\0", 4 }, 10, GRPC_FRAME_MORE, 1, "", false },
        { { "\0\0\0\0\0", 5 }, 10, GRPC_FRAME_WHOLE, 0, "", false },
        { { "\0\0\0\0\3ab", 7 }, 10, GRPC_FRAME_MORE, 1, "", false },
        { { "\0\0\0\0\3abc", 8 }, 3, GRPC_FRAME_WHOLE, 0, "abc", false },
        { { "\1\0\0\0\1x", 6 }, 10, GRPC_FRAME_WHOLE, 0, "x", true },
        { { "\2", 1 }, 10, GRPC_FRAME_BROKEN, 0, "", false },
        { { "\xff\0\0\0\1x", 6 }, 10, GRPC_FRAME_BROKEN, 0, "", false },
        { { "\0\0\0\0\4", 5 }, 3, GRPC_FRAME_TOO_LARGE, 0, "", false },
        { { "\0\xff\xff\xff\xff", 5 }, 1 << 24, GRPC_FRAME_TOO_LARGE, 0, "", false },
        { { "\0\xff\xff\xff\xff", 5 }, SIZE_MAX, GRPC_FRAME_MORE, UINT32_MAX, "", false },
    };
    (void)state;
    for (size_t i = 0; TEST_ROW(i, rows); i++) {
        struct slice input = rows[i].input;
        struct grpc_frame frame = { .message = SLICE_EMPTY };
        size_t missing;
        assert_int_equal(grpc_frame_next(&input, rows[i].size_max, &frame, &missing), rows[i].step);
        assert_int_equal(missing, rows[i].missing);
        assert_slice_equal(frame.message, rows[i].message);
        assert_int_equal(frame.compressed, rows[i].compressed);
        assert_int_equal(input.size, rows[i].step == GRPC_FRAME_WHOLE ? 0 : rows[i].input.size);
    }
}

static void test_grpc_frame__what_is_written_is_read(void **state)
{
    static const size_t sizes[] = { 0, 1, 255, 256, 70000 };
    struct buffer out;
    struct grpc_frame frame;
    (void)state;
    buffer_init(&out, &allocator_system, SIZE_LIMIT);
    for (size_t i = 0; TEST_ROW(i, sizes); i++) {
        size_t begin = grpc_frame_begin(&out);
        for (size_t j = 0; j < sizes[i]; j++) {
            buffer_append_char(&out, (char)j);
        }
        grpc_frame_end(&out, begin);
    }
    struct slice rest = buffer_slice(&out);
    for (size_t i = 0; TEST_ROW(i, sizes); i++) {
        assert_int_equal(grpc_frame_next(&rest, SIZE_LIMIT, &frame, NULL), GRPC_FRAME_WHOLE);
        assert_false(frame.compressed);
        assert_int_equal(frame.message.size, sizes[i]);
    }
    assert_int_equal(rest.size, 0);
    buffer_release(&out);
}

static void test_grpc_frame__a_full_buffer_is_not_written_over(void **state)
{
    struct buffer out;
    (void)state;
    buffer_init(&out, &allocator_system, 4);
    size_t begin = grpc_frame_begin(&out);
    buffer_append_char(&out, 'x');
    grpc_frame_end(&out, begin);
    assert_int_equal(out.status, STATUS_TOO_LARGE);
    buffer_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_grpc_frame__frames_are_taken_off_the_front),
        cmocka_unit_test(test_grpc_frame__what_is_written_is_read),
        cmocka_unit_test(test_grpc_frame__a_full_buffer_is_not_written_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
