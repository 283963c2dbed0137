// SPDX-License-Identifier: MIT
// Messages of producers.
#include "faces/grpc/messages.h"
#include "faces/grpc/table.h"

static const struct grpc_field add_request_fields[] = {
    { STRING(1, "namespace"), .role = GRPC_ROLE_NAMESPACE },
    { STRING(2, "queue"), .as = "queue" },
    { STRING(3, "klass"), .as = "klass" },
    { MESSAGE(4, "data", &grpc_payload), .as = "data" },
    { STRING(5, "jid"), .as = "JID" },
    { STRING(6, "request_id"), .as = "REQUEST" },
    { INT32(7, "priority"), .flags = GRPC_FIELD_OPTIONAL, .as = "PRIORITY" },
    { MESSAGE(8, "schedule_time", &grpc_timestamp), .as = "AT" },
    { MESSAGE(9, "delay", &grpc_duration), .as = "DELAY" },
    { INT32(10, "retries"), .flags = GRPC_FIELD_OPTIONAL, .as = "RETRIES" },
    { STRING(11, "domain"), .flags = GRPC_FIELD_OPTIONAL, .as = "DOMAIN" },
    { STRING(12, "tags"), .flags = GRPC_FIELD_REPEATED, .as = "TAG" },
    { STRING(13, "depends"), .flags = GRPC_FIELD_REPEATED, .as = "DEPENDS" },
    { MESSAGE(14, "deadline_time", &grpc_timestamp), .as = "DEADLINE" },
    { MESSAGE(15, "options", &grpc_options) },
    { MESSAGE(16, "unique", &grpc_unique) },
    { BOOL(17, "must_exist"), .role = GRPC_ROLE_OTHERWISE },
    { STRING(18, "worker"), .as = "WORKER" },
    { BOOL(19, "allow_missing_depends"), .as = "ALLOW-MISSING" },
};
const struct grpc_message grpc_add_request = {
    .name = "sluice.v1.AddRequest",
    FIELDS(add_request_fields),
};

static const char *const options_dependency_policy_values[] = { "DEPENDENCY_POLICY_UNSPECIFIED",
                                                                "HOLD", "CANCEL", "FAIL", "RUN" };
const struct grpc_enum grpc_options_dependency_policy = {
    .name = "sluice.v1.Options.DependencyPolicy",
    VALUES(options_dependency_policy_values),
};

static const struct grpc_field options_fields[] = {
    { STRING(1, "backoff"), .as = "BACKOFF" },
    { MESSAGE(2, "timeout", &grpc_duration), .as = "TIMEOUT" },
    { MESSAGE(3, "lease", &grpc_duration), .as = "LEASE" },
    { MESSAGE(4, "result_ttl", &grpc_duration), .as = "RESULT-TTL" },
    { INT32(5, "max_crashes"), .flags = GRPC_FIELD_OPTIONAL, .as = "MAX-CRASHES" },
    { ENUM(6, "on_dependency_failure", &grpc_options_dependency_policy),
      .as = "ON-DEPENDENCY-FAILURE" },
};
static const struct grpc_enum *const options_enums[] = { &grpc_options_dependency_policy, NULL };
const struct grpc_message grpc_options = {
    .name = "sluice.v1.Options",
    FIELDS(options_fields),
    .enums = options_enums,
};

static const char *const unique_until_values[] = { "UNTIL_UNSPECIFIED", "FINISHED", "STARTED",
                                                   "TIME" };
const struct grpc_enum grpc_unique_until = {
    .name = "sluice.v1.Unique.Until",
    VALUES(unique_until_values),
};

static const char *const unique_conflict_values[] = { "CONFLICT_UNSPECIFIED", "EXISTING", "REPLACE",
                                                      "REFUSE", "ONCE" };
const struct grpc_enum grpc_unique_conflict = {
    .name = "sluice.v1.Unique.Conflict",
    VALUES(unique_conflict_values),
};

