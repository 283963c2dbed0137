// SPDX-License-Identifier: MIT
// Jobs in messages, and what they are made of.
#include "faces/grpc/messages.h"
#include "faces/grpc/table.h"

static const struct grpc_field payload_fields[] = {
    { STRING(1, "json"), .oneof = "kind" },
    { BYTES(2, "raw"), .oneof = "kind" },
};
const struct grpc_message grpc_payload = {
    .name = "sluice.v1.Payload",
    FIELDS(payload_fields),
    .form = GRPC_FORM_PAYLOAD,
};

static const char *const job_state_values[] = {
    "STATE_UNSPECIFIED", "WAITING",  "RUNNING", "STALLED",  "SCHEDULED",
    "DEPENDS",           "COMPLETE", "FAILED",  "CANCELED", "EXPIRED"
};
const struct grpc_enum grpc_job_state = {
    .name = "sluice.v1.Job.State",
    VALUES(job_state_values),
};

static const char *const job_stage_values[] = { "STAGE_UNSPECIFIED", "RESERVED", "STARTED" };
const struct grpc_enum grpc_job_stage = {
    .name = "sluice.v1.Job.Stage",
    VALUES(job_stage_values),
};

static const struct grpc_field job_fields[] = {
    { STRING(1, "namespace"), .role = GRPC_ROLE_NAMESPACE },
    { STRING(2, "jid"), .as = "jid" },
    { STRING(3, "klass"), .as = "klass" },
    { STRING(4, "queue"), .as = "queue" },
    { ENUM(5, "state", &grpc_job_state), .as = "state" },
    { ENUM(6, "stage", &grpc_job_stage), .as = "stage" },
    { MESSAGE(7, "data", &grpc_payload), .as = "data" },
    { INT32(8, "priority"), .as = "priority" },
    { INT32(9, "retries"), .as = "retries" },
    { INT32(10, "remaining"), .as = "remaining" },
    { INT64(11, "attempts"), .as = "attempts" },
    { INT64(12, "crashes"), .as = "crashes" },
    { STRING(13, "domain"), .as = "domain" },
    { STRING(14, "tags"), .flags = GRPC_FIELD_REPEATED, .as = "tags" },
    { BOOL(15, "tracked"), .as = "tracked" },
    { MESSAGE(16, "create_time", &grpc_timestamp), .as = "created" },
    { MESSAGE(17, "move_time", &grpc_timestamp), .as = "moved" },
    { MESSAGE(18, "update_time", &grpc_timestamp), .as = "updated" },
    { MESSAGE(19, "eta_time", &grpc_timestamp), .as = "eta" },
    { MESSAGE(20, "schedule_time", &grpc_timestamp), .as = "scheduled" },
    { MESSAGE(21, "deadline_time", &grpc_timestamp), .as = "deadline" },
    { MESSAGE(22, "lease", &grpc_lease), .as = "lease" },
    { MESSAGE(23, "last_run", &grpc_last_run), .as = "last-run" },
    { MESSAGE(24, "failure", &grpc_failure), .as = "failure" },
    { MESSAGE(25, "result", &grpc_payload), .as = "result" },
    { MESSAGE(26, "result_expire_time", &grpc_timestamp), .as = "result-until" },
    { MESSAGE(27, "progress", &grpc_progress), .as = "progress" },
    { BYTES(28, "checkpoint"), .as = "checkpoint" },
    { STRING(29, "depends"), .flags = GRPC_FIELD_REPEATED, .as = "depends" },
    { STRING(30, "dependents"), .flags = GRPC_FIELD_REPEATED, .as = "dependents" },
    { MESSAGE(31, "members", &grpc_members), .as = "members" },
    { MESSAGE(32, "unique", &grpc_unique_lock), .as = "unique" },
    { STRING(33, "spawned_from"), .as = "spawned-from" },
    { INT64(34, "data_size"), .as = "data-size" },
    { BOOL(35, "data_cut"), .as = "data-cut" },
    { BOOL(36, "result_cut"), .as = "result-cut" },
};
static const struct grpc_enum *const job_enums[] = { &grpc_job_state, &grpc_job_stage, NULL };
const struct grpc_message grpc_job = {
    .name = "sluice.v1.Job",
    FIELDS(job_fields),
    .enums = job_enums,
};

static const struct grpc_field lease_fields[] = {
    { STRING(1, "worker"), .as = "worker" },
    { UINT64(2, "token"), .as = "token" },
    { MESSAGE(3, "expire_time", &grpc_timestamp), .as = "expires" },
    { MESSAGE(4, "length", &grpc_duration), .as = "length" },
    { BOOL(5, "grace"), .as = "grace" },
    { MESSAGE(6, "run_end_time", &grpc_timestamp), .as = "run-ends" },
    { INT64(7, "pid"), .flags = GRPC_FIELD_OPTIONAL, .as = "pid" },
};
const struct grpc_message grpc_lease = {
    .name = "sluice.v1.Lease",
    FIELDS(lease_fields),
};

static const struct grpc_field last_run_fields[] = {
    { STRING(1, "worker"), .as = "worker" },
    { MESSAGE(2, "pop_time", &grpc_timestamp), .as = "popped" },
    { MESSAGE(3, "start_time", &grpc_timestamp), .as = "started" },
    { INT64(4, "pid"), .flags = GRPC_FIELD_OPTIONAL, .as = "pid" },
};
const struct grpc_message grpc_last_run = {
    .name = "sluice.v1.LastRun",
    FIELDS(last_run_fields),
};

static const struct grpc_field failure_fields[] = {
    { STRING(1, "group"), .as = "group" },
    { STRING(2, "message"), .as = "message" },
    { STRING(3, "worker"), .as = "worker" },
    { MESSAGE(4, "fail_time", &grpc_timestamp), .as = "when" },
};
const struct grpc_message grpc_failure = {
    .name = "sluice.v1.Failure",
    FIELDS(failure_fields),
};

static const struct grpc_field progress_fields[] = {
    { DOUBLE(1, "fraction"), .as = "fraction", .given = "0" },
    { STRING(2, "message"), .as = "message" },
};
const struct grpc_message grpc_progress = {
    .name = "sluice.v1.Progress",
    FIELDS(progress_fields),
};

static const struct grpc_field members_fields[] = {
    { INT64(1, "done"), .as = "done" },
    { INT64(2, "failed"), .as = "failed" },
};
const struct grpc_message grpc_members = {
    .name = "sluice.v1.Members",
    FIELDS(members_fields),
};

static const char *const unique_lock_by_values[] = { "BY_UNSPECIFIED", "KEY", "CONTENTS" };
const struct grpc_enum grpc_unique_lock_by = {
    .name = "sluice.v1.UniqueLock.By",
    VALUES(unique_lock_by_values),
};

static const struct grpc_field unique_lock_fields[] = {
    { ENUM(1, "by", &grpc_unique_lock_by), .as = "by" },
    { STRING(2, "key"), .as = "key" },
    { BOOL(3, "held"), .as = "held" },
};
static const struct grpc_enum *const unique_lock_enums[] = { &grpc_unique_lock_by, NULL };
const struct grpc_message grpc_unique_lock = {
    .name = "sluice.v1.UniqueLock",
    FIELDS(unique_lock_fields),
    .enums = unique_lock_enums,
};

static const struct grpc_field error_fields[] = {
    { INT32(1, "code") },
    { STRING(2, "reason") },
    { STRING(3, "message") },
    { STRING(4, "field") },
};
const struct grpc_message grpc_error = {
    .name = "sluice.v1.Error",
    FIELDS(error_fields),
    .form = GRPC_FORM_ERROR,
};
