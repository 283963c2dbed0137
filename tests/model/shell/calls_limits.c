// SPDX-License-Identifier: MIT
// Calls: limits and lanes.
#include "arguments.h"
#include "engine/lanes/limit.h"
#include "member.h"
#include "shell.h"

static struct limit read_limit(const json_t *from)
{
    return (struct limit){
        .has_rate = arg_has(from, "rate_count"),
        .rate_count = arg_number(from, "rate_count"),
        .rate_period_us = arg_number(from, "rate_period_us"),
        .burst = arg_number(from, "burst"),
        .has_concurrency = arg_has(from, "concurrency"),
        .concurrency = arg_number(from, "concurrency"),
        .has_weight = arg_has(from, "weight"),
        .weight = arg_number(from, "weight"),
    };
}

// Only what the limit says something about.
static void write_limit_members(struct json_writer *out, const struct limit *limit)
{
    if (limit->has_rate) {
        member_int(out, "rate_count", limit->rate_count);
        member_int(out, "rate_period_us", limit->rate_period_us);
        member_int(out, "burst", limit->burst);
    }
    if (limit->has_concurrency) {
        member_int(out, "concurrency", limit->concurrency);
    }
    if (limit->has_weight) {
        member_int(out, "weight", limit->weight);
    }
}

static enum status call_limit_set(struct shell *shell)
{
    const struct limit limit = read_limit(json_object_get(shell->request, "limit"));
    return engine_limit_set(shell->engine, shell->now_us, arg_text(shell->request, "queue"),
                            arg_text(shell->request, "domain"), &limit, &shell->error);
}

static enum status call_limit_unset(struct shell *shell)
{
    return engine_limit_unset(shell->engine, shell->now_us, arg_text(shell->request, "queue"),
                              arg_text(shell->request, "domain"), &shell->error);
}

static enum status call_limits(struct shell *shell)
{
    struct json_writer *out = &shell->out;
    struct limit_view view;
    struct limit_page page = { .count = 0 };
    enum status status = engine_limits(shell->engine, shell->now_us, &page, &shell->error);
    if (status) {
        return status;
    }
    json_write_begin_array(out);
    for (size_t i = 0; engine_limit_at(shell->engine, i, &view); i++) {
        json_write_begin_object(out);
        member_text(out, "queue", view.queue);
        member_text(out, "domain", view.domain);
        member_key(out, "limit");
        json_write_begin_object(out);
        write_limit_members(out, &view.limit);
        json_write_end_object(out);
        member_key(out, "use");
        json_write_begin_object(out);
        member_uint(out, "waiting", view.use.waiting);
        member_uint(out, "running", view.use.running);
        if (shell->options.clock == ENGINE_CLOCK_SERVER) {
            member_uint(out, "held", view.use.held);
        }
        json_write_end_object(out);
        json_write_end_object(out);
    }
    json_write_end_array(out);
    return STATUS_OK;
}

static enum status call_lane(struct shell *shell)
{
    struct json_writer *out = &shell->out;
    struct lane_view view;
    enum status status =
        engine_lane(shell->engine, shell->now_us, arg_text(shell->request, "queue"),
                    arg_text(shell->request, "domain"), &view, &shell->error);
    if (status) {
        return status;
    }
    if (!view.limit.has_rate || !view.limit.has_concurrency || !view.limit.has_weight) {
        die("the lane does not say all that holds for it", "lane");
    }
    // How long ago it became ready says nothing.
    int64_t ready_us = view.ready_us > shell->now_us ? view.ready_us : shell->now_us;
    json_write_begin_object(out);
    member_uint(out, "waiting", view.waiting);
    member_uint(out, "running", view.running);
    member_int(out, "ready_us", ready_us);
    write_limit_members(out, &view.limit);
    json_write_end_object(out);
    return STATUS_OK;
}

const struct call calls_limits[] = {
    { "limit_set", call_limit_set },
    { "limit_unset", call_limit_unset },
    { "limits", call_limits },
    { "lane", call_lane },
    { NULL, NULL },
};
