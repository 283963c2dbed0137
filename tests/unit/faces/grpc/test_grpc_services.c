// SPDX-License-Identifier: MIT
// grpc.health.v1 and grpc.reflection, from bytes to bytes. tests/grpc compares the files that
// reflection gives with protoc's.
#include "grpc_test.h"

#include "faces/grpc/descriptor.h"
#include "faces/grpc/files.h"
#include "faces/grpc/health.h"
#include "faces/grpc/reflection.h"
#include "wire/grpc_frame.h"
#include "wire/protobuf.h"

enum {
    SIZE_LIMIT = 1 << 20,
};

static void test_grpc_services__health_knows_the_services(void **state)
{
    static const struct row {
        struct slice message;
        enum status status;
        bool known;
    } rows[] = {
        { { "", 0 }, STATUS_OK, true },
        { { "\x0a\x00", 2 }, STATUS_OK, true },
        { { "\x0a\x0fsluice.v1.Queue", 17 }, STATUS_OK, true },
        { { "\x0a\x01x", 3 }, STATUS_OK, false },
        { { "\x0a\x05x", 3 }, STATUS_INVALID, false },
    };
    (void)state;
    for (size_t i = 0; TEST_ROW(i, rows); i++) {
        struct grpc_fault fault;
        bool known = false;
        assert_int_equal(grpc_health_read(rows[i].message, &known, &fault), rows[i].status);
        assert_int_equal(known, rows[i].known);
        assert_true(!rows[i].status || fault.code == GRPC_INTERNAL);
    }
}

static void test_grpc_services__health_is_written(void **state)
{
    struct buffer out;
    (void)state;
    buffer_init(&out, &allocator_system, SIZE_LIMIT);
    grpc_health_write(GRPC_HEALTH_SERVING, &out);
    assert_int_equal(out.size, 7);
    assert_memory_equal(out.data, "\0\0\0\0\2\x08\x01", 7);
    buffer_clear(&out);
    grpc_health_write_list(GRPC_HEALTH_NOT_SERVING, &out);
    static const char list[] = "\0\0\0\0\x21"
                               "\x0a\x06\x0a\x00\x12\x02\x08\x02"
                               "\x0a\x15\x0a\x0fsluice.v1.Queue\x12\x02\x08\x02";
    assert_int_equal(out.size, 5 + 8 + 23);
    assert_memory_equal(out.data + 5, list + 5, out.size - 5);
    buffer_release(&out);
}

// ---------------------------------------------------------------------------------------------
// Reflection

// The answer of a request: the field of the oneof, and what is in it.
static uint32_t reflect(uint32_t number, const char *text, struct buffer *out, struct slice *answer)
{
    struct buffer request;
    struct grpc_fault fault;
    struct grpc_frame frame;
    uint32_t kind = 0;
    buffer_init(&request, &allocator_system, SIZE_LIMIT);
    protobuf_write_bytes(&request, 1, SLICE("host"));
    protobuf_write_bytes(&request, number, slice_from_cstr(text));
    buffer_clear(out);
    assert_int_equal(grpc_reflect(buffer_slice(&request), out, &fault), STATUS_OK);
    struct slice rest = buffer_slice(out);
    assert_int_equal(grpc_frame_next(&rest, SIZE_LIMIT, &frame, NULL), GRPC_FRAME_WHOLE);
    assert_int_equal(rest.size, 0);
    struct protobuf_reader reader = protobuf_reader(frame.message);
    struct protobuf_field field;
    while (protobuf_next(&reader, &field)) {
        if (field.number == 1) {
            assert_slice_equal(field.bytes, "host");
        } else if (field.number == 2) {
            assert_true(slice_equal(field.bytes, buffer_slice(&request)));
        } else {
            kind = field.number;
            *answer = field.bytes;
        }
    }
    assert_false(reader.broken);
    buffer_release(&request);
    return kind;
}

// The name of the first file in a FileDescriptorResponse, and how many there are.
static size_t files_of(struct slice answer, struct slice *name)
{
    struct protobuf_reader reader = protobuf_reader(answer);
    struct protobuf_field field;
    size_t count = 0;
    while (protobuf_next(&reader, &field)) {
        struct protobuf_reader file = protobuf_reader(field.bytes);
        struct protobuf_field first;
        assert_true(protobuf_next(&file, &first) && first.number == 1);
        *name = count++ ? *name : first.bytes;
    }
    return count;
}

