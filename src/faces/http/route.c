// SPDX-License-Identifier: MIT
#include "faces/http/route.h"

#include "wire/http_target.h"

#include <assert.h>
#include <stdint.h>

#define NS "/v1/ns/{ns}"

enum {
    FIRST = HTTP_ROUTE_FIRST,
    MISSING = HTTP_ROUTE_NULL_MISSING,
    EMPTY = HTTP_ROUTE_NULL_EMPTY,
    NAMES = HTTP_ROUTE_NAMES,
    IDEMPOTENT = HTTP_ROUTE_IDEMPOTENT,
    NUMBERED = HTTP_ROUTE_NUMBERED,
};

static const struct http_parameter events_parameters[] = {
    { "queue", "query", "only events of this queue", true },
    { "jid", "query", "only events of this job", true },
    { "kind", "query", "only events of this kind, such as failed", true },
    { "tracked", "query", "true: events of tracked jobs", false },
    { "worker", "query", "what this worker should know of its jobs", true },
    { "last_event_id", "query", "the number of the last event that was seen", false },
    { "Last-Event-ID", "header", "the same, as browsers say it", false },
    { NULL, NULL, NULL, false },
};

static const struct http_parameter session_parameters[] = {
    { "user", "body", "the user's name; default: that of the setting password", false },
    { "password", "body", "the user's password", false },
    { NULL, NULL, NULL, false },
};

