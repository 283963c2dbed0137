// SPDX-License-Identifier: MIT
#include "api/item/restore.h"

#include "api/item/item_job.h"
#include "engine/config/config.h"
#include "engine/config/policy.h"
#include "engine/export/restore.h"
#include "engine/job/options.h"
#include "engine/lanes/limit.h"

// The item that is being restored.
struct restoring {
    struct call *call;
    struct item *item;
    bool check_only;
    struct restored *out;
    struct error *error;
};

static enum status read_item(const struct restoring *restoring, const char *what,
                             const struct item_field *fields, size_t count, void *out)
{
    return item_read(restoring->item, restoring->item->value, what, fields, count, out,
                     restoring->error);
}

static enum status there_already(const struct restoring *restoring, const char *what,
                                 struct slice name)
{
    return error_set(restoring->error, STATUS_EXISTS, "%s %.*s is set already", what,
                     SLICE_PRINT(slice_shown(name)));
}

// ---------------------------------------------------------------------------------------------
// The namespace and its settings

static const char *const clock_words[] = { "server", "client", NULL };

struct namespace_item {
    int64_t format, clock;
};

static const struct item_field namespace_fields[] = {
    ITEM(namespace_item, format, INTEGER, "format", .required = true, .min = 1, .max = INT32_MAX),
    ITEM(namespace_item, clock, WORD, "clock", .words = clock_words),
};

static enum status restore_namespace(const struct restoring *restoring)
{
    struct namespace_item given = { 0 };
    enum status status =
        read_item(restoring, "namespace", namespace_fields, ITEM_COUNT(namespace_fields), &given);
    if (status) {
        return status;
    }
    if (given.format != RESTORE_FORMAT) {
        return error_set(restoring->error, STATUS_UNSUPPORTED,
                         "the format is %lld, and this version reads %d", (long long)given.format,
                         RESTORE_FORMAT);
    }
    enum engine_clock clock = engine_clock_of(restoring->call->engine);
    if (clock != (enum engine_clock)given.clock) {
        return error_set(restoring->error, STATUS_STATE,
                         "the namespace has the %s clock, and its copy would need the %s clock",
                         clock_words[clock], clock_words[given.clock]);
    }
    return STATUS_OK;
}

struct option_item {
    struct slice name, value;
};

static const struct item_field option_fields[] = {
    ITEM(option_item, name, TEXT, "name", .required = true),
    ITEM(option_item, value, TEXT, "value", .required = true),
};

static enum status restore_option(const struct restoring *restoring)
{
    struct option_item given = { 0 };
    struct engine *engine = restoring->call->engine;
    enum status status =
        read_item(restoring, "option", option_fields, ITEM_COUNT(option_fields), &given);
    restoring->out->name = given.name;
    // qless sets options with any name.
    if (!status && engine_clock_of(engine) == ENGINE_CLOCK_SERVER) {
        status = engine_config_check_name(given.name, restoring->error);
    }
    if (!status && engine_config_is_set(engine, given.name)) {
        status = there_already(restoring, "option", given.name);
    }
    if (!status && restoring->check_only) {
        return config_check(engine_clock_of(engine), given.name, given.value, restoring->error);
    }
    return status ? status
                  : engine_config_set(engine, restoring->call->now_us, given.name, given.value,
                                      restoring->error);
}

struct limit_item {
    struct slice queue, domain;
    struct limit limit;
};

static const struct item_field limit_fields[] = {
    ITEM(limit_item, queue, TEXT, "queue"),
    ITEM(limit_item, domain, TEXT, "domain"),
    ITEM_HAS(limit_item, limit.rate_count, limit.has_rate, INTEGER, "rate", .max = INT64_MAX),
    ITEM(limit_item, limit.rate_period_us, SECONDS, "period", .max = INT64_MAX),
    ITEM(limit_item, limit.burst, INTEGER, "burst", .max = INT64_MAX),
    ITEM_HAS(limit_item, limit.concurrency, limit.has_concurrency, INTEGER, "concurrency",
             .max = INT64_MAX),
    ITEM_HAS(limit_item, limit.weight, limit.has_weight, INTEGER, "weight", .max = INT64_MAX),
};

static bool has_limit(const struct engine *engine, const struct limit_item *given)
{
    struct limit_view view;
    for (size_t i = 0; engine_limit_at(engine, i, &view); i++) {
        if (slice_equal(view.queue, given->queue) && slice_equal(view.domain, given->domain)) {
            return true;
        }
    }
    return false;
}

