// SPDX-License-Identifier: MIT
#include "wire/protobuf.h"

#include "base/alloc.h"
#include "fault_alloc.h"
#include "random.h"
#include "test.h"

#include <math.h>

enum {
    SIZE_LIMIT = 1 << 20,
};

static void test_protobuf__fields_are_read(void **state)
{
    static const struct row {
        struct slice bytes;
        uint32_t number;
        enum protobuf_wire wire;
        uint64_t value;
        const char *text;
    } rows[] = {
        { { "\x08\x00", 2 }, 1, PROTOBUF_VARINT, 0, "" },
        { { "\x08\x96\x01", 3 }, 1, PROTOBUF_VARINT, 150, "" },
        { { "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11 },
          1,
          PROTOBUF_VARINT,
          UINT64_MAX,
          "" },
        { { "\x08\x80\x80\x00", 4 }, 1, PROTOBUF_VARINT, 0, "" }, // not the shortest form
        { { "\xf8\xff\xff\xff\x0f\x01", 6 }, PROTOBUF_NUMBER_MAX, PROTOBUF_VARINT, 1, "" },
        { { "\x11\x01\x02\x03\x04\x05\x06\x07\x08", 9 },
          2,
          PROTOBUF_FIXED64,
          0x0807060504030201,
          "" },
        { { "\x15\x01\x02\x03\x84", 5 }, 2, PROTOBUF_FIXED32, 0x84030201, "" },
        { { "\x12\x00", 2 }, 2, PROTOBUF_BYTES, 0, "" },
        { { "\x12\x03"
            "abc",
            5 },
          2,
          PROTOBUF_BYTES,
          0,
          "abc" },
        { { "\x0b\x0c\x08\x07", 4 }, 1, PROTOBUF_VARINT, 7, "" }, // behind an empty group
        { { "\x0b\x13\x08\x01\x14\x1a\x01x\x0c\x08\x07", 11 }, 1, PROTOBUF_VARINT, 7, "" },
    };
    (void)state;
    for (size_t i = 0; TEST_ROW(i, rows); i++) {
        struct protobuf_reader reader = protobuf_reader(rows[i].bytes);
        struct protobuf_field field;
        assert_true(protobuf_next(&reader, &field));
        assert_int_equal(field.number, rows[i].number);
        assert_int_equal(field.wire, rows[i].wire);
        assert_int_equal(field.value, rows[i].value);
        assert_slice_equal(field.bytes, rows[i].text);
        assert_false(protobuf_next(&reader, &field));
        assert_false(reader.broken);
        assert_true(protobuf_is_valid(rows[i].bytes));
    }
}

static void test_protobuf__what_is_broken_ends_the_message(void **state)
{
    static const struct slice rows[] = {
        { "\x08", 1 },                                              // no value
        { "\x80", 1 },                                              // half a tag
        { "\x08\x80", 2 },                                          // half a number
        { "\x08\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", 12 }, // 11 bytes
        { "\x00\x00", 2 },                                          // field 0
        { "\x80\x80\x80\x80\x10\x01", 6 },                          // a field above the maximum
        { "\x11\x01\x02\x03\x04\x05\x06\x07", 8 },                  //
        { "\x15\x01\x02\x03", 4 },                                  //
        { "\x12\x01", 2 },                                          // one byte of none
        { "\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11 },     // of 2^64-1
        { "\x0e", 1 },                                              // a type that there is not
        { "\x0f", 1 },                                              //
        { "\x0c", 1 },                                              // the end of no group
        { "\x0b", 1 },                                              // a group without end
        { "\x0b\x14", 2 },                                          // another group's end
        { "\x0b\x13\x0c\x14", 4 },                                  // crossed
        { "\x0b\x0f\x0c", 3 },                                      //
    };
    (void)state;
    for (size_t i = 0; TEST_ROW(i, rows); i++) {
        struct protobuf_reader reader = protobuf_reader(rows[i]);
        struct protobuf_field field;
        assert_false(protobuf_next(&reader, &field));
        assert_true(reader.broken);
        assert_false(protobuf_next(&reader, &field));
        assert_false(protobuf_is_valid(rows[i]));
    }
}

static void test_protobuf__groups_are_skipped_up_to_a_depth(void **state)
{
    char bytes[2 * (PROTOBUF_GROUPS_MAX + 1)];
    (void)state;
    for (size_t depth = PROTOBUF_GROUPS_MAX; depth <= PROTOBUF_GROUPS_MAX + 1; depth++) {
        memset(bytes, 0x0b, depth);
        memset(bytes + depth, 0x0c, depth);
        assert_int_equal(protobuf_is_valid(slice_make(bytes, 2 * depth)),
                         depth == PROTOBUF_GROUPS_MAX);
    }
}

static void test_protobuf__what_is_written_is_read(void **state)
{
    struct buffer out;
    struct protobuf_field field;
    (void)state;
    buffer_init(&out, &allocator_system, SIZE_LIMIT);
    protobuf_write_varint(&out, 1, 300);
    protobuf_write_varint(&out, 2, protobuf_signed(-1));
    protobuf_write_double(&out, 3, -0.5);
    protobuf_write_bytes(&out, 4, SLICE("a\0b"));
    protobuf_write_bytes(&out, PROTOBUF_NUMBER_MAX, SLICE(""));
    size_t outer = protobuf_begin(&out, 5);
    size_t inner = protobuf_begin(&out, 6);
    protobuf_end(&out, inner);
    protobuf_end(&out, outer);
    struct protobuf_reader reader = protobuf_reader(buffer_slice(&out));
    assert_true(protobuf_next(&reader, &field) && field.number == 1 && field.value == 300);
    assert_true(protobuf_next(&reader, &field) && (int64_t)field.value == -1);
    assert_true(protobuf_next(&reader, &field) && field.wire == PROTOBUF_FIXED64);
    assert_true(protobuf_double(field.value) == -0.5);
    assert_true(protobuf_next(&reader, &field) && field.bytes.size == 3);
    assert_true(protobuf_next(&reader, &field) && field.number == PROTOBUF_NUMBER_MAX);
    assert_true(protobuf_next(&reader, &field) && field.number == 5 && field.bytes.size == 2);
    assert_memory_equal(field.bytes.data, "\x32\x00", 2);
    assert_false(protobuf_next(&reader, &field) || reader.broken);
    buffer_release(&out);
}

// The size in front of a message takes 1, 2, 3 ... bytes.
static void test_protobuf__a_message_of_any_size_is_written(void **state)
{
    static const size_t sizes[] = { 0, 1, 125, 126, 127, 128, 16380, 16383, 16384, 200000 };
    (void)state;
    for (size_t i = 0; TEST_ROW(i, sizes); i++) {
        struct buffer out;
        struct protobuf_field field;
        buffer_init(&out, &allocator_system, SIZE_LIMIT);
        buffer_append(&out, SLICE("\x08\x01"));
        size_t outer = protobuf_begin(&out, 9);
        size_t inner = protobuf_begin(&out, 20);
        for (size_t j = 0; j < sizes[i]; j++) {
            buffer_append_char(&out, (char)j);
        }
        protobuf_end(&out, inner);
        protobuf_write_varint(&out, 2, 7);
        protobuf_end(&out, outer);
        struct protobuf_reader reader = protobuf_reader(buffer_slice(&out));
        assert_true(protobuf_next(&reader, &field) && field.value == 1);
        assert_true(protobuf_next(&reader, &field) && field.number == 9);
        assert_int_equal(reader.rest.size, 0);
        reader = protobuf_reader(field.bytes);
        assert_true(protobuf_next(&reader, &field) && field.number == 20);
        assert_int_equal(field.bytes.size, sizes[i]);
        for (size_t j = 0; j < sizes[i]; j++) {
            assert_int_equal(field.bytes.data[j], (char)j);
        }
        assert_true(protobuf_next(&reader, &field) && field.number == 2 && field.value == 7);
        buffer_release(&out);
    }
}

static void test_protobuf__text_is_utf8(void **state)
{
    static const struct row {
        struct slice text;
        const char *written;
    } rows[] = {
        { { "", 0 }, "" },
        { { "gr\xC3\xBC\xC3\x9F", 6 }, "gr\xC3\xBC\xC3\x9F" },
        { { "a\xff", 2 }, "a\xEF\xBF\xBD" },
        { { "\xc3", 1 }, "\xEF\xBF\xBD" },
        { { "\xff\xfe"
            "b\xff",
            4 },
          "\xEF\xBF\xBD\xEF\xBF\xBD"
          "b\xEF\xBF\xBD" },
        { { "\xed\xa0\x80", 3 }, "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD" }, // half a pair
    };
    (void)state;
    for (size_t i = 0; TEST_ROW(i, rows); i++) {
        struct buffer out;
        struct protobuf_field field;
        buffer_init(&out, &allocator_system, SIZE_LIMIT);
        protobuf_write_text(&out, 1, rows[i].text);
        struct protobuf_reader reader = protobuf_reader(buffer_slice(&out));
        assert_true(protobuf_next(&reader, &field));
        assert_slice_equal(field.bytes, rows[i].written);
        assert_int_equal(reader.rest.size, 0);
        buffer_release(&out);
    }
}

// A buffer that refuses stays as the buffer says, whatever is written next.
static void test_protobuf__a_full_buffer_is_not_written_over(void **state)
{
    (void)state;
    for (size_t size_max = 0; size_max < 400; size_max++) {
        struct buffer out;
        char text[300];
        memset(text, 'x', sizeof(text));
        buffer_init(&out, &allocator_system, size_max);
        size_t outer = protobuf_begin(&out, 1);
        protobuf_write_bytes(&out, 2, slice_make(text, sizeof(text)));
        protobuf_write_varint(&out, 3, 1);
        protobuf_write_text(&out, 4, SLICE("\xff"));
        protobuf_end(&out, outer);
        assert_int_equal(out.status, size_max < 313 ? STATUS_TOO_LARGE : STATUS_OK);
        assert_true(out.size <= size_max);
        buffer_release(&out);
    }
}

static void test_protobuf__any_bytes_are_read_to_an_end(void **state)
{
    struct random random;
    (void)state;
    random_init(&random);
    for (int i = 0; i < 20000; i++) {
        char bytes[40];
        size_t size = random_below(&random, sizeof(bytes));
        for (size_t j = 0; j < size; j++) {
            bytes[j] = (char)(random_below(&random, 2) ? random_below(&random, 32)
                                                       : random_below(&random, 256));
        }
        struct protobuf_reader reader = protobuf_reader(slice_make(bytes, size));
        struct protobuf_field field;
        size_t left = size;
        while (protobuf_next(&reader, &field)) {
            assert_true(reader.rest.size < left);
            left = reader.rest.size;
            assert_true(field.number > 0 && field.number <= PROTOBUF_NUMBER_MAX);
        }
        assert_true(reader.broken || reader.rest.size == 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_protobuf__fields_are_read),
        cmocka_unit_test(test_protobuf__what_is_broken_ends_the_message),
        cmocka_unit_test(test_protobuf__groups_are_skipped_up_to_a_depth),
        cmocka_unit_test(test_protobuf__what_is_written_is_read),
        cmocka_unit_test(test_protobuf__a_message_of_any_size_is_written),
        cmocka_unit_test(test_protobuf__text_is_utf8),
        cmocka_unit_test(test_protobuf__a_full_buffer_is_not_written_over),
        cmocka_unit_test(test_protobuf__any_bytes_are_read_to_an_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
