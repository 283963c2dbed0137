// SPDX-License-Identifier: MIT
// Calls: what a worker does with a job, and waiting for its end.
#include "arguments.h"
#include "member.h"
#include "shell.h"
#include "views.h"

static enum status call_pop(struct shell *shell)
{
    const struct pop_request pop = {
        .worker = arg_text(shell->request, "worker"),
        .queues = arg_texts(shell, "queues"),
        .order = arg_flag(shell->request, "round_robin") ? POP_ROUND_ROBIN
                 : arg_flag(shell->request, "best")      ? POP_BEST
                                                         : POP_ORDERED,
        .count = arg_count(shell, 0),
        .lease_us = arg_number(shell->request, "lease"),
        .no_grace = arg_flag(shell->request, "no_grace"),
    };
    size_t popped = 0;
    enum status status =
        engine_pop(shell->engine, shell->now_us, &pop, shell->jobs, &popped, &shell->error);
    write_jobs(shell, shell->jobs, popped, true);
    return status;
}

static enum status call_take(struct shell *shell)
{
    const struct take_request take = {
        .worker = arg_text(shell->request, "worker"),
        .jid = arg_text(shell->request, "jid"),
        .lease_us = arg_number(shell->request, "lease"),
    };
    const struct job *job = NULL;
    enum status status = engine_take(shell->engine, shell->now_us, &take, &job, &shell->error);
    write_jobs(shell, &job, job ? 1 : 0, true);
    return status;
}

static enum status call_kick(struct shell *shell)
{
    size_t kicked = 0;
    enum status status =
        engine_kick(shell->engine, shell->now_us, arg_texts(shell, "jids"), &kicked, &shell->error);
    json_write_int(&shell->out, (int64_t)kicked);
    return status;
}

static enum status call_peek(struct shell *shell)
{
    size_t found = 0;
    enum status status =
        engine_peek(shell->engine, shell->now_us, arg_text(shell->request, "queue"),
                    arg_count(shell, 0), shell->jobs, &found, &shell->error);
    write_jobs(shell, shell->jobs, found, false);
    return status;
}

static enum status call_heartbeat(struct shell *shell)
{
    const struct heartbeat_request heartbeat = {
        .holder = arg_holder(shell->request),
        .data = arg_text(shell->request, "data"),
        .has_lease = arg_has(shell->request, "lease"),
        .lease_us = arg_number(shell->request, "lease"),
    };
    int64_t expires_us = 0;
    enum status status =
        engine_heartbeat(shell->engine, shell->now_us, &heartbeat, &expires_us, &shell->error);
    json_write_int(&shell->out, expires_us);
    return status;
}

static enum status call_start(struct shell *shell)
{
    const struct holder who = arg_holder(shell->request);
    return engine_start(shell->engine, shell->now_us, &who, arg_number(shell->request, "pid"),
                        &shell->error);
}

static enum status call_held(struct shell *shell)
{
    const struct holder who = arg_holder(shell->request);
    const struct job *job;
    enum status status = engine_held(shell->engine, shell->now_us, &who, &job, &shell->error);
    json_write_string(&shell->out, status ? SLICE_EMPTY : who.jid);
    return status;
}

static enum status call_return(struct shell *shell)
{
    const struct holder who = arg_holder(shell->request);
    return engine_return(shell->engine, shell->now_us, &who, &shell->error);
}

static enum status call_complete(struct shell *shell)
{
    const json_t *request = shell->request;
    const struct complete_request complete = {
        .holder = arg_holder(request),
        .data = arg_text(request, "data"),
        .result = arg_text(request, "result"),
        .next = arg_text(request, "next"),
        .has_delay = arg_has(request, "delay"),
        .delay_us = arg_number(request, "delay"),
        .has_depends = arg_has(request, "depends"),
        .depends = arg_texts(shell, "depends"),
        .missing = arg_missing(request),
    };
    enum job_state state = JOB_COMPLETE;
    enum status status =
        engine_complete(shell->engine, shell->now_us, &complete, &state, &shell->error);
    json_write_string(&shell->out, slice_from_cstr(job_state_name(state)));
    return status;
}

static enum status call_fail(struct shell *shell)
{
    const json_t *request = shell->request;
    const struct fail_request fail = {
        .holder = arg_holder(request),
        .group = arg_text(request, "group"),
        .message = arg_text(request, "message"),
        .data = arg_text(request, "data"),
        .forced = arg_has(request, "forced"),
    };
    return engine_fail(shell->engine, shell->now_us, &fail, &shell->error);
}

static enum status call_retry(struct shell *shell)
{
    const json_t *request = shell->request;
    const struct retry_request retry = {
        .holder = arg_holder(request),
        .to = arg_text(request, "to"),
        .has_delay = arg_has(request, "delay"),
        .delay_us = arg_number(request, "delay"),
        .seed = arg_unsigned(request, "seed"),
        .uncounted = arg_flag(request, "uncounted"),
        .has_failure = arg_has(request, "group"),
        .group = arg_text(request, "group"),
        .message = arg_text(request, "message"),
    };
    int32_t remaining = 0;
    enum status status =
        engine_retry(shell->engine, shell->now_us, &retry, &remaining, &shell->error);
    json_write_int(&shell->out, remaining);
    return status;
}

static enum status call_progress(struct shell *shell)
{
    const struct holder who = arg_holder(shell->request);
    return engine_progress(shell->engine, shell->now_us, &who,
                           arg_number32(shell->request, "progress_ppm"),
                           arg_text(shell->request, "message"), &shell->error);
}

static enum status call_checkpoint(struct shell *shell)
{
    const struct holder who = arg_holder(shell->request);
    return engine_checkpoint(shell->engine, shell->now_us, &who, arg_text(shell->request, "value"),
                             &shell->error);
}

static enum status call_log_line(struct shell *shell)
{
    const struct holder who = arg_holder(shell->request);
    return engine_log_line(shell->engine, shell->now_us, &who, arg_text(shell->request, "line"),
                           &shell->error);
}

static enum status call_wait(struct shell *shell)
{
    bool finished = false;
    enum status status =
        engine_wait(shell->engine, shell->now_us, arg_text(shell->request, "jid"),
                    arg_unsigned(shell->request, "waiter"), &finished, &shell->error);
    json_write_begin_object(&shell->out);
    member_bool(&shell->out, "finished", finished);
    json_write_end_object(&shell->out);
    return status;
}

static enum status call_wait_end(struct shell *shell)
{
    engine_wait_end(shell->engine, arg_unsigned(shell->request, "waiter"));
    return STATUS_OK;
}

const struct call calls_work[] = {
    { "pop", call_pop },
    { "take", call_take },
    { "kick", call_kick },
    { "peek", call_peek },
    { "heartbeat", call_heartbeat },
    { "start", call_start },
    { "held", call_held },
    { "return", call_return },
    { "complete", call_complete },
    { "fail", call_fail },
    { "retry", call_retry },
    { "progress", call_progress },
    { "checkpoint", call_checkpoint },
    { "log_line", call_log_line },
    { "wait", call_wait },
    { "wait_end", call_wait_end },
    { NULL, NULL },
};