// In the order of the reference. A reply that would only say OK has the status 204.
static const struct http_route routes[] = {
    // Work
    { "POST", NS "/queues/{queue}/jobs", "Q.PUT", "Q.MPUT", 201, "jid", IDEMPOTENT },
    { "POST", NS "/jobs/{jid}/requeue", "Q.REQUEUE", NULL, 200, "jid", IDEMPOTENT },
    { "GET", NS "/queues/{queue}/peek", "Q.PEEK", NULL, 200, "jobs", .given = "count=25" },
    { "POST", NS "/pop", "Q.POP", NULL, 200, "jobs", .given = "count=1" },
    { "POST", NS "/jobs/{jid}/take", "Q.TAKE", NULL, 200 },
    { "GET", NS "/jobs/{jid}/held", "Q.HELD", NULL, 200 },
    { "POST", NS "/jobs/{jid}/start", "Q.START", NULL, 204 },
    { "POST", NS "/jobs/{jid}/heartbeat", "Q.HEARTBEAT", NULL, 200, "expires" },
    { "POST", NS "/heartbeat", NULL, "Q.MHEARTBEAT", 200, "expires" },
    { "POST", NS "/jobs/{jid}/progress", "Q.PROGRESS", NULL, 204 },
    { "POST", NS "/jobs/{jid}/checkpoint", "Q.CHECKPOINT", NULL, 204 },
    { "POST", NS "/jobs/{jid}/log", "Q.LOG", NULL, 204 },
    { "POST", NS "/jobs/{jid}/complete", "Q.COMPLETE", NULL, 200, "state" },
    { "POST", NS "/complete", NULL, "Q.MCOMPLETE", 200, "state" },
    { "POST", NS "/jobs/{jid}/fail", "Q.FAIL", NULL, 204 },
    { "POST", NS "/fail", NULL, "Q.MFAIL", 200 },
    { "POST", NS "/jobs/{jid}/return", "Q.RETURN", NULL, 204 },
    { "POST", NS "/jobs/{jid}/retry", "Q.RETRY", NULL, 200, "remaining" },
    { "POST", NS "/retry", NULL, "Q.MRETRY", 200, "remaining" },
    { "GET", NS "/jobs/{jid}/result", "Q.WAIT", NULL, 200, NULL, EMPTY, .given = "timeout=30" },
    // Jobs
    { "GET", NS "/jobs/{jid}", "Q.GET", NULL, 200, NULL, FIRST | MISSING },
    { "POST", NS "/get", "Q.GET", NULL, 200, "jobs" },
    { "GET", NS "/jobs/{jid}/history", "Q.HISTORY", NULL, 200, "history" },
    { "GET", NS "/jobs/{jid}/log", "Q.LOGS", NULL, 200, "log" },
    { "GET", NS "/jobs/{jid}/explain", "Q.EXPLAIN", NULL, 200 },
    { "GET", NS "/jobs/{jid}/options", "Q.OPTIONS", NULL, 200 },
    { "PUT", NS "/jobs/{jid}/priority", "Q.PRIORITY", NULL, 204 },
    { "PUT", NS "/jobs/{jid}/data", "Q.DATA", NULL, 204 },
    { "POST", NS "/jobs/{jid}/history", "Q.NOTE", NULL, 204 },
    { "POST", NS "/jobs/{jid}/run", "Q.KICK", NULL, 200, "kicked" },
    { "POST", NS "/run", "Q.KICK", NULL, 200, "kicked" },
    { "POST", NS "/jobs/{jid}/timeout", "Q.TIMEOUT", NULL, 204 },
    { "POST", NS "/timeout", "Q.TIMEOUT", NULL, 204 },
    { "POST", NS "/jobs/{jid}/depends", "Q.DEPENDS.ON", NULL, 204 },
    { "DELETE", NS "/jobs/{jid}/depends/{dependency}", "Q.DEPENDS.OFF", NULL, 204 },
    { "DELETE", NS "/jobs/{jid}/depends", "Q.DEPENDS.CLEAR", NULL, 204 },
    { "POST", NS "/jobs/{jid}/cancel", "Q.CANCEL", NULL, 200, "canceled" },
    { "POST", NS "/cancel", "Q.CANCEL", NULL, 200, "canceled" },
    { "DELETE", NS "/jobs/{jid}", "Q.DELETE", NULL, 204 },
    // Tags
    { "POST", NS "/jobs/{jid}/tags", "Q.TAG", NULL, 200, "tags" },
    { "DELETE", NS "/jobs/{jid}/tags/{tag}", "Q.UNTAG", NULL, 200, "tags" },
    { "GET", NS "/tags", "Q.TAGS", NULL, 200, "tags" },
    { "GET", NS "/tags/{tag}/jobs", "Q.TAGGED", NULL, 200 },
    { "GET", NS "/tracked", "Q.TRACKED", NULL, 200 },
    { "PUT", NS "/tracked/{jid}", "Q.TRACK", NULL, 200, "changed" },
    { "DELETE", NS "/tracked/{jid}", "Q.UNTRACK", NULL, 200, "changed" },
    // Queues
    { "GET", NS "/queues", "Q.QUEUES", NULL, 200 },
    { "GET", NS "/queues/{queue}", "Q.QUEUE", NULL, 200 },
    { "GET", NS "/queues/{queue}/listeners", "Q.LISTENERS", NULL, 200 },
    { "GET", NS "/queues/{queue}/length", "Q.LENGTH", NULL, 200, "length" },
    { "GET", NS "/queues/{queue}/jobs", "Q.JOBS", NULL, 200, .given = "state=any" },
    { "GET", NS "/jobs", "Q.JOBS", NULL, 200 },
    { "POST", NS "/find", "Q.FIND", NULL, 200 },
    { "GET", NS "/find", "Q.FINDS", NULL, 200, "searches" },
    { "GET", NS "/find/{id}", "Q.FIND.GET", NULL, 200 },
    { "DELETE", NS "/find/{id}", "Q.FIND.DROP", NULL, 204 },
    { "GET", NS "/count", "Q.COUNT", NULL, 200, "count" },
    { "GET", NS "/priorities", "Q.PRIORITIES", NULL, 200, "priorities" },
    { "GET", NS "/failures", "Q.FAILURES", NULL, 200 },
    { "GET", NS "/failures/{group}/jobs", "Q.FAILED", NULL, 200 },
    { "POST", NS "/failures/{group}/unfail", "Q.UNFAIL", NULL, 200, "count" },
    { "POST", NS "/queues/{queue}/pause", "Q.PAUSE", NULL, 204 },
    { "POST", NS "/pause", "Q.PAUSE", NULL, 204 },
    { "POST", NS "/queues/{queue}/unpause", "Q.UNPAUSE", NULL, 204 },
    { "POST", NS "/unpause", "Q.UNPAUSE", NULL, 204 },
    { "DELETE", NS "/queues/{queue}", "Q.FORGET", NULL, 204 },
    { "GET", NS "/queues/{queue}/stats", "Q.STATS", NULL, 200 },
    { "GET", NS "/metrics", "Q.METRICS", NULL, 200 },
    { "GET", NS, "Q.TOTALS", NULL, 200 },
    { "GET", NS "/series", "Q.SERIES", NULL, 200 },
    { "GET", NS "/queues/{queue}/series", "Q.SERIES", NULL, 200 },
    { "GET", NS "/stats", "Q.STATS.DAYS", NULL, 200 },
    { "GET", NS "/queues/{queue}/stats/days", "Q.STATS.DAYS", NULL, 200 },
    { "GET", NS "/queues/{queue}/lane", "Q.LANE", NULL, 200 },
    { "GET", NS "/queues/{queue}/lanes", "Q.LANES", NULL, 200 },
    { "GET", NS "/queues/{queue}/explain", "Q.EXPLAIN.QUEUE", NULL, 200 },
    // Recurring
    { "PUT", NS "/recurring/{jid}", "Q.RECUR", NULL, 204, NULL, IDEMPOTENT },
    { "GET", NS "/recurring/{jid}", "Q.RECUR.GET", NULL, 200 },
    { "PATCH", NS "/recurring/{jid}", "Q.RECUR.UPDATE", NULL, 204 },
    { "POST", NS "/recurring/{jid}/tags", "Q.RECUR.TAG", NULL, 200, "tags" },
    { "DELETE", NS "/recurring/{jid}/tags/{tag}", "Q.RECUR.UNTAG", NULL, 200, "tags" },
    { "GET", NS "/recurring/{jid}/runs", "Q.RECUR.RUNS", NULL, 200, "runs" },
    { "GET", NS "/queues/{queue}/recurring", "Q.RECURRING", NULL, 200 },
    { "GET", NS "/recurring", "Q.RECURRING", NULL, 200 },
    { "POST", NS "/recurring/{jid}/pause", "Q.RECUR.PAUSE", NULL, 204 },
    { "POST", NS "/recurring/{jid}/resume", "Q.RECUR.RESUME", NULL, 204 },
    { "POST", NS "/recurring/{jid}/run", "Q.RECUR.RUN", NULL, 200, "jid" },
    { "DELETE", NS "/recurring/{jid}", "Q.UNRECUR", NULL, 204 },
    { "GET", NS "/cron", "Q.CRON", NULL, 200, "runs" },
    { "GET", NS "/zones", "Q.ZONES", NULL, 200, "zones" },
    // Workers
    { "GET", NS "/workers", "Q.WORKERS", NULL, 200 },
    { "GET", NS "/workers/{worker}", "Q.WORKER", NULL, 200 },
    { "POST", NS "/workers/{worker}/offline", "Q.WORKER.OFFLINE", NULL, 204 },
    { "DELETE", NS "/workers/{worker}", "Q.WORKER.DEREGISTER", NULL, 204 },
    // Settings
    { "GET", NS "/config", "Q.CONFIG.GET", NULL, 200, NULL, NAMES },
    { "PUT", NS "/config/{option}", "Q.CONFIG.SET", NULL, 204 },
    { "GET", NS "/config/{option}", "Q.CONFIG.GET", NULL, 200, NULL, NAMES },
    { "DELETE", NS "/config/{option}", "Q.CONFIG.UNSET", NULL, 204 },
    { "PUT", NS "/limits", "Q.LIMIT.SET", NULL, 204 },
    { "GET", NS "/limits", "Q.LIMITS", NULL, 200 },
    { "DELETE", NS "/limits", "Q.LIMIT.UNSET", NULL, 204 },
    { "PUT", NS "/policies/{scope}/{name}", "Q.POLICY.SET", NULL, 204 },
    { "GET", NS "/policies", "Q.POLICIES", NULL, 200, "policies" },
    { "DELETE", NS "/policies/{scope}/{name}", "Q.POLICY.UNSET", NULL, 204 },
    // Push
    { "PUT", NS "/pushes/{pattern}", "Q.PUSH.SET", NULL, 204 },
    { "PUT", NS "/pushes", NULL, "Q.PUSH.MSET", 200, .key = "pattern" },
    { "GET", NS "/pushes", "Q.PUSHES", NULL, 200, "pushes" },
    { "DELETE", NS "/pushes/{pattern}", "Q.PUSH.UNSET", NULL, 204 },
    { "POST", NS "/pushes/{pattern}/try", "Q.PUSH.TRY", NULL, 204 },
    // Bulk
    { "POST", NS "/bulk", "Q.BULK", NULL, 200 },
    { "GET", NS "/bulk", "Q.BULKS", NULL, 200, "operations" },
    { "GET", NS "/bulk/{id}", "Q.BULK.GET", NULL, 200 },
    { "POST", NS "/bulk/{id}/stop", "Q.BULK.STOP", NULL, 204 },
    // Check
    { "POST", NS "/check", "Q.CHECK", NULL, 200 },
    // Tasks
    { "POST", NS "/tasks", "T.PUT", "T.MPUT", 201, NULL, NUMBERED },
    { "GET", NS "/tasks", "T.LIST", NULL, 200 },
    { "GET", NS "/task-counts", "T.COUNTS", NULL, 200 },
    { "GET", NS "/invalid-tasks", "T.INVALID", NULL, 200, "invalid" },
    { "GET", NS "/tasks/{id}", "T.GET", NULL, 200 },
    { "POST", NS "/tasks/{id}/retry", "T.RETRY", NULL, 200 },
    { "DELETE", NS "/tasks/{id}", "T.DELETE", NULL, 204 },
    // Transfer
    { "GET", NS "/dump", "Q.DUMP", NULL, 200 },
    { "POST", NS "/restore", "Q.RESTORE", NULL, 200, "outcomes", IDEMPOTENT },
    { "POST", NS "/restore/check", "Q.RESTORE.CHECK", NULL, 200, "outcomes" },
    // Namespaces
    { "GET", "/v1/ns", "Q.NAMESPACES", NULL, 200, "namespaces" },
    { "PUT", NS, "Q.NAMESPACE.CREATE", NULL, 204 },
    { "DELETE", NS, "Q.NAMESPACE.DELETE", NULL, 204 },
    { "GET", NS "/clock", "Q.CLOCK", NULL, 200 },
    { "POST", NS "/clock/repair", "Q.CLOCK.REPAIR", NULL, 200, "ahead" },
    // Server
    { "GET", "/v1/help", "Q.HELP", NULL, 200, "help" },
    { "GET", "/v1/help/{command}", "Q.HELP", NULL, 200, "help" },
    { "GET", "/v1/whoami", "Q.WHOAMI", NULL, 200 },
    { "GET", "/v1/server", "Q.SERVER", NULL, 200 },
    { "PUT", "/v1/users/{name}", "Q.USER.SET", NULL, 204 },
    { "GET", "/v1/users", "Q.USERS", NULL, 200, "users" },
    { "DELETE", "/v1/users/{name}", "Q.USER.DEL", NULL, 204 },
    { "GET", "/v1/audit", "Q.AUDIT", NULL, 200, "entries" },
    { "POST", "/v1/backup", "Q.BACKUP", NULL, 200, "path" },
    { "POST", "/v1/drain", "Q.DRAIN", NULL, 204 },
    // Pages
    { "GET", NS "/events", .status = 200, .page = HTTP_PAGE_EVENTS,
      .summary = "What happens in a namespace, as server-sent events.",
      .content = "text/event-stream", .parameters = events_parameters },
    { "POST", "/v1/session", .status = 204, .page = HTTP_PAGE_SESSION_BEGIN,
      .summary = "A session begins; the cookie of the answer stands for the user from now on.",
      .parameters = session_parameters },
    { "DELETE", "/v1/session", .status = 204, .page = HTTP_PAGE_SESSION_END,
      .summary = "The session of the cookie ends." },
    { "GET", "/v1/openapi.json", .status = 200, .page = HTTP_PAGE_OPENAPI,
      .summary = "This description.", .content = "application/json" },
    { "GET", "/metrics", .status = 200, .page = HTTP_PAGE_METRICS,
      .summary = "The server in figures, as OpenMetrics.",
      .content = "application/openmetrics-text" },
    { "GET", "/healthz", .status = 200, .page = HTTP_PAGE_HEALTH,
      .summary = "Whether the server is alive.", .content = "text/plain" },
    { "GET", "/readyz", .status = 200, .page = HTTP_PAGE_READY,
      .summary = "Whether the server can do its work; why not, and what to do.",
      .content = "application/json" },
};

