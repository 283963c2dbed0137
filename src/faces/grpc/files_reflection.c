// SPDX-License-Identifier: MIT
// grpc.reflection.v1 and v1alpha: the same messages in two packages.
#include "faces/grpc/files.h"
#include "faces/grpc/methods.h"
#include "faces/grpc/table.h"

// In google.protobuf.FileOptions.
enum {
    JAVA_PACKAGE = 1,
    JAVA_OUTER_CLASSNAME = 8,
    JAVA_MULTIPLE_FILES = 10,
    GO_PACKAGE = 11,
    DEPRECATED = 23,
};

#define ASKS    "message_request"
#define ANSWERS "message_response"

// The tables of messages in a package. clang-format would put all of it on few lines.
// clang-format off
#define REFLECTION(version, package)                                                               \
    static const struct grpc_field version##_extension_request_fields[] = {                        \
        { STRING(1, "containing_type") },                                                          \
        { INT32(2, "extension_number") },                                                          \
    };                                                                                             \
    static const struct grpc_message version##_extension_request = {                               \
        .name = package ".ExtensionRequest", FIELDS(version##_extension_request_fields),           \
    };                                                                                             \
    static const struct grpc_field version##_request_fields[] = {                                  \
        { STRING(1, "host") },                                                                     \
        { STRING(3, "file_by_filename"), .oneof = ASKS },                                          \
        { STRING(4, "file_containing_symbol"), .oneof = ASKS },                                    \
        { MESSAGE(5, "file_containing_extension", &version##_extension_request), .oneof = ASKS },  \
        { STRING(6, "all_extension_numbers_of_type"), .oneof = ASKS },                             \
        { STRING(7, "list_services"), .oneof = ASKS },                                             \
    };                                                                                             \
    static const struct grpc_message version##_request = {                                         \
        .name = package ".ServerReflectionRequest", FIELDS(version##_request_fields),              \
    };                                                                                             \
    static const struct grpc_field version##_files_response_fields[] = {                           \
        { BYTES(1, "file_descriptor_proto"), .flags = GRPC_FIELD_REPEATED },                       \
    };                                                                                             \
    static const struct grpc_message version##_files_response = {                                  \
        .name = package ".FileDescriptorResponse", FIELDS(version##_files_response_fields),        \
    };                                                                                             \
    static const struct grpc_field version##_extensions_response_fields[] = {                      \
        { STRING(1, "base_type_name") },                                                           \
        { INT32(2, "extension_number"), .flags = GRPC_FIELD_REPEATED },                            \
    };                                                                                             \
    static const struct grpc_message version##_extensions_response = {                             \
        .name = package ".ExtensionNumberResponse", FIELDS(version##_extensions_response_fields),  \
    };                                                                                             \
    static const struct grpc_field version##_service_response_fields[] = {                         \
        { STRING(1, "name") },                                                                     \
    };                                                                                             \
    static const struct grpc_message version##_service_response = {                                \
        .name = package ".ServiceResponse", FIELDS(version##_service_response_fields),             \
    };                                                                                             \
    static const struct grpc_field version##_services_response_fields[] = {                        \
        { MESSAGE(1, "service", &version##_service_response), .flags = GRPC_FIELD_REPEATED },      \
    };                                                                                             \
    static const struct grpc_message version##_services_response = {                               \
        .name = package ".ListServiceResponse", FIELDS(version##_services_response_fields),        \
    };                                                                                             \
    static const struct grpc_field version##_error_response_fields[] = {                           \
        { INT32(1, "error_code") },                                                                \
        { STRING(2, "error_message") },                                                            \
    };                                                                                             \
    static const struct grpc_message version##_error_response = {                                  \
        .name = package ".ErrorResponse", FIELDS(version##_error_response_fields),                 \
    };                                                                                             \
    static const struct grpc_field version##_response_fields[] = {                                 \
        { STRING(1, "valid_host") },                                                               \
        { MESSAGE(2, "original_request", &version##_request) },                                    \
        { MESSAGE(4, "file_descriptor_response", &version##_files_response), .oneof = ANSWERS },   \
        { MESSAGE(5, "all_extension_numbers_response", &version##_extensions_response), .oneof = ANSWERS }, \
        { MESSAGE(6, "list_services_response", &version##_services_response), .oneof = ANSWERS },  \
        { MESSAGE(7, "error_response", &version##_error_response), .oneof = ANSWERS },             \
    };                                                                                             \
    static const struct grpc_message version##_response = {                                        \
        .name = package ".ServerReflectionResponse", FIELDS(version##_response_fields),            \
    };                                                                                             \
    static const struct grpc_message *const version##_messages[] = {                               \
        &version##_request,                                                                        \
        &version##_extension_request,                                                              \
        &version##_response,                                                                       \
        &version##_files_response,                                                                 \
        &version##_extensions_response,                                                            \
        &version##_services_response,                                                              \
        &version##_service_response,                                                               \
        &version##_error_response,                                                                 \
        NULL,                                                                                      \
    };                                                                                             \
    static const struct grpc_rpc version##_rpcs[] = {                                              \
        { .name = "ServerReflectionInfo", .request = &version##_request,                           \
          .reply = &version##_response, .streams_in = true, .streams_out = true },                 \
    };                                                                                             \
    const struct grpc_service grpc_service_reflection_##version = {                                \
        .name = package ".ServerReflection", RPCS(version##_rpcs),                                 \
    }
// clang-format on

REFLECTION(v1, "grpc.reflection.v1");
REFLECTION(v1alpha, "grpc.reflection.v1alpha");

const struct grpc_file grpc_file_reflection = {
    .name = "grpc/reflection/v1/reflection.proto",
    .package = "grpc.reflection.v1",
    .messages = v1_messages,
    .services = (const struct grpc_service *const[]){ &grpc_service_reflection_v1, NULL },
    .options =
        (const struct grpc_file_option[]){
            { JAVA_PACKAGE, "io.grpc.reflection.v1" },
            { JAVA_OUTER_CLASSNAME, "ServerReflectionProto" },
            { JAVA_MULTIPLE_FILES, NULL },
            { GO_PACKAGE, "google.golang.org/grpc/reflection/grpc_reflection_v1" },
            { 0, NULL },
        },
};

const struct grpc_file grpc_file_reflection_alpha = {
    .name = "grpc/reflection/v1alpha/reflection.proto",
    .package = "grpc.reflection.v1alpha",
    .messages = v1alpha_messages,
    .services = (const struct grpc_service *const[]){ &grpc_service_reflection_v1alpha, NULL },
    .options =
        (const struct grpc_file_option[]){
            { JAVA_PACKAGE, "io.grpc.reflection.v1alpha" },
            { JAVA_OUTER_CLASSNAME, "ServerReflectionProto" },
            { JAVA_MULTIPLE_FILES, NULL },
            { GO_PACKAGE, "google.golang.org/grpc/reflection/grpc_reflection_v1alpha" },
            { DEPRECATED, NULL },
            { 0, NULL },
        },
};
