// SPDX-License-Identifier: MIT
#include "faces/grpc/fault.h"

#include "base/ascii.h"
#include "base/base64.h"
#include "faces/grpc/plan.h"
#include "wire/grpc_header.h"
#include "wire/protobuf.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

// Fields of google.rpc.Status, google.protobuf.Any and google.rpc.ErrorInfo.
enum {
    STATUS_CODE = 1,
    STATUS_MESSAGE = 2,
    STATUS_DETAILS = 3,
    ANY_TYPE_URL = 1,
    ANY_VALUE = 2,
    INFO_REASON = 1,
    INFO_DOMAIN = 2,
    INFO_METADATA = 3,
    ENTRY_KEY = 1,
    ENTRY_VALUE = 2,
};

enum {
    STATUS_SIZE_MAX = 1400, // of a google.rpc.Status
};

enum grpc_code grpc_code_of(const struct error *error)
{
    static const enum grpc_code codes[STATUS_COUNT] = {
        [STATUS_OK] = GRPC_OK,
        [STATUS_NO_MEMORY] = GRPC_RESOURCE_EXHAUSTED,
        [STATUS_INVALID] = GRPC_INVALID_ARGUMENT,
        [STATUS_TOO_LARGE] = GRPC_INVALID_ARGUMENT,
        [STATUS_NOT_FOUND] = GRPC_NOT_FOUND,
        [STATUS_EXISTS] = GRPC_ALREADY_EXISTS,
        [STATUS_STATE] = GRPC_FAILED_PRECONDITION,
        [STATUS_STALE] = GRPC_ABORTED,
        [STATUS_DENIED] = GRPC_PERMISSION_DENIED,
        [STATUS_BUSY] = GRPC_UNAVAILABLE,
        [STATUS_UNSUPPORTED] = GRPC_UNIMPLEMENTED,
        [STATUS_CORRUPT] = GRPC_DATA_LOSS,
        [STATUS_IO] = GRPC_UNAVAILABLE,
        [STATUS_NO_SPACE] = GRPC_RESOURCE_EXHAUSTED,
    };
    return error->of_reply ? GRPC_RESOURCE_EXHAUSTED : codes[error->status];
}

enum status grpc_fault_set(struct grpc_fault *fault, enum grpc_code code, enum status status,
                           const char *format, ...)
{
    va_list arguments;
    *fault = (struct grpc_fault){ .code = code, .error.status = status };
    va_start(arguments, format);
    error_print(fault->error.detail, sizeof(fault->error.detail), format, arguments);
    va_end(arguments);
    return status;
}

// Takes "Q.PUT: " off the front of a sentence.
static void drop_command(struct slice *sentence)
{
    const char *colon = memchr(sentence->data, ':', sentence->size);
    size_t size = colon ? (size_t)(colon - sentence->data) : 0;
    bool is_name = size > 2 && (slice_starts_with(*sentence, SLICE("Q.")) ||
                                slice_starts_with(*sentence, SLICE("T.")));
    if (is_name && !memchr(sentence->data, ' ', size) && size + 2 < sentence->size) {
        *sentence = slice_sub(*sentence, size + 2, SIZE_MAX);
    }
}

// The argument whose name is the first word of a sentence, or GRPC_PLAN_NONE.
static int first_word(struct slice sentence, const struct command *command)
{
    for (size_t i = 0; command && i < command->argument_count; i++) {
        struct slice name = slice_from_cstr(command->arguments[i].name);
        if (slice_starts_with(sentence, name) && sentence.size > name.size &&
            sentence.data[name.size] == ' ') {
            return (int)i;
        }
    }
    return GRPC_PLAN_NONE;
}

