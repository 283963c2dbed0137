// SPDX-License-Identifier: MIT
// Messages that show jobs, queues and events; and those of Execute.
#include "faces/grpc/messages.h"
#include "faces/grpc/table.h"

static const struct grpc_field get_request_fields[] = {
    { STRING(1, "namespace"), .role = GRPC_ROLE_NAMESPACE },
    { STRING(2, "jid"), .as = "jid" },
    { BOOL(3, "raw_payloads"), .role = GRPC_ROLE_RAW_PAYLOADS },
};
const struct grpc_message grpc_get_request = {
    .name = "sluice.v1.GetRequest",
    FIELDS(get_request_fields),
};

static const struct grpc_field batch_get_request_fields[] = {
    { STRING(1, "namespace"), .role = GRPC_ROLE_NAMESPACE },
    { STRING(2, "jids"), .flags = GRPC_FIELD_REPEATED, .as = "jid" },
    { BOOL(3, "raw_payloads"), .role = GRPC_ROLE_RAW_PAYLOADS },
};
const struct grpc_message grpc_batch_get_request = {
    .name = "sluice.v1.BatchGetRequest",
    FIELDS(batch_get_request_fields),
};

static const struct grpc_field batch_get_response_fields[] = {
    { MESSAGE(1, "jobs", &grpc_job), .flags = GRPC_FIELD_REPEATED, .as = GRPC_AS_LIST },
};
const struct grpc_message grpc_batch_get_response = {
    .name = "sluice.v1.BatchGetResponse",
    FIELDS(batch_get_response_fields),
};

static const struct grpc_field list_request_fields[] = {
    { STRING(1, "namespace"), .role = GRPC_ROLE_NAMESPACE },
    { ENUM(2, "state", &grpc_job_state), .as = "state", .given = "any" },
    { STRING(3, "queue"), .as = "queue" },
    { STRING(4, "klass"), .as = "KLASS" },
    { STRING(5, "worker"), .as = "WORKER" },
    { STRING(6, "tag"), .as = "TAGGED" },
    { STRING(7, "domain"), .as = "DOMAIN" },
    { STRING(8, "group"), .as = "GROUP" },
    { INT32(9, "page_size"), .as = "COUNT", .flags = GRPC_FIELD_CLAMPED },
    { STRING(10, "page_token"), .as = "CURSOR" },
    { INT32(11, "skip"), .as = "OFFSET" },
    { BOOL(12, "jids_only"), .as = "JIDS" },
    { INT64(13, "data_max"), .flags = GRPC_FIELD_OPTIONAL, .as = "DATA-MAX" },
    { BOOL(14, "raw_payloads"), .role = GRPC_ROLE_RAW_PAYLOADS },
};
const struct grpc_message grpc_list_request = {
    .name = "sluice.v1.ListRequest",
    FIELDS(list_request_fields),
};

static const struct grpc_field list_response_fields[] = {
    { MESSAGE(1, "jobs", &grpc_job), .flags = GRPC_FIELD_REPEATED, .as = "jobs" },
    { STRING(2, "jids"), .flags = GRPC_FIELD_REPEATED, .as = "jids" },
    { STRING(3, "next_page_token"), .as = "next" },
    { INT64(4, "total_size"), .flags = GRPC_FIELD_OPTIONAL, .as = "total" },
};
const struct grpc_message grpc_list_response = {
    .name = "sluice.v1.ListResponse",
    FIELDS(list_response_fields),
};

static const struct grpc_field list_queues_request_fields[] = {
    { STRING(1, "namespace"), .role = GRPC_ROLE_NAMESPACE },
    { STRING(2, "order_by"), .as = "SORT" },
    { INT32(3, "page_size"), .as = "COUNT", .flags = GRPC_FIELD_CLAMPED },
    { STRING(4, "page_token"), .as = "CURSOR" },
    { INT32(5, "skip"), .as = "OFFSET" },
    { STRING(6, "name_pattern"), .as = "MATCH" },
};
const struct grpc_message grpc_list_queues_request = {
    .name = "sluice.v1.ListQueuesRequest",
    FIELDS(list_queues_request_fields),
};

static const struct grpc_field list_queues_response_fields[] = {
    { MESSAGE(1, "queues", &grpc_queue_info), .flags = GRPC_FIELD_REPEATED, .as = "queues" },
    { STRING(2, "next_page_token"), .as = "next" },
    { INT64(3, "total_size"), .as = "total" },
};
const struct grpc_message grpc_list_queues_response = {
    .name = "sluice.v1.ListQueuesResponse",
    FIELDS(list_queues_response_fields),
};

static const struct grpc_field queue_info_fields[] = {
    { STRING(1, "queue"), .as = "queue" },
    { INT64(2, "waiting"), .as = "waiting" },
    { INT64(3, "running"), .as = "running" },
    { INT64(4, "stalled"), .as = "stalled" },
    { INT64(5, "scheduled"), .as = "scheduled" },
    { INT64(6, "depends"), .as = "depends" },
    { INT64(7, "recurring"), .as = "recurring" },
    { INT64(8, "listeners"), .as = "listeners" },
    { BOOL(9, "paused"), .as = "paused" },
    { MESSAGE(10, "pause_time", &grpc_timestamp), .as = "paused_since" },
    { INT64(11, "failed"), .as = "failed" },
    { INT64(12, "complete"), .as = "complete" },
    { INT64(13, "bytes"), .as = "bytes" },
    { MESSAGE(14, "age", &grpc_duration), .as = "age" },
    { MESSAGE(15, "rates", &grpc_rates), .as = "rates" },
};
const struct grpc_message grpc_queue_info = {
    .name = "sluice.v1.QueueInfo",
    FIELDS(queue_info_fields),
};