const struct http_routes http_routes = { routes, sizeof(routes) / sizeof(routes[0]) };

bool http_route_is_parameter(struct slice segment)
{
    return segment.size > 2 && segment.data[0] == '{';
}

static bool is_parameter_named(struct slice segment, struct slice name)
{
    return http_route_is_parameter(segment) &&
           slice_equal(slice_sub(segment, 1, segment.size - 2), name);
}

bool http_route_has_parameter(const struct http_route *route, struct slice name)
{
    struct slice rest = slice_from_cstr(route->path);
    struct slice segment;
    while (http_path_next(&rest, &segment)) {
        if (is_parameter_named(segment, name)) {
            return true;
        }
    }
    return false;
}

void http_pattern_init(struct http_pattern *pattern, const struct http_route *route)
{
    struct slice rest = slice_from_cstr(route->path);
    struct slice segment;
    *pattern = (struct http_pattern){ .route = route };
    while (http_path_next(&rest, &segment)) {
        assert(pattern->count < HTTP_SEGMENTS_MAX);
        pattern->segments[pattern->count++] =
            http_route_is_parameter(segment) ? SLICE_EMPTY : segment;
    }
}

bool http_pattern_matches(const struct http_pattern *pattern, const struct http_path *path)
{
    if (pattern->count != path->count) {
        return false;
    }
    // Compared from the end, because paths differ there.
    for (size_t i = path->count; i-- > 0;) {
        struct slice wanted = pattern->segments[i];
        struct slice given = path->segments[i];
        if (wanted.size ? !slice_equal(wanted, given) : given.size == 0) {
            return false;
        }
    }
    return true;
}

bool http_route_parameter(const struct http_route *route, const struct http_path *path,
                          struct slice name, struct slice *out)
{
    struct slice rest = slice_from_cstr(route->path);
    struct slice segment;
    for (size_t i = 0; i < path->count && http_path_next(&rest, &segment); i++) {
        if (is_parameter_named(segment, name)) {
            *out = path->segments[i];
            return true;
        }
    }
    return false;
}
