// SPDX-License-Identifier: MIT
// The messages of proto/sluice/v1/sluice.proto, as tables.
#ifndef SLUICE_FACES_GRPC_MESSAGES_H
#define SLUICE_FACES_GRPC_MESSAGES_H

#include "faces/grpc/schema.h"

extern const struct grpc_message grpc_payload, grpc_job, grpc_lease, grpc_last_run, grpc_failure,
    grpc_progress, grpc_members, grpc_unique_lock, grpc_add_request, grpc_options, grpc_unique,
    grpc_add_response, grpc_batch_add_request, grpc_batch_add_response, grpc_add_result, grpc_error,
    grpc_wait_request, grpc_wait_response, grpc_cancel_request, grpc_cancel_response, grpc_task,
    grpc_next_request, grpc_next_response, grpc_stream_next_request, grpc_lease_ref,
    grpc_keepalive_request, grpc_renewal, grpc_keepalive_response, grpc_lease_state,
    grpc_start_request, grpc_start_response, grpc_report_request, grpc_report_response,
    grpc_done_request, grpc_done_response, grpc_fail_request, grpc_fail_response,
    grpc_retry_request, grpc_retry_response, grpc_release_request, grpc_release_response,
    grpc_get_request, grpc_batch_get_request, grpc_batch_get_response, grpc_list_request,
    grpc_list_response, grpc_list_queues_request, grpc_list_queues_response, grpc_queue_info,
    grpc_rates, grpc_events_request, grpc_event, grpc_execute_request, grpc_execute_response,
    grpc_value, grpc_value_list, grpc_value_map, grpc_value_pair;

extern const struct grpc_enum grpc_job_state, grpc_job_stage, grpc_unique_lock_by,
    grpc_options_dependency_policy, grpc_unique_until, grpc_unique_conflict, grpc_order;

// google.protobuf.Timestamp and Duration.
extern const struct grpc_message grpc_timestamp, grpc_duration;

#endif