static enum status restore_limit(const struct restoring *restoring)
{
    struct limit_item given = { .limit.rate_period_us = 1000000 };
    enum status status =
        read_item(restoring, "limit", limit_fields, ITEM_COUNT(limit_fields), &given);
    restoring->out->name = given.domain.size  ? given.domain
                           : given.queue.size ? given.queue
                                              : SLICE("all");
    if (!status && has_limit(restoring->call->engine, &given)) {
        status = there_already(restoring, "a limit of", restoring->out->name);
    }
    if (!status && restoring->check_only) {
        return limit_is_valid(&given.limit)
                   ? STATUS_OK
                   : error_set(restoring->error, STATUS_INVALID, "limit: it is out of range");
    }
    return status ? status
                  : engine_limit_set(restoring->call->engine, restoring->call->now_us, given.queue,
                                     given.domain, &given.limit, restoring->error);
}

static const char *const scope_words[] = { "klass", "queue", NULL };

struct policy_item {
    int64_t scope;
    struct slice name, options;
};

static const struct item_field policy_fields[] = {
    ITEM(policy_item, scope, WORD, "scope", .required = true, .words = scope_words),
    ITEM(policy_item, name, TEXT, "name", .required = true),
    ITEM(policy_item, options, OBJECT, "options", .required = true),
};

static enum status restore_policy(const struct restoring *restoring)
{
    struct policy_item given = { 0 };
    const struct job_options *options = NULL;
    struct job_options there;
    struct engine *engine = restoring->call->engine;
    enum status status =
        read_item(restoring, "policy", policy_fields, ITEM_COUNT(policy_fields), &given);
    if (!status) {
        status = item_read_options(restoring->item, given.options, &options, restoring->error);
    }
    restoring->out->name = given.name;
    if (!status && !options) {
        status = error_set(restoring->error, STATUS_INVALID, "policy: it must have an option");
    }
    if (status) {
        return status;
    }
    policy_find(engine, (enum policy_scope)given.scope, given.name, &there);
    if (!options_are_unset(&there)) {
        return there_already(restoring, "the policy of", given.name);
    }
    return restoring->check_only
               ? options_check(options, restoring->error)
               : engine_policy_set(engine, restoring->call->now_us, (enum policy_scope)given.scope,
                                   given.name, options, restoring->error);
}

// ---------------------------------------------------------------------------------------------
// Queues and jobs

struct queue_item {
    struct slice name;
    struct queue_past past;
};

static const struct item_field queue_fields[] = {
    ITEM(queue_item, name, TEXT, "name", .required = true),
    ITEM_HAS(queue_item, past.first_seen_us, past.listed, MOMENT, "first-seen"),
    ITEM(queue_item, past.paused, BOOLEAN, "paused"),
};

static enum status restore_queue(const struct restoring *restoring)
{
    struct queue_item given = { 0 };
    const struct call *call = restoring->call;
    enum status status =
        read_item(restoring, "queue", queue_fields, ITEM_COUNT(queue_fields), &given);
    restoring->out->name = given.name;
    return status ? status
                  : engine_restore_queue(call->engine, call->now_us, given.name, &given.past,
                                         restoring->check_only, restoring->error);
}

// If the engine does not know a zone, the host is asked for it. A check uses the host's rules
// without passing them to the engine.
static enum status restore_recurring(const struct restoring *restoring)
{
    struct recurring_item given;
    struct zone_rules rules;
    const struct call *call = restoring->call;
    enum status status =
        item_read_recurring(restoring->item, call->now_us, &given, restoring->error);
    if (status) {
        return status;
    }
    restoring->out->name = given.request.jid;
    const struct zone *zone;
    bool known =
        !given.request.zone.size || !zone_find(call->engine, given.request.zone, &zone, NULL);
    if (!known) {
        status = call_ask_zone(call, given.request.zone, &rules, restoring->error);
    }
    if (!status && !known && restoring->check_only) {
        given.request.zone = SLICE_EMPTY;
    } else if (!status && !known) {
        status = engine_zone_set(call->engine, call->now_us, given.request.zone, &rules,
                                 restoring->error);
    }
    return status
               ? status
               : engine_restore_recurring(call->engine, call->now_us, &given.request, given.next_us,
                                          given.count, restoring->check_only, restoring->error);
}

static enum status restore_job(const struct restoring *restoring)
{
    struct restore_request request = { 0 };
    const struct call *call = restoring->call;
    enum status status = item_read_job(restoring->item, call->now_us, &request, restoring->error);
    if (status) {
        return status;
    }
    struct restored *out = restoring->out;
    out->name = request.jid;
    out->depends = request.depends;
    if (request.state != JOB_COMPLETE) {
        out->queue = request.queue;
        out->bytes = request.data.size;
    }
    return engine_restore(call->engine, call->now_us, &request, restoring->check_only,
                          &out->missing, restoring->error);
}

struct depends_item {
    struct slice jid;
    struct slices depends;
};

static const struct item_field depends_fields[] = {
    ITEM(depends_item, jid, TEXT, "jid", .required = true),
    ITEM(depends_item, depends, TEXTS, "depends", .required = true),
};

