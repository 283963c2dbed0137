// SPDX-License-Identifier: MIT
#include "server/grpc/unpack.h"

#include "fault_alloc.h"
#include "test.h"

#define ZLIB_CONST // what is read is not written to
#include <zlib.h>

enum {
    SIZE_LIMIT = 1 << 20,
    PACKED_MAX = 1 << 16,
    GZIP_BITS = 15 + 16,
    ZLIB_BITS = 15,
};

static struct slice pack(int bits, struct slice text, char packed[PACKED_MAX])
{
    z_stream stream = { .next_in = (const unsigned char *)text.data,
                        .avail_in = (unsigned)text.size,
                        .next_out = (unsigned char *)packed,
                        .avail_out = PACKED_MAX };
    assert_int_equal(deflateInit2(&stream, 9, Z_DEFLATED, bits, 8, Z_DEFAULT_STRATEGY), Z_OK);
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    (void)deflateEnd(&stream);
    return slice_make(packed, PACKED_MAX - stream.avail_out);
}

// What a message unpacks to behind other bytes, in a buffer with room for `size_max` bytes of it.
static enum status unpack(enum grpc_encoding encoding, struct slice packed, size_t size_max,
                          const char *wanted, size_t wanted_size)
{
    struct buffer out;
    buffer_init(&out, &allocator_system, size_max + 6);
    buffer_append(&out, SLICE("before"));
    enum status status = grpc_unpack(encoding, packed, &out);
    assert_int_equal(out.status, STATUS_OK);
    assert_int_equal(out.size, 6 + (status ? 0 : wanted_size));
    assert_memory_equal(out.data, "before", 6);
    if (!status && wanted_size) {
        assert_memory_equal(out.data + 6, wanted, wanted_size);
    }
    buffer_release(&out);
    return status;
}

static void test_grpc_unpack__messages_of_any_size_up_to_the_limit(void **state)
{
    static const size_t sizes[] = { 0, 1, 1000, 16384, 16385, 300000 };
    static char text[300000];
    static char packed[PACKED_MAX];
    (void)state;
    for (size_t i = 0; i < sizeof(text); i++) {
        text[i] = (char)(i % 251);
    }
    for (size_t i = 0; TEST_ROW(i, sizes); i++) {
        for (int gzip = 0; gzip <= 1; gzip++) {
            enum grpc_encoding encoding = gzip ? GRPC_ENCODING_GZIP : GRPC_ENCODING_DEFLATE;
            struct slice bytes =
                pack(gzip ? GZIP_BITS : ZLIB_BITS, slice_make(text, sizes[i]), packed);
            assert_int_equal(unpack(encoding, bytes, SIZE_LIMIT, text, sizes[i]), STATUS_OK);
            assert_int_equal(unpack(encoding, bytes, sizes[i], text, sizes[i]), STATUS_OK);
            if (sizes[i]) {
                assert_int_equal(unpack(encoding, bytes, sizes[i] - 1, text, sizes[i]),
                                 STATUS_TOO_LARGE);
            }
            enum grpc_encoding other = gzip ? GRPC_ENCODING_DEFLATE : GRPC_ENCODING_GZIP;
            assert_int_equal(unpack(other, bytes, SIZE_LIMIT, text, 0), STATUS_INVALID);
        }
    }
}

static void test_grpc_unpack__each_cut_and_each_byte_behind_is_refused(void **state)
{
    static char packed[PACKED_MAX];
    (void)state;
    struct slice bytes = pack(GZIP_BITS, SLICE("hello hello hello"), packed);
    for (size_t size = 0; size < bytes.size; size++) {
        assert_int_equal(unpack(GRPC_ENCODING_GZIP, slice_make(packed, size), SIZE_LIMIT, NULL, 0),
                         STATUS_INVALID);
    }
    packed[bytes.size] = 'x';
    assert_int_equal(
        unpack(GRPC_ENCODING_GZIP, slice_make(packed, bytes.size + 1), SIZE_LIMIT, NULL, 0),
        STATUS_INVALID);
    packed[bytes.size - 6] = (char)(packed[bytes.size - 6] ^ 1); // of the checksum
    assert_int_equal(unpack(GRPC_ENCODING_GZIP, bytes, SIZE_LIMIT, NULL, 0), STATUS_INVALID);
}

static void test_grpc_unpack__running_out_of_memory_is_an_error(void **state)
{
    static char packed[PACKED_MAX];
    struct fault_alloc fault;
    (void)state;
    struct slice bytes = pack(GZIP_BITS, SLICE("hello hello hello"), packed);
    FAULT_ALLOC_EACH(&fault)
    {
        struct buffer out;
        buffer_init(&out, &fault.allocator, SIZE_LIMIT);
        enum status status = grpc_unpack(GRPC_ENCODING_GZIP, bytes, &out);
        buffer_release(&out);
        FAULT_ALLOC_EXPECT(&fault, status);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_grpc_unpack__messages_of_any_size_up_to_the_limit),
        cmocka_unit_test(test_grpc_unpack__each_cut_and_each_byte_behind_is_refused),
        cmocka_unit_test(test_grpc_unpack__running_out_of_memory_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
