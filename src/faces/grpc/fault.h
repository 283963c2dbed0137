// SPDX-License-Identifier: MIT
// How a call of gRPC ends: a code, a sentence, and details that programs can read.
#ifndef SLUICE_FACES_GRPC_FAULT_H
#define SLUICE_FACES_GRPC_FAULT_H

#include "base/buffer.h"
#include "base/slice.h"
#include "base/status.h"

enum grpc_code {
    GRPC_OK = 0,
    GRPC_CANCELLED = 1,
    GRPC_UNKNOWN = 2,
    GRPC_INVALID_ARGUMENT = 3,
    GRPC_DEADLINE_EXCEEDED = 4,
    GRPC_NOT_FOUND = 5,
    GRPC_ALREADY_EXISTS = 6,
    GRPC_PERMISSION_DENIED = 7,
    GRPC_RESOURCE_EXHAUSTED = 8,
    GRPC_FAILED_PRECONDITION = 9,
    GRPC_ABORTED = 10,
    GRPC_OUT_OF_RANGE = 11,
    GRPC_UNIMPLEMENTED = 12,
    GRPC_INTERNAL = 13,
    GRPC_UNAVAILABLE = 14,
    GRPC_DATA_LOSS = 15,
    GRPC_UNAUTHENTICATED = 16,
};

enum {
    GRPC_FIELD_SIZE_MAX = 80,
};

struct grpc_fault {
    enum grpc_code code;             // GRPC_OK: the one that fits the error
    struct error error;              // why
    char field[GRPC_FIELD_SIZE_MAX]; // the field that was wrong, "options.backoff"; "": none
};

// The code that fits an error. DENIED is PERMISSION_DENIED; a client that has not authenticated is
// refused with a fault that says UNAUTHENTICATED.
enum grpc_code grpc_code_of(const struct error *error);

struct grpc_plan;

// The fault of an error that is told to a client of that plan's message: without the name of the
// command in front, and with the argument that it is about called as its field, which is kept.
// `plan` may be NULL. `error` may be &fault->error.
enum status grpc_fault_of(struct grpc_fault *fault, const struct grpc_plan *plan,
                          const struct error *error);

// The reason of an error in its details: "STALE".
enum {
    GRPC_REASON_SIZE_MAX = 24,
};
size_t grpc_reason(enum status status, char reason[GRPC_REASON_SIZE_MAX]);

// A fault with that code (GRPC_OK: the one that fits) and that sentence. Returns the status.
enum status grpc_fault_set(struct grpc_fault *fault, enum grpc_code code, enum status status,
                           const char *format, ...) __attribute__((format(printf, 4, 5)));

// The trailers that tell it.
enum {
    GRPC_MESSAGE_SIZE_MAX = 1024, // percent-encoded
    GRPC_DETAILS_SIZE_MAX = 2048, // base64
};
struct grpc_trailers {
    char status[4];                      // grpc-status: "5"
    char message[GRPC_MESSAGE_SIZE_MAX]; // grpc-message; "": none
    char details[GRPC_DETAILS_SIZE_MAX]; // grpc-status-details-bin; "": none
    size_t message_size, details_size;
};

// `fault` NULL: OK.
void grpc_trailers_of(struct grpc_trailers *trailers, const struct grpc_fault *fault);

#endif
