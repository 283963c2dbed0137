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
    { "POST", NS "/queues/{queue}/jobs", "putJob", "Q.PUT", "Q.MPUT", 201, "jid", IDEMPOTENT,
      .location = NS "/jobs" },
    { "POST", NS "/jobs/{jid}/requeue", "requeueJob", "Q.REQUEUE", NULL, 200, "jid", IDEMPOTENT },
    { "GET", NS "/queues/{queue}/peek", "peekQueue", "Q.PEEK", NULL, 200, "jobs",
      .given = "count=25" },
    { "POST", NS "/pop", "popJobs", "Q.POP", NULL, 200, "jobs", .given = "count=1" },
    { "POST", NS "/jobs/{jid}/take", "takeJob", "Q.TAKE", NULL, 200 },
    { "GET", NS "/jobs/{jid}/held", "getLease", "Q.HELD", NULL, 200 },
    { "POST", NS "/jobs/{jid}/start", "startJob", "Q.START", NULL, 204 },
    { "POST", NS "/jobs/{jid}/heartbeat", "heartbeatJob", "Q.HEARTBEAT", NULL, 200, "expires" },
    { "POST", NS "/heartbeat", "heartbeatJobs", NULL, "Q.MHEARTBEAT", 200, "expires" },
    { "POST", NS "/jobs/{jid}/progress", "setProgress", "Q.PROGRESS", NULL, 204 },
    { "POST", NS "/jobs/{jid}/checkpoint", "setCheckpoint", "Q.CHECKPOINT", NULL, 204 },
    { "POST", NS "/jobs/{jid}/log", "addLogLine", "Q.LOG", NULL, 204 },
    { "POST", NS "/jobs/{jid}/complete", "completeJob", "Q.COMPLETE", NULL, 200, "state" },
    { "POST", NS "/complete", "completeJobs", NULL, "Q.MCOMPLETE", 200, "state" },
    { "POST", NS "/jobs/{jid}/fail", "failJob", "Q.FAIL", NULL, 204 },
    { "POST", NS "/fail", "failJobs", NULL, "Q.MFAIL", 200 },
    { "POST", NS "/jobs/{jid}/return", "returnJob", "Q.RETURN", NULL, 204 },
    { "POST", NS "/jobs/{jid}/retry", "retryJob", "Q.RETRY", NULL, 200, "remaining" },
    { "POST", NS "/retry", "retryJobs", NULL, "Q.MRETRY", 200, "remaining" },
    { "GET", NS "/jobs/{jid}/result", "waitForResult", "Q.WAIT", NULL, 200, NULL, EMPTY,
      .given = "timeout=30" },
    // Jobs
    { "GET", NS "/jobs/{jid}", "getJob", "Q.GET", NULL, 200, NULL, FIRST | MISSING },
    { "POST", NS "/get", "getJobs", "Q.GET", NULL, 200, "jobs" },
    { "GET", NS "/jobs/{jid}/history", "getHistory", "Q.HISTORY", NULL, 200, "history" },
    { "GET", NS "/jobs/{jid}/log", "getLog", "Q.LOGS", NULL, 200, "log" },
    { "GET", NS "/jobs/{jid}/explain", "explainJob", "Q.EXPLAIN", NULL, 200 },
    { "GET", NS "/jobs/{jid}/options", "getJobOptions", "Q.OPTIONS", NULL, 200 },
    { "PUT", NS "/jobs/{jid}/priority", "setPriority", "Q.PRIORITY", NULL, 204 },
    { "PUT", NS "/jobs/{jid}/data", "setData", "Q.DATA", NULL, 204 },
    { "POST", NS "/jobs/{jid}/history", "addHistoryNote", "Q.NOTE", NULL, 204 },
    { "POST", NS "/jobs/{jid}/run", "runJob", "Q.KICK", NULL, 200, "kicked" },
    { "POST", NS "/run", "runJobs", "Q.KICK", NULL, 200, "kicked" },
    { "POST", NS "/jobs/{jid}/timeout", "timeOutJob", "Q.TIMEOUT", NULL, 204 },
    { "POST", NS "/timeout", "timeOutJobs", "Q.TIMEOUT", NULL, 204 },
    { "POST", NS "/jobs/{jid}/depends", "addDependencies", "Q.DEPENDS.ON", NULL, 204 },
    { "DELETE", NS "/jobs/{jid}/depends/{dependency}", "removeDependency", "Q.DEPENDS.OFF", NULL,
      204 },
    { "DELETE", NS "/jobs/{jid}/depends", "removeDependencies", "Q.DEPENDS.CLEAR", NULL, 204 },
    { "POST", NS "/jobs/{jid}/cancel", "cancelJob", "Q.CANCEL", NULL, 200, "canceled" },
    { "POST", NS "/cancel", "cancelJobs", "Q.CANCEL", NULL, 200, "canceled" },
    { "DELETE", NS "/jobs/{jid}", "deleteJob", "Q.DELETE", NULL, 204 },
    // Tags
    { "POST", NS "/jobs/{jid}/tags", "addTags", "Q.TAG", NULL, 200, "tags" },
    { "DELETE", NS "/jobs/{jid}/tags/{tag}", "removeTag", "Q.UNTAG", NULL, 200, "tags" },
    { "GET", NS "/tags", "listTags", "Q.TAGS", NULL, 200, "tags" },
    { "GET", NS "/tags/{tag}/jobs", "listTaggedJobs", "Q.TAGGED", NULL, 200 },
    { "GET", NS "/tracked", "listTrackedJobs", "Q.TRACKED", NULL, 200 },
    { "PUT", NS "/tracked/{jid}", "trackJob", "Q.TRACK", NULL, 200, "changed" },
    { "DELETE", NS "/tracked/{jid}", "untrackJob", "Q.UNTRACK", NULL, 200, "changed" },
    // Queues
    { "GET", NS "/queues", "listQueues", "Q.QUEUES", NULL, 200 },
    { "GET", NS "/queues/{queue}", "getQueue", "Q.QUEUE", NULL, 200 },
    { "GET", NS "/queues/{queue}/listeners", "listListeners", "Q.LISTENERS", NULL, 200 },
    { "GET", NS "/queues/{queue}/length", "getQueueLength", "Q.LENGTH", NULL, 200, "length" },
    { "GET", NS "/queues/{queue}/jobs", "listQueueJobs", "Q.JOBS", NULL, 200,
      .given = "state=any" },
    { "GET", NS "/jobs", "listJobs", "Q.JOBS", NULL, 200 },
    { "POST", NS "/find", "startSearch", "Q.FIND", NULL, 200 },
    { "GET", NS "/find", "listSearches", "Q.FINDS", NULL, 200, "searches" },
    { "GET", NS "/find/{id}", "getSearch", "Q.FIND.GET", NULL, 200 },
    { "DELETE", NS "/find/{id}", "deleteSearch", "Q.FIND.DROP", NULL, 204 },
    { "GET", NS "/count", "countJobs", "Q.COUNT", NULL, 200, "count" },
    { "GET", NS "/priorities", "listPriorities", "Q.PRIORITIES", NULL, 200, "priorities" },
    { "GET", NS "/failures", "listFailures", "Q.FAILURES", NULL, 200 },
    { "GET", NS "/failures/{group}/jobs", "listFailedJobs", "Q.FAILED", NULL, 200 },
    { "POST", NS "/failures/{group}/unfail", "unfailJobs", "Q.UNFAIL", NULL, 200, "count" },
    { "POST", NS "/queues/{queue}/pause", "pauseQueue", "Q.PAUSE", NULL, 204 },
    { "POST", NS "/pause", "pauseQueues", "Q.PAUSE", NULL, 204 },
    { "POST", NS "/queues/{queue}/unpause", "unpauseQueue", "Q.UNPAUSE", NULL, 204 },
    { "POST", NS "/unpause", "unpauseQueues", "Q.UNPAUSE", NULL, 204 },
    { "DELETE", NS "/queues/{queue}", "forgetQueue", "Q.FORGET", NULL, 204 },
    { "GET", NS "/queues/{queue}/stats", "getQueueStats", "Q.STATS", NULL, 200 },
    { "GET", NS "/metrics", "getJobMetrics", "Q.METRICS", NULL, 200 },
    { "GET", NS, "getTotals", "Q.TOTALS", NULL, 200 },
    { "GET", NS "/series", "getSeries", "Q.SERIES", NULL, 200 },
    { "GET", NS "/queues/{queue}/series", "getQueueSeries", "Q.SERIES", NULL, 200 },
    { "GET", NS "/stats", "listStatsDays", "Q.STATS.DAYS", NULL, 200 },
    { "GET", NS "/queues/{queue}/stats/days", "listQueueStatsDays", "Q.STATS.DAYS", NULL, 200 },
    { "GET", NS "/queues/{queue}/lane", "getLane", "Q.LANE", NULL, 200 },
    { "GET", NS "/queues/{queue}/lanes", "listLanes", "Q.LANES", NULL, 200 },
    { "GET", NS "/queues/{queue}/explain", "explainQueue", "Q.EXPLAIN.QUEUE", NULL, 200 },
    // Recurring
    { "PUT", NS "/recurring/{jid}", "setRecurringJob", "Q.RECUR", NULL, 204, NULL, IDEMPOTENT },
    { "GET", NS "/recurring/{jid}", "getRecurringJob", "Q.RECUR.GET", NULL, 200 },
    { "PATCH", NS "/recurring/{jid}", "updateRecurringJob", "Q.RECUR.UPDATE", NULL, 204 },
    { "POST", NS "/recurring/{jid}/tags", "addRecurringTags", "Q.RECUR.TAG", NULL, 200, "tags" },
    { "DELETE", NS "/recurring/{jid}/tags/{tag}", "removeRecurringTag", "Q.RECUR.UNTAG", NULL, 200,
      "tags" },
    { "GET", NS "/recurring/{jid}/runs", "previewRecurringRuns", "Q.RECUR.RUNS", NULL, 200,
      "runs" },
    { "GET", NS "/queues/{queue}/recurring", "listQueueRecurringJobs", "Q.RECURRING", NULL, 200 },
    { "GET", NS "/recurring", "listRecurringJobs", "Q.RECURRING", NULL, 200 },
    { "POST", NS "/recurring/{jid}/pause", "pauseRecurringJob", "Q.RECUR.PAUSE", NULL, 204 },
    { "POST", NS "/recurring/{jid}/resume", "resumeRecurringJob", "Q.RECUR.RESUME", NULL, 204 },
    { "POST", NS "/recurring/{jid}/run", "runRecurringJob", "Q.RECUR.RUN", NULL, 200, "jid",
      IDEMPOTENT },
    { "DELETE", NS "/recurring/{jid}", "deleteRecurringJob", "Q.UNRECUR", NULL, 204 },
    { "GET", NS "/cron", "previewCron", "Q.CRON", NULL, 200, "runs" },
    { "GET", NS "/zones", "listZones", "Q.ZONES", NULL, 200, "zones" },
    // Workers
    { "GET", NS "/workers", "listWorkers", "Q.WORKERS", NULL, 200 },
    { "GET", NS "/workers/{worker}", "getWorker", "Q.WORKER", NULL, 200 },
    { "POST", NS "/workers/{worker}/offline", "setWorkerOffline", "Q.WORKER.OFFLINE", NULL, 204 },
    { "DELETE", NS "/workers/{worker}", "forgetWorker", "Q.WORKER.DEREGISTER", NULL, 204 },
    // Settings
    { "GET", NS "/config", "getConfig", "Q.CONFIG.GET", NULL, 200, NULL, NAMES },
    { "PUT", NS "/config/{option}", "setConfigOption", "Q.CONFIG.SET", NULL, 204 },
    { "GET", NS "/config/{option}", "getConfigOption", "Q.CONFIG.GET", NULL, 200, NULL, NAMES },
    { "DELETE", NS "/config/{option}", "unsetConfigOption", "Q.CONFIG.UNSET", NULL, 204 },
    { "PUT", NS "/limits", "setLimit", "Q.LIMIT.SET", NULL, 204 },
    { "GET", NS "/limits", "listLimits", "Q.LIMITS", NULL, 200 },
    { "DELETE", NS "/limits", "unsetLimit", "Q.LIMIT.UNSET", NULL, 204 },
    { "PUT", NS "/policies/{scope}/{name}", "setPolicy", "Q.POLICY.SET", NULL, 204 },
    { "GET", NS "/policies", "listPolicies", "Q.POLICIES", NULL, 200, "policies" },
    { "DELETE", NS "/policies/{scope}/{name}", "unsetPolicy", "Q.POLICY.UNSET", NULL, 204 },
    // Push
    { "PUT", NS "/pushes/{pattern}", "setPush", "Q.PUSH.SET", NULL, 204 },
    { "PUT", NS "/pushes", "setPushes", NULL, "Q.PUSH.MSET", 200, .key = "pattern" },
    { "GET", NS "/pushes", "listPushes", "Q.PUSHES", NULL, 200, "pushes" },
    { "DELETE", NS "/pushes/{pattern}", "unsetPush", "Q.PUSH.UNSET", NULL, 204 },
    { "POST", NS "/pushes/{pattern}/try", "tryPush", "Q.PUSH.TRY", NULL, 204 },
    // Bulk
    { "POST", NS "/bulk", "startBulk", "Q.BULK", NULL, 200 },
    { "GET", NS "/bulk", "listBulks", "Q.BULKS", NULL, 200, "operations" },
    { "GET", NS "/bulk/{id}", "getBulk", "Q.BULK.GET", NULL, 200 },
    { "POST", NS "/bulk/{id}/stop", "stopBulk", "Q.BULK.STOP", NULL, 204 },
    // Check
    { "POST", NS "/check", "checkNamespace", "Q.CHECK", NULL, 200 },
    // Tasks
    { "POST", NS "/tasks", "createTask", "T.PUT", "T.MPUT", 201, NULL, NUMBERED,
      .location = NS "/tasks" },
    { "GET", NS "/tasks", "listTasks", "T.LIST", NULL, 200 },
    { "GET", NS "/task-counts", "countTasks", "T.COUNTS", NULL, 200 },
    { "GET", NS "/invalid-tasks", "listInvalidTasks", "T.INVALID", NULL, 200, "invalid" },
    { "GET", NS "/tasks/{id}", "getTask", "T.GET", NULL, 200 },
    { "POST", NS "/tasks/{id}/retry", "retryTask", "T.RETRY", NULL, 200 },
    { "DELETE", NS "/tasks/{id}", "deleteTask", "T.DELETE", NULL, 204 },
    // Transfer
    { "GET", NS "/dump", "dumpNamespace", "Q.DUMP", NULL, 200 },
    { "POST", NS "/restore", "restoreItems", "Q.RESTORE", NULL, 200, "outcomes", IDEMPOTENT },
    { "POST", NS "/restore/check", "checkRestore", "Q.RESTORE.CHECK", NULL, 200, "outcomes" },
    // Namespaces
    { "GET", "/v1/ns", "listNamespaces", "Q.NAMESPACES", NULL, 200, "namespaces" },
    { "PUT", NS, "createNamespace", "Q.NAMESPACE.CREATE", NULL, 204 },
    { "DELETE", NS, "deleteNamespace", "Q.NAMESPACE.DELETE", NULL, 204 },
    { "GET", NS "/clock", "getClock", "Q.CLOCK", NULL, 200 },
    { "POST", NS "/clock/repair", "repairClock", "Q.CLOCK.REPAIR", NULL, 200, "ahead" },
    // Server
    { "GET", "/v1/help", "getHelp", "Q.HELP", NULL, 200, "help" },
    { "GET", "/v1/help/{command}", "getCommandHelp", "Q.HELP", NULL, 200, "help" },
    { "GET", "/v1/whoami", "getCurrentUser", "Q.WHOAMI", NULL, 200 },
    { "GET", "/v1/server", "getServer", "Q.SERVER", NULL, 200 },
    { "PUT", "/v1/users/{name}", "setUser", "Q.USER.SET", NULL, 204 },
    { "GET", "/v1/users", "listUsers", "Q.USERS", NULL, 200, "users" },
    { "DELETE", "/v1/users/{name}", "deleteUser", "Q.USER.DEL", NULL, 204 },
    { "GET", "/v1/audit", "listAuditEntries", "Q.AUDIT", NULL, 200, "entries" },
    { "POST", "/v1/backup", "startBackup", "Q.BACKUP", NULL, 200, "path" },
    { "POST", "/v1/drain", "drainServer", "Q.DRAIN", NULL, 204 },
    { "POST", "/v1/reload", "reloadSettings", "Q.RELOAD", NULL, 204 },
    // Pages
    { "GET", NS "/events", "streamEvents", .status = 200, .page = HTTP_PAGE_EVENTS,
      .summary = "What happens in a namespace, as server-sent events.",
      .contents = { "text/event-stream" }, .parameters = events_parameters },
    { "POST", "/v1/session", "createSession", .status = 204, .page = HTTP_PAGE_SESSION_BEGIN,
      .summary = "A session begins; the cookie of the answer stands for the user from now on.",
      .parameters = session_parameters },
    { "DELETE", "/v1/session", "deleteSession", .status = 204, .page = HTTP_PAGE_SESSION_END,
      .summary = "The session of the cookie ends." },
    { "GET", "/v1/openapi.json", "getDescription", .status = 200, .page = HTTP_PAGE_OPENAPI,
      .summary = "This description.", .contents = { "application/json" } },
    { "GET", "/metrics", "getMetrics", .status = 200, .page = HTTP_PAGE_METRICS,
      .summary = "The server in figures, as OpenMetrics.",
      .contents = { "application/openmetrics-text", "text/plain" } },
    { "GET", "/healthz", "getHealth", .status = 200, .page = HTTP_PAGE_HEALTH,
      .summary = "Whether the server is alive.", .contents = { "text/plain" } },
    { "GET", "/readyz", "getReadiness", .status = 200, .page = HTTP_PAGE_READY,
      .summary = "Whether the server can do its work; why not, and what to do.",
      .contents = { "application/json" } },
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
