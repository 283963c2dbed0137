// SPDX-License-Identifier: MIT
#include "faces/grpc/files.h"

#include "faces/grpc/messages.h"
#include "faces/grpc/methods.h"
#include "faces/grpc/table.h"

// In google.protobuf.FileOptions.
enum {
    JAVA_PACKAGE = 1,
    JAVA_OUTER_CLASSNAME = 8,
    JAVA_MULTIPLE_FILES = 10,
    GO_PACKAGE = 11,
    CC_ENABLE_ARENAS = 31,
    OBJC_CLASS_PREFIX = 36,
    CSHARP_NAMESPACE = 37,
};

// ---------------------------------------------------------------------------------------------
// google.protobuf

static const struct grpc_field timestamp_fields[] = {
    { INT64(1, "seconds") },
    { INT32(2, "nanos") },
};
const struct grpc_message grpc_timestamp = {
    .name = "google.protobuf.Timestamp",
    FIELDS(timestamp_fields),
    .form = GRPC_FORM_TIMESTAMP,
};

const struct grpc_file grpc_file_timestamp = {
    .name = "google/protobuf/timestamp.proto",
    .package = "google.protobuf",
    .messages = (const struct grpc_message *const[]){ &grpc_timestamp, NULL },
    .options =
        (const struct grpc_file_option[]){
            { JAVA_PACKAGE, "com.google.protobuf" },
            { JAVA_OUTER_CLASSNAME, "TimestampProto" },
            { JAVA_MULTIPLE_FILES, NULL },
            { GO_PACKAGE, "google.golang.org/protobuf/types/known/timestamppb" },
            { CC_ENABLE_ARENAS, NULL },
            { OBJC_CLASS_PREFIX, "GPB" },
            { CSHARP_NAMESPACE, "Google.Protobuf.WellKnownTypes" },
            { 0, NULL },
        },
};

static const struct grpc_field duration_fields[] = {
    { INT64(1, "seconds") },
    { INT32(2, "nanos") },
};
const struct grpc_message grpc_duration = {
    .name = "google.protobuf.Duration",
    FIELDS(duration_fields),
    .form = GRPC_FORM_DURATION,
};

const struct grpc_file grpc_file_duration = {
    .name = "google/protobuf/duration.proto",
    .package = "google.protobuf",
    .messages = (const struct grpc_message *const[]){ &grpc_duration, NULL },
    .options =
        (const struct grpc_file_option[]){
            { JAVA_PACKAGE, "com.google.protobuf" },
            { JAVA_OUTER_CLASSNAME, "DurationProto" },
            { JAVA_MULTIPLE_FILES, NULL },
            { GO_PACKAGE, "google.golang.org/protobuf/types/known/durationpb" },
            { CC_ENABLE_ARENAS, NULL },
            { OBJC_CLASS_PREFIX, "GPB" },
            { CSHARP_NAMESPACE, "Google.Protobuf.WellKnownTypes" },
            { 0, NULL },
        },
};

// ---------------------------------------------------------------------------------------------
// sluice.v1

// In the order of the file.
static const struct grpc_message *const sluice_messages[] = {
    &grpc_payload,
    &grpc_job,
    &grpc_lease,
    &grpc_last_run,
    &grpc_failure,
    &grpc_progress,
    &grpc_members,
    &grpc_unique_lock,
    &grpc_add_request,
    &grpc_options,
    &grpc_unique,
    &grpc_add_response,
    &grpc_batch_add_request,
    &grpc_batch_add_response,
    &grpc_add_result,
    &grpc_error,
    &grpc_wait_request,
    &grpc_wait_response,
    &grpc_cancel_request,
    &grpc_cancel_response,
    &grpc_task,
    &grpc_next_request,
    &grpc_next_response,
    &grpc_stream_next_request,
    &grpc_lease_ref,
    &grpc_keepalive_request,
    &grpc_renewal,
    &grpc_keepalive_response,
    &grpc_lease_state,
    &grpc_start_request,
    &grpc_start_response,
    &grpc_report_request,
    &grpc_report_response,
    &grpc_done_request,
    &grpc_done_response,
    &grpc_fail_request,
    &grpc_fail_response,
    &grpc_retry_request,
    &grpc_retry_response,
    &grpc_release_request,
    &grpc_release_response,
    &grpc_get_request,
    &grpc_batch_get_request,
    &grpc_batch_get_response,
    &grpc_list_request,
    &grpc_list_response,
    &grpc_list_queues_request,
    &grpc_list_queues_response,
    &grpc_queue_info,
    &grpc_rates,
    &grpc_events_request,
    &grpc_event,
    &grpc_execute_request,
    &grpc_execute_response,
    &grpc_value,
    &grpc_value_list,
    &grpc_value_map,
    &grpc_value_pair,
    NULL,
};

