// SPDX-License-Identifier: MIT
#include "faces/grpc/reflection.h"

#include "faces/grpc/descriptor.h"
#include "faces/grpc/files.h"
#include "wire/grpc_frame.h"
#include "wire/protobuf.h"

// Fields of grpc.reflection.v1.
enum {
    REQUEST_HOST = 1,
    REQUEST_FILE = 3,
    REQUEST_SYMBOL = 4,
    REQUEST_EXTENSION = 5,
    REQUEST_EXTENSIONS = 6,
    REQUEST_SERVICES = 7,
    RESPONSE_HOST = 1,
    RESPONSE_REQUEST = 2,
    RESPONSE_FILES = 4,
    RESPONSE_EXTENSIONS = 5,
    RESPONSE_SERVICES = 6,
    RESPONSE_ERROR = 7,
    FILES_FILE = 1,
    EXTENSIONS_TYPE = 1,
    SERVICES_SERVICE = 1,
    SERVICE_NAME = 1,
    ERROR_CODE = 1,
    ERROR_MESSAGE = 2,
};

struct asked {
    struct slice host;
    uint32_t kind; // which of the fields of the oneof; 0: none
    struct slice text;
};

// Whether a field is as the answer repeats it: a text, or a message with a text in it.
static bool is_repeatable(const struct protobuf_field *field)
{
    struct protobuf_reader reader = protobuf_reader(field->bytes);
    struct protobuf_field inner;
    if (field->number != REQUEST_EXTENSION) {
        return field->number > REQUEST_SERVICES || protobuf_is_text(field->bytes);
    }
    while (protobuf_next(&reader, &inner)) {
        if (inner.wire == PROTOBUF_BYTES && !protobuf_is_text(inner.bytes)) {
            return false;
        }
    }
    return !reader.broken;
}

static bool read_request(struct slice message, struct asked *out)
{
    struct protobuf_reader reader = protobuf_reader(message);
    struct protobuf_field field;
    *out = (struct asked){ .kind = 0 };
    while (protobuf_next(&reader, &field)) {
        if (field.wire != PROTOBUF_BYTES) {
            continue;
        }
        if (!is_repeatable(&field)) {
            return false;
        }
        if (field.number == REQUEST_HOST) {
            out->host = field.bytes;
        } else if (field.number >= REQUEST_FILE && field.number <= REQUEST_SERVICES) {
            out->kind = field.number;
            out->text = field.bytes;
        }
    }
    return !reader.broken;
}

static void write_error(enum grpc_code code, const char *text, struct buffer *out)
{
    size_t place = protobuf_begin(out, RESPONSE_ERROR);
    protobuf_write_varint(out, ERROR_CODE, (uint64_t)code);
    protobuf_write_bytes(out, ERROR_MESSAGE, slice_from_cstr(text));
    protobuf_end(out, place);
}

// A file, and behind it those that it imports, so that clients need not ask again.
static void write_files(const struct grpc_file *file, const char *missing, struct buffer *out)
{
    if (!file) {
        write_error(GRPC_NOT_FOUND, missing, out);
        return;
    }
    size_t place = protobuf_begin(out, RESPONSE_FILES);
    size_t bytes = protobuf_begin(out, FILES_FILE);
    grpc_descriptor_write(file, out);
    protobuf_end(out, bytes);
    for (size_t i = 0; file->imports && file->imports[i]; i++) {
        bytes = protobuf_begin(out, FILES_FILE);
        grpc_descriptor_write(file->imports[i], out);
        protobuf_end(out, bytes);
    }
    protobuf_end(out, place);
}

static void write_services(struct buffer *out)
{
    size_t place = protobuf_begin(out, RESPONSE_SERVICES);
    for (size_t i = 0; grpc_files[i]; i++) {
        const struct grpc_service *const *services = grpc_files[i]->services;
        for (size_t j = 0; services && services[j]; j++) {
            size_t service = protobuf_begin(out, SERVICES_SERVICE);
            protobuf_write_bytes(out, SERVICE_NAME, slice_from_cstr(services[j]->name));
            protobuf_end(out, service);
        }
    }
    protobuf_end(out, place);
}

// No message here can be extended.
static void write_extensions(struct slice type, struct buffer *out)
{
    if (!grpc_descriptor_find(type)) {
        write_error(GRPC_NOT_FOUND, "there is no such type", out);
        return;
    }
    size_t place = protobuf_begin(out, RESPONSE_EXTENSIONS);
    protobuf_write_text(out, EXTENSIONS_TYPE, type);
    protobuf_end(out, place);
}

static void write_answer(const struct asked *asked, struct buffer *out)
{
    switch (asked->kind) {
    case REQUEST_FILE:
        write_files(grpc_descriptor_file(asked->text), "there is no such file", out);
        break;
    case REQUEST_SYMBOL:
        write_files(grpc_descriptor_find(asked->text), "there is no such symbol", out);
        break;
    case REQUEST_EXTENSION:
        write_error(GRPC_NOT_FOUND, "there is no such extension", out);
        break;
    case REQUEST_EXTENSIONS:
        write_extensions(asked->text, out);
        break;
    case REQUEST_SERVICES:
        write_services(out);
        break;
    default:
        write_error(GRPC_INVALID_ARGUMENT, "the request asks for nothing", out);
        break;
    }
}

enum status grpc_reflect(struct slice message, struct buffer *out, struct grpc_fault *fault)
{
    struct asked asked;
    size_t start = out->size;
    if (!read_request(message, &asked)) {
        return grpc_fault_set(fault, GRPC_INTERNAL, STATUS_INVALID,
                              "the message is not a ServerReflectionRequest");
    }
    size_t frame = grpc_frame_begin(out);
    protobuf_write_text(out, RESPONSE_HOST, asked.host);
    protobuf_write_bytes(out, RESPONSE_REQUEST, message);
    write_answer(&asked, out);
    grpc_frame_end(out, frame);
    if (out->status) {
        enum status status = out->status;
        out->status = STATUS_OK;
        buffer_truncate(out, start);
        return grpc_fault_set(fault, GRPC_OK, status, "no room for the answer");
    }
    return STATUS_OK;
}