enum status grpc_fault_of(struct grpc_fault *fault, const struct grpc_plan *plan,
                          const struct error *error)
{
    char text[ERROR_DETAIL_SIZE];
    const struct error why = *error;
    struct slice sentence = slice_from_cstr(error_sentence(&why));
    *fault = (struct grpc_fault){ .error = why };
    drop_command(&sentence);
    int argument = plan ? first_word(sentence, plan->command) : GRPC_PLAN_NONE;
    char path[GRPC_PATH_SIZE_MAX] = "";
    if (argument != GRPC_PLAN_NONE && grpc_plan_path(plan, argument, path)) {
        size_t size = strlen(plan->command->arguments[argument].name);
        sentence = slice_sub(sentence, size, SIZE_MAX);
        memcpy(fault->field, path, strlen(path) + 1);
    }
    (void)snprintf(text, sizeof(text), "%s%.*s", path, SLICE_PRINT(sentence));
    memcpy(fault->error.detail, text, sizeof(text));
    return why.status;
}

size_t grpc_reason(enum status status, char reason[GRPC_REASON_SIZE_MAX])
{
    struct slice name = slice_from_cstr(status_name(status));
    assert(name.size < GRPC_REASON_SIZE_MAX);
    for (size_t i = 0; i < name.size; i++) {
        reason[i] = ascii_upper(name.data[i]);
    }
    return name.size;
}

static void write_info(struct buffer *out, const struct grpc_fault *fault)
{
    char reason[GRPC_REASON_SIZE_MAX];
    struct slice word = slice_make(reason, grpc_reason(fault->error.status, reason));
    protobuf_write_bytes(out, INFO_REASON, word);
    protobuf_write_bytes(out, INFO_DOMAIN, SLICE("sluice"));
    if (fault->field[0]) {
        size_t entry = protobuf_begin(out, INFO_METADATA);
        protobuf_write_bytes(out, ENTRY_KEY, SLICE("field"));
        protobuf_write_text(out, ENTRY_VALUE, slice_from_cstr(fault->field));
        protobuf_end(out, entry);
    }
}

static void write_details(struct grpc_trailers *trailers, const struct grpc_fault *fault,
                          enum grpc_code code, struct slice message)
{
    char bytes[STATUS_SIZE_MAX + 1];
    struct buffer status = { .data = bytes,
                             .capacity = STATUS_SIZE_MAX,
                             .size_max = STATUS_SIZE_MAX };
    protobuf_write_varint(&status, STATUS_CODE, (uint64_t)code);
    protobuf_write_text(&status, STATUS_MESSAGE, message);
    size_t any = protobuf_begin(&status, STATUS_DETAILS);
    protobuf_write_bytes(&status, ANY_TYPE_URL, SLICE("type.googleapis.com/google.rpc.ErrorInfo"));
    size_t info = protobuf_begin(&status, ANY_VALUE);
    write_info(&status, fault);
    protobuf_end(&status, info);
    protobuf_end(&status, any);
    struct buffer details = { .data = trailers->details,
                              .capacity = GRPC_DETAILS_SIZE_MAX - 1,
                              .size_max = GRPC_DETAILS_SIZE_MAX - 1 };
    base64_append(&details, buffer_slice(&status));
    assert(!status.status && !details.status); // what is told has a maximum
    trailers->details_size = details.size;
    trailers->details[details.size] = '\0';
}

void grpc_trailers_of(struct grpc_trailers *trailers, const struct grpc_fault *fault)
{
    enum grpc_code code = !fault        ? GRPC_OK
                          : fault->code ? fault->code
                                        : grpc_code_of(&fault->error);
    (void)snprintf(trailers->status, sizeof(trailers->status), "%d", (int)code);
    trailers->message[0] = trailers->details[0] = '\0';
    trailers->message_size = trailers->details_size = 0;
    if (!fault || code == GRPC_OK) {
        return;
    }
    struct slice message = slice_from_cstr(error_sentence(&fault->error));
    trailers->message_size =
        grpc_percent_encode(message, trailers->message, GRPC_MESSAGE_SIZE_MAX - 1);
    trailers->message[trailers->message_size] = '\0';
    write_details(trailers, fault, code, message);
}
