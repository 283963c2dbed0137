// SPDX-License-Identifier: MIT
// Messages of workers.
#include "faces/grpc/messages.h"
#include "faces/grpc/table.h"

static const struct grpc_field task_fields[] = {
    { STRING(1, "namespace"), .role = GRPC_ROLE_NAMESPACE },
    { STRING(2, "jid"), .as = "jid" },
    { STRING(3, "klass"), .as = "klass" },
    { STRING(4, "queue"), .as = "queue" },
    { MESSAGE(5, "data", &grpc_payload), .as = "data" },
    { UINT64(6, "token"), .as = "token" },
    { MESSAGE(7, "expire_time", &grpc_timestamp), .as = "expires" },
    { MESSAGE(8, "lease_duration", &grpc_duration), .as = "expires" },
    { INT32(9, "priority"), .as = "priority" },
    { INT32(10, "remaining"), .as = "remaining" },
    { INT64(11, "attempts"), .as = "attempts" },
    { STRING(12, "domain"), .as = "domain" },
    { BYTES(13, "checkpoint"), .as = "checkpoint" },
    { STRING(14, "tags"), .flags = GRPC_FIELD_REPEATED, .as = "tags" },
};
const struct grpc_message grpc_task = {
    .name = "sluice.v1.Task",
    FIELDS(task_fields),
};

static const struct grpc_field next_request_fields[] = {
    { STRING(1, "namespace"), .role = GRPC_ROLE_NAMESPACE },
    { STRING(2, "queues"), .flags = GRPC_FIELD_REPEATED, .as = "queue" },
    { STRING(3, "worker"), .as = "worker", .role = GRPC_ROLE_WORKER },
    { UINT32(4, "max_tasks"), .as = "count", .given = "1" },
    { MESSAGE(5, "wait", &grpc_duration), .as = "WAIT" },
    { ENUM(6, "order", &grpc_order), .as = "ORDER" },
    { MESSAGE(7, "lease", &grpc_duration), .as = "LEASE" },
    { BOOL(8, "raw_payloads"), .role = GRPC_ROLE_RAW_PAYLOADS },
};
const struct grpc_message grpc_next_request = {
    .name = "sluice.v1.NextRequest",
    FIELDS(next_request_fields),
};

static const struct grpc_field next_response_fields[] = {
    { MESSAGE(1, "tasks", &grpc_task), .flags = GRPC_FIELD_REPEATED, .as = GRPC_AS_LIST },
};
const struct grpc_message grpc_next_response = {
    .name = "sluice.v1.NextResponse",
    FIELDS(next_response_fields),
};

static const struct grpc_field stream_next_request_fields[] = {
    { STRING(1, "namespace"), .role = GRPC_ROLE_NAMESPACE },
    { STRING(2, "queues"), .flags = GRPC_FIELD_REPEATED, .as = "queue" },
    { STRING(3, "worker"), .as = "worker", .role = GRPC_ROLE_WORKER },
    { UINT32(4, "max_in_flight"), .as = "count", .role = GRPC_ROLE_IN_FLIGHT, .given = "1" },
    { ENUM(5, "order", &grpc_order), .as = "ORDER" },
    { MESSAGE(6, "lease", &grpc_duration), .as = "LEASE" },
    { BOOL(7, "release_on_close"), .role = GRPC_ROLE_RELEASE },
    { BOOL(8, "raw_payloads"), .role = GRPC_ROLE_RAW_PAYLOADS },
};
const struct grpc_message grpc_stream_next_request = {
    .name = "sluice.v1.StreamNextRequest",
    FIELDS(stream_next_request_fields),
};

static const struct grpc_field lease_ref_fields[] = {
    { STRING(1, "jid"), .as = "jid" },
    { STRING(2, "worker"), .as = "worker" },
    { UINT64(3, "token"), .as = "TOKEN" },
};
const struct grpc_message grpc_lease_ref = {
    .name = "sluice.v1.LeaseRef",
    FIELDS(lease_ref_fields),
};

static const struct grpc_field keepalive_request_fields[] = {
    { STRING(1, "namespace"), .role = GRPC_ROLE_NAMESPACE },
    { STRING(2, "worker"), .as = "worker", .role = GRPC_ROLE_WORKER },
    { MESSAGE(3, "leases", &grpc_renewal), .flags = GRPC_FIELD_REPEATED,
      .role = GRPC_ROLE_REQUESTS },
    { MESSAGE(4, "lease", &grpc_duration), .as = "LEASE" },
};
const struct grpc_message grpc_keepalive_request = {
    .name = "sluice.v1.KeepaliveRequest",
    FIELDS(keepalive_request_fields),
};

static const struct grpc_field renewal_fields[] = {
    { STRING(1, "jid"), .as = "jid" },
    { STRING(2, "worker"), .as = "worker" },
    { UINT64(3, "token"), .as = "TOKEN" },
    { MESSAGE(4, "data", &grpc_payload), .as = "DATA" },
    { MESSAGE(5, "lease", &grpc_duration), .as = "LEASE" },
};
const struct grpc_message grpc_renewal = {
    .name = "sluice.v1.Renewal",
    FIELDS(renewal_fields),
};

static const struct grpc_field keepalive_response_fields[] = {
    { MESSAGE(1, "leases", &grpc_lease_state), .flags = GRPC_FIELD_REPEATED, .as = GRPC_AS_LIST },
};
const struct grpc_message grpc_keepalive_response = {
    .name = "sluice.v1.KeepaliveResponse",
    FIELDS(keepalive_response_fields),
};