static const struct grpc_field unique_fields[] = {
    { STRING(1, "key"), .oneof = "by", .as = "UNIQUE" },
    { BOOL(2, "contents"), .oneof = "by", .as = "UNIQUE-CONTENTS" },
    { ENUM(3, "until", &grpc_unique_until), .as = "UNIQUE-UNTIL" },
    { MESSAGE(4, "ttl", &grpc_duration), .as = "UNIQUE-FOR" },
    { ENUM(5, "on_conflict", &grpc_unique_conflict), .as = "ON-CONFLICT" },
};
static const struct grpc_enum *const unique_enums[] = { &grpc_unique_until, &grpc_unique_conflict,
                                                        NULL };
const struct grpc_message grpc_unique = {
    .name = "sluice.v1.Unique",
    FIELDS(unique_fields),
    .enums = unique_enums,
};

static const struct grpc_field add_response_fields[] = {
    { STRING(1, "jid"), .as = GRPC_AS_VALUE },
};
const struct grpc_message grpc_add_response = {
    .name = "sluice.v1.AddResponse",
    FIELDS(add_response_fields),
};

static const struct grpc_field batch_add_request_fields[] = {
    { STRING(1, "namespace"), .role = GRPC_ROLE_NAMESPACE },
    { MESSAGE(2, "requests", &grpc_add_request), .flags = GRPC_FIELD_REPEATED,
      .role = GRPC_ROLE_REQUESTS },
};
const struct grpc_message grpc_batch_add_request = {
    .name = "sluice.v1.BatchAddRequest",
    FIELDS(batch_add_request_fields),
};

static const struct grpc_field batch_add_response_fields[] = {
    { MESSAGE(1, "results", &grpc_add_result), .flags = GRPC_FIELD_REPEATED, .as = GRPC_AS_LIST },
};
const struct grpc_message grpc_batch_add_response = {
    .name = "sluice.v1.BatchAddResponse",
    FIELDS(batch_add_response_fields),
};

static const struct grpc_field add_result_fields[] = {
    { STRING(1, "jid"), .oneof = "result", .as = GRPC_AS_VALUE },
    { MESSAGE(2, "error", &grpc_error), .oneof = "result", .as = GRPC_AS_ERROR },
};
const struct grpc_message grpc_add_result = {
    .name = "sluice.v1.AddResult",
    FIELDS(add_result_fields),
};

static const struct grpc_field wait_request_fields[] = {
    { STRING(1, "namespace"), .role = GRPC_ROLE_NAMESPACE },
    { STRING(2, "jid"), .as = "jid" },
    { MESSAGE(3, "timeout", &grpc_duration), .as = "TIMEOUT" },
    { BOOL(4, "raw_payloads"), .role = GRPC_ROLE_RAW_PAYLOADS },
};
const struct grpc_message grpc_wait_request = {
    .name = "sluice.v1.WaitRequest",
    FIELDS(wait_request_fields),
};

static const struct grpc_field wait_response_fields[] = {
    { ENUM(1, "state", &grpc_job_state), .as = "state" },
    { MESSAGE(2, "result", &grpc_payload), .as = "result" },
    { STRING(3, "group"), .as = "group" },
    { STRING(4, "message"), .as = "message" },
};
const struct grpc_message grpc_wait_response = {
    .name = "sluice.v1.WaitResponse",
    FIELDS(wait_response_fields),
};

static const struct grpc_field cancel_request_fields[] = {
    { STRING(1, "namespace"), .role = GRPC_ROLE_NAMESPACE },
    { STRING(2, "jids"), .flags = GRPC_FIELD_REPEATED, .as = "jid" },
    { BOOL(3, "dependents"), .as = "DEPENDENTS" },
    { STRING(4, "request_id"), .as = "REQUEST" },
};
const struct grpc_message grpc_cancel_request = {
    .name = "sluice.v1.CancelRequest",
    FIELDS(cancel_request_fields),
};

static const struct grpc_field cancel_response_fields[] = {
    { INT64(1, "canceled"), .as = GRPC_AS_VALUE },
};
const struct grpc_message grpc_cancel_response = {
    .name = "sluice.v1.CancelResponse",
    FIELDS(cancel_response_fields),
};
