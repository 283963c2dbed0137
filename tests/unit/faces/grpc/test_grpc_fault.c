// SPDX-License-Identifier: MIT
// Errors as the trailers of a call.
#include "grpc_test.h"

#include "base/base64.h"
#include "wire/protobuf.h"

#include <stdio.h>

static void test_grpc_fault__each_status_has_its_code(void **state)
{
    static const struct row {
        enum status status;
        enum grpc_code code;
    } rows[] = {
        { STATUS_OK, GRPC_OK },
        { STATUS_INVALID, GRPC_INVALID_ARGUMENT },
        { STATUS_TOO_LARGE, GRPC_INVALID_ARGUMENT },
        { STATUS_NOT_FOUND, GRPC_NOT_FOUND },
        { STATUS_EXISTS, GRPC_ALREADY_EXISTS },
        { STATUS_STATE, GRPC_FAILED_PRECONDITION },
        { STATUS_STALE, GRPC_ABORTED },
        { STATUS_DENIED, GRPC_PERMISSION_DENIED },
        { STATUS_NO_MEMORY, GRPC_RESOURCE_EXHAUSTED },
        { STATUS_NO_SPACE, GRPC_RESOURCE_EXHAUSTED },
        { STATUS_BUSY, GRPC_UNAVAILABLE },
        { STATUS_IO, GRPC_UNAVAILABLE },
        { STATUS_CORRUPT, GRPC_DATA_LOSS },
        { STATUS_UNSUPPORTED, GRPC_UNIMPLEMENTED },
    };
    (void)state;
    assert_int_equal(sizeof(rows) / sizeof(rows[0]), STATUS_COUNT);
    for (size_t i = 0; TEST_ROW(i, rows); i++) {
        assert_int_equal(grpc_code_of(&(struct error){ .status = rows[i].status }), rows[i].code);
    }
    struct error reply = { .status = STATUS_TOO_LARGE, .of_reply = true };
    assert_int_equal(grpc_code_of(&reply), GRPC_RESOURCE_EXHAUSTED);
}

// The fields of a message of google.rpc as text: numbers, and texts in quotes, messages in braces.
static void print_fields(struct slice bytes, const char *messages, struct buffer *out)
{
    struct protobuf_reader reader = protobuf_reader(bytes);
    struct protobuf_field field;
    while (protobuf_next(&reader, &field)) {
        bool message = *messages == (char)('0' + field.number);
        if (field.wire == PROTOBUF_VARINT) {
            buffer_printf(out, "%u:%d ", field.number, (int)field.value);
        } else if (message) {
            buffer_printf(out, "%u:{ ", field.number);
            print_fields(field.bytes, messages + 1, out);
            buffer_append(out, SLICE("} "));
        } else {
            buffer_printf(out, "%u:\"%.*s\" ", field.number, SLICE_PRINT(field.bytes));
        }
    }
    assert_false(reader.broken);
}

static void assert_details(const struct grpc_trailers *trailers, const char *wanted)
{
    struct buffer bytes, text;
    buffer_init(&bytes, &allocator_system, 1 << 16);
    buffer_init(&text, &allocator_system, 1 << 16);
    assert_int_equal(strlen(trailers->details), trailers->details_size);
    assert_int_equal(
        base64_decode(slice_make(trailers->details, trailers->details_size), BASE64_PADDED, &bytes),
        STATUS_OK);
    print_fields(buffer_slice(&bytes), "323", &text); // details, value, metadata
    buffer_append_char(&text, '\0');
    assert_string_equal(text.data, wanted);
    buffer_release(&bytes);
    buffer_release(&text);
}

#define ANY "1:\"type.googleapis.com/google.rpc.ErrorInfo\" "

static void test_grpc_fault__trailers_tell_it(void **state)
{
    struct grpc_trailers trailers;
    struct grpc_fault fault;
    (void)state;
    grpc_trailers_of(&trailers, NULL);
    assert_string_equal(trailers.status, "0");
    assert_int_equal(trailers.message_size + trailers.details_size, 0);

    (void)grpc_fault_set(&fault, GRPC_OK, STATUS_STALE, "50%% of j\xC3\xBC");
    grpc_trailers_of(&trailers, &fault);
    assert_string_equal(trailers.status, "10");
    assert_string_equal(trailers.message, "50%25 of j%C3%BC");
    assert_details(&trailers,
                   "1:10 2:\"50% of j\xC3\xBC\" 3:{ " ANY "2:{ 1:\"STALE\" 2:\"sluice\" } } ");

    (void)grpc_fault_set(&fault, GRPC_UNAUTHENTICATED, STATUS_DENIED, "%s", "");
    (void)snprintf(fault.field, sizeof(fault.field), "options.backoff");
    grpc_trailers_of(&trailers, &fault);
    assert_string_equal(trailers.status, "16");
    assert_string_equal(trailers.message, "permission denied");
    assert_details(&trailers, "1:16 2:\"permission denied\" 3:{ " ANY
                              "2:{ 1:\"DENIED\" 2:\"sluice\" 3:{ 1:\"field\" "
                              "2:\"options.backoff\" } } } ");
}

// The longest sentence and field, of bytes that grow most.
static void test_grpc_fault__the_largest_fits(void **state)
{
    struct grpc_trailers trailers;
    struct grpc_fault fault = { .error.status = STATUS_INVALID };
    (void)state;
    memset(fault.error.detail, 0xff, sizeof(fault.error.detail) - 1);
    memset(fault.field, 0xff, sizeof(fault.field) - 1);
    grpc_trailers_of(&trailers, &fault);
    assert_int_equal(trailers.message_size, 3 * (sizeof(fault.error.detail) - 1));
    assert_true(trailers.details_size > 1000);
}

static void test_grpc_fault__arguments_are_called_as_fields(void **state)
{
    static const struct row {
        const char *sentence, *told, *field;
    } rows[] = {
        { "Q.PUT: PRIORITY must be a whole number", "priority must be a whole number", "priority" },
        { "BACKOFF must be as fixed:1", "options.backoff must be as fixed:1", "options.backoff" },
        { "Q.PUT: UNIQUE-FOR must be", "unique.ttl must be", "unique.ttl" },
        { "job a does not exist", "job a does not exist", "" },
        { "job queue: full", "job queue: full", "" },
        { "", "an argument is malformed", "" },
    };
    struct desk *desk = *state;
    const struct grpc_call call = { .method = desk_method(desk, "Add") };
    const struct grpc_plan *plan = grpc_face_bound(desk->face, &call)->steps[0].plan;
    for (size_t i = 0; TEST_ROW_NAMED(i, rows, rows[i].sentence); i++) {
        struct grpc_fault fault;
        (void)error_set(&fault.error, STATUS_INVALID, "%s", rows[i].sentence);
        assert_int_equal(grpc_fault_of(&fault, plan, &fault.error), STATUS_INVALID);
        assert_string_equal(fault.error.detail, rows[i].told);
        assert_string_equal(fault.field, rows[i].field);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_grpc_fault__each_status_has_its_code),
        cmocka_unit_test(test_grpc_fault__trailers_tell_it),
        cmocka_unit_test(test_grpc_fault__the_largest_fits),
        DESK_TEST(test_grpc_fault__arguments_are_called_as_fields),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