static enum status restore_depends(const struct restoring *restoring)
{
    struct depends_item given = { 0 };
    const struct call *call = restoring->call;
    enum status status =
        read_item(restoring, "depends", depends_fields, ITEM_COUNT(depends_fields), &given);
    restoring->out->name = given.jid;
    restoring->out->depends = given.depends;
    return status ? status
                  : engine_restore_depends(call->engine, call->now_us, given.jid, given.depends,
                                           restoring->check_only, &restoring->out->missing,
                                           restoring->error);
}

struct tracked_item {
    struct slice jid;
    int64_t when;
    bool has_when;
};

static const struct item_field tracked_fields[] = {
    ITEM(tracked_item, jid, TEXT, "jid", .required = true),
    ITEM_HAS(tracked_item, when, has_when, MOMENT, "when"),
};

static enum status restore_tracked(const struct restoring *restoring)
{
    struct tracked_item given = { 0 };
    const struct call *call = restoring->call;
    enum status status =
        read_item(restoring, "tracked", tracked_fields, ITEM_COUNT(tracked_fields), &given);
    restoring->out->name = given.jid;
    return status ? status
                  : engine_restore_tracked(call->engine, call->now_us, given.jid,
                                           given.has_when ? given.when : call->now_us,
                                           restoring->check_only, restoring->error);
}

static enum status restore_promise(const struct restoring *restoring)
{
    struct promise_past past;
    const struct call *call = restoring->call;
    enum status status = item_read_promise(restoring->item, &past, restoring->error);
    restoring->out->name = past.jid;
    return status ? status
                  : engine_restore_promise(call->engine, call->now_us, &past, restoring->check_only,
                                           restoring->error);
}

// ---------------------------------------------------------------------------------------------
// Numbers

struct number_item {
    int64_t last;
};

static const struct item_field number_fields[] = {
    ITEM(number_item, last, INTEGER, "last", .required = true, .max = (int64_t)ENGINE_NUMBER_MAX),
};

static enum status restore_number(const struct restoring *restoring)
{
    struct number_item given = { 0 };
    const struct call *call = restoring->call;
    enum status status =
        read_item(restoring, "number", number_fields, ITEM_COUNT(number_fields), &given);
    return status ? status
                  : engine_restore_number(call->engine, call->now_us, (uint64_t)given.last,
                                          restoring->check_only, restoring->error);
}

struct room_item {
    struct slice queue;
    int64_t jobs, bytes, queues, recurring;
};

#define COUNT_RANGE .max = INT64_MAX

static const struct item_field room_fields[] = {
    ITEM(room_item, queue, TEXT, "queue"),
    ITEM(room_item, jobs, INTEGER, "jobs", COUNT_RANGE),
    ITEM(room_item, bytes, INTEGER, "bytes", COUNT_RANGE),
    ITEM(room_item, queues, INTEGER, "queues", COUNT_RANGE),
    ITEM(room_item, recurring, INTEGER, "recurring", COUNT_RANGE),
};

static enum status check_room(const struct restoring *restoring)
{
    struct room_item given = { 0 };
    enum status status = read_item(restoring, "room", room_fields, ITEM_COUNT(room_fields), &given);
    restoring->out->name = given.queue;
    const struct room room = { .jobs = (uint64_t)given.jobs,
                               .bytes = (uint64_t)given.bytes,
                               .queues = (uint64_t)given.queues,
                               .recurring = (uint64_t)given.recurring };
    return status ? status
                  : engine_has_room(restoring->call->engine, given.queue, &room, restoring->error);
}

// ---------------------------------------------------------------------------------------------

static const struct {
    struct slice kind;
    enum status (*restore)(const struct restoring *restoring);
} kinds[] = {
    { { "job", 3 }, restore_job },         { { "depends", 7 }, restore_depends },
    { { "queue", 5 }, restore_queue },     { { "recurring", 9 }, restore_recurring },
    { { "tracked", 7 }, restore_tracked }, { { "option", 6 }, restore_option },
    { { "limit", 5 }, restore_limit },     { { "policy", 6 }, restore_policy },
    { { "number", 6 }, restore_number },   { { "namespace", 9 }, restore_namespace },
    { { "promise", 7 }, restore_promise }, { { "room", 4 }, check_room },
};

enum status restore_item(struct call *call, struct item *item, bool check_only,
                         struct restored *out, struct error *error)
{
    const struct restoring restoring = { call, item, check_only, out, error };
    *out = (struct restored){ .kind = item->kind };
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (slice_equal(item->kind, kinds[i].kind)) {
            return kinds[i].restore(&restoring);
        }
    }
    return error_set(error, STATUS_INVALID, "items of the kind \"%.*s\" are not known",
                     SLICE_PRINT(slice_shown(item->kind)));
}