static void test_grpc_services__files_are_found_by_name_and_symbol(void **state)
{
    static const struct row {
        uint32_t number;
        const char *text, *file; // NULL: NOT_FOUND
        size_t count;            // with those that it imports
    } rows[] = {
        { 3, "sluice/v1/sluice.proto", "sluice/v1/sluice.proto", 3 },
        { 3, "google/protobuf/timestamp.proto", "google/protobuf/timestamp.proto", 1 },
        { 3, "sluice.proto", NULL, 0 },
        { 3, "", NULL, 0 },
        { 4, "sluice.v1.Queue", "sluice/v1/sluice.proto", 3 },
        { 4, "sluice.v1.Queue.Add", "sluice/v1/sluice.proto", 3 },
        { 4, "sluice.v1.AddRequest", "sluice/v1/sluice.proto", 3 },
        { 4, "sluice.v1.AddRequest.queue", "sluice/v1/sluice.proto", 3 },
        { 4, "sluice.v1.Job.State", "sluice/v1/sluice.proto", 3 },
        { 4, "sluice.v1.Order", "sluice/v1/sluice.proto", 3 },
        { 4, "google.protobuf.Duration", "google/protobuf/duration.proto", 1 },
        { 4, "grpc.health.v1.Health", "grpc/health/v1/health.proto", 1 },
        { 4, "grpc.health.v1.HealthListResponse.StatusesEntry", "grpc/health/v1/health.proto", 1 },
        { 4, "grpc.reflection.v1.ServerReflection", "grpc/reflection/v1/reflection.proto", 1 },
        { 4, "grpc.reflection.v1alpha.ErrorResponse", "grpc/reflection/v1alpha/reflection.proto",
          1 },
        { 4, "sluice.v1.Queue.", NULL, 0 },
        { 4, "sluice.v1.Queue.Nothing", NULL, 0 },
        { 4, "sluice.v1.Job.State.WAITING", NULL, 0 },
        { 4, "sluice.v1.Jobs", NULL, 0 },
        { 4, "sluice.v1", NULL, 0 },
        { 4, "", NULL, 0 },
        { 5, "", NULL, 0 },
        { 6, "sluice.v1.Nothing", NULL, 0 },
    };
    struct buffer out;
    (void)state;
    buffer_init(&out, &allocator_system, SIZE_LIMIT);
    for (size_t i = 0; TEST_ROW_NAMED(i, rows, rows[i].text); i++) {
        struct slice answer = SLICE_EMPTY;
        struct slice name = SLICE_EMPTY;
        uint32_t kind = reflect(rows[i].number, rows[i].text, &out, &answer);
        assert_int_equal(kind, rows[i].file ? 4 : 7);
        if (rows[i].file) {
            assert_int_equal(files_of(answer, &name), rows[i].count);
            assert_slice_equal(name, rows[i].file);
        } else {
            assert_memory_equal(answer.data, "\x08\x05", 2); // NOT_FOUND
        }
    }
    buffer_release(&out);
}

static void test_grpc_services__all_services_are_listed(void **state)
{
    static const char *const names[] = { "sluice.v1.Queue", "grpc.health.v1.Health",
                                         "grpc.reflection.v1.ServerReflection",
                                         "grpc.reflection.v1alpha.ServerReflection" };
    struct buffer out;
    struct slice answer = SLICE_EMPTY;
    (void)state;
    buffer_init(&out, &allocator_system, SIZE_LIMIT);
    assert_int_equal(reflect(7, "*", &out, &answer), 6);
    struct protobuf_reader reader = protobuf_reader(answer);
    struct protobuf_field field;
    for (size_t i = 0; i < 4; i++) {
        assert_true(protobuf_next(&reader, &field));
        assert_slice_equal(slice_sub(field.bytes, 2, SIZE_MAX), names[i]);
        // Each is described.
        assert_non_null(grpc_descriptor_find(slice_from_cstr(names[i])));
    }
    assert_false(protobuf_next(&reader, &field));
    buffer_release(&out);
}

static void test_grpc_services__extensions_are_none(void **state)
{
    struct buffer out;
    struct slice answer = SLICE_EMPTY;
    (void)state;
    buffer_init(&out, &allocator_system, SIZE_LIMIT);
    assert_int_equal(reflect(6, "sluice.v1.Job", &out, &answer), 5);
    assert_slice_equal(answer, "\x0a\rsluice.v1.Job");
    buffer_release(&out);
}

static void test_grpc_services__what_is_malformed_is_refused(void **state)
{
    struct buffer out;
    struct grpc_fault fault;
    (void)state;
    buffer_init(&out, &allocator_system, 16);
    assert_int_equal(grpc_reflect(SLICE("\x0a\x05x"), &out, &fault), STATUS_INVALID);
    assert_int_equal(fault.code, GRPC_INTERNAL);
    assert_int_equal(grpc_reflect(SLICE("\x22\x01\xff"), &out, &fault), STATUS_INVALID);
    assert_int_equal(grpc_reflect(SLICE("\x2a\x03\x0a\x01\xff"), &out, &fault), STATUS_INVALID);
    assert_int_equal(grpc_reflect(SLICE("\x3a\x01*"), &out, &fault), STATUS_TOO_LARGE);
    assert_int_equal(out.size, 0);
    assert_int_equal(out.status, STATUS_OK);
    buffer_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_grpc_services__health_knows_the_services),
        cmocka_unit_test(test_grpc_services__health_is_written),
        cmocka_unit_test(test_grpc_services__files_are_found_by_name_and_symbol),
        cmocka_unit_test(test_grpc_services__all_services_are_listed),
        cmocka_unit_test(test_grpc_services__extensions_are_none),
        cmocka_unit_test(test_grpc_services__what_is_malformed_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
