// SPDX-License-Identifier: MIT
#include "faces/grpc/health.h"

#include "faces/grpc/methods.h"
#include "wire/grpc_frame.h"
#include "wire/protobuf.h"

// Fields of grpc.health.v1.
enum {
    REQUEST_SERVICE = 1,
    RESPONSE_STATUS = 1,
    LIST_STATUSES = 1,
    ENTRY_KEY = 1,
    ENTRY_VALUE = 2,
};

// The services whose health is told: the server as a whole, and its own.
static bool is_known(struct slice service)
{
    return service.size == 0 || slice_equal(service, slice_from_cstr(grpc_service_queue.name));
}

enum status grpc_health_read(struct slice message, bool *known, struct grpc_fault *fault)
{
    struct protobuf_reader reader = protobuf_reader(message);
    struct protobuf_field field;
    struct slice service = SLICE_EMPTY;
    while (protobuf_next(&reader, &field)) {
        if (field.number == REQUEST_SERVICE && field.wire == PROTOBUF_BYTES) {
            service = field.bytes;
        }
    }
    if (reader.broken) {
        return grpc_fault_set(fault, GRPC_INTERNAL, STATUS_INVALID,
                              "the message is not a grpc.health.v1.HealthCheckRequest");
    }
    *known = is_known(service);
    return STATUS_OK;
}

static void write_status(enum grpc_health health, struct buffer *out)
{
    protobuf_write_varint(out, RESPONSE_STATUS, (uint64_t)health);
}

void grpc_health_write(enum grpc_health health, struct buffer *out)
{
    size_t frame = grpc_frame_begin(out);
    write_status(health, out);
    grpc_frame_end(out, frame);
}

static void write_entry(enum grpc_health health, const char *service, struct buffer *out)
{
    size_t entry = protobuf_begin(out, LIST_STATUSES);
    protobuf_write_bytes(out, ENTRY_KEY, slice_from_cstr(service));
    size_t value = protobuf_begin(out, ENTRY_VALUE);
    write_status(health, out);
    protobuf_end(out, value);
    protobuf_end(out, entry);
}

void grpc_health_write_list(enum grpc_health health, struct buffer *out)
{
    size_t frame = grpc_frame_begin(out);
    write_entry(health, "", out);
    write_entry(health, grpc_service_queue.name, out);
    grpc_frame_end(out, frame);
}