const struct grpc_file grpc_file_sluice = {
    .name = "sluice/v1/sluice.proto",
    .package = "sluice.v1",
    .imports = (const struct grpc_file *const[]){ &grpc_file_duration, &grpc_file_timestamp, NULL },
    .messages = sluice_messages,
    .enums = (const struct grpc_enum *const[]){ &grpc_order, NULL },
    .services = (const struct grpc_service *const[]){ &grpc_service_queue, NULL },
    .options =
        (const struct grpc_file_option[]){
            { JAVA_PACKAGE, "sluice.v1" },
            { JAVA_OUTER_CLASSNAME, "SluiceProto" },
            { JAVA_MULTIPLE_FILES, NULL },
            { GO_PACKAGE, "sluice/v1;sluicev1" },
            { CSHARP_NAMESPACE, "Sluice.V1" },
            { 0, NULL },
        },
};

// ---------------------------------------------------------------------------------------------
// grpc.health.v1

static const struct grpc_field health_request_fields[] = {
    { STRING(1, "service") },
};
static const struct grpc_message health_request = {
    .name = "grpc.health.v1.HealthCheckRequest",
    FIELDS(health_request_fields),
};

static const char *const serving_status_values[] = { "UNKNOWN", "SERVING", "NOT_SERVING",
                                                     "SERVICE_UNKNOWN" };
static const struct grpc_enum serving_status = {
    .name = "grpc.health.v1.HealthCheckResponse.ServingStatus",
    VALUES(serving_status_values),
};

static const struct grpc_field health_response_fields[] = {
    { ENUM(1, "status", &serving_status) },
};
static const struct grpc_message health_response = {
    .name = "grpc.health.v1.HealthCheckResponse",
    FIELDS(health_response_fields),
    .enums = (const struct grpc_enum *const[]){ &serving_status, NULL },
};

static const struct grpc_message health_list_request = {
    .name = "grpc.health.v1.HealthListRequest",
};

static const struct grpc_field statuses_entry_fields[] = {
    { STRING(1, "key") },
    { MESSAGE(2, "value", &health_response) },
};
static const struct grpc_message statuses_entry = {
    .name = "grpc.health.v1.HealthListResponse.StatusesEntry",
    FIELDS(statuses_entry_fields),
    .map_entry = true,
};

static const struct grpc_field health_list_response_fields[] = {
    { MESSAGE(1, "statuses", &statuses_entry), .flags = GRPC_FIELD_REPEATED },
};
static const struct grpc_message health_list_response = {
    .name = "grpc.health.v1.HealthListResponse",
    FIELDS(health_list_response_fields),
    .messages = (const struct grpc_message *const[]){ &statuses_entry, NULL },
};

static const struct grpc_rpc health_rpcs[] = {
    { .name = "Check", .request = &health_request, .reply = &health_response },
    { .name = "List", .request = &health_list_request, .reply = &health_list_response },
    { .name = "Watch", .request = &health_request, .reply = &health_response, .streams_out = true },
};
const struct grpc_service grpc_service_health = {
    .name = "grpc.health.v1.Health",
    RPCS(health_rpcs),
};

const struct grpc_file grpc_file_health = {
    .name = "grpc/health/v1/health.proto",
    .package = "grpc.health.v1",
    .messages =
        (const struct grpc_message *const[]){ &health_request, &health_response,
                                              &health_list_request, &health_list_response, NULL },
    .services = (const struct grpc_service *const[]){ &grpc_service_health, NULL },
    .options =
        (const struct grpc_file_option[]){
            { JAVA_PACKAGE, "io.grpc.health.v1" },
            { JAVA_OUTER_CLASSNAME, "HealthProto" },
            { JAVA_MULTIPLE_FILES, NULL },
            { GO_PACKAGE, "google.golang.org/grpc/health/grpc_health_v1" },
            { CSHARP_NAMESPACE, "Grpc.Health.V1" },
            { 0, NULL },
        },
};

// ---------------------------------------------------------------------------------------------

const struct grpc_file *const grpc_files[] = {
    &grpc_file_timestamp,
    &grpc_file_duration,
    &grpc_file_sluice,
    &grpc_file_health,
    &grpc_file_reflection,
    &grpc_file_reflection_alpha,
    NULL,
};