static const struct grpc_field rates_fields[] = {
    { DOUBLE(1, "put"), .as = "put" },
    { DOUBLE(2, "popped"), .as = "popped" },
    { DOUBLE(3, "completed"), .as = "completed" },
    { DOUBLE(4, "failed"), .as = "failed" },
    { DOUBLE(5, "retried"), .as = "retried" },
    { DOUBLE(6, "lost"), .as = "lost" },
};
const struct grpc_message grpc_rates = {
    .name = "sluice.v1.Rates",
    FIELDS(rates_fields),
};

static const struct grpc_field events_request_fields[] = {
    { STRING(1, "namespace"), .role = GRPC_ROLE_NAMESPACE },
    { STRING(2, "queues"), .flags = GRPC_FIELD_REPEATED, .role = GRPC_ROLE_QUERY, .as = "queue" },
    { STRING(3, "jids"), .flags = GRPC_FIELD_REPEATED, .role = GRPC_ROLE_QUERY, .as = "jid" },
    { STRING(4, "kinds"), .flags = GRPC_FIELD_REPEATED, .role = GRPC_ROLE_QUERY, .as = "kind" },
    { STRING(5, "workers"), .flags = GRPC_FIELD_REPEATED, .role = GRPC_ROLE_QUERY, .as = "worker" },
    { BOOL(6, "tracked"), .role = GRPC_ROLE_QUERY, .as = "tracked" },
    { UINT64(7, "last_event_id"), .flags = GRPC_FIELD_OPTIONAL, .role = GRPC_ROLE_QUERY,
      .as = "last_event_id" },
};
const struct grpc_message grpc_events_request = {
    .name = "sluice.v1.EventsRequest",
    FIELDS(events_request_fields),
};

static const struct grpc_field event_fields[] = {
    { UINT64(1, "id") },
    { STRING(2, "kind"), .as = "event" },
    { MESSAGE(3, "event_time", &grpc_timestamp), .as = "when" },
    { STRING(4, "jid"), .as = "jid" },
    { STRING(5, "queue"), .as = "queue" },
    { STRING(6, "worker"), .as = "worker" },
    { STRING(7, "json") },
};
const struct grpc_message grpc_event = {
    .name = "sluice.v1.Event",
    FIELDS(event_fields),
};

static const struct grpc_field execute_request_fields[] = {
    { BYTES(1, "words"), .flags = GRPC_FIELD_REPEATED, .role = GRPC_ROLE_WORDS },
};
const struct grpc_message grpc_execute_request = {
    .name = "sluice.v1.ExecuteRequest",
    FIELDS(execute_request_fields),
};

static const struct grpc_field execute_response_fields[] = {
    { MESSAGE(1, "value", &grpc_value), .as = GRPC_AS_VALUE },
};
const struct grpc_message grpc_execute_response = {
    .name = "sluice.v1.ExecuteResponse",
    FIELDS(execute_response_fields),
};

static const struct grpc_field value_fields[] = {
    { BOOL(1, "null"), .oneof = "kind" },
    { BYTES(2, "text"), .oneof = "kind" },
    { STRING(3, "json"), .oneof = "kind" },
    { INT64(4, "integer"), .oneof = "kind" },
    { DOUBLE(5, "number"), .oneof = "kind" },
    { BOOL(6, "boolean"), .oneof = "kind" },
    { MESSAGE(7, "time", &grpc_timestamp), .oneof = "kind" },
    { MESSAGE(8, "duration", &grpc_duration), .oneof = "kind" },
    { MESSAGE(9, "list", &grpc_value_list), .oneof = "kind" },
    { MESSAGE(10, "map", &grpc_value_map), .oneof = "kind" },
    { MESSAGE(11, "error", &grpc_error), .oneof = "kind" },
};
const struct grpc_message grpc_value = {
    .name = "sluice.v1.Value",
    FIELDS(value_fields),
    .form = GRPC_FORM_VALUE,
};

static const struct grpc_field value_list_fields[] = {
    { MESSAGE(1, "items", &grpc_value), .flags = GRPC_FIELD_REPEATED },
};
const struct grpc_message grpc_value_list = {
    .name = "sluice.v1.ValueList",
    FIELDS(value_list_fields),
};

static const struct grpc_field value_map_fields[] = {
    { MESSAGE(1, "pairs", &grpc_value_pair), .flags = GRPC_FIELD_REPEATED },
};
const struct grpc_message grpc_value_map = {
    .name = "sluice.v1.ValueMap",
    FIELDS(value_map_fields),
};

static const struct grpc_field value_pair_fields[] = {
    { STRING(1, "key") },
    { MESSAGE(2, "value", &grpc_value) },
};
const struct grpc_message grpc_value_pair = {
    .name = "sluice.v1.ValuePair",
    FIELDS(value_pair_fields),
};
