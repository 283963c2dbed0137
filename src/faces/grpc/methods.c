// SPDX-License-Identifier: MIT
#include "faces/grpc/methods.h"

#include "faces/grpc/messages.h"

#include <assert.h>

static const struct grpc_rpc queue_rpcs[] = {
    { .name = "Add", .request = &grpc_add_request, .reply = &grpc_add_response },
    { .name = "BatchAdd", .request = &grpc_batch_add_request, .reply = &grpc_batch_add_response },
    { .name = "StreamAdd",
      .request = &grpc_add_request,
      .reply = &grpc_add_result,
      .streams_in = true,
      .streams_out = true },
    { .name = "Wait", .request = &grpc_wait_request, .reply = &grpc_wait_response },
    { .name = "Cancel", .request = &grpc_cancel_request, .reply = &grpc_cancel_response },
    { .name = "Next", .request = &grpc_next_request, .reply = &grpc_next_response },
    { .name = "StreamNext",
      .request = &grpc_stream_next_request,
      .reply = &grpc_task,
      .streams_out = true },
    { .name = "Keepalive",
      .request = &grpc_keepalive_request,
      .reply = &grpc_keepalive_response,
      .streams_in = true,
      .streams_out = true },
    { .name = "Start", .request = &grpc_start_request, .reply = &grpc_start_response },
    { .name = "Report", .request = &grpc_report_request, .reply = &grpc_report_response },
    { .name = "Done", .request = &grpc_done_request, .reply = &grpc_done_response },
    { .name = "Fail", .request = &grpc_fail_request, .reply = &grpc_fail_response },
    { .name = "Retry", .request = &grpc_retry_request, .reply = &grpc_retry_response },
    { .name = "Release", .request = &grpc_release_request, .reply = &grpc_release_response },
    { .name = "Get", .request = &grpc_get_request, .reply = &grpc_job },
    { .name = "BatchGet", .request = &grpc_batch_get_request, .reply = &grpc_batch_get_response },
    { .name = "List", .request = &grpc_list_request, .reply = &grpc_list_response },
    { .name = "ListQueues",
      .request = &grpc_list_queues_request,
      .reply = &grpc_list_queues_response },
    { .name = "Events",
      .request = &grpc_events_request,
      .reply = &grpc_event,
      .streams_out = true },
    { .name = "Execute", .request = &grpc_execute_request, .reply = &grpc_execute_response },
};
const struct grpc_service grpc_service_queue = {
    .name = "sluice.v1.Queue",
    RPCS(queue_rpcs),
};

#define QUEUE(called, ...)                                                                         \
    {                                                                                              \
        .service = &grpc_service_queue, .rpc = (called), __VA_ARGS__                               \
    }

static const struct grpc_method_entry entries[] = {
    QUEUE("Add", .steps = { { "Q.PUT", 0 } }, .otherwise = "Q.REQUEUE"),
    QUEUE("BatchAdd", .steps = { { "Q.MPUT", 0 } }),
    QUEUE("StreamAdd", .act = GRPC_ACT_ADDS, .steps = { { "Q.PUT", 0 } }, .otherwise = "Q.REQUEUE"),
    QUEUE("Wait", .steps = { { "Q.WAIT", 0 } }),
    QUEUE("Cancel", .steps = { { "Q.CANCEL", 0 } }),
    QUEUE("Next", .steps = { { "Q.POP", 0 } }),
    QUEUE("StreamNext", .act = GRPC_ACT_NEXTS, .steps = { { "Q.POP", 0 } },
          .shape = GRPC_SHAPE_FRAMES, .fixed = { "WAIT", "0" }),
    QUEUE("Keepalive", .act = GRPC_ACT_KEEPALIVE, .steps = { { "Q.MHEARTBEAT", 0 } }),
    QUEUE("Start", .steps = { { "Q.START", 0 } }),
    QUEUE("Report", .steps = { { "Q.PROGRESS", 3 }, { "Q.LOG", 4 }, { "Q.CHECKPOINT", 5 } }),
    QUEUE("Done", .steps = { { "Q.COMPLETE", 0 } }),
    QUEUE("Fail", .steps = { { "Q.FAIL", 0 } }),
    QUEUE("Retry", .steps = { { "Q.RETRY", 0 } }),
    QUEUE("Release", .steps = { { "Q.RETURN", 0 } }),
    QUEUE("Get", .steps = { { "Q.GET", 0 } }, .shape = GRPC_SHAPE_FIRST),
    QUEUE("BatchGet", .steps = { { "Q.GET", 0 } }),
    QUEUE("List", .steps = { { "Q.JOBS", 0 } }),
    QUEUE("ListQueues", .steps = { { "Q.QUEUES", 0 } }),
    QUEUE("Events", .act = GRPC_ACT_EVENTS),
    QUEUE("Execute", .act = GRPC_ACT_COMMAND),
    { .service = &grpc_service_health,
      .rpc = "Check",
      .act = GRPC_ACT_HEALTH_CHECK,
      .anybody = true },
    { .service = &grpc_service_health,
      .rpc = "List",
      .act = GRPC_ACT_HEALTH_LIST,
      .anybody = true },
    { .service = &grpc_service_health,
      .rpc = "Watch",
      .act = GRPC_ACT_HEALTH_WATCH,
      .anybody = true },
    { .service = &grpc_service_reflection_v1,
      .rpc = "ServerReflectionInfo",
      .act = GRPC_ACT_REFLECTION },
    { .service = &grpc_service_reflection_v1alpha,
      .rpc = "ServerReflectionInfo",
      .act = GRPC_ACT_REFLECTION },
};

const struct grpc_method_entries grpc_method_entries = {
    .items = entries,
    .count = sizeof(entries) / sizeof(entries[0]),
};

const struct grpc_rpc *grpc_method_rpc(const struct grpc_method_entry *entry)
{
    const struct grpc_service *service = entry->service;
    size_t index = 0;
    while (index < service->rpc_count && strcmp(service->rpcs[index].name, entry->rpc) != 0) {
        index++;
    }
    assert(index < service->rpc_count);
    return &service->rpcs[index];
}
