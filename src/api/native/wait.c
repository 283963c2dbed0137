// SPDX-License-Identifier: MIT
// The command that waits for a job to finish.
#include "api/job_words.h"

struct wait_arguments {
    struct slice jid;
    int64_t timeout;
};

static const struct argument wait_takes[] = {
    ARGUMENT(wait_arguments, jid, NAME, "jid", "the job", .about = ABOUT_JOB),
    OPTION(wait_arguments, timeout, SECONDS, "TIMEOUT",
           "how long to wait; 0: as long as it takes (0)", SECONDS_RANGE),
};

static void write_finish(struct reply *reply, const struct finish *finish)
{
    reply_map(reply, 4);
    reply_key(reply, "state");
    reply_text(reply, finish->state);
    reply_key(reply, "result");
    reply_json_or_null(reply, finish->result);
    reply_key(reply, "group");
    reply_text_or_null(reply, finish->group);
    reply_key(reply, "message");
    reply_text_or_null(reply, finish->message);
    reply_end(reply);
}

static enum status run_wait(struct call *call, struct error *error)
{
    const struct wait_arguments *given = call->arguments;
    if (call->finish) {
        // The job may have been deleted by now, or put again.
        write_finish(call->reply, call->finish);
        return STATUS_OK;
    }
    const struct job *job = engine_get(call->engine, given->jid);
    struct slice kept;
    if (!job && engine_result_kept(call->engine, call->now_us, given->jid, &kept)) {
        const struct finish finish = { .state = SLICE("complete"), .result = kept };
        write_finish(call->reply, &finish);
        return STATUS_OK;
    }
    if (!call->last || !job) {
        bool finished;
        enum status status =
            engine_wait(call->engine, call->now_us, given->jid, call->waiter, &finished, error);
        if (status) {
            return status;
        }
        job = engine_get(call->engine, given->jid); // due work may have moved it
    }
    struct job_view view;
    job_view(call->engine, job, &view);
    if (view.state == JOB_COMPLETE || view.state == JOB_FAILED) {
        bool failed = view.state == JOB_FAILED;
        const struct finish finish = {
            .state = slice_from_cstr(job_state_name(view.state)),
            .result = view.result,
            .group = failed ? view.failure_group : SLICE_EMPTY,
            .message = failed ? view.failure_message : SLICE_EMPTY,
        };
        write_finish(call->reply, &finish);
    } else if (call->last) {
        reply_null(call->reply);
    } else {
        call->wait = (struct wait){ .kind = WAIT_FINISH,
                                    .timeout_us = given->timeout ? given->timeout : INT64_MAX };
    }
    return STATUS_OK;
}

// In the order of the reference.
enum {
    WAIT,
};

static const struct command commands[] = {
    [WAIT] = {
        .name = "Q.WAIT",
        .group = "work",
        .flags = READS | COMMAND_WAITS,
        TAKES(wait_arguments, wait_takes),
        .run = run_wait,
        .summary = "Waits until a job has finished.",
        .replies = "Its state (complete, failed, or canceled when it is gone), its result, and the "
                   "group and message of its failure; null when the time was over. A call that waits "
                   "when the job finishes gets them even if the job is deleted at once. A result "
                   "with a RESULT-TTL is found for that time, also when retention has deleted the "
                   "job.",
        EXAMPLES({ "Q.WAIT app bob TIMEOUT 30",
"1# \"state\" => \"complete\"\n"
"2# \"result\" => \"{\\\"sent\\\":true}\"\n"
"3# \"group\" => (nil)\n"
"4# \"message\" => (nil)" }),
    },
};

const struct command_table api_wait = TABLE(commands);