static const struct grpc_field lease_state_fields[] = {
    { STRING(1, "jid"), .role = GRPC_ROLE_JID },
    { UINT64(2, "token"), .role = GRPC_ROLE_TOKEN },
    { MESSAGE(3, "lease_duration", &grpc_duration), .as = GRPC_AS_VALUE },
    { MESSAGE(4, "expire_time", &grpc_timestamp), .oneof = "state", .as = GRPC_AS_VALUE },
    { MESSAGE(5, "lost", &grpc_error), .oneof = "state", .as = GRPC_AS_ERROR },
};
const struct grpc_message grpc_lease_state = {
    .name = "sluice.v1.LeaseState",
    FIELDS(lease_state_fields),
};

static const struct grpc_field start_request_fields[] = {
    { STRING(1, "namespace"), .role = GRPC_ROLE_NAMESPACE },
    { MESSAGE(2, "lease", &grpc_lease_ref) },
    { INT64(3, "pid"), .as = "pid" },
};
const struct grpc_message grpc_start_request = {
    .name = "sluice.v1.StartRequest",
    FIELDS(start_request_fields),
};

const struct grpc_message grpc_start_response = {
    .name = "sluice.v1.StartResponse",
};

static const struct grpc_field report_request_fields[] = {
    { STRING(1, "namespace"), .role = GRPC_ROLE_NAMESPACE },
    { MESSAGE(2, "lease", &grpc_lease_ref) },
    { MESSAGE(3, "progress", &grpc_progress) },
    { STRING(4, "log_lines"), .flags = GRPC_FIELD_REPEATED, .as = "line" },
    { BYTES(5, "checkpoint"), .flags = GRPC_FIELD_OPTIONAL, .as = "value" },
};
const struct grpc_message grpc_report_request = {
    .name = "sluice.v1.ReportRequest",
    FIELDS(report_request_fields),
};

const struct grpc_message grpc_report_response = {
    .name = "sluice.v1.ReportResponse",
};

static const struct grpc_field done_request_fields[] = {
    { STRING(1, "namespace"), .role = GRPC_ROLE_NAMESPACE },
    { MESSAGE(2, "lease", &grpc_lease_ref) },
    { MESSAGE(3, "result", &grpc_payload), .as = "RESULT" },
    { MESSAGE(4, "data", &grpc_payload), .as = "DATA" },
    { STRING(5, "next_queue"), .as = "NEXT" },
    { MESSAGE(6, "delay", &grpc_duration), .as = "DELAY" },
    { STRING(7, "depends"), .flags = GRPC_FIELD_REPEATED, .as = "DEPENDS" },
    { BOOL(8, "allow_missing_depends"), .as = "ALLOW-MISSING" },
};
const struct grpc_message grpc_done_request = {
    .name = "sluice.v1.DoneRequest",
    FIELDS(done_request_fields),
};

static const struct grpc_field done_response_fields[] = {
    { ENUM(1, "state", &grpc_job_state), .as = GRPC_AS_VALUE },
};
const struct grpc_message grpc_done_response = {
    .name = "sluice.v1.DoneResponse",
    FIELDS(done_response_fields),
};

static const struct grpc_field fail_request_fields[] = {
    { STRING(1, "namespace"), .role = GRPC_ROLE_NAMESPACE },
    { MESSAGE(2, "lease", &grpc_lease_ref) },
    { STRING(3, "group"), .as = "group" },
    { STRING(4, "message"), .as = "message" },
    { MESSAGE(5, "data", &grpc_payload), .as = "DATA" },
    { BOOL(6, "force"), .as = "FORCE" },
};
const struct grpc_message grpc_fail_request = {
    .name = "sluice.v1.FailRequest",
    FIELDS(fail_request_fields),
};

const struct grpc_message grpc_fail_response = {
    .name = "sluice.v1.FailResponse",
};

static const struct grpc_field retry_request_fields[] = {
    { STRING(1, "namespace"), .role = GRPC_ROLE_NAMESPACE },
    { MESSAGE(2, "lease", &grpc_lease_ref) },
    { MESSAGE(3, "delay", &grpc_duration), .as = "DELAY" },
    { STRING(4, "queue"), .as = "QUEUE" },
    { STRING(5, "group"), .as = "GROUP" },
    { STRING(6, "message"), .as = "MESSAGE" },
    { BOOL(7, "uncounted"), .as = "UNCOUNTED" },
};
const struct grpc_message grpc_retry_request = {
    .name = "sluice.v1.RetryRequest",
    FIELDS(retry_request_fields),
};

static const struct grpc_field retry_response_fields[] = {
    { INT32(1, "remaining"), .as = GRPC_AS_VALUE },
};
const struct grpc_message grpc_retry_response = {
    .name = "sluice.v1.RetryResponse",
    FIELDS(retry_response_fields),
};

static const struct grpc_field release_request_fields[] = {
    { STRING(1, "namespace"), .role = GRPC_ROLE_NAMESPACE },
    { MESSAGE(2, "lease", &grpc_lease_ref) },
};
const struct grpc_message grpc_release_request = {
    .name = "sluice.v1.ReleaseRequest",
    FIELDS(release_request_fields),
};

const struct grpc_message grpc_release_response = {
    .name = "sluice.v1.ReleaseResponse",
};

static const char *const order_values[] = { "ORDER_UNSPECIFIED", "ORDERED", "ROUND_ROBIN", "BEST" };
const struct grpc_enum grpc_order = {
    .name = "sluice.v1.Order",
    VALUES(order_values),
};
